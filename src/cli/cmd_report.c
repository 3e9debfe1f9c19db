/* tally report RUN [-o FILE]: one self-contained HTML page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/keys.h"
#include "report/page.h"
#include "report/page_dir.h"
#include "verify/verify.h"

struct report_args {
    const char *out, *trust;
    struct option_repeated keys;
};

static int run(struct cli *cli, void *args, const struct operands *o, struct error *err)
{
    const struct report_args *a = args;
    struct buf html = BUF_INIT(PAGE_BYTES_MAX), said = BUF_INIT(1024);
    struct verify_options how = {0};
    struct envelope_signer *keys = NULL;
    struct verify_report v = {0};
    int status = -1;
    if (keys_load(&a->keys, a->trust, &keys, &how.keys_n, err) < 0)
        return -1;
    how.keys = keys;
    if (verify_dir(&v, o->v[0], &how, err) < 0)
        goto out;
    buf_addf(&said, "tally verify: %s.", verify_summary(&v));
    if (page_from_dir(o->v[0], said.p, &html, err) < 0)
        goto out;
    if (strcmp(a->out, "-") == 0) {
        fwrite(html.p, 1, html.n, cli->out);
    } else {
        if (file_write_atomic(a->out, buf_str(&html), err) < 0)
            goto out;
        fprintf(cli->err, "wrote %s (%zu KiB): open it in a browser\n", a->out,
                (html.n + 1023) / 1024);
    }
    status = 0;
out:
    verify_release(&v);
    free(keys);
    buf_release(&html);
    buf_release(&said);
    return status;
}

static const struct option options[] = {
    {"out", OPTION_STRING, OFFSET(struct report_args, out), "FILE", "report.html",
     .help = "where to write the page; - is standard output", .letter = 'o'},
    {"key", OPTION_REPEATED, OFFSET(struct report_args, keys), "FILE", NULL,
     .help = "a public key (PEM) that is trusted"},
    {"trust", OPTION_STRING, OFFSET(struct report_args, trust), "FILE", NULL,
     .help = "trusted keys, instead of your own file (see 'tally key trust')"},
    OPTIONS_END,
};

const struct command cmd_report = {
    .name = "report",
    .summary = "write one self-contained HTML page about a run",
    .usage = "RUN [-o FILE]",
    .description = "The page needs no network and no other file: verdict and caveats first, then "
                   "prompt work, throughput against concurrency, distributions of times, every "
                   "request over time, whether the client was the bottleneck, and provenance.",
    .examples = "tally report run/ -o run.html\n",
    .options = options,
    .args_size = sizeof(struct report_args),
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
