#include "info.h"

#include "ask.h"
#include "base/clock.h"
#include "base/num.h"
#include "base/utf8.h"
#include "codec/json_write.h"
#include "route.h"
#include "wrap.h"

#define JSON_TYPE "application/json; charset=utf-8"
#define BODY_MAX ((size_t)64 << 20)

static void send_json(struct conn *c, struct buf *body)
{
    if (body->failed)
        route_refuse(c, 500, "the answer is too long");
    else
        conn_answer(c, 200, JSON_TYPE, buf_str(body), "");
}

static void health(struct conn *c, const struct http_request *request)
{
    (void)request;
    if (c->s->profile->dialect == DIALECT_LLAMA)
        conn_answer(c, 200, JSON_TYPE, STR("{\"status\":\"ok\"}"), "");
    else if (c->s->profile->dialect == DIALECT_OLLAMA)
        conn_answer(c, 200, "text/plain; charset=utf-8", STR("Ollama is running"), "");
    else
        conn_answer(c, 200, JSON_TYPE, STR("{\"status\":\"healthy\"}"), "");
}

static size_t vocabulary_size(const struct server *s)
{
    struct tokenizer_info info = {0};
    if (s->tokenizer)
        tokenizer_describe(s->tokenizer, &info);
    return info.vocab_size;
}

static void models(struct conn *c, const struct http_request *request)
{
    const struct server *s = c->s;
    struct buf body = BUF_INIT(BODY_MAX);
    struct json_writer w;
    bool llama = s->profile->dialect == DIALECT_LLAMA;
    (void)request;
    json_writer_init(&w, &body, 0);
    json_begin_object(&w);
    json_key(&w, "object");
    json_put_cstr(&w, "list");
    json_key(&w, "data");
    json_begin_array(&w);
    json_begin_object(&w);
    json_key(&w, "id");
    json_put_cstr(&w, s->model_name);
    json_key(&w, "object");
    json_put_cstr(&w, "model");
    json_key(&w, "created");
    json_put_i64(&w, s->start_s);
    json_key(&w, "owned_by");
    json_put_cstr(&w, llama ? "llamacpp" : s->profile->name);
    if (llama) {
        json_key(&w, "meta");
        json_begin_object(&w);
        json_key(&w, "n_vocab");
        json_put_i64(&w, (int64_t)vocabulary_size(s));
        json_key(&w, "n_ctx");
        json_put_i64(&w, s->o->context);
        json_end_object(&w);
    } else {
        json_key(&w, "max_model_len");
        json_put_i64(&w, s->o->context);
    }
    json_end_object(&w);
    json_end_array(&w);
    json_end_object(&w);
    send_json(c, &body);
    buf_release(&body);
}

static void props(struct conn *c, const struct http_request *request)
{
    const struct server *s = c->s;
    struct buf body = BUF_INIT(BODY_MAX);
    struct json_writer w;
    (void)request;
    json_writer_init(&w, &body, 0);
    json_begin_object(&w);
    json_key(&w, "default_generation_settings");
    json_begin_object(&w);
    json_key(&w, "n_ctx");
    json_put_i64(&w, s->o->context);
    json_end_object(&w);
    json_key(&w, "total_slots");
    json_put_i64(&w, s->o->slots);
    json_key(&w, "model_alias");
    json_put_cstr(&w, s->model_name);
    json_key(&w, "model_path");
    json_put_cstr(&w, s->model_name);
    json_key(&w, "endpoint_slots");
    json_put_bool(&w, true);
    json_key(&w, "endpoint_metrics");
    json_put_bool(&w, true);
    json_key(&w, "chat_template");
    json_put_cstr(&w, s->profile->template);
    json_key(&w, "bos_token");
    json_put_cstr(&w, "");
    json_key(&w, "eos_token");
    json_put_cstr(&w, "<|im_end|>");
    json_key(&w, "build_info");
    json_put_cstr(&w, s->profile->fingerprint);
    json_end_object(&w);
    send_json(c, &body);
    buf_release(&body);
}

static void slots(struct conn *c, const struct http_request *request)
{
    const struct server *s = c->s;
    struct buf body = BUF_INIT(BODY_MAX);
    struct json_writer w;
    (void)request;
    json_writer_init(&w, &body, 0);
    json_begin_array(&w);
    for (unsigned i = 0; i < s->model.o.slots; i++) {
        json_begin_object(&w);
        json_key(&w, "id");
        json_put_i64(&w, i);
        json_key(&w, "n_ctx");
        json_put_i64(&w, s->o->context);
        json_key(&w, "is_processing");
        json_put_bool(&w, s->model.slot[i] != NULL);
        json_end_object(&w);
    }
    json_end_array(&w);
    send_json(c, &body);
    buf_release(&body);
}

/* What each server calls the same things; NULL: it does not tell. */
static const struct metric_set {
    const char *profile;
    const char *prompt, *output, *running, *waiting, *kv_use, *preemptions;
} metric_sets[] = {
    {"llama-server", "llamacpp:prompt_tokens_total", "llamacpp:tokens_predicted_total",
     "llamacpp:requests_processing", "llamacpp:requests_deferred", NULL, NULL},
    {"vllm", "vllm:prompt_tokens_total", "vllm:generation_tokens_total",
     "vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:kv_cache_usage_perc",
     "vllm:num_preemptions_total"},
    {"sglang", "sglang:prompt_tokens_total", "sglang:generation_tokens_total",
     "sglang:num_running_reqs", "sglang:num_queue_reqs", "sglang:token_usage", NULL},
    {"tgi", NULL, NULL, "tgi_batch_current_size", "tgi_queue_size", NULL, NULL},
};

static void metric(struct buf *out, const char *name, const char *type, double value)
{
    if (!name)
        return;
    buf_addf(out, "# TYPE %s %s\n%s ", name, type, name);
    num_add_real9(out, value);
    buf_addc(out, '\n');
}

static void metrics(struct conn *c, const struct http_request *request)
{
    const struct server *s = c->s;
    const struct metric_set *m = NULL;
    struct buf body = BUF_INIT(BODY_MAX);
    (void)request;
    for (size_t i = 0; i < sizeof metric_sets / sizeof *metric_sets && !m; i++)
        if (str_eq(str_of(metric_sets[i].profile), str_of(s->profile->name)))
            m = &metric_sets[i];
    if (!m) {
        route_refuse(c, 404, "this server tells no metrics");
        return;
    }
    bool llama = s->profile->dialect == DIALECT_LLAMA; /* counts what it computed */
    metric(&body, m->prompt, "counter",
           (double)(s->totals.prompt_tokens - (llama ? s->totals.cached_tokens : 0)));
    metric(&body, m->output, "counter", (double)s->totals.output_tokens);
    metric(&body, m->running, "gauge", s->model.n_active);
    metric(&body, m->waiting, "gauge", s->model.n_waiting);
    metric(&body, m->kv_use, "gauge", (double)s->model.n_active / (double)s->o->slots);
    metric(&body, m->preemptions, "counter", 0);
    conn_answer(c, 200, "text/plain; version=0.0.4; charset=utf-8", buf_str(&body), "");
    buf_release(&body);
}

static void version(struct conn *c, const struct http_request *request)
{
    (void)request;
    conn_answer(c, 200, JSON_TYPE, STR("{\"version\":\"0.0.0-tally-sim\"}"), "");
}

static void effective_config(struct conn *c, const struct http_request *request)
{
    const struct server *s = c->s;
    struct buf body = BUF_INIT(BODY_MAX);
    struct json_writer w;
    (void)request;
    if (!str_eq(str_of(s->profile->name), STR("apr"))) {
        route_refuse(c, 404, "this server does not tell its configuration");
        return;
    }
    json_writer_init(&w, &body, 0);
    json_begin_object(&w);
    json_key(&w, "model");
    json_put_cstr(&w, s->model_name);
    json_key(&w, "context_length");
    json_put_i64(&w, s->o->context);
    json_key(&w, "max_concurrent");
    json_put_i64(&w, s->o->slots);
    json_key(&w, "batching");
    json_put_cstr(&w, s->o->batching);
    json_key(&w, "in_flight_max");
    json_put_i64(&w, s->model.n_most);
    json_key(&w, "gpu_layers");
    json_begin_object(&w);
    json_key(&w, "requested");
    json_put_i64(&w, 99);
    json_key(&w, "resolved");
    json_put_i64(&w, 28);
    json_end_object(&w);
    json_end_object(&w);
    send_json(c, &body);
    buf_release(&body);
}

static void ollama_models(struct conn *c, const struct http_request *request)
{
    const struct server *s = c->s;
    bool ps = str_eq(request->path, STR("/api/ps"));
    struct buf body = BUF_INIT(BODY_MAX);
    struct json_writer w;
    json_writer_init(&w, &body, 0);
    json_begin_object(&w);
    json_key(&w, "models");
    json_begin_array(&w);
    json_begin_object(&w);
    json_key(&w, "name");
    json_put_cstr(&w, s->model_name);
    json_key(&w, "model");
    json_put_cstr(&w, s->model_name);
    json_key(&w, "size");
    json_put_i64(&w, 1 << 20);
    if (ps) {
        json_key(&w, "size_vram");
        json_put_i64(&w, 1 << 20);
        json_key(&w, "context_length");
        json_put_i64(&w, s->o->context);
    }
    json_end_object(&w);
    json_end_array(&w);
    json_end_object(&w);
    send_json(c, &body);
    buf_release(&body);
}

static void put_piece(struct json_writer *w, const struct tokenizer *t, uint32_t id)
{
    struct buf piece = BUF_INIT(65536);
    tokenizer_piece(t, id, &piece);
    json_key(w, "piece");
    if (utf8_valid(buf_str(&piece))) {
        json_put_str(w, buf_str(&piece));
    } else {
        json_begin_array(w);
        for (size_t i = 0; i < piece.n; i++)
            json_put_i64(w, (unsigned char)piece.p[i]);
        json_end_array(w);
    }
    buf_release(&piece);
}

/* llama-server's: add_special false and parse_special true unless said otherwise. */
static int tokenize(struct conn *c, const struct json *doc, struct buf *body, struct error *err)
{
    struct token_ids ids = {0};
    struct json_writer w;
    struct str content;
    bool add_special = false, parse_special = true, pieces = false;
    struct encode_options o;
    json_bool(&add_special, json_get(doc, "add_special"));
    json_bool(&parse_special, json_get(doc, "parse_special"));
    json_bool(&pieces, json_get(doc, "with_pieces"));
    if (json_str(&content, json_get(doc, "content")) < 0)
        return error_set(err, ERROR_INPUT, "'content' must be a text");
    o = (struct encode_options){
        .special_text = parse_special ? SPECIAL_TEXT_PARSED : SPECIAL_TEXT_PLAIN,
        .add_special = add_special,
    };
    if (tokenizer_encode(c->s->tokenizer, content, &o, &ids, err) < 0)
        return -1;
    json_writer_init(&w, body, 0);
    json_begin_object(&w);
    json_key(&w, "tokens");
    json_begin_array(&w);
    for (size_t i = 0; i < ids.n; i++) {
        if (pieces) {
            json_begin_object(&w);
            json_key(&w, "id");
        }
        json_put_i64(&w, ids.id[i]);
        if (pieces) {
            put_piece(&w, c->s->tokenizer, ids.id[i]);
            json_end_object(&w);
        }
    }
    json_end_array(&w);
    json_end_object(&w);
    token_ids_release(&ids);
    return 0;
}

/* vLLM's: the tokens of a conversation as a request of it would be made of. */
static int tokenize_messages(struct conn *c, const struct json *doc, struct arena *arena,
                             struct buf *body, struct error *err)
{
    struct ask ask = {.kind = ASK_CHAT};
    struct wrapped wrapped = {0};
    int got = ask_read_messages(&ask, doc, arena, err);
    if (got == 0)
        got = wrap(&wrapped, c->s->profile, c->s->tokenizer, &ask, err);
    if (got == 0) {
        buf_addf(body, "{\"count\":%zu,\"max_model_len\":%lld,\"tokens\":[", wrapped.ids.n,
                 (long long)c->s->o->context);
        for (size_t i = 0; i < wrapped.ids.n; i++)
            buf_addf(body, "%s%u", i ? "," : "", (unsigned)wrapped.ids.id[i]);
        buf_adds(body, "]}");
    }
    wrap_release(&wrapped);
    return got;
}

static int apply_template(struct conn *c, const struct json *doc, struct arena *arena,
                          struct buf *body, struct error *err)
{
    struct ask ask = {.kind = ASK_CHAT};
    struct buf text = BUF_INIT(WRAP_TEXT_MAX);
    struct json_writer w;
    int got = ask_read_messages(&ask, doc, arena, err);
    if (got == 0)
        got = wrap_render(&text, c->s->profile, &ask, err);
    if (got == 0) {
        json_writer_init(&w, body, 0);
        json_begin_object(&w);
        json_key(&w, "prompt");
        json_put_str(&w, buf_str(&text));
        json_end_object(&w);
    }
    buf_release(&text);
    return got;
}

/* The two that read a body. */
static void prompts(struct conn *c, const struct http_request *request)
{
    if (c->s->profile->dialect == DIALECT_OPENAI && !c->s->profile->token_ids) {
        route_refuse(c, 404, "File Not Found");
        return;
    }
    struct buf body = BUF_INIT(BODY_MAX);
    struct arena arena;
    const struct json *doc;
    struct error err;
    int got;
    arena_init(&arena, (size_t)256 << 20);
    got = json_parse(&doc, request->body, &JSON_LIMITS_DEFAULT, &arena, &err);
    if (got == 0 && !c->s->tokenizer)
        got = error_set(&err, ERROR_INPUT, "this server runs without a tokenizer");
    if (got == 0 && str_eq(request->path, STR("/apply-template")))
        got = apply_template(c, doc, &arena, &body, &err);
    else if (got == 0 && c->s->profile->token_ids)
        got = tokenize_messages(c, doc, &arena, &body, &err);
    else if (got == 0)
        got = tokenize(c, doc, &body, &err);
    if (got < 0)
        route_refuse(c, 400, err.message);
    else
        send_json(c, &body);
    arena_release(&arena);
    buf_release(&body);
}

#define LLAMA (1u << DIALECT_LLAMA)
#define OPENAI (1u << DIALECT_OPENAI)
#define OLLAMA (1u << DIALECT_OLLAMA)

static const struct {
    const char *method, *path;
    unsigned dialects;
    void (*answer)(struct conn *c, const struct http_request *request);
} paths[] = {
    {"GET", "/health", LLAMA | OPENAI, health},
    {"GET", "/", OLLAMA, health},
    {"GET", "/v1/models", LLAMA | OPENAI | OLLAMA, models},
    {"GET", "/props", LLAMA, props},
    {"GET", "/slots", LLAMA, slots},
    {"GET", "/metrics", LLAMA | OPENAI, metrics},
    {"GET", "/version", OPENAI, version},
    {"GET", "/api/version", OLLAMA, version},
    {"GET", "/v1/effective-config", OPENAI, effective_config},
    {"GET", "/api/tags", OLLAMA, ollama_models},
    {"GET", "/api/ps", OLLAMA, ollama_models},
    {"POST", "/tokenize", LLAMA | OPENAI, prompts},
    {"POST", "/apply-template", LLAMA, prompts},
};

bool info_answer(struct conn *c, const struct http_request *request)
{
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        if (!(paths[i].dialects & 1u << c->s->profile->dialect) ||
            !str_eq(request->path, str_of(paths[i].path)))
            continue;
        if (!str_eq(request->method, str_of(paths[i].method)))
            route_refuse(c, 405, "this path is asked with another method");
        else
            paths[i].answer(c, request);
        return true;
    }
    return false;
}
