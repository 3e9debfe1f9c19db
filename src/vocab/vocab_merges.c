#include "vocab/vocab_merges.h"

#include <string.h>

/* Of one batch: any one merge finds room, with its joint text apart. */
#define TEXTS_MAX ((size_t)4 * VOCAB_TOKEN_BYTES_MAX)

struct kept_head {
    uint64_t offset;
    uint32_t left, right; /* lengths; the bytes follow */
};

void merges_init(struct merges *m, struct vocab *v)
{
    *m = (struct merges){.v = v};
    buf_init(&m->kept, VOCAB_MEMORY_MAX);
    buf_init(&m->texts, TEXTS_MAX);
}

void merges_release(struct merges *m)
{
    buf_release(&m->kept);
    buf_release(&m->texts);
}

static int flush(struct merges *m, struct error *err)
{
    if (vocab_add_merges(m->v, m->batch, m->batch_n, err) < 0)
        return -1;
    m->batch_n = 0;
    buf_reset(&m->texts);
    return 0;
}

/* The parts stand one behind the other, and are their joint text; with a prefix that the right part
 * drops it is made behind them. */
static void place(struct merges *m, struct vocab_merge_text *to, struct str left, struct str right)
{
    char *p = m->texts.p + m->texts.n;
    size_t n = left.n + right.n;
    memcpy(p, left.p, left.n);
    memcpy(p + left.n, right.p, right.n);
    *to = (struct vocab_merge_text){.left = str_make(p, left.n),
                                    .right = str_make(p + left.n, right.n),
                                    .joint = str_make(p, n)};
    m->texts.n += n;
    if (m->prefix.n == 0 || !str_starts(right, m->prefix))
        return;
    struct str rest = str_skip(to->right, m->prefix.n);
    memcpy(p + n, left.p, left.n);
    memcpy(p + n + left.n, rest.p, rest.n);
    to->joint = str_make(p + n, left.n + rest.n);
    m->texts.n += left.n + rest.n;
}

static int resolve(struct merges *m, struct str left, struct str right, uint64_t offset,
                   struct error *err)
{
    size_t need = 2 * (left.n + right.n);
    if (left.n > VOCAB_TOKEN_BYTES_MAX || right.n > VOCAB_TOKEN_BYTES_MAX) {
        error_set(err, ERROR_LIMIT, "merge %u has a part of %zu bytes; the limit is %u",
                  m->v->merge_n + (uint32_t)m->batch_n, left.n > right.n ? left.n : right.n,
                  VOCAB_TOKEN_BYTES_MAX);
        return error_at_offset(err, (int64_t)offset);
    }
    if ((m->batch_n == VOCAB_MERGE_BATCH || need > TEXTS_MAX - m->texts.n) && flush(m, err) < 0)
        return -1;
    struct vocab_merge_text *to = &m->batch[m->batch_n++];
    place(m, to, left, right);
    to->offset = offset;
    return 0;
}

int merges_ready(struct merges *m, struct str prefix, struct error *err)
{
    /* At once, so that texts in it do not move. */
    if (!buf_reserve(&m->texts, TEXTS_MAX))
        return error_no_memory(err);
    m->ready = true;
    m->prefix = prefix;
    for (struct str rest = buf_str(&m->kept); rest.n;) {
        struct kept_head head;
        memcpy(&head, rest.p, sizeof head);
        rest = str_skip(rest, sizeof head);
        struct str left = str_first(rest, head.left);
        struct str right = str_make(rest.p + head.left, head.right);
        if (resolve(m, left, right, head.offset, err) < 0)
            return -1;
        rest = str_skip(rest, (size_t)head.left + head.right);
    }
    buf_release(&m->kept);
    return 0;
}

int merges_add(struct merges *m, struct str left, struct str right, uint64_t offset,
               struct error *err)
{
    if (++m->n > VOCAB_MERGES_MAX)
        return error_set(err, ERROR_LIMIT, "more than %u merges", VOCAB_MERGES_MAX);
    if (m->ready)
        return resolve(m, left, right, offset, err);
    struct kept_head head = {offset, (uint32_t)left.n, (uint32_t)right.n};
    buf_add(&m->kept, &head, sizeof head);
    buf_addstr(&m->kept, left);
    buf_addstr(&m->kept, right);
    return buf_check(&m->kept, "model.merges", err);
}

int merges_end(struct merges *m, struct error *err)
{
    return flush(m, err);
}
