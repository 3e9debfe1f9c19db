#include "options.h"

#include <assert.h>
#include <stddef.h>

#include "base/num.h"
#include "profile.h"
#include "suggest.h"

enum kind { HEADING = 0, FLAG, STRING, CHOICE, INTEGER, REAL, DURATION, FAULT };

struct option {
    const char *name;
    enum kind kind;
    size_t offset;
    const char *arg, *fallback; /* NULL: no default */
    const char *help;           /* CHOICE: the choices stand in arg, joined by '|' */
    int64_t min, max;
};

#define AT(member) offsetof(struct sim_options, member)

/* clang-format off */
static const struct option table[] = {
    {"What is served", HEADING, 0, NULL, NULL, NULL, 0, 0},
    {"profile", STRING, AT(profile), "NAME", "llama-server", "which server is played (list below)", 0, 0},
    {"tokenizer", STRING, AT(tokenizer), "FILE", NULL, "tokenizer.json or GGUF that counts; needed unless --null", 0, 0},
    {"reference", STRING, AT(reference), "NAME", NULL, "count as huggingface or llama.cpp (default: as the file's kind says)", 0, 0},
    {"model", STRING, AT(model), "NAME", NULL, "name in /v1/models; default: the tokenizer file's name", 0, 0},
    {"port", INTEGER, AT(port), "N", "0", "TCP port on 127.0.0.1; 0 takes a free one", 0, 65535},
    {"unix", STRING, AT(unix_path), "PATH", NULL, "listen on a Unix socket instead", 0, 0},
    {"context", INTEGER, AT(context), "N", "32768", "context size in tokens", 16, 16777216},
    {"The model of time", HEADING, 0, NULL, NULL, NULL, 0, 0},
    {"slots", INTEGER, AT(slots), "N", "16", "sequences worked on at once; more wait", 1, 1024},
    {"batching", CHOICE, AT(batching), "continuous|serial", "continuous", "serial: one request at a time", 0, 0},
    {"prefill-rate", REAL, AT(prefill_tok_s), "TOK/S", "8000", "prompt tokens a second", 0, 0},
    {"prefill-chunk", INTEGER, AT(prefill_chunk), "N", "2048", "prompt tokens a step, shared by all prompts", 1, 16777216},
    {"decode-base", DURATION, AT(decode_base_ns), "TIME", "5ms", "time of a decode step", 0, 0},
    {"decode-per-seq", DURATION, AT(decode_per_seq_ns), "TIME", "500us", "and for each sequence in it", 0, 0},
    {"jitter", REAL, AT(jitter), "SHARE", "0.02", "each step is up to this share longer or shorter (0 to 1)", 0, 0},
    {"seed", INTEGER, AT(seed), "N", "1", "of the jitter and of natural lengths", 0, INT64_MAX},
    {"Answers", HEADING, 0, NULL, NULL, NULL, 0, 0},
    {"text", CHOICE, AT(text), "stable|noisy", "stable", "stable: reads back as the same tokens; noisy: it mostly does not", 0, 0},
    {"natural-tokens", INTEGER, AT(natural_tokens), "N", "64", "mean length of an answer that the model ends itself", 1, 1000000},
    {"tokens-per-chunk", INTEGER, AT(tokens_per_chunk), "N", "1", "tokens in one event", 1, 1024},
    {"reasoning", INTEGER, AT(reasoning), "N", "0", "the first N tokens come as reasoning_content", 0, 1000000},
    {"tool-call", FLAG, AT(tool_call), NULL, NULL, "tokens come as the arguments of a tool call (chat)", 0, 0},
    {"log-times", STRING, AT(log_times), "FILE", NULL, "write each token's send time: REQUEST TOKEN BEFORE_NS AFTER_NS, monotonic", 0, 0},
    {"loading", DURATION, AT(loading_ns), "TIME", "0", "so long after the start everything is answered 503: the model is loading", 0, 0},
    {"Calibrating a client", HEADING, 0, NULL, NULL, NULL, 0, 0},
    {"null", FLAG, AT(null), NULL, NULL, "no model: a fixed schedule of ready-made events, as light as can be; prompt counts are made up", 0, 0},
    {"rate", REAL, AT(rate), "TOK/S", "0", "--null: tokens a second of each stream; 0: flat out", 0, 0},
    {"first", DURATION, AT(first_ns), "TIME", "0", "--null: time to the first token", 0, 0},
    {"no-spread", FLAG, AT(no_spread), NULL, NULL, "--null: streams that begin together also tick together", 0, 0},
    {"stamp", FLAG, AT(stamp), NULL, NULL, "--null: each token's text is its send time in monotonic ns", 0, 0},
    {"Faults", HEADING, 0, NULL, NULL, NULL, 0, 0},
    {"fault", FAULT, AT(faults), "KIND[:ARG]", NULL, "something wrong on purpose (list below); may be given several times", 0, 0},
    {"fault-every", INTEGER, AT(faults.every), "N", "0", "only every N-th request; 0: all", 0, INT64_MAX},
    {"fault-first", INTEGER, AT(faults.first), "N", "0", "only the first N requests; 0: all", 0, INT64_MAX},
    {"fault-after", INTEGER, AT(faults.after), "N", "0", "the first N requests are spared, and counting begins behind them", 0, INT64_MAX},
    {"Help", HEADING, 0, NULL, NULL, NULL, 0, 0},
    {"help", FLAG, AT(help), NULL, NULL, "print this", 0, 0},
    {"version", FLAG, AT(version), NULL, NULL, "print the version", 0, 0},
};
/* clang-format on */

#define TABLE_N (sizeof table / sizeof table[0])

static int bad_value(const struct option *o, const char *value, const char *wanted,
                     struct error *err)
{
    error_set(err, ERROR_USAGE, "--%s: '%s' is no %s", o->name, value, wanted);
    return o->fallback ? error_remedy(err, "--%s %s", o->name, o->fallback)
                       : error_remedy(err, "--%s %s", o->name, o->arg);
}

static int set_choice(const struct option *o, void *at, const char *value, struct error *err)
{
    struct str left = str_of(o->arg), one;
    bool more = true;
    while (more) {
        more = str_cut(left, '|', &one, &left);
        if (str_eq(one, str_of(value))) {
            *(const char **)at = value;
            return 0;
        }
    }
    error_set(err, ERROR_USAGE, "--%s: '%s' is none of %s", o->name, value, o->arg);
    return error_remedy(err, "--%s %s", o->name, o->fallback);
}

static int set_integer(const struct option *o, void *at, const char *value, struct error *err)
{
    int64_t n;
    if (num_parse_i64(&n, str_of(value)) < 0)
        return bad_value(o, value, "integer", err);
    if (n < o->min || n > o->max) {
        error_set(err, ERROR_USAGE, "--%s: %s is not within %lld and %lld", o->name, value,
                  (long long)o->min, (long long)o->max);
        return error_remedy(err, "--%s %s", o->name, o->fallback);
    }
    *(int64_t *)at = n;
    return 0;
}

static int set(const struct option *o, struct sim_options *to, const char *value, struct error *err)
{
    void *at = (char *)to + o->offset;
    double real;
    switch (o->kind) {
    case STRING:
        *(const char **)at = value;
        return 0;
    case CHOICE:
        return set_choice(o, at, value, err);
    case INTEGER:
        return set_integer(o, at, value, err);
    case REAL:
        if (num_parse_double(&real, str_of(value)) < 0 || real < 0 || real > 1e12)
            return bad_value(o, value, "number from 0 up", err);
        *(double *)at = real;
        return 0;
    case DURATION:
        if (num_parse_duration_ns(at, str_of(value)) < 0)
            return bad_value(o, value, "duration (250ms, 5s)", err);
        return 0;
    case FAULT:
        return fault_add(&to->faults, value, err);
    default:
        *(bool *)at = true;
        return 0;
    }
}

static int unknown(struct str name, struct error *err)
{
    const char *names[TABLE_N];
    size_t n = 0;
    for (size_t i = 0; i < TABLE_N; i++)
        if (table[i].kind != HEADING)
            names[n++] = table[i].name;
    error_set(err, ERROR_USAGE, "there is no option --%.*s", STR_ARG(name));
    const char *near = suggest(name, names, n);
    return near ? error_remedy(err, "did you mean --%s?", near)
                : error_remedy(err, "tally-sim --help lists the options");
}

/* The option at argv[*i]; *i moves on to its value where that is an argument of its own. */
static int parse_one(struct sim_options *o, int argc, char **argv, int *i, struct error *err)
{
    struct str arg = str_of(argv[*i]), name, value;
    if (!str_starts(arg, STR("--"))) {
        error_set(err, ERROR_USAGE, "'%s' is no option", argv[*i]);
        return error_remedy(err, "tally-sim --help lists the options");
    }
    bool inline_value = str_cut(str_skip(arg, 2), '=', &name, &value);
    for (size_t k = 0; k < TABLE_N; k++) {
        const struct option *row = &table[k];
        if (row->kind == HEADING || !str_eq(name, str_of(row->name)))
            continue;
        if (row->kind == FLAG && inline_value)
            return error_set(err, ERROR_USAGE, "--%s takes no value", row->name);
        if (row->kind == FLAG)
            return set(row, o, "", err);
        if (inline_value)
            return set(row, o, value.p, err); /* ends where argv's string ends */
        if (*i + 1 >= argc) {
            error_set(err, ERROR_USAGE, "--%s needs a value", row->name);
            return error_remedy(err, "--%s %s", row->name,
                                row->fallback ? row->fallback : row->arg);
        }
        return set(row, o, argv[++*i], err);
    }
    return unknown(name, err);
}

static int validate(const struct sim_options *o, struct error *err)
{
    if (!profile_find(o->profile)) {
        const char *names[16];
        for (size_t i = 0; i < profiles_n; i++)
            names[i] = profiles[i].name;
        error_set(err, ERROR_USAGE, "there is no profile '%s'", o->profile);
        const char *near = suggest(str_of(o->profile), names, profiles_n);
        return near ? error_remedy(err, "did you mean --profile %s?", near)
                    : error_remedy(err, "tally-sim --help lists the profiles");
    }
    enum tokenizer_reference reference;
    if (tokenizer_reference_parse(&reference, o->reference) < 0) {
        error_set(err, ERROR_USAGE, "--reference %.64s: there is no such one", o->reference);
        return error_remedy(err, "it is huggingface or llama.cpp");
    }
    if (!o->tokenizer && !o->null) {
        error_set(err, ERROR_USAGE, "without a tokenizer nothing can be counted");
        return error_remedy(err, "--tokenizer FILE (a tokenizer.json or a GGUF), or --null");
    }
    if (o->prefill_tok_s <= 0 || o->jitter > 1) {
        error_set(err, ERROR_USAGE, "%s",
                  o->jitter > 1 ? "--jitter is a share from 0 to 1"
                                : "--prefill-rate must be above 0");
        return error_remedy(err, o->jitter > 1 ? "--jitter 0.02" : "--prefill-rate 8000");
    }
    if (!o->null && (o->stamp || o->rate > 0 || o->first_ns > 0 || o->no_spread)) {
        error_set(err, ERROR_USAGE, "--rate, --first, --stamp and --no-spread are for --null only");
        return error_remedy(err, "add --null, or use --decode-base and --prefill-rate");
    }
    return 0;
}

int options_parse(struct sim_options *o, int argc, char **argv, struct error *err)
{
    *o = (struct sim_options){0};
    for (size_t i = 0; i < TABLE_N; i++) {
        int got = table[i].fallback ? set(&table[i], o, table[i].fallback, err) : 0;
        assert(got == 0);
        (void)got;
    }
    for (int i = 1; i < argc; i++)
        if (parse_one(o, argc, argv, &i, err) < 0)
            return -1;
    return o->help || o->version ? 0 : validate(o, err);
}

#define COLUMN 28
#define WIDTH 80

/* name, then the text from COLUMN on, broken between words. */
static void add_row(struct buf *out, const char *name, const char *text)
{
    struct str left = str_of(text), word;
    size_t at = strlen(name) + 2;
    bool more = true;
    buf_addf(out, "  %s", name);
    if (at + 1 >= COLUMN) {
        buf_addc(out, '\n');
        at = 0;
    }
    buf_pad(out, ' ', COLUMN - at);
    at = COLUMN;
    while (more) {
        more = str_cut(left, ' ', &word, &left);
        if (at > COLUMN && at + 1 + word.n > WIDTH) {
            buf_addc(out, '\n');
            buf_pad(out, ' ', COLUMN);
            at = COLUMN;
        }
        if (at > COLUMN) {
            buf_addc(out, ' ');
            at++;
        }
        buf_addstr(out, word);
        at += word.n;
    }
    buf_addc(out, '\n');
}

static void add_option(struct buf *out, const struct option *o)
{
    struct buf name = BUF_INIT(128), text = BUF_INIT(512);
    if (o->kind == HEADING) {
        buf_addf(out, "\n%s:\n", o->name);
    } else {
        buf_addf(&name, "--%s%s%s", o->name, o->arg ? " " : "", o->arg ? o->arg : "");
        buf_adds(&text, o->help);
        if (o->fallback)
            buf_addf(&text, " [%s]", o->fallback);
        add_row(out, buf_str(&name).p, buf_str(&text).p);
    }
    buf_release(&name);
    buf_release(&text);
}

void options_help(struct buf *out)
{
    buf_adds(out,
             "usage: tally-sim --profile NAME --tokenizer FILE [OPTION...]\n\n"
             "A simulated LLM server for trying and testing clients. It binds 127.0.0.1 only,\n"
             "prints its URL when it listens, and ends on SIGINT or SIGTERM.\n");
    for (size_t i = 0; i < TABLE_N; i++)
        add_option(out, &table[i]);
    buf_adds(out, "\nProfiles:\n");
    for (size_t i = 0; i < profiles_n; i++)
        add_row(out, profiles[i].name, profiles[i].summary);
    buf_adds(out, "\nFaults, with their default arguments:\n");
    for (int i = 0; i < FAULTS_N; i++) {
        const struct fault_info *f = fault_describe((enum fault_kind)i);
        struct buf name = BUF_INIT(64);
        buf_addf(&name, "%s%s%s", f->name, f->arg ? ":" : "", f->fallback);
        add_row(out, buf_str(&name).p, f->text);
        buf_release(&name);
    }
    buf_adds(
        out,
        "\nExit codes: 0 ended by a signal, 2 usage or a bad tokenizer file, 5 environment.\n");
}
