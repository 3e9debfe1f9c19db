#include "receipt/sweep.h"

#include <string.h>

#include "stats/search.h"

/* What the loop gives up for that is the client's doing, or the user's. */
static bool is_ours(const char *reason)
{
    static const char *const ours[] = {"interrupted", "client_error", "client_memory"};

    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        if (reason && strcmp(reason, ours[i]) == 0)
            return true;
    return !reason;
}

enum sweep_seen sweep_look(const struct run_plan *plan, const struct run_band *b,
                           const struct metrics_band *m, const char **why)
{
    const struct metrics_metric *slo = &m->metrics[METRIC_SLO];

    *why = NULL;
    if (b->status != STATUS_PASS && is_ours(b->reason))
        *why = b->reason ? b->reason : "not_stated";
    else if (m->status != STATUS_PASS)
        *why = m->reason;
    else if (b->status != STATUS_PASS)
        return SWEEP_MISSED;
    else if (slo->why != REASON_NONE)
        *why = metrics_reason_name(slo->why);
    else
        return slo->real >= plan->slo_share ? SWEEP_MET : SWEEP_MISSED;
    return SWEEP_UNKNOWN;
}

static const struct metrics_band *find(const struct run_record *run,
                                       struct metrics_band *const *metrics, size_t lane,
                                       int32_t replicate, int32_t band, const struct run_band **b)
{
    for (size_t i = 0; i < run->bands_n; i++) {
        *b = &run->bands[i];
        if ((*b)->lane == lane && (*b)->replicate == replicate && (*b)->band == band)
            return metrics[i];
    }
    return NULL;
}

void sweep_replay(const struct run_record *run, struct metrics_band *const *metrics, size_t lane,
                  int32_t replicate, struct sweep_result *out)
{
    struct search s;

    *out = (struct sweep_result){.why = NULL};
    search_init(&s, (int64_t)run->plan.bands_n);
    while (!search_done(&s)) {
        const struct run_band *b;
        int32_t band = run->plan.bands[search_next(&s)];
        const struct metrics_band *m = find(run, metrics, lane, replicate, band, &b);
        out->next = search_next(&s);
        if (!m)
            break;
        out->probes++;
        enum sweep_seen seen = sweep_look(&run->plan, b, m, &out->why);
        if (seen == SWEEP_UNKNOWN)
            break;
        search_tell(&s, seen == SWEEP_MET);
    }
    out->done = search_done(&s);
    out->met = s.met;
    out->missed = s.missed;
}

bool sweep_probed(const struct run_record *run, int32_t band)
{
    for (size_t i = 0; i < run->bands_n; i++)
        if (run->bands[i].band == band)
            return true;
    return false;
}

int64_t sweep_most_probes(int64_t n)
{
    int64_t most = 0;

    for (int64_t good = 0; good <= n; good++) {
        struct search s;
        int64_t probes = 0;
        for (search_init(&s, n); !search_done(&s); probes++)
            search_tell(&s, search_next(&s) < good);
        most = probes > most ? probes : most;
    }
    return most;
}
