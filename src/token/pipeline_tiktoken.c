/*
 * tiktoken's encodings: how each splits text (facts of its tiktoken_ext/openai_public.py, and of
 * Kimi's, Qwen's and Llama 3's own tokenizer code). A piece that is a token is taken whole.
 */
#include <string.h>

#include "token/pipeline.h"

/*
 * r50k: '(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s , which is
 * GPT-2's. cl100k is Llama 3's expression but for \s++$ , which takes white space at the end whole,
 * newlines and all.
 */
static const struct {
    const char *encoding;
    struct scan_rules scan;
} splits[] = {
    {"r50k_base", {.family = SCAN_GPT2}},
    {"p50k_base", {.family = SCAN_GPT2}},
    {"cl100k_base", {.family = SCAN_QWEN2, .digits = 3, .fold_all = true, .whole_end = true}},
    {"o200k_base", {.family = SCAN_CASE, .digits = 3, .fold_all = true}},
    {"qwen", {.family = SCAN_QWEN2, .digits = 1, .fold_all = true}},
    {"llama3", {.family = SCAN_QWEN2, .digits = 3, .fold_all = true}},
    {"kimi", {.family = SCAN_KIMI, .digits = 3, .fold_all = true}},
};

int pipeline_from_tiktoken(struct pipeline *p, const struct vocab *v, struct error *err)
{
    *p = (struct pipeline){.reference = "tiktoken", .pre = v->encoding, .byte_level = true};
    for (size_t i = 0; i < sizeof splits / sizeof splits[0]; i++)
        if (strcmp(splits[i].encoding, v->encoding) == 0)
            p->split[p->split_n++] = (struct split_step){
                .op = SPLIT_SCAN, .scan = splits[i].scan, .name = splits[i].encoding};
    if (p->split_n == 0)
        return pipeline_unsupported(err, "tiktoken encoding", str_of(v->encoding));
    p->decode[p->decode_n++] = (struct decode_step){.op = DECODE_BYTE_LEVEL};
    p->model = (struct model_settings){
        .kind = MODEL_BPE_BYTES, .ignore_merges = true, .by_result = true, .unk = VOCAB_NONE};
    return 0;
}
