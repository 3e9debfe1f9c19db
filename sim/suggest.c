#include "suggest.h"

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t distance(struct str a, struct str b)
{
    size_t d[SUGGEST_WORD_MAX + 1][SUGGEST_WORD_MAX + 1];
    if (a.n > SUGGEST_WORD_MAX || b.n > SUGGEST_WORD_MAX)
        return SUGGEST_WORD_MAX;
    for (size_t i = 0; i <= a.n; i++) {
        for (size_t j = 0; j <= b.n; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1,
                            d[i - 1][j - 1] + (a.p[i - 1] != b.p[j - 1]));
            if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1])
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return d[a.n][b.n];
}

const char *suggest(struct str typed, const char *const *candidates, size_t n)
{
    size_t best = typed.n <= 3 ? 1 : typed.n <= 7 ? 2 : 3;
    const char *found = NULL;
    for (size_t i = 0; i < n; i++) {
        size_t d = distance(typed, str_of(candidates[i]));
        if (d < best || (d == best && !found)) {
            best = d;
            found = candidates[i];
        }
    }
    return found;
}
