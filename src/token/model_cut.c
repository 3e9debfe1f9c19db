/*
 * Cutting words. Models over characters often see a whole text as one word; but where two
 * characters stand side by side in no token, nothing can merge across, and what lies on either side
 * can be merged (and remembered) by itself.
 */
#include <stdlib.h>

#include "token/model.h"
#include "token/unicode.h"

static uint32_t pair_hash(uint32_t left, uint32_t right)
{
    return (left * 0x9E3779B1u ^ right * 0x85EBCA77u) * 0xC2B2AE3Du >> (32 - MODEL_JOINED_BITS);
}

static void join_token(struct model *m, struct str text)
{
    uint32_t left = 0, right;
    for (size_t at = 0; at < text.n;) {
        size_t n = uni_next((const uint8_t *)text.p + at, &right);
        if (at) {
            uint32_t h = pair_hash(left, right);
            m->joined[h / 64] |= (uint64_t)1 << (h % 64);
        }
        left = right;
        at += n;
    }
}

static bool is_byte_token(const struct model *m, uint32_t id)
{
    for (unsigned byte = 0; byte < 256; byte++)
        if (m->byte_token[byte] == id)
            return true;
    return false;
}

/* Byte tokens that merge would reach across characters. They come first where there are any, so
 * that looking at merges of tokens with that spelling is enough. */
static bool bytes_merge(const struct model *m, const struct vocab *v)
{
    for (uint32_t i = 0; i < v->merge_n; i++) {
        struct str left = v->tokens[v->merges[i].left].text;
        struct str right = v->tokens[v->merges[i].right].text;
        if ((left.n == 6 && left.p[0] == '<' && is_byte_token(m, v->merges[i].left)) ||
            (right.n == 6 && right.p[0] == '<' && is_byte_token(m, v->merges[i].right)))
            return true;
    }
    return false;
}

int model_build_joined(struct model *m, const struct vocab *v, struct error *err)
{
    const struct model_settings *set = &m->set;
    bool spm = set->kind == MODEL_SPM;
    /* Unknown characters may be fused across a cut, and whole words looked up: then no cuts. */
    bool no_unknown = m->all_bytes && (spm || set->byte_fallback);
    if (!no_unknown || set->ignore_merges || set->prefix.n || set->suffix.n || bytes_merge(m, v))
        return 0;
    m->joined = calloc(((size_t)1 << MODEL_JOINED_BITS) / 64, sizeof m->joined[0]);
    if (!m->joined)
        return error_no_memory(err);
    if (spm)
        for (uint32_t id = 0; id < v->n; id++)
            join_token(m, v->tokens[id].text);
    else
        for (uint32_t i = 0; i < v->merge_n; i++)
            join_token(m, v->tokens[v->merges[i].result].text);
    return 0;
}

bool model_joins(const struct model *m, uint32_t left, uint32_t right)
{
    uint32_t h = pair_hash(left, right);
    return m->joined[h / 64] >> (h % 64) & 1;
}

size_t model_cut(const struct model *m, struct str text, size_t at)
{
    uint32_t left, right;
    at += uni_next((const uint8_t *)text.p + at, &left);
    while (at < text.n) {
        size_t n = uni_next((const uint8_t *)text.p + at, &right);
        if (!model_joins(m, left, right))
            break;
        left = right;
        at += n;
    }
    return at;
}
