/* tally probe: what a lane does with a prompt, found out before a run is spent. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/probe_report.h"
#include "cli/run_args.h"
#include "cli/tokens.h"
#include "corpus/corpus.h"
#include "load/probe.h"

struct args {
    struct option_repeated lanes, models, bearer_files, templates;
    const char *tokenizer, *reference, *tokenizer_sha256, *corpus, *prompt, *ca_file;
    int64_t timeout_ns;
    bool insecure, only_wrapper, diff, json;
};

static const struct option options[] = {
    {"lane", OPTION_REPEATED, OFFSET(struct args, lanes), "ROLE=URL",
     .help = "a server: subject=http://HOST:PORT; a second one with comparator="},
    {"tokenizer", OPTION_STRING, OFFSET(struct args, tokenizer), "FILE",
     .help = "the model's tokenizer.json or GGUF", .letter = 't'},
    CLI_REFERENCE(struct args, reference),
    {"tokenizer-sha256", OPTION_STRING, OFFSET(struct args, tokenizer_sha256), "HEX",
     .help = "assert that the tokenizer's file has this digest (exit 4 if not)"},
    {"template", OPTION_REPEATED, OFFSET(struct args, templates), "FILE",
     .help = "a chat template the servers may be using; a GGUF given as --tokenizer and a "
             "server's /props are tried by themselves",
     .letter = 'T'},
    {"corpus", OPTION_STRING, OFFSET(struct args, corpus), "FILE",
     .help = "the workload: its first prompt is probed too"},
    {"prompt", OPTION_STRING, OFFSET(struct args, prompt), "TEXT", .help = "a prompt to probe too"},
    {"only-wrapper", OPTION_FLAG, OFFSET(struct args, only_wrapper),
     .help = "leave out how the server streams, stops and repeats"},
    {"Connection", OPTION_HEADING, 0, .help = ""},
    {"model", OPTION_REPEATED, OFFSET(struct args, models), "[ROLE=]NAME",
     .help = "the model's name, where a server lists several"},
    {"bearer-file", OPTION_REPEATED, OFFSET(struct args, bearer_files), "[ROLE=]FILE",
     .help = "a file that holds the server's key (or in the environment: TALLY_BEARER)"},
    {"ca-file", OPTION_STRING, OFFSET(struct args, ca_file), "FILE",
     .help = "certificates to trust"},
    {"insecure", OPTION_FLAG, OFFSET(struct args, insecure), .help = "trust any certificate"},
    {"timeout", OPTION_DURATION, OFFSET(struct args, timeout_ns), "TIME", "120s",
     .help = "the longest that one request may take"},
    {"Output", OPTION_HEADING, 0, .help = ""},
    {"diff", OPTION_FLAG, OFFSET(struct args, diff),
     .help = "show the two renderings of each shape side by side, at the terminal's width"},
    {"json", OPTION_FLAG, OFFSET(struct args, json), .help = "print one JSON document"},
    OPTIONS_END,
};

struct inputs {
    struct run_inputs lanes;
    struct tokenizer *tokenizer;
    struct chat_template *templates[PROBE_TEMPLATES_MAX];
    size_t templates_n;
    struct corpus corpus;
    bool has_corpus;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int open_template(struct inputs *in, struct probe_options *o, const char *path,
                         struct error *err)
{
    struct chat_template *t;
    if (o->templates_n == PROBE_TEMPLATES_MAX)
        return error_set(err, ERROR_USAGE, "--template is given more than %d times",
                         PROBE_TEMPLATES_MAX);
    if (chat_template_open(&t, path, NULL, &JINJA_SYNTAX_TRANSFORMERS, err) < 0)
        return -1;
    in->templates[in->templates_n++] = t;
    o->templates[o->templates_n++] = (struct chat_named_template){base_name(path), t};
    return 0;
}

static int take_templates(struct inputs *in, struct probe_options *o, const struct args *a,
                          struct error *err)
{
    struct tokenizer_info info;
    for (size_t i = 0; i < a->templates.n; i++)
        if (open_template(in, o, a->templates.v[i], err) < 0)
            return -1;
    tokenizer_describe(in->tokenizer, &info);
    if (a->templates.n == 0 && info.chat_template)
        return open_template(in, o, a->tokenizer, err);
    return 0;
}

static int take_inputs(struct inputs *in, struct probe_options *o, const struct args *a,
                       struct error *err)
{
    const struct run_args lanes = {.lanes = a->lanes,
                                   .models = a->models,
                                   .bearer_files = a->bearer_files,
                                   .ca_file = a->ca_file,
                                   .insecure = a->insecure};
    if (a->corpus && a->prompt)
        return error_set(err, ERROR_USAGE, "--corpus and --prompt exclude each other");
    if (cli_open_tokenizer(&in->tokenizer, a->tokenizer, a->reference, a->tokenizer_sha256, err) <
            0 ||
        run_inputs_lanes(&in->lanes, &lanes, err) < 0 || take_templates(in, o, a, err) < 0)
        return -1;
    for (size_t i = 0; i < in->lanes.options.lanes_n; i++)
        o->lanes[o->lanes_n++] = in->lanes.options.lanes[i];
    if (a->corpus) {
        if (corpus_read(&in->corpus, a->corpus, err) < 0)
            return -1;
        in->has_corpus = true;
        if (in->corpus.n > 0)
            o->prompt = in->corpus.items[0].text;
    }
    if (a->prompt)
        o->prompt = str_of(a->prompt);
    o->tokenizer = in->tokenizer;
    o->timeout_ns = a->timeout_ns;
    o->only_wrapper = a->only_wrapper;
    return 0;
}

static int run(struct cli *cli, void *arguments, const struct operands *operands, struct error *err)
{
    const struct args *a = arguments;
    struct inputs in = {0};
    struct probe_options o = {0};
    struct probe *p = NULL;
    int rc = -1;
    (void)operands;
    if (take_inputs(&in, &o, a, err) == 0 && probe_run(&p, &o, err) == 0)
        rc = a->json ? probe_report_json(cli, p, err) : probe_report_text(cli, p, a->diff, err);
    probe_free(p);
    for (size_t i = 0; i < in.templates_n; i++)
        chat_template_free(in.templates[i]);
    if (in.has_corpus)
        corpus_release(&in.corpus);
    tokenizer_free(in.tokenizer);
    run_inputs_release(&in.lanes);
    return rc;
}

const struct command cmd_probe = {
    .name = "probe",
    .summary = "ask a server what it does with a prompt, and explain prompt counts",
    .usage = "--lane ROLE=URL [--lane ROLE=URL] --tokenizer FILE [OPTION...]",
    .description =
        "Sends a few short conversations to each lane, reads how many prompt tokens it reports, "
        "and compares them with what every known way to wrap a prompt predicts. A wrapper is "
        "named only when it predicts every count exactly; otherwise it is unexplained, with the "
        "residue.\n\n"
        "With two lanes, every difference between their counts is explained token by token: a "
        "default system message, a BOS, special-token text read as text. The causes add up to the "
        "difference, or the rest is listed as unexplained.\n\n"
        "Also found: whether tokens are streamed live or replayed, usage in the stream, "
        "ignore_eos, "
        "caching, slots and context where the server tells them. Exit code 3 when a wrapper stays "
        "unexplained.",
    .examples = "  tally probe --lane http://localhost:8080 --tokenizer model.gguf\n"
                "  tally probe --lane subject=http://localhost:9000 --lane "
                "comparator=http://localhost:8080 -t model.gguf\n",
    .options = options,
    .args_size = sizeof(struct args),
    .operands_min = 0,
    .operands_max = 0,
    .run = run,
};
