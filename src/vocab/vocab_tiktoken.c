/*
 * tiktoken's files: a line "BASE64 RANK" for each token, https://github.com/openai/tiktoken. A file
 * says neither how text is split nor which tokens are special: that goes by the encoding, and the
 * encoding by the number of ranks, which no two that are published share.
 */
#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "base/num.h"
#include "base/utf8.h"
#include "vocab/alphabet.h"
#include "vocab/vocab_internal.h"

#define RESERVED_MAX 4096u
#define SPECIALS_MAX 6

struct special {
    const char *text;
    uint32_t id;
};

static const struct encoding {
    const char *name;
    uint32_t ranks;
    struct special special[SPECIALS_MAX];
    /* Which ones are special stands in the tokenizer_config.json beside the file. The other ids, so
     * many behind the ranks, are <|reserved_token_ID|>. */
    bool by_config;
    uint32_t reserved;
} encodings[] = {
    {"r50k_base", 50256, {{"<|endoftext|>", 50256}}, false, 0},
    {"p50k_base", 50280, {{"<|endoftext|>", 50256}}, false, 0},
    {"cl100k_base",
     100256,
     {{"<|endoftext|>", 100257},
      {"<|fim_prefix|>", 100258},
      {"<|fim_middle|>", 100259},
      {"<|fim_suffix|>", 100260},
      {"<|endofprompt|>", 100276}},
     false,
     0},
    {"o200k_base", 199998, {{"<|endoftext|>", 199999}, {"<|endofprompt|>", 200018}}, false, 0},
    {"qwen", 151643, {{NULL, 0}}, true, 0},
    {"llama3", 128000, {{NULL, 0}}, true, 0},
    {"kimi", 163584, {{NULL, 0}}, true, 258},
};

static const struct encoding *encoding_of(const struct vocab *v)
{
    for (size_t i = 0; i < sizeof encodings / sizeof encodings[0]; i++)
        if (v->encoding && strcmp(v->encoding, encodings[i].name) == 0)
            return &encodings[i];
    return NULL;
}

/* One line, without its end. */
static bool cut_line(struct str line, struct str *token, uint64_t *rank)
{
    struct str number;
    if (str_ends(line, STR("\r")))
        line.n--;
    return str_cut(line, ' ', token, &number) && token->n > 0 && num_parse_u64(rank, number) == 0;
}

bool vocab_looks_tiktoken(struct str bytes)
{
    struct str line, rest, token;
    struct buf raw = BUF_INIT(4096);
    uint64_t rank;
    str_cut(str_first(bytes, 4096), '\n', &line, &rest);
    bool good = cut_line(line, &token, &rank) && base64_decode(&raw, token) == 0;
    buf_release(&raw);
    return good;
}

static int add_line(struct vocab *v, struct str line, size_t at, struct buf *raw, struct buf *text,
                    struct error *err)
{
    struct str token;
    uint64_t rank;
    if (!cut_line(line, &token, &rank)) {
        error_set(err, ERROR_INPUT, "\"%.*s\" is no token with its rank",
                  STR_ARG(str_first(line, 64)));
        return error_at_offset(err, (int64_t)at);
    }
    buf_reset(raw);
    buf_reset(text);
    if (token.n > 2 * (size_t)VOCAB_TIKTOKEN_BYTES_MAX ||
        (base64_decode(raw, token) == 0 && raw->n > VOCAB_TIKTOKEN_BYTES_MAX)) {
        error_set(err, ERROR_LIMIT, "a token of %zu characters of base64; the limit is %u bytes",
                  token.n, VOCAB_TIKTOKEN_BYTES_MAX);
        return error_at_offset(err, (int64_t)at);
    }
    if (raw->n == 0) {
        error_set(err, ERROR_INPUT, "\"%.*s\" is not base64", STR_ARG(str_first(token, 64)));
        return error_at_offset(err, (int64_t)at);
    }
    for (size_t i = 0; i < raw->n; i++)
        utf8_add(text, byte_level_char((uint8_t)raw->p[i]));
    if (buf_check(text, "token text", err) < 0)
        return -1;
    if (rank >= VOCAB_IDS_MAX)
        error_set(err, ERROR_LIMIT, "a rank of %llu; the limit is %u", (unsigned long long)rank,
                  VOCAB_IDS_MAX - 1);
    else if (vocab_tokens_reserve(v, rank + 1, err) == 0) {
        v->tokens[rank].type = VOCAB_TYPE_NORMAL;
        if (vocab_set_text(v, (uint32_t)rank, buf_str(text), err) == 0)
            return 0;
    }
    return error_at_offset(err, (int64_t)at);
}

static int read_lines(struct vocab *v, struct str bytes, uint32_t *count, struct error *err)
{
    struct buf raw = BUF_INIT(2 * (size_t)VOCAB_TIKTOKEN_BYTES_MAX);
    struct buf text = BUF_INIT(VOCAB_TOKEN_BYTES_MAX);
    struct str rest = bytes;
    int status = 0;
    *count = 0;
    while (status == 0 && rest.n) {
        struct str line;
        size_t at = bytes.n - rest.n;
        if (!str_cut(rest, '\n', &line, &rest))
            rest = STR("");
        if (line.n == 0)
            continue;
        status = add_line(v, line, at, &raw, &text, err);
        ++*count;
    }
    buf_release(&raw);
    buf_release(&text);
    return status;
}

static bool goes_before(const struct vocab_merge *a, const struct vocab_merge *b)
{
    return a->left != b->left ? a->left < b->left : a->right < b->right;
}

/* Every cut of the token into two others: tiktoken merges whatever has a rank, by that rank. In the
 * order in which converters to tokenizer.json write them. */
static int cut_token(struct vocab *v, uint32_t id, struct error *err)
{
    struct str text = v->tokens[id].text;
    uint32_t first = v->merge_n;
    for (size_t at = 1; at < text.n; at++) {
        if (((uint8_t)text.p[at] & 0xC0) == 0x80)
            continue;
        struct vocab_merge m = {vocab_find(v, str_first(text, at)),
                                vocab_find(v, str_skip(text, at)), id};
        if (m.left == VOCAB_NONE || m.right == VOCAB_NONE)
            continue;
        if (vocab_merges_reserve(v, (uint64_t)v->merge_n + 1, err) < 0)
            return -1;
        uint32_t place = v->merge_n++;
        for (; place > first && goes_before(&m, &v->merges[place - 1]); place--)
            v->merges[place] = v->merges[place - 1];
        v->merges[place] = m;
    }
    return 0;
}

static int check_bytes(const struct vocab *v, struct error *err)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        char text[4];
        size_t n = utf8_encode(text, byte_level_char((uint8_t)byte));
        if (vocab_find(v, str_make(text, n)) == VOCAB_NONE)
            return error_set(err, ERROR_INPUT, "the byte 0x%02X has no rank", byte);
    }
    return 0;
}

int vocab_read_tiktoken(struct vocab *v, struct str bytes, struct error *err)
{
    uint32_t count;
    v->model = VOCAB_BPE;
    v->read = bytes.n;
    if (read_lines(v, bytes, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < sizeof encodings / sizeof encodings[0]; i++)
        if (encodings[i].ranks == count)
            v->encoding = encodings[i].name;
    if (!v->encoding) {
        error_set(err, ERROR_UNSUPPORTED,
                  "a tiktoken file of %u ranks: no known encoding has so many, and the file does "
                  "not say how text is split",
                  count);
        return error_remedy(err, "give the model's tokenizer.json or GGUF");
    }
    if (vocab_index_build(v, true, RESERVED_MAX, err) < 0 || check_bytes(v, err) < 0)
        return -1;
    for (uint32_t id = 0; id < v->n; id++)
        if (v->tokens[id].text.p && cut_token(v, id, err) < 0)
            return -1;
    return 0;
}

static int add_special(struct vocab *v, uint64_t id, struct str text, struct error *err)
{
    uint32_t ranks = encoding_of(v)->ranks;
    if (v->added_n == RESERVED_MAX || id > (uint64_t)ranks + RESERVED_MAX)
        return error_set(err, ERROR_LIMIT,
                         "the special token %llu is more than %u behind the ranks",
                         (unsigned long long)id, RESERVED_MAX);
    if (text.n == 0)
        return error_set(err, ERROR_INPUT, "the special token %llu has no text",
                         (unsigned long long)id);
    if (vocab_tokens_reserve(v, id + 1, err) < 0 || vocab_set_text(v, (uint32_t)id, text, err) < 0)
        return -1;
    struct vocab_token *t = &v->tokens[id];
    t->type = VOCAB_TYPE_CONTROL;
    t->added_only = true;
    t->added = v->added_n + 1;
    vocab_index_add(v, (uint32_t)id);
    v->added[v->added_n++] =
        (struct vocab_added){.text = t->text, .id = (uint32_t)id, .special = true};
    return 0;
}

/* {"added_tokens_decoder": {"163584": {"content": "[BOS]"}}} */
static int add_configured(struct vocab *v, struct str config, struct error *err)
{
    const struct json_limits limits = {32u << 20, 1u << 20, 32};
    const struct json *doc, *list;
    if (json_parse(&doc, config, &limits, &v->arena, err) < 0)
        return -1;
    if (json_need(&list, doc, "added_tokens_decoder", JSON_OBJECT, err) < 0)
        return -1;
    for (size_t i = 0; i < list->n; i++) {
        const struct json *item = &list->members[i].value;
        struct str key = list->members[i].name, text;
        uint64_t id;
        if (num_parse_u64(&id, key) < 0)
            return error_set(err, ERROR_INPUT, "added_tokens_decoder: \"%.*s\" is no id",
                             STR_ARG(str_first(key, 64)));
        if (json_need_str(&text, item, "content", err) < 0 || add_special(v, id, text, err) < 0)
            return error_wrap(err, "added_tokens_decoder");
    }
    return 0;
}

static int add_reserved(struct vocab *v, const struct encoding *e, struct error *err)
{
    for (uint32_t id = e->ranks; id < e->ranks + e->reserved; id++) {
        char text[32];
        if (id < v->n && v->tokens[id].text.p)
            continue;
        int n = snprintf(text, sizeof text, "<|reserved_token_%u|>", id);
        if (add_special(v, id, str_make(text, (size_t)n), err) < 0)
            return -1;
    }
    return 0;
}

int vocab_tiktoken_specials(struct vocab *v, const struct str *config, struct error *err)
{
    const struct encoding *e = encoding_of(v);
    v->added = arena_array(&v->arena, RESERVED_MAX, sizeof v->added[0]);
    if (!v->added)
        return arena_check(&v->arena, "special tokens", err);
    if (config)
        return add_configured(v, *config, err) < 0 ? -1 : add_reserved(v, e, err);
    if (e->by_config) {
        error_set(err, ERROR_INPUT, "the special tokens of \"%s\" stand in tokenizer_config.json",
                  e->name);
        return error_remedy(err, "put the model's tokenizer_config.json beside the file");
    }
    for (size_t i = 0; i < SPECIALS_MAX && e->special[i].text; i++)
        if (add_special(v, e->special[i].id, str_of(e->special[i].text), err) < 0)
            return -1;
    return 0;
}
