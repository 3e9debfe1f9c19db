/*
 * Newline-delimited JSON, as it comes: one document a line, any split gives the same lines.
 *
 *     struct ndjson nd;
 *     ndjson_init(&nd, &(struct ndjson_reader){.on_line = take, .ctx = me});
 *     if (ndjson_feed(&nd, bytes, err) < 0 || ndjson_finish(&nd, err) < 0) ...
 *     ndjson_release(&nd);
 *
 * Lines end in LF or CRLF; empty lines are passed over. A last line without its end counts too and
 * is marked. Ownership: a line lives until the callback returns.
 * Limits: NDJSON_LINE_MAX bytes a line; past it ERROR_LIMIT.
 */
#ifndef TALLY_WIRE_NDJSON_H
#define TALLY_WIRE_NDJSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

#define NDJSON_LINE_MAX ((size_t)4 << 20)

struct ndjson_line {
    struct str text;
    uint64_t end; /* bytes of the stream up to the line's last byte, its end not included */
    bool unterminated;
};

struct ndjson_reader {
    int (*on_line)(void *ctx, const struct ndjson_line *line, struct error *err);
    void *ctx;
};

struct ndjson {
    struct ndjson_reader reader;
    struct buf line;
    uint64_t at;
};

void ndjson_init(struct ndjson *nd, const struct ndjson_reader *reader);
void ndjson_release(struct ndjson *nd);
int ndjson_feed(struct ndjson *nd, struct str bytes, struct error *err) TALLY_MUST_CHECK;
int ndjson_finish(struct ndjson *nd, struct error *err) TALLY_MUST_CHECK;

#endif
