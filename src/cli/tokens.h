/*
 * What several commands do with a tokenizer: open it and hold it to an asserted digest.
 *
 *     if (cli_open_tokenizer(&t, args->tokenizer, args->tokenizer_sha256, err) < 0) return -1;
 */
#ifndef TALLY_CLI_TOKENS_H
#define TALLY_CLI_TOKENS_H

#include "base/error.h"
#include "token/tokenizer.h"

/* path NULL is a usage error; sha256 NULL asserts nothing. ERROR_REFUSED when it differs. */
int cli_open_tokenizer(struct tokenizer **out, const char *path, const char *sha256,
                       struct error *err) TALLY_MUST_CHECK;

#endif
