/*
 * Values as text: str, repr, JSON, HTML escaping; and the two kinds of format string.
 *
 *     struct jinja_value s;
 *     if (text_str(r, v, &s) < 0) ...
 *
 * As Python's str(), repr(), json.dumps(), markupsafe.escape(), "%" and str.format print them.
 */
#ifndef TALLY_JINJA_TEXT_H
#define TALLY_JINJA_TEXT_H

#include "jinja/run.h"

/* A string stays as it is (but is no longer Markup). */
int text_str(struct run *r, struct jinja_value v, struct jinja_value *out);
/* As Jinja2's soft_str: a string stays as it is, Markup included. */
int text_soft(struct run *r, struct jinja_value v, struct jinja_value *out);
int text_add_str(struct sb *b, struct jinja_value v);
int text_add_repr(struct sb *b, struct jinja_value v);
void text_add_float(struct sb *b, double d);
void text_add_int(struct sb *b, struct jinja_value v);

int text_escape(struct run *r, struct jinja_value v, struct jinja_value *out);
void text_add_escaped(struct sb *b, struct str s);

struct json_style {
    bool ensure_ascii, sort_keys;
    bool pretty;       /* indent was given */
    struct str indent; /* one level of it */
    struct str item, key;
};
int text_json(struct run *r, struct jinja_value v, const struct json_style *style,
              struct jinja_value *out);

/* format % values; `values` is a tuple, dict, or single value. */
int text_percent(struct run *r, struct jinja_value format, struct jinja_value values,
                 struct jinja_value *out);

struct args;
/* format.format(*args) */
int text_format(struct run *r, struct jinja_value format, const struct args *args,
                struct jinja_value *out);

/* What "{:spec}" and "%spec" share. */
struct spec {
    uint32_t fill; /* code point; 0 = default */
    char align;    /* one of <>=^, 0 = by type */
    char sign;     /* '+', ' ' or 0 */
    bool alternate, zero;
    char group;               /* ',' or '_', 0 = none */
    int64_t width, precision; /* precision -1: none */
    char type;                /* 0 = none */
};
/* A number, formatted for spec.type (d b o x X e E f F g G % n c), with padding. */
int text_add_number(struct sb *b, struct jinja_value v, const struct spec *spec, bool percent);
/* s padded to width, by code points; default alignment is left. */
void text_add_padded(struct sb *b, struct str s, const struct spec *spec);

int text_strftime(struct run *r, struct str format, const struct jinja_time *t,
                  struct jinja_value *out);

#endif
