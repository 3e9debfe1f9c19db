/* What reading files cannot tell: tried out, on loopback and in the run's directory. */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "load/doctor.h"
#include "wire/clock_map.h"
#include "wire/kernel_time.h"
#include "wire/wakeup.h"

#define STAMP_WAIT_MS 1000
#define STAMP_TRIES 20
#define STAMP_PAUSE_MS 10
#define STAMP_PLAUSIBLE_NS NS_PER_S /* a stamp is this near to now, or is none */
#define COMPUTE_NS (200 * NS_PER_MS)
#define WAIT_SPOILS 5.0 /* per cent of the time a thread that wants to run has to wait */
#define WAIT_NOTED 1.0
#define WAKEUP_SPOILS_NS (2 * NS_PER_MS)
#define WAKEUP_NOTED_NS (300 * NS_PER_US)
#define CLOCK_READS 20000
#define CLOCK_SPOILS_NS 500
#define FILES_NOTED 4096
#define FILES_WANTED 256
#define DISK_WANTED (INT64_C(200) * 1000 * 1000)
#define DISK_NOTED (INT64_C(2) * 1000 * 1000 * 1000)
#define SYNCS 5
#define SYNC_NOTED_NS (100 * NS_PER_MS)
#define STATUS_UNSYNC 0x0040 /* STA_UNSYNC of adjtimex */

/* Two ends of a TCP connection over loopback, the second stamping. 0 or -1. */
static int connect_pair(int pair[2])
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t n = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM, 0), rc = -1;

    pair[0] = pair[1] = -1;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (listener >= 0 && bind(listener, (struct sockaddr *)&at, sizeof at) == 0 &&
        listen(listener, 1) == 0 && getsockname(listener, (struct sockaddr *)&at, &n) == 0 &&
        (pair[1] = socket(AF_INET, SOCK_STREAM, 0)) >= 0 && kernel_time_enable(pair[1]) == 0 &&
        connect(pair[1], (struct sockaddr *)&at, sizeof at) == 0 &&
        (pair[0] = accept(listener, NULL, NULL)) >= 0)
        rc = 0;
    if (listener >= 0)
        close(listener);
    return rc;
}

/* One byte sent and read. 0 with how long after the sending its stamp lies, or -1. */
static int stamp_byte(const int pair[2], int64_t *after_ns)
{
    struct pollfd p = {.fd = pair[1], .events = POLLIN};
    int64_t sent_ns = clock_real_ns(), stamp_ns;
    size_t waiting;
    char byte;
    int rc = -1;

    if (send(pair[0], "x", 1, 0) == 1 && poll(&p, 1, STAMP_WAIT_MS) == 1 &&
        kernel_time_peek(pair[1], 1, &waiting, &stamp_ns) == 0) {
        *after_ns = stamp_ns - sent_ns;
        rc = *after_ns >= 0 && *after_ns < STAMP_PLAUSIBLE_NS ? 0 : -1;
    }
    return recv(pair[1], &byte, 1, MSG_DONTWAIT) == 1 ? rc : -1;
}

/* The kernel's stamp of a byte over loopback, against the clock around it. Linux begins to stamp a
 * moment after the first socket of the machine asks for it, so the first bytes may have none. */
static int try_stamp(int64_t *after_ns)
{
    int pair[2], rc = -1;

    if (connect_pair(pair) == 0) {
        for (int i = 0; rc < 0 && i < STAMP_TRIES; i++) {
            if (i > 0)
                poll(NULL, 0, STAMP_PAUSE_MS);
            rc = stamp_byte(pair, after_ns);
        }
    }
    for (int i = 0; i < 2; i++)
        if (pair[i] >= 0)
            close(pair[i]);
    return rc;
}

static void try_kernel_time(struct doctor *d)
{
    struct doctor_finding *f;
    int64_t after_ns = 0;

    if (try_stamp(&after_ns) == 0) {
        doctor_add(d, "kernel_time", DOCTOR_OK,
                   "a byte over loopback was stamped %.1f us after it was sent",
                   (double)after_ns / NS_PER_US);
        return;
    }
    f = doctor_add(d, "kernel_time", DOCTOR_NOTE, "no stamp on a loopback socket");
    doctor_why(f, "receive times are then those at which the client woke up: later by what waking "
                  "takes, and the receipt says so");
    doctor_remedy(f, "measure from Linux, outside a sandbox that hides SO_TIMESTAMPNS");
}

static void try_wakeup(struct doctor *d)
{
    struct doctor_finding *f;
    struct error err = {0};
    int64_t ns;

    if (wakeup_calibrate(&ns, &err) < 0) {
        f = doctor_add(d, "wakeup", DOCTOR_SPOILS, "could not be tried: %.150s", err.message);
        doctor_why(f, "the client cannot wait for its sockets");
        doctor_remedy(f, "ulimit -a");
        return;
    }
    f = doctor_add(d, "wakeup",
                   ns >= WAKEUP_SPOILS_NS  ? DOCTOR_SPOILS
                   : ns >= WAKEUP_NOTED_NS ? DOCTOR_NOTE
                                           : DOCTOR_OK,
                   "a waiting thread runs %.0f us after it was woken", (double)ns / NS_PER_US);
    if (f->level != DOCTOR_OK) {
        doctor_why(f, "without kernel time stamps each token is seen so much too late; "
                      "deep sleep of processors, or other work, is the usual cause");
        doctor_remedy(f, "sudo cpupower idle-set -D 10");
    }
}

/* Computes for a while and asks how long it had to wait for a processor meanwhile. */
static void try_waiting(struct doctor *d)
{
    struct doctor_finding *f;
    int64_t before = thread_run_queue_wait_ns(), begin = clock_mono_ns(), now = begin, after;

    while (now - begin < COMPUTE_NS)
        now = clock_mono_ns();
    after = thread_run_queue_wait_ns();
    if (before == INT64_MIN || after == INT64_MIN)
        return; /* load and pressure tell of it where the system does not */
    double share = 100.0 * (double)(after - before) / (double)(now - begin);
    f = doctor_add(d, "waiting",
                   share >= WAIT_SPOILS  ? DOCTOR_SPOILS
                   : share >= WAIT_NOTED ? DOCTOR_NOTE
                                         : DOCTOR_OK,
                   "a thread that computed waited %.1f %% of the time for a processor", share);
    if (f->level != DOCTOR_OK) {
        doctor_why(f, "that share counts as the client's own: at 70 %% of a core a band is "
                      "suspect, at 90 %% it is refused");
        doctor_remedy(f, "ps -eo pcpu,pid,args --sort=-pcpu | head");
    }
}

static void try_clock(struct doctor *d)
{
    struct clock_state state;
    struct doctor_finding *f;
    int64_t begin = clock_mono_ns(), spent;

    for (int i = 0; i < CLOCK_READS; i++)
        (void)clock_mono_ns();
    spent = (clock_mono_ns() - begin) / CLOCK_READS;
    f = doctor_add(d, "clock_read", spent >= CLOCK_SPOILS_NS ? DOCTOR_SPOILS : DOCTOR_OK,
                   "reading the clock takes %lld ns", (long long)spent);
    if (f->level != DOCTOR_OK) {
        doctor_why(f, "every stamp costs that much of the timing thread");
        doctor_remedy(f, "see clock_source; in a virtual machine ask for an invariant TSC");
    }
    clock_state_read(&state);
    if (state.status == INT64_MIN) {
        f = doctor_add(d, "clock_sync", DOCTOR_UNKNOWN, "this system does not tell");
    } else if (state.status & STATUS_UNSYNC) {
        f = doctor_add(d, "clock_sync", DOCTOR_NOTE, "not synchronized");
    } else {
        doctor_add(d, "clock_sync", DOCTOR_OK, "synchronized");
        return;
    }
    doctor_why(f,
               "durations are sound; dates in receipts and ledgers may be off, and a step of the "
               "clock in mid-band voids its kernel times");
    doctor_remedy(f, "sudo timedatectl set-ntp true");
}

static void try_files(struct doctor *d)
{
    struct rlimit limit;
    struct doctor_finding *f;
    long long soft;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    if (limit.rlim_cur == RLIM_INFINITY) {
        doctor_add(d, "open_files", DOCTOR_OK, "no limit");
        return;
    }
    soft = (long long)limit.rlim_cur;
    f = doctor_add(d, "open_files",
                   soft < FILES_WANTED  ? DOCTOR_SPOILS
                   : soft < FILES_NOTED ? DOCTOR_NOTE
                                        : DOCTOR_OK,
                   "%lld at a time", soft);
    if (f->level != DOCTOR_OK) {
        doctor_why(f, "a stream is an open file: bands of about %lld and more cannot be run",
                   soft > 64 ? soft - 64 : 0);
        doctor_remedy(f, "ulimit -n %lld",
                      limit.rlim_max == RLIM_INFINITY || limit.rlim_max > 65536
                          ? 65536
                          : (long long)limit.rlim_max);
    }
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The median time that writing a page and syncing it takes, or -1 with *err set. */
static int sync_times(const char *dir, int64_t *median_ns, struct error *err)
{
    char path[FILE_PATH_MAX], page[4096] = {0};
    int64_t took[SYNCS];
    int fd, rc = -1, n = snprintf(path, sizeof path, "%s/.tally-doctor-XXXXXX", dir);

    if (n < 0 || (size_t)n >= sizeof path)
        return error_set(err, ERROR_LIMIT, "the path is too long");
    fd = mkstemp(path);
    if (fd < 0)
        return error_set_errno(err, errno, "no file can be made there");
    for (int i = 0; i < SYNCS; i++) {
        int64_t begin = clock_mono_ns();
        if (file_write_all(fd, str_make(page, sizeof page), path, err) < 0)
            goto out;
        if (fsync(fd) < 0) {
            error_set_errno(err, errno, "fsync failed");
            goto out;
        }
        took[i] = clock_mono_ns() - begin;
    }
    qsort(took, SYNCS, sizeof took[0], by_size);
    *median_ns = took[SYNCS / 2];
    rc = 0;
out:
    close(fd);
    unlink(path);
    return rc;
}

static void try_disk(struct doctor *d, const char *dir)
{
    struct doctor_finding *f;
    struct error err = {0};
    struct statvfs fs;
    int64_t left, median_ns = 0;

    if (statvfs(dir, &fs) < 0) {
        f = doctor_add(d, "disk", DOCTOR_SPOILS, "%.80s: %s", dir, strerror(errno));
        doctor_why(f, "a run has nowhere to go");
        doctor_remedy(f, "mkdir -p %.200s", dir);
        return;
    }
    left = (int64_t)((double)fs.f_bavail * (double)fs.f_frsize);
    f = doctor_add(d, "disk",
                   left < DISK_WANTED  ? DOCTOR_SPOILS
                   : left < DISK_NOTED ? DOCTOR_NOTE
                                       : DOCTOR_OK,
                   "%.1f GB free in %.80s", (double)left / 1e9, dir);
    if (f->level != DOCTOR_OK) {
        doctor_why(f, "records of a long run take some 100 MB; a full disk ends it; "
                      "another place is chosen with --out");
        doctor_remedy(f, "df -h %.80s", dir);
    }
    if (sync_times(dir, &median_ns, &err) < 0) {
        f = doctor_add(d, "fsync", DOCTOR_SPOILS, "%.150s", err.message);
        doctor_why(f, "what was measured could not be kept");
        doctor_remedy(f, "choose a directory that you may write to, with --out");
        return;
    }
    f = doctor_add(d, "fsync", median_ns >= SYNC_NOTED_NS ? DOCTOR_NOTE : DOCTOR_OK,
                   "%.1f ms to write and sync a page", (double)median_ns / NS_PER_MS);
    if (f->level != DOCTOR_OK) {
        doctor_why(f, "each band ends with several syncs: the pause between bands grows, what is "
                      "measured does not");
        doctor_remedy(f, "choose a local disk with --out");
    }
}

void doctor_try(struct doctor *d, const char *dir)
{
    try_kernel_time(d);
    try_clock(d);
    try_waiting(d);
    try_wakeup(d);
    try_files(d);
    try_disk(d, dir);
}
