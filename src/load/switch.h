/*
 * Lanes that cannot be up at the same time: the commands that start one before it is talked to and
 * stop it before the other's turn (servers that share a GPU).
 *
 *     struct lane_switch s;
 *     lane_switch_init(&s, &options, lanes, &plan);
 *     if (lane_switch_to(&s, 1, &trouble, err) < 0) ...    // only memory; trouble.reason: it
 * failed
 *     ...                                                  // talk to lane 1
 *     lane_switch_leave(&s, err);                          // the end: stops the one that is up
 *
 * Without commands nothing is ever done. Each command is bounded by timeout_ns, and so is the time
 * that the server then takes until it answers /health with anything but 503. A command that failed
 * or hung is typed: before_lane_failed, before_lane_timeout, after_lane_failed, after_lane_timeout;
 * the lane is then not up, and the next switch tries again.
 * What was run is kept, in order. Limits: LANE_COMMANDS_MAX of them; the last
 * COMMAND_OUTPUT_MAX bytes of what each one printed.
 */
#ifndef TALLY_LOAD_SWITCH_H
#define TALLY_LOAD_SWITCH_H

#include <signal.h>

#include "load/lane.h"
#include "load/progress.h"

#define LANE_COMMANDS_MAX 100000
#define LANE_COMMAND_TIMEOUT_NS (INT64_C(600) * 1000000000)

/* As declared for one lane; NULL: none. Borrowed. */
struct lane_commands {
    const char *before, *after;
};

struct lane_switch {
    struct lane_commands commands[RUN_LANES_MAX];
    const struct load_lane *lanes;
    const struct load_progress *progress;
    const volatile sig_atomic_t *stop; /* NULL */
    int64_t timeout_ns;
    size_t up; /* the lane that was started last; RUN_LANES_MAX: none */
    struct arena arena;
    struct run_command *list; /* times are monotonic */
    size_t n, cap;
};

struct lane_trouble {
    const char *reason; /* NULL: none */
    char detail[400];
};

void lane_switch_release(struct lane_switch *s); /* runs nothing; NULL and zeroed are fine */
int lane_switch_to(struct lane_switch *s, size_t lane, struct lane_trouble *trouble,
                   struct error *err) TALLY_MUST_CHECK;
/* Also when *stop is set: a server is not left behind. */
int lane_switch_leave(struct lane_switch *s, struct error *err) TALLY_MUST_CHECK;

#endif
