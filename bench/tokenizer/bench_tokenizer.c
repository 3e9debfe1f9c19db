/*
 * How fast a tokenizer loads and encodes: cold (first pass of a fresh tokenizer) and warm.
 *
 *     bench_tokenizer TOKENIZER [--ids OUT] NAME=FILE...
 *
 * One line a text: name, bytes, tokens, cold MB/s, warm MB/s, FNV-1a of the ids (so that others can
 * check that theirs are the same). Before them, the time to load (CPU, ms), the most memory the
 * process had and what it had before (KiB). Then the inputs that make a quadratic method stand
 * still, 1 MB each, in milliseconds. tools/bench-tokenizers puts the peers beside it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "token/tokenizer.h"

#define WARM_ROUNDS 5
#define WORST_BYTES ((size_t)1 << 20)

static int fail(const struct error *err)
{
    struct buf text = BUF_INIT(4096);
    error_format(err, &text);
    fprintf(stderr, "bench_tokenizer: %s\n", buf_str(&text).p);
    buf_release(&text);
    return 5;
}

static uint64_t fnv(const struct token_ids *ids)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < ids->n; i++)
        for (unsigned k = 0; k < 4; k++)
            h = (h ^ (ids->id[i] >> (8 * k) & 255)) * 0x100000001b3u;
    return h;
}

static double rate(size_t bytes, int64_t ns)
{
    return (double)bytes * 1e3 / (double)(ns > 0 ? ns : 1);
}

static int open_timed(struct tokenizer **t, const char *path, int64_t *ns, struct error *err)
{
    const struct tokenizer_options o = {REFERENCE_FROM_FILE};
    int64_t before = clock_process_cpu_ns();
    int status = tokenizer_open(t, path, &o, err);
    *ns = clock_process_cpu_ns() - before;
    return status;
}

/* CPU time, here and there: what else runs on the machine does not count. */
static int encode_timed(const struct tokenizer *t, struct str text, struct token_ids *ids,
                        int64_t *ns, struct error *err)
{
    const struct encode_options o = {0};
    int64_t before = clock_thread_cpu_ns();
    int status = tokenizer_encode(t, text, &o, ids, err);
    *ns = clock_thread_cpu_ns() - before;
    return status;
}

static int bench_text(const char *path, const char *name, struct str text, struct error *err)
{
    struct tokenizer *t = NULL;
    struct token_ids ids = {0};
    int64_t load, cold, warm = INT64_MAX, once;
    if (open_timed(&t, path, &load, err) < 0)
        return -1;
    int status = encode_timed(t, text, &ids, &cold, err);
    for (int i = 0; status == 0 && i < WARM_ROUNDS; i++) {
        status = encode_timed(t, text, &ids, &once, err);
        if (once < warm)
            warm = once;
    }
    if (status == 0)
        printf("text %s %zu %zu %.1f %.1f %016llx\n", name, text.n, ids.n, rate(text.n, cold),
               rate(text.n, warm), (unsigned long long)fnv(&ids));
    token_ids_release(&ids);
    tokenizer_free(t);
    return status;
}

static int bench_worst(const char *path, struct error *err)
{
    static const struct {
        const char *name, *unit;
    } worst[] = {{"abab", "ab"}, {"one-letter", "a"}, {"spaces", " "}, {"newlines", "\n"}};
    for (size_t i = 0; i < sizeof worst / sizeof worst[0]; i++) {
        struct tokenizer *t = NULL;
        struct token_ids ids = {0};
        struct buf text = BUF_INIT(2 * WORST_BYTES);
        int64_t ns;
        while (text.n < WORST_BYTES)
            buf_adds(&text, worst[i].unit);
        if (open_timed(&t, path, &ns, err) < 0)
            return -1;
        int status = encode_timed(t, buf_str(&text), &ids, &ns, err);
        if (status == 0)
            printf("worst %s %zu %zu %.1f\n", worst[i].name, text.n, ids.n, (double)ns / 1e6);
        token_ids_release(&ids);
        buf_release(&text);
        tokenizer_free(t);
        if (status < 0)
            return -1;
    }
    return 0;
}

/* Memory of this process, in KiB, under the name that the system gives it; 0 when it does not say
 * (getrusage would also count what the parent had before exec). */
static long memory_kib(const char *name)
{
    struct buf text = BUF_INIT(0);
    struct error err;
    long kib = 0;
    if (file_read(&text, "/proc/self/status", (size_t)1 << 16, &err) == 0) {
        const char *line = strstr(text.p, name);
        if (line)
            kib = strtol(line + strlen(name), NULL, 10);
    }
    buf_release(&text);
    return kib;
}

static int bench_load(const char *path, struct error *err)
{
    struct tokenizer *t = NULL;
    struct tokenizer_info info;
    int64_t best = INT64_MAX, ns;
    long before = memory_kib("VmRSS:");
    for (int i = 0; i < 3; i++) {
        if (open_timed(&t, path, &ns, err) < 0)
            return -1;
        if (ns < best)
            best = ns;
        tokenizer_describe(t, &info);
        tokenizer_free(t);
    }
    printf("load %.1f %ld %ld\n", (double)best / 1e6, memory_kib("VmHWM:"), before);
    return 0;
}

int main(int argc, char **argv)
{
    struct error err = {0};
    if (argc < 2) {
        fprintf(stderr, "usage: bench_tokenizer TOKENIZER NAME=FILE...\n");
        return 2;
    }
    if (bench_load(argv[1], &err) < 0)
        return fail(&err);
    for (int i = 2; i < argc; i++) {
        char name[64];
        const char *path = strchr(argv[i], '=');
        struct buf text = BUF_INIT(0);
        if (!path)
            return 2;
        snprintf(name, sizeof name, "%.*s", (int)(path - argv[i]), argv[i]);
        if (file_read(&text, path + 1, (size_t)1 << 30, &err) < 0 ||
            bench_text(argv[1], name, buf_str(&text), &err) < 0)
            return fail(&err);
        buf_release(&text);
    }
    return bench_worst(argv[1], &err) < 0 ? fail(&err) : 0;
}
