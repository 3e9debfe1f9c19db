#include "cli/run_progress.h"

#include "base/clock.h"
#include "base/utf8.h"

#define PLAIN_EVERY_NS (60 * NS_PER_S)
#define LINE_MAX_BYTES 512

void run_duration_text(char out[32], int64_t ns)
{
    long long s = (long long)((ns + NS_PER_S / 2) / NS_PER_S);

    if (s >= 3600)
        snprintf(out, 32, "%lld h %02lld min", s / 3600, s / 60 % 60);
    else if (s >= 60)
        snprintf(out, 32, "%lld min %02lld s", s / 60, s % 60);
    else
        snprintf(out, 32, "%lld s", s);
}

static void note(void *ctx, bool warning, const char *text)
{
    struct run_progress *p = ctx;
    const struct term *t = &p->cli->err_term;

    if (p->quiet && !warning)
        return;
    live_clear(&p->live);
    fprintf(p->cli->err, "tally: %s%s%s%s\n", warning ? term_on(t, TERM_WARNING) : "",
            warning ? "warning: " : "", warning ? term_off(t) : "", text);
    fflush(p->cli->err);
}

static void where(char *out, size_t n, const struct load_state *s)
{
    snprintf(out, n, "[%zu/%zu] %-10s %-6s rep %d/%d", s->band_index + 1, s->bands_in_all, s->lane,
             s->band_name, s->replicate, s->replicates);
}

/* What stands in the line; those of the highest bit go first when it is too narrow. */
enum part { PART_LEFT = 1, PART_RATE = 2, PART_TTFT = 4, PARTS_ALL = 7 };

static void state_text(struct buf *out, const struct load_state *s, unsigned parts)
{
    char left[32];

    buf_addf(out, "[%zu/%zu] %s c=%d rep %d/%d %s: %lld req", s->band_index + 1, s->bands_in_all,
             s->lane, (int)s->band, (int)s->replicate, (int)s->replicates, s->stage,
             (long long)s->ended);
    if (s->failed > 0)
        buf_addf(out, " (%lld not ok)", (long long)s->failed);
    if ((parts & PART_RATE) && s->tok_s > 0)
        buf_addf(out, ", %.0f tok/s", s->tok_s);
    if ((parts & PART_TTFT) && s->ttft_ns >= 0)
        buf_addf(out, ", TTFT %.*f ms", s->ttft_ns < 100 * NS_PER_MS ? 1 : 0,
                 (double)s->ttft_ns / NS_PER_MS);
    if ((parts & PART_LEFT) && s->left_ns >= 0) {
        run_duration_text(left, s->left_ns);
        buf_addf(out, ", left %s", left);
    }
}

/* The most of it that fits into so many columns. */
static void fit_state(struct buf *out, const struct load_state *s, size_t columns)
{
    unsigned parts = PARTS_ALL;

    do {
        buf_reset(out);
        state_text(out, s, parts);
        parts >>= 1;
    } while (parts && utf8_width(buf_str(out)) > columns);
}

static void state(void *ctx, const struct load_state *s)
{
    struct run_progress *p = ctx;
    struct buf text;
    struct term *t = &p->cli->err_term;
    int64_t now_ns = clock_mono_ns();

    if (p->quiet || (!t->tty && now_ns < p->next_plain_ns))
        return;
    buf_init(&text, LINE_MAX_BYTES);
    term_measure(t);
    fit_state(&text, s, t->tty ? (size_t)t->width - 1 : LINE_MAX_BYTES);
    if (t->tty) {
        live_show(&p->live, buf_str(&text));
    } else {
        p->next_plain_ns = now_ns + PLAIN_EVERY_NS;
        fprintf(p->cli->err, "%.*s\n", STR_ARG(buf_str(&text)));
        fflush(p->cli->err);
    }
    buf_release(&text);
}

static void band_done(void *ctx, const struct load_band_done *d)
{
    struct run_progress *p = ctx;
    const struct term *t = &p->cli->err_term;
    bool good = d->status == STATUS_PASS;
    char place[128];

    if (p->quiet && good)
        return;
    live_clear(&p->live);
    where(place, sizeof place, &d->state);
    fprintf(p->cli->err, "%s  %s%s%s%s%s%s  %lld request%s in the window\n", place,
            term_on(t, good ? TERM_GOOD : TERM_WARNING), good ? "measured" : status_name(d->status),
            d->reason ? "{" : "", d->reason ? d->reason : "", d->reason ? "}" : "", term_off(t),
            (long long)d->state.ended, d->state.ended == 1 ? "" : "s");
    fflush(p->cli->err);
    p->next_plain_ns = clock_mono_ns() + PLAIN_EVERY_NS;
}

void run_progress_init(struct run_progress *p, struct cli *cli, bool quiet)
{
    *p = (struct run_progress){
        .cli = cli,
        .quiet = quiet,
        .live = {.cli = cli},
        .next_plain_ns = clock_mono_ns() + PLAIN_EVERY_NS,
        .calls = {.ctx = p, .note = note, .state = state, .band_done = band_done},
    };
}

void run_progress_end(struct run_progress *p)
{
    live_clear(&p->live);
    fflush(p->cli->err);
}
