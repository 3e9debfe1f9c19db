/* Private to the probe: its state, and the two halves of the work. */
#ifndef TALLY_LOAD_PROBE_INTERNAL_H
#define TALLY_LOAD_PROBE_INTERNAL_H

#include "load/probe.h"

struct probe_state {
    struct probe_lane public;
    struct load_lane_options options;
    struct wire_endpoint *endpoint;
    struct chat_template *own;
    char own_name[32];                        /* "subject's /props" */
    struct str rendered[CHAT_SHAPES_MAX];     /* the server's own; p NULL where it tells none */
    const uint32_t *own_ids[CHAT_SHAPES_MAX]; /* likewise; NULL where it tells none */
    size_t own_ids_n[CHAT_SHAPES_MAX];
};

struct probe {
    struct probe_options options;
    struct probe_state lanes[PROBE_LANES_MAX];
    struct chat_shapes shapes;
    int64_t body[CHAT_SHAPES_MAX];
    struct jinja_time now;
    struct chat_hypothesis *hypotheses;
    size_t hypotheses_n;
    struct arena arena;
};

/* A GET (or POST) whose answer is a JSON document; *doc is NULL when it is not. */
int probe_fetch_json(struct probe_state *lane, const char *path, struct str body,
                     struct arena *arena, const struct json **doc, int *status, struct error *err);
/* probe_own.c: the server's own rendering and tokens of a shape, where it tells them. */
int probe_ask_own(struct probe *p, struct probe_state *lane, size_t shape, struct error *err);

/* probe_ask.c: what the server is asked. Each returns -1 only when there is no such server. */
int probe_identify(struct probe *p, struct probe_state *lane, struct error *err);
int probe_count_shapes(struct probe *p, struct probe_state *lane, struct error *err);
int probe_behaviour(struct probe *p, struct probe_state *lane, struct error *err);

#endif
