#include "route.h"

#include "answer.h"
#include "base/clock.h"
#include "info.h"

#define JSON_TYPE "application/json; charset=utf-8"
#define ARENA_MAX ((size_t)512 << 20)

#define LLAMA (1u << DIALECT_LLAMA)
#define OPENAI (1u << DIALECT_OPENAI)
#define OLLAMA (1u << DIALECT_OLLAMA)

static const struct {
    const char *path;
    unsigned dialects;
    enum ask_kind kind;
} generation[] = {
    {"/v1/chat/completions", LLAMA | OPENAI | OLLAMA, ASK_CHAT},
    {"/chat/completions", LLAMA, ASK_CHAT},
    {"/v1/completions", LLAMA | OPENAI | OLLAMA, ASK_COMPLETION},
    {"/completion", LLAMA, ASK_NATIVE},
    {"/completions", LLAMA, ASK_NATIVE},
    {"/api/chat", OLLAMA, ASK_OLLAMA_CHAT},
    {"/api/generate", OLLAMA, ASK_OLLAMA_GENERATE},
};

static const char *error_type(int status)
{
    if (status == 404)
        return "not_found_error";
    if (status == 503)
        return "unavailable_error";
    return status < 500 ? "invalid_request_error" : "server_error";
}

void route_refuse(struct conn *c, int status, const char *why)
{
    struct buf body = BUF_INIT(8192);
    answer_error(c->s->profile, status, why, error_type(status), &body);
    if (c->s->profile->dialect == DIALECT_LLAMA)
        c->keep_alive = false; /* as its library does behind every error */
    conn_answer(c, status, JSON_TYPE, buf_str(&body), "");
    buf_release(&body);
}

static void generate(struct conn *c, const struct http_request *request, enum ask_kind kind)
{
    struct arena arena;
    const struct json *doc;
    struct ask ask;
    struct error err;
    if (!str_eq(request->method, STR("POST"))) {
        route_refuse(c, 405, "this path is asked with POST");
        return;
    }
    arena_init(&arena, ARENA_MAX);
    if (json_parse(&doc, request->body, &JSON_LIMITS_DEFAULT, &arena, &err) < 0) {
        struct buf why = BUF_INIT(2048);
        error_format(&err, &why);
        /* llama-server says 500 to JSON that it cannot read */
        route_refuse(c, c->s->profile->dialect == DIALECT_LLAMA ? 500 : 400, buf_str(&why).p);
        buf_release(&why);
    } else if (ask_read(&ask, kind, doc, &arena, &err) < 0) {
        route_refuse(c, 400, err.message);
    } else {
        job_start(c, &ask, &arena);
    }
    arena_release(&arena);
}

void route(struct conn *c, const struct http_request *request)
{
    if (c->s->o->loading_ns > 0 && clock_mono_ns() < c->s->ready_ns) {
        route_refuse(c, 503, "Loading model");
        return;
    }
    if (str_eq(request->method, STR("HEAD")))
        c->keep_alive = false; /* the refusal that follows has a body, which HEAD's must not */
    for (size_t i = 0; i < sizeof generation / sizeof generation[0]; i++) {
        if (generation[i].dialects & 1u << c->s->profile->dialect &&
            str_eq(request->path, str_of(generation[i].path))) {
            generate(c, request, generation[i].kind);
            return;
        }
    }
    if (!info_answer(c, request))
        route_refuse(c, 404, "File Not Found");
}
