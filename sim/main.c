/* tally-sim: a simulated OpenAI-compatible server. Prints its URL, serves until it is told to end.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "server.h"

static int stop_pipe[2];

static void on_stop(int signal_number)
{
    int kept = errno;
    ssize_t put = write(stop_pipe[1], "", 1);
    (void)signal_number;
    (void)put; /* a full pipe stops as well */
    errno = kept;
}

static int fail(const struct error *err)
{
    struct buf text = BUF_INIT(4096);
    error_format(err, &text);
    fprintf(stderr, "tally-sim: %s\n", buf_str(&text).p);
    if (err->remedy[0])
        fprintf(stderr, "  remedy: %s\n", err->remedy);
    buf_release(&text);
    return error_exit_code(err->kind);
}

static int catch_signals(struct error *err)
{
    struct sigaction stop = {.sa_handler = on_stop}, ignore = {.sa_handler = SIG_IGN};
    if (pipe(stop_pipe) < 0 || sigaction(SIGINT, &stop, NULL) < 0 ||
        sigaction(SIGTERM, &stop, NULL) < 0 || sigaction(SIGPIPE, &ignore, NULL) < 0)
        return error_set_errno(err, errno, "cannot catch signals");
    return 0;
}

static int print_help(struct error *err)
{
    struct buf text = BUF_INIT(1 << 16);
    options_help(&text);
    bool printed = fwrite(text.p, 1, text.n, stdout) == text.n && fflush(stdout) == 0;
    buf_release(&text);
    return printed ? 0 : error_set_errno(err, errno, "cannot write to standard output");
}

int main(int argc, char **argv)
{
    struct sim_options o;
    struct server *s = NULL;
    struct error err = {0};
    int got = options_parse(&o, argc, argv, &err);
    if (got == 0 && o.help) {
        got = print_help(&err);
        return got == 0 ? 0 : fail(&err);
    }
    if (got == 0 && o.version) {
        puts("tally-sim " TALLY_SIM_VERSION);
        return 0;
    }
    if (got == 0)
        got = catch_signals(&err);
    if (got == 0)
        got = server_new(&s, &o, &err);
    if (got == 0 && (printf("%s\n", server_url(s)) < 0 || fflush(stdout) != 0))
        got = error_set_errno(&err, errno, "cannot write to standard output");
    if (got == 0)
        got = server_run(s, stop_pipe[0], &err);
    server_free(s);
    return got == 0 ? 0 : fail(&err);
}
