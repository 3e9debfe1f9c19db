/*
 * What several commands do with a tokenizer: open it and hold it to an asserted digest.
 *
 *     CLI_REFERENCE(struct args, reference),              // in the option table
 *     if (cli_open_tokenizer(&t, args->tokenizer, args->reference, args->tokenizer_sha256, err) <
 * 0)
 */
#ifndef TALLY_CLI_TOKENS_H
#define TALLY_CLI_TOKENS_H

#include "base/error.h"
#include "cli/option.h"
#include "token/tokenizer.h"

#define CLI_REFERENCE(type, member)                                                          \
    {                                                                                        \
        "reference", OPTION_STRING, OFFSET(type, member), "NAME",                            \
            .choices = "huggingface|llama.cpp|tiktoken",                                     \
            .help = "count as this implementation does: huggingface, llama.cpp or tiktoken " \
                    "(default: as the file's kind says)"                                     \
    }

/* path NULL is a usage error; reference NULL goes by the file; sha256 NULL asserts nothing.
 * ERROR_REFUSED when the digest differs. */
int cli_open_tokenizer(struct tokenizer **out, const char *path, const char *reference,
                       const char *sha256, struct error *err) TALLY_MUST_CHECK;

#endif
