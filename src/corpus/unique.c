/* A prompt of its own for every request, of the same length as the corpus promises: without it a
 * server's prefix cache answers, and prefill is not measured. */
#include <stdlib.h>

#include "corpus/corpus.h"
#include "corpus/words.h"

#define TAG_WORDS 5 /* 5 of about 300 words: 2.4e12 prefixes */
#define REDRAWS 24  /* prefixes tried until the count is exact, or in the band */
#define ADJUSTS 6   /* corrections of how many words make way, for one prefix */
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

struct attempt {
    const struct corpus *c;
    const struct corpus_counter *counter;
    struct str tag, item;
    int64_t want, tolerance;
    struct buf *text;
};

static int build(struct attempt *a, int64_t dropped, int64_t *n, struct error *err)
{
    size_t tokens;

    buf_reset(a->text);
    buf_addstr(a->text, a->tag);
    buf_adds(a->text, ". ");
    buf_addstr(a->text, without_words(a->item, dropped));
    if (buf_check(a->text, "a prompt", err) < 0)
        return -1;
    if (!a->counter)
        return 0;
    if (a->counter->count(a->counter->ctx, buf_str(a->text), &tokens, err) < 0)
        return -1;
    *n = (int64_t)tokens;
    return 0;
}

/* Lets as many words of the item make way as the prefix brought tokens. 1 exact, 0 not; *best and
 * *best_dropped keep the nearest over all attempts. */
static int adjust(struct attempt *a, int64_t *best, int64_t *best_dropped, struct error *err)
{
    int64_t dropped = TAG_WORDS, n = 0, nearest = INT64_MAX;

    *best = CORPUS_NOT_PROMISED;
    for (int i = 0; i < ADJUSTS; i++) {
        if (build(a, dropped, &n, err) < 0)
            return -1;
        if (llabs(n - a->want) < nearest) {
            nearest = llabs(n - a->want);
            *best = n;
            *best_dropped = dropped;
        }
        if (n == a->want)
            return 1;
        if (dropped == 0 && n < a->want)
            return 0;
        dropped += n > a->want ? n - a->want : -1;
        dropped = dropped < 0 ? 0 : dropped;
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

int corpus_unique(const struct corpus *c, const struct corpus_counter *counter,
                  const struct corpus_draw *which, struct buf *text, struct corpus_prompt *prompt,
                  struct error *err)
{
    const struct corpus_item *item = item_of(c, which);
    struct buf tag = BUF_INIT(4096);
    struct attempt a = {.c = c, .counter = counter, .item = item->text, .text = text};
    int64_t best = CORPUS_NOT_PROMISED, best_attempt = -1, best_dropped = 0, n = 0, dropped = 0;
    bool promised = c->promise.tokens != CORPUS_NOT_PROMISED;
    int exact = 0, rc = -1;

    text->max = PROMPT_MAX;
    a.want = promised ? c->promise.tokens : CORPUS_NOT_PROMISED;
    a.tolerance = promised ? c->promise.tolerance : 0;
    for (int i = 0; i < REDRAWS && !exact; i++) {
        tag_of(which, i, &tag);
        a.tag = buf_str(&tag);
        if (buf_check(&tag, "a prefix", err) < 0)
            goto out;
        /* nothing to hit: the item behind the prefix; of a promised length that nothing counts, as
         * many words make way as come */
        if (!promised || !counter) {
            n = CORPUS_NOT_PROMISED;
            if (build(&a, promised ? TAG_WORDS : 0, &n, err) < 0)
                goto out;
            break;
        }
        exact = adjust(&a, &n, &dropped, err);
        if (exact < 0)
            goto out;
        if (best == CORPUS_NOT_PROMISED || llabs(n - a.want) < llabs(best - a.want)) {
            best = n;
            best_attempt = i;
            best_dropped = dropped;
        }
    }
    if (promised && counter && !exact) {
        if (llabs(best - a.want) > a.tolerance) {
            no_prompt(c, item, a.want, a.tolerance, best, err);
            goto out;
        }
        tag_of(which, (int)best_attempt, &tag);
        a.tag = buf_str(&tag);
        if (build(&a, best_dropped, &n, err) < 0)
            goto out;
    }
    *prompt = (struct corpus_prompt){.item = item, .tokens = n, .exact = exact};
    rc = 0;
out:
    buf_release(&tag);
    return rc;
}
