#include "ledger/ledger.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "base/clock.h"

#define KILLS 200

struct place {
    char dir[64], path[96];
};

static int make_place(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    if (!p)
        return -1;
    snprintf(p->dir, sizeof p->dir, "/tmp/tally-ledger-XXXXXX");
    if (!mkdtemp(p->dir))
        return -1;
    snprintf(p->path, sizeof p->path, "%s/ledger.db", p->dir);
    *state = p;
    return 0;
}

static int drop_place(void **state)
{
    struct place *p = *state;
    static const char *const suffix[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < 3; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s%s", p->path, suffix[i]);
        unlink(name);
    }
    rmdir(p->dir);
    free(p);
    return 0;
}

static struct ledger_claim claim_of(const char *cell, int32_t replicates)
{
    struct ledger_claim c = {.cell_json = str_of(cell),
                             .run_dir = STR("runs/one"),
                             .replicates = replicates,
                             .time_ns = 1796117400000000000};
    memset(c.protocol_sha256, 'a', SHA256_HEX - 1);
    snprintf(c.nonce, sizeof c.nonce, "0123456789abcdef0123456789abcdef");
    return c;
}

static struct ledger_outcome outcome_of(const char *run_id, enum status status)
{
    struct ledger_outcome o = {.run_id = str_of(run_id), .status = status, .time_ns = 1};
    memset(o.receipt_sha256, 'b', SHA256_HEX - 1);
    return o;
}

static struct ledger *must_open(const struct place *p, enum ledger_mode mode)
{
    struct ledger *l = NULL;
    struct error err = {0};
    if (ledger_open(&l, p->path, mode, &err) < 0)
        fail_msg("%s", err.message);
    return l;
}

static void a_spent_cell_stays_spent(void **state)
{
    struct ledger *l = must_open(*state, LEDGER_WRITE);
    struct ledger_link link;
    struct error err = {0};
    struct ledger_claim c = claim_of("{\"model\":\"m\"}", 6);
    assert_int_equal(ledger_spend(l, &c, &link, &err), 0);
    assert_int_equal(link.seq, 1);
    struct ledger_outcome failed = outcome_of("run-1", STATUS_FAIL);
    assert_int_equal(ledger_settle(l, &link, &failed, &err), 0);

    /* Another protocol is no way to try again. */
    memset(c.protocol_sha256, 'c', SHA256_HEX - 1);
    assert_int_equal(ledger_spend(l, &c, &link, &err), -1);
    assert_int_equal(err.kind, ERROR_REFUSED);
    assert_string_equal(err.rule, "spent_cell");
    assert_non_null(strstr(err.message, "ledger link 1"));
    assert_non_null(strstr(err.message, "receipt run-1"));
    assert_non_null(strstr(err.remedy, "new build"));

    c = claim_of("{\"model\":\"another\"}", 6);
    assert_int_equal(ledger_spend(l, &c, &link, &err), 0);
    assert_int_equal(link.seq, 3);
    ledger_close(l);
}

static void declared_looks_are_all_there_is(void **state)
{
    struct ledger *l = must_open(*state, LEDGER_WRITE);
    struct ledger_link first, second;
    struct error err = {0};
    struct ledger_claim c = claim_of("{}", 6);
    c.looks[0] = 6;
    c.looks[1] = 12;
    c.looks_n = 2;
    assert_int_equal(ledger_spend(l, &c, &first, &err), 0);
    /* The first look has no receipt yet. */
    assert_int_equal(ledger_spend(l, &c, &second, &err), -1);
    assert_string_equal(err.rule, "spent_cell");
    struct ledger_outcome open = outcome_of("look-1", STATUS_INCONCLUSIVE);
    assert_int_equal(ledger_settle(l, &first, &open, &err), 0);

    struct ledger_claim other = c;
    other.looks[1] = 18;
    assert_int_equal(ledger_spend(l, &other, &second, &err), -1);
    other = c;
    memset(other.protocol_sha256, 'd', SHA256_HEX - 1);
    assert_int_equal(ledger_spend(l, &other, &second, &err), -1);
    other = c;
    other.replicates = 5; /* 12 - 6 are left */
    assert_int_equal(ledger_spend(l, &other, &second, &err), -1);
    assert_non_null(strstr(err.remedy, "--replicates 6"));

    assert_int_equal(ledger_spend(l, &c, &second, &err), 0);
    struct ledger_outcome end = outcome_of("look-2", STATUS_PASS);
    assert_int_equal(ledger_settle(l, &second, &end, &err), 0);
    assert_int_equal(ledger_spend(l, &c, &second, &err), -1);
    assert_string_equal(err.rule, "spent_cell");
    ledger_close(l);
}

static void a_receipt_is_never_replaced(void **state)
{
    struct ledger *l = must_open(*state, LEDGER_WRITE);
    struct ledger_link link;
    struct error err = {0};
    struct ledger_claim c = claim_of("{}", 6);
    struct ledger_outcome o = outcome_of("one", STATUS_PASS);
    assert_int_equal(ledger_spend(l, &c, &link, &err), 0);
    assert_int_equal(ledger_settle(l, &link, &o, &err), 0);
    assert_int_equal(ledger_settle(l, &link, &o, &err), -1);
    assert_string_equal(err.rule, "settled_twice");

    int64_t seq = -1;
    assert_int_equal(ledger_find_receipt(l, STR("one"), &seq, &err), 0);
    assert_int_equal(seq, 1);
    assert_int_equal(ledger_find_receipt(l, STR("two"), &seq, &err), 0);
    assert_int_equal(seq, 0);
    ledger_close(l);
}

static void fill(struct ledger *l)
{
    struct error err = {0};
    for (int i = 0; i < 3; i++) {
        char cell[32];
        struct ledger_link link;
        snprintf(cell, sizeof cell, "{\"n\":%d}", i);
        struct ledger_claim c = claim_of(cell, 6);
        struct ledger_outcome o = outcome_of(cell, STATUS_PASS);
        assert_int_equal(ledger_spend(l, &c, &link, &err), 0);
        if (i != 1)
            assert_int_equal(ledger_settle(l, &link, &o, &err), 0);
    }
}

static void check_counts_what_is_there(void **state)
{
    struct ledger *l = must_open(*state, LEDGER_WRITE);
    struct ledger_health h;
    struct error err = {0};
    char head[SHA256_HEX];
    int64_t n;
    assert_int_equal(ledger_check(l, &h, &err), 0);
    assert_int_equal(h.links, 0);
    fill(l);
    assert_int_equal(ledger_check(l, &h, &err), 0);
    assert_int_equal(h.links, 5);
    assert_int_equal(h.spent, 3);
    assert_int_equal(h.settled, 2);
    assert_int_equal(h.first_unsettled, 3);
    assert_int_equal(ledger_head(l, head, &n, &err), 0);
    assert_int_equal(n, 5);
    ledger_close(l);
}

static void edit(const struct place *p, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(p->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "DROP TRIGGER link_no_update; DROP TRIGGER link_no_delete",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void every_edit_is_found(void **state)
{
    static const char *const edits[] = {
        "UPDATE link SET body = replace(body, 'PASS', 'FAIL') WHERE seq = 2",
        "UPDATE link SET time_ns = time_ns + 1 WHERE seq = 1",
        "UPDATE link SET kind = 'baseline' WHERE seq = 4",
        "UPDATE link SET kind = 'promise' WHERE seq = 4",
        "UPDATE link SET key = replace(key, substr(key, 1, 1), 'z') WHERE seq = 3",
        "UPDATE link SET previous = digest WHERE seq = 5",
        "UPDATE link SET digest = replace(digest, substr(digest, 1, 1), 'z') WHERE seq = 5",
        "DELETE FROM link WHERE seq = 3",
        "DELETE FROM link WHERE seq = 1",
    };
    struct place *p = *state;
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        struct ledger *l = must_open(p, LEDGER_WRITE);
        struct ledger_health h;
        struct error err = {0};
        fill(l);
        ledger_close(l);
        edit(p, edits[i]);
        l = must_open(p, LEDGER_READ);
        if (ledger_check(l, &h, &err) == 0)
            fail_msg("not found: %s", edits[i]);
        assert_int_equal(err.kind, ERROR_REFUSED);
        assert_string_equal(err.rule, "ledger_chain");
        ledger_close(l);
        unlink(p->path);
    }
}

static void the_store_itself_refuses_edits(void **state)
{
    struct place *p = *state;
    struct ledger *l = must_open(p, LEDGER_WRITE);
    fill(l);
    ledger_close(l);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(p->path, &db), SQLITE_OK);
    assert_int_not_equal(sqlite3_exec(db, "DELETE FROM link", NULL, NULL, NULL), SQLITE_OK);
    assert_int_not_equal(sqlite3_exec(db, "UPDATE link SET seq = 9", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void what_is_no_ledger_is_said(void **state)
{
    struct place *p = *state;
    struct ledger *l;
    struct error err = {0};
    assert_int_equal(ledger_open(&l, p->path, LEDGER_READ, &err), -1);
    assert_int_equal(err.kind, ERROR_IO);

    FILE *f = fopen(p->path, "w");
    assert_non_null(f);
    for (int i = 0; i < 100; i++)
        fputs("this is no database at all\n", f);
    fclose(f);
    assert_int_equal(ledger_open(&l, p->path, LEDGER_WRITE, &err), -1);
    assert_int_equal(err.kind, ERROR_INPUT);
    unlink(p->path);

    sqlite3 *db;
    assert_int_equal(sqlite3_open(p->path, &db), SQLITE_OK);
    sqlite3_exec(db, "CREATE TABLE other (x)", NULL, NULL, NULL);
    sqlite3_close(db);
    assert_int_equal(ledger_open(&l, p->path, LEDGER_WRITE, &err), -1);
    assert_int_equal(err.kind, ERROR_INPUT);
    assert_non_null(strstr(err.message, "not a ledger"));
    unlink(p->path);

    l = must_open(p, LEDGER_WRITE);
    ledger_close(l);
    assert_int_equal(sqlite3_open(p->path, &db), SQLITE_OK);
    sqlite3_exec(db, "PRAGMA user_version = 99", NULL, NULL, NULL);
    sqlite3_close(db);
    assert_int_equal(ledger_open(&l, p->path, LEDGER_WRITE, &err), -1);
    assert_int_equal(err.kind, ERROR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "version 99"));
}

static void too_long_a_link_leaves_nothing(void **state)
{
    struct ledger *l = must_open(*state, LEDGER_WRITE);
    struct error err = {0};
    struct ledger_link link;
    char head[SHA256_HEX];
    int64_t n;
    char *cell = calloc(1, LEDGER_TEXT_MAX + 16);
    assert_non_null(cell);
    memset(cell, ' ', LEDGER_TEXT_MAX + 8);
    cell[0] = '{';
    cell[LEDGER_TEXT_MAX + 8] = '}';
    struct ledger_claim c = claim_of(cell, 6);
    assert_int_equal(ledger_spend(l, &c, &link, &err), -1);
    assert_int_equal(err.kind, ERROR_LIMIT);
    assert_int_equal(ledger_head(l, head, &n, &err), 0);
    assert_int_equal(n, 0);
    free(cell);
    ledger_close(l);
}

/* In the child: appends for ever, and says of each link that it is written once it is. */
static void append_until_killed(const struct place *p, int round, int out)
{
    struct ledger *l;
    struct error err = {0};
    if (ledger_open(&l, p->path, LEDGER_WRITE, &err) < 0)
        _exit(1);
    for (int i = 0;; i++) {
        char cell[64];
        struct ledger_link link;
        snprintf(cell, sizeof cell, "{\"round\":%d,\"n\":%d}", round, i);
        struct ledger_claim c = claim_of(cell, 6);
        if (ledger_spend(l, &c, &link, &err) < 0)
            _exit(2);
        if (write(out, &link.seq, sizeof link.seq) != sizeof link.seq)
            _exit(3);
        struct ledger_outcome o = outcome_of(cell, STATUS_PASS);
        if (ledger_settle(l, &link, &o, &err) < 0)
            _exit(4);
    }
}

static void kill_loses_nothing_reported(void **state)
{
    struct place *p = *state;
    int64_t reported = 0;
    for (int round = 0; round < KILLS; round++) {
        int pipe_fd[2];
        assert_int_equal(pipe(pipe_fd), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            close(pipe_fd[0]);
            append_until_killed(p, round, pipe_fd[1]);
        }
        close(pipe_fd[1]);
        /* Kill after a number of reports that differs from round to round, in mid-work. */
        for (int i = 0; i < 1 + round % 7; i++)
            if (read(pipe_fd[0], &reported, sizeof reported) != sizeof reported)
                fail_msg("the writer ended by itself");
        clock_sleep_until_ns(clock_mono_ns() + round * 37 % 900 * NS_PER_US, NULL);
        kill(child, SIGKILL);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        while (read(pipe_fd[0], &reported, sizeof reported) == sizeof reported)
            ;
        close(pipe_fd[0]);

        struct ledger *l = must_open(p, LEDGER_WRITE);
        struct ledger_health h;
        struct ledger_link link;
        struct error err = {0};
        if (ledger_check(l, &h, &err) < 0)
            fail_msg("after kill %d: %s", round, err.message);
        assert_int_equal(ledger_get(l, reported, &link, &err), 0);
        assert_int_equal(link.kind, LEDGER_SPEND);
        ledger_close(l);
    }
}

int main(void)
{
#define IN_A_PLACE(f) cmocka_unit_test_setup_teardown(f, make_place, drop_place)
    const struct CMUnitTest tests[] = {
        IN_A_PLACE(a_spent_cell_stays_spent),    IN_A_PLACE(declared_looks_are_all_there_is),
        IN_A_PLACE(a_receipt_is_never_replaced), IN_A_PLACE(check_counts_what_is_there),
        IN_A_PLACE(every_edit_is_found),         IN_A_PLACE(the_store_itself_refuses_edits),
        IN_A_PLACE(what_is_no_ledger_is_said),   IN_A_PLACE(too_long_a_link_leaves_nothing),
        IN_A_PLACE(kill_loses_nothing_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
