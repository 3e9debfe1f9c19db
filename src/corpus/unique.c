/* A prompt of its own for every request, of the same length as the corpus promises: without it a
 * server's prefix cache answers, and prefill is not measured. */
#include <stdlib.h>

#include "corpus/corpus.h"
#include "corpus/fit.h"
#include "corpus/words.h"

#define TAG_WORDS 5   /* 5 of about 300 words: 2.4e12 prefixes */
#define REDRAWS 24    /* prefixes tried until the count is exact, or in the band */
#define FILLS 8       /* draws of small words */
#define FILLERS_MAX 8 /* small words in a prompt, at most */
#define ADJUSTS 6     /* corrections of how many words make way, for one prefix */
#define PROMPT_MAX (CORPUS_LINE_MAX + 4096)

static uint64_t seed_of(const struct corpus_draw *w, int attempt)
{
    /* FNV-1a over what the request is; the values, not the bytes of a struct, so that every
     * platform draws the same */
    uint64_t parts[] = {(uint64_t)w->replicate, (uint64_t)w->band, w->warmup, (uint64_t)w->index,
                        (uint64_t)attempt};
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (const char *c = w->nonce; *c; c++)
        h = (h ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        for (int b = 0; b < 64; b += 8)
            h = (h ^ (parts[i] >> b & 0xff)) * UINT64_C(0x100000001b3);
    }
    return h;
}

/* Items follow each other from a place drawn for the band, so that short bands of many replicates
 * do not all begin with the same ones. */
static const struct corpus_item *item_of(const struct corpus *c, const struct corpus_draw *w)
{
    struct corpus_draw start = {w->nonce, w->replicate, w->band, w->warmup, 0};
    struct draw d = draw_seeded(seed_of(&start, -1), 0);
    uint64_t first = draw_below(&d, (uint32_t)c->n);

    return &c->items[(first + (uint64_t)w->index) % c->n];
}

/* The text behind its first n words; the words of a text are what spaces separate. */
static struct str without_words(struct str text, int64_t n)
{
    while (n-- > 0) {
        size_t space = str_find_char(text, ' ');
        if (space == STR_NONE)
            return str_skip(text, text.n);
        text = str_skip(text, space + 1);
    }
    return text;
}

/* What is done to the item: words taken from its front, small words put there instead. */
struct shape {
    int64_t dropped, fillers;
    uint64_t variant; /* which small words */
};

struct attempt {
    const struct corpus *c;
    const struct corpus_counter *counter;
    struct str tag, item;
    uint64_t seed;
    int64_t want, tolerance;
    struct buf *text;
};

static int build(struct attempt *a, const struct shape *shape, int64_t *n, struct error *err)
{
    struct draw d = draw_seeded(a->seed, 2 + shape->variant);
    size_t tokens;

    buf_reset(a->text);
    buf_addstr(a->text, a->tag);
    buf_adds(a->text, ". ");
    for (int64_t i = 0; i < shape->fillers; i++) {
        words_add_filler(a->text, &d);
        buf_addc(a->text, ' ');
    }
    buf_addstr(a->text, without_words(a->item, shape->dropped));
    if (buf_check(a->text, "a prompt", err) < 0)
        return -1;
    if (!a->counter)
        return 0;
    if (a->counter->count(a->counter->ctx, buf_str(a->text), &tokens, err) < 0)
        return -1;
    *n = (int64_t)tokens;
    return 0;
}

/* Lets as many words of the item make way as the prefix brought tokens, and evens out what is then
 * missing with small words. 1 exact, 0 not; *best and *best_n are the nearest of this attempt. */
static int adjust(struct attempt *a, struct shape *best, int64_t *best_n, struct error *err)
{
    struct shape now = {.dropped = TAG_WORDS}, under = {0};
    int64_t n = 0, under_n = CORPUS_NOT_PROMISED;

    *best_n = CORPUS_NOT_PROMISED;
    for (int i = 0; i < ADJUSTS + FILLS; i++) {
        if (build(a, &now, &n, err) < 0)
            return -1;
        if (*best_n == CORPUS_NOT_PROMISED || llabs(n - a->want) < llabs(*best_n - a->want)) {
            *best_n = n;
            *best = now;
        }
        if (n == a->want)
            return 1;
        if (n < a->want && now.fillers == 0 && n > under_n) {
            under_n = n;
            under = now;
        }
        if (i + 1 < ADJUSTS) {
            now.dropped += n > a->want ? n - a->want : -1;
            now.dropped = now.dropped < 0 ? 0 : now.dropped;
        } else if (under_n == CORPUS_NOT_PROMISED || a->want - under_n > FILLERS_MAX) {
            return 0;
        } else {
            now = under;
            now.fillers = a->want - under_n;
            now.variant = (uint64_t)(i + 1 - ADJUSTS);
        }
    }
    return 0;
}

static int no_prompt(const struct corpus *c, const struct corpus_item *item, int64_t want,
                     int64_t tolerance, int64_t nearest, struct error *err)
{
    error_set(err, ERROR_REFUSED,
              "no unique prompt of %lld +- %lld tokens can be made of prompt '%.*s': the nearest "
              "has %lld",
              (long long)want, (long long)tolerance, STR_ARG(item->id), (long long)nearest);
    error_at_file(err, c->path);
    error_at_line(err, item->line, 0);
    error_rule(err, "corpus.unique");
    return error_remedy(err,
                        "use a corpus made by 'tally corpus make', or allow a wider tolerance, "
                        "or send the corpus as it is: --prompts fixed");
}

static void tag_of(const struct corpus_draw *which, int attempt, struct buf *tag)
{
    struct draw d = draw_seeded(seed_of(which, attempt), 1);

    buf_reset(tag);
    words_add_tag(tag, &d, TAG_WORDS);
}

/* The nearest of all attempts, made again. */
static int build_best(struct attempt *a, const struct corpus_draw *which, int attempt,
                      const struct shape *shape, struct buf *tag, int64_t *n, struct error *err)
{
    tag_of(which, attempt, tag);
    a->tag = buf_str(tag);
    a->seed = seed_of(which, attempt);
    return build(a, shape, n, err);
}

/* Attempts until one is exact. *n is the count of the text that was made. 1 exact, 0 in the band,
 * -1 with *err set. */
static int fit_prompt(struct attempt *a, const struct corpus_draw *which,
                      const struct corpus_item *item, struct buf *tag, int64_t *n,
                      struct error *err)
{
    int64_t nearest = CORPUS_NOT_PROMISED;
    struct shape shape, best = {0};
    int best_attempt = 0;

    for (int i = 0; i < REDRAWS; i++) {
        int exact;
        tag_of(which, i, tag);
        a->tag = buf_str(tag);
        a->seed = seed_of(which, i);
        if (buf_check(tag, "a prefix", err) < 0)
            return -1;
        exact = adjust(a, &shape, n, err);
        if (exact != 0)
            return exact;
        if (nearest == CORPUS_NOT_PROMISED || llabs(*n - a->want) < llabs(nearest - a->want)) {
            nearest = *n;
            best = shape;
            best_attempt = i;
        }
    }
    if (llabs(nearest - a->want) > a->tolerance)
        return no_prompt(a->c, item, a->want, a->tolerance, nearest, err);
    return build_best(a, which, best_attempt, &best, tag, n, err);
}

int corpus_unique(const struct corpus *c, const struct corpus_counter *counter,
                  const struct corpus_draw *which, struct buf *text, struct corpus_prompt *prompt,
                  struct error *err)
{
    return corpus_unique_of(c, item_of(c, which), counter, which, text, prompt, err);
}

int corpus_unique_of(const struct corpus *c, const struct corpus_item *item,
                     const struct corpus_counter *counter, const struct corpus_draw *which,
                     struct buf *text, struct corpus_prompt *prompt, struct error *err)
{
    int64_t want = corpus_target(c, item);
    bool promised = want != CORPUS_NOT_PROMISED;
    struct buf tag = BUF_INIT(4096);
    struct attempt a = {.c = c,
                        .counter = counter,
                        .item = item->text,
                        .want = want,
                        .tolerance = promised ? c->promise.tolerance : 0,
                        .text = text};
    /* of a promised length that nothing counts, as many words make way as come */
    struct shape plain = {.dropped = promised ? TAG_WORDS : 0};
    int64_t n = CORPUS_NOT_PROMISED;
    int got;

    text->max = PROMPT_MAX;
    if (promised && counter)
        got = fit_prompt(&a, which, item, &tag, &n, err);
    else
        got = build_best(&a, which, 0, &plain, &tag, &n, err);
    if (got >= 0)
        *prompt = (struct corpus_prompt){.item = item, .tokens = n, .exact = got > 0};
    buf_release(&tag);
    return got < 0 ? -1 : 0;
}

int corpus_exact(int64_t tokens, const struct corpus_counter *counter,
                 const struct corpus_draw *which, struct buf *text, struct error *err)
{
    int64_t nearest = 0;

    text->max = PROMPT_MAX;
    for (int i = 0; i < REDRAWS; i++) {
        struct draw d = draw_seeded(seed_of(which, i), 3);
        int rc = fit_text(tokens, counter, &d, text, &nearest, err);
        if (rc != 0)
            return rc < 0 ? -1 : 0;
    }
    return error_set(err, ERROR_UNSUPPORTED,
                     "no text of exactly %lld tokens could be made with this tokenizer; the last "
                     "had %lld",
                     (long long)tokens, (long long)nearest);
}
