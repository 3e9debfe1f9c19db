/*
 * YAML 1.2 documents in the shape of codec/json.h (libfyaml underneath; nothing else names it).
 *
 *     const struct json *doc;
 *     if (yaml_parse(&doc, text, &JSON_LIMITS_DEFAULT, &arena, err) < 0) ...
 *
 * Plain scalars follow YAML's core schema: null ~ true false (and Null NULL True TRUE False FALSE)
 * and integers and reals in JSON's grammar become JSON values; everything else (yes, 0x10, +1), and
 * every quoted scalar, is a string. Keys are strings as written. Aliases, anchors, tags, merge
 * keys, several documents and duplicate keys are refused. Every value and every error carries line
 * and column (in characters). An empty document is null. Ownership and limits as json_parse.
 */
#ifndef TALLY_CODEC_YAML_H
#define TALLY_CODEC_YAML_H

#include "codec/json.h"

int yaml_parse(const struct json **out, struct str text, const struct json_limits *limits,
               struct arena *arena, struct error *err) TALLY_MUST_CHECK;
int yaml_parse_file(const struct json **out, const char *path, const struct json_limits *limits,
                    struct arena *arena, struct error *err) TALLY_MUST_CHECK;

#endif
