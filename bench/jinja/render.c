/*
 * What rendering a ten-message conversation costs: templates of our own (ChatML, one with macros
 * and tools, one that walks back over its messages) and, with paths as arguments, any others.
 * "--source NAME" prints one of our own, for beside.py to time Jinja2 on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "jinja/jinja.h"

#define ROUNDS 7
#define RENDERS 2000
#define MESSAGES 10

static const struct {
    const char *name, *source;
} own[] = {
    {"chatml", "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + "
               "'<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}"
               "{{ '<|im_start|>assistant\n' }}{% endif %}"},
    {"macros", "{% macro turn(role, text) %}<{{ role }}>{{ text|trim }}</{{ role }}>\n"
               "{% endmacro %}{% for m in messages %}{{ turn(m['role'], m['content']) }}"
               "{% endfor %}"},
    {"backwards", "{% set ns = namespace(last=0) %}{% for m in messages[::-1] %}"
                  "{% if m.role == 'user' and not ns.last %}"
                  "{% set ns.last = messages|length - 1 - loop.index0 %}{% endif %}{% endfor %}"
                  "{% for m in messages %}[{{ m.role|upper }}]{% if loop.index0 == ns.last %}*"
                  "{% endif %}{{ m.content.split('lazy')[0].strip() ~ '\n' }}"
                  "{{ m|tojson }}{% endfor %}"},
};

static struct jinja_value context(struct arena *a)
{
    struct error err = {0};
    struct jinja_value ctx, list, m;
    const struct str text = STR("The quick brown fox jumps over the lazy dog, and then it does so "
                                "once more for good measure.");
    bool ok =
        jinja_dict_new(&ctx, a, 4, &err) == 0 && jinja_list_new(&list, a, MESSAGES, &err) == 0;
    for (int i = 0; ok && i < MESSAGES; i++)
        ok = jinja_dict_new(&m, a, 2, &err) == 0 &&
             jinja_dict_put(&m, STR("role"),
                            jinja_string(i == 0  ? STR("system")
                                         : i % 2 ? STR("user")
                                                 : STR("assistant")),
                            a, &err) == 0 &&
             jinja_dict_put(&m, STR("content"), jinja_string(text), a, &err) == 0 &&
             jinja_list_add(&list, m, a, &err) == 0;
    ok = ok && jinja_dict_put(&ctx, STR("messages"), list, a, &err) == 0 &&
         jinja_dict_put(&ctx, STR("add_generation_prompt"), jinja_bool(true), a, &err) == 0 &&
         jinja_dict_put(&ctx, STR("tools"), jinja_none(), a, &err) == 0 &&
         jinja_dict_put(&ctx, STR("bos_token"), jinja_string(STR("<s>")), a, &err) == 0;
    if (!ok)
        abort();
    return ctx;
}

/* The best of several rounds, so that what else runs on the machine counts least. */
static int measure(const char *name, struct str source, struct jinja_value ctx)
{
    struct error err = {0};
    struct jinja_template *t;
    struct buf out = BUF_INIT(JINJA_OUTPUT_MAX);
    struct arena scratch;
    const struct jinja_time now = {2026, 12, 1, 9, 30, 0};
    int64_t best = INT64_MAX, parse = clock_mono_ns();
    arena_init(&scratch, JINJA_ARENA_MAX);
    if (jinja_parse(&t, source, &JINJA_SYNTAX_TRANSFORMERS, &err) < 0) {
        fprintf(stderr, "%s: %s\n", name, err.message);
        return 1;
    }
    parse = clock_mono_ns() - parse;
    const struct jinja_render how = {.now = &now, .scratch = &scratch};
    for (int round = 0; round < ROUNDS; round++) {
        int64_t from = clock_mono_ns();
        for (int i = 0; i < RENDERS; i++) {
            buf_reset(&out);
            if (jinja_render(t, ctx, &how, &out, &err) < 0) {
                fprintf(stderr, "%s: %s\n", name, err.message);
                return 1;
            }
        }
        int64_t took = (clock_mono_ns() - from) / RENDERS;
        best = took < best ? took : best;
    }
    printf("%s\t%.2f\t%.1f\t%zu\n", name, (double)best / 1e3, (double)parse / 1e3, out.n);
    arena_release(&scratch);
    buf_release(&out);
    jinja_template_free(t);
    return 0;
}

int main(int argc, char **argv)
{
    struct arena a;
    arena_init(&a, 1 << 20);
    struct jinja_value ctx = context(&a);
    int rc = 0;
    if (argc == 3 && strcmp(argv[1], "--source") == 0) {
        for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
            if (strcmp(argv[2], own[i].name) == 0)
                fputs(own[i].source, stdout);
        arena_release(&a);
        return 0;
    }
    printf("template\trender_us\tparse_us\tbytes\n");
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        rc |= measure(own[i].name, str_of(own[i].source), ctx);
    for (int i = 1; i < argc; i++) {
        struct buf text = BUF_INIT(0);
        struct error err = {0};
        const char *slash = strrchr(argv[i], '/');
        if (file_read(&text, argv[i], JINJA_SOURCE_MAX, &err) < 0) {
            fprintf(stderr, "%s: %s\n", argv[i], err.message);
            rc = 1;
        } else {
            rc |= measure(slash ? slash + 1 : argv[i], buf_str(&text), ctx);
        }
        buf_release(&text);
    }
    arena_release(&a);
    return rc;
}
