#include "record/sample_shape.h"

/* STR() is a compound literal, which a static table may not hold. */
#define NAME(literal)                   \
    {                                   \
        "" literal, sizeof(literal) - 1 \
    }
#define AT(type, field) offsetof(struct type, field)

static const struct member usage_members[] = {
    {NAME("prompt"), M_COUNT, false, AT(sample_usage, prompt)},
    {NAME("completion"), M_COUNT, false, AT(sample_usage, completion)},
    {NAME("cached"), M_COUNT, false, AT(sample_usage, cached)},
    {NAME("reasoning"), M_COUNT, false, AT(sample_usage, reasoning)},
};

static const struct member counts_members[] = {
    {NAME("total"), M_COUNT, false, AT(sample_counts, total)},
    {NAME("text"), M_COUNT, false, AT(sample_counts, text)},
    {NAME("reasoning"), M_COUNT, false, AT(sample_counts, reasoning)},
    {NAME("tool"), M_COUNT, false, AT(sample_counts, tool)},
};

static const struct member read_members[] = {
    {NAME("t_user"), M_TIME, true, AT(sample_read_stamp, t_user_ns)},
    {NAME("t_kernel"), M_TIME, false, AT(sample_read_stamp, t_kernel_ns)},
    {NAME("t_lower"), M_TIME, false, AT(sample_read_stamp, t_lower_ns)},
    {NAME("bytes"), M_I64, true, AT(sample_read_stamp, bytes)},
};

static const struct member event_members[] = {
    {NAME("read"), M_U32, true, AT(sample_event, read)},
    {NAME("kind"), M_KIND, true, AT(sample_event, kind)},
    {NAME("same_chunk"), M_BOOL, false, AT(sample_event, same_chunk)},
    {NAME("has_choices"), M_BOOL, false, AT(sample_event, has_choices)},
    {NAME("choice"), M_I32_0, false, AT(sample_event, choice)},
    {NAME("text"), M_STR, false, AT(sample_event, text)},
    {NAME("redacted"), M_BOOL, false, AT(sample_event, redacted)},
    {NAME("text_bytes"), M_COUNT, false, AT(sample_event, text_bytes)},
    {NAME("ids"), M_IDS, false, AT(sample_event, ids)},
    {NAME("logprob_n"), M_COUNT, false, AT(sample_event, logprob_n)},
    {NAME("retokenized"), M_COUNT, false, AT(sample_event, retokenized)},
    {NAME("usage"), M_USAGE, false, AT(sample_event, usage)},
    {NAME("finish_reason"), M_STR, false, AT(sample_event, finish_reason)},
};

static const struct member sample_members[] = {
    {NAME("lane"), M_STR, true, AT(sample, lane)},
    {NAME("band"), M_I32, true, AT(sample, band)},
    {NAME("replicate"), M_I32, true, AT(sample, replicate)},
    {NAME("worker"), M_I32, true, AT(sample, worker)},
    {NAME("seq"), M_I64, true, AT(sample, seq)},
    {NAME("phase"), M_PHASE, true, AT(sample, phase)},
    {NAME("start_cohort"), M_BOOL, false, AT(sample, start_cohort)},
    {NAME("prompt_id"), M_STR, false, AT(sample, prompt_id)},
    {NAME("body_sha256"), M_HEX, false, AT(sample, body_sha256)},
    {NAME("max_tokens"), M_COUNT, false, AT(sample, max_tokens)},
    {NAME("seed"), M_SIGNED, false, AT(sample, seed)},
    {NAME("turn"), M_COUNT, false, AT(sample, turn)},
    {NAME("t_planned"), M_TIME, false, AT(sample, t_planned_ns)},
    {NAME("t_due"), M_TIME, false, AT(sample, t_due_ns)},
    {NAME("t_issue"), M_TIME, false, AT(sample, t_issue_ns)},
    {NAME("t_dns"), M_TIME, false, AT(sample, t_dns_ns)},
    {NAME("t_connect"), M_TIME, false, AT(sample, t_connect_ns)},
    {NAME("t_tls"), M_TIME, false, AT(sample, t_tls_ns)},
    {NAME("connection"), M_COUNT, false, AT(sample, connection)},
    {NAME("reused"), M_BOOL, false, AT(sample, reused)},
    {NAME("retry_of"), M_COUNT, false, AT(sample, retry_of)},
    {NAME("t_sent"), M_TIME, false, AT(sample, t_sent_ns)},
    {NAME("t_headers"), M_TIME, false, AT(sample, t_headers_ns)},
    {NAME("t_first_byte"), M_TIME, false, AT(sample, t_first_byte_ns)},
    {NAME("t_end"), M_TIME, false, AT(sample, t_end_ns)},
    {NAME("http_status"), M_I32_0, false, AT(sample, http_status)},
    {NAME("http_version"), M_I32_0, false, AT(sample, http_version)},
    {NAME("retry_after"), M_COUNT, false, AT(sample, retry_after_s)},
    {NAME("reads"), M_READS, false, AT(sample, reads)},
    {NAME("events"), M_EVENTS, false, AT(sample, events)},
    {NAME("prompt_body"), M_COUNT, false, AT(sample, prompt_body)},
    {NAME("prompt_rendered"), M_COUNT, false, AT(sample, prompt_rendered)},
    {NAME("prompt_reported"), M_COUNT, false, AT(sample, prompt_reported)},
    {NAME("prompt_cached"), M_COUNT, false, AT(sample, prompt_cached)},
    {NAME("prefill_tokens"), M_COUNT, false, AT(sample, prefill_tokens)},
    {NAME("prefill"), M_COUNT, false, AT(sample, prefill_ns)},
    {NAME("output_reported"), M_COUNTS, false, AT(sample, output_reported)},
    {NAME("output_retokenized"), M_COUNTS, false, AT(sample, output_retokenized)},
    {NAME("output_observed"), M_COUNTS, false, AT(sample, output_observed)},
    {NAME("output_sha256"), M_HEX, false, AT(sample, output_sha256)},
    {NAME("saw_finish"), M_BOOL, false, AT(sample, saw_finish)},
    {NAME("saw_done"), M_BOOL, false, AT(sample, saw_done)},
    {NAME("outcome"), M_OUTCOME, true, AT(sample, outcome)},
    {NAME("failure"), M_FAILURE, false, AT(sample, failure)},
    {NAME("error"), M_STR, false, AT(sample, error)},
};

#define SHAPE(table)                           \
    {                                          \
        table, sizeof(table) / sizeof table[0] \
    }
const struct shape usage_shape = SHAPE(usage_members);
const struct shape counts_shape = SHAPE(counts_members);
const struct shape read_shape = SHAPE(read_members);
const struct shape event_shape = SHAPE(event_members);
const struct shape sample_shape = SHAPE(sample_members);
