/* What became of the requests, and whether all of them are here. */
#include <string.h>

#include "metrics/band.h"

/* Every seq from 0 on exactly once: a line that was taken out, or put in twice, shows. */
static int check_sequence(struct band_work *w, bool *whole, struct error *err)
{
    bool *seen = arena_array(w->scratch, w->n, sizeof *seen);
    if (!seen)
        return arena_check(w->scratch, "metrics", err);
    *whole = true;
    for (size_t i = 0; i < w->n; i++) {
        int64_t seq = w->samples[i].seq;
        if (seq < 0 || (size_t)seq >= w->n || seen[seq])
            *whole = false;
        else
            seen[seq] = true;
    }
    return 0;
}

static void count_window(struct band_work *w, size_t i)
{
    const struct sample *s = &w->samples[i];
    struct metrics_counts *c = &w->out->counts;
    int64_t close = w->facts->t_close_ns;
    c->issued++;
    c->outcomes[s->outcome]++;
    if (s->outcome == OUTCOME_FAILED)
        c->failures[s->failure]++;
    c->retries += s->retry_of != COUNT_NONE;
    c->start_cohort += s->start_cohort;
    if (!band_in_window(w, s)) {
        /* Cancelled before it was sent: nothing went out at the wrong time. */
        bool never_sent = s->t_sent_ns == TIME_NONE;
        c->sent_outside += !never_sent;
        return;
    }
    c->drained += close != TIME_NONE && s->t_end_ns != TIME_NONE && s->t_end_ns >= close;
    c->zero_token += s->outcome == OUTCOME_OK && w->lines[i].n == 0;
}

static void add_reading(struct sample_counts *sum, int64_t *n, const struct sample_counts *c)
{
    const int64_t from[] = {c->total, c->text, c->reasoning, c->tool};
    int64_t *const to[] = {&sum->total, &sum->text, &sum->reasoning, &sum->tool};
    if (c->total == COUNT_NONE)
        return;
    /* A part that one request does not state is not known for the sum. */
    for (int k = 0; k < 4; k++)
        *to[k] = from[k] == COUNT_NONE || *to[k] == COUNT_NONE ? COUNT_NONE : *to[k] + from[k];
    ++*n;
}

static void disagree(struct metrics_disagreement *d, int64_t first, int64_t second)
{
    if (first == COUNT_NONE || second == COUNT_NONE)
        return;
    int64_t by = second - first;
    d->min = d->n == 0 || by < d->min ? by : d->min;
    d->max = d->n == 0 || by > d->max ? by : d->max;
    d->sum += by;
    d->differ += by != 0;
    d->n++;
}

static void count_tokens(struct metrics_tokens *t, const struct sample *s)
{
    int64_t observed = s->output_observed.total, reported = s->output_reported.total,
            retokenized = s->output_retokenized.total;
    add_reading(&t->readings[SOURCE_OBSERVED], &t->readings_n[SOURCE_OBSERVED],
                &s->output_observed);
    add_reading(&t->readings[SOURCE_REPORTED], &t->readings_n[SOURCE_REPORTED],
                &s->output_reported);
    add_reading(&t->readings[SOURCE_RETOKENIZED], &t->readings_n[SOURCE_RETOKENIZED],
                &s->output_retokenized);
    disagree(&t->reported_observed, reported, observed);
    disagree(&t->reported_retokenized, reported, retokenized);
    disagree(&t->observed_retokenized, observed, retokenized);
}

int band_counts(struct band_work *w, struct error *err)
{
    struct metrics_counts *c = &w->out->counts;
    const struct metrics_band_facts *f = w->facts;
    bool whole = false;
    c->injected = (int64_t)w->apart_n;
    if (check_sequence(w, &whole, err) < 0)
        return -1;
    for (size_t i = 0; i < w->n; i++) {
        const struct sample *s = &w->samples[i];
        if (s->phase == PHASE_WARMUP) {
            c->warmup++;
            c->warmup_not_ok += s->outcome != OUTCOME_OK;
            continue;
        }
        count_window(w, i);
        if (band_is_success(s) && band_in_window(w, s))
            count_tokens(&w->out->tokens, s);
    }
    int64_t sum = 0;
    for (int k = 0; k < OUTCOME_COUNT; k++)
        sum += c->outcomes[k];
    c->conserved = whole && sum == c->issued &&
                   (f->issued == COUNT_NONE || f->issued == c->issued) &&
                   (f->issued_warmup == COUNT_NONE || f->issued_warmup == c->warmup) &&
                   (f->issued_injected == COUNT_NONE || f->issued_injected == c->injected);
    return 0;
}
