/* tally verify: every number of a receipt again. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/keys.h"
#include "report/text.h"
#include "verify/verify.h"

struct verify_args {
    bool json, need_signature;
    const char *trust, *corpus, *tokenizer;
    struct option_repeated keys, templates;
};

static const struct option options[] = {
    {"key", OPTION_REPEATED, OFFSET(struct verify_args, keys), "FILE", NULL,
     .help =
         "a public key (PEM) that must have signed; with it an unsigned receipt does not verify"},
    {"trust", OPTION_STRING, OFFSET(struct verify_args, trust), "FILE", NULL,
     .help = "trusted keys, instead of your own file (see 'tally key trust')"},
    {"need-signature", OPTION_FLAG, OFFSET(struct verify_args, need_signature), NULL, NULL,
     .help = "unsigned, or signed by a key that is not trusted, does not verify"},
    {"corpus", OPTION_STRING, OFFSET(struct verify_args, corpus), "FILE", NULL,
     .help = "the corpus, to make every prompt again and count it (needs --tokenizer)"},
    {"tokenizer", OPTION_STRING, OFFSET(struct verify_args, tokenizer), "FILE", NULL,
     .help = "the tokenizer, to count prompts and outputs again"},
    {"template", OPTION_REPEATED, OFFSET(struct verify_args, templates), "FILE", NULL,
     .help = "a chat template that stood around prompts, to render them again (needs --corpus; the "
             "tokenizer's own, and what servers showed of theirs, are tried by themselves)"},
    {"json", OPTION_FLAG, OFFSET(struct verify_args, json), NULL, NULL,
     .help = "rules and failures as one JSON object"},
    OPTIONS_END,
};

static int print(struct cli *cli, const struct verify_args *a, const struct verify_report *v,
                 struct error *err)
{
    struct buf text = BUF_INIT(BUF_ANY);
    struct json_writer w;
    if (a->json) {
        json_writer_init(&w, &text, 2);
        verify_json(v, &w);
        buf_addc(&text, '\n');
    } else {
        verify_text(v, &text);
    }
    int rc = buf_check(&text, "the report", err);
    if (rc == 0)
        fwrite(text.p, 1, text.n, cli->out);
    buf_release(&text);
    return rc;
}

static int run(struct cli *cli, void *args, const struct operands *o, struct error *err)
{
    const struct verify_args *a = args;
    struct verify_options how = {.need_signature = a->need_signature || a->keys.n > 0,
                                 .corpus = a->corpus,
                                 .tokenizer = a->tokenizer,
                                 .templates = a->templates.v,
                                 .templates_n = a->templates.n};
    struct envelope_signer *keys = NULL;
    struct verify_report v = {0};
    int rc = -1;
    if (a->templates.n && !a->corpus) {
        error_set(err, ERROR_USAGE, "--template needs --corpus: what is rendered");
        return error_remedy(err, "add --corpus FILE --tokenizer FILE");
    }
    if (a->corpus && !a->tokenizer) {
        error_set(err, ERROR_USAGE, "--corpus needs --tokenizer: what is counted with");
        return error_remedy(err, "add --tokenizer FILE");
    }
    if (keys_load(&a->keys, a->trust, &keys, &how.keys_n, err) < 0)
        return -1;
    how.keys = keys;
    if (verify_dir(&v, o->v[0], &how, err) == 0 && print(cli, a, &v, err) == 0)
        rc = verify_exit_code(&v);
    verify_release(&v);
    free(keys);
    return rc;
}

const struct command cmd_verify = {
    .name = "verify",
    .summary = "recompute every number of a receipt from its raw records",
    .usage = "DIR [--key FILE] [--corpus FILE --tokenizer FILE [--template FILE]]",
    .description =
        "Reads a run directory as if nobody could be trusted and lists every rule with what was "
        "seen: the files against their digests, the samples against the rules of raw records, "
        "each metric, interval and ratio computed again and compared digit by digit, the run id, "
        "the status, the signature. A rule that fails names the file, the line or the JSON "
        "path.\n\n"
        "Exit code 0: every rule that could be applied passed. 4: one failed. 3: the run was cut "
        "off before its receipt was written. 5: the directory cannot be read.",
    .examples = "tally verify demo-run\n"
                "tally verify demo-run --key ci.key.pub\n"
                "tally verify demo-run --corpus w1.jsonl --tokenizer tokenizer.json",
    .options = options,
    .args_size = sizeof(struct verify_args),
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
