/* From pieces to ids. Text repeats its words: what became of a piece is remembered. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "token/encoder.h"

/*
 * The cache of pretokens. A line holds a piece of at most 15 bytes, packed with its length into 128
 * bits, and its ids when there are at most three: nearly every piece of running text. A set of two
 * lines is as large as a line of the machine's cache.
 */
#define SHORT_BITS 15
#define SHORT_KEY_MAX 15
#define SHORT_IDS 3
#define SET_BYTES 64

struct short_line {
    uint64_t key[2];
    uint32_t id[SHORT_IDS], n;
};

struct short_set {
    struct short_line line[2];
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
    struct short_set *set;
    unsigned turn; /* which line of a full set is replaced: now and then the first */
    struct long_line long_line[(size_t)1 << LONG_BITS];
    char memory[(sizeof(struct short_set) << SHORT_BITS) + SET_BYTES];
};

struct word_cache *word_cache_new(void)
{
    struct word_cache *c = calloc(1, sizeof *c);
    if (c) {
        uintptr_t at = (uintptr_t)c->memory + SET_BYTES - 1;
        c->set = (struct short_set *)(at - at % SET_BYTES);
    }
    return c;
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

#define ONES UINT64_MAX
#define LOW(n) (ONES >> (64 - 8 * (n)))

/* By length: which bits of the 16 bytes at a piece are its own. */
static const uint64_t own[SHORT_KEY_MAX + 1][2] = {
    {0, 0},         {LOW(1), 0},    {LOW(2), 0},    {LOW(3), 0},    {LOW(4), 0},    {LOW(5), 0},
    {LOW(6), 0},    {LOW(7), 0},    {ONES, 0},      {ONES, LOW(1)}, {ONES, LOW(2)}, {ONES, LOW(3)},
    {ONES, LOW(4)}, {ONES, LOW(5)}, {ONES, LOW(6)}, {ONES, LOW(7)},
};

/* len bytes at p, where 16 can be read, as a key. */
static inline void pack_key(uint64_t key[2], const uint8_t *p, size_t len)
{
    memcpy(key, p, 16);
    key[0] &= own[len][0];
    key[1] = (key[1] & own[len][1]) | (uint64_t)len << 56;
}

static inline struct short_set *set_of(const struct word_cache *c, const uint64_t key[2])
{
    uint64_t h = (key[0] ^ (key[1] * 0xff51afd7ed558ccdu)) * 0x9E3779B97F4A7C15u;
    return &c->set[h >> (64 - SHORT_BITS)];
}

/* Both lines are looked at before either is chosen: which of them it is, is not foretold. */
static inline const struct short_line *find_short(const struct short_set *set,
                                                  const uint64_t key[2])
{
    const struct short_line *l = set->line;
    bool first = ((l[0].key[0] ^ key[0]) | (l[0].key[1] ^ key[1])) == 0;
    bool second = ((l[1].key[0] ^ key[0]) | (l[1].key[1] ^ key[1])) == 0;
    return (first | second) ? l + second : NULL;
}

/* A piece that the cache does not hold yet. */
static int new_short(struct encoder *e, const uint64_t key[2], struct short_set *set,
                     struct str word)
{
    struct word_cache *c = e->words;
    if (long_word(e, word) < 0)
        return -1;
    if (e->work.n > SHORT_IDS)
        return 0;
    struct short_line *line = &set->line[set->line[0].key[1] && c->turn++ % 8];
    memcpy(line->key, key, sizeof line->key);
    memcpy(line->id, e->work.id, sizeof line->id);
    line->n = (uint32_t)e->work.n;
    return 0;
}

static int short_word(struct encoder *e, struct str word)
{
    uint8_t bytes[16] = {0};
    uint64_t key[2];
    memcpy(bytes, word.p, word.n);
    pack_key(key, bytes, word.n);
    struct short_set *set = set_of(e->words, key);
    const struct short_line *line = find_short(set, key);
    if (!line)
        return new_short(e, key, set, word);
    if (encoder_room(e, SHORT_IDS) < 0)
        return -1;
    memcpy(e->out->id + e->out->n, line->id, sizeof line->id);
    e->out->n += line->n;
    return 0;
}

static int any_word(struct encoder *e, struct str word)
{
    const struct model *m = &e->t->model;
    if (word.n <= SHORT_KEY_MAX)
        return short_word(e, word);
    if (!m->joined_bytes)
        return longer_word(e, word);
    for (size_t at = 0, end; at < word.n; at = end) {
        end = model_cut_bytes(m, word, at);
        struct str part = str_make(word.p + at, end - at);
        if ((part.n <= SHORT_KEY_MAX ? short_word(e, part) : longer_word(e, part)) < 0)
            return -1;
    }
    return 0;
}

static int encode_uncut(struct encoder *e, const struct norm_view *view)
{
    if (view->text.n == 0)
        return 0;
    if (e->out->with_offsets)
        return placed_word(e, view);
    return any_word(e, view->text);
}

/* Pieces of text that end at end[0..n), the first of which begins at `at`. */
static int encode_batch(struct encoder *e, struct str text, size_t at, const uint32_t *end,
                        size_t n)
{
    struct token_ids *out = e->out;
    if (encoder_room(e, n * SHORT_IDS) < 0)
        return -1;
    uint32_t *to = out->id + out->n;
    for (size_t i = 0; i < n; at = end[i++]) {
        size_t len = end[i] - at;
        if (len <= SHORT_KEY_MAX && text.n - at >= 16) {
            uint64_t key[2];
            pack_key(key, (const uint8_t *)text.p + at, len);
            const struct short_line *line = find_short(set_of(e->words, key), key);
            if (line) {
                memcpy(to, line->id, sizeof line->id);
                to += line->n;
                continue;
            }
        }
        out->n = (size_t)(to - out->id);
        if (any_word(e, str_make(text.p + at, len)) < 0 || encoder_room(e, (n - i) * SHORT_IDS) < 0)
            return -1;
        to = out->id + out->n;
    }
    out->n = (size_t)(to - out->id);
    return 0;
}

/* A word of a model over characters, in the parts that it can be cut into. */
static int encode_parts(struct encoder *e, struct str text)
{
    uint32_t *end = e->end[PIPELINE_STEPS_MAX]; /* which no split uses */
    for (size_t at = 0, to = 0; at < text.n; at = to) {
        size_t n = 0;
        while (to < text.n && n < SCAN_BATCH) {
            to = model_cut(&e->t->model, text, to);
            end[n++] = (uint32_t)to;
        }
        if (encode_batch(e, text, at, end, n) < 0)
            return -1;
    }
    return 0;
}

int encode_word(struct encoder *e, const struct norm_view *view)
{
    if (!e->t->model.joined)
        return encode_uncut(e, view);
    if (!e->out->with_offsets)
        return encode_parts(e, view->text);
    for (size_t at = 0, end; at < view->text.n; at = end) {
        end = model_cut(&e->t->model, view->text, at);
        struct norm_view part = norm_part(view, at, end);
        if (placed_word(e, &part) < 0)
            return -1;
    }
    return 0;
}

static int encode_one_by_one(struct encoder *e, const struct norm_view *view, size_t at,
                             const uint32_t *end, size_t n)
{
    for (size_t i = 0; i < n; at = end[i++]) {
        struct norm_view word = norm_part(view, at, end[i]);
        if (encode_word(e, &word) < 0)
            return -1;
    }
    return 0;
}

/* The last split, by a scanner: words go straight to the model. */
int encode_scanned(struct encoder *e, const struct norm_view *view, const struct scan_rules *r,
                   uint32_t *end)
{
    bool by_batch = !e->t->model.joined && !e->out->with_offsets;
    for (size_t at = 0, n; at < view->text.n; at = end[n - 1]) {
        n = scan(r, view->text, at, end);
        if ((by_batch ? encode_batch(e, view->text, at, end, n)
                      : encode_one_by_one(e, view, at, end, n)) < 0)
            return -1;
    }
    return 0;
}
