#include "token/pieces.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/utf8.h"

#define ALPHABET_END 0x144u /* behind the last of the characters that stand for bytes */

/* False, with nothing written of use, when a character is not of the alphabet. */
static bool spell_bytes(uint8_t *out, size_t *n, struct str text, const int16_t byte[ALPHABET_END])
{
    const uint8_t *p = (const uint8_t *)text.p;
    size_t at = 0, made = 0;
    while (at < text.n) {
        uint32_t cp = p[at++];
        if (cp >= 0x80) { /* two bytes: the alphabet ends before the characters of three */
            if (cp < 0xC2 || cp > 0xC5 || at == text.n || (p[at] & 0xC0) != 0x80)
                return false;
            cp = (cp & 0x1F) << 6 | (p[at++] & 0x3Fu);
        }
        if (cp >= ALPHABET_END || byte[cp] < 0)
            return false;
        out[made++] = (uint8_t)byte[cp];
    }
    *n = made;
    return true;
}

int pieces_build(struct pieces *p, const struct vocab *v, enum pieces_spelling spelling,
                 struct error *err)
{
    uint64_t total = 0;
    int16_t byte[ALPHABET_END];
    for (uint32_t cp = 0; cp < ALPHABET_END; cp++)
        byte[cp] = (int16_t)byte_level_byte(cp);
    for (uint32_t id = 0; id < v->n; id++)
        total += v->tokens[id].text.n;
    if (total > VOCAB_MEMORY_MAX)
        return error_set(err, ERROR_LIMIT, "the vocabulary's texts need %llu bytes",
                         (unsigned long long)total);
    *p = (struct pieces){.n = v->n};
    p->bytes = malloc((size_t)total + 16);
    p->start = malloc(((size_t)v->n + 1) * sizeof p->start[0]);
    if (!p->bytes || !p->start) {
        pieces_release(p);
        return error_no_memory(err);
    }
    size_t at = 0;
    for (uint32_t id = 0; id < v->n; id++) {
        struct str text = v->tokens[id].text;
        size_t n = text.n;
        p->start[id] = (uint32_t)at;
        if (spelling != PIECES_BYTE_LEVEL || !spell_bytes(p->bytes + at, &n, text, byte)) {
            n = text.n;
            if (n)
                memcpy(p->bytes + at, text.p, n);
        }
        at += n;
    }
    p->start[v->n] = (uint32_t)at;
    return 0;
}

int pieces_index(struct pieces *p, const struct vocab *v, struct error *err)
{
    uint32_t slots = 16;
    while (slots < p->n * 2u)
        slots *= 2;
    p->index = malloc(slots * sizeof p->index[0]);
    if (!p->index)
        return error_no_memory(err);
    memset(p->index, 0xFF, slots * sizeof p->index[0]);
    p->index_mask = slots - 1;
    for (uint32_t id = 0; id < p->n; id++) {
        if (!v->tokens[id].text.p || v->tokens[id].added_only)
            continue;
        struct str bytes = pieces_of(p, id);
        uint32_t i = (uint32_t)hash64(bytes.p, bytes.n, 0);
        while (p->index[i & p->index_mask] != VOCAB_NONE &&
               !str_eq(pieces_of(p, p->index[i & p->index_mask]), bytes))
            i++;
        if (p->index[i & p->index_mask] == VOCAB_NONE)
            p->index[i & p->index_mask] = id;
    }
    return 0;
}

uint32_t pieces_find(const struct pieces *p, struct str bytes)
{
    for (uint32_t i = (uint32_t)hash64(bytes.p, bytes.n, 0);; i++) {
        uint32_t id = p->index[i & p->index_mask];
        if (id == VOCAB_NONE || str_eq(pieces_of(p, id), bytes))
            return id;
    }
}

void pieces_release(struct pieces *p)
{
    if (!p)
        return;
    free(p->bytes);
    free(p->start);
    free(p->index);
    *p = (struct pieces){0};
}
