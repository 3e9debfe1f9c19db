#include "metrics/names.h"

#include <stddef.h>
#include <string.h>

#include "metrics/client.h"

const struct metrics_info *metrics_info(enum metric_id id)
{
    static const struct metrics_info table[] = {
#define X(name, key, shape, unit, better, population, help) \
    {key, shape, unit, better, population, help},
        METRICS(X)
#undef X
    };
    return &table[id];
}

struct stat_info {
    const char *key;
    int percent, least_n;
};

static const struct stat_info stats[] = {
#define X(id, key, percent, least_n) {key, percent, least_n},
    METRICS_STAT_TABLE(X)
#undef X
};

const char *metrics_stat_name(enum metrics_stat_id id)
{
    return stats[id].key;
}

int metrics_stat_percent(enum metrics_stat_id id)
{
    return stats[id].percent;
}

int metrics_stat_least_n(enum metrics_stat_id id)
{
    return stats[id].least_n;
}

struct name_info {
    const char *key, *help;
};

static const struct name_info reasons[] = {
#define X(id, key, help) {key, help},
    METRICS_REASONS(X)
#undef X
};

static const struct name_info flags[] = {
#define X(id, key, help) {key, help},
    METRICS_FLAG_TABLE(X)
#undef X
};

static const struct name_info rules[] = {
#define X(id, key, suspect, saturated, help) {key, help},
    CLIENT_RULES(X)
#undef X
};

const char *metrics_reason_name(enum metrics_reason r)
{
    return reasons[r].key;
}

const char *metrics_reason_help(enum metrics_reason r)
{
    return reasons[r].help;
}

const char *metrics_flag_name(enum metrics_flag f)
{
    return flags[f].key;
}

const char *metrics_flag_help(enum metrics_flag f)
{
    return flags[f].help;
}

const char *client_rule_name(enum client_rule r)
{
    return rules[r].key;
}

const char *client_rule_help(enum client_rule r)
{
    return rules[r].help;
}

const char *client_verdict_name(enum client_verdict v)
{
    static const char *const names[] = {
#define X(id, key) key,
        CLIENT_VERDICTS(X)
#undef X
    };
    return names[v];
}

static const char *const sources[] = {
#define X(id, key) key,
    METRICS_SOURCE_TABLE(X)
#undef X
};

const char *metrics_source_name(enum metrics_source s)
{
    return s < METRICS_SOURCES ? sources[s] : NULL;
}

enum metrics_source metrics_source_find(const char *name)
{
    for (int i = 0; name && i < METRICS_SOURCES; i++)
        if (strcmp(name, sources[i]) == 0)
            return (enum metrics_source)i;
    return SOURCE_NONE;
}

enum metrics_assignment metrics_assignment_find(const char *name)
{
    for (int i = 0; name && i < ASSIGN_NONE; i++)
        if (strcmp(name, metrics_assignment_name((enum metrics_assignment)i)) == 0)
            return (enum metrics_assignment)i;
    return ASSIGN_NONE;
}

const char *metrics_assignment_name(enum metrics_assignment a)
{
    static const char *const names[] = {
#define X(id, key) key,
        METRICS_ASSIGNMENTS(X)
#undef X
    };
    return names[a];
}
