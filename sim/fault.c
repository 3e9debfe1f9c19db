#include "fault.h"

#include <assert.h>

#include "base/num.h"
#include "suggest.h"

static const struct fault_info infos[FAULTS_N] = {
#define X(kind, name, arg, fallback, text) [kind] = {name, fallback, text, arg},
    FAULTS(X)
#undef X
};

static_assert(FAULTS_N <= 64, "a bit for each kind");

const struct fault_info *fault_describe(enum fault_kind kind)
{
    return &infos[kind];
}

const char *fault_arg_name(enum fault_arg arg)
{
    switch (arg) {
    case FAULT_NO_ARG:
        return "";
    case FAULT_TIME:
        return "TIME";
    default:
        return "N";
    }
}

static int read_arg(int64_t *out, enum fault_arg kind, struct str text)
{
    if (kind == FAULT_TIME)
        return num_parse_duration_ns(out, text);
    if (num_parse_i64(out, text) < 0)
        return -1;
    return kind == FAULT_NUMBER || *out >= (kind == FAULT_BYTES ? 1 : 0) ? 0 : -1;
}

static int unknown(struct str name, struct error *err)
{
    const char *names[FAULTS_N];
    for (int i = 0; i < FAULTS_N; i++)
        names[i] = infos[i].name;
    error_set(err, ERROR_USAGE, "there is no fault '%.*s'", STR_ARG(name));
    const char *near = suggest(name, names, FAULTS_N);
    return near ? error_remedy(err, "did you mean --fault %s?", near)
                : error_remedy(err, "tally-sim --help lists the faults");
}

int fault_add(struct fault_plan *plan, const char *text, struct error *err)
{
    struct str name, arg = {0};
    bool has_arg = str_cut(str_of(text), ':', &name, &arg);
    for (int i = 0; i < FAULTS_N; i++) {
        const struct fault_info *info = &infos[i];
        int64_t value = 0;
        if (!str_eq(name, str_of(info->name)))
            continue;
        if (has_arg && info->arg == FAULT_NO_ARG) {
            error_set(err, ERROR_USAGE, "--fault %s takes no argument", info->name);
            return error_remedy(err, "--fault %s", info->name);
        }
        if (info->arg != FAULT_NO_ARG &&
            read_arg(&value, info->arg, has_arg ? arg : str_of(info->fallback)) < 0) {
            error_set(err, ERROR_USAGE, "--fault %s: '%.*s' is no %s", info->name, STR_ARG(arg),
                      info->arg == FAULT_TIME ? "duration" : "number");
            return error_remedy(err, "--fault %s:%s", info->name, info->fallback);
        }
        plan->faults.has |= UINT64_C(1) << i;
        plan->faults.arg[i] = value;
        return 0;
    }
    return unknown(name, err);
}

struct faults fault_for(const struct fault_plan *plan, int64_t number)
{
    int64_t n = number - plan->after;
    if (n < 1 || (plan->first > 0 && n > plan->first) || (plan->every > 0 && n % plan->every != 0))
        return (struct faults){0};
    return plan->faults;
}
