#include "gate/foreign.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "codec/json.h"

#define ARENA_MAX ((size_t)4 << 30)
#define VALUES_MAX ((size_t)64 << 20)
#define DEPTH_MAX 64
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

const char *foreign_tool_name(enum foreign_tool t)
{
    static const char *const names[] = {
#define X(id, name) name,
        FOREIGN_TOOLS(X)
#undef X
    };
    return names[t];
}

const char *foreign_metric_name(enum foreign_metric m)
{
    static const char *const names[] = {
#define X(id, name) name,
        FOREIGN_METRICS(X)
#undef X
    };
    return names[m];
}

bool foreign_is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Where each program keeps what. A unit beside the number must be the one named; NULL: none. */
struct place {
    enum foreign_metric metric;
    const char *path, *unit_path, *unit;
    double factor;
};

static const struct place flat[] = {
    {FOREIGN_RPS, "request_throughput", NULL, NULL, 1},
    {FOREIGN_AGG, "output_throughput", NULL, NULL, 1},
    {FOREIGN_TTFT, "median_ttft_ms", NULL, NULL, 1},
    {FOREIGN_TTFT_P99, "p99_ttft_ms", NULL, NULL, 1},
    {FOREIGN_TPOT, "median_tpot_ms", NULL, NULL, 1},
    {FOREIGN_GAP, "median_itl_ms", NULL, NULL, 1},
    {FOREIGN_E2E, "median_e2el_ms", NULL, NULL, 1},        /* vLLM */
    {FOREIGN_E2E, "median_e2e_latency_ms", NULL, NULL, 1}, /* SGLang */
};

static const struct place aiperf[] = {
    {FOREIGN_RPS, "request_throughput.avg", "request_throughput.unit", "requests/sec", 1},
    {FOREIGN_AGG, "output_token_throughput.avg", "output_token_throughput.unit", "tokens/sec", 1},
    {FOREIGN_TTFT, "time_to_first_token.p50", "time_to_first_token.unit", "ms", 1},
    {FOREIGN_TTFT_P99, "time_to_first_token.p99", "time_to_first_token.unit", "ms", 1},
    {FOREIGN_TPOT, "inter_token_latency.p50", "inter_token_latency.unit", "ms", 1},
    {FOREIGN_E2E, "request_latency.p50", "request_latency.unit", "ms", 1},
};

static const struct place guidellm[] = {
    {FOREIGN_RPS, "metrics.requests_per_second.successful.mean", NULL, NULL, 1},
    {FOREIGN_AGG, "metrics.output_tokens_per_second.successful.mean", NULL, NULL, 1},
    {FOREIGN_TTFT, "metrics.time_to_first_token_ms.successful.median", NULL, NULL, 1},
    {FOREIGN_TTFT_P99, "metrics.time_to_first_token_ms.successful.percentiles.p99", NULL, NULL, 1},
    {FOREIGN_TPOT, "metrics.inter_token_latency_ms.successful.median", NULL, NULL, 1},
    {FOREIGN_E2E, "metrics.request_latency.successful.median", NULL, NULL, 1000}, /* seconds */
};

/* A value that is not there, is null, or is no number above or equal to 0, is not had. */
static void take(struct foreign_run *run, const struct json *doc, const struct place *places,
                 size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct place *p = &places[i];
        double v;
        struct str unit;
        if (json_double(&v, json_path(doc, p->path)) < 0 || !(v >= 0) || isinf(v))
            continue;
        if (p->unit &&
            (json_str(&unit, json_path(doc, p->unit_path)) < 0 || !str_eq(unit, str_of(p->unit))))
            continue;
        run->has[p->metric] = true;
        run->values[p->metric] = v * p->factor;
    }
}

/* The first of several places that holds an integer of at least `least`; else `none`. */
static int64_t first_count(const struct json *doc, const char *const *paths, size_t n,
                           int64_t least, int64_t none)
{
    for (size_t i = 0; i < n; i++) {
        int64_t v;
        double d;
        const struct json *at = json_path(doc, paths[i]);
        if (json_i64(&v, at) == 0 && v >= least)
            return v;
        /* Some write every count as a real. */
        if (json_double(&d, at) == 0 && d >= (double)least && d < 1e15 && d == floor(d))
            return (int64_t)d;
    }
    return none;
}

static const char *first_text(struct foreign *f, const struct json *doc, const char *const *paths,
                              size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct str text;
        if (json_str(&text, json_path(doc, paths[i])) == 0 && text.n > 0)
            return arena_cstr(&f->arena, str_first(text, 200));
    }
    return NULL;
}

static struct foreign_run *add_run(struct foreign *f, const char *name, struct error *err)
{
    if (f->runs_n == FOREIGN_RUNS_MAX) {
        error_set(err, ERROR_LIMIT, "more than the limit of %d runs", FOREIGN_RUNS_MAX);
        error_at_file(err, name);
        return NULL;
    }
    struct foreign_run *run = &f->runs[f->runs_n++];
    *run = (struct foreign_run){.completed = -1, .failed = -1};
    return run;
}

static bool is_object(const struct json *doc, const char *path)
{
    return json_is(json_path(doc, path), JSON_OBJECT);
}

static bool is_number(const struct json *doc, const char *path)
{
    return json_is(json_path(doc, path), JSON_NUMBER);
}

/* Told apart by what only one of them writes. */
static bool recognise(enum foreign_tool *tool, const struct json *doc)
{
    if (is_object(doc, "benchmarks.0.metrics.requests_per_second"))
        *tool = FOREIGN_GUIDELLM;
    else if (is_object(doc, "request_throughput") && is_object(doc, "input_config"))
        *tool = FOREIGN_AIPERF;
    else if (!is_number(doc, "request_throughput") || !is_number(doc, "output_throughput"))
        return false;
    else if (json_get(doc, "total_output_tokens_retokenized") || is_number(doc, "input_throughput"))
        *tool = FOREIGN_SGLANG;
    else if (json_get(doc, "tokenizer_id") || is_number(doc, "total_token_throughput"))
        *tool = FOREIGN_VLLM;
    else
        return false;
    return true;
}

static int take_flat(struct foreign *f, const struct json *doc, const char *name, struct error *err)
{
    static const char *const concurrency[] = {"max_concurrency"};
    static const char *const completed[] = {"completed"}, *const failed[] = {"failed"};
    static const char *const model[] = {"model_id", "model", "server_info.model_path"};
    static const char *const version[] = {"vllm_version", "server_info.version"};
    struct foreign_run *run = add_run(f, name, err);
    if (!run)
        return -1;
    take(run, doc, flat, COUNT(flat));
    run->concurrency = first_count(doc, concurrency, 1, 1, 0);
    run->completed = first_count(doc, completed, 1, 0, -1);
    run->failed = first_count(doc, failed, 1, 0, -1);
    f->model = first_text(f, doc, model, COUNT(model));
    f->version = first_text(f, doc, version, COUNT(version));
    return 0;
}

static int take_aiperf(struct foreign *f, const struct json *doc, const char *name,
                       struct error *err)
{
    static const char *const concurrency[] = {"input_config.phases.0.concurrency",
                                              "input_config.loadgen.concurrency",
                                              "input_config.concurrency"};
    static const char *const completed[] = {"request_count.avg"}, *const failed[] = {
                                                                      "error_request_count.avg"};
    static const char *const model[] = {"input_config.endpoint.model_names.0"};
    static const char *const version[] = {"aiperf_version"};
    struct foreign_run *run = add_run(f, name, err);
    if (!run)
        return -1;
    take(run, doc, aiperf, COUNT(aiperf));
    run->concurrency = first_count(doc, concurrency, COUNT(concurrency), 1, 0);
    run->completed = first_count(doc, completed, 1, 0, -1);
    run->failed = first_count(doc, failed, 1, 0, -1);
    f->model = first_text(f, doc, model, 1);
    f->version = first_text(f, doc, version, 1);
    return 0;
}

static int64_t guidellm_streams(const struct json *b)
{
    static const char *const kinds[] = {"config.strategy.type_", "args.strategy.type_",
                                        "scheduler.strategy.type_"};
    static const char *const streams[] = {"config.strategy.streams", "args.strategy.streams",
                                          "scheduler.strategy.streams"};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        struct str kind;
        if (json_str(&kind, json_path(b, kinds[i])) == 0 && str_eq(kind, STR("synchronous")))
            return 1;
        if (kind.n && str_eq(kind, STR("concurrent")))
            return first_count(b, streams, COUNT(streams), 1, 0);
    }
    return 0;
}

static int take_guidellm(struct foreign *f, const struct json *doc, const char *name,
                         struct error *err)
{
    static const char *const completed[] = {"metrics.request_totals.successful",
                                            "run_stats.requests_made.successful",
                                            "request_totals.successful"};
    static const char *const failed[] = {"metrics.request_totals.errored",
                                         "run_stats.requests_made.errored",
                                         "request_totals.errored"};
    static const char *const version[] = {"metadata.guidellm_version"};
    static const char *const model[] = {"args.model", "benchmarks.0.args.backend.model",
                                        "benchmarks.0.worker.backend_model"};
    const struct json *list = json_get(doc, "benchmarks");
    for (size_t i = 0; i < list->n; i++) {
        const struct json *b = &list->items[i];
        struct foreign_run *run = add_run(f, name, err);
        if (!run)
            return -1;
        take(run, b, guidellm, COUNT(guidellm));
        run->concurrency = guidellm_streams(b);
        run->completed = first_count(b, completed, COUNT(completed), 0, -1);
        run->failed = first_count(b, failed, COUNT(failed), 0, -1);
    }
    f->version = first_text(f, doc, version, 1);
    f->model = first_text(f, doc, model, COUNT(model));
    return 0;
}

static int unknown_shape(const char *name, struct error *err)
{
    error_set(err, ERROR_INPUT, "neither a run directory nor a result file of a known shape");
    error_remedy(err,
                 "known are those of vllm bench serve (--save-result), SGLang's bench_serving, "
                 "AIPerf (profile_export_aiperf.json) and GuideLLM (benchmarks.json)");
    return error_at_file(err, name);
}

static int take_document(struct foreign *f, const struct json *doc, const char *name,
                         struct error *err)
{
    enum foreign_tool tool;
    if (!recognise(&tool, doc))
        return unknown_shape(name, err);
    if (f->runs_n && tool != f->tool) {
        error_set(err, ERROR_INPUT, "lines of %s and of %s in one file", foreign_tool_name(f->tool),
                  foreign_tool_name(tool));
        error_remedy(err, "compare files that one program wrote");
        return error_at_file(err, name);
    }
    f->tool = tool;
    return tool == FOREIGN_GUIDELLM ? take_guidellm(f, doc, name, err)
           : tool == FOREIGN_AIPERF ? take_aiperf(f, doc, name, err)
                                    : take_flat(f, doc, name, err);
}

static int parse(const struct json **doc, struct str text, struct arena *arena, const char *name,
                 int64_t line, struct error *err)
{
    const struct json_limits limits = {FOREIGN_BYTES_MAX, VALUES_MAX, DEPTH_MAX};
    if (json_parse(doc, text, &limits, arena, err) == 0)
        return 0;
    if (line && err->line == 1)
        error_at_line(err, line, err->column);
    return error_at_file(err, name);
}

/* One object a line, where the first line is a whole one: what is appended run by run. */
static int take_lines(struct foreign *f, struct str text, struct arena *scratch, const char *name,
                      struct error *err)
{
    struct str line, rest = text;
    for (int64_t number = 1; rest.n; number++) {
        const struct json *doc;
        str_cut(rest, '\n', &line, &rest);
        if (str_trim(line).n == 0)
            continue;
        arena_reset(scratch);
        if (parse(&doc, line, scratch, name, number, err) < 0 ||
            take_document(f, doc, name, err) < 0)
            return -1;
    }
    return 0;
}

static bool begins_with_whole_line(struct str text, struct arena *scratch)
{
    const struct json_limits limits = {FOREIGN_BYTES_MAX, VALUES_MAX, DEPTH_MAX};
    const struct json *doc;
    struct error ignored = {0};
    struct str line, rest;
    str_cut(text, '\n', &line, &rest);
    return str_trim(rest).n > 0 && json_parse(&doc, line, &limits, scratch, &ignored) == 0 &&
           json_is(doc, JSON_OBJECT);
}

int foreign_read_bytes(struct foreign *f, struct str bytes, const char *name, struct error *err)
{
    struct arena scratch;
    const struct json *doc;
    int status = -1;
    *f = (struct foreign){0};
    arena_init(&f->arena, ARENA_MAX);
    arena_init(&scratch, ARENA_MAX);
    f->runs = arena_array(&f->arena, FOREIGN_RUNS_MAX, sizeof *f->runs);
    if (!f->runs)
        arena_check(&f->arena, "a result file", err);
    else if (begins_with_whole_line(bytes, &scratch))
        status = take_lines(f, bytes, &scratch, name, err);
    else if (parse(&doc, bytes, &scratch, name, 0, err) == 0)
        status = take_document(f, doc, name, err);
    arena_release(&scratch);
    if (status == 0 && arena_check(&f->arena, "a result file", err) < 0)
        status = -1;
    if (status < 0)
        foreign_release(f);
    return status;
}

int foreign_read(struct foreign *f, const char *path, struct error *err)
{
    struct buf text = BUF_INIT(FOREIGN_BYTES_MAX);
    int status = file_read(&text, path, FOREIGN_BYTES_MAX, err);
    if (status == 0)
        status = foreign_read_bytes(f, buf_str(&text), path, err);
    buf_release(&text);
    return status;
}

void foreign_release(struct foreign *f)
{
    if (!f)
        return;
    arena_release(&f->arena);
    *f = (struct foreign){0};
}
