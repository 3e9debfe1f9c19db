/*
 * Where a text can be cut in two so that the ids of its parts, one behind the other, are the ids of
 * the whole: what lets a text of any size be counted in bounded memory.
 *
 *     struct cut_rules rules;
 *     if (cut_rules_make(&rules, t, err) < 0) ...
 *     if (rules.any) n = cut_last(&rules, text, 0);        // 0: nowhere
 *     // encode text[0, n) with how.goes_on, text[n, ...) with how.continues
 *
 * A place is offered only where it follows from the tokenizer's own steps that nothing reaches
 * across: behind a character that no normalizer turns into white space or drops, in front of a
 * space, a letter behind a line's end, or punctuation, at which the splits begin a new piece
 * whatever stands before (or where the model joins the two characters in no token), and inside no
 * added token. Where a step cannot be seen through (a regular expression without a scanner of its
 * own), `any` is false and the text must be encoded whole.
 * Ownership: plain values; the tokenizer must outlive the rules.
 */
#ifndef TALLY_TOKEN_CUT_H
#define TALLY_TOKEN_CUT_H

#include "token/tokenizer.h"

/* The kinds of places, by what stands in front of them and behind. */
enum cut_kind {
    CUT_SPACE, /* a character | a space */
    CUT_LINE,  /* no white space, one LF | a letter */
    CUT_PUNCT, /* a letter or digit | punctuation */
    CUT_KINDS,
};

struct cut_rules {
    const struct tokenizer *t;
    bool any;
    bool kind[CUT_KINDS];
    bool wide_letters;        /* letters beyond ASCII may stand in front of a cut */
    bool by_model[CUT_KINDS]; /* no split begins there: the model must not join the two */
    uint32_t mark;            /* what the model sees in a space's place */
    bool ends[256];           /* bytes in which some added token ends */
    bool inside[256]; /* bytes that stand in some added token behind what is no white space */
    bool line_inside; /* some added token goes on behind an LF */
};

int cut_rules_make(struct cut_rules *r, const struct tokenizer *t,
                   struct error *err) TALLY_MUST_CHECK;
/* True when text can be cut in front of byte `at`, 0 < at < text.n. What stands behind `at` must be
 * there as far as its first character. */
bool cut_at(const struct cut_rules *r, struct str text, size_t at);
/* The last such place, or 0. What lies before `from` was looked through before. */
size_t cut_last(const struct cut_rules *r, struct str text, size_t from);

#endif
