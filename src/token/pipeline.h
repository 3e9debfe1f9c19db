/*
 * The steps around the model, as a file states them: normalize, split, model, post-process, decode.
 *
 *     struct pipeline p;
 *     if (pipeline_from_json(&p, vocab, err) < 0) ...    // or pipeline_from_gguf
 *     pipeline_release(&p);
 *
 * A component that is not known is ERROR_UNSUPPORTED naming it. Ownership: texts point into the
 * vocab; tables and expressions are the pipeline's own.
 * Limits: PIPELINE_STEPS_MAX normalizers, splits and decoders each.
 */
#ifndef TALLY_TOKEN_PIPELINE_H
#define TALLY_TOKEN_PIPELINE_H

#include "base/buf.h"
#include "base/error.h"
#include "token/charsmap.h"
#include "token/model.h"
#include "token/regex.h"
#include "token/scan.h"
#include "vocab/vocab.h"

#define PIPELINE_STEPS_MAX 16
#define PIPELINE_SPECIAL_MAX 64

enum norm_op {
    NORM_NFC,
    NORM_NFD,
    NORM_NFKC,
    NORM_NFKD,
    NORM_LOWERCASE,
    NORM_STRIP_ACCENTS,
    NORM_REPLACE, /* text by with, or regex by with */
    NORM_PREPEND, /* text, unless there is nothing to put it before */
    NORM_STRIP,   /* white space at the ends */
    NORM_PRECOMPILED,
    NORM_BERT,
    NORM_NMT,
    NORM_BYTE_LEVEL,  /* every byte as its character */
    NORM_BERT_LLAMA,  /* llama.cpp's for "bert" */
    NORM_LOWER_LLAMA, /* llama.cpp's lower case: one character for one */
    NORM_UGM,         /* llama.cpp's for "t5" */
    NORM_SPM,         /* SentencePiece's own */
};

struct norm_step {
    enum norm_op op;
    struct str text, with;
    struct regex *regex;
    struct charsmap *charsmap;
    struct trie *prefixes; /* NORM_UGM, NORM_SPM: of user-defined tokens */
    bool left, right; /* NORM_STRIP; NORM_UGM, NORM_SPM: a space in front; NORM_SPM: or behind */
    bool clean, chinese, accents,
        lower;   /* NORM_BERT; NORM_UGM, NORM_SPM: clean, spaces are merged */
    bool escape; /* NORM_SPM: spaces become U+2581 */
};

enum split_op {
    SPLIT_SCAN,      /* a scanner of its own: isolated */
    SPLIT_LITERAL,   /* occurrences of text */
    SPLIT_REGEX,     /* matches of an expression */
    SPLIT_SET,       /* single characters of a set */
    SPLIT_WORDS,     /* \w+|[^\w\s]+ , the rest dropped */
    SPLIT_METASPACE, /* rewrites spaces, then splits before each */
    SPLIT_PREFIX,    /* puts a space in front of a piece that has none */
    SPLIT_SCRIPTS,   /* where the script changes */
    SPLIT_NFD_WORDS, /* llama.cpp's "bert": white space dropped, punctuation alone */
};

enum split_set { SET_SPACE, SET_BERT_PUNCTUATION, SET_NUMERIC, SET_CHAR };

enum split_behavior {
    SPLIT_REMOVED,
    SPLIT_ISOLATED,
    SPLIT_MERGED_WITH_PREVIOUS,
    SPLIT_MERGED_WITH_NEXT,
    SPLIT_CONTIGUOUS,
};

enum prepend { PREPEND_NEVER, PREPEND_FIRST, PREPEND_ALWAYS };

struct split_step {
    enum split_op op;
    enum split_behavior behavior;
    bool invert;
    struct scan_rules scan;
    const char *name; /* of the scanner's family */
    struct str text;  /* literal; Metaspace's replacement; the expression */
    enum split_set set;
    uint32_t cp;
    struct regex *regex;
    enum prepend prepend;
    bool split; /* Metaspace */
};

enum decode_op {
    DECODE_BYTE_LEVEL,
    DECODE_REPLACE,       /* text by with in each token */
    DECODE_BYTE_FALLBACK, /* <0x41> */
    DECODE_FUSE,
    DECODE_STRIP, /* start and stop characters `text` at the ends of each token */
    DECODE_METASPACE,
    DECODE_WORDPIECE,
    DECODE_BPE, /* the suffix becomes a space */
    DECODE_CTC, /* what repeats is one; pads (text) are dropped, delimiters (with) become spaces */
};

struct decode_step {
    enum decode_op op;
    struct str text, with;
    struct regex *regex;
    size_t start, stop;
    bool flag; /* WordPiece, CTC: cleanup; Metaspace: a leading space is dropped */
};

struct id_list {
    uint32_t id[PIPELINE_SPECIAL_MAX];
    uint32_t n;
};

struct pipeline {
    bool llama_cpp;        /* the reference mode is llama.cpp's */
    const char *reference; /* its name */
    struct model_settings model;
    struct norm_step norm[PIPELINE_STEPS_MAX];
    unsigned norm_n;
    struct split_step split[PIPELINE_STEPS_MAX];
    unsigned split_n;
    struct decode_step decode[PIPELINE_STEPS_MAX];
    unsigned decode_n;
    bool decode_plain;            /* no decoder: tokens are joined by a space */
    bool byte_level;              /* the splits end in ByteLevel */
    bool escape_spaces;           /* llama.cpp: " " becomes U+2581 */
    bool space_prefix;            /* llama.cpp: a space in front of text behind a special token */
    const char *pre;              /* name of the family */
    struct id_list before, after; /* what add_special puts around a text */
};

int pipeline_from_json(struct pipeline *p, const struct vocab *v,
                       struct error *err) TALLY_MUST_CHECK;
int pipeline_from_gguf(struct pipeline *p, const struct vocab *v,
                       struct error *err) TALLY_MUST_CHECK;
int pipeline_from_spm(struct pipeline *p, const struct vocab *v,
                      struct error *err) TALLY_MUST_CHECK;
int pipeline_from_tiktoken(struct pipeline *p, const struct vocab *v,
                           struct error *err) TALLY_MUST_CHECK;
/* What llama.cpp would do with the GGUF that its converter makes of a tokenizer.json;
 * ERROR_UNSUPPORTED where the file does not hold what that needs. */
int pipeline_llama_from_json(struct pipeline *p, const struct vocab *v,
                             struct error *err) TALLY_MUST_CHECK;
void pipeline_release(struct pipeline *p);

/* Parts of pipeline_from_json. */
int pipeline_read_normalizer(struct pipeline *p, const struct json *c,
                             struct error *err) TALLY_MUST_CHECK;
int pipeline_read_pre_tokenizer(struct pipeline *p, const struct json *c,
                                struct error *err) TALLY_MUST_CHECK;
int pipeline_read_decoder(struct pipeline *p, const struct json *c,
                          struct error *err) TALLY_MUST_CHECK;
/* "Where \"what\" is not supported", with its remedy. */
int pipeline_unsupported(struct error *err, const char *where, struct str what);
/* The component's type, or "" for null and absent ones. */
int pipeline_type(struct str *type, const struct json *c, const char *where, struct error *err);
bool pipeline_flag(const struct json *c, const char *name, bool otherwise);
/* A pattern {"String": ..} or {"Regex": ..}: *regex is NULL for the former. */
int pipeline_pattern(struct str *text, bool *is_regex, const struct json *c, const char *where,
                     struct error *err);

/* Recognizes a regular expression that has a scanner of its own; -1 when it has none. */
int pipeline_find_scanner(struct scan_rules *rules, const char **name, struct str pattern);

/* The pipeline in canonical words, for its digest. */
void pipeline_describe(const struct pipeline *p, const struct vocab *v, struct buf *out);

#endif
