/* strftime in the C locale, over a broken-down time that carries no zone. */
#include <stdio.h>

#include "jinja/text.h"

static const char *const weekdays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                       "Thursday", "Friday", "Saturday"};
static const char *const months[] = {"January",   "February", "March",    "April",
                                     "May",       "June",     "July",     "August",
                                     "September", "October",  "November", "December"};

static bool is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* 0-based day of the year. */
static int year_day(const struct jinja_time *t)
{
    static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    return before[t->month - 1] + t->day - 1 + (t->month > 2 && is_leap(t->year));
}

/* 0 = Sunday. Days from 1 January of year 1, which was a Monday. */
static int week_day(const struct jinja_time *t)
{
    int64_t y = t->year - 1;
    return (int)((y * 365 + y / 4 - y / 100 + y / 400 + year_day(t) + 1) % 7);
}

/* ISO 8601: the week with the year's first Thursday is week 1. */
static int iso_week(const struct jinja_time *t, int *year)
{
    int day = (week_day(t) + 6) % 7; /* 0 = Monday */
    int week = (year_day(t) - day + 10) / 7;
    *year = t->year;
    if (week < 1) {
        struct jinja_time end = {--*year, 12, 31, 0, 0, 0};
        return iso_week(&end, year);
    }
    int days = is_leap(t->year) ? 366 : 365;
    if (week == 53 && days - year_day(t) + day <= 3) {
        ++*year;
        return 1;
    }
    return week;
}

/* Conversions that are other formats put together. */
static const char *composed(char c)
{
    switch (c) {
    case 'c':
        return "%a %b %e %H:%M:%S %Y";
    case 'D':
    case 'x':
        return "%m/%d/%y";
    case 'F':
        return "%Y-%m-%d";
    case 'R':
        return "%H:%M";
    case 'T':
    case 'X':
        return "%H:%M:%S";
    case 'r':
        return "%I:%M:%S %p";
    case 'h':
        return "%b";
    default:
        return NULL;
    }
}

struct field {
    int value, width;
    char pad; /* '0', ' ' */
};

/* Numeric conversions; width 0 when c is none. */
static struct field numeric(char c, const struct jinja_time *t)
{
    int hour12 = t->hour % 12 ? t->hour % 12 : 12, iso_year, week;
    switch (c) {
    case 'Y':
        return (struct field){t->year, 1, '0'};
    case 'C':
        return (struct field){t->year / 100, 2, '0'};
    case 'y':
        return (struct field){t->year % 100, 2, '0'};
    case 'm':
        return (struct field){t->month, 2, '0'};
    case 'd':
        return (struct field){t->day, 2, '0'};
    case 'e':
        return (struct field){t->day, 2, ' '};
    case 'H':
        return (struct field){t->hour, 2, '0'};
    case 'k':
        return (struct field){t->hour, 2, ' '};
    case 'I':
        return (struct field){hour12, 2, '0'};
    case 'l':
        return (struct field){hour12, 2, ' '};
    case 'M':
        return (struct field){t->minute, 2, '0'};
    case 'S':
        return (struct field){t->second, 2, '0'};
    case 'f':
        return (struct field){0, 6, '0'};
    case 'j':
        return (struct field){year_day(t) + 1, 3, '0'};
    case 'w':
        return (struct field){week_day(t), 1, '0'};
    case 'u':
        return (struct field){week_day(t) ? week_day(t) : 7, 1, '0'};
    case 'U':
        return (struct field){(year_day(t) + 7 - week_day(t)) / 7, 2, '0'};
    case 'W':
        return (struct field){(year_day(t) + 7 - (week_day(t) + 6) % 7) / 7, 2, '0'};
    case 'V':
        week = iso_week(t, &iso_year);
        return (struct field){week, 2, '0'};
    case 'G':
    case 'g':
        iso_week(t, &iso_year);
        return c == 'G' ? (struct field){iso_year, 1, '0'} : (struct field){iso_year % 100, 2, '0'};
    default:
        return (struct field){0};
    }
}

static void add_conversion(struct sb *b, char c, bool unpadded, const struct jinja_time *t)
{
    char text[32];
    struct field f = numeric(c, t);
    if (f.width) {
        if (unpadded)
            snprintf(text, sizeof text, "%d", f.value);
        else
            snprintf(text, sizeof text, f.pad == '0' ? "%0*d" : "%*d", f.width, f.value);
        sb_add(b, str_of(text));
        return;
    }
    const char *name = c == 'A' || c == 'a' ? weekdays[week_day(t)] : months[t->month - 1];
    switch (c) {
    case 'A':
    case 'B':
        sb_add(b, str_of(name));
        break;
    case 'a':
    case 'b':
        sb_add(b, str_first(str_of(name), 3));
        break;
    case 'p':
        sb_add(b, t->hour < 12 ? STR("AM") : STR("PM"));
        break;
    case 'P':
        sb_add(b, t->hour < 12 ? STR("am") : STR("pm"));
        break;
    case 'n':
        sb_addc(b, '\n');
        break;
    case 't':
        sb_addc(b, '\t');
        break;
    case '%':
        sb_addc(b, '%');
        break;
    case 'z':
    case 'Z':
        break; /* a naive time has no zone */
    default:
        sb_addc(b, '%');
        if (unpadded)
            sb_addc(b, '-');
        sb_addc(b, c);
    }
}

static void add_format(struct sb *b, struct str format, const struct jinja_time *t)
{
    for (size_t i = 0; i < format.n; i++) {
        if (format.p[i] != '%' || i + 1 == format.n) {
            sb_addc(b, format.p[i]);
            continue;
        }
        bool unpadded = format.p[i + 1] == '-' && i + 2 < format.n;
        char c = format.p[i += unpadded ? 2 : 1];
        if (composed(c))
            add_format(b, str_of(composed(c)), t);
        else
            add_conversion(b, c, unpadded, t);
    }
}

int text_strftime(struct run *r, struct str format, const struct jinja_time *t,
                  struct jinja_value *out)
{
    struct sb b = sb_start(r);
    add_format(&b, format, t);
    return sb_end(&b, out);
}
