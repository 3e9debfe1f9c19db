#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "token/fold.h"
#include "token/tokenizer_internal.h"
#include "token/unicode.h"

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

struct encoder {
    struct encoder *next;
    const struct tokenizer *t;
    struct norm_text repaired, escaped, norm[2];
    struct norm_text rewritten[PIPELINE_STEPS_MAX];   /* by splits that change their text */
    uint32_t end[PIPELINE_STEPS_MAX + 1][SCAN_BATCH]; /* of pieces, by step */
    struct model_work work;
    struct added_hits hits;
    struct cache_line *cache;
    struct long_line *long_cache;
    /* the call under way */
    struct token_ids *out;
    bool count_only, plain;
    size_t counted; /* ids already let go of when only counting */
    struct error *err;
};

#define COUNT_BATCH 4096

static void encoder_free(struct encoder *e)
{
    if (!e)
        return;
    norm_text_release(&e->repaired);
    norm_text_release(&e->escaped);
    norm_text_release(&e->norm[0]);
    norm_text_release(&e->norm[1]);
    for (size_t i = 0; i < PIPELINE_STEPS_MAX; i++)
        norm_text_release(&e->rewritten[i]);
    model_work_release(&e->work);
    added_hits_release(&e->hits);
    free(e->cache);
    free(e->long_cache);
    free(e);
}

void encoder_free_all(struct encoder_pool *pool)
{
    for (struct encoder *e = pool->idle, *next; e; e = next) {
        next = e->next;
        encoder_free(e);
    }
    pool->idle = NULL;
}

struct encoder *encoder_borrow(const struct tokenizer *t, struct error *err)
{
    pthread_mutex_lock(&t->pool->lock);
    struct encoder *e = t->pool->idle;
    if (e)
        t->pool->idle = e->next;
    pthread_mutex_unlock(&t->pool->lock);
    if (e)
        return e;
    e = calloc(1, sizeof *e);
    if (e) {
        e->cache = calloc((size_t)1 << CACHE_BITS, sizeof e->cache[0]);
        e->long_cache = calloc((size_t)1 << LONG_BITS, sizeof e->long_cache[0]);
    }
    if (!e || !e->cache || !e->long_cache) {
        encoder_free(e);
        error_no_memory(err);
        return NULL;
    }
    e->t = t;
    norm_text_init(&e->repaired);
    norm_text_init(&e->escaped);
    norm_text_init(&e->norm[0]);
    norm_text_init(&e->norm[1]);
    for (size_t i = 0; i < PIPELINE_STEPS_MAX; i++)
        norm_text_init(&e->rewritten[i]);
    return e;
}

void encoder_return(const struct tokenizer *t, struct encoder *e)
{
    pthread_mutex_lock(&t->pool->lock);
    e->next = t->pool->idle;
    t->pool->idle = e;
    pthread_mutex_unlock(&t->pool->lock);
}

static int grow_ids(struct token_ids *ids, size_t more, struct error *err)
{
    size_t cap = ids->cap + ids->cap / 2;
    if (cap < ids->n + more)
        cap = ids->n + more;
    if (cap < 64)
        cap = 64;
    uint32_t **lists[] = {&ids->id, &ids->from, &ids->to};
    for (size_t i = 0; i < (ids->with_offsets ? 3u : 1u); i++) {
        uint32_t *p = realloc(*lists[i], cap * sizeof p[0]);
        if (!p)
            return error_no_memory(err);
        *lists[i] = p;
    }
    ids->cap = cap;
    return 0;
}

/* Room for `more` ids behind the last. When only counting, the list is emptied instead. */
static inline int make_room(struct encoder *e, size_t more)
{
    struct token_ids *out = e->out;
    if (out->cap - out->n >= more)
        return 0;
    if (e->count_only) {
        e->counted += out->n;
        out->n = 0;
        if (out->cap >= more)
            return 0;
        if (more < COUNT_BATCH)
            more = COUNT_BATCH;
    }
    return grow_ids(out, more, e->err);
}

static int emit(struct encoder *e, uint32_t id, size_t from, size_t to)
{
    if (make_room(e, 1) < 0)
        return -1;
    struct token_ids *out = e->out;
    if (out->with_offsets) {
        out->from[out->n] = (uint32_t)from;
        out->to[out->n] = (uint32_t)to;
    }
    out->id[out->n++] = id;
    return 0;
}

static int emit_hit(struct encoder *e, const struct norm_view *view, const struct added_hit *hit)
{
    size_t from = hit->from, to = hit->to;
    if (from < to)
        return emit(e, hit->token->id, norm_origin(view, from).from, norm_origin(view, to - 1).to);
    size_t at = from < view->text.n ? norm_origin(view, from).from
                : from > 0          ? norm_origin(view, from - 1).to
                                    : view->base;
    return emit(e, hit->token->id, at, at);
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
    if (model_word(&e->t->model, &e->work, word, e->err) < 0 || make_room(e, e->work.n) < 0)
        return -1;
    if (e->work.n) /* a word may be dropped whole: then there may be no list yet */
        memcpy(e->out->id + e->out->n, e->work.id, e->work.n * sizeof e->work.id[0]);
    e->out->n += e->work.n;
    return 0;
}

static int middle_word(struct encoder *e, struct str word)
{
    uint64_t h = hash64(word.p, word.n, 0);
    struct long_line *line = &e->long_cache[h >> (64 - LONG_BITS)];
    if (make_room(e, LONG_IDS) < 0)
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
    struct cache_line *line = &e->cache[h >> (64 - CACHE_BITS)];
    if (make_room(e, CACHE_IDS) < 0)
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

static int encode_word(struct encoder *e, const struct norm_view *view)
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

static int encode_pieces(struct encoder *e, const struct norm_view *view, unsigned step);

/* The last split, by a scanner: words go straight to the model. */
static int scan_words(struct encoder *e, const struct norm_view *view, const struct scan_rules *r,
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

static int scan_pieces(struct encoder *e, const struct norm_view *view, unsigned step)
{
    const struct scan_rules *r = &e->t->pipe.split[step].scan;
    uint32_t *end = e->end[step];
    if (step + 1 == e->t->pipe.split_n)
        return scan_words(e, view, r, end);
    for (size_t at = 0; at < view->text.n;) {
        size_t n = scan(r, view->text, at, end);
        for (size_t i = 0; i < n; at = end[i++]) {
            struct norm_view part = norm_part(view, at, end[i]);
            if (encode_pieces(e, &part, step + 1) < 0)
                return -1;
        }
    }
    return 0;
}

/* A split that has matches and what lies between them, told in order. */
struct splitter {
    struct encoder *e;
    const struct norm_view *view;
    unsigned step;
    enum split_behavior behavior;
    bool invert, open, open_match, last_match;
    size_t from, to; /* of the piece that is open */
};

static int give(struct splitter *s, size_t from, size_t to)
{
    struct norm_view part = norm_part(s->view, from, to);
    return from < to ? encode_pieces(s->e, &part, s->step + 1) : 0;
}

static int close_piece(struct splitter *s)
{
    bool open = s->open;
    s->open = false;
    return open ? give(s, s->from, s->to) : 0;
}

static int tell(struct splitter *s, size_t from, size_t to, bool match)
{
    bool joins = false;
    if (from == to)
        return 0;
    match = match != s->invert;
    switch (s->behavior) {
    case SPLIT_REMOVED:
        return match ? 0 : give(s, from, to);
    case SPLIT_ISOLATED:
        return give(s, from, to);
    case SPLIT_MERGED_WITH_PREVIOUS:
        joins = s->open && match && !s->last_match;
        break;
    case SPLIT_MERGED_WITH_NEXT:
        joins = s->open && s->open_match && !match;
        break;
    case SPLIT_CONTIGUOUS:
        joins = s->open && match == s->last_match;
        break;
    }
    if (!joins && close_piece(s) < 0)
        return -1;
    if (!joins) {
        s->from = from;
        s->open = true;
    }
    s->to = to;
    s->open_match = match;
    s->last_match = match;
    return 0;
}

static int split_literal(struct splitter *s, struct str what)
{
    struct str text = s->view->text;
    size_t at = 0, found;
    while ((found = str_find(str_skip(text, at), what)) != STR_NONE) {
        if (tell(s, at, at + found, false) < 0 ||
            tell(s, at + found, at + found + what.n, true) < 0)
            return -1;
        at += found + what.n;
    }
    return tell(s, at, text.n, false) < 0 ? -1 : close_piece(s);
}

static int split_regex(struct splitter *s, const struct regex *re)
{
    struct str text = s->view->text;
    struct regex_match m;
    size_t done = 0, at = 0;
    int got;
    while (at <= text.n && (got = regex_next(re, text, at, &m, s->e->err)) != 0) {
        if (got < 0 || tell(s, done, m.from, false) < 0 || tell(s, m.from, m.to, true) < 0)
            return -1;
        done = at = m.to;
        if (m.from == m.to) { /* an empty match: on by a character */
            uint32_t cp;
            at += at < text.n ? uni_next((const uint8_t *)text.p + at, &cp) : 1;
        }
    }
    return tell(s, done, text.n, false) < 0 ? -1 : close_piece(s);
}

static bool in_set(const struct split_step *step, uint32_t cp)
{
    switch (step->set) {
    case SET_SPACE:
        return uni_is(cp, UNI_SPACE);
    case SET_BERT_PUNCTUATION:
        return fold_is(cp, FOLD_BERT_PUNCTUATION);
    case SET_NUMERIC:
        return fold_is(cp, FOLD_NUMERIC);
    case SET_CHAR:
        return cp == step->cp;
    }
    return false;
}

static int split_set(struct splitter *s, const struct split_step *step)
{
    struct str text = s->view->text;
    size_t done = 0;
    for (size_t at = 0; at < text.n;) {
        uint32_t cp, n = uni_next((const uint8_t *)text.p + at, &cp);
        if (in_set(step, cp)) {
            if (tell(s, done, at, false) < 0 || tell(s, at, at + n, true) < 0)
                return -1;
            done = at + n;
        }
        at += n;
    }
    return tell(s, done, text.n, false) < 0 ? -1 : close_piece(s);
}

/* \w+|[^\w\s]+ : runs of one kind; white space is dropped. */
static int split_words(struct splitter *s)
{
    struct str text = s->view->text;
    size_t from = 0;
    int kind = 0;
    for (size_t at = 0; at < text.n;) {
        uint32_t cp, n = uni_next((const uint8_t *)text.p + at, &cp);
        int now = fold_is(cp, FOLD_WORD) ? 1 : uni_is(cp, UNI_SPACE) ? 0 : 2;
        if (now != kind) {
            if (kind && give(s, from, at) < 0)
                return -1;
            from = at;
            kind = now;
        }
        at += n;
    }
    return kind ? give(s, from, text.n) : 0;
}

/* llama.cpp's "bert": white space dropped, punctuation and Chinese characters alone. */
static int split_bert_llama(struct splitter *s)
{
    struct str text = s->view->text;
    size_t from = 0;
    for (size_t at = 0; at < text.n;) {
        uint32_t cp, n = uni_next((const uint8_t *)text.p + at, &cp);
        bool space = uni_is(cp, UNI_SPACE);
        bool alone = uni_is(cp, UNI_PUNCTUATION) || (cp < 0x7F && uni_is(cp, UNI_SYMBOL)) ||
                     fold_is(cp, FOLD_CHINESE);
        if (space || alone) {
            if (give(s, from, at) < 0 || (alone && give(s, at, at + n) < 0))
                return -1;
            from = at + n;
        }
        at += n;
    }
    return give(s, from, text.n);
}

/* Spaces become the mark, one is put in front where the scheme says so; then split before each. */
static int split_metaspace(struct encoder *e, const struct norm_view *view, unsigned step)
{
    const struct split_step *how = &e->t->pipe.split[step];
    struct norm_text *to = &e->rewritten[step];
    struct str text = view->text;
    bool marked = str_starts(text, how->text) || str_starts(text, STR(" "));
    size_t at = 0, found;
    norm_text_reset(to);
    if (!marked &&
        (how->prepend == PREPEND_ALWAYS || (how->prepend == PREPEND_FIRST && view->first)))
        norm_put(to, view, 0, 0, how->text);
    while ((found = str_find_char(str_skip(text, at), ' ')) != STR_NONE) {
        norm_keep(to, view, at, at + found);
        norm_put(to, view, at + found, at + found + 1, how->text);
        at += found + 1;
    }
    norm_keep(to, view, at, text.n);
    if (norm_check(to, e->err) < 0)
        return -1;
    struct norm_view now = norm_text_view(to);
    now.first = view->first;
    if (!how->split)
        return encode_pieces(e, &now, step + 1);
    struct splitter s = {.e = e, .view = &now, .step = step, .behavior = SPLIT_MERGED_WITH_NEXT};
    return split_literal(&s, how->text);
}

static int split_prefix(struct encoder *e, const struct norm_view *view, unsigned step)
{
    struct norm_text *to = &e->rewritten[step];
    if (view->text.n == 0 || view->text.p[0] == ' ')
        return encode_pieces(e, view, step + 1);
    norm_text_reset(to);
    norm_put(to, view, 0, 0, STR(" "));
    norm_keep(to, view, 0, view->text.n);
    if (norm_check(to, e->err) < 0)
        return -1;
    struct norm_view now = norm_text_view(to);
    now.first = view->first;
    return encode_pieces(e, &now, step + 1);
}

static int encode_pieces(struct encoder *e, const struct norm_view *view, unsigned step)
{
    if (step == e->t->pipe.split_n)
        return encode_word(e, view);
    const struct split_step *how = &e->t->pipe.split[step];
    struct splitter s = {
        .e = e, .view = view, .step = step, .behavior = how->behavior, .invert = how->invert};
    switch (how->op) {
    case SPLIT_SCAN:
        return scan_pieces(e, view, step);
    case SPLIT_LITERAL:
        return split_literal(&s, how->text);
    case SPLIT_REGEX:
        return split_regex(&s, how->regex);
    case SPLIT_SET:
        return split_set(&s, how);
    case SPLIT_WORDS:
        return split_words(&s);
    case SPLIT_METASPACE:
        return split_metaspace(e, view, step);
    case SPLIT_PREFIX:
        return split_prefix(e, view, step);
    case SPLIT_NFD_WORDS:
        return split_bert_llama(&s);
    }
    return 0;
}

/* Text that holds no added token. */
static int encode_plain(struct encoder *e, const struct norm_view *view)
{
    return view->text.n ? encode_pieces(e, view, 0) : 0;
}

static int encode_between(struct encoder *e, const struct norm_view *view)
{
    const struct tokenizer *t = e->t;
    struct added_walk w = {0};
    struct added_hit hit;
    size_t at = 0;
    while (added_next(&t->normalized, view->text, &w, e->plain, &hit)) {
        struct norm_view part = norm_part(view, at, hit.from);
        if (encode_plain(e, &part) < 0)
            return -1;
        if (emit_hit(e, view, &hit) < 0)
            return -1;
        at = hit.to;
    }
    struct norm_view part = norm_part(view, at, view->text.n);
    return encode_plain(e, &part);
}

/* Text between the added tokens that are matched on raw text. */
static int encode_part(struct encoder *e, const struct norm_view *view)
{
    struct norm_view done;
    if (view->text.n == 0)
        return 0;
    if (normalize_all(&e->t->pipe, *view, e->norm, &done, e->err) < 0)
        return -1;
    return encode_between(e, &done);
}

static int encode_huggingface(struct encoder *e, const struct norm_view *view)
{
    struct added_walk w = {0};
    struct added_hit hit;
    size_t at = 0;
    while (added_next(&e->t->raw, view->text, &w, e->plain, &hit)) {
        struct norm_view part = norm_part(view, at, hit.from);
        if (encode_part(e, &part) < 0 || emit_hit(e, view, &hit) < 0)
            return -1;
        at = hit.to;
    }
    struct norm_view part = norm_part(view, at, view->text.n);
    return encode_part(e, &part);
}

/* Spaces become U+2581; one is put in front of text that begins or follows a special token. */
static int escape_spaces(struct encoder *e, struct norm_view *view, bool prefix)
{
    const struct str mark = STR("\xE2\x96\x81");
    struct norm_text *to = &e->escaped;
    size_t at = 0, found;
    norm_text_reset(to);
    to->want_origin = e->out->with_offsets;
    if (prefix)
        norm_put(to, view, 0, 0, mark);
    while ((found = str_find_char(str_skip(view->text, at), ' ')) != STR_NONE) {
        norm_keep(to, view, at, at + found);
        norm_put(to, view, at + found, at + found + 1, mark);
        at += found + 1;
    }
    norm_keep(to, view, at, view->text.n);
    *view = norm_text_view(to);
    return norm_check(to, e->err);
}

static int encode_fragment(struct encoder *e, struct norm_view view, bool behind_special)
{
    const struct pipeline *p = &e->t->pipe;
    if (view.text.n == 0)
        return 0;
    if (p->escape_spaces && escape_spaces(e, &view, p->space_prefix && behind_special) < 0)
        return -1;
    if (normalize_all(p, view, e->norm, &view, e->err) < 0)
        return -1;
    return encode_plain(e, &view);
}

static int encode_llama_cpp(struct encoder *e, const struct norm_view *view)
{
    size_t at = 0;
    if (added_partition(&e->t->raw, view->text, e->plain, &e->hits, e->err) < 0)
        return -1;
    for (size_t i = 0; i <= e->hits.n; i++) {
        size_t end = i < e->hits.n ? e->hits.hit[i].from : view->text.n;
        bool behind_special = i > 0 || at == 0;
        if (encode_fragment(e, norm_part(view, at, end), behind_special) < 0)
            return -1;
        if (i == e->hits.n)
            break;
        if (emit_hit(e, view, &e->hits.hit[i]) < 0)
            return -1;
        at = e->hits.hit[i].to;
    }
    return 0;
}

/* Ill-formed parts become U+FFFD, each with the bytes it stands for as its origin. */
static int repair(struct encoder *e, struct str text, struct norm_view *view)
{
    struct norm_view in = {.text = text, .first = true};
    struct norm_text *fixed = &e->repaired;
    size_t bad = utf8_valid_prefix(text), done = 0;
    e->out->replaced = 0;
    if (bad == text.n) {
        *view = in;
        return 0;
    }
    norm_text_reset(fixed);
    fixed->want_origin = e->out->with_offsets;
    while (done < text.n) {
        size_t n = utf8_ill_formed(text, bad);
        norm_keep(fixed, &in, done, bad);
        if (n) {
            norm_put(fixed, &in, bad, bad + n, STR("\xEF\xBF\xBD"));
            e->out->replaced++;
        }
        done = bad + n;
        bad = done + utf8_valid_prefix(str_skip(text, done));
    }
    *view = norm_text_view(fixed);
    view->first = true;
    return norm_check(fixed, e->err);
}

static int encode_call(struct encoder *e, struct str text, const struct encode_options *o)
{
    const struct pipeline *p = &e->t->pipe;
    struct norm_view view;
    if (text.n > SCAN_TEXT_MAX)
        return error_set(e->err, ERROR_LIMIT, "a text of %zu bytes; the limit is %zu", text.n,
                         SCAN_TEXT_MAX);
    if (repair(e, text, &view) < 0)
        return -1;
    e->plain = o->special_text == SPECIAL_TEXT_PLAIN;
    e->norm[0].want_origin = e->norm[1].want_origin = e->out->with_offsets;
    for (size_t i = 0; i < PIPELINE_STEPS_MAX; i++)
        e->rewritten[i].want_origin = e->out->with_offsets;
    e->work.want_len = e->out->with_offsets;
    for (uint32_t i = 0; o->add_special && i < p->before.n; i++)
        if (emit(e, p->before.id[i], 0, 0) < 0)
            return -1;
    if ((p->llama_cpp ? encode_llama_cpp(e, &view) : encode_huggingface(e, &view)) < 0)
        return -1;
    for (uint32_t i = 0; o->add_special && i < p->after.n; i++)
        if (emit(e, p->after.id[i], text.n, text.n) < 0)
            return -1;
    return 0;
}

int tokenizer_encode(const struct tokenizer *t, struct str text, const struct encode_options *o,
                     struct token_ids *ids, struct error *err)
{
    struct encoder *e = encoder_borrow(t, err);
    if (!e)
        return -1;
    if (ids->with_offsets && !ids->from && ids->cap) { /* grown before without offsets */
        free(ids->id);
        ids->id = NULL;
        ids->cap = 0;
    }
    ids->n = 0;
    e->out = ids;
    e->count_only = false;
    e->err = err;
    int status = encode_call(e, text, o);
    if (status < 0)
        ids->n = 0;
    encoder_return(t, e);
    return status;
}

int tokenizer_count(const struct tokenizer *t, struct str text, const struct encode_options *o,
                    size_t *n, struct error *err)
{
    struct encoder *e = encoder_borrow(t, err);
    struct token_ids ids = {0};
    if (!e)
        return -1;
    e->out = &ids;
    e->count_only = true;
    e->counted = 0;
    e->err = err;
    int status = encode_call(e, text, o);
    if (status == 0)
        *n = e->counted + ids.n;
    token_ids_release(&ids);
    encoder_return(t, e);
    return status;
}

void token_ids_release(struct token_ids *ids)
{
    free(ids->id);
    free(ids->from);
    free(ids->to);
    *ids = (struct token_ids){.with_offsets = ids->with_offsets};
}
