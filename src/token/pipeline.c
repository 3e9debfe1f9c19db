#include "token/pipeline.h"

#include <string.h>

#include "codec/json_write.h"

#define BLANKS_AND_NEWLINES "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define WORDS_AND_MARKS(digits) \
    "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" digits "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" BLANKS_AND_NEWLINES
#define ANY_CASE "(?i:'s|'t|'re|'ve|'m|'ll|'d)"

static const struct {
    const char *pattern, *name;
    struct scan_rules rules;
} scanners[] = {
    {ANY_CASE WORDS_AND_MARKS("\\p{N}"), "qwen2", {SCAN_QWEN2, 1, true}},
    {ANY_CASE WORDS_AND_MARKS("\\p{N}{1,3}"), "llama3", {SCAN_QWEN2, 3, true}},
    {"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
     "gpt2",
     {SCAN_GPT2, 0, false}},
};

int pipeline_find_scanner(struct scan_rules *rules, const char **name, struct str pattern)
{
    for (size_t i = 0; i < sizeof scanners / sizeof scanners[0]; i++)
        if (str_eq(pattern, str_of(scanners[i].pattern))) {
            *rules = scanners[i].rules;
            *name = scanners[i].name;
            return 0;
        }
    return -1;
}

static int unsupported(struct error *err, const char *where, struct str what)
{
    error_set(err, ERROR_UNSUPPORTED, "%s \"%.*s\" is not supported", where,
              STR_ARG(str_first(what, 200)));
    return error_remedy(err, "counts would not be exact; use the server's own usage "
                             "(--count server-usage) for this model");
}

/* The component's type, or "" for null and absent ones. */
static int type_of(struct str *type, const struct json *c, const char *where, struct error *err)
{
    *type = STR("");
    if (!c || c->type == JSON_NULL)
        return 0;
    if (json_need_str(type, c, "type", err) < 0)
        return error_wrap(err, "%s", where);
    return 0;
}

static bool flag(const struct json *c, const char *name, bool otherwise)
{
    json_bool(&otherwise, json_get(c, name));
    return otherwise;
}

static int read_normalizer(struct pipeline *p, const struct json *c, struct error *err)
{
    struct str type;
    if (type_of(&type, c, "normalizer", err) < 0)
        return -1;
    if (type.n == 0)
        return 0;
    if (str_eq(type, STR("Sequence"))) {
        const struct json *list = json_get(c, "normalizers");
        for (size_t i = 0; list && i < list->n; i++)
            if (read_normalizer(p, json_at(list, i), err) < 0)
                return -1;
        return 0;
    }
    if (p->norm_n == PIPELINE_STEPS_MAX)
        return error_set(err, ERROR_LIMIT, "more than %d normalizers", PIPELINE_STEPS_MAX);
    if (str_eq(type, STR("NFC"))) {
        p->norm[p->norm_n++] = (struct norm_step){NORM_NFC};
        return 0;
    }
    return unsupported(err, "normalizer", type);
}

static int add_scanner(struct pipeline *p, struct str pattern, struct error *err)
{
    if (p->scan.family != SCAN_WHOLE)
        return unsupported(err, "a second pre-tokenizer pattern", pattern);
    if (pipeline_find_scanner(&p->scan, &p->pre, pattern) < 0)
        return unsupported(err, "pre-tokenizer pattern", pattern);
    return 0;
}

static int read_split(struct pipeline *p, const struct json *c, struct error *err)
{
    const struct json *pattern = json_get(c, "pattern");
    struct str regex, behavior;
    bool invert = flag(c, "invert", false);
    if (json_need_str(&behavior, c, "behavior", err) < 0)
        return error_wrap(err, "pre_tokenizer Split");
    if (json_str(&regex, json_get(pattern, "Regex")) < 0)
        return unsupported(err, "pre-tokenizer", STR("Split by a string"));
    /* The patterns that have scanners match every character, so that keeping the matches alone is
     * the same as splitting around them. */
    bool isolated = str_eq(behavior, STR("Isolated"));
    bool matches = str_eq(behavior, STR("Removed")) && invert;
    if (!isolated && !matches)
        return unsupported(err, "pre-tokenizer Split behavior", behavior);
    return add_scanner(p, regex, err);
}

static int read_pre_tokenizer(struct pipeline *p, const struct json *c, struct error *err)
{
    struct str type;
    if (type_of(&type, c, "pre_tokenizer", err) < 0)
        return -1;
    if (type.n == 0)
        return 0;
    if (p->byte_level)
        return unsupported(err, "pre-tokenizer behind ByteLevel:", type);
    if (str_eq(type, STR("Sequence"))) {
        const struct json *list = json_get(c, "pretokenizers");
        for (size_t i = 0; list && i < list->n; i++)
            if (read_pre_tokenizer(p, json_at(list, i), err) < 0)
                return -1;
        return 0;
    }
    if (str_eq(type, STR("Split")))
        return read_split(p, c, err);
    if (str_eq(type, STR("ByteLevel"))) {
        if (flag(c, "add_prefix_space", true))
            return unsupported(err, "pre-tokenizer", STR("ByteLevel with add_prefix_space"));
        p->byte_level = true;
        if (!flag(c, "use_regex", true))
            return 0;
        return add_scanner(p, str_of(scanners[2].pattern), err);
    }
    return unsupported(err, "pre-tokenizer", type);
}

static int add_ids(struct id_list *to, const struct json *ids, const struct vocab *v,
                   struct error *err)
{
    for (size_t i = 0; ids && i < ids->n; i++) {
        int64_t id;
        if (json_i64(&id, json_at(ids, i)) < 0 || id < 0 || id >= (int64_t)v->n)
            return error_set(err, ERROR_INPUT,
                             "post_processor names an id that the vocabulary does not have");
        if (to->n == PIPELINE_SPECIAL_MAX)
            return error_set(err, ERROR_LIMIT, "post_processor adds more than %d tokens",
                             PIPELINE_SPECIAL_MAX);
        to->id[to->n++] = (uint32_t)id;
    }
    return 0;
}

static int read_template(struct pipeline *p, const struct json *c, const struct vocab *v,
                         struct error *err)
{
    const struct json *single = json_get(c, "single"), *specials = json_get(c, "special_tokens");
    bool seen = false;
    for (size_t i = 0; single && i < single->n; i++) {
        const struct json *item = json_at(single, i), *special = json_get(item, "SpecialToken");
        struct str name;
        if (json_get(item, "Sequence")) {
            if (seen)
                return unsupported(err, "post-processor",
                                   STR("TemplateProcessing that repeats the text"));
            seen = true;
            continue;
        }
        if (json_need_str(&name, special, "id", err) < 0)
            return error_wrap(err, "post_processor TemplateProcessing");
        const struct json *ids = json_get(json_get_str(specials, name), "ids");
        if (!ids)
            return error_set(err, ERROR_INPUT,
                             "post_processor TemplateProcessing does not define \"%.*s\"",
                             STR_ARG(name));
        if (add_ids(seen ? &p->after : &p->before, ids, v, err) < 0)
            return -1;
    }
    return 0;
}

static int read_post_processor(struct pipeline *p, const struct json *c, const struct vocab *v,
                               struct error *err)
{
    struct str type;
    if (type_of(&type, c, "post_processor", err) < 0)
        return -1;
    if (type.n == 0 || str_eq(type, STR("ByteLevel")))
        return 0;
    if (str_eq(type, STR("Sequence"))) {
        const struct json *list = json_get(c, "processors");
        for (size_t i = 0; list && i < list->n; i++)
            if (read_post_processor(p, json_at(list, i), v, err) < 0)
                return -1;
        return 0;
    }
    if (str_eq(type, STR("TemplateProcessing")))
        return read_template(p, c, v, err);
    return unsupported(err, "post-processor", type);
}

static int read_decoder(struct pipeline *p, const struct json *c, struct error *err)
{
    struct str type;
    if (type_of(&type, c, "decoder", err) < 0)
        return -1;
    if (type.n == 0) {
        p->decode_plain = true;
        return 0;
    }
    if (!str_eq(type, STR("ByteLevel")))
        return unsupported(err, "decoder", type);
    p->decode_bytes = true;
    return 0;
}

static int read_bpe(struct pipeline *p, const struct json *model, struct error *err)
{
    static const char *const affixes[] = {"continuing_subword_prefix", "end_of_word_suffix"};
    struct str text;
    double dropout = 0;
    p->ignore_merges = flag(model, "ignore_merges", false);
    for (size_t i = 0; i < 2; i++)
        if (json_str(&text, json_get(model, affixes[i])) == 0 && text.n)
            return unsupported(err, affixes[i], text);
    if (json_double(&dropout, json_get(model, "dropout")) == 0 && dropout > 0)
        return unsupported(err, "model flag", STR("dropout"));
    if (flag(model, "byte_fallback", false))
        return unsupported(err, "model flag", STR("byte_fallback"));
    return 0;
}

int pipeline_from_json(struct pipeline *p, const struct vocab *v, struct error *err)
{
    const struct json *doc = v->config;
    *p = (struct pipeline){.pre = "none"};
    if (v->model != VOCAB_BPE)
        return unsupported(err, "model", STR("other than BPE"));
    if (read_bpe(p, json_get(doc, "model"), err) < 0 ||
        read_normalizer(p, json_get(doc, "normalizer"), err) < 0 ||
        read_pre_tokenizer(p, json_get(doc, "pre_tokenizer"), err) < 0 ||
        read_post_processor(p, json_get(doc, "post_processor"), v, err) < 0 ||
        read_decoder(p, json_get(doc, "decoder"), err) < 0)
        return -1;
    if (!p->byte_level)
        return unsupported(err, "model", STR("BPE over characters"));
    return 0;
}

static void describe_ids(struct buf *out, const char *name, const struct id_list *ids)
{
    buf_addf(out, "%s:", name);
    for (uint32_t i = 0; i < ids->n; i++)
        buf_addf(out, " %u", ids->id[i]);
    buf_addc(out, '\n');
}

void pipeline_describe(const struct pipeline *p, const struct vocab *v, struct buf *out)
{
    static const char *const norm_names[] = {"NFC"};
    buf_addf(out, "reference: %s\n", p->llama_cpp ? "llama.cpp" : "huggingface");
    for (unsigned i = 0; i < p->norm_n; i++)
        buf_addf(out, "normalize: %s\n", norm_names[p->norm[i].op]);
    buf_addf(out, "split: %s %u %d\n", p->pre, p->scan.digits, p->scan.fold_all);
    buf_addf(out, "byte_level: %d\nignore_merges: %d\n", p->byte_level, p->ignore_merges);
    describe_ids(out, "before", &p->before);
    describe_ids(out, "after", &p->after);
    for (uint32_t i = 0; i < v->added_n; i++) {
        const struct vocab_added *a = &v->added[i];
        buf_addf(out, "added: %u %d%d%d%d%d\n", a->id, a->special, a->lstrip, a->rstrip,
                 a->single_word, a->normalized);
    }
}
