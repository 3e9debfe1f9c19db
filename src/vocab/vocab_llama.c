/*
 * Which tokens llama.cpp takes out of plain text, and as what. The file's types decide, but some
 * texts overrule them: llama.cpp knows the control tokens of many models by name, whatever type a
 * converter gave them (facts of its src/llama-vocab.cpp and of conversion/base.py).
 */
#include <string.h>

#include "base/buf.h"
#include "vocab/vocab_internal.h"

#define MARK "\xE2\x96\x81"
#define BAR "\xEF\xBD\x9C" /* U+FF5C, DeepSeek's */
#define NAMES_MAX 8

/* They end a generation, and are control tokens therefore. */
static const char *const ending[] = {
    "<|eot_id|>",    "<|im_end|>",
    "<|end|>",       "<|return|>",
    "<|call|>",      "<|flush|>",
    "<|calls|>",     "<end_of_turn>",
    "<|endoftext|>", "</s>",
    "<|eom_id|>",    "<EOT>",
    "_<EOT>",        "[EOT]",
    "[EOS]",         "<|end_of_text|>",
    "<eos>",         "<end_of_utterance>",
    "<turn|>",       "<|tool_response>",
    "[e~[",          "<" BAR "end" MARK "of" MARK "sentence" BAR ">",
};

/* Fill-in-the-middle: of each kind one, unless the file says which. Where a vocabulary holds
 * several, llama.cpp takes the one that its hash table gives first; here the list's order decides.
 */
static const char *const fim[VOCAB_FIM_KINDS][NAMES_MAX] = {
    {"<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<" BAR "fim" MARK "begin" BAR ">", "<PRE>",
     MARK "<PRE>", "<|code_prefix|>", "<|prefix|>"},
    {"<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<" BAR "fim" MARK "hole" BAR ">", "<SUF>",
     MARK "<SUF>", "<|code_suffix|>", "<|suffix|>"},
    {"<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<" BAR "fim" MARK "end" BAR ">", "<MID>",
     MARK "<MID>", "<|code_middle|>", "<|middle|>"},
    {"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"},
    {"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"},
    {"<|file_sep|>"},
};

/* gpt-oss writes its channels with these: they are rendered always. */
static const char *const rendered[] = {"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"};

/* Types as llama.cpp has them once it has looked at the texts; 0: as the file says. */
struct overrides {
    uint8_t *type;
    const struct vocab *v;
};

static bool has(const struct vocab *v, const char *text)
{
    return vocab_find(v, str_of(text)) != VOCAB_NONE;
}

static void overrule(struct overrides *o, const char *text, enum vocab_type type)
{
    uint32_t id = vocab_find(o->v, str_of(text));
    if (id != VOCAB_NONE)
        o->type[id] = (uint8_t)type;
}

static void overrule_all(struct overrides *o)
{
    const struct vocab *v = o->v;
    for (size_t kind = 0; kind < VOCAB_FIM_KINDS; kind++) {
        size_t i = 0;
        while (i < NAMES_MAX && fim[kind][i] && !has(v, fim[kind][i]))
            i++;
        if (v->gguf.fim[kind] == VOCAB_NONE && i < NAMES_MAX && fim[kind][i])
            overrule(o, fim[kind][i], VOCAB_TYPE_CONTROL);
    }
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++)
        overrule(o, ending[i], VOCAB_TYPE_CONTROL);
    for (size_t i = 0; i < sizeof rendered / sizeof rendered[0]; i++)
        overrule(o, rendered[i], VOCAB_TYPE_USER_DEFINED);
    bool calls = has(v, "<|call|>") || has(v, "<|calls|>");
    if (calls && (has(v, "<|return|>") || has(v, "<|flush|>")))
        overrule(o, "<|end|>", VOCAB_TYPE_USER_DEFINED);
    if (has(v, "<|tool_response>"))
        overrule(o, "</s>", VOCAB_TYPE_NORMAL);
}

static bool holds(struct str s, const char *const *parts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_find(s, str_of(parts[i])) != STR_NONE)
            return true;
    return false;
}

static bool holds_nocase(struct str s, struct str part)
{
    for (size_t at = 0; at + part.n <= s.n; at++)
        if (str_eq_nocase(str_first(str_skip(s, at), part.n), part))
            return true;
    return false;
}

/* White space beside a token that it swallows: by the model's name, as the file does not say. */
static void set_strips(struct vocab *v)
{
    static const char *const pre[] = {"jina-v2-de", "jina-v2-es", "jina-v2-code"};
    static const char *const architecture[] = {"nomic-bert-moe", "jina-bert-v3"};
    const struct vocab_gguf *g = &v->gguf;
    bool mask = holds(g->pre, pre, 3) || holds(g->architecture, architecture, 2);
    bool phi = !mask && (holds_nocase(g->name, STR("phi-3")) || holds_nocase(g->name, STR("phi3")));
    bool modern = !mask && !phi && holds_nocase(g->name, STR("modern-bert"));
    for (uint32_t i = 0; i < v->added_n; i++) {
        struct vocab_added *a = &v->added[i];
        a->lstrip =
            (mask && str_eq(a->text, STR("<mask>"))) || (modern && str_eq(a->text, STR("[MASK]")));
        a->rstrip = phi && !str_eq(a->text, STR("<unk>")) && !str_eq(a->text, STR("<s>")) &&
                    !str_eq(a->text, STR("<|endoftext|>"));
    }
}

static bool is_special(enum vocab_type type)
{
    return type == VOCAB_TYPE_CONTROL || type == VOCAB_TYPE_UNKNOWN;
}

static int list_added(struct overrides *o, struct vocab *v, struct error *err)
{
    uint32_t n = 0;
    v->added_n = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t id = 0; id < v->n; id++) {
            struct vocab_token *t = &v->tokens[id];
            enum vocab_type type = o->type[id] ? o->type[id] : t->type;
            t->added = 0;
            if ((!is_special(type) && type != VOCAB_TYPE_USER_DEFINED) || t->text.n == 0)
                continue;
            if (pass == 0) {
                n++;
                continue;
            }
            v->added[v->added_n] = (struct vocab_added){t->text, id, .special = is_special(type)};
            t->added = ++v->added_n;
        }
        if (pass == 0 && n > VOCAB_ADDED_MAX)
            return error_set(err, ERROR_LIMIT, "%u added tokens; the limit is %u", n,
                             VOCAB_ADDED_MAX);
        if (pass == 0 && !(v->added = arena_array(&v->arena, n, sizeof v->added[0])))
            return arena_check(&v->arena, "added tokens", err);
    }
    return 0;
}

int vocab_list_llama(struct vocab *v, struct error *err)
{
    struct overrides o = {arena_array(&v->arena, v->n, 1), v};
    if (!o.type)
        return arena_check(&v->arena, "token types", err);
    overrule_all(&o);
    if (list_added(&o, v, err) < 0)
        return -1;
    set_strips(v);
    return 0;
}

bool vocab_looks_special(struct str text)
{
    static const char *const known[] = {"<pad>", "<mask>", "<2mass>", "[@BOS@]"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (str_eq(text, str_of(known[i])))
            return true;
    return (str_starts(text, STR("<|")) && str_ends(text, STR("|>"))) ||
           (str_starts(text, STR("<" BAR)) && str_ends(text, STR(BAR ">"))) ||
           (str_starts(text, STR("<unused")) && str_ends(text, STR(">")));
}

/* User-defined tokens are matched before spaces become marks: they are spelled with spaces. */
static int spell_plainly(struct vocab *v, struct vocab_token *t, struct error *err)
{
    struct str text = t->text;
    struct buf plain = BUF_INIT(VOCAB_TOKEN_BYTES_MAX);
    for (size_t at; (at = str_find(text, STR(MARK))) != STR_NONE;) {
        buf_addstr(&plain, str_first(text, at));
        buf_addc(&plain, ' ');
        text = str_skip(text, at + sizeof MARK - 1);
    }
    buf_addstr(&plain, text);
    t->text = arena_str(&v->arena, buf_str(&plain));
    buf_release(&plain);
    return t->text.p ? 0 : arena_check(&v->arena, "vocabulary", err);
}

int vocab_as_llama(struct vocab *v, struct error *err)
{
    for (uint32_t i = 0; i < v->added_n; i++) {
        struct vocab_token *t = &v->tokens[v->added[i].id];
        bool control = v->added[i].special || vocab_looks_special(t->text);
        t->type = control ? VOCAB_TYPE_CONTROL : VOCAB_TYPE_USER_DEFINED;
        t->added_only = false;
        if (!control && str_find(t->text, STR(MARK)) != STR_NONE && spell_plainly(v, t, err) < 0)
            return -1;
    }
    return vocab_list_llama(v, err);
}
