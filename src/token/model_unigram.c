/*
 * Unigram: the segmentation of greatest total score, as the reference's encode_optimized finds it
 * (after SentencePiece's unigram_model.cc): ties go to the path found first.
 */
#include <stdlib.h>

#include "token/model.h"

struct unigram_node {
    double score;
    uint32_t from, id;
    bool reached;
};

static void relax(const struct model *m, struct unigram_node *to, uint32_t from, uint32_t id,
                  double score)
{
    if (m->set.sentencepiece) /* which adds in floats */
        score = (double)(float)score;
    if (to->reached && score <= to->score)
        return;
    *to = (struct unigram_node){score, from, id, true};
}

static int reserve(struct model_work *w, size_t n, struct error *err)
{
    if (n <= w->node_cap)
        return 0;
    struct unigram_node *p = realloc(w->node, n * sizeof p[0]);
    if (!p)
        return error_no_memory(err);
    w->node = p;
    w->node_cap = n;
    return 0;
}

/* Bytes of the character that begins with lead, at most left: llama.cpp's normalization may leave
 * part of one behind. */
static uint32_t char_bytes(uint8_t lead, size_t left)
{
    uint32_t n = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    return n < left ? n : (uint32_t)left;
}

static int forward(const struct model *m, struct unigram_node *node, struct str word,
                   struct error *err)
{
    const uint8_t *p = (const uint8_t *)word.p;
    for (size_t i = 0; i <= word.n; i++)
        node[i] = (struct unigram_node){0};
    for (size_t at = 0; at < word.n;) {
        uint32_t len = char_bytes(p[at], word.n - at), trie_node = TRIE_ROOT;
        double here = node[at].score;
        bool single = false;
        for (size_t end = at; end < word.n; end++) {
            trie_node = trie_step(&m->trie, trie_node, p[end]);
            if (!trie_node)
                break;
            uint32_t id = trie_value(&m->trie, trie_node);
            if (id == VOCAB_NONE)
                continue;
            relax(m, &node[end + 1], (uint32_t)at, id, m->score[id] + here);
            single = single || end + 1 - at == len;
        }
        if (!single) {
            if (m->set.unk == VOCAB_NONE)
                return error_set(
                    err, ERROR_INPUT,
                    "a character is not in the vocabulary, which has no unknown token");
            relax(m, &node[at + len], (uint32_t)at, m->set.unk, m->unk_score + here);
        }
        at += len;
    }
    return 0;
}

/* One piece of the path: its id, or (Hugging Face) what its text is, as fused unknowns may spell a
 * token after all. */
static void put_piece(const struct model *m, struct model_work *w, uint32_t known, struct str s)
{
    bool bytes = m->set.sentencepiece && known == m->set.unk && m->set.byte_fallback;
    if (m->set.ugm || (m->set.sentencepiece && !bytes)) {
        model_put(w, known, s.n);
        return;
    }
    uint32_t id = bytes ? VOCAB_NONE : pieces_find(m->pieces, s);
    if (id == VOCAB_NONE && m->set.byte_fallback && m->all_bytes) {
        for (size_t i = s.n; i-- > 0;)
            model_put(w, m->byte_token[(uint8_t)s.p[i]], 1);
        return;
    }
    model_put(w, id == VOCAB_NONE ? m->set.unk : id, s.n);
}

static void reverse(uint32_t *v, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        uint32_t swap = v[i];
        v[i] = v[n - 1 - i];
        v[n - 1 - i] = swap;
    }
}

int unigram_word(const struct model *m, struct model_work *w, struct str word, struct error *err)
{
    if (reserve(w, word.n + 1, err) < 0 || forward(m, w->node, word, err) < 0)
        return -1;
    size_t unknown_end = 0; /* where a run of unknown pieces ends; 0 when none is open */
    for (size_t end = word.n; end > 0;) {
        const struct unigram_node *node = &w->node[end];
        size_t from = node->from;
        if (m->set.fuse_unk && node->id == m->set.unk) {
            if (!unknown_end)
                unknown_end = end;
        } else {
            if (unknown_end)
                put_piece(m, w, m->set.unk, str_make(word.p + end, unknown_end - end));
            unknown_end = 0;
            put_piece(m, w, node->id, str_make(word.p + from, end - from));
        }
        end = from;
    }
    if (unknown_end)
        put_piece(m, w, m->set.unk, str_first(word, unknown_end));
    reverse(w->id, w->n);
    if (w->want_len)
        reverse(w->len, w->n);
    return 0;
}
