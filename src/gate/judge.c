#include "gate/judge.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "gate/rows.h"
#include "gate/work.h"
#include "stats/paired.h"

const char *gate_rule_name(enum gate_rule r)
{
    static const char *const names[] = {
#define X(id, name, holds) name,
        GATE_RULES(X)
#undef X
    };
    return names[r];
}

const char *gate_rule_holds(enum gate_rule r)
{
    static const char *const texts[] = {
#define X(id, name, holds) holds,
        GATE_RULES(X)
#undef X
    };
    return texts[r];
}

struct gate_row *rows_add(struct rows *rows, const struct matrix_cell *cell,
                          const struct matrix_arm *arm, int32_t band, enum gate_rule rule,
                          const char *what)
{
    if (rows->failed || rows->n == GATE_ROWS_MAX) {
        rows->failed = true;
        return NULL;
    }
    if (rows->n == rows->cap) {
        size_t cap = rows->cap ? rows->cap * 2 : 64;
        struct gate_row *p =
            arena_grow(rows->arena, rows->row, rows->cap * sizeof *p, cap * sizeof *p);
        if (!p) {
            rows->failed = true;
            return NULL;
        }
        rows->row = p;
        rows->cap = cap;
    }
    struct gate_row *r = &rows->row[rows->n++];
    *r = (struct gate_row){.cell = cell,
                           .arm = arm,
                           .band = band,
                           .rule = rule,
                           .what = what,
                           .status = STATUS_UNMEASURED,
                           .counts = !arm || !arm->reporting,
                           .number = "",
                           .bound = "",
                           .why = "",
                           .p = -1};
    return r;
}

const char *rows_text(struct rows *rows, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n < 0)
        n = 0;
    char *kept = arena_cstr(rows->arena, str_make(text, strlen(text)));
    if (!kept)
        rows->failed = true;
    return kept ? kept : "";
}

void rows_say_work(struct rows *rows, struct gate_row *r, const struct metrics_pairs *pairs,
                   const struct run_record *run)
{
    struct buf text = BUF_INIT(65536);
    gate_say_work(&text, &pairs->work);
    r->why = arena_cstr(rows->arena, buf_str(&text));
    buf_reset(&text);
    gate_say_remedy(&text, run);
    buf_adds(&text, "\nor declare unequal_work and unequal_work_by in the matrix");
    r->remedy = arena_cstr(rows->arena, buf_str(&text));
    buf_release(&text);
    if (!r->why || !r->remedy) {
        rows->failed = true;
        r->why = "";
    }
}

int rows_failed(const struct rows *rows, struct error *err)
{
    if (arena_check(rows->arena, "the verdict", err) < 0)
        return -1;
    return error_set(err, ERROR_LIMIT, "the matrix asks for more than %d judgements",
                     GATE_ROWS_MAX);
}

const struct run_lane *receipt_lane(const struct gate_receipt *r, const char *role, size_t *index)
{
    for (size_t i = 0; i < r->run->lanes_n; i++)
        if (strcmp(r->run->lanes[i].role, role) == 0) {
            if (index)
                *index = i;
            return &r->run->lanes[i];
        }
    return NULL;
}

const char *receipt_build(const struct gate_receipt *r, const char *role)
{
    const struct run_lane *lane = receipt_lane(r, role, NULL);
    return !lane ? NULL : lane->build ? lane->build : lane->build_sha256;
}

static bool same(struct str name, const char *text)
{
    return text && str_eq(name, str_of(text));
}

bool receipt_is_of_cell(const struct gate_receipt *r, const struct matrix_cell *cell)
{
    const struct run_lane *subject = receipt_lane(r, "subject", NULL);
    return subject && same(cell->host, subject->host) && same(cell->model, subject->model) &&
           same(cell->workload, r->workload);
}

const struct metrics_pairs *receipt_pairs(const struct gate_receipt *r, int32_t band,
                                          bool unequal_work)
{
    const struct metrics_pairs *pairs = unequal_work && r->declared ? r->declared : r->pairs;
    for (size_t i = 0; i < r->pairs_n; i++)
        if (pairs[i].band == band)
            return &pairs[i];
    return NULL;
}

static bool same_build(const struct gate_receipt *a, const struct gate_receipt *b, const char *role)
{
    const char *x = receipt_build(a, role), *y = receipt_build(b, role);
    return x && y ? strcmp(x, y) == 0 : x == y;
}

/* With two receipts that differ in nothing that a cell is, somebody could choose. */
static bool has_rival(const struct gate_input *in, const struct matrix_cell *cell, size_t i)
{
    const struct gate_receipt *r = &in->receipts[i];
    for (size_t k = 0; k < in->receipts_n; k++)
        if (k != i && receipt_is_of_cell(&in->receipts[k], cell) &&
            (same_build(r, &in->receipts[k], "comparator") ||
             !same_build(r, &in->receipts[k], "subject")))
            return true;
    return false;
}

/* True when there are receipts of the cell and none has a rival; else a row says what is wrong. */
static bool has_receipts(struct rows *rows, const struct gate_input *in,
                         const struct matrix_cell *cell)
{
    size_t n = 0;
    bool rivals = false;
    for (size_t i = 0; i < in->receipts_n; i++)
        if (receipt_is_of_cell(&in->receipts[i], cell)) {
            rivals = rivals || has_rival(in, cell, i);
            n++;
        }
    if (n > 0 && !rivals)
        return true;
    struct gate_row *r =
        rows_add(rows, cell, NULL, 0, n ? GATE_ONE_RECEIPT : GATE_RECEIPT, "receipt");
    if (!r)
        return false;
    if (n == 0) {
        r->why = "no receipt of this host, model and workload was given: nothing was looked at";
        r->remedy = "measure it with tally run, and give its run directory to the gate";
    } else {
        r->status = STATUS_REFUSED;
        r->why = rows_text(rows,
                           "%zu receipts were given for one cell, of the same comparator or of "
                           "several builds; a gate does not choose",
                           n);
        r->remedy = "give the ones that the ledger names for this cell: one a comparator, all of "
                    "one build";
    }
    return false;
}

/* Which receipts an arm is about: a ratchet's build as the comparator is arm A's; parity is judged
 * against every other comparator. A receipt that is the only one of its cell is everybody's. */
static bool suits(const struct matrix *m, const struct gate_input *in,
                  const struct matrix_cell *cell, const struct matrix_arm *arm,
                  const struct gate_receipt *r)
{
    const char *build = receipt_build(r, "comparator");
    size_t n = 0;
    bool ratchets = false;
    for (size_t i = 0; i < in->receipts_n; i++)
        n += receipt_is_of_cell(&in->receipts[i], cell);
    if (n == 1 || arm->kind == ARM_INTEGRITY)
        return true;
    for (size_t i = 0; i < m->arms_n; i++)
        if (m->arms[i].kind == ARM_SELF_REGRESSION && m->arms[i].baseline_build.n)
            ratchets = ratchets || same(m->arms[i].baseline_build, build);
    if (arm->kind == ARM_SELF_REGRESSION && arm->baseline_build.n)
        return same(arm->baseline_build, build);
    return !ratchets;
}

static void judge_unmeasured(struct rows *rows, const struct gate_input *in,
                             const struct matrix_cell *cell)
{
    struct gate_row *r = rows_add(rows, cell, NULL, 0, GATE_EXPIRY, "cell");
    if (!r)
        return;
    bool expired = in->now_ns >= cell->expires_ns;
    r->status = expired ? STATUS_FAIL : STATUS_UNMEASURED;
    r->why = rows_text(rows, "declared unmeasured by %.*s (%.*s); this %s %.*s",
                       STR_ARG(cell->owner), STR_ARG(cell->ticket),
                       expired ? "expired after" : "expires after", STR_ARG(cell->expires));
    if (expired)
        r->remedy = "measure the cell, or have its owner decide anew";
}

static void judge_arm(struct rows *rows, const struct matrix *m, const struct gate_input *in,
                      const struct matrix_cell *cell, const struct matrix_arm *arm,
                      const struct gate_receipt *receipt)
{
    size_t before = rows->n;
    if (arm->kind == ARM_INTEGRITY)
        judge_integrity(rows, m, cell, arm, receipt, in);
    else if (arm->kind == ARM_MEMORY || arm->kind == ARM_INTERFERENCE)
        judge_reporting(rows, m, cell, arm, receipt);
    else if (arm->kind == ARM_SELF_REGRESSION && arm->baseline_build.n == 0)
        judge_sessions(rows, m, cell, arm, receipt, in);
    else
        judge_compare(rows, m, cell, arm, receipt, in);
    if (arm->kind == ARM_SELF_REGRESSION)
        report_scaling(rows, m, cell, arm, receipt);
    for (size_t k = before; k < rows->n; k++)
        if (!rows->row[k].receipt)
            rows->row[k].receipt = receipt->path;
}

static void judge_cell(struct rows *rows, const struct matrix *m, const struct gate_input *in,
                       const struct matrix_cell *cell)
{
    if (cell->state == CELL_NOT_APPLICABLE) {
        struct gate_row *r = rows_add(rows, cell, NULL, 0, GATE_APPLICABLE, "cell");
        if (r) {
            r->status = STATUS_NOT_APPLICABLE;
            r->why = rows_text(rows, "not applicable: %.*s (decided by %.*s)",
                               STR_ARG(cell->reason), STR_ARG(cell->decided_by));
        }
        return;
    }
    if (cell->state == CELL_UNMEASURED) {
        judge_unmeasured(rows, in, cell);
        return;
    }
    if (!has_receipts(rows, in, cell))
        return;
    for (size_t i = 0; i < m->arms_n; i++) {
        const struct matrix_arm *arm = &m->arms[i];
        size_t before = rows->n;
        if (in->phase == GATE_MERGE && arm->kind != ARM_INTEGRITY)
            continue;
        for (size_t k = 0; k < in->receipts_n; k++)
            if (receipt_is_of_cell(&in->receipts[k], cell) &&
                suits(m, in, cell, arm, &in->receipts[k]))
                judge_arm(rows, m, in, cell, arm, &in->receipts[k]);
        struct gate_row *r = rows->n == before && !rows->failed
                                 ? rows_add(rows, cell, arm, 0, GATE_LOOKED, "arm")
                                 : NULL;
        if (r) {
            r->why = "this arm looked at nothing: no receipt has the comparator that it needs";
            r->remedy = arm->baseline_build.n ? "run the ratchet's build as the comparator"
                                              : "measure the cell against another server as well";
        }
    }
}

/* Receipts that no cell of the matrix asks for are said, not passed over. */
static void judge_strangers(struct rows *rows, const struct matrix *m, const struct gate_input *in)
{
    for (size_t i = 0; i < in->receipts_n; i++) {
        bool asked = false;
        for (size_t k = 0; k < m->cells_n; k++)
            asked = asked || receipt_is_of_cell(&in->receipts[i], &m->cells[k]);
        struct gate_row *r =
            asked ? NULL : rows_add(rows, NULL, NULL, 0, GATE_KNOWN_CELL, "receipt");
        if (r) {
            r->status = STATUS_REFUSED;
            r->receipt = in->receipts[i].path;
            r->why = "this receipt belongs to no cell of the matrix";
            r->remedy = "declare its host, model and workload in the matrix, or leave it out";
        }
    }
}

/* A matrix of which nothing applies, or nothing counts, is no pass. */
static void judge_nothing(struct rows *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        if (rows->row[i].counts && rows->row[i].status != STATUS_NOT_APPLICABLE)
            return;
    struct gate_row *r = rows_add(rows, NULL, NULL, 0, GATE_APPLICABLE, "matrix");
    if (r) {
        r->status = STATUS_REFUSED;
        r->why = "nothing was left to judge, and nothing is no pass";
        r->remedy = "declare a cell MEASURED, with an arm that counts in this phase";
    }
}

/* FAIL of comparisons is decided over all of them together (Holm); until here their status is
 * INCONCLUSIVE where L is below the margin. */
static int decide_failures(struct rows *rows, double alpha, size_t *comparisons, struct error *err)
{
    static const size_t most = STATS_HOLM_MAX;
    double *p = arena_array(rows->arena, rows->n ? rows->n : 1, sizeof *p);
    bool *reject = arena_array(rows->arena, rows->n ? rows->n : 1, sizeof *reject);
    size_t m = 0;
    if (!p || !reject)
        return rows_failed(rows, err);
    for (size_t i = 0; i < rows->n; i++)
        if (rows->row[i].p >= 0 && rows->row[i].counts)
            p[m++] = rows->row[i].p;
    if (m > most)
        return error_set(err, ERROR_LIMIT, "more than %zu comparisons in one gate", most);
    stats_holm(reject, p, m, alpha);
    size_t k = 0;
    for (size_t i = 0; i < rows->n; i++) {
        struct gate_row *r = &rows->row[i];
        if (r->p < 0 || !r->counts)
            continue;
        if (reject[k++] && r->status == STATUS_INCONCLUSIVE) {
            r->status = STATUS_FAIL;
            r->why = rows_text(rows, "worse than the margin (p = %.2g; Holm over %zu comparisons)",
                               r->p, m);
        }
    }
    *comparisons = m;
    return 0;
}

int gate_judge(const struct matrix *m, const struct gate_input *in, struct arena *arena,
               struct gate_verdict *out, struct error *err)
{
    struct rows rows = {.arena = arena};
    struct gate_verdict v = {.status = STATUS_NOT_APPLICABLE};
    size_t looks = 1;
    if (in->receipts_n > GATE_RECEIPTS_MAX || in->sessions_n > GATE_RECEIPTS_MAX)
        return error_set(err, ERROR_LIMIT, "more than %d receipts", GATE_RECEIPTS_MAX);
    for (size_t i = 0; i < m->cells_n; i++)
        judge_cell(&rows, m, in, &m->cells[i]);
    judge_strangers(&rows, m, in);
    judge_nothing(&rows);
    /* A matrix that is no looser than it was is nothing measured, so it comes behind. */
    if (in->before)
        judge_numbers(&rows, m, in->before);
    if (rows.failed)
        return rows_failed(&rows, err);
    for (size_t i = 0; i < in->receipts_n; i++)
        if (in->receipts[i].looks > looks)
            looks = in->receipts[i].looks;
    v.alpha = GATE_ALPHA / (double)looks;
    if (decide_failures(&rows, v.alpha, &v.comparisons, err) < 0)
        return -1;
    if (rows.failed)
        return rows_failed(&rows, err);
    for (size_t i = 0; i < rows.n; i++)
        if (rows.row[i].counts)
            v.status = status_worse(v.status, rows.row[i].status);
    v.rows = rows.row;
    v.rows_n = rows.n;
    *out = v;
    return 0;
}
