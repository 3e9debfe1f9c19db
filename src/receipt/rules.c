#include "receipt/rules.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "receipt/form.h"
#include "receipt/sweep.h"
#include "record/workload.h"

const char *receipt_rule_name(enum receipt_rule r)
{
    static const char *const names[] = {
#define X(id, name, checks, remedy) name,
        RECEIPT_RULES(X)
#undef X
    };
    return names[r];
}

const char *receipt_rule_checks(enum receipt_rule r)
{
    static const char *const checks_of[] = {
#define X(id, name, checks, remedy) checks,
        RECEIPT_RULES(X)
#undef X
    };
    return checks_of[r];
}

const char *receipt_rule_remedy(enum receipt_rule r)
{
    static const char *const remedies[] = {
#define X(id, name, checks, remedy) remedy,
        RECEIPT_RULES(X)
#undef X
    };
    return remedies[r];
}

void rules_look(struct rules_band *f, const struct run_plan *plan, const struct sample *samples,
                size_t n)
{
    *f = (struct rules_band){.least = COUNT_NONE, .most = COUNT_NONE};
    for (size_t i = 0; i < n; i++) {
        const struct sample *s = &samples[i];
        if (s->phase != PHASE_WINDOW)
            continue;
        bool ok = s->outcome == OUTCOME_OK;
        int64_t count = plan->method == COUNT_SERVER_USAGE ? s->prompt_reported : s->prompt_body;
        f->ok += ok;
        f->usage_absent += ok && s->prompt_reported == COUNT_NONE;
        f->body_absent += s->prompt_body == COUNT_NONE;
        if (count == COUNT_NONE)
            continue;
        f->counted++;
        f->outside += !run_plan_has_length(plan, count);
        if (f->least == COUNT_NONE || count < f->least)
            f->least = count;
        if (count > f->most)
            f->most = count;
    }
}

struct judge {
    const struct run_record *run;
    struct arena *arena;
    struct receipt_refusal *list;
    size_t n, cap;
};

/* Notes a refusal; `band` may be NULL: the whole run. The arena keeps a failure. */
static void refuse(struct judge *j, const char *rule, const char *remedy,
                   const struct run_band *band, const char *seen)
{
    if (j->n == RECEIPT_REFUSALS_MAX)
        return;
    if (j->n == j->cap) {
        size_t cap = j->cap ? j->cap * 2 : 16;
        struct receipt_refusal *list =
            arena_grow(j->arena, j->list, j->cap * sizeof *list, cap * sizeof *list);
        if (!list)
            return;
        j->list = list;
        j->cap = cap;
    }
    j->list[j->n++] = (struct receipt_refusal){
        .rule = rule,
        .lane = band ? j->run->lanes[band->lane].role : NULL,
        .band = band ? band->band : 0,
        .replicate = band ? band->replicate : 0,
        .seen = arena_cstr(j->arena, str_of(seen)),
        .remedy = remedy,
    };
}

#define REFUSE(j, id, band, ...)                                                \
    do {                                                                        \
        char seen_[512];                                                        \
        snprintf(seen_, sizeof seen_, __VA_ARGS__);                             \
        refuse(j, receipt_rule_name(id), receipt_rule_remedy(id), band, seen_); \
    } while (0)

/* The remedy of a reason that metrics gave, by the rule of that name. */
static const char *remedy_of(const char *reason)
{
    for (int r = 0; r < RECEIPT_RULE_COUNT; r++)
        if (strcmp(receipt_rule_name((enum receipt_rule)r), reason) == 0)
            return receipt_rule_remedy((enum receipt_rule)r);
    return "measure again; the counts and validity of the band say what was seen";
}

static double in_ms(int64_t ns)
{
    return (double)ns / 1e6;
}

/* Which limits a saturated client was past, with what was seen. */
static void say_client(const struct metrics_client *c, char *seen, size_t size)
{
    struct buf text = BUF_INIT(size - 1);
    const struct {
        enum client_rule rule;
        const char *what, *against;
        const struct client_lag *lag;
        int64_t median_ns;
    } lags[] = {
        {CLIENT_READ_LAG, "read lag", "chunk gap", &c->read_lag, c->median_chunk_gap_ns},
        {CLIENT_SEND_LAG, "send lag", "TTFT", &c->send_lag, c->median_ttft_ns},
    };
    for (size_t i = 0; i < sizeof lags / sizeof *lags; i++)
        if (c->saturated & 1u << lags[i].rule)
            buf_addf(&text, "%s%s p50 %.3f, p99 %.3f, max %.3f ms against a median %s of %.3f ms",
                     text.n ? "; " : "", lags[i].what, in_ms(lags[i].lag->p50_ns),
                     in_ms(lags[i].lag->p99_ns), in_ms(lags[i].lag->max_ns), lags[i].against,
                     in_ms(lags[i].median_ns));
    if (c->saturated & 1u << CLIENT_CPU)
        buf_addf(&text, "%sthe timing thread took %.0f %% of a core", text.n ? "; " : "",
                 100 * c->cpu_share);
    snprintf(seen, size, "%s", text.p ? text.p : "");
    buf_release(&text);
}

static void say_metrics(char *seen, size_t size, const struct metrics_band *m)
{
    const struct metrics_counts *c = &m->counts;
    const struct metrics_band_facts *f = &m->facts;
    bool same = (f->issued == COUNT_NONE || f->issued == c->issued) &&
                (f->issued_warmup == COUNT_NONE || f->issued_warmup == c->warmup);
    bool injected = f->issued_injected == COUNT_NONE || f->issued_injected == c->injected;
    if (strcmp(m->reason, receipt_rule_name(RULE_CONSERVATION)) == 0 && same && !injected)
        snprintf(seen, size, "%lld prompts were injected; the samples hold %lld",
                 (long long)f->issued_injected, (long long)c->injected);
    else if (strcmp(m->reason, receipt_rule_name(RULE_CONSERVATION)) == 0)
        snprintf(seen, size,
                 "the loop issued %lld and %lld in warm-up; the samples hold %lld and %lld%s",
                 (long long)f->issued, (long long)f->issued_warmup, (long long)c->issued,
                 (long long)c->warmup,
                 same ? ", but their sequence numbers do not run from 0 on, each once" : "");
    else if (strcmp(m->reason, receipt_rule_name(RULE_SENT_OUTSIDE)) == 0)
        snprintf(seen, size, "%lld of %lld requests were sent outside the window",
                 (long long)c->sent_outside, (long long)c->issued);
    else if (strcmp(m->reason, receipt_rule_name(RULE_CORRECTNESS)) == 0)
        snprintf(seen, size, "%lld of %lld outputs are mostly one token over and over",
                 (long long)m->outputs.degenerate, (long long)m->outputs.checked);
    else if (strcmp(m->reason, receipt_rule_name(RULE_CLIENT)) == 0)
        say_client(&m->client, seen, size);
    else
        snprintf(seen, size, "%s", m->reason);
}

static void judge_counts(struct judge *j, const struct run_band *b, const struct rules_band *f)
{
    const struct run_plan *p = &j->run->plan;
    bool server = p->method == COUNT_SERVER_USAGE;
    char lengths[RUN_LENGTHS_TEXT];
    run_plan_lengths(p, lengths);
    if (server && f->usage_absent)
        REFUSE(j, RULE_USAGE_ABSENT, b,
               "%lld of %lld requests that ended ok came without the server's prompt count",
               (long long)f->usage_absent, (long long)f->ok);
    if (!server && f->body_absent)
        REFUSE(j, RULE_COUNT_ABSENT, b, "%lld requests have no prompt count",
               (long long)f->body_absent);
    if (f->outside)
        REFUSE(j, RULE_PROMPT_BAND, b,
               "%lld of %lld prompts lie outside %s tokens by %s: %lld to %lld",
               (long long)f->outside, (long long)f->counted, lengths,
               server ? "the server's count" : "the client's count", (long long)f->least,
               (long long)f->most);
}

static void judge_band(struct judge *j, size_t i, const struct metrics_band *m,
                       const struct rules_band *f, enum status *status, const char **reason)
{
    const struct run_band *b = &j->run->bands[i];
    size_t before = j->n;
    char seen[512];
    if (f->broken) {
        refuse(j, f->broken, remedy_of(f->broken), b, f->broken_how ? f->broken_how : f->broken);
    } else if (m->status != STATUS_PASS && m->reason) {
        say_metrics(seen, sizeof seen, m);
        refuse(j, m->reason, remedy_of(m->reason), b, seen);
    }
    judge_counts(j, b, f);
    *status = b->status;
    *reason = b->status == STATUS_PASS ? NULL : b->reason ? b->reason : "not_stated";
    if (run_band_is_capped(&j->run->plan, b) && STATUS_UNMEASURED < *status) {
        *status = STATUS_UNMEASURED;
        *reason = RUN_ADMISSION_CAPPED;
    }
    if (j->n > before && STATUS_REFUSED < *status) {
        *status = STATUS_REFUSED;
        *reason = j->list[before].rule;
    }
}

static void judge_run(struct judge *j)
{
    const struct run_plan *p = &j->run->plan;
    if (p->method == COUNT_CLIENT_TOKENIZER && !p->tokenizer_sha256[0])
        REFUSE(j, RULE_TOKENIZER, NULL, "no tokenizer digest is stated");
    if (!p->corpus_sha256[0])
        REFUSE(j, RULE_CORPUS, NULL, "no corpus digest is stated");
}

/* Whether a declared band was not measured; no band is there twice (rules of the reader). */
static bool misses_bands(const struct run_record *run, struct metrics_band *const *metrics)
{
    struct sweep_result r;
    for (int32_t rep = 1; run->plan.search && rep <= run->plan.replicates; rep++)
        for (size_t lane = 0; lane < run->lanes_n; lane++) {
            sweep_replay(run, metrics, lane, rep, &r);
            if (!r.done && !r.why)
                return true;
        }
    if (run->plan.search)
        return false;
    return run->bands_n < run->lanes_n * (size_t)run->plan.replicates * run->plan.bands_n;
}

static void worsen(struct rules_verdict *v, enum status status, const char *reason)
{
    if (status < v->status) {
        v->status = status;
        v->reason = reason;
    }
}

int rules_judge(const struct run_record *run, struct metrics_band *const *metrics,
                const struct rules_band *facts, struct arena *arena, struct rules_verdict *out,
                struct error *err)
{
    struct judge j = {.run = run, .arena = arena};
    enum status *status = arena_array(arena, run->bands_n + 1, sizeof *status);
    const char **reason = arena_array(arena, run->bands_n + 1, sizeof *reason);
    struct rules_verdict v = {.status = STATUS_PASS};
    const char *why;
    if (!status || !reason)
        return arena_check(arena, "the receipt", err);
    judge_run(&j);
    if (j.n)
        worsen(&v, STATUS_REFUSED, j.list[0].rule);
    for (size_t i = 0; i < run->bands_n; i++) {
        judge_band(&j, i, metrics[i], &facts[i], &status[i], &reason[i]);
        /* a rate that the server cannot hold is what a sweep is out for */
        if (!run->plan.search ||
            sweep_look(&run->plan, &run->bands[i], metrics[i], &why) != SWEEP_MISSED)
            worsen(&v, status[i], reason[i]);
    }
    if (run->interrupted)
        worsen(&v, STATUS_INCOMPLETE, "interrupted");
    else if (misses_bands(run, metrics))
        worsen(&v, STATUS_INCOMPLETE, "bands_missing");
    v.band_status = status;
    v.band_reason = reason;
    v.refusals = j.list;
    v.refusals_n = j.n;
    if (arena_check(arena, "the receipt", err) < 0)
        return -1;
    *out = v;
    return 0;
}
