#include "chat/json_value.h"

/* Recursion is bounded by the depth the document was parsed with. */
int value_from_json(struct jinja_value *out, const struct json *doc, struct arena *a,
                    struct error *err)
{
    struct jinja_value v, item;
    switch (doc->type) {
    case JSON_NULL:
        *out = jinja_none();
        return 0;
    case JSON_FALSE:
    case JSON_TRUE:
        *out = jinja_bool(doc->type == JSON_TRUE);
        return 0;
    case JSON_NUMBER:
        if (jinja_number(out, doc->text, a, err) == 0)
            return 0;
        return error_at_line(err, doc->line, doc->column);
    case JSON_STRING:
        if (jinja_text(out, doc->text, err) == 0)
            return 0;
        return error_at_line(err, doc->line, doc->column);
    case JSON_ARRAY:
        if (jinja_list_new(&v, a, doc->n, err) < 0)
            return -1;
        for (size_t i = 0; i < doc->n; i++)
            if (value_from_json(&item, &doc->items[i], a, err) < 0 ||
                jinja_list_add(&v, item, a, err) < 0)
                return -1;
        *out = v;
        return 0;
    case JSON_OBJECT:
        if (jinja_dict_new(&v, a, doc->n, err) < 0)
            return -1;
        for (size_t i = 0; i < doc->n; i++)
            if (value_from_json(&item, &doc->members[i].value, a, err) < 0 ||
                jinja_dict_put(&v, doc->members[i].name, item, a, err) < 0)
                return -1;
        *out = v;
        return 0;
    }
    return 0;
}
