/* tokenizer.ggml.pre -> the way llama.cpp splits text (its src/llama-vocab.cpp). */
#include "token/pipeline.h"

struct family {
    const char *pre, *name;
    struct scan_rules rules;
    bool ignore_merges, add_bos;
};

#define QWEN2 "qwen2", {SCAN_QWEN2, 1, false}, false, false
#define LLAMA3 "llama3", {SCAN_QWEN2, 3, false}, true, true
#define DBRX "llama3", {SCAN_QWEN2, 3, false}, false, false
#define GPT2 "gpt2", {SCAN_GPT2, 0, false}, false, false

static const struct family families[] = {
    {"qwen2", QWEN2},     {"deepseek-r1-qwen", QWEN2},
    {"kormo", QWEN2},     {"f2llmv2", QWEN2},
    {"megrez", QWEN2},    {"stablelm2", QWEN2},
    {"hunyuan", QWEN2},   {"solar-open", QWEN2},
    {"grok-2", QWEN2},    {"llama3", LLAMA3},
    {"llama-v3", LLAMA3}, {"llama-bpe", LLAMA3},
    {"falcon3", LLAMA3},  {"falcon-h1", LLAMA3},
    {"pixtral", LLAMA3},  {"midm-2.0", LLAMA3},
    {"lfm2", LLAMA3},     {"jina-v5-nano", LLAMA3},
    {"dbrx", DBRX},       {"smaug-bpe", DBRX},
    {"glm4", DBRX},       {"chatglm-bpe", DBRX},
    {"gpt-2", GPT2},      {"phi-2", GPT2},
    {"jina-es", GPT2},    {"jina-de", GPT2},
    {"jina-v2-es", GPT2}, {"jina-v2-de", GPT2},
    {"gigachat", GPT2},   {"a.x-4.0", GPT2},
    {"mellum", GPT2},     {"modern-bert", GPT2},
    {"exaone4", GPT2},    {"mpt", GPT2},
    {"olmo", GPT2},       {"jais", GPT2},
    {"trillion", GPT2},   {"granite-docling", GPT2},
};

static void put_around(struct pipeline *p, const struct vocab *v, bool add_bos)
{
    const struct vocab_gguf *g = &v->gguf;
    if (g->has_bos_flag)
        add_bos = g->add_bos;
    if (add_bos && g->bos != VOCAB_NONE)
        p->before.id[p->before.n++] = g->bos;
    if (g->has_eos_flag && g->add_eos && g->eos != VOCAB_NONE)
        p->after.id[p->after.n++] = g->eos;
}

int pipeline_from_gguf(struct pipeline *p, const struct vocab *v, struct error *err)
{
    *p = (struct pipeline){.llama_cpp = true, .decode_bytes = true};
    if (v->model != VOCAB_BPE || str_eq(v->gguf.model, STR("gemma4")))
        return error_set(err, ERROR_UNSUPPORTED, "tokenizer.ggml.model \"%.*s\" is not supported",
                         STR_ARG(v->gguf.model));
    if (v->gguf.pre.n == 0)
        return error_set(err, ERROR_UNSUPPORTED,
                         "the GGUF file does not name its pre-tokenizer (tokenizer.ggml.pre)");
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        const struct family *f = &families[i];
        if (!str_eq(v->gguf.pre, str_of(f->pre)))
            continue;
        p->byte_level = true;
        p->scan = f->rules;
        p->pre = f->name;
        p->ignore_merges = f->ignore_merges;
        put_around(p, v, f->add_bos);
        return 0;
    }
    error_set(err, ERROR_UNSUPPORTED, "tokenizer.ggml.pre \"%.*s\" is not supported",
              STR_ARG(v->gguf.pre));
    return error_remedy(err, "use the model's tokenizer.json");
}
