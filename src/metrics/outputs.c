/* What was answered: kept for comparison, digested, and looked at for whether it is an answer. */
#include "base/utf8.h"
#include "metrics/band.h"

/* A run this long that makes up half of the output or more is no answer. */
#define RUN_OF_IDS 16
#define RUN_OF_CHARACTERS 32

/* All that the answer's events carry, as ids where any are named, else as code points. */
int band_keep_output(struct band_work *w, const struct sample *s, struct metrics_prompt *p,
                     struct error *err)
{
    size_t ids = 0, bytes = 0, n = 0;
    if (!band_is_success(s))
        return 0;
    for (size_t k = 0; k < s->events_n; k++)
        if (s->events[k].choice == 0 && sample_event_has_token(&s->events[k])) {
            ids += s->events[k].ids_n;
            bytes += s->events[k].text.n;
        }
    uint32_t *output = arena_array(w->arena, ids > 0 ? ids : bytes, sizeof *output);
    if (!output)
        return arena_check(w->arena, "metrics", err);
    for (size_t k = 0; k < s->events_n; k++) {
        const struct sample_event *e = &s->events[k];
        if (e->choice != 0 || !sample_event_has_token(e))
            continue;
        for (size_t j = 0; j < e->ids_n; j++)
            output[n++] = e->ids[j];
        for (size_t at = 0, step; ids == 0 && at < e->text.n; at += step) {
            step = utf8_decode(e->text, at, &output[n]);
            if (step == 0) {
                output[n] = 0xfffd;
                step = 1;
            }
            n++;
        }
    }
    p->output = output;
    p->output_n = n;
    p->output_is_ids = ids > 0;
    p->digest = arena_str(w->arena, str_of(s->output_sha256));
    return 0;
}

static int64_t longest_run(const struct metrics_prompt *p)
{
    int64_t length = 0, longest = 0;
    for (size_t i = 0; i < p->output_n; i++) {
        length = i > 0 && p->output[i] == p->output[i - 1] ? length + 1 : 1;
        longest = length > longest ? length : longest;
    }
    return longest;
}

/* One digest over all that the window's requests were answered: equal where every answer is. */
static int digest_all(const struct metrics_work *work, struct metrics_outputs *out,
                      struct error *err)
{
    struct sha256 *h = sha256_new();
    if (!h)
        return error_no_memory(err);
    for (size_t i = 0; i < work->prompts_n; i++) {
        const struct metrics_prompt *p = &work->prompts[i];
        if (p->digest.n == 0)
            continue;
        out->answers++;
        sha256_add(h, p->id.p, p->id.n);
        sha256_add(h, " ", 1);
        sha256_add(h, p->digest.p, p->digest.n);
        sha256_add(h, "\n", 1);
    }
    int rc = sha256_end_hex(h, out->sha256, err);
    sha256_free(h);
    if (rc == 0 && out->answers == 0)
        out->sha256[0] = '\0';
    return rc;
}

/* Over the kept answers, so that ids and characters are told apart in one place. */
int band_outputs(struct band_work *w, struct error *err)
{
    struct metrics_outputs *out = &w->out->outputs;
    for (size_t i = 0; i < w->out->work.prompts_n; i++) {
        const struct metrics_prompt *p = &w->out->work.prompts[i];
        int64_t least = p->output_is_ids ? RUN_OF_IDS : RUN_OF_CHARACTERS, n = (int64_t)p->output_n;
        int64_t run = longest_run(p);
        if (n == 0)
            continue;
        out->checked++;
        out->degenerate += run >= least && run * 2 >= n;
        out->longest_run = run > out->longest_run ? run : out->longest_run;
    }
    return digest_all(&w->out->work, out, err);
}
