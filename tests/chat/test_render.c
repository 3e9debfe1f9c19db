/* A real llama-server's renderings, ids and counts, predicted; and what each profile changes. */
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "chat/render.h"

static const struct jinja_time now = {2026, 12, 1, 9, 30, 0};

static const struct json *parse(const char *text, struct arena *a)
{
    const struct json *doc;
    struct error err = {0};
    if (json_parse(&doc, str_of(text), &JSON_LIMITS_DEFAULT, a, &err) < 0)
        fail_msg("%s: %s", text, err.message);
    return doc;
}

static void check_row(const struct json *row, const struct chat_template *t,
                      const struct tokenizer *tok)
{
    struct error err = {0};
    struct str want;
    int64_t reported;
    struct chat_rendering r = {0};
    const struct chat_profile *p = chat_profile_find("llama-server");
    const struct chat_request q = {
        .messages = json_get(row, "messages"), .add_generation_prompt = true, .now = &now};
    assert_int_equal(json_need_str(&want, row, "rendered", &err), 0);
    assert_int_equal(json_need_i64(&reported, row, "server_prompt_tokens", &err), 0);
    if (chat_render(&r, t, p, &q, &err) < 0 || chat_tokenize(&r, tok, p, &err) < 0)
        fail_msg("%s", err.message);
    assert_str(buf_str(&r.text), want);
    assert_int_equal(r.ids.n, reported);
    const struct json *ids = json_get(row, "rendered_ids");
    assert_int_equal(ids->n, r.ids.n);
    for (size_t i = 0; i < ids->n; i++) {
        int64_t id;
        assert_int_equal(json_i64(&id, &ids->items[i]), 0);
        assert_int_equal(id, r.ids.id[i]);
    }
    size_t at = 0, first = 0;
    for (size_t i = 0; i < r.parts_n; i++) { /* parts cover text and ids without gaps */
        assert_int_equal(r.parts[i].from, at);
        assert_int_equal(r.parts[i].first, first);
        at = r.parts[i].to;
        first = r.parts[i].last;
    }
    assert_int_equal(at, r.text.n);
    assert_int_equal(first, r.ids.n);
    chat_rendering_release(&r);
}

/* The text alone, with the strings of special tokens in it parsed or plain. */
static void check_raw(const struct json *row, const struct tokenizer *tok)
{
    struct error err = {0};
    const struct json *messages = json_get(row, "messages");
    const struct json *user = json_at(messages, messages->n - 1);
    struct str text;
    int64_t parsed, plain;
    size_t n;
    assert_int_equal(json_need_str(&text, user, "content", &err), 0);
    assert_int_equal(json_need_i64(&parsed, row, "raw_tokens_special_parsed", &err), 0);
    assert_int_equal(json_need_i64(&plain, row, "raw_tokens_special_plain", &err), 0);
    assert_int_equal(tokenizer_count(tok, text, &(struct encode_options){0}, &n, &err), 0);
    assert_int_equal(n, parsed);
    const struct encode_options as_plain = {.special_text = SPECIAL_TEXT_PLAIN};
    assert_int_equal(tokenizer_count(tok, text, &as_plain, &n, &err), 0);
    assert_int_equal(n, plain);
}

static void lane_counts(void **state)
{
    (void)state;
    const char *dir = getenv("TALLY_SHARED");
    struct buf path = BUF_INIT(4096), model = BUF_INIT(4096);
    struct error err = {0};
    struct arena a;
    const struct json *rows;
    struct chat_template *t;
    struct tokenizer *tok;
    buf_addf(&path, "%s/vectors/lane-counts.json", dir ? dir : "");
    buf_addf(&model, "%s/vectors/gguf/tiny-qwen2.gguf", dir ? dir : "");
    if (!dir || !file_exists(path.p)) {
        print_message("skipped: the shared lane counts are not here\n");
        skip();
    }
    arena_init(&a, 64 << 20);
    assert_int_equal(json_parse_file(&rows, path.p, &JSON_LIMITS_DEFAULT, &a, &err), 0);
    assert_int_equal(chat_template_open(&t, model.p, NULL, &JINJA_SYNTAX_TRANSFORMERS, &err), 0);
    assert_int_equal(tokenizer_open(&tok, model.p, &(struct tokenizer_options){0}, &err), 0);
    assert_string_equal(t->origin, "gguf");
    assert_true(rows->n >= 16); /* eight shapes, with and without a system message */
    for (size_t i = 0; i < rows->n; i++) {
        check_row(&rows->items[i], t, tok);
        check_raw(&rows->items[i], tok);
    }
    tokenizer_free(tok);
    chat_template_free(t);
    arena_release(&a);
    buf_release(&path);
    buf_release(&model);
}

/* What a template of our own sees of a request under a profile. */
static void check_profile(const char *profile, const char *source, const char *request,
                          const char *want)
{
    struct error err = {0};
    struct arena a;
    struct chat_template *t;
    struct chat_rendering r = {0};
    const struct chat_profile *p = chat_profile_find(profile);
    bool generate = true;
    assert_non_null(p);
    arena_init(&a, 1 << 20);
    const struct json *doc = parse(request, &a);
    json_bool(&generate, json_get(doc, "generate"));
    const struct chat_request q = {.messages = json_get(doc, "messages"),
                                   .tools = json_get(doc, "tools"),
                                   .kwargs = json_get(doc, "kwargs"),
                                   .add_generation_prompt = generate,
                                   .now = &now};
    assert_int_equal(chat_template_from_text(&t, str_of(source), "test", &p->syntax, &err), 0);
    if (chat_render(&r, t, p, &q, &err) < 0)
        fail_msg("%s: %s", profile, err.message);
    assert_text(buf_str(&r.text), want);
    chat_rendering_release(&r);
    chat_template_free(t);
    arena_release(&a);
}

static void absent_variables(void **state)
{
    (void)state;
    static const char source[] =
        "{{ tools is defined }} {{ tools is none }} {{ documents is defined }} "
        "{{ add_generation_prompt is defined }} {{ enable_thinking is defined }} "
        "{{ date_string is defined }}";
    static const char request[] = "{\"messages\": [], \"generate\": false}";
    check_profile("transformers", source, request, "True True True True False False");
    check_profile("llama-server", source, request, "False False False False True True");
    check_profile("vllm", source, request, "True True True True False False");
    check_profile("tgi", source, request, "True True False True False False");
    check_profile("apr-template", source, request, "False False False True True False");
    check_profile("llama-server", "{{ date_string }}|{{ datetime }}", "{\"messages\": []}",
                  "01 Dec 2026|Dec 01 2026");
    check_profile("llama-server", "{{ enable_thinking }}",
                  "{\"messages\": [], \"kwargs\": {\"enable_thinking\": false}}", "False");
    check_profile("apr-template", "{{ enable_thinking }}", "{\"messages\": []}", "False");
}

static void contents(void **state)
{
    (void)state;
    static const char each[] = "{% for m in messages %}[{{ m.role }}:{{ m.content }}]{% endfor %}";
    static const char parts[] = "{\"messages\": [{\"role\": \"user\", \"content\": [{\"type\": "
                                "\"text\", \"text\": \"a\"}, {\"type\": \"text\", \"text\": "
                                "\"b\"}]}]}";
    static const char nothing[] = "{\"messages\": [{\"role\": \"developer\", \"content\": null}]}";
    check_profile("llama-server", each, parts, "[user:a\nb]");
    check_profile("vllm", each, parts, "[user:a\nb]");
    check_profile("transformers", each, parts,
                  "[user:[{'type': 'text', 'text': 'a'}, {'type': 'text', 'text': 'b'}]]");
    check_profile("llama-server", each, nothing, "[system:]");
    check_profile("transformers", each, nothing, "[developer:None]");
    /* a template that walks over parts gets a plain string as one */
    static const char walks[] =
        "{% for m in messages %}{% for p in m.content %}<{{ p.text }}>{% endfor %}{% endfor %}";
    static const char plain[] = "{\"messages\": [{\"role\": \"user\", \"content\": \"hi\"}]}";
    check_profile("vllm", walks, plain, "<hi>");
    check_profile("vllm", walks, parts, "<a><b>");
    static const char marks[] =
        "{\"messages\": [{\"role\": \"user\", \"content\": \"<|x|> <\", \"extra\": 1}]}";
    check_profile("apr-template", each, marks, "[user:<\xE2\x80\x8B|x|> <]");
    check_profile("apr-template", "{{ messages[0].extra is defined }}", marks, "False");
    check_profile("apr", "unused", plain,
                  "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n");
    check_profile("none", "unused", plain, "hi");
}

static void tools_and_calls(void **state)
{
    (void)state;
    static const char tool[] = "{\"messages\": [], \"tools\": [{\"type\": \"function\", "
                               "\"function\": {\"name\": \"f\", \"parameters\": {\"a\": 1}, "
                               "\"x\": 2}}]}";
    static const char dump[] = "{{ tools[0]|tojson }}";
    check_profile("transformers", dump, tool,
                  "{\"type\": \"function\", \"function\": {\"name\": \"f\", \"parameters\": "
                  "{\"a\": 1}, \"x\": 2}}");
    check_profile("llama-server", dump, tool,
                  "{\"type\": \"function\", \"function\": {\"name\": \"f\", \"description\": \"\", "
                  "\"parameters\": {\"a\": 1}}}");
    check_profile("vllm", dump, tool,
                  "{\"type\": \"function\", \"function\": {\"name\": \"f\", \"description\": null, "
                  "\"parameters\": {\"a\": 1}}}");
    check_profile("sglang", dump, tool,
                  "{\"type\": \"function\", \"function\": {\"description\": null, \"name\": \"f\", "
                  "\"parameters\": {\"a\": 1}, \"strict\": false}}");
    static const char call[] = "{\"messages\": [{\"role\": \"assistant\", \"content\": null, "
                               "\"tool_calls\": [{\"function\": {\"name\": \"f\", \"arguments\": "
                               "\"{\\\"a\\\": 1}\"}}]}, {\"role\": \"user\", \"content\": \"x\"}]}";
    static const char arguments[] = "{{ messages[0].tool_calls[0].function.arguments is mapping }}";
    check_profile("llama-server", arguments, call, "True");
    check_profile("transformers", arguments, call, "False");
}

static void last_assistant(void **state)
{
    (void)state;
    static const char each[] = "{% for m in messages %}[{{ m.role }}:{{ m.content }}]{% endfor %}"
                               "{% if add_generation_prompt %}>{% endif %}";
    static const char request[] = "{\"generate\": false, \"messages\": [{\"role\": \"user\", "
                                  "\"content\": \"a\"}, {\"role\": \"assistant\", \"content\": "
                                  "\"b\"}]}";
    check_profile("transformers", each, request, "[user:a][assistant:b]");
    check_profile("llama-server", each, request, "[user:a]>b");
    check_profile("sglang", each, request, "[user:a][user:b]");
}

static void blocks(void **state)
{
    (void)state;
    static const char source[] = "a\n  {% if true %}\nb\n  {% endif %}\nc";
    check_profile("transformers", source, "{\"messages\": []}", "a\nb\nc");
    check_profile("tgi", source, "{\"messages\": []}", "a\n  \nb\n  \nc");
}

static void files(void **state)
{
    (void)state;
    static const char config[] = "{\"bos_token\": {\"content\": \"<s>\"}, \"eos_token\": \"</s>\", "
                                 "\"chat_template\": [{\"name\": \"default\", \"template\": \"d\"},"
                                 " {\"name\": \"tool_use\", \"template\": \"t{{ bos_token }}\"}]}";
    char path[] = "tokenizer_config_XXXXXX";
    struct error err = {0};
    struct chat_template *t = NULL;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(file_write_all(fd, str_of(config), path, &err), 0);
    assert_int_equal(chat_template_open(&t, path, NULL, &JINJA_SYNTAX_TRANSFORMERS, &err), 0);
    assert_text(t->source, "d");
    assert_int_equal(t->specials_n, 2);
    assert_text(t->specials[0].name, "bos_token");
    assert_text(t->specials[0].text, "<s>");
    chat_template_free(t);
    assert_int_equal(chat_template_open(&t, path, "tool_use", &JINJA_SYNTAX_TRANSFORMERS, &err), 0);
    assert_text(t->source, "t{{ bos_token }}");
    chat_template_free(t);
    assert_refused(chat_template_open(&t, path, "none", &JINJA_SYNTAX_TRANSFORMERS, &err), err,
                   ERROR_INPUT, "no chat template named 'none'");
    close(fd);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lane_counts),    cmocka_unit_test(absent_variables),
        cmocka_unit_test(contents),       cmocka_unit_test(tools_and_calls),
        cmocka_unit_test(last_assistant), cmocka_unit_test(blocks),
        cmocka_unit_test(files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
