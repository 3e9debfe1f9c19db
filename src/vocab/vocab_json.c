/*
 * Hugging Face tokenizer.json. The lists (model.vocab, model.merges) are taken from the stream as
 * they pass; everything else is small, is written out again and parsed as one document.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/num.h"
#include "codec/json_stream.h"
#include "codec/json_write.h"
#include "vocab/vocab_internal.h"
#include "vocab/vocab_merges.h"

#define CONFIG_BYTES_MAX ((size_t)256 << 20)
#define CONFIG_DEPTH_MAX 60u /* below JSON_WRITE_DEPTH */
#define FEED_BYTES ((size_t)1 << 20)

enum place {
    IN_CONFIG,
    AT_VOCAB, /* behind the key, before the value */
    AT_MERGES,
    IN_MAP,  /* {"text": id} */
    IN_LIST, /* [["text", score]] */
    IN_ENTRY,
    IN_MERGES, /* ["a b", ["a", "b"]] */
    IN_PAIR,
};

/* Fields of the model that have to be known before its merges can be read. */
enum field { OTHER_FIELD, FIELD_TYPE, FIELD_PREFIX };

struct loader {
    struct vocab *v;
    struct json_stream *stream;
    struct json_writer writer;
    struct buf config, text, prefix;
    struct merges merges;
    enum place place;
    enum field field; /* whose value comes next */
    unsigned depth;
    bool in_model, has_vocab, has_merges, is_bpe, has_prefix, indexed;
    unsigned part; /* of an entry or a pair: how many came */
    const struct json *doc;
};

static int misplaced(struct loader *l, const char *what, struct error *err)
{
    static const char *const where[] = {"the document", "model.vocab", "model.merges",
                                        "model.vocab",  "model.vocab", "model.vocab",
                                        "model.merges", "model.merges"};
    return error_set(err, ERROR_INPUT, "%s does not belong into %s", what, where[l->place]);
}

static int add_token(struct loader *l, uint64_t id, struct error *err)
{
    struct vocab *v = l->v;
    if (id >= VOCAB_IDS_MAX)
        return error_set(err, ERROR_LIMIT, "token \"%.*s\" has the id %llu; the limit is %u",
                         STR_ARG(str_first(buf_str(&l->text), 64)), (unsigned long long)id,
                         VOCAB_IDS_MAX - 1);
    if (vocab_tokens_reserve(v, id + 1, err) < 0)
        return -1;
    v->tokens[id].type = VOCAB_TYPE_NORMAL;
    return vocab_set_text(v, (uint32_t)id, buf_str(&l->text), err);
}

static int keep_text(struct loader *l, struct str s, struct error *err)
{
    buf_reset(&l->text);
    buf_addstr(&l->text, s);
    return buf_check(&l->text, "token text", err);
}

static int add_merge(struct loader *l, struct str left, struct str right, struct error *err)
{
    return merges_add(&l->merges, left, right, json_stream_offset(l->stream), err);
}

/* "a b": exactly one space, as the reference splits it. */
static int split_merge(struct loader *l, struct str s, struct error *err)
{
    struct str left, right;
    if (str_starts(s, STR("#version")))
        return 0;
    if (!str_cut(s, ' ', &left, &right) || str_find_char(right, ' ') != STR_NONE)
        return error_set(err, ERROR_INPUT, "merge %u (\"%.*s\") is not two parts", l->merges.n,
                         STR_ARG(str_first(s, 64)));
    return add_merge(l, left, right, err);
}

/* A value of the model, {NULL, 0} for null. */
static int note_field(struct loader *l, struct str value, struct error *err)
{
    enum field field = l->field;
    l->field = OTHER_FIELD;
    if (field == FIELD_TYPE)
        l->is_bpe = str_eq(value, STR("BPE"));
    if (field != FIELD_PREFIX)
        return 0;
    l->has_prefix = true;
    buf_addstr(&l->prefix, value);
    return buf_check(&l->prefix, "continuing_subword_prefix", err);
}

static int on_null(void *ctx, struct error *err)
{
    struct loader *l = ctx;
    if (l->place != IN_CONFIG)
        return misplaced(l, "null", err);
    json_put_null(&l->writer);
    return note_field(l, (struct str){0}, err);
}

static int on_boolean(void *ctx, bool value, struct error *err)
{
    struct loader *l = ctx;
    if (l->place != IN_CONFIG)
        return misplaced(l, "true or false", err);
    json_put_bool(&l->writer, value);
    return 0;
}

static int on_number(void *ctx, struct str text, struct error *err)
{
    struct loader *l = ctx;
    uint64_t id;
    double score;
    switch (l->place) {
    case IN_CONFIG:
        json_put_raw(&l->writer, text);
        return 0;
    case IN_MAP:
        if (num_parse_u64(&id, text) < 0)
            return error_set(err, ERROR_INPUT, "token \"%.*s\" has no id but %.*s",
                             STR_ARG(str_first(buf_str(&l->text), 64)), STR_ARG(text));
        return add_token(l, id, err);
    case IN_ENTRY:
        if (l->part++ != 1 || num_parse_double(&score, text) < 0)
            return misplaced(l, "this number", err);
        if (add_token(l, l->v->n, err) < 0)
            return -1;
        l->v->tokens[l->v->n - 1].score = score;
        return 0;
    default:
        return misplaced(l, "a number", err);
    }
}

static int on_string(void *ctx, struct str s, struct error *err)
{
    struct loader *l = ctx;
    switch (l->place) {
    case IN_CONFIG:
        json_put_str(&l->writer, s);
        return note_field(l, s, err);
    case IN_ENTRY:
        if (l->part++ != 0)
            return misplaced(l, "this string", err);
        return keep_text(l, s, err);
    case IN_MERGES:
        return split_merge(l, s, err);
    case IN_PAIR:
        if (l->part++ == 0)
            return keep_text(l, s, err);
        if (l->part > 2)
            return error_set(err, ERROR_INPUT, "merge %u has more than two parts", l->merges.n);
        return add_merge(l, buf_str(&l->text), s, err);
    default:
        return misplaced(l, "a string", err);
    }
}

static int on_key(void *ctx, struct str name, struct error *err)
{
    struct loader *l = ctx;
    if (l->place == IN_MAP)
        return keep_text(l, name, err);
    if (l->depth == 1)
        l->in_model = str_eq(name, STR("model"));
    if (l->depth == 2 && l->in_model) {
        bool *seen = str_eq(name, STR("vocab"))    ? &l->has_vocab
                     : str_eq(name, STR("merges")) ? &l->has_merges
                                                   : NULL;
        if (seen && *seen)
            return error_set(err, ERROR_INPUT, "model.%.*s is given twice", STR_ARG(name));
        l->field = str_eq(name, STR("type"))                        ? FIELD_TYPE
                   : str_eq(name, STR("continuing_subword_prefix")) ? FIELD_PREFIX
                                                                    : OTHER_FIELD;
        if (seen) {
            *seen = true;
            l->place = seen == &l->has_vocab ? AT_VOCAB : AT_MERGES;
            return 0;
        }
    }
    json_key_str(&l->writer, name);
    return 0;
}

static int on_start_object(void *ctx, struct error *err)
{
    struct loader *l = ctx;
    l->depth++;
    if (l->place == AT_VOCAB) {
        l->place = IN_MAP;
        return 0;
    }
    if (l->place != IN_CONFIG)
        return misplaced(l, "an object", err);
    json_begin_object(&l->writer);
    return 0;
}

static int on_end_object(void *ctx, struct error *err)
{
    struct loader *l = ctx;
    (void)err;
    l->depth--;
    if (l->place == IN_MAP)
        l->place = IN_CONFIG;
    else
        json_end_object(&l->writer);
    return 0;
}

/* The list of merges begins: they are resolved as they come where all they need came first. */
static int begin_merges(struct loader *l, struct error *err)
{
    l->place = IN_MERGES;
    if (!l->has_vocab || !l->is_bpe || !l->has_prefix)
        return 0;
    l->indexed = true;
    if (vocab_index_build(l->v, true, 0, err) < 0)
        return -1;
    return merges_ready(&l->merges, buf_str(&l->prefix), err);
}

static int on_start_array(void *ctx, struct error *err)
{
    struct loader *l = ctx;
    l->depth++;
    l->part = 0;
    switch (l->place) {
    case IN_CONFIG:
        json_begin_array(&l->writer);
        return 0;
    case AT_VOCAB:
        l->place = IN_LIST;
        return 0;
    case IN_LIST:
        l->place = IN_ENTRY;
        return 0;
    case AT_MERGES:
        return begin_merges(l, err);
    case IN_MERGES:
        l->place = IN_PAIR;
        return 0;
    default:
        return misplaced(l, "an array", err);
    }
}

static int on_end_array(void *ctx, struct error *err)
{
    struct loader *l = ctx;
    l->depth--;
    switch (l->place) {
    case IN_ENTRY:
    case IN_PAIR:
        if (l->part != 2)
            return misplaced(l, "an entry without its two parts", err);
        l->place = l->place == IN_ENTRY ? IN_LIST : IN_MERGES;
        return 0;
    case IN_LIST:
    case IN_MERGES:
        l->place = IN_CONFIG;
        return 0;
    default:
        json_end_array(&l->writer);
        return 0;
    }
}

static const struct json_events events = {
    .null = on_null,
    .boolean = on_boolean,
    .number = on_number,
    .string = on_string,
    .key = on_key,
    .start_object = on_start_object,
    .end_object = on_end_object,
    .start_array = on_start_array,
    .end_array = on_end_array,
};

static int stream(struct loader *l, struct str bytes, struct error *err)
{
    json_writer_init(&l->writer, &l->config, 0);
    l->stream = json_stream_new(&events, l, CONFIG_DEPTH_MAX);
    if (!l->stream)
        return error_no_memory(err);
    for (struct str rest = bytes; rest.n; rest = str_skip(rest, FEED_BYTES)) {
        if (json_stream_feed(l->stream, str_first(rest, FEED_BYTES), err) < 0)
            return -1;
        if (buf_check(&l->config, "tokenizer.json without its lists", err) < 0)
            return -1;
    }
    if (json_stream_finish(l->stream, err) < 0)
        return -1;
    const struct json_limits limits = {CONFIG_BYTES_MAX, 8u << 20, CONFIG_DEPTH_MAX};
    return json_parse(&l->doc, buf_str(&l->config), &limits, &l->v->arena, err);
}

static int settle_model(struct loader *l, struct error *err)
{
    static const struct {
        const char *name;
        enum vocab_model model;
    } models[] = {
        {"BPE", VOCAB_BPE},
        {"Unigram", VOCAB_UNIGRAM},
        {"WordPiece", VOCAB_WORDPIECE},
        {"WordLevel", VOCAB_WORDLEVEL},
    };
    const struct json *model;
    if (json_need(&model, l->doc, "model", JSON_OBJECT, err) < 0)
        return error_wrap(err, "not a tokenizer.json");
    if (!l->has_vocab)
        return error_set(err, ERROR_INPUT, "not a tokenizer.json: model has no vocab");
    struct str type;
    if (json_str(&type, json_get(model, "type")) < 0) {
        /* Files older than the field: only BPE has merges. */
        if (!l->has_merges)
            return error_set(err, ERROR_UNSUPPORTED, "the model does not say its type");
        type = STR("BPE");
    }
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        if (str_eq(type, str_of(models[i].name))) {
            l->v->model = models[i].model;
            l->v->config = l->doc;
            return 0;
        }
    return error_set(err, ERROR_UNSUPPORTED, "the model \"%.*s\" is not supported", STR_ARG(type));
}

static int resolve_merges(struct loader *l, struct error *err)
{
    const struct json *model = json_get(l->doc, "model");
    struct str prefix = {NULL, 0};
    json_str(&prefix, json_get(model, "continuing_subword_prefix"));
    if (l->v->model != VOCAB_BPE)
        return 0;
    if (l->merges.n == 0)
        return error_set(err, ERROR_INPUT,
                         "model.merges is empty: every text would be counted as characters");
    if (!l->merges.ready && merges_ready(&l->merges, prefix, err) < 0)
        return -1;
    return merges_end(&l->merges, err);
}

static bool flag(const struct json *object, const char *name)
{
    bool value = false;
    json_bool(&value, json_get(object, name));
    return value;
}

static int read_added(struct vocab *v, struct vocab_added *a, const struct json *item, size_t i,
                      struct error *err)
{
    if (json_need_str(&a->text, item, "content", err) < 0)
        return error_wrap(err, "added token %zu", i);
    if (a->text.n > VOCAB_TOKEN_BYTES_MAX)
        return error_set(err, ERROR_LIMIT, "added token %zu is %zu bytes long; the limit is %u", i,
                         a->text.n, VOCAB_TOKEN_BYTES_MAX);
    a->special = flag(item, "special");
    a->lstrip = flag(item, "lstrip");
    a->rstrip = flag(item, "rstrip");
    a->single_word = flag(item, "single_word");
    a->normalized = json_get(item, "normalized") ? flag(item, "normalized") : !a->special;
    a->id = vocab_find(v, a->text);
    return 0;
}

/* The id an added token gets is the model's own, or the next free one, whatever the file says: the
 * reference counts them up in this way, and only warns when the file says otherwise. */
static int add_added(struct vocab *v, struct vocab_added *a, uint32_t *next, struct error *err)
{
    if (a->id == VOCAB_NONE) {
        a->id = *next;
        if (vocab_tokens_reserve(v, (uint64_t)a->id + 1, err) < 0)
            return -1;
        if (v->tokens[a->id].text.p)
            return error_set(err, ERROR_INPUT, "it would get the id %u, which is \"%.*s\"", a->id,
                             STR_ARG(str_first(v->tokens[a->id].text, 64)));
        v->tokens[a->id] = (struct vocab_token){.text = a->text, .added_only = true};
        if (vocab_index_add(v, a->id) == VOCAB_NONE)
            return error_no_memory(err);
    }
    if (a->id >= *next)
        *next = a->id + 1;
    struct vocab_token *t = &v->tokens[a->id];
    t->type = a->special ? VOCAB_TYPE_CONTROL : VOCAB_TYPE_USER_DEFINED;
    if (t->added == 0)
        t->added = ++v->added_n;
    v->added[t->added - 1] = *a; /* said twice, the last counts */
    return 0;
}

static int settle_added(struct vocab *v, const struct json *list, uint32_t model_size,
                        struct error *err)
{
    size_t n = json_is(list, JSON_ARRAY) ? list->n : 0;
    uint32_t next = model_size;
    v->added = arena_array(&v->arena, n, sizeof v->added[0]);
    if (n && !v->added)
        return arena_check(&v->arena, "added tokens", err);
    for (size_t i = 0; i < n; i++) {
        struct vocab_added a;
        if (read_added(v, &a, json_at(list, i), i, err) < 0)
            return -1;
        if (a.text.n && add_added(v, &a, &next, err) < 0)
            return error_wrap(err, "added token %zu", i);
    }
    return 0;
}

static int settle_unk(struct loader *l, struct error *err)
{
    const struct json *model = json_get(l->doc, "model");
    struct str unk;
    int64_t id;
    if (json_str(&unk, json_get(model, "unk_token")) == 0)
        l->v->unk = vocab_find(l->v, unk);
    else if (json_i64(&id, json_get(model, "unk_id")) == 0) {
        if (id < 0 || id >= (int64_t)l->v->n)
            return error_set(err, ERROR_INPUT, "model.unk_id is %lld; there are %u tokens",
                             (long long)id, l->v->n);
        l->v->unk = (uint32_t)id;
    }
    return 0;
}

static int settle(struct loader *l, struct error *err)
{
    struct vocab *v = l->v;
    const struct json *added = json_get(l->doc, "added_tokens");
    size_t added_n = json_is(added, JSON_ARRAY) ? added->n : 0;
    uint32_t model_size = 0;
    if (added_n > VOCAB_ADDED_MAX)
        return error_set(err, ERROR_LIMIT, "%zu added tokens; the limit is %u", added_n,
                         VOCAB_ADDED_MAX);
    if (!l->indexed && vocab_index_build(v, true, (uint32_t)added_n, err) < 0)
        return -1;
    if (resolve_merges(l, err) < 0)
        return -1;
    for (uint32_t i = 0; i < v->n; i++)
        model_size += v->tokens[i].text.p != NULL;
    if (settle_unk(l, err) < 0 || settle_added(v, added, model_size, err) < 0)
        return -1;
    vocab_count_padding(v);
    return 0;
}

int vocab_read_json(struct vocab *v, struct str bytes, struct error *err)
{
    struct loader l = {.v = v};
    int status = -1;
    buf_init(&l.config, CONFIG_BYTES_MAX);
    buf_init(&l.text, VOCAB_TOKEN_BYTES_MAX);
    buf_init(&l.prefix, VOCAB_TOKEN_BYTES_MAX);
    merges_init(&l.merges, v);
    v->read = bytes.n;
    if (stream(&l, bytes, err) == 0 && settle_model(&l, err) == 0)
        status = settle(&l, err);
    json_stream_free(l.stream);
    buf_release(&l.config);
    buf_release(&l.text);
    buf_release(&l.prefix);
    merges_release(&l.merges);
    return status;
}
