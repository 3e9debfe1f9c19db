/* The texts of --help, from the tables, in 80 columns. */
#include <string.h>

#include "base/utf8.h"
#include "cli/cli.h"

#define HELP_WIDTH 80
#define HELP_COLUMN 26 /* where the options' explanations begin */

/* Prints text word by word, starting at column `at`, further lines indented to `indent`. */
static void wrap(FILE *out, struct str text, size_t at, size_t indent)
{
    bool first = true;

    while (text.n > 0) {
        size_t n = 0, width;
        while (n < text.n && text.p[n] != ' ' && text.p[n] != '\n')
            n++;
        if (n > 0) {
            struct str word = str_first(text, n);
            width = utf8_width(word);
            if (!first && at + 1 + width > HELP_WIDTH) {
                fprintf(out, "\n%*s", (int)indent, "");
                at = indent;
            } else if (!first) {
                fputc(' ', out);
                at++;
            }
            fwrite(word.p, 1, word.n, out);
            at += width;
            first = false;
        }
        text = str_skip(text, n < text.n ? n + 1 : n);
    }
    fputc('\n', out);
}

static void paragraphs(FILE *out, struct str text)
{
    while (text.n > 0) {
        size_t end = str_find(text, STR("\n\n"));
        fputc('\n', out);
        wrap(out, str_first(text, end == STR_NONE ? text.n : end), 0, 0);
        text = end == STR_NONE ? (struct str){NULL, 0} : str_skip(text, end + 2);
    }
}

static void heading(FILE *out, const struct term *term, const char *text)
{
    fprintf(out, "\n%s%s%s\n", term_on(term, TERM_BOLD), text, term_off(term));
}

static void print_option(FILE *out, const struct option *o)
{
    char left[80], text[1024];
    size_t n;

    if (o->letter)
        snprintf(left, sizeof left, "  -%c, --%s%s%s", o->letter, o->name, o->arg ? " " : "",
                 o->arg ? o->arg : "");
    else
        snprintf(left, sizeof left, "  --%s%s%s", o->name, o->arg ? " " : "", o->arg ? o->arg : "");
    snprintf(text, sizeof text, "%s%s%s%s", o->help ? o->help : "", o->fallback ? " (default " : "",
             o->fallback ? o->fallback : "", o->fallback ? ")" : "");
    n = utf8_width(str_of(left));
    fputs(left, out);
    if (n + 2 > HELP_COLUMN)
        fprintf(out, "\n%*s", HELP_COLUMN, "");
    else
        fprintf(out, "%*s", (int)(HELP_COLUMN - n), "");
    wrap(out, str_of(text), HELP_COLUMN, HELP_COLUMN);
}

static void print_options(FILE *out, const struct term *term, const struct option *options)
{
    static const struct option help = {"help", OPTION_FLAG, 0, .help = "this text", .letter = 'h'};

    if (!options || options->kind != OPTION_HEADING)
        heading(out, term, "Options");
    for (const struct option *o = options; o && o->name; o++) {
        if (o->kind == OPTION_HEADING)
            heading(out, term, o->name);
        else if (!o->hidden)
            print_option(out, o);
    }
    print_option(out, &help);
}

static void print_commands(FILE *out, const struct term *term,
                           const struct command *const *commands)
{
    size_t widest = 0;

    for (size_t i = 0; commands[i]; i++) {
        size_t n = strlen(commands[i]->name);
        widest = n > widest ? n : widest;
    }
    heading(out, term, "Commands");
    for (size_t i = 0; commands[i]; i++) {
        fprintf(out, "  %-*s  ", (int)widest, commands[i]->name);
        wrap(out, str_of(commands[i]->summary), widest + 4, widest + 4);
    }
}

void help_program(FILE *out, const struct term *term, const struct command *const *commands)
{
    fprintf(out, "%stally%s measures LLM servers and keeps the receipt.\n",
            term_on(term, TERM_BOLD), term_off(term));
    fputs("\nUsage: tally COMMAND [OPTION...] [FILE...]\n", out);
    print_commands(out, term, commands);
    paragraphs(out,
               STR("'tally help COMMAND' (or 'tally COMMAND --help') explains one; 'tally "
                   "--version' says which program this is, and with '--json' how it was built.\n\n"
                   "Exit codes: 0 pass; 1 fail; 2 usage or unreadable input; 3 unmeasured, "
                   "incomplete or inconclusive; 4 refused: no conformant evidence; 5 "
                   "input/output or environment; 130 interrupted."));
}

void help_command(FILE *out, const struct term *term, const char *path, const struct command *c)
{
    char usage[1024];

    fprintf(out, "%s%s%s: ", term_on(term, TERM_BOLD), path, term_off(term));
    wrap(out, str_of(c->summary), strlen(path) + 2, 2);
    fputs("\nUsage: ", out);
    snprintf(usage, sizeof usage, "%s %s", path, c->usage ? c->usage : "[OPTION...]");
    wrap(out, str_of(usage), 7, 9);
    if (c->description)
        paragraphs(out, str_of(c->description));
    if (c->commands)
        print_commands(out, term, c->commands);
    if (c->run)
        print_options(out, term, c->options);
    if (c->examples) {
        heading(out, term, "Examples");
        fprintf(out, "%s", c->examples);
    }
}
