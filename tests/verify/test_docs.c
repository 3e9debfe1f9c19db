/* docs/rules.md lists every rule of verify and of the receipt in the words of their tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/file.h"
#include "receipt/rules.h"
#include "verify/verify.h"

static struct buf text;

static int set_up(void **state)
{
    (void)state;
    struct error err = {0};
    char path[1024];
    const char *source = getenv("TALLY_SOURCE");
    snprintf(path, sizeof path, "%s/docs/rules.md", source ? source : ".");
    return file_read(&text, path, 1 << 20, &err);
}

static int tear_down(void **state)
{
    (void)state;
    buf_release(&text);
    return 0;
}

static void needs(const char *row)
{
    if (str_find(buf_str(&text), str_of(row)) == STR_NONE)
        fail_msg("docs/rules.md does not hold: %s", row);
}

static void every_rule_is_told(void **state)
{
    (void)state;
    char row[600];
    for (int i = 0; i < VERIFY_RULE_COUNT; i++) {
        enum verify_rule r = (enum verify_rule)i;
        snprintf(row, sizeof row, "\n| `%s` | %s |\n", verify_rule_name(r), verify_rule_proves(r));
        needs(row);
    }
    for (int i = 0; i < RECEIPT_RULE_COUNT; i++) {
        enum receipt_rule r = (enum receipt_rule)i;
        snprintf(row, sizeof row, "\n| `%s` | %s | %s |\n", receipt_rule_name(r),
                 receipt_rule_checks(r), receipt_rule_remedy(r));
        needs(row);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_rule_is_told)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
