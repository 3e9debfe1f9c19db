/*
 * Two texts beside each other at a terminal's width: stretches that are the same stand in the same
 * rows, stretches that differ are marked as diff -y marks them ('<' only left, '>' only right, '|'
 * both), and coloured where the descriptor takes colour.
 *
 *     const struct side_stretch s[] = {{left, right, false}, {text, text, true}};
 *     if (side_by_side(out, term, "subject", "comparator", s, 2, err) < 0) ...
 *
 * Control characters and bytes that are no UTF-8 are shown escaped; a newline is shown as \n and
 * ends its row. Rows are cut by columns (utf8_width), never through a character.
 * Limits: SIDE_SAME_ROWS rows of one stretch that is the same are shown, with what is left out
 * said; a column is never narrower than SIDE_COLUMNS_MIN.
 */
#ifndef TALLY_CLI_SIDE_BY_SIDE_H
#define TALLY_CLI_SIDE_BY_SIDE_H

#include <stdio.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/term.h"

#define SIDE_INDENT 4
#define SIDE_COLUMNS_MIN 12
#define SIDE_SAME_ROWS 6

struct side_stretch {
    struct str left, right;
    bool same;
};

int side_by_side(FILE *out, const struct term *term, const char *left, const char *right,
                 const struct side_stretch *s, size_t n, struct error *err) TALLY_MUST_CHECK;

#endif
