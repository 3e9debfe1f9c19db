/*
 * PCRE2, which matches the patterns that have no scanner of their own.
 *
 *     struct library pcre2 = token_library();
 */
#ifndef TALLY_TOKEN_LIBRARY_H
#define TALLY_TOKEN_LIBRARY_H

#include "base/library.h"

struct library token_library(void);

#endif
