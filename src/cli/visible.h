/*
 * Text for a terminal, in double quotes: control characters and bytes that are no UTF-8 escaped.
 *
 *     cli_add_visible(&line, STR("a\n"));                // "a\n", with its quotes
 */
#ifndef TALLY_CLI_VISIBLE_H
#define TALLY_CLI_VISIBLE_H

#include "base/buf.h"

void cli_add_visible(struct buf *b, struct str s);
/* The character at `at` alone, without quotes; returns how many bytes of s it was. */
size_t cli_add_visible_char(struct buf *b, struct str s, size_t at);

#endif
