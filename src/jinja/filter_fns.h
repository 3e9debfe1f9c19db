/*
 * The filters themselves, as rows of the table in filters.c name them.
 *
 *     {"trim", {"value chars", 1}, filter_trim, 0},
 *
 * v[0] is the operand; v[i] is JINJA_MISSING where an argument was not given; a row without
 * parameter names gets args only.
 */
#ifndef TALLY_JINJA_FILTER_FNS_H
#define TALLY_JINJA_FILTER_FNS_H

#include "jinja/filters.h"

#define FILTER(name)                                                         \
    int name(struct run *r, const struct filter *f, const struct args *args, \
             struct jinja_value *v, struct jinja_value *out)

/* filters_text.c */
FILTER(filter_case);
FILTER(filter_title);
FILTER(filter_trim);
FILTER(filter_replace);
FILTER(filter_indent);
FILTER(filter_join);
FILTER(filter_format);
FILTER(filter_center);
FILTER(filter_truncate);
FILTER(filter_wordcount);
FILTER(filter_striptags);
FILTER(filter_urlencode);
FILTER(filter_string);
FILTER(filter_safe);
FILTER(filter_escape);
FILTER(filter_tojson);
FILTER(filter_reverse);
FILTER(filter_xmlattr);

/* filters_number.c */
FILTER(filter_int);
FILTER(filter_float);
FILTER(filter_abs);
FILTER(filter_round);
FILTER(filter_filesize);

/* filters_list.c */
FILTER(filter_default);
FILTER(filter_length);
FILTER(filter_list);
FILTER(filter_first);
FILTER(filter_last);
FILTER(filter_items);
FILTER(filter_attr);
FILTER(filter_rows);
FILTER(filter_map);
enum select_kind { SELECT = 0, REJECT = 1, SELECT_ATTR = 2, REJECT_ATTR = 3 };
FILTER(filter_select);

/* filters_sort.c */
FILTER(filter_sort);
FILTER(filter_dictsort);
FILTER(filter_unique);
FILTER(filter_groupby);
FILTER(filter_extreme);
FILTER(filter_sum);

#endif
