/* What a server itself makes of a shape, where it has an endpoint that says so: its rendering
 * (llama.cpp's /apply-template) and its tokens (/tokenize of llama.cpp and of vLLM). */
#include "codec/json_write.h"
#include "load/probe_internal.h"

#define DOCUMENT_MAX ((size_t)64 << 20)
#define BODY_MAX ((size_t)16 << 20)

static void put_messages(const struct probe *p, size_t shape, struct json_writer *w)
{
    json_key(w, "messages");
    json_put_value(w, p->shapes.items[shape].request.messages);
}

static void put_flag(struct json_writer *w, const char *name)
{
    json_key(w, name);
    json_put_bool(w, true);
}

/* A POST that few servers answer: *doc is NULL where there is no such endpoint, and one that breaks
 * the connection over it tells nothing. */
static int ask(struct probe_state *lane, const char *path, const struct buf *body,
               struct json_writer *w, struct arena *arena, const struct json **doc,
               struct error *err)
{
    struct error ignored;
    int status;

    *doc = NULL;
    if (json_writer_check(w, "a request", err) < 0)
        return -1;
    if (probe_fetch_json(lane, path, buf_str(body), arena, doc, &status, &ignored) < 0 ||
        status != 200)
        *doc = NULL;
    return 0;
}

static int ask_rendering(struct probe *p, struct probe_state *lane, size_t shape, struct error *err)
{
    struct buf body = BUF_INIT(BODY_MAX);
    struct json_writer w;
    struct arena arena;
    const struct json *doc;
    struct str prompt;

    arena_init(&arena, DOCUMENT_MAX);
    json_writer_init(&w, &body, 0);
    json_begin_object(&w);
    put_messages(p, shape, &w);
    json_end_object(&w);
    int rc = ask(lane, "/apply-template", &body, &w, &arena, &doc, err);
    if (rc == 0 && json_str(&prompt, json_get(doc, "prompt")) == 0) {
        lane->rendered[shape] = arena_str(&p->arena, prompt);
        rc = arena_check(&p->arena, "the probe", err);
    }
    arena_release(&arena);
    buf_release(&body);
    return rc;
}

/* llama.cpp's takes the rendered text, whose BOS it adds as it does to a prompt; vLLM's takes the
 * messages. */
static void put_tokenize(const struct probe *p, const struct probe_state *lane, size_t shape,
                         struct json_writer *w)
{
    json_begin_object(w);
    if (lane->rendered[shape].p) {
        json_key(w, "content");
        json_put_str(w, lane->rendered[shape]);
        put_flag(w, "add_special");
        put_flag(w, "parse_special");
    } else {
        json_key(w, "model");
        json_put_cstr(w, lane->public.model);
        put_messages(p, shape, w);
        put_flag(w, "add_generation_prompt");
    }
    json_end_object(w);
}

static int keep_tokens(struct probe *p, struct probe_state *lane, size_t shape,
                       const struct json *tokens, struct error *err)
{
    uint32_t *ids = arena_array(&p->arena, tokens->n + 1, sizeof *ids);

    if (!ids)
        return arena_check(&p->arena, "the probe", err);
    for (size_t i = 0; i < tokens->n; i++) {
        int64_t id;
        if (json_i64(&id, &tokens->items[i]) < 0 || id < 0 || id > UINT32_MAX)
            return 0; /* some other server's answer */
        ids[i] = (uint32_t)id;
    }
    lane->own_ids[shape] = ids;
    lane->own_ids_n[shape] = tokens->n;
    return 0;
}

static int ask_tokens(struct probe *p, struct probe_state *lane, size_t shape, struct error *err)
{
    struct buf body = BUF_INIT(BODY_MAX);
    struct json_writer w;
    struct arena arena;
    const struct json *doc, *tokens;

    arena_init(&arena, DOCUMENT_MAX);
    json_writer_init(&w, &body, 0);
    put_tokenize(p, lane, shape, &w);
    int rc = ask(lane, "/tokenize", &body, &w, &arena, &doc, err);
    tokens = rc == 0 ? json_get(doc, "tokens") : NULL;
    if (json_is(tokens, JSON_ARRAY))
        rc = keep_tokens(p, lane, shape, tokens, err);
    arena_release(&arena);
    buf_release(&body);
    return rc;
}

/* What the first shape is not answered for is not asked again. */
int probe_ask_own(struct probe *p, struct probe_state *lane, size_t shape, struct error *err)
{
    if ((shape == 0 || lane->rendered[0].p) && ask_rendering(p, lane, shape, err) < 0)
        return -1;
    return shape == 0 || lane->own_ids[0] ? ask_tokens(p, lane, shape, err) : 0;
}
