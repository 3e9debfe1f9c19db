/* xoshiro256** and splitmix64 against the published vectors of their authors and of rand_xoshiro;
 * FNV-1a against the vectors of draft-eastlake-fnv; draws against reference.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stats/random.h"

static void generator(void **state)
{
    (void)state;
    static const uint64_t expected[] = {
        11520u,
        0u,
        1509978240u,
        1215971899390074240u,
        1216172134540287360u,
        607988272756665600u,
        16172922978634559625u,
        8476171486693032832u,
        10595114339597558777u,
        2904607092377533576u,
    };
    struct random r = {{1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_true(random_next(&r) == expected[i]);
}

static void seeding(void **state)
{
    (void)state;
    static const uint64_t expected[] = {1985237415132408290u, 2979275885539914483u,
                                        13511426838097143398u, 8488337342461049707u};
    struct random r;
    random_seed(&r, 1477776061723855037u);
    for (size_t i = 0; i < 4; i++)
        assert_true(r.s[i] == expected[i]);
    assert_true(random_seed_of(STR("")) == 0xcbf29ce484222325u);
    assert_true(random_seed_of(STR("a")) == 0xaf63dc4c8601ec8cu);
    assert_true(random_seed_of(STR("foobar")) == 0x85944171f73967e8u);
}

static void bounded_draws(void **state)
{
    (void)state;
    static const uint32_t small[] = {9, 9, 5, 0, 0, 9, 1, 9, 8, 1, 4, 6};
    static const uint32_t large[] = {2020745657u, 2218661346u, 1702125267u, 1995336099u};
    struct random r;
    random_seed(&r, random_seed_of(STR("2026/subject/c4/r1/ttft_ms")));
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++)
        assert_int_equal(random_below(&r, 10), small[i]);
    /* 3e9 does not divide 2^32 well: a draw in three or so is refused and drawn again. */
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++)
        assert_true(random_below(&r, 3000000000u) == large[i]);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(random_below(&r, 1), 0);
}

/* Mean and variance of 200,000 draws within six standard errors of the truth. */
static void moments(void **state)
{
    (void)state;
    enum { N = 200000 };
    static const struct {
        double shape, mean, variance, fourth; /* fourth central moment */
    } kinds[] = {
        {0, 0.5, 1.0 / 12, 1.0 / 80}, /* uniform */
        {-1, 1, 1, 9},                /* exponential */
        {-2, 0, 1, 3},                /* normal */
        {0.25, 0.25, 0.25, 1.6875},   /* gamma: fourth = 3k^2 + 6k */
        {1, 1, 1, 9},                 /* */
        {7.5, 7.5, 7.5, 213.75},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        struct random r;
        random_seed(&r, 7 + k);
        double sum = 0, squares = 0;
        for (int i = 0; i < N; i++) {
            double shape = kinds[k].shape;
            double x = shape == 0    ? random_unit(&r)
                       : shape == -1 ? random_exponential(&r)
                       : shape == -2 ? random_normal(&r)
                                     : random_gamma(&r, shape);
            double d = x - kinds[k].mean;
            sum += d;
            squares += d * d;
        }
        double mean_off = sum / N, variance_off = squares / N - kinds[k].variance;
        double spread = kinds[k].fourth - kinds[k].variance * kinds[k].variance;
        assert_true(mean_off * mean_off < 36 * kinds[k].variance / N);
        assert_true(variance_off * variance_off < 36 * spread / N);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generator),
        cmocka_unit_test(seeding),
        cmocka_unit_test(bounded_draws),
        cmocka_unit_test(moments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
