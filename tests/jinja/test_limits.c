/* What a hostile template may not spend: each limit as far as it goes, and one past it. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include "jinja/jinja.h"

struct outcome {
    int rc;
    struct error err;
    struct buf out;
};

static struct outcome render_with(struct str source, const struct jinja_render *options)
{
    struct outcome o = {.out = BUF_INIT(64u << 20)};
    struct jinja_template *t = NULL;
    struct jinja_value context;
    struct arena a;
    arena_init(&a, 1 << 20);
    assert_int_equal(jinja_dict_new(&context, &a, 0, &o.err), 0);
    o.rc = jinja_parse(&t, source, &JINJA_SYNTAX_TRANSFORMERS, &o.err);
    if (o.rc == 0)
        o.rc = jinja_render(t, context, options, &o.out, &o.err);
    jinja_template_free(t);
    arena_release(&a);
    return o;
}

static void check(struct str source, const char *limit)
{
    const struct jinja_render options = {.time_max_ns = INT64_C(60000000000)};
    struct outcome o = render_with(source, &options);
    if (!limit && o.rc < 0)
        fail_msg("%.60s...: %s", source.p, o.err.message);
    if (limit && (o.rc == 0 || o.err.kind != ERROR_LIMIT || !strstr(o.err.message, limit)))
        fail_msg("%.60s...: wanted \"%s\", saw %d %s", source.p, limit, o.rc, o.err.message);
    if (limit)
        assert_int_equal(o.out.n, 0); /* a render that fails leaves nothing behind */
    buf_release(&o.out);
}

static void fits(const char *source)
{
    check(str_of(source), NULL);
}

static void exceeds(const char *source, const char *limit)
{
    check(str_of(source), limit);
}

/* before × n, middle, after × n */
static void nested(const char *before, const char *middle, const char *after, int n,
                   const char *limit)
{
    struct buf b = BUF_INIT(4u << 20);
    for (int i = 0; i < n; i++)
        buf_adds(&b, before);
    buf_adds(&b, middle);
    for (int i = 0; i < n; i++)
        buf_adds(&b, after);
    check(buf_str(&b), limit);
    buf_release(&b);
}

static void wrapped(const char *open, const char *before, const char *middle, const char *after,
                    const char *close, int n, const char *limit)
{
    struct buf b = BUF_INIT(4u << 20);
    buf_adds(&b, open);
    for (int i = 0; i < n; i++)
        buf_adds(&b, before);
    buf_adds(&b, middle);
    for (int i = 0; i < n; i++)
        buf_adds(&b, after);
    buf_adds(&b, close);
    check(buf_str(&b), limit);
    buf_release(&b);
}

static void source_length(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(4u << 20);
    buf_pad(&b, 'x', JINJA_SOURCE_MAX);
    check(buf_str(&b), NULL);
    buf_addc(&b, 'x');
    check(buf_str(&b), "longer than 1048576 bytes");
    buf_release(&b);
}

static void nesting(void **state)
{
    (void)state;
    const int max = JINJA_DEPTH_MAX;
    wrapped("{{ ", "(", "1", ")", " }}", max, NULL);
    wrapped("{{ ", "(", "1", ")", " }}", max + 1, "nested deeper than 200");
    wrapped("{{ ", "[", "1", "]", " }}", max, NULL);
    wrapped("{{ ", "[", "1", "]", " }}", max + 1, "nested deeper than 200");
    wrapped("{{ ", "not ", "1", "", " }}", max, NULL);
    wrapped("{{ ", "not ", "1", "", " }}", max + 1, "nested deeper than 200");
    wrapped("{{ ", "- ", "1", "", " }}", max, NULL);
    wrapped("{{ ", "- ", "1", "", " }}", max + 1, "nested deeper than 200");
    wrapped("{{ 'x'", "|e", "", "", " }}", max, NULL);
    wrapped("{{ 'x'", "|e", "", "", " }}", max + 1, "nested deeper than 200");
    wrapped("{{ 1", " + 1", "", "", " }}", max, NULL);
    wrapped("{{ 1", " + 1", "", "", " }}", max + 1, "nested deeper than 200");
    wrapped("{% if false %}{{ x", ".x", "", "", " }}{% endif %}", max, NULL);
    wrapped("{% if false %}{{ x", ".x", "", "", " }}{% endif %}", max + 1,
            "nested deeper than 200");
    nested("{% if true %}", "x", "{% endif %}", max, NULL);
    nested("{% if true %}", "x", "{% endif %}", max + 1, "nested deeper than 200");
    nested("{% for i in [1] %}", "x", "{% endfor %}", max, NULL);
    nested("{% for i in [1] %}", "x", "{% endfor %}", max + 1, "nested deeper than 200");
    /* a long chain of elif, or of ~, is no nesting */
    wrapped("{% if false %}", "{% elif false %}", "", "", "{% endif %}", 3000, NULL);
    wrapped("{{ 1", "~ 1", "", "", " }}", 3000, NULL);
    wrapped("{{ [1", ",1", "", "", "] }}", 4095, NULL);
    wrapped("{{ [1", ",1", "", "", "] }}", 4096, "more than 4096 items");
    wrapped("{{ 1", " == 1", "", "", " }}", 32, NULL);
    wrapped("{{ 1", " == 1", "", "", " }}", 33, "more than 32 comparisons");
}

/* Values that are built deeper than any source is. */
static void deep_values(void **state)
{
    (void)state;
    char text[256];
    static const char build[] = "{%% set ns = namespace(x=[]) %%}{%% for i in range(%d) %%}"
                                "{%% set ns.x = [ns.x] %%}{%% endfor %%}{{ %s }}";
    snprintf(text, sizeof text, build, JINJA_DEPTH_MAX - 1, "ns.x|tojson");
    fits(text);
    snprintf(text, sizeof text, build, JINJA_DEPTH_MAX, "ns.x|tojson");
    exceeds(text, "JSON nested deeper than 200");
    snprintf(text, sizeof text, build, 900, "ns.x|string|length");
    fits(text);
    snprintf(text, sizeof text, build, 1000, "ns.x|string|length");
    exceeds(text, "nested deeper than 1000");
    snprintf(text, sizeof text, build, 5000, "ns.x == [ns.x]");
    exceeds(text, "nested deeper than 1000");
    exceeds("{% set ns = namespace(x=['a']) %}{% for i in range(2000) %}"
            "{% set ns.x = ns.x|map('string') %}{% endfor %}{{ ns.x|list }}",
            "nested deeper than 1000");
}

static void macros(void **state)
{
    (void)state;
    char text[256];
    static const char recursive[] = "{%% macro f(n) %%}{%% if n > 1 %%}{{ f(n-1) }}{%% endif %%}"
                                    "{%% endmacro %%}{{ f(%d) }}";
    snprintf(text, sizeof text, recursive, JINJA_MACRO_DEPTH_MAX);
    fits(text);
    snprintf(text, sizeof text, recursive, JINJA_MACRO_DEPTH_MAX + 1);
    exceeds(text, "macros nested deeper than 64");
    exceeds("{% for i in [1] recursive %}{{ loop([i]) }}{% endfor %}", "nested deeper than 64");
    /* few macros, each deep in itself */
    wrapped("{% macro f() %}{{ ", "(not ", "f()", ")", " }}{% endmacro %}{{ f() }}", 90,
            "nested deeper than 1000");
}

static void ranges_and_widths(void **state)
{
    (void)state;
    fits("{{ range(100000)|length }}");
    exceeds("{{ range(100001)|length }}", "range of more than 100000");
    exceeds("{{ range(-9223372036854775807, 9223372036854775807) }}", "range of more than 100000");
    fits("{{ {'a': 1}|tojson(indent=1000) }}");
    exceeds("{{ {'a': 1}|tojson(indent=1001) }}", "above 1000");
    exceeds("{{ {'a': 1}|tojson(indent=1000000000) }}", "above 1000");
    fits("{{ 'a\nb'|indent(1000) }}");
    exceeds("{{ 'a\nb'|indent(1001) }}", "above 1000");
    fits(
        "{{ 'a'.center(1000) }}{{ '%1000s' % 'a' }}{{ '{:1000}'.format(1) }}{{ '1'.zfill(1000) }}");
    exceeds("{{ 'a'.center(1001) }}", "above 1000");
    exceeds("{{ '%1001s' % 'a' }}", "above 1000");
    exceeds("{{ '%.1001f' % 1 }}", "above 1000");
    exceeds("{{ '%*d' % (-9223372036854775807, 1) }}", "above 1000");
    exceeds("{{ '{:1001}'.format(1) }}", "above 1000");
    exceeds("{{ '1'.zfill(1001) }}", "above 1000");
    exceeds("{{ '\t'.expandtabs(1001) }}", "above 1000");
}

static void strings_and_numbers(void **state)
{
    (void)state;
    fits("{{ ('x' * 16777216)|length }}");
    exceeds("{{ ('x' * 16777217)|length }}", "string of more than 16777216 bytes");
    exceeds("{{ 'x' * 2000000000 }}", "string of more than 16777216 bytes");
    exceeds("{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}"
            "{% endfor %}",
            "string of more than 16777216 bytes");
    fits("{{ ([0] * 4194304)|length }}");
    exceeds("{{ ([0] * 4194305)|length }}", "more than 4194304 items");
    exceeds("{{ [0] * 2000000000 }}", "more than 4194304 items");
    fits("{{ (10 ** 4299)|string|length }}");
    exceeds("{{ 10 ** 4300 }}", "more than 4300 digits");
    exceeds("{{ 9 ** (9 ** 9) }}", "more than 4300 digits");
    exceeds("{{ ('9' * 4301)|int }}", "more than 4300 digits");
}

static void output(void **state)
{
    (void)state;
    fits("{{ 'x' * 8388608 }}");
    exceeds("{{ 'x' * 8388609 }}", "output is longer than 8388608 bytes");
    exceeds("{% set a %}{{ 'x' * 8388600 }}{% endset %}{{ a }}123456789",
            "output is longer than 8388608 bytes");
}

static void steps(void **state)
{
    (void)state;
    exceeds("{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
            "more than 5000000 steps");
    exceeds("{% set s = 'a' * 16000000 %}{% for i in range(100000) %}{% if s == s %}{% endif %}"
            "{% endfor %}",
            "more than 5000000 steps");
    exceeds("{% set s = 'a' * 16000000 %}{{ s.find('a' * 8000000 ~ 'b') }}",
            "more than 5000000 steps");
    exceeds("{% set s = 'a' * 8000000 %}{{ s.rfind('b' ~ 'a' * 4000000) }}{{ s.rfind('b' ~ s) }}"
            "{{ ('b' ~ s).rsplit('ab' ~ s) }}{% for i in range(100) %}{{ s.rfind('b') }}"
            "{% endfor %}",
            "more than 5000000 steps");
    exceeds("{% set l = range(100000)|list %}{% for i in l %}{% if l == [1] + l %}{% endif %}"
            "{% endfor %}",
            "more than 5000000 steps");
    /* the same render passes with as many steps as it takes, and fails with one less */
    uint64_t lo = 1, hi = 10000;
    while (lo < hi) {
        uint64_t mid = (lo + hi) / 2;
        struct outcome o = render_with(STR("{% for i in range(50) %}{{ i }}{% endfor %}"),
                                       &(struct jinja_render){.steps_max = mid});
        if (o.rc == 0)
            hi = mid;
        else
            lo = mid + 1;
        buf_release(&o.out);
    }
    assert_true(lo > 100 && lo < 10000);
}

/* Strings of 16 MiB: fifteen lie within the 256 MiB, the sixteenth leaves no room for the rest. */
static void whole_memory(void)
{
    const struct jinja_render many_steps = {.steps_max = UINT64_C(1000000000),
                                            .time_max_ns = INT64_C(60000000000)};
    for (int n = 15; n <= 16; n++) {
        char source[128];
        snprintf(source, sizeof source,
                 "{%% for i in range(%d) %%}{%% set s = 'x' * 16777216 %%}{%% endfor %%}", n);
        struct outcome o = render_with(str_of(source), &many_steps);
        assert_int_equal(o.rc, n == 15 ? 0 : -1);
        if (n == 16) {
            assert_int_equal(o.err.kind, ERROR_LIMIT);
            assert_non_null(strstr(o.err.message, "256 MiB of memory"));
        }
        buf_release(&o.out);
    }
}

/* Tuples in tuples as keys, up to 32. */
static void keys(void **state)
{
    (void)state;
    static const char build[] = "{%% set ns = namespace(x=(1,)) %%}{%% for i in range(%d) %%}"
                                "{%% set ns.x = (ns.x,) %%}{%% endfor %%}{{ {ns.x: 1}|length }}";
    char text[256];
    snprintf(text, sizeof text, build, 31);
    fits(text);
    snprintf(text, sizeof text, build, 32);
    struct outcome o = render_with(str_of(text), &(struct jinja_render){0});
    assert_int_equal(o.rc, -1);
    assert_non_null(strstr(o.err.message, "unhashable"));
    buf_release(&o.out);
}

static void memory_and_time(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 64 * 1024);
    const char *source = "{% set ns = namespace(l=[]) %}{% for i in range(500) %}"
                         "{% set ns.l = ns.l + [i] %}{% endfor %}";
    struct outcome o = render_with(str_of(source), &(struct jinja_render){.scratch = &a});
    assert_int_equal(o.rc, -1);
    assert_int_equal(o.err.kind, ERROR_LIMIT);
    assert_non_null(strstr(o.err.message, "MiB of memory"));
    buf_release(&o.out);
    a.max = 8 << 20;
    o = render_with(str_of(source), &(struct jinja_render){.scratch = &a});
    assert_int_equal(o.rc, 0);
    buf_release(&o.out);
    arena_release(&a);
    exceeds("{% set ns = namespace(l=[]) %}{% for i in range(100000) %}"
            "{% set ns.l = ('x' * 100000)|list %}{% endfor %}",
            "more than 5000000 steps");
    whole_memory();
    o = render_with(STR("{% for a in range(100000) %}{% endfor %}"),
                    &(struct jinja_render){.time_max_ns = 1});
    assert_int_equal(o.rc, -1);
    assert_non_null(strstr(o.err.message, "longer than its time limit"));
    buf_release(&o.out);
}

static void variables(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(1u << 20);
    for (int i = 0; i < 4096; i++)
        buf_addf(&b, "{%% set v%d = 1 %%}", i);
    check(buf_str(&b), NULL);
    buf_adds(&b, "{% set last = 1 %}");
    check(buf_str(&b), "more than 4096 variables");
    buf_release(&b);
}

/* Nothing a template can reach changes what it was given, or leaves the sandbox. */
static void sandbox(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "{{ [].append(1) }}",         "{{ {}.update({}) }}",
        "{{ {}.pop('a') }}",          "{{ [].sort() }}",
        "{{ [].clear() }}",           "{{ ''.__class__.__mro__ }}",
        "{{ range.__globals__.x }}",  "{{ self.x.y }}",
        "{{ ''.format.__self__.x }}", "{{ '{0.__class__}'.format(1) }}",
        "{{ [].insert(0, 1) }}",      "{{ {}.setdefault(1, 2) }}",
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct outcome o = render_with(str_of(refused[i]), &(struct jinja_render){0});
        if (o.rc == 0)
            fail_msg("%s rendered \"%s\"", refused[i], o.out.p);
        assert_int_equal(o.err.kind, ERROR_INPUT);
        assert_int_equal(o.err.line, 1);
        buf_release(&o.out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(source_length),
        cmocka_unit_test(nesting),
        cmocka_unit_test(deep_values),
        cmocka_unit_test(macros),
        cmocka_unit_test(ranges_and_widths),
        cmocka_unit_test(strings_and_numbers),
        cmocka_unit_test(output),
        cmocka_unit_test(steps),
        cmocka_unit_test(memory_and_time),
        cmocka_unit_test(variables),
        cmocka_unit_test(keys),
        cmocka_unit_test(sandbox),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
