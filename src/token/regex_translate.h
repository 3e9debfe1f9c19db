/*
 * Oniguruma's syntax (as Hugging Face uses it) -> PCRE2's, with every class written out.
 *
 *     if (regex_translate(&out, pattern, false, err) < 0) ...
 *
 * What would mean something else in PCRE2 is rewritten where that is exact, and otherwise
 * ERROR_UNSUPPORTED names it. Limits: REGEX_PATTERN_MAX bytes in, REGEX_TRANSLATED_MAX out.
 */
#ifndef TALLY_TOKEN_REGEX_TRANSLATE_H
#define TALLY_TOKEN_REGEX_TRANSLATE_H

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

#define REGEX_PATTERN_MAX 65536u
#define REGEX_TRANSLATED_MAX ((size_t)4 << 20)

/* llama_cpp: classes as llama.cpp has them (Unicode 15.1, \d only 0 to 9). */
int regex_translate(struct buf *out, struct str pattern, bool llama_cpp,
                    struct error *err) TALLY_MUST_CHECK;

#endif
