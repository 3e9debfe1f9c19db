/*
 * Writes a large run directory at argv[1] by the real producer, for large.py and bench/report: two
 * lanes, concurrencies 4, 8, 16 and 32, one replicate of argv[2] seconds, in which each worker
 * sends a request every 300 ms: 26 seconds are 10,320 requests. No two take the same time, so that
 * nothing is drawn alike.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "gate/specimen.h"
#include "stats/random.h"

/* First token and steps between 0.5 and 2.5 times the specimen's. */
static bool change(void *ctx, struct sample *s)
{
    struct random *r = ctx;
    struct sample_read_stamp *reads = (struct sample_read_stamp *)(uintptr_t)s->reads;
    double by = 0.5 + 2 * random_unit(r);

    for (size_t i = 0; i < s->reads_n; i++) {
        int64_t after = (int64_t)((double)(reads[i].t_user_ns - s->t_sent_ns) * by);
        reads[i].t_user_ns = s->t_sent_ns + after;
        reads[i].t_lower_ns = reads[i].t_user_ns - 1000;
    }
    s->t_first_byte_ns = s->t_headers_ns = reads[0].t_user_ns;
    s->t_end_ns = reads[s->reads_n - 1].t_user_ns;
    return false;
}

int main(int argc, char **argv)
{
    static const int32_t bands[] = {4, 8, 16, 32};
    struct specimen s;
    struct random r;
    struct error err = {0};

    int64_t seconds;

    if (argc != 3 || num_parse_i64(&seconds, str_of(argv[2])) < 0)
        return 2;
    random_seed(&r, 10000);
    specimen_init(&s);
    s.dir = argv[1];
    s.replicates = 1;
    s.window_s = seconds;
    s.bands_n = sizeof bands / sizeof bands[0];
    for (size_t i = 0; i < s.bands_n; i++)
        s.bands[i] = bands[i];
    s.ctx = &r;
    s.change = change;
    if (specimen_write(&s, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    return 0;
}
