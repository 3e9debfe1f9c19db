#include "token/pipeline.h"

#include <string.h>

int pipeline_unsupported(struct error *err, const char *where, struct str what)
{
    error_set(err, ERROR_UNSUPPORTED, "%s \"%.*s\" is not supported", where,
              STR_ARG(str_first(what, 200)));
    return error_remedy(err, "counts would not be exact; use the server's own usage "
                             "(--count server-usage) for this model");
}

int pipeline_type(struct str *type, const struct json *c, const char *where, struct error *err)
{
    *type = STR("");
    if (!c || c->type == JSON_NULL)
        return 0;
    if (json_need_str(type, c, "type", err) < 0)
        return error_wrap(err, "%s", where);
    return 0;
}

bool pipeline_flag(const struct json *c, const char *name, bool otherwise)
{
    json_bool(&otherwise, json_get(c, name));
    return otherwise;
}

int pipeline_pattern(struct str *text, bool *is_regex, const struct json *c, const char *where,
                     struct error *err)
{
    *is_regex = json_str(text, json_get(c, "Regex")) == 0;
    if (!*is_regex && json_str(text, json_get(c, "String")) < 0)
        return error_set(err, ERROR_INPUT, "%s: pattern is neither String nor Regex", where);
    if (text->n == 0 && !*is_regex)
        return error_set(err, ERROR_INPUT, "%s: pattern is empty", where);
    return 0;
}

static int add_id(struct id_list *to, int64_t id, const struct vocab *v, struct error *err)
{
    if (id < 0 || id >= (int64_t)v->n || !v->tokens[id].text.p)
        return error_set(err, ERROR_INPUT,
                         "post_processor names an id that the vocabulary does not have");
    if (to->n == PIPELINE_SPECIAL_MAX)
        return error_set(err, ERROR_LIMIT, "post_processor adds more than %d tokens",
                         PIPELINE_SPECIAL_MAX);
    to->id[to->n++] = (uint32_t)id;
    return 0;
}

static int add_ids(struct id_list *to, const struct json *ids, const struct vocab *v,
                   struct error *err)
{
    for (size_t i = 0; ids && i < ids->n; i++) {
        int64_t id = -1;
        json_i64(&id, json_at(ids, i));
        if (add_id(to, id, v, err) < 0)
            return -1;
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
                return pipeline_unsupported(err, "post-processor",
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

/* BertProcessing and RobertaProcessing: ["[CLS]", 101] in front, ["[SEP]", 102] behind. */
static int read_cls_sep(struct pipeline *p, const struct json *c, const struct vocab *v,
                        struct error *err)
{
    int64_t cls = -1, sep = -1;
    json_i64(&cls, json_at(json_get(c, "cls"), 1));
    json_i64(&sep, json_at(json_get(c, "sep"), 1));
    return add_id(&p->before, cls, v, err) < 0 ? -1 : add_id(&p->after, sep, v, err);
}

static int read_post_processor(struct pipeline *p, const struct json *c, const struct vocab *v,
                               struct error *err)
{
    struct str type;
    if (pipeline_type(&type, c, "post_processor", err) < 0)
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
    if (str_eq(type, STR("BertProcessing")) || str_eq(type, STR("RobertaProcessing")))
        return read_cls_sep(p, c, v, err);
    return pipeline_unsupported(err, "post-processor", type);
}

static int read_model(struct pipeline *p, const struct vocab *v, struct error *err)
{
    const struct json *model = json_get(v->config, "model");
    struct model_settings *m = &p->model;
    double dropout = 0;
    int64_t max_chars = 100;
    static const enum model_kind kinds[] = {
        [VOCAB_BPE] = MODEL_BPE_CHARS,
        [VOCAB_UNIGRAM] = MODEL_UNIGRAM,
        [VOCAB_WORDPIECE] = MODEL_WORDPIECE,
        [VOCAB_WORDLEVEL] = MODEL_WORDLEVEL,
        [VOCAB_SPM] = MODEL_SPM,
    };
    *m = (struct model_settings){
        .kind = kinds[v->model],
        .ignore_merges = pipeline_flag(model, "ignore_merges", false),
        .byte_fallback = pipeline_flag(model, "byte_fallback", false),
        .fuse_unk = v->model == VOCAB_UNIGRAM || pipeline_flag(model, "fuse_unk", false),
        .unk = v->unk,
    };
    json_str(&m->prefix, json_get(model, "continuing_subword_prefix"));
    json_str(&m->suffix, json_get(model, "end_of_word_suffix"));
    if (m->prefix.n > 256 || m->suffix.n > 256)
        return error_set(err, ERROR_LIMIT, "the model's prefix or suffix is longer than 256 bytes");
    if (v->model == VOCAB_WORDPIECE && !json_get(model, "continuing_subword_prefix"))
        m->prefix = STR("##");
    json_i64(&max_chars, json_get(model, "max_input_chars_per_word"));
    m->max_chars = max_chars < 0 ? 0 : max_chars > UINT32_MAX ? UINT32_MAX : (uint32_t)max_chars;
    if (json_double(&dropout, json_get(model, "dropout")) == 0 && dropout > 0)
        return pipeline_unsupported(err, "model flag", STR("dropout"));
    return 0;
}

/* A ByteLevel normalizer spells bytes as the pre-tokenizer of that name does. */
static void settle_bytes(struct pipeline *p)
{
    for (unsigned i = 0; i < p->norm_n; i++)
        if (p->norm[i].op == NORM_BYTE_LEVEL)
            return;
    if (p->byte_level && p->model.kind == MODEL_BPE_CHARS)
        p->model.kind = MODEL_BPE_BYTES;
}

int pipeline_from_json(struct pipeline *p, const struct vocab *v, struct error *err)
{
    const struct json *doc = v->config;
    *p = (struct pipeline){.pre = "none", .reference = "huggingface"};
    if (read_model(p, v, err) < 0 ||
        pipeline_read_normalizer(p, json_get(doc, "normalizer"), err) < 0 ||
        pipeline_read_pre_tokenizer(p, json_get(doc, "pre_tokenizer"), err) < 0 ||
        read_post_processor(p, json_get(doc, "post_processor"), v, err) < 0 ||
        pipeline_read_decoder(p, json_get(doc, "decoder"), err) < 0)
        return -1;
    settle_bytes(p);
    if (p->byte_level && p->model.kind != MODEL_BPE_BYTES)
        return pipeline_unsupported(err, "pre-tokenizer ByteLevel before the model",
                                    STR("other than BPE"));
    if (p->model.kind == MODEL_BPE_BYTES && p->model.prefix.n)
        return pipeline_unsupported(err, "continuing_subword_prefix of byte-level BPE",
                                    p->model.prefix);
    return 0;
}

void pipeline_release(struct pipeline *p)
{
    if (!p)
        return;
    for (unsigned i = 0; i < p->norm_n; i++) {
        regex_free(p->norm[i].regex);
        charsmap_free(p->norm[i].charsmap);
        ugm_prefixes_free(p->norm[i].prefixes);
    }
    for (unsigned i = 0; i < p->split_n; i++)
        regex_free(p->split[i].regex);
    for (unsigned i = 0; i < p->decode_n; i++)
        regex_free(p->decode[i].regex);
    *p = (struct pipeline){0};
}

static void describe_str(struct buf *out, const char *name, struct str s)
{
    buf_addf(out, " %s=%zu:", name, s.n);
    buf_addstr(out, s);
}

static void describe_ids(struct buf *out, const char *name, const struct id_list *ids)
{
    buf_addf(out, "%s:", name);
    for (uint32_t i = 0; i < ids->n; i++)
        buf_addf(out, " %u", ids->id[i]);
    buf_addc(out, '\n');
}

static void describe_steps(const struct pipeline *p, struct buf *out)
{
    for (unsigned i = 0; i < p->norm_n; i++) {
        const struct norm_step *s = &p->norm[i];
        buf_addf(out, "normalize: %d %d%d%d%d%d%d%d%d", s->op, s->left, s->right, s->clean,
                 s->chinese, s->accents, s->lower, s->escape, s->regex != NULL);
        describe_str(out, "text", s->text);
        describe_str(out, "with", s->with);
        buf_addc(out, '\n');
    }
    for (unsigned i = 0; i < p->split_n; i++) {
        const struct split_step *s = &p->split[i];
        const struct scan_rules *r = &s->scan;
        buf_addf(out, "split: %d %d %d %s %d %u %d%d%d%d%d%d %d %d %u %d %d", s->op, s->behavior,
                 s->invert, s->name ? s->name : "-", r->family, r->digits, r->fold_all,
                 r->no_contraction, r->marks, r->whole_end, r->ascii_case, r->older, r->set, s->set,
                 s->cp, s->prepend, s->split);
        describe_str(out, "text", s->text);
        buf_addc(out, '\n');
    }
}

void pipeline_describe(const struct pipeline *p, const struct vocab *v, struct buf *out)
{
    const struct model_settings *m = &p->model;
    buf_addf(out, "reference: %s\n", p->reference);
    describe_steps(p, out);
    buf_addf(out, "model: %d %d%d%d%d %u %u %d%d", m->kind, m->ignore_merges, m->byte_fallback,
             m->fuse_unk, m->by_result, m->unk, m->max_chars, p->escape_spaces, p->space_prefix);
    describe_str(out, "prefix", m->prefix);
    describe_str(out, "suffix", m->suffix);
    buf_addc(out, '\n');
    describe_ids(out, "before", &p->before);
    describe_ids(out, "after", &p->after);
    for (uint32_t i = 0; i < v->added_n; i++) {
        const struct vocab_added *a = &v->added[i];
        buf_addf(out, "added: %u %d%d%d%d%d\n", a->id, a->special, a->lstrip, a->rstrip,
                 a->single_word, a->normalized);
    }
}
