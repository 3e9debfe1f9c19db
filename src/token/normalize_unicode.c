/*
 * Normalization forms (Unicode Standard Annex 15), run by run. When composing, a run begins at the
 * character before one that the form could touch and ends before the next that it leaves alone;
 * when not, every starter begins one.
 */
#include <string.h>

#include "base/utf8.h"
#include "token/normalize.h"
#include "token/unicode.h"

#define HANGUL_S 0xAC00u
#define HANGUL_L 0x1100u
#define HANGUL_V 0x1161u
#define HANGUL_T 0x11A7u
#define HANGUL_L_N 19u
#define HANGUL_V_N 21u
#define HANGUL_T_N 28u
#define HANGUL_S_N (HANGUL_L_N * HANGUL_V_N * HANGUL_T_N)

static bool composes(enum norm_form form)
{
    return form == FORM_NFC || form == FORM_NFKC;
}

static bool compatible(enum norm_form form)
{
    return form == FORM_NFKC || form == FORM_NFKD;
}

static uint8_t flag_of(enum norm_form form)
{
    return compatible(form) ? UNI_PROP_NFKC : UNI_PROP_NFC;
}

/* The first character that the form could touch; text.n when there is none. */
static size_t first_unsettled(enum norm_form form, struct str text, size_t at)
{
    uint8_t flag = flag_of(form);
    /* Lead bytes below this one begin characters that stay: NFC moves nothing below U+0300. */
    uint8_t safe = form == FORM_NFC ? 0xCC : 0x80;
    const uint8_t *p = (const uint8_t *)text.p;
    while (at < text.n) {
        uint64_t eight;
        while (at + 8 <= text.n) {
            memcpy(&eight, p + at, 8);
            if (eight & 0x8080808080808080u)
                break;
            at += 8;
        }
        if (at == text.n)
            break;
        if (p[at] < safe || p[at] < 0x80) {
            at += p[at] < 0x80 ? 1 : 2;
            continue;
        }
        uint32_t cp, n = uni_next(p + at, &cp);
        if ((uni_prop(cp) & flag) || !composes(form))
            return at;
        at += n;
    }
    return text.n;
}

/* The end of the run that the character at `at` is in. */
static size_t first_settled(enum norm_form form, struct str text, size_t at)
{
    uint8_t flag = flag_of(form);
    if (!composes(form) && at < text.n) {
        uint32_t cp;
        at += uni_next((const uint8_t *)text.p + at, &cp);
        for (uint32_t n; at < text.n; at += n) {
            n = uni_next((const uint8_t *)text.p + at, &cp);
            if (!(uni_prop(cp) & flag)) /* a starter, and not one that becomes marks */
                break;
        }
        return at;
    }
    while (at < text.n) {
        uint32_t cp, n = uni_next((const uint8_t *)text.p + at, &cp);
        if (!(uni_prop(cp) & flag))
            break;
        at += n;
    }
    return at;
}

static size_t char_before(struct str text, size_t at)
{
    do
        at--;
    while (((uint8_t)text.p[at] & 0xC0) == 0x80);
    return at;
}

static void add_cp(struct buf *b, uint32_t cp)
{
    buf_add(b, &cp, sizeof cp);
}

static const struct uni_decomposition *find_decomposition(const struct uni_decomposition *table,
                                                          size_t n, uint32_t cp)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (table[mid].cp < cp)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < n && table[lo].cp == cp ? &table[lo] : NULL;
}

static void decompose(struct buf *out, uint32_t cp, bool compat)
{
    if (cp - HANGUL_S < HANGUL_S_N) {
        uint32_t s = cp - HANGUL_S, t = s % HANGUL_T_N;
        add_cp(out, HANGUL_L + s / (HANGUL_V_N * HANGUL_T_N));
        add_cp(out, HANGUL_V + s / HANGUL_T_N % HANGUL_V_N);
        if (t)
            add_cp(out, HANGUL_T + t);
        return;
    }
    const struct uni_decomposition *d =
        compat ? find_decomposition(uni_nfkd, uni_nfkd_n, cp) : NULL;
    if (d) {
        buf_add(out, uni_nfkd_pool + d->at, d->n * sizeof uni_nfkd_pool[0]);
        return;
    }
    d = find_decomposition(uni_nfd, uni_nfd_n, cp);
    if (d)
        buf_add(out, uni_nfd_pool + d->at, d->n * sizeof uni_nfd_pool[0]);
    else
        add_cp(out, cp);
}

/* Sorts cp[0..n), marks all, by class and stably. */
static void reorder(uint32_t *cp, size_t n, uint32_t *spare)
{
    size_t start[257] = {0};
    if (n < 16) {
        for (size_t i = 1; i < n; i++)
            for (size_t k = i; k > 0 && uni_ccc(cp[k - 1]) > uni_ccc(cp[k]); k--) {
                uint32_t swap = cp[k];
                cp[k] = cp[k - 1];
                cp[k - 1] = swap;
            }
        return;
    }
    for (size_t i = 0; i < n; i++)
        start[uni_ccc(cp[i]) + 1]++;
    for (size_t i = 1; i < 257; i++)
        start[i] += start[i - 1];
    for (size_t i = 0; i < n; i++)
        spare[start[uni_ccc(cp[i])]++] = cp[i];
    memcpy(cp, spare, n * sizeof cp[0]);
}

static uint32_t compose(uint32_t a, uint32_t b)
{
    if (a - HANGUL_L < HANGUL_L_N && b - HANGUL_V < HANGUL_V_N)
        return HANGUL_S + ((a - HANGUL_L) * HANGUL_V_N + (b - HANGUL_V)) * HANGUL_T_N;
    if (a - HANGUL_S < HANGUL_S_N && (a - HANGUL_S) % HANGUL_T_N == 0 && b > HANGUL_T &&
        b < HANGUL_T + HANGUL_T_N)
        return a + (b - HANGUL_T);
    size_t lo = 0, hi = uni_compositions_n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        const struct uni_composition *c = &uni_compositions[mid];
        if (c->first < a || (c->first == a && c->second < b))
            lo = mid + 1;
        else
            hi = mid;
    }
    const struct uni_composition *c = &uni_compositions[lo];
    return lo < uni_compositions_n && c->first == a && c->second == b ? c->composed : 0;
}

static size_t compose_all(uint32_t *cp, size_t n)
{
    size_t made = 0, starter = SIZE_MAX;
    unsigned last = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned ccc = uni_ccc(cp[i]);
        bool blocked = last != 0 && last >= ccc;
        uint32_t both = starter != SIZE_MAX && !blocked ? compose(cp[starter], cp[i]) : 0;
        if (both) {
            cp[starter] = both;
            continue;
        }
        cp[made] = cp[i];
        if (ccc == 0)
            starter = made;
        last = ccc;
        made++;
    }
    return made;
}

static int one_run(struct norm_text *out, const struct norm_view *in, enum norm_form form,
                   size_t from, size_t to, struct error *err)
{
    struct buf *scratch = &out->scratch;
    buf_reset(scratch);
    for (size_t at = from; at < to;) {
        uint32_t cp;
        at += uni_next((const uint8_t *)in->text.p + at, &cp);
        decompose(scratch, cp, compatible(form));
    }
    size_t n = scratch->n / sizeof(uint32_t);
    if (!buf_reserve(scratch, n * sizeof(uint32_t)))
        return buf_check(scratch, "normalized text", err);
    uint32_t *cp = (uint32_t *)(void *)scratch->p;
    for (size_t i = 0; i < n;) {
        size_t k = i;
        while (k < n && uni_ccc(cp[k]) != 0)
            k++;
        reorder(cp + i, k - i, cp + n);
        i = k + 1;
    }
    if (composes(form))
        n = compose_all(cp, n);
    for (size_t i = 0; i < n; i++) {
        char text[4];
        norm_put(out, in, from, to, str_make(text, utf8_encode(text, cp[i])));
    }
    return 0;
}

bool norm_is(enum norm_form form, struct str text)
{
    return first_unsettled(form, text, 0) == text.n;
}

uint32_t norm_base(uint32_t cp)
{
    const struct uni_decomposition *d = find_decomposition(uni_nfd, uni_nfd_n, cp);
    return d ? uni_nfd_pool[d->at] : cp;
}

int norm_unicode(struct norm_text *out, const struct norm_view *in, enum norm_form form,
                 struct error *err)
{
    size_t done = 0;
    while (done < in->text.n) {
        size_t at = first_unsettled(form, in->text, done);
        size_t from = at > done && at < in->text.n ? char_before(in->text, at) : at;
        norm_keep(out, in, done, from);
        done = first_settled(form, in->text, at);
        if (from < done && one_run(out, in, form, from, done, err) < 0)
            return -1;
    }
    return norm_check(out, err);
}
