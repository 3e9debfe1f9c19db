/*
 * Counting the tokens of files, one after the other or several at a time.
 *
 *     struct count_file f = {.path = "big.txt"};
 *     if (count_file(&f, t, &how, &parts, err) < 0) ...           // f.bytes, f.tokens
 *     if (count_files(&work, files, n, err) < 0) ...              // work.done for each, in order
 *
 * A file is read by pieces where the tokenizer can be cut (token/stream.h), so that its size does
 * not matter; otherwise it is mapped whole. "-" is standard input.
 * Limits: COUNT_JOBS_MAX threads; COUNT_WHOLE_MAX bytes of a file that must be whole.
 */
#ifndef TALLY_CLI_COUNT_FILES_H
#define TALLY_CLI_COUNT_FILES_H

#include "cli/cli.h"
#include "token/stream.h"

#define COUNT_JOBS_MAX 256
#define COUNT_WHOLE_MAX ((size_t)1 << 30)

struct count_file {
    const char *path;
    size_t bytes, tokens, replaced; /* replaced: ill-formed parts read as U+FFFD */
};

/* What happens with each part of a text. Either may be NULL; ids live until the call returns. */
struct count_parts {
    void *ctx;
    int (*ids)(void *ctx, const struct token_ids *ids, struct error *err);
    bool (*goes_on)(void *ctx, size_t bytes); /* so many bytes more are done; false: stop */
};

/* As errors and tables call it. */
const char *count_file_name(const char *path);

/* f->path in, the rest out. */
int count_file(struct count_file *f, const struct tokenizer *t, const struct encode_options *how,
               const struct count_parts *parts, struct error *err) TALLY_MUST_CHECK;

struct count_work {
    struct cli *cli; /* progress goes to its standard error when that is a terminal */
    const struct tokenizer *t;
    struct encode_options how;
    int64_t jobs; /* threads; 0: as many as there are processors */
    void *ctx;
    void (*done)(void *ctx, const struct count_file *f); /* each file, in the order given */
};

/* On failure *err is that of the first file that failed; those in front of it were done. */
int count_files(const struct count_work *work, struct count_file *files, size_t n,
                struct error *err) TALLY_MUST_CHECK;

#endif
