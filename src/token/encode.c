#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "token/tokenizer_internal.h"

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

struct encoder {
    struct encoder *next;
    const struct tokenizer *t;
    struct norm_text repaired, norm[2];
    struct bpe_work work;
    uint32_t *symbol;
    size_t symbol_cap;
    struct added_hits hits;
    struct cache_line *cache;
    uint32_t end[SCAN_BATCH];
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
    norm_text_release(&e->norm[0]);
    norm_text_release(&e->norm[1]);
    bpe_work_release(&e->work);
    added_hits_release(&e->hits);
    free(e->symbol);
    free(e->cache);
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
    if (!e || !(e->cache = calloc((size_t)1 << CACHE_BITS, sizeof e->cache[0]))) {
        free(e);
        error_no_memory(err);
        return NULL;
    }
    e->t = t;
    norm_text_init(&e->repaired);
    norm_text_init(&e->norm[0]);
    norm_text_init(&e->norm[1]);
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

/* Offsets of the last n ids, which together stand for bytes [from, to) of the view. */
static void set_offsets(struct encoder *e, size_t n, const struct norm_view *view, size_t from,
                        size_t to)
{
    struct token_ids *out = e->out;
    size_t at = from;
    for (size_t i = out->n - n; i < out->n; i++) {
        size_t len = pieces_of(&e->t->pieces, out->id[i]).n, next = at + len;
        if (next > to)
            next = to;
        if (next > at) {
            out->from[i] = norm_origin(view, at).from;
            out->to[i] = norm_origin(view, next - 1).to;
        } else {
            uint32_t here = at > from || at == view->text.n ? norm_origin(view, at - 1).to
                                                            : norm_origin(view, at).from;
            out->from[i] = out->to[i] = here;
        }
        at = next;
    }
}

static int reserve_symbols(struct encoder *e, size_t n)
{
    if (n <= e->symbol_cap)
        return 0;
    size_t cap = n + n / 2;
    uint32_t *p = realloc(e->symbol, cap * sizeof p[0]);
    if (!p)
        return error_no_memory(e->err);
    e->symbol = p;
    e->symbol_cap = cap;
    return 0;
}

/* The ids of one word into e->symbol; -1, or how many in *n. */
static int merge_word(struct encoder *e, const uint8_t *p, size_t len, size_t *n)
{
    const struct tokenizer *t = e->t;
    if (reserve_symbols(e, len + 1) < 0)
        return -1;
    if (t->pipe.ignore_merges) {
        uint32_t id = pieces_find(&t->pieces, str_make(p, len));
        if (id != VOCAB_NONE) {
            e->symbol[0] = id;
            *n = 1;
            return 0;
        }
    }
    size_t made = 0;
    for (size_t i = 0; i < len; i++) {
        e->symbol[made] = t->bpe.byte_id[p[i]];
        made += e->symbol[made] != VOCAB_NONE; /* the reference drops what it does not know */
    }
    made = bpe_merge(&t->bpe, &e->work, e->symbol, made);
    if (made == SIZE_MAX)
        return error_no_memory(e->err);
    *n = made;
    return 0;
}

static int long_word(struct encoder *e, const uint8_t *p, size_t len, size_t *n)
{
    if (merge_word(e, p, len, n) < 0 || make_room(e, *n) < 0)
        return -1;
    memcpy(e->out->id + e->out->n, e->symbol, *n * sizeof e->symbol[0]);
    e->out->n += *n;
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

static int short_word(struct encoder *e, const uint8_t *p, size_t len, bool whole, size_t *n)
{
    uint64_t key[2];
    pack_key(key, p, len, whole);
    uint64_t h = (key[0] ^ (key[1] * 0xff51afd7ed558ccdu)) * 0x9E3779B97F4A7C15u;
    struct cache_line *line = &e->cache[h >> (64 - CACHE_BITS)];
    if (make_room(e, CACHE_KEY_MAX) < 0)
        return -1;
    struct token_ids *out = e->out;
    if (line->key[0] == key[0] && line->key[1] == key[1]) {
        memcpy(out->id + out->n, line->id, sizeof line->id);
        out->n += line->n;
        *n = line->n;
        return 0;
    }
    size_t made;
    if (merge_word(e, p, len, &made) < 0)
        return -1;
    memcpy(out->id + out->n, e->symbol, made * sizeof e->symbol[0]);
    out->n += made;
    if (made <= CACHE_IDS) {
        memcpy(line->key, key, sizeof key);
        memcpy(line->id, e->symbol, sizeof line->id);
        line->n = (uint32_t)made;
    }
    *n = made;
    return 0;
}

/* Text that holds no added token: split and merge. */
static int encode_plain(struct encoder *e, const struct norm_view *view)
{
    const uint8_t *base = (const uint8_t *)view->text.p;
    size_t len = view->text.n, at = 0;
    while (at < len) {
        size_t pieces = scan(&e->t->pipe.scan, view->text, at, e->end);
        for (size_t i = 0; i < pieces; i++) {
            size_t end = e->end[i], n;
            int status = end - at <= CACHE_KEY_MAX
                             ? short_word(e, base + at, end - at, len - at >= 16, &n)
                             : long_word(e, base + at, end - at, &n);
            if (status < 0)
                return -1;
            if (e->out->with_offsets)
                set_offsets(e, n, view, at, end);
            at = end;
        }
    }
    return 0;
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

static int encode_llama_cpp(struct encoder *e, const struct norm_view *view)
{
    size_t at = 0;
    if (added_partition(&e->t->raw, view->text, e->plain, &e->hits, e->err) < 0)
        return -1;
    for (size_t i = 0; i <= e->hits.n; i++) {
        size_t end = i < e->hits.n ? e->hits.hit[i].from : view->text.n;
        struct norm_view part = norm_part(view, at, end);
        if (encode_plain(e, &part) < 0)
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
    struct norm_view in = {.text = text};
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
    if (buf_check(&fixed->bytes, "repaired text", e->err) < 0)
        return -1;
    return buf_check(&fixed->origins, "origins of the repaired text", e->err);
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
