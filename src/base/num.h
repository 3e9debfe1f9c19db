/*
 * Numbers to and from text, without locale.
 *
 *     int64_t n;
 *     if (num_parse_i64(&n, STR("42")) < 0) ...          // whole string or nothing
 *     num_add_ms(&buf, 1234567);                        // "1.234567": ns printed as ms
 *
 * Parsers take the whole string or fail with -1 and leave the output untouched.
 */
#ifndef TALLY_BASE_NUM_H
#define TALLY_BASE_NUM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

/* The longest text of a double; the exact digits of the smallest would need 767. */
#define NUM_DOUBLE_TEXT_MAX 800

int num_parse_i64(int64_t *out, struct str s);
int num_parse_u64(uint64_t *out, struct str s);
bool num_is_json(struct str s); /* is all of s a number of JSON's grammar? */
/* JSON's number grammar (no NaN, infinity, hexadecimal or leading '+'), to the nearest double; -1
 * too for what overflows to infinity. */
int num_parse_double(double *out, struct str s);
/* "250ms", "60s", "1.5s", "30min", "30m", "1h", "20us", "7ns"; "0" needs no unit. Up to nine digits
 * behind the point; what is no whole number of nanoseconds is refused. */
int num_parse_duration_ns(int64_t *out, struct str s);

/* "2", "2.5", "0.125": digits, and up to three more behind a point, as whole thousandths. What is
 * finer is refused, not rounded; so are signs and exponents. */
int num_parse_milli(int64_t *out, struct str s);

/* Integer nanoseconds as milliseconds with six decimals: exact, "-0.000001" for -1. */
void num_add_ms(struct buf *b, int64_t ns);
/* The inverse: exactly what num_add_ms writes, and nothing else. 0 or -1. */
int num_parse_ms(int64_t *ns, struct str s);
/* A real with nine significant digits, half to even, in JSON's grammar, shortest of the spellings
 * (no trailing zeros, always with a digit before the point). v must be finite. */
void num_add_real9(struct buf *b, double v);
/* The shortest text that reads back as v, as Python's repr prints it: "1.0", "1e+20", "1e-07".
 * Infinities and NaN print as "inf", "-inf", "nan". */
void num_add_repr(struct buf *b, double v);
/* 12345678 -> "12,345,678". */
void num_add_grouped(struct buf *b, int64_t v);

#endif
