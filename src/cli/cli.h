/*
 * The command line: one table of commands, each command its own small file cmd_NAME.c.
 *
 *     // cmd_count.c:  a struct of arguments, an option table over it, a run function, and
 *     const struct command cmd_count = {.name = "count", .options = options, .run = run, ...};
 *     // commands.c:   one line in the table. Parsing, help and suggestions come from the tables.
 *
 * run() gets its arguments parsed and validated, with defaults filled in. It returns an exit code
 * (spec section 3: 0 PASS, 1 FAIL, 2 usage, 3, 4, 5, 130), or -1 with *err set; main prints the
 * error in its one form and ends with the code of its kind. Results go to cli->out, progress and
 * remarks to cli->err. Nothing else prints, nothing but main exits.
 * A command with `commands` has sub-commands (`tally corpus make`); one with `run` as well runs
 * when the next word is none of them (`tally gate init`, `tally gate MATRIX RUN`).
 */
#ifndef TALLY_CLI_CLI_H
#define TALLY_CLI_CLI_H

#include <stdio.h>

#include "base/error.h"
#include "cli/option.h"
#include "cli/term.h"

struct cli {
    FILE *out, *err;
    struct term out_term, err_term; /* colour and width, each of its own descriptor */
    int argc;                       /* the whole command line, for records */
    char **argv;
};

struct command {
    const char *name;
    const char *summary;     /* one line, no full stop, for the list of commands */
    const char *usage;       /* what follows the name: "--tokenizer FILE [FILE...]" */
    const char *description; /* paragraphs separated by blank lines; wrapped by help; or NULL */
    const char *examples;    /* lines as typed, printed verbatim; or NULL */
    const struct option *options;   /* ends with a row whose name is NULL */
    size_t args_size;               /* of the struct that the options' offsets point into */
    int operands_min, operands_max; /* operands_max -1: any number */
    int (*run)(struct cli *cli, void *args, const struct operands *operands, struct error *err);
    const struct command *const *commands; /* sub-commands, NULL-terminated; else NULL */
};

/* commands.c */
extern const struct command *const tally_commands[];

/* help.c: the texts of --help, in 80 columns. path is "tally corpus make". */
void help_program(FILE *out, const struct term *term, const struct command *const *commands);
void help_command(FILE *out, const struct term *term, const char *path, const struct command *c);

/* main without exit(): runs a command line, prints its error, returns the exit code. */
int cli_run(struct cli *cli, int argc, char **argv);
/* "tally: FILE:LINE:COL: message", then "  remedy: ..." */
void cli_print_error(struct cli *cli, const struct error *err);
const char *cli_version(void);
const char *cli_commit(void); /* of the source; "unknown" outside a repository */

#endif
