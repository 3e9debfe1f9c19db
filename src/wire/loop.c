#include "wire/loop.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "wire/endpoint.h"
#include "wire/kernel_time.h"
#include "wire/wakeup.h"

#define IDLE_HANDLES_MAX 1024 /* kept for the next requests */

const struct read_now *loop_now(const struct wire_loop *loop)
{
    return &loop->now;
}

static int on_timer(CURLM *multi, long timeout_ms, void *arg)
{
    struct wire_loop *loop = arg;
    (void)multi;
    loop->curl_deadline_ns =
        timeout_ms < 0 ? INT64_MAX : clock_mono_ns() + (int64_t)timeout_ms * NS_PER_MS;
    return 0;
}

/* --- transfers ------------------------------------------------------------------------------ */

static struct wire_transfer *transfer_take(struct wire_loop *loop)
{
    struct wire_transfer *t = loop->idle;
    if (t) {
        CURL *easy = t->easy;
        struct buf body = t->body;
        loop->idle = t->next;
        loop->idle_n--;
        curl_easy_reset(easy);
        buf_reset(&body);
        *t = (struct wire_transfer){.easy = easy, .body = body};
    } else {
        t = calloc(1, sizeof *t);
        if (!t)
            return NULL;
        buf_init(&t->body, BUF_ANY);
        t->easy = curl_easy_init();
        if (!t->easy) {
            free(t);
            return NULL;
        }
    }
    t->loop = loop;
    t->fd = -1;
    return t;
}

static void transfer_drop(struct wire_loop *loop, struct wire_transfer *t)
{
    wire_exchange_free(t->x);
    t->x = NULL;
    if (loop->idle_n < IDLE_HANDLES_MAX) {
        t->next = loop->idle;
        loop->idle = t;
        loop->idle_n++;
        return;
    }
    curl_easy_cleanup(t->easy);
    buf_release(&t->body);
    free(t);
}

static void link_in(struct wire_loop *loop, struct wire_transfer *t)
{
    t->seq = loop->next_seq++;
    t->previous = loop->last;
    t->next = NULL;
    if (loop->last)
        loop->last->next = t;
    else
        loop->first = t;
    loop->last = t;
    loop->in_flight++;
}

static void link_out(struct wire_loop *loop, struct wire_transfer *t)
{
    if (t->previous)
        t->previous->next = t->next;
    else
        loop->first = t->next;
    if (t->next)
        t->next->previous = t->previous;
    else
        loop->last = t->previous;
    loop->in_flight--;
}

void loop_hand_over(struct wire_loop *loop, struct wire_transfer *t)
{
    struct wire_exchange *x = t->x;
    loop_forget_held(loop, t);
    curl_multi_remove_handle(loop->multi, t->easy);
    link_out(loop, t);
    t->x = NULL;
    transfer_drop(loop, t);
    if (loop->o.on_done)
        loop->o.on_done(loop->o.ctx, x);
    else
        wire_exchange_free(x);
}

void loop_take_finished(struct wire_loop *loop)
{
    CURLMsg *m;
    int left;
    while ((m = curl_multi_info_read(loop->multi, &left)) != NULL) {
        struct wire_transfer *t = NULL;
        CURLcode rc = m->data.result;
        if (m->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&t);
        transfer_conclude(t, rc, loop->now.t_user_ns);
        loop_hand_over(loop, t);
    }
}

int loop_curl_trouble(CURLMcode rc, struct error *err)
{
    if (rc == CURLM_OUT_OF_MEMORY)
        return error_no_memory(err);
    return error_set(err, ERROR_ENVIRONMENT, "libcurl: %s", curl_multi_strerror(rc));
}

static int run_timers(struct wire_loop *loop, struct error *err)
{
    int running;
    long ms = -1;
    CURLMcode rc;
    loop_begin_event(loop, -1, clock_mono_ns(), loop->seen.t_lower_ns);
    rc = curl_multi_socket_action(loop->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    if (rc != CURLM_OK)
        return loop_curl_trouble(rc, err);
    /* libcurl calls on_timer only when its next time differs from the last it told: ask. */
    curl_multi_timeout(loop->multi, &ms);
    return on_timer(loop->multi, ms, loop);
}

int wire_loop_send(struct wire_loop *loop, const struct wire_request *r, struct error *err)
{
    struct wire_transfer *t;
    CURLMcode rc;
    if (loop->o.max_in_flight > 0 && loop->in_flight >= (size_t)loop->o.max_in_flight)
        return error_set(err, ERROR_LIMIT, "more than %d requests in flight",
                         loop->o.max_in_flight);
    t = transfer_take(loop);
    if (!t)
        return error_no_memory(err);
    t->x = exchange_new(r->tag);
    t->tls = r->endpoint->tls;
    t->shares = r->endpoint->http2;
    if (!t->x) {
        transfer_drop(loop, t);
        return error_no_memory(err);
    }
    if (transfer_prepare(t, r, err) < 0 || endpoint_apply(r->endpoint, t->easy, r->path, err) < 0) {
        transfer_drop(loop, t);
        return -1;
    }
    t->x->t_issue_ns = clock_mono_ns();
    rc = curl_multi_add_handle(loop->multi, t->easy);
    if (rc != CURLM_OK) {
        transfer_drop(loop, t);
        return loop_curl_trouble(rc, err);
    }
    link_in(loop, t);
    t->t_base_ns = clock_mono_ns();
    return run_timers(loop, err); /* writes the request now, not at the next step */
}

void wire_loop_cancel_all(struct wire_loop *loop)
{
    uint64_t end = loop->next_seq;
    int64_t now = clock_mono_ns();
    /* NOLINTNEXTLINE(clang-analyzer-*): link_out took it off the list */
    while (loop->first && loop->first->seq < end) { /* on_done may send more */
        struct wire_transfer *t = loop->first;
        if (t->held) /* whatever comes of it, the transfer is cancelled */
            (void)loop_give_out(loop, t);
        transfer_conclude(t, CURLE_OK, now);
        t->x->end = WIRE_END_CANCELLED;
        memcpy(t->x->error, "cancelled", sizeof "cancelled");
        loop_hand_over(loop, t);
    }
}

size_t wire_loop_in_flight(const struct wire_loop *loop)
{
    return loop->in_flight;
}

/* --- one step ------------------------------------------------------------------------------- */

static int check_sockets(struct wire_loop *loop, struct error *err)
{
    int failure = loop->socket_failure;
    loop->socket_failure = 0;
    return failure ? error_set_errno(err, failure, "cannot watch a socket") : 0;
}

/* Since the last wait returned nothing was looked for: that long a socket may have waited. */
static void count_wait(struct wire_loop *loop, int64_t began_ns)
{
    if (loop->returned_ns != TIME_NONE)
        lag_add(&loop->lag, began_ns - loop->returned_ns);
    loop->counts.waits++;
    loop->counts.blocked += loop->seen.blocked;
    loop->returned_ns = loop->seen.t_return_ns;
}

int wire_loop_step(struct wire_loop *loop, int64_t deadline_ns, struct error *err)
{
    int64_t until, began_ns;
    loop_take_finished(loop); /* what ended while it was sent */
    until = deadline_ns < loop->curl_deadline_ns ? deadline_ns : loop->curl_deadline_ns;
    if (loop->held)
        until = INT64_MIN; /* what is held back goes on right after what is ready */
    began_ns = clock_mono_ns();
    if (poller_wait(loop->poller, until, &loop->seen, err) < 0)
        return -1;
    count_wait(loop, began_ns);
    if (loop->seen.t_return_ns - loop->map.looked_ns >= NS_PER_S)
        clock_map_look(&loop->map);
    for (size_t i = 0; i < loop->seen.n; i++)
        if (loop_handle(loop, i, err) < 0)
            return -1;
    if (loop_resume_held(loop, err) < 0)
        return -1;
    if (loop->curl_deadline_ns <= clock_mono_ns() && run_timers(loop, err) < 0)
        return -1;
    loop_take_finished(loop);
    return check_sockets(loop, err);
}

void wire_loop_mark(struct wire_loop *loop)
{
    loop->counts = (struct wire_loop_report){0};
    loop->lag = (struct lag){0};
    loop->returned_ns = TIME_NONE;
    clock_map_init(&loop->map, &loop->map.pair);
    clock_map_look(&loop->map);
}

void wire_loop_report(struct wire_loop *loop, struct wire_loop_report *out)
{
    clock_map_look(&loop->map);
    *out = loop->counts;
    out->wakeup_ns = loop->o.wakeup_ns;
    out->clock_steps = loop->map.steps;
    out->clock_step_ns = loop->map.largest_step_ns;
    out->clock_error_ns = loop->map.worst_error_ns;
    out->lag_p50_ns = lag_quantile(&loop->lag, 50);
    out->lag_p99_ns = lag_quantile(&loop->lag, 99);
    out->lag_max_ns = lag_quantile(&loop->lag, 100);
}

void wire_loop_wake(struct wire_loop *loop)
{
    poller_wake(loop->poller);
}

/* --- life ----------------------------------------------------------------------------------- */

int wire_loop_new(struct wire_loop **out, const struct wire_loop_options *o, struct error *err)
{
    struct wire_loop *loop = calloc(1, sizeof *loop);
    int64_t wakeup_ns = o->wakeup_ns;
    if (!loop)
        return error_no_memory(err);
    loop->o = *o;
    loop->curl_deadline_ns = INT64_MAX;
    loop->returned_ns = TIME_NONE;
    if ((wakeup_ns == 0 && wakeup_calibrate(&wakeup_ns, err) < 0) ||
        poller_new(&loop->poller, wakeup_ns, err) < 0) {
        wire_loop_free(loop);
        return -1;
    }
    loop->o.wakeup_ns = wakeup_ns;
    loop->multi = curl_multi_init();
    if (!loop->multi) {
        wire_loop_free(loop);
        return error_no_memory(err);
    }
    curl_multi_setopt(loop->multi, CURLMOPT_SOCKETFUNCTION, loop_on_socket);
    curl_multi_setopt(loop->multi, CURLMOPT_SOCKETDATA, loop);
    curl_multi_setopt(loop->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(loop->multi, CURLMOPT_TIMERDATA, loop);
    /* Else the pool is cut to four connections a running transfer whenever load pauses. */
    curl_multi_setopt(loop->multi, CURLMOPT_MAXCONNECTS, (long)SOCKETS_MAX);
    clock_map_init(&loop->map, loop->o.clocks ? loop->o.clocks : &clock_pair_system);
    clock_map_look(&loop->map);
    *out = loop;
    return 0;
}

void wire_loop_free(struct wire_loop *loop)
{
    if (!loop)
        return;
    loop->o.on_done = NULL;
    if (loop->multi)
        while (loop->first)
            /* NOLINTNEXTLINE(clang-analyzer-*): link_out took it off the list */
            loop_hand_over(loop, loop->first);
    while (loop->idle) {
        struct wire_transfer *t = loop->idle;
        loop->idle = t->next;
        curl_easy_cleanup(t->easy);
        buf_release(&t->body);
        free(t);
    }
    if (loop->multi)
        curl_multi_cleanup(loop->multi); /* closes connections, which calls back into sockets */
    poller_free(loop->poller);
    free(loop->sockets);
    free(loop);
}
