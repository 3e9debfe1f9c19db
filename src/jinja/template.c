#include "jinja/jinja.h"

#include <stdlib.h>

#include "base/clock.h"
#include "jinja/eval.h"
#include "jinja/lexer.h"
#include "jinja/parser.h"
#include "jinja/scope.h"

#define TEMPLATE_ARENA_MAX ((size_t)256 << 20)

int jinja_parse(struct jinja_template **out, struct str source, const struct jinja_syntax *syntax,
                struct error *err)
{
    struct jinja_template *t = calloc(1, sizeof *t);
    if (!t)
        return error_no_memory(err);
    arena_init(&t->arena, TEMPLATE_ARENA_MAX);
    if (lexer_normalize(&t->source, source, syntax, &t->arena, err) < 0 ||
        parser_run(t, syntax, err) < 0 || scope_resolve(t, err) < 0) {
        if (err->kind == ERROR_NONE)
            arena_check(&t->arena, "template", err);
        jinja_template_free(t);
        return -1;
    }
    *out = t;
    return 0;
}

void jinja_template_free(struct jinja_template *t)
{
    if (!t)
        return;
    arena_release(&t->arena);
    free(t);
}

void jinja_spans_release(struct jinja_spans *s)
{
    if (!s)
        return;
    free(s->items);
    *s = (struct jinja_spans){0};
}

int jinja_render(const struct jinja_template *t, struct jinja_value context,
                 const struct jinja_render *options, struct buf *out, struct error *err)
{
    struct arena own;
    struct frame frame = {0};
    arena_init(&own, JINJA_ARENA_MAX);
    struct run r = {
        .t = t,
        .context = context,
        .options = options,
        .arena = options->scratch ? options->scratch : &own,
        .frame = &frame,
        .out = out,
        .out_start = out->n,
        .err = err,
        .steps_max = options->steps_max ? options->steps_max : JINJA_STEPS_MAX,
    };
    r.deadline_ns =
        clock_mono_ns() + (options->time_max_ns ? options->time_max_ns : JINJA_TIME_MAX_NS);
    if (options->scratch)
        arena_reset(options->scratch);
    if (options->spans)
        options->spans->n = 0;
    frame.n_slots = t->n_slots;
    frame.slots = arena_array(r.arena, (size_t)t->n_slots + 1, sizeof *frame.slots);
    int rc = frame.slots ? enter_scope(&r, &t->scope) : run_memory(&r);
    if (rc == 0)
        rc = exec(&r, t->body);
    if (rc < 0)
        buf_truncate(out, r.out_start);
    arena_release(&own);
    return rc < 0 ? -1 : 0;
}

bool jinja_reads(const struct jinja_template *t, struct str name)
{
    if (!t->symbols_cap)
        return false;
    uint64_t hash = value_hash_str(name);
    for (const struct symbol *s = t->symbols[hash & (t->symbols_cap - 1)]; s; s = s->next)
        if (s->hash == hash && str_eq(s->text, name))
            return true;
    return false;
}
