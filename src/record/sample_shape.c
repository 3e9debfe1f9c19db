#include "record/sample_shape.h"

#define AT(type, field) offsetof(struct type, field)

static const struct member usage_members[] = {
    {"prompt", M_COUNT, false, AT(sample_usage, prompt)},
    {"completion", M_COUNT, false, AT(sample_usage, completion)},
    {"cached", M_COUNT, false, AT(sample_usage, cached)},
    {"reasoning", M_COUNT, false, AT(sample_usage, reasoning)},
};

static const struct member counts_members[] = {
    {"total", M_COUNT, false, AT(sample_counts, total)},
    {"text", M_COUNT, false, AT(sample_counts, text)},
    {"reasoning", M_COUNT, false, AT(sample_counts, reasoning)},
    {"tool", M_COUNT, false, AT(sample_counts, tool)},
};

static const struct member read_members[] = {
    {"t_user", M_TIME, true, AT(sample_read_stamp, t_user_ns)},
    {"t_kernel", M_TIME, false, AT(sample_read_stamp, t_kernel_ns)},
    {"t_lower", M_TIME, false, AT(sample_read_stamp, t_lower_ns)},
    {"bytes", M_I64, true, AT(sample_read_stamp, bytes)},
};

static const struct member event_members[] = {
    {"read", M_U32, true, AT(sample_event, read)},
    {"kind", M_KIND, true, AT(sample_event, kind)},
    {"has_choices", M_BOOL, false, AT(sample_event, has_choices)},
    {"choice", M_I32_0, false, AT(sample_event, choice)},
    {"text", M_STR, false, AT(sample_event, text)},
    {"redacted", M_BOOL, false, AT(sample_event, redacted)},
    {"text_bytes", M_COUNT, false, AT(sample_event, text_bytes)},
    {"ids", M_IDS, false, AT(sample_event, ids)},
    {"logprob_n", M_COUNT, false, AT(sample_event, logprob_n)},
    {"retokenized", M_COUNT, false, AT(sample_event, retokenized)},
    {"usage", M_USAGE, false, AT(sample_event, usage)},
    {"finish_reason", M_STR, false, AT(sample_event, finish_reason)},
};

static const struct member sample_members[] = {
    {"lane", M_STR, true, AT(sample, lane)},
    {"band", M_I32, true, AT(sample, band)},
    {"replicate", M_I32, true, AT(sample, replicate)},
    {"worker", M_I32, true, AT(sample, worker)},
    {"seq", M_I64, true, AT(sample, seq)},
    {"phase", M_PHASE, true, AT(sample, phase)},
    {"start_cohort", M_BOOL, false, AT(sample, start_cohort)},
    {"prompt_id", M_STR, false, AT(sample, prompt_id)},
    {"body_sha256", M_HEX, false, AT(sample, body_sha256)},
    {"max_tokens", M_COUNT, false, AT(sample, max_tokens)},
    {"seed", M_SIGNED, false, AT(sample, seed)},
    {"t_planned", M_TIME, false, AT(sample, t_planned_ns)},
    {"t_issue", M_TIME, false, AT(sample, t_issue_ns)},
    {"t_dns", M_TIME, false, AT(sample, t_dns_ns)},
    {"t_connect", M_TIME, false, AT(sample, t_connect_ns)},
    {"t_tls", M_TIME, false, AT(sample, t_tls_ns)},
    {"connection", M_COUNT, false, AT(sample, connection)},
    {"reused", M_BOOL, false, AT(sample, reused)},
    {"retry_of", M_COUNT, false, AT(sample, retry_of)},
    {"t_sent", M_TIME, false, AT(sample, t_sent_ns)},
    {"t_headers", M_TIME, false, AT(sample, t_headers_ns)},
    {"t_first_byte", M_TIME, false, AT(sample, t_first_byte_ns)},
    {"t_end", M_TIME, false, AT(sample, t_end_ns)},
    {"http_status", M_I32_0, false, AT(sample, http_status)},
    {"reads", M_READS, false, AT(sample, reads)},
    {"events", M_EVENTS, false, AT(sample, events)},
    {"prompt_body", M_COUNT, false, AT(sample, prompt_body)},
    {"prompt_rendered", M_COUNT, false, AT(sample, prompt_rendered)},
    {"prompt_reported", M_COUNT, false, AT(sample, prompt_reported)},
    {"prompt_cached", M_COUNT, false, AT(sample, prompt_cached)},
    {"prefill_tokens", M_COUNT, false, AT(sample, prefill_tokens)},
    {"prefill", M_COUNT, false, AT(sample, prefill_ns)},
    {"output_reported", M_COUNTS, false, AT(sample, output_reported)},
    {"output_retokenized", M_COUNTS, false, AT(sample, output_retokenized)},
    {"output_observed", M_COUNTS, false, AT(sample, output_observed)},
    {"saw_finish", M_BOOL, false, AT(sample, saw_finish)},
    {"saw_done", M_BOOL, false, AT(sample, saw_done)},
    {"outcome", M_OUTCOME, true, AT(sample, outcome)},
    {"failure", M_FAILURE, false, AT(sample, failure)},
    {"error", M_STR, false, AT(sample, error)},
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
