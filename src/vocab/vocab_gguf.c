/* GGUF, versions 2 and 3: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "vocab/vocab_merges.h"

#define GGUF_KEYS_MAX 65536u
#define GGUF_KEY_BYTES_MAX 65535u
#define GGUF_ARRAY_DEPTH_MAX 4

enum gguf_type {
    GGUF_U8,
    GGUF_I8,
    GGUF_U16,
    GGUF_I16,
    GGUF_U32,
    GGUF_I32,
    GGUF_F32,
    GGUF_BOOL,
    GGUF_STRING,
    GGUF_ARRAY,
    GGUF_U64,
    GGUF_I64,
    GGUF_F64,
    GGUF_TYPES,
};

static const uint8_t width[GGUF_TYPES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

struct reader {
    struct str bytes;
    size_t at;
    struct error *err;
    struct vocab *v;
    struct str merges; /* the raw array, resolved once all tokens stand */
    uint64_t merge_n;
    size_t merges_at;
    uint64_t score_n, type_n;
};

static int fail_at(struct reader *r, size_t at)
{
    return error_at_offset(r->err, (int64_t)at);
}

static inline int take(struct reader *r, void *out, size_t n, const char *what)
{
    if (n > r->bytes.n - r->at) {
        error_set(r->err, ERROR_INPUT, "the GGUF file ends inside %s", what);
        return fail_at(r, r->at);
    }
    memcpy(out, r->bytes.p + r->at, n);
    r->at += n;
    return 0;
}

static int take_u32(struct reader *r, uint32_t *out, const char *what)
{
    unsigned char b[4] = {0};
    if (take(r, b, 4, what) < 0)
        return -1;
    *out = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    return 0;
}

static int take_u64(struct reader *r, uint64_t *out, const char *what)
{
    unsigned char b[8] = {0};
    uint64_t v = 0;
    if (take(r, b, 8, what) < 0)
        return -1;
    for (unsigned i = 0; i < 8; i++)
        v |= (uint64_t)b[i] << (8 * i);
    *out = v;
    return 0;
}

static int take_str(struct reader *r, struct str *out, const char *what)
{
    uint64_t n;
    size_t at = r->at;
    if (take_u64(r, &n, what) < 0)
        return -1;
    if (n > r->bytes.n - r->at) {
        error_set(r->err, ERROR_INPUT, "%s claims %llu bytes; %zu are left", what,
                  (unsigned long long)n, r->bytes.n - r->at);
        return fail_at(r, at);
    }
    *out = str_make(r->bytes.p + r->at, (size_t)n);
    r->at += (size_t)n;
    return 0;
}

static int take_type(struct reader *r, uint32_t *type, const char *what)
{
    size_t at = r->at;
    if (take_u32(r, type, what) < 0)
        return -1;
    if (*type >= GGUF_TYPES) {
        error_set(r->err, ERROR_INPUT, "unknown GGUF value type %u", *type);
        return fail_at(r, at);
    }
    return 0;
}

/* Head of an array; its length is checked against what the file can still hold. */
static int take_array(struct reader *r, uint32_t *type, uint64_t *n, const char *what)
{
    size_t at = r->at;
    if (take_type(r, type, what) < 0 || take_u64(r, n, what) < 0)
        return -1;
    size_t least = *type == GGUF_STRING ? 8 : *type == GGUF_ARRAY ? 12 : width[*type];
    if (*n > (r->bytes.n - r->at) / least) {
        error_set(r->err, ERROR_INPUT, "%s claims %llu values; the file is too short for them",
                  what, (unsigned long long)*n);
        return fail_at(r, at);
    }
    return 0;
}

static int skip_value(struct reader *r, uint32_t type, unsigned depth)
{
    struct str s;
    uint64_t n;
    if (type == GGUF_STRING)
        return take_str(r, &s, "a string");
    if (type != GGUF_ARRAY) {
        unsigned char b[8];
        return take(r, b, width[type], "a value");
    }
    if (depth == GGUF_ARRAY_DEPTH_MAX) {
        error_set(r->err, ERROR_LIMIT, "GGUF arrays nested deeper than %d", GGUF_ARRAY_DEPTH_MAX);
        return fail_at(r, r->at);
    }
    if (take_array(r, &type, &n, "an array") < 0)
        return -1;
    if (type != GGUF_STRING && type != GGUF_ARRAY) {
        r->at += (size_t)n * width[type];
        return 0;
    }
    for (uint64_t i = 0; i < n; i++)
        if (skip_value(r, type, depth + 1) < 0)
            return -1;
    return 0;
}

static int wrong_type(struct reader *r, struct str key, size_t at)
{
    error_set(r->err, ERROR_INPUT, "%.*s has the wrong GGUF type", STR_ARG(key));
    return fail_at(r, at);
}

static int read_tokens(struct reader *r)
{
    uint32_t type;
    uint64_t n;
    struct str text;
    size_t at = r->at;
    if (r->v->n) {
        error_set(r->err, ERROR_INPUT, "tokenizer.ggml.tokens is given twice");
        return fail_at(r, at);
    }
    if (take_array(r, &type, &n, "tokenizer.ggml.tokens") < 0)
        return -1;
    if (type != GGUF_STRING)
        return wrong_type(r, STR("tokenizer.ggml.tokens"), at);
    if (vocab_tokens_reserve(r->v, n, r->err) < 0)
        return fail_at(r, at);
    for (uint64_t i = 0; i < n; i++) {
        at = r->at;
        if (take_str(r, &text, "a token") < 0)
            return -1;
        if (vocab_set_text(r->v, (uint32_t)i, text, r->err) < 0)
            return fail_at(r, at);
    }
    return 0;
}

/* Scores and types may stand before the tokens; the count is compared at the end. */
static int read_numbers(struct reader *r, struct str key, uint32_t want, uint64_t *count)
{
    uint32_t type, raw;
    size_t at = r->at;
    if (take_array(r, &type, count, "a list of the tokenizer") < 0)
        return -1;
    if (type != want && !(want == GGUF_I32 && type == GGUF_U32))
        return wrong_type(r, key, at);
    uint32_t before = r->v->n;
    if (vocab_tokens_reserve(r->v, *count, r->err) < 0)
        return fail_at(r, at);
    r->v->n = before;
    for (uint64_t i = 0; i < *count; i++) {
        at = r->at;
        if (take_u32(r, &raw, "a list of the tokenizer") < 0)
            return -1;
        struct vocab_token *t = &r->v->tokens[i];
        if (want == GGUF_F32) {
            float f;
            memcpy(&f, &raw, 4);
            t->score = (double)f;
        } else if (raw > VOCAB_TYPE_BYTE) {
            error_set(r->err, ERROR_INPUT, "token %llu has the unknown type %u",
                      (unsigned long long)i, raw);
            return fail_at(r, at);
        } else {
            t->type = (uint8_t)raw;
        }
    }
    return 0;
}

static int read_merges(struct reader *r)
{
    uint32_t type;
    struct str s;
    size_t at = r->at;
    if (take_array(r, &type, &r->merge_n, "tokenizer.ggml.merges") < 0)
        return -1;
    if (type != GGUF_STRING)
        return wrong_type(r, STR("tokenizer.ggml.merges"), at);
    r->merges_at = r->at;
    for (uint64_t i = 0; i < r->merge_n; i++)
        if (take_str(r, &s, "a merge") < 0)
            return -1;
    return 0;
}

/* "a b": a part may itself begin with a space, but is never empty. */
static int add_merge(struct reader *r, struct merges *m, uint64_t i)
{
    struct str s = {NULL, 0};
    size_t at = r->at;
    if (take_str(r, &s, "a merge") < 0)
        return -1;
    size_t gap = s.n ? str_find_char(str_skip(s, 1), ' ') : STR_NONE;
    if (gap == STR_NONE) {
        error_set(r->err, ERROR_INPUT, "merge %llu (\"%.*s\") is not two parts",
                  (unsigned long long)i, STR_ARG(str_first(s, 64)));
        return fail_at(r, at);
    }
    return merges_add(m, str_first(s, gap + 1), str_skip(s, gap + 2), at, r->err);
}

static int resolve_merges(struct reader *r)
{
    struct merges m;
    size_t end = r->at;
    merges_init(&m, r->v);
    r->at = r->merges_at;
    int status = vocab_merges_reserve(r->v, r->merge_n, r->err);
    if (status < 0)
        fail_at(r, r->merges_at);
    else
        status = merges_ready(&m, STR(""), r->err);
    for (uint64_t i = 0; status == 0 && i < r->merge_n; i++)
        status = add_merge(r, &m, i);
    if (status == 0)
        status = merges_end(&m, r->err);
    merges_release(&m);
    r->at = end;
    return status;
}

static int read_string(struct reader *r, struct str key, uint32_t type, struct str *to)
{
    size_t at = r->at;
    struct str s;
    if (type != GGUF_STRING)
        return wrong_type(r, key, at);
    if (take_str(r, &s, "a string") < 0)
        return -1;
    *to = arena_str(&r->v->arena, s);
    return to->p ? 0 : arena_check(&r->v->arena, "vocabulary", r->err);
}

static int read_charsmap(struct reader *r, struct str key)
{
    uint32_t type;
    uint64_t n;
    size_t at = r->at;
    if (take_array(r, &type, &n, "tokenizer.ggml.precompiled_charsmap") < 0)
        return -1;
    if (type != GGUF_U8 && type != GGUF_I8)
        return wrong_type(r, key, at);
    r->v->gguf.charsmap = arena_str(&r->v->arena, str_make(r->bytes.p + r->at, (size_t)n));
    r->at += (size_t)n;
    return arena_check(&r->v->arena, "vocabulary", r->err);
}

static int read_flag(struct reader *r, struct str key, uint32_t type, bool *to, bool *has)
{
    unsigned char b = 0;
    if (type != GGUF_BOOL)
        return wrong_type(r, key, r->at);
    if (take(r, &b, 1, "a flag") < 0)
        return -1;
    *to = b != 0;
    if (has)
        *has = true;
    return 0;
}

static int read_id(struct reader *r, struct str key, uint32_t type, uint32_t *to)
{
    if (type != GGUF_U32 && type != GGUF_I32)
        return wrong_type(r, key, r->at);
    return take_u32(r, to, "a token id");
}

#define NAMED_TEMPLATE "tokenizer.chat_template."

static int read_named_template(struct reader *r, struct str key, uint32_t type)
{
    struct vocab *v = r->v;
    if (v->templates_n == VOCAB_TEMPLATES_MAX)
        return error_set(r->err, ERROR_LIMIT, "more than %d named chat templates",
                         VOCAB_TEMPLATES_MAX);
    struct vocab_template *t = &v->templates[v->templates_n];
    t->name = arena_str(&v->arena, str_skip(key, sizeof NAMED_TEMPLATE - 1));
    if (!t->name.p)
        return arena_check(&v->arena, "vocabulary", r->err);
    if (read_string(r, key, type, &t->text) < 0)
        return -1;
    v->templates_n++;
    return 0;
}

#define G "tokenizer.ggml."

static int read_value(struct reader *r, struct str key, uint32_t type)
{
    struct vocab_gguf *g = &r->v->gguf;
    const struct {
        struct str key;
        struct str *to;
    } strings[] = {
        {STR(G "model"), &g->model},
        {STR(G "pre"), &g->pre},
        {STR("general.architecture"), &g->architecture},
        {STR("general.name"), &g->name},
        {STR("tokenizer.huggingface.json"), &g->huggingface},
        {STR("tokenizer.chat_template"), &r->v->chat_template},
    };
    const struct {
        struct str key;
        uint32_t *to;
    } ids[] = {
        {STR(G "bos_token_id"), &g->bos},        {STR(G "eos_token_id"), &g->eos},
        {STR(G "unknown_token_id"), &g->unk},    {STR(G "padding_token_id"), &g->pad},
        {STR(G "cls_token_id"), &g->cls},        {STR(G "mask_token_id"), &g->mask},
        {STR(G "seperator_token_id"), &g->sep}, /* spelled so in the format */
        {STR(G "fim_pre_token_id"), &g->fim[0]}, {STR(G "fim_suf_token_id"), &g->fim[1]},
        {STR(G "fim_mid_token_id"), &g->fim[2]}, {STR(G "fim_pad_token_id"), &g->fim[3]},
        {STR(G "fim_rep_token_id"), &g->fim[4]}, {STR(G "fim_sep_token_id"), &g->fim[5]},
        {STR(G "prefix_token_id"), &g->fim[0]},  {STR(G "suffix_token_id"), &g->fim[1]},
        {STR(G "middle_token_id"), &g->fim[2]},
    };
    const struct {
        struct str key;
        bool *to, *has;
    } flags[] = {
        {STR(G "add_bos_token"), &g->add_bos, &g->has_bos_flag},
        {STR(G "add_eos_token"), &g->add_eos, &g->has_eos_flag},
        {STR(G "add_sep_token"), &g->add_sep, &g->has_sep_flag},
        {STR(G "add_space_prefix"), &g->add_space_prefix, &g->has_prefix_flag},
        {STR(G "remove_extra_whitespaces"), &g->remove_extra_whitespaces, NULL},
        {STR(G "normalizer.lowercase"), &g->lowercase, &g->has_lowercase_flag},
        {STR(G "normalizer.strip_accents"), &g->strip_accents, &g->has_accents_flag},
    };
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++)
        if (str_eq(key, strings[i].key))
            return read_string(r, key, type, strings[i].to);
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        if (str_eq(key, ids[i].key))
            return read_id(r, key, type, ids[i].to);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (str_eq(key, flags[i].key))
            return read_flag(r, key, type, flags[i].to, flags[i].has);
    if (type == GGUF_STRING && str_starts(key, STR(NAMED_TEMPLATE)))
        return read_named_template(r, key, type);
    if (type == GGUF_ARRAY) {
        if (str_eq(key, STR(G "tokens")))
            return read_tokens(r);
        if (str_eq(key, STR(G "merges")))
            return read_merges(r);
        if (str_eq(key, STR(G "scores")))
            return read_numbers(r, key, GGUF_F32, &r->score_n);
        if (str_eq(key, STR(G "token_type")))
            return read_numbers(r, key, GGUF_I32, &r->type_n);
        if (str_eq(key, STR(G "precompiled_charsmap")))
            return read_charsmap(r, key);
    }
    return skip_value(r, type, 0);
}

static int settle_model(struct reader *r)
{
    static const struct {
        const char *name;
        enum vocab_model model;
    } models[] = {
        {"gpt2", VOCAB_BPE},       {"gemma4", VOCAB_BPE}, {"llama", VOCAB_SPM},
        {"bert", VOCAB_WORDPIECE}, {"t5", VOCAB_UNIGRAM}, {"whitespace", VOCAB_BPE},
    };
    struct vocab *v = r->v;
    if (v->gguf.model.n == 0)
        return error_set(r->err, ERROR_INPUT, "the GGUF file holds no tokenizer.ggml.model");
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        if (str_eq(v->gguf.model, str_of(models[i].name))) {
            v->model = models[i].model;
            return 0;
        }
    return error_set(r->err, ERROR_UNSUPPORTED, "tokenizer.ggml.model \"%.*s\" is not supported",
                     STR_ARG(v->gguf.model));
}

static int check_ids(struct reader *r)
{
    struct vocab *v = r->v;
    struct vocab_gguf *g = &v->gguf;
    const struct {
        const char *name;
        uint32_t id;
    } ids[] = {{"bos", g->bos},     {"eos", g->eos}, {"unknown", g->unk}, {"seperator", g->sep},
               {"padding", g->pad}, {"cls", g->cls}, {"mask", g->mask}};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        if (ids[i].id != VOCAB_NONE && ids[i].id >= v->n)
            return error_set(r->err, ERROR_INPUT,
                             "tokenizer.ggml.%s_token_id is %u; there are %u tokens", ids[i].name,
                             ids[i].id, v->n);
    if (r->type_n && r->type_n != v->n)
        return error_set(r->err, ERROR_INPUT, "%llu token types for %u tokens",
                         (unsigned long long)r->type_n, v->n);
    if (r->score_n && r->score_n != v->n)
        return error_set(r->err, ERROR_INPUT, "%llu scores for %u tokens",
                         (unsigned long long)r->score_n, v->n);
    for (uint32_t i = 0; i < v->n; i++)
        if (v->tokens[i].type == 0)
            v->tokens[i].type = VOCAB_TYPE_NORMAL;
    v->unk = g->unk;
    return 0;
}

static int read_header(struct reader *r, uint64_t *keys)
{
    uint32_t version;
    uint64_t tensors;
    r->at = 4;
    if (take_u32(r, &version, "its header") < 0)
        return -1;
    if (version != 2 && version != 3) {
        bool swapped = version == 0x02000000 || version == 0x03000000;
        error_set(r->err, ERROR_UNSUPPORTED, swapped ? "a big-endian GGUF file" : "GGUF version %u",
                  version);
        return fail_at(r, 4);
    }
    if (take_u64(r, &tensors, "its header") < 0 || take_u64(r, keys, "its header") < 0)
        return -1;
    if (*keys > GGUF_KEYS_MAX) {
        error_set(r->err, ERROR_LIMIT, "%llu GGUF keys; the limit is %u", (unsigned long long)*keys,
                  GGUF_KEYS_MAX);
        return fail_at(r, 16);
    }
    return 0;
}

int vocab_read_gguf(struct vocab *v, struct str bytes, struct error *err)
{
    struct reader r = {.bytes = bytes, .v = v, .err = err};
    uint64_t keys = 0;
    if (read_header(&r, &keys) < 0)
        return -1;
    for (uint64_t i = 0; i < keys; i++) {
        struct str key;
        uint32_t type;
        size_t at = r.at;
        if (take_str(&r, &key, "a key") < 0)
            return -1;
        if (key.n > GGUF_KEY_BYTES_MAX) {
            error_set(err, ERROR_LIMIT, "a key of %zu bytes; the limit is %u", key.n,
                      GGUF_KEY_BYTES_MAX);
            return fail_at(&r, at);
        }
        if (take_type(&r, &type, "a value's type") < 0 || read_value(&r, key, type) < 0)
            return -1;
    }
    v->read = r.at;
    if (v->n == 0)
        return error_set(err, ERROR_INPUT, "the GGUF file holds no tokenizer.ggml.tokens");
    if (settle_model(&r) < 0 || check_ids(&r) < 0 || vocab_index_build(v, false, 0, err) < 0)
        return -1;
    if (v->model == VOCAB_BPE && r.merge_n == 0)
        return error_set(err, ERROR_INPUT,
                         "tokenizer.ggml.merges is empty: every text would be counted as bytes");
    if (r.merge_n && resolve_merges(&r) < 0)
        return -1;
    vocab_count_padding(v);
    return vocab_list_llama(v, err);
}
