/* What the servers said of themselves, and what the client itself costs and errs. */
#include <stdio.h>

#include "report/show.h"

static const struct {
    const char *member, *title;
    size_t columns;
} cells[] = {
    {"slots", "slots", 8},
    {"in_flight_max", "in flight", 11},
    {"preemptions", "preempted", 11},
    {"kv_use_after", "KV use", 9},
    {"gpu_layers_resolved", "GPU layers", 12},
};

#define CELLS (sizeof cells / sizeof cells[0])

static bool says_anything(const struct json *band)
{
    for (size_t k = 0; k < CELLS; k++)
        if (json_is(json_get(json_get(band, "server"), cells[k].member), JSON_NUMBER))
            return true;
    return false;
}

static void put_cell(struct show *s, size_t i, size_t k)
{
    const struct json *v = json_get(json_get(&s->bands->items[i], "server"), cells[k].member);
    char path[64], letter[8];
    if (json_is(v, JSON_NUMBER)) {
        show_number(s, v, false, cells[k].columns);
        return;
    }
    snprintf(path, sizeof path, "bands.%zu.server.%s", i, cells[k].member);
    const struct json *why = json_get(json_get(s->doc, "unproduced_fields"), path);
    show_null(s, json_is(why, JSON_STRING) ? why->text : STR("missing"), letter);
    text_right(s->out, str_of(letter), cells[k].columns);
}

void show_servers(struct show *s)
{
    bool any = false;
    for (size_t i = 0; s->bands && i < s->bands->n; i++)
        any = any || says_anything(&s->bands->items[i]);
    if (!any)
        return;
    buf_adds(s->out, "\nwhat the servers say of themselves\n    c rep  lane       ");
    for (size_t k = 0; k < CELLS; k++)
        text_right(s->out, str_of(cells[k].title), cells[k].columns);
    buf_addc(s->out, '\n');
    for (size_t i = 0; i < s->bands->n; i++) {
        const struct json *b = &s->bands->items[i];
        text_right(s->out, show_text(b, "band"), 5);
        text_right(s->out, show_text(b, "replicate"), 4);
        buf_adds(s->out, "  ");
        text_cell(s->out, show_text(b, "lane"), 11);
        for (size_t k = 0; k < CELLS; k++)
            put_cell(s, i, k);
        buf_addc(s->out, '\n');
    }
}
