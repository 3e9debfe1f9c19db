/*
 * Takes secrets out of what a receipt keeps of a command line and of URLs.
 *
 *     const char *const *kept = redact_argv(argc, argv, &arena);    // NULL: out of memory
 *
 * Taken out, and "REDACTED" put in their place:
 *   - user info of a URL: https://user:pass@host -> https://REDACTED@host, wherever in a word it
 *     stands (--lane subject=https://…);
 *   - the value of a query parameter whose name tells that it is a secret (api_key, token, …);
 *   - the value of an option whose name does (--api-key X, --api-key=X, --bearer X, --password X);
 *     names of files that hold a secret, and of environment variables, are kept (--key FILE,
 *     --api-key-file FILE, --bearer-env NAME);
 *   - header values ("--header 'Authorization: Bearer X'", -H, and the word after "Bearer " or
 *     "Basic " anywhere); all but a few harmless headers lose their value;
 *   - words that look like a provider's key (sk-…, hf_…, ghp_…).
 * What is redacted once stays as it is when it is redacted again.
 * Ownership: results live in the arena.
 */
#ifndef TALLY_RECEIPT_REDACT_H
#define TALLY_RECEIPT_REDACT_H

#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

#define REDACTED "REDACTED"

const char *const *redact_argv(size_t argc, const char *const *argv, struct arena *arena);
/* One word by itself: URLs, query parameters, schemes and keys in it. NULL: out of memory. */
const char *redact_word(struct str word, struct arena *arena);

#endif
