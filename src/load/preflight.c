#include "load/preflight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "codec/json.h"
#include "codec/json_write.h"
#include "load/judge.h"
#include "record/workload.h"

#define ASK_TIMEOUT_NS (30 * NS_PER_S) /* of /health, /v1/models, /props */
#define LOADING_POLL_NS (NS_PER_S / 2)
#define IDENTITY_MAX ((size_t)1 << 20) /* of /props, as kept */
#define NAMES_SHOWN 5
#define DOCUMENT_MAX ((size_t)64 << 20)

static void note(const struct preflight_config *config, bool warning, const char *text)
{
    if (config->progress && config->progress->note)
        config->progress->note(config->progress->ctx, warning, text);
}

static int of_lane(const struct load_lane *lane, struct error *err)
{
    return error_wrap(err, "lane %s", lane->options.role);
}

static bool is_html(const struct wire_exchange *x)
{
    return strstr(x->content_type, "text/html") ||
           str_starts(str_trim(str_first(buf_str(&x->body), 64)), STR("<"));
}

static int ask(struct load_lane *lane, const char *path, struct wire_exchange **x,
               struct error *err)
{
    if (wire_fetch(lane->endpoint, path, (struct str){NULL, 0}, ASK_TIMEOUT_NS, x, err) < 0)
        return of_lane(lane, err);
    return 0;
}

void preflight_said(struct str body, char out[PREFLIGHT_SAID_MAX])
{
    struct buf text = BUF_INIT(1024);
    struct str s;

    (void)utf8_add_lossy(&text, str_first(str_trim(body), 200));
    s = str_first(buf_str(&text), PREFLIGHT_SAID_MAX - 10);
    s = str_first(s, utf8_valid_prefix(s));
    snprintf(out, PREFLIGHT_SAID_MAX, "%.*s", STR_ARG(s));
    for (char *c = out; *c; c++) {
        if (*c == '\n' || *c == '\r' || *c == '\t')
            *c = ' ';
    }
    buf_release(&text);
}

static void said(const struct wire_exchange *x, char out[PREFLIGHT_SAID_MAX])
{
    preflight_said(buf_str(&x->body), out);
}

static int unusable(const struct load_lane *lane, const char *path, const struct wire_exchange *x,
                    const char *what, struct error *err)
{
    char text[PREFLIGHT_SAID_MAX];

    said(x, text);
    if (x->http_status == 401 || x->http_status == 403) {
        error_set(err, ERROR_ENVIRONMENT, "lane %s: %s%s is refused with HTTP %d: %s",
                  lane->options.role, lane->record.url, path, x->http_status, text);
        return error_remedy(err, "give the server's key: --bearer-file FILE, or in the environment "
                                 "as TALLY_BEARER");
    }
    if (is_html(x))
        error_set(err, ERROR_ENVIRONMENT, "lane %s: %s%s answers HTML (HTTP %d), not %s",
                  lane->options.role, lane->record.url, path, x->http_status, what);
    else
        error_set(err, ERROR_ENVIRONMENT, "lane %s: %s%s answers HTTP %d, not %s: %s",
                  lane->options.role, lane->record.url, path, x->http_status, what, text);
    if (x->http_status >= 500)
        return error_remedy(err, "look at the server's own log, or at that of a proxy before it");
    return error_remedy(err, "give the base URL of an OpenAI-compatible server, without /v1");
}

/* /health, where a server has one: 503 says that it is still loading its model. */
static int wait_until_healthy(struct load_lane *lane, const struct preflight_config *config,
                              struct error *err)
{
    int64_t give_up_ns = clock_mono_ns() + PREFLIGHT_LOADING_NS;
    bool told = false;

    for (;;) {
        struct wire_exchange *x;
        int status;
        char text[PREFLIGHT_SAID_MAX];
        if (ask(lane, "/health", &x, err) < 0)
            return -1;
        status = x->http_status;
        said(x, text);
        wire_exchange_free(x);
        if (status != 503)
            return 0;
        if (clock_mono_ns() > give_up_ns) {
            error_set(err, ERROR_ENVIRONMENT, "lane %s: %s/health still answers HTTP 503: %s",
                      lane->options.role, lane->record.url, text);
            return error_remedy(err, "look at the server's own log");
        }
        if (!told) {
            char line[200];
            snprintf(line, sizeof line, "lane %s is still loading: waiting", lane->options.role);
            note(config, false, line);
            told = true;
        }
        clock_sleep_until_ns(clock_mono_ns() + LOADING_POLL_NS, NULL);
    }
}

static int which_model(const struct load_lane *lane, const struct json *data, struct error *err)
{
    struct buf names = BUF_INIT(512);

    for (size_t i = 0; i < data->n && i < NAMES_SHOWN; i++) {
        struct str id;
        if (json_str(&id, json_get(json_at(data, i), "id")) == 0)
            buf_addf(&names, "%s%.*s", names.n ? ", " : "", STR_ARG(str_first(id, 80)));
    }
    if (data->n > NAMES_SHOWN)
        buf_adds(&names, ", ...");
    error_set(err, ERROR_USAGE, "lane %s: the server lists %zu models: %.*s", lane->options.role,
              data->n, STR_ARG(buf_str(&names)));
    buf_release(&names);
    return error_remedy(err, "name the one that is meant: --model NAME, or --model %s=NAME",
                        lane->options.role);
}

/* The entry of /v1/models that this run is about, or NULL. */
static int find_model(struct load_lane *lane, const struct json *data, const struct json **entry,
                      struct error *err)
{
    struct str id;

    *entry = NULL;
    if (lane->options.model) {
        for (size_t i = 0; i < data->n; i++) {
            if (json_str(&id, json_get(json_at(data, i), "id")) == 0 &&
                str_eq(id, str_of(lane->options.model)))
                *entry = json_at(data, i);
        }
        return 0;
    }
    if (data->n != 1)
        return which_model(lane, data, err);
    *entry = json_at(data, 0);
    if (json_need_str(&id, *entry, "id", err) < 0)
        return of_lane(lane, err);
    lane->record.model = arena_cstr(&lane->arena, id);
    return lane->record.model ? 0 : error_no_memory(err);
}

static int discover_model(struct load_lane *lane, struct json_writer *identity, struct error *err)
{
    struct wire_exchange *x;
    struct arena arena;
    const struct json *doc, *entry = NULL;
    struct error bad = {0};
    int rc = -1;

    arena_init(&arena, DOCUMENT_MAX);
    if (ask(lane, "/v1/models", &x, err) < 0)
        return -1;
    bool usable = x->http_status == 200 &&
                  json_parse(&doc, buf_str(&x->body), &JSON_LIMITS_DEFAULT, &arena, &bad) == 0 &&
                  json_is(json_get(doc, "data"), JSON_ARRAY);
    if (!usable && lane->options.model && !is_html(x)) {
        rc = 0; /* named by the user: a server need not list it */
    } else if (!usable) {
        unusable(lane, "/v1/models", x, "a list of models", err);
        if (x->http_status == 404 && !is_html(x))
            error_remedy(err, "name the model: --model NAME");
    } else if (find_model(lane, json_get(doc, "data"), &entry, err) == 0) {
        rc = 0;
    }
    json_key(identity, "model");
    if (entry)
        json_put_value(identity, entry);
    else
        json_put_null(identity);
    wire_exchange_free(x);
    arena_release(&arena);
    return rc;
}

/* llama-server's /props, verbatim; null where a server has nothing of the kind. */
static int read_props(struct load_lane *lane, struct json_writer *identity, struct error *err)
{
    struct wire_exchange *x;
    struct arena arena;
    const struct json *doc;
    struct error bad = {0};

    if (ask(lane, "/props", &x, err) < 0)
        return -1;
    arena_init(&arena, DOCUMENT_MAX);
    json_key(identity, "props");
    if (x->http_status == 200 && x->body.n <= IDENTITY_MAX &&
        json_parse(&doc, buf_str(&x->body), &JSON_LIMITS_DEFAULT, &arena, &bad) == 0 &&
        doc->type == JSON_OBJECT)
        json_put_value(identity, doc);
    else
        json_put_null(identity);
    arena_release(&arena);
    wire_exchange_free(x);
    return 0;
}

static int identify(struct load_lane *lane, struct error *err)
{
    struct buf text = BUF_INIT(2 * IDENTITY_MAX);
    struct json_writer w;
    int rc = -1;

    json_writer_init(&w, &text, 0);
    json_begin_object(&w);
    if (discover_model(lane, &w, err) < 0 || read_props(lane, &w, err) < 0)
        goto out;
    json_end_object(&w);
    if (json_writer_check(&w, "what a server says of itself", err) < 0)
        goto out;
    lane->record.reported_json = arena_cstr(&lane->arena, buf_str(&text));
    rc = lane->record.reported_json ? 0 : error_no_memory(err);
out:
    buf_release(&text);
    return rc;
}

/* One completion, as the run will ask. *status is the HTTP status; the sample lives in arena. */
static int complete(struct load_lane *lane, const struct preflight_config *config, bool again,
                    struct sample *s, struct arena *arena, char text[PREFLIGHT_SAID_MAX],
                    struct error *err)
{
    struct prompts_source source = {
        .lane = lane,
        .corpus = config->corpus,
        .counter = config->counter,
        .nonce = lane->plan->nonce,
        .unique = strcmp(lane->plan->prompt_policy, "unique") == 0,
        .again = again,
    };
    struct judge_job *job = calloc(1, sizeof *job);
    int rc = -1;

    if (!job)
        return error_no_memory(err);
    job->issue.t_planned_ns = clock_mono_ns();
    if (prompt_make(&source, PHASE_WARMUP, 0, &job->prompt, err) < 0)
        goto out;
    if (wire_fetch(lane->endpoint, lane->protocol->path, buf_str(&job->prompt->body),
                   lane->plan->timeout_ns, &job->exchange, err) < 0) {
        of_lane(lane, err);
        goto out;
    }
    if (judge_sample(lane, config->tokenizer, job, 0, s, arena, err) < 0)
        goto out;
    said(job->exchange, text);
    if (is_html(job->exchange)) {
        unusable(lane, lane->protocol->path, job->exchange, "a completion", err);
        goto out;
    }
    s->prompt_id = (struct str){NULL, 0}; /* the job's, which goes now */
    rc = 0;
out:
    judge_job_free(job);
    return rc;
}

static void keep_first(struct load_lane *lane, const struct sample *s)
{
    struct load_first *f = &lane->first;

    *f = (struct load_first){
        .done = true,
        .outcome = s->outcome,
        .prompt_body = s->prompt_body,
        .prompt_reported = s->prompt_reported,
        .prompt_cached = s->prompt_cached,
        .prompt_blocking = COUNT_NONE,
        .repeat_cached = COUNT_NONE,
        .output = s->output_observed.total,
        .asked = s->max_tokens,
        .took_ns = s->t_end_ns - s->t_sent_ns,
    };
    if (f->output == COUNT_NONE)
        f->output = s->output_reported.total;
    if (f->output == COUNT_NONE)
        f->output = s->output_retokenized.total;
}

static bool refuses_a_parameter(const struct sample *s)
{
    return s->http_status == 400 || s->http_status == 422 || s->http_status == 501;
}

/* What may be left out, in the order in which it is tried: what the answer names comes first. */
static int first_completion(struct load_lane *lane, const struct preflight_config *config,
                            struct error *err)
{
    enum { CACHE = 1, PROGRESS = 2, EOS = 4, USAGE = 8 };
    static const unsigned without[] = {
        0,
        CACHE,
        PROGRESS,
        EOS,
        CACHE | PROGRESS,
        CACHE | EOS,
        PROGRESS | EOS,
        CACHE | PROGRESS | EOS,
        PROGRESS | USAGE,
        CACHE | PROGRESS | USAGE,
        CACHE | PROGRESS | EOS | USAGE,
    };
    unsigned asked = (lane->plan->stream ? USAGE : 0) | (lane->plan->ignore_eos ? EOS : 0) |
                     (lane->plan->stream && lane->plan->token_progress ? PROGRESS : 0) |
                     (strcmp(lane->plan->cache_policy, "cold") == 0 ? CACHE : 0);
    char text[PREFLIGHT_SAID_MAX], first_text[PREFLIGHT_SAID_MAX] = "";
    struct sample s = {0};
    struct arena arena;
    int rc = -1;

    arena_init(&arena, DOCUMENT_MAX);
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        if (without[i] & ~asked)
            continue;
        lane->record.cache_policy_refused = without[i] & CACHE;
        lane->record.token_progress_refused = without[i] & PROGRESS;
        lane->record.ignore_eos_refused = without[i] & EOS;
        lane->record.stream_usage_refused = without[i] & USAGE;
        arena_reset(&arena);
        if (complete(lane, config, false, &s, &arena, text, err) < 0)
            goto out;
        if (i == 0)
            memcpy(first_text, text, sizeof first_text);
        if (!refuses_a_parameter(&s))
            break;
    }
    if (s.outcome != OUTCOME_OK && s.outcome != OUTCOME_SHORT) {
        error_set(err, ERROR_ENVIRONMENT, "lane %s: the first completion ended %s%s%s: %.*s",
                  lane->options.role, sample_outcome_name(s.outcome),
                  s.outcome == OUTCOME_FAILED ? "/" : "",
                  s.outcome == OUTCOME_FAILED ? sample_failure_name(s.failure) : "",
                  STR_ARG(s.error.n ? str_first(s.error, 300) : str_of(first_text)));
        if (s.outcome == OUTCOME_TIMED_OUT)
            error_remedy(err, "allow more time: --timeout");
        else
            error_remedy(err, "try the same request by hand: %s%s", lane->record.url,
                         lane->protocol->path);
        goto out;
    }
    keep_first(lane, &s);
    rc = 0;
out:
    arena_release(&arena);
    return rc;
}

/* The same prompt once more, for one token of a whole answer. Nothing rests on what it tells but
 * what is shown. */
static int ask_again(struct load_lane *lane, const struct preflight_config *config,
                     int64_t *reported, int64_t *cached, struct error *err)
{
    struct run_plan plan = *lane->plan;
    const struct run_plan *kept = lane->plan;
    struct arena arena;
    struct sample s;
    char text[PREFLIGHT_SAID_MAX];
    int rc;

    plan.stream = false;
    plan.max_tokens = 1;
    arena_init(&arena, DOCUMENT_MAX);
    lane->plan = &plan;
    rc = complete(lane, config, true, &s, &arena, text, err);
    lane->plan = kept;
    if (rc == 0) {
        *reported = s.prompt_reported;
        *cached = s.prompt_cached;
    }
    arena_release(&arena);
    return rc;
}

/* A lane whose stream reports nothing may still say in a whole answer how many tokens it made of
 * the prompt; and one that was asked to be cold shows with a prompt that it has seen whether it
 * is. */
static int ask_more(struct load_lane *lane, const struct preflight_config *config,
                    struct error *err)
{
    bool silent = lane->plan->stream && lane->first.prompt_reported == COUNT_NONE;
    bool cold = strcmp(run_lane_cache(lane->plan, &lane->record), "cold") == 0;
    int64_t reported, cached;

    if (!silent && !cold)
        return 0;
    if (ask_again(lane, config, &reported, &cached, err) < 0)
        return -1;
    if (silent)
        lane->first.prompt_blocking = reported;
    if (cold)
        lane->first.repeat_cached = cached;
    return 0;
}

int preflight_identify(struct load_lane *lane, const struct preflight_config *config,
                       struct error *err)
{
    return wait_until_healthy(lane, config, err) < 0 || identify(lane, err) < 0 ? -1 : 0;
}

int preflight_complete(struct load_lane *lane, const struct preflight_config *config,
                       struct error *err)
{
    if (first_completion(lane, config, err) < 0)
        return -1;
    return ask_more(lane, config, err);
}
