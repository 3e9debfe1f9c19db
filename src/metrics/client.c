#include "metrics/client.h"

#include <stdbool.h>

static const struct {
    int64_t suspect, saturated; /* percent */
} limits[] = {
#define X(id, key, suspect, saturated, help) {suspect, saturated},
    CLIENT_RULES(X)
#undef X
};

static void judge(struct metrics_client *c, enum client_rule rule, bool known, bool suspect,
                  bool saturated)
{
    unsigned bit = 1u << rule;
    if (!known)
        c->unknown |= bit;
    else if (saturated)
        c->saturated |= bit;
    else if (suspect)
        c->suspect |= bit;
}

/* lag / whole > percent / 100. A lag is whole ns, so it may be held against the quotient rounded
 * down: it is above the one exactly when it is above the other. */
static bool over(int64_t lag_ns, int64_t whole_ns, int64_t percent)
{
    int64_t scaled;
    return !__builtin_mul_overflow(whole_ns, percent, &scaled) && lag_ns > scaled / 100;
}

static void judge_lag(struct metrics_client *c, enum client_rule rule, const struct client_lag *lag,
                      int64_t whole_ns)
{
    bool known = lag->n > 0 && lag->p99_ns >= 0 && whole_ns >= 0;
    judge(c, rule, known, known && over(lag->p99_ns, whole_ns, limits[rule].suspect),
          known && over(lag->supported_ns, whole_ns, limits[rule].saturated));
}

void metrics_judge_client(struct metrics_client *c)
{
    c->suspect = c->saturated = c->unknown = 0;
    judge_lag(c, CLIENT_READ_LAG, &c->read_lag, c->median_chunk_gap_ns);
    judge_lag(c, CLIENT_SEND_LAG, &c->send_lag, c->median_ttft_ns);
    judge(c, CLIENT_CPU, c->cpu_share >= 0, c->cpu_share * 100 > (double)limits[CLIENT_CPU].suspect,
          c->cpu_share * 100 > (double)limits[CLIENT_CPU].saturated);
    c->verdict = c->saturated ? CLIENT_SATURATED : c->suspect ? CLIENT_SUSPECT : CLIENT_OK;
}
