/*
 * Writes nine run directories below argv[1], run-1 to run-9, by the real producer, for trend.py: a
 * run a day, the subject's times TIMES[i] of the specimen's, its builds b1 to b9. Run 4 sends
 * another corpus, run 8 was cut short by its operator, and in run 9 nobody declared the host.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "gate/specimen.h"

#define RUNS 9
#define DAY_NS (24 * 3600 * NS_PER_S)

static const double times[RUNS] = {1.00, 1.02, 0.98, 1.01, 0.99, 1.00, 0.90, 1.20, 0.88};

struct story {
    int run; /* from 0 */
};

static int64_t scaled(int64_t t, int64_t from, double by)
{
    return from + (int64_t)((double)(t - from) * by);
}

/* Replicates differ a little, so that there are bounds. */
static bool change(void *ctx, struct sample *s)
{
    const struct story *story = ctx;
    struct sample_read_stamp *reads = (struct sample_read_stamp *)(uintptr_t)s->reads;
    double by = times[story->run] * (1 + 0.01 * s->replicate);

    if (!str_eq(s->lane, STR("subject")))
        by = 1 + 0.005 * s->replicate;
    for (size_t i = 0; i < s->reads_n; i++) {
        reads[i].t_user_ns = scaled(reads[i].t_user_ns, s->t_sent_ns, by);
        reads[i].t_lower_ns = reads[i].t_user_ns - 1000;
    }
    s->t_first_byte_ns = s->t_headers_ns = reads[0].t_user_ns;
    s->t_end_ns = reads[s->reads_n - 1].t_user_ns;
    return false;
}

static void change_plan(void *ctx, struct run_plan *p, struct run_lane *lanes)
{
    const struct story *story = ctx;

    (void)lanes;
    if (story->run == 3)
        memset(p->corpus_sha256, 'd', SHA256_HEX - 1);
}

int main(int argc, char **argv)
{
    for (int i = 0; argc == 2 && i < RUNS; i++) {
        char dir[FILE_PATH_MAX], nonce[33], build[] = "b?";
        struct story story = {.run = i};
        struct specimen s;
        struct error err = {0};
        snprintf(dir, sizeof dir, "%s/run-%d", argv[1], i + 1);
        specimen_init(&s);
        snprintf(nonce, sizeof nonce, "%032x", (unsigned)i + 1);
        build[1] = (char)('1' + i);
        s.dir = dir;
        s.nonce = nonce;
        s.start_real_ns += i * DAY_NS;
        s.builds[0] = build;
        s.builds[1] = "old";
        s.hosts[0] = s.hosts[1] = i == 8 ? NULL : "lab-a";
        s.replicates = 3;
        s.bands[0] = 2;
        s.bands[1] = 4;
        s.ctx = &story;
        s.change = change;
        s.change_plan = change_plan;
        s.interrupted = i == 7;
        if (specimen_write(&s, &err) < 0) {
            fprintf(stderr, "%s\n", err.message);
            return 1;
        }
    }
    return argc == 2 ? 0 : 2;
}
