/*
 * The libraries behind JSON, YAML and gzip.
 *
 *     struct library list[CODEC_LIBRARIES];
 *     codec_libraries(list);
 */
#ifndef TALLY_CODEC_LIBRARY_H
#define TALLY_CODEC_LIBRARY_H

#include "base/library.h"

#define CODEC_LIBRARIES 3

void codec_libraries(struct library out[CODEC_LIBRARIES]);

#endif
