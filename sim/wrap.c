#include "wrap.h"

#include <stdlib.h>

#define START STR("<|im_start|>")
#define END STR("<|im_end|>")

/* Where the rendered text goes: markers are special tokens whatever the profile says of texts. */
struct sink {
    const struct profile *profile;
    const struct tokenizer *t; /* NULL: only text is wanted */
    struct wrapped *w;
    struct buf *text;
    struct buf plain; /* ordinary text since the last marker, not encoded yet */
};

static int append(struct token_ids *to, const struct token_ids *from, struct error *err)
{
    if (from->n > to->cap - to->n) {
        size_t cap = to->n + from->n + 64;
        uint32_t *grown = realloc(to->id, cap * sizeof *grown);
        if (!grown)
            return error_no_memory(err);
        to->id = grown;
        to->cap = cap;
    }
    for (size_t i = 0; i < from->n; i++)
        to->id[to->n++] = from->id[i];
    return 0;
}

static int encode_part(struct sink *s, struct str text, enum special_text special,
                       struct error *err)
{
    struct token_ids ids = {0};
    int got =
        tokenizer_encode(s->t, text, &(struct encode_options){.special_text = special}, &ids, err);
    if (got == 0)
        got = append(&s->w->ids, &ids, err);
    token_ids_release(&ids);
    return got;
}

static int flush_plain(struct sink *s, struct error *err)
{
    int got = 0;
    if (buf_check(&s->plain, "the prompt", err) < 0)
        return -1;
    if (s->plain.n > 0)
        got = encode_part(s, buf_str(&s->plain), SPECIAL_TEXT_PLAIN, err);
    buf_reset(&s->plain);
    return got;
}

static void put(struct sink *s, struct str text)
{
    buf_addstr(s->text, text);
    buf_addstr(&s->plain, text);
}

static int mark(struct sink *s, struct str marker, struct error *err)
{
    buf_addstr(s->text, marker);
    if (!s->t)
        return 0;
    if (flush_plain(s, err) < 0)
        return -1;
    return encode_part(s, marker, SPECIAL_TEXT_PARSED, err);
}

static int turn(struct sink *s, struct str role, struct str content, bool open, struct error *err)
{
    if (mark(s, START, err) < 0)
        return -1;
    put(s, role);
    put(s, STR("\n"));
    put(s, content);
    if (open)
        return 0;
    if (mark(s, END, err) < 0)
        return -1;
    put(s, STR("\n"));
    return 0;
}

static struct str role_of(const struct ask_message *m)
{
    return str_eq(m->role, STR("developer")) ? STR("system") : m->role;
}

static int render(struct sink *s, const struct ask *ask, struct error *err)
{
    const struct profile *p = s->profile;
    const struct ask_message *last = &ask->messages[ask->n_messages - 1];
    bool goes_on = p->continues_assistant && str_eq(last->role, STR("assistant"));
    if (p->default_system && !str_eq(role_of(&ask->messages[0]), STR("system")) &&
        turn(s, STR("system"), str_of(p->default_system), false, err) < 0)
        return -1;
    for (size_t i = 0; i < ask->n_messages; i++) {
        const struct ask_message *m = &ask->messages[i];
        if (turn(s, role_of(m), m->content, goes_on && m == last, err) < 0)
            return -1;
    }
    return goes_on ? 0 : turn(s, STR("assistant"), STR(""), true, err);
}

int wrap_render(struct buf *out, const struct profile *p, const struct ask *ask, struct error *err)
{
    struct sink s = {.profile = p, .text = out, .plain = BUF_INIT(WRAP_TEXT_MAX)};
    int got = render(&s, ask, err);
    buf_release(&s.plain);
    return got < 0 ? -1 : buf_check(out, "the prompt", err);
}

static int wrap_chat(struct wrapped *w, const struct profile *p, const struct tokenizer *t,
                     const struct ask *ask, struct error *err)
{
    struct sink s = {
        .profile = p, .t = t, .w = w, .text = &w->text, .plain = BUF_INIT(WRAP_TEXT_MAX)};
    int got;
    if (p->special_text == SPECIAL_TEXT_PARSED) {
        if (wrap_render(&w->text, p, ask, err) < 0)
            return -1;
        return tokenizer_encode(t, buf_str(&w->text),
                                &(struct encode_options){.add_special = p->add_special}, &w->ids,
                                err);
    }
    got = render(&s, ask, err);
    if (got == 0)
        got = flush_plain(&s, err);
    buf_release(&s.plain);
    return got;
}

static int wrap_ids(struct wrapped *w, const struct tokenizer *t, const struct ask *ask,
                    struct error *err)
{
    struct token_ids ids = {.id = NULL, .n = ask->n_ids};
    struct tokenizer_info info;
    tokenizer_describe(t, &info);
    for (size_t i = 0; i < ask->n_ids; i++)
        if (ask->ids[i] >= info.vocab_size)
            return error_set(err, ERROR_INPUT, "prompt.%zu: token id %u is not in the vocabulary",
                             i, (unsigned)ask->ids[i]);
    /* the request's own array is only read */
    ids.id = malloc((ask->n_ids ? ask->n_ids : 1) * sizeof *ids.id);
    if (!ids.id)
        return error_no_memory(err);
    for (size_t i = 0; i < ask->n_ids; i++)
        ids.id[i] = ask->ids[i];
    ids.cap = ask->n_ids;
    token_ids_release(&w->ids);
    w->ids = ids;
    return 0;
}

int wrap(struct wrapped *w, const struct profile *p, const struct tokenizer *t,
         const struct ask *ask, struct error *err)
{
    buf_init(&w->text, WRAP_TEXT_MAX);
    if (ask->has_ids)
        return wrap_ids(w, t, ask, err);
    if (ask->n_messages > 0)
        return wrap_chat(w, p, t, ask, err);
    if (ask->kind == ASK_OLLAMA_GENERATE && !ask->raw) {
        const struct ask_message user = {STR("user"), ask->prompt};
        struct ask as_chat = *ask;
        as_chat.messages = &user;
        as_chat.n_messages = 1;
        return wrap_chat(w, p, t, &as_chat, err);
    }
    return tokenizer_encode(
        t, ask->prompt,
        &(struct encode_options){.special_text = p->special_text, .add_special = true}, &w->ids,
        err);
}

void wrap_release(struct wrapped *w)
{
    if (!w)
        return;
    buf_release(&w->text);
    token_ids_release(&w->ids);
    *w = (struct wrapped){0};
}
