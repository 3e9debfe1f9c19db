#include "token/added.h"

#include <stdlib.h>
#include <string.h>

#include "token/unicode.h"

struct added_node {
    uint32_t child, sibling; /* 0 = none */
    uint32_t token;          /* place in the list plus one; 0 when no token ends here */
    uint8_t byte;
};

void added_init(struct added_set *set, const struct vocab_added *list)
{
    *set = (struct added_set){.list = list, .only = -1};
}

void added_release(struct added_set *set)
{
    if (!set)
        return;
    free(set->node);
    added_init(set, NULL);
}

static int new_node(struct added_set *set, uint8_t byte, uint32_t *out, struct error *err)
{
    if (set->node_n == set->node_cap) {
        uint32_t cap = set->node_cap ? set->node_cap * 2 : 256;
        if (cap > ADDED_NODES_MAX)
            return error_set(err, ERROR_LIMIT, "the added tokens are longer than %u bytes in all",
                             ADDED_NODES_MAX);
        struct added_node *node = realloc(set->node, cap * sizeof node[0]);
        if (!node)
            return error_no_memory(err);
        set->node = node;
        set->node_cap = cap;
    }
    if (set->node_n == 0)
        set->node[set->node_n++] = (struct added_node){0}; /* number 0 is "none" */
    *out = set->node_n;
    set->node[set->node_n++] = (struct added_node){.byte = byte};
    return 0;
}

static uint32_t child_of(const struct added_set *set, uint32_t at, uint8_t byte)
{
    uint32_t c = set->node[at].child;
    while (c && set->node[c].byte != byte)
        c = set->node[c].sibling;
    return c;
}

int added_insert(struct added_set *set, struct str text, uint32_t i, struct error *err)
{
    if (text.n == 0)
        return 0;
    uint8_t first = (uint8_t)text.p[0];
    uint32_t at = set->root[first];
    if (at == 0) {
        if (new_node(set, first, &at, err) < 0)
            return -1;
        set->root[first] = at;
        set->only = set->any ? -1 : first;
        set->any = true;
    }
    for (size_t k = 1; k < text.n; k++) {
        uint8_t byte = (uint8_t)text.p[k];
        uint32_t next = child_of(set, at, byte);
        if (next == 0) {
            if (new_node(set, byte, &next, err) < 0)
                return -1;
            set->node[next].sibling = set->node[at].child;
            set->node[at].child = next;
        }
        at = next;
    }
    if (set->node[at].token == 0)
        set->node[at].token = i + 1;
    set->strips = set->strips || set->list[i].lstrip || set->list[i].rstrip;
    return 0;
}

/* The first place at or behind `at` where a token could begin; text.n when none. */
static size_t candidate(const struct added_set *set, struct str text, size_t at)
{
    if (!set->any || at >= text.n)
        return text.n;
    if (set->only >= 0) {
        const char *p = memchr(text.p + at, set->only, text.n - at);
        return p ? (size_t)(p - text.p) : text.n;
    }
    while (at < text.n && set->root[(uint8_t)text.p[at]] == 0)
        at++;
    return at;
}

/* The longest token that begins at `at`: its length, or 0. */
static size_t longest_at(const struct added_set *set, struct str text, size_t at, uint32_t *token)
{
    size_t best = 0;
    uint32_t node = set->root[(uint8_t)text.p[at]];
    for (size_t n = 1; node; n++) {
        if (set->node[node].token) {
            *token = set->node[node].token - 1;
            best = n;
        }
        if (at + n >= text.n)
            break;
        node = child_of(set, node, (uint8_t)text.p[at + n]);
    }
    return best;
}

/* The \w of Rust's regex: Alphabetic, marks, decimal digits, connectors, joiners. */
static bool is_word(uint32_t cp)
{
    if (uni_is(cp, UNI_LETTER | UNI_MARK | UNI_BIT(UNI_ND) | UNI_BIT(UNI_NL) | UNI_BIT(UNI_PC)))
        return true;
    return (cp >= 0x24B6 && cp <= 0x24E9) || (cp >= 0x1F130 && cp <= 0x1F149) ||
           (cp >= 0x1F150 && cp <= 0x1F169) || (cp >= 0x1F170 && cp <= 0x1F189) || cp == 0x200C ||
           cp == 0x200D;
}

static size_t char_before(struct str text, size_t at, uint32_t *cp)
{
    size_t from = at - 1;
    while (from > 0 && ((uint8_t)text.p[from] & 0xC0) == 0x80)
        from--;
    uni_next((const uint8_t *)text.p + from, cp);
    return from;
}

static bool stands_alone(struct str text, size_t from, size_t to)
{
    uint32_t cp;
    if (from > 0) {
        char_before(text, from, &cp);
        if (is_word(cp))
            return false;
    }
    if (to < text.n) {
        uni_next((const uint8_t *)text.p + to, &cp);
        if (is_word(cp))
            return false;
    }
    return true;
}

static size_t strip_left(struct str text, size_t from, size_t least)
{
    uint32_t cp;
    while (from > least) {
        size_t before = char_before(text, from, &cp);
        if (!uni_is(cp, UNI_SPACE))
            break;
        from = before;
    }
    return from < least ? least : from;
}

static size_t strip_right(struct str text, size_t to)
{
    uint32_t cp;
    while (to < text.n) {
        uint32_t n = uni_next((const uint8_t *)text.p + to, &cp);
        if (!uni_is(cp, UNI_SPACE))
            break;
        to += n;
    }
    return to;
}

bool added_next(const struct added_set *set, struct str text, struct added_walk *w, bool plain,
                struct added_hit *hit)
{
    while ((w->at = candidate(set, text, w->at)) < text.n) {
        uint32_t i = 0;
        size_t from = w->at, n = longest_at(set, text, from, &i), to = from + n;
        if (n == 0) {
            w->at++;
            continue;
        }
        const struct vocab_added *a = &set->list[i];
        w->at = to;
        if ((plain && a->special) || (a->single_word && !stands_alone(text, from, to)))
            continue;
        if (a->lstrip)
            from = strip_left(text, from, w->from);
        if (a->rstrip)
            to = strip_right(text, to);
        if (from < w->from)
            from = w->from; /* an earlier token's rstrip took it */
        *hit = (struct added_hit){from, to > from ? to : from, a};
        w->from = hit->to;
        return true;
    }
    return false;
}

void added_hits_release(struct added_hits *hits)
{
    free(hits->hit);
    *hits = (struct added_hits){0};
}

static int add_hit(struct added_hits *hits, struct added_hit hit, struct error *err)
{
    if (hits->n == hits->cap) {
        size_t cap = hits->cap ? hits->cap * 2 : 64;
        struct added_hit *p = realloc(hits->hit, cap * sizeof p[0]);
        if (!p)
            return error_no_memory(err);
        hits->hit = p;
        hits->cap = cap;
    }
    hits->hit[hits->n++] = hit;
    return 0;
}

/* Longest token first; the same length by id; the same token from the left. */
static int by_length(const void *pa, const void *pb)
{
    const struct added_hit *a = pa, *b = pb;
    size_t na = a->to - a->from, nb = b->to - b->from;
    if (na != nb)
        return na > nb ? -1 : 1;
    if (a->token->id != b->token->id)
        return a->token->id < b->token->id ? -1 : 1;
    return a->from < b->from ? -1 : a->from > b->from;
}

static int by_place(const void *pa, const void *pb)
{
    const struct added_hit *a = pa, *b = pb;
    return a->from < b->from ? -1 : a->from > b->from;
}

/* White space as C's isspace has it: bytes. */
static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A part of the text in which hits overlap, and which of its bytes are taken. */
struct chain {
    struct str text;
    size_t base, end;
    uint8_t *taken;
};

/* What a token swallows on either side is gone for those that come after it. */
static void swallow(const struct chain *c, struct added_hit *h)
{
    while (h->token->lstrip && h->from > c->base && !c->taken[h->from - 1 - c->base] &&
           is_blank(c->text.p[h->from - 1]))
        h->from--;
    while (h->token->rstrip && h->to < c->end && !c->taken[h->to - c->base] &&
           is_blank(c->text.p[h->to]))
        h->to++;
}

/* Keeps, of hits[first..n) which overlap in a chain, those that no earlier-ranked one overlaps. As
 * lengths only fall, an overlap shows at the later one's first or last byte. */
static int settle_chain(struct added_hits *hits, size_t first, struct chain *c, struct error *err)
{
    size_t n = hits->n - first, kept = 0;
    if (n == 0 || c->end <= c->base)
        return 0;
    struct added_hit *h = hits->hit + first;
    c->taken = calloc(c->end - c->base, 1);
    if (!c->taken)
        return error_no_memory(err);
    qsort(h, n, sizeof h[0], by_length);
    for (size_t i = 0; i < n; i++) {
        if (c->taken[h[i].from - c->base] || c->taken[h[i].to - 1 - c->base])
            continue;
        h[kept] = h[i];
        swallow(c, &h[kept]);
        memset(c->taken + (h[kept].from - c->base), 1, h[kept].to - h[kept].from);
        kept++;
    }
    free(c->taken);
    hits->n = first + kept;
    qsort(h, kept, sizeof h[0], by_place);
    return 0;
}

int added_partition(const struct added_set *set, struct str text, bool plain,
                    struct added_hits *hits, struct error *err)
{
    /* With tokens that swallow white space, all the text is one chain. */
    struct chain c = {text, 0, set->strips ? text.n : 0, NULL};
    size_t first = 0;
    hits->n = 0;
    for (size_t at = 0; (at = candidate(set, text, at)) < text.n; at++) {
        uint32_t node = set->root[(uint8_t)text.p[at]];
        for (size_t n = 1; node; n++) {
            uint32_t token = set->node[node].token;
            if (token && !(plain && set->list[token - 1].special)) {
                if (at >= c.end) {
                    if (hits->n - first > 1 && settle_chain(hits, first, &c, err) < 0)
                        return -1;
                    first = hits->n;
                    c.base = at;
                }
                if (add_hit(hits, (struct added_hit){at, at + n, &set->list[token - 1]}, err) < 0)
                    return -1;
                if (at + n > c.end)
                    c.end = at + n;
            }
            if (at + n >= text.n)
                break;
            node = child_of(set, node, (uint8_t)text.p[at + n]);
        }
    }
    if (hits->n - first < (set->strips ? 1u : 2u))
        return 0;
    return settle_chain(hits, first, &c, err);
}
