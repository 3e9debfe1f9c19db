#include "chat/render.h"

#include <stdlib.h>
#include <string.h>

#define CONVERSATION_MEMORY_MAX ((size_t)256 << 20)

void chat_rendering_release(struct chat_rendering *r)
{
    if (!r)
        return;
    buf_release(&r->text);
    free(r->parts);
    token_ids_release(&r->ids);
    *r = (struct chat_rendering){0};
}

static int add_part(struct chat_rendering *r, enum chat_part_kind kind, size_t from, size_t to,
                    size_t message, struct error *err)
{
    if (from == to)
        return 0;
    if (r->parts_n == r->parts_cap) {
        size_t cap = r->parts_cap ? r->parts_cap * 2 : 16;
        struct chat_part *p = realloc(r->parts, cap * sizeof *p);
        if (!p)
            return error_no_memory(err);
        r->parts = p;
        r->parts_cap = cap;
    }
    r->parts[r->parts_n++] = (struct chat_part){kind, from, to, message, 0, 0};
    return 0;
}

/* Finds each message's content in the text, in order, as it is or trimmed. */
static int find_parts(struct chat_rendering *r, const struct chat_request *q, struct arena *a,
                      struct error *err)
{
    struct str text = buf_str(&r->text);
    size_t at = 0;
    r->parts_n = 0;
    for (size_t i = 0; i < q->messages->n; i++) {
        struct str content;
        if (chat_content_text(&content, json_get(&q->messages->items[i], "content"), a, err) < 0)
            return -1;
        size_t hit = content.n ? str_find(str_skip(text, at), content) : STR_NONE;
        if (hit == STR_NONE) {
            content = str_trim(content);
            hit = content.n ? str_find(str_skip(text, at), content) : STR_NONE;
        }
        if (hit == STR_NONE)
            continue;
        if (add_part(r, PART_WRAPPER, at, at + hit, 0, err) < 0 ||
            add_part(r, PART_CONTENT, at + hit, at + hit + content.n, i, err) < 0)
            return -1;
        at += hit + content.n;
    }
    return add_part(r, PART_WRAPPER, at, text.n, 0, err);
}

/* No template: contents one behind the other. */
static int render_raw(struct chat_rendering *r, const struct chat_request *q, struct arena *a,
                      struct error *err)
{
    struct str text;
    if (chat_check_messages(q->messages, err) < 0)
        return -1;
    if (q->system)
        buf_adds(&r->text, q->system);
    for (size_t i = 0; i < q->messages->n; i++) {
        if (chat_content_text(&text, json_get(&q->messages->items[i], "content"), a, err) < 0)
            return -1;
        buf_addstr(&r->text, text);
    }
    return buf_check(&r->text, "prompt", err);
}

static int render_template(struct chat_rendering *r, const struct chat_template *t,
                           const struct chat_profile *p, const struct chat_request *q,
                           struct arena *a, struct error *err)
{
    struct jinja_value messages, context;
    struct str prefill;
    const struct jinja_render options = {.now = q->now};
    if (chat_messages(&messages, &prefill, q, p, t, a, err) < 0 ||
        chat_context(&context, messages, prefill.n > 0, q, p, t, a, err) < 0 ||
        jinja_render(t->jinja, context, &options, &r->text, err) < 0)
        return -1;
    buf_addstr(&r->text, prefill);
    return buf_check(&r->text, "prompt", err);
}

int chat_render(struct chat_rendering *r, const struct chat_template *t,
                const struct chat_profile *p, const struct chat_request *q, struct error *err)
{
    struct chat_template *own = NULL;
    struct arena a;
    int rc = -1;
    r->text.max = JINJA_OUTPUT_MAX + JINJA_STRING_MAX;
    buf_reset(&r->text);
    arena_init(&a, CONVERSATION_MEMORY_MAX);
    if (p->built_in && !p->raw) {
        if (chat_template_from_text(&own, str_of(p->built_in), p->name, &p->syntax, err) < 0)
            goto out;
        t = own;
    }
    if (!p->raw && !t) {
        error_set(err, ERROR_USAGE, "rendering as %s needs a chat template", p->name);
        error_remedy(err, "give --template FILE: a .jinja, a tokenizer_config.json or a GGUF");
        goto out;
    }
    rc = p->raw ? render_raw(r, q, &a, err) : render_template(r, t, p, q, &a, err);
    if (rc == 0)
        rc = find_parts(r, q, &a, err);
out:
    chat_template_free(own);
    arena_release(&a);
    return rc;
}

bool chat_bos(const struct tokenizer *t, uint32_t *id, struct buf *text)
{
    struct token_ids ids = {0};
    struct error err = {0};
    const struct encode_options o = {.add_special = true};
    bool found = tokenizer_encode(t, STR(""), &o, &ids, &err) == 0 && ids.n > 0 &&
                 tokenizer_piece(t, ids.id[0], text) == 0;
    if (found)
        *id = ids.id[0];
    token_ids_release(&ids);
    return found;
}

static void strip_front(struct chat_rendering *r, size_t n)
{
    buf_drop_front(&r->text, n);
    size_t kept = 0;
    for (size_t i = 0; i < r->parts_n; i++) {
        struct chat_part part = r->parts[i];
        part.from = part.from > n ? part.from - n : 0;
        part.to = part.to > n ? part.to - n : 0;
        if (part.from < part.to)
            r->parts[kept++] = part;
    }
    r->parts_n = kept;
    r->stripped_bos = true;
}

static int push_id(struct token_ids *to, uint32_t id, size_t from, size_t end, struct error *err)
{
    if (to->n == to->cap) {
        size_t cap = to->cap ? to->cap * 2 : 64;
        uint32_t *ids = realloc(to->id, cap * sizeof *ids);
        if (ids)
            to->id = ids;
        uint32_t *begin = realloc(to->from, cap * sizeof *begin);
        if (begin)
            to->from = begin;
        uint32_t *stop = realloc(to->to, cap * sizeof *stop);
        if (stop)
            to->to = stop;
        if (!ids || !begin || !stop)
            return error_no_memory(err);
        to->cap = cap;
    }
    to->id[to->n] = id;
    to->from[to->n] = (uint32_t)from;
    to->to[to->n++] = (uint32_t)end;
    return 0;
}

/* A run of text in which nothing is a special token. */
static int push_plain(struct chat_rendering *r, const struct tokenizer *t, size_t from, size_t to,
                      struct error *err)
{
    const struct encode_options o = {.special_text = SPECIAL_TEXT_PLAIN};
    struct token_ids ids = {.with_offsets = true};
    struct str run = {r->text.p + from, to - from};
    int rc = from == to ? 0 : tokenizer_encode(t, run, &o, &ids, err);
    for (size_t i = 0; rc == 0 && i < ids.n; i++)
        rc = push_id(&r->ids, ids.id[i], from + ids.from[i], from + ids.to[i], err);
    token_ids_release(&ids);
    return rc;
}

/* The longest special token that the text spells at `at` within wrapper text ending at `end`. */
static size_t special_at(const struct tokenizer *t, struct str text, size_t at, size_t end,
                         uint32_t *id)
{
    struct str special;
    uint32_t candidate;
    size_t longest = 0;
    for (size_t i = 0; tokenizer_special(t, i, &special, &candidate) == 0; i++)
        if (special.n > longest && special.n <= end - at &&
            memcmp(text.p + at, special.p, special.n) == 0) {
            longest = special.n;
            *id = candidate;
        }
    return longest;
}

/* The wrapper's special tokens are tokens; all between two of them, content included, is text. */
static int tokenize_plain(struct chat_rendering *r, const struct tokenizer *t, struct error *err)
{
    struct str text = buf_str(&r->text);
    size_t run = 0;
    r->ids.n = 0;
    for (size_t i = 0; i < r->parts_n; i++) {
        const struct chat_part *part = &r->parts[i];
        for (size_t at = part->from; part->kind == PART_WRAPPER && at < part->to;) {
            uint32_t id = 0;
            size_t n = special_at(t, text, at, part->to, &id);
            if (n == 0) {
                at++;
                continue;
            }
            if (push_plain(r, t, run, at, err) < 0 || push_id(&r->ids, id, at, at + n, err) < 0)
                return -1;
            at += n;
            run = at;
        }
    }
    return push_plain(r, t, run, text.n, err);
}

static void assign_ids(struct chat_rendering *r)
{
    size_t at = 0;
    for (size_t i = 0; i < r->parts_n; i++) {
        struct chat_part *part = &r->parts[i];
        part->first = at;
        while (at < r->ids.n && (r->ids.from[at] < part->to || i + 1 == r->parts_n))
            at++;
        part->last = at;
    }
}

int chat_tokenize(struct chat_rendering *r, const struct tokenizer *t, const struct chat_profile *p,
                  struct error *err)
{
    struct buf bos = BUF_INIT(65536);
    uint32_t id;
    bool adds = p->adds_special && chat_bos(t, &id, &bos);
    int rc;
    if (adds && str_starts(buf_str(&r->text), buf_str(&bos)))
        strip_front(r, bos.n);
    r->ids.with_offsets = true;
    r->added_front = adds;
    const struct encode_options o = {.add_special = p->adds_special};
    rc = p->plain_content ? tokenize_plain(r, t, err)
                          : tokenizer_encode(t, buf_str(&r->text), &o, &r->ids, err);
    if (rc == 0)
        assign_ids(r);
    buf_release(&bos);
    return rc;
}
