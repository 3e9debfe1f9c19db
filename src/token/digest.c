/*
 * What a vocabulary and a pipeline are, in bytes that do not depend on how the file spells them:
 * a GGUF and a tokenizer.json of one model, or the two spellings of merges, give one digest.
 */
#include <string.h>

#include "token/tokenizer_internal.h"

#define DIGEST_STEP ((size_t)1 << 16)

/* Bytes on their way into a digest. */
struct digest {
    struct sha256 *sha;
    struct buf b;
};

static void put_u32(char *to, uint32_t v)
{
    for (unsigned i = 0; i < 4; i++)
        to[i] = (char)(v >> (8 * i));
}

static void settle(struct digest *d)
{
    if (d->b.n < DIGEST_STEP)
        return;
    sha256_add(d->sha, d->b.p, d->b.n);
    buf_reset(&d->b);
}

static void add_u32(struct digest *d, uint32_t v)
{
    char *p = buf_reserve(&d->b, 4);
    if (!p)
        return;
    put_u32(p, v);
    d->b.n += 4;
    settle(d);
}

static void add_str(struct digest *d, struct str s)
{
    add_u32(d, (uint32_t)s.n);
    buf_addstr(&d->b, s);
}

/* Ids in order: the bytes each stands for; holes and padding within the list are the same. */
static void add_ids(struct digest *d, const struct tokenizer *t)
{
    const struct vocab *v = t->vocab;
    uint32_t n = v->n - v->padding;
    add_u32(d, n);
    for (uint32_t id = 0; id < n; id++) {
        struct str text = v->tokens[id].text;
        if (!text.p || vocab_is_padding(text, id))
            add_u32(d, UINT32_MAX);
        else
            add_str(d, pieces_of(&t->pieces, id));
    }
}

static void add_merges(struct digest *d, const struct vocab *v)
{
    add_u32(d, v->merge_n);
    for (uint32_t i = 0; i < v->merge_n; i++) {
        char *p = buf_reserve(&d->b, 8);
        if (!p)
            return;
        put_u32(p, v->merges[i].left);
        put_u32(p + 4, v->merges[i].right);
        d->b.n += 8;
        settle(d);
    }
}

/* Special ids in ascending order, by the file's own word; an added token that is spelled like one
 * counts too, because that is what converters to GGUF take it for. What llama.cpp makes of some by
 * their text is no part of the vocabulary. */
static void add_specials(struct digest *d, const struct vocab *v)
{
    for (uint32_t id = 0; id < v->n; id++) {
        const struct vocab_token *t = &v->tokens[id];
        if (t->type == VOCAB_TYPE_CONTROL || t->type == VOCAB_TYPE_UNKNOWN ||
            (t->type == VOCAB_TYPE_USER_DEFINED && vocab_looks_special(t->text)))
            add_u32(d, id);
    }
    add_u32(d, UINT32_MAX);
}

static void add_scores(struct digest *d, const struct vocab *v)
{
    for (uint32_t id = 0; id < v->n - v->padding; id++) {
        float score = (float)v->tokens[id].score;
        uint32_t bits;
        memcpy(&bits, &score, sizeof bits);
        add_u32(d, bits);
    }
}

static void add_vocabulary(struct digest *d, const struct tokenizer *t)
{
    const struct vocab *v = t->vocab;
    add_str(d, STR("tally vocabulary 1"));
    add_ids(d, t);
    add_merges(d, v);
    add_specials(d, v);
    if (v->model == VOCAB_UNIGRAM || v->model == VOCAB_SPM)
        add_scores(d, v);
}

static void add_pipeline(struct digest *d, const struct tokenizer *t)
{
    add_str(d, STR("tally pipeline 1"));
    pipeline_describe(&t->pipe, t->vocab, &d->b);
}

static int digest(char out[SHA256_HEX], const struct tokenizer *t,
                  void (*add)(struct digest *, const struct tokenizer *), struct error *err)
{
    struct digest d = {.sha = sha256_new(), .b = BUF_INIT(VOCAB_MEMORY_MAX)};
    int status = -1;
    if (!d.sha)
        return error_no_memory(err);
    add(&d, t);
    sha256_add(d.sha, d.b.p, d.b.n);
    if (buf_check(&d.b, "digest", err) == 0)
        status = sha256_end_hex(d.sha, out, err);
    sha256_free(d.sha);
    buf_release(&d.b);
    return status;
}

int digest_all(struct tokenizer *t, struct error *err)
{
    if (digest(t->vocabulary_sha256, t, add_vocabulary, err) < 0)
        return -1;
    return digest(t->pipeline_sha256, t, add_pipeline, err);
}
