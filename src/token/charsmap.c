#include "token/charsmap.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "token/unicode.h"

#define CHARSMAP_UNITS_MAX (1u << 24)
/* A grapheme this long or longer is looked up character by character (the reference's limit). */
#define GRAPHEME_BYTES 6

struct charsmap {
    uint32_t *unit;
    size_t unit_n;
    char *text;
    size_t text_n;
};

int charsmap_new(struct charsmap **out, struct str bytes, struct error *err)
{
    const uint8_t *p = (const uint8_t *)bytes.p;
    uint32_t size = 0;
    if (bytes.n >= 4)
        size = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    if (bytes.n < 4 || size > bytes.n - 4 || size % 4 || size / 4 > CHARSMAP_UNITS_MAX)
        return error_set(err, ERROR_INPUT, "the precompiled charsmap is cut off or ill-formed");
    struct charsmap *m = calloc(1, sizeof *m);
    if (!m)
        return error_no_memory(err);
    m->unit_n = size / 4;
    m->text_n = bytes.n - 4 - size;
    m->unit = malloc(size + 4);
    m->text = malloc(m->text_n + 1);
    if (!m->unit || !m->text) {
        charsmap_free(m);
        return error_no_memory(err);
    }
    for (size_t i = 0; i < m->unit_n; i++) {
        const uint8_t *u = p + 4 + 4 * i;
        m->unit[i] = u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 24;
    }
    memcpy(m->text, p + 4 + size, m->text_n);
    m->text[m->text_n] = '\0';
    *out = m;
    return 0;
}

void charsmap_free(struct charsmap *m)
{
    if (!m)
        return;
    free(m->unit);
    free(m->text);
    free(m);
}

/* Darts-clone's units: https://github.com/s-yata/darts-clone, darts.h. */
static uint32_t offset_of(uint32_t unit)
{
    return (unit >> 10) << ((unit & (1u << 9)) >> 6);
}

/* Walks the trie along s: the length of the first text found, or of the longest; 0 when none. */
static size_t walk(const struct charsmap *m, struct str s, bool longest, struct str *becomes)
{
    size_t found = 0;
    if (m->unit_n == 0)
        return 0;
    size_t at = offset_of(m->unit[0]);
    for (size_t i = 0; i < s.n; i++) {
        uint8_t byte = (uint8_t)s.p[i];
        if (byte == 0)
            break;
        at ^= byte;
        if (at >= m->unit_n || (m->unit[at] & ((1u << 31) | 0xFF)) != byte)
            break;
        bool leaf = (m->unit[at] >> 8 & 1) != 0;
        at ^= offset_of(m->unit[at]);
        if (!leaf)
            continue;
        if (at >= m->unit_n)
            break;
        size_t value = m->unit[at] & ((1u << 31) - 1);
        if (value > m->text_n)
            break;
        struct str text = str_of(m->text + value);
        if (!utf8_valid(text)) /* an offset into the middle of a character */
            break;
        *becomes = text;
        found = i + 1;
        if (!longest)
            break;
    }
    return found;
}

bool charsmap_find(const struct charsmap *m, struct str part, struct str *becomes)
{
    return walk(m, part, false, becomes) > 0;
}

size_t charsmap_longest(const struct charsmap *m, struct str s, struct str *becomes)
{
    return walk(m, s, true, becomes);
}

/* Where the extended grapheme cluster that begins at `at` ends, as far as the limit of bytes below
 * which it matters: CR LF, a base with its marks and joiners, Hangul of one syllable. */
static size_t grapheme_end(struct str text, size_t at)
{
    const uint8_t *p = (const uint8_t *)text.p;
    uint32_t cp, next;
    size_t end = at + uni_next(p + at, &cp);
    if (cp == '\r')
        return end < text.n && p[end] == '\n' ? end + 1 : end;
    if (uni_is(cp, UNI_BIT(UNI_CC) | UNI_BIT(UNI_CC_SPACE) | UNI_BIT(UNI_ZL) | UNI_BIT(UNI_ZP)))
        return end;
    while (end < text.n && end - at < GRAPHEME_BYTES) {
        uint32_t n = uni_next(p + end, &next);
        if (!uni_is(next, UNI_MARK) && next != 0x200C && next != 0x200D && next != 0xFF9E &&
            next != 0xFF9F && !(next >= 0x1F3FB && next <= 0x1F3FF))
            break;
        end += n;
    }
    return end;
}

int charsmap_apply(struct norm_text *out, const struct norm_view *in, const struct charsmap *map,
                   struct error *err)
{
    struct str text = in->text, becomes;
    size_t kept = 0;
    bool changed = false;
    for (size_t at = 0; at < text.n;) {
        uint32_t cp;
        size_t end = grapheme_end(text, at), n;
        if (end - at < GRAPHEME_BYTES &&
            charsmap_find(map, str_make(text.p + at, end - at), &becomes)) {
            norm_keep(out, in, kept, at);
            norm_put(out, in, at, end, becomes);
            at = kept = end;
            changed = true;
            continue;
        }
        for (; at < end; at += n) {
            n = uni_next((const uint8_t *)text.p + at, &cp);
            if (!charsmap_find(map, str_make(text.p + at, n), &becomes))
                continue;
            norm_keep(out, in, kept, at);
            norm_put(out, in, at, at + n, becomes);
            kept = at + n;
            changed = true;
        }
    }
    if (!changed)
        return 0;
    norm_keep(out, in, kept, text.n);
    return norm_check(out, err) < 0 ? -1 : 1;
}
