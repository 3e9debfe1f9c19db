#include "gate/fields.h"

#include <string.h>

#include "base/clock.h"
#include "base/num.h"
#include "gate/matrix.h"
#include "record/run.h"

static int at(const struct json *v, struct error *err)
{
    return error_at_line(err, v->line, v->column);
}

static int unknown_key(const struct json_member *m, const struct field *fields, size_t n,
                       const char *what, struct error *err)
{
    char list[ERROR_REMEDY_MAX / 2] = "";
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(fields[i].name);
        if (used + len + 3 > sizeof list)
            break;
        if (used) {
            memcpy(list + used, ", ", 2);
            used += 2;
        }
        memcpy(list + used, fields[i].name, len + 1);
        used += len;
    }
    error_set(err, ERROR_USAGE, "%s has no key \"%.*s\"", what, STR_ARG(m->name));
    error_remedy(err, "its keys are %s", list);
    return at(&m->value, err);
}

int fields_day_ns(int64_t *out, struct str day)
{
    return day.n == 10 ? clock_parse_utc(out, day) : -1;
}

static int read_texts(struct str **out, size_t *n, const struct json *v, const char *name,
                      struct arena *arena, struct error *err)
{
    if (!json_is(v, JSON_ARRAY) || v->n == 0 || v->n > MATRIX_NAMES_MAX) {
        error_set(err, ERROR_USAGE, "\"%s\" must be a list of 1 to %d names", name,
                  MATRIX_NAMES_MAX);
        return at(v, err);
    }
    struct str *texts = arena_array(arena, v->n, sizeof *texts);
    if (!texts)
        return arena_check(arena, "the matrix", err);
    for (size_t i = 0; i < v->n; i++) {
        const struct json *item = &v->items[i];
        if (json_str(&texts[i], item) < 0 || texts[i].n == 0) {
            error_set(err, ERROR_USAGE, "\"%s\" must list names, not %s", name,
                      json_type_name(item->type));
            error_remedy(err, "put quotes around a name that reads as a number");
            return at(item, err);
        }
        for (size_t j = 0; j < i; j++)
            if (str_eq(texts[i], texts[j])) {
                error_set(err, ERROR_USAGE, "\"%.*s\" stands twice in \"%s\"", STR_ARG(texts[i]),
                          name);
                return at(item, err);
            }
    }
    *out = texts;
    *n = v->n;
    return 0;
}

static int read_bands(int32_t **out, size_t *n, const struct json *v, const char *name,
                      struct arena *arena, struct error *err)
{
    if (!json_is(v, JSON_ARRAY) || v->n == 0 || v->n > MATRIX_NAMES_MAX) {
        error_set(err, ERROR_USAGE, "\"%s\" must be a list of 1 to %d numbers", name,
                  MATRIX_NAMES_MAX);
        return at(v, err);
    }
    int32_t *bands = arena_array(arena, v->n, sizeof *bands);
    if (!bands)
        return arena_check(arena, "the matrix", err);
    for (size_t i = 0; i < v->n; i++) {
        int64_t c;
        if (json_i64(&c, &v->items[i]) < 0 || c < 1 || c > RUN_BAND_MAX ||
            (i && c <= bands[i - 1])) {
            error_set(err, ERROR_USAGE, "\"%s\" must rise, from 1 to at most %d", name,
                      RUN_BAND_MAX);
            return at(&v->items[i], err);
        }
        bands[i] = (int32_t)c;
    }
    *out = bands;
    *n = v->n;
    return 0;
}

struct signed_number {
    struct str class_name, author, date;
};

static int read_number(struct matrix_number *out, const struct json *v, const char *name,
                       struct arena *arena, struct error *err)
{
    static const struct field fields[] = {
        {"value", FIELD_OTHER, true, 0},
        {"class", FIELD_TEXT, true, offsetof(struct signed_number, class_name)},
        {"author", FIELD_TEXT, true, offsetof(struct signed_number, author)},
        {"date", FIELD_DAY, true, offsetof(struct signed_number, date)},
    };
    struct signed_number s = {0};
    struct matrix_number number = {.set = true, .line = v->line};
    if (!json_is(v, JSON_OBJECT)) {
        error_set(err, ERROR_USAGE, "\"%s\" needs its class, author and date beside the number",
                  name);
        error_remedy(err, "write {value: 0.05, class: policy, author: NAME, date: 2026-12-01}");
        return at(v, err);
    }
    if (fields_read(&s, v, fields, sizeof fields / sizeof fields[0], name, arena, err) < 0)
        return -1;
    const struct json *value = json_get(v, "value");
    if (json_double(&number.value, value) < 0) {
        error_set(err, ERROR_USAGE, "the value of \"%s\" must be a number", name);
        return at(value, err);
    }
    size_t class = 0;
    while (matrix_class_name((enum matrix_class) class) &&
           !str_eq(s.class_name, str_of(matrix_class_name((enum matrix_class) class))))
        class ++;
    if (!matrix_class_name((enum matrix_class) class)) {
        error_set(err, ERROR_USAGE, "\"%.*s\" is no class of a number", STR_ARG(s.class_name));
        error_remedy(err, "the classes are policy, inherited, ratchet, dispersion, shape");
        return at(json_get(v, "class"), err);
    }
    number.class = (enum matrix_class) class;
    number.author = s.author;
    number.date = s.date;
    *out = number;
    return 0;
}

static int read_text(struct str *out, const struct json *v, const char *name, struct error *err)
{
    if (json_str(out, v) == 0 && out->n > 0)
        return 0;
    error_set(err, ERROR_USAGE, "\"%s\" must be a text that is not empty, not %s", name,
              json_type_name(v->type));
    error_remedy(err, "put quotes around a text that reads as a number");
    return at(v, err);
}

static int read_day(struct str *out, const struct json *v, const char *name, struct error *err)
{
    int64_t ns;
    if (json_str(out, v) == 0 && fields_day_ns(&ns, *out) == 0)
        return 0;
    error_set(err, ERROR_USAGE, "\"%s\" must be a day such as 2026-12-01", name);
    return at(v, err);
}

static int read_field(void *target, const struct field *f, const struct json *v,
                      struct arena *arena, struct error *err)
{
    char *to = (char *)target + f->offset;
    /* A list's count lies right behind its pointer. */
    size_t *count = (size_t *)(void *)(to + sizeof(void *));
    switch (f->type) {
    case FIELD_TEXT:
        return read_text((struct str *)(void *)to, v, f->name, err);
    case FIELD_DAY:
        return read_day((struct str *)(void *)to, v, f->name, err);
    case FIELD_NUMBER:
        return read_number((struct matrix_number *)(void *)to, v, f->name, arena, err);
    case FIELD_TEXTS:
        return read_texts((struct str **)(void *)to, count, v, f->name, arena, err);
    case FIELD_BANDS:
        return read_bands((int32_t **)(void *)to, count, v, f->name, arena, err);
    case FIELD_BOOL:
        if (json_bool((bool *)(void *)to, v) == 0)
            return 0;
        error_set(err, ERROR_USAGE, "\"%s\" must be true or false", f->name);
        return at(v, err);
    case FIELD_OTHER:
        break;
    }
    return 0;
}

int fields_read(void *target, const struct json *mapping, const struct field *fields, size_t n,
                const char *what, struct arena *arena, struct error *err)
{
    if (!json_is(mapping, JSON_OBJECT)) {
        error_set(err, ERROR_USAGE, "%s must be a mapping, not %s", what,
                  json_type_name(mapping->type));
        return at(mapping, err);
    }
    for (size_t i = 0; i < mapping->n; i++) {
        const struct json_member *m = &mapping->members[i];
        size_t k = 0;
        while (k < n && !str_eq(m->name, str_of(fields[k].name)))
            k++;
        if (k == n)
            return unknown_key(m, fields, n, what, err);
        if (read_field(target, &fields[k], &m->value, arena, err) < 0)
            return -1;
    }
    for (size_t k = 0; k < n; k++)
        if (fields[k].required && !json_get(mapping, fields[k].name)) {
            error_set(err, ERROR_USAGE, "%s needs the key \"%s\"", what, fields[k].name);
            return at(mapping, err);
        }
    return 0;
}
