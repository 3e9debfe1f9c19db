/* tally corpus make, tally corpus check. */
#include "base/file.h"
#include "cli/cli.h"
#include "cli/tokens.h"
#include "codec/json_write.h"
#include "corpus/corpus.h"
#include "corpus/counter.h"

/* make ---------------------------------------------------------------------------------------- */

struct make_args {
    const char *tokenizer, *reference, *tokenizer_sha256, *special_text, *out;
    const char *mixture, *outputs;
    int64_t tokens, tolerance, count, seed;
};

static const struct option make_options[] = {
    {"tokenizer", OPTION_STRING, OFFSET(struct make_args, tokenizer), "FILE",
     .help = "the model's tokenizer.json or GGUF", .letter = 't'},
    CLI_REFERENCE(struct make_args, reference),
    {"tokenizer-sha256", OPTION_STRING, OFFSET(struct make_args, tokenizer_sha256), "HEX",
     .help = "assert that the tokenizer's file has this digest (exit 4 if not)"},
    {"tokens", OPTION_I64, OFFSET(struct make_args, tokens), "N", "512", .min = 1,
     .max = CORPUS_TOKENS_MAX, .help = "tokens of every prompt, exactly"},
    {"mixture", OPTION_STRING, OFFSET(struct make_args, mixture), "SHARES",
     .help = "prompts of several lengths instead, as TOKENS:PERCENT,...; or w2: "
             "128:40,512:30,2048:20,8192:10 with --outputs 16:40,128:40,512:20",
     .letter = 'm'},
    {"outputs", OPTION_STRING, OFFSET(struct make_args, outputs), "SHARES",
     .help = "tokens to generate, a share each; every line says its own"},
    {"tolerance", OPTION_I64, OFFSET(struct make_args, tolerance), "N", "8", .min = 0,
     .max = CORPUS_TOKENS_MAX, .help = "tokens more or less that the corpus promises to allow"},
    {"count", OPTION_I64, OFFSET(struct make_args, count), "N", "64", .min = 1,
     .max = CORPUS_ITEMS_MAX,
     .help = "prompts, all distinct (with --mixture or --outputs 100 unless given)", .letter = 'n'},
    {"seed", OPTION_I64, OFFSET(struct make_args, seed), "N", "7", .min = 0, .max = INT64_MAX,
     .help = "same seed, same corpus"},
    {"special-text", OPTION_STRING, OFFSET(struct make_args, special_text), "HOW", "parsed",
     .choices = "parsed|plain",
     .help = "whether text that spells a special token is that token: parsed or plain"},
    {"out", OPTION_STRING, OFFSET(struct make_args, out), "FILE", "-",
     .help = "where the corpus goes; - is standard output", .letter = 'o'},
    OPTIONS_END,
};

#define MIXTURE_COUNT 100 /* every share of whole percents is a whole number of prompts */

static int take_shares(struct mixture *m, const char *text, const char *option, struct error *err)
{
    if (text && mixture_parse(m, str_of(text), err) < 0)
        return error_wrap(err, "--%s", option);
    return 0;
}

static int take_mixture(struct corpus_spec *spec, const struct make_args *a,
                        const struct operands *operands, struct error *err)
{
    bool w2 = a->mixture && strcmp(a->mixture, "w2") == 0;

    if (a->mixture && option_given(make_options, operands, "tokens")) {
        error_set(err, ERROR_USAGE, "--tokens and --mixture are both given");
        return error_remedy(err, "a corpus has one length (--tokens) or several (--mixture)");
    }
    if (w2) {
        spec->mixture = mixture_w2_prompts;
        spec->outputs = mixture_w2_outputs;
    } else if (take_shares(&spec->mixture, a->mixture, "mixture", err) < 0) {
        return -1;
    }
    if (take_shares(&spec->outputs, a->outputs, "outputs", err) < 0)
        return -1;
    if ((a->mixture || a->outputs) && !option_given(make_options, operands, "count"))
        spec->count = MIXTURE_COUNT;
    return 0;
}

/* "of exactly 512 tokens", "of exactly 128:40,512:60 tokens (tokens:percent)" */
static void tell_made(struct cli *cli, const char *path, const struct corpus_spec *spec)
{
    struct buf text = BUF_INIT(1024);

    fprintf(cli->err, "tally: %s: %lld prompt%s of exactly ", path, (long long)spec->count,
            spec->count == 1 ? "" : "s");
    mixture_format(&spec->mixture, &text);
    if (text.n > 0)
        fprintf(cli->err, "%.*s tokens (tokens:percent)", STR_ARG(buf_str(&text)));
    else
        fprintf(cli->err, "%lld tokens", (long long)spec->tokens);
    buf_reset(&text);
    mixture_format(&spec->outputs, &text);
    if (text.n > 0)
        fprintf(cli->err, ", to generate %.*s", STR_ARG(buf_str(&text)));
    fputc('\n', cli->err);
    buf_release(&text);
}

static int run_make(struct cli *cli, void *arguments, const struct operands *operands,
                    struct error *err)
{
    const struct make_args *a = arguments;
    struct tokenizer *tokenizer = NULL;
    struct corpus_token_counter counter;
    struct buf out = BUF_INIT(CORPUS_BYTES_MAX);
    int rc = -1;

    struct corpus_spec spec = {.count = a->count,
                               .tokens = a->tokens,
                               .tolerance = a->tolerance,
                               .seed = a->seed,
                               .special_text = a->special_text};

    if (take_mixture(&spec, a, operands, err) < 0 ||
        cli_open_tokenizer(&tokenizer, a->tokenizer, a->reference, a->tokenizer_sha256, err) < 0)
        return -1;
    corpus_counter_init(&counter, tokenizer, a->special_text);
    spec.tokenizer = counter.identity;
    if (corpus_make(&spec, &counter.counter, &out, err) < 0)
        goto out;
    if (strcmp(a->out, "-") == 0) {
        fwrite(out.p, 1, out.n, cli->out);
    } else {
        if (file_write_atomic(a->out, buf_str(&out), err) < 0)
            goto out;
        tell_made(cli, a->out, &spec);
    }
    rc = 0;
out:
    buf_release(&out);
    tokenizer_free(tokenizer);
    return rc;
}

static const struct command corpus_make_command = {
    .name = "make",
    .summary = "make a corpus whose prompts have exactly so many tokens",
    .usage = "--tokenizer FILE [--tokens N | --mixture SHARES] [--count N] [--seed N] [--out FILE]",
    .description =
        "Writes JSONL: a _meta line that states what the corpus promises (count, tokens, "
        "tolerance, distinctness, the tokenizer's digests), then one prompt a line. Every prompt "
        "has exactly --tokens tokens of its own text, before any chat template; --tolerance is "
        "what a run or a check will allow. The text is plain English from tally's own word list "
        "and means nothing.\n\n"
        "With --mixture every length has exactly its share of the prompts, in an order drawn from "
        "the seed; with --outputs each line says how many tokens its answer is to have, every "
        "answer in its share of every length. Shares are whole percents that add up to 100.",
    .examples = "  tally corpus make -t tokenizer.json --tokens 512 --count 64 -o w1.jsonl\n"
                "  tally corpus make -t tokenizer.json --mixture w2 -o w2.jsonl\n"
                "  tally corpus make -t tokenizer.json --mixture 100:50,1000:50 \\\n"
                "      --outputs 16:80,256:20 --count 200 -o mixed.jsonl\n",
    .options = make_options,
    .args_size = sizeof(struct make_args),
    .run = run_make,
};

/* check --------------------------------------------------------------------------------------- */

struct check_args {
    const char *tokenizer, *reference, *tokenizer_sha256;
    bool json;
};

static const struct option check_options[] = {
    {"tokenizer", OPTION_STRING, OFFSET(struct check_args, tokenizer), "FILE",
     .help = "the model's tokenizer.json or GGUF", .letter = 't'},
    CLI_REFERENCE(struct check_args, reference),
    {"tokenizer-sha256", OPTION_STRING, OFFSET(struct check_args, tokenizer_sha256), "HEX",
     .help = "assert that the tokenizer's file has this digest (exit 4 if not)"},
    {"json", OPTION_FLAG, OFFSET(struct check_args, json), .help = "print one JSON document"},
    OPTIONS_END,
};

static void put_mixture(struct json_writer *w, const char *key, const struct mixture *m,
                        const int64_t *have)
{
    json_key(w, key);
    if (m->n == 0) {
        json_put_null(w); /* not promised */
        return;
    }
    json_begin_array(w);
    for (size_t i = 0; i < m->n; i++) {
        json_begin_object(w);
        json_key(w, "tokens");
        json_put_i64(w, m->of[i].tokens);
        json_key(w, "percent");
        json_put_i64(w, m->of[i].percent);
        json_key(w, "count");
        json_put_i64(w, have[i]);
        json_end_object(w);
    }
    json_end_array(w);
}

static void print_json(struct cli *cli, const struct corpus *c, const struct corpus_seen *seen)
{
    struct buf out = BUF_INIT(BUF_ANY);
    struct json_writer w;

    json_writer_init(&w, &out, 2);
    json_begin_object(&w);
    json_key(&w, "corpus");
    json_put_cstr(&w, c->path);
    json_key(&w, "corpus_sha256");
    json_put_cstr(&w, c->sha256);
    json_key(&w, "count");
    json_put_i64(&w, seen->count);
    json_key(&w, "tokens_min");
    json_put_i64(&w, seen->tokens_min);
    json_key(&w, "tokens_max");
    json_put_i64(&w, seen->tokens_max);
    put_mixture(&w, "mixture", &c->promise.mixture, seen->of);
    put_mixture(&w, "outputs", &c->promise.outputs, seen->outputs);
    json_key(&w, "distinct");
    if (c->promise.distinct)
        json_put_bool(&w, true);
    else
        json_put_null(&w); /* not promised, so not asserted */
    json_end_object(&w);
    fprintf(cli->out, "%.*s\n", (int)out.n, out.p);
    buf_release(&out);
}

/* "40 of 128, 30 of 512" */
static void print_shares(struct cli *cli, const struct mixture *m, const int64_t *have)
{
    for (size_t i = 0; i < m->n; i++)
        fprintf(cli->out, "%s%lld of %lld", i ? ", " : "", (long long)have[i],
                (long long)m->of[i].tokens);
}

static void print_text(struct cli *cli, const struct corpus *c, const struct corpus_seen *seen)
{
    const struct corpus_promise *p = &c->promise;

    fprintf(cli->out, "%s: %lld prompts", c->path, (long long)seen->count);
    if (p->mixture.n > 0) {
        fprintf(cli->out, ": ");
        print_shares(cli, &p->mixture, seen->of);
        fprintf(cli->out, " tokens (+- %lld)", (long long)p->tolerance);
    } else if (seen->tokens_min == seen->tokens_max) {
        fprintf(cli->out, " of %lld tokens", (long long)seen->tokens_min);
    } else {
        fprintf(cli->out, " of %lld to %lld tokens", (long long)seen->tokens_min,
                (long long)seen->tokens_max);
    }
    if (p->tokens != CORPUS_NOT_PROMISED)
        fprintf(cli->out, " (promised %lld +- %lld)", (long long)p->tokens,
                (long long)p->tolerance);
    if (p->outputs.n > 0) {
        fprintf(cli->out, ", to generate ");
        print_shares(cli, &p->outputs, seen->outputs);
    }
    fprintf(cli->out, "%s: every promise holds\n", p->distinct ? ", all distinct" : "");
}

static int run_check(struct cli *cli, void *arguments, const struct operands *operands,
                     struct error *err)
{
    const struct check_args *a = arguments;
    struct tokenizer *tokenizer = NULL;
    struct corpus_token_counter counter;
    struct corpus corpus = {0};
    struct corpus_seen seen;
    int rc = -1;

    if (cli_open_tokenizer(&tokenizer, a->tokenizer, a->reference, a->tokenizer_sha256, err) < 0)
        return -1;
    if (corpus_read(&corpus, operands->v[0], err) < 0)
        goto out;
    corpus_counter_init(&counter, tokenizer, corpus.promise.special_text);
    if (corpus_check(&corpus, &counter.counter, &counter.identity, &seen, err) < 0)
        goto out;
    if (a->json)
        print_json(cli, &corpus, &seen);
    else
        print_text(cli, &corpus, &seen);
    rc = 0;
out:
    corpus_release(&corpus);
    tokenizer_free(tokenizer);
    return rc;
}

static const struct command corpus_check_command = {
    .name = "check",
    .summary = "assert every promise of a corpus",
    .usage = "--tokenizer FILE CORPUS",
    .description = "Counts every prompt with the model's own tokenizer and asserts what the _meta "
                   "line promises. Exit 4 names the first record that breaks a promise, its count, "
                   "and the remedy; a corpus that promises nothing is refused too.",
    .examples = "  tally corpus check -t tokenizer.json w1.jsonl\n",
    .options = check_options,
    .args_size = sizeof(struct check_args),
    .operands_min = 1,
    .operands_max = 1,
    .run = run_check,
};

static const struct command *const commands[] = {&corpus_make_command, &corpus_check_command, NULL};

const struct command cmd_corpus = {
    .name = "corpus",
    .summary = "make and check corpora of exact token lengths",
    .usage = "COMMAND [OPTION...]",
    .commands = commands,
};
