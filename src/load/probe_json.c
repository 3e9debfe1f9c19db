#include "load/probe_json.h"

#include "codec/json_write.h"

bool probe_both_counted(const struct probe *p, size_t shape)
{
    return probe_lane_at(p, 0)->counts[shape].reported != COUNT_NONE &&
           probe_lane_at(p, 1)->counts[shape].reported != COUNT_NONE &&
           probe_lane_at(p, 0)->wrapper.nearest && probe_lane_at(p, 1)->wrapper.nearest;
}

static void put_agrees(struct json_writer *w, const char *key, bool known, bool agrees)
{
    json_key(w, key);
    if (known)
        json_put_bool(w, agrees);
    else
        json_put_null(w);
}

static void put_count(struct json_writer *w, const char *key, int64_t n)
{
    json_key(w, key);
    if (n == COUNT_NONE)
        json_put_null(w);
    else
        json_put_i64(w, n);
}

static void put_answer(struct json_writer *w, const char *key, enum probe_answer a)
{
    json_key(w, key);
    if (a == PROBE_UNKNOWN)
        json_put_null(w);
    else
        json_put_bool(w, a == PROBE_YES);
}

static void put_time(struct json_writer *w, const char *key, int64_t ns)
{
    json_key(w, key);
    if (ns == COUNT_NONE || ns == TIME_NONE)
        json_put_null(w);
    else
        json_put_ms(w, ns);
}

static void put_counts(struct json_writer *w, const struct probe *p, const struct probe_lane *lane)
{
    const struct chat_shapes *shapes = probe_shapes(p);
    json_key(w, "shapes");
    json_begin_array(w);
    for (size_t i = 0; i < shapes->n; i++) {
        const struct probe_shape_count *c = &lane->counts[i];
        json_begin_object(w);
        json_key(w, "name");
        json_put_cstr(w, shapes->items[i].name);
        put_count(w, "body", probe_body(p, i));
        put_count(w, "reported", c->reported);
        put_count(w, "cached", c->cached);
        put_count(w, "predicted", c->predicted);
        put_agrees(w, "own_rendering_agrees", c->rendering_known, c->rendering_agrees);
        put_agrees(w, "own_tokens_agree", c->tokens_known, c->tokens_agree);
        json_key(w, "cut");
        json_put_bool(w, c->cut);
        json_key(w, "error");
        json_put_cstr(w, c->error[0] ? c->error : NULL);
        json_end_object(w);
    }
    json_end_array(w);
}

static void put_lane(struct json_writer *w, const struct probe *p, size_t i)
{
    const struct probe_lane *lane = probe_lane_at(p, i);
    json_begin_object(w);
    json_key(w, "role");
    json_put_cstr(w, lane->role);
    json_key(w, "url");
    json_put_cstr(w, lane->url);
    json_key(w, "model");
    json_put_cstr(w, lane->model);
    json_key(w, "wrapper");
    probe_put_wrapper(p, i, w);
    put_answer(w, "streams_live", lane->live);
    put_time(w, "ttft_ms", lane->ttft_ns);
    put_time(w, "e2e_ms", lane->e2e_ns);
    put_answer(w, "stream_usage", lane->stream_usage);
    json_key(w, "stream_usage_where");
    json_put_cstr(w, lane->usage_where);
    put_answer(w, "ignore_eos", lane->ignore_eos);
    put_answer(w, "stop_token_counted", lane->stop_counted);
    put_answer(w, "same_text_twice", lane->repeats_same);
    put_count(w, "cached_on_repeat", lane->cached);
    put_count(w, "slots", lane->slots);
    put_count(w, "context", lane->context);
    put_counts(w, p, lane);
    json_end_object(w);
}

static int put_differences(struct json_writer *w, const struct probe *p, struct error *err)
{
    const struct chat_shapes *shapes = probe_shapes(p);
    json_key(w, "differences");
    json_begin_array(w);
    for (size_t i = 0; i < shapes->n; i++) {
        struct chat_explanation x = {0};
        if (!probe_both_counted(p, i))
            continue;
        if (probe_explain(p, i, &x, err) < 0) {
            chat_explanation_release(&x);
            return -1;
        }
        json_begin_object(w);
        json_key(w, "shape");
        json_put_cstr(w, shapes->items[i].name);
        json_key(w, "comparator_less_subject");
        json_put_i64(w, x.delta);
        json_key(w, "causes");
        json_begin_array(w);
        for (size_t k = 0; k < x.n; k++) {
            json_begin_object(w);
            json_key(w, "cause");
            json_put_cstr(w, chat_cause_name(x.items[k].kind));
            json_key(w, "tokens");
            json_put_i64(w, x.items[k].tokens);
            json_key(w, "words");
            json_put_cstr(w, x.items[k].words);
            json_end_object(w);
        }
        json_end_array(w);
        json_end_object(w);
        chat_explanation_release(&x);
    }
    json_end_array(w);
    return 0;
}

int probe_json(const struct probe *p, struct buf *out, struct error *err)
{
    struct json_writer w;
    json_writer_init(&w, out, 2);
    json_begin_object(&w);
    json_key(&w, "lanes");
    json_begin_array(&w);
    for (size_t i = 0; i < probe_lanes(p); i++)
        put_lane(&w, p, i);
    json_end_array(&w);
    if (probe_lanes(p) == 2 && put_differences(&w, p, err) < 0)
        return -1;
    json_end_object(&w);
    buf_addc(out, '\n');
    return json_writer_check(&w, "the probe's findings", err);
}
