#include "cli/sim_child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

#define NAME "tally-sim"
#define GRACE_NS (2 * NS_PER_S)

extern char **environ;

/* Beside this very program; where the system does not tell which that is, as the shell would. */
static void find(char out[PATH_MAX])
{
    char own[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    char *slash;

    snprintf(out, PATH_MAX, NAME);
    if (n <= 0 || n >= (ssize_t)sizeof own - 1)
        return;
    own[n] = '\0';
    slash = strrchr(own, '/');
    if (!slash || (size_t)(slash - own) + sizeof "/" NAME > PATH_MAX)
        return;
    memcpy(slash + 1, NAME, sizeof NAME);
    if (file_exists(own))
        memcpy(out, own, strlen(own) + 1);
}

static int spawn(pid_t *pid, const char *path, int rate, int out)
{
    char rate_text[16];
    snprintf(rate_text, sizeof rate_text, "%d", rate);
    const char *const words[] = {NAME,      "--null", "--stamp", "--rate",
                                 rate_text, "--port", "0",       NULL};
    char *argv[sizeof words / sizeof *words];
    posix_spawn_file_actions_t files;
    int failed = posix_spawn_file_actions_init(&files);

    if (failed)
        return failed;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        argv[i] = (char *)(uintptr_t)words[i];
    if ((failed = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0)) == 0 &&
        (failed = posix_spawn_file_actions_adddup2(&files, out, 1)) == 0)
        failed = posix_spawnp(pid, path, &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

/* Its first line: the URL. */
static int read_url(int fd, char *url, size_t size)
{
    int64_t deadline_ns = clock_mono_ns() + SIM_CHILD_WAIT_NS;
    size_t n = 0;

    while (n + 1 < size) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int64_t left_ns = deadline_ns - clock_mono_ns();
        ssize_t got;
        if (left_ns <= 0 || poll(&p, 1, (int)(left_ns / NS_PER_MS) + 1) < 0) {
            if (left_ns > 0 && errno == EINTR)
                continue;
            return -1;
        }
        if (!p.revents)
            continue;
        got = read(fd, url + n, size - 1 - n);
        if (got <= 0)
            return -1;
        n += (size_t)got;
        url[n] = '\0';
        if (strchr(url, '\n')) {
            url[strcspn(url, "\n")] = '\0';
            return strncmp(url, "http://", 7) == 0 ? 0 : -1;
        }
    }
    return -1;
}

int sim_child_start(struct sim_child *sim, int rate, struct error *err)
{
    char path[PATH_MAX];
    int ends[2], failed, rc = -1;

    find(path);
    if (pipe(ends) < 0)
        return error_set_errno(err, errno, "cannot make a pipe");
    if (fcntl(ends[0], F_SETFD, FD_CLOEXEC) < 0 || fcntl(ends[1], F_SETFD, FD_CLOEXEC) < 0) {
        error_set_errno(err, errno, "cannot make a pipe");
        goto out;
    }
    failed = spawn(&sim->pid, path, rate, ends[1]);
    if (failed) {
        sim->pid = 0;
        error_set_errno(err, failed, NAME " cannot be started");
        error_at_file(err, path);
        error_remedy(err, "install " NAME " beside tally, or leave out --calibrate");
        goto out;
    }
    close(ends[1]);
    ends[1] = -1;
    if (read_url(ends[0], sim->url, sizeof sim->url) < 0) {
        sim_child_stop(sim);
        error_set(err, ERROR_ENVIRONMENT, NAME " does not say where it listens");
        error_at_file(err, path);
        goto out;
    }
    rc = 0;
out:
    close(ends[0]); /* it prints nothing more */
    if (ends[1] >= 0)
        close(ends[1]);
    return rc;
}

void sim_child_stop(struct sim_child *sim)
{
    int64_t give_up_ns = clock_mono_ns() + GRACE_NS;

    if (sim->pid <= 0)
        return;
    kill(sim->pid, SIGTERM);
    while (waitpid(sim->pid, NULL, WNOHANG) == 0) {
        if (clock_mono_ns() >= give_up_ns)
            kill(sim->pid, SIGKILL);
        clock_sleep_until_ns(clock_mono_ns() + 5 * NS_PER_MS, NULL);
    }
    sim->pid = 0;
}
