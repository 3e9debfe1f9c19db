/* Numbers that nothing proves, side by side. */
#include <string.h>

#include "gate/foreign.h"
#include "receipt/whole.h"
#include "verify/verify.h"

/* Adds a value of one replicate; what is kept is the sum until all are in. */
static void add_value(struct foreign_run *run, int64_t counts[FOREIGN_METRIC_COUNT],
                      enum foreign_metric to, const struct metrics_metric *m,
                      enum metrics_stat_id stat, bool real)
{
    if (m->why != REASON_NONE || (!real && m->stats[stat].why != REASON_NONE))
        return;
    run->values[to] += real ? m->real : (double)m->stats[stat].ns / 1e6;
    counts[to]++;
}

static void add_band(struct foreign_run *run, int64_t counts[FOREIGN_METRIC_COUNT],
                     const struct metrics_band *b)
{
    static const struct {
        enum foreign_metric to;
        enum metric_id from;
        enum metrics_stat_id stat;
        bool real;
    } map[] = {
        {FOREIGN_RPS, METRIC_RPS, STAT_P50, true},
        {FOREIGN_AGG, METRIC_AGG, STAT_P50, true},
        {FOREIGN_TTFT, METRIC_TTFT, STAT_P50, false},
        {FOREIGN_TTFT_P99, METRIC_TTFT, STAT_P99, false},
        {FOREIGN_TPOT, METRIC_TPOT, STAT_P50, false},
        {FOREIGN_GAP, METRIC_CHUNK_GAP, STAT_P50, false},
        {FOREIGN_E2E, METRIC_E2E, STAT_P50, false},
    };
    for (size_t i = 0; i < sizeof map / sizeof map[0]; i++)
        add_value(run, counts, map[i].to, &b->metrics[map[i].from], map[i].stat, map[i].real);
    run->completed += b->counts.outcomes[OUTCOME_OK];
    run->failed +=
        b->counts.issued - b->counts.outcomes[OUTCOME_OK] - b->counts.outcomes[OUTCOME_CANCELLED];
}

static void take_receipt_band(struct foreign *f, const struct receipt_whole *w, size_t lane,
                              int32_t band)
{
    struct foreign_run *run = &f->runs[f->runs_n++];
    int64_t counts[FOREIGN_METRIC_COUNT] = {0};
    *run = (struct foreign_run){.concurrency = band};
    for (size_t i = 0; i < w->run->bands_n; i++)
        if (w->run->bands[i].lane == lane && w->run->bands[i].band == band &&
            w->verdict.band_status[i] == STATUS_PASS)
            add_band(run, counts, w->bands[i].metrics);
    for (int m = 0; m < FOREIGN_METRIC_COUNT; m++) {
        run->has[m] = counts[m] > 0;
        if (counts[m] > 0)
            run->values[m] /= (double)counts[m];
    }
}

static int must_verify(const char *dir, struct error *err)
{
    const struct verify_options how = {0};
    struct verify_report v;
    if (verify_dir(&v, dir, &how, err) < 0)
        return -1;
    bool sound = v.verdict == VERIFY_OK;
    verify_release(&v);
    if (sound)
        return 0;
    error_set(err, ERROR_REFUSED, "this receipt does not verify");
    error_rule(err, "verify");
    error_remedy(err, "'tally verify %s' names every rule that is broken", dir);
    return error_at_file(err, dir);
}

int foreign_read_receipt(struct foreign *f, const char *dir, const char *role, struct error *err)
{
    struct receipt_whole w;
    size_t lane = 0;
    if (must_verify(dir, err) < 0)
        return -1;
    if (receipt_whole_read(&w, dir, false, err) < 0)
        return error_at_file(err, dir);
    *f = (struct foreign){.tool = FOREIGN_RECEIPT};
    arena_init(&f->arena, RECEIPT_ARENA_MAX);
    f->runs = arena_array(&f->arena, w.run->plan.bands_n + 1, sizeof *f->runs);
    if (w.run->lanes_n == 2 && strcmp(w.run->lanes[0].role, role) != 0)
        lane = 1;
    if (w.run->lanes[lane].model)
        f->model = arena_cstr(&f->arena, str_of(w.run->lanes[lane].model));
    for (size_t i = 0; f->runs && i < w.run->plan.bands_n; i++)
        take_receipt_band(f, &w, lane, w.run->plan.bands[i]);
    receipt_whole_release(&w);
    int status = arena_check(&f->arena, "a receipt", err);
    if (status < 0)
        foreign_release(f);
    return status;
}

static const struct foreign_run *find(const struct foreign *f, int64_t concurrency)
{
    for (size_t i = 0; i < f->runs_n; i++)
        if (f->runs[i].concurrency == concurrency)
            return &f->runs[i];
    return NULL;
}

/* With two runs at one concurrency somebody would have to choose. */
static int must_be_one(const struct foreign *f, struct error *err)
{
    for (size_t i = 0; i < f->runs_n; i++)
        if (f->runs[i].concurrency && find(f, f->runs[i].concurrency) != &f->runs[i]) {
            error_set(err, ERROR_REFUSED, "there are several runs at c = %lld on one side",
                      (long long)f->runs[i].concurrency);
            error_rule(err, "one_run");
            return error_remedy(err, "give a file with one run a concurrency; none is chosen here");
        }
    return 0;
}

static void add_rows(const struct foreign_run *a, const struct foreign_run *b,
                     struct foreign_row *rows, size_t *n)
{
    for (int m = 0; m < FOREIGN_METRIC_COUNT; m++)
        if (a->has[m] && b->has[m] && b->values[m] > 0)
            rows[(*n)++] = (struct foreign_row){
                a->concurrency == b->concurrency ? a->concurrency : 0, (enum foreign_metric)m,
                a->values[m], b->values[m], a->values[m] / b->values[m]};
}

int foreign_compare(const struct foreign *subject, const struct foreign *comparator,
                    struct arena *arena, struct foreign_row **rows, size_t *n, struct error *err)
{
    size_t most = subject->runs_n * FOREIGN_METRIC_COUNT;
    struct foreign_row *out = arena_array(arena, most + 1, sizeof *out);
    *n = 0;
    if (must_be_one(subject, err) < 0 || must_be_one(comparator, err) < 0)
        return -1;
    if (!out)
        return arena_check(arena, "the comparison", err);
    for (size_t i = 0; i < subject->runs_n; i++) {
        const struct foreign_run *a = &subject->runs[i];
        const struct foreign_run *b = a->concurrency ? find(comparator, a->concurrency) : NULL;
        /* Where one does not say, there must be nothing to choose between. */
        if (!b && subject->runs_n == 1 && comparator->runs_n == 1 &&
            (a->concurrency == 0 || comparator->runs[0].concurrency == 0))
            b = &comparator->runs[0];
        if (b)
            add_rows(a, b, out, n);
    }
    if (*n == 0) {
        error_set(err, ERROR_REFUSED, "the two have no number at one concurrency in common");
        error_rule(err, "join_key");
        return error_remedy(err, "measure both at the same concurrency, and have it written down");
    }
    *rows = out;
    return 0;
}
