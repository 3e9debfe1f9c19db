#include "report/plot.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9 * (1 + fabs(b));
}

static void ticks_are_round(void **state)
{
    (void)state;
    static const struct {
        double lo, hi, step;
    } cases[] = {{0, 1, 0.2}, {0, 10, 2}, {0, 100, 20}, {0, 7, 2}, {0, 0.03, 0.01}, {990, 1010, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct plot_range r = {cases[i].lo, cases[i].hi};
        assert_true(near(plot_step(r, PLOT_TICKS), cases[i].step));
    }
    assert_true(plot_step((struct plot_range){1, 1}, 5) == 1);
}

static void ranges_hold_every_value(void **state)
{
    (void)state;
    static const double v[] = {3.2, INFINITY, 17.9};
    struct plot_range r = plot_fit(v, 3, true);
    assert_true(r.lo == 0 && near(r.hi, 20));
    r = plot_fit(v, 3, false);
    assert_true(r.lo <= 3.2 && r.hi >= 17.9);
    r = plot_fit(NULL, 0, true);
    assert_true(r.lo == 0 && r.hi == 1);
    static const double one[] = {5};
    r = plot_fit(one, 1, false);
    assert_true(r.lo < 5 && r.hi > 5);
}

static void data_lands_where_the_axes_say(void **state)
{
    (void)state;
    struct plot p = {.x = {1, 16}, .y = {0, 100}, .x_log2 = true};
    assert_true(near(plot_x(&p, 1), PLOT_LEFT));
    assert_true(near(plot_x(&p, 16), PLOT_WIDTH - PLOT_RIGHT));
    /* 4 is half way between 1 and 16 on a logarithmic axis. */
    assert_true(near(plot_x(&p, 4), (PLOT_LEFT + PLOT_WIDTH - PLOT_RIGHT) / 2.0));
    assert_true(near(plot_y(&p, 0), PLOT_HEIGHT - PLOT_BOTTOM));
    assert_true(near(plot_y(&p, 100), PLOT_TOP));
    assert_true(near(plot_y(&p, 1e9), PLOT_TOP));
    assert_true(near(plot_y(&p, NAN), PLOT_HEIGHT - PLOT_BOTTOM));
}

static void text_cannot_leave_its_place(void **state)
{
    (void)state;
    struct buf out = BUF_INIT(BUF_ANY);
    html_text(&out, str_make("<a href='x'>\"&\"\0\x1b</a>", 21));
    assert_string_equal(out.p, "&lt;a href=&#39;x&#39;&gt;&quot;&amp;&quot;\xEF\xBF\xBD\xEF\xBF\xBD"
                               "&lt;/a&gt;");
    buf_release(&out);
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
        n++;
    return n;
}

static void a_step_function_of_many_points_stays_small(void **state)
{
    (void)state;
    enum { N = 10000 };
    static double x[N], y[N];
    struct plot p = {.title = "t", .x_label = "x", .y_label = "y", .x = {0, N}, .y = {0, 1}};
    struct buf out = BUF_INIT(BUF_ANY);
    for (int i = 0; i < N; i++) {
        x[i] = i;
        y[i] = (i + 1.0) / N;
    }
    plot_begin(&p, &out);
    plot_steps(&p, &out, "subject", x, y, N);
    plot_end(&out);
    /* No more steps than tenths of a unit across the picture, and the last one reaches 1. */
    assert_true(count(out.p, "V") < (PLOT_WIDTH - PLOT_LEFT) * 10 + 50);
    assert_true(out.n < 200000);
    assert_non_null(strstr(out.p, "V14.0H466"));
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_are_round),
        cmocka_unit_test(ranges_hold_every_value),
        cmocka_unit_test(data_lands_where_the_axes_say),
        cmocka_unit_test(text_cannot_leave_its_place),
        cmocka_unit_test(a_step_function_of_many_points_stays_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
