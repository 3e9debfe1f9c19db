#include "chat/explain.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN_BYTES 60 /* of a cause's text */

const char *chat_cause_name(enum chat_cause_kind cause)
{
    static const char *const names[] = {
#define X(kind, name, says) name,
        CHAT_CAUSES(X)
#undef X
    };
    return names[cause];
}

bool chat_cause_has_hunk(enum chat_cause_kind cause)
{
    return cause != CAUSE_TRUNCATION && cause != CAUSE_UNEXPLAINED;
}

static const char *says(enum chat_cause_kind cause)
{
    static const char *const texts[] = {
#define X(kind, name, text) text,
        CHAT_CAUSES(X)
#undef X
    };
    return texts[cause];
}

void chat_explanation_release(struct chat_explanation *x)
{
    if (!x)
        return;
    for (size_t i = 0; i < x->n; i++)
        free(x->items[i].words);
    free(x->items);
    *x = (struct chat_explanation){0};
}

/* The text that ids [from, to) stand for. */
static void pieces(struct buf *out, const struct tokenizer *t, const struct chat_rendering *r,
                   size_t from, size_t to)
{
    buf_reset(out);
    for (size_t i = from; i < to; i++)
        (void)tokenizer_piece(t, r->ids.id[i], out);
}

static bool is_special(const struct tokenizer *t, uint32_t id)
{
    struct str text;
    uint32_t special;
    for (size_t i = 0; tokenizer_special(t, i, &text, &special) == 0; i++)
        if (special == id)
            return true;
    return false;
}

static bool any_special(const struct tokenizer *t, const struct chat_rendering *r, size_t from,
                        size_t to)
{
    for (size_t i = from; i < to; i++)
        if (is_special(t, r->ids.id[i]))
            return true;
    return false;
}

static bool has(struct str s, const char *part)
{
    return str_find(s, str_of(part)) != STR_NONE;
}

static bool all_space(struct str s)
{
    return s.n > 0 && str_trim(s).n == 0;
}

/* Do the ids overlap a message's content? */
static bool in_content(const struct chat_rendering *r, size_t from, size_t to)
{
    for (size_t i = 0; i < r->parts_n; i++) {
        const struct chat_part *p = &r->parts[i];
        if (p->kind == PART_CONTENT && from < p->last && to > p->first && from < to)
            return true;
    }
    return false;
}

static size_t end_of_content(const struct chat_rendering *r)
{
    size_t end = 0;
    for (size_t i = 0; i < r->parts_n; i++)
        if (r->parts[i].kind == PART_CONTENT && r->parts[i].last > end)
            end = r->parts[i].last;
    return end;
}

static bool is_digit_at(struct str s, size_t at)
{
    return at < s.n && s.p[at] >= '0' && s.p[at] <= '9';
}

/* A month's name, or a year and a month's number: what templates print of a date. */
static bool looks_like_date(struct str s)
{
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    for (size_t at = 0; at + 4 <= s.n; at++)
        if (s.p[at] == '2' && s.p[at + 1] == '0' && is_digit_at(s, at + 2) &&
            is_digit_at(s, at + 3))
            return true;
    for (size_t i = 0; i < 12; i++)
        if (has(s, months[i]))
            return true;
    return false;
}

static bool has_system(const struct chat_request *q)
{
    struct str role;
    if (q->system)
        return true;
    for (size_t i = 0; i < q->messages->n; i++)
        if (json_str(&role, json_get(&q->messages->items[i], "role")) == 0 &&
            (str_eq(role, STR("system")) || str_eq(role, STR("developer"))))
            return true;
    return false;
}

struct judged {
    const struct chat_rendering *a, *b;
    const struct tokenizer *t;
    const struct chat_request *q;
    struct str ta, tb; /* the hunk's text on both sides */
    struct align_hunk h;
};

static enum chat_cause_kind judge_content(const struct judged *j)
{
    bool special = any_special(j->t, j->a, j->h.a_from, j->h.a_to) !=
                   any_special(j->t, j->b, j->h.b_from, j->h.b_to);
    if (special || has(j->ta, "\xE2\x80\x8B") != has(j->tb, "\xE2\x80\x8B"))
        return CAUSE_SPECIAL_TEXT;
    if (str_eq(j->ta, j->tb))
        return CAUSE_SEAM;
    if (str_eq(str_trim(j->ta), str_trim(j->tb)))
        return CAUSE_WHITESPACE;
    return CAUSE_CONTENT;
}

static bool is_bos(const struct judged *j)
{
    const struct align_hunk *h = &j->h;
    size_t an = h->a_to - h->a_from, bn = h->b_to - h->b_from;
    if (h->a_from > 1 || h->b_from > 1 || an + bn == 0 || (an && bn) || an + bn > 2)
        return false;
    return an ? is_special(j->t, j->a->ids.id[h->a_from])
              : is_special(j->t, j->b->ids.id[h->b_from]);
}

static enum chat_cause_kind judge(const struct judged *j)
{
    const struct align_hunk *h = &j->h;
    struct str longer = j->ta.n > j->tb.n ? j->ta : j->tb;
    if (is_bos(j))
        return CAUSE_BOS;
    if (in_content(j->a, h->a_from, h->a_to) || in_content(j->b, h->b_from, h->b_to))
        return judge_content(j);
    if (all_space(longer) || (j->ta.n && j->tb.n && str_eq(str_trim(j->ta), str_trim(j->tb))))
        return str_eq(j->ta, j->tb) ? CAUSE_SEAM : CAUSE_WHITESPACE;
    if (str_eq(j->ta, j->tb))
        return CAUSE_SEAM;
    if (j->q->tools && (has(longer, "function") || has(longer, "tool") || has(longer, "param")))
        return CAUSE_TOOLS;
    if (has(longer, "think"))
        return CAUSE_THINKING;
    bool bounded = longer.n < 64;
    if (bounded && looks_like_date(longer))
        return CAUSE_DATE;
    if (!has_system(j->q) &&
        (has(longer, "system") || has(longer, "SYS") || has(longer, "You are")))
        return CAUSE_SYSTEM;
    if (h->a_from >= end_of_content(j->a) && h->b_from >= end_of_content(j->b))
        return CAUSE_GENERATION;
    return looks_like_date(longer) && bounded ? CAUSE_DATE : CAUSE_WRAPPER;
}

static void add_shown(struct buf *b, struct str s)
{
    size_t shown = 0;
    buf_addc(b, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (shown++ >= SHOWN_BYTES && (c & 0xC0) != 0x80) {
            buf_adds(b, "...");
            break;
        }
        if (c == '\n')
            buf_adds(b, "\\n");
        else if (c == '\t')
            buf_adds(b, "\\t");
        else if (c < 0x20 || c == 0x7F)
            buf_addf(b, "\\x%02x", c);
        else
            buf_addc(b, (char)c);
    }
    buf_addc(b, '"');
}

static char *take(struct buf *b, struct error *err)
{
    if (buf_check(b, "explanation", err) < 0)
        return NULL;
    char *p = strdup(b->p ? b->p : "");
    if (!p)
        error_no_memory(err);
    return p;
}

static void add_count(struct buf *b, int64_t n)
{
    buf_addf(b, "%lld token%s", (long long)n, n == 1 ? "" : "s");
}

/* "comparator adds a system turn, 21 tokens: …" or "… has A (3 tokens) where … has B (5)". */
static char *in_words(enum chat_cause_kind kind, const struct judged *j, const struct chat_side *a,
                      const struct chat_side *b, struct error *err)
{
    struct buf out = BUF_INIT(4096);
    const struct align_hunk *h = &j->h;
    int64_t an = (int64_t)(h->a_to - h->a_from), bn = (int64_t)(h->b_to - h->b_from);
    const struct chat_side *more = bn >= an ? b : a, *less = bn >= an ? a : b;
    struct str text = bn >= an ? j->tb : j->ta, other = bn >= an ? j->ta : j->tb;
    int64_t most = bn >= an ? bn : an, least = bn >= an ? an : bn;
    if (kind == CAUSE_SPECIAL_TEXT) {
        buf_addf(&out, "%s counts special-token text as plain text, +%lld: ", more->name,
                 (long long)(most - least));
        add_shown(&out, text);
    } else if (kind == CAUSE_SEAM) {
        buf_addf(&out, "%s cuts the same text into more tokens, +%lld: ", more->name,
                 (long long)(most - least));
        add_shown(&out, text);
    } else if (least == 0) {
        buf_addf(&out, "%s adds %s, ", more->name, says(kind));
        add_count(&out, most);
        buf_adds(&out, ": ");
        add_shown(&out, text);
    } else {
        buf_addf(&out, "%s: %s has ", says(kind), more->name);
        add_shown(&out, text);
        buf_adds(&out, " (");
        add_count(&out, most);
        buf_addf(&out, ") where %s has ", less->name);
        add_shown(&out, other);
        buf_addf(&out, " (%lld)", (long long)least);
    }
    char *words = take(&out, err);
    buf_release(&out);
    return words;
}

static int push(struct chat_explanation *x, struct chat_cause c, struct error *err)
{
    if (x->n == x->cap) {
        size_t cap = x->cap ? x->cap * 2 : 8;
        struct chat_cause *p = realloc(x->items, cap * sizeof *p);
        if (!p) {
            free(c.words);
            return error_no_memory(err);
        }
        x->items = p;
        x->cap = cap;
    }
    x->items[x->n++] = c;
    return 0;
}

/* An insertion between equal tokens may stand at several places; it reads best where it begins
 * with a special token. */
static void slide(struct align_hunk *h, const struct judged *j, size_t earliest_a,
                  size_t earliest_b)
{
    bool insert = h->a_from == h->a_to;
    const uint32_t *ids = insert ? j->b->ids.id : j->a->ids.id;
    size_t from = insert ? h->b_from : h->a_from, to = insert ? h->b_to : h->a_to;
    size_t a = h->a_from, b = h->b_from;
    if (!insert && h->b_from != h->b_to)
        return;
    while (a > earliest_a && b > earliest_b && ids[from - 1] == ids[to - 1]) {
        from--;
        to--;
        a--;
        b--;
        if (is_special(j->t, ids[from])) {
            *h = insert ? (struct align_hunk){a, a, from, to} : (struct align_hunk){from, to, b, b};
            return;
        }
    }
}

int chat_explain(struct chat_explanation *x, const struct chat_side *a, const struct chat_side *b,
                 const struct tokenizer *t, const struct chat_request *q, struct error *err)
{
    const struct chat_rendering *ra = a->rendering, *rb = b->rendering;
    struct align_hunks hunks = {0};
    struct buf ta = BUF_INIT(BUF_ANY), tb = BUF_INIT(BUF_ANY);
    struct judged j = {.a = ra, .b = rb, .t = t, .q = q};
    size_t end_a = 0, end_b = 0;
    int rc = align_ids(&hunks, ra->ids.id, ra->ids.n, rb->ids.id, rb->ids.n, err);
    chat_explanation_release(x);
    x->delta = (int64_t)rb->ids.n - (int64_t)ra->ids.n;
    for (size_t i = 0; rc == 0 && i < hunks.n; i++) {
        struct align_hunk h = hunks.items[i];
        if (!is_special(t, h.a_from < h.a_to ? ra->ids.id[h.a_from] : rb->ids.id[h.b_from]))
            slide(&h, &j, end_a, end_b);
        pieces(&ta, t, ra, h.a_from, h.a_to);
        pieces(&tb, t, rb, h.b_from, h.b_to);
        j.ta = buf_str(&ta);
        j.tb = buf_str(&tb);
        j.h = h;
        struct chat_cause c = {.kind = judge(&j), .hunk = h};
        c.tokens = (int64_t)(h.b_to - h.b_from) - (int64_t)(h.a_to - h.a_from);
        c.words = in_words(c.kind, &j, a, b, err);
        rc = c.words ? push(x, c, err) : -1;
        end_a = h.a_to;
        end_b = h.b_to;
    }
    buf_release(&ta);
    buf_release(&tb);
    align_hunks_release(&hunks);
    return rc;
}

int chat_explain_cut(struct chat_explanation *x, const struct chat_side *side, bool is_b,
                     int64_t reached, struct error *err)
{
    struct buf words = BUF_INIT(256);
    int64_t rendered = (int64_t)side->rendering->ids.n;
    struct chat_cause c = {.kind = CAUSE_TRUNCATION,
                           .tokens = is_b ? reached - rendered : rendered - reached};
    buf_addf(&words, "%s cuts the prompt short: %lld of its %lld tokens are left", side->name,
             (long long)reached, (long long)rendered);
    c.words = take(&words, err);
    buf_release(&words);
    x->delta += c.tokens;
    return c.words ? push(x, c, err) : -1;
}

int chat_explain_rest(struct chat_explanation *x, int64_t reported_delta, struct error *err)
{
    struct buf words = BUF_INIT(256);
    struct chat_cause c = {.kind = CAUSE_UNEXPLAINED, .tokens = reported_delta - x->delta};
    if (c.tokens == 0)
        return 0;
    buf_addf(&words, "unexplained: %+lld token%s", (long long)c.tokens,
             c.tokens == 1 || c.tokens == -1 ? "" : "s");
    c.words = take(&words, err);
    buf_release(&words);
    x->delta = reported_delta;
    return c.words ? push(x, c, err) : -1;
}
