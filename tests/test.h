/*
 * What every cmocka test needs: the headers cmocka wants before it, and a few checks of ours.
 *
 *     assert_text(buf_str(&b), "what must stand there");
 *     assert_refused(json_parse(&doc, text, &limits, &arena, &err), err, ERROR_LIMIT, "longer");
 */
#ifndef TALLY_TESTS_TEST_H
#define TALLY_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

#define assert_str(seen, wanted) test_str((seen), (wanted), __FILE__, __LINE__)
#define assert_text(seen, wanted) test_str((seen), str_of(wanted), __FILE__, __LINE__)

static inline void test_str(struct str seen, struct str wanted, const char *file, int line)
{
    if (str_eq(seen, wanted))
        return;
    print_error("%s:%d: saw \"%.*s\", wanted \"%.*s\"\n", file, line, STR_ARG(seen),
                STR_ARG(wanted));
    _fail(file, line);
}

/* The call failed, with this kind, a message that holds `part`, and no empty message. */
#define assert_refused(call, err, wanted_kind, part)                     \
    do {                                                                 \
        memset(&(err), 0, sizeof(err));                                  \
        assert_int_equal((call), -1);                                    \
        test_refusal(&(err), (wanted_kind), (part), __FILE__, __LINE__); \
    } while (0)

static inline void test_refusal(const struct error *err, enum error_kind kind, const char *part,
                                const char *file, int line)
{
    if (err->kind == kind && strstr(err->message, part))
        return;
    print_error("%s:%d: saw %s \"%s\", wanted %s \"…%s…\"\n", file, line,
                error_kind_name(err->kind), err->message, error_kind_name(kind), part);
    _fail(file, line);
}

#endif
