/* Builds a corpus that keeps its own promises. */
#include <stdio.h>
#include <stdlib.h>

#include "codec/json_write.h"
#include "corpus/corpus.h"
#include "corpus/fit.h"

#define FIT_TRIES 32       /* draws for one text of exactly the asked length */
#define DISTINCT_TRIES 256 /* draws for one text that was not there yet */
#define TEXT_MAX ((size_t)512 << 20)

/* The texts made so far, by their hash: open addressing, never more than half full. */
struct seen {
    struct str *slots;
    size_t n; /* a power of two */
};

static int seen_init(struct seen *s, int64_t count, struct error *err)
{
    s->n = 16;
    while (s->n < (size_t)count * 2)
        s->n *= 2;
    s->slots = calloc(s->n, sizeof *s->slots);
    return s->slots ? 0 : error_no_memory(err);
}

static struct str *seen_find(struct seen *s, struct str text)
{
    size_t at = (size_t)hash64(text.p, text.n, 0) & (s->n - 1);

    while (s->slots[at].p && !str_eq(s->slots[at], text))
        at = (at + 1) & (s->n - 1);
    return &s->slots[at];
}

/* What one prompt is to be. */
struct wanted {
    int64_t tokens, max_tokens; /* max_tokens: CORPUS_NOT_PROMISED without outputs */
};

static int no_such_text(int64_t tokens, int64_t nearest, struct error *err)
{
    error_set(err, ERROR_UNSUPPORTED,
              "no text of exactly %lld token%s could be made with this tokenizer; the nearest had "
              "%lld",
              (long long)tokens, tokens == 1 ? "" : "s", (long long)nearest);
    return error_remedy(err, "ask for another length, such as %lld",
                        (long long)(nearest > 0 ? nearest : tokens + 1));
}

static int too_few(const struct corpus_spec *spec, int64_t tokens, int64_t have, struct error *err)
{
    error_set(err, ERROR_UNSUPPORTED,
              "only %lld distinct texts of exactly %lld token%s could be drawn; %lld are asked for",
              (long long)have, (long long)tokens, tokens == 1 ? "" : "s", (long long)spec->count);
    return error_remedy(err, "ask for fewer (--count %lld) or for longer ones", (long long)have);
}

/* One text that is exact and not there yet. Draws are numbered, so that each is reproducible. */
static int make_text(const struct corpus_spec *spec, const struct corpus_counter *counter,
                     int64_t index, int64_t tokens, struct seen *seen, struct buf *text,
                     struct error *err)
{
    int64_t nearest = 0, n = 0;
    int exact = 0;

    for (int try = 0; try < DISTINCT_TRIES && (exact || try < FIT_TRIES); try++) {
        struct draw d =
            draw_seeded((uint64_t)spec->seed, (uint64_t)index * DISTINCT_TRIES + (uint64_t)try);
        int rc = fit_text(tokens, counter, &d, text, &n, err);
        if (rc < 0)
            return -1;
        if (rc > 0 && !seen_find(seen, buf_str(text))->p)
            return 0;
        exact |= rc;
        if (llabs(n - tokens) < llabs(nearest - tokens) || nearest == 0)
            nearest = n;
    }
    return exact ? too_few(spec, tokens, index, err) : no_such_text(tokens, nearest, err);
}

/* Lengths and answers of a mixture, length by length, answers dealt out so that each length gets
 * its share of every answer; then in an order of its own. */
static int lay_out(const struct corpus_spec *spec, struct wanted *list, struct error *err)
{
    struct mixture_deal answers = {.m = &spec->outputs};
    struct draw d = draw_seeded((uint64_t)spec->seed, UINT64_MAX);
    int64_t counts[MIXTURE_MAX] = {0}, i = 0;

    if (mixture_counts(&spec->mixture, spec->count, counts, err) < 0)
        return -1;
    for (size_t k = 0; k < spec->mixture.n; k++)
        for (int64_t left = counts[k]; left > 0; left--)
            list[i++].tokens = spec->mixture.of[k].tokens;
    for (; i < spec->count; i++)
        list[i].tokens = spec->tokens;
    if (mixture_counts(&spec->outputs, spec->count, counts, err) < 0)
        return -1;
    for (i = 0; i < spec->count; i++)
        list[i].max_tokens = spec->outputs.n > 0 ? spec->outputs.of[mixture_next(&answers)].tokens
                                                 : CORPUS_NOT_PROMISED;
    if (spec->mixture.n == 0 && spec->outputs.n == 0)
        return 0;
    for (i = spec->count - 1; i > 0; i--) { /* Fisher and Yates */
        uint32_t k = draw_below(&d, (uint32_t)i + 1);
        struct wanted moved = list[i];
        list[i] = list[k];
        list[k] = moved;
    }
    return 0;
}

static void put_digest(struct json_writer *w, const char *key, const char *digest)
{
    if (!digest[0])
        return;
    json_key(w, key);
    json_put_cstr(w, digest);
}

static void put_meta(const struct corpus_spec *spec, struct buf *out)
{
    struct json_writer w;

    json_writer_init(&w, out, 0);
    json_begin_object(&w);
    json_key(&w, "_meta");
    json_begin_object(&w);
    json_key(&w, "format");
    json_put_cstr(&w, CORPUS_FORMAT);
    json_key(&w, "generator");
    json_put_cstr(&w, CORPUS_GENERATOR);
    json_key(&w, "generator_version");
    json_put_i64(&w, CORPUS_GENERATOR_VERSION);
    json_key(&w, "count");
    json_put_i64(&w, spec->count);
    if (spec->mixture.n > 0) {
        json_key(&w, "mixture");
        mixture_write(&spec->mixture, &w);
    } else {
        json_key(&w, "tokens");
        json_put_i64(&w, spec->tokens);
    }
    if (spec->outputs.n > 0) {
        json_key(&w, "outputs");
        mixture_write(&spec->outputs, &w);
    }
    json_key(&w, "tolerance");
    json_put_i64(&w, spec->tolerance);
    json_key(&w, "distinct");
    json_put_bool(&w, true);
    json_key(&w, "seed");
    json_put_i64(&w, spec->seed);
    json_key(&w, "special_text");
    json_put_cstr(&w, spec->special_text ? spec->special_text : "parsed");
    json_key(&w, "tokenizer");
    json_begin_object(&w);
    if (spec->tokenizer.reference) {
        json_key(&w, "reference");
        json_put_cstr(&w, spec->tokenizer.reference);
    }
    put_digest(&w, "tokenizer_sha256", spec->tokenizer.tokenizer_sha256);
    put_digest(&w, "vocabulary_sha256", spec->tokenizer.vocabulary_sha256);
    put_digest(&w, "pipeline_sha256", spec->tokenizer.pipeline_sha256);
    json_end_object(&w);
    json_end_object(&w);
    json_end_object(&w);
    buf_addc(out, '\n');
}

static void put_item(int64_t index, struct str text, const struct wanted *wanted, struct buf *out)
{
    struct json_writer w;
    char id[32];

    json_writer_init(&w, out, 0);
    snprintf(id, sizeof id, "p%04lld", (long long)index + 1);
    json_begin_object(&w);
    json_key(&w, "id");
    json_put_cstr(&w, id);
    json_key(&w, "text");
    json_put_str(&w, text);
    json_key(&w, "tokens");
    json_put_i64(&w, wanted->tokens);
    if (wanted->max_tokens != CORPUS_NOT_PROMISED) {
        json_key(&w, "max_tokens");
        json_put_i64(&w, wanted->max_tokens);
    }
    json_end_object(&w);
    buf_addc(out, '\n');
}

/* A prompt may be off by the tolerance and must still be of one length. */
static int check_mixture(const struct corpus_spec *s, struct error *err)
{
    for (size_t i = 0; i < s->mixture.n; i++)
        for (size_t k = 0; k < i; k++) {
            int64_t a = s->mixture.of[i].tokens, b = s->mixture.of[k].tokens;
            if (llabs(a - b) > 2 * s->tolerance)
                continue;
            error_set(err, ERROR_USAGE,
                      "the lengths %lld and %lld are not apart with a tolerance of %lld",
                      (long long)b, (long long)a, (long long)s->tolerance);
            return error_remedy(err, "give a smaller --tolerance, or other lengths");
        }
    return 0;
}

static int check_spec(const struct corpus_spec *s, struct error *err)
{
    int64_t shortest = s->mixture.n > 0 ? CORPUS_TOKENS_MAX : s->tokens;

    for (size_t i = 0; i < s->mixture.n; i++)
        shortest = s->mixture.of[i].tokens < shortest ? s->mixture.of[i].tokens : shortest;

    if (s->count < 1 || s->count > CORPUS_ITEMS_MAX)
        return error_set(err, ERROR_USAGE, "--count %lld is outside 1 to %d", (long long)s->count,
                         CORPUS_ITEMS_MAX);
    if (s->mixture.n == 0 && (s->tokens < 1 || s->tokens > CORPUS_TOKENS_MAX))
        return error_set(err, ERROR_USAGE, "--tokens %lld is outside 1 to %d", (long long)s->tokens,
                         CORPUS_TOKENS_MAX);
    if (s->tolerance < 0 || s->tolerance > shortest)
        return error_set(err, ERROR_USAGE, "--tolerance %lld is outside 0 to %lld",
                         (long long)s->tolerance, (long long)shortest);
    return check_mixture(s, err);
}

int corpus_make(const struct corpus_spec *spec, const struct corpus_counter *counter,
                struct buf *out, struct error *err)
{
    struct buf text = BUF_INIT(TEXT_MAX);
    struct seen seen = {NULL, 0};
    struct wanted *wanted = NULL;
    struct arena kept;
    int rc = -1;

    if (check_spec(spec, err) < 0)
        return -1;
    arena_init(&kept, CORPUS_BYTES_MAX);
    wanted = calloc((size_t)spec->count, sizeof *wanted);
    if (!wanted) {
        error_no_memory(err);
        goto out;
    }
    if (seen_init(&seen, spec->count, err) < 0 || lay_out(spec, wanted, err) < 0)
        goto out;
    put_meta(spec, out);
    for (int64_t i = 0; i < spec->count; i++) {
        if (make_text(spec, counter, i, wanted[i].tokens, &seen, &text, err) < 0)
            goto out;
        *seen_find(&seen, buf_str(&text)) = arena_str(&kept, buf_str(&text));
        put_item(i, buf_str(&text), &wanted[i], out);
        if (arena_check(&kept, "a corpus", err) < 0 || buf_check(out, "a corpus", err) < 0)
            goto out;
    }
    rc = 0;
out:
    free(seen.slots);
    free(wanted);
    arena_release(&kept);
    buf_release(&text);
    return rc;
}

int corpus_text(int64_t tokens, uint64_t seed, const struct corpus_counter *counter,
                struct buf *text, struct error *err)
{
    int64_t nearest = 0;

    text->max = TEXT_MAX;
    for (int try = 0; try < FIT_TRIES; try++) {
        struct draw d = draw_seeded(seed, UINT64_MAX - 1 - (uint64_t)try);
        int rc = fit_text(tokens, counter, &d, text, &nearest, err);
        if (rc != 0)
            return rc < 0 ? -1 : 0;
    }
    return no_such_text(tokens, nearest, err);
}
