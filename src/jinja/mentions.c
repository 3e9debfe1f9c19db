#include "jinja/mentions.h"

struct search {
    const struct symbol *symbol;
    bool found, bound;
};

static void search_stmts(struct search *q, const struct stmt *s);

static void search_expr(struct search *q, const struct expr *e, bool target)
{
    if (!e || q->found || q->bound)
        return;
    switch ((enum expr_kind)e->kind) {
    case E_NAME:
        if (e->u.name.symbol == q->symbol)
            *(target ? &q->bound : &q->found) = true;
        break;
    case E_CONST:
    case E_NSREF:
        break;
    case E_LIST:
    case E_TUPLE:
    case E_DICT:
    case E_SLICE:
    case E_CONCAT:
    case E_COMPARE:
        for (uint32_t i = 0; i < e->u.list.n; i++)
            search_expr(q, e->u.list.items[i], target);
        break;
    case E_CALL:
    case E_FILTER:
    case E_TEST:
        search_expr(q, e->u.call.callee, false);
        for (unsigned i = 0; i < (unsigned)e->u.call.args.n_pos + e->u.call.args.n_kw; i++)
            search_expr(q, e->u.call.args.items[i], false);
        search_expr(q, e->u.call.args.star, false);
        search_expr(q, e->u.call.args.star_star, false);
        break;
    default:
        search_expr(q, e->u.two.left, false);
        search_expr(q, e->u.two.right, false);
        if (e->kind == E_COND)
            search_expr(q, e->u.two.other, false);
    }
}

static void search_macro(struct search *q, const struct macro_def *def)
{
    for (uint32_t i = 0; i < def->n_params; i++)
        search_expr(q, def->params[i], true);
    for (uint32_t i = 0; i < def->n_defaults; i++)
        search_expr(q, def->defaults[i], false);
    search_stmts(q, def->body);
}

static void search_stmt(struct search *q, const struct stmt *s)
{
    switch ((enum stmt_kind)s->kind) {
    case S_OUTPUT:
    case S_DO:
    case S_SET:
        search_expr(q, s->u.one.target, true);
        search_expr(q, s->u.one.value, false);
        break;
    case S_FOR:
        search_expr(q, s->u.loop.target, true);
        search_expr(q, s->u.loop.iter, false);
        search_stmts(q, s->u.loop.body);
        search_stmts(q, s->u.loop.otherwise);
        search_expr(q, s->u.loop.test, false);
        break;
    case S_IF:
        search_expr(q, s->u.cond.test, false);
        search_stmts(q, s->u.cond.body);
        break; /* otherwise: search_stmts goes on with it */
    case S_MACRO:
        search_macro(q, s->u.macro.def);
        break;
    case S_CALL_BLOCK:
        search_expr(q, s->u.block.call, false);
        search_macro(q, s->u.block.macro);
        break;
    case S_SET_BLOCK:
    case S_FILTER_BLOCK:
    case S_GENERATION:
        search_expr(q, s->u.block.target, true);
        search_expr(q, s->u.block.filter, false);
        search_stmts(q, s->u.block.body);
        break;
    case S_WITH:
        for (uint32_t i = 0; i < s->u.with.n; i++) {
            search_expr(q, s->u.with.targets[i], true);
            search_expr(q, s->u.with.values[i], false);
        }
        search_stmts(q, s->u.with.body);
        break;
    case S_DATA:
    case S_BREAK:
    case S_CONTINUE:
        break;
    }
}

static void search_stmts(struct search *q, const struct stmt *s)
{
    for (; s && !q->found && !q->bound; s = s->next) {
        search_stmt(q, s);
        /* A chain of elif is a loop here: it may be long. */
        const struct stmt *e = s->kind == S_IF ? s->u.cond.otherwise : NULL;
        for (; e && e->kind == S_IF && !e->next; e = e->u.cond.otherwise)
            search_stmt(q, e);
        search_stmts(q, e);
    }
}

bool mentions(const struct stmt *body, const struct symbol *symbol)
{
    struct search q = {.symbol = symbol};
    search_stmts(&q, body);
    return q.found;
}
