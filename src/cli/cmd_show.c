/* tally show: a receipt as a person reads it. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "metrics/as.h"
#include "receipt/read.h"
#include "receipt/whole.h"
#include "report/as_text.h"
#include "report/show_csv.h"
#include "report/text.h"
#include "verify/verify.h"

#define AS_BYTES_MAX ((size_t)4 << 30) /* times and gaps of a run's requests */

struct show_args {
    bool json, csv, sparklines;
    const char *as;
};

static const struct option options[] = {
    {"json", OPTION_FLAG, OFFSET(struct show_args, json), NULL, NULL,
     .help = "the receipt itself, byte for byte; with --as, its values"},
    {"csv", OPTION_FLAG, OFFSET(struct show_args, csv), NULL, NULL,
     .help = "one record a lane, band, replicate and metric, as RFC 4180 has it"},
    {"sparklines", OPTION_FLAG, OFFSET(struct show_args, sparklines), NULL, NULL,
     .help = "small pictures of the metrics over the bands, in front of the tables"},
    {"as", OPTION_STRING, OFFSET(struct show_args, as), "TOOL", NULL,
     .choices = "vllm|aiperf|guidellm|inference-perf|sglang|perf-gate-2.2",
     .help = "what another tool would have said of the same requests: its names, its definitions"},
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

/* The result of c = 1 of the same lane and replicate; NULL. */
static const struct as_result *base_of(const struct as_band *bands, size_t n,
                                       const struct as_band *of)
{
    for (size_t i = 0; i < n; i++)
        if (bands[i].band == 1 && bands[i].replicate == of->replicate &&
            strcmp(bands[i].lane, of->lane) == 0)
            return &bands[i].result;
    return NULL;
}

static int by_band(const void *a, const void *b)
{
    const struct as_band *x = a, *y = b;
    if (x->band != y->band)
        return x->band < y->band ? -1 : 1;
    if (x->replicate != y->replicate)
        return x->replicate < y->replicate ? -1 : 1;
    return strcmp(y->lane, x->lane); /* the subject first */
}

static int compute_as(struct receipt_whole *w, const struct as_profile *p, struct as_band *bands,
                      size_t *n, struct arena *arena, struct error *err)
{
    *n = 0;
    for (size_t i = 0; i < w->run->bands_n; i++) {
        const struct receipt_whole_band *b = &w->bands[i];
        struct as_band *to = &bands[*n];
        if (!b->metrics)
            continue;
        *to = (struct as_band){.lane = w->run->lanes[b->record->lane].role,
                               .band = b->record->band,
                               .replicate = b->record->replicate};
        if (as_compute(&to->result, p, b->samples, b->samples_n, &b->metrics->facts, arena, err) <
            0)
            return -1;
        ++*n;
    }
    qsort(bands, *n, sizeof *bands, by_band);
    for (size_t i = 0; i < *n; i++)
        as_set_base(&bands[i].result, base_of(bands, *n, &bands[i]), bands[i].band);
    return 0;
}

static int show_as(struct cli *cli, const char *dir, const struct show_args *a, struct error *err)
{
    const struct as_profile *p = as_find(a->as);
    struct receipt_whole w;
    struct arena arena;
    struct buf text = BUF_INIT(BUF_ANY);
    struct as_band *bands;
    size_t n;
    int rc = -1;
    if (receipt_whole_read(&w, dir, true, err) < 0)
        return -1;
    arena_init(&arena, AS_BYTES_MAX);
    bands = arena_array(&arena, w.run->bands_n, sizeof *bands);
    if (arena_check(&arena, "the bands", err) < 0 || compute_as(&w, p, bands, &n, &arena, err) < 0)
        goto out;
    if (a->json) {
        struct json_writer writer;
        json_writer_init(&writer, &text, 2);
        as_json(p, bands, n, &writer);
        buf_adds(&text, "\n");
    } else {
        as_text(p, bands, n, &text);
    }
    rc = print(cli, &text, err);
    if (rc == 0 && !w.read.complete)
        rc = status_exit_code(STATUS_INCOMPLETE);
out:
    buf_release(&text);
    arena_release(&arena);
    receipt_whole_release(&w);
    return rc;
}

static int run(struct cli *cli, void *args, const struct operands *o, struct error *err)
{
    const struct show_args *a = args;
    struct receipt_read r;
    struct buf text = BUF_INIT(BUF_ANY);
    int rc;
    if (a->json + a->csv + a->sparklines > 1 || (a->as && (a->csv || a->sparklines))) {
        error_set(err, ERROR_USAGE,
                  "--json, --csv and --sparklines exclude each other, and --as "
                  "goes with none but --json");
        return error_remedy(err, "ask for one of them at a time");
    }
    if (a->as)
        return show_as(cli, o->v[0], a, err);
    if (receipt_read_dir(&r, o->v[0], err) < 0)
        return -1;
    if (a->json) {
        rc = print(cli, &r.text, err);
    } else if (a->csv) {
        show_csv(r.complete ? r.doc : NULL, &text);
        rc = print(cli, &text, err);
    } else if (!r.complete) {
        rc = show_incomplete(cli, o->v[0], &r, err);
    } else {
        if (a->sparklines)
            show_sparklines(r.doc, &text);
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
        "--as computes the definitions of another tool from the same raw records, under its names "
        "and after the rules that it goes by, so that two reports can be reconciled. Those values "
        "are no part of the receipt.\n\n"
        "--csv spells numbers as the receipt does; a value that could not be had is an empty "
        "field, with its reason in the last one.\n\n"
        "Exit code 0; 3 when the run was cut off before its receipt was written.",
    .examples = "tally show demo-run\ntally show demo-run --json\ntally show demo-run --as "
                "vllm\ntally show demo-run --csv > demo.csv",
    .options = options,
    .args_size = sizeof(struct show_args),
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
