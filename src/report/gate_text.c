#include "report/gate_text.h"

#include <stdio.h>
#include <string.h>

#define COLUMNS 80
#define INDENT 6

/* Words of text behind `indent` blanks, broken before COLUMNS. */
static void paragraph(struct buf *out, struct str text, size_t indent)
{
    size_t column = 0;
    struct str word, rest = text;
    while (rest.n) {
        str_cut(rest, ' ', &word, &rest);
        if (word.n == 0)
            continue;
        if (column && column + 1 + word.n > COLUMNS) {
            buf_addc(out, '\n');
            column = 0;
        }
        if (column == 0) {
            buf_pad(out, ' ', indent);
            column = indent;
        } else {
            buf_addc(out, ' ');
            column++;
        }
        buf_addstr(out, word);
        column += word.n;
    }
    if (column)
        buf_addc(out, '\n');
}

static bool same_cell(const struct gate_row *a, const struct gate_row *b)
{
    return a->cell == b->cell && (a->cell || !a->receipt == !b->receipt);
}

static enum status cell_status(const struct gate_verdict *v, size_t from, size_t to)
{
    enum status s = STATUS_NOT_APPLICABLE;
    for (size_t i = from; i < to; i++)
        if (v->rows[i].counts)
            s = status_worse(s, v->rows[i].status);
    return s;
}

static void name_cell(const struct gate_row *r, struct buf *out)
{
    const struct matrix_cell *c = r->cell;
    if (c)
        buf_addf(out, "host %.*s, model %.*s, workload %.*s", STR_ARG(c->host), STR_ARG(c->model),
                 STR_ARG(c->workload));
    else
        buf_adds(out, r->receipt ? "receipts without a cell" : "the matrix itself");
}

static void row_text(const struct gate_row *r, struct buf *out)
{
    struct buf line = BUF_INIT(4096);
    buf_addf(out, "  %-13s", status_name(r->status));
    if (r->arm)
        buf_addf(out, " %s %.*s", matrix_arm_letter(r->arm->kind), STR_ARG(r->arm->name));
    if (r->band)
        buf_addf(out, ", c = %d", r->band);
    buf_addf(out, "%s%s%s\n", r->arm || r->band ? ": " : " ", r->what,
             r->counts ? "" : " (reporting)");
    if (r->number[0])
        buf_addf(&line, "%s ", r->number);
    if (r->bound[0])
        buf_addf(&line, "against %s ", r->bound);
    if (r->threshold)
        buf_addf(&line, "(%s, %.*s, %.*s) ", matrix_class_name(r->threshold->class),
                 STR_ARG(r->threshold->author), STR_ARG(r->threshold->date));
    paragraph(out, buf_str(&line), INDENT);
    buf_release(&line);
    paragraph(out, str_of(r->why), INDENT);
    if (r->remedy && r->status != STATUS_PASS) {
        struct buf remedy = BUF_INIT(65536);
        buf_addf(&remedy, "remedy: %s", r->remedy);
        for (struct str one, rest = buf_str(&remedy); rest.n;) {
            str_cut(rest, '\n', &one, &rest);
            if (str_starts(one, STR("tally "))) { /* to be pasted as it is */
                buf_pad(out, ' ', INDENT);
                buf_addstr(out, one);
                buf_addc(out, '\n');
            } else {
                paragraph(out, one, INDENT);
            }
        }
        buf_release(&remedy);
    }
}

void gate_text(const struct gate_verdict *v, struct buf *out)
{
    for (size_t i = 0; i < v->rows_n;) {
        size_t end = i + 1;
        while (end < v->rows_n && same_cell(&v->rows[i], &v->rows[end]))
            end++;
        buf_addf(out, "%s  ", status_name(cell_status(v, i, end)));
        name_cell(&v->rows[i], out);
        buf_addc(out, '\n');
        for (; i < end; i++)
            row_text(&v->rows[i], out);
        buf_addc(out, '\n');
    }
    buf_addf(out, "%s", status_name(v->status));
    if (v->comparisons)
        buf_addf(out, "  (%zu comparisons at alpha %.3g, failures by Holm)", v->comparisons,
                 v->alpha);
    buf_addc(out, '\n');
}

static void json_row(const struct gate_row *r, struct json_writer *w)
{
    json_begin_object(w);
    json_key(w, "host");
    r->cell ? json_put_str(w, r->cell->host) : json_put_null(w);
    json_key(w, "model");
    r->cell ? json_put_str(w, r->cell->model) : json_put_null(w);
    json_key(w, "workload");
    r->cell ? json_put_str(w, r->cell->workload) : json_put_null(w);
    json_key(w, "arm");
    r->arm ? json_put_str(w, r->arm->name) : json_put_null(w);
    json_key(w, "kind");
    json_put_cstr(w, r->arm ? matrix_arm_kind_name(r->arm->kind) : NULL);
    json_key(w, "band");
    r->band ? json_put_i64(w, r->band) : json_put_null(w);
    json_key(w, "rule");
    json_put_cstr(w, gate_rule_name(r->rule));
    json_key(w, "what");
    json_put_cstr(w, r->what);
    json_key(w, "status");
    json_put_cstr(w, status_name(r->status));
    json_key(w, "counts");
    json_put_bool(w, r->counts);
    json_key(w, "number");
    json_put_cstr(w, r->number[0] ? r->number : NULL);
    json_key(w, "bound");
    json_put_cstr(w, r->bound[0] ? r->bound : NULL);
    json_key(w, "class");
    json_put_cstr(w, r->threshold ? matrix_class_name(r->threshold->class) : NULL);
    json_key(w, "author");
    r->threshold ? json_put_str(w, r->threshold->author) : json_put_null(w);
    json_key(w, "date");
    r->threshold ? json_put_str(w, r->threshold->date) : json_put_null(w);
    json_key(w, "p");
    r->p >= 0 ? json_put_real9(w, r->p) : json_put_null(w);
    json_key(w, "why");
    json_put_cstr(w, r->why);
    json_key(w, "remedy");
    json_put_cstr(w, r->remedy);
    json_key(w, "receipt");
    json_put_cstr(w, r->receipt);
    json_end_object(w);
}

void gate_json(const struct gate_verdict *v, struct json_writer *w)
{
    json_begin_object(w);
    json_key(w, "schema");
    json_put_cstr(w, "tallystick.verdict/1");
    json_key(w, "status");
    json_put_cstr(w, status_name(v->status));
    json_key(w, "comparisons");
    json_put_i64(w, (int64_t)v->comparisons);
    json_key(w, "alpha");
    json_put_real9(w, v->alpha);
    json_key(w, "rows");
    json_begin_array(w);
    for (size_t i = 0; i < v->rows_n; i++)
        json_row(&v->rows[i], w);
    json_end_array(w);
    json_end_object(w);
}

/* Workflow commands escape %, CR and LF; in properties ':' and ',' too. */
static void github_escape(struct buf *out, const char *text, bool property)
{
    for (; *text; text++) {
        if (*text == '%' || *text == '\r' || *text == '\n' ||
            (property && (*text == ':' || *text == ',')))
            buf_addf(out, "%%%02X", (unsigned char)*text);
        else
            buf_addc(out, *text);
    }
}

void gate_github(const struct gate_verdict *v, const char *matrix, struct buf *out)
{
    for (size_t i = 0; i < v->rows_n; i++) {
        const struct gate_row *r = &v->rows[i];
        if (r->status == STATUS_PASS || r->status == STATUS_NOT_APPLICABLE)
            continue;
        struct buf text = BUF_INIT(8192);
        bool red = r->counts && (r->status == STATUS_FAIL || r->status == STATUS_REFUSED);
        buf_addf(out, "::%s file=", red ? "error" : r->counts ? "warning" : "notice");
        github_escape(out, matrix, true);
        buf_addf(out, ",line=%u::", r->arm ? r->arm->line : r->cell ? r->cell->line : 1);
        name_cell(r, &text);
        if (r->arm)
            buf_addf(&text, ", %.*s", STR_ARG(r->arm->name));
        if (r->band)
            buf_addf(&text, ", c = %d", r->band);
        buf_addf(&text, ": %s %s: %s", r->what, status_name(r->status), r->why);
        if (r->number[0])
            buf_addf(&text, "; saw %s", r->number);
        if (r->bound[0])
            buf_addf(&text, ", bound %s", r->bound);
        github_escape(out, text.p ? text.p : "", false);
        buf_addc(out, '\n');
        buf_release(&text);
    }
    buf_addf(out, "::notice::gate %s\n", status_name(v->status));
}
