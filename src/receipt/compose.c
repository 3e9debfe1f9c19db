#include "receipt/compose.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "receipt/keys.h"
#include "receipt/pairing.h"
#include "receipt/record_form.h"
#include "receipt/sweep.h"

struct composer {
    const struct receipt_parts *p;
    struct arena *arena;
    struct form_nulls nulls;
    struct json_writer w;
    const struct rules_verdict *verdict;
};

static void put_null(struct composer *c, const char *name, const char *path, const char *why)
{
    json_key(&c->w, name);
    json_put_null(&c->w);
    form_note(&c->nulls, path, why);
}

static void put_form_at(struct composer *c, const char *name, const char *path,
                        const struct form *f, const void *base)
{
    json_key(&c->w, name);
    json_begin_object(&c->w);
    form_write(f, base, path, &c->nulls, &c->w);
    json_end_object(&c->w);
}

static void put_form(struct composer *c, const char *name, const struct form *f, const void *base)
{
    put_form_at(c, name, name, f, base);
}

static void put_utc(struct composer *c, const char *name, int64_t real_ns)
{
    char text[CLOCK_UTC_TEXT];
    clock_format_utc(text, real_ns);
    json_key(&c->w, name);
    json_put_cstr(&c->w, text);
}

static void put_client(struct composer *c)
{
    const struct run_record *run = c->p->run;
    json_key(&c->w, "client");
    json_begin_object(&c->w);
    form_write(&form_program, c->p->program, "client", &c->nulls, &c->w);
    json_key(&c->w, "command_line");
    json_begin_array(&c->w);
    for (size_t i = 0; i < run->argc; i++)
        json_put_cstr(&c->w, run->argv[i]);
    json_end_array(&c->w);
    json_end_object(&c->w);
    put_form(c, "host", &form_host, c->p->host);
    put_form(c, "clock", &form_clock, &run->plan);
}

static int put_workload(struct composer *c, struct error *err)
{
    const struct run_plan *plan = &c->p->run->plan;
    char request[SHA256_HEX];
    if (keys_request_sha256(plan, request, err) < 0)
        return -1;
    json_key(&c->w, "workload");
    json_begin_object(&c->w);
    put_form_at(c, "corpus", "workload.corpus", &form_corpus, plan);
    put_form_at(c, "request", "workload.request", &form_request, plan);
    put_form_at(c, "rendering", "workload.rendering", &form_rendering, plan);
    json_key(&c->w, "request_sha256");
    json_put_cstr(&c->w, request);
    form_write(&form_workload, plan, "workload", &c->nulls, &c->w);
    json_end_object(&c->w);
    return 0;
}

/* The bands once more, as the rates or speeds that they stand for. */
static void put_levels(struct composer *c, const char *name, const char *path, bool have,
                       const char *why)
{
    const struct run_plan *plan = &c->p->run->plan;
    if (!have) {
        put_null(c, name, path, why);
        return;
    }
    json_key(&c->w, name);
    json_begin_array(&c->w);
    for (size_t i = 0; i < plan->bands_n; i++)
        json_put_real9(&c->w, (double)plan->bands[i] / 1000);
    json_end_array(&c->w);
}

static void put_protocol(struct composer *c)
{
    const struct run_record *run = c->p->run;
    json_key(&c->w, "protocol");
    json_begin_object(&c->w);
    json_key(&c->w, "bands");
    json_begin_array(&c->w);
    for (size_t i = 0; i < run->plan.bands_n; i++)
        json_put_i64(&c->w, run->plan.bands[i]);
    json_end_array(&c->w);
    if (run->lanes_n == 2) {
        json_key(&c->w, "order");
        json_put_cstr(&c->w, "alternating"); /* A B in odd replicates, B A in even ones */
    } else {
        put_null(c, "order", "protocol.order", "one_lane");
    }
    if (run->plan.ramp_n > 0) {
        json_key(&c->w, "ramp");
        json_begin_array(&c->w);
        for (size_t i = 0; i < run->plan.ramp_n; i++)
            json_put_i64(&c->w, run->plan.ramp[i]);
        json_end_array(&c->w);
    } else {
        put_null(c, "ramp", "protocol.ramp", "no_ramp");
    }
    bool open = run_plan_is_open(&run->plan), trace = run_plan_is_trace(&run->plan);
    put_levels(c, "rate_rps", "protocol.rate_rps", open && !trace, open ? "trace" : "closed_loop");
    put_levels(c, "trace_speed", "protocol.trace_speed", trace, "no_trace");
    form_write(&form_protocol, &run->plan, "protocol", &c->nulls, &c->w);
    json_end_object(&c->w);
    put_form(c, "tokenization", &form_tokenization, &run->plan);
}

/* with_keys: join keys need the metrics of all bands. */
static int put_lanes(struct composer *c, bool with_keys, struct error *err)
{
    const struct run_record *run = c->p->run;
    char path[FORM_PATH_MAX], join[SHA256_HEX];
    json_key(&c->w, "lanes");
    json_begin_array(&c->w);
    for (size_t i = 0; i < run->lanes_n; i++) {
        snprintf(path, sizeof path, "lanes.%zu", i);
        json_begin_object(&c->w);
        form_write(&form_lane, &run->lanes[i], path, &c->nulls, &c->w);
        if (with_keys) {
            const char *program = c->p->program->binary_sha256;
            json_key(&c->w, "join_key");
            if (keys_write_join(run, i, c->p->metrics, program, &c->w, err) < 0 ||
                keys_join_sha256(run, i, c->p->metrics, program, join, err) < 0)
                return -1;
            json_key(&c->w, "join_sha256");
            json_put_cstr(&c->w, join);
        }
        json_end_object(&c->w);
    }
    json_end_array(&c->w);
    return 0;
}

static int put_head(struct composer *c, bool with_keys, struct error *err)
{
    put_client(c);
    if (put_workload(c, err) < 0)
        return -1;
    put_protocol(c);
    return put_lanes(c, with_keys, err);
}

static void put_lag(struct composer *c, const char *name, const struct client_lag *lag)
{
    char path[FORM_PATH_MAX];
    if (lag->n <= 0) {
        snprintf(path, sizeof path, "calibration.%s", name);
        put_null(c, name, path, "no_stamps");
        return;
    }
    json_key(&c->w, name);
    json_begin_object(&c->w);
    json_key(&c->w, "n");
    json_put_i64(&c->w, lag->n);
    json_key(&c->w, "p50");
    json_put_ms(&c->w, lag->p50_ns);
    json_key(&c->w, "p99");
    json_put_ms(&c->w, lag->p99_ns);
    json_key(&c->w, "max");
    json_put_ms(&c->w, lag->max_ns);
    json_end_object(&c->w);
}

static void put_calibration(struct composer *c)
{
    const struct run_calibration *k = &c->p->run->calibration;
    const struct metrics_floor *f = c->p->floor;
    if (!k->file || !f) {
        put_null(c, "calibration", "calibration", "not_asked");
        return;
    }
    json_key(&c->w, "calibration");
    json_begin_object(&c->w);
    form_write(&form_calibration, k, "calibration", &c->nulls, &c->w);
    json_key(&c->w, "client_load");
    json_begin_object(&c->w);
    form_write(&form_client_load, &k->client, "calibration.client_load", &c->nulls, &c->w);
    json_end_object(&c->w);
    json_key(&c->w, "requests");
    json_put_i64(&c->w, f->requests);
    json_key(&c->w, "ok");
    json_put_i64(&c->w, f->requests_ok);
    json_key(&c->w, "events");
    json_put_i64(&c->w, f->events);
    if (f->events > 0 && k->client.loop_cpu_ns >= 0) {
        json_key(&c->w, "cpu_us_per_event");
        json_put_real9(&c->w, (double)k->client.loop_cpu_ns / 1e3 / (double)f->events);
    } else {
        put_null(c, "cpu_us_per_event", "calibration.cpu_us_per_event", "no_stamps");
    }
    put_lag(c, "kernel_error_ms", &f->kernel_error);
    put_lag(c, "user_error_ms", &f->user_error);
    put_lag(c, "read_lag_ms", &f->read_lag);
    json_key(&c->w, "outside_n");
    json_put_i64(&c->w, f->outside);
    json_end_object(&c->w);
}

static void put_commands(struct composer *c)
{
    const struct run_record *run = c->p->run;
    char path[FORM_PATH_MAX];
    json_key(&c->w, "commands");
    json_begin_array(&c->w);
    for (size_t i = 0; i < run->commands_n; i++) {
        snprintf(path, sizeof path, "commands.%zu", i);
        json_begin_object(&c->w);
        form_write(&form_command, &run->commands[i], path, &c->nulls, &c->w);
        json_end_object(&c->w);
    }
    json_end_array(&c->w);
}

static void put_band(struct composer *c, size_t i)
{
    const struct run_record *run = c->p->run;
    const struct run_band *b = &run->bands[i];
    char path[FORM_PATH_MAX];
    json_begin_object(&c->w);
    json_key(&c->w, "lane");
    json_put_cstr(&c->w, run->lanes[b->lane].role);
    json_key(&c->w, "band");
    json_put_i64(&c->w, b->band);
    json_key(&c->w, "replicate");
    json_put_i64(&c->w, b->replicate);
    json_key(&c->w, "status");
    json_put_cstr(&c->w, status_name(c->verdict->band_status[i]));
    json_key(&c->w, "reason");
    json_put_cstr(&c->w, c->verdict->band_reason[i]);
    snprintf(path, sizeof path, "bands.%zu", i);
    form_write(&form_band_times, b, path, &c->nulls, &c->w);
    snprintf(path, sizeof path, "bands.%zu.loop", i);
    put_form_at(c, "loop", path, &form_band_loop, b);
    snprintf(path, sizeof path, "bands.%zu.client_load", i);
    put_form_at(c, "client_load", path, &form_client_load, &b->client);
    snprintf(path, sizeof path, "bands.%zu.clock", i);
    put_form_at(c, "clock", path, &form_band_clock, &b->clock);
    snprintf(path, sizeof path, "bands.%zu.server", i);
    put_form_at(c, "server", path, &form_band_server, &b->server);
    json_key(&c->w, "samples");
    json_begin_object(&c->w);
    json_key(&c->w, "file");
    json_put_cstr(&c->w, b->sample_file);
    json_key(&c->w, "sha256");
    json_put_cstr(&c->w, b->sample_sha256);
    json_end_object(&c->w);
    metrics_write_json(c->p->metrics[i], &c->w);
    json_end_object(&c->w);
}

static void put_found(struct composer *c, const char *path, const char *name, int64_t index,
                      const char *why)
{
    const struct run_plan *plan = &c->p->run->plan;
    char where[FORM_PATH_MAX];
    if (index >= 0 && index < (int64_t)plan->bands_n) {
        json_key(&c->w, name);
        json_put_real9(&c->w, (double)plan->bands[index] / 1000);
        return;
    }
    snprintf(where, sizeof where, "%s.%s", path, name);
    put_null(c, name, where, why);
}

/* What a sweep came to, in the order in which it was run. */
static void put_sweeps(struct composer *c)
{
    const struct run_record *run = c->p->run;
    char path[FORM_PATH_MAX / 2];
    size_t n = 0;
    if (!run->plan.search) {
        put_null(c, "sweeps", "sweeps", "no_sweep");
        return;
    }
    json_key(&c->w, "sweeps");
    json_begin_array(&c->w);
    for (int32_t rep = 1; rep <= run->plan.replicates; rep++)
        for (size_t k = 0; k < run->lanes_n; k++, n++) {
            size_t lane = rep % 2 ? k : run->lanes_n - 1 - k;
            struct sweep_result r;
            sweep_replay(run, c->p->metrics, lane, rep, &r);
            snprintf(path, sizeof path, "sweeps.%zu", n);
            json_begin_object(&c->w);
            json_key(&c->w, "lane");
            json_put_cstr(&c->w, run->lanes[lane].role);
            json_key(&c->w, "replicate");
            json_put_i64(&c->w, rep);
            json_key(&c->w, "probes");
            json_put_i64(&c->w, r.probes);
            json_key(&c->w, "finished");
            json_put_bool(&c->w, r.done);
            json_key(&c->w, "stopped_by");
            json_put_cstr(&c->w, r.done ? NULL : r.why ? r.why : "interrupted");
            put_found(c, path, "highest_met_rps", r.met, "none_met");
            put_found(c, path, "lowest_missed_rps", r.missed, "none_missed");
            json_end_object(&c->w);
        }
    json_end_array(&c->w);
}

static void put_files(struct composer *c)
{
    json_key(&c->w, "files");
    json_begin_array(&c->w);
    for (size_t i = 0; i < c->p->files_n; i++) {
        json_begin_object(&c->w);
        json_key(&c->w, "name");
        json_put_cstr(&c->w, c->p->files[i].name);
        json_key(&c->w, "sha256");
        json_put_cstr(&c->w, c->p->files[i].sha256);
        json_end_object(&c->w);
    }
    json_end_array(&c->w);
}

static void put_refusals(struct composer *c)
{
    json_key(&c->w, "refusals");
    json_begin_array(&c->w);
    for (size_t i = 0; i < c->verdict->refusals_n; i++) {
        const struct receipt_refusal *r = &c->verdict->refusals[i];
        json_begin_object(&c->w);
        json_key(&c->w, "rule");
        json_put_cstr(&c->w, r->rule);
        json_key(&c->w, "lane");
        json_put_cstr(&c->w, r->lane);
        json_key(&c->w, "band");
        r->band ? json_put_i64(&c->w, r->band) : json_put_null(&c->w);
        json_key(&c->w, "replicate");
        r->replicate ? json_put_i64(&c->w, r->replicate) : json_put_null(&c->w);
        json_key(&c->w, "seen");
        json_put_cstr(&c->w, r->seen);
        json_key(&c->w, "remedy");
        json_put_cstr(&c->w, r->remedy);
        json_end_object(&c->w);
    }
    json_end_array(&c->w);
}

static void put_tail(struct composer *c)
{
    json_key(&c->w, "unproduced_fields");
    form_nulls_write(&c->nulls, &c->w);
    json_key(&c->w, "ledger");
    json_put_raw(&c->w, c->p->ledger_json ? str_of(c->p->ledger_json) : STR("\"none\""));
    json_key(&c->w, "interrupted");
    json_put_bool(&c->w, c->p->run->interrupted);
    json_key(&c->w, "status");
    json_put_cstr(&c->w, status_name(c->verdict->status));
    json_key(&c->w, "reason");
    json_put_cstr(&c->w, c->verdict->reason);
    put_refusals(c);
    json_end_object(&c->w);
    buf_addc(c->w.out, '\n');
}

static int put_all(struct composer *c, struct error *err)
{
    const struct run_record *run = c->p->run;
    json_begin_object(&c->w);
    json_key(&c->w, "schema");
    json_put_cstr(&c->w, RECEIPT_SCHEMA);
    json_key(&c->w, "nonce");
    json_put_cstr(&c->w, run->plan.nonce);
    put_utc(c, "start", run->t_start_real_ns);
    put_utc(c, "end", run->t_end_real_ns);
    if (put_head(c, true, err) < 0)
        return -1;
    json_key(&c->w, "metrics_version");
    json_put_i64(&c->w, METRICS_VERSION);
    put_calibration(c);
    put_commands(c);
    json_key(&c->w, "bands");
    json_begin_array(&c->w);
    for (size_t i = 0; i < run->bands_n; i++)
        put_band(c, i);
    json_end_array(&c->w);
    put_sweeps(c);
    if (pairing_write(run, c->p->metrics, c->verdict->band_status, c->arena, &c->w, err) < 0)
        return -1;
    put_files(c);
    put_tail(c);
    return json_writer_check(&c->w, "the receipt", err);
}

/* Where the third line begins. */
static size_t third_line(struct str text)
{
    size_t at = 0;
    for (int line = 0; line < 2; line++) {
        size_t end = str_find_char(str_skip(text, at), '\n');
        if (end == STR_NONE)
            return STR_NONE;
        at += end + 1;
    }
    return at;
}

static int insert_id(struct buf *text, const char *run_id, struct error *err)
{
    size_t at = third_line(buf_str(text));
    struct buf rest = BUF_INIT(RECEIPT_BYTES_MAX);
    buf_addstr(&rest, str_skip(buf_str(text), at));
    buf_truncate(text, at);
    buf_addf(text, "  \"run_id\": \"%s\",\n", run_id);
    buf_addstr(text, buf_str(&rest));
    int status = buf_check(&rest, "the receipt", err);
    buf_release(&rest);
    return status < 0 ? -1 : buf_check(text, "the receipt", err);
}

static void composer_init(struct composer *c, const struct receipt_parts *p, struct arena *arena,
                          struct buf *out)
{
    c->p = p;
    c->arena = arena;
    c->nulls = (struct form_nulls){.arena = arena};
    c->verdict = NULL;
    buf_release(out);
    out->max = RECEIPT_BYTES_MAX;
    json_writer_init(&c->w, out, 2);
}

int compose_receipt(const struct receipt_parts *p, struct arena *arena, struct buf *out,
                    char run_id[SHA256_HEX], struct rules_verdict *verdict, struct error *err)
{
    struct composer c;
    struct rules_verdict v;
    char id[SHA256_HEX];
    composer_init(&c, p, arena, out);
    c.verdict = &v;
    if (rules_judge(p->run, p->metrics, p->facts, arena, &v, err) < 0 || put_all(&c, err) < 0 ||
        arena_check(arena, "the receipt", err) < 0 || sha256_hex(id, buf_str(out), err) < 0 ||
        insert_id(out, id, err) < 0)
        return -1;
    memcpy(run_id, id, sizeof id);
    *verdict = v;
    return 0;
}

int compose_run(const struct receipt_parts *p, struct arena *arena, struct buf *out,
                struct error *err)
{
    struct composer c;
    composer_init(&c, p, arena, out);
    json_begin_object(&c.w);
    json_key(&c.w, "schema");
    json_put_cstr(&c.w, RECEIPT_RUN_SCHEMA);
    json_key(&c.w, "nonce");
    json_put_cstr(&c.w, p->run->plan.nonce);
    put_utc(&c, "start", p->run->t_start_real_ns);
    if (put_head(&c, false, err) < 0)
        return -1;
    json_key(&c.w, "unproduced_fields");
    form_nulls_write(&c.nulls, &c.w);
    json_end_object(&c.w);
    buf_addc(out, '\n');
    if (arena_check(arena, "run.json", err) < 0)
        return -1;
    return json_writer_check(&c.w, "run.json", err);
}

int receipt_text_id(struct str text, struct str *id, char digest[SHA256_HEX], struct error *err)
{
    static const char before[] = "  \"run_id\": \"", after[] = "\",\n";
    size_t at = third_line(text), n = sizeof before - 1, hex = SHA256_HEX - 1;
    struct str line = at == STR_NONE ? (struct str){0} : str_skip(text, at);
    uint8_t raw[SHA256_BYTES];
    struct sha256 *h;
    if (!str_starts(line, STR("  \"run_id\": \"")) ||
        hex_decode(raw, SHA256_BYTES, str_first(str_skip(line, n), hex)) < 0 ||
        !str_starts(str_skip(line, n + hex), str_of(after))) {
        error_set(err, ERROR_REFUSED, "the third line does not hold the run id");
        error_rule(err, "run_id");
        return error_at_line(err, 3, 1);
    }
    h = sha256_new();
    if (!h)
        return error_no_memory(err);
    sha256_add(h, text.p, at);
    struct str rest = str_skip(line, n + hex + sizeof after - 1);
    sha256_add(h, rest.p, rest.n);
    int status = sha256_end_hex(h, digest, err);
    sha256_free(h);
    if (status == 0)
        *id = str_first(str_skip(line, n), hex);
    return status;
}
