#include "base/library.h"

#include <openssl/crypto.h>
#include <openssl/opensslv.h>

struct library base_library(void)
{
    return (struct library){"openssl", OPENSSL_VERSION_STR,
                            OpenSSL_version(OPENSSL_VERSION_STRING)};
}
