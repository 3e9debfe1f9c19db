#include "cli/run_args.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "cli/run_load.h"
#include "cli/tokens.h"
#include "record/workload.h"

static const char *const roles[RUN_LANES_MAX] = {"subject", "comparator"};

static bool stated(const struct option_set *given, const char *name)
{
    return option_set_has(run_options, given, name);
}

/* What stands behind "ROLE=", or NULL when text is not about that role. */
static const char *behind_role(const char *text, const char *role)
{
    size_t n = strlen(role);

    return strncmp(text, role, n) == 0 && text[n] == '=' ? text + n + 1 : NULL;
}

/* The value for a role: "ROLE=VALUE" before a plain "VALUE", which is for every lane. */
static const char *for_role(const struct option_repeated *list, const char *role)
{
    const char *plain = NULL;

    for (size_t i = 0; i < list->n; i++) {
        const char *value = behind_role(list->v[i], role);
        if (value)
            return value;
        if (!behind_role(list->v[i], roles[0]) && !behind_role(list->v[i], roles[1]))
            plain = list->v[i];
    }
    return plain;
}

static int need_role(const struct option_repeated *list, const char *name, struct error *err)
{
    for (size_t i = 0; i < list->n; i++) {
        if (!behind_role(list->v[i], roles[0]) && !behind_role(list->v[i], roles[1])) {
            error_set(err, ERROR_USAGE, "--%s '%.100s' names no role", name, list->v[i]);
            return error_remedy(err, "write --%s subject=... or --%s comparator=...", name, name);
        }
    }
    return 0;
}

/* Lanes ---------------------------------------------------------------------------------------- */

static bool has_role(const struct load_options *o, const char *role)
{
    for (size_t i = 0; i < o->lanes_n; i++) {
        if (strcmp(o->lanes[i].role, role) == 0)
            return true;
    }
    return false;
}

static int add_lane(struct load_options *o, const char *text, struct error *err)
{
    const char *url = NULL, *role = NULL;

    for (size_t i = 0; i < RUN_LANES_MAX && !url; i++) {
        url = behind_role(text, roles[i]);
        role = roles[i];
    }
    if (!url && (strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0)) {
        url = text; /* a bare URL takes the role that is free, the subject's first */
        role = has_role(o, roles[0]) ? roles[1] : roles[0];
    }
    if (!url) {
        error_set(err, ERROR_USAGE, "--lane '%.200s' is not ROLE=URL", text);
        return error_remedy(err, "write --lane subject=http://HOST:PORT");
    }
    if (has_role(o, role)) {
        error_set(err, ERROR_USAGE, "--lane: there are two of role %s", role);
        return error_remedy(err, "a run has one subject and at most one comparator");
    }
    o->lanes[o->lanes_n++] = (struct load_lane_options){.role = role, .url = url};
    return 0;
}

/* The subject comes first whatever the order on the command line: odd replicates are A B. */
static void order_lanes(struct load_options *o)
{
    if (o->lanes_n == 2 && strcmp(o->lanes[0].role, roles[0]) != 0) {
        struct load_lane_options first = o->lanes[0];
        o->lanes[0] = o->lanes[1];
        o->lanes[1] = first;
    }
}

static int read_secret(char out[RUN_SECRET_MAX + 1], const char *path, struct error *err)
{
    struct buf text = BUF_INIT(0);
    struct str s;
    int rc = -1;

    if (file_read(&text, path, RUN_SECRET_MAX, err) < 0)
        goto out;
    s = str_trim(buf_str(&text));
    if (s.n == 0 || memchr(s.p, '\n', s.n) || memchr(s.p, '\0', s.n)) {
        error_set(err, ERROR_USAGE, "no key stands in the file: one line is wanted");
        error_at_file(err, path);
        goto out;
    }
    memcpy(out, s.p, s.n);
    out[s.n] = '\0';
    rc = 0;
out:
    if (text.p)
        memset(text.p, 0, text.n);
    buf_release(&text);
    return rc;
}

static int find_secret(struct run_inputs *in, const struct run_args *a, size_t i, struct error *err)
{
    static const char *const names[RUN_LANES_MAX] = {"TALLY_BEARER_SUBJECT",
                                                     "TALLY_BEARER_COMPARATOR"};
    struct load_lane_options *lane = &in->options.lanes[i];
    const char *path = for_role(&a->bearer_files, lane->role);
    const char *env = getenv(names[strcmp(lane->role, roles[0]) != 0]);

    if (path) {
        if (read_secret(in->secrets[i], path, err) < 0)
            return -1;
        lane->bearer = in->secrets[i];
        return 0;
    }
    if (!env || !*env)
        env = getenv("TALLY_BEARER");
    lane->bearer = env && *env ? env : NULL;
    return 0;
}

int run_inputs_lanes(struct run_inputs *in, const struct run_args *a, struct error *err)
{
    struct load_options *o = &in->options;

    if (a->lanes.n == 0) {
        error_set(err, ERROR_USAGE, "--lane is missing: which server is to be measured?");
        return error_remedy(err, "write --lane subject=http://HOST:PORT, and a second one with "
                                 "comparator=URL to compare");
    }
    if (a->lanes.n > RUN_LANES_MAX)
        return error_set(err, ERROR_USAGE, "--lane is given %zu times; a run has one or two lanes",
                         a->lanes.n);
    for (size_t i = 0; i < a->lanes.n; i++) {
        if (add_lane(o, a->lanes.v[i], err) < 0)
            return -1;
    }
    order_lanes(o);
    if (need_role(&a->hosts, "host", err) < 0 || need_role(&a->builds, "build", err) < 0 ||
        need_role(&a->binaries, "binary", err) < 0)
        return -1;
    for (size_t i = 0; i < o->lanes_n; i++) {
        struct load_lane_options *lane = &o->lanes[i];
        lane->model = for_role(&a->models, lane->role);
        lane->host = for_role(&a->hosts, lane->role);
        lane->build = for_role(&a->builds, lane->role);
        lane->binary = for_role(&a->binaries, lane->role);
        o->commands[i].before = for_role(&a->before_lane, lane->role);
        o->commands[i].after = for_role(&a->after_lane, lane->role);
        lane->weights = for_role(&a->weights, lane->role);
        lane->ca_file = a->ca_file;
        lane->insecure = a->insecure;
        if (find_secret(in, a, i, err) < 0)
            return -1;
    }
    return 0;
}

/* The plan ------------------------------------------------------------------------------------- */

/* An option sets the plan when it was stated, or when the protocol has no say of its own. */
#define TAKE(name, field, value)           \
    do {                                   \
        if (!named || stated(given, name)) \
            p->field = value;              \
    } while (0)

/* The plan that a protocol's name stands for. */
static void named_plan(struct run_plan *p, const char *protocol)
{
    if (strcmp(protocol, "w1") == 0)
        run_plan_w1(p);
    else if (strcmp(protocol, "w2") == 0)
        run_plan_w2(p);
    else
        run_plan_init(p);
}

static void take_plan(struct run_plan *p, const struct run_args *a, const struct option_set *given)
{
    bool named = strcmp(a->protocol, "custom") != 0;

    named_plan(p, a->protocol);
    if (!named || stated(given, "bands")) {
        p->bands_n = a->bands.n;
        for (size_t i = 0; i < a->bands.n; i++)
            p->bands[i] = (int32_t)a->bands.v[i];
    }
    TAKE("replicates", replicates, (int32_t)a->replicates);
    TAKE("window", window_ns, a->window_ns);
    TAKE("max-window", max_window_ns, a->max_window_ns);
    TAKE("warmup", warmup, (int32_t)a->warmup);
    TAKE("quiesce", quiesce_ns, a->quiesce_ns);
    TAKE("cooldown", cooldown_ns, a->cooldown_ns);
    TAKE("timeout", timeout_ns, a->timeout_ns);
    TAKE("max-tokens", max_tokens, a->max_tokens);
    TAKE("temperature", temperature, a->temperature);
    TAKE("seed", seed, a->seed);
    TAKE("no-ignore-eos", ignore_eos, !a->no_ignore_eos);
    TAKE("no-stream", stream, !a->no_stream);
    if (a->inject)
        p->injector = "longest";
    p->token_progress = !a->no_token_progress;
    p->redact_text = a->redact_text;
    p->min_samples = a->min_samples;
    p->requests = a->requests;
    p->max_error_share = a->max_error_share;
    p->wire = a->wire;
    if (strcmp(a->wire, "completions") == 0) {
        p->template_profile = a->as;
        p->template_kwargs = a->kwargs;
    }
    p->system = a->system;
    p->same_model = a->same_model;
    p->prompt_policy = a->prompts;
    if (a->conversations) {
        p->answers = a->answers;
        p->think_ns = a->think_ns;
        if (!stated(given, "max-tokens"))
            p->max_tokens = COUNT_NONE;
    }
    p->shared_prefix = a->shared_prefix;
    if (strcmp(a->cache, "auto") == 0 && (a->conversations || a->shared_prefix > 0))
        p->cache_policy = "friendly";
    else if (strcmp(a->cache, "auto") == 0)
        p->cache_policy = strcmp(a->prompts, "unique") == 0 ? "cold" : "unspecified";
    else
        p->cache_policy = strcmp(a->cache, "cold") == 0 ? "cold" : "unspecified";
    p->special_text = a->special_text;
    p->tokenizer_path = a->tokenizer;
    p->time_source = "kernel";
}
#undef TAKE

/* A run that is not what w1 or w2 says is not called so. */
static void check_named(struct run_inputs *in, const struct run_args *a)
{
    struct run_plan *p = &in->options.plan, named;
    struct buf names = BUF_INIT(sizeof in->differs);

    if (strcmp(a->protocol, "custom") == 0)
        return;
    named_plan(&named, a->protocol);
#define DIFFERS(what, name)                                      \
    do {                                                         \
        if (what)                                                \
            buf_addf(&names, "%s%s", names.n ? ", " : "", name); \
    } while (0)
    DIFFERS(p->replicates != named.replicates, "--replicates");
    DIFFERS(p->window_ns != named.window_ns, "--window");
    DIFFERS(p->max_window_ns != named.max_window_ns, "--max-window");
    DIFFERS(p->warmup != named.warmup, "--warmup");
    DIFFERS(p->quiesce_ns != named.quiesce_ns, "--quiesce");
    DIFFERS(p->cooldown_ns != named.cooldown_ns, "--cooldown");
    DIFFERS(p->min_samples != named.min_samples, "--min-samples");
    DIFFERS(p->requests != named.requests, "--requests");
    DIFFERS(p->injector != NULL && !named.injector, "--inject");
    DIFFERS(p->max_tokens != named.max_tokens, "--max-tokens");
    DIFFERS(p->temperature != named.temperature, "--temperature");
    DIFFERS(!p->ignore_eos, "--no-ignore-eos");
    DIFFERS(!p->stream, "--no-stream");
    DIFFERS(run_plan_is_open(p), "--rate");
    DIFFERS(p->system != NULL, "--system");
    DIFFERS(strcmp(p->prompt_policy, named.prompt_policy) != 0, "--prompts");
    DIFFERS(strcmp(p->cache_policy, named.cache_policy) != 0, "--cache");
    DIFFERS(p->answers != NULL, "--conversations");
    DIFFERS(p->shared_prefix > 0, "--shared-prefix");
#undef DIFFERS
    if (names.n > 0) {
        snprintf(in->differs, sizeof in->differs, "%.*s", STR_ARG(buf_str(&names)));
        p->protocol = "custom";
    }
    buf_release(&names);
}

static int take_counting(struct run_inputs *in, const struct run_args *a, struct error *err)
{
    struct run_plan *p = &in->options.plan;
    bool server = a->count && strcmp(a->count, "server-usage") == 0;

    if (!a->tokenizer && !server) {
        error_set(err, ERROR_USAGE, "how are tokens to be counted? There is no default");
        return error_remedy(err, "give the model's own tokenizer (--tokenizer FILE), or rely on "
                                 "each server's word (--count server-usage)");
    }
    p->method = server ? COUNT_SERVER_USAGE : COUNT_CLIENT_TOKENIZER;
    if (!a->tokenizer)
        return 0;
    if (cli_open_tokenizer(&in->tokenizer, a->tokenizer, a->reference, a->tokenizer_sha256, err) <
        0)
        return -1;
    in->options.tokenizer = in->tokenizer;
    return 0;
}

/* Drawn from the plan's seed, so that two receipts of one plan ask for the same. */
static int take_prefix(struct run_inputs *in, const struct run_args *a, struct error *err)
{
    struct run_plan *p = &in->options.plan;
    struct corpus_token_counter counter;

    if (a->shared_prefix == 0)
        return 0;
    if (!in->tokenizer) {
        error_set(err, ERROR_USAGE, "--shared-prefix needs the model's tokenizer: it is exact");
        return error_remedy(err, "give --tokenizer FILE");
    }
    if (p->system) {
        error_set(err, ERROR_USAGE, "--shared-prefix and --system are both given");
        return error_remedy(err, "the shared prefix is the system message");
    }
    corpus_counter_init(&counter, in->tokenizer, p->special_text);
    if (corpus_text(a->shared_prefix, (uint64_t)p->seed, &counter.counter, &in->prefix, err) < 0)
        return error_wrap(err, "--shared-prefix");
    buf_addc(&in->prefix, '\0');
    if (buf_check(&in->prefix, "the shared prefix", err) < 0)
        return -1;
    p->system = in->prefix.p;
    return 0;
}

static int take_corpus(struct run_inputs *in, const struct run_args *a,
                       const struct option_set *given, struct error *err)
{
    if (a->trace)
        return run_take_trace(in, a, given, err);
    if (a->corpus && a->conversations) {
        error_set(err, ERROR_USAGE, "--corpus and --conversations are both given");
        return error_remedy(err, "a run sends prompts that stand alone, or conversations");
    }
    if (a->conversations) {
        if (talk_read(&in->talk, a->conversations, err) < 0)
            return -1;
        in->options.corpus = &in->talk.corpus;
        in->options.talk = &in->talk;
        return 0;
    }
    if (!a->corpus) {
        error_set(err, ERROR_USAGE, "--corpus is missing: what is to be sent?");
        return error_remedy(err, "make one: tally corpus make --tokenizer FILE --tokens 512 "
                                 "--out w1.jsonl; then --corpus w1.jsonl");
    }
    if (corpus_read(&in->corpus, a->corpus, err) < 0)
        return -1;
    in->has_corpus = true;
    in->options.corpus = &in->corpus;
    if (in->corpus.items[0].max_tokens != CORPUS_NOT_PROMISED && !stated(given, "max-tokens") &&
        strcmp(a->protocol, "custom") == 0)
        in->options.plan.max_tokens = COUNT_NONE;
    return 0;
}

static int take_templates(struct run_inputs *in, const struct run_args *a,
                          const struct option_set *given, struct error *err)
{
    struct load_options *o = &in->options;
    const struct chat_profile *as = chat_profile_find(o->plan.template_profile);
    const struct jinja_syntax *syntax = as ? &as->syntax : &JINJA_SYNTAX_TRANSFORMERS;

    if (!as && (stated(given, "as") || stated(given, "kwargs"))) {
        error_set(err, ERROR_USAGE, "--as and --kwargs are about prompts rendered on this side");
        return error_remedy(err, "add --wire completions; over --wire chat the server renders");
    }
    o->no_probe = a->no_probe;
    o->templates = in->named;
    if (a->templates.n > RUN_TEMPLATES_MAX)
        return error_set(err, ERROR_USAGE, "--template is given more than %d times",
                         RUN_TEMPLATES_MAX);
    for (size_t i = 0; i < a->templates.n; i++) {
        const char *path = a->templates.v[i], *slash = strrchr(path, '/');
        if (chat_template_open(&in->templates[i], path, NULL, syntax, err) < 0)
            return -1;
        in->named[o->templates_n++] =
            (struct chat_named_template){slash ? slash + 1 : path, in->templates[i]};
    }
    return 0;
}

int run_inputs_init(struct run_inputs *in, const struct run_args *a, const struct option_set *given,
                    struct error *err)
{
    take_plan(&in->options.plan, a, given);
    if (run_take_load(&in->options.plan, a, given, err) < 0)
        return -1;
    check_named(in, a);
    in->options.lane_timeout_ns = a->lane_timeout_ns;
    in->options.burn_ns = a->burn_ns;
    in->options.clock_step_ns = a->clock_step_ns;
    return run_inputs_lanes(in, a, err) < 0 || take_counting(in, a, err) < 0 ||
                   take_prefix(in, a, err) < 0 || take_corpus(in, a, given, err) < 0 ||
                   take_templates(in, a, given, err) < 0
               ? -1
               : 0;
}

void run_inputs_release(struct run_inputs *in)
{
    if (!in)
        return;
    for (size_t i = 0; i < RUN_TEMPLATES_MAX; i++)
        chat_template_free(in->templates[i]);
    tokenizer_free(in->tokenizer);
    trace_release(&in->trace);
    if (in->has_corpus)
        corpus_release(&in->corpus);
    talk_release(&in->talk);
    buf_release(&in->prefix);
    memset(in->secrets, 0, sizeof in->secrets);
    *in = (struct run_inputs){0};
}
