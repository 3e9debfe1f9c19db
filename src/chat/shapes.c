#include "chat/shapes.h"

#include <string.h>

#include "codec/json_write.h"

#define SPECIALS_SHOWN 3
#define SYSTEM_TEXT "You answer briefly."

struct turn {
    const char *role;
    struct str content;
};

static int add_shape(struct chat_shapes *s, const char *name, const char *tells,
                     const struct turn *turns, size_t n, struct arena *a, struct error *err)
{
    struct buf text = BUF_INIT(BUF_ANY);
    struct json_writer w;
    struct chat_shape *shape = &s->items[s->n];
    const struct json *doc = NULL;
    if (s->n == CHAT_SHAPES_MAX)
        return error_set(err, ERROR_LIMIT, "more than %d shapes", CHAT_SHAPES_MAX);
    json_writer_init(&w, &text, 0);
    json_begin_array(&w);
    for (size_t i = 0; i < n; i++) {
        json_begin_object(&w);
        json_key(&w, "role");
        json_put_cstr(&w, turns[i].role);
        json_key(&w, "content");
        json_put_str(&w, turns[i].content);
        json_end_object(&w);
    }
    json_end_array(&w);
    int rc = json_writer_check(&w, "shape", err);
    if (rc == 0)
        rc = json_parse(&doc, buf_str(&text), &JSON_LIMITS_DEFAULT, a, err);
    buf_release(&text);
    if (rc < 0 || !doc)
        return -1;
    *shape = (struct chat_shape){.name = name, .tells = tells};
    shape->request = (struct chat_request){.messages = doc, .add_generation_prompt = true};
    if (json_str(&shape->body, json_get(&doc->items[n - 1], "content")) < 0)
        shape->body = STR("");
    s->n++;
    return 0;
}

/* A sentence that spells some of the vocabulary's special tokens. */
static int special_text(struct str *out, const struct tokenizer *t, struct arena *a,
                        struct error *err)
{
    struct buf b = BUF_INIT(65536);
    struct str text;
    uint32_t id;
    size_t shown = 0;
    buf_adds(&b, "These are text:");
    for (size_t i = 0; t && shown < SPECIALS_SHOWN && tokenizer_special(t, i, &text, &id) == 0;
         i++) {
        buf_addc(&b, ' ');
        buf_addstr(&b, text);
        shown++;
    }
    if (shown == 0)
        buf_adds(&b, " <|im_start|> <|im_end|> <|endoftext|>");
    buf_adds(&b, " and so is this.");
    int rc = buf_check(&b, "special-token text", err);
    if (rc == 0) {
        *out = arena_str(a, buf_str(&b));
        rc = arena_check(a, "probe", err);
    }
    buf_release(&b);
    return rc;
}

int chat_shapes_make(struct chat_shapes *out, const struct tokenizer *t, struct str prompt,
                     struct arena *a, struct error *err)
{
    const struct str sentence = STR("Write a C function that reverses a string in place.");
    struct str special = {0};
    *out = (struct chat_shapes){0};
    if (special_text(&special, t, a, err) < 0)
        return -1;
    const struct turn hi = {"user", STR("hi")}, one = {"user", sentence};
    const struct turn system = {"system", STR(SYSTEM_TEXT)};
    const struct turn scripts = {
        "user", STR("Hello, Привет, 你好, こんにちは, 안녕, مرحبا, \xF0\x9F\x99\x82 1234.5")};
    const struct turn spaces = {"user", STR("  two spaces in front, a newline behind \n")};
    const struct turn marks = {"user", special}, workload = {"user", prompt};
    const struct turn with_system[] = {system, hi}, special_with_system[] = {system, marks};
    const struct turn turns[] = {hi, {"assistant", STR("Hello! How can I help?")}, one};
    if (add_shape(out, "short", "the wrapper alone", &hi, 1, a, err) < 0 ||
        add_shape(out, "sentence", "the wrapper around plain text", &one, 1, a, err) < 0 ||
        add_shape(out, "special_text", "whether special-token text is parsed", &marks, 1, a, err) <
            0 ||
        add_shape(out, "scripts", "that the vocabulary is the same", &scripts, 1, a, err) < 0 ||
        add_shape(out, "spaces", "whether content is trimmed", &spaces, 1, a, err) < 0 ||
        add_shape(out, "system", "what a system message replaces", with_system, 2, a, err) < 0 ||
        add_shape(out, "system_special", "both at once", special_with_system, 2, a, err) < 0 ||
        add_shape(out, "two_turns", "what earlier turns look like", turns, 3, a, err) < 0)
        return -1;
    return prompt.n ? add_shape(out, CHAT_SHAPE_WORKLOAD, "the workload's own first prompt",
                                &workload, 1, a, err)
                    : 0;
}
