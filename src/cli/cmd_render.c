/* tally render: a conversation under a chat template, as a named server would render it. */
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "chat/json_value.h"
#include "chat/render.h"
#include "chat/when.h"
#include "cli/cli.h"
#include "cli/render_against.h"
#include "cli/render_batch.h"
#include "cli/tokens.h"
#include "cli/visible.h"
#include "codec/json_write.h"

#define DOCUMENTS_MAX ((size_t)256 << 20)

struct args {
    const char *template, *variant, *as, *context, *messages, *tools, *system, *kwargs, *now;
    const char *tokenizer, *reference, *tokenizer_sha256, *templates, *against;
    bool no_generation_prompt, tokens, jsonl, json;
};

static const struct option options[] = {
    {"template", OPTION_STRING, OFFSET(struct args, template), "FILE",
     .help = "a .jinja, tokenizer_config.json, chat_template.json or GGUF", .letter = 'T'},
    {"variant", OPTION_STRING, OFFSET(struct args, variant), "NAME",
     .help = "one of several templates in FILE, such as tool_use"},
    {"as", OPTION_STRING, OFFSET(struct args, as), "SERVER", "transformers",
     .choices = CHAT_PROFILE_NAMES, .help = "the server whose handling is followed"},
    {"Conversation", OPTION_HEADING, 0, .help = ""},
    {"messages", OPTION_STRING, OFFSET(struct args, messages), "FILE",
     .help = "JSON: a list of messages, or an object with messages and tools ('-': standard "
             "input)"},
    {"context", OPTION_STRING, OFFSET(struct args, context), "FILE",
     .help = "JSON: every variable of the template, taken as it is"},
    {"tools", OPTION_STRING, OFFSET(struct args, tools), "FILE", .help = "JSON: a list of tools"},
    {"system", OPTION_STRING, OFFSET(struct args, system), "TEXT",
     .help = "a system message to put in front"},
    {"kwargs", OPTION_STRING, OFFSET(struct args, kwargs), "JSON",
     .help = "further variables: '{\"enable_thinking\": false}'"},
    {"no-generation-prompt", OPTION_FLAG, OFFSET(struct args, no_generation_prompt),
     .help = "do not open the assistant's turn"},
    {"now", OPTION_STRING, OFFSET(struct args, now), "TIME",
     .help = "what templates take for the time, e.g. 2026-12-01T09:30:00"},
    {"Output", OPTION_HEADING, 0, .help = ""},
    {"tokens", OPTION_FLAG, OFFSET(struct args, tokens),
     .help = "show each part with its tokens (needs --tokenizer)"},
    {"against", OPTION_STRING, OFFSET(struct args, against), "SERVER",
     .choices = CHAT_PROFILE_NAMES,
     .help = "explain what this server's wrapper has more or less (needs --tokenizer)"},
    {"tokenizer", OPTION_STRING, OFFSET(struct args, tokenizer), "FILE",
     .help = "the model's tokenizer.json or GGUF", .letter = 't'},
    CLI_REFERENCE(struct args, reference),
    {"tokenizer-sha256", OPTION_STRING, OFFSET(struct args, tokenizer_sha256), "HEX",
     .help = "assert that the tokenizer's file has this digest (exit 4 if not)"},
    {"json", OPTION_FLAG, OFFSET(struct args, json), .help = "print one JSON document"},
    {"jsonl", OPTION_FLAG, OFFSET(struct args, jsonl),
     .help = "read lines {\"template\", \"context\", \"now\"}, write lines {\"text\"} or "
             "{\"error\"}"},
    {"templates", OPTION_STRING, OFFSET(struct args, templates), "DIR",
     .help = "where --jsonl finds the templates it names"},
    OPTIONS_END,
};

struct render {
    struct cli *cli;
    const struct args *args;
    const struct chat_profile *profile;
    struct chat_template *template;
    struct tokenizer *tokenizer;
    struct jinja_time now;
    struct arena arena; /* the documents */
    struct chat_request request;
    struct chat_rendering rendering;
};

static int usage(struct error *err, const char *message, const char *remedy)
{
    error_set(err, ERROR_USAGE, "%s", message);
    return error_remedy(err, "%s", remedy);
}

static int check_args(const struct args *a, const struct operands *operands, struct error *err)
{
    if (a->jsonl)
        return a->templates ? 0
                            : usage(err, "--jsonl needs --templates DIR",
                                    "each line names a file that lies there");
    if ((a->context != NULL) + (a->messages != NULL) + (operands->n > 0) != 1)
        return usage(err, "one conversation is wanted: TEXT, --messages or --context",
                     "tally render --template FILE 'Hello' renders one user message");
    if (a->context && (a->tools || a->system || a->kwargs || a->tokens))
        return usage(err, "--context already holds every variable",
                     "use --messages with --tools, --system, --kwargs and --tokens");
    if (a->against && (a->context || a->tokens || a->json))
        return usage(err, "--against explains one conversation and nothing else",
                     "leave out --context, --tokens and --json");
    if ((a->tokens || a->against) && !a->tokenizer)
        return usage(err, "tokens are counted by the model's own tokenizer",
                     "give the model's tokenizer.json or GGUF: --tokenizer FILE");
    return 0;
}

static int read_document(struct render *r, const char *path, const struct json **out,
                         struct error *err)
{
    return json_parse_file(out, path, &JSON_LIMITS_DEFAULT, &r->arena, err);
}

static int read_messages(struct render *r, struct error *err)
{
    const struct json *doc, *kwargs;
    if (read_document(r, r->args->messages, &doc, err) < 0)
        return -1;
    r->request.messages = doc->type == JSON_OBJECT ? json_get(doc, "messages") : doc;
    r->request.tools = json_get(doc, "tools");
    kwargs = json_get(doc, "chat_template_kwargs");
    if (json_is(kwargs, JSON_OBJECT))
        r->request.kwargs = kwargs;
    return chat_check_messages(r->request.messages, err) < 0 ? error_at_file(err, r->args->messages)
                                                             : 0;
}

/* One user message of the text that was typed. */
static int typed_message(struct render *r, const char *text, struct error *err)
{
    struct buf b = BUF_INIT(BUF_ANY);
    buf_adds(&b, "[{\"role\": \"user\", \"content\": ");
    json_add_quoted(&b, str_of(text));
    buf_adds(&b, "}]");
    int rc = buf_check(&b, "message", err);
    if (rc == 0)
        rc = json_parse(&r->request.messages, buf_str(&b), &JSON_LIMITS_DEFAULT, &r->arena, err);
    buf_release(&b);
    return rc;
}

static int read_request(struct render *r, const struct operands *operands, struct error *err)
{
    const struct args *a = r->args;
    r->request.system = a->system;
    r->request.add_generation_prompt = !a->no_generation_prompt;
    r->request.now = &r->now;
    if (a->messages ? read_messages(r, err) < 0 : typed_message(r, operands->v[0], err) < 0)
        return -1;
    if (a->tools && read_document(r, a->tools, &r->request.tools, err) < 0)
        return -1;
    if (a->kwargs) {
        if (json_parse(&r->request.kwargs, str_of(a->kwargs), &JSON_LIMITS_DEFAULT, &r->arena,
                       err) < 0)
            return error_wrap(err, "--kwargs");
        if (!json_is(r->request.kwargs, JSON_OBJECT))
            return usage(err, "--kwargs must be a JSON object",
                         "for example '{\"enable_thinking\": false}'");
    }
    return 0;
}

static void print_text(struct render *r)
{
    fwrite(r->rendering.text.p ? r->rendering.text.p : "", 1, r->rendering.text.n, r->cli->out);
}

static void print_ids(struct render *r, size_t first, size_t last)
{
    struct buf piece = BUF_INIT(BUF_ANY), line = BUF_INIT(BUF_ANY);
    for (size_t i = first; i < last; i++) {
        buf_reset(&piece);
        buf_reset(&line);
        (void)tokenizer_piece(r->tokenizer, r->rendering.ids.id[i], &piece);
        cli_add_visible(&line, buf_str(&piece));
        fprintf(r->cli->out, "  %14u  %.*s\n", (unsigned)r->rendering.ids.id[i],
                STR_ARG(buf_str(&line)));
    }
    buf_release(&piece);
    buf_release(&line);
}

static void print_parts(struct render *r)
{
    const struct chat_rendering *x = &r->rendering;
    struct buf line = BUF_INIT(BUF_ANY);
    for (size_t i = 0; i < x->parts_n; i++) {
        const struct chat_part *p = &x->parts[i];
        char name[32] = "wrapper";
        if (p->kind == PART_CONTENT)
            snprintf(name, sizeof name, "message %zu", p->message + 1);
        buf_reset(&line);
        cli_add_visible(&line, (struct str){x->text.p + p->from, p->to - p->from});
        fprintf(r->cli->out, "%-11s %4zu  ", name, p->last - p->first);
        fwrite(line.p, 1, line.n, r->cli->out);
        fputc('\n', r->cli->out);
        print_ids(r, p->first, p->last);
    }
    fprintf(r->cli->out, "%-11s %4zu\n", "total", x->ids.n);
    buf_release(&line);
}

static void put_parts(struct json_writer *w, const struct chat_rendering *x)
{
    json_key(w, "parts");
    json_begin_array(w);
    for (size_t i = 0; i < x->parts_n; i++) {
        const struct chat_part *p = &x->parts[i];
        json_begin_object(w);
        json_key(w, "kind");
        json_put_cstr(w, p->kind == PART_CONTENT ? "content" : "wrapper");
        if (p->kind == PART_CONTENT) {
            json_key(w, "message");
            json_put_i64(w, (int64_t)p->message);
        }
        json_key(w, "text");
        json_put_str(w, (struct str){x->text.p + p->from, p->to - p->from});
        json_key(w, "tokens");
        json_begin_array(w);
        for (size_t k = p->first; k < p->last; k++)
            json_put_i64(w, x->ids.id[k]);
        json_end_array(w);
        json_end_object(w);
    }
    json_end_array(w);
    json_key(w, "n");
    json_put_i64(w, (int64_t)x->ids.n);
}

static int print_json(struct render *r, struct error *err)
{
    struct buf out = BUF_INIT(BUF_ANY);
    struct json_writer w;
    json_writer_init(&w, &out, 2);
    json_begin_object(&w);
    json_key(&w, "text");
    json_put_str(&w, buf_str(&r->rendering.text));
    if (!r->args->context) {
        json_key(&w, "as");
        json_put_cstr(&w, r->profile->name);
    }
    json_key(&w, "template_sha256");
    json_put_cstr(&w, r->template ? r->template->sha256 : NULL);
    if (r->args->tokens)
        put_parts(&w, &r->rendering);
    json_end_object(&w);
    int rc = json_writer_check(&w, "the rendering", err);
    if (rc == 0) {
        fwrite(out.p, 1, out.n, r->cli->out);
        fputc('\n', r->cli->out);
    }
    buf_release(&out);
    return rc;
}

static int render_context(struct render *r, struct error *err)
{
    const struct json *doc;
    struct jinja_value context;
    const struct jinja_render how = {.now = &r->now};
    if (!r->template)
        return usage(err, "--context needs a chat template",
                     "give --template FILE: a .jinja, a tokenizer_config.json or a GGUF");
    if (read_document(r, r->args->context, &doc, err) < 0)
        return -1;
    if (doc->type != JSON_OBJECT) {
        error_set(err, ERROR_INPUT, "a context is an object; this is %s",
                  json_type_name(doc->type));
        return error_at_file(err, r->args->context);
    }
    r->rendering.text.max = JINJA_OUTPUT_MAX;
    if (value_from_json(&context, doc, &r->arena, err) < 0)
        return error_at_file(err, r->args->context);
    if (jinja_render(r->template->jinja, context, &how, &r->rendering.text, err) < 0)
        return error_at_file(err, r->args->template);
    return 0;
}

static int render_request(struct render *r, const struct operands *operands, struct error *err)
{
    if (read_request(r, operands, err) < 0)
        return -1;
    if (r->args->against)
        return cli_open_tokenizer(&r->tokenizer, r->args->tokenizer, r->args->reference,
                                  r->args->tokenizer_sha256, err) < 0
                   ? -1
                   : render_against(r->cli, r->template, r->tokenizer, &r->request, r->args->as,
                                    r->args->against, err);
    if (chat_render(&r->rendering, r->template, r->profile, &r->request, err) < 0)
        return r->args->template && err->line ? error_at_file(err, r->args->template) : -1;
    if (!r->args->tokens)
        return 0;
    if (cli_open_tokenizer(&r->tokenizer, r->args->tokenizer, r->args->reference,
                           r->args->tokenizer_sha256, err) < 0)
        return -1;
    return chat_tokenize(&r->rendering, r->tokenizer, r->profile, err);
}

static int open_template(struct render *r, struct error *err)
{
    r->profile = chat_profile_find(r->args->as);
    chat_time_local(&r->now, clock_real_ns());
    if (r->args->now && chat_time_parse(&r->now, str_of(r->args->now)) < 0)
        return usage(err, "--now is no time", "write it as 2026-12-01T09:30:00");
    if (!r->args->template)
        return 0;
    return chat_template_open(&r->template, r->args->template, r->args->variant,
                              &r->profile->syntax, err);
}

static int run(struct cli *cli, void *arguments, const struct operands *operands, struct error *err)
{
    const struct args *a = arguments;
    struct render r = {.cli = cli, .args = a};
    int rc = -1;
    if (check_args(a, operands, err) < 0)
        return -1;
    if (a->jsonl)
        return render_batch(cli, operands->n ? operands->v[0] : "-", a->templates, err);
    arena_init(&r.arena, DOCUMENTS_MAX);
    if (open_template(&r, err) == 0)
        rc = a->context ? render_context(&r, err) : render_request(&r, operands, err);
    if (rc == 0 && a->json)
        rc = print_json(&r, err);
    else if (rc == 0 && a->tokens)
        print_parts(&r);
    else if (rc == 0 && !a->against)
        print_text(&r);
    chat_rendering_release(&r.rendering);
    chat_template_free(r.template);
    tokenizer_free(r.tokenizer);
    arena_release(&r.arena);
    return rc;
}

const struct command cmd_render = {
    .name = "render",
    .summary = "render a conversation with a chat template, as a named server would",
    .usage = "--template FILE [OPTION...] [TEXT]",
    .description =
        "Renders one user message TEXT, or the conversation of --messages, with the chat template "
        "of FILE, the way the server named by --as handles requests: what becomes of tools, of "
        "null content, of content in parts, of the thinking switch, of a trailing assistant "
        "message.\n\n"
        "The text is written as it is, without a newline of its own. --tokens shows instead which "
        "tokens the wrapper is made of and which the content.\n\n"
        "A template that refuses a conversation is an error with the template's own message, line "
        "and column.",
    .examples =
        "  tally render --template model.gguf 'Hello'\n"
        "  tally render -T tokenizer_config.json --as llama-server --messages chat.json\n"
        "  tally render -T model.gguf --tokens -t model.gguf 'Hello'\n"
        "  tally render -T model.gguf -t model.gguf --as apr --against llama-server 'Hello'\n"
        "  tally render --jsonl --templates templates < lines.jsonl\n",
    .options = options,
    .args_size = sizeof(struct args),
    .operands_min = 0,
    .operands_max = 1,
    .run = run,
};
