#include "receipt/record_form.h"

#define FORM(name, members) const struct form name = {members, sizeof(members) / sizeof(members)[0]}

#define PLAN(member) offsetof(struct run_plan, member)
#define LANE(member) offsetof(struct run_lane, member)
#define BAND(member) offsetof(struct run_band, member)
#define CALIBRATION(member) offsetof(struct run_calibration, member)
#define COMMAND(member) offsetof(struct run_command, member)
#define SERVER(member) offsetof(struct run_server, member)
#define CLOCK(member) offsetof(struct run_clock, member)
#define LOAD(member) offsetof(struct run_client_load, member)

static const struct form_member clock_members[] = {
    {"zero_mono_ns", FORM_I64, PLAN(t_zero_mono_ns), NULL},
    {"zero_real_ns", FORM_I64, PLAN(t_zero_real_ns), NULL},
};
FORM(form_clock, clock_members);

static const struct form_member corpus_members[] = {
    {"path", FORM_STR, PLAN(corpus_path), "not_given"},
    {"sha256", FORM_HEX, PLAN(corpus_sha256), "not_given"},
    {"count", FORM_COUNT, PLAN(corpus_count), "not_promised"},
    {"tokens", FORM_COUNT, PLAN(corpus_tokens), "not_promised"},
    {"tolerance", FORM_COUNT, PLAN(corpus_tolerance), "not_promised"},
    {"mixture", FORM_SHARES, PLAN(corpus_mixture), "not_promised"},
    {"outputs", FORM_SHARES, PLAN(corpus_outputs), "not_promised"},
};
FORM(form_corpus, corpus_members);

static const struct form_member request_members[] = {
    {"max_tokens", FORM_COUNT, PLAN(max_tokens), "per_prompt"},
    {"temperature", FORM_REAL, PLAN(temperature), NULL},
    {"seed", FORM_SIGNED, PLAN(seed), "not_sent"},
    {"ignore_eos", FORM_BOOL, PLAN(ignore_eos), NULL},
    {"system", FORM_STR, PLAN(system), "not_given"},
    {"shared_prefix_tokens", FORM_ZERO, PLAN(shared_prefix), "not_asked"},
    {"answers", FORM_STR, PLAN(answers), "no_conversations"},
    {"think_ms", FORM_MS, PLAN(think_ns), NULL},
};
FORM(form_request, request_members);

static const struct form_member rendering_members[] = {
    {"prompt_form", FORM_STR, PLAN(prompt_form), "not_given"},
    {"profile", FORM_STR, PLAN(template_profile), "the_servers_own"},
    {"template", FORM_STR, PLAN(template_path), "not_used"},
    {"template_sha256", FORM_HEX, PLAN(template_sha256), "not_used"},
    {"kwargs", FORM_JSON, PLAN(template_kwargs), "not_given"},
    {"now", FORM_STR, PLAN(template_now), "not_used"},
};
FORM(form_rendering, rendering_members);

static const struct form_member workload_members[] = {
    {"same_model", FORM_STR, PLAN(same_model), "not_declared"},
};
FORM(form_workload, workload_members);

static const struct form_member protocol_members[] = {
    {"name", FORM_STR, PLAN(protocol), "not_given"},
    {"replicates", FORM_I32, PLAN(replicates), NULL},
    {"warmup", FORM_I32, PLAN(warmup), NULL},
    {"quiesce_ms", FORM_MS, PLAN(quiesce_ns), NULL},
    {"window_ms", FORM_MS, PLAN(window_ns), NULL},
    {"max_window_ms", FORM_MS, PLAN(max_window_ns), NULL},
    {"min_samples", FORM_ZERO, PLAN(min_samples), "max_of_30_and_8c"},
    {"requests", FORM_ZERO, PLAN(requests), "bounded_by_window"},
    {"cooldown_ms", FORM_MS, PLAN(cooldown_ns), NULL},
    {"timeout_ms", FORM_MS, PLAN(timeout_ns), NULL},
    {"max_error_share", FORM_REAL, PLAN(max_error_share), NULL},
    {"load_model", FORM_STR, PLAN(load_model), NULL},
    {"ramp_step_ms", FORM_SPAN0, PLAN(ramp_step_ns), "no_ramp"},
    {"arrivals", FORM_STR, PLAN(arrivals), "not_drawn"},
    {"burstiness", FORM_LOAD, PLAN(burstiness), "no_gamma_arrivals"},
    {"arrival_seed", FORM_COUNT, PLAN(arrival_seed), "nothing_drawn"},
    {"max_in_flight", FORM_ZERO, PLAN(max_in_flight), "no_cap"},
    {"slo_ttft_ms", FORM_SPAN, PLAN(slo_ttft_ns), "not_in_slo"},
    {"slo_tpot_ms", FORM_SPAN, PLAN(slo_tpot_ns), "not_in_slo"},
    {"slo_e2e_ms", FORM_SPAN, PLAN(slo_e2e_ns), "not_in_slo"},
    {"trace_format", FORM_STR, PLAN(trace_format), "no_trace"},
    {"trace_span_ms", FORM_SPAN, PLAN(trace_span_ns), "no_trace"},
    {"search", FORM_STR, PLAN(search), "no_sweep"},
    {"slo_share", FORM_LOAD, PLAN(slo_share), "no_sweep"},
    {"wire", FORM_STR, PLAN(wire), "not_given"},
    {"stream", FORM_BOOL, PLAN(stream), NULL},
    {"injector", FORM_STR, PLAN(injector), "not_asked"},
    {"prompt_policy", FORM_STR, PLAN(prompt_policy), "not_given"},
    {"cache_policy", FORM_STR, PLAN(cache_policy), "not_given"},
    {"time_source", FORM_STR, PLAN(time_source), "not_given"},
    {"token_progress", FORM_BOOL, PLAN(token_progress), NULL},
    {"connection_reuse", FORM_BOOL, PLAN(connection_reuse), NULL},
    {"retries", FORM_I64, PLAN(retries), NULL},
    {"redact_text", FORM_BOOL, PLAN(redact_text), NULL},
};
FORM(form_protocol, protocol_members);

static const struct form_member tokenization_members[] = {
    {"method", FORM_METHOD, PLAN(method), "not_stated"},
    {"special_text", FORM_STR, PLAN(special_text), "not_given"},
    {"output_count_source", FORM_STR, PLAN(output_count_source), "no_common_reading"},
    {"token_assignment", FORM_STR, PLAN(token_assignment), "no_common_way"},
    {"tokenizer", FORM_STR, PLAN(tokenizer_path), "not_given"},
    {"reference", FORM_SOURCE, PLAN(tokenizer_reference), "not_given"},
    {"tokenizer_sha256", FORM_HEX, PLAN(tokenizer_sha256), "not_given"},
    {"vocabulary_sha256", FORM_HEX, PLAN(vocabulary_sha256), "not_given"},
    {"pipeline_sha256", FORM_HEX, PLAN(pipeline_sha256), "not_given"},
};
FORM(form_tokenization, tokenization_members);

static const struct form_member lane_members[] = {
    {"role", FORM_STR, LANE(role), NULL},
    {"url", FORM_STR, LANE(url), NULL},
    {"host", FORM_STR, LANE(host), "not_declared"},
    {"model", FORM_STR, LANE(model), "not_given"},
    {"path", FORM_STR, LANE(path), "not_given"},
    {"build", FORM_STR, LANE(build), "not_declared"},
    {"build_sha256", FORM_HEX_P, LANE(build_sha256), "not_declared"},
    {"weights_sha256", FORM_HEX_P, LANE(weights_sha256), "not_declared"},
    {"reported", FORM_JSON, LANE(reported_json), "not_reported"},
    {"wrapper", FORM_JSON, LANE(wrapper_json), "not_probed"},
    {"token_progress_refused", FORM_BOOL, LANE(token_progress_refused), NULL},
    {"cache_policy_refused", FORM_BOOL, LANE(cache_policy_refused), NULL},
    {"ignore_eos_refused", FORM_BOOL, LANE(ignore_eos_refused), NULL},
    {"stream_usage_refused", FORM_BOOL, LANE(stream_usage_refused), NULL},
};
FORM(form_lane, lane_members);

static const struct form_member client_load_members[] = {
    {"loop_cpu_ms", FORM_SPAN, LOAD(loop_cpu_ns), "not_recorded"},
    {"parser_cpu_ms", FORM_SPAN, LOAD(parser_cpu_ns), "not_recorded"},
    {"wall_ms", FORM_SPAN, LOAD(wall_ns), "not_recorded"},
    {"run_queue_wait_ms", FORM_SPAN, LOAD(run_queue_wait_ns), "not_recorded"},
    {"loop_lag_p50_ms", FORM_SPAN, LOAD(loop_lag_p50_ns), "not_recorded"},
    {"loop_lag_p99_ms", FORM_SPAN, LOAD(loop_lag_p99_ns), "not_recorded"},
    {"loop_lag_max_ms", FORM_SPAN, LOAD(loop_lag_max_ns), "not_recorded"},
};
FORM(form_client_load, client_load_members);

static const struct form_member band_clock_members[] = {
    {"source", FORM_STR, CLOCK(source), "not_told"},
    {"adjtimex_status", FORM_INT, CLOCK(adjtimex_status), "not_told"},
    {"frequency_ppb", FORM_INT, CLOCK(frequency_ppb), "not_told"},
    {"slew_ppb", FORM_INT, CLOCK(slew_ppb), "not_told"},
    {"steps", FORM_COUNT, CLOCK(steps), "not_recorded"},
    {"largest_step_ms", FORM_TIME, CLOCK(largest_step_ns), "no_step"},
    {"error_ms", FORM_SPAN, CLOCK(error_ns), "not_recorded"},
};
FORM(form_band_clock, band_clock_members);

static const struct form_member band_server_members[] = {
    {"file", FORM_STR, SERVER(file), "not_asked"},
    {"sha256", FORM_HEX, SERVER(sha256), "not_asked"},
    {"slots", FORM_COUNT, SERVER(slots), "server_silent"},
    {"in_flight_max", FORM_COUNT, SERVER(in_flight_max), "server_silent"},
    {"preemptions", FORM_COUNT, SERVER(preemptions), "server_silent"},
    {"prompt_tokens", FORM_COUNT, SERVER(prompt_tokens), "server_silent"},
    {"output_tokens", FORM_COUNT, SERVER(output_tokens), "server_silent"},
    {"kv_use_before", FORM_LOAD, SERVER(kv_use_before), "server_silent"},
    {"kv_use_after", FORM_LOAD, SERVER(kv_use_after), "server_silent"},
    {"gpu_layers_requested", FORM_INT, SERVER(gpu_layers_requested), "server_silent"},
    {"gpu_layers_resolved", FORM_INT, SERVER(gpu_layers_resolved), "server_silent"},
    {"gpu_memory_share", FORM_LOAD, SERVER(gpu_memory_share), "server_silent"},
};
FORM(form_band_server, band_server_members);

static const struct form_member calibration_members[] = {
    {"file", FORM_STR, CALIBRATION(file), NULL},
    {"sha256", FORM_HEX, CALIBRATION(sha256), NULL},
    {"streams", FORM_I64, CALIBRATION(streams), NULL},
    {"tokens", FORM_I64, CALIBRATION(tokens), NULL},
    {"rate_tok_s", FORM_REAL, CALIBRATION(rate), NULL},
};
FORM(form_calibration, calibration_members);

static const struct form_member command_members[] = {
    {"when", FORM_STR, COMMAND(when), NULL},
    {"lane", FORM_STR, COMMAND(lane), NULL},
    {"command", FORM_STR, COMMAND(command), NULL},
    {"t_ms", FORM_TIME, COMMAND(t_ns), NULL},
    {"took_ms", FORM_SPAN, COMMAND(took_ns), NULL},
    {"exit_code", FORM_INT, COMMAND(exit_code), "ended_by_signal"},
    {"signal", FORM_INT, COMMAND(signal), "ended_by_itself"},
    {"timed_out", FORM_BOOL, COMMAND(timed_out), NULL},
    {"output", FORM_STR, COMMAND(output), "nothing_printed"},
};
FORM(form_command, command_members);

static const struct form_member band_time_members[] = {
    {"start_ms", FORM_TIME, BAND(t_start_ns), "never_reached"},
    {"open_ms", FORM_TIME, BAND(t_open_ns), "never_reached"},
    {"close_ms", FORM_TIME, BAND(t_close_ns), "never_reached"},
    {"drained_ms", FORM_TIME, BAND(t_drained_ns), "never_reached"},
};
FORM(form_band_times, band_time_members);

static const struct form_member band_loop_members[] = {
    {"status", FORM_STATUS, BAND(status), NULL},
    {"reason", FORM_STR, BAND(reason), ""},
    {"detail", FORM_STR, BAND(detail), ""},
    {"issued", FORM_COUNT, BAND(issued), "not_counted"},
    {"issued_warmup", FORM_COUNT, BAND(issued_warmup), "not_counted"},
    {"issued_injected", FORM_COUNT, BAND(issued_injected), "not_counted"},
    {"planned", FORM_ZERO, BAND(planned), "nothing_planned"},
};
FORM(form_band_loop, band_loop_members);
