/*
 * tokenizer.ggml.pre: the ways in which llama.cpp splits text for BPE, by name.
 *
 *     const struct pre_family *f = pre_find(STR("qwen2"));          // NULL: no such name
 *     for (size_t i = 0; i < PRE_STEPS_MAX && pre_step_is(&f->splits->step[i]); i++) ...
 *
 * The steps are applied one after the other, each to the pieces of the one before. All of them use
 * llama.cpp's own Unicode. Ownership: constant tables.
 */
#ifndef TALLY_TOKEN_PIPELINE_PRE_H
#define TALLY_TOKEN_PIPELINE_PRE_H

#include "base/str.h"
#include "token/scan.h"

#define PRE_STEPS_MAX 6

struct pre_step {
    struct scan_rules scan;
    const char *regex; /* instead of a scanner */
};

struct pre_splits {
    const char *name; /* of the family */
    struct pre_step step[PRE_STEPS_MAX];
};

enum pre_flags {
    PRE_IGNORE_MERGES = 1,
    PRE_ADD_BOS = 2,
    PRE_NO_BOS = 4,         /* no id unless the file gives one */
    PRE_RAW = 8,            /* UTF-8 as it is, with byte tokens; not the 256-character alphabet */
    PRE_ESCAPE_SPACES = 16, /* U+2581 for them */
    PRE_WHOLE_NEWLINES = 32,
    PRE_ALWAYS_BOS = 64, /* whatever the file says */
};

struct pre_family {
    const char *pre;
    const struct pre_splits *splits;
    unsigned flags;
};

const struct pre_family *pre_find(struct str name);
/* The i-th one; NULL past the last. */
const struct pre_family *pre_at(size_t i);

static inline bool pre_step_is(const struct pre_step *s)
{
    return s->regex || s->scan.family != SCAN_WHOLE;
}

#endif
