/*
 * Regular expressions of tokenizer files: Oniguruma's syntax, run by PCRE2.
 *
 *     struct regex *re;
 *     if (regex_new(&re, pattern, err) < 0) ...          // ERROR_UNSUPPORTED where meaning is lost
 *     while (regex_next(re, text, at, &m, err) > 0) ...
 *     regex_free(re);
 *
 * Classes such as \p{L} and \s are written out from our own tables, so that they are the
 * reference's; constructs that PCRE2 would read otherwise are translated or refused.
 * Ownership: immutable once built, usable by many threads.
 */
#ifndef TALLY_TOKEN_REGEX_H
#define TALLY_TOKEN_REGEX_H

#include "base/error.h"
#include "base/str.h"

struct regex;

struct regex_match {
    size_t from, to;
};

int regex_new(struct regex **out, struct str pattern, struct error *err) TALLY_MUST_CHECK;
/* The same with llama.cpp's classes: Unicode 15.1, \d only 0 to 9. */
int regex_new_llama(struct regex **out, struct str pattern, struct error *err) TALLY_MUST_CHECK;
void regex_free(struct regex *re);
/* The first match at or behind `at`: 1, or 0 when there is none, or -1. */
int regex_next(const struct regex *re, struct str text, size_t at, struct regex_match *m,
               struct error *err) TALLY_MUST_CHECK;

#endif
