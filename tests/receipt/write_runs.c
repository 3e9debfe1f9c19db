/* Writes run directories of every kind below $TMPDIR, for schema.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "make.h"

static bool half_fail(struct make *m, struct sample *s)
{
    (void)m;
    if (s->seq % 2) {
        s->outcome = OUTCOME_FAILED;
        s->failure = FAILURE_SERVER_ERROR;
        s->error = STR("it \"broke\"");
    }
    return s->seq == 9;
}

static void bare(struct make *m, struct run_plan *p, struct run_lane *lanes)
{
    (void)m;
    p->seed = p->max_tokens = COUNT_NONE;
    p->corpus_path = p->same_model = p->protocol = p->time_source = NULL;
    p->corpus_count = p->corpus_tokens = p->corpus_tolerance = COUNT_NONE;
    p->requests = 7;
    p->min_samples = 9;
    p->system = "be \xe6\xbc\xa2 brief";
    p->temperature = 0.7;
    lanes[0].model = lanes[0].host = lanes[0].build = NULL;
    lanes[0].wrapper_json =
        "{\"source\":\"probed\",\"status\":\"named\",\"name\":\"apr\",\"profile\":\"apr\","
        "\"template_sha256\":null,\"system\":null,\"special_text\":\"plain\",\"bos_added\":false,"
        "\"residue\":0,\"now\":\"2026-12-01T09:30:00\",\"server_front\":null,"
        "\"front_left_out\":null}";
}

static void never_opened(struct make *m, struct run_band *b)
{
    (void)m;
    b->t_open_ns = b->t_close_ns = b->t_drained_ns = TIME_NONE;
    b->issued = b->issued_warmup = COUNT_NONE;
    b->client.loop_cpu_ns = b->client.loop_lag_p99_ns = COUNT_NONE;
    b->status = STATUS_UNMEASURED;
    b->reason = "warmup_failed";
}

static void write_one(struct make *m)
{
    make_run(m);
    m->dir[0] = '\0'; /* stays */
    make_release(m);
}

static void all_kinds(void **state)
{
    (void)state;
    for (int kind = 0; kind < 8; kind++) {
        struct make m;
        make_init(&m);
        m.replicates = kind == 0 ? 2 : 1;
        m.lanes_n = kind == 1 ? 1 : 2;
        if (kind == 2) {
            m.method = COUNT_SERVER_USAGE;
            m.wrap[0] = COUNT_NONE;
            m.wrap[1] = 29;
        }
        m.interrupted = kind == 3;
        m.finish = kind != 4;
        m.change = kind == 5 ? half_fail : NULL;
        m.change_plan = kind == 6 ? bare : NULL;
        m.change_band = kind == 7 ? never_opened : NULL;
        write_one(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_kinds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
