#include "load/queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"

#define MANY 20000

static int numbers[MANY];

static void test_order_and_bound(void **state)
{
    struct queue q;
    struct error err = {0};
    (void)state;

    assert_int_equal(queue_init(&q, 3, &err), 0);
    assert_null(queue_pop(&q, 0));
    for (int round = 0; round < 4; round++) { /* over the ring's end, too */
        for (int i = 0; i < 3; i++)
            assert_true(queue_push(&q, &numbers[i]));
        assert_false(queue_push(&q, &numbers[3]));
        assert_int_equal(queue_length(&q), 3);
        for (int i = 0; i < 3; i++)
            assert_ptr_equal(queue_pop(&q, INT64_MAX), &numbers[i]);
        assert_true(queue_push(&q, &numbers[0]));
        assert_ptr_equal(queue_pop(&q, 0), &numbers[0]);
    }
    queue_release(&q);
    queue_release(&q);
    queue_release(NULL);
}

static void test_deadline(void **state)
{
    struct queue q;
    struct error err = {0};
    int64_t before = clock_mono_ns();
    (void)state;

    assert_int_equal(queue_init(&q, 1, &err), 0);
    assert_null(queue_pop(&q, before + 5 * NS_PER_MS));
    assert_true(clock_mono_ns() >= before + 5 * NS_PER_MS);
    queue_close(&q);
    assert_null(queue_pop(&q, INT64_MAX)); /* closed: nobody waits for ever */
    assert_true(queue_is_done(&q));
    assert_false(queue_push_wait(&q, &numbers[0]));
    queue_release(&q);
}

static void *produce(void *ctx)
{
    for (int i = 0; i < MANY; i++) {
        if (!queue_push_wait(ctx, &numbers[i]))
            return NULL;
    }
    queue_close(ctx);
    return ctx;
}

/* All that goes in comes out, in order, through a queue that is mostly full or mostly empty. */
static void test_threads(void **state)
{
    struct queue q;
    struct error err = {0};
    pthread_t thread;
    void *finished;
    int n = 0;
    (void)state;

    assert_int_equal(queue_init(&q, 7, &err), 0);
    assert_int_equal(pthread_create(&thread, NULL, produce, &q), 0);
    while (!queue_is_done(&q)) {
        int *item = queue_pop(&q, clock_mono_ns() + NS_PER_S);
        if (item)
            assert_ptr_equal(item, &numbers[n++]);
    }
    assert_int_equal(pthread_join(thread, &finished), 0);
    assert_ptr_equal(finished, &q);
    assert_int_equal(n, MANY);
    queue_release(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_and_bound),
        cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
