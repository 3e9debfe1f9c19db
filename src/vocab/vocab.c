#include "vocab/vocab.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/num.h"
#include "vocab/vocab_internal.h"

struct vocab *vocab_new(void)
{
    struct vocab *v = calloc(1, sizeof *v);
    if (!v)
        return NULL;
    arena_init(&v->arena, VOCAB_MEMORY_MAX);
    v->unk = VOCAB_NONE;
    struct vocab_gguf *g = &v->gguf;
    g->bos = g->eos = g->unk = g->sep = g->pad = g->cls = g->mask = VOCAB_NONE;
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

uint32_t vocab_find(const struct vocab *v, struct str text)
{
    if (!v->index)
        return VOCAB_NONE;
    uint32_t h = hash_text(text);
    for (uint32_t i = h;; i++) {
        const struct vocab_slot *s = &v->index[i & v->index_mask];
        if (s->id == VOCAB_NONE)
            return VOCAB_NONE;
        if (s->hash == h && str_eq(v->tokens[s->id].text, text))
            return s->id;
    }
}

uint32_t vocab_index_add(struct vocab *v, uint32_t id)
{
    struct str text = v->tokens[id].text;
    uint32_t h = hash_text(text);
    for (uint32_t i = h;; i++) {
        struct vocab_slot *s = &v->index[i & v->index_mask];
        if (s->id == VOCAB_NONE) {
            *s = (struct vocab_slot){h, id};
            return id;
        }
        if (s->hash == h && str_eq(v->tokens[s->id].text, text))
            return s->id;
    }
}

int vocab_index_build(struct vocab *v, bool strict, uint32_t extra, struct error *err)
{
    uint32_t slots = 16;
    while (slots < (v->n + extra) * 2u)
        slots *= 2;
    v->index = malloc(slots * sizeof v->index[0]);
    if (!v->index)
        return error_no_memory(err);
    memset(v->index, 0xFF, slots * sizeof v->index[0]);
    v->index_mask = slots - 1;
    for (uint32_t id = 0; id < v->n; id++) {
        if (!v->tokens[id].text.p)
            continue;
        uint32_t holder = vocab_index_add(v, id);
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

int vocab_add_merge(struct vocab *v, struct str left, struct str right, struct str prefix,
                    struct error *err)
{
    char bytes[VOCAB_TOKEN_BYTES_MAX];
    uint32_t rank = v->merge_n;
    struct str tail = str_starts(right, prefix) ? str_skip(right, prefix.n) : right;
    struct str joint = {bytes, left.n + tail.n};
    if (left.n == 0 || right.n == 0)
        return error_set(err, ERROR_INPUT, "merge %u has an empty part", rank);
    if (joint.n > sizeof bytes)
        return error_set(err, ERROR_LIMIT, "merge %u makes a token of %zu bytes; the limit is %u",
                         rank, joint.n, VOCAB_TOKEN_BYTES_MAX);
    memcpy(bytes, left.p, left.n);
    memcpy(bytes + left.n, tail.p, tail.n);
    struct vocab_merge m = {vocab_find(v, left), vocab_find(v, right), vocab_find(v, joint)};
    const struct str *missing = m.left == VOCAB_NONE     ? &left
                                : m.right == VOCAB_NONE  ? &right
                                : m.result == VOCAB_NONE ? &joint
                                                         : NULL;
    if (missing)
        return error_set(err, ERROR_INPUT,
                         "merge %u (\"%.*s %.*s\") needs \"%.*s\", which is no token", rank,
                         STR_ARG(str_first(left, 64)), STR_ARG(str_first(right, 64)),
                         STR_ARG(str_first(*missing, 128)));
    if (vocab_merges_reserve(v, (uint64_t)rank + 1, err) < 0)
        return -1;
    v->merges[v->merge_n++] = m;
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
    } else {
        status =
            error_set(err, ERROR_INPUT,
                      bytes.n ? "neither a tokenizer.json nor a GGUF file" : "the file is empty");
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
