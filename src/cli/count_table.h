/*
 * The table of counted files: file, bytes, tokens, bytes a token.
 *
 *     struct count_table t = {0};
 *     count_table_begin(&t, cli, paths, n);              // the heading, for names of that width
 *     count_table_row(&t, count_file_name(f.path), &f);
 *
 * As wide as the terminal, 80 columns when it is none; a name that does not fit loses its
 * beginning. Widths are columns of a terminal, so that wide characters stay aligned.
 */
#ifndef TALLY_CLI_COUNT_TABLE_H
#define TALLY_CLI_COUNT_TABLE_H

#include "cli/count_files.h"

struct count_table {
    struct cli *cli;
    size_t name_columns; /* 0 before it has begun */
};

void count_table_begin(struct count_table *t, struct cli *cli, char *const *paths, int n);
void count_table_row(struct count_table *t, const char *name, const struct count_file *f);

#endif
