/* A ratchet names a build, and moves to a newer one only where that was measured to be better. */
#include <string.h>

#include "gate/rows.h"

static bool is_build(struct str name, const char *build)
{
    return build && str_eq(name, str_of(build));
}

static bool same_text(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* The comparator must be the build that the ratchet names. */
static bool has_build(struct rows *rows, const struct matrix_cell *cell,
                      const struct matrix_arm *arm, const struct gate_receipt *receipt)
{
    const char *build = receipt_build(receipt, "comparator");
    if (is_build(arm->baseline_build, build))
        return true;
    struct gate_row *r = rows_add(rows, cell, arm, 0, GATE_RATCHET_BUILD, "ratchet");
    if (r) {
        r->status = STATUS_REFUSED;
        r->number = build ? build : "no build";
        r->bound = rows_text(rows, "%.*s", STR_ARG(arm->baseline_build));
        r->why = "the comparator is not the build that the ratchet names";
        r->remedy = "run the ratchet's build as the comparator lane, with --build";
    }
    return false;
}

static bool was_a_subject(const char *build, const struct matrix_cell *cell,
                          const struct gate_input *in)
{
    for (size_t i = 0; i < in->sessions_n; i++)
        if (in->sessions[i].verified && receipt_is_of_cell(&in->sessions[i], cell) &&
            same_text(build, receipt_build(&in->sessions[i], "subject")))
            return true;
    return false;
}

/* An earlier receipt in which a build of this server was the comparator, not some other server:
 * the one that the ratchet names, or one that was itself a subject before. */
static bool is_of_a_ratchet(const struct gate_receipt *r, const struct matrix_cell *cell,
                            const struct matrix_arm *arm, const struct gate_input *in)
{
    const char *build = receipt_build(r, "comparator");
    if (!r->verified || !build || !receipt_is_of_cell(r, cell))
        return false;
    return is_build(arm->baseline_build, build) || was_a_subject(build, cell, in);
}

static const struct gate_receipt *last_of_ratchet(const struct matrix_cell *cell,
                                                  const struct matrix_arm *arm,
                                                  const struct gate_input *in)
{
    const struct gate_receipt *last = NULL;
    for (size_t i = 0; i < in->sessions_n; i++) {
        const struct gate_receipt *r = &in->sessions[i];
        if (is_of_a_ratchet(r, cell, arm, in) &&
            (!last || r->run->t_end_real_ns > last->run->t_end_real_ns))
            last = r;
    }
    return last;
}

/* L > 0 for everything that the arm compares. */
static bool is_better(const struct matrix *m, const struct matrix_arm *arm,
                      const struct gate_receipt *r)
{
    for (size_t b = 0; b < m->bands_n; b++)
        for (size_t i = 0; i < arm->metrics_n; i++) {
            enum metrics_paired which;
            const struct metrics_pairs *pairs = receipt_pairs(r, m->bands[b], false);
            const struct metrics_ratio *ratio =
                pairs && matrix_paired(&which, arm->metrics[i]) ? &pairs->ratios[which] : NULL;
            if (!ratio || ratio->why != REASON_NONE || ratio->bounds_why != REASON_NONE ||
                !(ratio->lower > 0))
                return false;
        }
    return r->status == STATUS_PASS && !r->join_differs;
}

/* Whether the build that the matrix names was measured against `from`, and was better. */
static bool may_move(const struct matrix *m, const struct matrix_cell *cell,
                     const struct matrix_arm *arm, const char *from, const struct gate_input *in)
{
    for (size_t i = 0; i < in->sessions_n; i++) {
        const struct gate_receipt *r = &in->sessions[i];
        if (r->verified && receipt_is_of_cell(r, cell) &&
            same_text(receipt_build(r, "comparator"), from) &&
            is_build(arm->baseline_build, receipt_build(r, "subject")) && is_better(m, arm, r))
            return true;
    }
    return false;
}

static bool may_stand(struct rows *rows, const struct matrix *m, const struct matrix_cell *cell,
                      const struct matrix_arm *arm, const struct gate_input *in)
{
    struct gate_row *r = rows_add(rows, cell, arm, 0, GATE_RATCHET_MOVE, "ratchet");
    if (!r)
        return false;
    r->number = rows_text(rows, "%.*s", STR_ARG(arm->baseline_build));
    if (in->sessions_n == 0) {
        r->status = STATUS_INCOMPLETE;
        r->why = "what a matrix says of its own ratchet proves nothing: it is held against earlier "
                 "receipts, and none was given";
        r->remedy = "give them: --baseline DIR, or --baseline-ref REF:DIR of a branch that the "
                    "author of a change cannot write";
        return false;
    }
    const struct gate_receipt *last = last_of_ratchet(cell, arm, in);
    r->status = STATUS_PASS;
    if (!last && was_a_subject(r->number, cell, in)) {
        r->why = "no earlier receipt was held against a build of this server: the ratchet begins";
        return true;
    }
    if (!last) {
        r->status = STATUS_REFUSED;
        r->why = "no earlier receipt measured the build that the ratchet names";
        r->remedy = "a ratchet begins with a build that was measured: name one of those";
        return false;
    }
    const char *stands = receipt_build(last, "comparator");
    r->bound = stands;
    r->receipt = last->path;
    if (is_build(arm->baseline_build, stands)) {
        r->why = "where the last measured receipt left it";
    } else if (may_move(m, cell, arm, stands, in)) {
        r->why = "moved to a build that was measured to be better than the one before (L > 0)";
    } else {
        r->status = STATUS_FAIL;
        r->why =
            rows_text(rows,
                      "moved the wrong way: the last measured receipt was held against %s, and "
                      "none shows the build named now to be better (L > 0)",
                      stands);
        r->remedy = "name that build again, or measure the new one against it first";
    }
    return r->status == STATUS_PASS;
}

bool judge_ratchet(struct rows *rows, const struct matrix *m, const struct matrix_cell *cell,
                   const struct matrix_arm *arm, const struct gate_receipt *receipt,
                   const struct gate_input *in)
{
    bool stands = may_stand(rows, m, cell, arm, in);
    return has_build(rows, cell, arm, receipt) && stands;
}

static const struct matrix_arm *find_arm(const struct matrix *m, struct str name)
{
    for (size_t i = 0; i < m->arms_n; i++)
        if (str_eq(m->arms[i].name, name))
            return &m->arms[i];
    return NULL;
}

/* One number that was a ratchet, against what stands in its place. */
static void judge_number(struct rows *rows, const struct matrix_arm *was_arm,
                         const struct matrix_arm *arm, const struct matrix_number *was,
                         const struct matrix_number *now, const char *name)
{
    struct gate_row *r = rows_add(rows, NULL, arm, 0, GATE_RATCHET_NUMBER,
                                  rows_text(rows, "%.*s.%s", STR_ARG(was_arm->name), name));
    if (!r)
        return;
    r->counts = true; /* also of an arm that only reports: it would be promoted with it */
    r->threshold = was;
    r->bound = rows_text(rows, "<= %.4g", was->value);
    r->status = STATUS_FAIL;
    r->remedy = "put it back: a ratchet moves one way";
    if (!now || !now->set) {
        r->why = "the number is gone";
        return;
    }
    r->number = rows_text(rows, "%.4g", now->value);
    if (now->class != CLASS_RATCHET) {
        r->why = "it was a ratchet, and is none any more";
    } else if (now->value > was->value) {
        r->why = "looser than it was";
    } else {
        r->status = STATUS_PASS;
        r->why = now->value < was->value ? "tighter than it was" : "as it was";
    }
}

void judge_numbers(struct rows *rows, const struct matrix *m, const struct matrix *before)
{
    for (size_t a = 0; a < before->arms_n; a++) {
        const struct matrix_arm *was_arm = &before->arms[a], *arm = find_arm(m, was_arm->name);
        const struct matrix_number *was;
        const char *name;
        for (size_t i = 0; (was = matrix_arm_number(was_arm, i, &name)); i++)
            if (was->set && was->class == CLASS_RATCHET)
                judge_number(rows, was_arm, arm, was, arm ? matrix_arm_number(arm, i, &name) : NULL,
                             name);
    }
}
