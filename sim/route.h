/*
 * Paths: which request is answered by what.
 *
 *     route(conn, &request);                    // answers, or begins to
 *     route_refuse(conn, 404, "File Not Found");
 */
#ifndef TALLY_SIM_ROUTE_H
#define TALLY_SIM_ROUTE_H

#include "conn.h"

void route(struct conn *c, const struct http_request *request);
/* A JSON error of the profile's shape. */
void route_refuse(struct conn *c, int status, const char *why);

#endif
