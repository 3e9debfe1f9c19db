#include "verify/verify.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "receipt/compose.h"
#include "record/sample_file.h"
#include "verify/note.h"

#define REPORT_ARENA ((size_t)64 << 20)

const char *verify_rule_name(enum verify_rule r)
{
    static const char *const names[] = {
#define X(id, name, proves) name,
        VERIFY_RULES(X)
#undef X
    };
    return names[r];
}

const char *verify_rule_proves(enum verify_rule r)
{
    static const char *const texts[] = {
#define X(id, name, proves) proves,
        VERIFY_RULES(X)
#undef X
    };
    return texts[r];
}

/* The rule of an error that a lower floor named; VERIFY_SCHEMA where it named none of ours. */
static enum verify_rule rule_of(const struct error *err)
{
    for (int r = 0; r < VERIFY_RULE_COUNT; r++)
        if (strcmp(err->rule, verify_rule_name((enum verify_rule)r)) == 0)
            return (enum verify_rule)r;
    return VERIFY_SCHEMA;
}

static bool is_about_content(const struct error *err)
{
    return err->kind == ERROR_REFUSED || err->kind == ERROR_INPUT || err->kind == ERROR_LIMIT ||
           err->kind == ERROR_UNSUPPORTED;
}

/* The lists of files and of records; false when a rule failed and nothing more can be said. */
static int read_directory(struct verify_work *w, bool *go_on, struct error *err)
{
    *go_on = false;
    if (file_list_read(&w->files, w->dir, NULL, err) < 0) {
        if (!is_about_content(err))
            return -1;
        verify_fail_error(w->report, VERIFY_DIRECTORY, w->dir, err);
        return 0;
    }
    verify_pass(w->report, VERIFY_DIRECTORY, "%zu files", w->files.n);
    if (receipt_read_dir(&w->receipt, w->dir, err) < 0) {
        if (!is_about_content(err))
            return -1;
        verify_fail_error(w->report, rule_of(err), w->dir, err);
        return 0;
    }
    *go_on = true;
    return 0;
}

static int check_run_id(struct verify_work *w, struct error *err)
{
    struct str id;
    char digest[SHA256_HEX];
    struct verify_report *v = w->report;
    if (receipt_text_id(buf_str(&w->receipt.text), &id, digest, err) < 0) {
        if (!is_about_content(err))
            return -1;
        verify_fail(v, VERIFY_RUN_ID,
                    &(struct verify_place){RECEIPT_NAME, err->line, err->column, "run_id"}, "%s",
                    err->message);
        return 0;
    }
    snprintf(v->run_id, sizeof v->run_id, "%.*s", STR_ARG(id));
    if (str_eq(id, str_of(digest)))
        verify_pass(v, VERIFY_RUN_ID, "%.16s… is the digest of the text", digest);
    else
        verify_fail(v, VERIFY_RUN_ID, &(struct verify_place){RECEIPT_NAME, 3, 1, "run_id"},
                    "says %.16s…; the text digests to %.16s…", v->run_id, digest);
    return 0;
}

static void on_run_difference(void *ctx, const struct verify_difference *d)
{
    struct verify_work *w = ctx;
    char stored[128], made[128];
    verify_fail(w->report, VERIFY_RUN_JSON,
                &(struct verify_place){RECEIPT_RUN_NAME, d->at ? d->at->line : 0,
                                       d->at ? d->at->column : 0, d->path},
                "says %s; by the receipt it was %s", verify_show(d->stored, stored, sizeof stored),
                verify_show(d->made, made, sizeof made));
}

/* What run.json would be by the receipt: composed from its records, but for what only the samples
 * could tell. */
static int compare_run_json(struct verify_work *w, const struct json *stored, struct arena *arena,
                            struct error *err)
{
    struct run_record declared = w->receipt.run;
    struct receipt_parts parts = {
        .run = &declared, .host = &w->receipt.host, .program = &w->receipt.program};
    struct buf text = BUF_INIT(RECEIPT_BYTES_MAX);
    const struct json *made;
    declared.plan.output_count_source = declared.plan.token_assignment = NULL;
    declared.bands_n = 0;
    int status = compose_run(&parts, arena, &text, err);
    if (status == 0)
        status = json_parse(&made, buf_str(&text), &JSON_LIMITS_DEFAULT, arena, err);
    if (status == 0)
        verify_compare(stored, made, "", on_run_difference, w);
    buf_release(&text);
    return status;
}

static int check_run_json(struct verify_work *w, struct error *err)
{
    struct arena arena;
    struct buf path = BUF_INIT(FILE_PATH_MAX);
    const struct json *stored;
    const struct json_limits limits = {RECEIPT_BYTES_MAX, (size_t)1 << 20, RECEIPT_READ_DEPTH};
    int status = -1;
    arena_init(&arena, RECEIPT_ARENA_MAX);
    if (!verify_digest_of(w, STR(RECEIPT_RUN_NAME))) {
        verify_fail(w->report, VERIFY_RUN_JSON, &(struct verify_place){.file = RECEIPT_RUN_NAME},
                    "is not there");
        status = 0;
    } else if (path_join(&path, w->dir, RECEIPT_RUN_NAME, err) < 0) {
        status = -1;
    } else if (json_parse_file(&stored, path.p, &limits, &arena, err) < 0) {
        if (is_about_content(err)) {
            verify_fail_error(w->report, VERIFY_RUN_JSON, w->dir, err);
            status = 0;
        }
    } else {
        status = compare_run_json(w, stored, &arena, err);
        verify_pass(w->report, VERIFY_RUN_JSON, "the plan, lanes and host as declared");
    }
    buf_release(&path);
    arena_release(&arena);
    return status;
}

static int check_signature(struct verify_work *w, struct error *err)
{
    struct verify_report *v = w->report;
    const struct verify_options *o = w->options;
    struct envelope_check c;
    const struct verify_place at = {.file = ENVELOPE_NAME};
    if (envelope_check_dir(w->dir, o->keys, o->keys_n, &c, err) < 0)
        return -1;
    v->signature = c.verdict;
    switch (c.verdict) {
    case ENVELOPE_VALID:
        if (strcmp(c.run_id, v->run_id) != 0) {
            verify_fail(v, VERIFY_SIGNATURE, &at, "signs run %.16s…, which is not this one",
                        c.run_id);
            break;
        }
        v->signed_by = arena_cstr(&v->arena, str_of(c.signer[0] ? c.signer : c.key_id));
        verify_pass(v, VERIFY_SIGNATURE, "%s", c.detail);
        break;
    case ENVELOPE_WRONG:
        verify_fail(v, VERIFY_SIGNATURE, &at, "%s", c.detail);
        break;
    case ENVELOPE_UNSIGNED:
    case ENVELOPE_UNKNOWN_KEY:
        if (o->need_signature)
            verify_fail(v, VERIFY_SIGNATURE, &at, "%s", c.detail);
        else
            verify_skip(v, VERIFY_SIGNATURE, "%s", c.detail);
        break;
    }
    return 0;
}

static void keep_status(struct verify_work *w)
{
    struct str text;
    struct verify_report *v = w->report;
    if (json_str(&text, json_get(w->receipt.doc, "status")) == 0)
        v->status = arena_cstr(&v->arena, text);
    if (json_str(&text, json_get(w->receipt.doc, "reason")) == 0)
        v->reason = arena_cstr(&v->arena, text);
}

static int check_complete(struct verify_work *w, struct error *err)
{
    keep_status(w);
    verify_pass(w->report, VERIFY_SCHEMA, "%s, %zu bands", RECEIPT_SCHEMA, w->receipt.run.bands_n);
    if (check_run_id(w, err) < 0 || verify_files(w, err) < 0 || check_run_json(w, err) < 0 ||
        verify_samples(w, err) < 0)
        return -1;
    verify_protocol(w);
    if (verify_server(w, err) < 0 || verify_calibration(w, err) < 0)
        return -1;
    if (verify_derived(w, err) < 0 || verify_recount(w, err) < 0)
        return -1;
    return check_signature(w, err);
}

static void conclude(struct verify_report *v)
{
    v->verdict = VERIFY_OK;
    for (int r = 0; r < VERIFY_RULE_COUNT; r++) {
        if (v->rules[r].state == VERIFY_FAILED)
            v->verdict = VERIFY_BROKEN;
        verify_skip(v, (enum verify_rule)r, "a rule before it failed");
    }
}

static void count_plain(struct verify_work *w, const char *name)
{
    struct buf path = BUF_INIT(FILE_PATH_MAX);
    struct error err = {0};
    struct arena arena;
    struct sample *samples;
    size_t n;
    bool cut;
    arena_init(&arena, RECEIPT_ARENA_MAX);
    if (path_join(&path, w->dir, name, &err) == 0 && file_exists(path.p)) {
        if (sample_file_read(&samples, &n, &cut, path.p, &arena, &err) < 0) {
            verify_fail_error(w->report, VERIFY_SAMPLES, w->dir, &err);
        } else {
            w->report->bands++;
            w->report->samples += (int64_t)n;
        }
    }
    buf_release(&path);
    arena_release(&arena);
}

/* A run that was cut off: what is there is counted; an interrupted write may lie beside it. */
static int check_incomplete(struct verify_work *w, struct error *err)
{
    struct verify_report *v = w->report;
    const struct run_plan *p = &w->receipt.run.plan;
    char name[RECEIPT_SAMPLE_NAME_MAX];
    (void)err;
    for (size_t lane = 0; lane < w->receipt.run.lanes_n; lane++)
        for (int32_t rep = 1; rep <= p->replicates; rep++)
            for (size_t c = 0; c < p->bands_n; c++) {
                const char *role = w->receipt.run.lanes[lane].role;
                receipt_sample_name(name, role, p->bands[c], rep, "");
                count_plain(w, name);
                receipt_sample_name(name, role, p->bands[c], rep, RECEIPT_SAMPLE_STORED);
                count_plain(w, name);
            }
    verify_pass(v, VERIFY_SAMPLES, "%lld samples in %lld files", (long long)v->samples,
                (long long)v->bands);
    for (int r = 0; r < VERIFY_RULE_COUNT; r++)
        verify_skip(v, (enum verify_rule)r, "the run was cut off before its receipt");
    v->status = status_name(STATUS_INCOMPLETE);
    v->reason = "interrupted";
    v->verdict = VERIFY_INCOMPLETE;
    return 0;
}

/* No receipt.json, but a run.json. */
static bool is_cut_off(const char *dir)
{
    struct buf path = BUF_INIT(FILE_PATH_MAX);
    struct error ignored;
    struct stat st;
    bool cut = path_join(&path, dir, RECEIPT_NAME, &ignored) == 0 && lstat(path.p, &st) < 0 &&
               errno == ENOENT && path_join(&path, dir, RECEIPT_RUN_NAME, &ignored) == 0 &&
               lstat(path.p, &st) == 0;
    buf_release(&path);
    return cut;
}

static int verify_cut_off(struct verify_work *w, struct error *err)
{
    if (receipt_read_dir(&w->receipt, w->dir, err) < 0) {
        if (!is_about_content(err))
            return -1;
        verify_fail_error(w->report, rule_of(err), w->dir, err);
        conclude(w->report);
        return 0;
    }
    return check_incomplete(w, err);
}

int verify_dir(struct verify_report *v, const char *dir, const struct verify_options *o,
               struct error *err)
{
    struct verify_work w = {.dir = dir, .options = o, .report = v};
    bool go_on = false;
    int status;
    *v = (struct verify_report){.signature = ENVELOPE_UNSIGNED};
    arena_init(&v->arena, REPORT_ARENA);
    if (is_cut_off(dir)) {
        status = verify_cut_off(&w, err);
    } else {
        status = read_directory(&w, &go_on, err);
        if (status == 0 && go_on)
            status = check_complete(&w, err);
        if (status == 0)
            conclude(v);
    }
    if (status == 0)
        status = arena_check(&v->arena, "the list of what was verified", err);
    measure_release(&w.measure);
    receipt_read_release(&w.receipt);
    file_list_release(&w.files);
    if (status < 0)
        verify_release(v);
    return status;
}

void verify_release(struct verify_report *v)
{
    if (!v)
        return;
    arena_release(&v->arena);
    *v = (struct verify_report){0};
}

int verify_exit_code(const struct verify_report *v)
{
    switch (v->verdict) {
    case VERIFY_OK:
        return status_exit_code(STATUS_PASS);
    case VERIFY_INCOMPLETE:
        return status_exit_code(STATUS_INCOMPLETE);
    case VERIFY_BROKEN:
        break;
    }
    return status_exit_code(STATUS_REFUSED);
}

const char *verify_summary(const struct verify_report *v)
{
    if (v->verdict == VERIFY_BROKEN)
        return "does not verify";
    if (v->verdict == VERIFY_INCOMPLETE)
        return "incomplete: the run was cut off before its receipt";
    if (v->signature == ENVELOPE_VALID)
        return "verified, signed by a trusted key";
    if (v->signature == ENVELOPE_UNKNOWN_KEY)
        return "self-consistent, signed by a key that nobody here trusts";
    return "self-consistent, unsigned";
}
