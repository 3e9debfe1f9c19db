#include "base/random.h"

#include <limits.h>
#include <openssl/rand.h>

int random_bytes(uint8_t *out, size_t n, struct error *err)
{
    if (n > INT_MAX || RAND_bytes(out, (int)n) != 1)
        return error_set(err, ERROR_ENVIRONMENT, "the system gives no random bytes");
    return 0;
}
