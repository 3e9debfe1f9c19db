/* The chain recomputed from its first link: what ledger_check reports. */
#include <stdlib.h>
#include <string.h>

#include "codec/json.h"
#include "ledger/ledger.h"

#define BODY_ARENA ((size_t)1 << 20)

struct audit {
    int64_t next;
    char previous[SHA256_HEX];
    struct ledger_health health;
    /* One mark a link: 's' an open spend, '.' anything else or settled. */
    char *mark;
    size_t cap;
};

static int broken(const struct ledger_link *link, struct error *err, const char *why)
{
    error_set(err, ERROR_REFUSED, "ledger link %lld %s", (long long)link->seq, why);
    error_rule(err, "ledger_chain");
    return error_remedy(err, "restore the ledger from a copy; its published head tells a good one");
}

static int remember(struct audit *a, int64_t seq, char mark, struct error *err)
{
    if ((size_t)seq >= a->cap) {
        size_t cap = a->cap ? a->cap * 2 : 256;
        char *p = realloc(a->mark, cap);
        if (!p)
            return error_no_memory(err);
        a->mark = p;
        a->cap = cap;
    }
    a->mark[seq] = mark;
    return 0;
}

static int audit_body(struct audit *a, const struct ledger_link *link, const struct json *body,
                      struct error *err)
{
    int64_t spend;
    char key[SHA256_HEX];
    struct str status;
    enum status parsed;
    switch (link->kind) {
    case LEDGER_SPEND:
        if (!json_is(json_get(body, "cell"), JSON_OBJECT))
            return broken(link, err, "spends no cell");
        /* The cell is written as it was digested, so its text is found again in the body. */
        if (!str_starts(link->body, STR("{\"cell\":")))
            return broken(link, err, "does not begin with its cell");
        size_t end = str_find(link->body, STR(",\"protocol_sha256\":"));
        if (end == STR_NONE)
            return broken(link, err, "names no protocol");
        struct str cell = str_first(str_skip(link->body, 8), end - 8);
        if (sha256_hex(key, cell, err) < 0)
            return -1;
        if (strcmp(key, link->key) != 0)
            return broken(link, err, "has a key that is not its cell's");
        a->health.spent++;
        return remember(a, link->seq, 's', err);
    case LEDGER_SETTLE:
        if (json_i64(&spend, json_get(body, "spend")) < 0 || spend < 1 || spend >= link->seq ||
            a->mark[spend] != 's')
            return broken(link, err, "settles a link that is no open spend");
        if (json_str(&status, json_get(body, "status")) < 0 || status_parse(&parsed, status) < 0)
            return broken(link, err, "has no status");
        a->mark[spend] = '.';
        a->health.settled++;
        return remember(a, link->seq, '.', err);
    case LEDGER_BASELINE:
        return remember(a, link->seq, '.', err);
    }
    return broken(link, err, "is of an unknown kind");
}

static int audit_link(void *ctx, const struct ledger_link *link, struct error *err)
{
    struct audit *a = ctx;
    struct buf line = BUF_INIT(2 * LEDGER_TEXT_MAX);
    struct arena arena;
    const struct json *body;
    char digest[SHA256_HEX];
    int status = -1;
    arena_init(&arena, BODY_ARENA);
    if (link->seq != a->next) {
        error_set(err, ERROR_REFUSED, "ledger link %lld is missing; %lld follows",
                  (long long)a->next, (long long)link->seq);
        error_rule(err, "ledger_chain");
        error_remedy(err, "restore the ledger from a copy; its published head tells a good one");
        goto out;
    }
    if (strcmp(link->previous, a->previous) != 0) {
        broken(link, err, "does not follow from the one before it");
        goto out;
    }
    ledger_link_line(link, &line);
    if (buf_check(&line, "a ledger link", err) < 0 || sha256_hex(digest, buf_str(&line), err) < 0)
        goto out;
    if (strcmp(digest, link->digest) != 0) {
        broken(link, err, "was edited: its digest is another");
        goto out;
    }
    struct error why;
    if (json_parse(&body, link->body, &JSON_LIMITS_DEFAULT, &arena, &why) < 0 ||
        !json_is(body, JSON_OBJECT)) {
        broken(link, err, "holds no JSON object");
        goto out;
    }
    if (audit_body(a, link, body, err) < 0)
        goto out;
    a->next++;
    a->health.links++;
    memcpy(a->previous, link->digest, SHA256_HEX);
    status = 0;
out:
    arena_release(&arena);
    buf_release(&line);
    return status;
}

int ledger_check(struct ledger *l, struct ledger_health *health, struct error *err)
{
    struct audit a = {.next = 1};
    memset(a.previous, '0', SHA256_HEX - 1);
    int status = ledger_walk(l, audit_link, &a, err);
    for (int64_t seq = 1; status == 0 && seq < a.next; seq++)
        if (a.mark[seq] == 's') {
            a.health.first_unsettled = seq;
            break;
        }
    free(a.mark);
    if (status == 0)
        *health = a.health;
    return status;
}
