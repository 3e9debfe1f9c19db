/*
 * Pre-tokenizers by hand: text -> the ends of its pieces.
 *
 *     uint32_t end[SCAN_BATCH];
 *     for (size_t at = 0, n; at < text.n; at = end[n - 1])
 *         n = scan(&rules, text, at, end);
 *
 * One scanner a family of regular expressions; pieces follow each other without gaps and cover the
 * text: what the expression does not match is a piece of its own, as splitting "isolated" does.
 * Text is well-formed UTF-8 of at most SCAN_TEXT_MAX bytes; what lies behind its end does not exist
 * (look-ahead stops there).
 */
#ifndef TALLY_TOKEN_SCAN_H
#define TALLY_TOKEN_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define SCAN_BATCH 256
#define SCAN_TEXT_MAX ((size_t)UINT32_MAX - 64)
#define SCAN_ANY_DIGITS UINT32_MAX

enum scan_family {
    SCAN_WHOLE, /* no split at all */
    SCAN_GPT2,  /* 's|'t|…| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ */
    SCAN_QWEN2, /* (?i:'s|…)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,k}| ?[^\s\p{L}\p{N}]+[\r\n]*|… */
    SCAN_CASE, /* GPT-4o: [^\r\n\p{L}\p{N}]?[\p{Lu}…]*[\p{Ll}…]+(?i:'s|…)?|…|\p{N}{1,k}|… */
    SCAN_DEEPSEEK, /* [!-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|…
                    */
    SCAN_KIMI,     /* \p{Han}+ , then as SCAN_CASE with Han taken out of the letters */
    SCAN_RUNS,     /* characters of one set, up to k together; all else between */
};

/* Sets for SCAN_RUNS. */
enum scan_set {
    SCAN_NUMBERS,           /* \p{N} */
    SCAN_THREE_DIGITS,      /* [0-9][0-9][0-9], exactly */
    SCAN_KANA_AND_HAN,      /* [一-龥぀-ゟ゠-ヿ], DeepSeek V3's */
    SCAN_PUNCTUATION,       /* [\p{P}$+<=>^~|], with a backquote: Falcon's */
    SCAN_PUNCTUATION_PLAIN, /* the same without the backquote: llama.cpp's default */
    SCAN_NEWLINE,           /* \n */
    SCAN_DIGIT_GROUPS, /* \p{N} by three from the right; what lies before goes with the first */
};

struct scan_rules {
    enum scan_family family;
    uint32_t digits;     /* \p{N}{1,digits}; in SCAN_RUNS the longest run */
    bool fold_all;       /* (?i:'s) also matches U+017F, as Oniguruma folds; llama.cpp does not */
    bool no_contraction; /* without the alternatives of 's */
    bool marks;      /* \p{M} counts as a letter: SCAN_QWEN2 (Qwen3.5), SCAN_CASE (ascii_case) */
    bool whole_end;  /* SCAN_QWEN2: \s+$ comes first (cl100k) */
    bool ascii_case; /* SCAN_CASE as llama.cpp writes it: case of ASCII only, no \p{M} */
    bool older;      /* llama.cpp's Unicode, 15.1: newer characters are none of the classes */
    enum scan_set set;
};

/* Fills end[] with up to SCAN_BATCH ends (offsets from text's start); at < text.n. Returns how
 * many, at least 1. */
size_t scan(const struct scan_rules *rules, struct str text, size_t at, uint32_t end[SCAN_BATCH]);

#endif
