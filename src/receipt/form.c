#include "receipt/form.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/status.h"
#include "record/run.h"

#define JSON_DEPTH 32

const char *form_method_name(int method)
{
    if (method == COUNT_CLIENT_TOKENIZER)
        return "client_tokenizer";
    return method == COUNT_SERVER_USAGE ? "server_usage" : NULL;
}

void form_note(struct form_nulls *nulls, const char *path, const char *why)
{
    if (!nulls)
        return;
    if (nulls->n == nulls->cap) {
        size_t cap = nulls->cap ? nulls->cap * 2 : 64;
        struct form_null *list =
            arena_grow(nulls->arena, nulls->list, nulls->cap * sizeof *list, cap * sizeof *list);
        if (!list)
            return; /* the arena keeps the failure, which the composer checks */
        nulls->list = list;
        nulls->cap = cap;
    }
    struct form_null *one = &nulls->list[nulls->n++];
    snprintf(one->path, sizeof one->path, "%s", path);
    one->why = why;
}

void form_nulls_write(const struct form_nulls *nulls, struct json_writer *w)
{
    json_begin_object(w);
    for (size_t i = 0; i < nulls->n; i++) {
        json_key(w, nulls->list[i].path);
        json_put_cstr(w, nulls->list[i].why);
    }
    json_end_object(w);
}

static int parse_text(const struct json **out, const char *text, struct arena *arena,
                      struct error *err)
{
    const struct json_limits limits = {FORM_JSON_MAX, FORM_JSON_MAX / 8, JSON_DEPTH};
    return json_parse(out, str_of(text), &limits, arena, err);
}

int form_json_check(const char *text, const char *what, struct error *err)
{
    const struct json *v;
    struct arena arena;
    if (!text)
        return 0;
    arena_init(&arena, 64 * FORM_JSON_MAX);
    int status = parse_text(&v, text, &arena, err);
    arena_release(&arena);
    return status < 0 ? error_wrap(err, "%s", what) : 0;
}

static void put_json(const char *text, struct json_writer *w)
{
    const struct json *v = NULL;
    struct error ignored = {0};
    struct arena arena;
    arena_init(&arena, 64 * FORM_JSON_MAX);
    if (parse_text(&v, text, &arena, &ignored) < 0)
        w->out->failed = BUF_NO_MEMORY; /* the text was checked: only memory is left */
    json_put_value(w, v);
    arena_release(&arena);
}

static bool is_null(const struct form_member *m, const void *p)
{
    switch (m->type) {
    case FORM_STR:
    case FORM_SOURCE:
    case FORM_JSON:
    case FORM_HEX_P:
        return *(const char *const *)p == NULL;
    case FORM_HEX:
        return ((const char *)p)[0] == '\0';
    case FORM_ZERO:
    case FORM_SPAN0:
        return *(const int64_t *)p == 0;
    case FORM_COUNT:
    case FORM_SIGNED:
    case FORM_SPAN:
        return *(const int64_t *)p == COUNT_NONE;
    case FORM_TIME:
    case FORM_INT:
        return *(const int64_t *)p == TIME_NONE;
    case FORM_LOAD:
        return *(const double *)p < 0;
    case FORM_METHOD:
        return *(const enum count_method *)p == COUNT_UNSET;
    case FORM_SHARES:
        return ((const struct mixture *)p)->n == 0;
    default:
        return false;
    }
}

static void put_member(const struct form_member *m, const void *p, struct json_writer *w)
{
    switch (m->type) {
    case FORM_STR:
    case FORM_SOURCE:
    case FORM_HEX_P:
        json_put_cstr(w, *(const char *const *)p);
        break;
    case FORM_JSON:
        put_json(*(const char *const *)p, w);
        break;
    case FORM_HEX:
    case FORM_NONCE:
        json_put_cstr(w, p);
        break;
    case FORM_BOOL:
        json_put_bool(w, *(const bool *)p);
        break;
    case FORM_I32:
        json_put_i64(w, *(const int32_t *)p);
        break;
    case FORM_I64:
    case FORM_ZERO:
    case FORM_COUNT:
    case FORM_SIGNED:
    case FORM_INT:
        json_put_i64(w, *(const int64_t *)p);
        break;
    case FORM_MS:
    case FORM_TIME:
    case FORM_SPAN:
    case FORM_SPAN0:
        json_put_ms(w, *(const int64_t *)p);
        break;
    case FORM_REAL:
    case FORM_LOAD:
        json_put_real9(w, *(const double *)p);
        break;
    case FORM_METHOD:
        json_put_cstr(w, form_method_name(*(const enum count_method *)p));
        break;
    case FORM_STATUS:
        json_put_cstr(w, status_name(*(const enum status *)p));
        break;
    case FORM_SHARES:
        mixture_write(p, w);
        break;
    }
}

void form_write(const struct form *f, const void *base, const char *path, struct form_nulls *nulls,
                struct json_writer *w)
{
    char whole[FORM_PATH_MAX];
    for (size_t i = 0; i < f->n; i++) {
        const struct form_member *m = &f->members[i];
        const void *p = (const char *)base + m->offset;
        json_key(w, m->name);
        if (!is_null(m, p)) {
            put_member(m, p, w);
            continue;
        }
        json_put_null(w);
        if (!m->why || !m->why[0])
            continue;
        snprintf(whole, sizeof whole, "%s%s%s", path, path[0] ? "." : "", m->name);
        form_note(nulls, whole, m->why);
    }
}

int form_refuse(struct error *err, const struct json *at, const char *path, const char *name,
                const char *why)
{
    error_set(err, ERROR_REFUSED, "%s%s%s %s", path, path[0] && name[0] ? "." : "", name, why);
    error_rule(err, "schema");
    return at ? error_at_line(err, at->line, at->column) : -1;
}

static int read_text(const char **out, const struct json *v, struct arena *arena)
{
    if (!json_is(v, JSON_STRING) || memchr(v->text.p, '\0', v->text.n))
        return -1;
    *out = arena_cstr(arena, v->text);
    return *out ? 0 : -1;
}

static int read_hex(char *out, size_t bytes, const struct json *v)
{
    uint8_t raw[SHA256_BYTES];
    if (!json_is(v, JSON_STRING) || hex_decode(raw, bytes, v->text) < 0)
        return -1;
    for (size_t i = 0; i < v->text.n; i++)
        if (v->text.p[i] >= 'A' && v->text.p[i] <= 'F')
            return -1;
    memcpy(out, v->text.p, v->text.n);
    out[v->text.n] = '\0';
    return 0;
}

static int read_json(const char **out, const struct json *v, struct arena *arena)
{
    struct buf text = BUF_INIT(FORM_JSON_MAX);
    struct json_writer w;
    struct error ignored;
    json_writer_init(&w, &text, 0);
    json_put_value(&w, v);
    int status = json_writer_check(&w, "", &ignored);
    if (status == 0 && (*out = arena_cstr(arena, buf_str(&text))) == NULL)
        status = -1;
    /* What is deeper here than the writer takes would not be written again. */
    if (status == 0)
        status = form_json_check(*out, "", &ignored);
    buf_release(&text);
    return status;
}

static int read_i64(int64_t *out, const struct json *v, int64_t least)
{
    int64_t n;
    if (json_i64(&n, v) < 0 || n < least || n > SAMPLE_TIME_MAX * 4)
        return -1;
    *out = n;
    return 0;
}

static int read_ms(int64_t *out, const struct json *v)
{
    int64_t ns;
    if (!json_is(v, JSON_NUMBER) || num_parse_ms(&ns, v->text) < 0 || ns > SAMPLE_TIME_MAX ||
        ns < -SAMPLE_TIME_MAX)
        return -1;
    *out = ns;
    return 0;
}

static int read_real(double *out, const struct json *v, double least)
{
    double d;
    if (json_double(&d, v) < 0 || !isfinite(d) || d < least)
        return -1;
    *out = d;
    return 0;
}

static int read_method(enum count_method *out, const struct json *v)
{
    for (int m = COUNT_CLIENT_TOKENIZER; m <= COUNT_SERVER_USAGE; m++)
        if (json_is(v, JSON_STRING) && str_eq(v->text, str_of(form_method_name(m)))) {
            *out = (enum count_method)m;
            return 0;
        }
    return -1;
}

/* Implementations whose ids a tokenizer's are (token/tokenizer.h). */
static bool is_reference(const struct json *v)
{
    static const char *const names[] = {"huggingface", "llama.cpp", "sentencepiece", "tiktoken"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (json_is(v, JSON_STRING) && str_eq(v->text, str_of(names[i])))
            return true;
    return false;
}

static int read_i32(int32_t *out, const struct json *v)
{
    int64_t n;
    if (json_i64(&n, v) < 0 || n < 0 || n > INT32_MAX)
        return -1;
    *out = (int32_t)n;
    return 0;
}

static int take_member(const struct form_member *m, void *p, const struct json *v,
                       struct arena *arena)
{
    char hex[SHA256_HEX];
    struct error ignored;
    switch (m->type) {
    case FORM_STR:
        return read_text(p, v, arena);
    case FORM_JSON:
        return read_json(p, v, arena);
    case FORM_HEX:
        return read_hex(p, SHA256_BYTES, v);
    case FORM_HEX_P:
        return read_hex(hex, SHA256_BYTES, v) < 0 ? -1 : read_text(p, v, arena);
    case FORM_NONCE:
        return read_hex(p, (RUN_NONCE_HEX - 1) / 2, v);
    case FORM_BOOL:
        return json_bool(p, v);
    case FORM_I32:
        return read_i32(p, v);
    case FORM_I64:
        return read_i64(p, v, INT64_MIN);
    case FORM_INT:
        return read_i64(p, v, INT64_MIN + 1);
    case FORM_SIGNED:
        return json_i64(p, v);
    case FORM_ZERO:
        return read_i64(p, v, 1);
    case FORM_COUNT:
        return read_i64(p, v, 0);
    case FORM_MS:
    case FORM_TIME:
        return read_ms(p, v);
    case FORM_SPAN:
        return read_ms(p, v) < 0 || *(int64_t *)p < 0 ? -1 : 0;
    case FORM_SPAN0:
        return read_ms(p, v) < 0 || *(int64_t *)p <= 0 ? -1 : 0;
    case FORM_REAL:
        return read_real(p, v, -1e300);
    case FORM_LOAD:
        return read_real(p, v, 0);
    case FORM_METHOD:
        return read_method(p, v);
    case FORM_SOURCE:
        return is_reference(v) ? read_text(p, v, arena) : -1;
    case FORM_STATUS:
        return json_is(v, JSON_STRING) ? status_parse(p, v->text) : -1;
    case FORM_SHARES:
        return mixture_read(p, v, &ignored);
    }
    return -1;
}

static void set_null(const struct form_member *m, void *p)
{
    switch (m->type) {
    case FORM_STR:
    case FORM_SOURCE:
    case FORM_JSON:
    case FORM_HEX_P:
        *(const char **)p = NULL;
        break;
    case FORM_HEX:
        *(char *)p = '\0';
        break;
    case FORM_ZERO:
    case FORM_SPAN0:
        *(int64_t *)p = 0;
        break;
    case FORM_COUNT:
    case FORM_SIGNED:
    case FORM_SPAN:
        *(int64_t *)p = COUNT_NONE;
        break;
    case FORM_TIME:
    case FORM_INT:
        *(int64_t *)p = TIME_NONE;
        break;
    case FORM_LOAD:
        *(double *)p = -1;
        break;
    case FORM_METHOD:
        *(enum count_method *)p = COUNT_UNSET;
        break;
    case FORM_SHARES:
        ((struct mixture *)p)->n = 0;
        break;
    default:
        break;
    }
}

int form_read(const struct form *f, void *base, const struct json *object, const char *path,
              struct arena *arena, struct error *err)
{
    if (!json_is(object, JSON_OBJECT))
        return form_refuse(err, object, path, "", object ? "is no object" : "is missing");
    for (size_t i = 0; i < f->n; i++) {
        const struct form_member *m = &f->members[i];
        const struct json *v = json_get(object, m->name);
        void *p = (char *)base + m->offset;
        if (!v)
            return form_refuse(err, object, path, m->name, "is missing");
        if (v->type == JSON_NULL && m->why)
            set_null(m, p);
        else if (take_member(m, p, v, arena) < 0)
            return arena->failed
                       ? arena_check(arena, "the receipt", err)
                       : form_refuse(err, v, path, m->name, "is not of its type or range");
    }
    return 0;
}
