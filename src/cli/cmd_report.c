/* tally report RUN... [-o FILE]: one self-contained HTML page about a run, or a trend. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/keys.h"
#include "codec/yaml.h"
#include "report/page.h"
#include "report/page_dir.h"
#include "report/trend.h"
#include "verify/verify.h"

#define MATRIX_ARENA ((size_t)64 << 20)

struct report_args {
    const char *out, *trust, *matrix;
    struct option_repeated keys;
};

static int write_out(struct cli *cli, const struct report_args *a, const struct buf *html,
                     struct error *err)
{
    if (strcmp(a->out, "-") == 0) {
        fwrite(html->p, 1, html->n, cli->out);
        return 0;
    }
    if (file_write_atomic(a->out, buf_str(html), err) < 0)
        return -1;
    fprintf(cli->err, "wrote %s (%zu KiB): open it in a browser\n", a->out,
            (html->n + 1023) / 1024);
    return 0;
}

static int one_run(const char *dir, const struct verify_options *how, struct buf *html,
                   struct error *err)
{
    struct buf said = BUF_INIT(1024);
    struct verify_report v = {0};
    int rc = -1;
    if (verify_dir(&v, dir, how, err) == 0) {
        buf_addf(&said, "tally verify: %s.", verify_summary(&v));
        rc = page_from_dir(dir, said.p, html, err);
    }
    verify_release(&v);
    buf_release(&said);
    return rc;
}

static int add_runs(struct trend *t, const struct operands *o, const struct verify_options *how,
                    struct error *err)
{
    for (int i = 0; i < o->n; i++) {
        struct verify_report v = {0};
        int rc = verify_dir(&v, o->v[i], how, err);
        if (rc == 0)
            rc = trend_add(t, o->v[i], verify_summary(&v), verify_exit_code(&v) == 0, err);
        verify_release(&v);
        if (rc < 0)
            return error_at_file(err, o->v[i]);
    }
    return 0;
}

static int several_runs(const struct report_args *a, const struct operands *o,
                        const struct verify_options *how, struct buf *html, struct error *err)
{
    struct matrix matrix;
    struct trend trend;
    struct arena arena;
    int rc = -1;
    arena_init(&arena, MATRIX_ARENA);
    trend_init(&trend);
    if (a->matrix) {
        const struct json *doc;
        if (yaml_parse_file(&doc, a->matrix, &JSON_LIMITS_DEFAULT, &arena, err) < 0)
            goto out;
        if (matrix_read(&matrix, doc, &arena, err) < 0) {
            error_at_file(err, a->matrix);
            goto out;
        }
    }
    if (add_runs(&trend, o, how, err) == 0)
        rc = trend_write(&trend, a->matrix ? &matrix : NULL, html, err);
out:
    trend_release(&trend);
    arena_release(&arena);
    return rc;
}

static int run(struct cli *cli, void *args, const struct operands *o, struct error *err)
{
    const struct report_args *a = args;
    struct buf html = BUF_INIT(PAGE_BYTES_MAX);
    struct verify_options how = {0};
    struct envelope_signer *keys = NULL;
    int rc = -1;
    if (a->matrix && o->n < 2) {
        error_set(err, ERROR_USAGE, "--matrix needs several runs: its lines stand over a trend");
        return error_remedy(err, "give the earlier runs too, or judge one run with 'tally gate'");
    }
    if (keys_load(&a->keys, a->trust, &keys, &how.keys_n, err) < 0)
        return -1;
    how.keys = keys;
    if ((o->n == 1 ? one_run(o->v[0], &how, &html, err) : several_runs(a, o, &how, &html, err)) ==
        0)
        rc = write_out(cli, a, &html, err);
    free(keys);
    buf_release(&html);
    return rc;
}

static const struct option options[] = {
    {"out", OPTION_STRING, OFFSET(struct report_args, out), "FILE", "report.html",
     .help = "where to write the page; - is standard output", .letter = 'o'},
    {"matrix", OPTION_STRING, OFFSET(struct report_args, matrix), "FILE", NULL,
     .help = "a gate's matrix, whose thresholds are drawn over the trend of several runs"},
    {"key", OPTION_REPEATED, OFFSET(struct report_args, keys), "FILE", NULL,
     .help = "a public key (PEM) that is trusted"},
    {"trust", OPTION_STRING, OFFSET(struct report_args, trust), "FILE", NULL,
     .help = "trusted keys, instead of your own file (see 'tally key trust')"},
    OPTIONS_END,
};

const struct command cmd_report = {
    .name = "report",
    .summary = "write one self-contained HTML page about a run, or the trend of several",
    .usage = "RUN... [-o FILE] [--matrix FILE]",
    .description = "The page needs no network and no other file: verdict and caveats first, then "
                   "prompt work, throughput against concurrency, distributions of times, every "
                   "request over time, whether the client was the bottleneck, and provenance.\n\n"
                   "Several runs make a trend over time and commits: rates and times of each "
                   "lane and band, and their ratios, run by run. A line joins neighbours that may "
                   "be compared; where it is broken, the page says which field differs. With "
                   "--matrix the gate's thresholds are drawn as lines.",
    .examples = "tally report run/ -o run.html\n"
                "tally report runs/*/ --matrix gate.yaml -o trend.html\n",
    .options = options,
    .args_size = sizeof(struct report_args),
    .operands_min = 1,
    .operands_max = -1,
    .run = run,
};
