#include "record/workload.h"

#include <stdio.h>
#include <string.h>

void run_plan_w2(struct run_plan *p)
{
    run_plan_w1(p);
    p->protocol = "w2";
    p->corpus_tokens = COUNT_NONE;
    p->corpus_mixture = mixture_w2_prompts;
    p->corpus_outputs = mixture_w2_outputs;
    p->max_tokens = COUNT_NONE;
    p->injector = "longest";
}

bool run_plan_has_length(const struct run_plan *p, int64_t tokens)
{
    int64_t tolerance = p->corpus_tolerance == COUNT_NONE ? 0 : p->corpus_tolerance;

    if (p->corpus_mixture.n > 0)
        return mixture_find(&p->corpus_mixture, tokens, tolerance) != MIXTURE_NONE;
    return p->corpus_tokens == COUNT_NONE ||
           (tokens - p->corpus_tokens <= tolerance && p->corpus_tokens - tokens <= tolerance);
}

bool run_plan_has_answer(const struct run_plan *p, int64_t max_tokens)
{
    if (p->max_tokens != COUNT_NONE)
        return max_tokens == p->max_tokens;
    return p->corpus_outputs.n == 0 ||
           mixture_find(&p->corpus_outputs, max_tokens, 0) != MIXTURE_NONE;
}

void run_plan_lengths(const struct run_plan *p, char out[RUN_LENGTHS_TEXT])
{
    const struct mixture *m = &p->corpus_mixture;
    struct buf text = BUF_INIT(RUN_LENGTHS_TEXT - 1);

    for (size_t i = 0; i < m->n; i++)
        buf_addf(&text, "%s%lld",
                 i == 0         ? ""
                 : i + 1 < m->n ? ", "
                                : " or ",
                 (long long)m->of[i].tokens);
    if (m->n == 0 && p->corpus_tokens != COUNT_NONE)
        buf_addf(&text, "%lld", (long long)p->corpus_tokens);
    if (text.n > 0)
        buf_addf(&text, " +- %lld",
                 (long long)(p->corpus_tolerance == COUNT_NONE ? 0 : p->corpus_tolerance));
    snprintf(out, RUN_LENGTHS_TEXT, "%.*s", STR_ARG(buf_str(&text)));
    buf_release(&text);
}

const char *run_lane_cache(const struct run_plan *p, const struct run_lane *lane)
{
    bool cold = p->cache_policy && strcmp(p->cache_policy, "cold") == 0;

    return cold && lane->cache_policy_refused ? "unspecified" : p->cache_policy;
}
