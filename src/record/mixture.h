/*
 * Shares of lengths: how many of a hundred prompts have so many tokens, or are to be answered with
 * so many.
 *
 *     struct mixture m;
 *     if (mixture_parse(&m, STR("128:40,512:30,2048:20,8192:10"), err) < 0) ...
 *     if (mixture_counts(&m, 50, counts, err) < 0) ...           // 20, 15, 10, 5
 *
 * n = 0 is no mixture. Shares are whole percents, each above 0, that add up to 100; lengths are
 * positive, each there once, in any order. A mixture owns nothing.
 * Limits: MIXTURE_MAX lengths, MIXTURE_TOKENS_MAX tokens each.
 */
#ifndef TALLY_RECORD_MIXTURE_H
#define TALLY_RECORD_MIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "codec/json.h"
#include "codec/json_write.h"

#define MIXTURE_MAX 16
#define MIXTURE_TOKENS_MAX 1000000
#define MIXTURE_NONE SIZE_MAX

struct mixture_share {
    int64_t tokens, percent;
};

struct mixture {
    struct mixture_share of[MIXTURE_MAX];
    size_t n;
};

/* The workload W2's prompts and answers (128 to 8,192 tokens, 16 to 512 generated). */
extern const struct mixture mixture_w2_prompts, mixture_w2_outputs;

/* "TOKENS:PERCENT,…". ERROR_USAGE says what is wrong; *m is untouched then. */
int mixture_parse(struct mixture *m, struct str text, struct error *err) TALLY_MUST_CHECK;
/* Appends the same text. */
void mixture_format(const struct mixture *m, struct buf *out);
/* [{"tokens": 128, "percent": 40}, …]. Reading is as strict as parsing: ERROR_INPUT. */
void mixture_write(const struct mixture *m, struct json_writer *w);
int mixture_read(struct mixture *m, const struct json *v, struct error *err) TALLY_MUST_CHECK;

bool mixture_equal(const struct mixture *a, const struct mixture *b); /* whatever the order */
/* Index of the length that lies within tolerance of tokens, the nearest one; MIXTURE_NONE. */
size_t mixture_find(const struct mixture *m, int64_t tokens, int64_t tolerance);
int64_t mixture_most(const struct mixture *m); /* the longest length; 0 without any */

/* How many of `count` each length has. ERROR_USAGE, with the nearest counts that do divide, where a
 * share is no whole number. */
int mixture_counts(const struct mixture *m, int64_t count, int64_t counts[MIXTURE_MAX],
                   struct error *err) TALLY_MUST_CHECK;

/* Deals lengths out one by one so that after every k of them each length has had its share of k to
 * within one (Tijdeman, The chairman assignment problem, 1980); whole rounds come out exact.
 *
 *     struct mixture_deal d = {.m = &m};
 *     i = mixture_next(&d);                     // index into m.of
 */
struct mixture_deal {
    const struct mixture *m;
    int64_t dealt, had[MIXTURE_MAX];
};
size_t mixture_next(struct mixture_deal *d);

#endif
