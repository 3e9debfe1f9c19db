/* Near misses by the optimal string alignment distance (Damerau 1964, with adjacent swaps). */
#include "cli/option.h"

#define WORD_MAX 40

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* SIZE_MAX when a word is too long to be compared. */
static size_t distance(const char *a, const char *b)
{
    size_t d[WORD_MAX + 1][WORD_MAX + 1];
    size_t n = strlen(a), m = strlen(b);

    if (n > WORD_MAX || m > WORD_MAX)
        return SIZE_MAX;
    for (size_t i = 0; i <= n; i++)
        d[i][0] = i;
    for (size_t j = 0; j <= m; j++)
        d[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        for (size_t j = 1; j <= m; j++) {
            d[i][j] = least(d[i - 1][j] + 1, d[i][j - 1] + 1);
            d[i][j] = least(d[i][j], d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return d[n][m];
}

const char *suggest(const char *typed, const char *const *candidates, size_t n)
{
    size_t length = strlen(typed), allowed = length <= 3 ? 1 : length <= 7 ? 2 : 3;
    size_t best_distance = SIZE_MAX;
    const char *best = NULL;

    for (size_t i = 0; i < n; i++) {
        size_t d = distance(typed, candidates[i]);

        /* a beginning of a word that has at least three letters is meant, however long the rest */
        if (length >= 3 && strncmp(candidates[i], typed, length) == 0)
            d = least(d, 1);
        if (d < best_distance) {
            best_distance = d;
            best = candidates[i];
        }
    }
    return best_distance <= allowed ? best : NULL;
}
