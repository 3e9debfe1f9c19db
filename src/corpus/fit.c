#include "corpus/fit.h"

/* A text of T tokens is given up when it is longer than this: a tokenizer that makes so little of
 * so much text will not become exact. */
#define BYTES_PER_TOKEN_MAX 256
#define BYTES_MIN 65536
#define FILL_TRIES 256 /* pieces tried in a row without getting nearer */

struct fit {
    const struct corpus_counter *counter;
    struct draw *d;
    int64_t want;
    struct buf *text;
    struct buf scratch;
    struct error *err;
};

static int count(struct fit *f, struct str s, int64_t *n)
{
    size_t tokens;

    if (f->counter->count(f->counter->ctx, s, &tokens, f->err) < 0)
        return -1;
    *n = tokens > INT64_MAX ? INT64_MAX : (int64_t)tokens;
    return 0;
}

/* Sentences until there are at least as many tokens as wanted. 1, or 0 when they never come. */
static int grow(struct fit *f, int64_t *n)
{
    int64_t sentences = 0, more = 1;
    size_t max = (size_t)f->want * BYTES_PER_TOKEN_MAX + BYTES_MIN;

    *n = 0;
    while (*n < f->want) {
        for (int64_t i = 0; i < more; i++) {
            if (f->text->n > 0)
                buf_addc(f->text, ' ');
            words_add_sentence(f->text, f->d);
        }
        sentences += more;
        if (buf_check(f->text, "a text", f->err) < 0 || count(f, buf_str(f->text), n) < 0)
            return -1;
        if (f->text->n > max)
            return 0;
        /* nine tenths of what seems to be missing, so that little is thrown away */
        more = *n > 0 ? (f->want - *n) * 9 / 10 * sentences / *n : sentences;
        more = more < 1 ? 1 : more;
    }
    return 1;
}

/* The text's first bytes up to a word's end, without a comma or stop behind, and a full stop. */
static struct str closed(struct fit *f, size_t end)
{
    struct str s = str_first(buf_str(f->text), end);

    while (s.n > 0 && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == ',' || s.p[s.n - 1] == '.'))
        s.n--;
    buf_reset(&f->scratch);
    buf_addstr(&f->scratch, s);
    if (s.n > 0)
        buf_addc(&f->scratch, '.');
    return buf_str(&f->scratch);
}

/* The largest word border at which the closed text has at most `want` tokens, by bisection (the
 * count grows with the text but for a token here and there, which filling evens out). */
static int cut(struct fit *f, int64_t *n)
{
    size_t lo = 0, hi = f->text->n;
    int64_t at_lo = 0;

    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2, border = mid;
        int64_t c;
        while (border > lo && f->text->p[border] != ' ')
            border--;
        if (border == lo) {
            for (border = mid; border < hi && f->text->p[border] != ' ';)
                border++;
            if (border >= hi)
                break;
        }
        if (count(f, closed(f, border), &c) < 0)
            return -1;
        if (c <= f->want) {
            lo = border;
            at_lo = c;
        } else {
            hi = border;
        }
    }
    (void)closed(f, lo);
    buf_reset(f->text);
    buf_addstr(f->text, buf_str(&f->scratch));
    *n = at_lo;
    return buf_check(f->text, "a text", f->err);
}

/* A candidate for making the text a little longer: a word, or where words are too coarse a single
 * character. `tail` is what stays behind it (the full stop). */
static void add_piece(struct fit *f, int try, struct str tail)
{
    static const char singles[] = "abcdefghijklmnopqrstuvwxyz0123456789.,;:!?-";

    buf_reset(&f->scratch);
    buf_add(&f->scratch, f->text->p, f->text->n - tail.n);
    if (try % 4 < 3) {
        if (f->scratch.n > 0)
            buf_addc(&f->scratch, ' ');
        if (try % 4 == 2)
            words_add_tag(&f->scratch, f->d, 1);
        else
            words_add_filler(&f->scratch, f->d);
    } else {
        buf_addc(&f->scratch, singles[draw_below(f->d, sizeof singles - 1)]);
    }
    buf_addstr(&f->scratch, tail);
}

static int fill(struct fit *f, int64_t *n, struct str tail)
{
    int tries = 0;

    while (*n < f->want && tries < FILL_TRIES) {
        int64_t c;
        add_piece(f, tries, tail);
        if (buf_check(&f->scratch, "a text", f->err) < 0 || count(f, buf_str(&f->scratch), &c) < 0)
            return -1;
        if (c > *n && c <= f->want) {
            buf_reset(f->text);
            buf_addstr(f->text, buf_str(&f->scratch));
            *n = c;
            tries = 0;
        } else {
            tries++;
        }
    }
    return buf_check(f->text, "a text", f->err);
}

int fit_text(int64_t tokens, const struct corpus_counter *counter, struct draw *d, struct buf *text,
             int64_t *nearest, struct error *err)
{
    struct fit f = {.counter = counter,
                    .d = d,
                    .want = tokens,
                    .text = text,
                    .scratch = BUF_INIT(text->max),
                    .err = err};
    int64_t n = 0;
    int rc;

    buf_reset(text);
    rc = grow(&f, &n);
    if (rc < 0 || (rc > 0 && n != tokens && cut(&f, &n) < 0))
        goto fail;
    if (rc == 0) { /* never enough tokens: from the beginning, by single pieces */
        buf_reset(text);
        n = 0;
    }
    if (n < tokens && fill(&f, &n, text->n > 0 ? STR(".") : STR("")) < 0)
        goto fail;
    if (n < tokens && text->n > 0) { /* the full stop may be in the way */
        text->n--;
        if (count(&f, buf_str(text), &n) < 0 || fill(&f, &n, STR("")) < 0)
            goto fail;
    }
    buf_release(&f.scratch);
    *nearest = n;
    return n == tokens;
fail:
    buf_release(&f.scratch);
    return -1;
}
