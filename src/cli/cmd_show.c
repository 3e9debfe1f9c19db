/* tally show: a receipt as a person reads it. */
#include "cli/cli.h"
#include "receipt/read.h"
#include "report/text.h"
#include "verify/verify.h"

struct show_args {
    bool json;
};

static const struct option options[] = {
    {"json", OPTION_FLAG, OFFSET(struct show_args, json), NULL, NULL,
     .help = "the receipt itself, byte for byte"},
    OPTIONS_END,
};

static int print(struct cli *cli, const struct buf *text, struct error *err)
{
    if (buf_check(text, "the report", err) < 0)
        return -1;
    fwrite(text->p, 1, text->n, cli->out);
    return 0;
}

/* What a run that was cut off left: counted by verify, which reads its samples. */
static int show_incomplete(struct cli *cli, const char *dir, const struct receipt_read *r,
                           struct error *err)
{
    struct verify_report v;
    const struct verify_options none = {0};
    struct buf text = BUF_INIT(BUF_ANY);
    if (verify_dir(&v, dir, &none, err) < 0)
        return -1;
    show_cut_off(r->doc, v.bands, v.samples, &text);
    int status = print(cli, &text, err);
    buf_release(&text);
    verify_release(&v);
    return status;
}

static int run(struct cli *cli, void *args, const struct operands *o, struct error *err)
{
    const struct show_args *a = args;
    struct receipt_read r;
    struct buf text = BUF_INIT(BUF_ANY);
    int rc;
    if (receipt_read_dir(&r, o->v[0], err) < 0)
        return -1;
    if (a->json) {
        rc = print(cli, &r.text, err);
    } else if (!r.complete) {
        rc = show_incomplete(cli, o->v[0], &r, err);
    } else {
        show_receipt(r.doc, &text);
        buf_addf(&text, "\nThis is what the receipt says; 'tally verify %s' proves it.\n", o->v[0]);
        rc = print(cli, &text, err);
    }
    if (rc == 0 && !r.complete)
        rc = status_exit_code(STATUS_INCOMPLETE);
    buf_release(&text);
    receipt_read_release(&r);
    return rc;
}

const struct command cmd_show = {
    .name = "show",
    .summary = "print a receipt as tables: lanes side by side, bands down",
    .usage = "DIR",
    .description =
        "Prints what the receipt in a run directory says: what was measured and how, each band's "
        "status, latencies and rates, the prompt work of each lane, ratios, and every refusal with "
        "its remedy. A value that could not be had is '-' with a letter, explained below the "
        "tables.\n\n"
        "Exit code 0; 3 when the run was cut off before its receipt was written.",
    .examples = "tally show demo-run\ntally show demo-run --json",
    .options = options,
    .args_size = sizeof(struct show_args),
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
