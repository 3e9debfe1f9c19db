#include "gate/work.h"

#include "receipt/again.h"

void gate_say_work(struct buf *out, const struct metrics_work_pair *w)
{
    if (w->why == REASON_UNKNOWN_WORK)
        buf_addf(out,
                 "the prompt work of a lane is not known (%lld of %lld prompts), and unknown is "
                 "not equal",
                 (long long)w->unknown, (long long)w->shared);
    else
        buf_addf(out,
                 "the lanes did unequal prompt work: subject less comparator is %+lld to %+lld "
                 "tokens a prompt, %+.2f %% in all",
                 (long long)w->difference.min, (long long)w->difference.max, 100 * w->excess);
}

void gate_say_remedy(struct buf *out, const struct run_record *run)
{
    again_equal_work(out, run->argv, run->argc);
}
