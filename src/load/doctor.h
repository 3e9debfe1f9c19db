/*
 * What this machine would do to a measurement: looked at and tried before anything is spent.
 *
 *     struct doctor d;
 *     doctor_look(&d, &(struct doctor_where){.root = "", .dir = "."});
 *     for (size_t i = 0; i < d.n; i++) print(&d.finding[i]);
 *
 * Never fails: what cannot be looked at is a finding of its own. doctor_look reads /proc and /sys
 * (below `root`, for tests) and then tries things out: a stamp on a loopback socket, waking a
 * thread, computing for a fifth of a second, writing and syncing a file in `dir`. It changes
 * nothing, and takes less than a second where the disk is sound.
 * Levels: OK; UNKNOWN, the system does not tell; NOTE, worth knowing, the numbers stand; SPOILS, a
 * measurement here would be refused, suspect, or not repeatable. All but OK say why and what to do.
 */
#ifndef TALLY_LOAD_DOCTOR_H
#define TALLY_LOAD_DOCTOR_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define DOCTOR_FINDINGS_MAX 24
#define DOCTOR_TEXT_MAX 256

enum doctor_level { DOCTOR_OK, DOCTOR_UNKNOWN, DOCTOR_NOTE, DOCTOR_SPOILS };

struct doctor_finding {
    const char *name; /* "governor", a key of JSON */
    enum doctor_level level;
    char seen[DOCTOR_TEXT_MAX];   /* what was found, in a few words */
    char why[DOCTOR_TEXT_MAX];    /* why it matters; "" when OK */
    char remedy[DOCTOR_TEXT_MAX]; /* a command or what to do; "" when OK */
};

struct doctor {
    struct doctor_finding finding[DOCTOR_FINDINGS_MAX];
    size_t n;
};

struct doctor_where {
    const char *root; /* "" but in tests */
    const char *dir;  /* where runs will be written */
};

void doctor_look(struct doctor *d, const struct doctor_where *where);
size_t doctor_count(const struct doctor *d, enum doctor_level level);
const char *doctor_level_name(enum doctor_level level); /* "ok", "unknown", "note", "spoils" */

/* The two halves: what files say (deterministic below a root), and what is tried out. */
void doctor_read(struct doctor *d, const char *root);
void doctor_try(struct doctor *d, const char *dir);

/* A finding. seen is a printf format of what follows. */
struct doctor_finding *doctor_add(struct doctor *d, const char *name, enum doctor_level level,
                                  const char *seen, ...) TALLY_PRINTF(4, 5);
void doctor_why(struct doctor_finding *f, const char *why, ...) TALLY_PRINTF(2, 3);
void doctor_remedy(struct doctor_finding *f, const char *remedy, ...) TALLY_PRINTF(2, 3);

#endif
