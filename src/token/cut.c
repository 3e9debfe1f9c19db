#include "token/cut.h"

#include <string.h>

#include "base/utf8.h"
#include "token/tokenizer_internal.h"
#include "token/unicode.h"

#define MARK_DEFAULT ' '

/* What a split does at a place of some kind. */
enum effect {
    OPAQUE,  /* it may reach across */
    NEUTRAL, /* a piece may go on across, and is then cut in two with nothing else changed */
    BEGINS,  /* a piece begins there, whatever stands before */
};

static bool ascii_alnum(uint8_t c)
{
    return (uint8_t)((c | 0x20) - 'a') < 26 || (uint8_t)(c - '0') < 10;
}

static bool ascii_white(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Punctuation in front of which a cut may be. No apostrophe, which contractions begin with, and no
 * low line, which is a letter to \w. */
static bool is_punct(uint32_t cp)
{
    if (cp == '\'' || cp == '_')
        return false;
    return (cp > ' ' && cp < 0x7F && !ascii_alnum((uint8_t)cp)) || cp == 0x3001 || cp == 0x3002 ||
           cp == 0xFF0C;
}

/* Ideographs that every Unicode the references know has, and that no form decomposes. */
static bool is_ideograph(uint32_t cp)
{
    return cp >= 0x4E00 && cp <= 0x9FA5;
}

/* Letters and digits that stay themselves, and never become white space or nothing. */
static bool keeps_alnum(const struct norm_step *s, bool *space_stays, struct error *err)
{
    struct norm_text out;
    bool good = true;
    norm_text_init(&out);
    for (unsigned c = ' '; c < 0x7F && good; c++) {
        char byte = (char)c;
        struct norm_view in = {.text = str_make(&byte, 1)};
        if (c != ' ' && !ascii_alnum((uint8_t)c))
            continue;
        norm_text_reset(&out);
        int changed = norm_apply(&out, &in, s, err);
        struct str now = changed > 0 ? norm_text_view(&out).text : in.text;
        if (c == ' ')
            *space_stays = changed >= 0 && str_eq(now, in.text);
        else
            good = changed >= 0 && now.n == 1 && ascii_alnum((uint8_t)now.p[0]);
    }
    norm_text_release(&out);
    return good;
}

/* A Replace of anything but single spaces leaves only spaces, and only where it cannot touch what
 * stands on either side of one. */
static void see_replace(struct cut_rules *r, const struct norm_step *s)
{
    uint32_t cp;
    if (!s->regex && str_eq(s->text, STR(" ")) && r->mark == ' ' && s->with.n &&
        utf8_decode(s->with, 0, &cp) == s->with.n) {
        r->mark = cp;
        return;
    }
    r->wide_letters = false;
    r->kind[CUT_LINE] = r->kind[CUT_PUNCT] = false;
    if (s->regex) {
        if (!str_eq(s->text, STR(" {2,}")) || !str_eq(s->with, STR(" ")))
            r->kind[CUT_SPACE] = false;
        return;
    }
    for (size_t i = 0; i < s->text.n; i++)
        if (ascii_alnum((uint8_t)s->text.p[i]) || ascii_white((uint8_t)s->text.p[i]))
            r->kind[CUT_SPACE] = false;
    if (s->text.n == 0 || s->with.n == 0 || str_find_char(s->with, ' ') != STR_NONE)
        r->kind[CUT_SPACE] = false;
}

static void see_norm(struct cut_rules *r, const struct norm_step *s, struct error *err)
{
    bool space_stays = true;
    switch (s->op) {
    case NORM_NFC:
    case NORM_NFD:
    case NORM_NFKC:
    case NORM_NFKD:
    case NORM_LOWERCASE:
    case NORM_PREPEND: /* not in front of what continues */
        return;
    case NORM_STRIP_ACCENTS: /* which by an older Unicode drops some letters */
        r->wide_letters = false;
        return;
    case NORM_REPLACE:
        see_replace(r, s);
        return;
    case NORM_STRIP: /* nor there; and what goes on must not end in white space */
        r->kind[CUT_LINE] = false;
        return;
    case NORM_BERT:
    case NORM_BERT_LLAMA:
        r->wide_letters = r->kind[CUT_PUNCT] = false;
        return;
    case NORM_PRECOMPILED:
    case NORM_NMT:
        r->wide_letters = r->kind[CUT_LINE] = r->kind[CUT_PUNCT] = false;
        if (!keeps_alnum(s, &space_stays, err) || !space_stays)
            r->kind[CUT_SPACE] = false;
        return;
    case NORM_BYTE_LEVEL:
    case NORM_LOWER_LLAMA:
    case NORM_SPM:
    case NORM_UGM: /* which puts and drops spaces by what stands before */
        memset(r->kind, 0, sizeof r->kind);
        return;
    }
}

/* A split at occurrences of one text: of the space itself, or of what has nothing to do with it. */
static enum effect see_literal(const struct cut_rules *r, const struct split_step *s,
                               enum cut_kind kind)
{
    char mark[4];
    struct str space = str_make(mark, utf8_encode(mark, r->mark));
    if (kind != CUT_SPACE)
        return OPAQUE;
    if (str_eq(s->text, space))
        return s->invert || s->behavior == SPLIT_MERGED_WITH_PREVIOUS ? OPAQUE : BEGINS;
    if (str_eq(s->text, STR(" "))) /* every space is already something else */
        return NEUTRAL;
    if (s->invert || (s->behavior != SPLIT_ISOLATED && s->behavior != SPLIT_REMOVED))
        return OPAQUE;
    return str_find(s->text, space) == STR_NONE && str_find_char(s->text, ' ') == STR_NONE ? NEUTRAL
                                                                                           : OPAQUE;
}

static enum effect see_set(const struct split_step *s, enum cut_kind kind)
{
    if (kind == CUT_PUNCT)
        return OPAQUE;
    switch (s->set) {
    case SET_SPACE:
        return s->behavior == SPLIT_REMOVED ? BEGINS : OPAQUE;
    case SET_BERT_PUNCTUATION:
    case SET_NUMERIC:
        return NEUTRAL;
    case SET_CHAR:
        if (s->behavior != SPLIT_REMOVED || kind != CUT_SPACE)
            return OPAQUE;
        return s->cp == ' ' ? BEGINS : NEUTRAL;
    }
    return OPAQUE;
}

/* In none of these expressions does an alternative go on from what is no white space to a space,
 * nor from an LF to a letter, nor from a letter or digit to punctuation. */
static enum effect see_scan(const struct cut_rules *r, const struct scan_rules *scan)
{
    switch (scan->family) {
    case SCAN_WHOLE:
        return NEUTRAL;
    case SCAN_RUNS: /* groups of digits take the text before them along */
        return scan->set == SCAN_DIGIT_GROUPS ? OPAQUE : NEUTRAL;
    case SCAN_GPT2:
    case SCAN_QWEN2:
    case SCAN_CASE:
    case SCAN_KIMI:
    case SCAN_DEEPSEEK:
        return r->mark == ' ' ? BEGINS : OPAQUE;
    }
    return OPAQUE;
}

static enum effect see_split(struct cut_rules *r, const struct split_step *s, enum cut_kind kind)
{
    switch (s->op) {
    case SPLIT_SCAN:
        return see_scan(r, &s->scan);
    case SPLIT_LITERAL:
        return see_literal(r, s, kind);
    case SPLIT_SET:
        return see_set(s, kind);
    case SPLIT_WORDS:
        return r->mark == ' ' ? BEGINS : OPAQUE;
    case SPLIT_METASPACE: {
        uint32_t cp;
        if (kind != CUT_SPACE || r->mark != ' ' || utf8_decode(s->text, 0, &cp) != s->text.n)
            return OPAQUE;
        if (s->split)
            return BEGINS;
        r->mark = cp;
        return NEUTRAL;
    }
    case SPLIT_PREFIX: /* in front of a piece that begins with none */
        return kind == CUT_SPACE && r->mark == ' ' ? NEUTRAL : OPAQUE;
    case SPLIT_NFD_WORDS:
        return kind == CUT_PUNCT ? OPAQUE : BEGINS;
    case SPLIT_SCRIPTS:
    case SPLIT_REGEX:
        return OPAQUE;
    }
    return OPAQUE;
}

static void see_splits(struct cut_rules *r, const struct pipeline *p)
{
    for (unsigned k = 0; k < CUT_KINDS; k++) {
        enum effect effect = NEUTRAL;
        for (unsigned i = 0; i < p->split_n && effect == NEUTRAL && r->kind[k]; i++)
            effect = see_split(r, &p->split[i], (enum cut_kind)k);
        if (effect == BEGINS)
            continue;
        /* Nothing splits there: the model itself must not reach across, which it says of characters
         * that are not joined in any token. */
        if (effect == NEUTRAL && r->t->model.joined)
            r->by_model[k] = true;
        else
            r->kind[k] = false;
    }
}

/* The model is asked of a character as it stands in the text: it must reach it unchanged. */
static void see_model(struct cut_rules *r, const struct pipeline *p)
{
    for (unsigned i = 0; i < p->norm_n; i++) {
        const struct norm_step *s = &p->norm[i];
        if (s->op == NORM_PREPEND || (s->op == NORM_REPLACE && str_eq(s->text, STR(" "))))
            continue;
        /* A form leaves letters of ASCII as they are, but not others, nor all punctuation. */
        bool form =
            s->op == NORM_NFC || s->op == NORM_NFD || s->op == NORM_NFKC || s->op == NORM_NFKD;
        r->wide_letters = r->kind[CUT_PUNCT] = false;
        if (!form)
            r->kind[CUT_SPACE] = r->kind[CUT_LINE] = false;
    }
}

/* One spelling of an added token. mark: what spaces have become in it. */
static void see_spelling(struct cut_rules *r, struct str text, const struct vocab_added *a,
                         struct str mark)
{
    if (text.n == 0)
        return;
    r->ends[(uint8_t)text.p[text.n - 1]] = true;
    if (a->single_word) { /* it may not begin behind a letter, which a cut would hide */
        r->inside[(uint8_t)text.p[0]] = true;
        if (str_starts(text, mark))
            r->inside[' '] = true;
    }
    for (size_t i = 1; i < text.n; i++) {
        uint8_t c = (uint8_t)text.p[i], before = (uint8_t)text.p[i - 1];
        if (before == '\n' && c != '\n')
            r->line_inside = true;
        if (ascii_white(before))
            continue;
        r->inside[c] = true;
        if (str_starts(str_skip(text, i), mark) && !str_ends(str_first(text, i), mark))
            r->inside[' '] = true;
    }
}

static int see_added(struct cut_rules *r, const struct tokenizer *t, struct error *err)
{
    char bytes[4];
    struct str mark = str_make(bytes, utf8_encode(bytes, r->mark));
    struct norm_text two[2];
    int status = 0;
    norm_text_init(&two[0]);
    norm_text_init(&two[1]);
    for (uint32_t i = 0; i < t->vocab->added_n && status == 0; i++) {
        const struct vocab_added *a = &t->vocab->added[i];
        struct norm_view view = {.text = a->text};
        see_spelling(r, a->text, a, mark);
        /* It may take the line's end in front of it; or behind, and with llama.cpp a prefix goes in
         * front of what follows then. */
        if (a->lstrip || (a->rstrip && t->pipe.llama_cpp))
            r->kind[CUT_LINE] = false;
        if (t->pipe.llama_cpp || !a->normalized)
            continue;
        status = normalize_all(&t->pipe, view, two, &view, err);
        if (status == 0)
            see_spelling(r, view.text, a, mark);
    }
    norm_text_release(&two[0]);
    norm_text_release(&two[1]);
    return status;
}

int cut_rules_make(struct cut_rules *r, const struct tokenizer *t, struct error *err)
{
    struct cut_rules made = {.t = t, .mark = MARK_DEFAULT, .wide_letters = true};
    for (unsigned k = 0; k < CUT_KINDS; k++)
        made.kind[k] = true;
    if (t->pipe.escape_spaces)
        made.mark = 0x2581;
    for (unsigned i = 0; i < t->pipe.norm_n; i++)
        see_norm(&made, &t->pipe.norm[i], err);
    see_splits(&made, &t->pipe);
    if (made.by_model[CUT_SPACE] || made.by_model[CUT_LINE] || made.by_model[CUT_PUNCT])
        see_model(&made, &t->pipe);
    if (see_added(&made, t, err) < 0)
        return -1;
    made.any = made.kind[CUT_SPACE] || made.kind[CUT_LINE] || made.kind[CUT_PUNCT];
    *r = made;
    return 0;
}

/* The character that ends in front of byte `at`; its length, or 0 where none that is well-formed
 * ends there. */
static size_t char_before(struct str text, size_t at, uint32_t *cp)
{
    for (size_t n = 1; n <= 4 && n <= at; n++) {
        if (((uint8_t)text.p[at - n] & 0xC0) == 0x80)
            continue;
        return utf8_decode(str_first(text, at), at - n, cp) == n ? n : 0;
    }
    return 0;
}

/* A character that may stand right in front of a cut: it stays, and no added token ends in it. */
static bool may_end(const struct cut_rules *r, struct str text, size_t at, uint32_t *cp)
{
    if (char_before(text, at, cp) == 0 || r->ends[(uint8_t)text.p[at - 1]])
        return false;
    if (*cp < 0x80)
        return ascii_alnum((uint8_t)*cp);
    return r->wide_letters && uni_is(*cp, UNI_LETTER);
}

static bool at_line(const struct cut_rules *r, struct str text, size_t at)
{
    uint32_t before, next;
    if (!r->kind[CUT_LINE] || r->line_inside || r->ends['\n'] || at < 2 || text.p[at - 1] != '\n' ||
        char_before(text, at - 1, &before) == 0 || utf8_decode(text, at, &next) == 0)
        return false;
    bool letter = next < 0x80 ? ascii_alnum((uint8_t)next) && next > '9'
                              : r->wide_letters && uni_is(next, UNI_LETTER);
    bool solid = before < 0x80
                     ? before > ' ' && before < 0x7F
                     : r->wide_letters && (uni_is(before, UNI_LETTER) || is_punct(before));
    return letter && solid && !(r->by_model[CUT_LINE] && model_joins(&r->t->model, '\n', next));
}

bool cut_at(const struct cut_rules *r, struct str text, size_t at)
{
    uint32_t before, next;
    uint8_t first = (uint8_t)text.p[at];
    if (first == ' ')
        return r->kind[CUT_SPACE] && !r->inside[' '] && may_end(r, text, at, &before) &&
               !(r->by_model[CUT_SPACE] && model_joins(&r->t->model, before, r->mark));
    if (text.p[at - 1] == '\n')
        return at_line(r, text, at);
    if (!r->kind[CUT_PUNCT] || r->inside[first] || utf8_decode(text, at, &next) == 0 ||
        !is_punct(next) || !may_end(r, text, at, &before))
        return false;
    return (before < 0x80 || is_ideograph(before)) &&
           !(r->by_model[CUT_PUNCT] && model_joins(&r->t->model, before, next));
}

size_t cut_last(const struct cut_rules *r, struct str text, size_t from)
{
    if (!r->any)
        return 0;
    if (from > 4) /* a character that was cut off there is whole now */
        from -= 4;
    for (size_t at = text.n; at-- > 1 && at >= from;)
        if (cut_at(r, text, at))
            return at;
    return 0;
}
