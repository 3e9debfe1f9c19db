#include <signal.h>
#include <unistd.h>

#include "cli/cli.h"

int main(int argc, char **argv)
{
    struct cli cli = {.out = stdout, .err = stderr, .argc = argc, .argv = argv};

    signal(SIGPIPE, SIG_IGN); /* a closed reader is an error that is reported, not a death */
    term_init(&cli.out_term, STDOUT_FILENO);
    term_init(&cli.err_term, STDERR_FILENO);
    return cli_run(&cli, argc, argv);
}
