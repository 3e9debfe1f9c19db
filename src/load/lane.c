#include "load/lane.h"

#include <string.h>

#include "base/hash.h"
#include "record/workload.h"

static const char *protocol_name(const struct run_plan *plan)
{
    return strcmp(plan->wire, "completions") == 0 ? "openai-completions" : "openai-chat";
}

void load_lane_speak(struct load_lane *lane, const struct wire_protocol *protocol)
{
    lane->protocol = protocol;
    lane->record.path = protocol->path;
}

/* The digest of a local file that was named; nothing where none was. */
static int digest(struct load_lane *lane, const char *path, const char **out, struct error *err)
{
    char *hex;
    if (!path)
        return 0;
    hex = arena_alloc(&lane->arena, SHA256_HEX);
    if (!hex)
        return error_no_memory(err);
    if (sha256_file_hex(hex, path, err) < 0)
        return -1;
    *out = hex;
    return 0;
}

int load_lane_init(struct load_lane *lane, const struct load_lane_options *options,
                   const struct run_plan *plan, struct error *err)
{
    struct wire_endpoint_options e = {
        .url = options->url,
        .bearer = options->bearer,
        .ca_file = options->ca_file,
        .insecure = options->insecure,
        .no_reuse = !plan->connection_reuse,
    };

    *lane = (struct load_lane){.options = *options, .plan = plan};
    arena_init(&lane->arena, LOAD_LANE_BYTES_MAX);
    lane->protocol = wire_protocol_find(protocol_name(plan));
    if (!lane->protocol)
        return error_set(err, ERROR_UNSUPPORTED, "there is no protocol '%s'", protocol_name(plan));
    if (wire_endpoint_new(&lane->endpoint, &e, err) < 0) {
        load_lane_release(lane);
        return error_wrap(err, "lane %s", options->role);
    }
    lane->form.ids = strcmp(plan->prompt_form, "ids") == 0;
    lane->record = (struct run_lane){
        .role = options->role,
        .path = lane->protocol->path,
        .url = wire_endpoint_url(lane->endpoint),
        .host = options->host,
        .model = options->model,
        .build = options->build,
    };
    if (digest(lane, options->binary, &lane->record.build_sha256, err) < 0 ||
        digest(lane, options->weights, &lane->record.weights_sha256, err) < 0) {
        load_lane_release(lane);
        return error_wrap(err, "lane %s", options->role);
    }
    return 0;
}

void load_lane_release(struct load_lane *lane)
{
    if (!lane)
        return;
    wire_endpoint_free(lane->endpoint);
    arena_release(&lane->arena);
    *lane = (struct load_lane){0};
}

void load_lane_ask(const struct load_lane *lane, struct str prompt, int64_t max_tokens,
                   struct wire_message messages[2], struct wire_ask *ask)
{
    const struct run_plan *plan = lane->plan;
    size_t n = 0;

    if (plan->system)
        messages[n++] = (struct wire_message){STR("system"), str_of(plan->system)};
    messages[n++] = (struct wire_message){STR("user"), prompt};
    *ask = (struct wire_ask){
        .model = lane->record.model,
        .messages = messages,
        .messages_n = n,
        .prompt = prompt,
        .max_tokens = max_tokens,
        .seed = plan->seed,
        .temperature = plan->temperature,
        .has_temperature = true,
        .stream = plan->stream,
        .redact_text = plan->redact_text,
        .include_usage = plan->stream && !lane->record.stream_usage_refused,
        .no_cache = strcmp(run_lane_cache(plan, &lane->record), "cold") == 0,
        .token_progress = plan->token_progress && !lane->record.token_progress_refused,
        .ignore_eos = plan->ignore_eos && !lane->record.ignore_eos_refused,
    };
}
