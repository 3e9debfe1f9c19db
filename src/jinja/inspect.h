/*
 * Questions about a template that need no render.
 *
 *     if (jinja_loops_over(t, STR("content"))) ...       // {% for part in message.content %}
 *
 * jinja_reads (jinja.h) tells whether a name occurs at all.
 */
#ifndef TALLY_JINJA_INSPECT_H
#define TALLY_JINJA_INSPECT_H

#include "jinja/jinja.h"

/* Does any loop walk over an attribute or key of this name, at whatever depth? */
bool jinja_loops_over(const struct jinja_template *t, struct str attribute);

#endif
