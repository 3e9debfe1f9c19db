/* A run directory being written: run.json, sample files, receipt.json. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "receipt/compose.h"
#include "receipt/envelope.h"
#include "receipt/files.h"
#include "receipt/form.h"
#include "receipt/measure.h"
#include "receipt/read.h"
#include "receipt/receipt.h"
#include "receipt/redact.h"
#include "receipt/samples.h"
#include "receipt/server_said.h"
#include "record/sample_file.h"

#define RUN_ARENA ((size_t)256 << 20)

struct receipt_run {
    struct arena arena;
    const char *dir;
    const char *roles[RUN_LANES_MAX];
    size_t lanes_n;
    struct receipt_host host;
    struct receipt_program program;
    const char *ledger_json;
    struct samples_out out;
    bool band_is_open;
    unsigned sources;        /* readings of output tokens that all samples so far have */
    unsigned ways;           /* likewise: ways to assign tokens to arrivals */
    struct run_record clean; /* of receipt_finish: without secrets */
    struct measure measure;
    struct metrics_floor floor;
};

static int redact_commands(struct run_record *out, const struct run_record *run,
                           struct arena *arena, struct error *err)
{
    struct run_command *list = arena_array(arena, run->commands_n + 1, sizeof *list);
    for (size_t i = 0; list && i < run->commands_n; i++) {
        struct run_command *c = &list[i];
        *c = run->commands[i];
        c->command = redact_word(str_of(c->command), arena);
        c->output = c->output ? redact_word(str_of(c->output), arena) : NULL;
        if (!c->command || (run->commands[i].output && !c->output))
            return arena->failed ? arena_check(arena, "the lane commands", err)
                                 : error_set(err, ERROR_LIMIT, "a lane command is too long");
    }
    out->commands = list;
    return arena_check(arena, "the lane commands", err);
}

/* A copy of the record without secrets. Its lanes lie in the arena. */
static int redact_record(struct run_record *out, const struct run_record *run, struct arena *arena,
                         struct error *err)
{
    struct run_lane *lanes = arena_array(arena, run->lanes_n + 1, sizeof *lanes);
    *out = *run;
    out->argv = redact_argv(run->argc, run->argv, arena);
    if (!lanes || !out->argv)
        return arena->failed ? arena_check(arena, "run.json", err)
                             : error_set(err, ERROR_LIMIT, "the command line is too long");
    for (size_t i = 0; i < run->lanes_n; i++) {
        lanes[i] = run->lanes[i];
        lanes[i].url = redact_word(str_of(run->lanes[i].url), arena);
        if (!lanes[i].url)
            return error_no_memory(err);
    }
    out->lanes = lanes;
    return redact_commands(out, run, arena, err);
}

static int write_in(const char *dir, const char *name, struct str text, struct error *err)
{
    struct buf path = BUF_INIT(FILE_PATH_MAX);
    int status = path_join(&path, dir, name, err);
    if (status == 0)
        status = file_write_atomic(path.p, text, err);
    buf_release(&path);
    return status;
}

static int make_dirs(const char *dir, struct error *err)
{
    struct buf path = BUF_INIT(FILE_PATH_MAX);
    int status = -1;
    if (!dir_is_free(dir)) {
        error_set(err, ERROR_IO, "the run directory is not empty");
        error_remedy(err, "name another with --out: a receipt is never overwritten");
        error_at_file(err, dir);
    } else if (path_join(&path, dir, RECEIPT_SAMPLES_DIR, err) == 0) {
        status = dir_make(path.p, err);
    }
    buf_release(&path);
    return status;
}

static int write_run_json(struct receipt_run *r, const struct run_record *declared,
                          struct error *err)
{
    struct run_record clean;
    struct buf text = BUF_INIT(RECEIPT_BYTES_MAX);
    struct receipt_parts parts = {.run = &clean, .host = &r->host, .program = &r->program};
    int status = redact_record(&clean, declared, &r->arena, err);
    clean.bands_n = 0;
    if (status == 0)
        status = compose_run(&parts, &r->arena, &text, err);
    if (status == 0)
        status = write_in(r->dir, RECEIPT_RUN_NAME, buf_str(&text), err);
    buf_release(&text);
    return status;
}

int receipt_start(struct receipt_run **out, const char *dir, const struct run_record *declared,
                  const struct receipt_client *client, struct error *err)
{
    if (receipt_check_record(declared, err) < 0)
        return -1;
    struct receipt_run *r = calloc(1, sizeof *r);
    if (!r)
        return error_no_memory(err);
    arena_init(&r->arena, RUN_ARENA);
    r->out.fd = -1;
    r->sources = r->ways = ~0u;
    r->dir = arena_cstr(&r->arena, str_of(dir));
    r->lanes_n = declared->lanes_n;
    for (size_t i = 0; i < r->lanes_n; i++)
        r->roles[i] = arena_cstr(&r->arena, str_of(declared->lanes[i].role));
    host_look(&r->host, &r->arena);
    if (program_look(&r->program, client->version, client->commit, &r->arena, err) == 0 &&
        make_dirs(dir, err) == 0 && write_run_json(r, declared, err) == 0) {
        *out = r;
        return 0;
    }
    receipt_run_free(r);
    return -1;
}

void receipt_run_free(struct receipt_run *r)
{
    if (!r)
        return;
    samples_abandon(&r->out);
    measure_release(&r->measure);
    arena_release(&r->arena);
    free(r);
}

int receipt_band_open(struct receipt_run *r, size_t lane, int32_t band, int32_t replicate,
                      struct error *err)
{
    char name[RECEIPT_SAMPLE_NAME_MAX];
    struct buf path = BUF_INIT(FILE_PATH_MAX);
    assert(!r->band_is_open && lane < r->lanes_n);
    receipt_sample_name(name, r->roles[lane], band, replicate, "");
    int status = path_join(&path, r->dir, name, err);
    if (status == 0)
        status = samples_create(&r->out, path.p, err);
    r->band_is_open = status == 0;
    buf_release(&path);
    return status;
}

int receipt_band_add(struct receipt_run *r, const struct sample *s, struct error *err)
{
    assert(r->band_is_open);
    return samples_add(&r->out, s, err);
}

int receipt_band_close(struct receipt_run *r, struct run_band *b, struct error *err)
{
    char name[RECEIPT_SAMPLE_NAME_MAX], sha256[SHA256_HEX];
    assert(r->band_is_open && b->lane < r->lanes_n);
    r->band_is_open = false;
    r->sources &= r->out.sources;
    r->ways &= r->out.ways;
    if (samples_finish(&r->out, sha256, err) < 0)
        return -1;
    receipt_sample_name(name, r->roles[b->lane], b->band, b->replicate, RECEIPT_SAMPLE_STORED);
    assert(str_starts(str_skip(str_of(r->out.path), strlen(r->dir)), STR("/")) &&
           str_ends(str_of(r->out.path),
                    str_first(str_of(name), strlen(name) - strlen(RECEIPT_SAMPLE_STORED))));
    b->sample_file = arena_cstr(&r->arena, str_of(name));
    memcpy(b->sample_sha256, sha256, sizeof sha256);
    return b->sample_file ? 0 : error_no_memory(err);
}

int receipt_server_keep(struct receipt_run *r, struct run_band *b, struct str text,
                        struct error *err)
{
    char name[RECEIPT_SAMPLE_NAME_MAX];
    struct buf path = BUF_INIT(FILE_PATH_MAX);
    struct run_server server;
    int status = -1;
    assert(b->lane < r->lanes_n);
    receipt_server_name(name, r->roles[b->lane], b->band, b->replicate);
    if (server_said_read(&server, text, err) < 0 ||
        path_join(&path, r->dir, RECEIPT_SERVER_DIR, err) < 0 || dir_make(path.p, err) < 0 ||
        write_in(r->dir, name, text, err) < 0)
        goto out;
    server.file = arena_cstr(&r->arena, str_of(name));
    if (!server.file) {
        error_no_memory(err);
        goto out;
    }
    if (sha256_hex(server.sha256, text, err) < 0)
        goto out;
    b->server = server;
    status = 0;
out:
    buf_release(&path);
    return status;
}

int receipt_calibration_keep(struct receipt_run *r, struct run_calibration *k,
                             const struct sample *samples, size_t n, struct error *err)
{
    struct buf path = BUF_INIT(FILE_PATH_MAX);
    struct samples_out out = {.fd = -1};
    int status = -1;
    assert(!r->band_is_open);
    if (path_join(&path, r->dir, RECEIPT_CALIBRATION_NAME, err) < 0)
        goto out;
    buf_truncate(&path, path.n - strlen(RECEIPT_SAMPLE_STORED));
    if (samples_create(&out, path.p, err) < 0)
        goto out;
    status = 0;
    for (size_t i = 0; status == 0 && i < n; i++)
        status = samples_add(&out, &samples[i], err);
    if (status == 0)
        status = samples_finish(&out, k->sha256, err);
    else
        samples_abandon(&out);
    if (status == 0)
        k->file = RECEIPT_CALIBRATION_NAME;
out:
    buf_release(&path);
    return status;
}

int receipt_sweep_look(struct receipt_run *r, const struct run_record *run, size_t i,
                       enum sweep_seen *out, const char **why, struct error *err)
{
    struct run_plan plan = run->plan;
    const struct run_band *b = &run->bands[i];
    struct buf path = BUF_INIT(FILE_PATH_MAX);
    struct arena scratch;
    struct sample *samples;
    struct metrics_band m;
    struct metrics_band_facts facts;
    size_t n;
    int status = -1;
    arena_init(&scratch, RECEIPT_ARENA_MAX);
    if (path_join(&path, r->dir, b->sample_file, err) < 0 ||
        sample_file_read(&samples, &n, NULL, path.p, &scratch, err) < 0)
        goto out;
    plan.output_count_source =
        metrics_source_name(metrics_best_source(metrics_sources(samples, n)));
    plan.token_assignment = metrics_assignment_name(metrics_best_way(metrics_ways(samples, n)));
    metrics_facts_from_run(&facts, &plan, &run->lanes[b->lane], b);
    if (metrics_band_compute(samples, n, &facts, &scratch, &m, err) < 0)
        goto out;
    *out = sweep_look(&plan, b, &m, why);
    status = 0;
out:
    arena_release(&scratch);
    buf_release(&path);
    return status;
}

int receipt_set_ledger(struct receipt_run *r, struct str json, struct error *err)
{
    const struct json *v;
    struct buf text = BUF_INIT(FORM_JSON_MAX);
    struct json_writer w;
    if (json_parse(&v, json, &JSON_LIMITS_DEFAULT, &r->arena, err) < 0)
        return error_wrap(err, "the ledger entry");
    json_writer_init(&w, &text, 0);
    json_put_value(&w, v);
    int status = json_writer_check(&w, "the ledger entry", err);
    if (status == 0) {
        r->ledger_json = arena_cstr(&r->arena, buf_str(&text));
        status = r->ledger_json ? 0 : error_no_memory(err);
    }
    buf_release(&text);
    return status;
}

static int measure_bands(struct receipt_run *r, const struct run_record *run, struct error *err)
{
    struct buf path = BUF_INIT(FILE_PATH_MAX);
    struct arena scratch;
    struct sample *samples;
    size_t n;
    int status = 0;
    arena_init(&scratch, RECEIPT_ARENA_MAX);
    for (size_t i = 0; status == 0 && i < run->bands_n; i++) {
        arena_reset(&scratch);
        if (path_join(&path, r->dir, run->bands[i].sample_file, err) < 0 ||
            sample_file_read(&samples, &n, NULL, path.p, &scratch, err) < 0 ||
            measure_band(&r->measure, i, samples, n, err) < 0)
            status = -1;
    }
    arena_release(&scratch);
    buf_release(&path);
    if (status == 0)
        measure_finish(&r->measure);
    return status;
}

static int read_floor(struct receipt_run *r, const struct run_record *run, struct error *err)
{
    struct buf path = BUF_INIT(FILE_PATH_MAX);
    struct arena scratch;
    struct sample *samples;
    size_t n;
    int status = -1;
    arena_init(&scratch, RECEIPT_ARENA_MAX);
    if (path_join(&path, r->dir, run->calibration.file, err) == 0 &&
        sample_file_read(&samples, &n, NULL, path.p, &scratch, err) == 0)
        status =
            metrics_floor_compute(&r->floor, samples, n, run->plan.t_zero_mono_ns, &scratch, err);
    arena_release(&scratch);
    buf_release(&path);
    return status;
}

static bool is_of_a_band(const struct run_record *run, struct str name)
{
    if (run->calibration.file && str_eq(name, str_of(run->calibration.file)))
        return true;
    for (size_t i = 0; i < run->bands_n; i++)
        if (str_eq(name, str_of(run->bands[i].sample_file)) ||
            (run->bands[i].server.file && str_eq(name, str_of(run->bands[i].server.file))))
            return true;
    return false;
}

/* Every file that lies in the directory now, but those that stand beside their bands. */
static int list_files(struct receipt_run *r, const struct run_record *run,
                      struct receipt_parts *parts, struct error *err)
{
    struct file_list list;
    size_t n = 0;
    if (file_list_read(&list, r->dir, ENVELOPE_NAME, err) < 0)
        return -1;
    struct receipt_file *files = arena_array(&r->arena, list.n + 1, sizeof *files);
    for (size_t i = 0; files && i < list.n; i++) {
        if (is_of_a_band(run, list.files[i].name))
            continue;
        files[n].name = arena_cstr(&r->arena, list.files[i].name);
        memcpy(files[n].sha256, list.files[i].sha256, SHA256_HEX);
        n++;
    }
    file_list_release(&list);
    parts->files = files;
    parts->files_n = n;
    return arena_check(&r->arena, "the list of files", err);
}

static int write_receipt(struct receipt_run *r, const struct run_record *run,
                         struct receipt_result *out, struct error *err)
{
    struct buf text = BUF_INIT(RECEIPT_BYTES_MAX);
    struct rules_verdict verdict;
    struct receipt_result result = {0};
    struct receipt_parts parts = {
        .run = run,
        .host = &r->host,
        .program = &r->program,
        .floor = run->calibration.file ? &r->floor : NULL,
        .ledger_json = r->ledger_json,
        .metrics = r->measure.metrics,
        .facts = r->measure.facts,
    };
    int status = -1;
    if (list_files(r, run, &parts, err) < 0 ||
        compose_receipt(&parts, &r->measure.arena, &text, result.run_id, &verdict, err) < 0 ||
        write_in(r->dir, RECEIPT_NAME, buf_str(&text), err) < 0)
        goto out;
    result.status = verdict.status;
    result.reason = verdict.reason;
    result.refusals = verdict.refusals;
    result.refusals_n = verdict.refusals_n;
    *out = result;
    status = 0;
out:
    buf_release(&text);
    return status;
}

int receipt_finish(struct receipt_run *r, const struct run_record *run, struct receipt_result *out,
                   struct error *err)
{
    assert(!r->band_is_open && !r->measure.run);
    if (receipt_check_record(run, err) < 0 || redact_record(&r->clean, run, &r->arena, err) < 0)
        return -1;
    r->clean.plan.output_count_source = metrics_source_name(metrics_best_source(r->sources));
    enum metrics_assignment way = metrics_best_way(r->ways);
    r->clean.plan.token_assignment = way == ASSIGN_NONE ? NULL : metrics_assignment_name(way);
    if (run->calibration.file && read_floor(r, run, err) < 0)
        return -1;
    if (measure_init(&r->measure, &r->clean, err) < 0 || measure_bands(r, &r->clean, err) < 0)
        return -1;
    return write_receipt(r, &r->clean, out, err);
}
