#define PCRE2_CODE_UNIT_WIDTH 8
#include "token/library.h"

#include <pcre2.h>

#define TEXT(v) TEXT_OF(v)
#define TEXT_OF(v) #v

struct library token_library(void)
{
    static char running[64];

    if (!running[0] && (pcre2_config(PCRE2_CONFIG_VERSION, NULL) > (int)sizeof running ||
                        pcre2_config(PCRE2_CONFIG_VERSION, running) < 0))
        running[0] = '\0';
    return (struct library){"pcre2", TEXT(PCRE2_MAJOR) "." TEXT(PCRE2_MINOR),
                            running[0] ? running : NULL};
}
