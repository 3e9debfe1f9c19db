/*
 * Server-sent events, as they come: any split of the bytes gives the same events.
 *
 *     struct sse sse;
 *     sse_init(&sse, &(struct sse_reader){.on_event = take, .ctx = me});
 *     if (sse_feed(&sse, bytes, err) < 0 || sse_finish(&sse, err) < 0) ...
 *     sse_release(&sse);
 *
 * The grammar is WHATWG HTML's section 9.2.6: lines end in LF, CR or CRLF, one space behind the
 * colon is dropped, data lines are joined by LF, an empty line dispatches, a line that starts with
 * a colon is a comment; id and retry and unknown fields are passed over. Data with no bytes is no
 * event. One departure: the last event counts also without its empty line (servers leave it out),
 * and is marked `unterminated`.
 * Ownership: an event's strings live until the callback returns.
 * Limits: SSE_LINE_MAX bytes a line, SSE_EVENT_MAX bytes of data an event; past them ERROR_LIMIT.
 * A callback's -1 (having set *err) ends the feed.
 */
#ifndef TALLY_WIRE_SSE_H
#define TALLY_WIRE_SSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

#define SSE_LINE_MAX ((size_t)4 << 20)
#define SSE_EVENT_MAX ((size_t)8 << 20)

struct sse_event {
    struct str data; /* of a comment: what stands behind its colon */
    struct str name; /* the event field; "" where there is none */
    uint64_t end;    /* bytes of the stream up to the last byte of its data */
    bool comment;
    bool unterminated; /* the stream ended before the empty line */
};

struct sse_reader {
    int (*on_event)(void *ctx, const struct sse_event *e, struct error *err);
    void *ctx;
};

struct sse {
    struct sse_reader reader;
    struct buf line; /* the part of a line that earlier feeds brought */
    struct buf data; /* data lines that are no longer at hand elsewhere */
    struct buf name;
    struct str held; /* the first data line, where this feed brought it whole */
    uint64_t at;     /* bytes taken */
    uint64_t end;    /* see sse_event.end */
    size_t data_lines;
    bool after_cr, started;
};

void sse_init(struct sse *s, const struct sse_reader *reader);
void sse_release(struct sse *s);
int sse_feed(struct sse *s, struct str bytes, struct error *err) TALLY_MUST_CHECK;
/* The stream ended: dispatches what lacks its empty line. */
int sse_finish(struct sse *s, struct error *err) TALLY_MUST_CHECK;

#endif
