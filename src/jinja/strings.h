/*
 * What Python's str methods and Jinja2's string filters share.
 *
 *     struct jinja_value out;
 *     if (str_strip(r, v, NULL, true, true, &out) < 0) ...
 *
 * v is a string everywhere; results keep its Markup flag. Positions are code points.
 */
#ifndef TALLY_JINJA_STRINGS_H
#define TALLY_JINJA_STRINGS_H

#include "jinja/run.h"

enum str_case { CASE_UPPER, CASE_LOWER, CASE_TITLE, CASE_CAPITALIZE, CASE_SWAP, CASE_FOLD };

int str_case(struct run *r, struct jinja_value v, enum str_case how, struct jinja_value *out);
/* chars NULL: white space. */
int str_strip(struct run *r, struct jinja_value v, const struct str *chars, bool left, bool right,
              struct jinja_value *out);
/* count -1: all. */
int str_replace(struct run *r, struct jinja_value v, struct str old, struct str to, int64_t count,
                struct jinja_value *out);
/* sep NULL: runs of white space. max -1: no limit. */
int str_split(struct run *r, struct jinja_value v, const struct str *sep, int64_t max,
              bool from_right, struct jinja_value *out);
int str_lines(struct run *r, struct jinja_value v, bool keep_ends, struct jinja_value *out);
/* align '<', '>', '^' */
int str_pad(struct run *r, struct jinja_value v, int64_t width, uint32_t fill, char align,
            struct jinja_value *out);
/* The last occurrence that ends at or before `end`, or STR_NONE. */
int find_last(struct run *r, struct str hay, struct str needle, size_t end, size_t *out);
/* sep.join(items), items as they are; each must be a string unless convert is set. */
int str_join(struct run *r, struct jinja_value sep, struct jinja_value items, bool convert,
             struct jinja_value *out);
enum cased_kind { CASED_LOWER, CASED_UPPER, CASED_TITLE };
/* islower(), isupper(), istitle() */
bool str_is_cased(struct str s, enum cased_kind kind);
int need_int(struct run *r, struct jinja_value v, int64_t fallback, int64_t *out);

#endif
