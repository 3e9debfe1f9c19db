#include "base/str.h"

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool str_eq_nocase(struct str a, struct str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (lower(a.p[i]) != lower(b.p[i]))
            return false;
    return true;
}

int str_cmp(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;
    if (c != 0)
        return c;
    return a.n < b.n ? -1 : a.n > b.n;
}

size_t str_find(struct str s, struct str needle)
{
    if (needle.n == 0)
        return 0;
    for (size_t at = 0; s.n - at >= needle.n && at < s.n;) {
        const char *hit = memchr(s.p + at, needle.p[0], s.n - at);
        if (!hit)
            return STR_NONE;
        at = (size_t)(hit - s.p);
        if (s.n - at < needle.n)
            return STR_NONE;
        if (memcmp(hit, needle.p, needle.n) == 0)
            return at;
        at++;
    }
    return STR_NONE;
}

size_t str_find_char(struct str s, char c)
{
    const char *hit = s.n ? memchr(s.p, c, s.n) : NULL;
    return hit ? (size_t)(hit - s.p) : STR_NONE;
}

struct str str_trim(struct str s)
{
    while (s.n && is_space(s.p[0]))
        s = str_skip(s, 1);
    while (s.n && is_space(s.p[s.n - 1]))
        s.n--;
    return s;
}

bool str_cut(struct str s, char sep, struct str *head, struct str *rest)
{
    size_t at = str_find_char(s, sep);
    if (at == STR_NONE) {
        *head = s;
        *rest = (struct str){0};
        return false;
    }
    *head = str_first(s, at);
    *rest = str_skip(s, at + 1);
    return true;
}
