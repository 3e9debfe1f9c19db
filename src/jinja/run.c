#define TALLY_JINJA_RUN_C
#include "jinja/run.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"

#define BLAME_MAX 100 /* bytes of an expression quoted in a message */
#define CHECK_STEPS 4096

static int fail(struct run *r, enum error_kind kind, const char *fmt, va_list ap)
{
    char text[ERROR_MESSAGE_MAX - BLAME_MAX - 8];
    int64_t line, column;
    vsnprintf(text, sizeof text, fmt, ap);
    if (!r->at)
        return error_set(r->err, kind, "%s", text);
    struct str code = str_skip(r->t->source, r->at->from);
    code = str_first(code, r->at->to - r->at->from);
    bool cut = code.n > BLAME_MAX;
    code.n = cut ? BLAME_MAX : code.n;
    code.n = utf8_valid_prefix(code);
    error_set(r->err, kind, "%s, in '%.*s%s'", text, STR_ARG(code), cut ? "..." : "");
    for (char *p = r->err->message; *p; p++)
        if (*p == '\n')
            *p = ' ';
    template_place(r->t, r->at->from, &line, &column);
    return error_at_line(r->err, line, column);
}

int run_fail(struct run *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fail(r, ERROR_INPUT, fmt, ap);
    va_end(ap);
    return -1;
}

int run_limit(struct run *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fail(r, ERROR_LIMIT, fmt, ap);
    va_end(ap);
    return -1;
}

static const char *object_name(uint32_t type)
{
    return type == JINJA_NONE ? "None" : jinja_type_name(type);
}

int run_undefined(struct run *r, struct jinja_value v)
{
    const struct expr *e = v.u.any;
    if (v.flags) /* a hint */
        return run_fail(r, "%.*s", (int)v.n, v.u.p);
    const char *object = v.n == JINJA_NONE ? "" : " object";
    if (e->kind == E_GETATTR)
        return run_fail(r, "'%s%s' has no attribute '%.*s'", object_name(v.n), object,
                        STR_ARG(e->u.two.symbol->text));
    if (e->kind == E_COND)
        return run_fail(r, "the inline if-expression evaluated to false and has no else");
    return run_fail(r, "'%.*s' is undefined", STR_ARG(e->u.name.symbol->text));
}

int run_hint(struct run *r, struct jinja_value *out, const char *fmt, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    struct str s = str_of(text);
    s.n = utf8_valid_prefix(s);
    s = arena_str(r->arena, s);
    if (!s.p)
        return run_memory(r);
    *out =
        (struct jinja_value){.type = JINJA_UNDEFINED, .flags = 1, .n = (uint32_t)s.n, .u.p = s.p};
    return 0;
}

int run_memory(struct run *r)
{
    return run_limit(r, "template needs more than %zu MiB of memory", r->arena->max >> 20);
}

int run_budget(struct run *r)
{
    if (r->steps > r->steps_max)
        return run_limit(r, "template takes more than %llu steps",
                         (unsigned long long)r->steps_max);
    if (clock_mono_ns() > r->deadline_ns)
        return run_limit(r, "template takes longer than its time limit");
    r->check_at = r->steps + CHECK_STEPS;
    if (r->check_at > r->steps_max)
        r->check_at = r->steps_max;
    return 0;
}

int run_deeper(struct run *r)
{
    if (r->depth >= JINJA_EVAL_DEPTH_MAX)
        return run_limit(r, "evaluation nested deeper than %d", JINJA_EVAL_DEPTH_MAX);
    r->depth++;
    return 0;
}

int run_emit(struct run *r, struct str s)
{
    if (s.n > JINJA_OUTPUT_MAX || r->out->n - r->out_start > JINJA_OUTPUT_MAX - s.n)
        return run_limit(r, "output is longer than %zu bytes", JINJA_OUTPUT_MAX);
    buf_add(r->out, s.p, s.n);
    if (r->out->failed)
        return buf_check(r->out, "rendered template", r->err);
    return run_charge(r, s.n);
}

int run_capture(struct run *r, size_t mark, struct jinja_value *out)
{
    struct str s = {r->out->p ? r->out->p + mark : "", r->out->n - mark};
    s = arena_str(r->arena, s);
    if (!s.p)
        return run_memory(r);
    buf_truncate(r->out, mark);
    *out = jinja_string(s);
    return 0;
}

char *sb_reserve(struct sb *b, size_t n)
{
    if (b->failed)
        return NULL;
    if (n > JINJA_STRING_MAX || b->n > JINJA_STRING_MAX - n) {
        b->failed = true;
        run_limit(b->r, "string of more than %zu bytes", JINJA_STRING_MAX);
        return NULL;
    }
    if (b->n + n > b->cap || !b->p) {
        size_t cap = b->cap ? b->cap * 2 : 32;
        while (cap < b->n + n)
            cap *= 2;
        char *p = arena_grow(b->r->arena, b->p, b->cap, cap);
        if (!p) {
            b->failed = true;
            run_memory(b->r);
            return NULL;
        }
        b->p = p;
        b->cap = cap;
    }
    return b->p + b->n;
}

void sb_add(struct sb *b, struct str s)
{
    char *to = sb_reserve(b, s.n);
    if (!to)
        return;
    if (s.n)
        memcpy(to, s.p, s.n);
    b->n += s.n;
}

void sb_addc(struct sb *b, char c)
{
    sb_add(b, (struct str){&c, 1});
}

void sb_add_cp(struct sb *b, uint32_t cp)
{
    char c[4];
    size_t n = utf8_encode(c, cp);
    sb_add(b, n ? (struct str){c, n} : STR("\xEF\xBF\xBD"));
}

void sb_pad(struct sb *b, char c, size_t n)
{
    char *to = sb_reserve(b, n);
    if (!to)
        return;
    memset(to, c, n);
    b->n += n;
}

int sb_end(struct sb *b, struct jinja_value *out)
{
    if (b->failed)
        return -1;
    *out = jinja_string((struct str){b->p, b->n});
    return run_charge(b->r, b->n);
}

int list_start(struct run *r, struct jinja_value *out, enum jinja_type type, size_t room)
{
    struct jinja_list *l = run_alloc(r, sizeof *l);
    if (!l)
        return -1;
    if (room) {
        if (room > JINJA_ITEMS_MAX)
            return run_limit(r, "more than %zu items in a list", JINJA_ITEMS_MAX);
        l->items = arena_array(r->arena, room, sizeof *l->items);
        if (!l->items)
            return run_memory(r);
        l->cap = (uint32_t)room;
    }
    *out = (struct jinja_value){.type = (uint8_t)type, .u.list = l};
    return run_charge(r, room * sizeof *l->items);
}

int list_append(struct run *r, struct jinja_value list, struct jinja_value item)
{
    if (list_put(list.u.list, item, r->arena) == 0)
        return run_charge(r, sizeof item);
    if (r->arena->failed)
        return run_memory(r);
    return run_limit(r, "more than %zu items in a list", JINJA_ITEMS_MAX);
}

int dict_start(struct run *r, struct jinja_value *out, size_t room)
{
    struct error err = {0};
    if (jinja_dict_new(out, r->arena, room, &err) == 0)
        return run_charge(r, room * sizeof(struct jinja_entry));
    return r->arena->failed ? run_memory(r) : run_limit(r, "%s", err.message);
}

int dict_set(struct run *r, struct jinja_value dict, struct jinja_value key,
             struct jinja_value value)
{
    uint64_t hash;
    if (value_hash(key, &hash) < 0)
        return run_fail(r, "unhashable type: '%s'", jinja_type_name(key.type));
    if (dict_put(dict.u.dict, key, hash, value, r->arena) == 0)
        return run_charge(r, sizeof(struct jinja_entry));
    if (r->arena->failed)
        return run_memory(r);
    return run_limit(r, "more than %zu items in a dict", JINJA_ITEMS_MAX);
}
