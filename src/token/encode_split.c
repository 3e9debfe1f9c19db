/* Pre-tokenizers: a text is cut into pieces, step by step, and the last pieces are words. */
#include "token/encoder.h"
#include "token/fold.h"
#include "token/script.h"
#include "token/unicode.h"

static int scan_pieces(struct encoder *e, const struct norm_view *view, unsigned step)
{
    const struct scan_rules *r = &e->t->pipe.split[step].scan;
    uint32_t *end = e->end[step];
    if (step + 1 == e->t->pipe.split_n)
        return encode_scanned(e, view, r, end);
    for (size_t at = 0; at < view->text.n;) {
        size_t n = scan(r, view->text, at, end);
        for (size_t i = 0; i < n; at = end[i++]) {
            struct norm_view part = norm_part(view, at, end[i]);
            if (encode_pieces(e, &part, step + 1) < 0)
                return -1;
        }
    }
    return 0;
}

/* A split that has matches and what lies between them, told in order. */
struct splitter {
    struct encoder *e;
    const struct norm_view *view;
    unsigned step;
    enum split_behavior behavior;
    bool invert, open, open_match, last_match;
    size_t from, to; /* of the piece that is open */
};

static int give(struct splitter *s, size_t from, size_t to)
{
    struct norm_view part = norm_part(s->view, from, to);
    return from < to ? encode_pieces(s->e, &part, s->step + 1) : 0;
}

static int close_piece(struct splitter *s)
{
    bool open = s->open;
    s->open = false;
    return open ? give(s, s->from, s->to) : 0;
}

static int tell(struct splitter *s, size_t from, size_t to, bool match)
{
    bool joins = false;
    if (from == to)
        return 0;
    match = match != s->invert;
    switch (s->behavior) {
    case SPLIT_REMOVED:
        return match ? 0 : give(s, from, to);
    case SPLIT_ISOLATED:
        return give(s, from, to);
    case SPLIT_MERGED_WITH_PREVIOUS:
        joins = s->open && match && !s->last_match;
        break;
    case SPLIT_MERGED_WITH_NEXT:
        joins = s->open && s->open_match && !match;
        break;
    case SPLIT_CONTIGUOUS:
        joins = s->open && match == s->last_match;
        break;
    }
    if (!joins && close_piece(s) < 0)
        return -1;
    if (!joins) {
        s->from = from;
        s->open = true;
    }
    s->to = to;
    s->open_match = match;
    s->last_match = match;
    return 0;
}

static int split_literal(struct splitter *s, struct str what)
{
    struct str text = s->view->text;
    size_t at = 0, found;
    while ((found = str_find(str_skip(text, at), what)) != STR_NONE) {
        if (tell(s, at, at + found, false) < 0 ||
            tell(s, at + found, at + found + what.n, true) < 0)
            return -1;
        at += found + what.n;
    }
    return tell(s, at, text.n, false) < 0 ? -1 : close_piece(s);
}

static int split_regex(struct splitter *s, const struct regex *re)
{
    struct str text = s->view->text;
    struct regex_match m;
    size_t done = 0, at = 0;
    int got;
    while (at <= text.n && (got = regex_next(re, text, at, &m, s->e->err)) != 0) {
        if (got < 0 || tell(s, done, m.from, false) < 0 || tell(s, m.from, m.to, true) < 0)
            return -1;
        done = at = m.to;
        if (m.from == m.to) { /* an empty match: on by a character */
            uint32_t cp;
            at += at < text.n ? uni_next((const uint8_t *)text.p + at, &cp) : 1;
        }
    }
    return tell(s, done, text.n, false) < 0 ? -1 : close_piece(s);
}

static bool in_set(const struct split_step *step, uint32_t cp)
{
    switch (step->set) {
    case SET_SPACE:
        return uni_is(cp, UNI_SPACE);
    case SET_BERT_PUNCTUATION:
        return fold_is(cp, FOLD_BERT_PUNCTUATION);
    case SET_NUMERIC:
        return fold_is(cp, FOLD_NUMERIC);
    case SET_CHAR:
        return cp == step->cp;
    }
    return false;
}

static int split_set(struct splitter *s, const struct split_step *step)
{
    struct str text = s->view->text;
    size_t done = 0;
    for (size_t at = 0; at < text.n;) {
        uint32_t cp, n = uni_next((const uint8_t *)text.p + at, &cp);
        if (in_set(step, cp)) {
            if (tell(s, done, at, false) < 0 || tell(s, at, at + n, true) < 0)
                return -1;
            done = at + n;
        }
        at += n;
    }
    return tell(s, done, text.n, false) < 0 ? -1 : close_piece(s);
}

/* \w+|[^\w\s]+ : runs of one kind; white space is dropped. */
static int split_words(struct splitter *s)
{
    struct str text = s->view->text;
    size_t from = 0;
    int kind = 0;
    for (size_t at = 0; at < text.n;) {
        uint32_t cp, n = uni_next((const uint8_t *)text.p + at, &cp);
        int now = fold_is(cp, FOLD_WORD) ? 1 : uni_is(cp, UNI_SPACE) ? 0 : 2;
        if (now != kind) {
            if (kind && give(s, from, at) < 0)
                return -1;
            from = at;
            kind = now;
        }
        at += n;
    }
    return kind ? give(s, from, text.n) : 0;
}

/* A piece ends where the script changes; what is of no script goes with what stands before it, and
 * is dropped where nothing does: the reference's first piece begins at the first script. */
static int split_scripts(struct splitter *s)
{
    struct str text = s->view->text;
    uint32_t last = 0;
    size_t from = 0;
    for (size_t at = 0; at < text.n;) {
        uint32_t cp, n = uni_next((const uint8_t *)text.p + at, &cp), now = script_of(cp);
        if (now && now != last) {
            if (last && give(s, from, at) < 0)
                return -1;
            from = at;
        }
        if (now)
            last = now;
        at += n;
    }
    return last ? give(s, from, text.n) : 0;
}

/* llama.cpp's "bert": white space dropped, punctuation and Chinese characters alone. */
static int split_bert_llama(struct splitter *s)
{
    struct str text = s->view->text;
    size_t from = 0;
    for (size_t at = 0; at < text.n;) {
        uint32_t cp, n = uni_next((const uint8_t *)text.p + at, &cp);
        bool space = uni_is(cp, UNI_SPACE);
        bool alone = (uni_is(cp, UNI_PUNCTUATION) && !uni_is_newer(cp)) ||
                     (cp < 0x7F && uni_is(cp, UNI_SYMBOL)) || fold_is(cp, FOLD_CHINESE);
        if (space || alone) {
            if (give(s, from, at) < 0 || (alone && give(s, at, at + n) < 0))
                return -1;
            from = at + n;
        }
        at += n;
    }
    return give(s, from, text.n);
}

/* Spaces become the mark, one is put in front where the scheme says so; then split before each. */
static int split_metaspace(struct encoder *e, const struct norm_view *view, unsigned step)
{
    const struct split_step *how = &e->t->pipe.split[step];
    struct norm_text *to = &e->rewritten[step];
    struct str text = view->text;
    bool marked = str_starts(text, how->text) || str_starts(text, STR(" "));
    norm_text_reset(to);
    if (!marked &&
        (how->prepend == PREPEND_ALWAYS || (how->prepend == PREPEND_FIRST && view->first)))
        norm_put(to, view, 0, 0, how->text);
    norm_replace(to, view, STR(" "), how->text);
    if (norm_check(to, e->err) < 0)
        return -1;
    struct norm_view now = norm_text_view(to);
    now.first = view->first;
    if (!how->split)
        return encode_pieces(e, &now, step + 1);
    struct splitter s = {.e = e, .view = &now, .step = step, .behavior = SPLIT_MERGED_WITH_NEXT};
    return split_literal(&s, how->text);
}

static int split_prefix(struct encoder *e, const struct norm_view *view, unsigned step)
{
    struct norm_text *to = &e->rewritten[step];
    if (view->text.n == 0 || view->text.p[0] == ' ')
        return encode_pieces(e, view, step + 1);
    norm_text_reset(to);
    norm_put(to, view, 0, 0, STR(" "));
    norm_keep(to, view, 0, view->text.n);
    if (norm_check(to, e->err) < 0)
        return -1;
    struct norm_view now = norm_text_view(to);
    now.first = view->first;
    return encode_pieces(e, &now, step + 1);
}

int encode_pieces(struct encoder *e, const struct norm_view *view, unsigned step)
{
    if (step == e->t->pipe.split_n)
        return encode_word(e, view);
    const struct split_step *how = &e->t->pipe.split[step];
    struct splitter s = {
        .e = e, .view = view, .step = step, .behavior = how->behavior, .invert = how->invert};
    switch (how->op) {
    case SPLIT_SCAN:
        return scan_pieces(e, view, step);
    case SPLIT_LITERAL:
        return split_literal(&s, how->text);
    case SPLIT_REGEX:
        return split_regex(&s, how->regex);
    case SPLIT_SET:
        return split_set(&s, how);
    case SPLIT_WORDS:
        return split_words(&s);
    case SPLIT_METASPACE:
        return split_metaspace(e, view, step);
    case SPLIT_PREFIX:
        return split_prefix(e, view, step);
    case SPLIT_SCRIPTS:
        return split_scripts(&s);
    case SPLIT_NFD_WORDS:
        return split_bert_llama(&s);
    }
    return 0;
}
