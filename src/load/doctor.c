#include "load/doctor.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/num.h"
#include "receipt/host.h"

#define FILE_TEXT_MAX ((size_t)1 << 20)
#define ARENA_MAX ((size_t)4 << 20)
#define CORES_WANTED 2
#define LOAD_SPOILS 0.75 /* of the processors */
#define LOAD_NOTED 0.25
#define PRESSURE_SPOILS 10.0 /* per cent of the last ten seconds */
#define STEAL_SPOILS 1.0     /* per cent */
#define PORTS_WANTED 2000
#define MEMORY_WANTED (INT64_C(512) << 20)
#define BUSY_REMEDY "ps -eo pcpu,pid,args --sort=-pcpu | head"

static void add_text(char out[DOCTOR_TEXT_MAX], const char *fmt, va_list ap)
{
    vsnprintf(out, DOCTOR_TEXT_MAX, fmt, ap);
}

struct doctor_finding *doctor_add(struct doctor *d, const char *name, enum doctor_level level,
                                  const char *seen, ...)
{
    struct doctor_finding *f = &d->finding[d->n];
    va_list ap;

    if (d->n + 1 < DOCTOR_FINDINGS_MAX)
        d->n++;
    *f = (struct doctor_finding){.name = name, .level = level};
    va_start(ap, seen);
    add_text(f->seen, seen, ap);
    va_end(ap);
    return f;
}

void doctor_why(struct doctor_finding *f, const char *why, ...)
{
    va_list ap;
    va_start(ap, why);
    add_text(f->why, why, ap);
    va_end(ap);
}

void doctor_remedy(struct doctor_finding *f, const char *remedy, ...)
{
    va_list ap;
    va_start(ap, remedy);
    add_text(f->remedy, remedy, ap);
    va_end(ap);
}

const char *doctor_level_name(enum doctor_level level)
{
    static const char *const names[] = {"ok", "unknown", "note", "spoils"};
    return names[level];
}

size_t doctor_count(const struct doctor *d, enum doctor_level level)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++)
        n += d->finding[i].level == level;
    return n;
}

/* The first word of a file below root, or false. */
static bool word_of(char out[64], const char *root, const char *path)
{
    struct buf name = BUF_INIT(FILE_PATH_MAX), text = BUF_INIT(0);
    struct error ignored = {0};
    bool got = false;

    buf_addf(&name, "%s%s", root, path);
    if (!name.failed && file_read(&text, name.p, FILE_TEXT_MAX, &ignored) == 0) {
        struct str word = str_trim(buf_str(&text)), rest;
        str_cut(word, ' ', &word, &rest);
        got = word.n > 0 && word.n < 64;
        if (got) {
            memcpy(out, word.p, word.n);
            out[word.n] = '\0';
        }
    }
    buf_release(&name);
    buf_release(&text);
    return got;
}

/* The number behind `key` on the line of a file that begins with `line` ("" any): "TCP: inuse 3
 * tw 5", "some avg10=0.12". Keys and numbers are parted by a space or '='. */
static bool number_of(double *out, const char *root, const char *path, const char *line,
                      const char *key)
{
    struct buf name = BUF_INIT(FILE_PATH_MAX), text = BUF_INIT(0);
    struct error ignored = {0};
    bool got = false;

    buf_addf(&name, "%s%s", root, path);
    if (!name.failed && file_read(&text, name.p, FILE_TEXT_MAX, &ignored) == 0) {
        struct str rest = buf_str(&text), head, word, number;
        for (bool more = true; more && !got;) {
            more = str_cut(rest, '\n', &head, &rest);
            if (!str_starts(head, str_of(line)))
                continue;
            while (head.n && !got) {
                str_cut(head, ' ', &word, &head);
                bool apart = str_eq(word, str_of(key));
                if (apart)
                    str_cut(str_trim(head), ' ', &number, &(struct str){0});
                else if (!str_cut(word, '=', &word, &number) || !str_eq(word, str_of(key)))
                    continue;
                got = num_parse_double(out, number) == 0;
            }
        }
    }
    buf_release(&name);
    buf_release(&text);
    return got;
}

static void look_processors(struct doctor *d, const struct receipt_host *h)
{
    struct doctor_finding *f;

    if (h->cores >= CORES_WANTED) {
        doctor_add(d, "processors", DOCTOR_OK, "%lld", (long long)h->cores);
        return;
    }
    f = doctor_add(d, "processors", DOCTOR_SPOILS, "%lld", (long long)h->cores);
    doctor_why(f, "the thread that takes the time and the one that parses share a processor");
    doctor_remedy(f, "measure from a machine with at least %d processors", CORES_WANTED);
}

static void look_governor(struct doctor *d, const struct receipt_host *h)
{
    struct doctor_finding *f;

    if (!h->governor) {
        f = doctor_add(d, "governor", DOCTOR_UNKNOWN, "not visible here");
        doctor_why(f, "in a virtual machine the host decides how fast a processor runs");
        doctor_remedy(f, "look on the host: cpupower frequency-info");
        return;
    }
    if (strcmp(h->governor, "performance") == 0) {
        doctor_add(d, "governor", DOCTOR_OK, "performance");
        return;
    }
    f = doctor_add(d, "governor", DOCTOR_SPOILS, "%.60s", h->governor);
    doctor_why(f, "a processor that slows down between requests wakes up slowly for the next");
    doctor_remedy(f, "sudo cpupower frequency-set -g performance");
}

static void look_turbo(struct doctor *d, const char *root)
{
    static const struct {
        const char *path, *on, *off;
    } files[] = {
        {"/sys/devices/system/cpu/intel_pstate/no_turbo", "0", "1"},
        {"/sys/devices/system/cpu/cpufreq/boost", "1", "0"},
    };
    struct doctor_finding *f;
    char word[64];

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (!word_of(word, root, files[i].path))
            continue;
        if (strcmp(word, files[i].on) != 0) {
            doctor_add(d, "turbo", DOCTOR_OK, "off");
            return;
        }
        f = doctor_add(d, "turbo", DOCTOR_NOTE, "on");
        doctor_why(f, "clock rates follow heat and neighbours: a replicate may be slower than the "
                      "one before for no reason of the server's");
        doctor_remedy(f, "echo %s | sudo tee %s", files[i].off, files[i].path);
        return;
    }
    f = doctor_add(d, "turbo", DOCTOR_UNKNOWN, "not visible here");
    doctor_why(f, "clock rates may follow heat and neighbours");
    doctor_remedy(f, "look on the host, or in the firmware's settings");
}

static void look_load(struct doctor *d, const struct receipt_host *h, const char *root)
{
    double share, pressure;
    struct doctor_finding *f;

    if (h->load_1m >= 0 && h->cores > 0) {
        share = h->load_1m / (double)h->cores;
        f = doctor_add(d, "load",
                       share >= LOAD_SPOILS ? DOCTOR_SPOILS
                       : share > LOAD_NOTED ? DOCTOR_NOTE
                                            : DOCTOR_OK,
                       "%.2f in the last minute, on %lld processors", h->load_1m,
                       (long long)h->cores);
        if (f->level != DOCTOR_OK) {
            doctor_why(f, "other work takes the processor from the client while a token arrives; "
                          "end what is not needed");
            doctor_remedy(f, BUSY_REMEDY);
        }
    } else {
        f = doctor_add(d, "load", DOCTOR_UNKNOWN, "this system does not tell");
        doctor_why(f, "other work takes the processor from the client while a token arrives");
        doctor_remedy(f, "uptime");
    }
    if (!number_of(&pressure, root, "/proc/pressure/cpu", "some", "avg10"))
        return;
    f = doctor_add(d, "pressure", pressure >= PRESSURE_SPOILS ? DOCTOR_SPOILS : DOCTOR_OK,
                   "something waited for a processor in %.0f %% of the last ten seconds", pressure);
    if (f->level != DOCTOR_OK) {
        doctor_why(f, "the client would wait too; end what is not needed");
        doctor_remedy(f, BUSY_REMEDY);
    }
}

/* The columns of /proc/stat's first line: user nice system idle iowait irq softirq steal. */
static void look_steal(struct doctor *d, const char *root)
{
    struct buf name = BUF_INIT(FILE_PATH_MAX), text = BUF_INIT(0);
    struct error ignored = {0};
    double sum = 0, steal = -1, v;

    buf_addf(&name, "%s/proc/stat", root);
    if (!name.failed && file_read(&text, name.p, FILE_TEXT_MAX, &ignored) == 0 &&
        str_starts(buf_str(&text), STR("cpu "))) {
        struct str line, word;
        str_cut(str_skip(buf_str(&text), 4), '\n', &line, &(struct str){0});
        line = str_trim(line);
        for (size_t i = 0; i < 8 && line.n; i++) {
            str_cut(line, ' ', &word, &line);
            if (num_parse_double(&v, word) < 0)
                break;
            sum += v;
            steal = i == 7 ? v : -1;
        }
    }
    buf_release(&name);
    buf_release(&text);
    if (steal < 0 || sum <= 0)
        return;
    double share = 100 * steal / sum;
    struct doctor_finding *f =
        doctor_add(d, "steal", share >= STEAL_SPOILS ? DOCTOR_SPOILS : DOCTOR_OK,
                   "%.2f %% of the time since the start", share);
    if (f->level != DOCTOR_OK) {
        doctor_why(f, "the host runs other machines while this one believes it runs");
        doctor_remedy(f, "measure from a machine, or an instance type, with processors of its own");
    }
}

static void look_clock_source(struct doctor *d, const char *root)
{
    static const char *const slow[] = {"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"};
    static const char path[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    struct doctor_finding *f;
    char word[64];

    if (!word_of(word, root, path)) {
        f = doctor_add(d, "clock_source", DOCTOR_UNKNOWN, "this system does not tell");
        doctor_why(f, "a slow clock makes every stamp late");
        doctor_remedy(f, "see clock_read below: what reading the clock takes");
        return;
    }
    for (size_t i = 0; i < sizeof slow / sizeof slow[0]; i++)
        if (strcmp(word, slow[i]) == 0) {
            f = doctor_add(d, "clock_source", DOCTOR_SPOILS, "%s", word);
            doctor_why(f, "it is read from a device: each stamp costs microseconds, or is coarse");
            doctor_remedy(f, "echo tsc | sudo tee %s", path);
            return;
        }
    doctor_add(d, "clock_source", DOCTOR_OK, "%s", word);
}

static void look_ports(struct doctor *d, const char *root)
{
    struct buf name = BUF_INIT(FILE_PATH_MAX), text = BUF_INIT(0);
    struct error ignored = {0};
    struct doctor_finding *f;
    double used = 0, waiting = 0;
    int64_t low, high, left;
    bool got = false;

    buf_addf(&name, "%s/proc/sys/net/ipv4/ip_local_port_range", root);
    if (!name.failed && file_read(&text, name.p, FILE_TEXT_MAX, &ignored) == 0) {
        struct str from, to;
        str_cut(str_trim(buf_str(&text)), '\t', &from, &to);
        got = num_parse_i64(&low, str_trim(from)) == 0 && num_parse_i64(&high, str_trim(to)) == 0 &&
              low <= high;
    }
    buf_release(&name);
    buf_release(&text);
    if (!got)
        return;
    number_of(&used, root, "/proc/net/sockstat", "TCP:", "inuse");
    number_of(&waiting, root, "/proc/net/sockstat", "TCP:", "tw");
    left = high - low + 1 - (int64_t)used - (int64_t)waiting;
    left = left < 0 ? 0 : left;
    f = doctor_add(d, "ports", left < PORTS_WANTED ? DOCTOR_SPOILS : DOCTOR_OK, "%lld of %lld free",
                   (long long)left, (long long)(high - low + 1));
    if (f->level != DOCTOR_OK) {
        doctor_why(f, "a server that closes its connections makes every request take a port, for a "
                      "minute: then connecting fails");
        doctor_remedy(f, "sudo sysctl net.ipv4.ip_local_port_range=\"1024 65535\"");
    }
}

/* cpu.max is "max 100000", or "QUOTA PERIOD" in microseconds. */
static void look_cpu_limit(struct doctor *d, const struct receipt_host *h)
{
    struct doctor_finding *f;
    struct str quota, period;
    double q, p;

    if (!h->cgroup_cpu_max) {
        doctor_add(d, "cpu_limit", DOCTOR_OK, "none that is visible");
        return;
    }
    str_cut(str_of(h->cgroup_cpu_max), ' ', &quota, &period);
    if (num_parse_double(&q, quota) < 0 || num_parse_double(&p, period) < 0 || p <= 0) {
        doctor_add(d, "cpu_limit", DOCTOR_OK, "none");
        return;
    }
    f = doctor_add(d, "cpu_limit", q / p < CORES_WANTED ? DOCTOR_SPOILS : DOCTOR_NOTE,
                   "%.2f processors, in periods of %.0f ms", q / p, p / 1000);
    doctor_why(f, "once the share of a period is used up, the client stands still until the next "
                  "begins");
    doctor_remedy(f, "docker update --cpus=0 CONTAINER; systemctl set-property UNIT CPUQuota=");
}

static void look_memory(struct doctor *d, const struct receipt_host *h, const char *root)
{
    struct doctor_finding *f;
    double free_kib = -1;
    int64_t left = -1, limit;

    if (number_of(&free_kib, root, "/proc/meminfo", "MemAvailable:", "MemAvailable:"))
        left = (int64_t)(free_kib * 1024);
    if (h->cgroup_memory_max && num_parse_i64(&limit, str_of(h->cgroup_memory_max)) == 0 &&
        (left < 0 || limit < left))
        left = limit;
    if (left < 0)
        return;
    f = doctor_add(d, "memory", left < MEMORY_WANTED ? DOCTOR_SPOILS : DOCTOR_OK,
                   "%lld MB to be had", (long long)(left / 1000000));
    if (f->level != DOCTOR_OK) {
        doctor_why(f, "a client whose pages are fetched from disk stamps late, or is ended");
        doctor_remedy(f, "free -m; cat /sys/fs/cgroup/memory.max");
    }
}

void doctor_read(struct doctor *d, const char *root)
{
    struct receipt_host h;
    struct arena arena;

    arena_init(&arena, ARENA_MAX);
    host_look_below(&h, root, &arena);
    look_processors(d, &h);
    look_governor(d, &h);
    look_turbo(d, root);
    look_load(d, &h, root);
    look_steal(d, root);
    look_cpu_limit(d, &h);
    look_memory(d, &h, root);
    look_ports(d, root);
    look_clock_source(d, root);
    arena_release(&arena);
}

void doctor_look(struct doctor *d, const struct doctor_where *where)
{
    d->n = 0;
    doctor_read(d, where->root);
    doctor_try(d, where->dir);
}
