/* The table of commands, in the order in which help lists them. */
#include "cli/cli.h"

const struct command *const tally_commands[] = {
    NULL,
};
