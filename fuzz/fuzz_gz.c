/* Any bytes: decompressing them never passes the limit; compressing them gives them back. */
#include <string.h>

#include "codec/gz.h"
#include "fuzz.h"

#define LIMIT ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    struct str input = str_make(data, size);
    struct buf out = BUF_INIT(BUF_ANY), packed = BUF_INIT(BUF_ANY);
    if (gz_decompress(&out, input, LIMIT, &err) == 0)
        FUZZ_REQUIRE(out.n <= LIMIT);
    else
        FUZZ_REQUIRE(err.message[0]);
    if (size <= LIMIT) {
        FUZZ_REQUIRE(gz_compress(&packed, input, &err) == 0);
        FUZZ_REQUIRE(gz_decompress(&out, buf_str(&packed), size, &err) == 0);
        FUZZ_REQUIRE(str_eq(buf_str(&out), input));
    }
    buf_release(&out);
    buf_release(&packed);
    return 0;
}
