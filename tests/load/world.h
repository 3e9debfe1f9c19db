/*
 * A band in virtual time: a server that takes a stated time for every request, and a loop that
 * wakes up when it must. Nothing here waits.
 *
 *     struct world w = {.service_ns = 70 * MS};  world_run(&w, &config, &result);
 *     world_check(&w, &result);                  // what holds of every band
 */
#ifndef TALLY_TESTS_LOAD_WORLD_H
#define TALLY_TESTS_LOAD_WORLD_H

#include "base/clock.h"
#include "load/band.h"

#define MS NS_PER_MS
#define S NS_PER_S
#define SENT_MAX 20000

struct sent {
    struct band_issue issue;
    int64_t t_sent_ns, t_end_ns;
    bool ended;
};

/* A server that takes service_ns for every request; request number fail_from and later fail. */
struct world {
    struct band *band;
    int64_t now_ns, service_ns;
    int64_t service_step_ns; /* added once per worker number, so that workers drift apart */
    int64_t fail_from, fail_to;
    int64_t interrupt_ns;
    int64_t late_ns; /* how late the loop wakes up */
    struct sent sent[SENT_MAX];
    size_t n;
};

/* Closed loop, one worker, two warm-up requests, a window of 1 s and 30 requests. */
extern const struct band_config world_base;

void world_run(struct world *w, const struct band_config *config, struct band_result *r);
void world_check(const struct world *w, const struct band_result *r);

int world_setup(void **state);
int world_teardown(void **state);

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

#endif
