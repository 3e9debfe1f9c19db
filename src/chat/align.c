#include "chat/align.h"

#include <stdlib.h>
#include <string.h>

void align_hunks_release(struct align_hunks *h)
{
    if (!h)
        return;
    free(h->items);
    *h = (struct align_hunks){0};
}

static int push(struct align_hunks *h, struct align_hunk hunk, struct error *err)
{
    struct align_hunk *last = h->n ? &h->items[h->n - 1] : NULL;
    if (hunk.a_from == hunk.a_to && hunk.b_from == hunk.b_to)
        return 0;
    if (last && last->a_to == hunk.a_from && last->b_to == hunk.b_from) {
        last->a_to = hunk.a_to;
        last->b_to = hunk.b_to;
        return 0;
    }
    if (h->n == h->cap) {
        size_t cap = h->cap ? h->cap * 2 : 8;
        struct align_hunk *p = realloc(h->items, cap * sizeof *p);
        if (!p)
            return error_no_memory(err);
        h->items = p;
        h->cap = cap;
    }
    h->items[h->n++] = hunk;
    return 0;
}

/* For each number of edits d, the furthest x on diagonal k = x - y in -d..d, at row[d][k + d]. */
struct trace {
    int32_t *row[ALIGN_EDITS_MAX + 1];
    int edits; /* that were enough; -1 */
};

static int32_t furthest(const struct trace *t, int d, int k)
{
    return t->row[d][k + d];
}

/* From which diagonal d edits reach k: down from k + 1 (an insertion), or right from k - 1. */
static bool goes_down(const struct trace *t, int d, int k)
{
    return k == -d || (k != d && furthest(t, d - 1, k - 1) < furthest(t, d - 1, k + 1));
}

static int search(struct trace *t, const uint32_t *a, int32_t an, const uint32_t *b, int32_t bn,
                  struct error *err)
{
    t->edits = -1;
    for (int d = 0; d <= ALIGN_EDITS_MAX; d++) {
        t->row[d] = malloc((size_t)(2 * d + 1) * sizeof(int32_t));
        if (!t->row[d])
            return error_no_memory(err);
        for (int k = -d; k <= d; k++)
            t->row[d][k + d] = -1;
        for (int k = -d; k <= d; k += 2) {
            int32_t x = d == 0               ? 0
                        : goes_down(t, d, k) ? furthest(t, d - 1, k + 1)
                                             : furthest(t, d - 1, k - 1) + 1;
            int32_t y = x - k;
            while (x >= 0 && y >= 0 && x < an && y < bn && a[x] == b[y]) {
                x++;
                y++;
            }
            t->row[d][k + d] = x;
            if (x >= an && y >= bn) {
                t->edits = d;
                return 0;
            }
        }
    }
    return 0;
}

/* Walks the trace back and reports the edits in order. */
static int report(struct align_hunks *out, const struct trace *t, int32_t an, int32_t bn,
                  size_t base, struct error *err)
{
    struct align_hunk edits[ALIGN_EDITS_MAX];
    int32_t x = an, y = bn;
    int n = 0;
    for (int d = t->edits; d > 0; d--) {
        int k = x - y;
        bool down = goes_down(t, d, k);
        int from = down ? k + 1 : k - 1;
        int32_t px = furthest(t, d - 1, from), py = px - from;
        edits[n++] = (struct align_hunk){(size_t)px, (size_t)px + (down ? 0 : 1), (size_t)py,
                                         (size_t)py + (down ? 1 : 0)};
        x = px;
        y = py;
    }
    while (n > 0) {
        struct align_hunk e = edits[--n];
        e.a_from += base;
        e.a_to += base;
        e.b_from += base;
        e.b_to += base;
        if (push(out, e, err) < 0)
            return -1;
    }
    return 0;
}

int align_ids(struct align_hunks *out, const uint32_t *a, size_t an, const uint32_t *b, size_t bn,
              struct error *err)
{
    size_t front = 0, back = 0;
    out->n = 0;
    while (front < an && front < bn && a[front] == b[front])
        front++;
    while (back < an - front && back < bn - front && a[an - 1 - back] == b[bn - 1 - back])
        back++;
    size_t am = an - front - back, bm = bn - front - back;
    if (am == 0 || bm == 0 || am > INT32_MAX / 4 || bm > INT32_MAX / 4)
        return push(out, (struct align_hunk){front, front + am, front, front + bm}, err);
    struct trace *t = calloc(1, sizeof *t);
    if (!t)
        return error_no_memory(err);
    int rc = search(t, a + front, (int32_t)am, b + front, (int32_t)bm, err);
    if (rc == 0 && t->edits < 0)
        rc = push(out, (struct align_hunk){front, front + am, front, front + bm}, err);
    else if (rc == 0)
        rc = report(out, t, (int32_t)am, (int32_t)bm, front, err);
    for (int d = 0; d <= ALIGN_EDITS_MAX; d++)
        free(t->row[d]);
    free(t);
    return rc;
}
