#include "cli/side_by_side.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "cli/visible.h"

#define GUTTER 3 /* " | " */

struct row {
    size_t from, to, columns; /* bytes of the visible text, and how wide they are */
};

/* One side of a stretch, laid out. */
struct column {
    struct buf text;
    struct row *rows;
    size_t n, cap;
};

static int add_row(struct column *c, struct error *err)
{
    if (c->n == c->cap) {
        size_t cap = c->cap ? c->cap * 2 : 32;
        struct row *rows = realloc(c->rows, cap * sizeof *rows);
        if (!rows)
            return error_no_memory(err);
        c->rows = rows;
        c->cap = cap;
    }
    c->rows[c->n++] = (struct row){c->text.n, c->text.n, 0};
    return 0;
}

static int lay_out(struct column *c, struct str text, size_t width, struct error *err)
{
    bool open = false;

    buf_reset(&c->text);
    c->text.max = BUF_ANY;
    c->n = 0;
    for (size_t at = 0, n; at < text.n; at += n) {
        size_t before = c->text.n;
        n = cli_add_visible_char(&c->text, text, at);
        size_t columns = utf8_width((struct str){c->text.p + before, c->text.n - before});
        if (!open || c->rows[c->n - 1].columns + columns > width) {
            if (add_row(c, err) < 0)
                return -1;
            c->rows[c->n - 1].from = before;
            open = true;
        }
        c->rows[c->n - 1].to = c->text.n;
        c->rows[c->n - 1].columns += columns;
        if (text.p[at] == '\n')
            open = false;
    }
    return buf_check(&c->text, "two renderings", err);
}

static void release(struct column *c)
{
    buf_release(&c->text);
    free(c->rows);
}

static void print_cell(FILE *out, const struct term *term, const struct column *c, size_t i,
                       bool same, enum term_style style)
{
    const struct row *r = i < c->n ? &c->rows[i] : NULL;

    if (!r || r->from == r->to)
        return;
    fputs(same ? "" : term_on(term, style), out);
    fwrite(c->text.p + r->from, 1, r->to - r->from, out);
    fputs(same ? "" : term_off(term), out);
}

static void print_row(FILE *out, const struct term *term, const struct column c[2], size_t i,
                      size_t width, bool same)
{
    size_t used = i < c[0].n ? c[0].rows[i].columns : 0;
    char mark = same ? ' ' : i >= c[1].n ? '<' : i >= c[0].n ? '>' : '|';

    fprintf(out, "%*s", SIDE_INDENT, "");
    print_cell(out, term, &c[0], i, same, TERM_ERROR);
    if (i < c[1].n || !same)
        fprintf(out, "%*s %c%s", (int)(width - used), "", mark, i < c[1].n ? " " : "");
    print_cell(out, term, &c[1], i, same, TERM_GOOD);
    fputc('\n', out);
}

static void print_stretch(FILE *out, const struct term *term, const struct column c[2],
                          size_t width, bool same)
{
    size_t rows = c[0].n > c[1].n ? c[0].n : c[1].n;
    bool all = !same || rows <= SIDE_SAME_ROWS;

    for (size_t i = 0; i < rows; i++) {
        if (!all && i == SIDE_SAME_ROWS / 2) {
            size_t left_out = rows - SIDE_SAME_ROWS;
            fprintf(out, "%*s%s(%zu row%s the same)%s\n", SIDE_INDENT, "", term_on(term, TERM_DIM),
                    left_out, left_out == 1 ? "" : "s", term_off(term));
            i += left_out;
        }
        print_row(out, term, c, i, width, same);
    }
}

int side_by_side(FILE *out, const struct term *term, const char *left, const char *right,
                 const struct side_stretch *s, size_t n, struct error *err)
{
    int room = term->width - SIDE_INDENT - GUTTER;
    size_t width = room / 2 < SIDE_COLUMNS_MIN ? SIDE_COLUMNS_MIN : (size_t)room / 2;
    struct column c[2] = {0};
    int rc = 0;

    fprintf(out, "%*s%s%-*s%s   %s%s%s\n", SIDE_INDENT, "", term_on(term, TERM_BOLD), (int)width,
            left, term_off(term), term_on(term, TERM_BOLD), right, term_off(term));
    for (size_t i = 0; rc == 0 && i < n; i++) {
        if (lay_out(&c[0], s[i].left, width, err) < 0 || lay_out(&c[1], s[i].right, width, err) < 0)
            rc = -1;
        else
            print_stretch(out, term, c, width, s[i].same);
    }
    release(&c[0]);
    release(&c[1]);
    return rc;
}
