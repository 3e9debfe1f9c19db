/*
 * What recomputing a run costs: sample lines read, a band's metrics computed, the intervals drawn.
 *
 *     bench_recompute [REQUESTS]        (10,000 of 128 tokens)
 *
 * CPU time of this process. Beside it, in the same run, plain inflating of the same bytes: a
 * verifier cannot cost less than that. Writes a file in the working directory and removes it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/num.h"
#include "codec/gz.h"
#include "codec/gz_lines.h"
#include "metrics/pairs.h"
#include "record/sample_file.h"
#include "stats/random.h"

#define TOKENS 128
#define WORKERS 16
#define MEMORY ((size_t)8 << 30)
#define PATH "bench_recompute.jsonl.gz"

static void fill(struct sample *s, int64_t seq, struct random *r, struct sample_read_stamp *reads,
                 struct sample_event *events)
{
    int64_t t = seq * 100 * NS_PER_MS + NS_PER_S;
    sample_init(s);
    s->lane = STR("subject");
    s->band = WORKERS;
    s->replicate = 1;
    s->seq = seq;
    s->phase = PHASE_WINDOW;
    s->prompt_id = STR("p-000000");
    s->reused = true;
    s->t_planned_ns = s->t_issue_ns = s->t_sent_ns = t;
    t += 180 * NS_PER_MS;
    for (size_t k = 0; k < TOKENS; k++) {
        t += 10 * NS_PER_MS + (int64_t)random_below(r, 1000000);
        reads[k] = (struct sample_read_stamp){t, t - 20000, t - 40000, 230};
        sample_event_init(&events[k]);
        events[k].kind = EVENT_TEXT;
        events[k].read = (uint32_t)k;
        events[k].has_choices = true;
        events[k].text = STR(" hello");
        events[k].retokenized = 1;
    }
    s->reads = reads;
    s->events = events;
    s->reads_n = s->events_n = TOKENS;
    s->t_first_byte_ns = reads[0].t_user_ns;
    s->t_end_ns = t;
    s->http_status = 200;
    s->prompt_body = 512;
    s->prompt_reported = 541;
    s->output_reported.total = s->output_retokenized.total = TOKENS;
    s->saw_finish = s->saw_done = true;
}

static int write_file(int64_t n, struct error *err)
{
    struct sample_read_stamp reads[TOKENS];
    struct sample_event events[TOKENS];
    struct buf text = BUF_INIT((size_t)4 << 30), gz = BUF_INIT((size_t)4 << 30);
    struct random r;
    random_seed(&r, 1);
    for (int64_t i = 0; i < n; i++) {
        struct sample s;
        struct json_writer w;
        fill(&s, i, &r, reads, events);
        json_writer_init(&w, &text, 0);
        sample_write(&s, &w);
        buf_addc(&text, '\n');
    }
    int status = buf_check(&text, "samples", err);
    if (status == 0)
        status = gz_compress(&gz, buf_str(&text), err);
    if (status == 0)
        status = file_write_atomic(PATH, buf_str(&gz), err);
    printf("%lld requests, %.1f MB of text, %.1f MB gzip\n", (long long)n, (double)text.n / 1e6,
           (double)gz.n / 1e6);
    buf_release(&text);
    buf_release(&gz);
    return status;
}

static int inflate_only(struct error *err)
{
    struct gz_lines *lines;
    struct str line;
    int got;
    if (gz_lines_open(&lines, PATH, &(struct gz_lines_limits){SAMPLE_LINE_MAX, SAMPLE_FILE_MAX},
                      err) < 0)
        return -1;
    do
        got = gz_lines_next(lines, &line, err);
    while (got > 0);
    gz_lines_free(lines);
    return got;
}

static int64_t lap(const char *what, int64_t since, int64_t floor)
{
    int64_t now = clock_process_cpu_ns();
    printf("  %-24s %8.3f s", what, (double)(now - since) / 1e9);
    if (floor > 0)
        printf("   %.1f x inflating", (double)(now - since) / (double)floor);
    printf("\n");
    return now;
}

static int measure(int64_t n, struct arena *arena, struct metrics_band *band, struct error *err)
{
    struct sample *samples;
    size_t have;
    struct buf out = BUF_INIT(BUF_ANY);
    struct json_writer w;
    const struct metrics_band *list[] = {band};
    struct metrics_band_facts f = {.lane = "subject",
                                   .band = WORKERS,
                                   .replicate = 1,
                                   .t_open_ns = NS_PER_S,
                                   .t_close_ns = NS_PER_S * (2 + n / 10),
                                   .t_drained_ns = NS_PER_S * (4 + n / 10),
                                   .stream = true,
                                   .source = SOURCE_RETOKENIZED,
                                   .issued = n,
                                   .issued_warmup = 0,
                                   .slo_ttft_ns = TIME_NONE,
                                   .slo_tpot_ns = TIME_NONE,
                                   .slo_e2e_ns = TIME_NONE};
    int64_t start = clock_process_cpu_ns();
    if (inflate_only(err) < 0)
        return -1;
    int64_t at = lap("inflate, split in lines", start, 0), floor = at - start, first = at;
    if (sample_file_read(&samples, &have, NULL, PATH, arena, err) < 0)
        return -1;
    at = lap("read samples", at, floor);
    if (metrics_band_compute(samples, have, &f, arena, band, err) < 0)
        return -1;
    at = lap("compute the band", at, floor);
    json_writer_init(&w, &out, 2);
    json_begin_object(&w);
    metrics_write_json(band, &w);
    if (metrics_intervals_write_json(list, 1, &w, err) < 0)
        return -1;
    at = lap("intervals, JSON", at, floor);
    lap("read + compute + draw", first, floor);
    buf_release(&out);
    return 0;
}

int main(int argc, char **argv)
{
    struct error err = {0};
    struct arena arena;
    int64_t n = 10000;
    if (argc > 1 && (num_parse_i64(&n, str_of(argv[1])) < 0 || n < 1)) {
        fprintf(stderr, "bench_recompute: REQUESTS must be a whole number from 1 on\n");
        return 2;
    }
    struct metrics_band *band = calloc(1, sizeof *band);
    arena_init(&arena, MEMORY);
    int status = band ? write_file(n, &err) : error_no_memory(&err);
    if (status == 0)
        status = measure(n, &arena, band, &err);
    if (status < 0)
        fprintf(stderr, "bench_recompute: %s\n", err.message);
    unlink(PATH);
    arena_release(&arena);
    free(band);
    return status < 0;
}
