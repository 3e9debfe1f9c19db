/* The table behind token/pipeline_pre.h (facts of llama.cpp's src/llama-vocab.cpp, unicode.cpp). */
#include "token/pipeline_pre.h"

#define RUN(kind, most)                                         \
    {                                                           \
        .scan = { SCAN_RUNS, most, .set = kind, .older = true } \
    }
#define ANY SCAN_ANY_DIGITS
#define SCAN_AS(...)                           \
    {                                          \
        .scan = { __VA_ARGS__, .older = true } \
    }
#define REGEX(text)   \
    {                 \
        .regex = text \
    }
#define GPT2 SCAN_AS(.family = SCAN_GPT2)
#define DEEPSEEK SCAN_AS(.family = SCAN_DEEPSEEK)
#define QWEN2(most) SCAN_AS(.family = SCAN_QWEN2, .digits = most)

static const struct pre_splits
    qwen2 = {"qwen2", {QWEN2(1)}},
    qwen35 = {"qwen3.5", {SCAN_AS(.family = SCAN_QWEN2, .digits = 1, .marks = true)}},
    ufakzeka = {"qwen2", {SCAN_AS(.family = SCAN_QWEN2, .digits = 1, .no_contraction = true)}},
    laguna = {"laguna", {RUN(SCAN_NEWLINE, ANY), QWEN2(1)}},
    minicpm5 = {"minicpm5", {RUN(SCAN_NUMBERS, 3), QWEN2(ANY)}}, llama3 = {"llama3", {QWEN2(3)}},
    gpt2 = {"gpt2", {GPT2}}, starcoder = {"starcoder", {RUN(SCAN_NUMBERS, 1), GPT2}},
    gpt4o = {"gpt-4o", {SCAN_AS(.family = SCAN_CASE, .digits = 3, .ascii_case = true)}},
    granite = {"gpt-4o",
               {SCAN_AS(.family = SCAN_CASE, .digits = 3, .ascii_case = true, .marks = true)}},
    tekken = {"tekken",
              {SCAN_AS(.family = SCAN_CASE, .digits = 1, .ascii_case = true,
                       .no_contraction = true)}},
    kimi = {"kimi", {SCAN_AS(.family = SCAN_KIMI, .digits = 3, .ascii_case = true)}},
    deepseek3 = {"deepseek-v3", {RUN(SCAN_NUMBERS, 3), RUN(SCAN_KANA_AND_HAN, ANY), DEEPSEEK}},
    lines = {"lines", {RUN(SCAN_NEWLINE, ANY)}},
    falcon = {"falcon", {RUN(SCAN_PUNCTUATION, ANY), GPT2, RUN(SCAN_THREE_DIGITS, 3)}},
    standard = {"default",
                {RUN(SCAN_PUNCTUATION_PLAIN, ANY), GPT2, RUN(SCAN_NUMBERS, ANY),
                 RUN(SCAN_THREE_DIGITS, 3)}};

#define CONTRACTIONS "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
#define WORDS "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+"
#define OTHERS "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
#define ENDING "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define CASED_LETTERS                                                                       \
    "A-Za-z\\x{B5}\\x{C0}-\\x{D6}\\x{D8}-\\x{F6}\\x{F8}-\\x{1BA}\\x{1BC}-\\x{1BF}"          \
    "\\x{1C4}-\\x{293}\\x{295}-\\x{2AF}\\x{370}-\\x{373}\\x{376}\\x{377}\\x{37B}-\\x{37D}"  \
    "\\x{37F}\\x{386}\\x{388}-\\x{38A}\\x{38C}\\x{38E}-\\x{3A1}\\x{3A3}-\\x{3F5}"           \
    "\\x{3F7}-\\x{481}\\x{48A}-\\x{52F}\\x{531}-\\x{556}\\x{10A0}-\\x{10C5}"                \
    "\\x{13A0}-\\x{13F5}\\x{13F8}-\\x{13FD}\\x{1C90}-\\x{1CBA}\\x{1CBD}-\\x{1CBF}"          \
    "\\x{1D00}-\\x{1D2B}\\x{1D6B}-\\x{1D77}\\x{1D79}-\\x{1D9A}\\x{1E00}-\\x{1F15}"          \
    "\\x{1F18}-\\x{1F1D}\\x{1F20}-\\x{1F45}\\x{1F48}-\\x{1F4D}\\x{1F50}-\\x{1F57}\\x{1F59}" \
    "\\x{1F5B}\\x{1F5D}\\x{1F5F}-\\x{1F7D}\\x{1F80}-\\x{1FB4}\\x{1FB6}-\\x{1FBC}\\x{1FBE}"  \
    "\\x{1FC2}-\\x{1FC4}\\x{1FC6}-\\x{1FCC}\\x{1FD0}-\\x{1FD3}\\x{1FD6}-\\x{1FDB}"          \
    "\\x{1FE0}-\\x{1FEC}\\x{1FF2}-\\x{1FF4}\\x{1FF6}-\\x{1FFC}\\x{2102}\\x{2107}"           \
    "\\x{210A}-\\x{2113}\\x{2115}\\x{2119}-\\x{211D}\\x{2124}\\x{2126}\\x{2128}"            \
    "\\x{212A}-\\x{212D}\\x{212F}-\\x{2134}\\x{2139}\\x{213C}-\\x{213F}\\x{2145}-\\x{2149}" \
    "\\x{214E}\\x{2183}\\x{2184}\\x{2C00}-\\x{2C7B}\\x{2C7E}-\\x{2CE4}\\x{2CEB}-\\x{2CEE}"  \
    "\\x{2CF2}\\x{2CF3}\\x{A640}-\\x{A66D}\\x{A680}-\\x{A69B}\\x{A722}-\\x{A76F}"           \
    "\\x{A771}-\\x{A787}\\x{A78B}-\\x{A78E}\\x{AB70}-\\x{ABBF}\\x{FB00}-\\x{FB06}"          \
    "\\x{FB13}-\\x{FB17}\\x{FF21}-\\x{FF3A}\\x{FF41}-\\x{FF5A}\\x{10400}-\\x{1044F}"        \
    "\\x{104B0}-\\x{104D3}\\x{104D8}-\\x{104FB}\\x{10C80}-\\x{10CB2}\\x{10CC0}-\\x{10CF2}"  \
    "\\x{118A0}-\\x{118DF}\\x{1E900}-\\x{1E943}"

#define KANA_AND_HAN "\\x{4E00}-\\x{9FA5}\\x{3040}-\\x{30FF}"
/* White space is none of it: llama.cpp turns it into U+000B before these are matched. */
#define OLD_CJK "[\\x{4E00}-\\x{9FA5}\\x{800}-\\x{4E00}\\x{AC00}-\\x{D7FF}&&[^\\s]]+"
/* GPT-4o's expression where cases are not told apart: [\p{Lu}..\p{M}] is any letter or mark. */
#define LETTERS_AND_MARKS(digits)                                    \
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+" CONTRACTIONS "?|" digits \
    "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" ENDING

static const struct pre_splits
    deepseek_llm = {"deepseek-llm",
                    {REGEX("[\\r\\n]"), REGEX("\\s?[" CASED_LETTERS "]+"),
                     REGEX("\\s?[!-/"
                           ":-~\\x{FF01}-\\x{FF0F}\\x{FF1A}-\\x{FF5E}\\x{2018}-\\x{201F}"
                           "\\x{3001}\\x{3002}]+"),
                     REGEX("\\s+\\z"), REGEX(OLD_CJK), REGEX("\\p{N}+")}},
    deepseek_coder = {"deepseek-coder",
                      {REGEX("[\\r\\n]"), REGEX("\\s?\\p{L}+"), REGEX("\\s?\\p{P}+"),
                       REGEX(OLD_CJK), REGEX("\\p{N}")}},
    bloom = {"bloom", {REGEX(" ?[^(\\s|.,!?…。，、।۔،)]+")}},
    viking = {"viking", {REGEX(" ?[^(\\s|.,!?…。，、।۔،)]+"), REGEX("\\p{N}")}},
    bailingmoe = {"bailingmoe",
                  {REGEX("'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|" WORDS "|\\p{N}" OTHERS
                         "|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+")}},
    seed_coder = {"seed-coder",
                  {REGEX(CONTRACTIONS "|" WORDS "|\\p{N}| ?[^\\s\\p{L}\\p{N}\\r\\n]+" ENDING)}},
    jais2 =
        {"jais-2",
         {REGEX(
             CONTRACTIONS
             "|" WORDS "|\\p{N}{1,3}" OTHERS
             "|\\s*[\\r\\n]+|\\s{512}(?!\\S)|\\s{256}(?!\\S)|\\s{128}(?!\\S)|\\s{64}(?!\\S)|"
             "\\s{32}(?!\\S)|\\s{16}(?!\\S)|\\s{8}(?!\\S)|\\s{4}(?!\\S)|\\s{1,2}(?!\\S)|\\s{1}")}},
    exaone_moe = {"exaone-moe",
                  {REGEX(CONTRACTIONS
                         "|[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+|\\p{N}"
                         "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]?|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+")}},
    youtu =
        {"youtu",
         {REGEX(
              "[\\x{AC00}-\\x{D7A3}\\x{3131}-\\x{318E}]+"
              "|[\\x{FF01}\\x{2026}\\x{201C}\\x{201D}\\x{2018}\\x{2019}\\x{2014}\\x{FF1A}\\x{FF1B}"
              "\\x{FF0C}\\x{3001}-\\x{303F}\\x{FE30}-\\x{FE4F}]+"
              "|[\\x{3105}-\\x{312F}]+|[" KANA_AND_HAN "]+"),
          REGEX(LETTERS_AND_MARKS("\\p{N}"))}},
    /* What stands before a run of digits stays with their first group, in both of these. */
    tiny_aya = {"tiny-aya", {RUN(SCAN_DIGIT_GROUPS, ANY), REGEX(LETTERS_AND_MARKS("\\p{N}{1,3}"))}},
    afmoe = {"afmoe",
             {RUN(SCAN_DIGIT_GROUPS, ANY),
              REGEX(
                  "[\\x{4E00}-\\x{9FFF}\\x{3400}-\\x{4DBF}\\x{8C48}-\\x{FAFF}\\x{3040}-\\x{30FF}"
                  "\\x{FF65}-\\x{FF9F}\\x{2F00}-\\x{2FDF}\\x{E40}-\\x{EFF}\\x{1780}-\\x{17FF}"
                  "\\x{1000}-\\x{109F}\\x{AA60}-\\x{AA7F}\\x{A9E0}-\\x{A9FF}\\x{1100}-\\x{11FF}]+"),
              DEEPSEEK}},
    spark = {"spark-2.5",
             {RUN(SCAN_NUMBERS, 3), RUN(SCAN_KANA_AND_HAN, ANY),
              REGEX("[!-/:-@\\[-`{-~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
                    "| ?[\\p{P}\\p{S}]+|[\\r\\n]|\\s+(?!\\S)|\\s+"),
              RUN(SCAN_NUMBERS, 1)}},
    superbpe = {"superbpe", {RUN(SCAN_NUMBERS, ANY), REGEX("(?=(?:[0-9]{3})+(?![0-9]))")}},
    chameleon = {"chameleon",
                 {REGEX("<sentinel:[0-9]+>"), REGEX("IMGIMG[A-I]{1,4}Z"), REGEX("[\\t\\n]|    |  "),
                  RUN(SCAN_NUMBERS, 1), REGEX("[\\p{P}!-/:-@\\[-`{-~]"), GPT2}},
    whitespace = {"whitespace", {REGEX("\\S+")}};

static const struct pre_family families[] = {
    {"default", &standard, 0},
    {"qwen2", &qwen2, 0},
    {"deepseek-r1-qwen", &qwen2, 0},
    {"kormo", &qwen2, 0},
    {"f2llmv2", &qwen2, 0},
    {"megrez", &qwen2, 0},
    {"stablelm2", &qwen2, 0},
    {"hunyuan", &qwen2, 0},
    {"solar-open", &qwen2, 0},
    {"grok-2", &qwen2, 0},
    {"qwen35", &qwen35, 0},
    {"ufakzeka", &ufakzeka, 0},
    {"laguna", &laguna, 0},
    {"minicpm5", &minicpm5, PRE_IGNORE_MERGES},
    {"llama3", &llama3, PRE_IGNORE_MERGES | PRE_ADD_BOS},
    {"llama-v3", &llama3, PRE_IGNORE_MERGES | PRE_ADD_BOS},
    {"llama-bpe", &llama3, PRE_IGNORE_MERGES | PRE_ADD_BOS},
    {"falcon3", &llama3, PRE_IGNORE_MERGES | PRE_ADD_BOS},
    {"falcon-h1", &llama3, PRE_IGNORE_MERGES | PRE_ADD_BOS},
    {"pixtral", &llama3, PRE_IGNORE_MERGES | PRE_ADD_BOS},
    {"midm-2.0", &llama3, PRE_IGNORE_MERGES | PRE_ADD_BOS},
    {"lfm2", &llama3, PRE_IGNORE_MERGES | PRE_ADD_BOS},
    {"jina-v5-nano", &llama3, PRE_IGNORE_MERGES | PRE_ADD_BOS},
    {"dbrx", &llama3, 0},
    {"smaug-bpe", &llama3, 0},
    {"glm4", &llama3, PRE_NO_BOS},
    {"chatglm-bpe", &llama3, PRE_NO_BOS},
    {"gpt-2", &gpt2, 0},
    {"phi-2", &gpt2, 0},
    {"jina-es", &gpt2, 0},
    {"jina-de", &gpt2, 0},
    {"jina-v2-es", &gpt2, 0},
    {"jina-v2-de", &gpt2, 0},
    {"gigachat", &gpt2, 0},
    {"a.x-4.0", &gpt2, 0},
    {"mellum", &gpt2, 0},
    {"modern-bert", &gpt2, 0},
    {"exaone4", &gpt2, 0},
    {"mpt", &gpt2, 0},
    {"olmo", &gpt2, 0},
    {"jais", &gpt2, 0},
    {"trillion", &gpt2, 0},
    {"granite-docling", &gpt2, 0},
    {"jina-v1-en", &gpt2, 0},
    {"jina-v2-code", &gpt2, 0},
    {"roberta-bpe", &gpt2, 0},
    {"starcoder", &starcoder, 0},
    {"refact", &starcoder, 0},
    {"command-r", &starcoder, 0},
    {"smollm", &starcoder, 0},
    {"codeshell", &starcoder, 0},
    {"exaone", &starcoder, 0},
    {"minerva-7b", &starcoder, 0},
    {"mellum2", &starcoder, 0},
    {"gpt-4o", &gpt4o, 0},
    {"llama4", &gpt4o, 0},
    {"kanana2", &gpt4o, 0},
    {"talkie", &gpt4o, 0},
    {"minimax-m2", &gpt4o, 0},
    {"tekken", &tekken, PRE_IGNORE_MERGES | PRE_ADD_BOS},
    {"deepseek-v3", &deepseek3, 0},
    {"hunyuan-dense", &deepseek3, 0},
    {"joyai-llm", &deepseek3, 0},
    {"hy_v4", &deepseek3, 0},
    {"gemma4", &lines, PRE_RAW | PRE_ESCAPE_SPACES | PRE_WHOLE_NEWLINES | PRE_ALWAYS_BOS},
    {"granite-embed-multi-311m", &lines,
     PRE_RAW | PRE_ESCAPE_SPACES | PRE_WHOLE_NEWLINES | PRE_ALWAYS_BOS},
    {"sarvam-moe", &lines, PRE_RAW | PRE_ESCAPE_SPACES},
    {"falcon", &falcon, 0},
    {"deepseek-llm", &deepseek_llm, 0},
    {"deepseek-coder", &deepseek_coder, 0},
    {"bloom", &bloom, 0},
    {"poro-chat", &bloom, 0},
    {"gpt3-finnish", &bloom, 0},
    {"viking", &viking, 0},
    {"bailingmoe", &bailingmoe, 0},
    {"bailingmoe2", &bailingmoe, 0},
    {"llada-moe", &bailingmoe, 0},
    {"seed-coder", &seed_coder, 0},
    {"jais-2", &jais2, 0},
    {"exaone-moe", &exaone_moe, 0},
    {"whitespace", &whitespace, PRE_RAW},
    {"granite-embed-multi-97m", &granite, PRE_IGNORE_MERGES},
    {"kimi-k2", &kimi, 0},
    {"youtu", &youtu, PRE_IGNORE_MERGES},
    {"tiny_aya", &tiny_aya, 0},
    {"cohere2moe", &tiny_aya, 0},
    {"afmoe", &afmoe, 0},
    {"spark2_5", &spark, 0},
    {"superbpe", &superbpe, 0},
    {"chameleon", &chameleon, PRE_ADD_BOS},
};

const struct pre_family *pre_at(size_t i)
{
    return i < sizeof families / sizeof families[0] ? &families[i] : NULL;
}

const struct pre_family *pre_find(struct str name)
{
    for (size_t i = 0; pre_at(i); i++)
        if (str_eq(name, str_of(families[i].pre)))
            return &families[i];
    return NULL;
}
