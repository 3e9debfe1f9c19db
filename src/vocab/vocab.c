#include "vocab/vocab.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/num.h"
#include "vocab/vocab_internal.h"

#define INDEX_AHEAD 16

struct vocab *vocab_new(void)
{
    struct vocab *v = calloc(1, sizeof *v);
    if (!v)
        return NULL;
    arena_init(&v->arena, VOCAB_MEMORY_MAX);
    v->unk = VOCAB_NONE;
    struct vocab_gguf *g = &v->gguf;
    g->bos = g->eos = g->unk = g->sep = g->pad = g->cls = g->mask = VOCAB_NONE;
    for (size_t i = 0; i < VOCAB_FIM_KINDS; i++)
        g->fim[i] = VOCAB_NONE;
    return v;
}

void vocab_free(struct vocab *v)
{
    if (!v)
        return;
    free(v->tokens);
    free(v->merges);
    free(v->index);
    arena_release(&v->arena);
    free(v);
}

/* A larger list, zeroed behind `have`; grows by half at least. */
static void *grow(void *list, uint32_t *cap, uint64_t need, size_t size)
{
    uint64_t want = *cap + *cap / 2;
    if (want < need)
        want = need;
    if (want < 1024)
        want = 1024;
    void *p = realloc(list, (size_t)want * size);
    if (!p)
        return NULL;
    memset((char *)p + *cap * size, 0, ((size_t)want - *cap) * size);
    *cap = (uint32_t)want;
    return p;
}

int vocab_tokens_reserve(struct vocab *v, uint64_t n, struct error *err)
{
    if (n > VOCAB_IDS_MAX)
        return error_set(err, ERROR_LIMIT, "token ids reach %llu; the limit is %u",
                         (unsigned long long)n, VOCAB_IDS_MAX);
    if (n > v->token_cap) {
        void *p = grow(v->tokens, &v->token_cap, n, sizeof v->tokens[0]);
        if (!p)
            return error_no_memory(err);
        v->tokens = p;
    }
    if (n > v->n)
        v->n = (uint32_t)n;
    return 0;
}

int vocab_merges_reserve(struct vocab *v, uint64_t n, struct error *err)
{
    if (n > VOCAB_MERGES_MAX)
        return error_set(err, ERROR_LIMIT, "%llu merges; the limit is %u", (unsigned long long)n,
                         VOCAB_MERGES_MAX);
    if (n > v->merge_cap) {
        void *p = grow(v->merges, &v->merge_cap, n, sizeof v->merges[0]);
        if (!p)
            return error_no_memory(err);
        v->merges = p;
    }
    return 0;
}

int vocab_set_text(struct vocab *v, uint32_t id, struct str text, struct error *err)
{
    struct vocab_token *t = &v->tokens[id];
    if (t->text.p)
        return error_set(err, ERROR_INPUT, "token id %u is given twice: \"%.*s\" and \"%.*s\"", id,
                         STR_ARG(str_first(t->text, 64)), STR_ARG(str_first(text, 64)));
    if (text.n > VOCAB_TOKEN_BYTES_MAX)
        return error_set(err, ERROR_LIMIT, "token %u is %zu bytes long; the limit is %u", id,
                         text.n, VOCAB_TOKEN_BYTES_MAX);
    t->text = arena_str(&v->arena, text);
    return t->text.p ? 0 : arena_check(&v->arena, "vocabulary", err);
}

static uint32_t hash_text(struct str text)
{
    return (uint32_t)hash64(text.p, text.n, 0);
}

static uint32_t find_hashed(const struct vocab *v, struct str text, uint32_t h)
{
    for (uint32_t i = h;; i++) {
        const struct vocab_slot *s = &v->index[i & v->index_mask];
        if (s->id == VOCAB_NONE)
            return VOCAB_NONE;
        if (s->hash == h && str_eq(v->tokens[s->id].text, text))
            return s->id;
    }
}

uint32_t vocab_find(const struct vocab *v, struct str text)
{
    return v->index ? find_hashed(v, text, hash_text(text)) : VOCAB_NONE;
}

static uint32_t index_add(struct vocab *v, uint32_t id, uint32_t h)
{
    struct str text = v->tokens[id].text;
    for (uint32_t i = h;; i++) {
        struct vocab_slot *s = &v->index[i & v->index_mask];
        if (s->id == VOCAB_NONE) {
            *s = (struct vocab_slot){h, id};
            v->index_n++;
            return id;
        }
        if (s->hash == h && str_eq(v->tokens[s->id].text, text))
            return s->id;
    }
}

static int index_size(struct vocab *v, uint32_t slots)
{
    struct vocab_slot *old = v->index, *index = malloc(slots * sizeof index[0]);
    if (!index)
        return -1;
    memset(index, 0xFF, slots * sizeof index[0]);
    for (uint32_t k = 0; old && k <= v->index_mask; k++) {
        uint32_t i = old[k].hash;
        if (old[k].id == VOCAB_NONE)
            continue;
        while (index[i & (slots - 1)].id != VOCAB_NONE)
            i++;
        index[i & (slots - 1)] = old[k];
    }
    free(old);
    v->index = index;
    v->index_mask = slots - 1;
    return 0;
}

uint32_t vocab_index_add(struct vocab *v, uint32_t id)
{
    if (v->index_n / 3 >= v->index_mask / 4 && index_size(v, (v->index_mask + 1) * 2) < 0)
        return VOCAB_NONE;
    return index_add(v, id, hash_text(v->tokens[id].text));
}

int vocab_index_build(struct vocab *v, bool strict, uint32_t extra, struct error *err)
{
    uint32_t slots = 16;
    while (slots < (v->n + extra) * 2u)
        slots *= 2;
    if (index_size(v, slots) < 0)
        return error_no_memory(err);
    uint32_t ahead[INDEX_AHEAD] = {0};
    for (uint32_t i = 0; i < v->n + INDEX_AHEAD; i++) {
        /* The place of the token INDEX_AHEAD on is asked for while this one is put in. */
        uint32_t id = i - INDEX_AHEAD, h = ahead[i % INDEX_AHEAD];
        if (i < v->n && v->tokens[i].text.p) {
            ahead[i % INDEX_AHEAD] = hash_text(v->tokens[i].text);
            __builtin_prefetch(&v->index[ahead[i % INDEX_AHEAD] & v->index_mask], 1);
        }
        if (i < INDEX_AHEAD || !v->tokens[id].text.p)
            continue;
        uint32_t holder = index_add(v, id, h);
        if (holder != id && strict)
            return error_set(err, ERROR_INPUT, "token \"%.*s\" has two ids: %u and %u",
                             STR_ARG(str_first(v->tokens[id].text, 64)), holder, id);
    }
    return 0;
}

bool vocab_is_padding(struct str text, uint32_t id)
{
    int64_t n;
    return str_starts(text, STR("[PAD")) && str_ends(text, STR("]")) && text.n > 5 &&
           num_parse_i64(&n, str_make(text.p + 4, text.n - 5)) == 0 && n == (int64_t)id;
}

void vocab_count_padding(struct vocab *v)
{
    v->padding = 0;
    while (v->padding < v->n) {
        uint32_t id = v->n - 1 - v->padding;
        if (v->tokens[id].text.p && !vocab_is_padding(v->tokens[id].text, id))
            break;
        v->padding++;
    }
}

/* vocab_find for many texts: each step asks for the memory that the next one reads. */
static void find_many(const struct vocab *v, const struct str *text, uint32_t *id, size_t n)
{
    uint32_t hash[3 * VOCAB_MERGE_BATCH];
    for (size_t i = 0; i < n; i++) {
        hash[i] = hash_text(text[i]);
        __builtin_prefetch(&v->index[hash[i] & v->index_mask]);
    }
    /* The first that has the hash is the one, but for one in many millions. */
    for (size_t i = 0; i < n; i++) {
        const struct vocab_slot *s = &v->index[hash[i] & v->index_mask];
        for (uint32_t k = hash[i]; s->id != VOCAB_NONE && s->hash != hash[i];)
            s = &v->index[++k & v->index_mask];
        id[i] = s->id;
        if (s->id != VOCAB_NONE)
            __builtin_prefetch(&v->tokens[s->id]);
    }
    for (size_t i = 0; i < n; i++)
        if (id[i] != VOCAB_NONE)
            __builtin_prefetch(v->tokens[id[i]].text.p);
    for (size_t i = 0; i < n; i++)
        if (id[i] != VOCAB_NONE && !str_eq(v->tokens[id[i]].text, text[i]))
            id[i] = find_hashed(v, text[i], hash[i]);
}

static int merge_fault(const struct vocab *v, const struct vocab_merge_text *m,
                       const uint32_t id[3], struct error *err)
{
    const struct str *missing = id[0] == VOCAB_NONE   ? &m->left
                                : id[1] == VOCAB_NONE ? &m->right
                                                      : &m->joint;
    uint32_t rank = v->merge_n;
    if (m->left.n == 0 || m->right.n == 0)
        error_set(err, ERROR_INPUT, "merge %u has an empty part", rank);
    else if (m->joint.n > VOCAB_TOKEN_BYTES_MAX)
        error_set(err, ERROR_LIMIT, "merge %u makes a token of %zu bytes; the limit is %u", rank,
                  m->joint.n, VOCAB_TOKEN_BYTES_MAX);
    else
        error_set(err, ERROR_INPUT, "merge %u (\"%.*s %.*s\") needs \"%.*s\", which is no token",
                  rank, STR_ARG(str_first(m->left, 64)), STR_ARG(str_first(m->right, 64)),
                  STR_ARG(str_first(*missing, 128)));
    return error_at_offset(err, (int64_t)m->offset);
}

int vocab_add_merges(struct vocab *v, const struct vocab_merge_text *merge, size_t n,
                     struct error *err)
{
    struct str text[3 * VOCAB_MERGE_BATCH];
    uint32_t id[3 * VOCAB_MERGE_BATCH];
    for (size_t i = 0; i < n; i++) {
        text[3 * i] = merge[i].left;
        text[3 * i + 1] = merge[i].right;
        text[3 * i + 2] = merge[i].joint;
    }
    if (vocab_merges_reserve(v, (uint64_t)v->merge_n + n, err) < 0)
        return -1;
    find_many(v, text, id, 3 * n);
    for (size_t i = 0; i < n; i++) {
        const uint32_t *ids = &id[3 * i];
        /* Empty parts are never wanted, even where a token has no text. */
        if (ids[0] == VOCAB_NONE || ids[1] == VOCAB_NONE || ids[2] == VOCAB_NONE ||
            merge[i].left.n == 0 || merge[i].right.n == 0)
            return merge_fault(v, &merge[i], ids, err);
        v->merges[v->merge_n++] = (struct vocab_merge){ids[0], ids[1], ids[2]};
    }
    return 0;
}

static bool looks_like_json(struct str bytes)
{
    struct str head = str_trim(str_first(bytes, 4096));
    return head.n > 0 && head.p[0] == '{';
}

int vocab_open(struct vocab **out, struct str bytes, const char *name, struct error *err)
{
    struct vocab *v = vocab_new();
    if (!v)
        return error_no_memory(err);
    int status;
    if (str_starts(bytes, STR("GGUF"))) {
        v->format = VOCAB_GGUF;
        status = vocab_read_gguf(v, bytes, err);
    } else if (looks_like_json(bytes)) {
        v->format = VOCAB_TOKENIZER_JSON;
        status = vocab_read_json(v, bytes, err);
    } else if (vocab_looks_tiktoken(bytes)) {
        v->format = VOCAB_TIKTOKEN;
        status = vocab_read_tiktoken(v, bytes, err);
    } else if (vocab_looks_spm(bytes)) {
        v->format = VOCAB_SENTENCEPIECE;
        status = vocab_read_spm(v, bytes, err);
    } else {
        status = error_set(
            err, ERROR_INPUT,
            bytes.n ? "neither a tokenizer.json nor a GGUF, tiktoken or SentencePiece file"
                    : "the file is empty");
        error_at_offset(err, 0);
    }
    if (status < 0) {
        vocab_free(v);
        error_at_file(err, name);
        if (!err->remedy[0])
            error_remedy(err, "give the model's tokenizer.json or its GGUF file");
        return -1;
    }
    *out = v;
    return 0;
}
