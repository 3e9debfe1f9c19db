/* Finds the command, parses its options, runs it, and prints the one error it may return. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "cli/about.h"
#include "cli/cli.h"
#include "cli/version.h"

#define PATH_MAX_BYTES 128
#define COMMANDS_MAX 64

const char *cli_version(void)
{
    return TALLY_VERSION;
}

const char *cli_commit(void)
{
    return TALLY_COMMIT;
}

void cli_print_error(struct cli *cli, const struct error *err)
{
    struct buf text = BUF_INIT(BUF_ANY);

    error_format(err, &text);
    fflush(cli->out);
    fprintf(cli->err, "%stally:%s %.*s\n", term_on(&cli->err_term, TERM_ERROR),
            term_off(&cli->err_term), STR_ARG(buf_str(&text)));
    if (err->remedy[0])
        fprintf(cli->err, "  remedy: ");
    for (struct str line, rest = str_of(err->remedy); rest.n;) {
        str_cut(rest, '\n', &line, &rest);
        fprintf(cli->err, "%.*s\n%s", STR_ARG(line), rest.n ? "    " : "");
    }
    buf_release(&text);
}

static const struct command *find_command(const struct command *const *commands, const char *name)
{
    for (size_t i = 0; commands[i]; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    }
    return NULL;
}

static int unknown_command(const struct command *const *commands, const char *path,
                           const char *typed, struct error *err)
{
    const char *names[COMMANDS_MAX];
    const char *near;
    size_t n = 0;

    for (; commands[n] && n < COMMANDS_MAX; n++)
        names[n] = commands[n]->name;
    near = suggest(typed, names, n);
    error_set(err, ERROR_USAGE, "there is no command '%s %.60s'", path, typed);
    if (near)
        return error_remedy(err, "did you mean '%s %s'?", path, near);
    return error_remedy(err, "'%s --help' lists the commands", path);
}

static int check_operands(const struct command *c, const char *path, const struct operands *o,
                          struct error *err)
{
    if (o->n < c->operands_min) {
        error_set(err, ERROR_USAGE, "'%s' needs %s", path,
                  c->operands_min == 1 ? "a file" : "more files");
    } else if (c->operands_max >= 0 && o->n > c->operands_max) {
        error_set(err, ERROR_USAGE, "'%.100s' is one argument too many", o->v[c->operands_max]);
    } else {
        return 0;
    }
    return error_remedy(err, "usage: %s %s", path, c->usage ? c->usage : "");
}

static int run_leaf(struct cli *cli, const struct command *c, const char *path, int argc,
                    char **argv, struct error *err)
{
    struct operands operands = {0};
    void *args = calloc(1, c->args_size ? c->args_size : 1);
    int rc = -1;

    if (!args)
        return error_no_memory(err);
    option_defaults(c->options, args);
    if (option_parse(c->options, args, argc, argv, &operands, err) < 0) {
        if (!err->remedy[0])
            error_remedy(err, "'%s --help' explains the options", path);
        goto out;
    }
    if (operands.help) {
        help_command(cli->out, &cli->out_term, path, c);
        rc = 0;
        goto out;
    }
    if (check_operands(c, path, &operands, err) < 0)
        goto out;
    rc = c->run(cli, args, &operands, err);
out:
    free(args);
    return rc;
}

/* argv[0] is the word to look up among `commands`. */
static int dispatch(struct cli *cli, const struct command *const *commands, const char *above,
                    int argc, char **argv, bool want_help, struct error *err)
{
    const struct command *c = find_command(commands, argv[0]);
    char path[PATH_MAX_BYTES];
    static const struct option no_options[] = {{0}};

    if (!c)
        return unknown_command(commands, above, argv[0], err);
    snprintf(path, sizeof path, "%s %s", above, c->name);
    /* A command with both runs by itself unless the next word is one of its sub-commands. */
    if (c->commands && (!c->run || (argc > 1 && find_command(c->commands, argv[1])))) {
        bool asks = argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
        if (argc > 1 && !asks)
            return dispatch(cli, c->commands, path, argc - 1, argv + 1, want_help, err);
        if (want_help || asks) {
            help_command(cli->out, &cli->out_term, path, c);
            return 0;
        }
        error_set(err, ERROR_USAGE, "'%s' needs a command", path);
        return error_remedy(err, "'%s --help' lists them", path);
    }
    if (want_help) {
        help_command(cli->out, &cli->out_term, path, c);
        return 0;
    }
    if (!c->options) {
        struct command plain = *c;
        plain.options = no_options;
        return run_leaf(cli, &plain, path, argc - 1, argv + 1, err);
    }
    return run_leaf(cli, c, path, argc - 1, argv + 1, err);
}

static int run_words(struct cli *cli, int argc, char **argv, struct error *err)
{
    if (argc < 2) {
        help_program(cli->err, &cli->err_term, tally_commands);
        return 2;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0)
        return about_print(cli, argc - 2, argv + 2, err);

    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        if (argc > 2 && strcmp(argv[1], "help") == 0)
            return dispatch(cli, tally_commands, "tally", argc - 2, argv + 2, true, err);
        help_program(cli->out, &cli->out_term, tally_commands);
        return 0;
    }
    if (argv[1][0] == '-') {
        error_set(err, ERROR_USAGE, "there is no option '%.100s' before a command", argv[1]);
        return error_remedy(err, "'tally --help' lists the commands");
    }
    return dispatch(cli, tally_commands, "tally", argc - 1, argv + 1, false, err);
}

int cli_run(struct cli *cli, int argc, char **argv)
{
    struct error err = {0};
    int rc = run_words(cli, argc, argv, &err);

    /* a full disk or a closed pipe shows when the last bytes leave; results that did not arrive
     * are no success */
    if (rc >= 0 && (fflush(cli->out) != 0 || ferror(cli->out))) {
        error_set(&err, ERROR_IO, "standard output could not be written");
        error_remedy(&err, "make room on the device, or keep the reader of the pipe open");
        rc = -1;
    }
    if (rc < 0) {
        cli_print_error(cli, &err);
        rc = error_exit_code(err.kind);
    }
    return rc;
}
