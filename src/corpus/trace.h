/*
 * A trace of requests as somebody recorded them: when each came, how long its prompt and its answer
 * were. No texts.
 *
 *     struct trace t;
 *     if (trace_read(&t, "conversation_trace.jsonl", TRACE_AUTO, 0, err) < 0) ...
 *     t.items[k].at_ns, .prompt_tokens, .output_tokens
 *     trace_release(&t);
 *
 * Three forms, told apart by their first line:
 * - jsonl: {"time": SECONDS, "prompt_tokens": N, "output_tokens": N} a line;
 * - mooncake: {"timestamp": MILLISECONDS, "input_length": N, "output_length": N, "hash_ids": [...]}
 *   a line, as Mooncake's traces (FAST '25); hash_ids, which tell of shared prefixes, are read
 * over;
 * - azure: CSV with the columns TIMESTAMP,ContextTokens,GeneratedTokens, as Azure's LLM inference
 *   traces of 2023 and 2024; a time is "2023-11-16 18:17:03.9799600", optionally with "+00:00".
 * Members of a line that are not named here are read over. Times count from the first request's and
 * never fall. Empty lines are passed over.
 * Ownership: the trace owns its items. Errors name file and line.
 * Limits: TRACE_LINE_MAX bytes a line, TRACE_ITEMS_MAX requests, tokens 1 to CORPUS_TOKENS_MAX, a
 * span of TRACE_SPAN_MAX_NS.
 */
#ifndef TALLY_CORPUS_TRACE_H
#define TALLY_CORPUS_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"

#define TRACE_LINE_MAX ((size_t)1 << 20)
#define TRACE_ITEMS_MAX 1000000
#define TRACE_SPAN_MAX_NS (INT64_C(400) * 24 * 3600 * 1000000000)

#define TRACE_FORMATS(X)          \
    X(TRACE_JSONL, "jsonl")       \
    X(TRACE_MOONCAKE, "mooncake") \
    X(TRACE_AZURE, "azure")

enum trace_format {
#define X(id, name) id,
    TRACE_FORMATS(X)
#undef X
        TRACE_AUTO /* by the first line */
};

struct trace_item {
    int64_t at_ns; /* since the first request */
    int64_t prompt_tokens, output_tokens;
};

struct trace {
    const char *path; /* borrowed */
    enum trace_format format;
    struct trace_item *items;
    size_t n, cap;
    char sha256[SHA256_HEX]; /* of the file's bytes; "" from trace_read_bytes */
};

/* The first `limit` requests; 0: all of them. */
int trace_read(struct trace *t, const char *path, enum trace_format format, int64_t limit,
               struct error *err) TALLY_MUST_CHECK;
/* From bytes in memory, which are not kept; name stands in errors. */
int trace_read_bytes(struct trace *t, struct str bytes, const char *name, enum trace_format format,
                     int64_t limit, struct error *err) TALLY_MUST_CHECK;
void trace_release(struct trace *t); /* NULL and zeroed are fine */

/* Which item the index-th request of a phase is: the window goes through the trace from its
 * beginning, warm-up from its end backwards. From 0. */
int64_t trace_pick(const struct trace *t, bool warmup, int64_t index);
/* When an item is due where the trace is replayed at `speed` thousandths of its own. */
int64_t trace_due_ns(const struct trace_item *item, int32_t speed);

const char *trace_format_name(enum trace_format f);
enum trace_format trace_format_find(const char *name); /* TRACE_AUTO: NULL, "auto", unknown */

#endif
