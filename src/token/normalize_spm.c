/*
 * SentencePiece's normalization (its src/normalizer.cc): the longest entries of the charsmap, user-
 * defined pieces as they are, white space trimmed and merged, a space in front or behind.
 */
#include "base/utf8.h"
#include "token/charsmap.h"
#include "token/normalize.h"
#include "token/pipeline.h"
#include "token/trie.h"

#define MARK "\xE2\x96\x81"

/* What the text at the front of s becomes, and how many of its bytes that takes. */
static size_t front(const struct norm_step *step, struct str s, struct str *becomes)
{
    uint32_t ignored, cp;
    size_t n = trie_longest(step->prefixes, TRIE_ROOT, s, &ignored);
    if (n == 0 && step->charsmap && (n = charsmap_longest(step->charsmap, s, becomes)) > 0)
        return n;
    if (n == 0 && (n = utf8_decode(s, 0, &cp)) == 0) {
        /* A charsmap's entry ended inside a character. */
        *becomes = STR("\xEF\xBF\xBD");
        return 1;
    }
    *becomes = str_first(s, n);
    return n;
}

struct target {
    struct norm_text *out;
    const struct norm_view *in;
    struct str space;
};

static void put(const struct target *t, struct str bytes, size_t from, size_t to)
{
    for (size_t i = 0; i < bytes.n; i++) {
        struct str byte = str_make(bytes.p + i, 1);
        norm_put(t->out, t->in, from, to, bytes.p[i] == ' ' ? t->space : byte);
    }
}

/* Spaces at the end are taken back, and their origins with them. */
static void trim_end(const struct target *t)
{
    struct buf *b = &t->out->bytes;
    while (str_ends(buf_str(b), t->space)) {
        buf_truncate(b, b->n - t->space.n);
        if (t->out->want_origin)
            buf_truncate(&t->out->origins, b->n * sizeof(struct origin));
    }
}

int norm_spm(struct norm_text *out, const struct norm_view *in, const struct norm_step *step,
             struct error *err)
{
    const struct target t = {out, in, step->escape ? STR(MARK) : STR(" ")};
    struct str text = in->text, becomes = {0};
    size_t at = 0, n;
    while (step->clean && at < text.n && (n = front(step, str_skip(text, at), &becomes)) > 0 &&
           str_eq(becomes, STR(" ")))
        at += n;
    if (at == text.n)
        return norm_check(out, err) < 0 ? -1 : 1;
    if (step->left && !step->right)
        norm_put(out, in, at, at, t.space);
    for (bool behind_space = step->clean; at < text.n; at += n) {
        n = front(step, str_skip(text, at), &becomes);
        while (behind_space && str_starts(becomes, STR(" ")))
            becomes = str_skip(becomes, 1);
        put(&t, becomes, at, at + n);
        if (becomes.n)
            behind_space = step->clean && str_ends(becomes, STR(" "));
    }
    if (step->clean)
        trim_end(&t);
    if (step->left && step->right)
        norm_put(out, in, text.n, text.n, t.space);
    return norm_check(out, err) < 0 ? -1 : 1;
}
