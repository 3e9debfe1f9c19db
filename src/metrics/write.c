/* The JSON of a band's metrics. Whatever is null puts its path and reason aside, to be written as
 * "unproduced_fields" at the end. */
#include <assert.h>
#include <stdio.h>

#include "metrics/metrics.h"

#define PATH_MAX_BYTES 128

struct out {
    struct json_writer *w;
    struct buf missing; /* "path\nreason\n" each */
};

static void put_missing(struct out *o, const char *path, enum metrics_reason why)
{
    assert(why != REASON_NONE);
    buf_addf(&o->missing, "%s\n%s\n", path, metrics_reason_name(why));
}

static void missing_in(struct out *o, const char *parent, const char *name, enum metrics_reason why)
{
    assert(why != REASON_NONE);
    buf_addf(&o->missing, "%s.%s\n%s\n", parent, name, metrics_reason_name(why));
}

static void put_i64(struct out *o, const char *name, int64_t v)
{
    json_key(o->w, name);
    json_put_i64(o->w, v);
}

/* A count that may be absent. */
static void put_count(struct out *o, const char *parent, const char *name, int64_t v,
                      enum metrics_reason why)
{
    json_key(o->w, name);
    if (v != COUNT_NONE) {
        json_put_i64(o->w, v);
        return;
    }
    json_put_null(o->w);
    missing_in(o, parent, name, why);
}

static void put_ms(struct out *o, const char *parent, const char *name, int64_t ns,
                   enum metrics_reason why)
{
    json_key(o->w, name);
    if (ns != COUNT_NONE) {
        json_put_ms(o->w, ns);
        return;
    }
    json_put_null(o->w);
    missing_in(o, parent, name, why);
}

static void put_share(struct out *o, const char *parent, const char *name, double v,
                      enum metrics_reason why)
{
    json_key(o->w, name);
    if (v >= 0) {
        json_put_real9(o->w, v);
        return;
    }
    json_put_null(o->w);
    missing_in(o, parent, name, why);
}

static void write_counts(struct out *o, const struct metrics_band *m)
{
    const struct metrics_counts *c = &m->counts;
    json_key(o->w, "counts");
    json_begin_object(o->w);
    put_i64(o, "issued", c->issued);
    for (int k = 0; k < OUTCOME_COUNT; k++)
        put_i64(o, sample_outcome_name((enum sample_outcome)k), c->outcomes[k]);
    json_key(o->w, "failed_by_kind");
    json_begin_object(o->w);
    for (int k = FAILURE_NONE + 1; k <= FAILURE_CLIENT; k++)
        put_i64(o, sample_failure_name((enum sample_failure)k), c->failures[k]);
    json_end_object(o->w);
    put_i64(o, "drained_n", c->drained);
    put_i64(o, "start_cohort_n", c->start_cohort);
    put_i64(o, "retries", c->retries);
    put_i64(o, "zero_token_n", c->zero_token);
    put_i64(o, "sent_outside_window_n", c->sent_outside);
    put_count(o, "counts", "planned", m->facts.open_loop ? c->issued + m->facts.unsent : COUNT_NONE,
              REASON_CLOSED_LOOP);
    put_count(o, "counts", "unsent", m->facts.open_loop ? m->facts.unsent : COUNT_NONE,
              REASON_CLOSED_LOOP);
    put_i64(o, "warmup", c->warmup);
    put_i64(o, "warmup_not_ok", c->warmup_not_ok);
    put_i64(o, "injected", c->injected);
    json_key(o->w, "conserved");
    json_put_bool(o->w, c->conserved);
    json_end_object(o->w);
}

static void write_stat(struct out *o, const char *where, const char *key, enum metrics_stat_id id,
                       const struct metrics_stat *s, bool pair)
{
    json_key(o->w, metrics_stat_name(id));
    if (s->why != REASON_NONE) {
        json_put_null(o->w);
        char path[PATH_MAX_BYTES];
        snprintf(path, sizeof path, "%s.%s", where, key);
        missing_in(o, path, metrics_stat_name(id), s->why);
    } else if (pair) {
        json_begin_array(o->w);
        json_put_ms(o->w, s->lower_ns);
        json_put_ms(o->w, s->ns);
        json_end_array(o->w);
    } else {
        json_put_ms(o->w, s->ns);
    }
}

static void write_metric(struct out *o, const char *where, enum metric_id id,
                         const struct metrics_metric *m)
{
    const struct metrics_info *info = metrics_info(id);
    json_key(o->w, info->key);
    if (m->why != REASON_NONE) {
        json_put_null(o->w);
        missing_in(o, where, info->key, m->why);
        return;
    }
    json_begin_object(o->w);
    put_i64(o, "n", m->n);
    if (info->shape == METRIC_REAL) {
        json_key(o->w, "value");
        json_put_real9(o->w, m->real);
    } else {
        put_i64(o, "censored_n", m->censored_n);
        for (int i = 0; i < METRICS_STATS; i++)
            write_stat(o, where, info->key, (enum metrics_stat_id)i, &m->stats[i],
                       info->shape == METRIC_BOUNDS && i != STAT_MEAN);
    }
    json_end_object(o->w);
}

static void write_disagreement(struct out *o, const char *name,
                               const struct metrics_disagreement *d)
{
    json_key(o->w, name);
    if (d->n == 0) {
        json_put_null(o->w);
        missing_in(o, "tokens.reconciliation", name, REASON_NO_COUNT);
        return;
    }
    json_begin_object(o->w);
    put_i64(o, "n", d->n);
    put_i64(o, "differ", d->differ);
    put_i64(o, "min", d->min);
    put_i64(o, "max", d->max);
    put_i64(o, "sum", d->sum);
    json_end_object(o->w);
}

static void write_reading(struct out *o, const char *name, const struct sample_counts *c, int64_t n)
{
    json_key(o->w, name);
    if (n == 0) {
        json_put_null(o->w);
        missing_in(o, "tokens.readings", name, REASON_NO_COUNT);
        return;
    }
    char path[PATH_MAX_BYTES];
    snprintf(path, sizeof path, "tokens.readings.%s", name);
    json_begin_object(o->w);
    put_i64(o, "n", n);
    put_i64(o, "total", c->total);
    put_count(o, path, "text", c->text, REASON_SERVER_SILENT);
    put_count(o, path, "reasoning", c->reasoning, REASON_SERVER_SILENT);
    put_count(o, path, "tool", c->tool, REASON_SERVER_SILENT);
    json_end_object(o->w);
}

static void write_tokens(struct out *o, const struct metrics_tokens *t)
{
    json_key(o->w, "tokens");
    json_begin_object(o->w);
    json_key(o->w, "output_count_source");
    json_put_cstr(o->w, metrics_source_name(t->source));
    if (t->source == SOURCE_NONE)
        put_missing(o, "tokens.output_count_source", REASON_NO_COUNT);
    json_key(o->w, "token_assignment");
    json_put_cstr(o->w, metrics_assignment_name(t->assignment));
    put_i64(o, "unassigned_n", t->unassigned);
    put_count(o, "tokens", "total", t->total, REASON_NO_COUNT);
    json_key(o->w, "readings");
    json_begin_object(o->w);
    for (int k = 0; k < METRICS_SOURCES; k++)
        write_reading(o, metrics_source_name((enum metrics_source)k), &t->readings[k],
                      t->readings_n[k]);
    json_end_object(o->w);
    json_key(o->w, "reconciliation");
    json_begin_object(o->w);
    write_disagreement(o, "observed_less_reported", &t->reported_observed);
    write_disagreement(o, "retokenized_less_reported", &t->reported_retokenized);
    write_disagreement(o, "retokenized_less_observed", &t->observed_retokenized);
    json_end_object(o->w);
    put_i64(o, "itl_gaps_after_close", t->gaps_after_close);
    put_i64(o, "itl_tokens_first_arrival", t->tokens_first_arrival);
    json_end_object(o->w);
}

static void write_spread(struct out *o, const char *parent, const char *name,
                         const struct metrics_spread *s, enum metrics_reason why)
{
    json_key(o->w, name);
    if (s->n == 0) {
        json_put_null(o->w);
        missing_in(o, parent, name, why);
        return;
    }
    json_begin_object(o->w);
    put_i64(o, "n", s->n);
    put_i64(o, "min", s->min);
    put_i64(o, "median", s->median);
    put_i64(o, "max", s->max);
    json_end_object(o->w);
}

static void write_turns(struct out *o, const struct metrics_work *work)
{
    char path[PATH_MAX_BYTES];
    json_key(o->w, "turns");
    if (work->turns_n == 0) {
        json_put_null(o->w);
        missing_in(o, "prompt_work", "turns", REASON_NO_CONVERSATIONS);
        return;
    }
    json_begin_array(o->w);
    for (size_t i = 0; i < work->turns_n; i++) {
        const struct metrics_turn *t = &work->turns[i];
        snprintf(path, sizeof path, "prompt_work.turns.%zu", i);
        json_begin_object(o->w);
        put_i64(o, "turn", t->turn);
        put_i64(o, "n", t->n);
        put_i64(o, "departed", t->departed);
        write_spread(o, path, "body", &t->body, REASON_NOT_RECORDED);
        write_spread(o, path, "rendered", &t->rendered, REASON_NOT_RECORDED);
        write_spread(o, path, "reported", &t->reported, REASON_SERVER_SILENT);
        write_spread(o, path, "cached", &t->cached, REASON_SERVER_SILENT);
        json_end_object(o->w);
    }
    json_end_array(o->w);
}

static void write_work(struct out *o, const struct metrics_work *work, bool asked_cold)
{
    const char *at = "prompt_work";
    json_key(o->w, at);
    json_begin_object(o->w);
    write_spread(o, at, "body", &work->body, REASON_NOT_RECORDED);
    write_spread(o, at, "rendered", &work->rendered, REASON_NOT_RECORDED);
    write_spread(o, at, "reported", &work->reported, REASON_SERVER_SILENT);
    write_spread(o, at, "cached", &work->cached, REASON_SERVER_SILENT);
    write_spread(o, at, "delta", &work->delta,
                 work->reported.n == 0 ? REASON_SERVER_SILENT : REASON_NOT_RECORDED);
    put_i64(o, "cached_requests", work->cached_requests);
    put_i64(o, "cached_unexplained", work->cached_unexplained);
    json_key(o->w, "cache_obeyed");
    if (asked_cold && work->cached.n > 0) {
        json_put_bool(o->w, work->cached_requests == 0);
    } else {
        json_put_null(o->w);
        missing_in(o, at, "cache_obeyed", asked_cold ? REASON_SERVER_SILENT : REASON_NOT_ASKED);
    }
    write_turns(o, work);
    json_end_object(o->w);
}

static void write_agreement(struct out *o, const struct metrics_agreement *a)
{
    json_key(o->w, "agreement");
    if (a->why != REASON_NONE) {
        json_put_null(o->w);
        missing_in(o, "outputs", "agreement", a->why);
        return;
    }
    json_begin_object(o->w);
    put_i64(o, "compared", a->compared);
    put_i64(o, "identical", a->identical);
    put_i64(o, "agreed", a->agreed);
    put_i64(o, "of", a->of);
    put_i64(o, "by_ids", a->by_ids);
    put_i64(o, "by_digest", a->by_digest);
    put_i64(o, "diverged", a->compared - a->identical);
    json_key(o->w, "divergence_at");
    if (a->earliest != COUNT_NONE) {
        json_put_i64(o->w, a->earliest);
    } else {
        json_put_null(o->w);
        missing_in(o, "outputs.agreement", "divergence_at",
                   a->identical == a->compared ? REASON_NO_DIFFERENCE : REASON_TEXTS_LEFT_OUT);
    }
    json_end_object(o->w);
}

static void write_outputs(struct out *o, const struct metrics_outputs *m)
{
    json_key(o->w, "outputs");
    json_begin_object(o->w);
    put_i64(o, "checked", m->checked);
    put_i64(o, "degenerate", m->degenerate);
    put_i64(o, "longest_run", m->longest_run);
    put_i64(o, "answers", m->answers);
    json_key(o->w, "sha256");
    json_put_cstr(o->w, m->sha256[0] ? m->sha256 : NULL);
    if (!m->sha256[0])
        missing_in(o, "outputs", "sha256", REASON_NOTHING);
    write_agreement(o, &m->agreement);
    json_end_object(o->w);
}

static void write_injector(struct out *o, const struct metrics_injector *in, bool asked)
{
    bool ended = in->prefill_ns != COUNT_NONE;
    json_key(o->w, "injector");
    if (in->sent_ns == TIME_NONE) {
        json_put_null(o->w);
        put_missing(o, "injector", asked ? REASON_NOT_INJECTED : REASON_NO_INJECTOR);
        return;
    }
    json_begin_object(o->w);
    json_key(o->w, "sent_ms");
    json_put_ms(o->w, in->sent_ns);
    json_key(o->w, "outcome");
    json_put_cstr(o->w, sample_outcome_name(in->outcome));
    put_count(o, "injector", "prompt_body", in->prompt_body, REASON_NOT_RECORDED);
    put_count(o, "injector", "prompt_reported", in->prompt_reported, REASON_SERVER_SILENT);
    put_ms(o, "injector", "prefill_ms", in->prefill_ns, REASON_NOT_INJECTED);
    put_i64(o, "gaps_before", in->gaps_before);
    put_ms(o, "injector", "median_gap_before_ms",
           in->gaps_before > 0 ? in->median_before_ns : COUNT_NONE,
           ended ? REASON_NOTHING : REASON_NOT_INJECTED);
    put_i64(o, "gaps_during", in->gaps_during);
    put_ms(o, "injector", "largest_gap_during_ms",
           in->gaps_during > 0 ? in->largest_ns : COUNT_NONE,
           ended ? REASON_NOTHING : REASON_NOT_INJECTED);
    json_end_object(o->w);
}

static void write_lag(struct out *o, const char *name, const struct client_lag *lag, bool counted)
{
    json_key(o->w, name);
    if (lag->p99_ns == COUNT_NONE) {
        json_put_null(o->w);
        missing_in(o, "validity", name, REASON_NOT_RECORDED);
        return;
    }
    json_begin_object(o->w);
    if (counted)
        put_i64(o, "n", lag->n);
    json_key(o->w, "p50");
    json_put_ms(o->w, lag->p50_ns);
    json_key(o->w, "p99");
    json_put_ms(o->w, lag->p99_ns);
    json_key(o->w, "max");
    json_put_ms(o->w, lag->max_ns);
    if (counted) {
        put_i64(o, "supported_percent", lag->supported_percent);
        json_key(o->w, "supported");
        json_put_ms(o->w, lag->supported_ns);
    }
    json_end_object(o->w);
}

static void write_rules(struct out *o, const char *name, unsigned mask)
{
    json_key(o->w, name);
    json_begin_array(o->w);
    for (int k = 0; k < CLIENT_RULE_COUNT; k++)
        if (mask & 1u << k)
            json_put_cstr(o->w, client_rule_name((enum client_rule)k));
    json_end_array(o->w);
}

static void write_validity(struct out *o, const struct metrics_band *m)
{
    const struct metrics_client *c = &m->client;
    json_key(o->w, "validity");
    json_begin_object(o->w);
    json_key(o->w, "client");
    json_put_cstr(o->w, client_verdict_name(c->verdict));
    write_rules(o, "suspect", c->suspect);
    write_rules(o, "saturated", c->saturated);
    write_rules(o, "not_judged", c->unknown);
    put_share(o, "validity", "cpu_share", c->cpu_share, REASON_NOT_RECORDED);
    put_share(o, "validity", "parser_cpu_share", c->parser_cpu_share, REASON_NOT_RECORDED);
    put_share(o, "validity", "multi_event_share", c->multi_event_share, REASON_NOTHING);
    write_lag(o, "send_lag_ms", &c->send_lag, true);
    write_lag(o, "read_lag_ms", &c->read_lag, true);
    write_lag(o, "loop_lag_ms", &c->loop_lag, false);
    put_ms(o, "validity", "window_ms", m->window_ns, REASON_NO_WINDOW);
    put_ms(o, "validity", "drain_ms", m->drain_ns, REASON_NO_WINDOW);
    json_key(o->w, "flags");
    json_begin_array(o->w);
    for (int k = 0; k < METRICS_FLAGS; k++)
        if (m->flags & 1u << k)
            json_put_cstr(o->w, metrics_flag_name((enum metrics_flag)k));
    json_end_array(o->w);
    json_end_object(o->w);
}

static void write_step(struct out *o, size_t k, const struct metrics_step *s)
{
    char path[PATH_MAX_BYTES];
    snprintf(path, sizeof path, "steps.%zu.metrics", k);
    json_begin_object(o->w);
    put_i64(o, "c", s->c);
    json_key(o->w, "open_ms");
    json_put_ms(o->w, s->t_open_ns);
    json_key(o->w, "close_ms");
    json_put_ms(o->w, s->t_close_ns);
    put_i64(o, "requests", s->requests);
    put_i64(o, "ok", s->ok);
    json_key(o->w, "metrics");
    json_begin_object(o->w);
    for (int i = 0; i < METRIC_COUNT; i++)
        write_metric(o, path, (enum metric_id)i, &s->metrics[i]);
    json_end_object(o->w);
    json_end_object(o->w);
}

static void write_steps(struct out *o, const struct metrics_band *m)
{
    json_key(o->w, "steps");
    if (m->facts.ramp_n == 0) {
        json_put_null(o->w);
        put_missing(o, "steps", REASON_NO_RAMP);
        return;
    }
    json_begin_array(o->w);
    for (size_t k = 0; k < m->steps_n; k++)
        write_step(o, k, &m->steps[k]);
    json_end_array(o->w);
}

static void write_missing(struct out *o)
{
    struct str rest = buf_str(&o->missing), path, reason;
    json_key(o->w, "unproduced_fields");
    json_begin_object(o->w);
    while (rest.n > 0) {
        str_cut(rest, '\n', &path, &rest);
        str_cut(rest, '\n', &reason, &rest);
        json_key_str(o->w, path);
        json_put_str(o->w, reason);
    }
    json_end_object(o->w);
    /* What memory refused here must not go unseen: the caller checks its own buffer. */
    if (o->missing.failed)
        o->w->out->failed = o->missing.failed;
}

void metrics_write_json(const struct metrics_band *m, struct json_writer *w)
{
    struct out o = {.w = w, .missing = BUF_INIT(BUF_ANY)};
    write_counts(&o, m);
    json_key(w, "metrics");
    json_begin_object(w);
    for (int i = 0; i < METRIC_COUNT; i++)
        write_metric(&o, "metrics", (enum metric_id)i, &m->metrics[i]);
    json_end_object(w);
    write_tokens(&o, &m->tokens);
    write_work(&o, &m->work, m->facts.asked_cold);
    write_outputs(&o, &m->outputs);
    write_injector(&o, &m->injector, m->facts.injector);
    write_validity(&o, m);
    write_steps(&o, m);
    write_missing(&o);
    buf_release(&o.missing);
}
