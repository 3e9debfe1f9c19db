/* docs/metrics.md explains every key, reason, flag and rule of the tables; a reason's text there is
 * the table's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/file.h"
#include "metrics/client.h"
#include "metrics/names.h"

static struct buf text;

static int set_up(void **state)
{
    (void)state;
    struct error err = {0};
    char path[1024];
    const char *source = getenv("TALLY_SOURCE");
    snprintf(path, sizeof path, "%s/docs/metrics.md", source ? source : ".");
    return file_read(&text, path, 1 << 20, &err);
}

static int tear_down(void **state)
{
    (void)state;
    buf_release(&text);
    return 0;
}

static void needs(const char *before, const char *name, const char *after)
{
    char wanted[256];
    snprintf(wanted, sizeof wanted, "%s`%s`%s", before, name, after);
    if (str_find(buf_str(&text), str_of(wanted)) == STR_NONE)
        fail_msg("docs/metrics.md does not hold: %s", wanted);
}

static void all_is_explained(void **state)
{
    (void)state;
    char row[200];
    for (int i = 0; i < METRIC_COUNT; i++)
        needs("", metrics_info((enum metric_id)i)->key, "");
    for (int i = REASON_NONE + 1; i < METRICS_REASON_COUNT; i++) {
        enum metrics_reason r = (enum metrics_reason)i;
        /* Words that are set as code there are not here. */
        snprintf(row, sizeof row, " | %s |", metrics_reason_help(r));
        needs("\n| ", metrics_reason_name(r), r == REASON_ERROR_SHARE ? " | " : row);
    }
    for (int i = 0; i < METRICS_FLAGS; i++)
        needs("\n| ", metrics_flag_name((enum metrics_flag)i), " | ");
    for (int i = 0; i < CLIENT_RULE_COUNT; i++)
        needs("\n| ", client_rule_name((enum client_rule)i), " | ");
    for (int i = 0; i < ASSIGN_NONE; i++)
        needs("", metrics_assignment_name((enum metrics_assignment)i), "");
    for (int i = 0; i < METRICS_SOURCES; i++)
        needs("", metrics_source_name((enum metrics_source)i), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_is_explained)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
