/* tally selftest: proves that verifying, comparing and gating can fail. */
#include "base/file.h"
#include "cli/cli.h"
#include "cli/selftest_live.h"
#include "cli/temp_dir.h"
#include "gate/selftest.h"

struct selftest_args {
    const char *tokenizer, *corpus, *sim;
    bool count, no_live;
};

static const struct option options[] = {
    {"tokenizer", OPTION_STRING, OFFSET(struct selftest_args, tokenizer), "FILE", NULL,
     .help = "with --corpus: count with this tokenizer, not with a small one made for the purpose"},
    {"corpus", OPTION_STRING, OFFSET(struct selftest_args, corpus), "FILE", NULL,
     .help = "prompts, as 'tally corpus make' writes them"},
    {"sim", OPTION_STRING, OFFSET(struct selftest_args, sim), "FILE", NULL,
     .help = "the tally-sim to measure (default: the one beside this program, or in PATH)"},
    {"no-live", OPTION_FLAG, OFFSET(struct selftest_args, no_live), NULL, NULL,
     .help = "measure nothing: leave out what needs a simulated server"},
    {"count", OPTION_FLAG, OFFSET(struct selftest_args, count), NULL, NULL,
     .help = "end with a line of counts, as a run of tests does"},
    OPTIONS_END,
};

static void print_result(struct cli *cli, const struct selftest_result *r)
{
    static const char *const words[] = {"green", "red", "SURVIVED", "RED", "not tried"};
    fprintf(cli->out, "%-8s %-21s %-31s %-9s %s\n", r->suite, r->rule[0] ? r->rule : "(all)",
            r->mutation, words[r->outcome], r->said);
}

static int print(struct cli *cli, const struct selftest *t, bool count)
{
    size_t survived = selftest_count(t, SELFTEST_SURVIVED);
    size_t bad = selftest_count(t, SELFTEST_NOT_GREEN);
    size_t not_tried = selftest_count(t, SELFTEST_NOT_TRIED);
    fprintf(cli->out, "%-8s %-21s %-31s %-9s %s\n", "suite", "rule", "mutation", "outcome",
            "what it said");
    for (size_t i = 0; i < t->n; i++)
        print_result(cli, &t->results[i]);
    if (bad)
        fprintf(cli->out, "\n%zu red that nobody touched\n", bad);
    if (not_tried)
        fprintf(cli->out, "\n%zu not tried on this machine\n", not_tried);
    fprintf(cli->out, "\n%zu rules without a mutation, %zu mutations survived\n", t->rules_without,
            survived);
    size_t failed = survived + bad + t->rules_without;
    if (count) {
        fprintf(cli->out, "%zu passed, %zu failed", t->n - survived - bad - not_tried, failed);
        if (not_tried)
            fprintf(cli->out, ", %zu skipped", not_tried);
        fputc('\n', cli->out);
    }
    return failed ? status_exit_code(STATUS_FAIL) : 0;
}

static int run(struct cli *cli, void *args, const struct operands *o, struct error *err)
{
    const struct selftest_args *a = args;
    struct selftest_options how = {
        .client = {cli_version(), cli_commit()}, .tokenizer = a->tokenizer, .corpus = a->corpus};
    struct selftest t;
    struct buf dir = BUF_INIT(FILE_PATH_MAX);
    int rc = -1;
    (void)o;
    if (!a->tokenizer != !a->corpus) {
        error_set(err, ERROR_USAGE, "--tokenizer and --corpus go together");
        return error_remedy(err, "give both, or neither");
    }
    if (temp_dir_make(&dir, "tally-selftest", err) < 0)
        return -1;
    how.root = dir.p;
    const struct live_options live = {.root = dir.p, .sim = a->sim, .client = how.client};
    if (selftest_run(&t, &how, err) == 0 && (a->no_live || selftest_live(&t, &live, err) == 0))
        rc = print(cli, &t, a->count);
    temp_dir_remove(&dir);
    return rc;
}

const struct command cmd_selftest = {
    .name = "selftest",
    .summary = "prove that verify, compare and gate can fail: every rule, by what must turn it red",
    .usage = "[--tokenizer FILE --corpus FILE] [--no-live]",
    .description =
        "Writes receipts with the code that really writes them, checks that they stand, and then "
        "applies every registered mutation, one at a time: each must turn exactly its rule red "
        "among whatever else it breaks, and what nobody touched must stay green. Last it measures "
        "two simulated servers, of which one is slow, serves one request at a time, or says one "
        "token over and over; a machine too busy for that is said to be, and nothing is "
        "claimed.\n\n"
        "Exit code 0 when every mutation was seen; 1 when one survived, when a rule has no "
        "mutation, or when something was red that nobody touched.",
    .options = options,
    .args_size = sizeof(struct selftest_args),
    .operands_min = 0,
    .operands_max = 0,
    .run = run,
};
