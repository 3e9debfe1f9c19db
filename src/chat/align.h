/*
 * Where two lists of token ids differ: the fewest insertions and deletions that turn one into the
 * other (E. W. Myers, "An O(ND) Difference Algorithm and Its Variations", 1986).
 *
 *     struct align_hunks h = {0};
 *     if (align_ids(&h, a, an, b, bn, err) < 0) ...
 *     align_hunks_release(&h);
 *
 * A hunk says that a[a_from, a_to) stands where b[b_from, b_to) does; hunks are in order, and all
 * between them is equal. Limits: past ALIGN_EDITS_MAX edits, what is left is one hunk.
 */
#ifndef TALLY_CHAT_ALIGN_H
#define TALLY_CHAT_ALIGN_H

#include <stddef.h>
#include <stdint.h>

#include <stdbool.h>

#include "base/error.h"

#define ALIGN_EDITS_MAX 2000

struct align_hunk {
    size_t a_from, a_to, b_from, b_to;
};
struct align_hunks {
    struct align_hunk *items;
    size_t n, cap;
};

int align_ids(struct align_hunks *out, const uint32_t *a, size_t an, const uint32_t *b, size_t bn,
              struct error *err) TALLY_MUST_CHECK;
void align_hunks_release(struct align_hunks *h);

#endif
