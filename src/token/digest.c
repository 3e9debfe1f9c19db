/*
 * What a vocabulary and a pipeline are, in bytes that do not depend on how the file spells them:
 * a GGUF and a tokenizer.json of one model, or the two spellings of merges, give one digest.
 */
#include "token/tokenizer_internal.h"

static void add_u32(struct buf *b, uint32_t v)
{
    unsigned char bytes[4] = {(unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16),
                              (unsigned char)(v >> 24)};
    buf_add(b, bytes, sizeof bytes);
}

static void add_str(struct buf *b, struct str s)
{
    add_u32(b, (uint32_t)s.n);
    buf_addstr(b, s);
}

/* Ids in order: the bytes each stands for; holes and padding within the list are the same. */
static void add_ids(struct buf *b, const struct tokenizer *t)
{
    const struct vocab *v = t->vocab;
    uint32_t n = v->n - v->padding;
    add_u32(b, n);
    for (uint32_t id = 0; id < n; id++) {
        struct str text = v->tokens[id].text;
        if (!text.p || vocab_is_padding(text, id))
            add_u32(b, UINT32_MAX);
        else
            add_str(b, pieces_of(&t->pieces, id));
    }
}

static void add_merges(struct buf *b, const struct vocab *v)
{
    add_u32(b, v->merge_n);
    for (uint32_t i = 0; i < v->merge_n; i++) {
        add_u32(b, v->merges[i].left);
        add_u32(b, v->merges[i].right);
    }
}

/* Special ids in ascending order: added tokens come in the file's order. */
static void add_specials(struct buf *b, const struct vocab *v)
{
    for (uint32_t id = 0; id < v->n; id++)
        if (v->tokens[id].added && v->added[v->tokens[id].added - 1].special)
            add_u32(b, id);
    add_u32(b, UINT32_MAX);
}

static void add_scores(struct buf *b, const struct vocab *v)
{
    for (uint32_t id = 0; id < v->n - v->padding; id++) {
        float score = (float)v->tokens[id].score;
        buf_add(b, &score, sizeof score);
    }
}

int digest_all(struct tokenizer *t, struct str file_bytes, struct error *err)
{
    const struct vocab *v = t->vocab;
    struct buf b = BUF_INIT(VOCAB_MEMORY_MAX);
    int status = -1;
    add_str(&b, STR("tally vocabulary 1"));
    add_ids(&b, t);
    add_merges(&b, v);
    add_specials(&b, v);
    if (v->model == VOCAB_UNIGRAM || v->model == VOCAB_SPM)
        add_scores(&b, v);
    if (buf_check(&b, "vocabulary digest", err) < 0 ||
        sha256_hex(t->vocabulary_sha256, buf_str(&b), err) < 0)
        goto out;
    buf_reset(&b);
    add_str(&b, STR("tally pipeline 1"));
    pipeline_describe(&t->pipe, v, &b);
    if (buf_check(&b, "pipeline digest", err) < 0 ||
        sha256_hex(t->pipeline_sha256, buf_str(&b), err) < 0)
        goto out;
    status = sha256_hex(t->tokenizer_sha256, str_first(file_bytes, v->read), err);
out:
    buf_release(&b);
    return status;
}
