/*
 * A bounded queue of pointers between two threads.
 *
 *     struct queue q;  queue_init(&q, 256, err);
 *     queue_push(&q, item);                       // false when full: the caller keeps the item
 *     item = queue_pop(&q, deadline_ns);          // NULL at the deadline, or closed and empty
 *     queue_close(&q);  queue_release(&q);
 *
 * Ownership: items belong to whoever holds them; queue_release does not free any that are left.
 */
#ifndef TALLY_LOAD_QUEUE_H
#define TALLY_LOAD_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    void **items;
    size_t first, n, cap;
    bool closed, ready; /* ready: initialised */
};

int queue_init(struct queue *q, size_t cap, struct error *err) TALLY_MUST_CHECK;
void queue_release(struct queue *q); /* NULL and zeroed are fine */
bool queue_push(struct queue *q, void *item);
/* Waits until the monotonic deadline; 0 does not wait, INT64_MAX waits for ever. */
void *queue_pop(struct queue *q, int64_t deadline_ns);
/* Waits while the queue is full; false when it was closed. */
bool queue_push_wait(struct queue *q, void *item);
void queue_close(struct queue *q);   /* who waits returns; what is in it can still be popped */
bool queue_is_done(struct queue *q); /* closed and empty */
size_t queue_length(struct queue *q);

#endif
