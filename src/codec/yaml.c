#include "codec/yaml.h"

#include <libfyaml.h>
#include <string.h>

#include "base/file.h"
#include "base/num.h"
#include "base/utf8.h"
#include "codec/json_build.h"

struct reader {
    struct json_builder build;
    struct fy_diag *diag;
    struct fy_parser *parser;
    struct json_place at; /* of the last token that had one */
    unsigned documents;
};

static int fail_at(struct error *err, struct json_place at, const char *message, const char *remedy)
{
    error_set(err, ERROR_INPUT, "%s", message);
    error_remedy(err, "%s", remedy);
    return error_at_line(err, at.line, at.column);
}

/* An implicit token (the value of "key:") has no place; it stands behind the last one. */
static void look_at(struct reader *r, struct fy_token *token)
{
    const struct fy_mark *mark = token ? fy_token_start_mark(token) : NULL;
    if (!mark || mark->line < 0 || mark->column < 0)
        return;
    r->at = (struct json_place){(uint32_t)mark->line + 1, (uint32_t)mark->column + 1};
    /* The library's mark is behind the opening quote. */
    enum fy_scalar_style style = fy_token_scalar_style(token);
    if ((style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED) && r->at.column > 1)
        r->at.column--;
}

/* The library's own words, of the first error that it met. */
static int syntax_error(struct reader *r, struct error *err)
{
    void *iterator = NULL;
    struct fy_diag_error *e = fy_diag_errors_iterate(r->diag, &iterator);
    if (!e)
        return fail_at(err, r->at, "not YAML", "check indentation and quotes at this place");
    struct json_place at = {(uint32_t)e->line, (uint32_t)e->column};
    error_set(err, ERROR_INPUT, "not YAML: %s", e->msg ? e->msg : "syntax error");
    error_remedy(err, "check indentation and quotes at this place");
    return error_at_line(err, at.line, at.column);
}

/* The core schema's words for what is no string. */
static enum json_type plain_type(struct str s)
{
    static const struct {
        struct str word;
        enum json_type type;
    } words[] = {
        {{"", 0}, JSON_NULL},       {{"~", 1}, JSON_NULL},      {{"null", 4}, JSON_NULL},
        {{"Null", 4}, JSON_NULL},   {{"NULL", 4}, JSON_NULL},   {{"true", 4}, JSON_TRUE},
        {{"True", 4}, JSON_TRUE},   {{"TRUE", 4}, JSON_TRUE},   {{"false", 5}, JSON_FALSE},
        {{"False", 5}, JSON_FALSE}, {{"FALSE", 5}, JSON_FALSE},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (str_eq(s, words[i].word))
            return words[i].type;
    return num_is_json(s) ? JSON_NUMBER : JSON_STRING;
}

static int take_scalar(struct reader *r, struct fy_token *token, struct error *err)
{
    size_t n = 0;
    const char *p = token ? fy_token_get_text(token, &n) : "";
    bool plain = !token || fy_token_scalar_style(token) == FYSS_PLAIN;
    if (!p)
        return error_no_memory(err);
    struct str text = str_make(p, n);
    if (!utf8_valid(text))
        return fail_at(err, r->at, "an escape that is no character", "write the character itself");
    if (!json_build_wants_key(&r->build)) {
        enum json_type type = plain ? plain_type(text) : JSON_STRING;
        return json_build_value(&r->build, type, text, r->at, err);
    }
    if (plain && (text.n == 0 || str_eq(text, STR("<<"))))
        return fail_at(err, r->at, text.n ? "merge keys (\"<<\") are not read" : "an empty key",
                       text.n ? "write the members out" : "name the key, or quote the empty one");
    return json_build_key(&r->build, text, r->at, err);
}

/* Anchors, tags and containers as keys: none of them has a place in a configuration. */
static int check_node(struct reader *r, struct fy_event *event, struct error *err)
{
    struct fy_token *anchor = fy_event_get_anchor_token(event),
                    *tag = fy_event_get_tag_token(event);
    if (anchor || tag) {
        look_at(r, anchor ? anchor : tag);
        return fail_at(err, r->at,
                       anchor ? "anchors (\"&name\") are not read"
                              : "tags (\"!name\") are not read",
                       "write the value itself; quote a text that begins with & or !");
    }
    look_at(r, fy_event_get_token(event));
    if (event->type != FYET_SCALAR && json_build_wants_key(&r->build))
        return fail_at(err, r->at, "a key that is a list or a mapping", "use a plain word as key");
    return 0;
}

static int take_event(struct reader *r, struct fy_event *event, struct error *err)
{
    /* Seen at what follows its start, since a start without "---" has no place. */
    if (r->documents > 1) {
        look_at(r, fy_event_get_token(event));
        return fail_at(err, r->at, "a second document begins", "keep one document a file");
    }
    switch (event->type) {
    case FYET_DOCUMENT_START:
        look_at(r, fy_event_get_token(event));
        r->documents++;
        return 0;
    case FYET_ALIAS:
        look_at(r, fy_event_get_token(event));
        return fail_at(err, r->at, "aliases (\"*name\") are not read",
                       "write the value itself; quote a text that begins with *");
    case FYET_SCALAR:
        return check_node(r, event, err) < 0 ? -1 : take_scalar(r, event->scalar.value, err);
    case FYET_SEQUENCE_START:
    case FYET_MAPPING_START:
        if (check_node(r, event, err) < 0)
            return -1;
        return json_build_open(&r->build, event->type == FYET_MAPPING_START, r->at, err);
    case FYET_SEQUENCE_END:
    case FYET_MAPPING_END:
        return json_build_close(&r->build, err);
    default:
        return 0;
    }
}

static int read_events(struct reader *r, struct error *err)
{
    bool ended = false;
    while (!ended) {
        struct fy_event *event = fy_parser_parse(r->parser);
        if (!event)
            return syntax_error(r, err);
        ended = event->type == FYET_STREAM_END;
        int status = take_event(r, event, err);
        fy_parser_event_free(r->parser, event);
        if (status < 0)
            return -1;
    }
    if (r->documents == 0)
        return json_build_value(&r->build, JSON_NULL, STR(""), (struct json_place){1, 1}, err);
    return 0;
}

/* What the library is never shown: bytes that are no text. */
static int check_text(struct str text, struct error *err)
{
    size_t bad = utf8_valid_prefix(text), nul = str_find_char(text, '\0');
    if (bad == text.n && nul == STR_NONE)
        return 0;
    size_t at = nul < bad ? nul : bad;
    struct json_place place = {1, 1};
    for (size_t i = 0; i < at; i++) {
        place.column++;
        if (text.p[i] == '\n')
            place = (struct json_place){place.line + 1, 1};
    }
    fail_at(err, place, nul < bad ? "a NUL byte" : "not UTF-8", "store the file as UTF-8 text");
    return error_at_offset(err, (int64_t)at);
}

int yaml_parse(const struct json **out, struct str text, const struct json_limits *limits,
               struct arena *arena, struct error *err)
{
    if (text.n > limits->bytes)
        return error_set(err, ERROR_LIMIT, "YAML longer than %zu bytes", limits->bytes);
    if (check_text(text, err) < 0)
        return -1;
    int status = -1;
    struct reader r = {.at = {1, 1}};
    struct fy_diag_cfg diag_cfg;
    json_builder_init(&r.build, "YAML", limits, arena);
    fy_diag_cfg_default(&diag_cfg);
    diag_cfg.fp = NULL;
    r.diag = fy_diag_create(&diag_cfg);
    if (!r.diag)
        goto no_memory;
    fy_diag_set_collect_errors(r.diag, true);
    struct fy_parse_cfg cfg = {
        .search_path = "",
        .flags = FYPCF_QUIET | FYPCF_JSON_NONE | FYPCF_DEFAULT_VERSION_1_2,
        .diag = r.diag,
    };
    r.parser = fy_parser_create(&cfg);
    if (!r.parser || fy_parser_set_string(r.parser, text.n ? text.p : "", text.n) != 0)
        goto no_memory;
    if (read_events(&r, err) == 0)
        status = json_build_finish(&r.build, out, err);
    goto out;
no_memory:
    error_no_memory(err);
out:
    fy_parser_destroy(r.parser);
    fy_diag_destroy(r.diag);
    json_builder_release(&r.build);
    return status;
}

int yaml_parse_file(const struct json **out, const char *path, const struct json_limits *limits,
                    struct arena *arena, struct error *err)
{
    struct buf text = BUF_INIT(0);
    int status = file_read(&text, path, limits->bytes, err);
    if (status == 0 && yaml_parse(out, buf_str(&text), limits, arena, err) < 0)
        status = error_at_file(err, strcmp(path, "-") == 0 ? "<stdin>" : path);
    buf_release(&text);
    return status;
}
