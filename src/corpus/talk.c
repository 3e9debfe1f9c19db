#include "corpus/talk.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "codec/json.h"

#define JSON_MAX ((struct json_limits){CORPUS_BYTES_MAX, (size_t)64 << 20, 64})
#define PARSED_MAX ((size_t)8 << 30)

enum role { ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT, ROLE_UNKNOWN };

static const struct {
    const char *name;
    enum role role;
} roles[] = {
    {"system", ROLE_SYSTEM},       {"user", ROLE_USER},      {"human", ROLE_USER},
    {"assistant", ROLE_ASSISTANT}, {"gpt", ROLE_ASSISTANT},  {"chatgpt", ROLE_ASSISTANT},
    {"bing", ROLE_ASSISTANT},      {"bard", ROLE_ASSISTANT}, {"model", ROLE_ASSISTANT},
};

struct reading {
    struct talk *t;
    struct arena parsed;
    int64_t number, line; /* of the conversation, from 1; of the line it stands on */
};

/* A conversation being made: its turns stay in the arena only when all of it is usable. */
struct draft {
    struct str system;
    struct talk_turn *turns;
    size_t n;
    char why[160];
};

static enum role role_of(const struct json *message)
{
    const struct json *name = json_get(message, "role");

    if (!name)
        name = json_get(message, "from");
    for (size_t i = 0; json_is(name, JSON_STRING) && i < sizeof roles / sizeof *roles; i++)
        if (str_eq_nocase(name->text, str_of(roles[i].name)))
            return roles[i].role;
    return ROLE_UNKNOWN;
}

/* The text of a message: a string, or the text parts of a list by newlines. */
static struct str text_of(const struct json *message, struct arena *arena)
{
    const struct json *v = json_get(message, "content");
    struct buf joined = BUF_INIT(CORPUS_LINE_MAX);
    struct str kept = {NULL, 0};

    if (!v)
        v = json_get(message, "value");
    if (json_is(v, JSON_STRING))
        return v->text;
    for (size_t i = 0; json_is(v, JSON_ARRAY) && i < v->n; i++) {
        const struct json *part = json_get(&v->items[i], "text");
        if (json_is(part, JSON_STRING)) {
            if (joined.n > 0)
                buf_addc(&joined, '\n');
            buf_addstr(&joined, part->text);
        }
    }
    if (!joined.failed && joined.n > 0)
        kept = arena_str(arena, buf_str(&joined));
    buf_release(&joined);
    return kept;
}

/* False, with d->why, when the message cannot follow what stands there. */
static bool add_message(struct reading *r, struct draft *d, const struct json *message, size_t i)
{
    enum role role = role_of(message);
    struct str text = text_of(message, &r->parsed);
    struct talk_turn *last = d->n > 0 ? &d->turns[d->n - 1] : NULL;

    if (role == ROLE_UNKNOWN)
        snprintf(d->why, sizeof d->why, "message %zu has no role of system, user or assistant",
                 i + 1);
    else if (text.n == 0)
        snprintf(d->why, sizeof d->why, "message %zu has no text", i + 1);
    else if (role == ROLE_SYSTEM && i > 0)
        snprintf(d->why, sizeof d->why, "message %zu is a system message behind others", i + 1);
    else if (role == ROLE_USER && last && !last->answer.p)
        snprintf(d->why, sizeof d->why, "message %zu is the user's, as the one before it", i + 1);
    else if (role == ROLE_ASSISTANT && (!last || last->answer.p))
        snprintf(d->why, sizeof d->why, "message %zu answers nothing", i + 1);
    else if (role == ROLE_USER && d->n == TALK_TURNS_MAX)
        snprintf(d->why, sizeof d->why, "it has more than %d turns", TALK_TURNS_MAX);
    if (d->why[0])
        return false;
    if (role == ROLE_SYSTEM)
        d->system = text;
    else if (role == ROLE_USER)
        d->turns[d->n++] = (struct talk_turn){.user = text};
    else
        last->answer = text;
    return true;
}

static int grow(struct talk *t, struct error *err)
{
    size_t cap = t->cap ? 2 * t->cap : 64;
    struct talk_conversation *list;
    struct corpus_item *items;

    if (t->corpus.n < t->cap)
        return 0;
    if (t->corpus.n == CORPUS_ITEMS_MAX)
        return error_set(err, ERROR_LIMIT, "more than %d conversations", CORPUS_ITEMS_MAX);
    list = realloc(t->list, cap * sizeof *list);
    if (list)
        t->list = list;
    items = realloc(t->corpus.items, cap * sizeof *items);
    if (items)
        t->corpus.items = items;
    if (!list || !items)
        return error_no_memory(err);
    t->cap = cap;
    return 0;
}

static int keep(struct reading *r, const struct draft *d, struct error *err)
{
    struct talk *t = r->t;
    struct arena *a = &t->corpus.arena;
    struct talk_turn *turns = arena_array(a, d->n, sizeof *turns);
    char id[32];

    if (grow(t, err) < 0)
        return -1;
    if (!turns)
        return arena_check(a, "the conversations", err);
    for (size_t i = 0; i < d->n; i++) {
        turns[i].user = arena_str(a, d->turns[i].user);
        turns[i].answer =
            d->turns[i].answer.p ? arena_str(a, d->turns[i].answer) : (struct str){NULL, 0};
    }
    snprintf(id, sizeof id, "c%lld", (long long)r->number);
    t->list[t->corpus.n] = (struct talk_conversation){
        .system = d->system.p ? arena_str(a, d->system) : (struct str){NULL, 0},
        .turns = turns,
        .n = d->n,
    };
    t->corpus.items[t->corpus.n++] = (struct corpus_item){.id = arena_str(a, str_of(id)),
                                                          .text = turns[0].user,
                                                          .tokens = CORPUS_NOT_PROMISED,
                                                          .max_tokens = CORPUS_NOT_PROMISED,
                                                          .line = r->line};
    t->turns += (int64_t)d->n;
    return arena_check(a, "the conversations", err);
}

static int read_conversation(struct reading *r, const struct json *v, struct error *err)
{
    const struct json *list = v;
    struct draft d = {.system = {NULL, 0}};
    size_t n;

    r->number++;
    if (json_is(v, JSON_OBJECT)) {
        list = json_get(v, "messages");
        list = list ? list : json_get(v, "conversations");
        list = list ? list : json_get(v, "conversation");
    }
    n = json_is(list, JSON_ARRAY) ? list->n : 0;
    d.turns = arena_array(&r->parsed, n + 1, sizeof *d.turns);
    if (!d.turns)
        return arena_check(&r->parsed, "the conversations", err);
    if (!json_is(list, JSON_ARRAY))
        snprintf(d.why, sizeof d.why, "it holds no list of messages");
    for (size_t i = 0; i < n && add_message(r, &d, &list->items[i], i); i++)
        ;
    if (!d.why[0] && d.n == 0)
        snprintf(d.why, sizeof d.why, "it has no message of the user's");
    if (!d.why[0])
        return keep(r, &d, err);
    if (r->t->left_out++ == 0)
        snprintf(r->t->why, sizeof r->t->why, "conversation %lld: %s", (long long)r->number, d.why);
    return 0;
}

static int read_lines(struct reading *r, struct str rest, struct error *err)
{
    while (rest.n > 0) {
        const struct json *doc;
        struct str line;
        (void)str_cut(rest, '\n', &line, &rest);
        r->line++;
        if (line.n > CORPUS_LINE_MAX)
            return error_set(err, ERROR_LIMIT, "the line is longer than %zu bytes",
                             CORPUS_LINE_MAX);
        if (str_trim(line).n == 0)
            continue;
        arena_reset(&r->parsed);
        if (json_parse(&doc, line, &JSON_MAX, &r->parsed, err) < 0)
            return error_at_line(err, r->line, err->column);
        if (read_conversation(r, doc, err) < 0)
            return -1;
    }
    return 0;
}

/* Whether the first line is a whole conversation: then every line is one. */
static bool is_by_line(struct str bytes)
{
    struct str first, rest = bytes;
    struct error ignored = {0};
    const struct json *doc;
    struct arena arena;
    bool whole;

    do {
        (void)str_cut(rest, '\n', &first, &rest);
    } while (str_trim(first).n == 0 && rest.n > 0);
    arena_init(&arena, PARSED_MAX);
    whole = first.n <= CORPUS_LINE_MAX &&
            json_parse(&doc, first, &JSON_MAX, &arena, &ignored) == 0 &&
            !(str_trim(rest).n == 0 && json_is(doc, JSON_ARRAY) && doc->n > 0 &&
              !json_get(&doc->items[0], "role") && !json_get(&doc->items[0], "from"));
    arena_release(&arena);
    return whole;
}

static int read_array(struct reading *r, struct str bytes, struct error *err)
{
    const struct json *doc;

    if (json_parse(&doc, bytes, &JSON_MAX, &r->parsed, err) < 0)
        return -1;
    if (!json_is(doc, JSON_ARRAY)) {
        r->line = doc->line;
        return read_conversation(r, doc, err);
    }
    for (size_t i = 0; i < doc->n; i++) {
        r->line = doc->items[i].line;
        if (read_conversation(r, &doc->items[i], err) < 0)
            return -1;
    }
    return 0;
}

int talk_read_bytes(struct talk *t, struct str bytes, const char *name, struct error *err)
{
    struct reading r = {.t = t};
    int rc = -1;

    *t = (struct talk){.corpus = {.path = name,
                                  .promise = {.count = CORPUS_NOT_PROMISED,
                                              .tokens = CORPUS_NOT_PROMISED,
                                              .tolerance = CORPUS_NOT_PROMISED,
                                              .seed = CORPUS_NOT_PROMISED,
                                              .generator_version = CORPUS_NOT_PROMISED}}};
    arena_init(&t->corpus.arena, CORPUS_BYTES_MAX);
    arena_init(&r.parsed, PARSED_MAX);
    if (sha256_hex(t->corpus.sha256, bytes, err) < 0)
        goto out;
    if (str_trim(bytes).n > 0 &&
        (is_by_line(bytes) ? read_lines : read_array)(&r, bytes, err) < 0) {
        if (!err->remedy[0])
            error_remedy(err, "give one conversation a line, or one JSON array of them: "
                              "{\"messages\": [{\"role\": \"user\", \"content\": \"...\"}, ...]}");
        goto out;
    }
    if (t->corpus.n == 0) {
        error_set(err, ERROR_INPUT, "no conversation in it can be played%s%s",
                  t->why[0] ? "; " : "", t->why);
        error_remedy(err, "user and assistant take turns, the user beginning: {\"messages\": "
                          "[{\"role\": \"user\", \"content\": \"...\"}, ...]}");
        goto out;
    }
    rc = 0;
out:
    arena_release(&r.parsed);
    if (rc < 0) {
        error_at_file(err, name);
        talk_release(t);
    }
    return rc;
}

int talk_read(struct talk *t, const char *path, struct error *err)
{
    struct buf bytes = BUF_INIT(0);
    int rc = -1;

    if (file_read(&bytes, path, CORPUS_BYTES_MAX, err) == 0)
        rc = talk_read_bytes(t, buf_str(&bytes), path, err);
    buf_release(&bytes);
    return rc;
}

void talk_release(struct talk *t)
{
    if (!t)
        return;
    corpus_release(&t->corpus);
    free(t->list);
    *t = (struct talk){.left_out = 0};
}
