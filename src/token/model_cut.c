/*
 * Cutting words. Models over characters often see a whole text as one word, and those over bytes a
 * whole sentence of a script without spaces; but where two characters stand side by side in no
 * token, nothing can merge across, and what lies on either side can be merged (and remembered) by
 * itself.
 */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
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

static bool are_joined(const uint64_t *set, uint32_t left, uint32_t right)
{
    uint32_t h = pair_hash(left, right);
    return (set[h / 64] >> (h % 64) & 1) != 0;
}

/* The same over bytes, of which a token may hold any: what is no whole character joins nothing
 * here (bpe_reaches knows of those). */
static void join_bytes(struct model *m, struct str bytes)
{
    uint32_t left = 0, right;
    bool joins = false;
    for (size_t at = 0; at < bytes.n;) {
        size_t n = utf8_decode(bytes, at, &right);
        if (n && joins && (left >= 0x80 || right >= 0x80)) {
            uint32_t h = pair_hash(left, right);
            m->joined_bytes[h / 64] |= (uint64_t)1 << (h % 64);
        }
        joins = n != 0;
        left = right;
        at += n ? n : 1;
    }
}

static bool is_ascii(struct str s)
{
    uint64_t all = 0, word;
    for (; s.n >= sizeof word; s = str_skip(s, sizeof word)) {
        memcpy(&word, s.p, sizeof word);
        all |= word;
    }
    for (size_t i = 0; i < s.n; i++)
        all |= (uint8_t)s.p[i];
    return (all & UINT64_C(0x8080808080808080)) == 0;
}

int model_build_joined_bytes(struct model *m, const struct vocab *v, struct error *err)
{
    /* A part of a word would be looked up whole, which only a whole word may be. */
    if (!m->bpe.all_bytes || m->byte_last || m->set.ignore_merges)
        return 0;
    m->joined_bytes = calloc(((size_t)1 << MODEL_JOINED_BITS) / 64, sizeof m->joined_bytes[0]);
    if (!m->joined_bytes)
        return error_no_memory(err);
    for (uint32_t id = 0; id < v->n; id++)
        if (!v->tokens[id].added_only && !is_ascii(pieces_of(m->pieces, id)))
            join_bytes(m, pieces_of(m->pieces, id));
    return 0;
}

size_t model_cut_bytes(const struct model *m, struct str text, size_t at)
{
    const uint8_t *p = (const uint8_t *)text.p;
    uint32_t left, right;
    size_t before = uni_next(p + at, &left);
    for (at += before; at < text.n;) {
        size_t n = uni_next(p + at, &right);
        /* Characters of four bytes are taken byte by byte, and words of ASCII are whole. */
        if (n < 4 && before < 4 && n + before > 2 && !are_joined(m->joined_bytes, left, right) &&
            !bpe_reaches(&m->bpe, p + at, before, n))
            break;
        left = right;
        before = n;
        at += n;
    }
    return at;
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
    return are_joined(m->joined, left, right);
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
