/*
 * Builds a document in the shape of codec/json.h from events; shared by the JSON and YAML readers,
 * internal to codec.
 *
 *     struct json_builder b;
 *     json_builder_init(&b, "JSON", limits, arena);
 *     if (json_build_open(&b, true, at, err) < 0 || json_build_key(&b, name, at, err) < 0) ...
 *     if (json_build_finish(&b, &doc, err) < 0) ...
 *     json_builder_release(&b);
 *
 * Values of open containers gather on one heap stack; a container's members move to the arena in
 * one piece when it closes, so that siblings lie side by side. Texts are copied into the arena.
 * Limits: the caller's, and JSON_DEPTH_MOST levels. Duplicate keys are refused where they stand.
 */
#ifndef TALLY_CODEC_JSON_BUILD_H
#define TALLY_CODEC_JSON_BUILD_H

#include "codec/json.h"

struct json_place {
    uint32_t line, column;
};

struct json_pending;
struct json_frame;

struct json_builder {
    const char *format; /* named in messages */
    struct json_limits limits;
    struct arena *arena;
    size_t values;
    struct json_pending *stack;
    size_t n, cap;
    struct json_frame *frames;
    size_t depth, frames_cap;
    struct json_member root;
};

void json_builder_init(struct json_builder *b, const char *format, const struct json_limits *limits,
                       struct arena *arena);
void json_builder_release(struct json_builder *b);

/* Inside an object every value follows its key. */
int json_build_key(struct json_builder *b, struct str name, struct json_place at,
                   struct error *err);
int json_build_value(struct json_builder *b, enum json_type type, struct str text,
                     struct json_place at, struct error *err);
int json_build_open(struct json_builder *b, bool object, struct json_place at, struct error *err);
int json_build_close(struct json_builder *b, struct error *err);
/* True where an object is open and its next key must come. */
bool json_build_wants_key(const struct json_builder *b);
/* All containers are closed; *out is the document. */
int json_build_finish(struct json_builder *b, const struct json **out, struct error *err);

#endif
