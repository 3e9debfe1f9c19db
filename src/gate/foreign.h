/*
 * Result files of other benchmarks, read as unreceipted input: they can be looked at beside a
 * receipt or each other, and prove nothing.
 *
 *     struct foreign f;
 *     if (foreign_read(&f, "result.json", err) < 0) ...
 *     for (size_t i = 0; i < f.runs_n; i++) ... f.runs[i].concurrency,
 * f.runs[i].values[FOREIGN_AGG] foreign_release(&f);
 *
 * Which program wrote a file is told by its shape: `vllm bench serve --save-result` (one object, or
 * one a line), SGLang's bench_serving (one object a line), AIPerf's profile_export_aiperf.json and
 * GuideLLM's benchmarks.json. What a name means is the program's own business; where two programs
 * call different things alike, the one that means ours is taken (GuideLLM's inter-token latency and
 * AIPerf's are the time per output token behind the first; vLLM's and SGLang's are gaps between
 * chunks). Members that nobody needs are passed over, so newer versions stay readable.
 * Ownership: texts live in f.arena. Limits: FOREIGN_BYTES_MAX, FOREIGN_RUNS_MAX, JSON's own.
 */
#ifndef TALLY_GATE_FOREIGN_H
#define TALLY_GATE_FOREIGN_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

#define FOREIGN_BYTES_MAX ((size_t)256 << 20) /* details of every request may be in it */
#define FOREIGN_RUNS_MAX 256

#define FOREIGN_TOOLS(X)                      \
    X(FOREIGN_VLLM, "vllm bench serve")       \
    X(FOREIGN_SGLANG, "sglang bench_serving") \
    X(FOREIGN_AIPERF, "aiperf")               \
    X(FOREIGN_GUIDELLM, "guidellm")           \
    X(FOREIGN_RECEIPT, "tally run")

enum foreign_tool {
#define X(id, name) id,
    FOREIGN_TOOLS(X)
#undef X
};

/* id, name as a receipt calls it */
#define FOREIGN_METRICS(X)             \
    X(FOREIGN_RPS, "completed_rps")    \
    X(FOREIGN_AGG, "agg_tok_s")        \
    X(FOREIGN_TTFT, "ttft_ms.p50")     \
    X(FOREIGN_TTFT_P99, "ttft_ms.p99") \
    X(FOREIGN_TPOT, "tpot_ms.p50")     \
    X(FOREIGN_GAP, "chunk_gap_ms.p50") \
    X(FOREIGN_E2E, "e2e_ms.p50")

enum foreign_metric {
#define X(id, name) id,
    FOREIGN_METRICS(X)
#undef X
        FOREIGN_METRIC_COUNT
};

struct foreign_run {
    int64_t concurrency;       /* 0: not stated */
    int64_t completed, failed; /* -1: not stated */
    bool has[FOREIGN_METRIC_COUNT];
    double values[FOREIGN_METRIC_COUNT];
};

struct foreign {
    struct arena arena;
    enum foreign_tool tool;
    const char *version, *model; /* NULL: not stated */
    struct foreign_run *runs;
    size_t runs_n;
};

int foreign_read(struct foreign *f, const char *path, struct error *err) TALLY_MUST_CHECK;
/* From bytes in memory, which are not kept; name stands in errors. */
int foreign_read_bytes(struct foreign *f, struct str bytes, const char *name,
                       struct error *err) TALLY_MUST_CHECK;
/* A receipt's subject, or its comparator, as such a file would tell it: means over replicates. */
int foreign_read_receipt(struct foreign *f, const char *dir, const char *role,
                         struct error *err) TALLY_MUST_CHECK;
void foreign_release(struct foreign *f); /* NULL and zeroed are fine */

const char *foreign_tool_name(enum foreign_tool t);
const char *foreign_metric_name(enum foreign_metric m);
/* A path that names a file, which no run directory is. */
bool foreign_is_file(const char *path);

/* One number of both, side by side. */
struct foreign_row {
    int64_t concurrency; /* 0: neither says */
    enum foreign_metric metric;
    double subject, comparator, ratio;
};

/* Pairs what was measured at one concurrency; at none that is stated, only where both have one run.
 * Rows live in the arena. ERROR_REFUSED: rule "join_key" where nothing can be paired, "one_run"
 * where a side has two runs at one concurrency. */
int foreign_compare(const struct foreign *subject, const struct foreign *comparator,
                    struct arena *arena, struct foreign_row **rows, size_t *n,
                    struct error *err) TALLY_MUST_CHECK;

#endif
