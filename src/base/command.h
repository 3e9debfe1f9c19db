/*
 * Runs one line of the shell's, bounded by a time limit.
 *
 *     struct command_result r = {.output = BUF_INIT(COMMAND_OUTPUT_MAX)};
 *     const char *const more[] = {"TALLY_LANE=subject", NULL};
 *     if (command_run(&r, "systemctl start llama", more, 60 * NS_PER_S, NULL, err) < 0) ...
 *     if (command_failed(&r)) ...                    // r.exit_code, r.signal, r.timed_out
 *     buf_release(&r.output);
 *
 * The shell gets a process group of its own, an empty standard input, and both outputs into one
 * file without a name. What it leaves in the background lives on; only a command that is ended
 * (time, *stop) takes its group with it: SIGTERM, and COMMAND_GRACE_NS later SIGKILL.
 * Ownership: output is the caller's. Limits: of the output its last COMMAND_OUTPUT_MAX bytes.
 */
#ifndef TALLY_BASE_COMMAND_H
#define TALLY_BASE_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

#define COMMAND_OUTPUT_MAX ((size_t)4096)
#define COMMAND_GRACE_NS (INT64_C(2) * 1000000000)

struct command_result {
    int exit_code; /* -1: ended by a signal */
    int signal;    /* 0: by itself */
    bool timed_out, stopped;
    int64_t began_ns, took_ns; /* monotonic */
    struct buf output;         /* the last of it */
};

/* `more` are entries beside the environment, "NAME=value", ended by NULL; stop may be NULL.
 * ERROR_ENVIRONMENT only when no shell could be started. */
int command_run(struct command_result *r, const char *line, const char *const *more,
                int64_t timeout_ns, const volatile sig_atomic_t *stop,
                struct error *err) TALLY_MUST_CHECK;
bool command_failed(const struct command_result *r);

#endif
