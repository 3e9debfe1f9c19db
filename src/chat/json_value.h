/*
 * JSON documents as values a template can read.
 *
 *     struct jinja_value ctx;
 *     if (value_from_json(&ctx, doc, &arena, err) < 0) ...
 *
 * Order of keys, digits of integers and the text of strings are kept as written.
 * Ownership: strings are borrowed from the document; both it and the arena must outlive the value.
 */
#ifndef TALLY_CHAT_JSON_VALUE_H
#define TALLY_CHAT_JSON_VALUE_H

#include "codec/json.h"
#include "jinja/value.h"

int value_from_json(struct jinja_value *out, const struct json *doc, struct arena *a,
                    struct error *err) TALLY_MUST_CHECK;

#endif
