/*
 * Words are cut and remembered without a difference: against the same text with offsets, for which
 * neither is done. The vocabularies are trained here, on a random text, by random merges: so they
 * have tokens that hold parts of characters and reach from one into the next.
 */
#include "support.h"

#include <string.h>

#include "token/pieces.h"

#define MERGES 60u
#define TRAINING 4000u
#define TEXT_MAX 3000u

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static const char *const chars[] = {
    "\xE6\x97\xA5", "\xE6\x9C\xAC",     "\xE6\x97\xA6", "\xC3\xA9", "\xC3\xA5",
    "\xD0\xB1",     "\xF0\x9F\x98\x80", "\xE0\xA4\x95", "a",        "b"};

static void random_text(struct buf *b, size_t n, uint32_t *random)
{
    buf_reset(b);
    while (b->n < n)
        buf_adds(b, chars[next_random(random) % (sizeof chars / sizeof chars[0])]);
}

struct training {
    struct buf text;
    uint32_t symbol[TRAINING + 4]; /* what the text is made of so far */
    size_t n;
    struct str token[256 + MERGES]; /* in texts, or one byte of bytes */
    uint8_t bytes[256];
    struct buf texts, vocab, merges;
    uint32_t tokens;
};

static void spell(struct buf *json, struct str bytes)
{
    for (size_t i = 0; i < bytes.n; i++)
        buf_addf(json, "\\u%04x", byte_level_char((uint8_t)bytes.p[i]));
}

static uint32_t add_token(struct training *t, struct str a, struct str b)
{
    uint32_t id = t->tokens++;
    buf_addf(&t->vocab, "%s\"", id ? "," : "");
    spell(&t->vocab, a);
    spell(&t->vocab, b);
    buf_addf(&t->vocab, "\":%u", id);
    char *p = buf_reserve(&t->texts, a.n + b.n);
    assert_non_null(p);
    memcpy(p, a.p, a.n);
    if (b.n)
        memcpy(p + a.n, b.p, b.n);
    t->texts.n += a.n + b.n;
    t->token[id] = str_make(p, a.n + b.n);
    return id;
}

static bool has(const struct training *t, struct str a, struct str b)
{
    for (uint32_t id = 0; id < t->tokens; id++)
        if (t->token[id].n == a.n + b.n && str_starts(t->token[id], a) && str_ends(t->token[id], b))
            return true;
    return false;
}

/* Merges a pair that stands somewhere in the text, wherever it stands; false when its token is
 * there already. */
static bool merge_some(struct training *t, uint32_t *random)
{
    size_t at = next_random(random) % (t->n - 1), made = 0;
    uint32_t left = t->symbol[at], right = t->symbol[at + 1];
    if (t->token[left].n + t->token[right].n > 12 || has(t, t->token[left], t->token[right]))
        return false;
    uint32_t id = add_token(t, t->token[left], t->token[right]);
    buf_addf(&t->merges, "%s[\"", t->merges.n ? "," : "");
    spell(&t->merges, t->token[left]);
    buf_adds(&t->merges, "\",\"");
    spell(&t->merges, t->token[right]);
    buf_adds(&t->merges, "\"]");
    for (size_t i = 0; i < t->n; i++)
        if (i + 1 < t->n && t->symbol[i] == left && t->symbol[i + 1] == right) {
            t->symbol[made++] = id;
            i++;
        } else {
            t->symbol[made++] = t->symbol[i];
        }
    t->n = made;
    return true;
}

static struct tokenizer *train(uint32_t *random, bool ignore_merges)
{
    static struct training t;
    struct tokenizer *made = NULL;
    struct error err = {0};
    t = (struct training){.text = BUF_INIT(1 << 16), .texts = BUF_INIT(1 << 16)};
    t.vocab = (struct buf)BUF_INIT(1 << 20);
    t.merges = (struct buf)BUF_INIT(1 << 20);
    assert_non_null(buf_reserve(&t.texts, 1 << 15)); /* once, so that texts in it do not move */
    for (unsigned byte = 0; byte < 256; byte++) {
        t.bytes[byte] = (uint8_t)byte;
        add_token(&t, str_make(&t.bytes[byte], 1), STR(""));
    }
    random_text(&t.text, TRAINING, random);
    for (; t.n < t.text.n; t.n++)
        t.symbol[t.n] = (uint8_t)t.text.p[t.n];
    for (unsigned tries = 0; tries < 4000 && t.tokens < 256 + MERGES; tries++)
        merge_some(&t, random);
    struct buf json = BUF_INIT(1 << 20);
    buf_addf(
        &json,
        "{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":"
        "true},\"model\":{\"type\":\"BPE\",\"ignore_merges\":%s,\"vocab\":{%s},\"merges\":[%s]}}",
        ignore_merges ? "true" : "false", t.vocab.p, t.merges.p);
    if (tokenizer_open_bytes(&made, buf_str(&json), "trained", &(struct tokenizer_options){0},
                             &err) < 0)
        show_error(&err);
    assert_non_null(made);
    buf_release(&json);
    buf_release(&t.text);
    buf_release(&t.texts);
    buf_release(&t.vocab);
    buf_release(&t.merges);
    return made;
}

static void cut(void **state)
{
    (void)state;
    uint32_t random = 1201;
    struct buf text = BUF_INIT(1 << 16);
    size_t merged = 0;
    for (int round = 0; round < 200; round++) {
        struct tokenizer *t = train(&random, round % 2 != 0);
        for (int k = 0; k < 20; k++) {
            struct token_ids ids = {0}, placed = {.with_offsets = true};
            struct error err = {0};
            const struct encode_options o = {0};
            random_text(&text, 1 + next_random(&random) % (k % 4 ? 80 : TEXT_MAX), &random);
            assert_int_equal(tokenizer_encode(t, buf_str(&text), &o, &placed, &err), 0);
            assert_int_equal(tokenizer_encode(t, buf_str(&text), &o, &ids, &err), 0);
            if (ids.n != placed.n || memcmp(ids.id, placed.id, ids.n * sizeof ids.id[0]) != 0)
                fail_msg("vocabulary %d: %zu ids, %zu with offsets: %.*s", round, ids.n, placed.n,
                         STR_ARG(buf_str(&text)));
            merged += text.n - ids.n;
            token_ids_release(&ids);
            token_ids_release(&placed);
        }
        tokenizer_free(t);
    }
    assert_true(merged > 100000);
    buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
