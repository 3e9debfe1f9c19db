#include "record/run.h"

#include "base/clock.h"

void run_plan_init(struct run_plan *p)
{
    *p = (struct run_plan){
        .protocol = "custom",
        .bands = {1, 4, 8, 16},
        .bands_n = 4,
        .replicates = 6,
        .window_ns = 60 * NS_PER_S,
        .max_window_ns = 30 * 60 * NS_PER_S,
        .warmup = 2,
        .cooldown_ns = 10 * NS_PER_S,
        .timeout_ns = 10 * 60 * NS_PER_S,
        .load_model = "closed",
        .wire = "chat",
        .stream = true,
        .max_tokens = 128,
        .seed = 2026,
        .ignore_eos = true,
        .prompt_policy = "unique",
        .cache_policy = "unspecified",
        .time_source = "user",
        .connection_reuse = true,
        .token_progress = true,
        .special_text = "parsed",
        .corpus_count = COUNT_NONE,
        .corpus_tokens = COUNT_NONE,
        .corpus_tolerance = COUNT_NONE,
    };
}

void run_plan_w1(struct run_plan *p)
{
    run_plan_init(p);
    p->protocol = "w1";
    p->replicates = 5;
    p->quiesce_ns = 5 * NS_PER_S;
    p->corpus_tokens = 512;
    p->corpus_tolerance = 8;
}

int64_t run_plan_min_samples(const struct run_plan *p, int32_t c)
{
    if (p->requests > 0)
        return p->requests;
    if (p->min_samples > 0)
        return p->min_samples;
    return 8 * (int64_t)c > 30 ? 8 * (int64_t)c : 30;
}
