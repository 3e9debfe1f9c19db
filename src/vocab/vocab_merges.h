/*
 * The merges of a file, as they come.
 *
 *     if (merges_ready(&m, prefix, err) < 0) ...         // once the vocabulary stands
 *     if (merges_add(&m, left, right, offset, err) < 0) ...
 *     if (merges_end(&m, err) < 0) ...
 *     merges_release(&m);
 *
 * Texts become ids at once where the vocabulary and its prefix came first, as in every
 * tokenizer.json that the reference writes; else they are kept until they can. Ownership: texts are
 * copied. Limits: VOCAB_MERGES_MAX merges, VOCAB_TOKEN_BYTES_MAX bytes of what two parts make
 * together, VOCAB_MEMORY_MAX bytes of merges that are kept.
 */
#ifndef TALLY_VOCAB_MERGES_H
#define TALLY_VOCAB_MERGES_H

#include "base/buf.h"
#include "vocab/vocab_internal.h"

struct merges {
    struct vocab *v;
    bool ready;
    struct str prefix; /* dropped from right parts where the two are joined; not copied */
    uint32_t n;        /* that came */
    struct buf kept, texts;
    struct vocab_merge_text batch[VOCAB_MERGE_BATCH];
    size_t batch_n;
};

void merges_init(struct merges *m, struct vocab *v);
void merges_release(struct merges *m);
/* From here on texts can be resolved: what was kept is, now. The vocabulary must be indexed. */
int merges_ready(struct merges *m, struct str prefix, struct error *err) TALLY_MUST_CHECK;
int merges_add(struct merges *m, struct str left, struct str right, uint64_t offset,
               struct error *err) TALLY_MUST_CHECK;
int merges_end(struct merges *m, struct error *err) TALLY_MUST_CHECK;

#endif
