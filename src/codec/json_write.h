/*
 * Writes JSON into a buffer, keys in the order given: the form of receipts and samples.
 *
 *     struct json_writer w;
 *     json_writer_init(&w, &buf, 2);                  // 0 = one line
 *     json_begin_object(&w);
 *     json_key(&w, "seed"); json_put_i64(&w, 7);
 *     json_end_object(&w);
 *     if (json_writer_check(&w, "receipt", err) < 0) ...
 *
 * Text must be UTF-8; an ill-formed part is written as U+FFFD (raw bytes have no place in JSON;
 * whoever must keep them stores them otherwise). Only what JSON demands is escaped.
 * Limits: depth 64 plus any document that json_parse gives, and the buffer's own maximum. Misuse (a
 * key outside an object) asserts.
 */
#ifndef TALLY_CODEC_JSON_WRITE_H
#define TALLY_CODEC_JSON_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "codec/json.h"

#define JSON_WRITE_DEPTH (64 + JSON_DEPTH_MOST)

struct json_writer {
    struct buf *out;
    unsigned indent, depth;
    bool has_items[JSON_WRITE_DEPTH + 1];
    bool is_object[JSON_WRITE_DEPTH + 1];
    bool after_key;
};

/* indent: spaces a level, or 0 for one line with ", " and ": " left out ("a":1,"b":2). */
void json_writer_init(struct json_writer *w, struct buf *out, unsigned indent);
/* All containers are closed and the buffer holds everything. */
int json_writer_check(const struct json_writer *w, const char *what, struct error *err);

void json_begin_object(struct json_writer *w);
void json_end_object(struct json_writer *w);
void json_begin_array(struct json_writer *w);
void json_end_array(struct json_writer *w);
void json_key(struct json_writer *w, const char *name);
void json_key_str(struct json_writer *w, struct str name);

void json_put_null(struct json_writer *w);
void json_put_bool(struct json_writer *w, bool v);
void json_put_i64(struct json_writer *w, int64_t v);
void json_put_ms(struct json_writer *w, int64_t ns);  /* ns as ms with six decimals */
void json_put_real9(struct json_writer *w, double v); /* nine significant digits; finite */
void json_put_str(struct json_writer *w, struct str s);
void json_put_cstr(struct json_writer *w, const char *s);         /* NULL is null */
void json_put_raw(struct json_writer *w, struct str json);        /* one value, already JSON */
void json_put_value(struct json_writer *w, const struct json *v); /* a parsed value, as it was */

/* The string with its quotes, escaped, appended to b. */
void json_add_quoted(struct buf *b, struct str s);

#endif
