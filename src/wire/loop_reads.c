/*
 * One event of a socket is one read of it, with its own stamps. libcurl 7.88 goes on reading while
 * the socket stays readable (a hundred times, then again): under a flood one stream would starve
 * all others, and its bytes would come without a look at their times. So the second read within an
 * event is stamped, held back inside libcurl (a pause), and given out after the others' turn.
 */
#include "base/clock.h"
#include "wire/kernel_time.h"
#include "wire/loop.h"

#define READ_SIZE 16384     /* libcurl's buffer: what one read takes at most */
#define TLS_READ_SIZE 17408 /* a TLS record with its header and tag */

void loop_begin_event(struct wire_loop *loop, int fd, int64_t t_user, int64_t t_lower)
{
    loop->now = (struct read_now){.serial = loop->now.serial + 1,
                                  .fd = fd,
                                  .t_user_ns = t_user,
                                  .t_lower_ns = t_lower,
                                  .t_kernel_ns = TIME_NONE};
}

/* The kernel's receive time of what waits in the socket now, for the read that comes next. */
static void look_at_kernel(struct wire_loop *loop, struct loop_socket *s, int fd,
                           struct read_now *now)
{
    int64_t real_ns, kernel_ns;
    size_t most = s->tls ? TLS_READ_SIZE : READ_SIZE;
    now->t_kernel_ns = TIME_NONE;
    s->more = false;
    if (kernel_time_peek(fd, most, &now->peeked, &real_ns) < 0)
        return;
    loop->counts.kernel_reads++;
    s->more = now->peeked == most;
    kernel_ns = clock_map_to_mono(&loop->map, real_ns);
    if (kernel_ns > now->t_user_ns) /* it came after poll had reported the socket */
        now->t_user_ns = clock_mono_ns();
    if (kernel_ns > now->t_user_ns + loop->map.error_ns + CLOCK_MAP_SLACK_NS)
        return; /* from the future: the real clock has been set */
    now->t_kernel_ns = kernel_ns < now->t_user_ns ? kernel_ns : now->t_user_ns;
    if (now->t_lower_ns > now->t_kernel_ns) {
        /* Waking up took longer than calibrated: by as much as the kernel's time shows, at least.
         * The floor would be certain, and as far off as the wait was long. */
        now->t_lower_ns = now->t_kernel_ns - loop->o.wakeup_ns;
        if (now->t_lower_ns < loop->seen.t_floor_ns && loop->seen.t_floor_ns <= now->t_kernel_ns)
            now->t_lower_ns = loop->seen.t_floor_ns;
    }
}

/* The first socket of a batch is stamped with poll's return. So are the others where the kernel
 * shows that their bytes had come by then; where it shows nothing, they may have come since. */
static int64_t user_time(const struct wire_loop *loop, const struct loop_socket *s, size_t i)
{
    return i == 0 || s->stamped ? loop->seen.t_return_ns : clock_mono_ns();
}

static void burn(int64_t ns)
{
    int64_t until = clock_mono_ns() + ns;
    while (clock_mono_ns() < until)
        ;
}

/* The event has begun: looks at the socket and lets libcurl read or write it. */
static int act(struct wire_loop *loop, struct loop_socket *s, int fd, unsigned what,
               struct error *err)
{
    int bits = 0, running;
    CURLMcode rc;
    if (loop->o.burn_ns > 0)
        burn(loop->o.burn_ns);
    if (what & POLLER_IN) {
        bits |= CURL_CSELECT_IN;
        loop->counts.reads++;
        if (s->more) /* what the last read left behind may have come with it */
            loop->now.t_lower_ns = s->lower_ns;
        s->more = false;
        if (s->stamped)
            look_at_kernel(loop, s, fd, &loop->now);
        s->lower_ns = loop->now.t_lower_ns;
    }
    if (what & POLLER_OUT)
        bits |= CURL_CSELECT_OUT;
    if (what & POLLER_ERROR)
        bits |= CURL_CSELECT_ERR;
    rc = curl_multi_socket_action(loop->multi, fd, bits, &running);
    if (rc != CURLM_OK)
        return loop_curl_trouble(rc, err);
    loop_take_finished(loop);
    return 0;
}

int loop_handle(struct wire_loop *loop, size_t i, struct error *err)
{
    const struct poller_event *e = &loop->seen.events[i];
    int fd = (int)(uint32_t)e->tag;
    struct loop_socket *s = loop_socket_at(loop, fd);
    if (!s || s->generation != (uint32_t)(e->tag >> 32))
        return 0; /* closed while this batch was handled */
    loop_begin_event(loop, fd, user_time(loop, s, i), loop->seen.t_lower_ns);
    return act(loop, s, fd, e->what, err);
}

/* --- one read an event ---------------------------------------------------------------------- */

void loop_look_ahead(struct wire_loop *loop, struct wire_transfer *t)
{
    struct loop_socket *s = loop_socket_at(loop, t->fd);
    t->ahead = loop->now;
    t->ahead.t_kernel_ns = TIME_NONE;
    t->ahead.peeked = 0;
    t->ahead.t_user_ns = clock_mono_ns();
    if (s && s->stamped && s->more)
        look_at_kernel(loop, s, t->fd, &t->ahead);
}

void loop_hold(struct wire_loop *loop, struct wire_transfer *t)
{
    t->held = true;
    t->next_held = loop->held;
    loop->held = t;
}

void loop_forget_held(struct wire_loop *loop, struct wire_transfer *t)
{
    struct wire_transfer **link = &loop->held;
    if (!t->held)
        return;
    while (*link && *link != t)
        link = &(*link)->next_held;
    if (*link)
        *link = t->next_held;
    t->held = false;
}

CURLcode loop_give_out(struct wire_loop *loop, struct wire_transfer *t)
{
    CURLcode rc;
    loop_forget_held(loop, t);
    loop_begin_event(loop, t->fd, t->ahead.t_user_ns, t->ahead.t_lower_ns);
    loop->now.t_kernel_ns = t->ahead.t_kernel_ns;
    t->resuming = true;
    rc = curl_easy_pause(t->easy, CURLPAUSE_CONT);
    t->resuming = false;
    return rc;
}

/* Gives out what was held back, and then does what an event would do: the socket was readable, and
 * libcurl tries it again in any case. */
static int resume(struct wire_loop *loop, struct wire_transfer *t, struct error *err)
{
    struct loop_socket *s = loop_socket_at(loop, t->fd);
    int fd = t->fd;
    CURLcode rc = loop_give_out(loop, t);
    if (rc != CURLE_OK) {
        transfer_conclude(t, rc, clock_mono_ns());
        loop_hand_over(loop, t);
        return 0;
    }
    if (!s || fd < 0)
        return 0;
    loop_begin_event(loop, fd, clock_mono_ns(), t->ahead.t_lower_ns);
    return act(loop, s, fd, POLLER_IN, err);
}

int loop_resume_held(struct wire_loop *loop, struct error *err)
{
    /* Those that are held again meanwhile wait for the next turn. */
    struct wire_transfer *turn[POLLER_BATCH];
    size_t n = 0;
    for (struct wire_transfer *t = loop->held; t && n < POLLER_BATCH; t = t->next_held)
        turn[n++] = t;
    for (size_t i = 0; i < n; i++)
        if (turn[i]->held && resume(loop, turn[i], err) < 0)
            return -1;
    return 0;
}
