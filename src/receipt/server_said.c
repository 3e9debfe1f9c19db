#include "receipt/server_said.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "codec/json.h"
#include "codec/json_write.h"
#include "codec/prometheus.h"
#include "record/sample.h"

#define ARENA_MAX ((size_t)1 << 30)
#define BODY_DEPTH 64

/* Writing -------------------------------------------------------------------------------------- */

static void put_answers(struct json_writer *w, const char *name, const struct server_answer *a,
                        size_t n)
{
    json_key(w, name);
    json_begin_array(w);
    for (size_t i = 0; i < n; i++) {
        json_begin_object(w);
        json_key(w, "path");
        json_put_cstr(w, a[i].path);
        json_key(w, "t");
        json_put_i64(w, a[i].t_ns);
        json_key(w, "status");
        a[i].status ? json_put_i64(w, a[i].status) : json_put_null(w);
        json_key(w, "content_type");
        json_put_cstr(w, a[i].type && a[i].type[0] ? a[i].type : NULL);
        json_key(w, "bytes");
        json_put_i64(w, (int64_t)a[i].body.n);
        json_key(w, "body");
        if (a[i].status && a[i].body.n <= SERVER_BODY_MAX)
            json_put_str(w, a[i].body);
        else
            json_put_null(w);
        json_key(w, "trouble");
        json_put_cstr(w, a[i].trouble && a[i].trouble[0] ? a[i].trouble : NULL);
        json_end_object(w);
    }
    json_end_array(w);
}

int server_said_write(struct buf *out, const struct server_said *said, struct error *err)
{
    struct json_writer w;
    json_writer_init(&w, out, 1);
    json_begin_object(&w);
    json_key(&w, "schema");
    json_put_cstr(&w, SERVER_SAID_SCHEMA);
    put_answers(&w, "before", said->before, said->before_n);
    put_answers(&w, "after", said->after, said->after_n);
    json_end_object(&w);
    buf_addc(out, '\n');
    return json_writer_check(&w, "what a server said", err);
}

/* Values --------------------------------------------------------------------------------------- */

/* The metrics of one side: counters are sums over their label sets, shares the largest of them. */
enum gauge { KV_USE, PREEMPTIONS, PROMPT_TOKENS, OUTPUT_TOKENS, GAUGES };

static const struct {
    const char *name;
    enum gauge gauge;
} metric_names[] = {
    {"vllm:kv_cache_usage_perc", KV_USE},
    {"vllm:gpu_cache_usage_perc", KV_USE}, /* its name until 0.9 */
    {"llamacpp:kv_cache_usage_ratio", KV_USE},
    {"sglang:token_usage", KV_USE},
    {"vllm:num_preemptions_total", PREEMPTIONS},
    {"vllm:prompt_tokens_total", PROMPT_TOKENS},
    {"llamacpp:prompt_tokens_total", PROMPT_TOKENS},
    {"sglang:prompt_tokens_total", PROMPT_TOKENS},
    {"vllm:generation_tokens_total", OUTPUT_TOKENS},
    {"llamacpp:tokens_predicted_total", OUTPUT_TOKENS},
    {"sglang:generation_tokens_total", OUTPUT_TOKENS},
};

/* Whole numbers by name, of the JSON that a path answers. */
static const struct {
    const char *path, *member;
    size_t offset;
} numbers[] = {
    {"/props", "total_slots", offsetof(struct run_server, slots)},
    {"/v1/effective-config", "max_concurrent", offsetof(struct run_server, slots)},
    {"/v1/effective-config", "slots", offsetof(struct run_server, slots)},
    {"/v1/effective-config", "in_flight_max", offsetof(struct run_server, in_flight_max)},
    {"/v1/effective-config", "gpu_layers_requested",
     offsetof(struct run_server, gpu_layers_requested)},
    {"/v1/effective-config", "gpu_layers.requested",
     offsetof(struct run_server, gpu_layers_requested)},
    {"/v1/effective-config", "gpu_layers_resolved",
     offsetof(struct run_server, gpu_layers_resolved)},
    {"/v1/effective-config", "gpu_layers.resolved",
     offsetof(struct run_server, gpu_layers_resolved)},
};

struct side {
    struct run_server server;
    double gauge[GAUGES]; /* NaN: not there */
};

static int take_metric(void *ctx, const struct prom_sample *s)
{
    struct side *side = ctx;
    for (size_t i = 0; i < sizeof metric_names / sizeof *metric_names; i++) {
        double *to = &side->gauge[metric_names[i].gauge];
        if (!str_eq(s->name, str_of(metric_names[i].name)) || !isfinite(s->value) || s->value < 0)
            continue;
        if (isnan(*to))
            *to = s->value;
        else if (metric_names[i].gauge == KV_USE)
            *to = s->value > *to ? s->value : *to;
        else
            *to += s->value;
    }
    return 0;
}

static void read_metrics(struct side *side, struct str body)
{
    struct error ignored = {0};
    struct side before = *side;
    if (prom_read(body, take_metric, side, &ignored) < 0)
        *side = before; /* half a list would make half a sum */
}

/* Of the only model that is loaded: with several it is not said whose memory is meant. */
static void read_loaded(struct side *side, const struct json *doc)
{
    const struct json *models = json_get(doc, "models"), *one = json_at(models, 0);
    int64_t size, on_gpu;
    if (!json_is(models, JSON_ARRAY) || models->n != 1 ||
        json_i64(&size, json_get(one, "size")) < 0 ||
        json_i64(&on_gpu, json_get(one, "size_vram")) < 0 || size <= 0 || on_gpu < 0)
        return;
    side->server.gpu_memory_share = (double)on_gpu / (double)size;
}

static void read_json(struct side *side, const char *path, const struct json *doc)
{
    int64_t n;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(numbers[i].path, path) == 0 &&
            json_i64(&n, json_path(doc, numbers[i].member)) == 0 && n >= -1 &&
            n <= SAMPLE_COUNT_MAX)
            *(int64_t *)((char *)&side->server + numbers[i].offset) = n;
    if (strcmp(path, "/slots") == 0 && json_is(doc, JSON_ARRAY) && side->server.slots < 0)
        side->server.slots = (int64_t)doc->n;
    if (strcmp(path, "/api/ps") == 0)
        read_loaded(side, doc);
}

static void read_body(struct side *side, struct str path, struct str body, struct arena *arena)
{
    static const char *const documents[] = {"/props", "/slots", "/v1/effective-config", "/api/ps"};
    const struct json_limits limits = {SERVER_BODY_MAX * 3, SERVER_BODY_MAX, BODY_DEPTH};
    struct error ignored = {0};
    const struct json *doc;
    if (str_eq(path, STR("/metrics"))) {
        read_metrics(side, body);
        return;
    }
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++)
        if (str_eq(path, str_of(documents[i])) &&
            json_parse(&doc, body, &limits, arena, &ignored) == 0)
            read_json(side, documents[i], doc);
}

void server_said_nothing(struct run_server *server)
{
    *server = (struct run_server){
        .slots = COUNT_NONE,
        .in_flight_max = COUNT_NONE,
        .preemptions = COUNT_NONE,
        .prompt_tokens = COUNT_NONE,
        .output_tokens = COUNT_NONE,
        .kv_use_before = -1,
        .kv_use_after = -1,
        .gpu_layers_requested = INT64_MIN,
        .gpu_layers_resolved = INT64_MIN,
        .gpu_memory_share = -1,
    };
}

static int bad(const char *what, struct error *err)
{
    error_set(err, ERROR_REFUSED, "what a server said: %s", what);
    return error_rule(err, "server");
}

static int read_side(struct side *side, const struct json *doc, const char *name,
                     struct arena *arena, struct error *err)
{
    const struct json *list = json_get(doc, name);
    server_said_nothing(&side->server);
    for (int i = 0; i < GAUGES; i++)
        side->gauge[i] = (double)NAN;
    if (!json_is(list, JSON_ARRAY) || list->n > SERVER_ANSWERS_MAX)
        return bad("there is no list of answers", err);
    for (size_t i = 0; i < list->n; i++) {
        const struct json *a = json_at(list, i), *body = json_get(a, "body");
        struct str path, text;
        int64_t status;
        if (json_str(&path, json_get(a, "path")) < 0)
            return bad("an answer has no path", err);
        if (json_i64(&status, json_get(a, "status")) == 0 && status == 200 &&
            json_str(&text, body) == 0)
            read_body(side, path, text, arena);
    }
    return arena_check(arena, "what a server said", err);
}

/* What it said afterwards, or else before. */
#define LATEST(to, before, after, none) (to) = (after) == (none) ? (before) : (after)

static int64_t growth(const struct side *before, const struct side *after, enum gauge g)
{
    double from = before->gauge[g], to = after->gauge[g];
    if (isnan(from) || isnan(to) || to < from || to - from > (double)SAMPLE_COUNT_MAX)
        return COUNT_NONE;
    return (int64_t)(to - from);
}

static double share(double v)
{
    return isnan(v) ? -1 : v;
}

int server_said_read(struct run_server *server, struct str text, struct error *err)
{
    const struct json_limits limits = {SERVER_SAID_MAX, 1 << 16, 8};
    struct side before, after;
    const struct json *doc, *schema;
    struct arena arena;
    struct error why = {0};
    int status = -1;
    arena_init(&arena, ARENA_MAX);
    if (json_parse(&doc, text, &limits, &arena, &why) < 0) {
        status = why.kind == ERROR_MEMORY ? error_no_memory(err) : bad(why.message, err);
        goto out;
    }
    schema = json_get(doc, "schema");
    if (!json_is(schema, JSON_STRING) || !str_eq(schema->text, STR(SERVER_SAID_SCHEMA))) {
        status = bad("the document is not of schema " SERVER_SAID_SCHEMA, err);
        goto out;
    }
    if (read_side(&before, doc, "before", &arena, err) < 0 ||
        read_side(&after, doc, "after", &arena, err) < 0)
        goto out;
    server_said_nothing(server);
    const struct run_server *b = &before.server, *a = &after.server;
    /* how many it admits is what it said when the band began */
    LATEST(server->slots, a->slots, b->slots, COUNT_NONE);
    LATEST(server->in_flight_max, b->in_flight_max, a->in_flight_max, COUNT_NONE);
    LATEST(server->gpu_layers_requested, b->gpu_layers_requested, a->gpu_layers_requested,
           INT64_MIN);
    LATEST(server->gpu_layers_resolved, b->gpu_layers_resolved, a->gpu_layers_resolved, INT64_MIN);
    server->gpu_memory_share = a->gpu_memory_share < 0 ? b->gpu_memory_share : a->gpu_memory_share;
    server->preemptions = growth(&before, &after, PREEMPTIONS);
    server->prompt_tokens = growth(&before, &after, PROMPT_TOKENS);
    server->output_tokens = growth(&before, &after, OUTPUT_TOKENS);
    server->kv_use_before = share(before.gauge[KV_USE]);
    server->kv_use_after = share(after.gauge[KV_USE]);
    status = 0;
out:
    arena_release(&arena);
    return status;
}
