#include "load/sweep_run.h"

#include <stdio.h>

#include "stats/search.h"

#define NOTE_MAX 256

static void tell(const struct sweep_run *s, const char *role, const struct search *search)
{
    char text[NOTE_MAX], met[RUN_BAND_NAME_MAX], missed[RUN_BAND_NAME_MAX];
    const int32_t *bands = s->plan->bands;

    if (search->met >= 0)
        run_band_name(met, s->plan, bands[search->met]);
    if (search->missed < search->n)
        run_band_name(missed, s->plan, bands[search->missed]);
    if (search->met < 0)
        snprintf(text, sizeof text, "lane %s misses the objective at %s, the lowest rate", role,
                 missed);
    else if (search->missed == search->n)
        snprintf(text, sizeof text, "lane %s meets the objective at %s, the highest rate", role,
                 met);
    else
        snprintf(text, sizeof text, "lane %s meets the objective at %s and misses it at %s", role,
                 met, missed);
    s->note(s->ctx, false, text);
}

static void tell_why_not(const struct sweep_run *s, const struct schedule_step *step,
                         const char *why)
{
    char text[NOTE_MAX], name[RUN_BAND_NAME_MAX];

    run_band_name(name, s->plan, step->band);
    snprintf(text, sizeof text, "the sweep of lane %s ends at %s: the band cannot tell (%s)",
             s->roles[step->lane], name, why);
    s->note(s->ctx, true, text);
}

/* One search. *go_on is false when the run was stopped. */
static int find_highest(const struct sweep_run *s, size_t lane, int32_t replicate, bool *go_on,
                        struct error *err)
{
    struct search search;

    search_init(&search, (int64_t)s->plan->bands_n);
    while (!search_done(&search)) {
        const struct schedule_step step = {lane, s->plan->bands[search_next(&search)], replicate};
        enum sweep_seen seen = SWEEP_UNKNOWN;
        const char *why = NULL;
        if (s->measure(s->ctx, &step, go_on, &seen, &why, err) < 0)
            return -1;
        if (!*go_on)
            return 0;
        if (seen == SWEEP_UNKNOWN) {
            tell_why_not(s, &step, why);
            return 0;
        }
        search_tell(&search, seen == SWEEP_MET);
    }
    tell(s, s->roles[lane], &search);
    return 0;
}

int sweep_run(const struct sweep_run *s, struct error *err)
{
    bool go_on = true;

    for (int32_t rep = 1; go_on && rep <= s->plan->replicates; rep++)
        for (size_t k = 0; go_on && k < s->lanes_n; k++)
            if (find_highest(s, rep % 2 ? k : s->lanes_n - 1 - k, rep, &go_on, err) < 0)
                return -1;
    return 0;
}
