/* tally selftest: proves that verifying can fail. */
#define _XOPEN_SOURCE 700 /* nftw, mkdtemp */

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>

#include "base/file.h"
#include "cli/cli.h"
#include "gate/mutations.h"

#define OPEN_MAX_AT_ONCE 16

struct selftest_args {
    const char *tokenizer, *corpus;
};

static const struct option options[] = {
    {"tokenizer", OPTION_STRING, OFFSET(struct selftest_args, tokenizer), "FILE", NULL,
     .help = "with --corpus: try the rules that count prompts and outputs again"},
    {"corpus", OPTION_STRING, OFFSET(struct selftest_args, corpus), "FILE", NULL,
     .help = "prompts, as 'tally corpus make' writes them"},
    OPTIONS_END,
};

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static int print(struct cli *cli, const struct selftest *t)
{
    static const char *const words[] = {"red", "SURVIVED", "not tried"};
    bool good = t->green && t->survived == 0 && t->rules_without == 0;
    fprintf(cli->out, "%-21s %-27s %-9s %s\n", "rule", "mutation", "outcome", "where");
    fprintf(cli->out, "%-21s %-27s %s\n", "(all)", "none: as it was written",
            t->green ? "green" : "RED");
    for (size_t i = 0; i < t->n; i++) {
        const struct selftest_result *r = &t->results[i];
        fprintf(cli->out, "%-21s %-27s %-9s %s\n", verify_rule_name(r->mutation->rule),
                r->mutation->name, words[r->outcome], r->said);
    }
    if (t->not_tried)
        fprintf(cli->out, "\n%zu not tried: they need --tokenizer and --corpus\n", t->not_tried);
    fprintf(cli->out, "\n%zu rules without a mutation, %zu mutations survived\n", t->rules_without,
            t->survived);
    return good ? 0 : status_exit_code(STATUS_FAIL);
}

static int run(struct cli *cli, void *args, const struct operands *o, struct error *err)
{
    const struct selftest_args *a = args;
    struct selftest_options how = {
        .client = {cli_version(), cli_commit()}, .tokenizer = a->tokenizer, .corpus = a->corpus};
    struct selftest t = {0};
    struct buf dir = BUF_INIT(FILE_PATH_MAX), inside = BUF_INIT(FILE_PATH_MAX);
    const char *tmp = getenv("TMPDIR");
    int rc = -1;
    (void)o;
    if (!a->tokenizer != !a->corpus) {
        error_set(err, ERROR_USAGE, "--tokenizer and --corpus go together");
        return error_remedy(err, "give both, or neither");
    }
    if (path_join(&dir, tmp && tmp[0] ? tmp : "/tmp", "tally-selftest-XXXXXX", err) < 0)
        goto out;
    if (!mkdtemp(dir.p)) {
        error_set_errno(err, errno, "cannot make a temporary directory");
        error_at_file(err, dir.p);
        goto out;
    }
    if (path_join(&inside, dir.p, "run", err) == 0) {
        how.dir = inside.p;
        if (selftest_run(&t, &how, err) == 0)
            rc = print(cli, &t);
    }
    nftw(dir.p, remove_one, OPEN_MAX_AT_ONCE, FTW_DEPTH | FTW_PHYS);
out:
    selftest_release(&t);
    buf_release(&dir);
    buf_release(&inside);
    return rc;
}

const struct command cmd_selftest = {
    .name = "selftest",
    .summary = "prove that verify can fail: every rule, by a mutation that must turn it red",
    .usage = "[--tokenizer FILE --corpus FILE]",
    .description =
        "Writes a receipt with the code that really writes them, checks that it verifies, and then "
        "applies every registered mutation to it, one at a time: each must turn exactly its rule "
        "red among whatever else it breaks, and taking it back must leave everything green.\n\n"
        "Exit code 0 when every mutation was seen; 1 when one survived, when a rule has no "
        "mutation, or when the receipt does not verify as it was written.",
    .options = options,
    .args_size = sizeof(struct selftest_args),
    .operands_min = 0,
    .operands_max = 0,
    .run = run,
};
