/*
 * Integers beyond 64 bits: sign and magnitude, limbs of nine decimal digits, least first.
 *
 *     struct jinja_value sum;
 *     if (big_add(a, x, y, &sum) < 0) ...               // x, y: JINJA_BOOL, JINJA_INT or JINJA_BIG
 *
 * Results that fit 64 bits are JINJA_INT again. Returns 0; BIG_TOO_LONG past JINJA_DIGITS_MAX
 * digits; BIG_NO_MEMORY when the arena is full. Results live in the arena.
 */
#ifndef TALLY_JINJA_BIG_H
#define TALLY_JINJA_BIG_H

#include "base/arena.h"
#include "base/buf.h"
#include "jinja/value.h"

#define BIG_TOO_LONG (-1)
#define BIG_NO_MEMORY (-2)
#define BIG_LIMB 1000000000u

struct jinja_big {
    bool negative;
    uint32_t n;
    const uint32_t *limb; /* the last one is not 0 */
};

/* Decimal digits, with an optional sign in front. */
int big_parse(struct arena *a, struct str digits, struct jinja_value *out);
int big_add(struct arena *a, struct jinja_value x, struct jinja_value y, struct jinja_value *out);
int big_sub(struct arena *a, struct jinja_value x, struct jinja_value y, struct jinja_value *out);
int big_mul(struct arena *a, struct jinja_value x, struct jinja_value y, struct jinja_value *out);
/* Floor division and its remainder, which takes the divisor's sign; y is not 0. */
int big_divmod(struct arena *a, struct jinja_value x, struct jinja_value y, struct jinja_value *q,
               struct jinja_value *rest);
int big_compare(struct jinja_value x, struct jinja_value y);
/* Nearest double; infinite when out of range. */
double big_double(struct jinja_value v);
/* A finite double's whole part, exactly. */
int big_from_double(struct arena *a, double d, struct jinja_value *out);
/* Decimal text of JINJA_INT or JINJA_BIG; 4310 bytes are enough. Returns the length. */
#define BIG_TEXT_MAX (JINJA_DIGITS_MAX + 16)
size_t big_text(char *out, struct jinja_value v);

#endif
