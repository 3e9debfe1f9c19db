/* From pieces to ids. Text repeats its words: what became of a piece is remembered. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "token/encoder.h"

/*
 * The cache of pretokens. A line holds a piece of at most 15 bytes, packed with its length into 128
 * bits, and its ids when there are at most three: nearly every piece of running text.
 */
#define CACHE_BITS 15
#define CACHE_KEY_MAX 15
#define CACHE_IDS 3

struct cache_line {
    uint64_t key[2];
    uint32_t id[CACHE_IDS], n;
};

/* Longer pieces, of at most 38 bytes and six ids: words of scripts that take three bytes a
 * character, long identifiers. */
#define LONG_BITS 13
#define LONG_KEY_MAX 38
#define LONG_IDS 6

struct long_line {
    uint8_t len, n, key[LONG_KEY_MAX];
    uint32_t id[LONG_IDS];
};

struct word_cache {
    struct cache_line line[(size_t)1 << CACHE_BITS];
    struct long_line long_line[(size_t)1 << LONG_BITS];
};

struct word_cache *word_cache_new(void)
{
    return calloc(1, sizeof(struct word_cache));
}

void word_cache_free(struct word_cache *c)
{
    free(c);
}

/* Offsets of the last n ids, whose lengths in the view are e->work.len. */
static void set_offsets(struct encoder *e, size_t n, const struct norm_view *view)
{
    struct token_ids *out = e->out;
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        size_t to = at + e->work.len[i], k = out->n - n + i;
        if (to > at) {
            out->from[k] = norm_origin(view, at).from;
            out->to[k] = norm_origin(view, to - 1).to;
        } else {
            out->from[k] = out->to[k] =
                at > 0 ? norm_origin(view, at - 1).to : norm_origin(view, at).from;
        }
        at = to;
    }
}

static int long_word(struct encoder *e, struct str word)
{
    if (model_word(&e->t->model, &e->work, word, e->err) < 0 || encoder_room(e, e->work.n) < 0)
        return -1;
    if (e->work.n) /* a word may be dropped whole: then there may be no list yet */
        memcpy(e->out->id + e->out->n, e->work.id, e->work.n * sizeof e->work.id[0]);
    e->out->n += e->work.n;
    return 0;
}

static int middle_word(struct encoder *e, struct str word)
{
    uint64_t h = hash64(word.p, word.n, 0);
    struct long_line *line = &e->words->long_line[h >> (64 - LONG_BITS)];
    if (encoder_room(e, LONG_IDS) < 0)
        return -1;
    if (line->len == word.n && memcmp(line->key, word.p, word.n) == 0) {
        memcpy(e->out->id + e->out->n, line->id, sizeof line->id);
        e->out->n += line->n;
        return 0;
    }
    if (long_word(e, word) < 0)
        return -1;
    if (e->work.n <= LONG_IDS) {
        line->len = (uint8_t)word.n;
        line->n = (uint8_t)e->work.n;
        memcpy(line->key, word.p, word.n);
        memcpy(line->id, e->work.id, e->work.n * sizeof line->id[0]);
    }
    return 0;
}

static int longer_word(struct encoder *e, struct str word)
{
    return word.n <= LONG_KEY_MAX ? middle_word(e, word) : long_word(e, word);
}

/* A word whose tokens' places are asked for: no cache. */
static int placed_word(struct encoder *e, const struct norm_view *view)
{
    if (long_word(e, view->text) < 0)
        return -1;
    set_offsets(e, e->work.n, view);
    return 0;
}

/* len bytes at p, of which at least 16 can be read when whole is set, as a key. */
static inline void pack_key(uint64_t key[2], const uint8_t *p, size_t len, bool whole)
{
    uint64_t lo = 0, hi = 0;
    if (whole) {
        memcpy(&lo, p, 8);
        memcpy(&hi, p + 8, 8);
        if (len < 8) {
            lo &= ((uint64_t)1 << (len * 8)) - 1;
            hi = 0;
        } else {
            hi &= ((uint64_t)1 << ((len - 8) * 8)) - 1;
        }
    } else {
        unsigned char bytes[16] = {0};
        memcpy(bytes, p, len);
        memcpy(&lo, bytes, 8);
        memcpy(&hi, bytes + 8, 8);
    }
    key[0] = lo;
    key[1] = hi | (uint64_t)len << 56;
}

static int short_word(struct encoder *e, const uint8_t *p, size_t len, bool whole)
{
    uint64_t key[2];
    pack_key(key, p, len, whole);
    uint64_t h = (key[0] ^ (key[1] * 0xff51afd7ed558ccdu)) * 0x9E3779B97F4A7C15u;
    struct cache_line *line = &e->words->line[h >> (64 - CACHE_BITS)];
    if (encoder_room(e, CACHE_IDS) < 0)
        return -1;
    struct token_ids *out = e->out;
    if (line->key[0] == key[0] && line->key[1] == key[1]) {
        memcpy(out->id + out->n, line->id, sizeof line->id);
        out->n += line->n;
        return 0;
    }
    if (long_word(e, str_make(p, len)) < 0)
        return -1;
    if (e->work.n <= CACHE_IDS) {
        memcpy(line->key, key, sizeof key);
        memcpy(line->id, e->work.id, sizeof line->id);
        line->n = (uint32_t)e->work.n;
    }
    return 0;
}

static int encode_uncut(struct encoder *e, const struct norm_view *view)
{
    if (view->text.n == 0)
        return 0;
    if (e->out->with_offsets)
        return placed_word(e, view);
    if (view->text.n <= CACHE_KEY_MAX)
        return short_word(e, (const uint8_t *)view->text.p, view->text.n, false);
    return longer_word(e, view->text);
}

int encode_word(struct encoder *e, const struct norm_view *view)
{
    if (!e->t->model.joined)
        return encode_uncut(e, view);
    for (size_t at = 0, end; at < view->text.n; at = end) {
        end = model_cut(&e->t->model, view->text, at);
        struct norm_view part = norm_part(view, at, end);
        if (encode_uncut(e, &part) < 0)
            return -1;
    }
    return 0;
}

/* The last split, by a scanner: words go straight to the model. */
int encode_scanned(struct encoder *e, const struct norm_view *view, const struct scan_rules *r,
                   uint32_t *end)
{
    const uint8_t *base = (const uint8_t *)view->text.p;
    size_t len = view->text.n, at = 0;
    while (at < len) {
        size_t n = scan(r, view->text, at, end);
        for (size_t i = 0; i < n; at = end[i++]) {
            size_t to = end[i];
            struct norm_view word = norm_part(view, at, to);
            int status;
            if (e->t->model.joined)
                status = encode_word(e, &word);
            else if (e->out->with_offsets)
                status = placed_word(e, &word);
            else if (to - at <= CACHE_KEY_MAX)
                status = short_word(e, base + at, to - at, len - at >= 16);
            else
                status = longer_word(e, word.text);
            if (status < 0)
                return -1;
        }
    }
    return 0;
}
