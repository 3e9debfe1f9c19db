/*
 * The time that templates see: broken down, without a zone.
 *
 *     struct jinja_time now;
 *     if (chat_time_parse(&now, STR("2026-12-01T09:30:00")) < 0) ...
 *     chat_time_local(&now, clock_real_ns());
 */
#ifndef TALLY_CHAT_WHEN_H
#define TALLY_CHAT_WHEN_H

#include "jinja/jinja.h"

/* A date, or a date and time, as clock_parse_utc reads it. 0 or -1. */
int chat_time_parse(struct jinja_time *out, struct str text);
/* "2026-12-01T09:30:00", as chat_time_parse reads it. */
#define CHAT_TIME_TEXT 32
void chat_time_format(char out[CHAT_TIME_TEXT], const struct jinja_time *time);
/* In the time zone of the process; UTC where the system cannot say. */
void chat_time_local(struct jinja_time *out, int64_t real_ns);

#endif
