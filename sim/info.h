/*
 * What the server says of itself: /health, /v1/models, /props, /slots, /metrics, /tokenize and
 * alike.
 *
 *     if (info_answer(conn, &request)) return;      // false: the path is none of these
 */
#ifndef TALLY_SIM_INFO_H
#define TALLY_SIM_INFO_H

#include "conn.h"

bool info_answer(struct conn *c, const struct http_request *request);

#endif
