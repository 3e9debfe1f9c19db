#include "cli/git_ref.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/temp_dir.h"

/* Starts argv with `in` and `out` as its standard streams (-1: as they are). */
static pid_t start(const char *const *argv, int in, int out)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    if ((in < 0 || dup2(in, STDIN_FILENO) >= 0) && (out < 0 || dup2(out, STDOUT_FILENO) >= 0))
        execvp(argv[0], (char *const *)(const void *)argv); /* POSIX: it changes none of them */
    _exit(127);
}

static int ended_well(pid_t pid, const char *name, struct error *err)
{
    int status = 0;
    if (pid < 0)
        return error_set_errno(err, errno, "cannot start %s", name);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return error_set_errno(err, errno, "cannot wait for %s", name);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return error_set(err, ERROR_IO, "%s is not there or cannot be run", name);
    return error_set(err, ERROR_INPUT, "%s gave up (its own words stand above)", name);
}

static int pipe_through(const char *const *first, const char *const *second, struct error *err)
{
    struct error second_err = {0};
    int ends[2];
    if (pipe(ends) < 0)
        return error_set_errno(err, errno, "cannot make a pipe");
    for (int i = 0; i < 2; i++)
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    pid_t a = start(first, -1, ends[1]), b = a < 0 ? -1 : start(second, ends[0], -1);
    close(ends[0]);
    close(ends[1]);
    int status_a = ended_well(a, first[0], err);
    int status_b = b < 0 ? -1 : ended_well(b, second[0], &second_err);
    if (status_a == 0 && status_b < 0)
        *err = second_err;
    return status_a < 0 || status_b < 0 ? -1 : 0;
}

int git_ref_extract(struct buf *dir, const char *what, struct error *err)
{
    /* git's own spelling: everything up to the first colon is the ref, which holds none. */
    const char *colon = strchr(what, ':');
    if (!colon || colon == what || !colon[1] || what[0] == '-') {
        error_set(err, ERROR_USAGE, "'%.200s' is no REF:FOLDER", what);
        return error_remedy(err, "write it as origin/main:perf/runs");
    }
    if (temp_dir_make(dir, "tally-baseline", err) < 0)
        return -1;
    const char *const archive[] = {"git", "archive", "--format=tar", "--", what, NULL};
    const char *const unpack[] = {"tar", "-x", "-C", dir->p, "-f", "-", NULL};
    if (pipe_through(archive, unpack, err) == 0)
        return 0;
    error_wrap(err, "cannot take the baseline from git");
    error_remedy(err, "look what 'git ls-tree %.200s' says; a shallow clone may lack the ref",
                 what);
    temp_dir_remove(dir);
    return -1;
}
