#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/num.h"

static int64_t read_clock(clockid_t id)
{
    struct timespec ts = {0};
    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

int64_t clock_mono_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t clock_real_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}

int64_t clock_thread_cpu_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

int64_t clock_process_cpu_ns(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

/* Days since 1970-01-01 of a civil date, and back (H. Hinnant, "chrono-compatible low-level date
 * algorithms"): no time zone, no locale, no 32-bit time_t. */
static int64_t days_from_civil(int64_t y, int m, int d)
{
    y -= m <= 2;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t yoe = y - era * 400;
    int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static void civil_from_days(int64_t z, int64_t *y, int *m, int *d)
{
    z += 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int64_t mp = (5 * doy + 2) / 153;
    *d = (int)(doy - (153 * mp + 2) / 5 + 1);
    *m = (int)(mp < 10 ? mp + 3 : mp - 9);
    *y = yoe + era * 400 + (*m <= 2);
}

void clock_format_utc(char out[CLOCK_UTC_TEXT], int64_t real_ns)
{
    int64_t s = real_ns / NS_PER_S, frac = real_ns % NS_PER_S;
    if (frac < 0) {
        frac += NS_PER_S;
        s--;
    }
    int64_t days = s / 86400, rest = s % 86400, y;
    if (rest < 0) {
        rest += 86400;
        days--;
    }
    int m, d;
    civil_from_days(days, &y, &m, &d);
    snprintf(out, CLOCK_UTC_TEXT, "%04lld-%02d-%02dT%02d:%02d:%02d.%06dZ", (long long)y, m, d,
             (int)(rest / 3600), (int)(rest / 60 % 60), (int)(rest % 60), (int)(frac / 1000));
}

static int digits(struct str *s, size_t n, int *out)
{
    uint64_t v;
    if (s->n < n || num_parse_u64(&v, str_first(*s, n)) < 0)
        return -1;
    *s = str_skip(*s, n);
    *out = (int)v;
    return 0;
}

static int expect(struct str *s, char a, char b)
{
    if (s->n == 0 || (s->p[0] != a && s->p[0] != b))
        return -1;
    *s = str_skip(*s, 1);
    return 0;
}

int clock_parse_utc(int64_t *real_ns, struct str s)
{
    int y, mo, d, h = 0, mi = 0, sec = 0;
    int64_t frac = 0;
    if (digits(&s, 4, &y) < 0 || expect(&s, '-', '-') < 0 || digits(&s, 2, &mo) < 0 ||
        expect(&s, '-', '-') < 0 || digits(&s, 2, &d) < 0)
        return -1;
    if (s.n) {
        if (expect(&s, 'T', ' ') < 0 || digits(&s, 2, &h) < 0 || expect(&s, ':', ':') < 0 ||
            digits(&s, 2, &mi) < 0)
            return -1;
        if (s.n && s.p[0] == ':' && (expect(&s, ':', ':') < 0 || digits(&s, 2, &sec) < 0))
            return -1;
        if (s.n && s.p[0] == '.') {
            s = str_skip(s, 1);
            int64_t unit = NS_PER_S / 10;
            if (!s.n || s.p[0] < '0' || s.p[0] > '9')
                return -1;
            for (; s.n && s.p[0] >= '0' && s.p[0] <= '9'; s = str_skip(s, 1), unit /= 10)
                frac += (s.p[0] - '0') * unit;
        }
        if (s.n && (s.p[0] == 'Z' || s.p[0] == 'z'))
            s = str_skip(s, 1);
    }
    if (s.n || mo < 1 || mo > 12 || d < 1 || d > 31 || h > 23 || mi > 59 || sec > 60)
        return -1;
    int64_t days = days_from_civil(y, mo, d), back_y;
    int back_m, back_d;
    civil_from_days(days, &back_y, &back_m, &back_d);
    if (back_y != y || back_m != mo || back_d != d)
        return -1;
    int64_t seconds = days * 86400 + h * 3600 + mi * 60 + sec;
    if (seconds > INT64_MAX / NS_PER_S - 1 || seconds < INT64_MIN / NS_PER_S + 1)
        return -1;
    *real_ns = seconds * NS_PER_S + frac;
    return 0;
}

void clock_sleep_until_ns(int64_t mono_ns, const volatile int *stop)
{
    for (;;) {
        int64_t left = mono_ns - clock_mono_ns();
        if (left <= 0 || (stop && *stop))
            return;
        struct timespec ts = {.tv_sec = (time_t)(left / NS_PER_S),
                              .tv_nsec = (long)(left % NS_PER_S)};
        nanosleep(&ts, NULL);
    }
}
