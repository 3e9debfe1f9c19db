#include "cli/run_evidence.h"

#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "receipt/envelope.h"

static int looks_of(const struct run_args *a, struct ledger_claim *claim, struct error *err)
{
    if (a->looks.n > LEDGER_LOOKS_MAX)
        return error_set(err, ERROR_USAGE, "--looks: at most %d looks can be declared",
                         LEDGER_LOOKS_MAX);
    for (size_t i = 0; i < a->looks.n; i++)
        claim->looks[i] = (int32_t)a->looks.v[i];
    claim->looks_n = a->looks.n;
    return 0;
}

/* The receipt's entry: the link that spent the cell. */
static int write_entry(const struct ledger_link *link, struct buf *out, struct error *err)
{
    struct json_writer w;

    json_writer_init(&w, out, 0);
    json_begin_object(&w);
    json_key(&w, "seq");
    json_put_i64(&w, link->seq);
    json_key(&w, "key");
    json_put_cstr(&w, link->key);
    json_key(&w, "digest");
    json_put_cstr(&w, link->digest);
    json_key(&w, "previous");
    json_put_cstr(&w, link->previous);
    json_end_object(&w);
    return json_writer_check(&w, "the ledger entry", err);
}

static int claim_run(void *ctx, const struct run_record *declared, struct buf *ledger_json,
                     struct error *err)
{
    struct run_evidence *e = ctx;
    struct buf cell = BUF_INIT(LEDGER_TEXT_MAX);
    struct ledger_claim claim = {.run_dir = str_of(e->options->out_dir),
                                 .replicates = declared->plan.replicates,
                                 .time_ns = declared->t_start_real_ns};
    int rc = -1;

    memcpy(claim.nonce, declared->plan.nonce, sizeof declared->plan.nonce);
    if (looks_of(e->args, &claim, err) < 0 || receipt_cell_json(declared, &cell, err) < 0 ||
        receipt_protocol_sha256(declared, claim.protocol_sha256, err) < 0)
        goto out;
    claim.cell_json = buf_str(&cell);
    if (ledger_spend(e->ledger, &claim, &e->spend, err) < 0 ||
        write_entry(&e->spend, ledger_json, err) < 0)
        goto out;
    e->claimed = true;
    rc = 0;
out:
    buf_release(&cell);
    return rc;
}

int run_evidence_open(struct run_evidence *e, const struct run_args *args,
                      struct load_options *options, struct error *err)
{
    e->args = args;
    e->options = options;
    if (args->looks.n && !args->ledger) {
        error_set(err, ERROR_USAGE, "--looks needs --ledger: where they are declared");
        return error_remedy(err, "add --ledger FILE");
    }
    if (args->sign && ed25519_key_load(&e->key, args->sign, err) < 0)
        return -1;
    if (!args->ledger)
        return 0;
    options->claim = claim_run;
    options->claim_ctx = e;
    return ledger_open(&e->ledger, args->ledger, LEDGER_WRITE, err);
}

static int settle(struct run_evidence *e, const struct receipt_result *result, struct error *err)
{
    struct ledger_outcome outcome = {
        .run_id = str_of(result->run_id), .status = result->status, .time_ns = clock_real_ns()};
    struct buf path = BUF_INIT(FILE_PATH_MAX);
    int rc = -1;

    if (path_join(&path, e->options->out_dir, RECEIPT_NAME, err) == 0 &&
        sha256_file_hex(outcome.receipt_sha256, path.p, err) == 0)
        rc = ledger_settle(e->ledger, &e->spend, &outcome, err);
    buf_release(&path);
    return rc;
}

int run_evidence_keep(struct run_evidence *e, const struct receipt_result *result,
                      struct error *err)
{
    if (e->key && envelope_write(e->options->out_dir, e->key, str_of(result->run_id), err) < 0)
        return error_wrap(err, "the receipt is written and not signed");
    if (e->claimed && settle(e, result, err) < 0)
        return error_wrap(err, "the receipt is written and the ledger does not know it");
    return 0;
}

void run_evidence_release(struct run_evidence *e)
{
    if (!e)
        return;
    ed25519_key_free(e->key);
    ledger_close(e->ledger);
    *e = (struct run_evidence){0};
}
