/*
 * Run directories for tests: the specimens that self-test writes, in a directory of their own.
 *
 *     struct make m;   make_init(&m);
 *     m.lanes_n = 1;
 *     make_run(&m);                      // m.dir holds the directory; asserts that it was written
 *     make_release(&m);                  // removes it
 *
 * What requests look like stands in gate/specimen.h. A window is whole seconds long.
 */
#ifndef TALLY_TEST_MAKE_H
#define TALLY_TEST_MAKE_H

#include "base/arena.h"
#include "gate/specimen.h"

#define MAKE_BANDS_MAX SPECIMEN_BANDS_MAX
#define MAKE_TOKENS SPECIMEN_TOKENS

struct make {
    int32_t bands[MAKE_BANDS_MAX];
    size_t bands_n, lanes_n;
    int32_t replicates;
    int64_t window_s;
    enum count_method method;
    int64_t body;    /* tokens of every prompt's body */
    int64_t wrap[2]; /* tokens that a lane adds; COUNT_NONE: it reports no usage */
    bool interrupted;
    bool finish;     /* false: the run is cut off before its receipt */
    bool leave_open; /* with !finish: the last band is not closed either */
    size_t argc;
    const char *const *argv;
    /* Called for every sample before it is written; true leaves it out. */
    bool (*change)(struct make *m, struct sample *s);
    /* Called for every band before it is kept. */
    void (*change_band)(struct make *m, struct run_band *b);
    /* Called for plan and lanes before the start. */
    void (*change_plan)(struct make *m, struct run_plan *p, struct run_lane *lanes);

    char dir[128];
    struct receipt_result result; /* without refusals, which die with the run */
    char refusals[4096];          /* "rule lane band replicate: seen\n" each */
    struct arena arena;
};

void make_init(struct make *m);
void make_run(struct make *m);
void make_release(struct make *m);

/* The bytes of a file of the directory (sample files decompressed), in m->arena. */
struct str make_read(struct make *m, const char *name);
/* Replaces a file of the directory; names ending in .gz are compressed. */
void make_write(struct make *m, const char *name, struct str bytes);
/* `text` with its first `from` behind `after` (NULL: from the start) replaced; asserts it is there.
 */
struct str make_replaced(struct make *m, struct str text, const char *after, const char *from,
                         const char *to);
/* Digests of all files again, and the run id: what an editor who knows the format would do. */
void make_reseal(struct make *m);
char *make_path(struct make *m, const char *name);

#endif
