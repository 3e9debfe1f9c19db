/*
 * A string is pointer and length: borrowed bytes, not NUL-terminated, which may hold NUL.
 *
 *     struct str s = str_trim(STR("  role: user "));
 *     if (str_starts(s, STR("role:"))) ...
 *
 * Ownership: a struct str owns nothing; whoever made it says how long its bytes live.
 * {NULL, 0} is the empty string. Lengths are bytes.
 */
#ifndef TALLY_BASE_STR_H
#define TALLY_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct str {
    const char *p;
    size_t n;
};

#define STR(literal) ((struct str){"" literal, sizeof(literal) - 1})
/* The two arguments of printf's "%.*s". */
#define STR_ARG(s) (int)((s).n > 65535 ? 65535 : (s).n), (s).p ? (s).p : ""
#define STR_NONE ((size_t)-1)

static inline struct str str_of(const char *cstr)
{
    return (struct str){cstr, cstr ? strlen(cstr) : 0};
}

static inline struct str str_make(const void *p, size_t n)
{
    return (struct str){(const char *)p, n};
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_starts(struct str s, struct str prefix)
{
    return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

static inline bool str_ends(struct str s, struct str suffix)
{
    return s.n >= suffix.n &&
           (suffix.n == 0 || memcmp(s.p + (s.n - suffix.n), suffix.p, suffix.n) == 0);
}

/* The part from byte `from` on, or `n` bytes of it; both are clamped to s. */
static inline struct str str_skip(struct str s, size_t from)
{
    if (from > s.n)
        from = s.n;
    return (struct str){from ? s.p + from : s.p, s.n - from};
}

static inline struct str str_first(struct str s, size_t n)
{
    return (struct str){s.p, n < s.n ? n : s.n};
}

bool str_eq_nocase(struct str a, struct str b);   /* ASCII letters only */
int str_cmp(struct str a, struct str b);          /* byte order, as memcmp; shorter first */
size_t str_find(struct str s, struct str needle); /* offset of the first, or STR_NONE */
size_t str_find_char(struct str s, char c);
struct str str_trim(struct str s); /* without ASCII white space at both ends */
/* Cuts s at the first `sep`: *head before it, *rest behind. False, and *head = s, without one. */
bool str_cut(struct str s, char sep, struct str *head, struct str *rest);

#endif
