/* tally completions bash | zsh | fish: shell completions, made from the tables of commands. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

/* Calls `each` for every command that runs, with its words ("corpus make"). */
static void walk(const struct command *const *commands, const char *above,
                 void (*each)(FILE *out, const char *words, const struct command *c), FILE *out)
{
    for (size_t i = 0; commands[i]; i++) {
        char words[128];
        snprintf(words, sizeof words, "%s%s%s", above, above[0] ? " " : "", commands[i]->name);
        each(out, words, commands[i]);
        if (commands[i]->commands)
            walk(commands[i]->commands, words, each, out);
    }
}

static bool is_option(const struct option *o)
{
    return o->kind != OPTION_HEADING && !o->hidden;
}

static bool takes_file(const struct option *o)
{
    return o->arg && (strstr(o->arg, "FILE") || strstr(o->arg, "DIR"));
}

/* Text inside single quotes of a shell: a quote in it ends them, stands escaped, reopens them. */
static void quoted(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else
            fputc(*text, out);
    }
}

/* bash: one case a command path gives its words; options with choices or files complete by those.
 */
static void bash_words(FILE *out, const char *words, const struct command *c)
{
    fprintf(out, "        '%s') words='", words);
    for (size_t i = 0; c->commands && c->commands[i]; i++)
        fprintf(out, "%s ", c->commands[i]->name);
    for (const struct option *o = c->options; o && o->name; o++)
        if (is_option(o))
            fprintf(out, "--%s ", o->name);
    fprintf(out, "--help'%s ;;\n", c->run ? "; leaf=yes" : "");
}

static void bash_values(FILE *out, const char *words, const struct command *c)
{
    for (const struct option *o = c->options; o && o->name; o++) {
        if (!is_option(o) || o->kind == OPTION_FLAG)
            continue;
        fprintf(out, "        '%s --%s') ", words, o->name);
        if (o->choices) {
            fputs("values='", out);
            for (const char *p = o->choices; *p; p++)
                fputc(*p == '|' ? ' ' : *p, out);
            fputs("' ;;\n", out);
        } else {
            fprintf(out, "files=%s ;;\n", takes_file(o) ? "yes" : "no");
        }
    }
}

static void bash(FILE *out)
{
    fputs("# bash completion for tally; source it, or put it where bash-completion looks.\n"
          "_tally() {\n"
          "    local cur prev path i words values files leaf\n"
          "    cur=${COMP_WORDS[COMP_CWORD]}\n"
          "    prev=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    path= words= values= files= leaf=\n"
          "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
          "        case ${COMP_WORDS[i]} in\n"
          "            -*) break ;;\n"
          "            *) _tally_is \"${path:+$path }${COMP_WORDS[i]}\" || break\n"
          "               path=\"${path:+$path }${COMP_WORDS[i]}\" ;;\n"
          "        esac\n"
          "    done\n"
          "    case \"$path $prev\" in\n",
          out);
    walk(tally_commands, "", bash_values, out);
    fputs("    esac\n"
          "    if [ -n \"$values\" ]; then\n"
          "        COMPREPLY=($(compgen -W \"$values\" -- \"$cur\"))\n"
          "        return\n"
          "    fi\n"
          "    if [ \"$files\" = yes ]; then COMPREPLY=($(compgen -f -- \"$cur\")); return; fi\n"
          "    if [ \"$files\" = no ]; then COMPREPLY=(); return; fi\n"
          "    case \"$path\" in\n"
          "        '') words='",
          out);
    for (size_t i = 0; tally_commands[i]; i++)
        fprintf(out, "%s ", tally_commands[i]->name);
    fputs("help --help --version' ;;\n", out);
    walk(tally_commands, "", bash_words, out);
    fputs(
        "    esac\n"
        "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
        "    case $cur in -*) ;; *) [ -z \"$leaf\" ] || COMPREPLY+=($(compgen -f -- \"$cur\")) ;; "
        "esac\n"
        "}\n"
        "_tally_is() {\n"
        "    case $1 in\n        ",
        out);
    fputs("_none_", out);
    for (size_t i = 0; tally_commands[i]; i++) {
        const struct command *c = tally_commands[i];
        fprintf(out, "|'%s'", c->name);
        for (size_t k = 0; c->commands && c->commands[k]; k++)
            fprintf(out, "|'%s %s'", c->name, c->commands[k]->name);
    }
    fputs(") return 0 ;;\n    esac\n    return 1\n}\ncomplete -o filenames -F _tally tally\n", out);
}

/* zsh: one _arguments call a command. In its specs ':' and brackets are special. */
static void zsh_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (strchr(":[]\\", *text))
            fputc('\\', out);
        if (*text == '\'')
            fputs("'\\''", out);
        else
            fputc(*text, out);
    }
}

static void zsh_option(FILE *out, const struct option *o)
{
    fprintf(out, "                '%s--%s[", o->kind == OPTION_REPEATED ? "*" : "", o->name);
    zsh_text(out, o->help ? o->help : "");
    fputs("]", out);
    if (o->kind != OPTION_FLAG) {
        fputs(":", out);
        zsh_text(out, o->arg ? o->arg : "VALUE");
        fputs(":", out);
        if (o->choices) {
            fputs("(", out);
            for (const char *p = o->choices; *p; p++)
                fputc(*p == '|' ? ' ' : *p, out);
            fputs(")", out);
        } else if (takes_file(o)) {
            fputs("_files", out);
        }
    }
    fputs("' \\\n", out);
}

static void zsh_case(FILE *out, const char *words, const struct command *c)
{
    fprintf(out, "        '%s')\n", words);
    if (c->commands && !c->run) {
        fputs("            local -a names; names=(", out);
        for (size_t i = 0; c->commands[i]; i++) {
            fputs(" '", out);
            fputs(c->commands[i]->name, out);
            fputc(':', out);
            zsh_text(out, c->commands[i]->summary);
            fputc('\'', out);
        }
        fputs(")\n            _describe command names ;;\n", out);
        return;
    }
    fputs("            _arguments \\\n", out);
    for (const struct option *o = c->options; o && o->name; o++)
        if (is_option(o))
            zsh_option(out, o);
    fputs("                '--help[explain the command]' \\\n                '*:FILE:_files' ;;\n",
          out);
}

static void zsh(FILE *out)
{
    fputs("#compdef tally\n"
          "_tally() {\n"
          "    local path=\n"
          "    integer at=2\n"
          "    while (( at < CURRENT )) && _tally_is \"${path:+$path }${words[at]}\"; do\n"
          "        path=\"${path:+$path }${words[at]}\"\n"
          "        (( at++ ))\n"
          "    done\n"
          "    if (( at > 2 )); then\n"
          "        words=(tally \"${(@)words[at,-1]}\")\n"
          "        (( CURRENT -= at - 2 ))\n"
          "    fi\n"
          "    case $path in\n"
          "        '')\n"
          "            local -a names; names=(",
          out);
    for (size_t i = 0; tally_commands[i]; i++) {
        fprintf(out, " '%s:", tally_commands[i]->name);
        zsh_text(out, tally_commands[i]->summary);
        fputc('\'', out);
    }
    fputs(")\n            _describe command names ;;\n", out);
    walk(tally_commands, "", zsh_case, out);
    fputs("    esac\n}\n_tally_is() {\n    case $1 in\n        (_none_", out);
    for (size_t i = 0; tally_commands[i]; i++) {
        const struct command *c = tally_commands[i];
        fprintf(out, "|'%s'", c->name);
        for (size_t k = 0; c->commands && c->commands[k]; k++)
            fprintf(out, "|'%s %s'", c->name, c->commands[k]->name);
    }
    fputs(") return 0 ;;\n    esac\n    return 1\n}\n"
          "if [ \"$funcstack[1]\" = _tally ]; then _tally \"$@\"; else compdef _tally tally; fi\n",
          out);
}

/* fish: a line an option, under the condition that the command's words were typed. */
static void fish_lines(FILE *out, const char *words, const struct command *c)
{
    const char *last = strrchr(words, ' ');
    char above[128] = "";
    if (last)
        snprintf(above, sizeof above, "%.*s", (int)(last - words), words);
    fprintf(out, "complete -c tally -f -n '__tally_at %s' -a '%s' -d '", above[0] ? above : "''",
            c->name);
    quoted(out, c->summary);
    fputs("'\n", out);
    if (c->run)
        fprintf(out, "complete -c tally -F -n '__tally_at %s'\n", words);
    for (const struct option *o = c->options; o && o->name; o++) {
        if (!is_option(o))
            continue;
        fprintf(out, "complete -c tally -n '__tally_at %s' -l %s", words, o->name);
        if (o->kind != OPTION_FLAG)
            fputs(takes_file(o) ? " -r -F" : " -x", out);
        if (o->choices) {
            fputs(" -a '", out);
            for (const char *p = o->choices; *p; p++)
                fputc(*p == '|' ? ' ' : *p, out);
            fputs("'", out);
        }
        fputs(" -d '", out);
        quoted(out, o->help ? o->help : "");
        fputs("'\n", out);
    }
}

static void fish_paths(FILE *out, const char *words, const struct command *c)
{
    (void)c;
    fprintf(out, " '%s'", words);
}

static void fish(FILE *out)
{
    fputs("# fish completion for tally\n"
          "function __tally_at --description 'the command typed so far is exactly this one'\n"
          "    set -l paths",
          out);
    walk(tally_commands, "", fish_paths, out);
    fputs("\n    set -l typed\n"
          "    for word in (commandline -opc)[2..-1]\n"
          "        string match -q -- '-*' $word; and break\n"
          "        contains -- (string join ' ' $typed $word) $paths; or break\n"
          "        set -a typed $word\n"
          "    end\n"
          "    test \"$typed\" = \"$argv\"\n"
          "end\n"
          "complete -c tally -f\n",
          out);
    walk(tally_commands, "", fish_lines, out);
}

static int run(struct cli *cli, void *args, const struct operands *o, struct error *err)
{
    static const struct {
        const char *name;
        void (*print)(FILE *out);
    } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    (void)args;
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++)
        if (strcmp(o->v[0], shells[i].name) == 0) {
            shells[i].print(cli->out);
            return 0;
        }
    error_set(err, ERROR_USAGE, "no completions for the shell '%.60s'", o->v[0]);
    return error_remedy(err, "the shells are bash, zsh and fish");
}

const struct command cmd_completions = {
    .name = "completions",
    .summary = "print shell completions for bash, zsh or fish",
    .usage = "SHELL",
    .examples = "tally completions bash > ~/.local/share/bash-completion/completions/tally\n",
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
