/*
 * gzip data and files, read and written whole (zlib underneath; nothing else names it).
 *
 *     if (gz_compress_file("s.jsonl", "s.jsonl.gz", err) < 0) ...
 *     if (gz_read(&text, "s.jsonl.gz", 256 << 20, err) < 0) ...
 *
 * The gzip header carries no name and no time, so the same bytes give the same file.
 * gz_read refuses trailing bytes behind the stream, a bad checksum, and more than max bytes
 * (a gzip bomb stops at the limit, not at the end of memory).
 * The outputs replace what `out` held; gz_compress keeps to out's max, the readers set it to `max`.
 * On failure out is empty.
 */
#ifndef TALLY_CODEC_GZ_H
#define TALLY_CODEC_GZ_H

#include "base/buf.h"
#include "base/error.h"

int gz_compress(struct buf *out, struct str bytes, struct error *err) TALLY_MUST_CHECK;
int gz_decompress(struct buf *out, struct str gz, size_t max, struct error *err) TALLY_MUST_CHECK;
int gz_read(struct buf *out, const char *path, size_t max, struct error *err) TALLY_MUST_CHECK;
/* Compresses `from` to `to` in bounded memory (atomically, with fsync); `from` is left. */
int gz_compress_file(const char *from, const char *to, struct error *err) TALLY_MUST_CHECK;

#endif
