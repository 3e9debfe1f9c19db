#include "cli/selftest_live.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "cli/sim_process.h"
#include "codec/yaml.h"
#include "gate/judge.h"
#include "gate/load.h"
#include "load/load.h"

#define ARENA_MAX ((size_t)16 << 20)
#define CONCURRENCY 4
#define DECODE_MS 15        /* a token of an unhurried server, doubled from try to try */
#define PREFILL_TOK_S 20000 /* halved likewise: a small share of what a request takes */
#define SLOW 4              /* times slower: far past the margin of one half */

struct scenario {
    const char *rule, *mutation; /* rule "": nothing is wrong, the gate must be green */
    enum gate_rule red;
    const char *fault; /* of the subject; NULL */
    int slower;        /* the subject's decode step, times */
    int32_t replicates;
    int64_t max_tokens, requests;
    enum gate_phase phase;
    const char *arms;
    const char *why; /* what the row must say as well; NULL: anything */
};

#define BY "class: policy, author: self-test, date: 2026-12-01}"
#define COMPARING                             \
    "  parity:\n"                             \
    "    kind: parity\n"                      \
    "    metrics: [agg_tok_s, tpot_ms.p50]\n" \
    "    delta: {value: 0.5, " BY "\n"        \
    "  interference:\n"                       \
    "    kind: interference\n"                \
    "    max_serialization_index: {value: 2, " BY "\n"
#define INTEGRITY                              \
    "  integrity:\n"                           \
    "    kind: integrity\n"                    \
    "    max_error_share: {value: 0, " BY "\n" \
    "    max_drain_share: {value: 1, " BY "\n" \
    "    max_age_days: {value: 1, " BY "\n"

static const struct scenario scenarios[] = {
    {"", "none: two equal servers", GATE_MARGIN, NULL, 1, 3, 10, 8, GATE_RELEASE, COMPARING, NULL},
    {"margin", "subject slowed past the margin", GATE_MARGIN, NULL, SLOW, 3, 10, 8, GATE_RELEASE,
     COMPARING, NULL},
    {"interference", "in-flight capped to one", GATE_INTERFERENCE, "cap-inflight:1", 1, 2, 10, 8,
     GATE_RELEASE, COMPARING, NULL},
    {"status", "constant-token output", GATE_STATUS, "repeat", 1, 1, 40, 4, GATE_MERGE, INTEGRITY,
     "invalid_correctness"},
};

struct live {
    const struct live_options *o;
    struct buf sim, corpus_path; /* the corpus borrows its path */
    char tokenizer_path[FILE_PATH_MAX];
    struct tokenizer *tokenizer;
    struct corpus corpus;
    bool has_corpus;
    int made;
};

/* What one try came to. */
enum outcome { AS_WANTED, OTHERWISE, TOO_BUSY };

static int start_sim(struct live *l, struct sim_process *sim, int decode_ms, int prefill,
                     const char *fault, struct error *err)
{
    char decode[32], rate[32];
    snprintf(decode, sizeof decode, "%dms", decode_ms);
    snprintf(rate, sizeof rate, "%d", prefill);
    const char *argv[] = {"tally-sim",
                          "--profile",
                          "vllm",
                          "--tokenizer",
                          l->tokenizer_path,
                          "--model",
                          "tiny",
                          "--port",
                          "0",
                          "--decode-base",
                          decode,
                          "--decode-per-seq",
                          "0ms",
                          "--prefill-rate",
                          rate,
                          fault ? "--fault" : NULL,
                          fault,
                          NULL};
    return sim_process_start(sim, l->sim.p, argv, err);
}

static void plan_it(const struct scenario *s, struct run_plan *p)
{
    run_plan_init(p);
    p->protocol = "custom";
    p->bands[0] = CONCURRENCY;
    p->bands_n = 1;
    p->replicates = s->replicates;
    p->requests = s->requests;
    p->warmup = 1;
    p->cooldown_ns = 0;
    p->timeout_ns = 60 * NS_PER_S;
    p->max_tokens = s->max_tokens;
    p->method = COUNT_CLIENT_TOKENIZER;
    p->same_model = "tiny";
}

static int measure(struct live *l, const struct scenario *s, const char *dir,
                   const struct sim_process sims[2], bool *saturated, struct error *err)
{
    struct load_options o = {
        .lanes = {{.role = "subject", .url = sims[0].url, .host = "here", .build = "subject"},
                  {.role = "comparator", .url = sims[1].url, .host = "here", .build = "other"}},
        .lanes_n = 2,
        .corpus = &l->corpus,
        .tokenizer = l->tokenizer,
        .no_probe = true,
        .out_dir = dir,
        .client = l->o->client,
    };
    struct load_outcome outcome;
    struct load *load;
    plan_it(s, &o.plan);
    if (load_prepare(&load, &o, err) < 0)
        return -1;
    int status = load_measure(load, &outcome, err);
    *saturated = false;
    for (size_t i = 0; status == 0 && i < outcome.result.refusals_n; i++)
        *saturated = *saturated || strcmp(outcome.result.refusals[i].rule, "client_saturated") == 0;
    load_free(load);
    return status;
}

static bool is_red(const struct scenario *s, const struct gate_verdict *v, char *said, size_t size)
{
    for (size_t i = 0; i < v->rows_n; i++) {
        const struct gate_row *r = &v->rows[i];
        if (!r->counts || r->rule != s->red || r->status != STATUS_FAIL ||
            (s->why && !strstr(r->why, s->why)))
            continue;
        snprintf(said, size, "%s: %s%s%s", r->what, r->number, r->number[0] ? ": " : "", r->why);
        return v->status == STATUS_FAIL;
    }
    return false;
}

static int judge(const struct scenario *s, const char *dir, enum outcome *out, char *said,
                 size_t size, struct error *err)
{
    const struct gate_load_options how = {0};
    struct gate_set set = {0};
    struct gate_verdict v;
    struct matrix m;
    struct arena arena;
    struct buf text = BUF_INIT(BUF_ANY);
    const struct json *doc;
    int status = -1;
    arena_init(&arena, ARENA_MAX);
    buf_addf(&text,
             "version: 1\nhosts: [here]\nmodels: [tiny]\nworkloads: [custom]\nbands: [%d]\n"
             "arms:\n%scells:\n"
             "  - {host: here, model: tiny, workload: custom, state: MEASURED}\n",
             CONCURRENCY, s->arms);
    if (yaml_parse(&doc, buf_str(&text), &JSON_LIMITS_DEFAULT, &arena, err) < 0 ||
        matrix_read(&m, doc, &arena, err) < 0 || gate_set_load(&set, &dir, 1, &how, err) < 0)
        goto out;
    const struct gate_input in = {.phase = s->phase,
                                  .now_ns = clock_real_ns(),
                                  .receipts = set.receipts,
                                  .receipts_n = set.n};
    if (gate_judge(&m, &in, &arena, &v, err) < 0)
        goto out;
    bool wanted = s->rule[0] ? is_red(s, &v, said, size) : v.status == STATUS_PASS;
    if (!wanted && v.rows_n)
        snprintf(said, size, "%s: %s %s", status_name(v.status), v.rows[0].what, v.rows[0].why);
    *out = wanted ? AS_WANTED : OTHERWISE;
    status = 0;
out:
    gate_set_release(&set);
    arena_release(&arena);
    buf_release(&text);
    return status;
}

static int try_once(struct live *l, const struct scenario *s, int slowness, enum outcome *out,
                    char *said, size_t size, struct error *err)
{
    struct sim_process sims[2] = {0};
    struct buf dir = BUF_INIT(FILE_PATH_MAX);
    char name[32];
    bool saturated = false;
    int status = -1, decode = DECODE_MS * slowness, prefill = PREFILL_TOK_S / slowness;
    snprintf(name, sizeof name, "live-%d", l->made++);
    if (path_join(&dir, l->o->root, name, err) == 0 &&
        start_sim(l, &sims[0], decode * s->slower, prefill, s->fault, err) == 0 &&
        start_sim(l, &sims[1], decode, prefill, NULL, err) == 0 &&
        measure(l, s, dir.p, sims, &saturated, err) == 0) {
        *out = TOO_BUSY;
        status = saturated ? 0 : judge(s, dir.p, out, said, size, err);
    }
    sim_process_stop(&sims[0]);
    sim_process_stop(&sims[1]);
    buf_release(&dir);
    return status;
}

/* A busy machine may make equal servers unequal, or drown a difference: servers are slowed and it
 * is tried again. What is red for the wrong reason every time is not red. */
static int run_scenario(struct live *l, const struct scenario *s, struct selftest *t,
                        struct error *err)
{
    enum outcome out = TOO_BUSY;
    char said[256] = "";
    for (int k = 0; k < LIVE_TRIES && out != AS_WANTED; k++)
        if (try_once(l, s, 1 << k, &out, said, sizeof said, err) < 0)
            return -1;
    if (out == TOO_BUSY)
        snprintf(said, sizeof said, "the client was saturated %d times: try a quieter machine",
                 LIVE_TRIES);
    enum selftest_outcome bad = s->rule[0] ? SELFTEST_SURVIVED : SELFTEST_NOT_GREEN;
    enum selftest_outcome good = s->rule[0] ? SELFTEST_RED : SELFTEST_GREEN;
    selftest_add(t, "live", s->rule, s->mutation,
                 out == AS_WANTED  ? good
                 : out == TOO_BUSY ? SELFTEST_NOT_TRIED
                                   : bad,
                 said);
    return 0;
}

static int open_live(struct live *l, struct error *err)
{
    const struct tokenizer_options how = {0};
    struct buf path = BUF_INIT(FILE_PATH_MAX);
    int status = -1;
    if (l->o->sim)
        buf_adds(&l->sim, l->o->sim);
    if ((!l->o->sim && sim_process_find(&l->sim, err) < 0) ||
        path_join(&path, l->o->root, SELFTEST_TOKENIZER, err) < 0)
        goto out;
    snprintf(l->tokenizer_path, sizeof l->tokenizer_path, "%s", path.p);
    if (tokenizer_open(&l->tokenizer, l->tokenizer_path, &how, err) < 0 ||
        path_join(&l->corpus_path, l->o->root, SELFTEST_CORPUS, err) < 0 ||
        corpus_read(&l->corpus, l->corpus_path.p, err) < 0)
        goto out;
    l->has_corpus = true;
    status = 0;
out:
    buf_release(&path);
    return status;
}

/* Without a simulator nothing is said of any server. */
static bool can_start(struct live *l, struct selftest *t)
{
    struct sim_process sim;
    struct error why = {0};
    int status = start_sim(l, &sim, DECODE_MS, PREFILL_TOK_S, NULL, &why);
    if (status == 0)
        sim_process_stop(&sim);
    for (size_t i = 0; status < 0 && i < sizeof scenarios / sizeof scenarios[0]; i++)
        selftest_add(t, "live", scenarios[i].rule, scenarios[i].mutation, SELFTEST_NOT_TRIED,
                     why.message);
    return status == 0;
}

int selftest_live(struct selftest *t, const struct live_options *o, struct error *err)
{
    struct live l = {
        .o = o, .sim = BUF_INIT(FILE_PATH_MAX), .corpus_path = BUF_INIT(FILE_PATH_MAX)};
    int status = open_live(&l, err);
    if (status == 0 && can_start(&l, t))
        for (size_t i = 0; status == 0 && i < sizeof scenarios / sizeof scenarios[0]; i++)
            status = run_scenario(&l, &scenarios[i], t, err);
    tokenizer_free(l.tokenizer);
    if (l.has_corpus)
        corpus_release(&l.corpus);
    buf_release(&l.sim);
    buf_release(&l.corpus_path);
    return status;
}
