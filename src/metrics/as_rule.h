/*
 * The vocabulary in which the tools' definitions are written down (as_profiles.c), one request read
 * by such a rule (as_request.c), and the statistics they use (as_stat.c).
 *
 *     struct as_request q;
 *     as_read(&q, rule, sample, facts, &gaps);    // appends the request's gaps
 *
 * Only for as*.c of this folder.
 */
#ifndef TALLY_METRICS_AS_RULE_H
#define TALLY_METRICS_AS_RULE_H

#include "metrics/as.h"

enum as_clock {
    AS_FROM_ISSUE, /* before the connection is there */
    AS_FROM_SENT,  /* when the first byte of the request is written */
};

/* What counts as a chunk: what sets the first token and the gaps. */
enum as_chunk {
    AS_CHUNK_CHOICES, /* any SSE event whose choices array is not empty, also without text */
    AS_CHUNK_CONTENT, /* one with text, reasoning or tool arguments */
    AS_CHUNK_TEXT,    /* one with visible text */
    AS_CHUNK_TOKEN,   /* one that bears a token, as in tally's own metrics */
};

enum as_end {
    AS_END_CHUNK,    /* the last chunk */
    AS_END_LINE,     /* the last line, [DONE] included */
    AS_END_TRANSFER, /* the end of the response */
};

enum as_tokens {
    AS_TOKENS_USAGE_CHUNK,  /* usage of a chunk without choices; else the text, tokenized */
    AS_TOKENS_USAGE_ASKED,  /* usage; else as many as were asked for */
    AS_TOKENS_USAGE_CHUNKS, /* usage; else the number of chunks */
    AS_TOKENS_TEXT,         /* the joined texts, tokenized */
    AS_TOKENS_RUN,          /* the receipt's own output_count_source */
};

enum as_prompt { AS_PROMPT_USAGE, AS_PROMPT_BODY };

enum as_gap {
    AS_GAP_CHUNK, /* from chunk to chunk */
    AS_GAP_TOKEN, /* from token to token: all tokens of a chunk at its time, so most are 0 */
};

enum as_quantile {
    AS_LINEAR,  /* between the two nearest ranks (numpy's default) */
    AS_LOWER,   /* the least value whose cumulative weight reaches p */
    AS_NEAREST, /* nearest rank: the value at ceil(n p) */
};

enum as_success {
    AS_OK_CHUNK,    /* HTTP 200 and a chunk; an error object in the stream fails it */
    AS_OK_UNHEEDED, /* the same, but an error object in the stream goes unnoticed */
    AS_OK_200,      /* HTTP 200; without any chunk the time to the first is taken as 0 */
    AS_OK_FINISHED, /* ended, and not truncated */
};

/* Values of requests (or gaps), over the successful ones. */
enum as_series {
    AS_TTFT,
    AS_TTFC,   /* to the first chunk with visible text */
    AS_SECOND, /* first to second chunk */
    AS_LATENCY,
    AS_TPOT,       /* (end - first chunk) / (tokens - 1) */
    AS_CHUNK_TPOT, /* (last chunk - first chunk) / (tokens - 1) */
    AS_TPOT_ALL,   /* latency / tokens */
    AS_CHUNK_ALL,  /* (last chunk - start) / tokens */
    AS_RATE,       /* 1 / AS_CHUNK_TPOT */
    AS_GAPS,
    AS_TOKEN_COUNT,
    AS_SERIES,
};

enum as_scalar {
    AS_DURATION = AS_SERIES,
    AS_REQUESTED,
    AS_COMPLETED,
    AS_FAILED,
    AS_TIMEOUTS,
    AS_TRUNCATED,
    AS_INPUT,
    AS_OUTPUT,
    AS_REQUEST_RATE,
    AS_INPUT_RATE,
    AS_OUTPUT_RATE,
    AS_TOTAL_RATE,
    AS_SUM_LATENCY_RATE,     /* sum of latencies / duration: mean concurrency */
    AS_PEAK_CHUNKS,          /* chunks in the fullest second, counted from the first start */
    AS_PEAK_REQUESTS,        /* most in flight at one instant */
    AS_PEAK_REQUESTS_SECOND, /* most in flight within one such second */
    AS_DRAIN,
    AS_SCALING, /* set by as_set_base */
};

/* How a profile's duration is bounded. */
enum as_span { AS_SPAN_ALL, AS_SPAN_SUCCESS };

enum as_statistic { AS_MEAN, AS_MEDIAN, AS_STD, AS_MIN, AS_MAX, AS_PERCENTILE };

struct as_stat {
    const char *name; /* in the tool's spelling */
    enum as_statistic kind;
    double percent;
};

struct as_spec {
    const char *name; /* "%s" stands for the statistic's name; none: a scalar */
    const char *unit;
    int what;                    /* enum as_series or as_scalar */
    double per_unit;             /* ns a unit, for times; else 1 */
    bool weighted;               /* each request by the tokens that it was divided by */
    const struct as_stat *stats; /* NULL: the rule's */
};

struct as_rule {
    enum as_clock clock;
    enum as_chunk chunk;
    enum as_end end;
    enum as_tokens tokens;
    enum as_prompt prompt;
    enum as_gap gap;
    enum as_quantile quantile;
    enum as_success success;
    enum as_span span;
    bool own_time; /* stamps as tally's metrics use them; else when poll reported the read */
    bool one_token_has_no_ttft;  /* requests of a single token have no TTFT */
    const struct as_stat *stats; /* ends with name NULL */
    const struct as_spec *specs; /* ends with name NULL */
};

struct as_request {
    bool success;
    int64_t start_ns, first_ns, visible_ns, second_ns, last_ns, end_ns; /* TIME_NONE */
    int64_t chunks, tokens, prompt;                                     /* COUNT_NONE */
};

/* A growing array of values with weights, in ns, tokens or 1/s. */
struct as_values {
    double *v, *weight;
    size_t n, size;
    struct arena *arena;
};

int as_push(struct as_values *a, double v, double weight, struct error *err) TALLY_MUST_CHECK;

/* The chunks' times are appended to `times` when it is not NULL, the gaps to `gaps`. */
int as_read(struct as_request *q, const struct as_rule *rule, const struct sample *s,
            const struct metrics_band_facts *facts, struct as_values *times, struct as_values *gaps,
            struct error *err) TALLY_MUST_CHECK;

/* Sorts by value. */
void as_sort(struct as_values *a);
/* Of sorted values, n > 0. */
double as_statistic(const struct as_values *a, const struct as_stat *stat, enum as_quantile q);

#endif
