#include "gate/matrix.h"

#include "base/clock.h"
#include "gate/fields.h"

#define DAY_NS (24 * 3600 * NS_PER_S)
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *const class_names[] = {
#define X(id, name) name,
    MATRIX_CLASSES(X)
#undef X
};

static const struct {
    const char *name, *letter;
} arm_kinds[] = {
#define X(id, name, letter) {name, letter},
    MATRIX_ARM_KINDS(X)
#undef X
};

const char *matrix_class_name(enum matrix_class c)
{
    return (size_t)c < COUNT(class_names) ? class_names[c] : NULL;
}

const char *matrix_arm_letter(enum matrix_arm_kind k)
{
    return arm_kinds[k].letter;
}

const char *matrix_arm_kind_name(enum matrix_arm_kind k)
{
    return arm_kinds[k].name;
}

static int at(const struct json *v, struct error *err)
{
    return error_at_line(err, v->line, v->column);
}

/* What each number may be, and for which kinds of arm it must be there. */
static const struct {
    const char *name;
    size_t offset;
    double lo, hi;
    bool lo_open, hi_open;
    const char *range;
} numbers[] = {
    {"delta", offsetof(struct matrix_arm, delta), 0, 1, true, true, "above 0 and below 1"},
    {"max_error_share", offsetof(struct matrix_arm, max_error_share), 0, 1, false, false,
     "from 0 to 1"},
    {"max_drain_share", offsetof(struct matrix_arm, max_drain_share), 0, 1, true, false,
     "above 0, at most 1"},
    {"max_age_days", offsetof(struct matrix_arm, max_age_days), 0, 36500, true, false,
     "above 0, at most 36500"},
    {"max_serialization_index", offsetof(struct matrix_arm, max_serialization_index), 0, 65536,
     true, false, "above 0, at most 65536"},
};

const struct matrix_number *matrix_arm_number(const struct matrix_arm *arm, size_t i,
                                              const char **name)
{
    if (i >= COUNT(numbers))
        return NULL;
    *name = numbers[i].name;
    return (const struct matrix_number *)(const void *)((const char *)arm + numbers[i].offset);
}

static int check_numbers(const struct matrix_arm *arm, const struct json *v, struct error *err)
{
    for (size_t i = 0; i < COUNT(numbers); i++) {
        const struct matrix_number *n =
            (const struct matrix_number *)(const void *)((const char *)arm + numbers[i].offset);
        if (!n->set)
            continue;
        bool low = numbers[i].lo_open ? n->value <= numbers[i].lo : n->value < numbers[i].lo;
        bool high = numbers[i].hi_open ? n->value >= numbers[i].hi : n->value > numbers[i].hi;
        if (low || high) {
            error_set(err, ERROR_USAGE, "\"%s\" must be %s", numbers[i].name, numbers[i].range);
            return at(json_get(v, numbers[i].name), err);
        }
    }
    return 0;
}

bool matrix_paired(enum metrics_paired *out, struct str name)
{
    for (int i = 0; i < METRICS_PAIRED_COUNT; i++) {
        enum metrics_paired p = (enum metrics_paired)i;
        if (str_eq(name, str_of(metrics_paired_name(p))) ||
            str_eq(name, str_of(metrics_info(metrics_paired_metric(p))->key))) {
            *out = p;
            return true;
        }
    }
    return false;
}

static int check_metrics(const struct matrix_arm *arm, const struct json *v, struct error *err)
{
    enum metrics_paired ignored;
    for (size_t i = 0; i < arm->metrics_n; i++)
        if (!matrix_paired(&ignored, arm->metrics[i])) {
            error_set(err, ERROR_USAGE, "\"%.*s\" is no statistic that lanes are compared by",
                      STR_ARG(arm->metrics[i]));
            error_remedy(err, "they are those of \"ratios\" in a receipt, such as agg_tok_s or "
                              "ttft_ms.p50");
            return at(json_at(json_get(v, "metrics"), i), err);
        }
    return 0;
}

/* What a kind of arm needs, and what has no meaning for it. */
static int check_arm(const struct matrix_arm *arm, const struct json *v, struct error *err)
{
    bool compares = arm->kind == ARM_PARITY || arm->kind == ARM_SELF_REGRESSION;
    bool integrity = arm->kind == ARM_INTEGRITY;
    const char *kind = matrix_arm_kind_name(arm->kind);
    const struct {
        const char *name;
        bool has, must, may;
    } rules[] = {
        {"metrics", arm->metrics_n > 0, compares, compares || !integrity},
        {"delta", arm->delta.set, compares, compares},
        {"max_error_share", arm->max_error_share.set, integrity, integrity},
        {"max_drain_share", arm->max_drain_share.set, integrity, integrity},
        {"max_age_days", arm->max_age_days.set, integrity, integrity},
        {"max_serialization_index", arm->max_serialization_index.set, false,
         arm->kind == ARM_INTERFERENCE},
        /* Nothing is judged that has no bound: such an arm could not fail. */
        {"reporting: true", arm->reporting,
         arm->kind == ARM_MEMORY ||
             (arm->kind == ARM_INTERFERENCE && !arm->max_serialization_index.set),
         true},
        {"baseline_build", arm->baseline_build.n > 0, false, arm->kind == ARM_SELF_REGRESSION},
        {"unequal_work", arm->unequal_work, false, arm->kind == ARM_PARITY},
        {"baseline_author", arm->baseline_author.n > 0, arm->baseline_build.n > 0,
         arm->baseline_build.n > 0},
        {"baseline_date", arm->baseline_date.n > 0, arm->baseline_build.n > 0,
         arm->baseline_build.n > 0},
        {"unequal_work_by", arm->unequal_work_by.n > 0, arm->unequal_work, arm->unequal_work},
    };
    for (size_t i = 0; i < COUNT(rules); i++) {
        if (rules[i].must && !rules[i].has) {
            error_set(err, ERROR_USAGE, "the arm \"%.*s\" (%s) needs \"%s\"", STR_ARG(arm->name),
                      kind, rules[i].name);
            return at(v, err);
        }
        if (rules[i].has && !rules[i].may) {
            error_set(err, ERROR_USAGE, "\"%s\" has no meaning in the arm \"%.*s\" (%s)",
                      rules[i].name, STR_ARG(arm->name), kind);
            return at(json_get(v, rules[i].name), err);
        }
    }
    return check_numbers(arm, v, err) < 0 || check_metrics(arm, v, err) < 0 ? -1 : 0;
}

static int read_arm_kind(struct matrix_arm *arm, const struct json *v, struct error *err)
{
    struct str name = {0};
    json_str(&name, json_get(v, "kind"));
    for (size_t i = 0; i < COUNT(arm_kinds); i++)
        if (str_eq(name, str_of(arm_kinds[i].name))) {
            arm->kind = (enum matrix_arm_kind)i;
            return 0;
        }
    error_set(err, ERROR_USAGE, "\"%.*s\" is no kind of arm", STR_ARG(name));
    error_remedy(err, "the kinds are self-regression, parity, integrity, memory, interference");
    return at(json_get(v, "kind"), err);
}

static int read_arms(struct matrix *m, const struct json *v, struct arena *arena, struct error *err)
{
    static const struct field fields[] = {
        {"kind", FIELD_OTHER, true, 0},
        {"reporting", FIELD_BOOL, false, offsetof(struct matrix_arm, reporting)},
        {"metrics", FIELD_TEXTS, false, offsetof(struct matrix_arm, metrics)},
        {"delta", FIELD_NUMBER, false, offsetof(struct matrix_arm, delta)},
        {"max_error_share", FIELD_NUMBER, false, offsetof(struct matrix_arm, max_error_share)},
        {"max_drain_share", FIELD_NUMBER, false, offsetof(struct matrix_arm, max_drain_share)},
        {"max_age_days", FIELD_NUMBER, false, offsetof(struct matrix_arm, max_age_days)},
        {"max_serialization_index", FIELD_NUMBER, false,
         offsetof(struct matrix_arm, max_serialization_index)},
        {"baseline_build", FIELD_TEXT, false, offsetof(struct matrix_arm, baseline_build)},
        {"baseline_author", FIELD_TEXT, false, offsetof(struct matrix_arm, baseline_author)},
        {"baseline_date", FIELD_DAY, false, offsetof(struct matrix_arm, baseline_date)},
        {"unequal_work", FIELD_BOOL, false, offsetof(struct matrix_arm, unequal_work)},
        {"unequal_work_by", FIELD_TEXT, false, offsetof(struct matrix_arm, unequal_work_by)},
    };
    if (!json_is(v, JSON_OBJECT) || v->n == 0 || v->n > MATRIX_ARMS_MAX) {
        error_set(err, ERROR_USAGE, "\"arms\" must be a mapping of 1 to %d arms", MATRIX_ARMS_MAX);
        return at(v, err);
    }
    struct matrix_arm *arms = arena_array(arena, v->n, sizeof *arms);
    if (!arms)
        return arena_check(arena, "the matrix", err);
    for (size_t i = 0; i < v->n; i++) {
        const struct json *body = &v->members[i].value;
        arms[i].name = v->members[i].name;
        arms[i].line = body->line;
        if (fields_read(&arms[i], body, fields, COUNT(fields), "an arm", arena, err) < 0 ||
            read_arm_kind(&arms[i], body, err) < 0 || check_arm(&arms[i], body, err) < 0)
            return -1;
    }
    m->arms = arms;
    m->arms_n = v->n;
    return 0;
}

static bool listed(struct str name, const struct str *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(name, names[i]))
            return true;
    return false;
}

static int read_state(struct matrix_cell *c, const struct json *v, struct error *err)
{
    static const char *const names[] = {"MEASURED", "UNMEASURED", "NOT_APPLICABLE"};
    struct str name = {0};
    json_str(&name, json_get(v, "state"));
    size_t state = 0;
    while (state < COUNT(names) && !str_eq(name, str_of(names[state])))
        state++;
    if (state == COUNT(names)) {
        error_set(err, ERROR_USAGE, "\"%.*s\" is no state of a cell", STR_ARG(name));
        error_remedy(err, "the states are MEASURED, UNMEASURED, NOT_APPLICABLE");
        return at(json_get(v, "state"), err);
    }
    c->state = (enum cell_state)state;
    bool unmeasured = c->state == CELL_UNMEASURED, none = c->state == CELL_NOT_APPLICABLE;
    const struct {
        const char *name;
        bool has, must;
    } rules[] = {
        {"owner", c->owner.n > 0, unmeasured},     {"ticket", c->ticket.n > 0, unmeasured},
        {"expires", c->expires.n > 0, unmeasured}, {"reason", c->reason.n > 0, none},
        {"decided_by", c->decided_by.n > 0, none},
    };
    for (size_t i = 0; i < COUNT(rules); i++)
        if (rules[i].has != rules[i].must) {
            error_set(err, ERROR_USAGE, "a cell that is %s %s \"%s\"", names[state],
                      rules[i].must ? "needs" : "has no", rules[i].name);
            return at(v, err);
        }
    if (unmeasured) {
        fields_day_ns(&c->expires_ns, c->expires);
        c->expires_ns += DAY_NS;
    }
    return 0;
}

static int check_names(const struct matrix *m, const struct matrix_cell *c, const struct json *v,
                       struct error *err)
{
    const struct {
        const char *key;
        struct str name;
        const struct str *names;
        size_t n;
    } axes[] = {
        {"host", c->host, m->hosts, m->hosts_n},
        {"model", c->model, m->models, m->models_n},
        {"workload", c->workload, m->workloads, m->workloads_n},
    };
    for (size_t i = 0; i < COUNT(axes); i++)
        if (!listed(axes[i].name, axes[i].names, axes[i].n)) {
            error_set(err, ERROR_USAGE, "the %s \"%.*s\" is not among the declared ones",
                      axes[i].key, STR_ARG(axes[i].name));
            error_remedy(err, "add it to \"%ss\" above, or correct the cell", axes[i].key);
            return at(json_get(v, axes[i].key), err);
        }
    return 0;
}

static const struct matrix_cell *find_cell(const struct matrix_cell *cells, size_t n,
                                           struct str host, struct str model, struct str workload)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(cells[i].host, host) && str_eq(cells[i].model, model) &&
            str_eq(cells[i].workload, workload))
            return &cells[i];
    return NULL;
}

static int read_cells(struct matrix *m, const struct json *v, struct arena *arena,
                      struct error *err)
{
    static const struct field fields[] = {
        {"host", FIELD_TEXT, true, offsetof(struct matrix_cell, host)},
        {"model", FIELD_TEXT, true, offsetof(struct matrix_cell, model)},
        {"workload", FIELD_TEXT, true, offsetof(struct matrix_cell, workload)},
        {"state", FIELD_OTHER, true, 0},
        {"owner", FIELD_TEXT, false, offsetof(struct matrix_cell, owner)},
        {"ticket", FIELD_TEXT, false, offsetof(struct matrix_cell, ticket)},
        {"expires", FIELD_DAY, false, offsetof(struct matrix_cell, expires)},
        {"reason", FIELD_TEXT, false, offsetof(struct matrix_cell, reason)},
        {"decided_by", FIELD_TEXT, false, offsetof(struct matrix_cell, decided_by)},
    };
    if (!json_is(v, JSON_ARRAY) || v->n == 0 || v->n > MATRIX_CELLS_MAX) {
        error_set(err, ERROR_USAGE, "\"cells\" must be a list of 1 to %d cells", MATRIX_CELLS_MAX);
        return at(v, err);
    }
    struct matrix_cell *cells = arena_array(arena, v->n, sizeof *cells);
    if (!cells)
        return arena_check(arena, "the matrix", err);
    for (size_t i = 0; i < v->n; i++) {
        const struct json *body = &v->items[i];
        struct matrix_cell *c = &cells[i];
        c->line = body->line;
        if (fields_read(c, body, fields, COUNT(fields), "a cell", arena, err) < 0 ||
            read_state(c, body, err) < 0 || check_names(m, c, body, err) < 0)
            return -1;
        const struct matrix_cell *twin = find_cell(cells, i, c->host, c->model, c->workload);
        if (twin) {
            error_set(err, ERROR_USAGE, "this cell stands in line %u already", twin->line);
            return at(body, err);
        }
    }
    m->cells = cells;
    m->cells_n = v->n;
    return 0;
}

static int check_complete(const struct matrix *m, const struct json *cells, struct error *err)
{
    for (size_t h = 0; h < m->hosts_n; h++)
        for (size_t d = 0; d < m->models_n; d++)
            for (size_t w = 0; w < m->workloads_n; w++)
                if (!find_cell(m->cells, m->cells_n, m->hosts[h], m->models[d], m->workloads[w])) {
                    error_set(err, ERROR_USAGE, "no cell for host %.*s, model %.*s, workload %.*s",
                              STR_ARG(m->hosts[h]), STR_ARG(m->models[d]),
                              STR_ARG(m->workloads[w]));
                    error_remedy(err, "add one: MEASURED, UNMEASURED with owner, ticket and "
                                      "expires, or NOT_APPLICABLE with reason and decided_by");
                    return at(cells, err);
                }
    return 0;
}

int matrix_read(struct matrix *out, const struct json *doc, struct arena *arena, struct error *err)
{
    static const struct field fields[] = {
        {"version", FIELD_OTHER, true, 0},
        {"hosts", FIELD_TEXTS, true, offsetof(struct matrix, hosts)},
        {"models", FIELD_TEXTS, true, offsetof(struct matrix, models)},
        {"workloads", FIELD_TEXTS, true, offsetof(struct matrix, workloads)},
        {"bands", FIELD_BANDS, true, offsetof(struct matrix, bands)},
        {"arms", FIELD_OTHER, true, 0},
        {"cells", FIELD_OTHER, true, 0},
    };
    struct matrix m = {0};
    int64_t version;
    if (fields_read(&m, doc, fields, COUNT(fields), "the matrix", arena, err) < 0)
        return -1;
    if (json_i64(&version, json_get(doc, "version")) < 0 || version != 1) {
        error_set(err, ERROR_UNSUPPORTED, "the matrix's version must be 1");
        return at(json_get(doc, "version"), err);
    }
    if (read_arms(&m, json_get(doc, "arms"), arena, err) < 0 ||
        read_cells(&m, json_get(doc, "cells"), arena, err) < 0 ||
        check_complete(&m, json_get(doc, "cells"), err) < 0)
        return -1;
    *out = m;
    return 0;
}
