/*
 * SentencePiece's models: a protocol buffer,
 * https://github.com/google/sentencepiece/blob/master/src/sentencepiece_model.proto. Only what
 * shapes ids is read; fields that are not known are passed over, as the format wants it.
 */
#include <string.h>

#include "base/utf8.h"
#include "vocab/vocab_internal.h"

#define PIECE_BYTES_MAX 7999u /* SentencePiece's own limit */

enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

/* A message under way: all offsets are from the file's start. */
struct message {
    struct str file;
    size_t at, end;
    struct error *err;
};

struct field {
    uint32_t number;
    enum wire wire;
    uint64_t value;  /* WIRE_VARINT, WIRE_32 */
    size_t from, to; /* WIRE_BYTES */
    size_t at;       /* where the field begins */
};

static int broken(struct message *m, size_t at, const char *why)
{
    error_set(m->err, ERROR_INPUT, "not a SentencePiece model: %s", why);
    return error_at_offset(m->err, (int64_t)at);
}

static int take_varint(struct message *m, uint64_t *out)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (m->at == m->end)
            return broken(m, m->at, "it ends inside a number");
        uint8_t byte = (uint8_t)m->file.p[m->at++];
        if (shift == 63 && byte > 1)
            break;
        v |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *out = v;
            return 0;
        }
    }
    return broken(m, m->at, "a number is longer than 64 bits");
}

/* 1: a field was read; 0: the message is at its end. */
static int next_field(struct message *m, struct field *f)
{
    uint64_t tag, n;
    if (m->at == m->end)
        return 0;
    *f = (struct field){.at = m->at};
    if (take_varint(m, &tag) < 0)
        return -1;
    f->wire = (enum wire)(tag & 7);
    if (tag >> 3 == 0 || tag >> 3 > (1u << 29))
        return broken(m, f->at, "a field has no number that may be");
    f->number = (uint32_t)(tag >> 3);
    switch (f->wire) {
    case WIRE_VARINT:
        return take_varint(m, &f->value) < 0 ? -1 : 1;
    case WIRE_BYTES:
        if (take_varint(m, &n) < 0)
            return -1;
        if (n > m->end - m->at) {
            error_set(m->err, ERROR_INPUT,
                      "not a SentencePiece model: a field claims %llu bytes; %zu are left",
                      (unsigned long long)n, m->end - m->at);
            return error_at_offset(m->err, (int64_t)f->at);
        }
        f->from = m->at;
        m->at = f->to = m->at + (size_t)n;
        return 1;
    case WIRE_32:
    case WIRE_64:
        n = f->wire == WIRE_32 ? 4 : 8;
        if (n > m->end - m->at)
            return broken(m, f->at, "it ends inside a number");
        for (uint64_t i = 0; i < n; i++)
            f->value |= (uint64_t)(uint8_t)m->file.p[m->at + i] << (8 * i);
        m->at += (size_t)n;
        return 1;
    }
    return broken(m, f->at, "a field of a kind that is not known");
}

static struct message inside(const struct message *m, const struct field *f)
{
    return (struct message){m->file, f->from, f->to, m->err};
}

static struct str bytes_of(const struct message *m, const struct field *f)
{
    return str_make(m->file.p + f->from, f->to - f->from);
}

/* SentencePiece { piece = 1, score = 2, type = 3 } */
static int read_piece(struct vocab *v, struct message *outer, const struct field *whole)
{
    struct message m = inside(outer, whole);
    struct field f;
    struct str text = {0};
    uint64_t type = VOCAB_TYPE_NORMAL;
    float score = 0;
    int got;
    while ((got = next_field(&m, &f)) > 0) {
        if (f.number == 1 && f.wire == WIRE_BYTES)
            text = bytes_of(&m, &f);
        uint32_t raw = (uint32_t)f.value;
        if (f.number == 2 && f.wire == WIRE_32)
            memcpy(&score, &raw, sizeof score);
        if (f.number == 3 && f.wire == WIRE_VARINT)
            type = f.value;
    }
    if (got < 0)
        return -1;
    if (text.n == 0 || text.n > PIECE_BYTES_MAX || memchr(text.p, '\0', text.n))
        return broken(outer, whole->at, "a piece is empty, longer than 7,999 bytes, or holds NUL");
    if (!utf8_valid(text))
        return broken(outer, whole->at, "a piece is not UTF-8");
    if (type < VOCAB_TYPE_NORMAL || type > VOCAB_TYPE_BYTE)
        return broken(outer, whole->at, "a piece is of a type that is not known");
    uint32_t id = v->n;
    if (vocab_tokens_reserve(v, (uint64_t)id + 1, outer->err) < 0 ||
        vocab_set_text(v, id, text, outer->err) < 0)
        return error_at_offset(outer->err, (int64_t)whole->at);
    v->tokens[id].score = (double)score;
    v->tokens[id].type = (uint8_t)type;
    return 0;
}

struct setting {
    uint32_t number;
    bool *flag;
};

static int read_settings(struct message *outer, const struct field *whole,
                         const struct setting *settings, size_t n, uint64_t *third,
                         struct str *second)
{
    struct message m = inside(outer, whole);
    struct field f;
    int got;
    while ((got = next_field(&m, &f)) > 0) {
        if (f.number == 3 && f.wire == WIRE_VARINT && third)
            *third = f.value;
        if (f.number == 2 && f.wire == WIRE_BYTES && second)
            *second = bytes_of(&m, &f);
        for (size_t i = 0; i < n; i++)
            if (f.number == settings[i].number && f.wire == WIRE_VARINT)
                *settings[i].flag = f.value != 0;
    }
    return got;
}

/* TrainerSpec: model_type = 3, treat_whitespace_as_suffix = 24, byte_fallback = 35 */
static int read_trainer(struct vocab *v, struct message *m, const struct field *f, uint64_t *kind)
{
    const struct setting settings[] = {{24, &v->spm.suffix}, {35, &v->spm.byte_fallback}};
    return read_settings(m, f, settings, 2, kind, NULL);
}

/* NormalizerSpec: precompiled_charsmap = 2, add_dummy_prefix = 3, remove_extra_whitespaces = 4,
 * escape_whitespaces = 5 */
static int read_normalizer(struct vocab *v, struct message *m, const struct field *f)
{
    const struct setting settings[] = {
        {3, &v->spm.dummy_prefix}, {4, &v->spm.remove_extra}, {5, &v->spm.escape}};
    struct str charsmap = {0};
    if (read_settings(m, f, settings, 3, NULL, &charsmap) < 0)
        return -1;
    if (charsmap.n == 0)
        return 0;
    v->spm.charsmap = arena_str(&v->arena, charsmap);
    return arena_check(&v->arena, "vocabulary", m->err);
}

static int settle_kind(struct vocab *v, uint64_t kind, struct error *err)
{
    static const char *const names[] = {"", "unigram", "bpe", "word", "char"};
    if (kind == 1 || kind == 2) {
        v->model = kind == 1 ? VOCAB_UNIGRAM : VOCAB_SPM;
        return 0;
    }
    if (kind < sizeof names / sizeof names[0])
        return error_set(err, ERROR_UNSUPPORTED, "a SentencePiece model of the kind \"%s\"",
                         names[kind]);
    return error_set(err, ERROR_INPUT, "a SentencePiece model of an unknown kind (%llu)",
                     (unsigned long long)kind);
}

/* One unknown piece; with byte fallback all 256 bytes; user-defined ones are listed. */
static int settle_types(struct vocab *v, struct error *err)
{
    uint32_t bytes = 0, user = 0;
    for (uint32_t id = 0; id < v->n; id++) {
        struct vocab_token *t = &v->tokens[id];
        if (t->type == VOCAB_TYPE_UNKNOWN && v->unk != VOCAB_NONE)
            return error_set(err, ERROR_INPUT, "the pieces %u and %u are both the unknown one",
                             v->unk, id);
        if (t->type == VOCAB_TYPE_UNKNOWN)
            v->unk = id;
        bytes += t->type == VOCAB_TYPE_BYTE;
        user += t->type == VOCAB_TYPE_USER_DEFINED;
        t->added_only = t->type == VOCAB_TYPE_UNKNOWN || t->type == VOCAB_TYPE_CONTROL ||
                        t->type == VOCAB_TYPE_BYTE;
    }
    if (v->unk == VOCAB_NONE)
        return error_set(err, ERROR_INPUT, "the SentencePiece model has no unknown piece");
    if (v->spm.byte_fallback ? bytes != 256 : bytes != 0)
        return error_set(err, ERROR_INPUT, "%u pieces are bytes; with%s byte fallback there are %u",
                         bytes, v->spm.byte_fallback ? "" : "out",
                         v->spm.byte_fallback ? 256u : 0u);
    if (user > VOCAB_ADDED_MAX)
        return error_set(err, ERROR_LIMIT, "%u user-defined pieces; the limit is %u", user,
                         VOCAB_ADDED_MAX);
    /* In a Unigram model they are pieces like others, with a score that wins. */
    if (v->model == VOCAB_UNIGRAM || user == 0)
        return 0;
    v->added = arena_array(&v->arena, user, sizeof v->added[0]);
    if (!v->added)
        return arena_check(&v->arena, "user-defined pieces", err);
    for (uint32_t id = 0; id < v->n; id++)
        if (v->tokens[id].type == VOCAB_TYPE_USER_DEFINED) {
            v->added[v->added_n] =
                (struct vocab_added){.text = v->tokens[id].text, .id = id, .normalized = true};
            v->tokens[id].added = ++v->added_n;
        }
    return 0;
}

int vocab_read_spm(struct vocab *v, struct str bytes, struct error *err)
{
    struct message m = {bytes, 0, bytes.n, err};
    struct field f;
    uint64_t kind = 1;
    int got;
    v->read = bytes.n;
    v->spm.dummy_prefix = v->spm.remove_extra = v->spm.escape = true;
    while ((got = next_field(&m, &f)) > 0) {
        if (f.wire != WIRE_BYTES || f.number > 3)
            continue;
        if ((f.number == 1   ? read_piece(v, &m, &f)
             : f.number == 2 ? read_trainer(v, &m, &f, &kind)
                             : read_normalizer(v, &m, &f)) < 0)
            return -1;
    }
    if (got < 0 || settle_kind(v, kind, err) < 0)
        return -1;
    if (v->n == 0)
        return broken(&m, 0, "it holds no pieces");
    if (vocab_index_build(v, true, 0, err) < 0)
        return -1;
    return settle_types(v, err);
}

bool vocab_looks_spm(struct str bytes)
{
    struct error ignored = {0};
    struct message m = {bytes, 0, bytes.n, &ignored};
    struct field f;
    return next_field(&m, &f) > 0 && f.number == 1 && f.wire == WIRE_BYTES && f.to > f.from &&
           bytes.p[f.from] == 0x0A;
}
