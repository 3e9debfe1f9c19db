/* Prompts made again from the corpus, and outputs tokenized again: where both are at hand. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/num.h"
#include "corpus/corpus.h"
#include "corpus/counter.h"
#include "corpus/trace.h"
#include "record/sample_file.h"
#include "token/tokenizer.h"
#include "verify/note.h"
#include "verify/rendered.h"

struct recount {
    struct verify_work *w;
    struct tokenizer *tokenizer;
    struct corpus corpus;
    struct trace trace; /* of a run that replayed one: its corpus */
    struct corpus_token_counter counter;
    struct rendered *rendered;
    struct buf text;
    const struct run_band *band;
    int64_t line;
    int64_t prompts, outputs;
};

#define VERIFY_UNVERIFIABLE "the texts were left out: the counts cannot be verified"

static void fail_at(struct recount *r, enum verify_rule rule, const char *path, int64_t stated,
                    int64_t counted)
{
    verify_fail(r->w->report, rule, &(struct verify_place){r->band->sample_file, r->line, 0, path},
                "says %lld; counted again it is %lld", (long long)stated, (long long)counted);
}

/* "ITEM:r1.c4.u17", ":w3" for warm-up, ":i0" for what was injected (its index is below 0); false
 * for an item alone. */
static bool read_draw(struct str id, const struct verify_work *w, struct corpus_draw *draw,
                      struct str *item)
{
    struct str tail = id, head, rest;
    size_t colon = STR_NONE;
    int64_t replicate, band, index;
    for (size_t i = 0; i < id.n; i++)
        if (id.p[i] == ':')
            colon = i;
    if (colon == STR_NONE)
        return false;
    tail = str_skip(id, colon + 1);
    if (!str_cut(tail, '.', &head, &rest) || !str_starts(head, STR("r")) ||
        num_parse_i64(&replicate, str_skip(head, 1)) < 0 || !str_cut(rest, '.', &head, &rest) ||
        !str_starts(head, STR("c")) || num_parse_i64(&band, str_skip(head, 1)) < 0 || rest.n < 2 ||
        (rest.p[0] != 'u' && rest.p[0] != 'w' && rest.p[0] != 'i') ||
        num_parse_i64(&index, str_skip(rest, 1)) < 0 || replicate < 1 ||
        replicate > RUN_REPLICATES_MAX || band < 1 || band > INT32_MAX || index < 0)
        return false;
    *item = str_first(id, colon);
    *draw = (struct corpus_draw){w->receipt.run.plan.nonce, (int32_t)replicate, (int32_t)band,
                                 rest.p[0] == 'w', rest.p[0] == 'i' ? -1 - index : index};
    return true;
}

static const struct corpus_item *find_item(const struct corpus *c, struct str id)
{
    for (size_t i = 0; i < c->n; i++)
        if (str_eq(c->items[i].id, id))
            return &c->items[i];
    return NULL;
}

static void fail_prompt(struct recount *r, const char *what)
{
    verify_fail(r->w->report, VERIFY_PROMPTS,
                &(struct verify_place){r->band->sample_file, r->line, 0, "prompt_id"}, "%s", what);
}

/* Where each prompt says how long its answer is to be, that was asked for. */
static void check_answer(struct recount *r, const struct sample *s, const struct corpus_item *item)
{
    if (r->w->receipt.run.plan.max_tokens == COUNT_NONE && s->phase != PHASE_INJECTED &&
        s->max_tokens != item->max_tokens)
        verify_fail(r->w->report, VERIFY_PROMPTS,
                    &(struct verify_place){r->band->sample_file, r->line, 0, "max_tokens"},
                    "says %lld; the corpus says %lld", (long long)s->max_tokens,
                    (long long)item->max_tokens);
}

/* Its own band's, or, in warm-up, one that the window of c = 1 had. */
static bool is_of_band(const struct corpus_draw *draw, const struct sample *s)
{
    bool warmup = s->phase == PHASE_WARMUP;
    bool injected = s->phase == PHASE_INJECTED;
    bool repeats = warmup && !draw->warmup && draw->band == 1 && s->band > 1;
    return draw->replicate == s->replicate && (draw->index < 0) == injected &&
           (repeats || (draw->band == s->band && draw->warmup == warmup));
}

/* A request of a trace: which it was, when it was due, how long, and its text once more. 1, 0 when
 * it is none (noted), -1. */
static int trace_prompt(struct recount *r, const struct sample *s, const struct corpus_draw *draw,
                        struct str name, struct error *err)
{
    int64_t at = trace_pick(&r->trace, draw->warmup, draw->index), due;
    const struct trace_item *item = &r->trace.items[at];
    char wanted[32];
    snprintf(wanted, sizeof wanted, "t%lld", (long long)at + 1);
    if (!str_eq(name, str_of(wanted))) {
        fail_prompt(r, "names another request of the trace than was its turn");
        return 0;
    }
    if (s->max_tokens != item->output_tokens)
        verify_fail(r->w->report, VERIFY_PROMPTS,
                    &(struct verify_place){r->band->sample_file, r->line, 0, "max_tokens"},
                    "says %lld; the trace says %lld", (long long)s->max_tokens,
                    (long long)item->output_tokens);
    due = r->band->t_open_ns + trace_due_ns(item, r->band->band);
    if (!draw->warmup && s->t_planned_ns != due)
        verify_fail(r->w->report, VERIFY_ARRIVALS,
                    &(struct verify_place){r->band->sample_file, r->line, 0, "t_planned"},
                    "says %lld; by the trace it was due at %lld", (long long)s->t_planned_ns,
                    (long long)due);
    if (corpus_exact(item->prompt_tokens, &r->counter.counter, draw, &r->text, err) < 0)
        return err->kind == ERROR_MEMORY ? -1 : (fail_prompt(r, err->message), 0);
    return 1;
}

static int make_prompt(struct recount *r, const struct corpus_draw *draw,
                       struct corpus_prompt *prompt, struct error *err)
{
    if (draw->index < 0)
        return corpus_unique_of(&r->corpus, corpus_longest(&r->corpus), &r->counter.counter, draw,
                                &r->text, prompt, err);
    return corpus_unique(&r->corpus, &r->counter.counter, draw, &r->text, prompt, err);
}

static int count_prompt(struct recount *r, const struct sample *s, struct error *err)
{
    const struct run_plan *plan = &r->w->receipt.run.plan;
    bool unique = plan->prompt_policy && strcmp(plan->prompt_policy, "unique") == 0;
    struct corpus_draw draw;
    struct corpus_prompt prompt;
    const struct verify_place at = {r->band->sample_file, r->line, 0, "prompt_rendered"};
    struct str item, text;
    size_t n;
    if (s->prompt_body == COUNT_NONE)
        return 0;
    if (unique) {
        if (!read_draw(s->prompt_id, r->w, &draw, &item) || !is_of_band(&draw, s)) {
            fail_prompt(r, "names no prompt of this band and replicate");
            return 0;
        }
        if (r->trace.n) {
            int made = trace_prompt(r, s, &draw, item, err);
            if (made <= 0)
                return made;
            text = buf_str(&r->text);
            if (r->counter.counter.count(r->counter.counter.ctx, text, &n, err) < 0)
                return -1;
            goto counted;
        }
        if (make_prompt(r, &draw, &prompt, err) < 0)
            return err->kind == ERROR_MEMORY ? -1 : (fail_prompt(r, err->message), 0);
        if (!str_eq(prompt.item->id, item))
            fail_prompt(r, "names another item of the corpus than was drawn");
        check_answer(r, s, prompt.item);
        n = (size_t)prompt.tokens;
        text = buf_str(&r->text);
    } else {
        const struct corpus_item *one = find_item(&r->corpus, s->prompt_id);
        if (!one) {
            fail_prompt(r, "names no item of the corpus");
            return 0;
        }
        check_answer(r, s, one);
        if (r->counter.counter.count(r->counter.counter.ctx, one->text, &n, err) < 0)
            return -1;
        text = one->text;
    }
counted:
    if ((int64_t)n != s->prompt_body)
        fail_at(r, VERIFY_PROMPTS, "prompt_body", s->prompt_body, (int64_t)n);
    r->prompts++;
    return rendered_check(r->rendered, r->band->lane, s, text, &at, err);
}

static int count_output(struct recount *r, const struct sample *s, enum sample_event_kind kind,
                        int64_t stated, const char *path, struct error *err)
{
    size_t n = 0;
    if (stated == COUNT_NONE)
        return 0;
    buf_reset(&r->text);
    r->text.max = SAMPLE_TEXT_MAX + 1;
    sample_join_text(s, kind, &r->text);
    if (buf_check(&r->text, "an output text", err) < 0 ||
        (r->text.n &&
         tokenizer_count(r->tokenizer, buf_str(&r->text), &r->counter.how, &n, err) < 0))
        return -1;
    if ((int64_t)n != stated)
        fail_at(r, VERIFY_OUTPUTS, path, stated, (int64_t)n);
    return 0;
}

static int count_outputs(struct recount *r, const struct sample *s, struct error *err)
{
    if (r->w->receipt.run.plan.redact_text)
        return 0;
    r->outputs += s->output_retokenized.total != COUNT_NONE;
    const struct sample_counts *c = &s->output_retokenized;
    if (c->text != COUNT_NONE && c->reasoning != COUNT_NONE && c->tool != COUNT_NONE &&
        c->total != c->text + c->reasoning + c->tool)
        fail_at(r, VERIFY_OUTPUTS, "output_retokenized.total", c->total,
                c->text + c->reasoning + c->tool);
    return count_output(r, s, EVENT_TEXT, s->output_retokenized.text, "output_retokenized.text",
                        err) < 0 ||
                   count_output(r, s, EVENT_REASONING, s->output_retokenized.reasoning,
                                "output_retokenized.reasoning", err) < 0
               ? -1
               : 0;
}

static int recount_band(struct recount *r, const struct run_band *b, struct error *err)
{
    struct buf path = BUF_INIT(FILE_PATH_MAX);
    struct sample_file *file = NULL;
    struct arena arena;
    struct sample s;
    int got = -1;
    arena_init(&arena, RECEIPT_ARENA_MAX);
    r->band = b;
    r->line = 0;
    if (path_join(&path, r->w->dir, b->sample_file, err) < 0 ||
        sample_file_open(&file, path.p, err) < 0)
        goto out;
    while ((got = sample_file_next(file, &s, &arena, err)) > 0) {
        r->line++;
        if (((r->corpus.items || r->trace.n) && count_prompt(r, &s, err) < 0) ||
            count_outputs(r, &s, err) < 0) {
            got = -1;
            break;
        }
        arena_reset(&arena);
    }
out:
    sample_file_close(file);
    buf_release(&path);
    arena_release(&arena);
    return got;
}

/* What is at hand must be what was used: by digest, never by name. */
static int open_tokenizer(struct recount *r, struct error *err)
{
    const struct run_plan *plan = &r->w->receipt.run.plan;
    const char *path = r->w->options->tokenizer;
    struct tokenizer_options how = {0};
    struct tokenizer_info info;
    if (tokenizer_reference_parse(&how.reference, plan->tokenizer_reference) < 0) {
        error_set(err, ERROR_REFUSED, "there is no reference \"%.64s\" to count by",
                  plan->tokenizer_reference);
        return error_rule(err, "schema");
    }
    if (tokenizer_open(&r->tokenizer, path, &how, err) < 0)
        return -1;
    tokenizer_describe(r->tokenizer, &info);
    corpus_counter_init(&r->counter, r->tokenizer, plan->special_text);
    if (strcmp(info.tokenizer_sha256, plan->tokenizer_sha256) == 0 &&
        strcmp(info.vocabulary_sha256, plan->vocabulary_sha256) == 0 &&
        strcmp(info.pipeline_sha256, plan->pipeline_sha256) == 0)
        return 0;
    error_set(err, ERROR_REFUSED, "this is not the tokenizer that the receipt names (%.16s…)",
              plan->tokenizer_sha256);
    return error_at_file(err, path);
}

static int open_corpus(struct recount *r, struct error *err)
{
    const struct run_plan *plan = &r->w->receipt.run.plan;
    const char *path = r->w->options->corpus;
    const char *found;
    if (!path || plan->answers)
        return 0;
    if (run_plan_is_trace(plan)) {
        if (trace_read(&r->trace, path, trace_format_find(plan->trace_format), plan->requests,
                       err) < 0)
            return -1;
        found = r->trace.sha256;
    } else {
        if (corpus_read(&r->corpus, path, err) < 0)
            return -1;
        found = r->corpus.sha256;
    }
    if (strcmp(found, plan->corpus_sha256) == 0)
        return 0;
    error_set(err, ERROR_REFUSED, "this is not the corpus that the receipt names (%.16s…)",
              plan->corpus_sha256);
    return error_at_file(err, path);
}

static void conclude(struct recount *r)
{
    struct verify_report *v = r->w->report;
    if (r->w->receipt.run.plan.answers) {
        verify_skip(v, VERIFY_PROMPTS, "conversations are not made again");
        verify_skip(v, VERIFY_RENDERED, "conversations are not made again");
    } else if (r->w->options->corpus) {
        verify_pass(v, VERIFY_PROMPTS, "%lld prompts made again and counted",
                    (long long)r->prompts);
        rendered_conclude(r->rendered);
    } else {
        verify_skip(v, VERIFY_PROMPTS, "needs the corpus and the tokenizer");
        verify_skip(v, VERIFY_RENDERED, "needs the corpus and the tokenizer");
    }
    if (r->w->receipt.run.plan.redact_text)
        verify_skip(v, VERIFY_OUTPUTS, VERIFY_UNVERIFIABLE);
    else
        verify_pass(v, VERIFY_OUTPUTS, "%lld outputs tokenized again", (long long)r->outputs);
}

int verify_recount(struct verify_work *w, struct error *err)
{
    struct recount r = {.w = w, .text = BUF_INIT(SAMPLE_TEXT_MAX + 1)};
    const struct run_record *run = &w->receipt.run;
    int status = 0;
    if (!w->options->tokenizer || !w->measured || run->plan.method != COUNT_CLIENT_TOKENIZER) {
        const char *why = !w->measured ? "not every sample file could be read"
                          : run->plan.method != COUNT_CLIENT_TOKENIZER
                              ? "prompts were counted by the servers"
                              : "needs the corpus and the tokenizer (--corpus, --tokenizer)";
        verify_skip(w->report, VERIFY_PROMPTS, "%s", why);
        verify_skip(w->report, VERIFY_RENDERED, "%s", why);
        verify_skip(w->report, VERIFY_OUTPUTS, "%s",
                    run->plan.redact_text ? VERIFY_UNVERIFIABLE : why);
        return 0;
    }
    if (open_tokenizer(&r, err) < 0 || open_corpus(&r, err) < 0 ||
        rendered_open(&r.rendered, w, r.tokenizer, err) < 0) {
        /* Another tokenizer or corpus than the receipt names: its counts are not shown. */
        status = err->kind == ERROR_REFUSED ? 0 : -1;
        if (status == 0) {
            verify_fail_error(w->report, VERIFY_PROMPTS, w->dir, err);
            verify_fail_error(w->report, VERIFY_RENDERED, w->dir, err);
            verify_fail_error(w->report, VERIFY_OUTPUTS, w->dir, err);
        }
        goto out;
    }
    for (size_t i = 0; status == 0 && i < run->bands_n; i++)
        status = recount_band(&r, &run->bands[i], err);
    if (status == 0)
        conclude(&r);
out:
    rendered_close(r.rendered);
    tokenizer_free(r.tokenizer);
    corpus_release(&r.corpus);
    trace_release(&r.trace);
    buf_release(&r.text);
    return status;
}
