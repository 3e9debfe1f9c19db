/*
 * Long words, window by window, so that what is worked on stays in the cache.
 *
 * Where it can be cut: let L and R stand side by side, x be the last token of L's encoding and y
 * the first of R's. If x's and y's symbols together are encoded as x and y, then L R is encoded as
 * L's tokens and R's. For look at the first merge that would cross the edge: until then each side
 * went its own way, and within x and y the same merges were made, in the same order, as for those
 * two alone (each was the first in rank, then place, of all, and so of those within x and y); so
 * that merge would cross the edge there, too. (The crate bpe of github/rust-gems rests on the same
 * fact.)
 *
 * A window's last tokens are left to the next one, which sees what follows them; where the edge
 * does not hold all the same, more tokens are given back. What that costs has a limit, and past it
 * the word is merged at once.
 */
#include <stdlib.h>
#include <string.h>

#include "token/bpe.h"

#define WINDOW 512u
#define WINDOW_MAX 16384u
#define LEFT_OVER 10u /* the part of a window, one in so many, whose tokens are taken again */

struct tokens {
    uint32_t symbol[2 * WINDOW_MAX], span[2 * WINDOW_MAX]; /* and of how many symbols each is */
};

struct bpe_windows {
    struct tokens window, pair_made;
    size_t made, from, size; /* tokens of the window; the symbols that they were made of */
    struct {
        uint32_t symbol, span;
    } * out;
    size_t out_n, out_cap;
    size_t pair, pair_n; /* symbols [pair, pair + pair_n) are known to hold an edge */
};

void bpe_windows_free(struct bpe_windows *s)
{
    if (!s)
        return;
    free(s->out);
    free(s);
}

struct windowed {
    const struct bpe *b;
    struct bpe_work *w;
    struct bpe_windows *s;
    const uint32_t *symbol;
    size_t n, at; /* symbols; those of the tokens in s->out */
    size_t work;  /* symbols looked at so far, again and again */
};

static size_t merge_copy(struct windowed *m, struct tokens *to, size_t at, size_t n)
{
    memcpy(to->symbol, m->symbol + at, n * sizeof to->symbol[0]);
    for (size_t i = 0; i < n; i++)
        to->span[i] = 1;
    return n <= BPE_SHORT ? bpe_merge(m->b, m->w, to->symbol, to->span, n)
                          : bpe_merge_at_once(m->b, m->w, to->symbol, to->span, n);
}

/* The window of size symbols at m->at; nothing is done when it is the last one again, as in text
 * that repeats itself. */
static int take_window(struct windowed *m, size_t size)
{
    struct bpe_windows *s = m->s;
    bool same = size == s->size &&
                memcmp(m->symbol + m->at, m->symbol + s->from, size * sizeof m->symbol[0]) == 0;
    m->work += size;
    s->from = m->at;
    if (same)
        return 0;
    s->size = size;
    s->made = merge_copy(m, &s->window, m->at, size);
    return s->made == SIZE_MAX ? -1 : 0;
}

/* Whether there is an edge between the last token so far and the window's first. */
static int holds(struct windowed *m)
{
    struct bpe_windows *s = m->s;
    if (s->out_n == 0)
        return 1;
    size_t left = s->out[s->out_n - 1].span, n = left + s->window.span[0];
    const uint32_t *pair = m->symbol + m->at - left;
    if (n > 2 * WINDOW_MAX)
        return 0;
    if (n == s->pair_n && memcmp(pair, m->symbol + s->pair, n * sizeof pair[0]) == 0)
        return 1;
    m->work += n;
    size_t made = merge_copy(m, &s->pair_made, m->at - left, n);
    if (made == SIZE_MAX)
        return -1;
    if (made != 2 || s->pair_made.span[0] != left)
        return 0;
    s->pair = m->at - left;
    s->pair_n = n;
    return 1;
}

static int keep(struct windowed *m, size_t size)
{
    struct bpe_windows *s = m->s;
    bool last = m->at + size == m->n;
    if (s->out_n + s->made > s->out_cap) {
        size_t cap = s->out_cap + s->out_cap / 2 + s->made;
        void *p = realloc(s->out, cap * sizeof s->out[0]);
        if (!p)
            return -1;
        s->out = p;
        s->out_cap = cap;
    }
    for (size_t i = 0, taken = 0; i < s->made; i++) {
        uint32_t span = s->window.span[i];
        taken += span;
        if (i && !last && taken > size - size / LEFT_OVER)
            break;
        s->out[s->out_n].symbol = s->window.symbol[i];
        s->out[s->out_n++].span = span;
        m->at += span;
    }
    return 0;
}

static void give_back(struct windowed *m, size_t tokens)
{
    struct bpe_windows *s = m->s;
    while (tokens-- && s->out_n)
        m->at -= s->out[--s->out_n].span;
}

/* 1 when s->out is the encoding, 0 when windows are no way to it, -1 when memory is refused. */
static int run(struct windowed *m)
{
    size_t tokens = 1, window = WINDOW;
    while (m->at < m->n) {
        size_t left = m->n - m->at, size = left <= 2 * window ? left : window;
        int good;
        if (m->work > 4 * m->n)
            return 0;
        if (take_window(m, size) < 0 || (good = holds(m)) < 0 || (good && keep(m, size) < 0))
            return -1;
        if (good) {
            tokens = 1;
        } else {
            give_back(m, tokens);
            tokens *= 2;
            if (window < WINDOW_MAX)
                window *= 2;
        }
    }
    return 1;
}

size_t bpe_merge_long(const struct bpe *b, struct bpe_work *w, uint32_t *symbol, uint32_t *len,
                      size_t n)
{
    if (n <= 2 * WINDOW)
        return bpe_merge_at_once(b, w, symbol, len, n);
    if (!w->windows && !(w->windows = calloc(1, sizeof *w->windows)))
        return SIZE_MAX;
    struct bpe_windows *s = w->windows;
    s->out_n = s->size = s->pair_n = 0;
    struct windowed m = {.b = b, .w = w, .s = s, .symbol = symbol, .n = n};
    int status = run(&m);
    if (status <= 0)
        return status < 0 ? SIZE_MAX : bpe_merge_at_once(b, w, symbol, len, n);
    for (size_t i = 0, at = 0; i < s->out_n; i++) {
        uint32_t sum = 0;
        for (size_t end = at + s->out[i].span; len && at < end; at++)
            sum += len[at];
        if (len)
            len[i] = sum;
        symbol[i] = s->out[i].symbol;
    }
    return s->out_n;
}
