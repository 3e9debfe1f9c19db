#include "base/command.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define LOOK_EVERY_NS (10 * NS_PER_MS)

extern char **environ;

/* A file that nobody else can name: whoever holds it open may go on writing. */
static int nameless_file(struct error *err)
{
    const char *dir = getenv("TMPDIR");
    struct buf path = BUF_INIT(4096);
    int fd = -1;

    buf_addf(&path, "%s/tally-command-XXXXXX", dir && *dir ? dir : "/tmp");
    if (buf_check(&path, "the path of a temporary file", err) < 0)
        goto out;
    fd = mkstemp(path.p);
    if (fd < 0) {
        error_set_errno(err, errno, "cannot make a temporary file");
        error_at_file(err, path.p);
        goto out;
    }
    unlink(path.p);
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) {
        error_set_errno(err, errno, "cannot make a temporary file");
        close(fd);
        fd = -1;
    }
out:
    buf_release(&path);
    return fd;
}

/* Ours, but for those that `more` names anew. */
static char **environment(const char *const *more)
{
    size_t n = 0, extra = 0;
    char **list;

    while (environ[n])
        n++;
    while (more && more[extra])
        extra++;
    list = calloc(n + extra + 1, sizeof *list);
    if (!list)
        return NULL;
    size_t at = 0;
    for (size_t i = 0; i < extra; i++)
        list[at++] = (char *)(uintptr_t)more[i];
    for (size_t i = 0; i < n; i++) {
        bool anew = false;
        for (size_t k = 0; k < extra && !anew; k++) {
            size_t name = strcspn(more[k], "=") + 1;
            anew = strncmp(environ[i], more[k], name) == 0;
        }
        if (!anew)
            list[at++] = environ[i];
    }
    return list;
}

static int spawn(pid_t *pid, const char *line, char *const *env, int out)
{
    char *const argv[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
                          (char *)(uintptr_t)line, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t defaults;
    int failed;

    if ((failed = posix_spawn_file_actions_init(&files)) != 0)
        return failed;
    if ((failed = posix_spawnattr_init(&attr)) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return failed;
    }
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGINT);
    sigaddset(&defaults, SIGPIPE);
    if ((failed = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0)) == 0 &&
        (failed = posix_spawn_file_actions_adddup2(&files, out, 1)) == 0 &&
        (failed = posix_spawn_file_actions_adddup2(&files, out, 2)) == 0 &&
        (failed = posix_spawnattr_setpgroup(&attr, 0)) == 0 &&
        (failed = posix_spawnattr_setsigdefault(&attr, &defaults)) == 0 &&
        (failed = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF)) ==
            0)
        failed = posix_spawn(pid, "/bin/sh", &files, &attr, argv, env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

/* True once the shell has ended, and how. */
static bool has_ended(struct command_result *r, pid_t pid)
{
    int status;
    pid_t got = waitpid(pid, &status, WNOHANG);

    if (got == 0 || (got < 0 && errno == EINTR))
        return false;
    r->exit_code = got > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    r->signal = got > 0 && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return true;
}

static void wait_for(struct command_result *r, pid_t pid, int64_t timeout_ns,
                     const volatile sig_atomic_t *stop)
{
    int64_t deadline_ns = r->began_ns + timeout_ns;

    while (!has_ended(r, pid)) {
        int64_t now_ns = clock_mono_ns();
        bool late = now_ns >= deadline_ns;
        if ((r->timed_out || r->stopped) && late) {
            kill(-pid, SIGKILL);
            deadline_ns = now_ns + NS_PER_S;
        } else if (!r->timed_out && !r->stopped && (late || (stop && *stop))) {
            r->timed_out = late;
            r->stopped = !late;
            kill(-pid, SIGTERM);
            deadline_ns = now_ns + COMMAND_GRACE_NS;
        }
        clock_sleep_until_ns(now_ns + LOOK_EVERY_NS, NULL);
    }
    if (r->timed_out || r->stopped) /* what it had started does not outlive it */
        kill(-pid, SIGKILL);
}

static void read_tail(struct command_result *r, int fd)
{
    char bytes[COMMAND_OUTPUT_MAX];
    struct stat st;
    off_t from;
    ssize_t n;

    buf_reset(&r->output);
    if (fstat(fd, &st) < 0)
        return;
    from = st.st_size > (off_t)sizeof bytes ? st.st_size - (off_t)sizeof bytes : 0;
    n = pread(fd, bytes, sizeof bytes, from);
    if (n > 0)
        buf_add(&r->output, bytes, (size_t)n);
}

int command_run(struct command_result *r, const char *line, const char *const *more,
                int64_t timeout_ns, const volatile sig_atomic_t *stop, struct error *err)
{
    int fd = nameless_file(err), failed;
    char **env;
    pid_t pid;

    if (fd < 0)
        return -1;
    r->exit_code = r->signal = 0;
    r->timed_out = r->stopped = false;
    env = environment(more);
    if (!env) {
        close(fd);
        return error_no_memory(err);
    }
    r->began_ns = clock_mono_ns();
    failed = spawn(&pid, line, env, fd);
    free(env);
    if (failed == 0) {
        wait_for(r, pid, timeout_ns, stop);
        r->took_ns = clock_mono_ns() - r->began_ns;
        read_tail(r, fd);
    }
    close(fd);
    return failed ? error_set_errno(err, failed, "cannot start a shell") : 0;
}

bool command_failed(const struct command_result *r)
{
    return r->timed_out || r->stopped || r->signal != 0 || r->exit_code != 0;
}
