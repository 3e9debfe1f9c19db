/* TIOCGWINSZ is no part of POSIX.1-2008; 80 is the fallback. */
#include "cli/term.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/num.h"

#define WIDTH_DEFAULT 80
#define WIDTH_MIN 40
#define WIDTH_MAX 1000

static int width_of(int fd)
{
    int64_t columns = 0;
    const char *env = getenv("COLUMNS");

    /* Who sets it means it: shells keep theirs to themselves. */
    if (env && num_parse_i64(&columns, str_of(env)) < 0)
        columns = 0;
#ifdef TIOCGWINSZ
    struct winsize size;
    if (columns <= 0 && ioctl(fd, TIOCGWINSZ, &size) == 0)
        columns = size.ws_col;
#endif
    if (columns <= 0)
        return WIDTH_DEFAULT;
    if (columns < WIDTH_MIN)
        return WIDTH_MIN;
    return columns > WIDTH_MAX ? WIDTH_MAX : (int)columns;
}

void term_init(struct term *t, int fd)
{
    const char *name = getenv("TERM"), *no_color = getenv("NO_COLOR");

    t->tty = isatty(fd) == 1;
    /* https://no-color.org: present and not empty */
    t->colour = t->tty && !(no_color && *no_color) && name && strcmp(name, "dumb") != 0;
    t->fd = fd;
    term_measure(t);
}

void term_measure(struct term *t)
{
    t->width = t->tty ? width_of(t->fd) : WIDTH_DEFAULT;
}

const char *term_on(const struct term *t, enum term_style style)
{
    static const char *const codes[] = {
        [TERM_BOLD] = "\033[1m",  [TERM_ERROR] = "\033[1;31m", [TERM_WARNING] = "\033[1;33m",
        [TERM_GOOD] = "\033[32m", [TERM_DIM] = "\033[2m",
    };
    return t->colour ? codes[style] : "";
}

const char *term_off(const struct term *t)
{
    return t->colour ? "\033[0m" : "";
}
