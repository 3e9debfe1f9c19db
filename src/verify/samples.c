/* The samples of every band: read, held against the rules of raw records, and measured. */
#include <string.h>

#include "base/file.h"
#include "record/sample_file.h"
#include "record/workload.h"
#include "verify/note.h"

static void check_window(struct verify_work *w, const struct run_band *b,
                         const struct sample *samples, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct sample *s = &samples[i];
        if (s->phase != PHASE_WINDOW || s->t_sent_ns == TIME_NONE)
            continue;
        bool early = b->t_open_ns == TIME_NONE || s->t_sent_ns < b->t_open_ns;
        bool late = b->t_close_ns != TIME_NONE && s->t_sent_ns >= b->t_close_ns;
        if (early || late)
            verify_fail(w->report, VERIFY_WINDOW,
                        &(struct verify_place){.file = b->sample_file, .line = (int64_t)i + 1},
                        "sent %s the window's %s", early ? "before" : "at or after",
                        early ? "open" : "close");
    }
}

/* Sequence numbers run from 0 on, each once: the first line that does not fit. */
static void find_sequence(struct verify_work *w, const struct run_band *b,
                          const struct sample *samples, size_t n, struct arena *scratch)
{
    bool *seen = arena_array(scratch, n + 1, sizeof *seen);
    for (size_t i = 0; seen && i < n; i++) {
        int64_t seq = samples[i].seq;
        if (samples[i].phase == PHASE_INJECTED)
            continue;
        if (seq >= 0 && (size_t)seq < n && !seen[seq]) {
            seen[seq] = true;
            continue;
        }
        verify_fail(w->report, VERIFY_CONSERVATION,
                    &(struct verify_place){.file = b->sample_file, .line = (int64_t)i + 1},
                    "sequence number %lld %s", (long long)seq,
                    seq >= 0 && (size_t)seq < n
                        ? "is there twice"
                        : "is past what the file holds: others are missing");
        return;
    }
}

/* What was asked for is what the run declares. */
static void check_asked(struct verify_work *w, const struct run_band *b,
                        const struct sample *samples, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (samples[i].max_tokens != COUNT_NONE &&
            (samples[i].phase == PHASE_INJECTED
                 ? samples[i].max_tokens != 1
                 : !run_plan_has_answer(&w->receipt.run.plan, samples[i].max_tokens)))
            verify_fail(w->report, VERIFY_SAMPLES,
                        &(struct verify_place){b->sample_file, (int64_t)i + 1, 0, "max_tokens"},
                        "asks for %lld tokens, which the receipt does not declare",
                        (long long)samples[i].max_tokens);
}

/* What an answer's text digests to. Texts that were left out keep their digest, and nothing is
 * there to hold it against. */
static int check_digests(struct verify_work *w, const struct run_band *b,
                         const struct sample *samples, size_t n, struct error *err)
{
    char digest[SHA256_HEX];
    for (size_t i = 0; i < n && !w->receipt.run.plan.redact_text; i++) {
        if (sample_digest_output(&samples[i], digest, err) < 0)
            return -1;
        if (strcmp(digest, samples[i].output_sha256) != 0)
            verify_fail(w->report, VERIFY_SAMPLES,
                        &(struct verify_place){b->sample_file, (int64_t)i + 1, 0, "output_sha256"},
                        "says %.16s; the text of its events digests to %.16s",
                        samples[i].output_sha256, digest);
    }
    return 0;
}

static void check_conservation(struct verify_work *w, size_t i, const struct sample *samples,
                               size_t n, struct arena *scratch)
{
    const struct run_band *b = &w->receipt.run.bands[i];
    const struct metrics_counts *c = &w->measure.metrics[i]->counts;
    if (c->conserved)
        return;
    if (b->issued != c->issued || b->issued_warmup != c->warmup)
        verify_fail(w->report, VERIFY_CONSERVATION, &(struct verify_place){.file = b->sample_file},
                    "the loop issued %lld and %lld in warm-up; the samples hold %lld and %lld",
                    (long long)b->issued, (long long)b->issued_warmup, (long long)c->issued,
                    (long long)c->warmup);
    if (b->issued_injected != c->injected)
        verify_fail(w->report, VERIFY_CONSERVATION, &(struct verify_place){.file = b->sample_file},
                    "%lld prompts were injected; the samples hold %lld",
                    (long long)b->issued_injected, (long long)c->injected);
    find_sequence(w, b, samples, n, scratch);
}

/* A text where none should be, or none where the receipt promises them. Requests that carried no
 * text say nothing either way. */
static void check_texts(struct verify_work *w, const struct run_band *b,
                        const struct sample *samples, size_t n)
{
    bool redact = w->receipt.run.plan.redact_text;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < samples[i].events_n; k++) {
            const struct sample_event *e = &samples[i].events[k];
            bool there = e->text.n > 0 || e->ids_n > 0;
            if (redact ? !there : !e->redacted)
                continue;
            verify_fail(w->report, VERIFY_TEXTS,
                        &(struct verify_place){.file = b->sample_file, .line = (int64_t)i + 1},
                        redact ? "event %zu holds a text or ids, which were to be left out"
                               : "the text of event %zu was left out",
                        k);
            break;
        }
}

static int check_band(struct verify_work *w, size_t i, const struct sample *samples, size_t n,
                      struct arena *scratch, struct error *err)
{
    const struct run_band *b = &w->receipt.run.bands[i];
    const struct rules_band *f = &w->measure.facts[i];
    const struct verify_place at = {.file = b->sample_file, .line = w->measure.broken_line[i]};
    if (f->broken) {
        bool order = strcmp(f->broken, receipt_rule_name(RULE_TIME_ORDER)) == 0;
        verify_fail(w->report, order ? VERIFY_TIME_ORDER : VERIFY_SAMPLES, &at, "%s",
                    f->broken_how);
        return 0;
    }
    check_conservation(w, i, samples, n, scratch);
    check_window(w, b, samples, n);
    check_texts(w, b, samples, n);
    check_asked(w, b, samples, n);
    if (verify_arrivals(w, i, samples, n, scratch, err) < 0)
        return -1;
    return check_digests(w, b, samples, n, err);
}

/* 1: measured, 0: cannot be read (noted), -1: memory. */
static int take_band(struct verify_work *w, size_t i, struct arena *scratch, struct error *err)
{
    const struct run_band *b = &w->receipt.run.bands[i];
    struct buf path = BUF_INIT(FILE_PATH_MAX);
    struct sample *samples;
    size_t n;
    int status = -1;
    if (!verify_digest_of(w, str_of(b->sample_file))) {
        verify_fail(w->report, VERIFY_SAMPLES, &(struct verify_place){.file = b->sample_file},
                    "is not there");
        return 0;
    }
    if (path_join(&path, w->dir, b->sample_file, err) < 0)
        goto out;
    if (sample_file_read(&samples, &n, NULL, path.p, scratch, err) < 0) {
        if (err->kind == ERROR_MEMORY)
            goto out;
        verify_fail_error(w->report, VERIFY_SAMPLES, w->dir, err);
        status = 0;
        goto out;
    }
    if (measure_band(&w->measure, i, samples, n, err) < 0)
        goto out;
    w->sources &= metrics_sources(samples, n);
    w->ways &= metrics_ways(samples, n);
    w->report->samples += (int64_t)n;
    w->report->bands++;
    status = check_band(w, i, samples, n, scratch, err) < 0 ? -1 : 1;
out:
    buf_release(&path);
    return status;
}

int verify_samples(struct verify_work *w, struct error *err)
{
    const struct run_record *run = &w->receipt.run;
    struct arena scratch;
    int status = 0;
    w->sources = w->ways = ~0u;
    w->measured = true;
    if (measure_init(&w->measure, run, err) < 0)
        return -1;
    arena_init(&scratch, RECEIPT_ARENA_MAX);
    for (size_t i = 0; status >= 0 && i < run->bands_n; i++) {
        arena_reset(&scratch);
        status = take_band(w, i, &scratch, err);
        w->measured = w->measured && status == 1;
    }
    arena_release(&scratch);
    if (status < 0)
        return -1;
    if (w->measured)
        measure_finish(&w->measure);
    struct verify_report *v = w->report;
    v->measured = w->measured;
    verify_pass(v, VERIFY_SAMPLES, "%lld samples of %lld bands", (long long)v->samples,
                (long long)v->bands);
    verify_pass(v, VERIFY_TIME_ORDER, "%lld samples", (long long)v->samples);
    verify_pass(v, VERIFY_CONSERVATION, "%lld bands", (long long)v->bands);
    verify_pass(v, VERIFY_WINDOW, "%lld bands", (long long)v->bands);
    verify_pass(v, VERIFY_ARRIVALS, "%s",
                run_plan_is_trace(&run->plan)  ? "in the trace's order; the trace is not at hand"
                : run_plan_is_open(&run->plan) ? "every request was due as drawn again"
                                               : "a closed loop plans none");
    verify_pass(v, VERIFY_TEXTS, "%s",
                run->plan.redact_text ? "all were left out: output counts cannot be verified"
                                      : "none was left out");
    return 0;
}
