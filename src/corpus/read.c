#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "codec/json.h"
#include "corpus/corpus.h"

/* What stands where: every error of a line gets its place from here. */
struct reading {
    struct corpus *c;
    struct arena line; /* the parsed line; texts are copied out */
    int64_t number;
};

static int promise_i64(int64_t *out, const struct json *meta, const char *name, struct error *err)
{
    if (!json_get(meta, name))
        return 0;
    if (json_need_i64(out, meta, name, err) < 0)
        return -1;
    if (*out < 0)
        return error_set(err, ERROR_INPUT, "'%s' is negative", name);
    return 0;
}

static int digest(char out[SHA256_HEX], const struct json *from, const char *name,
                  struct error *err)
{
    struct str s;

    if (!json_get(from, name))
        return 0;
    if (json_need_str(&s, from, name, err) < 0)
        return -1;
    if (s.n != SHA256_HEX - 1)
        return error_set(err, ERROR_INPUT, "'%s' is no SHA-256 in hexadecimal", name);
    memcpy(out, s.p, s.n);
    out[s.n] = '\0';
    return 0;
}

static int text_member(struct reading *r, const char **out, const struct json *from,
                       const char *name, struct error *err)
{
    struct str s;

    if (!json_get(from, name))
        return 0;
    if (json_need_str(&s, from, name, err) < 0)
        return -1;
    *out = arena_cstr(&r->c->arena, s);
    return *out ? 0 : arena_check(&r->c->arena, "a corpus", err);
}

/* A promise that is not understood cannot be asserted, so it is refused rather than passed over. */
static int known_keys(const struct json *object, const char *const *names, const char *what,
                      struct error *err)
{
    for (size_t i = 0; i < object->n; i++) {
        const struct json_member *m = &object->members[i];
        size_t k = 0;
        while (names[k] && !str_eq(str_of(names[k]), m->name))
            k++;
        if (!names[k]) {
            error_set(err, ERROR_UNSUPPORTED, "%s states '%.*s', which is not known", what,
                      STR_ARG(str_first(m->name, 60)));
            error_remedy(err, "a newer tally may know it; or take it out of the line");
            return error_at_line(err, 0, m->value.column);
        }
    }
    return 0;
}

static int read_tokenizer(struct reading *r, const struct json *meta, struct error *err)
{
    static const char *const names[] = {"reference", "tokenizer_sha256", "vocabulary_sha256",
                                        "pipeline_sha256", NULL};
    struct corpus_tokenizer *t = &r->c->promise.tokenizer;
    const struct json *from;

    if (!json_get(meta, "tokenizer"))
        return 0;
    if (json_need(&from, meta, "tokenizer", JSON_OBJECT, err) < 0 ||
        known_keys(from, names, "_meta.tokenizer", err) < 0 ||
        text_member(r, &t->reference, from, "reference", err) < 0 ||
        digest(t->tokenizer_sha256, from, "tokenizer_sha256", err) < 0 ||
        digest(t->vocabulary_sha256, from, "vocabulary_sha256", err) < 0 ||
        digest(t->pipeline_sha256, from, "pipeline_sha256", err) < 0)
        return -1;
    return 0;
}

static int read_mixture(struct mixture *m, const struct json *meta, const char *name,
                        struct error *err)
{
    if (!json_get(meta, name))
        return 0;
    return mixture_read(m, json_get(meta, name), err) < 0 ? error_wrap(err, "'%s'", name) : 0;
}

static int read_meta(struct reading *r, const struct json *meta, struct error *err)
{
    static const char *const names[] = {
        "format",   "generator", "generator_version", "count",     "tokens",  "tolerance",
        "distinct", "seed",      "special_text",      "tokenizer", "mixture", "outputs",
        NULL};
    struct corpus_promise *p = &r->c->promise;
    struct str format;

    if (meta->type != JSON_OBJECT)
        return error_set(err, ERROR_INPUT, "_meta is %s; an object is wanted",
                         json_type_name(meta->type));
    if (json_need_str(&format, meta, "format", err) < 0)
        return -1;
    if (!str_eq(format, STR(CORPUS_FORMAT)))
        return error_set(err, ERROR_UNSUPPORTED, "the corpus has format '%.*s'; '%s' is known",
                         STR_ARG(str_first(format, 60)), CORPUS_FORMAT);
    if (known_keys(meta, names, "_meta", err) < 0 ||
        text_member(r, &p->generator, meta, "generator", err) < 0 ||
        text_member(r, &p->special_text, meta, "special_text", err) < 0 ||
        promise_i64(&p->generator_version, meta, "generator_version", err) < 0 ||
        promise_i64(&p->count, meta, "count", err) < 0 ||
        promise_i64(&p->tokens, meta, "tokens", err) < 0 ||
        promise_i64(&p->tolerance, meta, "tolerance", err) < 0 ||
        (json_get(meta, "seed") && json_need_i64(&p->seed, meta, "seed", err) < 0) ||
        (json_get(meta, "distinct") && json_need_bool(&p->distinct, meta, "distinct", err) < 0) ||
        read_tokenizer(r, meta, err) < 0 || read_mixture(&p->mixture, meta, "mixture", err) < 0 ||
        read_mixture(&p->outputs, meta, "outputs", err) < 0)
        return -1;
    if (p->mixture.n > 0 && p->tokens != CORPUS_NOT_PROMISED)
        return error_set(err, ERROR_INPUT, "'tokens' and 'mixture' are both promised");
    if (p->special_text && !str_eq(str_of(p->special_text), STR("parsed")) &&
        !str_eq(str_of(p->special_text), STR("plain")))
        return error_set(err, ERROR_INPUT, "'special_text' is neither 'parsed' nor 'plain'");
    if ((p->tokens != CORPUS_NOT_PROMISED || p->mixture.n > 0) &&
        p->tolerance == CORPUS_NOT_PROMISED)
        p->tolerance = 0;
    p->stated = true;
    return 0;
}

static int add_item(struct reading *r, const struct corpus_item *item, struct error *err)
{
    struct corpus *c = r->c;

    if (c->n == CORPUS_ITEMS_MAX)
        return error_set(err, ERROR_LIMIT, "more than %d prompts", CORPUS_ITEMS_MAX);
    if (c->n == c->cap) {
        size_t cap = c->cap ? 2 * c->cap : 64;
        struct corpus_item *items = realloc(c->items, cap * sizeof *items);
        if (!items)
            return error_no_memory(err);
        c->items = items;
        c->cap = cap;
    }
    c->items[c->n++] = *item;
    return 0;
}

/* What a mixture promises of each line, the line must say; and of answers all lines or none. */
static int check_lengths(const struct corpus *c, const struct corpus_item *item, struct error *err)
{
    bool says = item->max_tokens != CORPUS_NOT_PROMISED;
    bool first_says = c->n > 0 && c->items[0].max_tokens != CORPUS_NOT_PROMISED;

    if (c->promise.mixture.n > 0 && item->tokens == CORPUS_NOT_PROMISED)
        return error_set(err, ERROR_INPUT,
                         "there is no member 'tokens'; the corpus promises a mixture of lengths");
    if (c->promise.outputs.n > 0 && !says)
        return error_set(err, ERROR_INPUT,
                         "there is no member 'max_tokens'; the corpus promises lengths of answers");
    if (says && (item->max_tokens < 1 || item->max_tokens > CORPUS_TOKENS_MAX))
        return error_set(err, ERROR_INPUT, "'max_tokens' is outside 1 to %d", CORPUS_TOKENS_MAX);
    if (c->n > 0 && says != first_says)
        return error_set(err, ERROR_INPUT, "'max_tokens' stands in some lines only");
    return 0;
}

static int read_item(struct reading *r, const struct json *doc, struct error *err)
{
    struct corpus_item item = {
        .tokens = CORPUS_NOT_PROMISED, .max_tokens = CORPUS_NOT_PROMISED, .line = r->number};
    const char *member = json_get(doc, "text") ? "text" : json_get(doc, "prompt") ? "prompt" : NULL;
    struct str text, id = {NULL, 0};
    char numbered[32];

    if (!member)
        return error_set(err, ERROR_INPUT, "there is no member 'text'");
    if (json_need_str(&text, doc, member, err) < 0 ||
        (json_get(doc, "id") && json_need_str(&id, doc, "id", err) < 0) ||
        promise_i64(&item.tokens, doc, "tokens", err) < 0 ||
        promise_i64(&item.max_tokens, doc, "max_tokens", err) < 0 ||
        check_lengths(r->c, &item, err) < 0)
        return -1;
    if (text.n == 0)
        return error_set(err, ERROR_INPUT, "'%s' is empty", member);
    if (id.n > CORPUS_ID_MAX)
        return error_set(err, ERROR_LIMIT, "'id' is longer than %d bytes", CORPUS_ID_MAX);
    if (id.n == 0) {
        snprintf(numbered, sizeof numbered, "line%lld", (long long)r->number);
        id = str_of(numbered);
    }
    item.id = arena_str(&r->c->arena, id);
    item.text = arena_str(&r->c->arena, text);
    if (arena_check(&r->c->arena, "a corpus", err) < 0)
        return -1;
    return add_item(r, &item, err);
}

static int read_line(struct reading *r, struct str line, struct error *err)
{
    const struct json *doc, *meta;

    if (line.n > CORPUS_LINE_MAX)
        return error_set(err, ERROR_LIMIT, "the line is longer than %zu bytes", CORPUS_LINE_MAX);
    if (str_trim(line).n == 0)
        return error_set(err, ERROR_INPUT, "the line is empty");
    arena_reset(&r->line);
    if (json_parse(&doc, line, &JSON_LIMITS_DEFAULT, &r->line, err) < 0)
        return -1;
    if (doc->type != JSON_OBJECT)
        return error_set(err, ERROR_INPUT, "the line is %s; an object is wanted",
                         json_type_name(doc->type));
    meta = json_get(doc, "_meta");
    if (meta && r->number == 1)
        return read_meta(r, meta, err);
    if (meta)
        return error_set(err, ERROR_INPUT, "_meta stands only in the first line");
    return read_item(r, doc, err);
}

static int read_lines(struct reading *r, struct str rest, struct error *err)
{
    while (rest.n > 0) {
        size_t end = str_find_char(rest, '\n');
        struct str line = str_first(rest, end == STR_NONE ? rest.n : end);
        r->number++;
        if (line.n > 0 && line.p[line.n - 1] == '\r')
            line.n--;
        if (read_line(r, line, err) < 0) {
            if (!err->remedy[0])
                error_remedy(err,
                             "a line holds one object with \"id\" and \"text\": correct it, or "
                             "make the corpus again (tally corpus make)");
            return error_at_line(err, r->number, err->column);
        }
        rest = str_skip(rest, end == STR_NONE ? rest.n : end + 1);
    }
    if (r->c->n == 0) {
        error_set(err, ERROR_INPUT, "the corpus holds no prompt");
        return error_remedy(err, "make one: tally corpus make --tokenizer FILE --tokens N -o FILE");
    }
    return 0;
}

static int by_id(const void *a, const void *b)
{
    const struct corpus_item *x = *(const struct corpus_item *const *)a;
    const struct corpus_item *y = *(const struct corpus_item *const *)b;
    int order = str_cmp(x->id, y->id);

    return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* Samples name prompts by id, so an id names one prompt. */
static int check_ids(const struct corpus *c, struct error *err)
{
    const struct corpus_item **sorted = malloc(c->n * sizeof *sorted);
    int rc = 0;

    if (!sorted)
        return error_no_memory(err);
    for (size_t i = 0; i < c->n; i++)
        sorted[i] = &c->items[i];
    qsort(sorted, c->n, sizeof *sorted, by_id);
    for (size_t i = 1; i < c->n && rc == 0; i++) {
        if (str_eq(sorted[i]->id, sorted[i - 1]->id)) {
            error_set(err, ERROR_INPUT, "the id '%.*s' stands in line %lld already",
                      STR_ARG(sorted[i]->id), (long long)sorted[i - 1]->line);
            rc = error_at_line(err, sorted[i]->line, 0);
        }
    }
    free(sorted);
    return rc;
}

int corpus_read_bytes(struct corpus *c, struct str bytes, const char *name, struct error *err)
{
    struct reading r = {.c = c};
    int rc = -1;

    *c = (struct corpus){.path = name,
                         .promise = {.count = CORPUS_NOT_PROMISED,
                                     .tokens = CORPUS_NOT_PROMISED,
                                     .tolerance = CORPUS_NOT_PROMISED,
                                     .seed = CORPUS_NOT_PROMISED,
                                     .generator_version = CORPUS_NOT_PROMISED}};
    arena_init(&c->arena, CORPUS_BYTES_MAX);
    arena_init(&r.line, 8 * CORPUS_LINE_MAX);
    if (sha256_hex(c->sha256, bytes, err) < 0 || read_lines(&r, bytes, err) < 0 ||
        check_ids(c, err) < 0) {
        error_at_file(err, name);
        corpus_release(c);
    } else {
        rc = 0;
    }
    arena_release(&r.line);
    return rc;
}

int corpus_read(struct corpus *c, const char *path, struct error *err)
{
    struct buf bytes = BUF_INIT(0);
    int rc = -1;

    if (file_read(&bytes, path, CORPUS_BYTES_MAX, err) == 0)
        rc = corpus_read_bytes(c, buf_str(&bytes), path, err);
    buf_release(&bytes);
    return rc;
}

int64_t corpus_target(const struct corpus *c, const struct corpus_item *item)
{
    const struct mixture *m = &c->promise.mixture;
    size_t i;

    if (m->n == 0)
        return c->promise.tokens;
    i = mixture_find(m, item->tokens, c->promise.tolerance);
    return i == MIXTURE_NONE ? item->tokens : m->of[i].tokens;
}

const struct corpus_item *corpus_longest(const struct corpus *c)
{
    const struct corpus_item *longest = &c->items[0];

    for (size_t i = 1; i < c->n; i++) {
        int64_t mine = corpus_target(c, &c->items[i]), most = corpus_target(c, longest);
        if (mine > most || (most == CORPUS_NOT_PROMISED && c->items[i].text.n > longest->text.n))
            longest = &c->items[i];
    }
    return longest;
}

void corpus_release(struct corpus *c)
{
    if (!c)
        return;
    arena_release(&c->arena);
    free(c->items);
    *c = (struct corpus){0};
}
