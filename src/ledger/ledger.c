#include "ledger/ledger.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "codec/json.h"
#include "codec/json_write.h"
#include "ledger/store.h"

#define BODY_ARENA ((size_t)1 << 20)

struct ledger {
    struct store *store;
    struct buf text; /* of the link handed out last */
    char path[ERROR_FILE_MAX];
};

const char *ledger_kind_name(enum ledger_kind kind)
{
    static const char *const names[] = {
#define X(id, name) name,
        LEDGER_KINDS(X)
#undef X
    };
    return names[kind];
}

int ledger_open(struct ledger **out, const char *path, enum ledger_mode mode, struct error *err)
{
    struct ledger *l = calloc(1, sizeof *l);
    if (!l)
        return error_no_memory(err);
    buf_init(&l->text, LEDGER_TEXT_MAX);
    strncpy(l->path, path, sizeof l->path - 1);
    if (store_open(&l->store, path, mode, err) < 0) {
        ledger_close(l);
        return -1;
    }
    *out = l;
    return 0;
}

void ledger_close(struct ledger *l)
{
    if (!l)
        return;
    store_close(l->store);
    buf_release(&l->text);
    free(l);
}

void ledger_link_line(const struct ledger_link *link, struct buf *out)
{
    struct json_writer w;
    json_writer_init(&w, out, 0);
    json_begin_object(&w);
    json_key(&w, "seq");
    json_put_i64(&w, link->seq);
    json_key(&w, "previous");
    json_put_cstr(&w, link->previous);
    json_key(&w, "kind");
    json_put_cstr(&w, ledger_kind_name(link->kind));
    json_key(&w, "key");
    json_put_cstr(&w, link->key);
    json_key(&w, "time");
    json_put_i64(&w, link->time_ns);
    json_key(&w, "body");
    json_put_raw(&w, link->body);
    json_end_object(&w);
}

static int digest_of(const struct ledger_link *link, char out[SHA256_HEX], struct error *err)
{
    struct buf line = BUF_INIT(2 * LEDGER_TEXT_MAX);
    ledger_link_line(link, &line);
    int status = buf_check(&line, "a ledger link", err);
    if (status == 0)
        status = sha256_hex(out, buf_str(&line), err);
    buf_release(&line);
    return status;
}

/* Appends a link behind the last one; the caller holds the write lock. *link gets seq, previous,
 * and digest; its body is copied into l->text so that it outlives the caller's. */
static int append(struct ledger *l, struct ledger_link *link, struct error *err)
{
    struct ledger_link last;
    bool found;
    if (store_last(l->store, &last, &found, err) < 0)
        return -1;
    link->seq = found ? last.seq + 1 : 1;
    if (found) {
        memcpy(link->previous, last.digest, SHA256_HEX);
    } else {
        memset(link->previous, '0', SHA256_HEX - 1);
        link->previous[SHA256_HEX - 1] = '\0';
    }
    if (link->body.p != l->text.p) {
        buf_reset(&l->text);
        buf_addstr(&l->text, link->body);
        if (buf_check(&l->text, "a ledger link", err) < 0)
            return -1;
        link->body = buf_str(&l->text);
    }
    if (digest_of(link, link->digest, err) < 0)
        return -1;
    return store_append(l->store, link, err);
}

/* Runs one append inside a transaction; nothing stays when it fails. */
static int append_alone(struct ledger *l, struct ledger_link *link, struct error *err)
{
    if (store_begin(l->store, err) < 0)
        return -1;
    if (append(l, link, err) < 0) {
        store_rollback(l->store);
        return -1;
    }
    return store_commit(l->store, err);
}

/* What the earlier links of a cell say about a new claim on it. */
struct history {
    struct ledger *ledger;
    const struct ledger_claim *claim;
    int64_t spends;
    int64_t last_spend; /* seq */
    int64_t last_time_ns;
    bool last_settled;
    char last_status[32];
    char run_dir[256], run_id[SHA256_HEX];
    bool looks_match, protocol_matches;
    int32_t last_looks[LEDGER_LOOKS_MAX];
    size_t last_looks_n;
};

static void copy_text(char *out, size_t cap, const struct json *v)
{
    struct str s = {0};
    if (json_str(&s, v) < 0)
        return;
    size_t n = s.n < cap - 1 ? s.n : cap - 1;
    memcpy(out, s.p, n);
    out[n] = '\0';
}

static int read_looks(const struct json *body, struct history *h)
{
    const struct json *looks = json_get(body, "looks");
    h->last_looks_n = 0;
    for (size_t i = 0; json_is(looks, JSON_ARRAY) && i < looks->n && i < LEDGER_LOOKS_MAX; i++) {
        int64_t v;
        if (json_i64(&v, json_at(looks, i)) < 0)
            return -1;
        h->last_looks[h->last_looks_n++] = (int32_t)v;
    }
    return 0;
}

static int note_link(void *ctx, const struct ledger_link *link, struct error *err)
{
    struct history *h = ctx;
    struct arena arena;
    const struct json *body;
    arena_init(&arena, BODY_ARENA);
    int status = json_parse(&body, link->body, &JSON_LIMITS_DEFAULT, &arena, err);
    if (status == 0 && link->kind == LEDGER_SPEND) {
        h->spends++;
        h->last_spend = link->seq;
        h->last_time_ns = link->time_ns;
        h->last_settled = false;
        h->run_id[0] = '\0';
        copy_text(h->run_dir, sizeof h->run_dir, json_get(body, "run_dir"));
        struct str protocol = {0};
        json_str(&protocol, json_get(body, "protocol_sha256"));
        h->protocol_matches = str_eq(protocol, str_of(h->claim->protocol_sha256));
        h->looks_match =
            read_looks(body, h) == 0 && h->last_looks_n == h->claim->looks_n &&
            memcmp(h->last_looks, h->claim->looks, h->last_looks_n * sizeof h->last_looks[0]) == 0;
    } else if (status == 0 && link->kind == LEDGER_SETTLE) {
        h->last_settled = true;
        copy_text(h->run_id, sizeof h->run_id, json_get(body, "run_id"));
        copy_text(h->last_status, sizeof h->last_status, json_get(body, "status"));
    }
    arena_release(&arena);
    return status < 0 ? error_wrap(err, "ledger link %lld", (long long)link->seq) : 0;
}

static int refuse_spent(const struct history *h, struct error *err)
{
    char when[CLOCK_UTC_TEXT];
    clock_format_utc(when, h->last_time_ns);
    error_set(err, ERROR_REFUSED,
              "this cell (hosts, builds, model, workload) was spent by ledger link %lld on %s, in "
              "%s: %s%s",
              (long long)h->last_spend, when, h->run_dir[0] ? h->run_dir : "an unnamed directory",
              h->last_settled ? "receipt " : "no receipt came of it",
              h->last_settled ? h->run_id : "");
    error_rule(err, "spent_cell");
    if (h->last_looks_n > 1 && (size_t)h->spends < h->last_looks_n)
        return error_remedy(err,
                            "what is left is look %lld of %zu, as declared then: the same protocol "
                            "and looks, %d replicates; or measure a new build",
                            (long long)h->spends + 1, h->last_looks_n,
                            h->last_looks[h->spends] - h->last_looks[h->spends - 1]);
    return error_remedy(err, "measure a new build; more data comes only by looks declared before "
                             "the first run (--looks 6,12)");
}

/* A second claim on a cell is a look that was declared with the first: same looks, same protocol,
 * the earlier looks settled and not failed in a way that ends them, the replicates still missing.
 */
static int judge_claim(const struct history *h, struct error *err)
{
    const struct ledger_claim *c = h->claim;
    size_t look = (size_t)h->spends;
    int32_t before = 0, wanted = c->replicates;
    if (c->looks_n > 0) {
        if (look >= c->looks_n)
            return refuse_spent(h, err);
        before = look ? c->looks[look - 1] : 0;
        wanted = c->looks[look] - before;
    } else if (look > 0) {
        return refuse_spent(h, err);
    }
    if (look > 0 && (!h->looks_match || !h->protocol_matches || !h->last_settled))
        return refuse_spent(h, err);
    if (wanted != c->replicates) {
        error_set(err, ERROR_REFUSED, "look %zu of %zu takes %d replicates, not %d", look + 1,
                  c->looks_n, wanted, c->replicates);
        error_rule(err, "spent_cell");
        return error_remedy(err, "run with --replicates %d", wanted);
    }
    return 0;
}

static int write_spend_body(const struct ledger_claim *c, struct buf *out, struct error *err)
{
    struct json_writer w;
    json_writer_init(&w, out, 0);
    json_begin_object(&w);
    json_key(&w, "cell");
    json_put_raw(&w, c->cell_json);
    json_key(&w, "protocol_sha256");
    json_put_cstr(&w, c->protocol_sha256);
    json_key(&w, "nonce");
    json_put_cstr(&w, c->nonce);
    json_key(&w, "run_dir");
    json_put_str(&w, c->run_dir);
    json_key(&w, "replicates");
    json_put_i64(&w, c->replicates);
    json_key(&w, "looks");
    json_begin_array(&w);
    for (size_t i = 0; i < c->looks_n; i++)
        json_put_i64(&w, c->looks[i]);
    json_end_array(&w);
    json_end_object(&w);
    return json_writer_check(&w, "a ledger link", err);
}

static int check_claim(const struct ledger_claim *c, struct error *err)
{
    if (c->looks_n > LEDGER_LOOKS_MAX)
        return error_set(err, ERROR_USAGE, "at most %d looks can be declared", LEDGER_LOOKS_MAX);
    for (size_t i = 0; i < c->looks_n; i++)
        if (c->looks[i] <= (i ? c->looks[i - 1] : 0)) {
            error_set(err, ERROR_USAGE, "looks must be positive and ascending");
            return error_remedy(err, "for example --looks 6,12");
        }
    return 0;
}

int ledger_spend(struct ledger *l, const struct ledger_claim *claim, struct ledger_link *link,
                 struct error *err)
{
    struct ledger_link next = {.kind = LEDGER_SPEND, .time_ns = claim->time_ns};
    struct history h = {.ledger = l, .claim = claim};
    struct buf body = BUF_INIT(LEDGER_TEXT_MAX);
    int status = -1;
    if (check_claim(claim, err) < 0 || sha256_hex(next.key, claim->cell_json, err) < 0 ||
        write_spend_body(claim, &body, err) < 0)
        goto out;
    next.body = buf_str(&body);
    if (store_begin(l->store, err) < 0)
        goto out;
    if (store_walk(l->store, next.key, note_link, &h, err) < 0 || judge_claim(&h, err) < 0 ||
        append(l, &next, err) < 0) {
        store_rollback(l->store);
        goto out;
    }
    if (store_commit(l->store, err) < 0)
        goto out;
    *link = next;
    status = 0;
out:
    buf_release(&body);
    if (status < 0)
        error_at_file(err, l->path);
    return status;
}

struct settled {
    int64_t spend;
    bool found;
};

static int settles(const struct ledger_link *link, int64_t spend, bool *yes, struct error *err)
{
    struct arena arena;
    const struct json *body;
    int64_t seq = 0;
    arena_init(&arena, BODY_ARENA);
    int status = json_parse(&body, link->body, &JSON_LIMITS_DEFAULT, &arena, err);
    if (status == 0)
        status = json_need_i64(&seq, body, "spend", err);
    arena_release(&arena);
    if (status < 0)
        return error_wrap(err, "ledger link %lld", (long long)link->seq);
    *yes = seq == spend;
    return 0;
}

static int look_for_settle(void *ctx, const struct ledger_link *link, struct error *err)
{
    struct settled *s = ctx;
    bool yes = false;
    if (link->kind != LEDGER_SETTLE)
        return 0;
    if (settles(link, s->spend, &yes, err) < 0)
        return -1;
    s->found = s->found || yes;
    return 0;
}

static int write_settle_body(int64_t spend, const struct ledger_outcome *o, struct buf *out,
                             struct error *err)
{
    struct json_writer w;
    json_writer_init(&w, out, 0);
    json_begin_object(&w);
    json_key(&w, "spend");
    json_put_i64(&w, spend);
    json_key(&w, "run_id");
    json_put_str(&w, o->run_id);
    json_key(&w, "receipt_sha256");
    json_put_cstr(&w, o->receipt_sha256);
    json_key(&w, "status");
    json_put_cstr(&w, status_name(o->status));
    json_end_object(&w);
    return json_writer_check(&w, "a ledger link", err);
}

int ledger_settle(struct ledger *l, const struct ledger_link *spend,
                  const struct ledger_outcome *outcome, struct error *err)
{
    struct ledger_link next = {.kind = LEDGER_SETTLE, .time_ns = outcome->time_ns};
    struct settled s = {.spend = spend->seq};
    struct buf body = BUF_INIT(LEDGER_TEXT_MAX);
    int status = -1;
    memcpy(next.key, spend->key, SHA256_HEX);
    if (write_settle_body(spend->seq, outcome, &body, err) < 0)
        goto out;
    next.body = buf_str(&body);
    if (store_begin(l->store, err) < 0)
        goto out;
    if (store_walk(l->store, next.key, look_for_settle, &s, err) < 0)
        goto rollback;
    if (s.found) {
        error_set(err, ERROR_REFUSED, "ledger link %lld already has its receipt",
                  (long long)spend->seq);
        error_rule(err, "settled_twice");
        error_remedy(err, "a receipt is never replaced; measure a new build");
        goto rollback;
    }
    if (append(l, &next, err) < 0)
        goto rollback;
    status = store_commit(l->store, err);
    goto out;
rollback:
    store_rollback(l->store);
out:
    buf_release(&body);
    if (status < 0)
        error_at_file(err, l->path);
    return status;
}

int ledger_baseline(struct ledger *l, struct str cell_json, struct str body, int64_t time_ns,
                    struct error *err)
{
    struct ledger_link next = {.kind = LEDGER_BASELINE, .time_ns = time_ns, .body = body};
    if (sha256_hex(next.key, cell_json, err) < 0)
        return -1;
    return append_alone(l, &next, err) < 0 ? error_at_file(err, l->path) : 0;
}

int ledger_walk(struct ledger *l,
                int (*each)(void *ctx, const struct ledger_link *, struct error *), void *ctx,
                struct error *err)
{
    return store_walk(l->store, NULL, each, ctx, err);
}

int ledger_get(struct ledger *l, int64_t seq, struct ledger_link *link, struct error *err)
{
    bool found;
    if (store_get(l->store, seq, link, &found, err) < 0)
        return -1;
    if (found)
        return 0;
    error_set(err, ERROR_INPUT, "the ledger has no link %lld", (long long)seq);
    error_remedy(err, "`tally ledger list` shows those it has");
    return error_at_file(err, l->path);
}

struct search {
    struct str run_id;
    int64_t spend;
};

static int match_receipt(void *ctx, const struct ledger_link *link, struct error *err)
{
    struct search *s = ctx;
    struct arena arena;
    const struct json *body;
    if (link->kind != LEDGER_SETTLE)
        return 0;
    arena_init(&arena, BODY_ARENA);
    int status = json_parse(&body, link->body, &JSON_LIMITS_DEFAULT, &arena, err);
    struct str id = {0};
    if (status == 0 && json_str(&id, json_get(body, "run_id")) == 0 && str_eq(id, s->run_id))
        status = json_need_i64(&s->spend, body, "spend", err);
    arena_release(&arena);
    return status;
}

int ledger_find_receipt(struct ledger *l, struct str run_id, int64_t *spend_seq, struct error *err)
{
    struct search s = {.run_id = run_id};
    if (store_walk(l->store, NULL, match_receipt, &s, err) < 0)
        return error_at_file(err, l->path);
    *spend_seq = s.spend;
    return 0;
}

int ledger_head(struct ledger *l, char digest[SHA256_HEX], int64_t *count, struct error *err)
{
    struct ledger_link last;
    bool found;
    if (store_last(l->store, &last, &found, err) < 0 || store_count(l->store, count, err) < 0)
        return -1;
    memset(digest, '0', SHA256_HEX - 1);
    digest[SHA256_HEX - 1] = '\0';
    if (found)
        memcpy(digest, last.digest, SHA256_HEX);
    return 0;
}
