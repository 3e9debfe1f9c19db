#include "jinja/inspect.h"

#include "jinja/ast.h"

static bool is_attribute(const struct expr *e, struct str name)
{
    while (e && e->kind == E_FILTER) /* {% for part in message.content|list %} */
        e = e->u.call.callee;
    if (!e)
        return false;
    if (e->kind == E_GETATTR)
        return str_eq(e->u.two.symbol->text, name);
    const struct expr *key = e->kind == E_GETITEM ? e->u.two.right : NULL;
    return key && key->kind == E_CONST && key->u.value.type == JINJA_STRING &&
           str_eq(jinja_str(key->u.value), name);
}

static bool loops_over(const struct stmt *s, struct str name)
{
    for (; s; s = s->next) {
        bool found = false;
        switch ((enum stmt_kind)s->kind) {
        case S_FOR:
            found = is_attribute(s->u.loop.iter, name) || loops_over(s->u.loop.body, name) ||
                    loops_over(s->u.loop.otherwise, name);
            break;
        case S_IF:
            /* a chain of elif is walked, not recursed into */
            for (const struct stmt *e = s; e && !found;) {
                found = loops_over(e->u.cond.body, name);
                e = e->u.cond.otherwise;
                if (e && (e->kind != S_IF || e->next)) {
                    found = found || loops_over(e, name);
                    break;
                }
            }
            break;
        case S_MACRO:
            found = loops_over(s->u.macro.def->body, name);
            break;
        case S_CALL_BLOCK:
            found = loops_over(s->u.block.macro->body, name);
            break;
        case S_SET_BLOCK:
        case S_FILTER_BLOCK:
        case S_GENERATION:
            found = loops_over(s->u.block.body, name);
            break;
        case S_WITH:
            found = loops_over(s->u.with.body, name);
            break;
        default:
            break;
        }
        if (found)
            return true;
    }
    return false;
}

bool jinja_loops_over(const struct jinja_template *t, struct str attribute)
{
    return loops_over(t->body, attribute);
}
