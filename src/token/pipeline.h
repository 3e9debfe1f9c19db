/*
 * The steps around the model, as a file states them: normalize, split, post-process, decode.
 *
 *     struct pipeline p;
 *     if (pipeline_from_json(&p, vocab, err) < 0) ...    // or pipeline_from_gguf
 *     pipeline_release(&p);
 *
 * A component that is not known is ERROR_UNSUPPORTED naming it. Ownership: texts point into the
 * vocab; id lists are the pipeline's own.
 */
#ifndef TALLY_TOKEN_PIPELINE_H
#define TALLY_TOKEN_PIPELINE_H

#include "base/buf.h"
#include "base/error.h"
#include "token/scan.h"
#include "vocab/vocab.h"

#define PIPELINE_STEPS_MAX 16
#define PIPELINE_SPECIAL_MAX 64

enum norm_op { NORM_NFC };

struct norm_step {
    enum norm_op op;
};

struct id_list {
    uint32_t id[PIPELINE_SPECIAL_MAX];
    uint32_t n;
};

struct pipeline {
    bool llama_cpp;  /* the reference mode */
    bool byte_level; /* the model sees bytes, spelled in the 256-character alphabet */
    bool ignore_merges;
    bool decode_bytes; /* the decoder is ByteLevel */
    bool decode_plain; /* no decoder: pieces are joined by a space */
    struct norm_step norm[PIPELINE_STEPS_MAX];
    unsigned norm_n;
    struct scan_rules scan;
    const char *pre;              /* name of the family */
    struct id_list before, after; /* what add_special puts around a text */
};

int pipeline_from_json(struct pipeline *p, const struct vocab *v,
                       struct error *err) TALLY_MUST_CHECK;
int pipeline_from_gguf(struct pipeline *p, const struct vocab *v,
                       struct error *err) TALLY_MUST_CHECK;

/* Recognizes a regular expression that has a scanner of its own; -1 when it has none. */
int pipeline_find_scanner(struct scan_rules *rules, const char **name, struct str pattern);

/* The pipeline in canonical words, for its digest. */
void pipeline_describe(const struct pipeline *p, const struct vocab *v, struct buf *out);

#endif
