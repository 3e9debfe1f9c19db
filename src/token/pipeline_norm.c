/* Normalizers and decoders of a tokenizer.json. */
#include "base/base64.h"
#include "token/pipeline.h"

static struct norm_step *add_norm(struct pipeline *p, enum norm_op op, struct error *err)
{
    if (p->norm_n == PIPELINE_STEPS_MAX) {
        error_set(err, ERROR_LIMIT, "more than %d normalizers", PIPELINE_STEPS_MAX);
        return NULL;
    }
    struct norm_step *s = &p->norm[p->norm_n++];
    *s = (struct norm_step){.op = op};
    return s;
}

static int read_replace(struct norm_step *s, const struct json *c, struct error *err)
{
    bool is_regex;
    if (pipeline_pattern(&s->text, &is_regex, json_get(c, "pattern"), "normalizer Replace", err) <
        0)
        return -1;
    if (json_need_str(&s->with, c, "content", err) < 0)
        return error_wrap(err, "normalizer Replace");
    if (is_regex)
        return regex_new(&s->regex, s->text, err);
    return 0;
}

static int read_precompiled(struct norm_step *s, const struct json *c, struct error *err)
{
    struct str text;
    struct buf bytes = BUF_INIT(64u << 20);
    if (json_need_str(&text, c, "precompiled_charsmap", err) < 0)
        return error_wrap(err, "normalizer Precompiled");
    int status = base64_decode(&bytes, text);
    if (status < 0)
        error_set(err, ERROR_INPUT, "normalizer Precompiled: precompiled_charsmap is not base64");
    else
        status = charsmap_new(&s->charsmap, buf_str(&bytes), err);
    buf_release(&bytes);
    return status;
}

static void read_bert(struct norm_step *s, const struct json *c)
{
    s->clean = pipeline_flag(c, "clean_text", true);
    s->chinese = pipeline_flag(c, "handle_chinese_chars", true);
    s->lower = pipeline_flag(c, "lowercase", true);
    s->accents = pipeline_flag(c, "strip_accents", s->lower);
}

static int read_details(struct norm_step *s, const struct json *c, struct error *err)
{
    switch (s->op) {
    case NORM_REPLACE:
        return read_replace(s, c, err);
    case NORM_PREPEND:
        if (json_need_str(&s->text, c, "prepend", err) < 0)
            return error_wrap(err, "normalizer Prepend");
        return 0;
    case NORM_STRIP:
        s->left = pipeline_flag(c, "strip_left", true);
        s->right = pipeline_flag(c, "strip_right", true);
        return 0;
    case NORM_PRECOMPILED:
        return read_precompiled(s, c, err);
    case NORM_BERT:
        read_bert(s, c);
        return 0;
    default:
        return 0;
    }
}

int pipeline_read_normalizer(struct pipeline *p, const struct json *c, struct error *err)
{
    static const struct {
        const char *name;
        enum norm_op op;
    } known[] = {
        {"NFC", NORM_NFC},
        {"NFD", NORM_NFD},
        {"NFKC", NORM_NFKC},
        {"NFKD", NORM_NFKD},
        {"Lowercase", NORM_LOWERCASE},
        {"StripAccents", NORM_STRIP_ACCENTS},
        {"Replace", NORM_REPLACE},
        {"Prepend", NORM_PREPEND},
        {"Strip", NORM_STRIP},
        {"Precompiled", NORM_PRECOMPILED},
        {"BertNormalizer", NORM_BERT},
        {"Nmt", NORM_NMT},
        {"ByteLevel", NORM_BYTE_LEVEL},
    };
    struct str type;
    if (pipeline_type(&type, c, "normalizer", err) < 0)
        return -1;
    if (type.n == 0)
        return 0;
    if (str_eq(type, STR("Sequence"))) {
        const struct json *list = json_get(c, "normalizers");
        for (size_t i = 0; list && i < list->n; i++)
            if (pipeline_read_normalizer(p, json_at(list, i), err) < 0)
                return -1;
        return 0;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (str_eq(type, str_of(known[i].name))) {
            struct norm_step *s = add_norm(p, known[i].op, err);
            return s ? read_details(s, c, err) : -1;
        }
    return pipeline_unsupported(err, "normalizer", type);
}

static int read_decode_details(struct decode_step *s, const struct json *c, struct error *err)
{
    bool is_regex;
    int64_t n;
    switch (s->op) {
    case DECODE_REPLACE:
        if (pipeline_pattern(&s->text, &is_regex, json_get(c, "pattern"), "decoder Replace", err) <
            0)
            return -1;
        json_str(&s->with, json_get(c, "content"));
        return is_regex ? regex_new(&s->regex, s->text, err) : 0;
    case DECODE_STRIP:
        json_str(&s->text, json_get(c, "content"));
        if (json_i64(&n, json_get(c, "start")) == 0 && n >= 0)
            s->start = (size_t)n;
        if (json_i64(&n, json_get(c, "stop")) == 0 && n >= 0)
            s->stop = (size_t)n;
        return 0;
    case DECODE_METASPACE: {
        struct str scheme = STR("always");
        s->text = STR("\xE2\x96\x81");
        json_str(&s->text, json_get(c, "replacement"));
        if (json_str(&scheme, json_get(c, "prepend_scheme")) < 0 &&
            !pipeline_flag(c, "add_prefix_space", true))
            scheme = STR("never");
        s->flag = !str_eq(scheme, STR("never"));
        return 0;
    }
    case DECODE_WORDPIECE:
        s->text = STR("##");
        json_str(&s->text, json_get(c, "prefix"));
        s->flag = pipeline_flag(c, "cleanup", true);
        return 0;
    case DECODE_CTC:
        s->text = STR("<pad>");
        s->with = STR("|");
        json_str(&s->text, json_get(c, "pad_token"));
        json_str(&s->with, json_get(c, "word_delimiter_token"));
        s->flag = pipeline_flag(c, "cleanup", true);
        return 0;
    case DECODE_BPE:
        s->text = STR("</w>");
        json_str(&s->text, json_get(c, "suffix"));
        return 0;
    default:
        return 0;
    }
}

int pipeline_read_decoder(struct pipeline *p, const struct json *c, struct error *err)
{
    static const struct {
        const char *name;
        enum decode_op op;
    } known[] = {
        {"ByteLevel", DECODE_BYTE_LEVEL},
        {"Replace", DECODE_REPLACE},
        {"ByteFallback", DECODE_BYTE_FALLBACK},
        {"Fuse", DECODE_FUSE},
        {"Strip", DECODE_STRIP},
        {"Metaspace", DECODE_METASPACE},
        {"WordPiece", DECODE_WORDPIECE},
        {"BPEDecoder", DECODE_BPE},
        {"CTC", DECODE_CTC},
    };
    struct str type;
    if (pipeline_type(&type, c, "decoder", err) < 0)
        return -1;
    if (type.n == 0) {
        p->decode_plain = p->decode_n == 0;
        return 0;
    }
    if (str_eq(type, STR("Sequence"))) {
        const struct json *list = json_get(c, "decoders");
        for (size_t i = 0; list && i < list->n; i++)
            if (pipeline_read_decoder(p, json_at(list, i), err) < 0)
                return -1;
        return 0;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (!str_eq(type, str_of(known[i].name)))
            continue;
        if (p->decode_n == PIPELINE_STEPS_MAX)
            return error_set(err, ERROR_LIMIT, "more than %d decoders", PIPELINE_STEPS_MAX);
        struct decode_step *s = &p->decode[p->decode_n++];
        *s = (struct decode_step){.op = known[i].op};
        return read_decode_details(s, c, err);
    }
    return pipeline_unsupported(err, "decoder", type);
}
