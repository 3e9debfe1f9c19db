/*
 * What verifying a receipt costs, with everything that verify does: digests, samples, metrics,
 * intervals, ratios, the receipt composed again.
 *
 *     bench_verify [REQUESTS]           (10,000, over two lanes and five replicates)
 *
 * CPU time of this process. Beside it, in the same run, what cannot be saved: the digests of the
 * stored files and the inflating of the samples. Writes a run directory in the working directory
 * and removes it. Checked (exit 1): the receipt verifies.
 */
#define _XOPEN_SOURCE 700 /* nftw */

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/num.h"
#include "codec/gz_lines.h"
#include "gate/specimen.h"
#include "receipt/files.h"
#include "stats/random.h"
#include "verify/verify.h"

#define DIR "bench_verify.run"
#define TOKENS 128
#define WORKERS 16
#define REPLICATES 5
#define LANES 2

struct streams {
    struct random random;
    struct sample_read_stamp reads[TOKENS];
    struct sample_event events[TOKENS + 3];
};

/* 128 tokens instead of the specimen's eight; its last events stand behind them. */
static bool lengthen(void *ctx, struct sample *s)
{
    struct streams *x = ctx;
    int64_t t = s->reads[0].t_user_ns;
    size_t n = 0;
    for (size_t k = 0; k < TOKENS; k++) {
        t += NS_PER_MS + (int64_t)random_below(&x->random, 600000);
        x->reads[k] = (struct sample_read_stamp){t, t - 20000, t - 40000, 230};
        struct sample_event *e = &x->events[n++];
        sample_event_init(e);
        e->kind = EVENT_TEXT;
        e->read = (uint32_t)k;
        e->has_choices = true;
        e->text = STR(" hello");
        e->retokenized = 1;
    }
    for (size_t i = 0; i < s->events_n; i++) {
        if (s->events[i].kind == EVENT_TEXT)
            continue;
        x->events[n] = s->events[i];
        x->events[n].read = TOKENS - 1;
        if (x->events[n].kind == EVENT_USAGE)
            x->events[n].usage.completion = TOKENS;
        n++;
    }
    s->reads = x->reads;
    s->reads_n = TOKENS;
    s->events = x->events;
    s->events_n = n;
    s->max_tokens = TOKENS;
    s->output_reported.total = s->output_reported.text = TOKENS;
    s->output_retokenized.total = s->output_retokenized.text = TOKENS;
    s->t_first_byte_ns = s->t_headers_ns = x->reads[0].t_user_ns;
    s->t_end_ns = t;
    return false;
}

static void ask_for_all(void *ctx, struct run_plan *p, struct run_lane *lanes)
{
    (void)ctx;
    (void)lanes;
    p->max_tokens = TOKENS;
}

static int write_run(int64_t requests, struct error *err)
{
    static struct streams x;
    struct specimen s;
    random_seed(&x.random, 2026);
    specimen_init(&s);
    s.dir = DIR;
    s.bands[0] = WORKERS;
    s.bands_n = 1;
    s.replicates = REPLICATES;
    /* A worker sends one every 300 ms. */
    s.window_s = (requests * 3 / (10 * WORKERS * REPLICATES * LANES)) + 1;
    s.ctx = &x;
    s.change = lengthen;
    s.change_plan = ask_for_all;
    return specimen_write(&s, err);
}

static double digest_all(struct error *err)
{
    struct file_list list;
    int64_t start = clock_process_cpu_ns();
    if (file_list_read(&list, DIR, NULL, err) < 0)
        return -1;
    double took = (double)(clock_process_cpu_ns() - start) / 1e9;
    file_list_release(&list);
    return took;
}

static double inflate_all(uint64_t *bytes, struct error *err)
{
    const struct gz_lines_limits limits = {(size_t)64 << 20, (uint64_t)16 << 30};
    int64_t start = clock_process_cpu_ns();
    for (int lane = 0; lane < LANES; lane++)
        for (int rep = 1; rep <= REPLICATES; rep++) {
            char path[128];
            struct gz_lines *lines;
            struct str line;
            int got;
            snprintf(path, sizeof path, DIR "/samples/%s.c%d.r%d.jsonl.gz",
                     lane ? "comparator" : "subject", WORKERS, rep);
            if (gz_lines_open(&lines, path, &limits, err) < 0)
                return -1;
            while ((got = gz_lines_next(lines, &line, err)) > 0)
                *bytes += line.n + 1;
            gz_lines_free(lines);
            if (got < 0)
                return -1;
        }
    return (double)(clock_process_cpu_ns() - start) / 1e9;
}

static int verify_it(int64_t *samples, double *took, struct error *err)
{
    const struct verify_options o = {0};
    struct verify_report v;
    int64_t start = clock_process_cpu_ns();
    if (verify_dir(&v, DIR, &o, err) < 0)
        return -1;
    *took = (double)(clock_process_cpu_ns() - start) / 1e9;
    *samples = v.samples;
    int status = v.verdict == VERIFY_OK ? 0 : -1;
    for (int r = 0; status < 0 && r < VERIFY_RULE_COUNT; r++)
        if (v.rules[r].state == VERIFY_FAILED)
            error_set(err, ERROR_REFUSED, "%s: %s", verify_rule_name((enum verify_rule)r),
                      v.rules[r].failures[0].what);
    verify_release(&v);
    return status;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

int main(int argc, char **argv)
{
    struct error err = {0};
    int64_t requests = 10000, samples = 0;
    uint64_t bytes = 0;
    double digest, inflate, took = 0;
    int rc = 1;
    if (argc > 1 && (num_parse_i64(&requests, str_of(argv[1])) < 0 || requests < 1))
        return 2;
    if (write_run(requests, &err) == 0 && (digest = digest_all(&err)) >= 0 &&
        (inflate = inflate_all(&bytes, &err)) >= 0 && verify_it(&samples, &took, &err) == 0) {
        printf("%lld requests of %d tokens (warm-up included), %.1f MB of samples\n",
               (long long)samples, TOKENS, (double)bytes / 1e6);
        printf("  digests of stored bytes     %.3f s\n", digest);
        printf("  inflate, split in lines     %.3f s\n", inflate);
        printf("  verify, everything          %.3f s   %.1f x digests and inflating\n", took,
               took / (digest + inflate));
        rc = 0;
    } else {
        fprintf(stderr, "bench_verify: %s\n", err.message);
    }
    nftw(DIR, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return rc;
}
