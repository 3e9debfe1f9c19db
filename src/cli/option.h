/*
 * One option table a command: it yields parsing, --help, suggestions and the keys of a YAML file.
 *
 *     struct args { const char *tokenizer; bool ids; int64_t window_ns; };
 *     static const struct option options[] = {
 *         {"tokenizer", OPTION_STRING, OFFSET(struct args, tokenizer), "FILE", .help = "..."},
 *         {"window", OPTION_DURATION, OFFSET(struct args, window_ns), "TIME", "60s", .help =
 * "..."}, {0}}; if (option_parse(options, &args, argc, argv, &operands, err) < 0) ...
 *
 * Types behind the offset: see option_kind. Strings are borrowed from argv (or from the document
 * given to option_apply_document). `fallback` is parsed by the same code as what is typed, so the
 * default that help shows is the default.
 * Options may stand before or behind operands; "--" ends them; "--name=value" and "--name value"
 * are the same. No abbreviations: a near miss is an error that suggests the right spelling.
 * Limits: OPTION_TABLE_MAX rows a table, OPTION_ITEMS_MAX items a list or repeated option.
 */
#ifndef TALLY_CLI_OPTION_H
#define TALLY_CLI_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "codec/json.h"

#define OPTION_TABLE_MAX 256
#define OPTION_ITEMS_MAX 64

enum option_kind {
    OPTION_NONE = 0, /* the end of a table */
    OPTION_FLAG,     /* bool; takes no value */
    OPTION_STRING,   /* const char * */
    OPTION_I64,      /* int64_t, within [min, max] where they differ */
    OPTION_DOUBLE,   /* double */
    OPTION_DURATION, /* int64_t nanoseconds, never negative: 250ms, 60s, 30min, 1h */
    OPTION_LIST,     /* struct option_list: integers separated by commas */
    OPTION_MILLI,    /* struct option_list: numbers above 0 with up to three decimals, separated by
                      * commas, held in thousandths */
    OPTION_REPEATED, /* struct option_repeated: may be given several times */
    OPTION_HEADING,  /* no option: help prints its name as the heading of what follows */
};

struct option_list {
    int64_t v[OPTION_ITEMS_MAX];
    size_t n;
};

struct option_repeated {
    const char *v[OPTION_ITEMS_MAX];
    size_t n;
};

struct option {
    const char *name; /* without the dashes */
    enum option_kind kind;
    size_t offset;
    const char *arg;      /* name of the value in help, with its unit: "FILE", "TIME" */
    const char *fallback; /* default, as typed; NULL: zero, shown as nothing */
    const char *help;     /* a phrase, no full stop; wrapped by help */
    const char *choices;  /* OPTION_STRING: "parsed|plain"; else NULL */
    int64_t min, max;     /* OPTION_I64 and each item of OPTION_LIST, OPTION_MILLI */
    char letter;          /* short form; 0 */
    bool not_in_file;     /* the option never comes from a document (--out, --dry-run) */
    bool hidden;          /* for trials of the program itself: in no help, page or completion */
};

#define OFFSET(type, member) offsetof(type, member)
#define OPTIONS_END \
    {               \
        0           \
    }

/* Rows of one table, at most OPTION_TABLE_MAX; zeroed it is empty. */
struct option_set {
    uint64_t bits[OPTION_TABLE_MAX / 64];
};

struct operands {
    char *const *v;
    int n;
    struct option_set given; /* rows of the table that stood on the command line */
    bool help;               /* --help or -h was asked for */
};

/* Fills args with the defaults of the table. A default that does not parse asserts. */
void option_defaults(const struct option *table, void *args);
/* Parses argv[0..argc), which must be the part behind the command's name; operands are moved to
 * its front. Errors are ERROR_USAGE. Defaults must have been set. */
int option_parse(const struct option *table, void *args, int argc, char **argv,
                 struct operands *operands, struct error *err) TALLY_MUST_CHECK;
/* Sets options from an object whose keys are option names with '-' as '_'; rows that
 * are in *given keep what the command line said, and those that were set are added to it.
 * Unknown keys and wrong types are errors with the place in `file`. Strings point into the
 * document. */
int option_apply_document(const struct option *table, void *args, struct option_set *given,
                          const struct json *doc, const char *file,
                          struct error *err) TALLY_MUST_CHECK;
/* The row of that name, which must be there: whether it is in the set, and putting it there. */
bool option_set_has(const struct option *table, const struct option_set *set, const char *name);
void option_set_add(const struct option *table, struct option_set *set, const char *name);
bool option_given(const struct option *table, const struct operands *operands, const char *name);

/* The candidate nearest to what was typed, or NULL when none is near enough to be meant. */
const char *suggest(const char *typed, const char *const *candidates, size_t n);

#endif
