/*
 * Gathering rows while judging (inside src/gate only).
 *
 *     struct gate_row *r = rows_add(rows, cell, arm, c, GATE_MARGIN, "agg_tok_s");
 *     if (!r) return rows_failed(rows, err);
 *     r->why = rows_text(rows, "no ratio: %s", reason);
 *
 * Failure is sticky: rows_add and rows_text return NULL and "" past a limit or out of memory.
 */
#ifndef TALLY_GATE_ROWS_H
#define TALLY_GATE_ROWS_H

#include "gate/judge.h"

struct rows {
    struct arena *arena;
    struct gate_row *row;
    size_t n, cap;
    bool failed;
};

struct gate_row *rows_add(struct rows *rows, const struct matrix_cell *cell,
                          const struct matrix_arm *arm, int32_t band, enum gate_rule rule,
                          const char *what);
const char *rows_text(struct rows *rows, const char *fmt, ...) TALLY_PRINTF(2, 3);
/* Why of a row: the lanes' unequal prompt work; its remedy: the commands without it. */
void rows_say_work(struct rows *rows, struct gate_row *r, const struct metrics_pairs *pairs,
                   const struct run_record *run);
int rows_failed(const struct rows *rows, struct error *err);

/* integrity.c, arms.c, ratchet.c, sessions.c: one function a kind of arm; each adds at least one
 * row. */
void judge_compare(struct rows *rows, const struct matrix *m, const struct matrix_cell *cell,
                   const struct matrix_arm *arm, const struct gate_receipt *receipt,
                   const struct gate_input *in);
void judge_sessions(struct rows *rows, const struct matrix *m, const struct matrix_cell *cell,
                    const struct matrix_arm *arm, const struct gate_receipt *receipt,
                    const struct gate_input *in);
void judge_integrity(struct rows *rows, const struct matrix *m, const struct matrix_cell *cell,
                     const struct matrix_arm *arm, const struct gate_receipt *receipt,
                     const struct gate_input *in);
/* Whether the comparator is the ratchet's build, and the ratchet stands where it may: a row that
 * says so, and false where nothing may be compared. */
bool judge_ratchet(struct rows *rows, const struct matrix *m, const struct matrix_cell *cell,
                   const struct matrix_arm *arm, const struct gate_receipt *receipt,
                   const struct gate_input *in);
/* Beside arm A, never counted: how the aggregate rate grows with the concurrency. */
void report_scaling(struct rows *rows, const struct matrix *m, const struct matrix_cell *cell,
                    const struct matrix_arm *arm, const struct gate_receipt *receipt);
/* Numbers of class ratchet against the matrix as it was. */
void judge_numbers(struct rows *rows, const struct matrix *m, const struct matrix *before);
void judge_reporting(struct rows *rows, const struct matrix *m, const struct matrix_cell *cell,
                     const struct matrix_arm *arm, const struct gate_receipt *receipt);

/* The lane of a role; NULL when the receipt has none. */
const struct run_lane *receipt_lane(const struct gate_receipt *r, const char *role, size_t *index);
/* A lane's build as declared, else the digest of its binary; NULL: neither, or no such lane. */
const char *receipt_build(const struct gate_receipt *r, const char *role);
bool receipt_is_of_cell(const struct gate_receipt *r, const struct matrix_cell *cell);
/* With unequal work declared the ratios are made nevertheless. */
const struct metrics_pairs *receipt_pairs(const struct gate_receipt *r, int32_t band,
                                          bool unequal_work);

#endif
