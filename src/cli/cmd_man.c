/* tally man COMMAND: a man page's source (scdoc), made from the tables of commands. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

#define WORDS_MAX 128

/* scdoc takes '_' and '*' as emphasis and a backslash as escape; a line must not begin with one of
 * its marks, so those are escaped everywhere; the '-' of a list only there. */
static void text(FILE *out, const char *s)
{
    char before = '\n';
    for (; *s; before = *s++) {
        if (strchr("_*\\#[]|~<>.`", *s) || (*s == '-' && before == '\n'))
            fputc('\\', out);
        fputc(*s, out);
    }
}

static void upper(FILE *out, const char *s)
{
    for (; *s; s++) {
        char c = *s == ' ' ? '-' : *s;
        fputc(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c, out);
    }
}

static void dashed(FILE *out, const char *words)
{
    for (; *words; words++)
        fputc(*words == ' ' ? '-' : *words, out);
}

static void option(FILE *out, const struct option *o)
{
    if (o->kind == OPTION_HEADING) {
        fputs("## ", out);
        upper(out, o->name);
        fputs("\n\n", out);
        return;
    }
    fputs("*--", out);
    text(out, o->name);
    fputs("*", out);
    if (o->arg) {
        fputs(" _", out);
        text(out, o->arg);
        fputs("_", out);
    }
    if (o->letter)
        fprintf(out, ", *-%c*", o->letter);
    fputs("\n\t", out);
    text(out, o->help ? o->help : "");
    if (o->fallback) {
        fputs(" (default: ", out);
        text(out, o->fallback);
        fputs(")", out);
    }
    fputs(".\n\n", out);
}

static void options(FILE *out, const struct option *table)
{
    fputs("# OPTIONS\n\n", out);
    for (const struct option *o = table; o && o->name; o++)
        if (!o->hidden)
            option(out, o);
    fputs("*--help*, *-h*\n\tExplain the command.\n\n", out);
}

/* Example lines as typed: a literal block. */
static void examples(FILE *out, const char *lines)
{
    fputs("# EXAMPLES\n\n```\n", out);
    fputs(lines, out);
    fputs(lines[0] && lines[strlen(lines) - 1] == '\n' ? "```\n\n" : "\n```\n\n", out);
}

static void paragraphs(FILE *out, const char *s)
{
    text(out, s);
    fputs("\n\n", out);
}

static void sub_commands(FILE *out, const char *words, const struct command *const *commands)
{
    fputs("# COMMANDS\n\n", out);
    for (size_t i = 0; commands[i]; i++) {
        fputs("*", out);
        text(out, words);
        fprintf(out, " %s*\n\t", commands[i]->name);
        text(out, commands[i]->summary);
        fputs(".\n\n", out);
    }
}

static const char exit_status[] =
    "# EXIT STATUS\n\n"
    "*0*\n\tPASS.\n\n"
    "*1*\n\tFAIL.\n\n"
    "*2*\n\tUsage, or a file that is not what it should be.\n\n"
    "*3*\n\tUNMEASURED, INCOMPLETE or INCONCLUSIVE.\n\n"
    "*4*\n\tREFUSED: what was measured is no conformant evidence.\n\n"
    "*5*\n\tInput/output or environment: a missing file, a full disk, a server out of reach.\n\n"
    "*130*\n\tInterrupted; what was measured is kept.\n\n";

static void page(FILE *out, const char *words, const struct command *c)
{
    fputs("tally-", out);
    dashed(out, words);
    fputs("(1)\n\n# NAME\n\ntally-", out);
    dashed(out, words);
    fputs(" - ", out);
    text(out, c->summary);
    fputs("\n\n# SYNOPSIS\n\n*tally ", out);
    text(out, words);
    fputs("* ", out);
    text(out, c->usage ? c->usage : "");
    fputs("\n\n# DESCRIPTION\n\n", out);
    paragraphs(out, c->description ? c->description : c->summary);
    if (c->commands)
        sub_commands(out, words, c->commands);
    if (c->run)
        options(out, c->options);
    fputs(exit_status, out);
    if (c->examples)
        examples(out, c->examples);
    fputs("# SEE ALSO\n\n*tally*(1), *tally-receipt*(5), *tally-corpus*(5), *tally-matrix*(5), "
          "*tally-config*(5)\n",
          out);
}

static void program_page(FILE *out)
{
    fputs("tally(1)\n\n# NAME\n\ntally - measure LLM servers and keep the receipt\n\n# SYNOPSIS\n\n"
          "*tally* _COMMAND_ \\[OPTION...\\] \\[FILE...\\]\n\n# DESCRIPTION\n\n"
          "Tallystick measures servers of language models. It counts tokens with the model's own "
          "tokenizer, stamps them at the kernel, states its own error, and refuses, with a reason "
          "and a remedy, whatever is not evidence.\n\n# COMMANDS\n\n",
          out);
    for (size_t i = 0; tally_commands[i]; i++) {
        fprintf(out, "*tally-%s*(1)\n\t", tally_commands[i]->name);
        text(out, tally_commands[i]->summary);
        fputs(".\n\n", out);
    }
    fputs(exit_status, out);
    fputs("# FILES\n\n"
          "_\\~/.config/tallystick/trusted\\_keys_\n\tKeys whose signatures are trusted; "
          "$TALLY\\_CONFIG names another folder.\n\n"
          "# ENVIRONMENT\n\n*NO\\_COLOR*\n\tNo colour.\n\n"
          "*TALLY\\_BEARER*\n\tThe secret that lanes are asked with.\n\n"
          "# SEE ALSO\n\n*tally-receipt*(5), *tally-corpus*(5), *tally-matrix*(5), "
          "*tally-config*(5)\n",
          out);
}

/* The command whose words these operands are. */
static const struct command *find(const struct operands *o, char words[WORDS_MAX])
{
    const struct command *const *commands = tally_commands;
    const struct command *found = NULL;
    words[0] = '\0';
    for (int i = 0; i < o->n; i++) {
        found = NULL;
        for (size_t k = 0; commands && commands[k] && !found; k++)
            if (strcmp(commands[k]->name, o->v[i]) == 0)
                found = commands[k];
        if (!found)
            return NULL;
        size_t used = strlen(words);
        snprintf(words + used, WORDS_MAX - used, "%s%s", used ? " " : "", found->name);
        commands = found->commands;
    }
    return found;
}

static int run(struct cli *cli, void *args, const struct operands *o, struct error *err)
{
    char words[WORDS_MAX];
    (void)args;
    if (o->n == 0) {
        program_page(cli->out);
        return 0;
    }
    const struct command *c = find(o, words);
    if (!c) {
        error_set(err, ERROR_USAGE, "there is no command of these words");
        return error_remedy(err, "'tally --help' lists the commands");
    }
    page(cli->out, words, c);
    return 0;
}

const struct command cmd_man = {
    .name = "man",
    .summary = "print a man page's source, for scdoc",
    .usage = "[COMMAND...]",
    .description = "Made from the same tables as --help. Where Tallystick is installed, "
                   "'man tally-run' shows the page itself.",
    .examples = "tally man run | scdoc | man -l -\n",
    .operands_max = -1,
    .run = run,
};
