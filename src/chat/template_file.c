#include "chat/template_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "vocab/vocab.h"

#define GGUF_FILE_MAX ((size_t)1 << 46) /* mapped, so only an address range */

static int fail_in(struct error *err, const char *path)
{
    return error_at_file(err, path);
}

static int keep(struct chat_template *t, struct str s, struct str *out, struct error *err)
{
    *out = arena_str(&t->arena, s);
    return out->p ? 0 : arena_check(&t->arena, "chat template", err);
}

static int add_special(struct chat_template *t, struct str name, struct str text, struct error *err)
{
    struct chat_special *s = &t->specials[t->specials_n];
    if (t->specials_n == CHAT_SPECIALS_MAX)
        return error_set(err, ERROR_LIMIT, "more than %d special tokens", CHAT_SPECIALS_MAX);
    if (keep(t, name, &s->name, err) < 0 || keep(t, text, &s->text, err) < 0)
        return -1;
    t->specials_n++;
    return 0;
}

/* "bos_token": "<s>" or {"content": "<s>", …} */
static int read_specials(struct chat_template *t, const struct json *doc, struct error *err)
{
    static const char *const names[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                        "pad_token", "cls_token", "mask_token"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct json *v = json_get(doc, names[i]);
        struct str text;
        if (json_is(v, JSON_OBJECT))
            v = json_get(v, "content");
        if (json_str(&text, v) == 0 && add_special(t, str_of(names[i]), text, err) < 0)
            return -1;
    }
    return 0;
}

static int no_variant(struct error *err, const char *variant)
{
    error_set(err, ERROR_INPUT,
              variant ? "holds no chat template named '%s'" : "holds no chat template%s",
              variant ? variant : "");
    return error_remedy(err, "name a file that has one: tokenizer_config.json, "
                             "chat_template.jinja, or a GGUF");
}

/* One string, or a list of {"name": …, "template": …}. */
static int json_template(const struct json *doc, const char *variant, struct str *out,
                         struct error *err)
{
    const struct json *v = json_get(doc, "chat_template");
    const char *wanted = variant ? variant : "default";
    if (json_str(out, v) == 0 && (!variant || strcmp(variant, "default") == 0))
        return 0;
    for (size_t i = 0; json_is(v, JSON_ARRAY) && i < v->n; i++) {
        struct str name;
        if (json_str(&name, json_get(&v->items[i], "name")) == 0 && str_eq(name, str_of(wanted)) &&
            json_str(out, json_get(&v->items[i], "template")) == 0)
            return 0;
    }
    return no_variant(err, variant);
}

static int read_json(struct chat_template *t, const struct json *doc, const char *variant,
                     struct error *err)
{
    struct str source;
    t->origin = "json";
    if (json_template(doc, variant, &source, err) < 0 || keep(t, source, &t->source, err) < 0)
        return -1;
    return read_specials(t, doc, err);
}

static int gguf_special(struct chat_template *t, const struct vocab *v, const char *name,
                        uint32_t id, struct error *err)
{
    if (id == VOCAB_NONE || id >= v->n || !v->tokens[id].text.p)
        return 0;
    return add_special(t, str_of(name), v->tokens[id].text, err);
}

static int read_gguf(struct chat_template *t, struct str bytes, const char *path,
                     const char *variant, struct error *err)
{
    struct vocab *v = NULL;
    struct str source = {0};
    int rc = -1;
    t->origin = "gguf";
    if (vocab_open(&v, bytes, path, err) < 0)
        return -1;
    if (!variant || strcmp(variant, "default") == 0)
        source = v->chat_template;
    for (uint32_t i = 0; variant && i < v->templates_n; i++)
        if (str_eq(v->templates[i].name, str_of(variant)))
            source = v->templates[i].text;
    if (!source.p)
        no_variant(err, variant);
    else if (keep(t, source, &t->source, err) == 0 &&
             gguf_special(t, v, "bos_token", v->gguf.bos, err) == 0 &&
             gguf_special(t, v, "eos_token", v->gguf.eos, err) == 0)
        rc = 0;
    vocab_free(v);
    return rc;
}

/* A JSON object that has a chat_template; a .jinja file may well begin with a brace too. */
static int read_text(struct chat_template *t, struct str bytes, const char *path,
                     const char *variant, struct error *err)
{
    struct arena scratch;
    const struct json *doc = NULL;
    struct error ignored = {0};
    struct str body = str_trim(bytes);
    int rc;
    arena_init(&scratch, 4 * CHAT_FILE_MAX);
    bool braces =
        body.n > 1 && body.p[0] == '{' && body.p[1] != '{' && body.p[1] != '%' && body.p[1] != '#';
    if (braces && json_parse(&doc, bytes, &JSON_LIMITS_DEFAULT, &scratch, &ignored) == 0 &&
        json_is(doc, JSON_OBJECT)) {
        rc = read_json(t, doc, variant, err);
    } else if (braces && str_ends(str_of(path), STR(".json"))) {
        *err = ignored;
        rc = -1;
    } else {
        t->origin = "jinja";
        rc = variant ? no_variant(err, variant) : keep(t, bytes, &t->source, err);
    }
    arena_release(&scratch);
    return rc;
}

static int finish(struct chat_template *t, const struct jinja_syntax *syntax, struct error *err)
{
    if (sha256_hex(t->sha256, t->source, err) < 0)
        return -1;
    return jinja_parse(&t->jinja, t->source, syntax, err);
}

int chat_template_open(struct chat_template **out, const char *path, const char *variant,
                       const struct jinja_syntax *syntax, struct error *err)
{
    struct chat_template *t = calloc(1, sizeof *t);
    struct buf text = BUF_INIT(0);
    struct file_map map = {0};
    int rc = -1;
    if (!t)
        return error_no_memory(err);
    arena_init(&t->arena, 2 * CHAT_FILE_MAX);
    if (strcmp(path, "-") == 0) {
        if (file_read(&text, path, CHAT_FILE_MAX, err) == 0)
            rc = read_text(t, buf_str(&text), path, variant, err);
    } else if (file_map_open(&map, path, GGUF_FILE_MAX, err) == 0) {
        struct str bytes = str_make(map.p, map.n);
        if (str_starts(bytes, STR("GGUF")))
            rc = read_gguf(t, bytes, path, variant, err);
        else if (bytes.n > CHAT_FILE_MAX)
            error_set(err, ERROR_LIMIT, "larger than the limit of %zu bytes", CHAT_FILE_MAX);
        else
            rc = read_text(t, bytes, path, variant, err);
    }
    if (rc == 0)
        rc = finish(t, syntax, err);
    buf_release(&text);
    file_map_close(&map);
    if (rc < 0) {
        chat_template_free(t);
        return fail_in(err, path);
    }
    *out = t;
    return 0;
}

int chat_template_from_text(struct chat_template **out, struct str source, const char *name,
                            const struct jinja_syntax *syntax, struct error *err)
{
    struct chat_template *t = calloc(1, sizeof *t);
    if (!t)
        return error_no_memory(err);
    arena_init(&t->arena, 2 * CHAT_FILE_MAX);
    t->origin = "built-in";
    if (keep(t, source, &t->source, err) < 0 || finish(t, syntax, err) < 0) {
        chat_template_free(t);
        return fail_in(err, name);
    }
    *out = t;
    return 0;
}

int chat_template_add_special(struct chat_template *t, const char *name, const struct json *text,
                              struct error *err)
{
    struct str s;
    return json_str(&s, text) < 0 ? 0 : add_special(t, str_of(name), s, err);
}

void chat_template_free(struct chat_template *t)
{
    if (!t)
        return;
    jinja_template_free(t->jinja);
    arena_release(&t->arena);
    free(t);
}
