/*
 * A wire case: what is asked, what the server sends byte for byte, and what must come of it.
 *
 *     struct script *s = script_load(path);      // asserts that the file is well-formed
 *     ... s->body, s->steps, s->want_events ...
 *     script_free(s);
 *
 * The file: lines up to the first "==" are the case's story. Then sections:
 *     == ask PROTOCOL [blocking]
 *     == head             status line and header lines; without it: 200, an event stream, chunked
 *     == body             lines of the body, each ended by LF; one write (one chunk, when chunked)
 *     == body raw         the same with \n \r \t \\ \xHH, where the file's line ends are left out
 *     == wait MS
 *     == cut | reset      how the connection ends instead of the response's own end
 *     == want             lines "name value": see test_cases.c
 *     == events           one line an event, as test_cases.c prints them
 */
#ifndef TALLY_TESTS_WIRE_SCRIPT_H
#define TALLY_TESTS_WIRE_SCRIPT_H

#include "base/buf.h"
#include "server.h"

#define SCRIPT_STEPS 64

struct script {
    char protocol[64];
    bool blocking, chunked, cut;
    struct buf text; /* the whole file */
    struct buf head; /* as sent */
    struct buf body; /* all body sections joined, as the HTTP layer delivers them */
    struct buf piece[SCRIPT_STEPS];
    struct step steps[SCRIPT_STEPS + 4];
    size_t steps_n, pieces_n;
    struct str want, want_events;
};

struct script *script_load(const char *path);
void script_free(struct script *s);
/* The value of a line of `want`; false when it is not there. */
bool script_want(const struct script *s, const char *name, struct str *value);

#endif
