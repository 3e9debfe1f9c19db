/*
 * Asks a lane's server what it says of itself, before and after a band; none of it is timed.
 *
 *     struct server_watch watch = {0};
 *     server_watch_begin(&watch, lane, 8, stop, &arena, &capped, detail, err);
 *     ...                                                          // the band
 *     server_watch_ask(&watch, lane, SERVER_AFTER, stop, &arena, err);
 *     if (server_watch_write(&watch, &text, err) < 0) ...          // receipt/server_said.h
 *
 * Every path of every kind of server is asked before the band, and those that answered with 200
 * again after it. No answer is an answer too, and is kept: a server that says nothing ends no run.
 * Where one takes longer than SERVER_TIMEOUT_NS the others are not asked any more.
 * Ownership: answers live in the arena.
 */
#ifndef TALLY_LOAD_SERVER_H
#define TALLY_LOAD_SERVER_H

#include <signal.h>

#include "load/lane.h"
#include "receipt/server_said.h"

#define SERVER_DETAIL_MAX 200
#define SERVER_TIMEOUT_NS (INT64_C(5) * 1000000000)

enum server_side { SERVER_BEFORE = 0, SERVER_AFTER };

struct server_watch {
    struct server_answer answers[2][SERVER_ANSWERS_MAX];
    size_t n[2];
};

/* Asks before the band; *capped when the server works on fewer requests at once than it sends, and
 * detail then says so. */
int server_watch_begin(struct server_watch *w, const struct load_lane *lane, int32_t band,
                       const volatile sig_atomic_t *stop, struct arena *arena, bool *capped,
                       char detail[SERVER_DETAIL_MAX], struct error *err) TALLY_MUST_CHECK;
/* stop (may be NULL): nothing more is asked once it is set. -1 only for memory. */
int server_watch_ask(struct server_watch *w, const struct load_lane *lane, enum server_side side,
                     const volatile sig_atomic_t *stop, struct arena *arena,
                     struct error *err) TALLY_MUST_CHECK;
int server_watch_write(const struct server_watch *w, struct buf *out,
                       struct error *err) TALLY_MUST_CHECK;

#endif
