#include "cli/sim_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

#define NAME "tally-sim"
#define START_NS (10 * NS_PER_S) /* a tokenizer is loaded in that time */

int sim_process_find(struct buf *path, struct error *err)
{
    char self[FILE_PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n > 0) {
        self[n] = '\0';
        char *slash = strrchr(self, '/');
        if (slash) {
            *slash = '\0';
            if (path_join(path, self, NAME, err) < 0)
                return -1;
            if (access(path->p, X_OK) == 0)
                return 0;
        }
    }
    buf_reset(path);
    buf_adds(path, NAME);
    return buf_check(path, "a path", err);
}

static int run_it(const char *path, const char *const *argv, int out)
{
    int quiet = open("/dev/null", O_RDWR);
    if (quiet >= 0 && dup2(quiet, STDIN_FILENO) >= 0 && dup2(quiet, STDERR_FILENO) >= 0 &&
        dup2(out, STDOUT_FILENO) >= 0)
        execvp(path, (char *const *)(const void *)argv); /* POSIX: it changes none of them */
    return 127;
}

/* The first line of what it prints holds the URL. */
static int read_url(struct sim_process *sim, struct error *err)
{
    char line[256];
    size_t n = 0;
    int64_t end = clock_mono_ns() + START_NS;
    while (n < sizeof line - 1) {
        struct pollfd p = {.fd = sim->out, .events = POLLIN};
        int64_t left = end - clock_mono_ns();
        int ready = left > 0 ? poll(&p, 1, (int)(left / NS_PER_MS) + 1) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        ssize_t got = ready > 0 ? read(sim->out, line + n, 1) : 0;
        if (got <= 0 || line[n] == '\n')
            break;
        n++;
    }
    line[n] = '\0';
    const char *url = strstr(line, "http://");
    if (!url || sscanf(url, "%127[^ \t,]", sim->url) != 1)
        return error_set(err, ERROR_IO, NAME " did not say where it listens");
    return 0;
}

int sim_process_start(struct sim_process *sim, const char *path, const char *const *argv,
                      struct error *err)
{
    int ends[2];
    *sim = (struct sim_process){.out = -1};
    if (pipe(ends) < 0)
        return error_set_errno(err, errno, "cannot make a pipe");
    for (int i = 0; i < 2; i++)
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    sim->pid = fork();
    if (sim->pid == 0)
        _exit(run_it(path, argv, ends[1]));
    close(ends[1]);
    sim->out = ends[0];
    if (sim->pid < 0) {
        sim->pid = 0;
        sim_process_stop(sim);
        return error_set_errno(err, errno, "cannot start " NAME);
    }
    if (read_url(sim, err) == 0)
        return 0;
    sim_process_stop(sim);
    return error_remedy(err, "is it installed beside tally, and is '%s' it?", path);
}

void sim_process_stop(struct sim_process *sim)
{
    if (sim->pid > 0) {
        kill(sim->pid, SIGTERM);
        while (waitpid(sim->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    if (sim->pid > 0 || sim->out > 0)
        close(sim->out);
    *sim = (struct sim_process){0};
}
