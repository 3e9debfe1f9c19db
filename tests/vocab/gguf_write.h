/*
 * Writes GGUF files for tests, by its specification (ggml's docs/gguf.md).
 *
 *     gguf_head(&b, 3, 2);                               // version, number of keys
 *     gguf_string(&b, "tokenizer.ggml.model", "gpt2");
 *     gguf_strings(&b, "tokenizer.ggml.tokens", list, n);
 */
#ifndef TALLY_TESTS_GGUF_WRITE_H
#define TALLY_TESTS_GGUF_WRITE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"

static inline void put(struct buf *b, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_addc(b, (char)(v >> (8 * i)));
}

static inline void put_str(struct buf *b, const char *s)
{
    put(b, strlen(s), 8);
    buf_adds(b, s);
}

static inline void gguf_head(struct buf *b, uint32_t version, uint64_t keys)
{
    buf_adds(b, "GGUF");
    put(b, version, 4);
    put(b, 0, 8);
    put(b, keys, 8);
}

static inline void gguf_string(struct buf *b, const char *key, const char *value)
{
    put_str(b, key);
    put(b, 8, 4);
    put_str(b, value);
}

static inline void gguf_array(struct buf *b, const char *key, uint32_t type, uint64_t n)
{
    put_str(b, key);
    put(b, 9, 4);
    put(b, type, 4);
    put(b, n, 8);
}

static inline void gguf_strings(struct buf *b, const char *key, const char *const *list, size_t n)
{
    gguf_array(b, key, 8, n);
    for (size_t i = 0; i < n; i++)
        put_str(b, list[i]);
}

static inline void gguf_u32(struct buf *b, const char *key, uint32_t v)
{
    put_str(b, key);
    put(b, 4, 4);
    put(b, v, 4);
}

#endif
