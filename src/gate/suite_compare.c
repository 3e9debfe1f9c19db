/* What compare refuses, and what it must not. */
#include <stdio.h>

#include "base/file.h"
#include "gate/compare.h"
#include "gate/specimen.h"
#include "gate/suites.h"

struct pair {
    struct specimen subject, comparator;
    bool two; /* two receipts, else one of two lanes */
};

struct compare_mutation {
    const char *rule, *name;
    void (*change)(struct pair *p);
};

static void nothing(struct pair *p)
{
    (void)p;
}

static void two_receipts(struct pair *p)
{
    p->two = true;
    p->subject.lanes_n = p->comparator.lanes_n = 1;
}

/* c = 4 of one run, c = 16 of the other. */
static void other_concurrency(struct pair *p)
{
    two_receipts(p);
    p->subject.bands[0] = 4;
    p->comparator.bands[0] = 16;
}

static void other_machine(struct pair *p)
{
    p->subject.hosts[1] = "bench-2";
}

static void other_wrapper(struct pair *p)
{
    p->subject.wrap[1] = 29;
}

static void no_usage(struct pair *p)
{
    p->subject.wrap[1] = COUNT_NONE;
}

static void one_lane_alone(struct pair *p)
{
    p->subject.lanes_n = 1;
}

static void cut_off(struct pair *p)
{
    p->subject.finish = false;
}

static const struct compare_mutation compare_mutations[] = {
    {"", "none: two lanes of one receipt", nothing},
    {"", "none: two receipts of one key", two_receipts},
    {"join_key", "c = 4 joined with c = 16", other_concurrency},
    {"join_key", "lanes on two machines", other_machine},
    {"prompt_work", "another wrapper", other_wrapper},
    {"prompt_work", "usage of one lane removed", no_usage},
    {"one_lane", "one lane alone", one_lane_alone},
    {"verify", "a run that was cut off", cut_off},
};

static int write_side(struct specimen *p, struct buf *dir, const char *root, size_t i, char side,
                      struct error *err)
{
    char name[32];
    snprintf(name, sizeof name, "pair-%zu%c", i, side);
    if (path_join(dir, root, name, err) < 0)
        return -1;
    p->dir = dir->p;
    return specimen_write(p, err);
}

static int try_one(struct selftest *t, const struct selftest_options *o, size_t i,
                   struct error *err)
{
    static const struct compare_options how = {.margin = 0.05};
    const struct compare_mutation *m = &compare_mutations[i];
    struct pair p = {0};
    struct buf a = BUF_INIT(FILE_PATH_MAX), b = BUF_INIT(FILE_PATH_MAX);
    struct compare c = {0};
    struct error said = {0};
    int status = -1;
    specimen_init(&p.subject);
    specimen_init(&p.comparator);
    p.subject.client = p.comparator.client = o->client;
    p.subject.bands_n = p.comparator.bands_n = 1;
    m->change(&p);
    if (write_side(&p.subject, &a, o->root, i, 'a', err) < 0 ||
        (p.two && write_side(&p.comparator, &b, o->root, i, 'b', err) < 0))
        goto out;
    bool refused = compare_dirs(&c, a.p, p.two ? b.p : NULL, &how, &said) < 0;
    bool expected = m->rule[0] ? refused && str_eq(str_of(said.rule), str_of(m->rule)) : !refused;
    selftest_add(t, "compare", m->rule, m->name,
                 m->rule[0] ? expected ? SELFTEST_RED : SELFTEST_SURVIVED
                 : expected ? SELFTEST_GREEN
                            : SELFTEST_NOT_GREEN,
                 refused ? said.message : "");
    compare_release(&c);
    status = 0;
out:
    buf_release(&a);
    buf_release(&b);
    return status;
}

int suite_compare(struct selftest *t, const struct selftest_options *o, struct error *err)
{
    for (size_t i = 0; i < sizeof compare_mutations / sizeof compare_mutations[0]; i++)
        if (try_one(t, o, i, err) < 0)
            return -1;
    return 0;
}
