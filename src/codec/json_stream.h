/*
 * JSON as a stream of events, in pieces of any size (yajl underneath; nothing else names it).
 *
 *     struct json_events on = {.string = take_string, .number = take_number};
 *     struct json_stream *s = json_stream_new(&on, ctx, JSON_DEPTH_MAX);
 *     if (!s) return error_no_memory(err);
 *     if (json_stream_feed(s, bytes, err) < 0 || json_stream_finish(s, err) < 0) ...
 *     json_stream_free(s);
 *
 * Numbers come as their text, so that integers of any size and the digits as written survive.
 * Strings come decoded, as valid UTF-8 that may hold NUL; they live until the callback returns.
 * Exactly RFC 8259 is read: no comments, no byte order mark, one value. What the RFC leaves open is
 * refused rather than guessed at: ill-formed UTF-8, and an escaped surrogate without its other half
 * ("\ud800"), for which there is no character and which readers turn into different things.
 * A NULL callback ignores its events. A callback that returns -1 (having set *err) stops the parse.
 * Limits: depth as given. Errors: ERROR_INPUT with the byte offset; ERROR_LIMIT for depth.
 */
#ifndef TALLY_CODEC_JSON_STREAM_H
#define TALLY_CODEC_JSON_STREAM_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

#define JSON_DEPTH_MAX 128

struct json_stream;

struct json_events {
    int (*null)(void *ctx, struct error *err);
    int (*boolean)(void *ctx, bool value, struct error *err);
    int (*number)(void *ctx, struct str text, struct error *err);
    int (*string)(void *ctx, struct str value, struct error *err);
    int (*key)(void *ctx, struct str name, struct error *err);
    int (*start_object)(void *ctx, struct error *err);
    int (*end_object)(void *ctx, struct error *err);
    int (*start_array)(void *ctx, struct error *err);
    int (*end_array)(void *ctx, struct error *err);
};

/* `on` must live as long as the stream. NULL when out of memory. */
struct json_stream *json_stream_new(const struct json_events *on, void *ctx, unsigned depth_max);
void json_stream_free(struct json_stream *s);
int json_stream_feed(struct json_stream *s, struct str bytes, struct error *err) TALLY_MUST_CHECK;
/* The document must be whole and nothing may follow it. */
int json_stream_finish(struct json_stream *s, struct error *err) TALLY_MUST_CHECK;
/* Bytes taken so far; inside a callback, up to about the end of the value reported. */
size_t json_stream_offset(const struct json_stream *s);

#endif
