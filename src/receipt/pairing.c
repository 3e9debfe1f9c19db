#include "receipt/pairing.h"

#include <string.h>

#include "receipt/sweep.h"

/* The bands of one lane at one concurrency, by replicate; NULL where one is missing or not valid.
 */
static const struct metrics_band **by_replicate(const struct run_record *run,
                                                struct metrics_band *const *metrics,
                                                const enum status *band_status, size_t lane,
                                                int32_t band, struct arena *arena)
{
    size_t n = (size_t)run->plan.replicates;
    const struct metrics_band **out = arena_array(arena, n ? n : 1, sizeof *out);
    for (size_t i = 0; out && i < run->bands_n; i++) {
        const struct run_band *b = &run->bands[i];
        if (b->lane == lane && b->band == band && b->replicate >= 1 && (size_t)b->replicate <= n &&
            band_status[i] == STATUS_PASS)
            out[b->replicate - 1] = metrics[i];
    }
    return out;
}

static size_t lane_of(const struct run_record *run, const char *role)
{
    for (size_t i = 0; i < run->lanes_n; i++)
        if (strcmp(run->lanes[i].role, role) == 0)
            return i;
    return run->lanes_n;
}

int pairing_compute(const struct run_record *run, struct metrics_band *const *metrics,
                    const enum status *band_status, bool unequal_work, struct arena *arena,
                    struct metrics_pairs **out, size_t *n, struct error *err)
{
    size_t subject = lane_of(run, "subject"), comparator = lane_of(run, "comparator");
    if (subject == run->lanes_n || comparator == run->lanes_n) {
        *out = NULL;
        *n = 0;
        return 0;
    }
    size_t made = 0;
    struct metrics_pairs *pairs = arena_array(arena, run->plan.bands_n + 1, sizeof *pairs);
    if (!pairs)
        return arena_check(arena, "the paired ratios", err);
    for (size_t i = 0; i < run->plan.bands_n; i++) {
        struct metrics_pairs_input in = {
            .band = run->plan.bands[i],
            .replicates = (size_t)run->plan.replicates,
            .max_error_share = run->plan.max_error_share,
            .unequal_work = unequal_work,
        };
        if (run->plan.search && !sweep_probed(run, in.band))
            continue;
        in.subject = by_replicate(run, metrics, band_status, subject, in.band, arena);
        in.comparator = by_replicate(run, metrics, band_status, comparator, in.band, arena);
        if (!in.subject || !in.comparator)
            return arena_check(arena, "the paired ratios", err);
        if (metrics_pairs_compute(&in, arena, &pairs[made++], err) < 0)
            return -1;
    }
    *out = pairs;
    *n = made;
    return 0;
}

static int write_intervals(const struct run_record *run, struct metrics_band *const *metrics,
                           const enum status *band_status, struct arena *arena,
                           struct json_writer *w, struct error *err)
{
    json_key(w, "intervals");
    json_begin_array(w);
    for (size_t lane = 0; lane < run->lanes_n; lane++)
        for (size_t i = 0; i < run->plan.bands_n; i++) {
            if (run->plan.search && !sweep_probed(run, run->plan.bands[i]))
                continue;
            const struct metrics_band **replicates =
                by_replicate(run, metrics, band_status, lane, run->plan.bands[i], arena);
            if (!replicates)
                return arena_check(arena, "the intervals", err);
            json_begin_object(w);
            json_key(w, "lane");
            json_put_cstr(w, run->lanes[lane].role);
            json_key(w, "band");
            json_put_i64(w, run->plan.bands[i]);
            if (metrics_intervals_write_json(replicates, (size_t)run->plan.replicates, w, err) < 0)
                return -1;
            json_end_object(w);
        }
    json_end_array(w);
    return 0;
}

int pairing_write(const struct run_record *run, struct metrics_band *const *metrics,
                  const enum status *band_status, struct arena *arena, struct json_writer *w,
                  struct error *err)
{
    struct metrics_pairs *pairs;
    size_t n;
    if (write_intervals(run, metrics, band_status, arena, w, err) < 0 ||
        pairing_compute(run, metrics, band_status, false, arena, &pairs, &n, err) < 0)
        return -1;
    json_key(w, "pairs");
    json_begin_array(w);
    for (size_t i = 0; i < n; i++) {
        json_begin_object(w);
        metrics_pairs_write_json(&pairs[i], w);
        json_end_object(w);
    }
    json_end_array(w);
    return 0;
}
