/*
 * Any template over any request, as each server would render it: "P TEMPLATE NUL JSON", where P is
 * a letter that names the profile ('a' the first). JSON that holds messages is a request; any other
 * object is the template's whole context. Whatever comes of it comes twice, and the parts of a
 * rendering lie side by side and cover it.
 */
#include <string.h>

#include "chat/json_value.h"
#include "chat/render.h"
#include "fuzz.h"

#define STEPS 200000
#define JSON_BYTES ((size_t)1 << 16)

static const struct jinja_time now = {2026, 12, 1, 9, 30, 0};

struct input {
    const struct chat_profile *profile;
    struct str source;
    const struct json *doc;
    struct arena arena;
};

/* False where the bytes are no such input. */
static bool read_input(struct input *in, const uint8_t *data, size_t size, struct error *err)
{
    const struct json_limits limits = {JSON_BYTES, JSON_BYTES / 8, 64};
    struct str all = str_make(data, size);
    size_t nul;
    if (size < 2)
        return false;
    in->profile = chat_profile_at((size_t)(data[0] - 'a'));
    all = str_skip(all, 1);
    nul = str_find_char(all, '\0');
    if (!in->profile || nul == STR_NONE)
        return false;
    in->source = str_first(all, nul);
    return json_parse(&in->doc, str_skip(all, nul + 1), &limits, &in->arena, err) == 0;
}

static void check_parts(const struct chat_rendering *r)
{
    size_t at = 0;
    for (size_t i = 0; i < r->parts_n; i++) {
        FUZZ_REQUIRE(r->parts[i].from == at && r->parts[i].to > at);
        at = r->parts[i].to;
    }
    FUZZ_REQUIRE(at == r->text.n);
}

static void render_request(const struct input *in, const struct chat_template *t)
{
    const struct json *system = json_get(in->doc, "system"), *tools = json_get(in->doc, "tools");
    const struct json *kwargs = json_get(in->doc, "kwargs");
    struct chat_rendering r[2] = {0};
    struct error err[2] = {0};
    int rc[2];
    const struct chat_request q = {
        .messages = json_get(in->doc, "messages"),
        .tools = json_is(tools, JSON_ARRAY) ? tools : NULL,
        .kwargs = json_is(kwargs, JSON_OBJECT) ? kwargs : NULL,
        .system = json_is(system, JSON_STRING) && !memchr(system->text.p, 0, system->text.n)
                      ? system->text.p
                      : NULL,
        .add_generation_prompt = !json_is(json_get(in->doc, "generate"), JSON_FALSE),
        .now = &now,
    };
    for (int i = 0; i < 2; i++)
        rc[i] = chat_render(&r[i], t, in->profile, &q, &err[i]);
    FUZZ_REQUIRE(rc[0] == rc[1]);
    FUZZ_REQUIRE(rc[0] == 0 || (err[0].kind != ERROR_NONE && err[0].message[0]));
    if (rc[0] == 0) {
        FUZZ_REQUIRE(str_eq(buf_str(&r[0].text), buf_str(&r[1].text)));
        check_parts(&r[0]);
    }
    chat_rendering_release(&r[0]);
    chat_rendering_release(&r[1]);
}

static void render_context(struct input *in, const struct chat_template *t)
{
    struct buf out[2] = {BUF_INIT(JINJA_OUTPUT_MAX), BUF_INIT(JINJA_OUTPUT_MAX)};
    struct error err = {0};
    struct jinja_value context;
    const struct jinja_render how = {.now = &now, .steps_max = STEPS};
    int rc[2];
    if (in->doc->type != JSON_OBJECT || value_from_json(&context, in->doc, &in->arena, &err) < 0)
        return;
    for (int i = 0; i < 2; i++) {
        buf_adds(&out[i], "before");
        rc[i] = jinja_render(t->jinja, context, &how, &out[i], &err);
        FUZZ_REQUIRE(str_starts(buf_str(&out[i]), STR("before")));
        FUZZ_REQUIRE(rc[i] == 0 || (err.message[0] && out[i].n == 6));
    }
    FUZZ_REQUIRE(rc[0] == rc[1] && str_eq(buf_str(&out[0]), buf_str(&out[1])));
    buf_release(&out[0]);
    buf_release(&out[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {0};
    struct error err = {0};
    struct chat_template *t = NULL;
    arena_init(&in.arena, (size_t)16 << 20);
    if (read_input(&in, data, size, &err) &&
        chat_template_from_text(&t, in.source, "fuzz", &in.profile->syntax, &err) == 0) {
        if (json_get(in.doc, "messages"))
            render_request(&in, t);
        else
            render_context(&in, t);
    }
    chat_template_free(t);
    arena_release(&in.arena);
    return 0;
}
