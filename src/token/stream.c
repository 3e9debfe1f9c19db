#include "token/stream.h"

int token_stream_init(struct token_stream *s, const struct tokenizer *t,
                      const struct encode_options *how, struct token_source source,
                      struct error *err)
{
    struct token_stream made = {
        .t = t,
        .how = *how,
        .source = source,
        .step = TOKEN_STREAM_STEP,
        .hold_max = TOKEN_STREAM_HOLD_MAX,
    };
    if (cut_rules_make(&made.rules, t, err) < 0)
        return -1;
    *s = made;
    return 0;
}

void token_stream_release(struct token_stream *s)
{
    if (s)
        buf_release(&s->held);
}

static int too_long(const struct token_stream *s, struct error *err)
{
    error_set(err, ERROR_LIMIT,
              s->rules.any ? "%zu bytes from byte %zu on hold no place at which the text can be cut"
                           : "a text of more than %zu bytes (from byte %zu on) cannot be cut: this "
                             "tokenizer's pre-tokenizer may reach across any place",
              s->hold_max, s->bytes);
    return error_remedy(err, "give the text in several files, or the model's other tokenizer file");
}

/* Reads at least `step` bytes more, or to the end. */
static int read_step(struct token_stream *s, struct error *err)
{
    size_t want = s->step > s->held.n ? s->step : s->held.n; /* so that all of it stays linear */
    size_t goal = s->held.n + want;
    s->held.max = s->hold_max + 1;
    if (goal > s->held.max)
        goal = s->held.max;
    while (s->held.n < goal) {
        size_t n = goal - s->held.n < s->step ? goal - s->held.n : s->step;
        char *to = buf_reserve(&s->held, n);
        if (!to)
            return buf_check(&s->held, "the text", err);
        ssize_t got = s->source.read(s->source.ctx, to, n, err);
        if (got < 0)
            return -1;
        if (got == 0) {
            s->source_ended = true;
            return 0;
        }
        s->held.n += (size_t)got;
    }
    return s->held.n > s->hold_max ? too_long(s, err) : 0;
}

static int give(struct token_stream *s, size_t n, struct token_ids *ids, struct error *err)
{
    struct encode_options how = s->how;
    how.continues = s->bytes > 0;
    how.goes_on = n < s->held.n || !s->source_ended;
    if (tokenizer_encode(s->t, str_first(buf_str(&s->held), n), &how, ids, err) < 0)
        return -1;
    buf_drop_front(&s->held, n);
    s->bytes += n;
    s->replaced += ids->replaced;
    s->looked = 0;
    s->ended = !how.goes_on;
    return 1;
}

int token_stream_next(struct token_stream *s, struct token_ids *ids, struct error *err)
{
    if (s->ended)
        return 0;
    while (!s->source_ended) {
        if (read_step(s, err) < 0)
            return -1;
        if (s->source_ended)
            break;
        size_t n = cut_last(&s->rules, buf_str(&s->held), s->looked);
        if (n)
            return give(s, n, ids, err);
        s->looked = s->held.n;
    }
    return give(s, s->held.n, ids, err);
}
