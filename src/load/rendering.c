#include "load/rendering.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "chat/when.h"
#include "codec/json_write.h"
#include "load/load.h"

#define KWARGS_BYTES_MAX ((size_t)64 << 10)
#define KWARGS_DEPTH_MAX 16 /* below what a receipt takes */
#define OWN_NAME "the tokenizer's file"

struct load_rendering {
    struct chat_hypothesis hypothesis;
    struct chat_prompter prompter;
    struct chat_template *own; /* the tokenizer file's */
    struct jinja_time now;
    char now_text[CHAT_TIME_TEXT];
    struct arena arena; /* of the kwargs */
};

/* In its one spelling, which is what a receipt keeps and digests. */
static int respell(struct load_rendering *x, const char **text, struct error *err)
{
    struct buf out = BUF_INIT(KWARGS_BYTES_MAX * 6);
    struct json_writer w;

    json_writer_init(&w, &out, 0);
    json_put_value(&w, x->prompter.kwargs);
    int rc = json_writer_check(&w, "--kwargs", err);
    if (rc == 0) {
        *text = arena_cstr(&x->arena, buf_str(&out));
        rc = *text ? 0 : error_no_memory(err);
    }
    buf_release(&out);
    return rc;
}

static int read_kwargs(struct load_rendering *x, const char **text, struct error *err)
{
    const struct json_limits limits = {KWARGS_BYTES_MAX, KWARGS_BYTES_MAX / 8, KWARGS_DEPTH_MAX};

    if (!*text)
        return 0;
    if (json_parse(&x->prompter.kwargs, str_of(*text), &limits, &x->arena, err) < 0)
        return error_wrap(err, "--kwargs");
    if (json_is(x->prompter.kwargs, JSON_OBJECT))
        return respell(x, text, err);
    error_set(err, ERROR_USAGE, "--kwargs must be a JSON object");
    return error_remedy(err, "for example '{\"enable_thinking\": false}'");
}

/* The one template: given, or the tokenizer file's own. */
static int find_template(struct load_rendering *x, const struct load_options *o, const char **name,
                         struct error *err)
{
    const struct chat_profile *p = &x->hypothesis.profile;
    struct tokenizer_info info = {0};

    if (o->templates_n > 1) {
        error_set(err, ERROR_USAGE, "--wire completions renders one template; %zu are given",
                  o->templates_n);
        return error_remedy(err, "give --template once");
    }
    if (p->raw || p->built_in)
        return 0;
    if (o->templates_n == 1) {
        *name = o->templates[0].name;
        x->hypothesis.template = o->templates[0].template;
        return 0;
    }
    if (o->tokenizer)
        tokenizer_describe(o->tokenizer, &info);
    if (!info.chat_template) {
        error_set(err, ERROR_USAGE,
                  "--wire completions renders the prompt on this side, and no template is given");
        return error_remedy(err, "give --template FILE (.jinja, tokenizer_config.json, GGUF), or "
                                 "--as none to send the text as it is");
    }
    *name = OWN_NAME;
    if (chat_template_from_text(&x->own, str_of(info.chat_template), OWN_NAME, &p->syntax, err) < 0)
        return -1;
    x->hypothesis.template = x->own;
    return 0;
}

static int open_it(struct load_rendering *x, struct load_options *o, struct error *err)
{
    struct run_plan *plan = &o->plan;
    const struct chat_profile *p = chat_profile_find(plan->template_profile);
    const char *name = NULL;

    if (!p)
        return error_set(err, ERROR_USAGE, "there is no server '%s' to render as",
                         plan->template_profile);
    x->hypothesis.profile = *p;
    if (plan->special_text && strcmp(plan->special_text, "plain") == 0)
        x->hypothesis.profile.plain_content = true;
    if (find_template(x, o, &name, err) < 0 || read_kwargs(x, &plan->template_kwargs, err) < 0)
        return -1;
    snprintf(x->hypothesis.name, sizeof x->hypothesis.name, "%s%s%s", p->name,
             name ? ", template of " : "", name ? name : "");
    chat_time_local(&x->now, clock_real_ns());
    chat_time_format(x->now_text, &x->now);
    x->prompter.hypothesis = &x->hypothesis;
    x->prompter.tokenizer = o->tokenizer;
    x->prompter.system = plan->system;
    x->prompter.now = &x->now;
    plan->template_path = name;
    if (x->hypothesis.template)
        memcpy(plan->template_sha256, x->hypothesis.template->sha256, SHA256_HEX);
    plan->template_now = x->now_text;
    plan->prompt_form = o->tokenizer ? "ids" : "text";
    return 0;
}

int rendering_open(struct load_rendering **out, struct load_options *o, struct error *err)
{
    struct load_rendering *x;

    *out = NULL;
    if (strcmp(o->plan.wire, "completions") != 0)
        return 0;
    x = calloc(1, sizeof *x);
    if (!x)
        return error_no_memory(err);
    arena_init(&x->arena, 64 * KWARGS_BYTES_MAX);
    if (open_it(x, o, err) < 0) {
        rendering_close(x);
        return -1;
    }
    *out = x;
    return 0;
}

void rendering_close(struct load_rendering *x)
{
    if (!x)
        return;
    chat_template_free(x->own);
    arena_release(&x->arena);
    free(x);
}

/* The text with its BOS in front, or without, however the profile spells it. */
static int put_text(const struct load_rendering *x, bool leave_out, struct load_raw *raw,
                    struct error *err)
{
    struct str text = buf_str(&raw->rendering.text);
    struct buf bos = BUF_INIT(65536);
    bool front = chat_prompt_front(&x->prompter, &raw->rendering, &bos);
    bool spelt = front && str_starts(text, buf_str(&bos)) && raw->rendering.added_front == 0;

    raw->text.max = text.n + bos.n + 1;
    buf_reset(&raw->text);
    if (front && !spelt && !leave_out)
        buf_addstr(&raw->text, buf_str(&bos));
    buf_addstr(&raw->text, spelt && leave_out ? str_skip(text, bos.n) : text);
    buf_release(&bos);
    return buf_check(&raw->text, "a prompt", err);
}

int rendering_put(const struct load_rendering *x, const struct load_form *form, struct str prompt,
                  struct load_raw *raw, struct wire_ask *ask, struct error *err)
{
    const struct token_ids *ids = &raw->rendering.ids;
    size_t skip;

    ask->messages_n = 0;
    ask->messages = NULL;
    raw->sent = raw->count = COUNT_NONE;
    if (chat_prompt(&x->prompter, prompt, &raw->rendering, err) < 0)
        return -1;
    skip = form->leave_out && ids->n > 0 ? 1 : 0;
    if (x->prompter.tokenizer) {
        raw->sent = (int64_t)(ids->n - skip);
        raw->count = raw->sent + form->server_front;
    }
    if (form->ids) {
        ask->prompt_ids = ids->id ? ids->id + skip : NULL;
        ask->prompt_ids_n = ids->n - skip;
        return 0;
    }
    if (put_text(x, form->leave_out, raw, err) < 0)
        return -1;
    ask->prompt = buf_str(&raw->text);
    return 0;
}

void load_raw_release(struct load_raw *raw)
{
    if (!raw)
        return;
    chat_rendering_release(&raw->rendering);
    buf_release(&raw->text);
}

bool rendering_has_front(const struct load_rendering *x, const struct load_raw *raw)
{
    struct buf ignored = BUF_INIT(65536);
    bool has = chat_prompt_front(&x->prompter, &raw->rendering, &ignored);

    buf_release(&ignored);
    return has;
}

int64_t rendering_plain_count(const struct load_rendering *x, const struct load_raw *raw)
{
    const struct encode_options how = {.special_text = SPECIAL_TEXT_PLAIN};
    struct error ignored;
    size_t n;

    if (!x->prompter.tokenizer ||
        tokenizer_count(x->prompter.tokenizer, buf_str(&raw->rendering.text), &how, &n, &ignored) <
            0)
        return COUNT_NONE;
    return (int64_t)n;
}

const struct chat_hypothesis *rendering_hypothesis(const struct load_rendering *x)
{
    return &x->hypothesis;
}

const struct jinja_time *rendering_now(const struct load_rendering *x)
{
    return &x->now;
}

bool rendering_counts(const struct load_rendering *x)
{
    return x->prompter.tokenizer != NULL;
}
