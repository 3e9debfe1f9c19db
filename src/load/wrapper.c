#include "load/wrapper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "chat/when.h"
#include "codec/json_write.h"
#include "load/probe_json.h"

#define PROBE_NAME "probe.json"
/* Plain text, so that what differs is the wrapper's doing: as the run sends it. */
#define CAUSE_SHAPE "sentence"
#define CAUSE_SHAPE_SYSTEM "system" /* with a system message */

struct load_wrapper {
    const struct chat_hypothesis *hypothesis;
    const struct tokenizer *tokenizer;
    const struct jinja_time *now;
};

struct load_wrappers {
    struct probe *probe;
    struct chat_template *own; /* the tokenizer file's */
    struct load_wrapper lanes[PROBE_LANES_MAX];
    struct jinja_time now;
};

void wrappers_free(struct load_wrappers *w)
{
    if (!w)
        return;
    probe_free(w->probe);
    chat_template_free(w->own);
    free(w);
}

int64_t load_wrapper_count(const struct load_wrapper *w, const struct wire_message *messages,
                           size_t n)
{
    struct json_member(*members)[2];
    struct json *items;
    struct chat_rendering r = {0};
    struct error ignored;
    int64_t count = COUNT_NONE;

    if (!w)
        return COUNT_NONE;
    members = calloc(n, sizeof *members);
    items = calloc(n, sizeof *items);
    if (!members || !items)
        goto out;
    for (size_t i = 0; i < n; i++) {
        members[i][0] =
            (struct json_member){STR("role"), {.type = JSON_STRING, .text = messages[i].role}};
        members[i][1] = (struct json_member){STR("content"),
                                             {.type = JSON_STRING, .text = messages[i].content}};
        items[i] = (struct json){.type = JSON_OBJECT, .n = 2, .members = members[i]};
    }
    const struct json doc = {.type = JSON_ARRAY, .n = n, .items = items};
    const struct chat_request q = {.messages = &doc, .add_generation_prompt = true, .now = w->now};
    if (chat_predict(w->hypothesis, &q, w->tokenizer, &r, &ignored) == 0)
        count = (int64_t)r.ids.n;
    chat_rendering_release(&r);
out:
    free(members);
    free(items);
    return count;
}

static void tell(const struct wrappers_config *config, bool warning, const char *text)
{
    if (config->progress && config->progress->note)
        config->progress->note(config->progress->ctx, warning, text);
}

/* Each cause of the two lanes' difference on a plain sentence. */
static int tell_causes(const struct load_wrappers *w, const struct wrappers_config *config,
                       struct error *err)
{
    const struct probe_lane *a = probe_lane_at(w->probe, 0), *b = probe_lane_at(w->probe, 1);
    const char *name = config->lanes[0].plan->system ? CAUSE_SHAPE_SYSTEM : CAUSE_SHAPE;
    const struct chat_shapes *shapes = probe_shapes(w->probe);
    struct chat_explanation x = {0};
    size_t shape = 0;
    int rc = 0;

    while (shape < shapes->n && strcmp(shapes->items[shape].name, name) != 0)
        shape++;
    if (shape == shapes->n || !a || !b || !a->wrapper.nearest || !b->wrapper.nearest ||
        a->counts[shape].reported == COUNT_NONE || b->counts[shape].reported == COUNT_NONE)
        return 0;
    rc = probe_explain(w->probe, shape, &x, err);
    for (size_t i = 0; rc == 0 && i < x.n; i++)
        tell(config, true, x.items[i].words);
    chat_explanation_release(&x);
    return rc;
}

static int keep_record(const struct load_wrappers *w, const struct wrappers_config *config,
                       size_t i, struct error *err)
{
    struct buf text = BUF_INIT(65536);
    struct json_writer out;
    char line[CHAT_HYPOTHESIS_NAME + 160];
    const struct probe_wrapper *found = &probe_lane_at(w->probe, i)->wrapper;

    json_writer_init(&out, &text, 0);
    probe_put_wrapper(w->probe, i, &out);
    int rc = json_writer_check(&out, "a lane's wrapper", err);
    if (rc == 0) {
        config->lanes[i].record.wrapper_json = arena_cstr(config->arena, buf_str(&text));
        rc = config->lanes[i].record.wrapper_json ? 0 : error_no_memory(err);
    }
    buf_release(&text);
    if (rc == 0 && !found->named) {
        snprintf(line, sizeof line,
                 "lane %s: its wrapper is unexplained, so no request's prompt tokens are "
                 "predicted (tally probe shows the counts)",
                 config->lanes[i].options.role);
        tell(config, true, line);
    }
    return rc;
}

static int take_own_template(struct load_wrappers *w, const struct wrappers_config *config,
                             struct probe_options *o, struct error *err)
{
    struct tokenizer_info info;

    for (size_t i = 0; i < config->templates_n && i < PROBE_TEMPLATES_MAX; i++)
        o->templates[o->templates_n++] = config->templates[i];
    tokenizer_describe(config->tokenizer, &info);
    if (!info.chat_template || o->templates_n == PROBE_TEMPLATES_MAX)
        return 0;
    if (chat_template_from_text(&w->own, str_of(info.chat_template), "the tokenizer's file",
                                &JINJA_SYNTAX_TRANSFORMERS, err) < 0)
        return 0; /* a template that does not parse explains nothing; the probe says so */
    o->templates[o->templates_n++] = (struct chat_named_template){"the tokenizer's file", w->own};
    return 0;
}

static int ask(struct load_wrappers *w, const struct wrappers_config *config, struct error *err)
{
    struct probe_options o = {
        .lanes_n = config->lanes_n,
        .tokenizer = config->tokenizer,
        .now = &w->now,
        .only_wrapper = true,
        .enter = config->enter,
        .enter_ctx = config->enter_ctx,
    };

    chat_time_local(&w->now, clock_real_ns());
    for (size_t i = 0; i < config->lanes_n; i++) {
        o.lanes[i] = config->lanes[i].options;
        o.lanes[i].model = config->lanes[i].record.model;
        o.timeout_ns = config->lanes[i].plan->timeout_ns;
    }
    if (take_own_template(w, config, &o, err) < 0 || probe_run(&w->probe, &o, err) < 0)
        return -1;
    for (size_t i = 0; i < config->lanes_n; i++) {
        const struct chat_hypothesis *named = probe_lane_at(w->probe, i)->wrapper.named;
        if (keep_record(w, config, i, err) < 0)
            return -1;
        if (!named)
            continue;
        w->lanes[i] = (struct load_wrapper){named, config->tokenizer, &w->now};
        config->lanes[i].wrapper = &w->lanes[i];
    }
    return tell_causes(w, config, err);
}

int wrappers_ask(struct load_wrappers **out, const struct wrappers_config *config,
                 struct error *err)
{
    struct load_wrappers *w = calloc(1, sizeof *w);

    if (!w)
        return error_no_memory(err);
    if (ask(w, config, err) < 0) {
        wrappers_free(w);
        return -1;
    }
    *out = w;
    return 0;
}

int wrappers_write(const struct load_wrappers *w, const char *dir, struct error *err)
{
    struct buf path = BUF_INIT(FILE_PATH_MAX), text = BUF_INIT((size_t)16 << 20);
    int rc = path_join(&path, dir, PROBE_NAME, err);

    if (rc == 0)
        rc = probe_json(w->probe, &text, err);
    if (rc == 0)
        rc = file_write_atomic(path.p, buf_str(&text), err);
    buf_release(&path);
    buf_release(&text);
    return rc;
}
