#include "codec/library.h"

#include <libfyaml.h>
#include <stdio.h>
#include <yajl/yajl_version.h>
#include <zlib.h>

/* yajl's version as a number, major * 10000 + minor * 100 + micro, as its three parts. */
#define PARTS(v) (v) / 10000, (v) / 100 % 100, (v) % 100
#define TEXT(v) TEXT_OF(v)
#define TEXT_OF(v) #v

void codec_libraries(struct library out[CODEC_LIBRARIES])
{
    static char running[16];

    if (!running[0])
        snprintf(running, sizeof running, "%d.%d.%d", PARTS(yajl_version()));
    out[0] = (struct library){"yajl", TEXT(YAJL_MAJOR) "." TEXT(YAJL_MINOR) "." TEXT(YAJL_MICRO),
                              running};
    out[1] = (struct library){"libfyaml", NULL, fy_library_version()};
    out[2] = (struct library){"zlib", ZLIB_VERSION, zlibVersion()};
}
