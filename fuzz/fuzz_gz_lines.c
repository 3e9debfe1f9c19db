/* Any file: its lines, put together again, are what gz_decompress makes of it (or the file itself
 * when it is not gzip); where one refuses, so does the other. */
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "codec/gz.h"
#include "codec/gz_lines.h"
#include "fuzz.h"

#define LIMIT ((size_t)1 << 20)

static int join(struct buf *out, const char *path, struct error *err)
{
    const struct gz_lines_limits limits = {LIMIT, LIMIT};
    struct gz_lines *r;
    struct str line;
    int got;
    FUZZ_REQUIRE(gz_lines_open(&r, path, &limits, err) == 0);
    while ((got = gz_lines_next(r, &line, err)) > 0) {
        buf_addstr(out, line);
        if (!gz_lines_unterminated(r))
            buf_addc(out, '\n');
    }
    gz_lines_free(r);
    return got;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[] = "fuzz_gz_lines.XXXXXX";
    struct error err = {0};
    struct str input = str_make(data, size);
    struct buf whole = BUF_INIT(BUF_ANY), lines = BUF_INIT(BUF_ANY);
    bool gzip = size >= 2 && data[0] == 0x1f && data[1] == 0x8b;
    int fd = mkstemp(path);
    FUZZ_REQUIRE(fd >= 0);
    FUZZ_REQUIRE(file_write_all(fd, input, path, &err) == 0);
    close(fd);
    int status = gzip ? gz_decompress(&whole, input, LIMIT, &err) : 0;
    int got = join(&lines, path, &err);
    unlink(path);
    if (gzip)
        FUZZ_REQUIRE((status == 0) == (got == 0));
    if (got == 0)
        FUZZ_REQUIRE(str_eq(buf_str(&lines), gzip ? buf_str(&whole) : input));
    else
        FUZZ_REQUIRE(err.message[0] && err.file[0]);
    buf_release(&whole);
    buf_release(&lines);
    return 0;
}
