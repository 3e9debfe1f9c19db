#include "token/model.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

int model_reserve(struct model_work *w, size_t n, struct error *err)
{
    if (n <= w->cap)
        return 0;
    size_t cap = n + n / 2;
    uint32_t *id = realloc(w->id, cap * sizeof id[0]);
    if (id)
        w->id = id;
    uint32_t *len = realloc(w->len, cap * sizeof len[0]);
    if (len)
        w->len = len;
    if (!id || !len)
        return error_no_memory(err);
    w->cap = cap;
    return 0;
}

void model_work_release(struct model_work *w)
{
    free(w->id);
    free(w->len);
    free(w->node);
    bpe_work_release(&w->bpe);
    *w = (struct model_work){0};
}

void model_release(struct model *m)
{
    if (!m)
        return;
    bpe_release(&m->bpe);
    trie_release(&m->trie);
    free(m->byte_last);
    free(m->char_id);
    free(m->score);
    free(m->joined);
    free(m->joined_bytes);
    *m = (struct model){0};
}

static bool in_model(const struct vocab *v, uint32_t id)
{
    return v->tokens[id].text.p && !v->tokens[id].added_only;
}

static void find_byte_tokens(struct model *m, const struct vocab *v)
{
    m->all_bytes = true;
    for (unsigned byte = 0; byte < 256; byte++) {
        char text[8];
        int n = snprintf(text, sizeof text, "<0x%02X>", byte);
        m->byte_token[byte] = m->set.sentencepiece
                                  ? vocab_find(v, str_make(text, (size_t)n))
                                  : pieces_find(m->pieces, str_make(text, (size_t)n));
        m->all_bytes = m->all_bytes && m->byte_token[byte] != VOCAB_NONE;
    }
}

static void spell_bytes(struct model *m)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        char text[4] = {0};
        utf8_encode(text, byte_level_char((uint8_t)byte));
        m->spelling[byte] = (uint16_t)((uint8_t)text[0] | (uint8_t)text[1] << 8);
    }
}

/* Ids of single bytes with the suffix behind them. */
static int build_suffix(struct model *m, const struct vocab *v, struct error *err)
{
    m->byte_last = malloc(256 * sizeof m->byte_last[0]);
    if (!m->byte_last)
        return error_no_memory(err);
    for (unsigned byte = 0; byte < 256; byte++) {
        struct buf text = BUF_INIT(VOCAB_TOKEN_BYTES_MAX + 4);
        utf8_add(&text, byte_level_char((uint8_t)byte));
        buf_addstr(&text, m->set.suffix);
        m->byte_last[byte] = vocab_find(v, buf_str(&text));
        buf_release(&text);
    }
    return 0;
}

/* llama.cpp's Unigram and SentencePiece's know tokens by their type; the others are never found in
 * a text. */
static bool in_trie(const struct model *m, const struct vocab *v, uint32_t id)
{
    uint8_t type = v->tokens[id].type;
    if (m->set.sentencepiece)
        return type == VOCAB_TYPE_NORMAL || type == VOCAB_TYPE_USER_DEFINED;
    if (!m->set.ugm)
        return in_model(v, id);
    return type == VOCAB_TYPE_NORMAL || type == VOCAB_TYPE_USER_DEFINED ||
           type == VOCAB_TYPE_UNUSED;
}

static int build_trie(struct model *m, const struct vocab *v, struct error *err)
{
    if (trie_init(&m->trie, err) < 0)
        return -1;
    for (uint32_t id = 0; id < v->n; id++)
        if (in_trie(m, v, id) && trie_insert(&m->trie, v->tokens[id].text, id, err) < 0)
            return -1;
    m->continuing = TRIE_ROOT;
    for (size_t i = 0; i < m->set.prefix.n && m->continuing; i++)
        m->continuing = trie_step(&m->trie, m->continuing, (uint8_t)m->set.prefix.p[i]);
    return 0;
}

static int build_scores(struct model *m, const struct vocab *v, struct error *err)
{
    double least = 0;
    bool first = true;
    m->score = malloc(((size_t)v->n + 1) * sizeof m->score[0]);
    if (!m->score)
        return error_no_memory(err);
    for (uint32_t id = 0; id < v->n; id++) {
        bool normal = v->tokens[id].type == VOCAB_TYPE_NORMAL;
        bool counts = m->set.ugm || m->set.sentencepiece ? normal : in_model(v, id);
        m->score[id] = v->tokens[id].score;
        if (m->set.ugm && v->tokens[id].type == VOCAB_TYPE_USER_DEFINED)
            m->score[id] = 0;
        if (counts && (first || m->score[id] < least)) {
            least = m->score[id];
            first = false;
        }
    }
    /* A user-defined piece wins: by its length (found by asking SentencePiece 0.2.3). */
    for (uint32_t id = 0; id < v->n && m->set.sentencepiece; id++)
        if (v->tokens[id].type == VOCAB_TYPE_USER_DEFINED)
            m->score[id] = (double)((float)v->tokens[id].text.n * 0.1f) - 0.1;
    /* SentencePiece's penalty; both compute it in floats. */
    m->unk_score = m->set.ugm || m->set.sentencepiece
                       ? (double)((float)(first ? FLT_MAX : least) - 10.0f)
                       : least - 10.0;
    return 0;
}

/* Ids of characters, by code point, for the symbols of a character BPE. */
static int build_chars(struct model *m, struct error *err)
{
    m->char_id = malloc(MODEL_CHAR_TABLE * sizeof m->char_id[0]);
    if (!m->char_id)
        return error_no_memory(err);
    for (uint32_t cp = 0; cp < MODEL_CHAR_TABLE; cp++) {
        char text[4];
        size_t n = utf8_encode(text, cp);
        m->char_id[cp] = n ? pieces_find(m->pieces, str_make(text, n)) : VOCAB_NONE;
    }
    return 0;
}

/* tiktoken: of all pairs the one that makes the lowest rank, and of those the leftmost. */
static int order_by_result(struct model *m, const struct vocab *v, struct error *err)
{
    m->bpe.order = malloc(((size_t)v->merge_n + 1) * sizeof m->bpe.order[0]);
    if (!m->bpe.order)
        return error_no_memory(err);
    for (uint32_t i = 0; i < v->merge_n; i++)
        m->bpe.order[i] = v->merges[i].result;
    return 0;
}

static int build_kind(struct model *m, const struct vocab *v, struct error *err)
{
    switch (m->set.kind) {
    case MODEL_BPE_BYTES:
        if (bpe_build(&m->bpe, v, err) < 0 || bpe_build_torn(&m->bpe, v, m->pieces, err) < 0)
            return -1;
        bpe_build_bytes(&m->bpe, v);
        if (m->set.by_result && order_by_result(m, v, err) < 0)
            return -1;
        if (m->set.suffix.n && build_suffix(m, v, err) < 0)
            return -1;
        return model_build_joined_bytes(m, v, err);
    case MODEL_BPE_CHARS:
        if (bpe_build(&m->bpe, v, err) < 0 || build_chars(m, err) < 0)
            return -1;
        return model_build_joined(m, v, err);
    case MODEL_SPM:
        return bpe_build_spm(m, v, err) < 0 ? -1 : model_build_joined(m, v, err);
    case MODEL_UNIGRAM:
        return build_trie(m, v, err) < 0 ? -1 : build_scores(m, v, err);
    case MODEL_WORDPIECE:
    case MODEL_WPM:
        return build_trie(m, v, err);
    case MODEL_WORDLEVEL:
        return 0;
    }
    return 0;
}

int model_build(struct model *m, const struct vocab *v, struct pieces *pieces,
                const struct model_settings *settings, struct error *err)
{
    *m = (struct model){.set = *settings, .pieces = pieces, .vocab = v};
    if (settings->kind == MODEL_BPE_BYTES) {
        spell_bytes(m);
    } else {
        if (pieces_index(pieces, v, err) < 0)
            return -1;
        find_byte_tokens(m, v);
    }
    return build_kind(m, v, err);
}

static int put_unknown(const struct model *m, struct model_work *w, size_t len, struct error *err)
{
    if (m->set.unk == VOCAB_NONE)
        return error_set(err, ERROR_INPUT,
                         "a word is not in the vocabulary, which has no unknown token");
    model_put(w, m->set.unk, len);
    return 0;
}

static int wordlevel_word(const struct model *m, struct model_work *w, struct str word,
                          struct error *err)
{
    uint32_t id = pieces_find(m->pieces, word);
    if (id == VOCAB_NONE)
        return put_unknown(m, w, word.n, err);
    model_put(w, id, word.n);
    return 0;
}

static int wordpiece_word(const struct model *m, struct model_work *w, struct str word,
                          struct error *err)
{
    if (utf8_count(word) > m->set.max_chars)
        return put_unknown(m, w, word.n, err);
    for (size_t at = 0; at < word.n;) {
        uint32_t id = VOCAB_NONE, from = at ? m->continuing : TRIE_ROOT;
        size_t n = from ? trie_longest(&m->trie, from, str_skip(word, at), &id) : 0;
        /* A match ends between characters: the texts of the vocabulary are whole ones. */
        if (n == 0) {
            w->n = 0;
            return put_unknown(m, w, word.n, err);
        }
        model_put(w, id, n);
        at += n;
    }
    return 0;
}

/* llama.cpp: U+2581 in front, longest matches, all or nothing. Not bound to characters: what does
 * not match moves on by a byte there too, but then nothing of the word is kept. */
static int wpm_word(const struct model *m, struct model_work *w, struct str word, struct error *err)
{
    struct str mark = STR("\xE2\x96\x81");
    uint32_t from = TRIE_ROOT;
    for (size_t i = 0; i < mark.n && from; i++)
        from = trie_step(&m->trie, from, (uint8_t)mark.p[i]);
    for (size_t at = 0; at < word.n || at == 0;) {
        uint32_t id = VOCAB_NONE;
        size_t n = from ? trie_longest(&m->trie, from, str_skip(word, at), &id) : 0;
        if (n == 0 && at == 0 && from && trie_value(&m->trie, from) != VOCAB_NONE) {
            model_put(w, trie_value(&m->trie, from), 0); /* the mark alone */
            from = TRIE_ROOT;
            n = trie_longest(&m->trie, from, word, &id);
        }
        if (n == 0) {
            w->n = 0;
            return put_unknown(m, w, word.n, err);
        }
        model_put(w, id, n);
        at += n;
        from = TRIE_ROOT;
    }
    return 0;
}

int model_word(const struct model *m, struct model_work *w, struct str word, struct error *err)
{
    w->n = 0;
    if (model_reserve(w, word.n + 2, err) < 0)
        return -1;
    switch (m->set.kind) {
    case MODEL_BPE_BYTES:
    case MODEL_BPE_CHARS:
    case MODEL_SPM:
        return bpe_word(m, w, word, err);
    case MODEL_UNIGRAM:
        return unigram_word(m, w, word, err);
    case MODEL_WORDPIECE:
        return wordpiece_word(m, w, word, err);
    case MODEL_WORDLEVEL:
        return wordlevel_word(m, w, word, err);
    case MODEL_WPM:
        return wpm_word(m, w, word, err);
    }
    return 0;
}
