#include "load/switch.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/command.h"
#include "base/utf8.h"

#define READY_ASK_NS (5 * NS_PER_S)
#define READY_EVERY_NS (NS_PER_S / 5)

void lane_switch_release(struct lane_switch *s)
{
    if (!s)
        return;
    arena_release(&s->arena);
    *s = (struct lane_switch){0};
}

static struct run_command *add(struct lane_switch *s, struct error *err)
{
    if (s->n == LANE_COMMANDS_MAX) {
        error_set(err, ERROR_LIMIT, "more than %d lane commands", LANE_COMMANDS_MAX);
        return NULL;
    }
    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 16;
        struct run_command *list =
            arena_grow(&s->arena, s->list, s->cap * sizeof *list, cap * sizeof *list);
        if (!list) {
            error_no_memory(err);
            return NULL;
        }
        s->list = list;
        s->cap = cap;
    }
    return &s->list[s->n++];
}

/* One line of what a command printed last, for a sentence. */
static void last_words(const struct buf *output, char out[160])
{
    struct buf text = BUF_INIT(COMMAND_OUTPUT_MAX * 4);
    struct str s;
    size_t at;

    (void)utf8_add_lossy(&text, str_trim(buf_str(output)));
    s = buf_str(&text);
    while ((at = str_find_char(s, '\n')) != STR_NONE)
        s = str_skip(s, at + 1);
    s = str_first(s, 150);
    snprintf(out, 160, "%.*s", (int)utf8_valid_prefix(s), s.p ? s.p : "");
    buf_release(&text);
}

static void describe(struct lane_trouble *t, const char *role, const char *when,
                     const struct command_result *r, int64_t timeout_ns, const char *timeout,
                     const char *failed)
{
    char words[160];

    last_words(&r->output, words);
    t->reason = r->timed_out ? timeout : failed;
    if (r->timed_out)
        snprintf(t->detail, sizeof t->detail, "--%s-lane of %s did not end within %.3f s%s%s", when,
                 role, (double)timeout_ns / 1e9, words[0] ? ": " : "", words);
    else if (r->stopped)
        snprintf(t->detail, sizeof t->detail, "--%s-lane of %s was interrupted", when, role);
    else if (r->signal)
        snprintf(t->detail, sizeof t->detail, "--%s-lane of %s was ended by signal %d%s%s", when,
                 role, r->signal, words[0] ? ": " : "", words);
    else
        snprintf(t->detail, sizeof t->detail, "--%s-lane of %s ended with exit code %d%s%s", when,
                 role, r->exit_code, words[0] ? ": " : "", words);
}

static int keep(struct lane_switch *s, size_t lane, const char *when, const char *line,
                const struct command_result *r, struct error *err)
{
    struct run_command *c = add(s, err);
    struct buf text = BUF_INIT(COMMAND_OUTPUT_MAX * 4);

    if (!c)
        return -1;
    (void)utf8_add_lossy(&text, buf_str(&r->output));
    *c = (struct run_command){
        .when = when,
        .lane = s->lanes[lane].options.role,
        .command = line,
        .t_ns = r->began_ns,
        .took_ns = r->took_ns,
        .exit_code = r->exit_code < 0 ? INT64_MIN : r->exit_code,
        .signal = r->signal ? r->signal : INT64_MIN,
        .timed_out = r->timed_out,
        .output = text.n ? arena_cstr(&s->arena, buf_str(&text)) : NULL,
    };
    buf_release(&text);
    return arena_check(&s->arena, "what lane commands printed", err);
}

static int run(struct lane_switch *s, size_t lane, bool before, const volatile sig_atomic_t *stop,
               struct lane_trouble *trouble, struct error *err)
{
    const struct load_lane_options *o = &s->lanes[lane].options;
    const char *line = before ? s->commands[lane].before : s->commands[lane].after;
    const char *when = before ? "before" : "after";
    struct command_result r = {.output = BUF_INIT(COMMAND_OUTPUT_MAX)};
    struct buf role = BUF_INIT(64), url = BUF_INIT(8192);
    char text[200];
    int rc = -1;

    if (!line)
        return 0;
    snprintf(text, sizeof text, "--%s-lane of %s: %.120s", when, o->role, line);
    if (s->progress && s->progress->note)
        s->progress->note(s->progress->ctx, false, text);
    buf_addf(&role, "TALLY_LANE=%s", o->role);
    buf_addf(&url, "TALLY_LANE_URL=%s", o->url);
    const char *const more[] = {role.p, url.p, NULL};
    if (buf_check(&role, "a role", err) < 0 || buf_check(&url, "a lane's URL", err) < 0 ||
        command_run(&r, line, more, s->timeout_ns, stop, err) < 0)
        goto out;
    rc = keep(s, lane, before ? "before_lane" : "after_lane", line, &r, err);
    if (rc == 0 && command_failed(&r))
        describe(trouble, o->role, when, &r, s->timeout_ns,
                 before ? "before_lane_timeout" : "after_lane_timeout",
                 before ? "before_lane_failed" : "after_lane_failed");
out:
    buf_release(&role);
    buf_release(&url);
    buf_release(&r.output);
    return rc;
}

/* Until the server answers, and no longer with 503: it may be loading its model. */
static int wait_ready(const struct lane_switch *s, size_t lane, struct lane_trouble *trouble,
                      struct error *err)
{
    int64_t give_up_ns = clock_mono_ns() + s->timeout_ns;
    struct error last = {0};

    while (!(s->stop && *s->stop)) {
        struct wire_exchange *x = NULL;
        int status = 0;
        last = (struct error){0};
        if (wire_fetch(s->lanes[lane].endpoint, "/health", (struct str){NULL, 0}, READY_ASK_NS, &x,
                       &last) == 0) {
            status = x->http_status;
            wire_exchange_free(x);
            snprintf(last.message, sizeof last.message, "/health answers HTTP %d", status);
        } else if (last.kind == ERROR_MEMORY) {
            return error_no_memory(err);
        }
        if (status != 0 && status != 503)
            return 0;
        if (clock_mono_ns() >= give_up_ns)
            break;
        clock_sleep_until_ns(clock_mono_ns() + READY_EVERY_NS, NULL);
    }
    if (s->stop && *s->stop)
        return 0;
    trouble->reason = "before_lane_timeout";
    snprintf(trouble->detail, sizeof trouble->detail,
             "lane %s does not answer %.3f s after its --before-lane: %.250s",
             s->lanes[lane].options.role, (double)s->timeout_ns / 1e9, last.message);
    return 0;
}

static int leave(struct lane_switch *s, const volatile sig_atomic_t *stop,
                 struct lane_trouble *trouble, struct error *err)
{
    size_t lane = s->up;

    if (lane == RUN_LANES_MAX)
        return 0;
    s->up = RUN_LANES_MAX;
    if (run(s, lane, false, stop, trouble, err) < 0)
        return -1;
    if (trouble->reason)
        s->up = lane; /* it may still be there */
    return 0;
}

int lane_switch_to(struct lane_switch *s, size_t lane, struct lane_trouble *trouble,
                   struct error *err)
{
    *trouble = (struct lane_trouble){0};
    if (s->up == lane)
        return 0;
    if (leave(s, s->stop, trouble, err) < 0)
        return -1;
    if (trouble->reason)
        return 0;
    if (run(s, lane, true, s->stop, trouble, err) < 0)
        return -1;
    if (!trouble->reason && s->commands[lane].before && wait_ready(s, lane, trouble, err) < 0)
        return -1;
    s->up = lane; /* also when it failed: what is half up is stopped */
    if (trouble->reason) {
        struct lane_trouble ignored = {0};
        return leave(s, NULL, &ignored, err) < 0 ? -1 : 0;
    }
    return 0;
}

int lane_switch_leave(struct lane_switch *s, struct error *err)
{
    struct lane_trouble trouble = {0};

    if (leave(s, NULL, &trouble, err) < 0)
        return -1;
    if (trouble.reason && s->progress && s->progress->note)
        s->progress->note(s->progress->ctx, true, trouble.detail);
    s->up = RUN_LANES_MAX;
    return 0;
}
