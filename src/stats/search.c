#include "stats/search.h"

#include <assert.h>

void search_init(struct search *s, int64_t n)
{
    assert(n > 0);
    *s = (struct search){.n = n, .met = -1, .missed = n};
}

bool search_done(const struct search *s)
{
    return s->missed - s->met == 1;
}

int64_t search_next(const struct search *s)
{
    int64_t next;

    assert(!search_done(s));
    if (s->missed < s->n)
        return (s->met + s->missed) / 2;
    next = 2 * s->met + 1;
    return next < 0 ? 0 : next < s->n ? next : s->n - 1;
}

void search_tell(struct search *s, bool met)
{
    int64_t at = search_next(s);

    if (met)
        s->met = at;
    else
        s->missed = at;
}
