#include "load/prompt_form.h"

#include <stdio.h>
#include <string.h>

#include "chat/wrapper.h"

#define DOCUMENT_MAX ((size_t)64 << 20)
#define QUESTION STR("Hello") /* no prompt of the corpus: nothing of it may be cached before */

/* What one question told. */
struct seen {
    bool taken;
    int status;                    /* HTTP */
    int64_t sent, reported, plain; /* tokens; COUNT_NONE */
    bool front;                    /* the rendering begins with a BOS */
    char said[PREFLIGHT_SAID_MAX]; /* instead of an answer */
};

struct settling {
    struct load_lane *lane;
    const struct preflight_config *config;
    struct seen seen; /* of the form that was settled on */
};

static void note(const struct settling *s, bool warning, const char *text)
{
    const struct load_progress *p = s->config->progress;

    if (p && p->note)
        p->note(p->ctx, warning, text);
}

/* One token of output, and no parameter that a server may refuse. */
static int question(const struct settling *s, struct load_raw *raw, struct wire_ask *ask,
                    struct buf *body, struct error *err)
{
    const struct load_lane *lane = s->lane;

    *ask = (struct wire_ask){
        .model = lane->record.model,
        .max_tokens = 1,
        .seed = COUNT_NONE,
        .has_temperature = true,
    };
    return rendering_put(lane->rendering, &lane->form, QUESTION, raw, ask, err) < 0
               ? -1
               : wire_build(lane->protocol, ask, body, err);
}

static int ask(struct settling *s, struct error *err)
{
    const struct load_lane *lane = s->lane;
    struct load_raw raw = {0};
    struct wire_ask ask;
    struct buf body = BUF_INIT(BUF_ANY);
    struct wire_exchange *x = NULL;
    struct arena arena;
    struct sample sample;
    int rc = -1;

    s->seen = (struct seen){.reported = COUNT_NONE};
    arena_init(&arena, DOCUMENT_MAX);
    sample_init(&sample);
    if (question(s, &raw, &ask, &body, err) < 0)
        goto out;
    if (wire_fetch(lane->endpoint, lane->protocol->path, buf_str(&body), lane->plan->timeout_ns, &x,
                   err) < 0 ||
        wire_decode(lane->protocol, x, &ask, 0, &sample, &arena, err) < 0) {
        error_wrap(err, "lane %s", lane->options.role);
        goto out;
    }
    s->seen.taken = sample.outcome == OUTCOME_OK || sample.outcome == OUTCOME_SHORT;
    s->seen.status = x->http_status;
    s->seen.sent = raw.sent;
    s->seen.reported = sample.prompt_reported;
    s->seen.plain = rendering_plain_count(lane->rendering, &raw);
    s->seen.front = rendering_has_front(lane->rendering, &raw);
    if (!s->seen.taken)
        preflight_said(sample.error.n ? sample.error : buf_str(&x->body), s->seen.said);
    rc = 0;
out:
    load_raw_release(&raw);
    buf_release(&body);
    wire_exchange_free(x);
    arena_release(&arena);
    return rc;
}

static bool is_exact(const struct seen *seen)
{
    return seen->reported == COUNT_NONE || seen->sent == COUNT_NONE || seen->reported == seen->sent;
}

/* One more than was sent: the server's own BOS. Where the rendering has one already, the model
 * would see two: ours is left out, and the same count must come of it. */
static int look_at_front(struct settling *s, struct error *err)
{
    struct load_form *form = &s->lane->form;
    struct seen first = s->seen;
    char text[256];

    if (!first.taken || is_exact(&first) || first.reported != first.sent + 1)
        return 0;
    if (!first.front) {
        form->server_front = 1;
        snprintf(text, sizeof text,
                 "lane %s puts a token (BOS) of its own in front of a raw prompt: counted with",
                 s->lane->options.role);
        note(s, false, text);
        return 0;
    }
    form->leave_out = true;
    form->server_front = 1;
    if (ask(s, err) < 0)
        return -1;
    if (s->seen.taken && s->seen.reported == first.sent) {
        snprintf(text, sizeof text,
                 "lane %s puts a BOS in front of a raw prompt that has one: ours is left out for "
                 "it, so that its model sees one, not two",
                 s->lane->options.role);
        note(s, false, text);
        return 0;
    }
    form->leave_out = false;
    form->server_front = 0;
    s->seen = first;
    return 0;
}

/* Asks in one form: over the wire's own path, or llama.cpp's where there is no such path. */
static int try_form(struct settling *s, bool ids, struct error *err)
{
    s->lane->form = (struct load_form){.ids = ids};
    if (ask(s, err) < 0)
        return -1;
    if (!s->seen.taken && (s->seen.status == 404 || s->seen.status == 405)) {
        const struct wire_protocol *before = s->lane->protocol;
        struct seen first = s->seen;
        load_lane_speak(s->lane, wire_protocol_find("llamacpp-completion"));
        if (ask(s, err) < 0)
            return -1;
        if (s->seen.status == 404 || s->seen.status == 405) {
            load_lane_speak(s->lane, before);
            s->seen = first;
        }
    }
    return look_at_front(s, err);
}

/* What a server counts that was sent raw, with what is added in front. */
static int64_t residue(const struct settling *s)
{
    if (s->seen.reported == COUNT_NONE || s->seen.sent == COUNT_NONE)
        return COUNT_NONE;
    return s->seen.reported - s->seen.sent - s->lane->form.server_front;
}

static bool takes_ids(const struct settling *s)
{
    int64_t left = residue(s);

    return s->seen.taken && (left == COUNT_NONE || left == 0);
}

static int no_form(const struct settling *s, struct error *err)
{
    error_set(err, ERROR_ENVIRONMENT, "lane %s takes no raw prompt at %s%s: %s",
              s->lane->options.role, s->lane->record.url, s->lane->protocol->path, s->seen.said);
    return error_remedy(err, "measure it over --wire chat, or name its model: --model");
}

static void tell_no_ids(const struct settling *s)
{
    char text[320];

    if (s->seen.taken)
        snprintf(text, sizeof text,
                 "lane %s counts %lld tokens for %lld ids: it does not take them as they are; "
                 "every lane is sent the text",
                 s->lane->options.role, (long long)s->seen.reported, (long long)s->seen.sent);
    else
        snprintf(text, sizeof text, "lane %s takes no token ids (%s): every lane is sent the text",
                 s->lane->options.role, s->seen.said);
    note(s, false, text);
}

static void tell_rest(const struct settling *s)
{
    char text[320];
    int64_t left = residue(s);

    if (left == COUNT_NONE && s->seen.front) {
        snprintf(text, sizeof text,
                 "lane %s reports no prompt tokens: whether it puts a second BOS in front cannot "
                 "be seen",
                 s->lane->options.role);
        note(s, true, text);
    }
    if (left == COUNT_NONE || left == 0)
        return;
    snprintf(text, sizeof text, "lane %s counts %lld tokens for %lld that were sent: %s",
             s->lane->options.role, (long long)s->seen.reported, (long long)s->seen.sent,
             s->seen.reported == s->seen.plain
                 ? "it reads special tokens in a raw prompt as plain text"
                 : "what it does with a raw prompt is unexplained");
    note(s, true, text);
}

static int keep_record(struct settling *s, struct error *err)
{
    struct load_lane *lane = s->lane;
    struct buf text = BUF_INIT(65536);
    struct json_writer w;
    int64_t left = residue(s);

    json_writer_init(&w, &text, 0);
    chat_wrapper_put(&w,
                     &(struct chat_wrapper){
                         .source = "declared",
                         .status = left == COUNT_NONE ? "unconfirmed"
                                   : left == 0        ? "named"
                                                      : "unexplained",
                         .hypothesis = rendering_hypothesis(lane->rendering),
                         .residue = left,
                         .now = rendering_now(lane->rendering),
                         .raw = true,
                         .server_front = left == COUNT_NONE ? COUNT_NONE : lane->form.server_front,
                         .front_left_out = lane->form.leave_out,
                     });
    int rc = json_writer_check(&w, "a lane's wrapper", err);
    if (rc == 0) {
        lane->record.wrapper_json = arena_cstr(&lane->arena, buf_str(&text));
        rc = lane->record.wrapper_json ? 0 : error_no_memory(err);
    }
    buf_release(&text);
    return rc;
}

static int settle_all(struct settling *s, size_t n, bool ids, bool *all, struct error *err)
{
    *all = true;
    for (size_t i = 0; i < n; i++) {
        const struct preflight_config *c = s[i].config;
        if ((c->enter && c->enter(c->enter_ctx, i, err) < 0) || try_form(&s[i], ids, err) < 0)
            return -1;
        if (ids && !takes_ids(&s[i])) {
            tell_no_ids(&s[i]);
            *all = false;
        } else if (!ids && !s[i].seen.taken) {
            return no_form(&s[i], err);
        }
    }
    return 0;
}

int prompt_form_settle(struct load_lane *lanes, size_t n, struct run_plan *plan,
                       const struct preflight_config *config, struct error *err)
{
    struct settling s[RUN_LANES_MAX];
    bool all = false;

    for (size_t i = 0; i < n; i++)
        s[i] = (struct settling){.lane = &lanes[i], .config = config};
    if (rendering_counts(lanes[0].rendering) && settle_all(s, n, true, &all, err) < 0)
        return -1;
    if (!all && settle_all(s, n, false, &all, err) < 0)
        return -1;
    plan->prompt_form = lanes[0].form.ids ? "ids" : "text";
    for (size_t i = 0; i < n; i++) {
        lanes[i].form.confirmed = residue(&s[i]) == 0;
        tell_rest(&s[i]);
        if (keep_record(&s[i], err) < 0)
            return -1;
    }
    return 0;
}
