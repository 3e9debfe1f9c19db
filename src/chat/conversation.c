#include "chat/conversation.h"

#include <stdio.h>
#include <string.h>

#include "chat/json_value.h"
#include "jinja/inspect.h"

#define PUT(dict, key, value) jinja_dict_put((dict), (key), (value), a, err)

int chat_check_messages(const struct json *messages, struct error *err)
{
    if (!json_is(messages, JSON_ARRAY))
        return error_set(err, ERROR_INPUT, "messages must be a list");
    for (size_t i = 0; i < messages->n; i++)
        if (!json_is(json_get(&messages->items[i], "role"), JSON_STRING)) {
            error_set(err, ERROR_INPUT, "message %zu has no role", i + 1);
            return error_at_line(err, messages->items[i].line, messages->items[i].column);
        }
    return 0;
}

int chat_content_text(struct str *out, const struct json *content, struct arena *a,
                      struct error *err)
{
    size_t n = 0;
    *out = STR("");
    if (json_str(out, content) == 0 || !json_is(content, JSON_ARRAY))
        return 0;
    for (size_t i = 0; i < content->n; i++) {
        struct str text = {0};
        if (json_str(&text, json_get(&content->items[i], "text")) == 0)
            n += text.n + 1;
    }
    char *p = arena_alloc(a, n + 1), *to = p;
    if (!p)
        return arena_check(a, "conversation", err);
    for (size_t i = 0; i < content->n; i++) {
        struct str text = {0};
        if (json_str(&text, json_get(&content->items[i], "text")) < 0)
            continue;
        if (to > p)
            *to++ = '\n';
        if (text.n)
            memcpy(to, text.p, text.n);
        to += text.n;
    }
    *out = (struct str){p, (size_t)(to - p)};
    return 0;
}

/* '<' U+200B '|' for "<|", as a server does that wants no special token out of content. */
static int defuse(struct str *s, struct arena *a, struct error *err)
{
    size_t marks = 0, n = 0;
    for (size_t i = 0; i + 1 < s->n; i++)
        marks += s->p[i] == '<' && s->p[i + 1] == '|';
    if (marks == 0)
        return 0;
    char *p = arena_alloc(a, s->n + 3 * marks + 1);
    if (!p)
        return arena_check(a, "conversation", err);
    for (size_t i = 0; i < s->n; i++) {
        p[n++] = s->p[i];
        if (s->p[i] == '<' && i + 1 < s->n && s->p[i + 1] == '|') {
            memcpy(p + n, "\xE2\x80\x8B", 3);
            n += 3;
        }
    }
    *s = (struct str){p, n};
    return 0;
}

static bool takes_parts(const struct chat_template *t)
{
    return t && jinja_loops_over(t->jinja, STR("content"));
}

/* A plain string as the one text part it is, for templates that walk over parts. */
static int as_parts(struct jinja_value *out, struct jinja_value text, struct arena *a,
                    struct error *err)
{
    struct jinja_value part;
    if (jinja_list_new(out, a, 1, err) < 0 || jinja_dict_new(&part, a, 2, err) < 0 ||
        PUT(&part, STR("type"), jinja_string(STR("text"))) < 0 || PUT(&part, STR("text"), text) < 0)
        return -1;
    return jinja_list_add(out, part, a, err);
}

static int content_value(struct jinja_value *out, const struct json *content,
                         const struct chat_profile *p, const struct chat_template *t,
                         struct arena *a, struct error *err)
{
    struct str text;
    bool parts = p->parts == PARTS_BY_TEMPLATE && takes_parts(t);
    if (!content || content->type == JSON_NULL) {
        *out = p->null_content == NULL_IS_EMPTY ? jinja_string(STR("")) : jinja_none();
        return 0;
    }
    if (content->type == JSON_ARRAY && (p->parts == PARTS_KEPT || parts))
        return value_from_json(out, content, a, err);
    if (content->type != JSON_ARRAY && content->type != JSON_STRING)
        return value_from_json(out, content, a, err);
    if (chat_content_text(&text, content, a, err) < 0 ||
        (p->markup == MARKUP_DEFUSED && defuse(&text, a, err) < 0) ||
        jinja_text(out, text, err) < 0)
        return -1;
    return parts ? as_parts(out, *out, a, err) : 0;
}

/* tool_calls with argument strings read as the JSON they hold; what is none stays a string. */
static int parsed_calls(struct jinja_value *out, const struct json *calls, struct arena *a,
                        struct error *err)
{
    if (value_from_json(out, calls, a, err) < 0 || calls->type != JSON_ARRAY)
        return calls->type == JSON_ARRAY ? -1 : 0;
    for (size_t i = 0; i < calls->n; i++) {
        const struct json *function = json_get(&calls->items[i], "function"), *doc;
        struct error ignored;
        struct str text;
        struct jinja_value v;
        if (json_str(&text, json_get(function, "arguments")) < 0 ||
            json_parse(&doc, text, &JSON_LIMITS_DEFAULT, a, &ignored) < 0)
            continue;
        if (value_from_json(&v, doc, a, err) < 0)
            return -1;
        const struct jinja_value *f = jinja_dict_get(out->u.list->items[i], STR("function"));
        struct jinja_value dict = *f;
        if (PUT(&dict, STR("arguments"), v) < 0)
            return -1;
    }
    return 0;
}

static int message_value(struct jinja_value *out, const struct json *m,
                         const struct chat_profile *p, const struct chat_template *t,
                         struct arena *a, struct error *err)
{
    bool has_content = json_get(m, "content") != NULL;
    if (jinja_dict_new(out, a, m->n + 1, err) < 0)
        return -1;
    for (size_t i = 0; i < m->n; i++) {
        struct str name = m->members[i].name, role;
        const struct json *v = &m->members[i].value;
        struct jinja_value value;
        int rc;
        if (str_eq(name, STR("content"))) {
            rc = content_value(&value, v, p, t, a, err);
        } else if (str_eq(name, STR("role")) && json_str(&role, v) == 0) {
            bool developer = p->developer_is_system && str_eq(role, STR("developer"));
            rc = jinja_text(&value, developer ? STR("system") : role, err);
        } else if (p->only_role_and_content) {
            continue;
        } else if (str_eq(name, STR("tool_calls")) && p->arguments == ARGUMENTS_PARSED) {
            rc = parsed_calls(&value, v, a, err);
        } else {
            rc = value_from_json(&value, v, a, err);
        }
        if (rc < 0 || PUT(out, name, value) < 0)
            return -1;
    }
    if (!has_content && p->null_content == NULL_IS_EMPTY)
        return PUT(out, STR("content"), jinja_string(STR("")));
    return 0;
}

static int system_message(struct jinja_value *out, const char *text, const struct chat_profile *p,
                          const struct chat_template *t, struct arena *a, struct error *err)
{
    const struct json_member members[2] = {
        {STR("role"), {.type = JSON_STRING, .text = STR("system")}},
        {STR("content"), {.type = JSON_STRING, .text = str_of(text)}},
    };
    const struct json m = {.type = JSON_OBJECT, .n = 2, .members = members};
    return message_value(out, &m, p, t, a, err);
}

static bool is_assistant(const struct json *m)
{
    struct str role;
    return json_str(&role, json_get(m, "role")) == 0 && str_eq(role, STR("assistant"));
}

int chat_messages(struct jinja_value *out, struct str *prefill, const struct chat_request *q,
                  const struct chat_profile *p, const struct chat_template *t, struct arena *a,
                  struct error *err)
{
    struct jinja_value m;
    size_t n;
    *prefill = STR("");
    if (chat_check_messages(q->messages, err) < 0 ||
        jinja_list_new(out, a, q->messages->n + 1, err) < 0)
        return -1;
    if (q->system &&
        (system_message(&m, q->system, p, t, a, err) < 0 || jinja_list_add(out, m, a, err) < 0))
        return -1;
    n = q->messages->n;
    bool last_is_assistant = n && is_assistant(&q->messages->items[n - 1]);
    if (last_is_assistant && p->last_assistant == LAST_PREFILLED) {
        n--;
        if (chat_content_text(prefill, json_get(&q->messages->items[n], "content"), a, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < n; i++) {
        if (message_value(&m, &q->messages->items[i], p, t, a, err) < 0)
            return -1;
        if (i + 1 == q->messages->n && last_is_assistant && p->last_assistant == LAST_AS_USER &&
            PUT(&m, STR("role"), jinja_string(STR("user"))) < 0)
            return -1;
        if (jinja_list_add(out, m, a, err) < 0)
            return -1;
    }
    return 0;
}

static int copy_member(struct jinja_value *dict, const struct json *from, const char *name,
                       const struct jinja_value *fallback, struct arena *a, struct error *err)
{
    const struct json *v = json_get(from, name);
    struct jinja_value value;
    if (!v && !fallback)
        return 0;
    if (v && value_from_json(&value, v, a, err) < 0)
        return -1;
    return PUT(dict, str_of(name), v ? value : *fallback);
}

static int tool_value(struct jinja_value *out, const struct json *tool,
                      const struct chat_profile *p, struct arena *a, struct error *err)
{
    const struct json *function = json_get(tool, "function");
    const struct jinja_value empty = jinja_string(STR("")), none = jinja_none();
    const struct jinja_value no = jinja_bool(false);
    struct jinja_value f;
    if (p->tools == TOOLS_KEPT || !json_is(function, JSON_OBJECT))
        return value_from_json(out, tool, a, err);
    if (jinja_dict_new(&f, a, 4, err) < 0 || jinja_dict_new(out, a, 2, err) < 0)
        return -1;
    bool first = p->tools == TOOLS_DESCRIPTION_FIRST;
    const struct jinja_value *missing = p->tools == TOOLS_DESCRIBED_EMPTY ? &empty : &none;
    if ((first && copy_member(&f, function, "description", &none, a, err) < 0) ||
        copy_member(&f, function, "name", NULL, a, err) < 0 ||
        (!first && copy_member(&f, function, "description", missing, a, err) < 0) ||
        copy_member(&f, function, "parameters", first ? &none : NULL, a, err) < 0 ||
        (first && copy_member(&f, function, "strict", &no, a, err) < 0))
        return -1;
    if (PUT(out, STR("type"), jinja_string(STR("function"))) < 0)
        return -1;
    return PUT(out, STR("function"), f);
}

static int put_tools(struct jinja_value *ctx, const struct chat_request *q,
                     const struct chat_profile *p, struct arena *a, struct error *err)
{
    struct jinja_value list, tool;
    if (!json_is(q->tools, JSON_ARRAY) || q->tools->n == 0)
        return p->tools_absent == ABSENT_NONE ? PUT(ctx, STR("tools"), jinja_none()) : 0;
    if (jinja_list_new(&list, a, q->tools->n, err) < 0)
        return -1;
    for (size_t i = 0; i < q->tools->n; i++)
        if (tool_value(&tool, &q->tools->items[i], p, a, err) < 0 ||
            jinja_list_add(&list, tool, a, err) < 0)
            return -1;
    return PUT(ctx, STR("tools"), list);
}

static int put_date(struct jinja_value *ctx, const char *name, const struct jinja_time *t,
                    bool day_first, struct arena *a, struct error *err)
{
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    char text[64];
    const char *month = months[t->month >= 1 && t->month <= 12 ? t->month - 1 : 0];
    if (day_first)
        snprintf(text, sizeof text, "%02d %s %d", t->day, month, t->year);
    else
        snprintf(text, sizeof text, "%s %02d %d", month, t->day, t->year);
    struct str kept = arena_str(a, str_of(text));
    return kept.p ? PUT(ctx, str_of(name), jinja_string(kept))
                  : arena_check(a, "conversation", err);
}

static int put_kwargs(struct jinja_value *ctx, const struct json *kwargs, struct arena *a,
                      struct error *err)
{
    struct jinja_value v;
    for (size_t i = 0; kwargs && i < kwargs->n; i++)
        if (value_from_json(&v, &kwargs->members[i].value, a, err) < 0 ||
            PUT(ctx, kwargs->members[i].name, v) < 0)
            return -1;
    return 0;
}

int chat_context(struct jinja_value *ctx, struct jinja_value messages, bool prefilled,
                 const struct chat_request *q, const struct chat_profile *p,
                 const struct chat_template *t, struct arena *a, struct error *err)
{
    bool generate = q->add_generation_prompt || prefilled;
    if (jinja_dict_new(ctx, a, 16, err) < 0)
        return -1;
    for (size_t i = 0; p->special_tokens && t && i < t->specials_n; i++)
        if (PUT(ctx, t->specials[i].name, jinja_string(t->specials[i].text)) < 0)
            return -1;
    if (PUT(ctx, STR("messages"), messages) < 0 || put_tools(ctx, q, p, a, err) < 0)
        return -1;
    if (p->documents && PUT(ctx, STR("documents"), jinja_none()) < 0)
        return -1;
    if ((generate || p->generation_prompt_always) &&
        PUT(ctx, STR("add_generation_prompt"), jinja_bool(generate)) < 0)
        return -1;
    if (p->dates && q->now &&
        (put_date(ctx, "date_string", q->now, true, a, err) < 0 ||
         put_date(ctx, "datetime", q->now, false, a, err) < 0))
        return -1;
    bool reads = t && jinja_reads(t->jinja, STR("enable_thinking"));
    if ((p->thinking == THINKING_OFF || (p->thinking == THINKING_ON_IF_READ && reads)) &&
        PUT(ctx, STR("enable_thinking"), jinja_bool(p->thinking != THINKING_OFF)) < 0)
        return -1;
    return put_kwargs(ctx, q->kwargs, a, err);
}
