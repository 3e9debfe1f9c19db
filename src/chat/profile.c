#include "chat/profile.h"

#include <string.h>

#define TRANSFORMERS_BLOCKS \
    {                       \
        true, true, false   \
    }
#define PLAIN_BLOCKS        \
    {                       \
        false, false, false \
    }

/* ChatML with nothing added: 8 tokens around one user message on a Qwen vocabulary. */
#define BARE_CHATML                                                                            \
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}" \
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"

static const struct chat_profile profiles[] = {
    {
        .name = "transformers",
        .summary = "Hugging Face's apply_chat_template",
        .syntax = TRANSFORMERS_BLOCKS,
        .tools_absent = ABSENT_NONE,
        .documents = true,
        .generation_prompt_always = true,
        .special_tokens = true,
    },
    {
        .name = "llama-server",
        .summary = "llama.cpp with --jinja, its default since December 2025",
        .syntax = TRANSFORMERS_BLOCKS,
        .special_tokens = true,
        .developer_is_system = true,
        .dates = true,
        .null_content = NULL_IS_EMPTY,
        .parts = PARTS_JOINED,
        .arguments = ARGUMENTS_PARSED,
        .tools = TOOLS_DESCRIBED_EMPTY,
        .thinking = THINKING_ON_IF_READ,
        .last_assistant = LAST_PREFILLED,
        .adds_special = true,
    },
    {
        .name = "vllm",
        .summary = "vLLM's OpenAI server",
        .syntax = TRANSFORMERS_BLOCKS,
        .tools_absent = ABSENT_NONE,
        .documents = true,
        .generation_prompt_always = true,
        .special_tokens = true,
        .parts = PARTS_BY_TEMPLATE,
        .arguments = ARGUMENTS_PARSED,
        .tools = TOOLS_DESCRIBED_NULL,
    },
    {
        .name = "sglang",
        .summary = "SGLang's OpenAI server",
        .syntax = TRANSFORMERS_BLOCKS,
        .tools_absent = ABSENT_NONE,
        .documents = true,
        .generation_prompt_always = true,
        .special_tokens = true,
        .parts = PARTS_BY_TEMPLATE,
        .arguments = ARGUMENTS_PARSED,
        .tools = TOOLS_DESCRIPTION_FIRST,
        .last_assistant = LAST_AS_USER,
    },
    {
        .name = "tgi",
        .summary = "Text Generation Inference (MiniJinja, blocks not trimmed)",
        .syntax = PLAIN_BLOCKS,
        .tools_absent = ABSENT_NONE,
        .generation_prompt_always = true,
        .special_tokens = true,
        .parts = PARTS_JOINED,
    },
    {
        .name = "apr",
        .summary = "aprender's apr serve: its own ChatML, no system message, content as plain text",
        .built_in = BARE_CHATML,
        .syntax = TRANSFORMERS_BLOCKS,
        .only_role_and_content = true,
        .null_content = NULL_IS_EMPTY,
        .parts = PARTS_JOINED,
        .plain_content = true,
    },
    {
        .name = "apr-template",
        .summary = "newer apr serve: the GGUF's template, '<|' in content defused",
        .syntax = TRANSFORMERS_BLOCKS,
        .generation_prompt_always = true,
        .only_role_and_content = true,
        .null_content = NULL_IS_EMPTY,
        .parts = PARTS_JOINED,
        .thinking = THINKING_OFF,
        .markup = MARKUP_DEFUSED,
    },
    {
        .name = "none",
        .summary = "no template: the text of the messages alone",
        .raw = true,
        .syntax = TRANSFORMERS_BLOCKS,
        .null_content = NULL_IS_EMPTY,
        .parts = PARTS_JOINED,
    },
};

const struct chat_profile *chat_profile_at(size_t i)
{
    return i < sizeof profiles / sizeof profiles[0] ? &profiles[i] : NULL;
}

const struct chat_profile *chat_profile_find(const char *name)
{
    const struct chat_profile *p;
    for (size_t i = 0; name && (p = chat_profile_at(i)); i++)
        if (strcmp(p->name, name) == 0)
            return p;
    return NULL;
}
