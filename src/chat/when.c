#include "chat/when.h"

#include <stdio.h>
#include <time.h>

#include "base/clock.h"

static struct jinja_time from_tm(const struct tm *tm)
{
    return (struct jinja_time){tm->tm_year + 1900, tm->tm_mon + 1, tm->tm_mday,
                               tm->tm_hour,        tm->tm_min,     tm->tm_sec};
}

int chat_time_parse(struct jinja_time *out, struct str text)
{
    int64_t ns;
    struct tm tm;
    if (clock_parse_utc(&ns, text) < 0)
        return -1;
    time_t seconds = (time_t)(ns >= 0 ? ns / NS_PER_S : (ns - NS_PER_S + 1) / NS_PER_S);
    if (!gmtime_r(&seconds, &tm))
        return -1;
    *out = from_tm(&tm);
    return 0;
}

void chat_time_local(struct jinja_time *out, int64_t real_ns)
{
    time_t seconds = (time_t)(real_ns / NS_PER_S);
    struct tm tm = {0};
    if (localtime_r(&seconds, &tm) || gmtime_r(&seconds, &tm))
        *out = from_tm(&tm);
    else
        *out = (struct jinja_time){1970, 1, 1, 0, 0, 0};
}

void chat_time_format(char out[CHAT_TIME_TEXT], const struct jinja_time *t)
{
    /* a year of one to four digits is all that chat_time_parse and the clock give */
    snprintf(out, CHAT_TIME_TEXT, "%04u-%02u-%02uT%02u:%02u:%02u", (unsigned)t->year % 10000,
             (unsigned)t->month % 100, (unsigned)t->day % 100, (unsigned)t->hour % 100,
             (unsigned)t->minute % 100, (unsigned)t->second % 100);
}
