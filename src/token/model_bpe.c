/* Symbols of a word and their merging: byte-level and character BPE, and llama.cpp's SPM. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "token/model.h"
#include "token/unicode.h"

/* Symbols that no token stands for, and unknown ones that are waiting to be put. */
struct waiting {
    uint32_t n;
    size_t len;
};

static void flush(const struct model *m, struct model_work *w, struct waiting *unk)
{
    if (unk->n)
        model_put(w, m->set.unk, unk->len);
    *unk = (struct waiting){0};
}

static void put_unknown(const struct model *m, struct model_work *w, struct waiting *unk,
                        size_t len)
{
    if (m->set.unk == VOCAB_NONE) {
        /* Both references drop what they do not know: Hugging Face before it merges, llama.cpp
         * behind it, so that nothing merges across. */
        if (m->set.drop_late)
            model_put(w, VOCAB_IDS_MAX, len);
        return;
    }
    if (unk->n && !m->set.fuse_unk)
        flush(m, w, unk);
    unk->n++;
    unk->len += len;
}

/* An unknown character as its bytes: all or none, or those that there are. */
static bool put_bytes(const struct model *m, struct model_work *w, struct str s)
{
    if (!m->set.byte_fallback)
        return false;
    for (size_t i = 0; i < s.n && !m->set.single_bytes; i++)
        if (m->byte_token[(uint8_t)s.p[i]] == VOCAB_NONE)
            return false;
    for (size_t i = 0; i < s.n; i++) {
        uint32_t id = m->byte_token[(uint8_t)s.p[i]];
        if (id != VOCAB_NONE || m->set.drop_late)
            model_put(w, id != VOCAB_NONE ? id : VOCAB_IDS_MAX, 1);
    }
    return true;
}

/* Every byte has a symbol, and whole characters mostly have one too. */
static void split_whole(const struct model *m, struct model_work *w, struct str word)
{
    const uint8_t *p = (const uint8_t *)word.p;
    for (size_t i = 0; i < word.n;) {
        size_t n = p[i] < 0xC2 ? 1 : p[i] < 0xE0 ? 2 : p[i] < 0xF0 ? 3 : 4;
        uint32_t id = n == 1 || n == 4 ? VOCAB_NONE : bpe_char(&m->bpe, &w->bpe, word, i, n);
        if (id != VOCAB_NONE) {
            model_put(w, id, n);
        } else {
            for (size_t k = 0; k < n; k++)
                model_put(w, m->bpe.byte_id[p[i + k]], 1);
        }
        i += n;
    }
}

static void split_bytes(const struct model *m, struct model_work *w, struct str word)
{
    struct waiting unk = {0};
    if (m->bpe.all_bytes && !m->byte_last) {
        split_whole(m, w, word);
        return;
    }
    for (size_t i = 0; i < word.n; i++) {
        uint8_t byte = (uint8_t)word.p[i];
        uint32_t id = m->byte_last && i + 1 == word.n ? m->byte_last[byte] : m->bpe.byte_id[byte];
        if (id == VOCAB_NONE) {
            put_unknown(m, w, &unk, 1);
            continue;
        }
        flush(m, w, &unk);
        model_put(w, id, 1);
    }
    flush(m, w, &unk);
}

/* The id of a character, spelled with the prefix or suffix that its place asks for. */
static uint32_t find_char(const struct model *m, struct str s, uint32_t cp, bool first, bool last)
{
    char text[2 * 256 + 8];
    struct str prefix = first ? STR("") : m->set.prefix, suffix = last ? m->set.suffix : STR("");
    if (prefix.n == 0 && suffix.n == 0)
        return cp < MODEL_CHAR_TABLE ? m->char_id[cp] : pieces_find(m->pieces, s);
    memcpy(text, prefix.p, prefix.n);
    memcpy(text + prefix.n, s.p, s.n);
    memcpy(text + prefix.n + s.n, suffix.p, suffix.n);
    return pieces_find(m->pieces, str_make(text, prefix.n + s.n + suffix.n));
}

static void split_chars(const struct model *m, struct model_work *w, struct str word)
{
    struct waiting unk = {0};
    for (size_t at = 0; at < word.n;) {
        uint32_t cp, n = uni_next((const uint8_t *)word.p + at, &cp);
        struct str s = str_make(word.p + at, n);
        uint32_t id = find_char(m, s, cp, at == 0, at + n == word.n);
        at += n;
        if (id != VOCAB_NONE) {
            flush(m, w, &unk);
            model_put(w, id, n);
        } else if (!put_bytes(m, w, s)) {
            put_unknown(m, w, &unk, n);
        }
    }
    flush(m, w, &unk);
}

/* llama.cpp's symbols are characters whether they are tokens or not; those that are none become
 * bytes when all is merged. */
static void split_spm(const struct model *m, struct model_work *w, struct str word)
{
    for (size_t at = 0; at < word.n;) {
        uint32_t cp, n = uni_next((const uint8_t *)word.p + at, &cp);
        uint32_t id = cp < MODEL_CHAR_TABLE ? m->char_id[cp]
                                            : pieces_find(m->pieces, str_make(word.p + at, n));
        model_put(w, id == VOCAB_NONE ? VOCAB_IDS_MAX : id, n);
        at += n;
    }
}

/* SentencePiece makes one of unknown ones that stand side by side. */
static void fuse_unknown(const struct model *m, struct model_work *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++) {
        if (n && w->id[i] == m->set.unk && w->id[n - 1] == m->set.unk) {
            w->len[n - 1] += w->len[i];
            continue;
        }
        w->id[n] = w->id[i];
        w->len[n++] = w->len[i];
    }
    w->n = n;
}

static int spell_out(const struct model *m, struct model_work *w, struct str word,
                     struct error *err)
{
    size_t n = w->n, at = word.n, missing = 0;
    for (size_t i = 0; i < n; i++)
        missing += w->id[i] >= m->pieces->n;
    if (missing == 0)
        return 0;
    if (!m->all_bytes && m->set.unk == VOCAB_NONE)
        return error_set(err, ERROR_INPUT,
                         "a character is not in the vocabulary, which has "
                         "neither byte tokens nor an unknown token");
    /* From the back, so that what is read lies before what is written. Lengths are known. */
    size_t to = 0;
    for (size_t i = 0; i < n; i++)
        to += w->id[i] >= m->pieces->n && m->all_bytes ? w->len[i] : 1;
    w->n = to;
    while (n-- > 0) {
        uint32_t id = w->id[n], len = w->len[n];
        at -= len;
        if (id < m->pieces->n || !m->all_bytes) {
            w->len[--to] = len;
            w->id[to] = id < m->pieces->n ? id : m->set.unk;
            continue;
        }
        for (uint32_t k = len; k-- > 0;) {
            w->len[--to] = 1;
            w->id[to] = m->byte_token[(uint8_t)word.p[at + k]];
        }
    }
    if (m->set.fuse_unk && !m->all_bytes)
        fuse_unknown(m, w);
    return 0;
}

static bool all_newlines(struct str word)
{
    for (size_t i = 0; i < word.n; i++)
        if (word.p[i] != '\n')
            return false;
    return true;
}

/* The token that is the whole word, in the spelling of the vocabulary: a token spelled in other
 * characters than the alphabet of bytes is none, as in the references. */
static uint32_t find_whole(const struct model *m, struct model_work *w, struct str word)
{
    if (m->set.kind != MODEL_BPE_BYTES)
        return pieces_find(m->pieces, word);
    if (word.n > VOCAB_TOKEN_BYTES_MAX)
        return VOCAB_NONE;
    /* Room for it: model_word reserved as many lengths as the word has bytes. */
    uint8_t *spelled = (uint8_t *)(void *)w->len;
    size_t n = 0;
    for (size_t i = 0; i < word.n; i++) {
        uint16_t c = m->spelling[(uint8_t)word.p[i]];
        spelled[n++] = (uint8_t)c;
        if (c >> 8)
            spelled[n++] = (uint8_t)(c >> 8);
    }
    uint32_t id = vocab_find(m->vocab, str_make(spelled, n));
    return id == VOCAB_NONE || m->vocab->tokens[id].added_only ? VOCAB_NONE : id;
}

static void drop_unknown(const struct model *m, struct model_work *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++) {
        if (w->id[i] >= m->pieces->n)
            continue;
        w->id[n] = w->id[i];
        if (w->want_len)
            w->len[n] = w->len[i];
        n++;
    }
    w->n = n;
}

int bpe_word(const struct model *m, struct model_work *w, struct str word, struct error *err)
{
    bool want_len = w->want_len;
    if (m->set.ignore_merges || (m->set.whole_newlines && all_newlines(word))) {
        uint32_t id = find_whole(m, w, word);
        if (id != VOCAB_NONE) {
            model_put(w, id, word.n);
            return 0;
        }
    }
    if (m->set.kind == MODEL_BPE_BYTES) {
        split_bytes(m, w, word);
    } else if (m->set.kind == MODEL_BPE_CHARS) {
        split_chars(m, w, word);
    } else {
        w->want_len = true;
        split_spm(m, w, word);
    }
    size_t n = bpe_merge(&m->bpe, &w->bpe, w->id, w->want_len ? w->len : NULL, w->n);
    w->want_len = want_len;
    if (n == SIZE_MAX)
        return error_no_memory(err);
    w->n = n;
    if (m->set.drop_late)
        drop_unknown(m, w);
    return m->set.kind == MODEL_SPM ? spell_out(m, w, word, err) : 0;
}

struct scored {
    double score;
    uint32_t id;
};

static int by_score(const void *pa, const void *pb)
{
    const struct scored *a = pa, *b = pb;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Places of equal scores are equal: of those the leftmost goes first. */
static int order_by_score(struct model *m, const struct vocab *v, struct error *err)
{
    struct scored *all = malloc(((size_t)v->n + 1) * sizeof all[0]);
    m->bpe.order = malloc(((size_t)v->n + 1) * sizeof m->bpe.order[0]);
    if (!all || !m->bpe.order) {
        free(all);
        return error_no_memory(err);
    }
    for (uint32_t id = 0; id < v->n; id++)
        all[id] = (struct scored){v->tokens[id].score, id};
    qsort(all, v->n, sizeof all[0], by_score);
    uint32_t place = 0;
    for (uint32_t i = 0; i < v->n; i++) {
        if (i && all[i].score != all[i - 1].score)
            place++;
        m->bpe.order[all[i].id] = place;
    }
    free(all);
    return 0;
}

/* Whatever two neighbours spell together, if that is a token: all ways to cut every token. */
int bpe_build_spm(struct model *m, const struct vocab *v, struct error *err)
{
    uint64_t cuts = 0;
    m->char_id = malloc(MODEL_CHAR_TABLE * sizeof m->char_id[0]);
    if (!m->char_id)
        return error_no_memory(err);
    for (uint32_t cp = 0; cp < MODEL_CHAR_TABLE; cp++) {
        char text[4];
        size_t n = utf8_encode(text, cp);
        m->char_id[cp] = n ? pieces_find(m->pieces, str_make(text, n)) : VOCAB_NONE;
    }
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1 && cuts > VOCAB_MERGES_MAX)
            return error_set(err, ERROR_LIMIT, "the vocabulary has %llu merges; the limit is %u",
                             (unsigned long long)cuts, VOCAB_MERGES_MAX);
        if (pass == 1 && bpe_init(&m->bpe, (uint32_t)cuts, err) < 0)
            return -1;
        for (uint32_t id = 0; id < v->n; id++) {
            struct str text = v->tokens[id].text;
            for (size_t at = 1; at < text.n; at++) {
                if (((uint8_t)text.p[at] & 0xC0) == 0x80)
                    continue;
                uint32_t left = pieces_find(m->pieces, str_first(text, at));
                uint32_t right = pieces_find(m->pieces, str_skip(text, at));
                if (left == VOCAB_NONE || right == VOCAB_NONE)
                    continue;
                if (pass == 1)
                    (void)bpe_insert(&m->bpe, left, right, id);
                cuts++;
            }
        }
    }
    return order_by_score(m, v, err);
}
