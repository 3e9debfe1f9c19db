/*
 * Whether a body reads a name that nothing in it has bound before: how Jinja2 finds out that a
 * macro wants caller, kwargs or varargs.
 *
 *     if (mentions(def->body, symbol)) ...
 *
 * Every depth counts, macros inside included. Takes no memory.
 */
#ifndef TALLY_JINJA_MENTIONS_H
#define TALLY_JINJA_MENTIONS_H

#include "jinja/ast.h"

bool mentions(const struct stmt *body, const struct symbol *symbol);

#endif
