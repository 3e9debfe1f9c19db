#include "receipt/read.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "receipt/record_form.h"

void receipt_sample_name(char out[RECEIPT_SAMPLE_NAME_MAX], const char *role, int32_t band,
                         int32_t replicate, const char *end)
{
    snprintf(out, RECEIPT_SAMPLE_NAME_MAX, RECEIPT_SAMPLES_DIR "/%s.c%d.r%d.jsonl%s", role,
             (int)band, (int)replicate, end);
}

void receipt_server_name(char out[RECEIPT_SAMPLE_NAME_MAX], const char *role, int32_t band,
                         int32_t replicate)
{
    snprintf(out, RECEIPT_SAMPLE_NAME_MAX, RECEIPT_SERVER_DIR "/%s.c%d.r%d.json", role, (int)band,
             (int)replicate);
}

static bool is_role(const char *role)
{
    return role && (strcmp(role, "subject") == 0 || strcmp(role, "comparator") == 0);
}

static int bad_record(struct error *err, const char *what)
{
    error_set(err, ERROR_REFUSED, "%s", what);
    return error_rule(err, "schema");
}

static int check_lanes(const struct run_record *run, struct error *err)
{
    if (run->lanes_n < 1 || run->lanes_n > RUN_LANES_MAX)
        return bad_record(err, "a run has one or two lanes");
    for (size_t i = 0; i < run->lanes_n; i++) {
        const struct run_lane *l = &run->lanes[i];
        if (!is_role(l->role) || !l->url)
            return bad_record(err, "a lane is subject or comparator, and has a URL");
        if (i && strcmp(l->role, run->lanes[0].role) == 0)
            return bad_record(err, "two lanes have the same role");
        if (form_json_check(l->reported_json, "the lane's reported identity", err) < 0 ||
            form_json_check(l->wrapper_json, "the lane's wrapper", err) < 0)
            return -1;
    }
    return 0;
}

int receipt_check_record(const struct run_record *run, struct error *err)
{
    const struct run_plan *p = &run->plan;
    uint8_t nonce[(RUN_NONCE_HEX - 1) / 2];
    if (!memchr(p->nonce, '\0', sizeof p->nonce) ||
        hex_decode(nonce, sizeof nonce, str_of(p->nonce)) < 0)
        return bad_record(err, "the nonce is not 128 bits in hexadecimal");
    if (p->bands_n < 1 || p->bands_n > RUN_BANDS_MAX)
        return bad_record(err, "a run has 1 to 64 bands");
    for (size_t i = 0; i < p->bands_n; i++) {
        if (p->bands[i] < 1 || p->bands[i] > RUN_BAND_MAX)
            return bad_record(err, "a band is a number of 1 to 100,000,000");
        for (size_t k = 0; k < i; k++)
            if (p->bands[k] == p->bands[i])
                return bad_record(err, "a band is declared twice");
    }
    if (p->replicates < 1 || p->replicates > RUN_REPLICATES_MAX)
        return bad_record(err, "a run has 1 to 1,000 replicates");
    if (run_plan_check_load(p, err) < 0)
        return error_rule(err, "schema");
    if (p->method == COUNT_UNSET)
        return bad_record(err, "the method of counting is not stated");
    if (run->argc > RECEIPT_ARGS_MAX)
        return bad_record(err, "the command line has more than 1,024 words");
    return check_lanes(run, err);
}

struct reader {
    struct receipt_read *r;
    struct run_lane *lanes;
    struct run_band *bands;
    struct error *err;
};

static const struct json *child(const struct json *doc, const char *name)
{
    return json_get(doc, name);
}

static int read_utc(struct reader *rd, const char *name, int64_t *ns)
{
    const struct json *v = child(rd->r->doc, name);
    char again[CLOCK_UTC_TEXT];
    int64_t t;
    if (!json_is(v, JSON_STRING) || clock_parse_utc(&t, v->text) < 0)
        return form_refuse(rd->err, v, "", name, "is no UTC time");
    clock_format_utc(again, t);
    if (!str_eq(str_of(again), v->text))
        return form_refuse(rd->err, v, "", name, "is no UTC time in its one spelling");
    *ns = t;
    return 0;
}

static int read_client(struct reader *rd)
{
    struct receipt_read *r = rd->r;
    const struct json *client = child(r->doc, "client"), *words;
    if (form_read(&form_program, &r->program, client, "client", &r->arena, rd->err) < 0)
        return -1;
    words = child(client, "command_line");
    if (!json_is(words, JSON_ARRAY) || words->n > RECEIPT_ARGS_MAX)
        return form_refuse(rd->err, words ? words : client, "client", "command_line",
                           "is no list of words");
    const char **argv = arena_array(&r->arena, words->n + 1, sizeof *argv);
    for (size_t i = 0; argv && i < words->n; i++) {
        const struct json *word = &words->items[i];
        if (!json_is(word, JSON_STRING) || memchr(word->text.p, '\0', word->text.n))
            return form_refuse(rd->err, word, "client", "command_line", "holds no word");
        argv[i] = word->text.p;
    }
    r->run.argv = argv;
    r->run.argc = words->n;
    return arena_check(&r->arena, "the receipt", rd->err);
}

static int read_band_list(struct reader *rd, const struct json *protocol)
{
    struct run_plan *plan = &rd->r->run.plan;
    const struct json *list = child(protocol, "bands");
    if (!json_is(list, JSON_ARRAY) || list->n < 1 || list->n > RUN_BANDS_MAX)
        return form_refuse(rd->err, list ? list : protocol, "protocol", "bands",
                           "is no list of 1 to 64 bands");
    for (size_t i = 0; i < list->n; i++) {
        int64_t c;
        if (json_i64(&c, &list->items[i]) < 0 || c < 1 || c > RUN_BAND_MAX)
            return form_refuse(rd->err, &list->items[i], "protocol", "bands", "holds no band");
        plan->bands[i] = (int32_t)c;
    }
    plan->bands_n = list->n;
    return 0;
}

/* Rising or not is the load model's to say: run_plan_check_load. */
static int read_ramp(struct reader *rd, const struct json *protocol)
{
    struct run_plan *plan = &rd->r->run.plan;
    const struct json *list = child(protocol, "ramp");
    if (json_is(list, JSON_NULL))
        return 0;
    if (!json_is(list, JSON_ARRAY) || list->n < 1 || list->n > RUN_RAMP_MAX)
        return form_refuse(rd->err, list ? list : protocol, "protocol", "ramp",
                           "is no list of 1 to 64 steps");
    for (size_t i = 0; i < list->n; i++) {
        int64_t c;
        if (json_i64(&c, &list->items[i]) < 0 || c < 1 || c > RUN_BAND_MAX)
            return form_refuse(rd->err, &list->items[i], "protocol", "ramp", "holds no step");
        plan->ramp[i] = (int32_t)c;
    }
    plan->ramp_n = list->n;
    return 0;
}

static int read_plan(struct reader *rd)
{
    struct receipt_read *r = rd->r;
    struct run_plan *p = &r->run.plan;
    const struct json *doc = r->doc, *protocol = child(doc, "protocol");
    static const struct form_member nonce_member = {"nonce", FORM_NONCE,
                                                    offsetof(struct run_plan, nonce), NULL};
    static const struct form form_nonce = {&nonce_member, 1};
    if (form_read(&form_nonce, p, doc, "", &r->arena, rd->err) < 0 ||
        form_read(&form_host, &r->host, child(doc, "host"), "host", &r->arena, rd->err) < 0 ||
        form_read(&form_clock, p, child(doc, "clock"), "clock", &r->arena, rd->err) < 0 ||
        form_read(&form_corpus, p, json_path(doc, "workload.corpus"), "workload.corpus", &r->arena,
                  rd->err) < 0 ||
        form_read(&form_request, p, json_path(doc, "workload.request"), "workload.request",
                  &r->arena, rd->err) < 0 ||
        form_read(&form_rendering, p, json_path(doc, "workload.rendering"), "workload.rendering",
                  &r->arena, rd->err) < 0 ||
        form_read(&form_workload, p, child(doc, "workload"), "workload", &r->arena, rd->err) < 0 ||
        form_read(&form_protocol, p, protocol, "protocol", &r->arena, rd->err) < 0 ||
        form_read(&form_tokenization, p, child(doc, "tokenization"), "tokenization", &r->arena,
                  rd->err) < 0)
        return -1;
    return read_band_list(rd, protocol) < 0 ? -1 : read_ramp(rd, protocol);
}

static int read_lanes(struct reader *rd)
{
    struct receipt_read *r = rd->r;
    const struct json *list = child(r->doc, "lanes");
    char path[FORM_PATH_MAX];
    if (!json_is(list, JSON_ARRAY) || list->n < 1 || list->n > RUN_LANES_MAX)
        return form_refuse(rd->err, list, "", "lanes", "is no list of one or two lanes");
    rd->lanes = arena_array(&r->arena, list->n, sizeof *rd->lanes);
    if (!rd->lanes)
        return arena_check(&r->arena, "the receipt", rd->err);
    for (size_t i = 0; i < list->n; i++) {
        snprintf(path, sizeof path, "lanes.%zu", i);
        if (form_read(&form_lane, &rd->lanes[i], &list->items[i], path, &r->arena, rd->err) < 0)
            return -1;
    }
    r->run.lanes = rd->lanes;
    r->run.lanes_n = list->n;
    return 0;
}

/* Its place among all that the plan declares, or -1: an undeclared band. */
static int64_t band_index(const struct run_record *run, const struct run_band *b)
{
    for (size_t c = 0; c < run->plan.bands_n; c++)
        if (run->plan.bands[c] == b->band && b->replicate <= run->plan.replicates)
            return ((int64_t)b->lane * run->plan.replicates + b->replicate - 1) *
                       (int64_t)run->plan.bands_n +
                   (int64_t)c;
    return -1;
}

static int read_band_head(struct reader *rd, const struct json *v, const char *path,
                          struct run_band *b)
{
    const struct run_record *run = &rd->r->run;
    const struct json *lane = child(v, "lane");
    int64_t band, replicate;
    b->lane = run->lanes_n;
    for (size_t i = 0; i < run->lanes_n && json_is(lane, JSON_STRING); i++)
        if (str_eq(lane->text, str_of(run->lanes[i].role)))
            b->lane = i;
    if (b->lane == run->lanes_n)
        return form_refuse(rd->err, lane ? lane : v, path, "lane", "is no lane of this run");
    if (json_i64(&band, child(v, "band")) < 0 || band < 1 || band > RUN_BAND_MAX)
        return form_refuse(rd->err, v, path, "band", "is no band");
    if (json_i64(&replicate, child(v, "replicate")) < 0 || replicate < 1 ||
        replicate > RUN_REPLICATES_MAX)
        return form_refuse(rd->err, v, path, "replicate", "is no replicate");
    b->band = (int32_t)band;
    b->replicate = (int32_t)replicate;
    return 0;
}

static int read_band_samples(struct reader *rd, const struct json *v, const char *path,
                             struct run_band *b)
{
    static const struct form_member members[] = {
        {"file", FORM_STR, offsetof(struct run_band, sample_file), NULL},
        {"sha256", FORM_HEX, offsetof(struct run_band, sample_sha256), NULL},
    };
    static const struct form form_samples = {members, 2};
    char where[FORM_PATH_MAX], name[RECEIPT_SAMPLE_NAME_MAX];
    snprintf(where, sizeof where, "%.64s.samples", path);
    if (form_read(&form_samples, b, child(v, "samples"), where, &rd->r->arena, rd->err) < 0)
        return -1;
    receipt_sample_name(name, rd->lanes[b->lane].role, b->band, b->replicate,
                        RECEIPT_SAMPLE_STORED);
    if (strcmp(name, b->sample_file) != 0)
        return form_refuse(rd->err, json_path(v, "samples.file"), where, "file",
                           "is not the name that this band's samples have");
    return 0;
}

static int check_server_name(struct reader *rd, const struct json *v, const char *where,
                             const struct run_band *b)
{
    char name[RECEIPT_SAMPLE_NAME_MAX];
    receipt_server_name(name, rd->lanes[b->lane].role, b->band, b->replicate);
    if (!b->server.file != !b->server.sha256[0])
        return form_refuse(rd->err, json_path(v, "server.sha256"), where, "sha256",
                           "stands exactly where a file does");
    if (!b->server.file || strcmp(name, b->server.file) == 0)
        return 0;
    return form_refuse(rd->err, json_path(v, "server.file"), where, "file",
                       "is not the name that this band's file has");
}

static int read_band(struct reader *rd, const struct json *v, size_t i, struct run_band *b)
{
    struct arena *arena = &rd->r->arena;
    char path[FORM_PATH_MAX / 2], where[FORM_PATH_MAX];
    snprintf(path, sizeof path, "bands.%zu", i);
    if (!json_is(v, JSON_OBJECT))
        return form_refuse(rd->err, v, path, "", "is no object");
    if (read_band_head(rd, v, path, b) < 0 ||
        form_read(&form_band_times, b, v, path, arena, rd->err) < 0)
        return -1;
    snprintf(where, sizeof where, "%s.loop", path);
    if (form_read(&form_band_loop, b, child(v, "loop"), where, arena, rd->err) < 0)
        return -1;
    if (b->planned > (int64_t)METRICS_SAMPLES_MAX)
        return form_refuse(rd->err, child(v, "loop"), where, "planned", "is too large");
    snprintf(where, sizeof where, "%s.client_load", path);
    if (form_read(&form_client_load, &b->client, child(v, "client_load"), where, arena, rd->err) <
        0)
        return -1;
    snprintf(where, sizeof where, "%s.clock", path);
    if (form_read(&form_band_clock, &b->clock, child(v, "clock"), where, arena, rd->err) < 0)
        return -1;
    snprintf(where, sizeof where, "%s.server", path);
    if (form_read(&form_band_server, &b->server, child(v, "server"), where, arena, rd->err) < 0 ||
        check_server_name(rd, v, where, b) < 0)
        return -1;
    return read_band_samples(rd, v, path, b);
}

static int read_bands(struct reader *rd)
{
    struct receipt_read *r = rd->r;
    const struct json *list = child(r->doc, "bands");
    size_t most = r->run.lanes_n * (size_t)r->run.plan.replicates * r->run.plan.bands_n;
    char path[FORM_PATH_MAX];
    if (!json_is(list, JSON_ARRAY) || list->n > most)
        return form_refuse(rd->err, list, "", "bands", "is no list of the declared bands");
    rd->bands = arena_array(&r->arena, list->n + 1, sizeof *rd->bands);
    bool *seen = arena_array(&r->arena, most, sizeof *seen);
    if (!rd->bands || !seen)
        return arena_check(&r->arena, "the receipt", rd->err);
    for (size_t i = 0; i < list->n; i++) {
        if (read_band(rd, &list->items[i], i, &rd->bands[i]) < 0)
            return -1;
        int64_t at = band_index(&r->run, &rd->bands[i]);
        snprintf(path, sizeof path, "bands.%zu", i);
        if (at < 0 || seen[at])
            return form_refuse(rd->err, &list->items[i], path, "",
                               at < 0 ? "is not among the declared bands" : "is there twice");
        seen[at] = true;
    }
    r->run.bands = rd->bands;
    r->run.bands_n = list->n;
    return 0;
}

static int read_calibration(struct reader *rd)
{
    struct receipt_read *r = rd->r;
    struct run_calibration *k = &r->run.calibration;
    const struct json *v = child(r->doc, "calibration");
    if (json_is(v, JSON_NULL))
        return 0;
    if (form_read(&form_calibration, k, v, "calibration", &r->arena, rd->err) < 0 ||
        form_read(&form_client_load, &k->client, child(v, "client_load"), "calibration.client_load",
                  &r->arena, rd->err) < 0)
        return -1;
    if (strcmp(k->file, RECEIPT_CALIBRATION_NAME) == 0)
        return 0;
    return form_refuse(rd->err, child(v, "file"), "calibration", "file",
                       "is not \"" RECEIPT_CALIBRATION_NAME "\"");
}

static int read_commands(struct reader *rd)
{
    struct receipt_read *r = rd->r;
    const struct json *list = child(r->doc, "commands");
    char path[FORM_PATH_MAX];
    if (!json_is(list, JSON_ARRAY) || list->n > RECEIPT_FILES_MAX)
        return form_refuse(rd->err, list, "", "commands", "is no list of commands");
    struct run_command *commands = arena_array(&r->arena, list->n + 1, sizeof *commands);
    for (size_t i = 0; commands && i < list->n; i++) {
        snprintf(path, sizeof path, "commands.%zu", i);
        if (form_read(&form_command, &commands[i], &list->items[i], path, &r->arena, rd->err) < 0)
            return -1;
    }
    r->run.commands = commands;
    r->run.commands_n = list->n;
    return arena_check(&r->arena, "the receipt", rd->err);
}

static int read_files(struct reader *rd)
{
    struct receipt_read *r = rd->r;
    const struct json *list = child(r->doc, "files");
    static const struct form_member members[] = {
        {"name", FORM_STR, offsetof(struct receipt_file, name), NULL},
        {"sha256", FORM_HEX, offsetof(struct receipt_file, sha256), NULL},
    };
    static const struct form form_file = {members, 2};
    char path[FORM_PATH_MAX];
    if (!json_is(list, JSON_ARRAY) || list->n > RECEIPT_FILES_MAX)
        return form_refuse(rd->err, list, "", "files", "is no list of files");
    struct receipt_file *files = arena_array(&r->arena, list->n + 1, sizeof *files);
    for (size_t i = 0; files && i < list->n; i++) {
        snprintf(path, sizeof path, "files.%zu", i);
        if (form_read(&form_file, &files[i], &list->items[i], path, &r->arena, rd->err) < 0)
            return -1;
    }
    r->files = files;
    r->files_n = list->n;
    return arena_check(&r->arena, "the receipt", rd->err);
}

static int read_ledger(struct reader *rd)
{
    struct receipt_read *r = rd->r;
    static const struct form_member member = {"ledger", FORM_JSON,
                                              offsetof(struct receipt_read, ledger_json), NULL};
    static const struct form form_ledger = {&member, 1};
    const struct json *v = child(r->doc, "ledger");
    if (json_is(v, JSON_STRING) && str_eq(v->text, STR("none")))
        return 0;
    if (!json_is(v, JSON_OBJECT))
        return form_refuse(rd->err, v, "", "ledger", "is neither \"none\" nor an entry");
    return form_read(&form_ledger, r, r->doc, "", &r->arena, rd->err);
}

static int read_tail(struct reader *rd)
{
    struct receipt_read *r = rd->r;
    struct str of_text;
    const struct json *v = child(r->doc, "interrupted");
    if (json_bool(&r->run.interrupted, v) < 0)
        return form_refuse(rd->err, v, "", "interrupted", "is neither true nor false");
    if (json_str(&of_text, child(r->doc, "run_id")) < 0 || of_text.n != SHA256_HEX - 1)
        return form_refuse(rd->err, child(r->doc, "run_id"), "", "run_id", "is no digest");
    r->run_id = of_text;
    return read_utc(rd, "end", &r->run.t_end_real_ns);
}

static int read_all(struct reader *rd, bool complete)
{
    struct receipt_read *r = rd->r;
    const struct json *schema = child(r->doc, "schema");
    const char *wanted = complete ? RECEIPT_SCHEMA : RECEIPT_RUN_SCHEMA;
    if (!json_is(schema, JSON_STRING) || !str_eq(schema->text, str_of(wanted))) {
        form_refuse(rd->err, schema, "", "schema",
                    complete ? "is not \"" RECEIPT_SCHEMA "\""
                             : "is not \"" RECEIPT_RUN_SCHEMA "\"");
        return error_remedy(rd->err, "read it with the version of tally that wrote it");
    }
    if (read_plan(rd) < 0 || read_utc(rd, "start", &r->run.t_start_real_ns) < 0 ||
        read_client(rd) < 0 || read_lanes(rd) < 0 || receipt_check_record(&r->run, rd->err) < 0)
        return -1;
    if (!complete)
        return 0;
    return read_calibration(rd) < 0 || read_commands(rd) < 0 || read_bands(rd) < 0 ||
                   read_files(rd) < 0 || read_ledger(rd) < 0 || read_tail(rd) < 0
               ? -1
               : 0;
}

static int parse_doc(struct receipt_read *r, struct str text, struct error *err)
{
    const struct json_limits limits = {RECEIPT_BYTES_MAX, (size_t)16 << 20, RECEIPT_READ_DEPTH};
    if (json_parse(&r->doc, text, &limits, &r->arena, err) == 0)
        return 0;
    if (err->kind == ERROR_INPUT || err->kind == ERROR_LIMIT) {
        err->kind = ERROR_REFUSED;
        error_rule(err, "schema");
    }
    return -1;
}

int receipt_read_text(struct receipt_read *r, struct str text, bool complete, const char *name,
                      struct error *err)
{
    struct reader rd = {.r = r, .err = err};
    *r = (struct receipt_read){.complete = complete, .text = BUF_INIT(RECEIPT_BYTES_MAX)};
    arena_init(&r->arena, RECEIPT_ARENA_MAX);
    buf_addstr(&r->text, text);
    if (buf_check(&r->text, "the receipt", err) == 0 && parse_doc(r, buf_str(&r->text), err) == 0 &&
        read_all(&rd, complete) == 0)
        return 0;
    receipt_read_release(r);
    return error_at_file(err, name);
}

/* A pipe would block, a link may lead anywhere. Absent files are left to whoever opens them. */
static int check_regular(const char *path, struct error *err)
{
    struct stat st;
    if (lstat(path, &st) < 0 || S_ISREG(st.st_mode))
        return 0;
    error_set(err, ERROR_REFUSED, "is not a regular file");
    error_rule(err, "directory");
    return error_at_file(err, path);
}

int receipt_read_dir(struct receipt_read *r, const char *dir, struct error *err)
{
    struct buf path = BUF_INIT(FILE_PATH_MAX), text = BUF_INIT(0);
    int status = -1;
    if (path_join(&path, dir, RECEIPT_NAME, err) < 0)
        goto out;
    struct stat st;
    bool complete = lstat(path.p, &st) == 0;
    if (!complete && path_join(&path, dir, RECEIPT_RUN_NAME, err) < 0)
        goto out;
    if (check_regular(path.p, err) < 0)
        goto out;
    if (file_read(&text, path.p, RECEIPT_BYTES_MAX, err) < 0) {
        if (!complete)
            error_remedy(err, "give the directory that 'tally run' wrote");
        goto out;
    }
    status = receipt_read_text(r, buf_str(&text), complete, path.p, err);
out:
    buf_release(&path);
    buf_release(&text);
    return status;
}

void receipt_read_release(struct receipt_read *r)
{
    if (!r)
        return;
    buf_release(&r->text);
    arena_release(&r->arena);
    *r = (struct receipt_read){0};
}
