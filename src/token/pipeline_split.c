/* Pre-tokenizers of a tokenizer.json. */
#include <string.h>

#include "base/utf8.h"
#include "token/pipeline.h"

#define BLANKS_AND_NEWLINES "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define ANY_CASE "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define QWEN2(digits)                                 \
    ANY_CASE "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" digits \
             "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" BLANKS_AND_NEWLINES
#define U "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define W "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define FRONT "[^\\r\\n\\p{L}\\p{N}]?"
#define CASED(tail, digits)                                      \
    FRONT U "*" W "+" tail "|" FRONT U "+" W "*" tail "|" digits \
            "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" BLANKS_AND_NEWLINES
#define NO_HAN(letters) "[" letters "&&[^\\p{Han}]]"
#define KU NO_HAN("\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}")
#define KW NO_HAN("\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}")
#define KIMI                                                                      \
    "[\\p{Han}]+|" FRONT KU "*" KW "+" ANY_CASE "?|" FRONT KU "+" KW "*" ANY_CASE \
    "?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" BLANKS_AND_NEWLINES
#define DEEPSEEK(newlines)                                                                \
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^" newlines                   \
    "\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[" newlines "]*|\\s*[" newlines \
    "]+|\\s+(?!\\S)|\\s+"

static const struct {
    const char *pattern, *name;
    struct scan_rules rules;
} scanners[] = {
    {QWEN2("\\p{N}"), "qwen2", {.family = SCAN_QWEN2, .digits = 1, .fold_all = true}},
    {QWEN2("\\p{N}{1,3}"), "llama3", {.family = SCAN_QWEN2, .digits = 3, .fold_all = true}},
    {QWEN2("\\p{N}{1,2}"), "qwen2", {.family = SCAN_QWEN2, .digits = 2, .fold_all = true}},
    {QWEN2("\\p{N}+"),
     "qwen2",
     {.family = SCAN_QWEN2, .digits = SCAN_ANY_DIGITS, .fold_all = true}},
    {ANY_CASE "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}"
              "| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*" BLANKS_AND_NEWLINES,
     "qwen3.5",
     {.family = SCAN_QWEN2, .digits = 1, .fold_all = true, .marks = true}},
    {CASED(ANY_CASE "?", "\\p{N}{1,3}"),
     "gpt-4o",
     {.family = SCAN_CASE, .digits = 3, .fold_all = true}},
    {CASED(ANY_CASE "?", "\\p{N}"), "gpt-4o", {.family = SCAN_CASE, .digits = 1, .fold_all = true}},
    {CASED("", "\\p{N}"), "tekken", {.family = SCAN_CASE, .digits = 1, .no_contraction = true}},
    {CASED("", "\\p{N}{1,3}"),
     "tekken",
     {.family = SCAN_CASE, .digits = 3, .no_contraction = true}},
    {KIMI, "kimi", {.family = SCAN_KIMI, .digits = 3, .fold_all = true}},
    {DEEPSEEK("\r\n"), "deepseek-v3", {.family = SCAN_DEEPSEEK}},
    {DEEPSEEK("\\r\\n"), "deepseek-v3", {.family = SCAN_DEEPSEEK}},
    {"\\p{N}{1,3}", "numbers", {.family = SCAN_RUNS, .digits = 3, .set = SCAN_NUMBERS}},
    {"\\p{N}", "numbers", {.family = SCAN_RUNS, .digits = 1, .set = SCAN_NUMBERS}},
    {"[一-龥\xE3\x81\x80-ゟ゠-ヿ]+",
     "kana-and-han",
     {.family = SCAN_RUNS, .digits = SCAN_ANY_DIGITS, .set = SCAN_KANA_AND_HAN}},
    {"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
     "gpt2",
     {.family = SCAN_GPT2}},
    {"(?:'s|'t|'re|'ve|'m|'ll|'d)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
     "gpt2",
     {.family = SCAN_GPT2}},
};

int pipeline_find_scanner(struct scan_rules *rules, const char **name, struct str pattern)
{
    for (size_t i = 0; i < sizeof scanners / sizeof scanners[0]; i++)
        if (str_eq(pattern, str_of(scanners[i].pattern))) {
            *rules = scanners[i].rules;
            *name = scanners[i].name;
            return 0;
        }
    return -1;
}

static struct split_step *add_step(struct pipeline *p, enum split_op op, struct error *err)
{
    if (p->split_n == PIPELINE_STEPS_MAX) {
        error_set(err, ERROR_LIMIT, "more than %d pre-tokenizers", PIPELINE_STEPS_MAX);
        return NULL;
    }
    struct split_step *s = &p->split[p->split_n++];
    *s = (struct split_step){.op = op, .behavior = SPLIT_ISOLATED};
    return s;
}

static int read_behavior(enum split_behavior *out, const struct json *c, const char *otherwise,
                         struct error *err)
{
    static const char *const names[] = {"Removed", "Isolated", "MergedWithPrevious",
                                        "MergedWithNext", "Contiguous"};
    struct str name = str_of(otherwise);
    json_str(&name, json_get(c, "behavior"));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (str_eq_nocase(name, str_of(names[i]))) {
            *out = (enum split_behavior)i;
            return 0;
        }
    return pipeline_unsupported(err, "pre-tokenizer behavior", name);
}

static int add_regex(struct pipeline *p, struct str pattern, enum split_behavior behavior,
                     bool invert, struct error *err)
{
    struct scan_rules rules;
    const char *name;
    /* Scanners whose expression matches every character split the same way inverted. */
    if (pipeline_find_scanner(&rules, &name, pattern) == 0) {
        bool covers = rules.family != SCAN_RUNS && rules.family != SCAN_DEEPSEEK;
        if (behavior == SPLIT_ISOLATED || (behavior == SPLIT_REMOVED && invert && covers)) {
            struct split_step *s = add_step(p, SPLIT_SCAN, err);
            if (!s)
                return -1;
            s->scan = rules;
            s->name = name;
            if (rules.family != SCAN_RUNS)
                p->pre = name;
            return 0;
        }
    }
    struct split_step *s = add_step(p, SPLIT_REGEX, err);
    if (!s)
        return -1;
    s->behavior = behavior;
    s->invert = invert;
    s->text = pattern;
    p->pre = "regex";
    return regex_new(&s->regex, pattern, err);
}

static int read_split(struct pipeline *p, const struct json *c, struct error *err)
{
    struct str text;
    bool is_regex, invert = pipeline_flag(c, "invert", false);
    enum split_behavior behavior;
    if (pipeline_pattern(&text, &is_regex, json_get(c, "pattern"), "pre_tokenizer Split", err) <
            0 ||
        read_behavior(&behavior, c, "", err) < 0)
        return -1;
    if (is_regex)
        return add_regex(p, text, behavior, invert, err);
    struct split_step *s = add_step(p, SPLIT_LITERAL, err);
    if (!s)
        return -1;
    s->text = text;
    s->behavior = behavior;
    s->invert = invert;
    return 0;
}

static int read_byte_level(struct pipeline *p, const struct json *c, struct error *err)
{
    if (pipeline_flag(c, "add_prefix_space", true) && !add_step(p, SPLIT_PREFIX, err))
        return -1;
    if (pipeline_flag(c, "use_regex", true)) {
        struct split_step *s = add_step(p, SPLIT_SCAN, err);
        if (!s)
            return -1;
        s->scan = (struct scan_rules){.family = SCAN_GPT2};
        s->name = p->pre = "gpt2";
    }
    p->byte_level = true;
    return 0;
}

static int read_metaspace(struct pipeline *p, const struct json *c, struct error *err)
{
    struct str scheme = STR("always"), text = STR("\xE2\x96\x81");
    struct split_step *s = add_step(p, SPLIT_METASPACE, err);
    if (!s)
        return -1;
    json_str(&text, json_get(c, "replacement"));
    if (json_str(&scheme, json_get(c, "prepend_scheme")) < 0 &&
        !pipeline_flag(c, "add_prefix_space", true))
        scheme = STR("never");
    s->text = text;
    s->split = pipeline_flag(c, "split", true);
    s->behavior = SPLIT_MERGED_WITH_NEXT;
    if (str_eq(scheme, STR("always")))
        s->prepend = PREPEND_ALWAYS;
    else if (str_eq(scheme, STR("first")))
        s->prepend = PREPEND_FIRST;
    else if (!str_eq(scheme, STR("never")))
        return pipeline_unsupported(err, "Metaspace prepend_scheme", scheme);
    p->pre = "metaspace";
    return 0;
}

static int add_set(struct pipeline *p, enum split_set set, enum split_behavior behavior,
                   const char *name, struct error *err)
{
    struct split_step *s = add_step(p, SPLIT_SET, err);
    if (!s)
        return -1;
    s->set = set;
    s->behavior = behavior;
    p->pre = name;
    return 0;
}

static int read_delimiter(struct pipeline *p, const struct json *c, struct error *err)
{
    struct str text;
    uint32_t cp;
    if (json_need_str(&text, c, "delimiter", err) < 0)
        return error_wrap(err, "pre_tokenizer CharDelimiterSplit");
    if (text.n == 0 || utf8_decode(text, 0, &cp) != text.n)
        return error_set(err, ERROR_INPUT, "CharDelimiterSplit's delimiter is not one character");
    if (add_set(p, SET_CHAR, SPLIT_REMOVED, "delimiter", err) < 0)
        return -1;
    p->split[p->split_n - 1].cp = cp;
    return 0;
}

int pipeline_read_pre_tokenizer(struct pipeline *p, const struct json *c, struct error *err)
{
    struct str type;
    enum split_behavior behavior;
    if (pipeline_type(&type, c, "pre_tokenizer", err) < 0)
        return -1;
    if (type.n == 0)
        return 0;
    if (p->byte_level && !str_eq(type, STR("Sequence")))
        return pipeline_unsupported(err, "pre-tokenizer behind ByteLevel:", type);
    if (str_eq(type, STR("Sequence"))) {
        const struct json *list = json_get(c, "pretokenizers");
        for (size_t i = 0; list && i < list->n; i++)
            if (pipeline_read_pre_tokenizer(p, json_at(list, i), err) < 0)
                return -1;
        return 0;
    }
    if (str_eq(type, STR("Split")))
        return read_split(p, c, err);
    if (str_eq(type, STR("ByteLevel")))
        return read_byte_level(p, c, err);
    if (str_eq(type, STR("Metaspace")))
        return read_metaspace(p, c, err);
    if (str_eq(type, STR("WhitespaceSplit")))
        return add_set(p, SET_SPACE, SPLIT_REMOVED, "whitespace", err);
    if (str_eq(type, STR("CharDelimiterSplit")))
        return read_delimiter(p, c, err);
    if (str_eq(type, STR("Whitespace"))) {
        p->pre = "words";
        return add_step(p, SPLIT_WORDS, err) ? 0 : -1;
    }
    if (str_eq(type, STR("UnicodeScripts"))) {
        p->pre = "scripts";
        return add_step(p, SPLIT_SCRIPTS, err) ? 0 : -1;
    }
    if (str_eq(type, STR("Digits")))
        return add_set(p, SET_NUMERIC,
                       pipeline_flag(c, "individual_digits", false) ? SPLIT_ISOLATED
                                                                    : SPLIT_CONTIGUOUS,
                       "digits", err);
    if (str_eq(type, STR("Punctuation"))) {
        if (read_behavior(&behavior, c, "Isolated", err) < 0)
            return -1;
        return add_set(p, SET_BERT_PUNCTUATION, behavior, "punctuation", err);
    }
    if (str_eq(type, STR("BertPreTokenizer"))) {
        if (add_set(p, SET_SPACE, SPLIT_REMOVED, "bert", err) < 0)
            return -1;
        return add_set(p, SET_BERT_PUNCTUATION, SPLIT_ISOLATED, "bert", err);
    }
    return pipeline_unsupported(err, "pre-tokenizer", type);
}
