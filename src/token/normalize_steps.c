/* The normalizers of the reference that are not Unicode's forms. */
#include <string.h>

#include "base/utf8.h"
#include "token/fold.h"
#include "token/normalize.h"
#include "token/pieces.h"
#include "token/pipeline.h"
#include "token/unicode.h"

/* What becomes of one character: appended to b; false when it stays as it is. */
typedef bool each_char(struct buf *b, uint32_t cp, const struct norm_step *step);

static int map_chars(struct norm_text *out, const struct norm_view *in,
                     const struct norm_step *step, each_char *each, struct error *err)
{
    struct str text = in->text;
    size_t kept = 0;
    bool changed = false;
    for (size_t at = 0; at < text.n;) {
        uint32_t cp, n = uni_next((const uint8_t *)text.p + at, &cp);
        buf_reset(&out->scratch);
        if (each(&out->scratch, cp, step)) {
            norm_keep(out, in, kept, at);
            norm_put(out, in, at, at + n, buf_str(&out->scratch));
            kept = at + n;
            changed = true;
        }
        at += n;
    }
    if (!changed)
        return 0;
    norm_keep(out, in, kept, text.n);
    return norm_check(out, err) < 0 ? -1 : 1;
}

size_t fold_lower_of(uint32_t cp, uint32_t to[FOLD_LOWER_MAX])
{
    size_t lo = 0, hi = fold_lower_n;
    to[0] = cp;
    if (cp < 0x80) {
        to[0] = cp - 'A' < 26 ? cp + 32 : cp;
        return 1;
    }
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (fold_lower[mid].cp < cp)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == fold_lower_n || fold_lower[lo].cp != cp)
        return 1;
    memcpy(to, fold_lower_pool + fold_lower[lo].at, fold_lower[lo].n * sizeof to[0]);
    return fold_lower[lo].n;
}

static bool lowercase(struct buf *b, uint32_t cp, const struct norm_step *step)
{
    uint32_t to[FOLD_LOWER_MAX];
    size_t n = fold_lower_of(cp, to);
    (void)step;
    if (n == 1 && to[0] == cp)
        return false;
    for (size_t i = 0; i < n; i++)
        utf8_add(b, to[i]);
    return true;
}

static bool strip_accents(struct buf *b, uint32_t cp, const struct norm_step *step)
{
    (void)b;
    (void)step;
    return fold_is(cp, FOLD_ACCENT);
}

static bool strip_bert_accents(struct buf *b, uint32_t cp, const struct norm_step *step)
{
    (void)b;
    (void)step;
    return fold_is(cp, FOLD_BERT_ACCENT);
}

static bool clean(struct buf *b, uint32_t cp, const struct norm_step *step)
{
    (void)step;
    if (fold_is(cp, FOLD_BERT_CONTROL))
        return true;
    if (cp == ' ' || !fold_is(cp, FOLD_BERT_SPACE))
        return false;
    buf_addc(b, ' ');
    return true;
}

static bool chinese(struct buf *b, uint32_t cp, const struct norm_step *step)
{
    (void)step;
    if (!fold_is(cp, FOLD_CHINESE))
        return false;
    buf_addc(b, ' ');
    utf8_add(b, cp);
    buf_addc(b, ' ');
    return true;
}

/* SentencePiece's nmt_nfkc: some controls go, some blanks become spaces. */
static bool nmt(struct buf *b, uint32_t cp, const struct norm_step *step)
{
    (void)step;
    if ((cp >= 0x01 && cp <= 0x08) || cp == 0x0B || (cp >= 0x0E && cp <= 0x1F) || cp == 0x7F ||
        cp == 0x8F || cp == 0x9F)
        return true;
    if (cp != 0x09 && cp != 0x0A && cp != 0x0C && cp != 0x0D && cp != 0x1680 &&
        !(cp >= 0x200B && cp <= 0x200F) && cp != 0x2028 && cp != 0x2029 && cp != 0x2581 &&
        cp != 0xFEFF && cp != 0xFFFD)
        return false;
    buf_addc(b, ' ');
    return true;
}

static bool byte_level(struct buf *b, uint32_t cp, const struct norm_step *step)
{
    char bytes[4];
    size_t n = utf8_encode(bytes, cp);
    (void)step;
    for (size_t i = 0; i < n; i++)
        utf8_add(b, byte_level_char((uint8_t)bytes[i]));
    return true;
}

/* As llama.cpp folds: one character for one, by its own Unicode. */
static uint32_t llama_lower(uint32_t cp)
{
    uint32_t to[FOLD_LOWER_MAX];
    if (uni_is_newer(cp) || uni_is(cp, UNI_BIT(UNI_CN)))
        return cp;
    fold_lower_of(cp, to);
    return to[0];
}

/* Its decompositions are to one character, Hangul syllables' to their first letter. */
static uint32_t llama_base(uint32_t cp)
{
    return cp >= 0xAC00 && cp <= 0xD7A3 ? 0x1100 + (cp - 0xAC00) / 588 : norm_base(cp);
}

/* llama.cpp's "bert": the base of each character and no accents, lower case, without controls. */
static bool bert_llama(struct buf *b, uint32_t cp, const struct norm_step *step)
{
    const uint32_t controls = UNI_BIT(UNI_CC) | UNI_BIT(UNI_CF) | UNI_BIT(UNI_CO);
    uint32_t base = step->accents ? llama_base(cp) : cp;
    if (uni_is(base, UNI_SPACE)) {
        utf8_add(b, base);
        return true;
    }
    if (base == 0 || base == 0xFFFD ||
        (!uni_is_newer(base) &&
         (uni_is(base, controls) || (step->accents && uni_is(base, UNI_MARK)))))
        return true;
    utf8_add(b, step->lower ? llama_lower(base) : base);
    return true;
}

static bool lower_llama(struct buf *b, uint32_t cp, const struct norm_step *step)
{
    uint32_t lower = llama_lower(cp);
    (void)step;
    if (lower == cp)
        return false;
    utf8_add(b, lower);
    return true;
}

static int replace_regex(struct norm_text *out, const struct norm_view *in,
                         const struct norm_step *step, struct error *err)
{
    struct str text = in->text;
    size_t kept = 0, at = 0;
    bool changed = false;
    struct regex_match m;
    int got;
    while (at <= text.n && (got = regex_next(step->regex, text, at, &m, err)) != 0) {
        if (got < 0)
            return -1;
        norm_keep(out, in, kept, m.from);
        norm_put(out, in, m.from, m.to, step->with);
        kept = at = m.to;
        changed = true;
        if (m.to == m.from) { /* an empty match: on by a character */
            uint32_t cp;
            at += at < text.n ? uni_next((const uint8_t *)text.p + at, &cp) : 1;
        }
    }
    if (!changed)
        return 0;
    norm_keep(out, in, kept, text.n);
    return norm_check(out, err) < 0 ? -1 : 1;
}

static int replace(struct norm_text *out, const struct norm_view *in, const struct norm_step *step,
                   struct error *err)
{
    if (step->regex)
        return replace_regex(out, in, step, err);
    if (str_find(in->text, step->text) == STR_NONE)
        return 0;
    norm_replace(out, in, step->text, step->with);
    return norm_check(out, err) < 0 ? -1 : 1;
}

static int prepend(struct norm_text *out, const struct norm_view *in, struct str text,
                   struct error *err)
{
    if (in->text.n == 0 || in->continues)
        return 0;
    norm_put(out, in, 0, 0, text);
    norm_keep(out, in, 0, in->text.n);
    return norm_check(out, err) < 0 ? -1 : 1;
}

static int strip(struct norm_text *out, const struct norm_view *in, const struct norm_step *step,
                 struct error *err)
{
    struct str text = in->text;
    size_t from = 0, to = text.n;
    uint32_t cp, n;
    while (step->left && !in->continues && from < to) {
        n = uni_next((const uint8_t *)text.p + from, &cp);
        if (!uni_is(cp, UNI_SPACE))
            break;
        from += n;
    }
    while (step->right && to > from) {
        size_t before = to - 1;
        while (((uint8_t)text.p[before] & 0xC0) == 0x80)
            before--;
        uni_next((const uint8_t *)text.p + before, &cp);
        if (!uni_is(cp, UNI_SPACE))
            break;
        to = before;
    }
    if (from == 0 && to == text.n)
        return 0;
    norm_keep(out, in, from, to);
    return norm_check(out, err) < 0 ? -1 : 1;
}

/* Steps of BertNormalizer, each over what the one before made. */
static int bert(struct norm_text *out, const struct norm_view *in, const struct norm_step *step,
                struct error *err)
{
    each_char *const each[] = {
        step->clean ? clean : NULL,
        step->chinese ? chinese : NULL,
        NULL, /* NFD */
        step->accents ? strip_bert_accents : NULL,
        step->lower ? lowercase : NULL,
    };
    struct norm_text two[2];
    struct norm_view view = *in;
    unsigned turn = 0;
    int status = 0;
    for (unsigned i = 0; i < 2; i++) {
        norm_text_init(&two[i]);
        two[i].want_origin = out->want_origin;
    }
    for (size_t i = 0; i < sizeof each / sizeof each[0] && status >= 0; i++) {
        norm_text_reset(&two[turn]);
        if (i == 2 && step->accents)
            status = norm_unicode(&two[turn], &view, FORM_NFD, err) < 0 ? -1 : 1;
        else if (each[i])
            status = map_chars(&two[turn], &view, step, each[i], err);
        else
            status = 0;
        if (status > 0) {
            view = norm_text_view(&two[turn]);
            turn ^= 1;
        }
    }
    if (status >= 0) {
        norm_keep(out, &view, 0, view.text.n);
        out->dropped = two[0].dropped + two[1].dropped;
        status = norm_check(out, err) < 0 ? -1 : 1;
    }
    norm_text_release(&two[0]);
    norm_text_release(&two[1]);
    return status;
}

static int form(struct norm_text *out, const struct norm_view *in, enum norm_form f,
                struct error *err)
{
    if (norm_is(f, in->text))
        return 0;
    return norm_unicode(out, in, f, err) < 0 ? -1 : 1;
}

int norm_apply(struct norm_text *out, const struct norm_view *in, const struct norm_step *step,
               struct error *err)
{
    switch (step->op) {
    case NORM_NFC:
        return form(out, in, FORM_NFC, err);
    case NORM_NFD:
        return form(out, in, FORM_NFD, err);
    case NORM_NFKC:
        return form(out, in, FORM_NFKC, err);
    case NORM_NFKD:
        return form(out, in, FORM_NFKD, err);
    case NORM_LOWERCASE:
        return map_chars(out, in, step, lowercase, err);
    case NORM_STRIP_ACCENTS:
        return map_chars(out, in, step, strip_accents, err);
    case NORM_REPLACE:
        return replace(out, in, step, err);
    case NORM_PREPEND:
        return prepend(out, in, step->text, err);
    case NORM_STRIP:
        return strip(out, in, step, err);
    case NORM_PRECOMPILED:
        return charsmap_apply(out, in, step->charsmap, err);
    case NORM_BERT:
        return bert(out, in, step, err);
    case NORM_NMT:
        return map_chars(out, in, step, nmt, err);
    case NORM_BYTE_LEVEL:
        return map_chars(out, in, step, byte_level, err);
    case NORM_BERT_LLAMA:
        return map_chars(out, in, step, bert_llama, err);
    case NORM_LOWER_LLAMA:
        return map_chars(out, in, step, lower_llama, err);
    case NORM_UGM:
        return norm_ugm(out, in, step, err);
    case NORM_SPM:
        return norm_spm(out, in, step, err);
    }
    return 0;
}
