#include "load/refuse.h"

#include <stdio.h>
#include <stdlib.h>

#include "record/workload.h"

#define REASON_TEXT (RUN_LENGTHS_TEXT + 96)

/* Why the lane's own usage is no count to rely on; false when it is. */
static bool usage_fault(const struct load_lane *lane, const struct run_plan *plan,
                        char out[REASON_TEXT])
{
    const struct load_first *f = &lane->first;

    if (f->prompt_reported == COUNT_NONE) {
        snprintf(out, REASON_TEXT, "%s sends no usage %s", lane->options.role,
                 plan->stream ? "in the stream" : "with the answer");
        return true;
    }
    if (!run_plan_has_length(plan, f->prompt_reported)) {
        char lengths[RUN_LENGTHS_TEXT];
        run_plan_lengths(plan, lengths);
        snprintf(out, REASON_TEXT, "%s counts %lld prompt tokens, outside the band %s",
                 lane->options.role, (long long)f->prompt_reported, lengths);
        return true;
    }
    return false;
}

int refuse_lanes(const struct load_lane *lanes, size_t n, const struct run_plan *plan,
                 struct error *err)
{
    char reasons[RUN_LANES_MAX][REASON_TEXT];
    size_t faults = 0;

    if (plan->method != COUNT_SERVER_USAGE)
        return 0;
    for (size_t i = 0; i < n && i < RUN_LANES_MAX; i++)
        faults += usage_fault(&lanes[i], plan, reasons[faults]);
    if (faults == 0)
        return 0;
    error_set(err, ERROR_REFUSED, "--count server-usage cannot count this run: %s%s%s", reasons[0],
              faults > 1 ? "; " : "", faults > 1 ? reasons[1] : "");
    error_rule(err, "count.server_usage");
    return error_remedy(err, "count with the model's own tokenizer, which is the same for every "
                             "lane: --tokenizer FILE");
}

static void warn(const struct load_progress *p, const char *text)
{
    if (p && p->note)
        p->note(p->ctx, true, text);
}

static void warn_of_one(const struct load_lane *lane, const struct load_progress *p)
{
    char text[320];
    const char *role = lane->options.role;

    if (lane->record.ignore_eos_refused) {
        snprintf(text, sizeof text,
                 "lane %s refuses ignore_eos: it is left out, and answers may "
                 "end before the %lld tokens asked for",
                 role, (long long)lane->first.asked);
        warn(p, text);
    }
    if (lane->record.stream_usage_refused) {
        snprintf(text, sizeof text,
                 "lane %s refuses stream_options: its prompt and output counts "
                 "are not reported",
                 role);
        warn(p, text);
    }
    if (lane->first.outcome == OUTCOME_SHORT) {
        snprintf(text, sizeof text,
                 "lane %s takes ignore_eos and stops after %lld of %lld tokens: "
                 "such requests are 'short', not ok (--no-ignore-eos lets "
                 "models stop where they will)",
                 role, (long long)lane->first.output, (long long)lane->first.asked);
        warn(p, text);
    }
    if (lane->record.cache_policy_refused) {
        snprintf(text, sizeof text,
                 "lane %s refuses to be asked not to reuse a cached prompt: it is not asked", role);
        warn(p, text);
    }
    if (lane->first.repeat_cached > 0) {
        snprintf(text, sizeof text,
                 "lane %s reuses cached prompts though it is asked not to (%lld tokens of a prompt "
                 "sent again); every prompt of this run is new to it all the same",
                 role, (long long)lane->first.repeat_cached);
        warn(p, text);
    }
    /* a wrapper is the same for all prompts and may well be cached; a prompt of our own may not */
    if (lane->first.prompt_cached > 0 && lane->first.prompt_body != COUNT_NONE &&
        lane->first.prompt_cached > lane->first.prompt_reported - lane->first.prompt_body) {
        snprintf(text, sizeof text,
                 "lane %s took %lld of %lld tokens of a prompt it had never "
                 "seen from its cache",
                 role, (long long)lane->first.prompt_cached,
                 (long long)lane->first.prompt_reported);
        warn(p, text);
    }
}

/* Prompt tokens by the lane's own word, from wherever it gave it. */
static int64_t prompt_work(const struct load_lane *lane)
{
    return lane->first.prompt_reported != COUNT_NONE ? lane->first.prompt_reported
                                                     : lane->first.prompt_blocking;
}

/* What is predicted stands in for what is not told: of a wrapper that the probe named, or of a
 * rendering of our own that the lane's count has confirmed. */
static bool is_predicted(const struct load_lane *lane)
{
    return lane->rendering ? lane->form.confirmed : lane->wrapper != NULL;
}

static void warn_of_silence(const struct load_lane *lane, const struct load_progress *p)
{
    char text[320];

    snprintf(text, sizeof text,
             "lane %s reports no prompt tokens%s: equal work cannot be shown, and there will be no "
             "ratio",
             lane->options.role, lane->plan->stream ? " in the stream" : "");
    warn(p, text);
}

static bool warn_of_work(const struct load_lane *a, const struct load_lane *b,
                         const struct load_progress *p)
{
    int64_t x = prompt_work(a), y = prompt_work(b);
    char text[320];

    if (a->first.prompt_reported == COUNT_NONE && !is_predicted(a))
        warn_of_silence(a, p);
    if (b->first.prompt_reported == COUNT_NONE && !is_predicted(b))
        warn_of_silence(b, p);
    if (x == COUNT_NONE || y == COUNT_NONE || x == y)
        return false;
    snprintf(text, sizeof text,
             "the lanes do unequal prompt work: for the same text %s counts %lld tokens, %s "
             "%lld (%+lld, %+.2f %%); there will be no ratio",
             a->options.role, (long long)x, b->options.role, (long long)y, (long long)(y - x),
             100.0 * (double)(y - x) / (double)x);
    warn(p, text);
    return true;
}

bool warn_of_lanes(const struct load_lane *lanes, size_t n, const struct load_progress *progress)
{
    for (size_t i = 0; i < n; i++)
        warn_of_one(&lanes[i], progress);
    return n == 2 && warn_of_work(&lanes[0], &lanes[1], progress);
}
