#include "wire/lag.h"

#include "record/sample.h"

/* Values below LAG_SHARE have a bucket each; above, a row holds one doubling. */
static void place(int64_t ns, int *row, int *column)
{
    int shift = 0;
    while ((ns >> shift) >= 2 * LAG_SHARE)
        shift++;
    *row = ns < LAG_SHARE ? 0 : shift + 1;
    *column = ns < LAG_SHARE ? (int)ns : (int)((ns >> shift) - LAG_SHARE);
}

static int64_t upper_end(int row, int column)
{
    if (row == 0)
        return column;
    return (((int64_t)LAG_SHARE + column + 1) << (row - 1)) - 1;
}

void lag_add(struct lag *lag, int64_t ns)
{
    int row, column;
    if (ns < 0)
        ns = 0;
    if (ns > LAG_MAX_NS)
        ns = LAG_MAX_NS;
    place(ns, &row, &column);
    lag->count[row][column]++;
    lag->n++;
    if (ns > lag->max_ns)
        lag->max_ns = ns;
}

int64_t lag_quantile(const struct lag *lag, int percent)
{
    int64_t rank = (lag->n * percent + 99) / 100, seen = 0;
    if (lag->n == 0)
        return COUNT_NONE;
    for (int row = 0; row <= LAG_DOUBLINGS; row++)
        for (int column = 0; column < LAG_SHARE; column++) {
            seen += lag->count[row][column];
            if (seen >= rank) {
                int64_t end = upper_end(row, column);
                return end < lag->max_ns ? end : lag->max_ns;
            }
        }
    return lag->max_ns;
}
