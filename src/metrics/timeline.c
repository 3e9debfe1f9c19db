#include "metrics/timeline.h"

static int64_t arrival_time(const struct sample *s, const struct sample_event *e, bool kernel_time)
{
    const struct sample_read_stamp *r = &s->reads[e->read];
    return kernel_time && r->t_kernel_ns != TIME_NONE ? r->t_kernel_ns : r->t_user_ns;
}

int timeline_make(struct timeline *t, const struct sample *s, bool kernel_time, struct arena *arena,
                  struct error *err)
{
    size_t bearing = 0;
    for (size_t i = 0; i < s->events_n; i++)
        bearing += sample_event_has_token(&s->events[i]);
    *t = (struct timeline){
        .t_ns = arena_array(arena, bearing, sizeof *t->t_ns),
        .tokens = arena_array(arena, bearing, sizeof *t->tokens),
        .events = arena_array(arena, bearing + 1, sizeof *t->events),
        .first_ns = TIME_NONE,
        .first_visible_ns = TIME_NONE,
        .last_ns = TIME_NONE,
    };
    if (arena_check(arena, "arrivals", err) < 0)
        return -1;
    int64_t before = s->t_sent_ns; /* TIME_NONE is the least of all */
    for (size_t i = 0; i < s->events_n; i++) {
        const struct sample_event *e = &s->events[i];
        if (!sample_event_has_token(e))
            continue;
        int64_t at = arrival_time(s, e, kernel_time);
        if (at < before)
            at = before;
        before = at;
        if (t->n == 0 || at != t->t_ns[t->n - 1]) {
            t->events[t->n] = (uint32_t)i;
            t->t_ns[t->n++] = at;
        }
        bool visible = e->kind == EVENT_TEXT && (e->text.n > 0 || e->text_bytes > 0);
        if (visible && t->first_visible_ns == TIME_NONE)
            t->first_visible_ns = at;
    }
    t->events[t->n] = (uint32_t)s->events_n;
    if (t->n > 0) {
        t->first_ns = t->t_ns[0];
        t->last_ns = t->t_ns[t->n - 1];
    }
    return 0;
}

unsigned timeline_ways(const struct sample *s)
{
    bool ids = false, logprobs = false, usage = true, offsets = true;
    int64_t cumulative = 0;
    for (size_t i = 0; i < s->events_n; i++) {
        const struct sample_event *e = &s->events[i];
        if (!sample_event_has_token(e))
            continue;
        ids |= e->ids_n > 0;
        logprobs |= e->logprob_n > 0;
        usage = usage && e->usage.completion >= cumulative;
        cumulative = e->usage.completion;
        bool has_text = e->text.n > 0 || e->text_bytes > 0;
        if (has_text && (e->kind == EVENT_TOOL || e->retokenized == COUNT_NONE))
            offsets = false;
    }
    return (unsigned)ids << ASSIGN_IDS | (unsigned)logprobs << ASSIGN_LOGPROBS |
           (unsigned)usage << ASSIGN_USAGE | (unsigned)offsets << ASSIGN_OFFSETS;
}

enum metrics_assignment timeline_first_way(unsigned ways)
{
    for (int way = ASSIGN_IDS; way <= ASSIGN_OFFSETS; way++)
        if (ways & 1u << way)
            return (enum metrics_assignment)way;
    return ASSIGN_NONE;
}

/* Tokens of one event; *cumulative is what the usage of the events before stood at. */
static int64_t event_tokens(const struct sample_event *e, enum metrics_assignment way,
                            int64_t *cumulative)
{
    int64_t n = 0;
    switch (way) {
    case ASSIGN_IDS:
        n = (int64_t)e->ids_n;
        break;
    case ASSIGN_LOGPROBS:
        n = e->logprob_n;
        break;
    case ASSIGN_USAGE:
        n = e->usage.completion - *cumulative;
        *cumulative = e->usage.completion;
        break;
    case ASSIGN_OFFSETS:
        n = e->retokenized;
        break;
    case ASSIGN_SINGLE:
    case ASSIGN_NONE:
        break;
    }
    return n > 0 ? n : 0;
}

void timeline_assign(struct timeline *t, const struct sample *s, enum metrics_assignment way,
                     int64_t count)
{
    t->total = 0;
    t->assigned = false;
    if (t->n == 1 && count != COUNT_NONE) {
        t->tokens[0] = t->total = count;
        t->assigned = true;
        return;
    }
    int64_t cumulative = 0;
    for (size_t a = 0; a < t->n; a++) {
        t->tokens[a] = 0;
        for (size_t i = t->events[a]; i < t->events[a + 1]; i++)
            if (sample_event_has_token(&s->events[i]))
                t->tokens[a] += event_tokens(&s->events[i], way, &cumulative);
        t->total += t->tokens[a];
    }
    t->assigned = count != COUNT_NONE && t->total == count;
}

int64_t timeline_count(const struct sample *s, enum metrics_source source)
{
    switch (source) {
    case SOURCE_OBSERVED:
        return s->output_observed.total;
    case SOURCE_REPORTED:
        return s->output_reported.total;
    case SOURCE_RETOKENIZED:
        return s->output_retokenized.total;
    case METRICS_SOURCES:
        break;
    }
    return COUNT_NONE;
}
