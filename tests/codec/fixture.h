/*
 * The arena that a test's documents live in, fresh for each test.
 *
 *     cmocka_unit_test_setup_teardown(places, set_up, tear_down)
 */
#ifndef TALLY_TESTS_CODEC_FIXTURE_H
#define TALLY_TESTS_CODEC_FIXTURE_H

#include "../test.h"
#include "base/arena.h"

static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, (size_t)64 << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

#endif
