#include "record/mixture.h"

#include <assert.h>

#include "base/num.h"

#define WHOLE 100 /* percent */

const struct mixture mixture_w2_prompts = {{{128, 40}, {512, 30}, {2048, 20}, {8192, 10}}, 4};
const struct mixture mixture_w2_outputs = {{{16, 40}, {128, 40}, {512, 20}}, 3};

/* Adds one length; what is wrong with it otherwise. */
static int add(struct mixture *m, int64_t tokens, int64_t percent, struct error *err)
{
    if (tokens < 1 || tokens > MIXTURE_TOKENS_MAX)
        return error_set(err, ERROR_USAGE, "a length of %lld tokens is outside 1 to %d",
                         (long long)tokens, MIXTURE_TOKENS_MAX);
    if (percent < 1 || percent > WHOLE)
        return error_set(err, ERROR_USAGE, "a share of %lld %% is outside 1 to 100",
                         (long long)percent);
    if (mixture_find(m, tokens, 0) != MIXTURE_NONE)
        return error_set(err, ERROR_USAGE, "the length %lld stands there twice", (long long)tokens);
    if (m->n == MIXTURE_MAX)
        return error_set(err, ERROR_USAGE, "there are more than %d lengths", MIXTURE_MAX);
    m->of[m->n++] = (struct mixture_share){tokens, percent};
    return 0;
}

static int whole(const struct mixture *m, struct error *err)
{
    int64_t sum = 0;

    for (size_t i = 0; i < m->n; i++)
        sum += m->of[i].percent;
    if (sum == WHOLE)
        return 0;
    return error_set(err, ERROR_USAGE, "the shares add up to %lld %%, not to 100", (long long)sum);
}

int mixture_parse(struct mixture *m, struct str text, struct error *err)
{
    struct mixture made = {.n = 0};
    struct str rest = text, one, left, right;
    bool more = true;

    while (more) {
        int64_t tokens, percent;
        more = str_cut(rest, ',', &one, &rest);
        if (!str_cut(one, ':', &left, &right) || num_parse_i64(&tokens, left) < 0 ||
            num_parse_i64(&percent, right) < 0) {
            error_set(err, ERROR_USAGE, "'%.*s' is not TOKENS:PERCENT",
                      STR_ARG(str_first(one, 60)));
            return error_remedy(err, "write a mixture such as 128:40,512:60");
        }
        if (add(&made, tokens, percent, err) < 0)
            return -1;
    }
    if (whole(&made, err) < 0)
        return -1;
    *m = made;
    return 0;
}

void mixture_format(const struct mixture *m, struct buf *out)
{
    for (size_t i = 0; i < m->n; i++)
        buf_addf(out, "%s%lld:%lld", i ? "," : "", (long long)m->of[i].tokens,
                 (long long)m->of[i].percent);
}

void mixture_write(const struct mixture *m, struct json_writer *w)
{
    json_begin_array(w);
    for (size_t i = 0; i < m->n; i++) {
        json_begin_object(w);
        json_key(w, "tokens");
        json_put_i64(w, m->of[i].tokens);
        json_key(w, "percent");
        json_put_i64(w, m->of[i].percent);
        json_end_object(w);
    }
    json_end_array(w);
}

int mixture_read(struct mixture *m, const struct json *v, struct error *err)
{
    struct mixture made = {.n = 0};
    int64_t tokens, percent;

    if (!json_is(v, JSON_ARRAY) || v->n == 0)
        return error_set(err, ERROR_INPUT, "a mixture is a list of {\"tokens\", \"percent\"}");
    for (size_t i = 0; i < v->n; i++) {
        const struct json *one = &v->items[i];
        if (json_need_i64(&tokens, one, "tokens", err) < 0 ||
            json_need_i64(&percent, one, "percent", err) < 0)
            return -1;
        if (one->n != 2)
            return error_set(err, ERROR_INPUT, "a share has 'tokens' and 'percent' and no more");
        if (add(&made, tokens, percent, err) < 0)
            goto wrong;
    }
    if (whole(&made, err) < 0)
        goto wrong;
    *m = made;
    return 0;
wrong:
    err->kind = ERROR_INPUT;
    return -1;
}

bool mixture_equal(const struct mixture *a, const struct mixture *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++) {
        size_t k = mixture_find(b, a->of[i].tokens, 0);
        if (k == MIXTURE_NONE || b->of[k].percent != a->of[i].percent)
            return false;
    }
    return true;
}

size_t mixture_find(const struct mixture *m, int64_t tokens, int64_t tolerance)
{
    size_t best = MIXTURE_NONE;
    int64_t best_off = 0;

    for (size_t i = 0; i < m->n; i++) {
        int64_t off = tokens - m->of[i].tokens;
        off = off < 0 ? -off : off;
        if (off <= tolerance && (best == MIXTURE_NONE || off < best_off)) {
            best = i;
            best_off = off;
        }
    }
    return best;
}

int64_t mixture_most(const struct mixture *m)
{
    int64_t most = 0;

    for (size_t i = 0; i < m->n; i++)
        most = m->of[i].tokens > most ? m->of[i].tokens : most;
    return most;
}

/* The least count of which every share is a whole number. */
static int64_t unit_of(const struct mixture *m)
{
    int64_t a = WHOLE;

    for (size_t i = 0; i < m->n; i++) {
        int64_t b = m->of[i].percent;
        while (b) {
            int64_t rest = a % b;
            a = b;
            b = rest;
        }
    }
    return WHOLE / a;
}

int mixture_counts(const struct mixture *m, int64_t count, int64_t counts[MIXTURE_MAX],
                   struct error *err)
{
    int64_t unit = unit_of(m);

    for (size_t i = 0; i < m->n; i++) {
        const struct mixture_share *s = &m->of[i];
        if (count * s->percent % WHOLE == 0) {
            counts[i] = count * s->percent / WHOLE;
            continue;
        }
        error_set(err, ERROR_USAGE, "%lld %% of %lld is no whole number of prompts",
                  (long long)s->percent, (long long)count);
        if (count < unit)
            return error_remedy(err, "give --count %lld", (long long)unit);
        return error_remedy(err, "give --count %lld or %lld", (long long)(count - count % unit),
                            (long long)(count - count % unit + unit));
    }
    return 0;
}

/* Of those that may have one more without getting too far ahead, the one that is due first. All in
 * hundredths of 1 / (2n - 2), so in whole numbers. */
size_t mixture_next(struct mixture_deal *d)
{
    const struct mixture *m = d->m;
    int64_t scale = m->n > 1 ? 2 * (int64_t)m->n - 2 : 1, k = d->dealt + 1, best_slack = 0;
    size_t best = MIXTURE_NONE;

    for (size_t i = 0; i < m->n; i++) {
        int64_t percent = m->of[i].percent;
        int64_t behind = (percent * k - d->had[i] * WHOLE) * scale;
        int64_t slack = WHOLE * (scale - 1) - behind; /* over percent * scale: until it is due */
        if (m->n > 1 && behind < WHOLE)
            continue;
        if (best == MIXTURE_NONE || slack * m->of[best].percent < best_slack * percent) {
            best = i;
            best_slack = slack;
        }
    }
    assert(best != MIXTURE_NONE);
    d->dealt++;
    d->had[best]++;
    return best;
}
