#include "base/arena.h"

#include "../test.h"

static void zeroed_and_aligned(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 1 << 20);
    for (size_t size = 0; size < 200; size++) {
        unsigned char *p = arena_alloc(&a, size);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xff, size);
    }
    arena_release(&a);
    arena_release(&a);
    arena_release(NULL);
}

static void limit(void **state)
{
    (void)state;
    struct error err = {0};
    struct arena a;
    arena_init(&a, 64);
    assert_non_null(arena_alloc(&a, 48));
    assert_non_null(arena_alloc(&a, 16)); /* at the limit */
    assert_int_equal(arena_check(&a, "document", &err), 0);
    assert_null(arena_alloc(&a, 1)); /* one over */
    assert_refused(arena_check(&a, "document", &err), err, ERROR_LIMIT, "document needs more than");
    assert_null(arena_alloc(&a, 0)); /* sticky */
    arena_release(&a);
    assert_non_null(arena_alloc(&a, 64)); /* and usable again */
    arena_release(&a);
}

/* Allocations of no or one byte count too: else they would take memory without end. */
static void tiny_ones_count(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 160);
    for (int i = 0; i < 10; i++)
        assert_non_null(arena_alloc(&a, (size_t)i % 2));
    assert_null(arena_alloc(&a, 0));
    arena_release(&a);
}

static void sizes_that_overflow(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, SIZE_MAX);
    assert_null(arena_alloc(&a, SIZE_MAX));
    arena_release(&a);
    assert_null(arena_array(&a, SIZE_MAX / 2, 3));
    assert_true(a.failed);
    arena_release(&a);
    void *p = arena_alloc(&a, 16);
    assert_null(arena_grow(&a, p, 16, SIZE_MAX));
    arena_release(&a);
}

/* Under AddressSanitizer malloc would end the program instead of refusing. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void memory_refused(void **state)
{
    (void)state;
    struct error err = {0};
    struct arena a;
    arena_init(&a, SIZE_MAX);
    assert_null(arena_alloc(&a, SIZE_MAX / 4));
    assert_refused(arena_check(&a, "document", &err), err, ERROR_MEMORY, "out of memory");
    arena_release(&a);
}

static void strings(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 1 << 20);
    struct str s = arena_str(&a, STR("a\0b"));
    assert_str(s, STR("a\0b"));
    assert_int_equal(s.p[3], '\0');
    struct str empty = arena_str(&a, (struct str){0});
    assert_non_null(empty.p);
    assert_int_equal(empty.n, 0);
    assert_string_equal(arena_cstr(&a, STR("xyz")), "xyz");
    /* They stand one behind the other, and what comes next is aligned again. */
    struct str one = arena_str(&a, STR("one")), two = arena_str(&a, STR("two"));
    assert_ptr_equal(two.p, one.p + 4);
    assert_int_equal((uintptr_t)arena_alloc(&a, 8) % 16, 0);
    assert_str(two, STR("two"));
    arena_release(&a);
    /* A NUL counts; so does what an alignment leaves unused. */
    arena_init(&a, 36);
    assert_non_null(arena_str(&a, STR("abc")).p);
    assert_non_null(arena_alloc(&a, 16));
    assert_non_null(arena_str(&a, STR("xyz")).p); /* at the limit */
    assert_null(arena_str(&a, (struct str){0}).p);
    arena_release(&a);
    arena_init(&a, 0);
    assert_null(arena_str(&a, STR("a")).p);
    arena_release(&a);
}

static void growing(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 1 << 20);
    unsigned char *p = arena_alloc(&a, 10);
    memset(p, 7, 10);
    unsigned char *q = arena_grow(&a, p, 10, 100);
    assert_ptr_equal(p, q); /* the last one grows in place */
    for (int i = 0; i < 100; i++)
        assert_int_equal(q[i], i < 10 ? 7 : 0);
    void *other = arena_alloc(&a, 1);
    assert_non_null(other);
    unsigned char *r = arena_grow(&a, q, 100, 200);
    assert_ptr_not_equal(q, r);
    assert_memory_equal(q, r, 100);
    assert_int_equal(r[199], 0);
    assert_non_null(arena_grow(&a, NULL, 0, 8));
    /* Past a block's end it moves. */
    unsigned char *s = arena_alloc(&a, 16);
    s[15] = 9;
    s = arena_grow(&a, s, 16, 100000);
    assert_non_null(s);
    assert_int_equal(s[15], 9);
    assert_int_equal(s[99999], 0);
    arena_release(&a);
}

static void growing_to_the_limit(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 64);
    void *p = arena_alloc(&a, 16);
    p = arena_grow(&a, p, 16, 64); /* at the limit, in place */
    assert_non_null(p);
    assert_null(arena_grow(&a, p, 64, 65)); /* one over */
    assert_true(a.failed);
    arena_release(&a);
}

static void reset_keeps_memory(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 1 << 20);
    for (int i = 0; i < 100; i++)
        memset(arena_alloc(&a, 1000), 0xff, 1000);
    arena_reset(&a);
    assert_int_equal(a.used, 0);
    unsigned char *p = arena_alloc(&a, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(p[i], 0);
    arena_release(&a);
    arena_reset(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeroed_and_aligned),
        cmocka_unit_test(limit),
        cmocka_unit_test(tiny_ones_count),
        cmocka_unit_test(sizes_that_overflow),
        cmocka_unit_test(memory_refused),
        cmocka_unit_test(strings),
        cmocka_unit_test(growing),
        cmocka_unit_test(growing_to_the_limit),
        cmocka_unit_test(reset_keeps_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
