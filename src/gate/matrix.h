/*
 * The matrix: what a gate demands, as one YAML file that people sign with their names.
 *
 *     struct matrix m;
 *     if (matrix_read(&m, doc, &arena, err) < 0) ...      // doc from yaml_parse
 *     for (size_t i = 0; i < m.cells_n; i++) ...
 *
 * Every number that the gate compares against stands here with its class, author and date, and
 * nowhere else. Unknown keys, duplicate cells, a cell outside the declared hosts, models and
 * workloads, and a declared combination without a cell are errors with line and column: what is
 * not said is never taken for granted.
 *
 *     version: 1
 *     hosts: [lab-a]
 *     models: [tiny]
 *     workloads: [w1]
 *     bands: [1, 4]
 *     arms:
 *       parity:
 *         kind: parity
 *         metrics: [agg_tok_s, ttft_ms]
 *         delta: {value: 0.05, class: policy, author: N. N., date: 2026-12-01}
 *     cells:
 *       - {host: lab-a, model: tiny, workload: w1, state: MEASURED}
 *
 * Ownership: all texts live in the arena. Dates are ISO 8601 days, kept as nanoseconds of their
 * first instant in UTC. Limits: MATRIX_*_MAX.
 */
#ifndef TALLY_GATE_MATRIX_H
#define TALLY_GATE_MATRIX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/json.h"
#include "metrics/pairs.h"

#define MATRIX_NAMES_MAX 64 /* hosts, models, workloads, bands, metrics: each */
#define MATRIX_ARMS_MAX 32
#define MATRIX_CELLS_MAX 4096

#define MATRIX_CLASSES(X)                                                      \
    X(CLASS_POLICY, "policy")         /* somebody decided it */                \
    X(CLASS_INHERITED, "inherited")   /* taken over from an earlier gate */    \
    X(CLASS_RATCHET, "ratchet")       /* moves only in the better direction */ \
    X(CLASS_DISPERSION, "dispersion") /* follows from measured spread */       \
    X(CLASS_SHAPE, "shape")           /* follows from the protocol's shape */

enum matrix_class {
#define X(id, name) id,
    MATRIX_CLASSES(X)
#undef X
};

struct matrix_number {
    bool set;
    double value;
    enum matrix_class class;
    struct str author;
    struct str date; /* as written; checked to be a day */
    uint32_t line;
};

/* Kinds of arms; spec section 9's letters beside. */
#define MATRIX_ARM_KINDS(X)                        \
    X(ARM_SELF_REGRESSION, "self-regression", "A") \
    X(ARM_PARITY, "parity", "B")                   \
    X(ARM_INTEGRITY, "integrity", "C")             \
    X(ARM_MEMORY, "memory", "D")                   \
    X(ARM_INTERFERENCE, "interference", "E")

enum matrix_arm_kind {
#define X(id, name, letter) id,
    MATRIX_ARM_KINDS(X)
#undef X
};

struct matrix_arm {
    struct str name;
    enum matrix_arm_kind kind;
    bool reporting;            /* its verdict is printed but does not count */
    const struct str *metrics; /* its count right behind it */
    size_t metrics_n;
    struct matrix_number delta;                   /* A, B: (0, 1) */
    struct matrix_number max_error_share;         /* C: [0, 1] */
    struct matrix_number max_drain_share;         /* C: of the window, (0, 1] */
    struct matrix_number max_age_days;            /* C, release phase: > 0 */
    struct matrix_number max_serialization_index; /* E, where it is judged: > 0 */
    struct str baseline_build; /* A: the ratchet's build; "" judges receipts of sessions */
    struct str baseline_author, baseline_date;
    bool unequal_work;          /* B: compared all the same, and printed beside every ratio */
    struct str unequal_work_by; /* who declared it */
    uint32_t line;
};

enum cell_state { CELL_MEASURED, CELL_UNMEASURED, CELL_NOT_APPLICABLE };

struct matrix_cell {
    struct str host, model, workload;
    enum cell_state state;
    struct str owner, ticket;      /* UNMEASURED */
    int64_t expires_ns;            /* UNMEASURED: the first instant after the last day it holds */
    struct str expires;            /* as written */
    struct str reason, decided_by; /* NOT_APPLICABLE */
    uint32_t line;
};

/* Each list has its count right behind it (gate/fields.h relies on that). */
struct matrix {
    const struct str *hosts;
    size_t hosts_n;
    const struct str *models;
    size_t models_n;
    const struct str *workloads;
    size_t workloads_n;
    const int32_t *bands;
    size_t bands_n;
    const struct matrix_arm *arms;
    size_t arms_n;
    const struct matrix_cell *cells;
    size_t cells_n;
};

int matrix_read(struct matrix *out, const struct json *doc, struct arena *arena,
                struct error *err) TALLY_MUST_CHECK;

/* The numbers of an arm that may be set, in order, each with its name: NULL past the last. A lower
 * one demands more, whichever it is. */
const struct matrix_number *matrix_arm_number(const struct matrix_arm *arm, size_t i,
                                              const char **name);
/* A paired statistic by the name that a matrix uses: "ttft_ms.p50" or, where there is one alone,
 * "ttft_ms". */
bool matrix_paired(enum metrics_paired *out, struct str name);
const char *matrix_class_name(enum matrix_class c);
const char *matrix_arm_letter(enum matrix_arm_kind k);
const char *matrix_arm_kind_name(enum matrix_arm_kind k);

#endif
