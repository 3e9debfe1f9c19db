/*
 * llama.cpp's normalization for "t5" (llm_tokenizer_ugm_session in its src/llama-vocab.cpp): the
 * longest entries of the charsmap; spaces become U+2581, merged and put in front as the file says.
 */
#include <stdlib.h>

#include "base/utf8.h"
#include "token/charsmap.h"
#include "token/normalize.h"
#include "token/pipeline.h"
#include "token/trie.h"

int ugm_prefixes_new(struct trie **out, const struct vocab *v, struct error *err)
{
    struct trie *t = calloc(1, sizeof *t);
    if (!t)
        return error_no_memory(err);
    if (trie_init(t, err) < 0)
        goto fail;
    for (uint32_t id = 0; id < v->n; id++)
        if (v->tokens[id].type == VOCAB_TYPE_USER_DEFINED &&
            trie_insert(t, v->tokens[id].text, id, err) < 0)
            goto fail;
    *out = t;
    return 0;
fail:
    ugm_prefixes_free(t);
    return -1;
}

void ugm_prefixes_free(struct trie *t)
{
    if (!t)
        return;
    trie_release(t);
    free(t);
}

/* How far s goes along a user-defined token: it need not reach the end of any. */
static size_t along(const struct trie *t, struct str s)
{
    uint32_t node = TRIE_ROOT;
    size_t n = 0;
    while (n < s.n && (node = trie_step(t, node, (uint8_t)s.p[n])) != 0)
        n++;
    return n;
}

/* What the text at the front of s becomes, and how many of its bytes that takes. */
static size_t front(const struct norm_step *step, struct str s, struct str *becomes)
{
    size_t n = along(step->prefixes, s);
    if (n == 0 && step->charsmap) {
        n = charsmap_longest(step->charsmap, s, becomes);
        if (n)
            return n;
    }
    if (n == 0) {
        /* Behind a user-defined token's part there may be the rest of a character. */
        uint32_t cp;
        n = utf8_decode(s, 0, &cp);
        if (n == 0) {
            *becomes = STR("\xEF\xBF\xBD");
            return 1;
        }
    }
    *becomes = str_first(s, n);
    return n;
}

struct spacing {
    struct norm_text *out;
    const struct norm_view *in;
    bool put, word; /* a space stands in front; inside a word */
};

static void put_space(struct spacing *s, size_t from, size_t to)
{
    norm_put(s->out, s->in, from, to, STR("\xE2\x96\x81"));
}

static void put_byte(struct spacing *s, const struct norm_step *step, size_t from, size_t to,
                     const char *byte)
{
    if (*byte == ' ') {
        s->word = false;
        if (!step->clean)
            put_space(s, from, to);
        return;
    }
    if (!s->word) {
        s->word = true;
        if ((step->left && !s->put) || step->clean) {
            put_space(s, from, from);
            s->put = true;
        }
    }
    norm_put(s->out, s->in, from, to, str_make(byte, 1));
}

int norm_ugm(struct norm_text *out, const struct norm_view *in, const struct norm_step *step,
             struct error *err)
{
    struct spacing s = {out, in, false, false};
    for (size_t at = 0, n; at < in->text.n; at += n) {
        struct str becomes = {0};
        n = front(step, str_skip(in->text, at), &becomes);
        for (size_t i = 0; i < becomes.n; i++)
            put_byte(&s, step, at, at + n, becomes.p + i);
    }
    return norm_check(out, err) < 0 ? -1 : 1;
}
