/* The definitions of other tools, each read in its source at the version it names. */
#include <string.h>

#include "metrics/as_rule.h"

#define MS 1e6
#define S 1e9
#define END \
    {       \
        0   \
    }

/* --- vllm bench serve ------------------------------------------------------------------------ */

static const struct as_stat vllm_stats[] = {
    {"mean", AS_MEAN, 0},
    {"median", AS_MEDIAN, 0},
    {"std", AS_STD, 0},
    {"p99", AS_PERCENTILE, 99},
    END,
};

static const struct as_spec vllm_specs[] = {
    {.name = "duration", .unit = "s", .what = AS_DURATION},
    {.name = "completed", .unit = "requests", .what = AS_COMPLETED},
    {.name = "failed", .unit = "requests", .what = AS_FAILED},
    {.name = "total_input_tokens", .unit = "tokens", .what = AS_INPUT},
    {.name = "total_output_tokens", .unit = "tokens", .what = AS_OUTPUT},
    {.name = "request_throughput", .unit = "1/s", .what = AS_REQUEST_RATE},
    {.name = "output_throughput", .unit = "tok/s", .what = AS_OUTPUT_RATE},
    {.name = "total_token_throughput", .unit = "tok/s", .what = AS_TOTAL_RATE},
    {.name = "max_output_tokens_per_s", .unit = "chunks/s", .what = AS_PEAK_CHUNKS},
    {.name = "max_concurrent_requests", .unit = "requests", .what = AS_PEAK_REQUESTS},
    {.name = "%s_ttft_ms", .unit = "ms", .what = AS_TTFT, .per_unit = MS},
    {.name = "%s_tpot_ms", .unit = "ms", .what = AS_TPOT, .per_unit = MS},
    {.name = "%s_itl_ms", .unit = "ms", .what = AS_GAPS, .per_unit = MS},
    {.name = "%s_e2el_ms", .unit = "ms", .what = AS_LATENCY, .per_unit = MS},
    END,
};

static const struct as_rule vllm_rule = {
    .clock = AS_FROM_ISSUE,
    .chunk = AS_CHUNK_CHOICES,
    .end = AS_END_CHUNK,
    .tokens = AS_TOKENS_USAGE_CHUNK,
    .prompt = AS_PROMPT_USAGE,
    .quantile = AS_LINEAR,
    .success = AS_OK_UNHEEDED,
    .stats = vllm_stats,
    .specs = vllm_specs,
};

/* --- SGLang bench_serving -------------------------------------------------------------------- */

static const struct as_stat sglang_stats[] = {
    {"mean", AS_MEAN, 0},
    {"median", AS_MEDIAN, 0},
    {"std", AS_STD, 0},
    {"p90", AS_PERCENTILE, 90},
    {"p95", AS_PERCENTILE, 95},
    {"p99", AS_PERCENTILE, 99},
    END,
};

static const struct as_stat max_only[] = {{"max", AS_MAX, 0}, END};

static const struct as_spec sglang_specs[] = {
    {.name = "duration", .unit = "s", .what = AS_DURATION},
    {.name = "completed", .unit = "requests", .what = AS_COMPLETED},
    {.name = "total_input_tokens", .unit = "tokens", .what = AS_INPUT},
    {.name = "total_output_tokens", .unit = "tokens", .what = AS_OUTPUT},
    {.name = "request_throughput", .unit = "1/s", .what = AS_REQUEST_RATE},
    {.name = "input_throughput", .unit = "tok/s", .what = AS_INPUT_RATE},
    {.name = "output_throughput", .unit = "tok/s", .what = AS_OUTPUT_RATE},
    {.name = "total_throughput", .unit = "tok/s", .what = AS_TOTAL_RATE},
    {.name = "concurrency", .unit = "requests", .what = AS_SUM_LATENCY_RATE},
    {.name = "max_output_tokens_per_s", .unit = "chunks/s", .what = AS_PEAK_CHUNKS},
    {.name = "max_concurrent_requests", .unit = "requests", .what = AS_PEAK_REQUESTS_SECOND},
    {.name = "%s_e2e_latency_ms", .unit = "ms", .what = AS_LATENCY, .per_unit = MS},
    {.name = "%s_ttft_ms", .unit = "ms", .what = AS_TTFT, .per_unit = MS},
    {.name = "%s_tpot_ms", .unit = "ms", .what = AS_TPOT, .per_unit = MS},
    {.name = "%s_itl_ms", .unit = "ms", .what = AS_GAPS, .per_unit = MS},
    {.name = "%s_itl_ms", .unit = "ms", .what = AS_GAPS, .per_unit = MS, .stats = max_only},
    END,
};

static const struct as_rule sglang_rule = {
    .clock = AS_FROM_ISSUE,
    .chunk = AS_CHUNK_CONTENT,
    .end = AS_END_LINE,
    .tokens = AS_TOKENS_USAGE_ASKED,
    .prompt = AS_PROMPT_BODY,
    .quantile = AS_LINEAR,
    .success = AS_OK_200,
    .stats = sglang_stats,
    .specs = sglang_specs,
};

/* --- AIPerf ---------------------------------------------------------------------------------- */

static const struct as_stat aiperf_stats[] = {
    {"avg", AS_MEAN, 0},        {"min", AS_MIN, 0},         {"max", AS_MAX, 0},
    {"p50", AS_PERCENTILE, 50}, {"p90", AS_PERCENTILE, 90}, {"p95", AS_PERCENTILE, 95},
    {"p99", AS_PERCENTILE, 99}, {"std", AS_STD, 0},         END,
};

static const struct as_spec aiperf_specs[] = {
    {.name = "benchmark_duration", .unit = "s", .what = AS_DURATION},
    {.name = "request_count", .unit = "requests", .what = AS_COMPLETED},
    {.name = "error_request_count", .unit = "requests", .what = AS_FAILED},
    {.name = "total_osl", .unit = "tokens", .what = AS_OUTPUT},
    {.name = "request_throughput", .unit = "1/s", .what = AS_REQUEST_RATE},
    {.name = "output_token_throughput", .unit = "tok/s", .what = AS_OUTPUT_RATE},
    {.name = "time_to_first_token.%s", .unit = "ms", .what = AS_TTFT, .per_unit = MS},
    {.name = "time_to_second_token.%s", .unit = "ms", .what = AS_SECOND, .per_unit = MS},
    {.name = "time_to_first_output_token.%s", .unit = "ms", .what = AS_TTFC, .per_unit = MS},
    {.name = "request_latency.%s", .unit = "ms", .what = AS_LATENCY, .per_unit = MS},
    {.name = "inter_token_latency.%s", .unit = "ms", .what = AS_CHUNK_TPOT, .per_unit = MS},
    {.name = "inter_chunk_latency.%s", .unit = "ms", .what = AS_GAPS, .per_unit = MS},
    {.name = "output_token_throughput_per_user.%s",
     .unit = "tok/s",
     .what = AS_RATE,
     .per_unit = 1},
    {.name = "output_sequence_length.%s", .unit = "tokens", .what = AS_TOKEN_COUNT, .per_unit = 1},
    END,
};

static const struct as_rule aiperf_rule = {
    .clock = AS_FROM_ISSUE,
    .chunk = AS_CHUNK_CONTENT,
    .end = AS_END_CHUNK,
    .tokens = AS_TOKENS_TEXT,
    .prompt = AS_PROMPT_BODY,
    .quantile = AS_LINEAR,
    .success = AS_OK_CHUNK,
    .span = AS_SPAN_SUCCESS,
    .stats = aiperf_stats,
    .specs = aiperf_specs,
};

/* --- GuideLLM -------------------------------------------------------------------------------- */

static const struct as_stat guidellm_stats[] = {
    {"mean", AS_MEAN, 0},       {"median", AS_MEDIAN, 0},   {"std_dev", AS_STD, 0},
    {"min", AS_MIN, 0},         {"max", AS_MAX, 0},         {"p90", AS_PERCENTILE, 90},
    {"p95", AS_PERCENTILE, 95}, {"p99", AS_PERCENTILE, 99}, END,
};

static const struct as_spec guidellm_specs[] = {
    {.name = "request_totals.successful", .unit = "requests", .what = AS_COMPLETED},
    {.name = "request_totals.errored", .unit = "requests", .what = AS_FAILED},
    {.name = "requests_per_second.mean", .unit = "1/s", .what = AS_REQUEST_RATE},
    {.name = "output_tokens_per_second.mean", .unit = "tok/s", .what = AS_OUTPUT_RATE},
    {.name = "request_concurrency.mean", .unit = "requests", .what = AS_SUM_LATENCY_RATE},
    {.name = "request_latency.%s", .unit = "s", .what = AS_LATENCY, .per_unit = S},
    {.name = "time_to_first_token_ms.%s", .unit = "ms", .what = AS_TTFT, .per_unit = MS},
    {.name = "time_to_first_output_token_ms.%s", .unit = "ms", .what = AS_TTFC, .per_unit = MS},
    {.name = "time_per_output_token_ms.%s",
     .unit = "ms",
     .what = AS_CHUNK_ALL,
     .per_unit = MS,
     .weighted = true},
    {.name = "inter_token_latency_ms.%s",
     .unit = "ms",
     .what = AS_CHUNK_TPOT,
     .per_unit = MS,
     .weighted = true},
    {.name = "output_token_count.%s", .unit = "tokens", .what = AS_TOKEN_COUNT, .per_unit = 1},
    END,
};

static const struct as_rule guidellm_rule = {
    .clock = AS_FROM_SENT,
    .chunk = AS_CHUNK_CONTENT,
    .end = AS_END_TRANSFER,
    .tokens = AS_TOKENS_USAGE_CHUNKS,
    .prompt = AS_PROMPT_USAGE,
    .quantile = AS_LOWER,
    .success = AS_OK_CHUNK,
    .stats = guidellm_stats,
    .specs = guidellm_specs,
};

/* --- inference-perf -------------------------------------------------------------------------- */

static const struct as_stat inference_perf_stats[] = {
    {"mean", AS_MEAN, 0},
    {"min", AS_MIN, 0},
    {"max", AS_MAX, 0},
    {"median", AS_MEDIAN, 0},
    {"p90", AS_PERCENTILE, 90},
    {"p99", AS_PERCENTILE, 99},
    END,
};

static const struct as_spec inference_perf_specs[] = {
    {.name = "benchmark_time_seconds", .unit = "s", .what = AS_DURATION},
    {.name = "successes.count", .unit = "requests", .what = AS_COMPLETED},
    {.name = "failures.count", .unit = "requests", .what = AS_FAILED},
    {.name = "throughput.input_tokens_per_sec", .unit = "tok/s", .what = AS_INPUT_RATE},
    {.name = "throughput.output_tokens_per_sec", .unit = "tok/s", .what = AS_OUTPUT_RATE},
    {.name = "throughput.total_tokens_per_sec", .unit = "tok/s", .what = AS_TOTAL_RATE},
    {.name = "throughput.requests_per_sec", .unit = "1/s", .what = AS_REQUEST_RATE},
    {.name = "request_latency.%s", .unit = "s", .what = AS_LATENCY, .per_unit = S},
    {.name = "normalized_time_per_output_token.%s",
     .unit = "s",
     .what = AS_TPOT_ALL,
     .per_unit = S},
    {.name = "time_per_output_token.%s", .unit = "s", .what = AS_CHUNK_TPOT, .per_unit = S},
    {.name = "time_to_first_token.%s", .unit = "s", .what = AS_TTFT, .per_unit = S},
    {.name = "inter_token_latency.%s", .unit = "s", .what = AS_GAPS, .per_unit = S},
    {.name = "output_len.%s", .unit = "tokens", .what = AS_TOKEN_COUNT, .per_unit = 1},
    END,
};

static const struct as_rule inference_perf_rule = {
    .clock = AS_FROM_ISSUE,
    .chunk = AS_CHUNK_TEXT,
    .end = AS_END_TRANSFER,
    .tokens = AS_TOKENS_TEXT,
    .prompt = AS_PROMPT_USAGE,
    .gap = AS_GAP_TOKEN,
    .quantile = AS_LINEAR,
    .success = AS_OK_CHUNK,
    .one_token_has_no_ttft = true,
    .stats = inference_perf_stats,
    .specs = inference_perf_specs,
};

/* --- the perf gate's own --------------------------------------------------------------------- */

static const struct as_stat gate_stats[] = {
    {"p50", AS_PERCENTILE, 50},
    {"p95", AS_PERCENTILE, 95},
    END,
};

static const struct as_stat median_only[] = {{"p50", AS_PERCENTILE, 50}, END};

static const struct as_spec gate_specs[] = {
    {.name = "requested", .unit = "requests", .what = AS_REQUESTED},
    {.name = "completed", .unit = "requests", .what = AS_COMPLETED},
    {.name = "timeouts", .unit = "requests", .what = AS_TIMEOUTS},
    {.name = "truncated", .unit = "requests", .what = AS_TRUNCATED},
    {.name = "agg_tok_s", .unit = "tok/s", .what = AS_OUTPUT_RATE},
    {.name = "decode_tok_s.%s",
     .unit = "tok/s",
     .what = AS_RATE,
     .per_unit = 1,
     .stats = median_only},
    {.name = "ttft_ms.%s", .unit = "ms", .what = AS_TTFT, .per_unit = MS},
    {.name = "itl_ms.%s", .unit = "ms", .what = AS_GAPS, .per_unit = MS},
    {.name = "drain_ms", .unit = "ms", .what = AS_DRAIN},
    {.name = "scaling_efficiency", .unit = "ratio", .what = AS_SCALING},
    END,
};

static const struct as_rule gate_rule = {
    .clock = AS_FROM_SENT,
    .chunk = AS_CHUNK_TOKEN,
    .end = AS_END_CHUNK,
    .tokens = AS_TOKENS_RUN,
    .prompt = AS_PROMPT_USAGE,
    .quantile = AS_NEAREST,
    .success = AS_OK_FINISHED,
    .own_time = true,
    .stats = gate_stats,
    .specs = gate_specs,
};

#define LINEAR "linear interpolation between the two nearest ranks (numpy's default)"
#define FROM_ISSUE "before the HTTP call: DNS, connection and TLS are part of every latency"

static const struct as_profile profiles[] = {
    {
        .name = "vllm",
        .tool = "vllm bench serve (main, read in November 2026)",
        .source = "vllm/benchmarks/serve.py at 009e6d4, "
                  "vllm/benchmarks/lib/endpoint_request_func.py at 02cfb53",
        .quantile = LINEAR,
        .window = "from the first request to the end of the last; no window, nothing is cut off",
        .clock = FROM_ISSUE "; stamps in user space, behind the event loop",
        .tokens = "completion_tokens of a usage chunk without choices; without one, the answer's "
                  "text tokenized again",
        .success = "HTTP 200 with one chunk: a stream that breaks off without finish_reason, and "
                   "an error object within it, count as a success",
        .apart = "TTFT is to the first chunk with a choice, so a role-only chunk sets it; the "
                 "finish chunk adds a gap. ITL is the gap between chunks, however many tokens they "
                 "hold; max_output_tokens_per_s counts chunks. Empty lists print as 0 there.",
        .rule = &vllm_rule,
    },
    {
        .name = "aiperf",
        .tool = "AIPerf 0.13.0",
        .source = "aiperf/metrics/types/*.py, aiperf/metrics/metric_dicts.py",
        .quantile = LINEAR,
        .window = "from the first request to the last content chunk of a valid request",
        .clock = FROM_ISSUE,
        .tokens = "the answer's text and reasoning tokenized again (its default; "
                  "--use-server-token-count reads usage)",
        .success = "no error, and one chunk with content",
        .apart = "inter_token_latency is one mean a request, (latency - TTFT) / (tokens - 1), as "
                 "TPOT elsewhere. Percentiles of inter_chunk_latency come from a t-digest there, "
                 "within 0.05 %. Its text count stands here as recorded, one tokenization of the "
                 "joined text.",
        .rule = &aiperf_rule,
    },
    {
        .name = "guidellm",
        .tool = "GuideLLM 0.8.1",
        .source = "guidellm/schemas/base/request_stats.py, guidellm/schemas/base/statistics.py, "
                  "guidellm/benchmark/schemas/metrics.py",
        .quantile = "the least value whose cumulative share reaches p; time_per_output_token_ms "
                    "and inter_token_latency_ms weight each request by its tokens",
        .window = "from the first request to the end of the last (no warm-up or cool-down set)",
        .clock = "when the request's header is written",
        .tokens = "usage; without it, the number of chunks",
        .success = "no error, and one chunk with content",
        .apart = "request_latency runs to the end of the transfer, usage and [DONE] included. "
                 "time_per_output_token_ms counts the first token in: (last - start) / tokens.",
        .rule = &guidellm_rule,
    },
    {
        .name = "inference-perf",
        .tool = "inference-perf (main, read in November 2026)",
        .source = "inference_perf/reportgen/base.py at 010d12f, "
                  "inference_perf/apis/streaming_parser.py at 35d21d6",
        .quantile = LINEAR,
        .window = "from the first request to the end of the last, failed ones included",
        .clock = FROM_ISSUE,
        .tokens = "the answer's text tokenized again (use_server_output_tokens reads usage)",
        .success = "no error",
        .apart = "Every token of a chunk stands at the chunk's time, so within a chunk "
                 "inter_token_latency is 0. It tokenizes chunk by chunk; here a chunk has its "
                 "tokens of the joined text. A request of one token has no TTFT.",
        .rule = &inference_perf_rule,
    },
    {
        .name = "sglang",
        .tool = "sglang bench_serving 0.5.23",
        .source = "sglang/benchmark/serving.py",
        .quantile = LINEAR,
        .window = "from the first request to the end of the last",
        .clock = FROM_ISSUE,
        .tokens = "usage; without it, as many as were asked for",
        .success = "HTTP 200: an error object within the stream counts as a success, and an "
                   "answer without a chunk has a TTFT of 0",
        .apart = "Latency runs to the last line, [DONE] included, so TPOT does too. "
                 "max_output_tokens_per_s counts chunks.",
        .rule = &sglang_rule,
    },
    {
        .name = "perf-gate-2.2",
        .tool = "APR-PERF-GATE-001 v2.2",
        .source = "docs/specifications/APR-PERF-GATE-001-v2.2.md, sections 4.4.3, 4.4.7 and 4.5",
        .quantile = "nearest rank (the document names none)",
        .window = "from the first request's start to the last drained completion, which reads low "
                  "by the share of the time that was draining",
        .clock = "when the first byte of the request is written",
        .tokens = "the receipt's output_count_source",
        .success = "completed and not truncated",
        .apart = "decode_tok_s is (tokens - 1) / (last - first token), whatever came with the "
                 "first; itl_ms pools the gaps of all requests, those that end behind the close "
                 "too.",
        .rule = &gate_rule,
    },
};

size_t as_count(void)
{
    return sizeof profiles / sizeof *profiles;
}

const struct as_profile *as_at(size_t i)
{
    return i < as_count() ? &profiles[i] : NULL;
}

const struct as_profile *as_find(const char *name)
{
    for (size_t i = 0; i < as_count(); i++)
        if (strcmp(profiles[i].name, name) == 0)
            return &profiles[i];
    return NULL;
}
