/*
 * The methods of str, as rows of the table in methods.c name them.
 *
 *     {"strip", S, {"/ chars", 0}, str_strip_method, 3, WRAPS},
 *
 * The row's variant says which of a family is meant.
 */
#ifndef TALLY_JINJA_STR_METHODS_H
#define TALLY_JINJA_STR_METHODS_H

#include "jinja/call.h"
#include "jinja/strings.h"

enum find_kind { FIND_FIRST, FIND_LAST, FIND_INDEX, FIND_RINDEX, FIND_COUNT };
enum is_kind {
    IS_ALPHA,
    IS_ALNUM,
    IS_DIGIT,
    IS_DECIMAL,
    IS_NUMERIC,
    IS_SPACE,
    IS_PRINTABLE,
    IS_ASCII,
    IS_IDENTIFIER,
};

#define STR_METHOD(name)                                                     \
    int name(struct run *r, struct jinja_value self, const struct method *m, \
             const struct args *args, struct jinja_value *v, struct jinja_value *out)

struct method;
STR_METHOD(str_find_method);
STR_METHOD(str_starts_method);
STR_METHOD(str_strip_method);
STR_METHOD(str_split_method);
STR_METHOD(str_lines_method);
STR_METHOD(str_partition_method);
STR_METHOD(str_replace_method);
STR_METHOD(str_remove_method);
STR_METHOD(str_join_method);
STR_METHOD(str_format_method);
STR_METHOD(str_case_method);
STR_METHOD(str_pad_method);
STR_METHOD(str_zfill_method);
STR_METHOD(str_expandtabs_method);
STR_METHOD(str_is_method);
STR_METHOD(str_is_cased_method);

#endif
