#include "profile.h"

#include <string.h>

/* What Qwen2.5's template puts in front when the conversation has no system message. */
#define QWEN_SYSTEM "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."

/* wrap.c in Jinja's words. */
#define QWEN_TEMPLATE                                                                  \
    "{%- for message in messages %}"                                                   \
    "{%- if loop.first and message.role != 'system' %}"                                \
    "{{- '<|im_start|>system\\n" QWEN_SYSTEM "<|im_end|>\\n' }}"                       \
    "{%- endif %}"                                                                     \
    "{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}" \
    "{%- endfor %}"                                                                    \
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"

const struct profile profiles[] = {
    {
        .name = "llama-server",
        .summary = "llama.cpp's server: role and first token in one chunk, timings, prompt cache",
        .dialect = DIALECT_LLAMA,
        .default_system = QWEN_SYSTEM,
        .special_text = SPECIAL_TEXT_PARSED,
        .role = ROLE_WITH_FIRST,
        .add_special = true,
        .continues_assistant = true,
        .stream_usage = true,
        .ignore_eos = true,
        .counts_stop = true,
        .logprobs = true,
        .reports_cached = true,
        .takes_cache_prompt = true,
        .cache_block = 1,
        .template = QWEN_TEMPLATE,
        .server = "llama.cpp",
        .fingerprint = "b1-80fb11a",
    },
    {
        .name = "apr",
        .summary = "aprender's apr serve: bare ChatML, special text plain, no usage in a stream",
        .dialect = DIALECT_OPENAI,
        .special_text = SPECIAL_TEXT_PLAIN,
        .role = ROLE_AT_START,
        .ignore_eos = true,
    },
    {
        .name = "vllm",
        .summary = "vLLM: the role chunk first, usage as asked, continuous usage, token ids",
        .dialect = DIALECT_OPENAI,
        .default_system = QWEN_SYSTEM,
        .special_text = SPECIAL_TEXT_PARSED,
        .role = ROLE_AT_START,
        .stream_usage = true,
        .continuous_usage = true,
        .ignore_eos = true,
        .counts_stop = true,
        .finish_with_last = true,
        .logprobs = true,
        .token_ids = true,
        .takes_cache_salt = true,
        .cache_block = 16,
        .server = "uvicorn",
    },
    {
        .name = "sglang",
        .summary = "SGLang: the role chunk first, usage as asked, cached tokens reported",
        .dialect = DIALECT_OPENAI,
        .default_system = QWEN_SYSTEM,
        .special_text = SPECIAL_TEXT_PARSED,
        .role = ROLE_AT_START,
        .stream_usage = true,
        .ignore_eos = true,
        .counts_stop = true,
        .logprobs = true,
        .reports_cached = true,
        .takes_cache_salt = true,
        .cache_block = 1,
        .server = "uvicorn",
    },
    {
        .name = "tgi",
        .summary = "text-generation-inference: the role in every delta; ignore_eos is not known",
        .dialect = DIALECT_OPENAI,
        .default_system = QWEN_SYSTEM,
        .special_text = SPECIAL_TEXT_PARSED,
        .role = ROLE_IN_EACH,
        .stream_usage = true,
        .counts_stop = true,
        .finish_with_last = true,
        .logprobs = true,
        .fingerprint = "3.0.0-sim",
        .text_only = true,
    },
    {
        .name = "ollama",
        .summary = "Ollama: /api/chat and /api/generate in lines of JSON; ignore_eos is not known",
        .dialect = DIALECT_OLLAMA,
        .default_system = QWEN_SYSTEM,
        .special_text = SPECIAL_TEXT_PARSED,
        .role = ROLE_IN_EACH,
        .stream_usage = true,
        .counts_stop = true,
        .cache_block = 1,
        .fingerprint = "fp_ollama",
        .cuts_prompt = true,
        .text_only = true,
    },
};

const size_t profiles_n = sizeof profiles / sizeof profiles[0];

const struct profile *profile_find(const char *name)
{
    for (size_t i = 0; i < profiles_n; i++)
        if (strcmp(profiles[i].name, name) == 0)
            return &profiles[i];
    return NULL;
}
