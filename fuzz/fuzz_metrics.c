/* Any lines that are samples: computing a band from them fails with a reason or gives metrics whose
 * bounds are bounds, whose peak is not below its mean, and whose text is JSON; the order of the
 * lines changes nothing. */
#include "fuzz.h"
#include "metrics/pairs.h"

#define SAMPLES_MAX 64
#define MEMORY ((size_t)256 << 20)
#define SECOND INT64_C(1000000000)

static size_t read_samples(struct sample *samples, struct str rest, struct arena *arena)
{
    struct error err = {0};
    struct str line;
    size_t n = 0;
    while (rest.n > 0 && n < SAMPLES_MAX) {
        const struct json *doc;
        str_cut(rest, '\n', &line, &rest);
        if (json_parse(&doc, line, &JSON_LIMITS_DEFAULT, arena, &err) == 0 &&
            sample_read(&samples[n], doc, arena, &err) == 0) {
            /* One band, whatever they say: what differs there is refused at once. */
            samples[n].lane = STR("subject");
            samples[n].band = samples[n].replicate = 1;
            n++;
        }
    }
    return n;
}

static void print(struct buf *out, const struct metrics_band *band)
{
    struct json_writer w;
    struct error err = {0};
    const struct metrics_band *list[] = {band};
    json_writer_init(&w, out, 1);
    json_begin_object(&w);
    metrics_write_json(band, &w);
    json_key(&w, "pairs");
    json_begin_object(&w);
    struct metrics_pairs pairs;
    struct arena arena;
    arena_init(&arena, MEMORY);
    const struct metrics_pairs_input in = {
        .band = 1, .replicates = 1, .subject = list, .comparator = list, .unequal_work = true};
    FUZZ_REQUIRE(metrics_pairs_compute(&in, &arena, &pairs, &err) == 0);
    metrics_pairs_write_json(&pairs, &w);
    json_end_object(&w);
    json_end_object(&w);
    FUZZ_REQUIRE(json_writer_check(&w, "metrics", &err) == 0);
    arena_release(&arena);
}

static void check(const struct metrics_band *b)
{
    const struct metrics_metric *agg = &b->metrics[METRIC_AGG], *peak = &b->metrics[METRIC_PEAK];
    if (peak->why == REASON_NONE)
        FUZZ_REQUIRE(agg->why == REASON_NONE && peak->real >= agg->real);
    for (int id = 0; id < METRIC_COUNT; id++)
        for (int s = 0; s < METRICS_STATS; s++) {
            const struct metrics_stat *stat = &b->metrics[id].stats[s];
            if (b->metrics[id].why == REASON_NONE && stat->why == REASON_NONE)
                FUZZ_REQUIRE(stat->ns >= 0 && stat->lower_ns <= stat->ns);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sample samples[SAMPLES_MAX];
    struct error err = {0};
    struct arena arena;
    struct buf text = BUF_INIT(BUF_ANY), again = BUF_INIT(BUF_ANY);
    struct metrics_band *band = calloc(2, sizeof *band);
    if (!band || size < 1)
        goto out;
    struct metrics_band_facts f = {.lane = "subject",
                                   .band = 1,
                                   .replicate = 1,
                                   .t_open_ns = 0,
                                   .t_close_ns = (data[0] & 7) * SECOND,
                                   .t_drained_ns = 8 * SECOND,
                                   .stream = !(data[0] & 8),
                                   .open_loop = data[0] & 16,
                                   .kernel_time = data[0] & 32,
                                   .source = (enum metrics_source)(data[0] >> 6),
                                   .issued = COUNT_NONE,
                                   .issued_warmup = COUNT_NONE,
                                   .slo_ttft_ns = SECOND,
                                   .slo_tpot_ns = data[0] & 1 ? SECOND / 10 : TIME_NONE,
                                   .slo_e2e_ns = data[0] & 2 ? 2 * SECOND : TIME_NONE};
    arena_init(&arena, MEMORY);
    size_t n = read_samples(samples, str_make(data + 1, size - 1), &arena);
    if (metrics_band_compute(samples, n, &f, &arena, &band[0], &err) < 0) {
        FUZZ_REQUIRE(err.message[0]);
    } else {
        check(&band[0]);
        print(&text, &band[0]);
        for (size_t i = 0; i < n / 2; i++) {
            struct sample swap = samples[i];
            samples[i] = samples[n - 1 - i];
            samples[n - 1 - i] = swap;
        }
        FUZZ_REQUIRE(metrics_band_compute(samples, n, &f, &arena, &band[1], &err) == 0);
        print(&again, &band[1]);
        FUZZ_REQUIRE(str_eq(buf_str(&text), buf_str(&again)));
    }
    arena_release(&arena);
out:
    buf_release(&text);
    buf_release(&again);
    free(band);
    return 0;
}
