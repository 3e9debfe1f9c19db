/* Ids -> text, as the references do it. */
#include <string.h>

#include "base/utf8.h"
#include "token/tokenizer_internal.h"

/* <0x41>: the byte, or -1. */
static int byte_token(struct str text)
{
    uint8_t byte;
    if (text.n != 6 || !str_starts(text, STR("<0x")) || text.p[5] != '>' ||
        hex_decode(&byte, 1, str_make(text.p + 3, 2)) < 0)
        return -1;
    return byte;
}

static bool is_special(const struct tokenizer *t, uint32_t id)
{
    uint32_t added = t->vocab->tokens[id].added;
    return added && t->vocab->added[added - 1].special;
}

void decode_piece(const struct tokenizer *t, uint32_t id, struct buf *out)
{
    struct str bytes = pieces_of(&t->pieces, id);
    const struct str mark = STR("\xE2\x96\x81");
    bool raw = t->vocab->tokens[id].added != 0;
    if (t->model.set.kind == MODEL_BPE_BYTES || raw) {
        buf_addstr(out, bytes);
        return;
    }
    int byte = byte_token(bytes);
    if (byte >= 0) {
        buf_addc(out, (char)byte);
        return;
    }
    for (size_t at; (at = str_find(bytes, mark)) != STR_NONE; bytes = str_skip(bytes, at + 3)) {
        buf_addstr(out, str_first(bytes, at));
        buf_addc(out, ' ');
    }
    buf_addstr(out, bytes);
}

/* The tokens under way: texts one after the other, and where each ends. */
struct chain {
    struct buf text, ends;
};

static size_t chain_n(const struct chain *c)
{
    return c->ends.n / sizeof(size_t);
}

static struct str chain_at(const struct chain *c, size_t i)
{
    const size_t *end = (const size_t *)(const void *)c->ends.p;
    size_t from = i ? end[i - 1] : 0;
    return str_make(c->text.p ? c->text.p + from : "", end[i] - from);
}

static void chain_end(struct chain *c)
{
    size_t n = c->text.n;
    buf_add(&c->ends, &n, sizeof n);
}

static void chain_init(struct chain *c)
{
    buf_init(&c->text, SIZE_MAX / 2);
    buf_init(&c->ends, SIZE_MAX / 2);
}

static void chain_release(struct chain *c)
{
    buf_release(&c->text);
    buf_release(&c->ends);
}

static void replace_all(struct buf *out, struct str text, struct str what, struct str with)
{
    size_t at;
    while (what.n && (at = str_find(text, what)) != STR_NONE) {
        buf_addstr(out, str_first(text, at));
        buf_addstr(out, with);
        text = str_skip(text, at + what.n);
    }
    buf_addstr(out, text);
}

static int replace_regex(struct buf *out, struct str text, const struct decode_step *s,
                         struct error *err)
{
    struct regex_match m;
    size_t kept = 0;
    int got;
    while ((got = regex_next(s->regex, text, kept, &m, err)) > 0 && m.to > m.from) {
        buf_add(out, text.p + kept, m.from - kept);
        buf_addstr(out, s->with);
        kept = m.to;
    }
    buf_addstr(out, str_skip(text, kept));
    return got < 0 ? -1 : 0;
}

static struct str strip(struct str text, const struct decode_step *s)
{
    for (size_t i = 0; i < s->start && s->text.n && str_starts(text, s->text); i++)
        text = str_skip(text, s->text.n);
    for (size_t i = 0; i < s->stop && s->text.n && str_ends(text, s->text); i++)
        text = str_first(text, text.n - s->text.n);
    return text;
}

/* Runs of byte tokens become their text, or one U+FFFD a byte when they are none. */
static void flush_bytes(struct chain *out, struct buf *bytes)
{
    if (bytes->n == 0)
        return;
    if (utf8_valid(buf_str(bytes))) {
        buf_addstr(&out->text, buf_str(bytes));
        chain_end(out);
    } else {
        for (size_t i = 0; i < bytes->n; i++) {
            utf8_add(&out->text, 0xFFFD);
            chain_end(out);
        }
    }
    buf_reset(bytes);
}

static void byte_fallback(struct chain *out, const struct chain *in)
{
    struct buf bytes = BUF_INIT(SIZE_MAX / 2);
    for (size_t i = 0; i < chain_n(in); i++) {
        struct str text = chain_at(in, i);
        int byte = byte_token(text);
        if (byte >= 0) {
            buf_addc(&bytes, (char)byte);
            continue;
        }
        flush_bytes(out, &bytes);
        buf_addstr(&out->text, text);
        chain_end(out);
    }
    flush_bytes(out, &bytes);
    buf_release(&bytes);
}

/* WordPiece's clean-up of spaces before punctuation, token by token. */
static void clean_up(struct buf *out, struct str text)
{
    static const char *const pairs[][2] = {{" .", "."},     {" ?", "?"},           {" !", "!"},
                                           {" ,", ","},     {" ' ", "'"},          {" n't", "n't"},
                                           {" 'm", "'m"},   {" do not", " don't"}, {" 's", "'s"},
                                           {" 've", "'ve"}, {" 're", "'re"}};
    struct buf two[2] = {BUF_INIT(SIZE_MAX / 2), BUF_INIT(SIZE_MAX / 2)};
    unsigned turn = 0;
    buf_addstr(&two[0], text);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        buf_reset(&two[turn ^ 1]);
        replace_all(&two[turn ^ 1], buf_str(&two[turn]), str_of(pairs[i][0]), str_of(pairs[i][1]));
        turn ^= 1;
    }
    buf_addstr(out, buf_str(&two[turn]));
    buf_release(&two[0]);
    buf_release(&two[1]);
}

static void wordpiece(struct chain *out, struct str text, size_t i, const struct decode_step *s)
{
    struct buf word = BUF_INIT(SIZE_MAX / 2);
    if (i && str_starts(text, s->text)) {
        buf_addstr(&word, str_skip(text, s->text.n));
    } else {
        if (i)
            buf_addc(&word, ' ');
        buf_addstr(&word, text);
    }
    if (s->flag)
        clean_up(&out->text, buf_str(&word));
    else
        buf_addstr(&out->text, buf_str(&word));
    buf_release(&word);
}

/* Byte-level: all bytes together, then made UTF-8. */
static void byte_level(struct chain *out, const struct chain *in)
{
    utf8_add_lossy(&out->text, buf_str(&in->text));
    chain_end(out);
}

static int one_token(struct chain *out, const struct chain *in, size_t i,
                     const struct decode_step *s, struct error *err)
{
    struct str text = chain_at(in, i);
    switch (s->op) {
    case DECODE_REPLACE:
        if (s->regex)
            return replace_regex(&out->text, text, s, err);
        replace_all(&out->text, text, s->text, s->with);
        return 0;
    case DECODE_STRIP:
        buf_addstr(&out->text, strip(text, s));
        return 0;
    case DECODE_METASPACE:
        if (i == 0 && s->flag && str_starts(text, s->text))
            text = str_skip(text, s->text.n);
        replace_all(&out->text, text, s->text, STR(" "));
        return 0;
    case DECODE_BPE:
        replace_all(&out->text, text, s->text, i + 1 == chain_n(in) ? STR("") : STR(" "));
        return 0;
    default:
        wordpiece(out, text, i, s);
        return 0;
    }
}

/* A token that follows itself counts once; pads vanish, and tokens with nothing left. */
static void ctc(struct chain *out, const struct chain *in, const struct decode_step *s)
{
    struct buf two[2] = {BUF_INIT(SIZE_MAX / 2), BUF_INIT(SIZE_MAX / 2)};
    for (size_t i = 0; i < chain_n(in); i++) {
        if (i && str_eq(chain_at(in, i), chain_at(in, i - 1)))
            continue;
        buf_reset(&two[0]);
        buf_reset(&two[1]);
        replace_all(&two[0], chain_at(in, i), s->text, STR(""));
        if (s->flag) {
            clean_up(&two[1], buf_str(&two[0]));
            buf_reset(&two[0]);
            replace_all(&two[0], buf_str(&two[1]), s->with, STR(" "));
        }
        if (two[0].n == 0)
            continue;
        buf_addstr(&out->text, buf_str(&two[0]));
        chain_end(out);
    }
    buf_release(&two[0]);
    buf_release(&two[1]);
}

static int apply(struct chain *out, const struct chain *in, const struct decode_step *s,
                 struct error *err)
{
    switch (s->op) {
    case DECODE_BYTE_LEVEL:
        byte_level(out, in);
        return 0;
    case DECODE_BYTE_FALLBACK:
        byte_fallback(out, in);
        return 0;
    case DECODE_CTC:
        ctc(out, in, s);
        return 0;
    case DECODE_FUSE:
        buf_addstr(&out->text, buf_str(&in->text));
        chain_end(out);
        return 0;
    default:
        for (size_t i = 0; i < chain_n(in); i++) {
            if (one_token(out, in, i, s, err) < 0)
                return -1;
            chain_end(out);
        }
        return 0;
    }
}

/* The tokens' texts. Before ByteLevel they are bytes already. */
static int gather(const struct tokenizer *t, struct chain *c, const uint32_t *id, size_t n,
                  bool skip_special, struct error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (id[i] >= t->vocab->n || !t->vocab->tokens[id[i]].text.p)
            return error_set(err, ERROR_INPUT, "there is no token %u", id[i]);
        if (skip_special && is_special(t, id[i]))
            continue;
        if (t->pipe.llama_cpp)
            decode_piece(t, id[i], &c->text);
        else if (t->pipe.decode_n && t->pipe.decode[0].op == DECODE_BYTE_LEVEL)
            buf_addstr(&c->text, pieces_of(&t->pieces, id[i]));
        else
            buf_addstr(&c->text, t->vocab->tokens[id[i]].text);
        chain_end(c);
    }
    if (buf_check(&c->text, "decoded text", err) < 0)
        return -1;
    return buf_check(&c->ends, "decoded text", err);
}

int tokenizer_decode(const struct tokenizer *t, const uint32_t *id, size_t n, bool skip_special,
                     struct buf *out, struct error *err)
{
    struct chain two[2];
    unsigned turn = 0;
    chain_init(&two[0]);
    chain_init(&two[1]);
    int status = gather(t, &two[0], id, n, skip_special, err);
    for (unsigned i = 0; status == 0 && i < t->pipe.decode_n; i++) {
        struct chain *to = &two[turn ^ 1];
        buf_reset(&to->text);
        buf_reset(&to->ends);
        status = apply(to, &two[turn], &t->pipe.decode[i], err);
        turn ^= 1;
    }
    if (status == 0)
        status = buf_check(&two[turn].text, "decoded text", err);
    for (size_t i = 0; status == 0 && i < chain_n(&two[turn]); i++) {
        if (i && t->pipe.decode_plain)
            buf_addc(out, ' ');
        buf_addstr(out, chain_at(&two[turn], i));
    }
    chain_release(&two[0]);
    chain_release(&two[1]);
    return status < 0 ? -1 : buf_check(out, "decoded text", err);
}
