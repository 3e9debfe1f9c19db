#include "chat/prompt.h"

int chat_prompt_messages(const struct chat_prompter *p, const struct json *messages,
                         struct chat_rendering *out, struct error *err)
{
    const struct chat_hypothesis *h = p->hypothesis;
    const struct chat_request q = {
        .messages = messages,
        .kwargs = p->kwargs,
        .system = p->system,
        .add_generation_prompt = true,
        .now = p->now,
    };

    if (p->tokenizer)
        return chat_predict(h, &q, p->tokenizer, out, err);
    return chat_render(out, h->template, &h->profile, &q, err);
}

int chat_prompt(const struct chat_prompter *p, struct str prompt, struct chat_rendering *out,
                struct error *err)
{
    struct json_member members[] = {
        {STR("role"), {.type = JSON_STRING, .text = STR("user")}},
        {STR("content"), {.type = JSON_STRING, .text = prompt}},
    };
    struct json message = {.type = JSON_OBJECT, .n = 2, .members = members};
    const struct json messages = {.type = JSON_ARRAY, .n = 1, .items = &message};

    return chat_prompt_messages(p, &messages, out, err);
}

bool chat_prompt_front(const struct chat_prompter *p, const struct chat_rendering *r,
                       struct buf *spelling)
{
    uint32_t bos;

    return p->tokenizer && r->ids.n > 0 && chat_bos(p->tokenizer, &bos, spelling) &&
           r->ids.id[0] == bos;
}
