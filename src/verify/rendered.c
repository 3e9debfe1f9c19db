#include "verify/rendered.h"

#include <stdlib.h>
#include <string.h>

#include "chat/prompt.h"
#include "chat/wrapper.h"

#define WRAPPERS_MAX ((size_t)64 << 20)
#define NAME "a template of the receipt"

struct lane {
    struct chat_wrapper_read wrapper;
    struct chat_template *template;
    struct chat_prompter prompter;
    bool at_hand; /* prompts can be rendered */
};

struct rendered {
    struct verify_work *w;
    const struct tokenizer *tokenizer;
    struct lane lanes[RUN_LANES_MAX];
    struct arena arena;
    int64_t looked, absent; /* prompts rendered; samples without prompt_rendered */
    const char *missing;    /* digest of a template that is not at hand; NULL */
};

/* Takes the text if its digest is the one that is wanted. */
static int try_text(struct lane *lane, struct str source, struct error *err)
{
    char digest[SHA256_HEX];

    if (lane->template || sha256_hex(digest, source, err) < 0 ||
        strcmp(digest, lane->wrapper.template_sha256) != 0)
        return 0;
    return chat_template_from_text(&lane->template, source, NAME,
                                   &lane->wrapper.hypothesis.profile.syntax, err);
}

static int try_file(struct lane *lane, const char *path, struct error *err)
{
    struct chat_template *t;

    if (lane->template)
        return 0;
    if (chat_template_open(&t, path, NULL, &lane->wrapper.hypothesis.profile.syntax, err) < 0)
        return -1;
    if (strcmp(t->sha256, lane->wrapper.template_sha256) == 0)
        lane->template = t;
    else
        chat_template_free(t);
    return 0;
}

static int find_template(struct rendered *r, struct lane *lane, struct error *err)
{
    const struct verify_options *o = r->w->options;
    const struct run_record *run = &r->w->receipt.run;
    struct tokenizer_info info;
    const struct json *doc;
    struct str source;

    for (size_t i = 0; i < o->templates_n; i++)
        if (try_file(lane, o->templates[i], err) < 0)
            return -1;
    tokenizer_describe(r->tokenizer, &info);
    if (info.chat_template && try_text(lane, str_of(info.chat_template), err) < 0)
        return -1;
    for (size_t i = 0; i < run->lanes_n && !lane->template; i++) {
        if (!run->lanes[i].reported_json)
            continue;
        if (json_parse(&doc, str_of(run->lanes[i].reported_json), &JSON_LIMITS_DEFAULT, &r->arena,
                       err) < 0)
            return -1;
        if (json_str(&source, json_path(doc, "props.chat_template")) == 0 &&
            try_text(lane, source, err) < 0)
            return -1;
    }
    if (!lane->template)
        r->missing = lane->wrapper.template_sha256;
    return 0;
}

static int open_lane(struct rendered *r, size_t i, struct error *err)
{
    const struct run_plan *plan = &r->w->receipt.run.plan;
    const char *text = r->w->receipt.run.lanes[i].wrapper_json;
    struct lane *lane = &r->lanes[i];
    const struct json *doc;

    if (!text)
        return 0;
    if (json_parse(&doc, str_of(text), &JSON_LIMITS_DEFAULT, &r->arena, err) < 0 ||
        chat_wrapper_read(&lane->wrapper, doc, &r->arena, err) < 0)
        return -1;
    if (!lane->wrapper.predicts)
        return 0;
    if (lane->wrapper.template_sha256[0] && find_template(r, lane, err) < 0)
        return -1;
    lane->at_hand = lane->template || !lane->wrapper.template_sha256[0];
    lane->wrapper.hypothesis.template = lane->template;
    lane->prompter = (struct chat_prompter){
        .hypothesis = &lane->wrapper.hypothesis,
        .tokenizer = r->tokenizer,
        .system = plan->system,
        .now = lane->wrapper.has_now ? &lane->wrapper.now : NULL,
    };
    if (!plan->template_kwargs)
        return 0;
    return json_parse(&lane->prompter.kwargs, str_of(plan->template_kwargs), &JSON_LIMITS_DEFAULT,
                      &r->arena, err);
}

int rendered_open(struct rendered **out, struct verify_work *w, const struct tokenizer *t,
                  struct error *err)
{
    struct rendered *r = calloc(1, sizeof *r);

    if (!r)
        return error_no_memory(err);
    r->w = w;
    r->tokenizer = t;
    arena_init(&r->arena, WRAPPERS_MAX);
    for (size_t i = 0; i < w->receipt.run.lanes_n; i++)
        if (open_lane(r, i, err) < 0) {
            rendered_close(r);
            return -1;
        }
    *out = r;
    return 0;
}

int rendered_check(struct rendered *r, size_t lane, const struct sample *s, struct str prompt,
                   const struct verify_place *at, struct error *err)
{
    const struct lane *l = &r->lanes[lane];
    struct chat_rendering rendering = {0};
    int64_t count;

    if (s->prompt_rendered == COUNT_NONE || !l->wrapper.predicts) {
        r->absent++;
        if (s->prompt_rendered != COUNT_NONE && r->w->receipt.run.lanes[lane].wrapper_json)
            verify_fail(r->w->report, VERIFY_RENDERED, at,
                        "says %lld; its lane's wrapper predicts nothing",
                        (long long)s->prompt_rendered);
        return 0;
    }
    if (!l->at_hand)
        return 0;
    if (chat_prompt(&l->prompter, prompt, &rendering, err) < 0) {
        chat_rendering_release(&rendering);
        if (err->kind == ERROR_MEMORY)
            return -1;
        verify_fail(r->w->report, VERIFY_RENDERED, at, "cannot be rendered: %s", err->message);
        return 0;
    }
    count = (int64_t)rendering.ids.n + l->wrapper.added;
    chat_rendering_release(&rendering);
    r->looked++;
    if (count != s->prompt_rendered)
        verify_fail(r->w->report, VERIFY_RENDERED, at, "says %lld; rendered again it is %lld",
                    (long long)s->prompt_rendered, (long long)count);
    return 0;
}

void rendered_conclude(struct rendered *r)
{
    struct verify_report *v = r->w->report;

    if (r->missing && r->looked == 0)
        verify_skip(v, VERIFY_RENDERED, "needs the template with digest %.16s… (--template)",
                    r->missing);
    else if (r->missing)
        verify_pass(v, VERIFY_RENDERED,
                    "%lld prompts rendered again; not those behind template %.16s… (--template)",
                    (long long)r->looked, r->missing);
    else if (r->looked == 0)
        verify_skip(v, VERIFY_RENDERED, "no lane's wrapper is known");
    else
        verify_pass(v, VERIFY_RENDERED, "%lld prompts rendered again", (long long)r->looked);
}

void rendered_close(struct rendered *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < RUN_LANES_MAX; i++)
        chat_template_free(r->lanes[i].template);
    arena_release(&r->arena);
    free(r);
}
