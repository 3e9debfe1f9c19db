#include <stdlib.h>

#include "base/utf8.h"
#include "report/show.h"
#include "report/show_csv.h"

#define REPLICATES_MAX 1000
#define BANDS_MAX 64
#define BLOCKS 8
#define BLOCK_LOWEST 0x2581u /* LOWER ONE EIGHTH BLOCK, and seven more */
#define NAME_COLUMNS 22
#define LANE_COLUMNS 13

static const struct spark {
    const char *title, *path;
} sparks[] = {
    {"aggregate, tok/s", "metrics.agg_tok_s.value"},
    {"decode, tok/s", "metrics.decode_tok_s.value"},
    {"first token p50, ms", "metrics.ttft_ms.p50"},
    {"first token p95, ms", "metrics.ttft_ms.p95"},
    {"per token p50, ms", "metrics.tpot_ms.p50"},
    {"request p50, ms", "metrics.e2e_ms.p50"},
};

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The middle value over the replicates that have one; below 0 where none has. */
static double median_of(const struct json *bands, struct str lane, int64_t c, const char *path)
{
    double v[REPLICATES_MAX];
    size_t n = 0;

    for (size_t i = 0; i < bands->n && n < REPLICATES_MAX; i++) {
        const struct json *b = &bands->items[i];
        int64_t band;
        if (json_i64(&band, json_get(b, "band")) < 0 || band != c ||
            !str_eq(show_text(b, "lane"), lane) || json_double(&v[n], json_path(b, path)) < 0)
            continue;
        n++;
    }
    if (n == 0)
        return -1;
    qsort(v, n, sizeof v[0], by_size);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

struct glance {
    const struct json *bands, *lanes, *list; /* list: the concurrencies */
    size_t n;                                /* of it that are shown */
    struct buf *out;
};

static int64_t concurrency(const struct glance *g, size_t i)
{
    int64_t c = -1;
    (void)json_i64(&c, &g->list->items[i]);
    return c;
}

static void put_blocks(const struct glance *g, struct str lane, const char *path, double largest)
{
    double first = -1, last = -1;

    for (size_t i = 0; i < g->n; i++) {
        double v = median_of(g->bands, lane, concurrency(g, i), path);
        if (v < 0 || largest <= 0) {
            buf_addc(g->out, '-');
            continue;
        }
        unsigned block = (unsigned)(v / largest * BLOCKS);
        utf8_add(g->out, BLOCK_LOWEST + (block < BLOCKS ? block : BLOCKS - 1));
        first = first < 0 ? v : first;
        last = v;
    }
    if (last >= 0)
        buf_addf(g->out, "  %.*f to %.*f", first < 100 ? 2 : 0, first, last < 100 ? 2 : 0, last);
    buf_addc(g->out, '\n');
}

static void put_spark(const struct glance *g, const struct spark *spark)
{
    double largest = 0;

    for (size_t l = 0; l < g->lanes->n; l++)
        for (size_t i = 0; i < g->n; i++) {
            double v = median_of(g->bands, show_text(&g->lanes->items[l], "role"),
                                 concurrency(g, i), spark->path);
            largest = v > largest ? v : largest;
        }
    for (size_t l = 0; l < g->lanes->n; l++) {
        struct str lane = show_text(&g->lanes->items[l], "role");
        text_cell(g->out, l ? (struct str){"", 0} : str_of(spark->title), NAME_COLUMNS);
        text_cell(g->out, lane, LANE_COLUMNS);
        put_blocks(g, lane, spark->path, largest);
    }
}

void show_sparklines(const struct json *doc, struct buf *out)
{
    struct glance g = {.bands = json_get(doc, "bands"),
                       .lanes = json_get(doc, "lanes"),
                       .list = json_path(doc, "protocol.bands"),
                       .out = out};

    if (!json_is(g.bands, JSON_ARRAY) || !json_is(g.lanes, JSON_ARRAY) ||
        !json_is(g.list, JSON_ARRAY) || g.list->n == 0)
        return;
    g.n = g.list->n < BANDS_MAX ? g.list->n : BANDS_MAX;
    buf_addf(out,
             "at a glance: one block a band, c = %lld to %lld, the median of its replicates; a "
             "metric's\nlargest is a full block, '-' is none\n",
             (long long)concurrency(&g, 0), (long long)concurrency(&g, g.n - 1));
    for (size_t i = 0; i < sizeof sparks / sizeof sparks[0]; i++)
        put_spark(&g, &sparks[i]);
    buf_addc(out, '\n');
}
