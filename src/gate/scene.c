#include "gate/scene.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "codec/yaml.h"
#include "gate/mutate.h"
#include "ledger/ledger.h"
#include "receipt/compose.h"

#define ARENA_MAX ((size_t)16 << 20)
#define HOUR (3600 * NS_PER_S)
#define ANOTHER_SERVER "llama b80fb11a"
#define OLD "1.9"
#define OLDER "1.8"
#define NEW "2.0"

#define BY "author: self-test, date: 2026-12-01"
static const char matrix_text[] =
    "version: 1\n"
    "hosts: [bench-1]\n"
    "models: [tiny]\n"
    "workloads: [w1]\n"
    "bands: [1]\n"
    "arms:\n"
    "  integrity:\n"
    "    kind: integrity\n"
    "    max_error_share: {value: 0, class: policy, " BY "}\n"
    "    max_drain_share: {value: 0.5, class: shape, " BY "}\n"
    "    max_age_days: {value: 14, class: policy, " BY "}\n"
    "  parity:\n"
    "    kind: parity\n"
    "    metrics: [agg_tok_s, ttft_ms.p50]\n"
    "    delta: {value: 0.05, class: policy, " BY "}\n"
    "  ratchet:\n"
    "    kind: self-regression\n"
    "    metrics: [ttft_ms.p50]\n"
    "    delta: {value: 0.05, class: ratchet, " BY "}\n"
    "    baseline_build: \"" OLD "\"\n"
    "    baseline_author: self-test\n"
    "    baseline_date: 2026-12-01\n"
    "  sessions:\n"
    "    kind: self-regression\n"
    "    metrics: [ttft_ms.p50]\n"
    "    delta: {value: 0.05, class: dispersion, " BY "}\n"
    "  interference:\n"
    "    kind: interference\n"
    "    max_serialization_index: {value: 1.5, class: policy, " BY "}\n"
    "  memory:\n"
    "    kind: memory\n"
    "    reporting: true\n"
    "cells:\n"
    "  - {host: bench-1, model: tiny, workload: w1, state: MEASURED}\n";

static void begin(const struct scene *s, struct specimen *p, const char *nonce,
                  const char *comparator)
{
    specimen_init(p);
    p->client = s->client;
    p->bands_n = 1;
    p->nonce = nonce;
    p->builds[0] = NEW;
    p->builds[1] = comparator;
}

void scene_parity(const struct scene *s, struct specimen *p)
{
    begin(s, p, "5e1f7e57000000000000000000000001", ANOTHER_SERVER);
}

void scene_ratchet(const struct scene *s, struct specimen *p)
{
    begin(s, p, "5e1f7e57000000000000000000000002", OLD);
}

void scene_moved(const struct scene *s, struct specimen *p)
{
    begin(s, p, "5e1f7e57000000000000000000000003", OLDER);
    p->builds[0] = OLD;
    p->start_real_ns = SPECIMEN_ZERO_REAL - 48 * HOUR;
}

static int run_id_of(const char *dir, char id[SHA256_HEX], struct error *err)
{
    struct buf text = BUF_INIT(BUF_ANY);
    struct str stated;
    int status = mutate_read(dir, RECEIPT_NAME, &text, err);
    if (status == 0)
        status = receipt_text_id(buf_str(&text), &stated, id, err);
    buf_release(&text);
    return status;
}

int scene_sign(const struct scene *s, const char *dir, struct error *err)
{
    char id[SHA256_HEX];
    return run_id_of(dir, id, err) < 0 ? -1 : envelope_write(dir, s->key, str_of(id), err);
}

static const char *path_in(struct scene *s, const char *name, struct error *err)
{
    struct buf path = BUF_INIT(FILE_PATH_MAX);
    const char *kept = NULL;
    if (path_join(&path, s->root, name, err) == 0) {
        kept = arena_cstr(&s->arena, buf_str(&path));
        if (!kept)
            error_no_memory(err);
    }
    buf_release(&path);
    return kept;
}

int scene_make(struct scene *s, struct specimen *p, const char **dir, struct error *err)
{
    char name[32];
    snprintf(name, sizeof name, "run-%d", s->made++);
    p->dir = path_in(s, name, err);
    if (!p->dir || specimen_write(p, err) < 0)
        return -1;
    *dir = p->dir;
    return scene_sign(s, p->dir, err);
}

/* One run of a comparator: claimed, and settled unless `open`. */
static int claim(struct ledger *l, const char *comparator, const char *run_id, size_t looks,
                 bool open, struct error *err)
{
    struct ledger_claim c = {.run_dir = STR("run"),
                             .replicates = 2,
                             .looks_n = looks > 1 ? looks : 0,
                             .time_ns = SPECIMEN_ZERO_REAL};
    struct ledger_outcome outcome = {
        .run_id = str_of(run_id), .status = STATUS_PASS, .time_ns = SPECIMEN_ZERO_REAL + HOUR};
    struct ledger_link link;
    char cell[128];
    snprintf(cell, sizeof cell, "{\"builds\":[\"" NEW "\",\"%s\"]}", comparator);
    c.cell_json = str_of(cell);
    memset(c.protocol_sha256, 'a', SHA256_HEX - 1);
    memset(outcome.receipt_sha256, 'b', SHA256_HEX - 1);
    snprintf(c.nonce, sizeof c.nonce, "%.32s", run_id);
    for (size_t i = 0; i < c.looks_n; i++)
        c.looks[i] = (int32_t)(2 * (i + 1));
    if (ledger_spend(l, &c, &link, err) < 0)
        return -1;
    return open ? 0 : ledger_settle(l, &link, &outcome, err);
}

int scene_ledger(struct scene *s, size_t looks, bool open, const char **path, struct error *err)
{
    struct ledger *l;
    char name[32];
    snprintf(name, sizeof name, "ledger-%d.db", s->made++);
    *path = path_in(s, name, err);
    if (!*path || ledger_open(&l, *path, LEDGER_WRITE, err) < 0)
        return -1;
    int status = claim(l, ANOTHER_SERVER, s->parity_id, looks, false, err);
    if (status == 0)
        status = claim(l, OLD, s->ratchet_id, looks, false, err);
    if (status == 0 && open)
        status = claim(l, "nobody saw", "0", looks, true, err);
    ledger_close(l);
    return status;
}

int scene_edit(struct scene *s, const char *from, const char *to, struct error *err)
{
    struct buf out = BUF_INIT(BUF_ANY);
    struct str text = buf_str(&s->matrix);
    size_t at = str_find(text, str_of(from));
    if (at == STR_NONE)
        return error_set(err, ERROR_INPUT, "the matrix holds no '%s' to change", from);
    buf_addstr(&out, str_first(text, at));
    buf_adds(&out, to);
    buf_addstr(&out, str_skip(text, at + strlen(from)));
    buf_reset(&s->matrix);
    buf_addstr(&s->matrix, buf_str(&out));
    buf_release(&out);
    return buf_check(&s->matrix, "the matrix", err);
}

static int make_receipts(struct scene *s, struct error *err)
{
    struct specimen p;
    scene_parity(s, &p);
    if (scene_make(s, &p, &s->parity_dir, err) < 0)
        return -1;
    memcpy(s->parity_id, p.result.run_id, SHA256_HEX);
    scene_ratchet(s, &p);
    if (scene_make(s, &p, &s->ratchet_dir, err) < 0)
        return -1;
    memcpy(s->ratchet_id, p.result.run_id, SHA256_HEX);
    scene_moved(s, &p);
    return scene_make(s, &p, &s->moved_dir, err);
}

/* One lane of a build, measured so many hours before. */
static int make_session(struct scene *s, const char *build, int i, int64_t hours, const char **dir,
                        struct error *err)
{
    struct specimen p;
    char nonce[RUN_NONCE_HEX];
    snprintf(nonce, sizeof nonce, "5e1f7e57%024d", 100 + i);
    begin(s, &p, nonce, NULL);
    p.builds[0] = build;
    p.lanes_n = 1;
    p.start_real_ns = SPECIMEN_ZERO_REAL - hours * HOUR;
    return scene_make(s, &p, dir, err);
}

static int make_earlier(struct scene *s, struct error *err)
{
    const char *dirs[SCENE_EARLIER] = {s->moved_dir};
    const struct gate_load_options o = {.keys = &s->signer, .keys_n = 1};
    if (make_session(s, OLDER, 0, 72, &dirs[1], err) < 0)
        return -1;
    for (int i = 0; i < SCENE_SESSIONS; i++)
        if (make_session(s, OLD, 1 + i, 40 - i, &dirs[i + 2], err) < 0)
            return -1;
    return gate_set_load(&s->earlier, dirs, SCENE_EARLIER, &o, err);
}

static int load_written(struct scene *s, struct error *err)
{
    const struct gate_load_options o = {.keys = &s->signer, .keys_n = 1, .ledger = s->whole_ledger};
    return gate_set_load(&s->parity, &s->parity_dir, 1, &o, err) < 0
               ? -1
               : gate_set_load(&s->ratchet, &s->ratchet_dir, 1, &o, err);
}

int scene_init(struct scene *s, const char *root, const struct receipt_client *client,
               struct error *err)
{
    struct ed25519_key *other = NULL;
    int status = -1;
    *s = (struct scene){.root = root, .client = *client, .matrix = BUF_INIT(BUF_ANY)};
    arena_init(&s->arena, ARENA_MAX);
    arena_init(&s->rows, ARENA_MAX);
    snprintf(s->signer.name, sizeof s->signer.name, "self-test");
    snprintf(s->stranger.name, sizeof s->stranger.name, "a stranger");
    if (ed25519_key_make(&s->key, err) == 0 && ed25519_key_make(&other, err) == 0 &&
        ed25519_public_of(s->key, &s->signer.key, err) == 0 &&
        ed25519_public_of(other, &s->stranger.key, err) == 0 && make_receipts(s, err) == 0 &&
        scene_ledger(s, 1, false, &s->whole_ledger, err) == 0 && make_earlier(s, err) == 0)
        status = load_written(s, err);
    ed25519_key_free(other);
    if (status < 0)
        scene_release(s);
    else
        scene_reset(s);
    return status;
}

static void forget(struct scene *s)
{
    for (size_t i = 0; i < SCENE_DIRS_MAX; i++)
        gate_set_release(&s->now[i]);
    gate_set_release(&s->moved);
}

void scene_release(struct scene *s)
{
    if (!s)
        return;
    forget(s);
    gate_set_release(&s->earlier);
    gate_set_release(&s->parity);
    gate_set_release(&s->ratchet);
    ed25519_key_free(s->key);
    buf_release(&s->matrix);
    arena_release(&s->rows);
    arena_release(&s->arena);
    *s = (struct scene){0};
}

void scene_reset(struct scene *s)
{
    forget(s);
    arena_reset(&s->rows);
    buf_reset(&s->matrix);
    buf_adds(&s->matrix, matrix_text);
    s->dirs[0] = s->parity_dir;
    s->dirs[1] = s->ratchet_dir;
    s->dirs_n = 2;
    s->ledger = s->whole_ledger;
    s->trusted = &s->signer;
    s->now_ns = SPECIMEN_ZERO_REAL + HOUR;
    s->build = NEW;
    s->with_before = true;
    memcpy(s->sessions, s->earlier.receipts, sizeof s->sessions);
    s->sessions_n = s->earlier.n;
}

/* What was not changed need not be verified again each time. */
static int load_receipts(struct scene *s, struct error *err)
{
    const struct gate_load_options o = {.keys = s->trusted, .keys_n = 1, .ledger = s->ledger};
    bool as_written = s->trusted == &s->signer && s->ledger == s->whole_ledger;
    for (size_t i = 0; i < s->dirs_n; i++) {
        const struct gate_set *set = &s->now[i];
        if (as_written && s->dirs[i] == s->parity_dir)
            set = &s->parity;
        else if (as_written && s->dirs[i] == s->ratchet_dir)
            set = &s->ratchet;
        else if (gate_set_load(&s->now[i], &s->dirs[i], 1, &o, err) < 0)
            return -1;
        s->receipts[i] = set->receipts[0];
    }
    return 0;
}

static int read_matrix(struct scene *s, struct str text, struct matrix *m, struct error *err)
{
    const struct json *doc;
    return yaml_parse(&doc, text, &JSON_LIMITS_DEFAULT, &s->rows, err) < 0
               ? -1
               : matrix_read(m, doc, &s->rows, err);
}

int scene_judge(struct scene *s, struct gate_verdict *v, struct error *err)
{
    struct matrix *m = arena_array(&s->rows, 2, sizeof *m); /* the rows name its cells */
    if (!m)
        return arena_check(&s->rows, "the matrix", err);
    if (read_matrix(s, buf_str(&s->matrix), &m[0], err) < 0 ||
        read_matrix(s, str_of(matrix_text), &m[1], err) < 0 || load_receipts(s, err) < 0)
        return -1;
    const struct gate_input in = {.phase = GATE_RELEASE,
                                  .now_ns = s->now_ns,
                                  .build = s->build,
                                  .before = s->with_before ? &m[1] : NULL,
                                  .receipts = s->receipts,
                                  .receipts_n = s->dirs_n,
                                  .sessions = s->sessions,
                                  .sessions_n = s->sessions_n};
    return gate_judge(m, &in, &s->rows, v, err);
}
