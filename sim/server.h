/*
 * The server: what is shared by its connections, and the loop that drives them. One thread.
 *
 *     struct server *s;
 *     if (server_new(&s, &options, err) < 0) ...       // listens when it returns
 *     puts(server_url(s));
 *     got = server_run(s, &stop_flag, stop_fd, err);   // until stop_fd is readable
 *     server_free(s);
 *
 * Limits: SERVER_CONNECTIONS_MAX at once (one more is answered 503 and closed).
 */
#ifndef TALLY_SIM_SERVER_H
#define TALLY_SIM_SERVER_H

#include "model.h"
#include "options.h"
#include "poller.h"
#include "pool.h"
#include "profile.h"
#include "timers.h"
#include "times.h"

#define SERVER_CONNECTIONS_MAX 4096

struct conn;

/* What a slot still knows of its last sequence. */
struct slot_cache {
    uint32_t *id;
    size_t n;
    uint64_t salt; /* of the request's cache_salt; 0: it had none */
    uint64_t used; /* when last, in admissions */
};

struct server_totals {
    int64_t requests, prompt_tokens, cached_tokens, output_tokens;
};

struct server {
    const struct sim_options *o;
    const struct profile *profile;
    struct tokenizer *tokenizer; /* NULL in null mode without one */
    struct pool *pool, *wide, *bang;
    const char *model_name;
    struct model model;
    struct slot_cache *cache; /* one a slot */
    struct poller *poller;
    struct timers timers;
    struct times times;
    int listen_fd;
    char url[256];
    struct conn **conns; /* SERVER_CONNECTIONS_MAX; NULL where free */
    unsigned *todo;      /* indices of connections to settle once no hook runs */
    size_t n_conns, n_todo;
    size_t conns_end; /* no connection stands behind */
    bool accepts;     /* false while the system has no descriptor left */
    uint32_t generation;
    int64_t number;   /* of generation requests, from 1 */
    size_t flat_out;  /* streams that send as fast as can be */
    int64_t start_s;  /* UTC */
    int64_t ready_ns; /* before, the model is loading */
    struct server_totals totals;
    struct buf scratch; /* for the event that is being written */
};

int server_new(struct server **out, const struct sim_options *o,
               struct error *err) TALLY_MUST_CHECK;
void server_free(struct server *s);
const char *server_url(const struct server *s);
int server_run(struct server *s, int stop_fd, struct error *err) TALLY_MUST_CHECK;

#endif
