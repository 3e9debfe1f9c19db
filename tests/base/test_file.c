#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "../test.h"

#define TMP_MAX_BYTES 64

static char base_dir[TMP_MAX_BYTES] = "tally_file_XXXXXX";

static int enter(void **state)
{
    (void)state;
    return mkdtemp(base_dir) && chdir(base_dir) == 0 ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    char command[TMP_MAX_BYTES + 32];
    snprintf(command, sizeof command, "rm -rf %s", base_dir);
    return chdir("..") == 0 && system(command) == 0 ? 0 : -1;
}

static void put(const char *path, struct str bytes)
{
    struct error err = {0};
    assert_int_equal(file_write_atomic(path, bytes, &err), 0);
}

static void assert_file(const char *path, const char *wanted)
{
    struct error err = {0};
    struct buf b = BUF_INIT(0);
    assert_int_equal(file_read(&b, path, 1 << 20, &err), 0);
    assert_text(buf_str(&b), wanted);
    buf_release(&b);
}

static mode_t mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    return st.st_mode & 07777;
}

static void reading(void **state)
{
    (void)state;
    struct error err = {0};
    struct buf b = BUF_INIT(3);
    put("five", STR("ab\0de"));
    assert_int_equal(file_read(&b, "five", 5, &err), 0); /* at the limit */
    assert_str(buf_str(&b), STR("ab\0de"));
    assert_int_equal(b.p[5], '\0');
    assert_refused(file_read(&b, "five", 4, &err), err, ERROR_LIMIT, "limit of 4 bytes");
    assert_string_equal(err.file, "five");
    assert_int_equal(b.n, 0); /* nothing half-read is left to be used */
    put("none", STR(""));
    assert_int_equal(file_read(&b, "none", 0, &err), 0);
    assert_text(buf_str(&b), "");
    assert_refused(file_read(&b, "absent", 10, &err), err, ERROR_IO, "cannot open");
    assert_true(err.remedy[0] != '\0');
    assert_refused(file_read(&b, ".", 10, &err), err, ERROR_IO, "cannot read");
    assert_refused(file_read(&b, "five/x", 10, &err), err, ERROR_IO, "cannot open");
    /* A device without end stops at the limit, too. */
    assert_refused(file_read(&b, "/dev/zero", 100000, &err), err, ERROR_LIMIT, "100000");
    buf_release(&b);
}

static void standard_input(void **state)
{
    (void)state;
    struct error err = {0};
    struct buf b = BUF_INIT(0);
    int saved = dup(STDIN_FILENO), ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    close(ends[0]);
    assert_int_equal(write(ends[1], "piped", 5), 5);
    close(ends[1]);
    assert_int_equal(file_read(&b, "-", 100, &err), 0);
    assert_text(buf_str(&b), "piped");
    close(STDIN_FILENO);
    assert_refused(file_read(&b, "-", 100, &err), err, ERROR_IO, "cannot read");
    assert_string_equal(err.file, "<stdin>");
    dup2(saved, STDIN_FILENO);
    close(saved);
    buf_release(&b);
}

static void mapping(void **state)
{
    (void)state;
    struct error err = {0};
    struct file_map m = {0};
    put("five", STR("abcde"));
    assert_int_equal(file_map_open(&m, "five", 5, &err), 0);
    assert_memory_equal(m.p, "abcde", 5);
    assert_int_equal(m.n, 5);
    assert_false(m.heap);
    file_map_close(&m);
    assert_null(m.p);
    file_map_close(&m);
    file_map_close(NULL);
    assert_refused(file_map_open(&m, "five", 4, &err), err, ERROR_LIMIT, "limit of 4 bytes");
    assert_null(m.p);
    put("none", STR(""));
    assert_int_equal(file_map_open(&m, "none", 0, &err), 0);
    assert_null(m.p);
    assert_int_equal(m.n, 0);
    file_map_close(&m);
    assert_refused(file_map_open(&m, "absent", 9, &err), err, ERROR_IO, "cannot open");
    assert_refused(file_map_open(&m, ".", 9, &err), err, ERROR_IO, "cannot read");
}

static void *write_fifo(void *unused)
{
    (void)unused;
    struct error err = {0};
    int fd = open("fifo", O_WRONLY);
    if (fd < 0 || file_write_all(fd, STR("through the fifo"), "fifo", &err) < 0)
        return NULL;
    close(fd);
    return NULL;
}

/* What says it is empty and is not, and what cannot be mapped, is read. */
static void mapping_what_is_no_plain_file(void **state)
{
    (void)state;
    struct error err = {0};
    struct file_map m = {0};
    if (file_exists("/proc/self/status")) {
        assert_int_equal(file_map_open(&m, "/proc/self/status", 1 << 20, &err), 0);
        assert_true(m.n > 0 && m.heap);
        file_map_close(&m);
        assert_refused(file_map_open(&m, "/proc/self/status", 3, &err), err, ERROR_LIMIT, "3");
    }
    pthread_t writer;
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(pthread_create(&writer, NULL, write_fifo, NULL), 0);
    assert_int_equal(file_map_open(&m, "fifo", 100, &err), 0);
    pthread_join(writer, NULL);
    assert_str(str_make(m.p, m.n), STR("through the fifo"));
    assert_true(m.heap);
    file_map_close(&m);
}

static void writing_is_whole(void **state)
{
    (void)state;
    struct error err = {0};
    put("f", STR("one"));
    assert_file("f", "one");
    put("f", STR("two"));
    assert_file("f", "two");
    assert_false(file_exists("f.tmp"));
    /* Into a directory that is not there, or over a directory: an error, nothing made. */
    assert_refused(file_write_atomic("no/f", STR("x"), &err), err, ERROR_IO, "cannot create");
    assert_string_equal(err.file, "no/f");
    assert_int_equal(mkdir("d", 0700), 0);
    assert_refused(file_write_atomic("d", STR("x"), &err), err, ERROR_IO, "cannot write");
    assert_false(file_exists("d.tmp"));
    /* What an earlier run left is in nobody's way. */
    FILE *left = fopen("f.tmp", "w");
    assert_non_null(left);
    fputs("much more than the new text", left);
    fclose(left);
    put("f", STR("three"));
    assert_file("f", "three");
    assert_false(file_exists("f.tmp"));
}

static void writing_keeps_what_the_user_set(void **state)
{
    (void)state;
    put("secret", STR("one"));
    assert_int_equal(chmod("secret", 0600), 0);
    put("secret", STR("two"));
    assert_int_equal(mode_of("secret"), 0600);
    /* Through a link to the file behind it; the link stays one. */
    assert_int_equal(symlink("secret", "link"), 0);
    put("link", STR("three"));
    assert_file("secret", "three");
    struct stat st;
    assert_int_equal(lstat("link", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    /* A link laid where the temporary file goes is not written through. */
    put("victim", STR("untouched"));
    assert_int_equal(symlink("victim", "g.tmp"), 0);
    put("g", STR("x"));
    assert_file("victim", "untouched");
    assert_file("g", "x");
}

static void full_device(void **state)
{
    (void)state;
    struct error err = {0};
    if (!file_exists("/dev/full"))
        skip();
    assert_refused(file_write_atomic("/dev/full", STR("x"), &err), err, ERROR_IO, "cannot write");
    assert_string_equal(err.file, "/dev/full");
    assert_string_equal(err.remedy, "free some space, or write elsewhere");
    assert_false(file_exists("/dev/full.tmp"));
    assert_int_equal(file_write_atomic("/dev/null", STR("x"), &err), 0);
    struct stat st;
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode)); /* written in place, not replaced */
}

/* Past the process's file size limit write() takes a part and then fails with EFBIG, as a disk that
 * fills up does: the old file must be as it was. */
static void failed_write_changes_nothing(void **state)
{
    (void)state;
    struct error err = {0};
    struct rlimit old, small;
    struct buf big = BUF_INIT(100000);
    put("kept", STR("old"));
    buf_pad(&big, 'x', 100000);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = (struct rlimit){.rlim_cur = 50000, .rlim_max = old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_refused(file_write_atomic("kept", buf_str(&big), &err), err, ERROR_IO, "cannot write");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, SIG_DFL);
    buf_release(&big);
    assert_file("kept", "old");
    assert_false(file_exists("kept.tmp"));
}

static void left_before_the_end(void **state)
{
    (void)state;
    struct error err = {0};
    put("kept", STR("old"));
    struct file_out out;
    assert_int_equal(file_out_open(&out, "kept", &err), 0);
    assert_int_equal(file_write_all(out.fd, STR("half of the n"), "kept", &err), 0);
    assert_file("kept", "old");
    file_out_discard(&out);
    file_out_discard(&out);
    assert_file("kept", "old");
    assert_false(file_exists("kept.tmp"));
    /* The temporary file vanishes before the rename. */
    assert_int_equal(file_out_open(&out, "kept", &err), 0);
    assert_int_equal(unlink("kept.tmp"), 0);
    assert_refused(file_out_commit(&out, &err), err, ERROR_IO, "cannot rename");
    assert_file("kept", "old");
    file_out_discard(&out);
    file_out_discard(NULL);
}

static void closed_descriptor(void **state)
{
    (void)state;
    struct error err = {0};
    int fd = open("x", O_WRONLY | O_CREAT, 0600);
    close(fd);
    assert_refused(file_write_all(fd, STR("x"), "name", &err), err, ERROR_IO, "cannot write");
    assert_string_equal(err.file, "name");
    assert_refused(file_commit(fd, "x", "y", &err), err, ERROR_IO, "cannot flush");
    assert_true(file_exists("x"));
    assert_false(file_exists("y"));
}

/* A pipe whose reader is slow takes a write in small parts; a timer interrupts it all the while. */
#define PIPED ((size_t)4 << 20)

static volatile sig_atomic_t alarms;

static void on_alarm(int signal_number)
{
    (void)signal_number;
    alarms++;
}

static void *drain_slowly(void *fd)
{
    static char piece[40000];
    size_t total = 0;
    for (ssize_t n; (n = read(*(int *)fd, piece, sizeof piece)) != 0;) {
        if (n > 0)
            total += (size_t)n;
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
    return (void *)total;
}

/* Starts `other` in a thread that the alarm does not hit, and an alarm every half millisecond
 * without SA_RESTART, so that this thread's calls end in EINTR. */
struct ticker {
    timer_t timer;
    struct sigaction old;
};

static void start_ticker(struct ticker *t, pthread_t *thread, void *(*other)(void *), void *arg)
{
    sigset_t set;
    struct sigaction act = {.sa_handler = on_alarm};
    struct itimerspec every = {.it_interval.tv_nsec = 500000, .it_value.tv_nsec = 500000};
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    assert_int_equal(pthread_create(thread, NULL, other, arg), 0);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    sigaction(SIGALRM, &act, &t->old);
    assert_int_equal(timer_create(CLOCK_MONOTONIC, NULL, &t->timer), 0);
    timer_settime(t->timer, 0, &every, NULL);
    alarms = 0;
}

static void stop_ticker(struct ticker *t)
{
    timer_delete(t->timer);
    sigaction(SIGALRM, &t->old, NULL);
}

static void write_through_a_pipe(bool nonblocking)
{
    struct error err = {0};
    struct buf big = BUF_INIT(PIPED);
    struct ticker ticker;
    int ends[2];
    pthread_t reader;
    void *total;
    buf_pad(&big, 'x', PIPED);
    assert_int_equal(pipe(ends), 0);
    if (nonblocking)
        assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    start_ticker(&ticker, &reader, drain_slowly, &ends[0]);
    int status = file_write_all(ends[1], buf_str(&big), "pipe", &err);
    stop_ticker(&ticker);
    close(ends[1]);
    pthread_join(reader, &total);
    close(ends[0]);
    buf_release(&big);
    assert_int_equal(status, 0);
    assert_int_equal((size_t)total, PIPED);
    assert_true(alarms > 0);
}

static void short_writes_and_signals(void **state)
{
    (void)state;
    write_through_a_pipe(false);
    write_through_a_pipe(true);
}

static void *write_late(void *fd)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    return write(*(int *)fd, "late", 4) == 4 ? fd : NULL;
}

static void reading_through_signals(void **state)
{
    (void)state;
    struct error err = {0};
    struct ticker ticker;
    int ends[2];
    pthread_t writer;
    char text[5] = "";
    assert_int_equal(pipe(ends), 0);
    start_ticker(&ticker, &writer, write_late, &ends[1]);
    ssize_t n = file_read_some(ends[0], text, 4, "pipe", &err);
    stop_ticker(&ticker);
    pthread_join(writer, NULL);
    assert_int_equal(n, 4);
    assert_string_equal(text, "late");
    assert_true(alarms > 0);
    close(ends[0]);
    close(ends[1]);
}

static void directories(void **state)
{
    (void)state;
    struct error err = {0};
    assert_int_equal(dir_make("p/q/r", &err), 0);
    assert_int_equal(dir_make("p/q/r", &err), 0); /* may exist */
    assert_int_equal(dir_make("p//q/s/", &err), 0);
    assert_true(file_exists("p/q/s"));
    assert_true(dir_is_free("p/q/r"));
    assert_true(dir_is_free("p/q/absent"));
    assert_false(dir_is_free("p/q"));
    put("plain", STR("x"));
    assert_false(dir_is_free("plain"));
    assert_refused(dir_make("plain", &err), err, ERROR_IO, "cannot create directory");
    assert_refused(dir_make("plain/below", &err), err, ERROR_IO, "cannot create directory");
    assert_refused(dir_make("", &err), err, ERROR_IO, "cannot create directory");
    char longest[FILE_PATH_MAX + 1];
    memset(longest, 'x', sizeof longest - 1);
    longest[FILE_PATH_MAX] = '\0';
    assert_refused(dir_make(longest, &err), err, ERROR_IO, "cannot create directory");
    assert_refused(file_write_atomic(longest, STR("x"), &err), err, ERROR_IO, "cannot write");
}

static void joining(void **state)
{
    (void)state;
    struct error err = {0};
    struct buf b = BUF_INIT(8);
    assert_int_equal(path_join(&b, "dir", "name", &err), 0); /* at the limit */
    assert_text(buf_str(&b), "dir/name");
    assert_int_equal(path_join(&b, "dir/", "name", &err), 0);
    assert_text(buf_str(&b), "dir/name");
    assert_int_equal(path_join(&b, "", "name", &err), 0);
    assert_text(buf_str(&b), "name");
    assert_int_equal(path_join(&b, "/", "name", &err), 0);
    assert_text(buf_str(&b), "/name");
    assert_refused(path_join(&b, "dir", "names", &err), err, ERROR_LIMIT, "path is longer");
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading),
        cmocka_unit_test(standard_input),
        cmocka_unit_test(mapping),
        cmocka_unit_test(mapping_what_is_no_plain_file),
        cmocka_unit_test(writing_is_whole),
        cmocka_unit_test(writing_keeps_what_the_user_set),
        cmocka_unit_test(full_device),
        cmocka_unit_test(failed_write_changes_nothing),
        cmocka_unit_test(left_before_the_end),
        cmocka_unit_test(closed_descriptor),
        cmocka_unit_test(short_writes_and_signals),
        cmocka_unit_test(reading_through_signals),
        cmocka_unit_test(directories),
        cmocka_unit_test(joining),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
