/* tally gate MATRIX RECEIPT...; tally gate init: a matrix of policies applied to receipts. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "cli/cli.h"
#include "cli/git_ref.h"
#include "cli/keys.h"
#include "cli/temp_dir.h"
#include "codec/yaml.h"
#include "gate/judge.h"
#include "gate/load.h"
#include "gate/matrix.h"
#include "receipt/read.h"
#include "receipt/receipt.h"
#include "report/gate_text.h"

#define MATRIX_ARENA ((size_t)64 << 20)

struct gate_args {
    const char *phase, *ledger, *trust, *format, *baseline, *baseline_ref, *baseline_matrix, *build,
        *now;
    struct option_repeated keys;
};

/* The run directories inside a directory of earlier receipts. */
struct dirs {
    struct arena arena;
    const char **v;
    size_t n;
};

static int add_dir(struct dirs *d, const char *parent, const char *name, struct error *err)
{
    struct buf path = BUF_INIT(FILE_PATH_MAX);
    int status = path_join(&path, parent, name, err);
    if (status == 0 && d->n == GATE_RECEIPTS_MAX)
        status =
            error_set(err, ERROR_LIMIT, "more than %d receipts in %s", GATE_RECEIPTS_MAX, parent);
    if (status == 0) {
        struct buf receipt = BUF_INIT(FILE_PATH_MAX);
        status = path_join(&receipt, path.p, RECEIPT_NAME, err);
        if (status == 0 && file_exists(receipt.p)) {
            d->v[d->n] = arena_cstr(&d->arena, buf_str(&path));
            status = d->v[d->n++] ? 0 : error_no_memory(err);
        }
        buf_release(&receipt);
    }
    buf_release(&path);
    return status;
}

static int list_baselines(struct dirs *d, const char *path, struct error *err)
{
    arena_init(&d->arena, MATRIX_ARENA);
    d->n = 0;
    d->v = calloc(GATE_RECEIPTS_MAX + 1, sizeof *d->v);
    if (!d->v)
        return error_no_memory(err);
    if (!path)
        return 0;
    DIR *dir = opendir(path);
    int status = 0;
    if (!dir) {
        error_set_errno(err, errno, "cannot read the baselines");
        return error_at_file(err, path);
    }
    for (struct dirent *e; status == 0 && (e = readdir(dir));)
        if (e->d_name[0] != '.')
            status = add_dir(d, path, e->d_name, err);
    closedir(dir);
    if (status == 0 && d->n == 0) {
        error_set(err, ERROR_INPUT, "no run directory lies here");
        error_remedy(err, "give a folder whose folders are run directories");
        status = error_at_file(err, path);
    }
    return status;
}

static int when(const struct gate_args *a, int64_t *now_ns, struct error *err)
{
    *now_ns = clock_real_ns();
    if (!a->now || clock_parse_utc(now_ns, str_of(a->now)) == 0)
        return 0;
    error_set(err, ERROR_USAGE, "--now '%.60s' is no time", a->now);
    return error_remedy(err, "write it as 2026-12-01T09:30:00");
}

static int print_verdict(struct cli *cli, const struct gate_args *a, const char *matrix,
                         const struct gate_verdict *v, struct error *err)
{
    struct buf text = BUF_INIT(BUF_ANY);
    struct json_writer w;
    if (strcmp(a->format, "json") == 0) {
        json_writer_init(&w, &text, 2);
        gate_json(v, &w);
        buf_addc(&text, '\n');
    } else if (strcmp(a->format, "github") == 0) {
        gate_github(v, matrix, &text);
    } else {
        gate_text(v, &text);
    }
    int rc = buf_check(&text, "the verdict", err);
    if (rc == 0)
        fwrite(text.p, 1, text.n, cli->out);
    buf_release(&text);
    return rc;
}

static int read_matrix(struct matrix *m, const char *path, struct arena *arena, struct error *err)
{
    const struct json *doc;
    if (yaml_parse_file(&doc, path, &JSON_LIMITS_DEFAULT, arena, err) < 0)
        return -1;
    return matrix_read(m, doc, arena, err) < 0 ? error_at_file(err, path) : 0;
}

static int run(struct cli *cli, void *args, const struct operands *o, struct error *err)
{
    const struct gate_args *a = args;
    struct gate_set now = {0}, before = {0};
    struct dirs baselines = {0};
    struct buf from_git = BUF_INIT(FILE_PATH_MAX);
    struct envelope_signer *keys = NULL;
    struct gate_load_options load = {.ledger = a->ledger};
    struct gate_input in = {.phase = strcmp(a->phase, "merge") == 0 ? GATE_MERGE : GATE_RELEASE,
                            .build = a->build};
    struct gate_verdict verdict;
    struct arena arena;
    struct matrix matrix, before_matrix;
    int rc = -1;
    arena_init(&arena, MATRIX_ARENA);
    if (when(a, &in.now_ns, err) < 0 || read_matrix(&matrix, o->v[0], &arena, err) < 0)
        goto out;
    if (a->baseline_matrix) {
        if (read_matrix(&before_matrix, a->baseline_matrix, &arena, err) < 0)
            goto out;
        in.before = &before_matrix;
    }
    if (keys_load(&a->keys, a->trust, &keys, &load.keys_n, err) < 0)
        goto out;
    load.keys = keys;
    if (a->baseline && a->baseline_ref) {
        error_set(err, ERROR_USAGE, "--baseline and --baseline-ref name two baselines");
        error_remedy(err, "give one");
        goto out;
    }
    if (a->baseline_ref && git_ref_extract(&from_git, a->baseline_ref, err) < 0)
        goto out;
    if (list_baselines(&baselines, a->baseline_ref ? from_git.p : a->baseline, err) < 0 ||
        gate_set_load(&now, (const char *const *)o->v + 1, (size_t)o->n - 1, &load, err) < 0 ||
        gate_set_load(&before, baselines.v, baselines.n, &load, err) < 0)
        goto out;
    in.receipts = now.receipts;
    in.receipts_n = now.n;
    in.sessions = before.receipts;
    in.sessions_n = before.n;
    if (gate_judge(&matrix, &in, &arena, &verdict, err) < 0 ||
        print_verdict(cli, a, o->v[0], &verdict, err) < 0)
        goto out;
    rc = status_exit_code(verdict.status);
out:
    gate_set_release(&now);
    gate_set_release(&before);
    temp_dir_remove(&from_git);
    free(baselines.v);
    arena_release(&baselines.arena);
    free(keys);
    arena_release(&arena);
    return rc;
}

static const struct option options[] = {
    {"phase", OPTION_STRING, OFFSET(struct gate_args, phase), "NAME", "release",
     .choices = "merge|release",
     .help = "merge: integrity alone, no wall-clock number; release: every arm"},
    {"ledger", OPTION_STRING, OFFSET(struct gate_args, ledger), "FILE", NULL,
     .help = "the ledger in which the receipts must stand"},
    {"key", OPTION_REPEATED, OFFSET(struct gate_args, keys), "FILE", NULL,
     .help = "a public key (PEM) that is trusted"},
    {"trust", OPTION_STRING, OFFSET(struct gate_args, trust), "FILE", NULL,
     .help = "trusted keys, instead of your own file (see 'tally key trust')"},
    {"baseline", OPTION_STRING, OFFSET(struct gate_args, baseline), "DIR", NULL,
     .help = "a folder of earlier run directories: what ratchets are held against"},
    {"baseline-ref", OPTION_STRING, OFFSET(struct gate_args, baseline_ref), "REF:DIR", NULL,
     .help = "the same, as the folder was at a git ref, such as origin/main:perf/runs"},
    {"baseline-matrix", OPTION_STRING, OFFSET(struct gate_args, baseline_matrix), "FILE", NULL,
     .help = "the matrix as it was: no number of class ratchet may be looser, or gone"},
    {"build", OPTION_STRING, OFFSET(struct gate_args, build), "BUILD", NULL,
     .help = "the build that the receipts must be of, such as the commit to release"},
    {"format", OPTION_STRING, OFFSET(struct gate_args, format), "NAME", "text",
     .choices = "text|json|github", .help = "text, json, or github's annotations"},
    {"now", OPTION_STRING, OFFSET(struct gate_args, now), "TIME", NULL,
     .help = "judge expiries and age as of this time (UTC)"},
    OPTIONS_END,
};

static const char commented_matrix[] =
    "# A gate's matrix. Every number that is compared against stands here, with its class\n"
    "# (policy, inherited, ratchet, dispersion, shape), its author and its date.\n"
    "#     tally gate %s RUN --ledger ledger.db\n"
    "version: 1\n"
    "hosts: [\"%s\"]      # as runs declare with --host\n"
    "models: [\"%s\"]     # as the server names it\n"
    "workloads: [\"%s\"]  # the run's protocol\n"
    "bands: [%s]\n"
    "arms:\n"
    "  integrity:          # C: is the receipt evidence at all\n"
    "    kind: integrity\n"
    "    max_error_share: {value: 0, class: policy, author: \"%s\", date: %.10s}\n"
    "    max_drain_share: {value: 0.5, class: shape, author: \"%s\", date: %.10s}\n"
    "    max_age_days: {value: 14, class: policy, author: \"%s\", date: %.10s}\n"
    "  parity:             # B: the subject is not worse than the comparator by more than delta\n"
    "    kind: parity\n"
    "    metrics: [agg_tok_s, decode_tok_s, ttft_ms.p50]\n"
    "    delta: {value: 0.05, class: policy, author: \"%s\", date: %.10s}\n"
    "  interference:       # E: reported, not judged, until somebody promotes it\n"
    "    kind: interference\n"
    "    reporting: true\n"
    "  # self-regression:  # A: against a build that is run as the comparator\n"
    "  #   kind: self-regression\n"
    "  #   metrics: [agg_tok_s]\n"
    "  #   delta: {value: 0.03, class: ratchet, author: \"%s\", date: %.10s}\n"
    "  #   baseline_build: v1.2.3\n"
    "  #   baseline_author: \"%s\"\n"
    "  #   baseline_date: %.10s\n"
    "cells:                # every host, model and workload: MEASURED, or why not\n"
    "  - {host: \"%s\", model: \"%s\", workload: \"%s\", state: MEASURED}\n"
    "  # - {host: other, model: m, workload: w1, state: UNMEASURED, owner: NAME, ticket: T-1,\n"
    "  #    expires: 2027-01-31}\n"
    "  # - {host: other, model: m, workload: w1, state: NOT_APPLICABLE, reason: R, decided_by: "
    "N}\n";

struct init_args {
    const char *host, *model, *workload, *author, *out;
    struct option_list bands;
};

/* The lanes at hand: what the subject of a run is called, and how it was loaded. */
static int names_of_run(struct init_args *a, const char *dir, struct receipt_read *r,
                        struct error *err)
{
    if (receipt_read_dir(r, dir, err) < 0)
        return error_at_file(err, dir);
    const struct run_lane *lane = &r->run.lanes[0];
    if (!lane->host || !lane->model) {
        error_set(err, ERROR_REFUSED,
                  "this run does not say %s of its subject, and no cell can be "
                  "told without",
                  lane->host ? "the model" : "the machine");
        error_rule(err, "known_cell");
        error_remedy(err, "run with --host subject=LABEL, or give --host and --model here");
        receipt_read_release(r);
        return error_at_file(err, dir);
    }
    a->host = lane->host;
    a->model = lane->model;
    a->workload = r->run.plan.protocol;
    a->bands.n = 0;
    for (size_t i = 0; i < r->run.plan.bands_n && i < OPTION_ITEMS_MAX; i++)
        a->bands.v[a->bands.n++] = r->run.plan.bands[i];
    return 0;
}

static int write_matrix(struct cli *cli, const struct init_args *a, struct error *err)
{
    struct buf text = BUF_INIT(65536), bands = BUF_INIT(1024);
    char today[CLOCK_UTC_TEXT];
    int rc = -1;
    clock_format_utc(today, clock_real_ns());
    for (size_t i = 0; i < a->bands.n; i++)
        buf_addf(&bands, "%s%lld", i ? ", " : "", (long long)a->bands.v[i]);
    buf_addf(&text, commented_matrix, a->out, a->host, a->model, a->workload, bands.p, a->author,
             today, a->author, today, a->author, today, a->author, today, a->author, today,
             a->author, today, a->host, a->model, a->workload);
    if (buf_check(&text, "the matrix", err) < 0)
        goto out;
    if (strcmp(a->out, "-") == 0) {
        fwrite(text.p, 1, text.n, cli->out);
    } else {
        if (file_exists(a->out)) {
            error_set(err, ERROR_USAGE, "a matrix is there already");
            error_remedy(err, "name another file: --out FILE");
            error_at_file(err, a->out);
            goto out;
        }
        if (file_write_atomic(a->out, buf_str(&text), err) < 0)
            goto out;
        fprintf(cli->err, "wrote %s: read it, and put your own numbers and names in\n", a->out);
    }
    rc = 0;
out:
    buf_release(&text);
    buf_release(&bands);
    return rc;
}

static int run_init(struct cli *cli, void *args, const struct operands *o, struct error *err)
{
    struct init_args *a = args;
    struct receipt_read r = {0};
    if (o->n > 0 && names_of_run(a, o->v[0], &r, err) < 0)
        return -1;
    int rc = write_matrix(cli, a, err);
    if (o->n > 0)
        receipt_read_release(&r);
    return rc;
}

static const struct option init_options[] = {
    {"host", OPTION_STRING, OFFSET(struct init_args, host), "LABEL", "lab-a",
     .help = "label of the machine, as runs declare it"},
    {"model", OPTION_STRING, OFFSET(struct init_args, model), "NAME", "model",
     .help = "the model, as the server names it"},
    {"workload", OPTION_STRING, OFFSET(struct init_args, workload), "NAME", "w1",
     .help = "the run's protocol"},
    {"bands", OPTION_LIST, OFFSET(struct init_args, bands), "LIST", "1,4,8,16", .min = 1,
     .max = 65536, .help = "levels of concurrency"},
    {"author", OPTION_STRING, OFFSET(struct init_args, author), "NAME", "your name",
     .help = "who answers for the numbers"},
    {"out", OPTION_STRING, OFFSET(struct init_args, out), "FILE", "matrix.yaml",
     .help = "where to write it; - is standard output", .letter = 'o'},
    OPTIONS_END,
};

static const struct command cmd_init = {
    .name = "init",
    .summary = "write a commented matrix to start from",
    .usage = "[RUN] [--host LABEL] [--model NAME] [-o FILE]",
    .description =
        "With a run directory, host, model, workload and bands are those of its subject.",
    .examples = "tally gate init run --author 'N. N.'\n"
                "tally gate init --host lab-a --model tiny --author 'N. N.'\n",
    .options = init_options,
    .args_size = sizeof(struct init_args),
    .operands_max = 1,
    .run = run_init,
};

static const struct command *const gate_commands[] = {&cmd_init, NULL};

const struct command cmd_gate = {
    .name = "gate",
    .summary = "apply a matrix of policies to receipts",
    .usage = "MATRIX RUN... [--phase NAME] [--ledger FILE]",
    .description = "Prints for each cell, arm and band its status, the number that was seen, the "
                   "bound with its class and author, and why. The verdict is the worst of those "
                   "that count: nothing is averaged away, and what was not measured is never "
                   "green.\n\nExit code 0: PASS. 1: FAIL. 3: UNMEASURED, INCOMPLETE or "
                   "INCONCLUSIVE. 4: REFUSED.",
    .examples = "tally gate init --host lab-a --model tiny --author 'N. N.'\n"
                "tally gate matrix.yaml run --phase merge\n"
                "tally gate matrix.yaml run --ledger ledger.db --build 1a2b3c4 --format github\n"
                "tally gate matrix.yaml run --baseline-ref origin/main:perf/runs\n",
    .options = options,
    .args_size = sizeof(struct gate_args),
    .operands_min = 1,
    .operands_max = -1,
    .run = run,
    .commands = gate_commands,
};
