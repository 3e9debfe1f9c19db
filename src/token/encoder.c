#include "token/encoder.h"

#include <stdlib.h>

static void encoder_free(struct encoder *e)
{
    if (!e)
        return;
    norm_text_release(&e->repaired);
    norm_text_release(&e->escaped);
    norm_text_release(&e->norm[0]);
    norm_text_release(&e->norm[1]);
    for (size_t i = 0; i < PIPELINE_STEPS_MAX; i++)
        norm_text_release(&e->rewritten[i]);
    model_work_release(&e->work);
    added_hits_release(&e->hits);
    word_cache_free(e->words);
    free(e);
}

void encoder_free_all(struct encoder_pool *pool)
{
    for (struct encoder *e = pool->idle, *next; e; e = next) {
        next = e->next;
        encoder_free(e);
    }
    pool->idle = NULL;
}

struct encoder *encoder_borrow(const struct tokenizer *t, struct error *err)
{
    pthread_mutex_lock(&t->pool->lock);
    struct encoder *e = t->pool->idle;
    if (e)
        t->pool->idle = e->next;
    pthread_mutex_unlock(&t->pool->lock);
    if (e)
        return e;
    e = calloc(1, sizeof *e);
    if (!e || !(e->words = word_cache_new())) {
        encoder_free(e);
        error_no_memory(err);
        return NULL;
    }
    e->t = t;
    norm_text_init(&e->repaired);
    norm_text_init(&e->escaped);
    norm_text_init(&e->norm[0]);
    norm_text_init(&e->norm[1]);
    for (size_t i = 0; i < PIPELINE_STEPS_MAX; i++)
        norm_text_init(&e->rewritten[i]);
    return e;
}

void encoder_return(const struct tokenizer *t, struct encoder *e)
{
    pthread_mutex_lock(&t->pool->lock);
    e->next = t->pool->idle;
    t->pool->idle = e;
    pthread_mutex_unlock(&t->pool->lock);
}

int encoder_grow(struct token_ids *ids, size_t more, struct error *err)
{
    size_t cap = ids->cap + ids->cap / 2;
    if (cap < ids->n + more)
        cap = ids->n + more;
    if (cap < 64)
        cap = 64;
    uint32_t **lists[] = {&ids->id, &ids->from, &ids->to};
    for (size_t i = 0; i < (ids->with_offsets ? 3u : 1u); i++) {
        uint32_t *p = realloc(*lists[i], cap * sizeof p[0]);
        if (!p)
            return error_no_memory(err);
        *lists[i] = p;
    }
    ids->cap = cap;
    return 0;
}

int encoder_put(struct encoder *e, uint32_t id, size_t from, size_t to)
{
    if (encoder_room(e, 1) < 0)
        return -1;
    struct token_ids *out = e->out;
    if (out->with_offsets) {
        out->from[out->n] = (uint32_t)from;
        out->to[out->n] = (uint32_t)to;
    }
    out->id[out->n++] = id;
    return 0;
}

int encoder_put_hit(struct encoder *e, const struct norm_view *view, const struct added_hit *hit)
{
    size_t from = hit->from, to = hit->to;
    if (from < to)
        return encoder_put(e, hit->token->id, norm_origin(view, from).from,
                           norm_origin(view, to - 1).to);
    size_t at = from < view->text.n ? norm_origin(view, from).from
                : from > 0          ? norm_origin(view, from - 1).to
                                    : view->base;
    return encoder_put(e, hit->token->id, at, at);
}

void token_ids_release(struct token_ids *ids)
{
    free(ids->id);
    free(ids->from);
    free(ids->to);
    *ids = (struct token_ids){.with_offsets = ids->with_offsets};
}
