/*
 * Feeds every file of the directories named on the command line to the fuzz target it is linked
 * with, and each of the file's prefixes up to a limit: a cut-off input is the commonest bad input.
 * An empty or missing corpus is a failure, since such a test would prove nothing.
 */
#include <dirent.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "fuzz.h"

#define INPUT_MAX ((size_t)16 << 20)
#define PREFIXES_MAX 512

static int replay_file(const char *path)
{
    struct error err = {0};
    struct buf whole = BUF_INIT(INPUT_MAX);
    if (file_read(&whole, path, INPUT_MAX, &err) < 0) {
        fprintf(stderr, "%s: %s\n", path, err.message);
        buf_release(&whole);
        return -1;
    }
    size_t cuts = whole.n < PREFIXES_MAX ? whole.n : PREFIXES_MAX;
    for (size_t n = 0; n <= cuts; n++) {
        size_t size = n == cuts ? whole.n : n;
        /* A copy of exactly this size, so that a sanitizer sees the first byte read past it. */
        uint8_t *input = malloc(size ? size : 1);
        if (!input)
            abort();
        if (size)
            memcpy(input, whole.p, size);
        LLVMFuzzerTestOneInput(input, size);
        free(input);
    }
    buf_release(&whole);
    return 0;
}

static int replay_directory(const char *dir)
{
    struct error err = {0};
    struct buf path = BUF_INIT(4096);
    int files = 0, status = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.')
            continue;
        if (path_join(&path, dir, e->d_name, &err) < 0 || replay_file(path.p) < 0)
            status = -1;
        files++;
    }
    if (d)
        closedir(d);
    buf_release(&path);
    printf("%s: %d inputs\n", dir, files);
    return files ? status : -1;
}

int main(int argc, char **argv)
{
    int status = argc < 2 ? -1 : 0;
    for (int i = 1; i < argc; i++)
        if (replay_directory(argv[i]) < 0)
            status = -1;
    return status < 0 ? 1 : 0;
}
