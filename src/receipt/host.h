/*
 * Where and by what it was measured: the client's host and program.
 *
 *     struct receipt_host host;
 *     host_look(&host, &arena);                    // never fails: what cannot be had stays null
 *
 * Read from uname, sysconf and, where the system has them, /proc, /sys and the control group's own
 * limits; no name of a user or of the machine is taken. Ownership: strings live in the arena.
 */
#ifndef TALLY_RECEIPT_HOST_H
#define TALLY_RECEIPT_HOST_H

#include <stdint.h>

#include "base/arena.h"
#include "base/hash.h"
#include "receipt/form.h"

struct receipt_host {
    const char *os, *arch, *cpu_model; /* NULL where unknown */
    int64_t cores, memory_bytes;       /* COUNT_NONE */
    const char *governor;              /* of the first CPU; "mixed" where they differ */
    double load_1m, load_5m, load_15m; /* at the start; negative where unknown */
    const char *cgroup_cpu_max,
        *cgroup_memory_max; /* verbatim, of the nearest group that has one */
};

struct receipt_program {
    const char *name, *version, *commit;
    char binary_sha256[SHA256_HEX]; /* of the file this process runs; "" */
};

extern const struct form form_host, form_program;

void host_look(struct receipt_host *h, struct arena *arena);
/* version and commit are copied. */
int program_look(struct receipt_program *p, const char *version, const char *commit,
                 struct arena *arena, struct error *err) TALLY_MUST_CHECK;

/* The same from below another root, for tests: root "/x" reads /x/proc/cpuinfo. */
void host_look_below(struct receipt_host *h, const char *root, struct arena *arena);

#endif
