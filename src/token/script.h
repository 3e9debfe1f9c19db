/*
 * Scripts of characters, as the UnicodeScripts pre-tokenizer tells them apart.
 *
 *     if (script_of(a) && script_of(b) && script_of(a) != script_of(b)) ...   // a piece ends
 * between
 *
 * The numbers mean nothing but equality; 0 is no script, which goes with any.
 */
#ifndef TALLY_TOKEN_SCRIPT_H
#define TALLY_TOKEN_SCRIPT_H

#include <stdint.h>

struct script_range {
    uint32_t from, to, script;
};

extern const struct script_range script_ranges[];
extern const uint32_t script_ranges_n;

static inline uint32_t script_of(uint32_t cp)
{
    uint32_t lo = 0, hi = script_ranges_n;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (script_ranges[mid].to < cp)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < script_ranges_n && script_ranges[lo].from <= cp ? script_ranges[lo].script : 0;
}

#endif
