/* tally ledger list | show | check | export: what was run. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/num.h"
#include "cli/cli.h"
#include "codec/json.h"
#include "ledger/ledger.h"

#define BODY_ARENA ((size_t)1 << 20)

struct ledger_args {
    bool json;
    const char *head;
};

static int print_row(void *ctx, const struct ledger_link *link, struct error *err)
{
    struct cli *cli = ctx;
    struct arena arena;
    const struct json *body;
    char when[CLOCK_UTC_TEXT];
    struct str what = {0}, more = {0};
    int64_t spend = 0;
    arena_init(&arena, BODY_ARENA);
    int status = json_parse(&body, link->body, &JSON_LIMITS_DEFAULT, &arena, err);
    if (status == 0) {
        clock_format_utc(when, link->time_ns);
        json_str(&what, json_get(body, link->kind == LEDGER_SETTLE ? "status" : "run_dir"));
        json_str(&more, json_get(body, "run_id"));
        json_i64(&spend, json_get(body, "spend"));
        fprintf(cli->out, "%5lld  %-8s  %.12s  %.19sZ  ", (long long)link->seq,
                ledger_kind_name(link->kind), link->key, when);
        if (link->kind == LEDGER_SETTLE)
            fprintf(cli->out, "%lld %.*s %.12s\n", (long long)spend, STR_ARG(what),
                    more.p ? more.p : "");
        else
            fprintf(cli->out, "%.*s\n", STR_ARG(what));
    }
    arena_release(&arena);
    return status;
}

static int print_line(void *ctx, const struct ledger_link *link, struct error *err)
{
    struct cli *cli = ctx;
    struct buf line = BUF_INIT(2 * LEDGER_TEXT_MAX + 256);
    ledger_link_line(link, &line);
    /* The digest stands last: what is digested is the line without it. */
    buf_truncate(&line, line.n ? line.n - 1 : 0);
    buf_addf(&line, ",\"digest\":\"%s\"}\n", link->digest);
    int status = buf_check(&line, "a ledger link", err);
    if (status == 0)
        fwrite(line.p, 1, line.n, cli->out);
    buf_release(&line);
    return status;
}

static int run_walk(struct cli *cli, const char *path, bool json, struct error *err)
{
    struct ledger *l;
    if (ledger_open(&l, path, LEDGER_READ, err) < 0)
        return -1;
    if (!json)
        fprintf(cli->out, "%5s  %-8s  %-12s  %-20s  %s\n", "link", "kind", "cell", "time",
                "run directory, or link settled, status, run id");
    int status = ledger_walk(l, json ? print_line : print_row, cli, err);
    ledger_close(l);
    return status < 0 ? error_at_file(err, path) : 0;
}

static int run_list(struct cli *cli, void *args, const struct operands *o, struct error *err)
{
    return run_walk(cli, o->v[0], ((const struct ledger_args *)args)->json, err);
}

static int run_export(struct cli *cli, void *args, const struct operands *o, struct error *err)
{
    (void)args;
    return run_walk(cli, o->v[0], true, err);
}

static int run_show(struct cli *cli, void *args, const struct operands *o, struct error *err)
{
    struct ledger *l;
    struct ledger_link link;
    int64_t seq;
    (void)args;
    if (num_parse_i64(&seq, str_of(o->v[1])) < 0) {
        error_set(err, ERROR_USAGE, "'%.60s' is no number of a link", o->v[1]);
        return error_remedy(err, "'tally ledger list %s' shows them", o->v[0]);
    }
    if (ledger_open(&l, o->v[0], LEDGER_READ, err) < 0)
        return -1;
    int status = ledger_get(l, seq, &link, err);
    if (status == 0)
        status = print_line(cli, &link, err);
    ledger_close(l);
    return status;
}

static int run_check(struct cli *cli, void *args, const struct operands *o, struct error *err)
{
    const struct ledger_args *a = args;
    struct ledger *l;
    struct ledger_health h;
    char head[SHA256_HEX];
    int64_t n;
    if (ledger_open(&l, o->v[0], LEDGER_READ, err) < 0)
        return -1;
    int status = ledger_check(l, &h, err);
    if (status == 0)
        status = ledger_head(l, head, &n, err);
    ledger_close(l);
    if (status < 0)
        return error_at_file(err, o->v[0]);
    fprintf(cli->out, "links    %lld, each follows from the one before\n", (long long)h.links);
    fprintf(cli->out, "spent    %lld cells\nsettled  %lld\nhead     %s\n", (long long)h.spent,
            (long long)h.settled, head);
    if (a->head && strcmp(a->head, head) != 0) {
        error_set(err, ERROR_REFUSED, "the head is not %.64s", a->head);
        error_rule(err, "ledger_head");
        error_remedy(err, "if runs were made since it was published, look it up with 'tally ledger "
                          "export'; if it is not in there, this is another chain");
        return error_at_file(err, o->v[0]);
    }
    if (h.first_unsettled) {
        error_set(err, ERROR_UNMEASURED,
                  "%lld of the spent cells have no receipt; the first is "
                  "link %lld",
                  (long long)(h.spent - h.settled), (long long)h.first_unsettled);
        error_rule(err, "ledger_receipts");
        error_remedy(err, "'tally ledger show %s %lld' tells its run directory", o->v[0],
                     (long long)h.first_unsettled);
        return error_at_file(err, o->v[0]);
    }
    if (!a->head)
        fprintf(cli->out, "The chain is only as strong as where its head was published: compare "
                          "with --head.\n");
    return 0;
}

static const struct option list_options[] = {
    {"json", OPTION_FLAG, OFFSET(struct ledger_args, json), NULL, NULL,
     .help = "one JSON object a line"},
    OPTIONS_END,
};

static const struct option check_options[] = {
    {"head", OPTION_STRING, OFFSET(struct ledger_args, head), "DIGEST", NULL,
     .help = "the head as it was published; another one is refused"},
    OPTIONS_END,
};

static const struct command cmd_list = {
    .name = "list",
    .summary = "every link of the chain, a line each",
    .usage = "FILE",
    .options = list_options,
    .args_size = sizeof(struct ledger_args),
    .operands_min = 1,
    .operands_max = 1,
    .run = run_list,
};

static const struct command cmd_show = {
    .name = "show",
    .summary = "one link, whole, as JSON",
    .usage = "FILE LINK",
    .operands_min = 2,
    .operands_max = 2,
    .run = run_show,
};

static const struct command cmd_check = {
    .name = "check",
    .summary = "recompute the chain from its first link",
    .usage = "FILE",
    .description = "Exit code 0 when every link follows from the one before and every spent cell "
                   "has its receipt; 3 when receipts are missing; 4 when the chain is broken or "
                   "its head is not the one given.",
    .options = check_options,
    .args_size = sizeof(struct ledger_args),
    .operands_min = 1,
    .operands_max = 1,
    .run = run_check,
};

static const struct command cmd_export = {
    .name = "export",
    .summary = "the whole chain as JSON lines",
    .usage = "FILE",
    .description = "Each line is a link; its digest is the SHA-256 of the line without the member "
                   "\"digest\".",
    .operands_min = 1,
    .operands_max = 1,
    .run = run_export,
};

static const struct command *const ledger_commands[] = {&cmd_list, &cmd_show, &cmd_check,
                                                        &cmd_export, NULL};

const struct command cmd_ledger = {
    .name = "ledger",
    .summary = "list, check and export what was run",
    .usage = "COMMAND",
    .commands = ledger_commands,
};
