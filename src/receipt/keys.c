#include "receipt/keys.h"

#include <string.h>

#include "receipt/receipt.h"
#include "receipt/record_form.h"
#include "record/workload.h"

static void key_text(struct json_writer *w, const char *name, const char *value)
{
    json_key(w, name);
    json_put_cstr(w, value && value[0] ? value : NULL);
}

static void key_i64(struct json_writer *w, const char *name, int64_t value)
{
    json_key(w, name);
    json_put_i64(w, value);
}

static void key_ms(struct json_writer *w, const char *name, int64_t ns)
{
    json_key(w, name);
    json_put_ms(w, ns);
}

static void key_bool(struct json_writer *w, const char *name, bool value)
{
    json_key(w, name);
    json_put_bool(w, value);
}

static int digest(struct buf *text, struct json_writer *w, char out[SHA256_HEX], struct error *err)
{
    int status = json_writer_check(w, "a key", err);
    if (status == 0)
        status = sha256_hex(out, buf_str(text), err);
    buf_release(text);
    return status;
}

/* Never unknown: where servers wrap messages themselves, that is what is the same. */
static const char *template_of(const struct run_plan *plan)
{
    if (plan->template_sha256[0])
        return plan->template_sha256;
    return plan->template_profile ? plan->template_profile : "servers_own";
}

int keys_request_sha256(const struct run_plan *plan, char out[SHA256_HEX], struct error *err)
{
    struct buf text = BUF_INIT(BUF_ANY);
    struct json_writer w;
    json_writer_init(&w, &text, 0);
    json_begin_object(&w);
    form_write(&form_request, plan, "", NULL, &w);
    key_text(&w, "wire", plan->wire);
    key_bool(&w, "stream", plan->stream);
    key_text(&w, "template", template_of(plan));
    key_text(&w, "template_profile", plan->template_profile);
    key_text(&w, "template_kwargs", plan->template_kwargs);
    json_end_object(&w);
    return digest(&text, &w, out, err);
}

/* One assignment for all bands of the lane, "mixed" where they differ, NULL where there is none. */
static const char *assignment_of(const struct run_record *run, size_t lane,
                                 struct metrics_band *const *metrics)
{
    const char *all = NULL;
    for (size_t i = 0; i < run->bands_n; i++) {
        if (run->bands[i].lane != lane)
            continue;
        const char *one = metrics_assignment_name(metrics[i]->tokens.assignment);
        if (all && strcmp(all, one) != 0)
            return "mixed";
        all = one;
    }
    return all;
}

static void key_count(struct json_writer *w, const char *name, int64_t value, bool stated)
{
    /* "none" and not null: unknown is not equal, and this is known */
    json_key(w, name);
    stated ? json_put_i64(w, value) : json_put_cstr(w, "none");
}

/* What shapes the load beside its bands, and what its requests are held against. */
static void write_load(const struct run_plan *p, struct json_writer *w)
{
    const struct {
        const char *name;
        int64_t ns;
    } slo[] = {{"slo_ttft_ms", p->slo_ttft_ns},
               {"slo_tpot_ms", p->slo_tpot_ns},
               {"slo_e2e_ms", p->slo_e2e_ns}};
    json_key(w, "ramp");
    json_begin_array(w);
    for (size_t i = 0; i < p->ramp_n; i++)
        json_put_i64(w, p->ramp[i]);
    json_end_array(w);
    key_text(w, "arrivals", p->arrivals ? p->arrivals : "none");
    json_key(w, "burstiness");
    p->burstiness < 0 ? json_put_cstr(w, "none") : json_put_real9(w, p->burstiness);
    key_count(w, "arrival_seed", p->arrival_seed, p->arrival_seed != COUNT_NONE);
    key_count(w, "max_in_flight", p->max_in_flight, p->max_in_flight > 0);
    key_text(w, "search", p->search ? p->search : "none");
    json_key(w, "slo_share");
    p->slo_share < 0 ? json_put_cstr(w, "none") : json_put_real9(w, p->slo_share);
    for (size_t i = 0; i < sizeof slo / sizeof slo[0]; i++) {
        json_key(w, slo[i].name);
        slo[i].ns == COUNT_NONE ? json_put_cstr(w, "none") : json_put_ms(w, slo[i].ns);
    }
}

static void write_window(const struct run_plan *p, struct json_writer *w)
{
    json_key(w, "bands");
    json_begin_array(w);
    for (size_t i = 0; i < p->bands_n; i++)
        json_put_i64(w, p->bands[i]);
    json_end_array(w);
    key_ms(w, "window_ms", p->window_ns);
    key_ms(w, "max_window_ms", p->max_window_ns);
    key_i64(w, "min_samples", p->min_samples);
    key_i64(w, "requests", p->requests);
    key_i64(w, "warmup", p->warmup);
    key_ms(w, "quiesce_ms", p->quiesce_ns);
    key_ms(w, "cooldown_ms", p->cooldown_ns);
    key_i64(w, "replicates", p->replicates);
    key_ms(w, "timeout_ms", p->timeout_ns);
}

/* A model that is declared the same is the same whatever the files; else its weights tell. What was
 * declared cannot pass for a digest. */
static void key_model(struct json_writer *w, const char *declared, const char *weights)
{
    struct buf text = BUF_INIT(BUF_ANY);
    if (declared)
        buf_addf(&text, "declared %s", declared);
    else if (weights)
        buf_addf(&text, "sha256 %s", weights);
    key_text(w, "model", text.p);
    buf_release(&text);
}

int keys_write_join(const struct run_record *run, size_t lane, struct metrics_band *const *metrics,
                    const char *program_sha256, struct json_writer *w, struct error *err)
{
    const struct run_plan *p = &run->plan;
    char request[SHA256_HEX];
    if (keys_request_sha256(p, request, err) < 0)
        return -1;
    json_begin_object(w);
    key_text(w, "host", run->lanes[lane].host);
    key_text(w, "corpus_sha256", p->corpus_sha256);
    key_text(w, "request_sha256", request);
    key_model(w, p->same_model, run->lanes[lane].weights_sha256);
    key_text(w, "method", form_method_name(p->method));
    key_text(w, "special_text", p->special_text);
    key_text(w, "vocabulary_sha256", p->vocabulary_sha256);
    key_text(w, "pipeline_sha256", p->pipeline_sha256);
    key_text(w, "output_count_source", p->output_count_source);
    key_text(w, "stop",
             p->ignore_eos && !run->lanes[lane].ignore_eos_refused ? "max_tokens" : "eos");
    key_text(w, "wire", p->wire);
    key_text(w, "prompt_form", p->prompt_form);
    key_text(w, "template", template_of(p));
    key_bool(w, "stream", p->stream);
    key_text(w, "load_model", p->load_model);
    write_load(p, w);
    write_window(p, w);
    key_text(w, "injector", p->injector ? p->injector : "none");
    key_bool(w, "connection_reuse", p->connection_reuse);
    key_text(w, "prompt_policy", p->prompt_policy);
    key_text(w, "cache_policy", run_lane_cache(p, &run->lanes[lane]));
    key_text(w, "time_source", p->time_source);
    key_text(w, "token_assignment", assignment_of(run, lane, metrics));
    key_i64(w, "metrics_version", METRICS_VERSION);
    key_text(w, "client_sha256", program_sha256);
    json_end_object(w);
    return 0;
}

int keys_join_sha256(const struct run_record *run, size_t lane, struct metrics_band *const *metrics,
                     const char *program_sha256, char out[SHA256_HEX], struct error *err)
{
    struct buf text = BUF_INIT(BUF_ANY);
    struct json_writer w;
    json_writer_init(&w, &text, 0);
    if (keys_write_join(run, lane, metrics, program_sha256, &w, err) < 0) {
        buf_release(&text);
        return -1;
    }
    return digest(&text, &w, out, err);
}

const char *receipt_join_differs(const struct json *a, const struct json *b, bool *unknown)
{
    *unknown = false;
    if (!json_is(a, JSON_OBJECT) || !json_is(b, JSON_OBJECT) || a->n != b->n)
        return "join_key";
    for (size_t i = 0; i < a->n; i++) {
        const struct json *x = &a->members[i].value, *y = json_get_str(b, a->members[i].name);
        if (!y)
            return a->members[i].name.p;
        *unknown = x->type == JSON_NULL || y->type == JSON_NULL;
        if (*unknown || !json_equal(x, y))
            return a->members[i].name.p;
    }
    return NULL;
}

int receipt_cell_json(const struct run_record *run, struct buf *out, struct error *err)
{
    struct json_writer w;
    char request[SHA256_HEX];
    if (keys_request_sha256(&run->plan, request, err) < 0)
        return -1;
    buf_reset(out);
    json_writer_init(&w, out, 0);
    json_begin_object(&w);
    json_key(&w, "lanes");
    json_begin_array(&w);
    for (size_t i = 0; i < run->lanes_n; i++) {
        const struct run_lane *l = &run->lanes[i];
        json_begin_object(&w);
        key_text(&w, "role", l->role);
        key_text(&w, "host", l->host);
        key_text(&w, "model", l->model);
        key_text(&w, "build", l->build);
        key_text(&w, "build_sha256", l->build_sha256);
        json_end_object(&w);
    }
    json_end_array(&w);
    key_text(&w, "corpus_sha256", run->plan.corpus_sha256);
    key_text(&w, "request_sha256", request);
    json_end_object(&w);
    return json_writer_check(&w, "the cell", err);
}

int receipt_protocol_sha256(const struct run_record *run, char out[SHA256_HEX], struct error *err)
{
    struct buf text = BUF_INIT(BUF_ANY);
    struct json_writer w;
    json_writer_init(&w, &text, 0);
    json_begin_object(&w);
    form_write(&form_protocol, &run->plan, "", NULL, &w);
    json_key(&w, "window");
    json_begin_object(&w);
    write_window(&run->plan, &w);
    json_end_object(&w);
    key_text(&w, "method", form_method_name(run->plan.method));
    key_text(&w, "special_text", run->plan.special_text);
    key_text(&w, "pipeline_sha256", run->plan.pipeline_sha256);
    json_end_object(&w);
    return digest(&text, &w, out, err);
}
