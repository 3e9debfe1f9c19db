#include "wire/protocol.h"

#include <string.h>

#include "wire/events.h"

static const struct wire_protocol *const protocols[] = {
    &protocol_openai_chat, &protocol_openai_completions, &protocol_llamacpp,
    &protocol_ollama_chat, &protocol_ollama_generate,
};

const struct wire_protocol *wire_protocol_at(size_t i)
{
    return i < sizeof protocols / sizeof *protocols ? protocols[i] : NULL;
}

const struct wire_protocol *wire_protocol_find(const char *name)
{
    const struct wire_protocol *p;
    for (size_t i = 0; (p = wire_protocol_at(i)) != NULL; i++)
        if (strcmp(p->name, name) == 0)
            return p;
    return NULL;
}

static int cannot(const struct wire_protocol *p, const char *what, const char *remedy,
                  struct error *err)
{
    error_set(err, ERROR_UNSUPPORTED, "the protocol %s cannot carry %s", p->name, what);
    return error_remedy(err, "%s", remedy);
}

int wire_build(const struct wire_protocol *p, const struct wire_ask *ask, struct buf *body,
               struct error *err)
{
    size_t start = body->n;
    if (ask->ignore_eos && !p->takes_ignore_eos)
        return cannot(p, "ignore_eos", "leave it out and have it recorded", err);
    if (ask->prompt_ids && !p->takes_ids)
        return cannot(p, "token ids", "send the prompt as text", err);
    if (ask->messages_n > 0 && !p->takes_messages)
        return cannot(p, "chat messages", "render them, or use a chat protocol", err);
    if (ask->messages_n == 0 && p->takes_messages)
        return cannot(p, "a bare prompt", "give messages, or use a completions protocol", err);
    if (p->build(ask, body, err) == 0)
        return 0;
    buf_truncate(body, start);
    return -1;
}
