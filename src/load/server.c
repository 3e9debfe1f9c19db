#include "load/server.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

/* Of llama-server, vLLM and SGLang, Ollama, aprender. What is said of texts under way (/slots) is
 * not asked where texts are to be left out. */
static const struct {
    const char *path;
    bool texts;
} paths[] = {
    {"/props", false},   {"/slots", true},   {"/metrics", false},
    {"/version", false}, {"/api/ps", false}, {"/v1/effective-config", false},
};

static bool answered(const struct server_watch *w, const char *path)
{
    for (size_t i = 0; i < w->n[SERVER_BEFORE]; i++)
        if (strcmp(w->answers[SERVER_BEFORE][i].path, path) == 0)
            return w->answers[SERVER_BEFORE][i].status == 200;
    return false;
}

/* 1: go on; 0: the server does not answer; -1: memory. */
static int ask(struct server_answer *a, const struct load_lane *lane, struct arena *arena,
               struct error *err)
{
    struct wire_exchange *x = NULL;
    struct error trouble = {0};
    int64_t began_ns = clock_mono_ns();
    int go_on = 1;

    a->t_ns = began_ns - lane->plan->t_zero_mono_ns;
    a->type = a->trouble = "";
    if (wire_fetch(lane->endpoint, a->path, (struct str){NULL, 0}, SERVER_TIMEOUT_NS, &x,
                   &trouble) < 0) {
        if (trouble.kind == ERROR_MEMORY)
            return error_no_memory(err);
        a->trouble = arena_cstr(arena, str_of(trouble.message));
        go_on = 0;
    } else {
        a->status = x->http_status;
        a->type = arena_cstr(arena, str_of(x->content_type));
        a->body = arena_str(arena, buf_str(&x->body));
        a->trouble = arena_cstr(arena, str_of(x->error));
    }
    wire_exchange_free(x);
    return arena_check(arena, "what a server said", err) < 0 ? -1 : go_on;
}

int server_watch_ask(struct server_watch *w, const struct load_lane *lane, enum server_side side,
                     const volatile sig_atomic_t *stop, struct arena *arena, struct error *err)
{
    int go_on = 1;

    for (size_t i = 0; i < sizeof paths / sizeof *paths && go_on > 0; i++) {
        struct server_answer *a = &w->answers[side][w->n[side]];
        if ((stop && *stop) || (side == SERVER_AFTER && !answered(w, paths[i].path)) ||
            (paths[i].texts && lane->plan->redact_text))
            continue;
        *a = (struct server_answer){.path = paths[i].path};
        go_on = ask(a, lane, arena, err);
        w->n[side]++;
    }
    return go_on < 0 ? -1 : 0;
}

int server_watch_write(const struct server_watch *w, struct buf *out, struct error *err)
{
    const struct server_said said = {w->answers[SERVER_BEFORE], w->n[SERVER_BEFORE],
                                     w->answers[SERVER_AFTER], w->n[SERVER_AFTER]};

    return server_said_write(out, &said, err);
}

int server_watch_begin(struct server_watch *w, const struct load_lane *lane, int32_t band,
                       const volatile sig_atomic_t *stop, struct arena *arena, bool *capped,
                       char detail[SERVER_DETAIL_MAX], struct error *err)
{
    struct buf text = BUF_INIT(SERVER_SAID_MAX);
    struct run_band b = {.band = band};
    int rc = -1;

    if (server_watch_ask(w, lane, SERVER_BEFORE, stop, arena, err) < 0 ||
        server_watch_write(w, &text, err) < 0 ||
        server_said_read(&b.server, buf_str(&text), err) < 0)
        goto out;
    b.server.file = ""; /* it was asked */
    *capped = run_band_is_capped(lane->plan, &b);
    if (*capped)
        snprintf(detail, SERVER_DETAIL_MAX,
                 "the server works on %lld requests at once, and this band sends %d: start it with "
                 "as many slots as the band needs, or leave the band out",
                 (long long)b.server.slots, band);
    rc = 0;
out:
    buf_release(&text);
    return rc;
}
