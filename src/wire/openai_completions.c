/* OpenAI's text completions: a prompt as text or, where the server takes them, as token ids. */
#include "wire/openai.h"

static int build(const struct wire_ask *ask, struct buf *body, struct error *err)
{
    struct json_writer w;
    json_writer_init(&w, body, 0);
    json_begin_object(&w);
    if (build_model(ask, &w, err) < 0 || build_prompt(ask, &w, err) < 0)
        return -1;
    return openai_build_rest(ask, &w, err);
}

static int decode(const struct json *doc, bool stream, struct wire_events *out, struct error *err)
{
    const struct json *choices;
    size_t first = out->n;
    (void)stream; /* a chunk and a whole answer look alike */
    if (openai_choices(&choices, doc, err) < 0)
        return -1;
    for (size_t i = 0; choices && i < choices->n; i++) {
        struct openai_choice c = {.choice = &choices->items[i]};
        if (!json_is(c.choice, JSON_OBJECT))
            return error_set(err, ERROR_INPUT, "a choice is %s", json_type_name(c.choice->type));
        c.text = events_text(c.choice, "text");
        openai_add_choice(out, &c);
    }
    openai_add_rest(out, first, doc);
    return 0;
}

const struct wire_protocol protocol_openai_completions = {
    .name = "openai-completions",
    .path = "/v1/completions",
    .takes_ids = true,
    .takes_ignore_eos = true,
    .build = build,
    .decode = decode,
};
