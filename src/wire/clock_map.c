#ifdef __linux__
#define _DEFAULT_SOURCE /* adjtimex, CLOCK_MONOTONIC_RAW */
#endif
#include "wire/clock_map.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#ifdef __linux__
#include <sys/timex.h>
#endif

#include "base/clock.h"

static int64_t system_mono(void *ctx)
{
    (void)ctx;
    return clock_mono_ns();
}

static int64_t system_real(void *ctx)
{
    (void)ctx;
    return clock_real_ns();
}

const struct clock_pair clock_pair_system = {system_mono, system_real, NULL};

void clock_map_init(struct clock_map *m, const struct clock_pair *pair)
{
    *m = (struct clock_map){.pair = *pair};
}

static int64_t size_of(int64_t ns)
{
    return ns < 0 ? -ns : ns;
}

void clock_map_look(struct clock_map *m)
{
    const struct clock_pair *c = &m->pair;
    int64_t width = INT64_MAX, offset = 0, at = 0, error, moved;
    for (int i = 0; i < CLOCK_MAP_SANDWICHES; i++) {
        int64_t before = c->mono_ns(c->ctx), real = c->real_ns(c->ctx);
        int64_t after = c->mono_ns(c->ctx);
        if (after - before >= width)
            continue;
        width = after - before;
        at = before + width / 2;
        offset = real - at;
    }
    error = (width + 1) / 2;
    moved = offset - m->offset_ns;
    if (m->looks > 0 && size_of(moved) > error + m->error_ns + CLOCK_MAP_SLACK_NS) {
        m->steps++;
        if (size_of(moved) > size_of(m->largest_step_ns))
            m->largest_step_ns = moved;
    }
    m->offset_ns = offset;
    m->error_ns = error;
    m->looked_ns = at;
    m->looks++;
    if (error > m->worst_error_ns)
        m->worst_error_ns = error;
}

#ifdef __linux__

static void read_source(char *out, size_t size)
{
    FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    out[0] = '\0';
    if (!f)
        return;
    if (fgets(out, (int)size, f))
        out[strcspn(out, "\n")] = '\0';
    fclose(f);
}

void clock_state_read(struct clock_state *s)
{
    struct timex t = {0};
    struct timespec raw;
    *s = (struct clock_state){.raw_ns = INT64_MIN};
    s->freq_scaled_ppm = s->status = INT64_MIN;
    s->mono_ns = clock_mono_ns();
    if (clock_gettime(CLOCK_MONOTONIC_RAW, &raw) == 0)
        s->raw_ns = (int64_t)raw.tv_sec * NS_PER_S + raw.tv_nsec;
    if (adjtimex(&t) >= 0) {
        s->freq_scaled_ppm = t.freq;
        s->status = t.status;
    }
    read_source(s->source, sizeof s->source);
}

#else

void clock_state_read(struct clock_state *s)
{
    *s = (struct clock_state){.mono_ns = clock_mono_ns(), .raw_ns = INT64_MIN};
    s->freq_scaled_ppm = s->status = INT64_MIN;
}

#endif

int64_t clock_state_slew_ppb(const struct clock_state *from, const struct clock_state *to)
{
    int64_t mono = to->mono_ns - from->mono_ns, raw;
    if (from->raw_ns == INT64_MIN || to->raw_ns == INT64_MIN)
        return INT64_MIN;
    raw = to->raw_ns - from->raw_ns;
    if (raw < NS_PER_MS)
        return INT64_MIN;
    return (mono - raw) * 1000 / (raw / NS_PER_MS); /* of 10^9, raw taken in ms */
}
