/*
 * The keys that a command trusts: those named on the command line, else the user's trust file.
 *
 *     struct envelope_signer *keys;  size_t n;
 *     if (keys_load(&args->keys, args->trust, &keys, &n, err) < 0) ...
 *     free(keys);
 *
 * No trust file is no error: nobody is trusted then. One that was named must be there.
 */
#ifndef TALLY_CLI_KEYS_H
#define TALLY_CLI_KEYS_H

#include "cli/option.h"
#include "receipt/envelope.h"

int keys_load(const struct option_repeated *named, const char *trust, struct envelope_signer **keys,
              size_t *n, struct error *err) TALLY_MUST_CHECK;

#endif
