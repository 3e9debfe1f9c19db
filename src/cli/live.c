#include "cli/live.h"

#include "base/utf8.h"

struct str live_fit(struct str s, size_t columns)
{
    size_t at = 0, width = 0, n;
    uint32_t cp;

    for (; at < s.n; at += n) {
        n = utf8_decode(s, at, &cp);
        n = n ? n : 1;
        width += utf8_width(str_make(s.p + at, n));
        if (width > columns)
            break;
    }
    return str_first(s, at);
}

/* The last column stays free: some terminals wrap when it is written. What wrapped when the
 * terminal became narrower than the line before cannot be taken back; the next one fits again. */
void live_show(struct live *live, struct str text)
{
    struct term *t = &live->cli->err_term;
    struct str line;

    if (!t->tty)
        return;
    term_measure(t);
    line = live_fit(text, (size_t)t->width - 1);
    fprintf(live->cli->err, "\r%.*s\033[K", STR_ARG(line));
    fflush(live->cli->err);
    live->shown = true;
}

void live_clear(struct live *live)
{
    if (live->shown) {
        fputs("\r\033[K", live->cli->err);
        fflush(live->cli->err);
    }
    live->shown = false;
}
