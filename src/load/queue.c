#include "load/queue.h"

#include <stdlib.h>
#include <time.h>

#include "base/clock.h"

int queue_init(struct queue *q, size_t cap, struct error *err)
{
    pthread_condattr_t attr;

    *q = (struct queue){.cap = cap};
    q->items = calloc(cap, sizeof *q->items);
    if (!q->items)
        return error_no_memory(err);
    if (pthread_condattr_init(&attr) != 0)
        goto fail;
    /* deadlines are monotonic: setting the wall clock must not stretch them */
    if (pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) != 0 ||
        pthread_cond_init(&q->changed, &attr) != 0) {
        pthread_condattr_destroy(&attr);
        goto fail;
    }
    pthread_condattr_destroy(&attr);
    if (pthread_mutex_init(&q->mutex, NULL) != 0) {
        pthread_cond_destroy(&q->changed);
        goto fail;
    }
    q->ready = true;
    return 0;
fail:
    free(q->items);
    *q = (struct queue){0};
    return error_set(err, ERROR_ENVIRONMENT, "no lock can be had from the system");
}

void queue_release(struct queue *q)
{
    if (!q || !q->ready)
        return;
    pthread_mutex_destroy(&q->mutex);
    pthread_cond_destroy(&q->changed);
    free(q->items);
    *q = (struct queue){0};
}

static void put(struct queue *q, void *item)
{
    q->items[(q->first + q->n) % q->cap] = item;
    q->n++;
    pthread_cond_broadcast(&q->changed);
}

bool queue_push(struct queue *q, void *item)
{
    bool fits;

    pthread_mutex_lock(&q->mutex);
    fits = q->n < q->cap;
    if (fits)
        put(q, item);
    pthread_mutex_unlock(&q->mutex);
    return fits;
}

bool queue_push_wait(struct queue *q, void *item)
{
    bool open;

    pthread_mutex_lock(&q->mutex);
    while (q->n == q->cap && !q->closed)
        pthread_cond_wait(&q->changed, &q->mutex);
    open = !q->closed;
    if (open)
        put(q, item);
    pthread_mutex_unlock(&q->mutex);
    return open;
}

void *queue_pop(struct queue *q, int64_t deadline_ns)
{
    struct timespec until = {(time_t)(deadline_ns / NS_PER_S), (long)(deadline_ns % NS_PER_S)};
    void *item = NULL;
    int waited = 0;

    pthread_mutex_lock(&q->mutex);
    while (q->n == 0 && !q->closed && deadline_ns > 0 && waited == 0) {
        if (deadline_ns == INT64_MAX)
            pthread_cond_wait(&q->changed, &q->mutex);
        else
            waited = pthread_cond_timedwait(&q->changed, &q->mutex, &until);
    }
    if (q->n > 0) {
        item = q->items[q->first];
        q->first = (q->first + 1) % q->cap;
        q->n--;
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->mutex);
    return item;
}

void queue_close(struct queue *q)
{
    pthread_mutex_lock(&q->mutex);
    q->closed = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->mutex);
}

bool queue_is_done(struct queue *q)
{
    bool done;

    pthread_mutex_lock(&q->mutex);
    done = q->closed && q->n == 0;
    pthread_mutex_unlock(&q->mutex);
    return done;
}

size_t queue_length(struct queue *q)
{
    size_t n;

    pthread_mutex_lock(&q->mutex);
    n = q->n;
    pthread_mutex_unlock(&q->mutex);
    return n;
}
