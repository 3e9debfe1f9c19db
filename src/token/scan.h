/*
 * Pre-tokenizers by hand: text -> the ends of its pieces.
 *
 *     uint32_t end[SCAN_BATCH];
 *     for (size_t at = 0, n; at < text.n; at = end[n - 1])
 *         n = scan(&rules, text, at, end);
 *
 * One scanner a family of regular expressions; pieces follow each other without gaps and cover the
 * text. Text is well-formed UTF-8 of at most SCAN_TEXT_MAX bytes; what lies behind its end does not
 * exist (look-ahead stops there).
 */
#ifndef TALLY_TOKEN_SCAN_H
#define TALLY_TOKEN_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define SCAN_BATCH 256
#define SCAN_TEXT_MAX ((size_t)UINT32_MAX - 64)

enum scan_family {
    SCAN_WHOLE, /* no split at all */
    SCAN_GPT2,  /* 's|'t|…| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ */
    SCAN_QWEN2, /* (?i:'s|…)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,k}| ?[^\s\p{L}\p{N}]+[\r\n]*|… */
};

struct scan_rules {
    enum scan_family family;
    unsigned digits; /* \p{N}{1,digits} in SCAN_QWEN2 */
    bool fold_all;   /* (?i:'s) also matches U+017F, as Oniguruma folds; llama.cpp does not */
};

/* Fills end[] with up to SCAN_BATCH ends (offsets from text's start); at < text.n. Returns how
 * many, at least 1. */
size_t scan(const struct scan_rules *rules, struct str text, size_t at, uint32_t end[SCAN_BATCH]);

#endif
