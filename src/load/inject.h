/*
 * The injector: at half of a window one longest prompt is sent beside the band's own requests, to
 * be answered with one token, so that what its prefill does to the others can be seen.
 *
 *     struct injection in;
 *     if (injection_init(&in, plan, &source, err) < 0) ...   // makes the prompt ahead of need
 *     if (injection_due(&in, band, now_ns)) send(injection_take(&in, now_ns, &issue));
 *     in.in_flight = false;                                  // when it has ended
 *     injection_release(&in);
 *
 * Half of a window is half of plan.window_ns, or, of a window of plan.requests requests, the moment
 * at which half of them were sent. A band that stops before sends none.
 */
#ifndef TALLY_LOAD_INJECT_H
#define TALLY_LOAD_INJECT_H

#include "load/band.h"
#include "load/prompts.h"

struct injection {
    struct prompt *prompt; /* NULL: there is none, or it was sent */
    int64_t half_ns;       /* after the window's opening */
    int64_t half_requests; /* above 0: instead */
    bool in_flight;
    int64_t issued;
};

int injection_init(struct injection *in, const struct run_plan *plan,
                   const struct prompts_source *source, struct error *err) TALLY_MUST_CHECK;
void injection_release(struct injection *in); /* zeroed is fine */

bool injection_due(const struct injection *in, const struct band *b, int64_t now_ns);
/* When injection_due must be asked at the latest; INT64_MAX: only the band's progress matters. */
int64_t injection_deadline(const struct injection *in, const struct band *b);
/* The prompt, now the caller's; it counts as in flight from then on. */
struct prompt *injection_take(struct injection *in, int64_t now_ns, struct band_issue *issue);

#endif
