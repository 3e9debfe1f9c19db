#include "receipt/host.h"

#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "base/num.h"
#include "base/utf8.h"
#include "record/sample.h"

#define TEXT_MAX ((size_t)1 << 20) /* of one file of /proc or /sys */
#define CPUS_MAX 4096
#define GROUPS_MAX 64 /* control groups nested */

#define UNKNOWN "not_available"

static const struct form_member host_members[] = {
    {"os", FORM_STR, offsetof(struct receipt_host, os), UNKNOWN},
    {"arch", FORM_STR, offsetof(struct receipt_host, arch), UNKNOWN},
    {"cpu_model", FORM_STR, offsetof(struct receipt_host, cpu_model), UNKNOWN},
    {"cores", FORM_COUNT, offsetof(struct receipt_host, cores), UNKNOWN},
    {"memory_bytes", FORM_COUNT, offsetof(struct receipt_host, memory_bytes), UNKNOWN},
    {"governor", FORM_STR, offsetof(struct receipt_host, governor), UNKNOWN},
    {"load_1m", FORM_LOAD, offsetof(struct receipt_host, load_1m), UNKNOWN},
    {"load_5m", FORM_LOAD, offsetof(struct receipt_host, load_5m), UNKNOWN},
    {"load_15m", FORM_LOAD, offsetof(struct receipt_host, load_15m), UNKNOWN},
    {"cgroup_cpu_max", FORM_STR, offsetof(struct receipt_host, cgroup_cpu_max), UNKNOWN},
    {"cgroup_memory_max", FORM_STR, offsetof(struct receipt_host, cgroup_memory_max), UNKNOWN},
};
const struct form form_host = {host_members, sizeof host_members / sizeof host_members[0]};

static const struct form_member program_members[] = {
    {"name", FORM_STR, offsetof(struct receipt_program, name), NULL},
    {"version", FORM_STR, offsetof(struct receipt_program, version), UNKNOWN},
    {"commit", FORM_STR, offsetof(struct receipt_program, commit), UNKNOWN},
    {"binary_sha256", FORM_HEX, offsetof(struct receipt_program, binary_sha256), UNKNOWN},
};
const struct form form_program = {program_members,
                                  sizeof program_members / sizeof program_members[0]};

/* The whole file in text, or false; `text` is released by the caller. */
static bool read_below(struct buf *text, const char *root, const char *path)
{
    struct error ignored = {0};
    struct buf whole = BUF_INIT(FILE_PATH_MAX);
    buf_adds(&whole, root);
    buf_adds(&whole, path);
    bool got = !whole.failed && file_read(text, whole.p, TEXT_MAX, &ignored) == 0;
    buf_release(&whole);
    return got;
}

/* One line as text in the arena: UTF-8, trimmed; NULL when it is empty. */
static const char *keep(struct str s, struct arena *arena)
{
    struct buf fixed = BUF_INIT(TEXT_MAX);
    s = str_trim(s);
    size_t nul = str_find_char(s, '\0');
    utf8_add_lossy(&fixed, nul == STR_NONE ? s : str_first(s, nul));
    const char *kept = fixed.n ? arena_cstr(arena, buf_str(&fixed)) : NULL;
    buf_release(&fixed);
    return kept;
}

static const char *first_line(const char *root, const char *path, struct arena *arena)
{
    struct buf text = BUF_INIT(0);
    const char *kept = NULL;
    if (read_below(&text, root, path)) {
        struct str line, rest;
        str_cut(buf_str(&text), '\n', &line, &rest);
        kept = keep(line, arena);
    }
    buf_release(&text);
    return kept;
}

/* The value of the first line "key : value" of a file. */
static bool find_value(struct str text, struct str key, struct str *value)
{
    struct str line, name;
    for (bool more = true; more;) {
        more = str_cut(text, '\n', &line, &text);
        if (str_cut(line, ':', &name, value) && str_eq(str_trim(name), key)) {
            *value = str_trim(*value);
            return true;
        }
    }
    return false;
}

static void look_cpu(struct receipt_host *h, const char *root, struct arena *arena)
{
    static const struct str names[] = {{"model name", 10}, {"Model", 5}, {"Hardware", 8}};
    struct buf text = BUF_INIT(0);
    struct str value;
    if (read_below(&text, root, "/proc/cpuinfo"))
        for (size_t i = 0; !h->cpu_model && i < sizeof names / sizeof names[0]; i++)
            if (find_value(buf_str(&text), names[i], &value))
                h->cpu_model = keep(value, arena);
    buf_release(&text);
}

static void look_memory(struct receipt_host *h, const char *root)
{
    struct buf text = BUF_INIT(0);
    struct str value, number, unit;
    int64_t kib;
    if (read_below(&text, root, "/proc/meminfo") &&
        find_value(buf_str(&text), STR("MemTotal"), &value) &&
        str_cut(value, ' ', &number, &unit) && str_eq(str_trim(unit), STR("kB")) &&
        num_parse_i64(&kib, number) == 0 && kib > 0 && kib < INT64_MAX / 1024)
        h->memory_bytes = kib * 1024;
    buf_release(&text);
}

static void look_load(struct receipt_host *h, const char *root)
{
    struct buf text = BUF_INIT(0);
    double *to[] = {&h->load_1m, &h->load_5m, &h->load_15m};
    if (read_below(&text, root, "/proc/loadavg")) {
        struct str rest = buf_str(&text), word;
        for (size_t i = 0; i < 3; i++) {
            double d;
            str_cut(rest, ' ', &word, &rest);
            if (num_parse_double(&d, word) == 0 && d >= 0)
                *to[i] = d;
        }
    }
    buf_release(&text);
}

static void look_governor(struct receipt_host *h, const char *root, struct arena *arena)
{
    for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
        char path[96];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
        const char *governor = first_line(root, path, arena);
        if (!governor)
            return;
        if (h->governor && !str_eq(str_of(h->governor), str_of(governor))) {
            h->governor = "mixed";
            return;
        }
        h->governor = governor;
    }
}

/* A limit of version 2 control groups: that of this process's group, else of the nearest group
 * above it that states one (a container sees its own at the root). */
static const char *group_limit(const char *root, const char *file, struct arena *arena)
{
    struct buf text = BUF_INIT(0), path = BUF_INIT(FILE_PATH_MAX);
    const char *limit = NULL;
    struct str group;
    if (read_below(&text, root, "/proc/self/cgroup") && str_starts(buf_str(&text), STR("0::/"))) {
        str_cut(str_skip(buf_str(&text), 3), '\n', &group, &(struct str){0});
        for (int i = 0; !limit && i < GROUPS_MAX; i++) {
            buf_reset(&path);
            buf_adds(&path, "/sys/fs/cgroup");
            buf_addstr(&path, group);
            buf_adds(&path, group.n > 1 ? "/" : "");
            buf_adds(&path, file);
            if (!path.failed)
                limit = first_line(root, path.p, arena);
            if (group.n <= 1)
                break;
            while (group.n > 1 && group.p[group.n - 1] != '/')
                group.n--;
            if (group.n > 1)
                group.n--;
        }
    }
    buf_release(&text);
    buf_release(&path);
    return limit;
}

void host_look_below(struct receipt_host *h, const char *root, struct arena *arena)
{
    *h = (struct receipt_host){.cores = COUNT_NONE,
                               .memory_bytes = COUNT_NONE,
                               .load_1m = -1,
                               .load_5m = -1,
                               .load_15m = -1};
    struct utsname u;
    char os[2 * sizeof u.sysname + 2];
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (uname(&u) >= 0) {
        snprintf(os, sizeof os, "%s %s", u.sysname, u.release);
        h->os = keep(str_of(os), arena);
        h->arch = keep(str_of(u.machine), arena);
    }
    if (cores > 0)
        h->cores = cores;
    look_cpu(h, root, arena);
    look_memory(h, root);
    look_load(h, root);
    look_governor(h, root, arena);
    h->cgroup_cpu_max = group_limit(root, "cpu.max", arena);
    h->cgroup_memory_max = group_limit(root, "memory.max", arena);
}

void host_look(struct receipt_host *h, struct arena *arena)
{
    host_look_below(h, "", arena);
}

int program_look(struct receipt_program *p, const char *version, const char *commit,
                 struct arena *arena, struct error *err)
{
    struct error ignored = {0};
    *p = (struct receipt_program){.name = "tally"};
    p->version = version ? arena_cstr(arena, str_of(version)) : NULL;
    p->commit = commit ? arena_cstr(arena, str_of(commit)) : NULL;
    if (file_exists("/proc/self/exe") &&
        sha256_file_hex(p->binary_sha256, "/proc/self/exe", &ignored) < 0)
        p->binary_sha256[0] = '\0';
    return arena_check(arena, "the program's identity", err);
}
