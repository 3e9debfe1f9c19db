/*
 * Base64 (RFC 4648, section 4: standard alphabet, padded, no line breaks).
 *
 *     base64_add(&buf, bytes);
 *     if (base64_decode(&out, text) < 0) ...       // only the one canonical spelling is taken
 *
 * Decoding is strict: bits that the padding leaves over must be zero, so every byte sequence has
 * exactly one spelling and a changed character is never lost in the tail.
 */
#ifndef TALLY_BASE_BASE64_H
#define TALLY_BASE_BASE64_H

#include "base/buf.h"
#include "base/str.h"

void base64_add(struct buf *out, struct str bytes);
/* Appends the decoded bytes; -1 (out as it was) when text is not the canonical spelling. */
int base64_decode(struct buf *out, struct str text);

#endif
