/* tally run: measures one or two lanes and writes the run directory. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "cli/cli.h"
#include "cli/run_args.h"
#include "cli/run_evidence.h"
#include "cli/run_progress.h"
#include "cli/sim_child.h"
#include "codec/json_write.h"
#include "codec/yaml.h"
#include "load/calibrate.h"
#include "load/load.h"
#include "load/schedule.h"
#include "record/workload.h"

#define FILE_BYTES_MAX ((size_t)1 << 20) /* of a YAML file */

static volatile sig_atomic_t stop;
static volatile int64_t stopped_at_ns; /* only the handler writes it */

/* The first signal ends the run and keeps what was measured; one that comes a second or more later
 * ends the program. (One key press can reach us twice, through the terminal and a wrapper.) */
static void on_signal(int number)
{
    struct timespec now;

    (void)number;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        now.tv_sec = now.tv_nsec = 0;
    int64_t now_ns = (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
    if (!stop)
        stopped_at_ns = now_ns;
    else if (now_ns - stopped_at_ns >= NS_PER_S)
        _exit(130);
    stop = 1;
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal}, before;

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL); /* under nohup it stays ignored */
}

static void default_directory(char out[64])
{
    time_t now = (time_t)(clock_real_ns() / NS_PER_S);
    struct tm t;

    if (gmtime_r(&now, &t))
        strftime(out, 64, "tally-run-%Y%m%d-%H%M%S", &t);
    else
        snprintf(out, 64, "tally-run");
}

static int apply_file(const char *path, struct run_args *a, struct option_set *given,
                      struct arena *arena, struct error *err)
{
    const struct json_limits limits = {.bytes = FILE_BYTES_MAX, .values = 10000, .depth = 8};
    const struct json *doc;

    if (yaml_parse_file(&doc, path, &limits, arena, err) < 0)
        return -1;
    return option_apply_document(run_options, a, given, doc, path, err);
}

static bool is_url(const char *text)
{
    return strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0;
}

/* A URL is a lane, whatever stands before it; anything else is the one file of options. */
static int take_operands(struct run_args *a, const struct operands *o, struct option_set *given,
                         struct arena *arena, struct error *err)
{
    const char *file = NULL;

    for (int i = 0; i < o->n; i++) {
        if (is_url(o->v[i])) {
            if (a->lanes.n == OPTION_ITEMS_MAX)
                return error_set(err, ERROR_LIMIT, "too many lanes");
            a->lanes.v[a->lanes.n++] = o->v[i];
            option_set_add(run_options, given, "lane");
        } else if (file) {
            error_set(err, ERROR_USAGE, "'%.100s' is one file too many", o->v[i]);
            return error_remedy(err, "options come from one YAML file and the command line");
        } else {
            file = o->v[i];
        }
    }
    return file ? apply_file(file, a, given, arena, err) : 0;
}

/* --dry-run ------------------------------------------------------------------------------------ */

static void print_plan(struct cli *cli, const struct load_options *o)
{
    const struct run_plan *p = &o->plan;
    int64_t unknown[RUN_LANES_MAX] = {0}, requests, ns;
    char text[32], lengths[RUN_LENGTHS_TEXT];

    schedule_estimate(p, o->lanes_n, unknown, &requests, &ns);
    run_duration_text(text, ns);
    fprintf(cli->out, "protocol    %s\nbands      ", p->protocol);
    for (size_t i = 0; i < p->bands_n; i++) {
        char name[RUN_BAND_NAME_MAX];
        run_band_name(name, p, p->bands[i]);
        if (run_plan_is_open(p))
            fprintf(cli->out, "%s %s", i ? "," : "", name);
        else
            fprintf(cli->out, " %d", p->bands[i]);
    }
    if (p->arrivals)
        fprintf(cli->out, "\narrivals    %s", p->arrivals);
    fprintf(cli->out, "\nreplicates  %d\nmeasured    %zu bands in all\n", p->replicates,
            schedule_length(p, o->lanes_n));
    fprintf(cli->out, "requests    at least %lld\ntime        at least %s\n", (long long)requests,
            text);
    fprintf(cli->out, "corpus      %s: %lld %s", p->corpus_path, (long long)p->corpus_count,
            !o->talk               ? "prompts"
            : p->corpus_count == 1 ? "conversation"
                                   : "conversations");
    if (o->talk)
        fprintf(cli->out, " of %lld turns in all, %s answers", (long long)o->talk->turns,
                p->answers);
    if (p->shared_prefix > 0)
        fprintf(cli->out, ", behind a shared prefix of %lld tokens", (long long)p->shared_prefix);
    run_plan_lengths(p, lengths);
    if (lengths[0])
        fprintf(cli->out, " of %s tokens%s", lengths, o->tokenizer ? ", counted" : ", not counted");
    fprintf(cli->out, "\ncounting    %s\n",
            p->method == COUNT_SERVER_USAGE ? "server_usage" : "client_tokenizer");
}

static int dry_run(struct cli *cli, struct run_inputs *in, struct error *err)
{
    struct load_options *o = &in->options;
    struct buf body = BUF_INIT(BUF_ANY);
    int rc = -1;

    if (load_check(o, err) < 0)
        return -1;
    print_plan(cli, o);
    for (size_t i = 0; i < o->lanes_n; i++) {
        buf_reset(&body);
        if (load_example(o, i, &body, err) < 0)
            goto out;
        fprintf(cli->out, "\n%s: %s%s%s\n", o->lanes[i].role, o->lanes[i].url,
                strcmp(o->plan.wire, "chat") == 0 ? "/v1/chat/completions" : "/v1/completions",
                o->lanes[i].model ? "" : " (with the only model that the server lists)");
        fprintf(cli->out, "%.*s\n", (int)body.n, body.p);
    }
    rc = 0;
out:
    buf_release(&body);
    return rc;
}

/* The outcome ---------------------------------------------------------------------------------- */

static void print_json(struct cli *cli, const char *dir, const struct load_outcome *o)
{
    struct buf out = BUF_INIT(BUF_ANY);
    struct json_writer w;

    json_writer_init(&w, &out, 2);
    json_begin_object(&w);
    json_key(&w, "directory");
    json_put_cstr(&w, dir);
    json_key(&w, "run_id");
    json_put_cstr(&w, o->result.run_id);
    json_key(&w, "status");
    json_put_cstr(&w, status_name(o->result.status));
    json_key(&w, "reason");
    json_put_cstr(&w, o->result.reason);
    json_key(&w, "interrupted");
    json_put_bool(&w, o->interrupted);
    json_key(&w, "refusals");
    json_begin_array(&w);
    for (size_t i = 0; i < o->result.refusals_n; i++) {
        const struct receipt_refusal *r = &o->result.refusals[i];
        json_begin_object(&w);
        json_key(&w, "rule");
        json_put_cstr(&w, r->rule);
        json_key(&w, "lane");
        json_put_cstr(&w, r->lane);
        json_key(&w, "band");
        json_put_i64(&w, r->band);
        json_key(&w, "replicate");
        json_put_i64(&w, r->replicate);
        json_key(&w, "seen");
        json_put_cstr(&w, r->seen);
        json_key(&w, "remedy");
        json_put_cstr(&w, r->remedy);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_end_object(&w);
    fprintf(cli->out, "%.*s\n", (int)out.n, out.p);
    buf_release(&out);
}

static void print_outcome(struct cli *cli, const char *dir, const struct run_plan *plan,
                          const struct load_outcome *o)
{
    char name[RUN_BAND_NAME_MAX];
    const struct term *t = &cli->out_term;
    bool good = o->result.status == STATUS_PASS;

    fprintf(cli->out, "%s: %s%s%s%s%s%s\n", dir, term_on(t, good ? TERM_GOOD : TERM_WARNING),
            status_name(o->result.status), o->result.reason ? "{" : "",
            o->result.reason ? o->result.reason : "", o->result.reason ? "}" : "", term_off(t));
    for (size_t i = 0; i < o->result.refusals_n; i++) {
        const struct receipt_refusal *r = &o->result.refusals[i];
        fprintf(cli->out, "  %s", r->rule);
        if (r->lane)
            fprintf(cli->out, ", %s", r->lane);
        if (r->band) {
            run_band_name(name, plan, r->band);
            fprintf(cli->out, ", %s, replicate %d", name, r->replicate);
        }
        fprintf(cli->out, ": %s\n    remedy: %s\n", r->seen ? r->seen : "",
                r->remedy ? r->remedy : "");
    }
    fprintf(cli->out, "  tally show %s    prints the receipt\n", dir);
    fprintf(cli->out, "  tally verify %s  recomputes every number in it\n", dir);
}

/* One prompt's tokens by our count and by each lane's own word: what its wrapper adds. */
static void tell_prompt_work(struct cli *cli, const struct load *load)
{
    const struct load_lane *lane;

    fprintf(cli->err, "prompt work   body  reported  delta\n");
    for (size_t i = 0; (lane = load_lane_at(load, i)); i++) {
        const struct load_first *f = &lane->first;
        bool in_stream = f->prompt_reported != COUNT_NONE;
        int64_t n = in_stream ? f->prompt_reported : f->prompt_blocking;
        fprintf(cli->err, "  %-10s", lane->options.role);
        if (f->prompt_body == COUNT_NONE)
            fprintf(cli->err, "  %4s", "-");
        else
            fprintf(cli->err, "  %4lld", (long long)f->prompt_body);
        if (n == COUNT_NONE)
            fprintf(cli->err, "  %8s", "-");
        else
            fprintf(cli->err, "  %8lld", (long long)n);
        if (n == COUNT_NONE || f->prompt_body == COUNT_NONE)
            fprintf(cli->err, "  %5s", "-");
        else
            fprintf(cli->err, "  %+5lld", (long long)(n - f->prompt_body));
        if (!in_stream && n != COUNT_NONE)
            fprintf(cli->err, "  (asked without a stream: the stream reports none)");
        else if (n == COUNT_NONE)
            fprintf(cli->err, "  (the lane reports none)");
        fputc('\n', cli->err);
    }
    fflush(cli->err);
}

static void tell_estimate(struct run_progress *p, const struct load *load)
{
    int64_t requests, ns;
    char time_text[32], text[160];

    load_estimate(load, &requests, &ns);
    run_duration_text(time_text, ns);
    snprintf(text, sizeof text, "measuring: about %lld requests, at least %s", (long long)requests,
             time_text);
    p->calls.note(p->calls.ctx, false, text);
}

static int measure(struct cli *cli, struct run_inputs *in, const struct run_args *a,
                   struct error *err)
{
    struct load_outcome outcome = {0};
    struct run_progress progress;
    struct run_evidence evidence = {0};
    struct sim_child sim = {0};
    struct load *load = NULL;
    int rc = -1;

    run_progress_init(&progress, cli, a->quiet);
    in->options.progress = progress.calls;
    in->options.client = (struct receipt_client){cli_version(), cli_commit()};
    in->options.argv = cli->argv;
    in->options.argc = cli->argc;
    in->options.stop = &stop;
    if (run_evidence_open(&evidence, a, &in->options, err) < 0)
        goto out;
    if (a->calibrate) {
        if (sim_child_start(&sim, CALIBRATE_RATE, err) < 0)
            goto out;
        in->options.calibrate_url = sim.url;
    }
    if (in->differs[0]) {
        char text[320];
        snprintf(text, sizeof text, "not %s any more (%s): the receipt will say custom",
                 a->protocol, in->differs);
        progress.calls.note(&progress, true, text);
    }
    if (in->talk.left_out > 0) {
        char text[320];
        snprintf(text, sizeof text, "%lld of %lld conversations cannot be played (%s)",
                 (long long)in->talk.left_out,
                 (long long)in->talk.left_out + (long long)in->talk.corpus.n, in->talk.why);
        progress.calls.note(&progress, true, text);
    }
    if (a->before_lane.n || a->after_lane.n)
        catch_signals(); /* a server that was started is to be stopped */
    if (load_prepare(&load, &in->options, err) < 0)
        goto out;
    if (!a->quiet)
        tell_prompt_work(cli, load);
    tell_estimate(&progress, load);
    catch_signals();
    if (load_measure(load, &outcome, err) < 0) {
        error_remedy(err, "%s%swhat was measured until then lies in %s",
                     err->remedy[0] ? err->remedy : "", err->remedy[0] ? "; " : "",
                     in->options.out_dir);
        goto out;
    }
    if (run_evidence_keep(&evidence, &outcome.result, err) < 0)
        goto out;
    run_progress_end(&progress);
    if (a->json)
        print_json(cli, in->options.out_dir, &outcome);
    else
        print_outcome(cli, in->options.out_dir, load_plan(load), &outcome);
    rc = outcome.interrupted ? error_exit_code(ERROR_INTERRUPTED)
                             : status_exit_code(outcome.result.status);
out:
    run_progress_end(&progress);
    sim_child_stop(&sim);
    run_evidence_release(&evidence);
    load_free(load);
    return rc;
}

static int check_out(const char *dir, struct error *err)
{
    if (dir_is_free(dir))
        return 0;
    error_set(err, ERROR_USAGE, "the run directory is not empty");
    error_at_file(err, dir);
    return error_remedy(err, "name a new one: --out DIR (a run is never written over another)");
}

static int run(struct cli *cli, void *arguments, const struct operands *operands, struct error *err)
{
    struct run_args *a = arguments;
    struct run_inputs in = {0};
    struct arena arena;
    char directory[64];
    struct option_set given = operands->given;
    int rc = -1;

    arena_init(&arena, 16 * FILE_BYTES_MAX);
    if (take_operands(a, operands, &given, &arena, err) < 0)
        goto out;
    default_directory(directory);
    if (run_inputs_init(&in, a, &given, err) < 0)
        goto out;
    in.options.out_dir = a->out ? a->out : directory;
    if (a->dry_run)
        rc = dry_run(cli, &in, err);
    else if (check_out(in.options.out_dir, err) == 0)
        rc = measure(cli, &in, a, err);
out:
    run_inputs_release(&in);
    arena_release(&arena);
    return rc;
}

const struct command cmd_run = {
    .name = "run",
    .summary = "measure one or two lanes and write the receipt",
    .usage = "--lane ROLE=URL --tokenizer FILE --corpus FILE [OPTION...] [FILE.yaml]",
    .description =
        "Measures each lane, band by band and replicate by replicate (in closed loop, or with "
        "--rate, "
        "--sweep-rate and --trace in an open one), and writes a "
        "run directory: run.json, every request's raw record, and receipt.json. Before the clock "
        "starts it asserts the corpus, asks each server for one real completion, and says what "
        "will keep the run from being evidence.\n\n"
        "All options but those under Output may stand in one YAML file, their names with _ for -; "
        "what the command line says wins. A URL alone is a lane: the first is the subject. Keys of "
        "servers come from a file or the environment, "
        "never from a flag.\n\n"
        "Exit codes: 0 measured; 3 incomplete or unmeasured; 4 refused: no conformant evidence; 5 "
        "a server could not be reached before the clock started; 130 interrupted, with what was "
        "measured kept.",
    .examples = "  tally run -l subject=http://localhost:8080 -t model.gguf -c w1.jsonl\n"
                "  tally run -l subject=http://a:8080 -l comparator=http://b:8080 \\\n"
                "      -t tokenizer.json -c w1.jsonl --protocol w1 -o run-1\n"
                "  tally run gate.yaml --dry-run\n",
    .options = run_options,
    .args_size = sizeof(struct run_args),
    .operands_min = 0,
    .operands_max = 3,
    .run = run,
};
