#include <string.h>

#include "metrics/as_rule.h"
#include "metrics/timeline.h"

int as_push(struct as_values *a, double v, double weight, struct error *err)
{
    if (a->n == a->size) {
        size_t size = a->size ? a->size * 2 : 64;
        double *values = arena_array(a->arena, size, sizeof *values);
        double *weights = arena_array(a->arena, size, sizeof *weights);
        if (arena_check(a->arena, "values", err) < 0)
            return -1;
        if (a->n > 0) {
            memcpy(values, a->v, a->n * sizeof *values);
            memcpy(weights, a->weight, a->n * sizeof *weights);
        }
        a->v = values;
        a->weight = weights;
        a->size = size;
    }
    a->v[a->n] = v;
    a->weight[a->n++] = weight;
    return 0;
}

/* One SSE event (or line): our events from i up to the next that is not of the same. */
struct chunk {
    size_t end;
    int64_t at_ns;
    bool choices, content, visible, token, line;
    int64_t retokenized; /* COUNT_NONE */
};

static bool has_text(const struct sample_event *e)
{
    return e->text.n > 0 || e->text_bytes > 0;
}

static struct chunk chunk_at(const struct sample *s, size_t i, bool kernel_time)
{
    const struct sample_read_stamp *r = &s->reads[s->events[i].read];
    struct chunk c = {.retokenized = COUNT_NONE};
    c.at_ns = kernel_time && r->t_kernel_ns != TIME_NONE ? r->t_kernel_ns : r->t_user_ns;
    do {
        const struct sample_event *e = &s->events[i];
        bool bears = e->kind == EVENT_TEXT || e->kind == EVENT_REASONING || e->kind == EVENT_TOOL;
        c.choices |= e->has_choices;
        c.content |= bears && has_text(e);
        c.visible |= e->kind == EVENT_TEXT && has_text(e);
        c.token |= sample_event_has_token(e);
        c.line |= e->kind != EVENT_COMMENT;
        if (e->retokenized != COUNT_NONE)
            c.retokenized = e->retokenized + (c.retokenized == COUNT_NONE ? 0 : c.retokenized);
        i++;
    } while (i < s->events_n && s->events[i].same_chunk);
    c.end = i;
    return c;
}

static bool counts(const struct chunk *c, enum as_chunk rule)
{
    return rule == AS_CHUNK_CHOICES   ? c->choices
           : rule == AS_CHUNK_CONTENT ? c->content
           : rule == AS_CHUNK_TEXT    ? c->visible
                                      : c->token;
}

static bool succeeded(const struct sample *s, enum as_success rule, int64_t chunks)
{
    bool ended = s->outcome == OUTCOME_OK || s->outcome == OUTCOME_SHORT;
    if (rule == AS_OK_FINISHED)
        return ended;
    if (s->http_status != 200)
        return false;
    if (s->outcome == OUTCOME_FAILED && s->failure == FAILURE_SERVER_ERROR)
        ended = rule != AS_OK_CHUNK;
    return (ended || s->outcome == OUTCOME_TRUNCATED) && (chunks > 0 || rule == AS_OK_200);
}

static int64_t text_tokens(const struct sample *s)
{
    const struct sample_counts *c = &s->output_retokenized;
    if (c->total != COUNT_NONE)
        return c->total;
    return c->text;
}

static int64_t usage_chunk(const struct sample *s)
{
    int64_t found = COUNT_NONE;
    for (size_t i = 0; i < s->events_n; i++) {
        const struct sample_event *e = &s->events[i];
        if (!e->has_choices && e->usage.completion != COUNT_NONE)
            found = e->usage.completion;
    }
    return found;
}

static int64_t tokens_of(const struct sample *s, enum as_tokens rule, int64_t chunks,
                         enum metrics_source source)
{
    int64_t n = COUNT_NONE;
    switch (rule) {
    case AS_TOKENS_USAGE_CHUNK:
        n = usage_chunk(s);
        return n > 0 ? n : text_tokens(s); /* a usage of 0 is taken for none */
    case AS_TOKENS_USAGE_ASKED:
        n = s->output_reported.total;
        return n != COUNT_NONE ? n : s->max_tokens;
    case AS_TOKENS_USAGE_CHUNKS:
        n = s->output_reported.total;
        return n != COUNT_NONE ? n : chunks;
    case AS_TOKENS_TEXT:
        return text_tokens(s);
    case AS_TOKENS_RUN:
        break;
    }
    return source == SOURCE_NONE ? COUNT_NONE : timeline_count(s, source);
}

static int add_gaps(const struct as_request *q, const struct as_rule *rule, const struct chunk *c,
                    struct as_values *gaps, struct error *err)
{
    int64_t zeros = rule->gap == AS_GAP_TOKEN ? c->retokenized - 1 : 0;
    if (!gaps)
        return 0;
    if (q->chunks > 1 && as_push(gaps, (double)(c->at_ns - q->last_ns), 1, err) < 0)
        return -1;
    for (int64_t i = 0; i < zeros; i++)
        if (as_push(gaps, 0, 1, err) < 0)
            return -1;
    return 0;
}

static int take(struct as_request *q, const struct as_rule *rule, const struct chunk *c,
                struct as_values *times, struct as_values *gaps, struct error *err)
{
    q->chunks++;
    if (q->first_ns == TIME_NONE)
        q->first_ns = c->at_ns;
    else if (q->second_ns == TIME_NONE)
        q->second_ns = c->at_ns;
    if (add_gaps(q, rule, c, gaps, err) < 0)
        return -1;
    if (times && as_push(times, (double)c->at_ns, 1, err) < 0)
        return -1;
    q->last_ns = c->at_ns;
    return 0;
}

int as_read(struct as_request *q, const struct as_rule *rule, const struct sample *s,
            const struct metrics_band_facts *facts, struct as_values *times, struct as_values *gaps,
            struct error *err)
{
    int64_t line_ns = TIME_NONE;
    struct chunk c;
    *q = (struct as_request){
        .start_ns = rule->clock == AS_FROM_ISSUE ? s->t_issue_ns : s->t_sent_ns,
        .first_ns = TIME_NONE,
        .visible_ns = TIME_NONE,
        .second_ns = TIME_NONE,
        .last_ns = TIME_NONE,
    };
    for (size_t i = 0; i < s->events_n; i = c.end) {
        c = chunk_at(s, i, rule->own_time && facts->kernel_time);
        if (c.line)
            line_ns = c.at_ns;
        if (c.visible && q->visible_ns == TIME_NONE)
            q->visible_ns = c.at_ns;
        if (!counts(&c, rule->chunk) || (rule->gap == AS_GAP_TOKEN && c.retokenized == 0))
            continue;
        if (take(q, rule, &c, times, gaps, err) < 0)
            return -1;
    }
    q->end_ns = rule->end == AS_END_CHUNK  ? q->last_ns
                : rule->end == AS_END_LINE ? line_ns
                                           : s->t_end_ns;
    q->success = q->start_ns != TIME_NONE && q->end_ns != TIME_NONE &&
                 succeeded(s, rule->success, q->chunks);
    q->tokens = tokens_of(s, rule->tokens, q->chunks, facts->source);
    q->prompt = s->prompt_body;
    if (rule->prompt == AS_PROMPT_USAGE && s->prompt_reported != COUNT_NONE)
        q->prompt = s->prompt_reported;
    return 0;
}
