/* The figures that the client is judged by, from its own stamps and clocks. */
#include "metrics/band.h"
#include "stats/quantile.h"

int band_lag(struct client_lag *out, int64_t *v, size_t n, struct error *err)
{
    *out = (struct client_lag){(int64_t)n, COUNT_NONE, COUNT_NONE, COUNT_NONE, COUNT_NONE, 0};
    if (n == 0)
        return 0;
    if (stats_sort(v, n, err) < 0)
        return -1;
    out->p50_ns = v[stats_rank(n, 50) - 1];
    out->p99_ns = v[stats_rank(n, 99) - 1];
    out->max_ns = v[n - 1];
    out->supported_percent = 50;
    for (int id = 0; id < METRICS_STATS; id++) {
        int percent = metrics_stat_percent((enum metrics_stat_id)id);
        if (percent > 0 && n >= (size_t)metrics_stat_least_n((enum metrics_stat_id)id))
            out->supported_percent = percent;
    }
    out->supported_ns = v[stats_rank(n, (unsigned)out->supported_percent) - 1];
    return 0;
}

/* Due to sent, without what the connection took: that is the network's and the server's time. */
static int64_t send_lag(const struct sample *s)
{
    int64_t due = s->t_due_ns != TIME_NONE       ? s->t_due_ns
                  : s->t_planned_ns != TIME_NONE ? s->t_planned_ns
                                                 : s->t_issue_ns;
    int64_t up = s->t_tls_ns != TIME_NONE ? s->t_tls_ns : s->t_connect_ns;
    if (due == TIME_NONE || s->t_sent_ns == TIME_NONE)
        return COUNT_NONE;
    int64_t late = s->t_sent_ns - due;
    if (!s->reused && up != TIME_NONE && s->t_issue_ns != TIME_NONE && up > s->t_issue_ns)
        late -= up - s->t_issue_ns;
    return late > 0 ? late : 0;
}

/* User time less the lower bound, which the kernel's time may have moved: where the clock that the
 * kernel stamps with was set meanwhile, nobody knows it. What the kernel had by t_kernel cannot
 * have come later: a lower bound above it (a wake-up slower than the calibrated one) is no bound.
 */
int64_t band_read_lag(const struct sample_read_stamp *r)
{
    int64_t lower = r->t_lower_ns;
    if (lower == TIME_NONE)
        return COUNT_NONE;
    if (r->t_kernel_ns != TIME_NONE && r->t_kernel_ns < lower)
        lower = r->t_kernel_ns;
    return r->t_user_ns - lower;
}

static void count_shared_reads(const struct sample *s, int64_t *with, int64_t *several)
{
    uint32_t last = 0;
    int64_t here = 0;
    for (size_t i = 0; i < s->events_n; i++) {
        const struct sample_event *e = &s->events[i];
        if (!sample_event_has_token(e))
            continue;
        here = here > 0 && e->read == last ? here + 1 : 1;
        last = e->read;
        *with += here == 1;
        *several += here == 2;
    }
}

static int stamps(struct band_work *w, struct error *err)
{
    struct metrics_client *c = &w->out->client;
    size_t reads = 0, sends = 0, n = 0;
    int64_t with = 0, several = 0;
    for (size_t i = 0; i < w->n; i++)
        reads += w->samples[i].reads_n;
    int64_t *lags = arena_array(w->scratch, reads, sizeof *lags);
    int64_t *sent = arena_array(w->scratch, w->n, sizeof *sent);
    if (!lags || !sent)
        return arena_check(w->scratch, "metrics", err);
    for (size_t i = 0; i < w->n; i++) {
        const struct sample *s = &w->samples[i];
        if (!band_in_window(w, s))
            continue;
        int64_t late = send_lag(s);
        if (late != COUNT_NONE)
            sent[sends++] = late;
        for (size_t k = 0; k < s->reads_n && w->facts->clock_steps <= 0; k++)
            if (band_read_lag(&s->reads[k]) != COUNT_NONE)
                lags[n++] = band_read_lag(&s->reads[k]);
        count_shared_reads(s, &with, &several);
    }
    c->multi_event_share = with > 0 ? (double)several / (double)with : -1;
    return band_lag(&c->send_lag, sent, sends, err) < 0 || band_lag(&c->read_lag, lags, n, err) < 0
               ? -1
               : 0;
}

static double share(int64_t cpu_ns, int64_t wait_ns, int64_t wall_ns)
{
    if (cpu_ns < 0 || wall_ns <= 0)
        return -1;
    return (double)(cpu_ns + (wait_ns > 0 ? wait_ns : 0)) / (double)wall_ns;
}

static int64_t median_of(const struct metrics_metric *m)
{
    const struct metrics_stat *p50 = &m->stats[STAT_P50];
    return m->why == REASON_NONE && p50->why == REASON_NONE ? p50->ns : COUNT_NONE;
}

int band_client(struct band_work *w, struct error *err)
{
    struct metrics_client *c = &w->out->client;
    const struct run_client_load *load = &w->facts->client;
    if (stamps(w, err) < 0)
        return -1;
    c->cpu_share = share(load->loop_cpu_ns, load->run_queue_wait_ns, load->wall_ns);
    c->parser_cpu_share = share(load->parser_cpu_ns, 0, load->wall_ns);
    bool known = load->loop_lag_p99_ns >= 0;
    c->loop_lag = (struct client_lag){COUNT_NONE,
                                      known ? load->loop_lag_p50_ns : COUNT_NONE,
                                      known ? load->loop_lag_p99_ns : COUNT_NONE,
                                      known ? load->loop_lag_max_ns : COUNT_NONE,
                                      COUNT_NONE,
                                      0};
    c->median_chunk_gap_ns = median_of(&w->out->metrics[METRIC_CHUNK_GAP]);
    c->median_ttft_ns = median_of(&w->out->metrics[METRIC_TTFT]);
    /* Without a window there is nothing that a slow client could have spoiled. */
    if (w->facts->t_open_ns != TIME_NONE && w->facts->t_close_ns != TIME_NONE)
        metrics_judge_client(c);
    return 0;
}
