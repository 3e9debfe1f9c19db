/* Asserts what a corpus promises: a promise that nothing asserts is worth nothing. */
#include <stdlib.h>

#include "corpus/corpus.h"

static int refuse(const struct corpus *c, int64_t line, const char *rule, struct error *err)
{
    error_at_file(err, c->path);
    error_at_line(err, line, 0);
    return error_rule(err, rule);
}

static int make_again(const struct corpus *c, struct error *err)
{
    if (c->promise.tokens == CORPUS_NOT_PROMISED)
        return error_remedy(err, "make the corpus again with this tokenizer (tally corpus make), "
                                 "or give the tokenizer it was made with");
    return error_remedy(err,
                        "make the corpus again with this tokenizer (tally corpus make --tokens "
                        "%lld --tolerance %lld), or give the tokenizer it was made with",
                        (long long)c->promise.tokens, (long long)c->promise.tolerance);
}

static int check_tokenizer(const struct corpus *c, const struct corpus_tokenizer *with,
                           struct error *err)
{
    const char *promised = c->promise.tokenizer.vocabulary_sha256;

    if (!with || !promised[0] || !with->vocabulary_sha256[0] ||
        str_eq_nocase(str_of(promised), str_of(with->vocabulary_sha256)))
        return 0;
    error_set(err, ERROR_REFUSED,
              "the corpus was made for the vocabulary %.12s..., this tokenizer has %.12s...",
              promised, with->vocabulary_sha256);
    error_remedy(err,
                 "give the tokenizer it was made with, or make the corpus again with this one");
    return refuse(c, 1, "corpus.tokenizer", err);
}

static int check_count(const struct corpus *c, struct error *err)
{
    if (c->promise.count == CORPUS_NOT_PROMISED || (int64_t)c->n == c->promise.count)
        return 0;
    error_set(err, ERROR_REFUSED, "the corpus promises %lld prompts and holds %zu",
              (long long)c->promise.count, c->n);
    error_remedy(err, "the file was cut or edited: make the corpus again");
    return refuse(c, 1, "corpus.count", err);
}

static int by_text(const void *a, const void *b)
{
    const struct corpus_item *x = *(const struct corpus_item *const *)a;
    const struct corpus_item *y = *(const struct corpus_item *const *)b;
    int order = str_cmp(x->text, y->text);

    return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* For each item the line of the first equal text before it, or 0. */
static int64_t *find_repeats(const struct corpus *c)
{
    const struct corpus_item **sorted = malloc(c->n * sizeof *sorted);
    int64_t *first = calloc(c->n, sizeof *first);

    if (sorted && first) {
        for (size_t i = 0; i < c->n; i++)
            sorted[i] = &c->items[i];
        qsort(sorted, c->n, sizeof *sorted, by_text);
        for (size_t i = 1, run = 0; i < c->n; i++) {
            if (str_eq(sorted[i]->text, sorted[run]->text))
                first[sorted[i] - c->items] = sorted[run]->line;
            else
                run = i;
        }
    } else {
        free(first);
        first = NULL;
    }
    free(sorted);
    return first;
}

static int check_band(const struct corpus *c, const struct corpus_item *item, int64_t n,
                      struct error *err)
{
    const struct corpus_promise *p = &c->promise;
    int64_t want = corpus_target(c, item);
    int64_t off = want == CORPUS_NOT_PROMISED ? 0 : llabs(n - want);

    if (off > 0 && off > p->tolerance) {
        error_set(err, ERROR_REFUSED,
                  "prompt '%.*s' has %lld tokens; the corpus promises %lld +- %lld",
                  STR_ARG(item->id), (long long)n, (long long)want, (long long)p->tolerance);
        make_again(c, err);
        return refuse(c, item->line, "corpus.tokens", err);
    }
    if (item->tokens != CORPUS_NOT_PROMISED && item->tokens != n) {
        error_set(err, ERROR_REFUSED, "prompt '%.*s' has %lld tokens; its line says %lld",
                  STR_ARG(item->id), (long long)n, (long long)item->tokens);
        make_again(c, err);
        return refuse(c, item->line, "corpus.item_tokens", err);
    }
    return 0;
}

/* Shares -------------------------------------------------------------------------------------- */

static int no_such_length(const struct corpus *c, const struct corpus_item *item, int64_t tokens,
                          const char *what, struct error *err)
{
    error_set(err, ERROR_REFUSED, "prompt '%.*s' %s %lld tokens, which the corpus does not promise",
              STR_ARG(item->id), what, (long long)tokens);
    make_again(c, err);
    return refuse(c, item->line, "corpus.mixture", err);
}

static int check_shares(const struct corpus *c, const struct mixture *m, const int64_t *have,
                        const char *what, struct error *err)
{
    for (size_t i = 0; i < m->n; i++) {
        int64_t percent = m->of[i].percent, n = (int64_t)c->n;
        if (have[i] * 100 == n * percent)
            continue;
        error_set(err, ERROR_REFUSED,
                  "%lld of %lld prompts %s %lld tokens; the corpus promises %lld %% of them",
                  (long long)have[i], (long long)n, what, (long long)m->of[i].tokens,
                  (long long)percent);
        error_remedy(err, "lines are missing or were added: make the corpus again");
        return refuse(c, 1, "corpus.mixture", err);
    }
    return 0;
}

/* That long prompts do not have the short answers, or the other way round: of every length each
 * answer has its share to within two, which is what dealing them out leaves over. */
static int check_independent(const struct corpus *c, const struct corpus_seen *seen,
                             int64_t (*both)[MIXTURE_MAX], struct error *err)
{
    const struct corpus_promise *p = &c->promise;

    for (size_t i = 0; i < p->mixture.n; i++)
        for (size_t k = 0; k < p->outputs.n; k++) {
            int64_t off = 100 * both[i][k] - seen->of[i] * p->outputs.of[k].percent;
            if (llabs(off) < 200)
                continue;
            error_set(err, ERROR_REFUSED,
                      "of %lld prompts of %lld tokens %lld are to be answered with %lld; the "
                      "corpus promises %lld %% of every length",
                      (long long)seen->of[i], (long long)p->mixture.of[i].tokens,
                      (long long)both[i][k], (long long)p->outputs.of[k].tokens,
                      (long long)p->outputs.of[k].percent);
            error_remedy(err, "make the corpus again: tally corpus make --mixture");
            return refuse(c, 1, "corpus.mixture", err);
        }
    return 0;
}

static int check_mixture(const struct corpus *c, struct corpus_seen *seen, struct error *err)
{
    const struct corpus_promise *p = &c->promise;
    int64_t both[MIXTURE_MAX][MIXTURE_MAX] = {{0}};

    if (p->mixture.n == 0 && p->outputs.n == 0)
        return 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct corpus_item *item = &c->items[i];
        size_t length = mixture_find(&p->mixture, item->tokens, p->tolerance);
        size_t answer = mixture_find(&p->outputs, item->max_tokens, 0);
        if (p->mixture.n > 0 && length == MIXTURE_NONE)
            return no_such_length(c, item, item->tokens, "has", err);
        if (p->outputs.n > 0 && answer == MIXTURE_NONE)
            return no_such_length(c, item, item->max_tokens, "is to be answered with", err);
        if (length != MIXTURE_NONE)
            seen->of[length]++;
        if (answer != MIXTURE_NONE)
            seen->outputs[answer]++;
        if (length != MIXTURE_NONE && answer != MIXTURE_NONE)
            both[length][answer]++;
    }
    if (check_shares(c, &p->mixture, seen->of, "have", err) < 0 ||
        check_shares(c, &p->outputs, seen->outputs, "are to be answered with", err) < 0)
        return -1;
    return check_independent(c, seen, both, err);
}

static int check_items(const struct corpus *c, const struct corpus_counter *counter,
                       const int64_t *repeats, struct corpus_seen *seen, struct error *err)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct corpus_item *item = &c->items[i];
        size_t n;
        if (c->promise.distinct && repeats[i]) {
            error_set(err, ERROR_REFUSED,
                      "prompt '%.*s' repeats line %lld; the corpus promises "
                      "distinct prompts",
                      STR_ARG(item->id), (long long)repeats[i]);
            error_remedy(err, "take one of them out and count again, or make the corpus again");
            return refuse(c, item->line, "corpus.distinct", err);
        }
        if (counter->count(counter->ctx, item->text, &n, err) < 0)
            return refuse(c, item->line, "", err);
        if (seen->count == 0 || (int64_t)n < seen->tokens_min)
            seen->tokens_min = (int64_t)n;
        if (seen->count == 0 || (int64_t)n > seen->tokens_max)
            seen->tokens_max = (int64_t)n;
        seen->count++;
        if (check_band(c, item, (int64_t)n, err) < 0)
            return -1;
    }
    return 0;
}

int corpus_check(const struct corpus *c, const struct corpus_counter *counter,
                 const struct corpus_tokenizer *with, struct corpus_seen *seen, struct error *err)
{
    int64_t *repeats;
    int rc;

    *seen =
        (struct corpus_seen){.tokens_min = CORPUS_NOT_PROMISED, .tokens_max = CORPUS_NOT_PROMISED};
    if (!c->promise.stated) {
        error_set(err, ERROR_REFUSED, "the corpus promises nothing: it has no _meta line");
        error_remedy(err, "make one that does: tally corpus make --tokenizer FILE --tokens 512 "
                          "--tolerance 8 --count 64 --seed 7 -o FILE");
        return refuse(c, 1, "corpus.meta", err);
    }
    if (check_tokenizer(c, with, err) < 0 || check_count(c, err) < 0 ||
        check_mixture(c, seen, err) < 0)
        return -1;
    repeats = find_repeats(c);
    if (!repeats)
        return error_no_memory(err);
    rc = check_items(c, counter, repeats, seen, err);
    free(repeats);
    return rc;
}
