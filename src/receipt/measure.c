#include "receipt/measure.h"

#include <string.h>

#include "receipt/receipt.h"

int measure_init(struct measure *m, const struct run_record *run, struct error *err)
{
    *m = (struct measure){.run = run};
    arena_init(&m->arena, RECEIPT_ARENA_MAX);
    m->metrics = arena_array(&m->arena, run->bands_n + 1, sizeof(struct metrics_band *));
    m->facts = arena_array(&m->arena, run->bands_n + 1, sizeof *m->facts);
    m->broken_line = arena_array(&m->arena, run->bands_n + 1, sizeof *m->broken_line);
    if (m->metrics && m->facts && m->broken_line)
        return 0;
    arena_check(&m->arena, "the receipt", err);
    measure_release(m);
    return -1;
}

void measure_release(struct measure *m)
{
    if (!m)
        return;
    arena_release(&m->arena);
    *m = (struct measure){0};
}

/* The first sample that metrics cannot take, as the rule it breaks; NULL when all are fine. */
static const char *find_broken(const struct run_record *run, const struct run_band *b,
                               const struct sample *samples, size_t n, size_t *which,
                               struct error *seen)
{
    struct str lane = str_of(run->lanes[b->lane].role);
    for (size_t i = 0; i < n; i++) {
        const struct sample *one = &samples[i];
        *which = i;
        if (!str_eq(one->lane, lane) || one->band != b->band || one->replicate != b->replicate) {
            error_set(seen, ERROR_REFUSED, "a sample of %.*s c=%d r=%d", STR_ARG(one->lane),
                      (int)one->band, (int)one->replicate);
            return receipt_rule_name(RULE_LANE);
        }
        if (sample_check_order(one, seen) < 0)
            return receipt_rule_name(RULE_TIME_ORDER);
    }
    return NULL;
}

/* Prompt ids and digests point into the samples; what lasts needs its own. */
static int keep_list(const struct metrics_prompt **list, size_t n, struct arena *arena,
                     struct error *err)
{
    struct metrics_prompt *own = arena_array(arena, n ? n : 1, sizeof *own);
    if (!own)
        return arena_check(arena, "the receipt", err);
    for (size_t i = 0; i < n; i++) {
        own[i] = (*list)[i];
        own[i].id = arena_str(arena, own[i].id);
        own[i].digest = arena_str(arena, own[i].digest);
    }
    *list = own;
    return arena_check(arena, "the receipt", err);
}

static int keep_prompts(struct metrics_band *m, struct arena *arena, struct error *err)
{
    if (keep_list(&m->work.prompts, m->work.prompts_n, arena, err) < 0)
        return -1;
    return keep_list(&m->work.warmup, m->work.warmup_n, arena, err);
}

int measure_band(struct measure *m, size_t i, const struct sample *samples, size_t n,
                 struct error *err)
{
    const struct run_record *run = m->run;
    const struct run_band *b = &run->bands[i];
    struct metrics_band *metrics = arena_alloc(&m->arena, sizeof *metrics);
    struct metrics_band_facts facts;
    struct error seen = {0};
    size_t which = 0;
    if (!metrics)
        return arena_check(&m->arena, "the receipt", err);
    rules_look(&m->facts[i], &run->plan, samples, n);
    const char *broken = find_broken(run, b, samples, n, &which, &seen);
    if (broken) {
        struct buf how = BUF_INIT(2048);
        buf_addf(&how, "line %lld: %s", (long long)which + 1, seen.message);
        m->facts[i].broken = broken;
        m->facts[i].broken_how = arena_cstr(&m->arena, buf_str(&how));
        m->broken_line[i] = (int64_t)which + 1;
        buf_release(&how);
        n = 0;
    }
    metrics_facts_from_run(&facts, &run->plan, &run->lanes[b->lane], b);
    if (metrics_band_compute(samples, n, &facts, &m->arena, metrics, err) < 0 ||
        keep_prompts(metrics, &m->arena, err) < 0)
        return -1;
    m->metrics[i] = metrics;
    return 0;
}

void measure_finish(struct measure *m)
{
    const struct run_record *run = m->run;
    for (size_t i = 0; i < run->bands_n; i++) {
        const struct metrics_band *base = NULL;
        for (size_t k = 0; k < run->bands_n && !base; k++)
            if (run->bands[k].band == 1 && run->bands[k].lane == run->bands[i].lane &&
                run->bands[k].replicate == run->bands[i].replicate)
                base = m->metrics[k];
        metrics_set_base(m->metrics[i], base);
    }
}
