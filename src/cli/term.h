/*
 * What a descriptor can show: colour (off when not a terminal, with NO_COLOR, or TERM=dumb) and
 * its width.
 *
 *     struct term t;
 *     term_init(&t, STDERR_FILENO);
 *     fprintf(stderr, "%stally:%s ...", term_on(&t, TERM_ERROR), term_off(&t));
 */
#ifndef TALLY_CLI_TERM_H
#define TALLY_CLI_TERM_H

#include <stdbool.h>

enum term_style { TERM_BOLD, TERM_ERROR, TERM_WARNING, TERM_GOOD, TERM_DIM };

struct term {
    bool tty, colour;
    int fd;
    int width; /* columns: COLUMNS, else the terminal's own; 80 when not a terminal */
};

void term_init(struct term *t, int fd);
void term_measure(struct term *t); /* the width again: a terminal may have been resized */
const char *term_on(const struct term *t, enum term_style style); /* "" without colour */
const char *term_off(const struct term *t);

#endif
