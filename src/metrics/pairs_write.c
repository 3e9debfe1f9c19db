/* The JSON of paired ratios. */
#include <math.h>

#include "metrics/pairs.h"

const char *metrics_paired_name(enum metrics_paired p)
{
    static const char *const names[] = {
        [PAIRED_TTFT] = "ttft_ms.p50",    [PAIRED_TTFC] = "ttfc_ms.p50",
        [PAIRED_TPOT] = "tpot_ms.p50",    [PAIRED_DECODE] = "decode_tok_s",
        [PAIRED_E2E] = "e2e_ms.p50",      [PAIRED_AGG] = "agg_tok_s",
        [PAIRED_RPS] = "completed_rps",   [PAIRED_PREFILL] = "prefill_tok_s",
        [PAIRED_GOODPUT] = "goodput_rps",
    };
    return names[p];
}

static void put_real(struct json_writer *w, const char *name, double v)
{
    json_key(w, name);
    json_put_real9(w, v);
}

static void put_i64(struct json_writer *w, const char *name, int64_t v)
{
    json_key(w, name);
    json_put_i64(w, v);
}

static void put_reals(struct json_writer *w, const char *name, const double *v, size_t n)
{
    json_key(w, name);
    json_begin_array(w);
    for (size_t i = 0; i < n; i++)
        if (isnan(v[i]))
            json_put_null(w);
        else
            json_put_real9(w, v[i]);
    json_end_array(w);
}

static void write_work(const struct metrics_work_pair *p, struct json_writer *w)
{
    const struct metrics_spread *d = &p->difference;
    json_key(w, "prompt_work");
    json_begin_object(w);
    json_key(w, "equal");
    json_put_bool(w, p->why == REASON_NONE);
    json_key(w, "reason");
    json_put_cstr(w, p->why == REASON_NONE ? NULL : metrics_reason_name(p->why));
    put_i64(w, "shared", p->shared);
    put_i64(w, "unknown", p->unknown);
    put_i64(w, "differ", p->differ);
    json_key(w, "difference");
    if (d->n == 0) {
        json_put_null(w);
    } else {
        json_begin_object(w);
        put_i64(w, "n", d->n);
        put_i64(w, "min", d->min);
        put_i64(w, "median", d->median);
        put_i64(w, "max", d->max);
        json_end_object(w);
    }
    json_key(w, "excess");
    if (d->n == 0)
        json_put_null(w);
    else
        json_put_real9(w, p->excess);
    json_end_object(w);
}

static void write_ratio(const struct metrics_ratio *r, size_t replicates, struct json_writer *w)
{
    if (r->why != REASON_NONE) {
        json_put_null(w);
        return;
    }
    json_begin_object(w);
    put_real(w, "ratio", r->ratio);
    put_i64(w, "n", (int64_t)r->n);
    put_reals(w, "x", r->x, replicates);
    put_real(w, "mean", r->mean);
    put_real(w, "min", r->min);
    put_real(w, "max", r->max);
    static const char *const names[] = {"s", "lower", "upper", "mde"};
    const double values[] = {r->s, r->lower, r->upper, r->mde};
    for (int k = 0; k < 4; k++) {
        json_key(w, names[k]);
        if (r->bounds_why == REASON_NONE)
            json_put_real9(w, values[k]);
        else
            json_put_null(w);
    }
    json_end_object(w);
}

static void write_missing(const struct metrics_pairs *p, struct json_writer *w)
{
    static const char *const bounds[] = {"s", "lower", "upper", "mde"};
    json_key(w, "unproduced_fields");
    json_begin_object(w);
    struct buf path = BUF_INIT(256);
    for (int k = 0; k < METRICS_PAIRED_COUNT; k++) {
        const struct metrics_ratio *r = &p->ratios[k];
        const char *name = metrics_paired_name((enum metrics_paired)k);
        enum metrics_reason why = r->why != REASON_NONE ? r->why : r->bounds_why;
        for (int b = 0; why != REASON_NONE && b < (r->why != REASON_NONE ? 1 : 4); b++) {
            buf_reset(&path);
            buf_addf(&path, "ratios.%s", name);
            if (r->why == REASON_NONE)
                buf_addf(&path, ".%s", bounds[b]);
            json_key_str(w, buf_str(&path));
            json_put_cstr(w, metrics_reason_name(why));
        }
    }
    buf_release(&path);
    if (p->serialization.why != REASON_NONE) {
        json_key(w, "serialization_index");
        json_put_cstr(w, metrics_reason_name(p->serialization.why));
    }
    json_end_object(w);
}

void metrics_pairs_write_json(const struct metrics_pairs *p, struct json_writer *w)
{
    const struct metrics_serialization *s = &p->serialization;
    put_i64(w, "band", p->band);
    json_key(w, "status");
    json_put_cstr(w, status_name(p->status));
    json_key(w, "unequal_work_declared");
    json_put_bool(w, p->unequal_work);
    write_work(&p->work, w);
    json_key(w, "ratios");
    json_begin_object(w);
    for (int k = 0; k < METRICS_PAIRED_COUNT; k++) {
        json_key(w, metrics_paired_name((enum metrics_paired)k));
        write_ratio(&p->ratios[k], p->replicates, w);
    }
    json_end_object(w);
    json_key(w, "serialization_index");
    if (s->why != REASON_NONE) {
        json_put_null(w);
    } else {
        json_begin_object(w);
        put_i64(w, "n", (int64_t)s->n);
        put_reals(w, "values", s->index, p->replicates);
        put_real(w, "mean", s->mean);
        json_end_object(w);
    }
    write_missing(p, w);
}
