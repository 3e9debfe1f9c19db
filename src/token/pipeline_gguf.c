/* tokenizer.ggml.pre -> the way llama.cpp splits text (facts of its src/llama-vocab.cpp). */
#include "token/pipeline.h"

#define SCANS_MAX 4
#define REGEXES_MAX 6

/* The expressions of a family, applied one after the other. */
struct splits {
    const char *name;
    struct scan_rules scan[SCANS_MAX];
    const char *regex[REGEXES_MAX]; /* instead of scanners */
};

#define GPT2                \
    {                       \
        .family = SCAN_GPT2 \
    }
#define NUMBER                            \
    {                                     \
        SCAN_RUNS, 1, .set = SCAN_NUMBERS \
    }
#define NUMBERS_3                         \
    {                                     \
        SCAN_RUNS, 3, .set = SCAN_NUMBERS \
    }
#define NUMBERS_ANY                                     \
    {                                                   \
        SCAN_RUNS, SCAN_ANY_DIGITS, .set = SCAN_NUMBERS \
    }
#define THREE_DIGITS                           \
    {                                          \
        SCAN_RUNS, 3, .set = SCAN_THREE_DIGITS \
    }
#define KANA_AND_HAN                                         \
    {                                                        \
        SCAN_RUNS, SCAN_ANY_DIGITS, .set = SCAN_KANA_AND_HAN \
    }
#define LINES                                           \
    {                                                   \
        SCAN_RUNS, SCAN_ANY_DIGITS, .set = SCAN_NEWLINE \
    }
#define PUNCTUATION(kind)                       \
    {                                           \
        SCAN_RUNS, SCAN_ANY_DIGITS, .set = kind \
    }

static const struct splits
    qwen2 = {.name = "qwen2", .scan = {{.family = SCAN_QWEN2, .digits = 1}}},
    qwen35 = {.name = "qwen3.5", .scan = {{.family = SCAN_QWEN2, .digits = 1, .marks = true}}},
    ufakzeka = {.name = "qwen2",
                .scan = {{.family = SCAN_QWEN2, .digits = 1, .no_contraction = true}}},
    laguna = {.name = "laguna", .scan = {LINES, {.family = SCAN_QWEN2, .digits = 1}}},
    minicpm5 = {.name = "minicpm5",
                .scan = {NUMBERS_3, {.family = SCAN_QWEN2, .digits = SCAN_ANY_DIGITS}}},
    llama3 = {.name = "llama3", .scan = {{.family = SCAN_QWEN2, .digits = 3}}},
    gpt2 = {.name = "gpt2", .scan = {GPT2}},
    starcoder = {.name = "starcoder", .scan = {NUMBER, GPT2}},
    gpt4o = {.name = "gpt-4o", .scan = {{.family = SCAN_CASE, .digits = 3, .ascii_case = true}}},
    tekken =
        {.name = "tekken",
         .scan = {{.family = SCAN_CASE, .digits = 1, .ascii_case = true, .no_contraction = true}}},
    deepseek3 = {.name = "deepseek-v3",
                 .scan = {NUMBERS_3, KANA_AND_HAN, {.family = SCAN_DEEPSEEK}}},
    lines = {.name = "lines", .scan = {LINES}},
    falcon = {.name = "falcon", .scan = {PUNCTUATION(SCAN_PUNCTUATION), GPT2, THREE_DIGITS}},
    standard = {.name = "default",
                .scan = {PUNCTUATION(SCAN_PUNCTUATION_PLAIN), GPT2, NUMBERS_ANY, THREE_DIGITS}};

#define CONTRACTIONS "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
#define WORDS "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+"
#define OTHERS "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
#define ENDING "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define CASED_LETTERS                                                                                                                                   \
    "A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-"                                                      \
    "ჅᎠ-"                                                                                                                                           \
    "Ᏽᏸ-"                                                                                                                                           \
    "ᏽᲐ-"                                                                                                                                           \
    "ᲺᲽ-"                                                                                                                                           \
    "Ჿᴀ-"                                                                                                                                           \
    "ᴫᵫ-"                                                                                                                                           \
    "ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-\\x{1F7D}ᾀ-ᾴᾶ-"                                                                    \
    "ᾼ\\x{1FBE}ῂ-ῄῆ-ῌῐ-\\x{1FD3}ῖ-\\x{1FDB}ῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤ\\x{2126}ℨ\\x{212A}-ℭℯ-ℴℹℼ-ℿⅅ-" \
    "ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-"                                                                                                \
    "ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-"                                                                                                                      \
    "ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-"                                                        \
    "𞥃"

static const struct splits
    deepseek_llm =
        {"deepseek-llm",
         {{0}},
         {"[\\r\\n]", "\\s?[" CASED_LETTERS "]+",
          "\\s?[!-/"
          ":-~\\x{FF01}-\\x{FF0F}\\x{FF1A}-\\x{FF5E}\\x{2018}-\\x{201F}\\x{3000}-\\x{3002}]+",
          "\\s+\\z", "[\\x{4E00}-\\x{9FA5}\\x{800}-\\x{4E00}\\x{AC00}-\\x{D7FF}]+", "\\p{N}+"}},
    deepseek_coder = {.name = "deepseek-coder",
                      .regex = {"[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+",
                                "[\\x{4E00}-\\x{9FA5}\\x{800}-\\x{4E00}\\x{AC00}-\\x{D7FF}]+",
                                "\\p{N}"}},
    bloom = {.name = "bloom", .regex = {" ?[^(\\s|.,!?…。，、।۔،)]+"}},
    viking = {.name = "viking", .regex = {" ?[^(\\s|.,!?…。，、।۔،)]+", "\\p{N}"}},
    bailingmoe = {.name = "bailingmoe",
                  .regex = {"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|" WORDS "|\\p{N}" OTHERS
                            "|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"}},
    seed_coder = {.name = "seed-coder",
                  .regex = {CONTRACTIONS "|" WORDS "|\\p{N}| ?[^\\s\\p{L}\\p{N}\\r\\n]+" ENDING}},
    jais2 =
        {.name = "jais-2",
         .regex =
             {CONTRACTIONS
              "|" WORDS "|\\p{N}{1,3}" OTHERS
              "|\\s*[\\r\\n]+|\\s{512}(?!\\S)|\\s{256}(?!\\S)|\\s{128}(?!\\S)|\\s{64}(?!\\S)|"
              "\\s{32}(?!\\S)|\\s{16}(?!\\S)|\\s{8}(?!\\S)|\\s{4}(?!\\S)|\\s{1,2}(?!\\S)|\\s{1}"}},
    exaone_moe = {.name = "exaone-moe",
                  .regex = {CONTRACTIONS
                            "|[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+|\\p{N}"
                            "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]?|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"}},
    whitespace = {.name = "whitespace", .regex = {"\\S+"}};

struct family {
    const char *pre;
    const struct splits *splits;
    bool ignore_merges, add_bos, add_sep, raw;
};

static const struct family families[] = {
    {"default", &standard, 0, 0, 0, 0},
    {"qwen2", &qwen2, 0, 0, 0, 0},
    {"deepseek-r1-qwen", &qwen2, 0, 0, 0, 0},
    {"kormo", &qwen2, 0, 0, 0, 0},
    {"f2llmv2", &qwen2, 0, 0, 0, 0},
    {"megrez", &qwen2, 0, 0, 0, 0},
    {"stablelm2", &qwen2, 0, 0, 0, 0},
    {"hunyuan", &qwen2, 0, 0, 0, 0},
    {"solar-open", &qwen2, 0, 0, 0, 0},
    {"grok-2", &qwen2, 0, 0, 0, 0},
    {"qwen35", &qwen35, 0, 0, 0, 0},
    {"ufakzeka", &ufakzeka, 0, 0, 0, 0},
    {"laguna", &laguna, 0, 0, 0, 0},
    {"minicpm5", &minicpm5, 0, 0, 0, 0},
    {"llama3", &llama3, true, true, 0, 0},
    {"llama-v3", &llama3, true, true, 0, 0},
    {"llama-bpe", &llama3, true, true, 0, 0},
    {"falcon3", &llama3, true, true, 0, 0},
    {"falcon-h1", &llama3, true, true, 0, 0},
    {"pixtral", &llama3, true, true, 0, 0},
    {"midm-2.0", &llama3, true, true, 0, 0},
    {"lfm2", &llama3, true, true, 0, 0},
    {"jina-v5-nano", &llama3, true, true, 0, 0},
    {"dbrx", &llama3, 0, 0, 0, 0},
    {"smaug-bpe", &llama3, 0, 0, 0, 0},
    {"glm4", &llama3, 0, 0, 0, 0},
    {"chatglm-bpe", &llama3, 0, 0, 0, 0},
    {"gpt-2", &gpt2, 0, 0, 0, 0},
    {"phi-2", &gpt2, 0, 0, 0, 0},
    {"jina-es", &gpt2, 0, 0, 0, 0},
    {"jina-de", &gpt2, 0, 0, 0, 0},
    {"jina-v2-es", &gpt2, 0, 0, 0, 0},
    {"jina-v2-de", &gpt2, 0, 0, 0, 0},
    {"gigachat", &gpt2, 0, 0, 0, 0},
    {"a.x-4.0", &gpt2, 0, 0, 0, 0},
    {"mellum", &gpt2, 0, 0, 0, 0},
    {"modern-bert", &gpt2, 0, 0, 0, 0},
    {"exaone4", &gpt2, 0, 0, 0, 0},
    {"mpt", &gpt2, 0, 0, 0, 0},
    {"olmo", &gpt2, 0, 0, 0, 0},
    {"jais", &gpt2, 0, 0, 0, 0},
    {"trillion", &gpt2, 0, 0, 0, 0},
    {"granite-docling", &gpt2, 0, 0, 0, 0},
    {"jina-v1-en", &gpt2, 0, 0, true, 0},
    {"jina-v2-code", &gpt2, 0, 0, true, 0},
    {"roberta-bpe", &gpt2, 0, 0, true, 0},
    {"starcoder", &starcoder, 0, 0, 0, 0},
    {"refact", &starcoder, 0, 0, 0, 0},
    {"command-r", &starcoder, 0, 0, 0, 0},
    {"smollm", &starcoder, 0, 0, 0, 0},
    {"codeshell", &starcoder, 0, 0, 0, 0},
    {"exaone", &starcoder, 0, 0, 0, 0},
    {"minerva-7b", &starcoder, 0, 0, 0, 0},
    {"mellum2", &starcoder, 0, 0, 0, 0},
    {"gpt-4o", &gpt4o, 0, 0, 0, 0},
    {"llama4", &gpt4o, 0, 0, 0, 0},
    {"kanana2", &gpt4o, 0, 0, 0, 0},
    {"talkie", &gpt4o, 0, 0, 0, 0},
    {"minimax-m2", &gpt4o, 0, 0, 0, 0},
    {"tekken", &tekken, true, true, 0, 0},
    {"deepseek-v3", &deepseek3, 0, 0, 0, 0},
    {"hunyuan-dense", &deepseek3, 0, 0, 0, 0},
    {"joyai-llm", &deepseek3, 0, 0, 0, 0},
    {"hy_v4", &deepseek3, 0, 0, 0, 0},
    {"gemma4", &lines, 0, 0, 0, true},
    {"granite-embed-multi-311m", &lines, 0, 0, 0, true},
    {"sarvam-moe", &lines, 0, 0, 0, true},
    {"falcon", &falcon, 0, 0, 0, 0},
    {"deepseek-llm", &deepseek_llm, 0, 0, 0, 0},
    {"deepseek-coder", &deepseek_coder, 0, 0, 0, 0},
    {"bloom", &bloom, 0, 0, 0, 0},
    {"poro-chat", &bloom, 0, 0, 0, 0},
    {"gpt3-finnish", &bloom, 0, 0, 0, 0},
    {"viking", &viking, 0, 0, 0, 0},
    {"bailingmoe", &bailingmoe, 0, 0, 0, 0},
    {"bailingmoe2", &bailingmoe, 0, 0, 0, 0},
    {"llada-moe", &bailingmoe, 0, 0, 0, 0},
    {"seed-coder", &seed_coder, 0, 0, 0, 0},
    {"jais-2", &jais2, 0, 0, 0, 0},
    {"exaone-moe", &exaone_moe, 0, 0, 0, 0},
    {"whitespace", &whitespace, 0, 0, 0, true},
};

static void put(struct id_list *to, uint32_t id)
{
    if (id != VOCAB_NONE)
        to->id[to->n++] = id;
}

/* Ids that llama.cpp takes where the file is silent. */
static uint32_t or_default(uint32_t id, uint32_t otherwise, const struct vocab *v)
{
    return id == VOCAB_NONE && otherwise < v->n ? otherwise : id;
}

static void put_around(struct pipeline *p, const struct vocab *v, bool bos, bool eos, bool sep)
{
    const struct vocab_gguf *g = &v->gguf;
    static const uint32_t defaults[][3] = {
        [VOCAB_BPE] = {11, 11, VOCAB_NONE},
        [VOCAB_SPM] = {1, 2, VOCAB_NONE},
        [VOCAB_UNIGRAM] = {VOCAB_NONE, 1, VOCAB_NONE},
        [VOCAB_WORDPIECE] = {101, VOCAB_NONE, 102},
        [VOCAB_WORDLEVEL] = {VOCAB_NONE, VOCAB_NONE, VOCAB_NONE},
    };
    const uint32_t *d = defaults[v->model];
    if (g->has_bos_flag ? g->add_bos : bos)
        put(&p->before, or_default(g->bos, d[0], v));
    if (g->has_sep_flag ? g->add_sep : sep)
        put(&p->after, or_default(g->sep, d[2], v));
    if (g->has_eos_flag ? g->add_eos : eos)
        put(&p->after, or_default(g->eos, d[1], v));
}

static int from_bpe(struct pipeline *p, const struct vocab *v, struct error *err)
{
    struct str pre = v->gguf.pre.n ? v->gguf.pre : STR("default");
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        const struct family *f = &families[i];
        if (!str_eq(pre, str_of(f->pre)))
            continue;
        p->pre = f->splits->name;
        for (unsigned k = 0; k < SCANS_MAX && f->splits->scan[k].family != SCAN_WHOLE; k++)
            p->split[p->split_n++] = (struct split_step){
                .op = SPLIT_SCAN, .scan = f->splits->scan[k], .name = f->splits->name};
        for (unsigned k = 0; k < REGEXES_MAX && f->splits->regex[k]; k++) {
            struct split_step *step = &p->split[p->split_n++];
            *step = (struct split_step){
                .op = SPLIT_REGEX, .behavior = SPLIT_ISOLATED, .text = str_of(f->splits->regex[k])};
            if (regex_new(&step->regex, step->text, err) < 0)
                return -1;
        }
        for (unsigned k = 0; k < p->split_n; k++)
            p->split[k].scan.older = true;
        p->byte_level = !f->raw;
        p->escape_spaces = f->raw;
        p->model = (struct model_settings){
            .kind = f->raw ? MODEL_BPE_CHARS : MODEL_BPE_BYTES,
            .ignore_merges = f->ignore_merges,
            .byte_fallback = f->raw,
            .whole_newlines = f->raw,
            .unk = VOCAB_NONE,
        };
        put_around(p, v, f->add_bos, false, f->add_sep);
        return 0;
    }
    error_set(err, ERROR_UNSUPPORTED, "tokenizer.ggml.pre \"%.*s\" is not supported", STR_ARG(pre));
    return error_remedy(err, "use the model's tokenizer.json");
}

static int from_spm(struct pipeline *p, const struct vocab *v)
{
    p->pre = "spm";
    p->escape_spaces = true;
    p->space_prefix = v->gguf.has_prefix_flag ? v->gguf.add_space_prefix : true;
    p->model = (struct model_settings){.kind = MODEL_SPM, .unk = or_default(v->unk, 0, v)};
    put_around(p, v, true, false, false);
    return 0;
}

static int from_bert(struct pipeline *p, const struct vocab *v)
{
    p->pre = "bert";
    p->norm[p->norm_n++] = (struct norm_step){.op = NORM_BERT_LLAMA};
    p->split[p->split_n++] = (struct split_step){.op = SPLIT_NFD_WORDS};
    p->model = (struct model_settings){.kind = MODEL_WPM, .unk = or_default(v->unk, 100, v)};
    put_around(p, v, true, false, true);
    return 0;
}

int pipeline_from_gguf(struct pipeline *p, const struct vocab *v, struct error *err)
{
    *p = (struct pipeline){.llama_cpp = true};
    switch (v->model) {
    case VOCAB_BPE:
        return from_bpe(p, v, err);
    case VOCAB_SPM:
        return from_spm(p, v);
    case VOCAB_WORDPIECE:
        return from_bert(p, v);
    default:
        return pipeline_unsupported(err, "tokenizer.ggml.model", v->gguf.model);
    }
}
