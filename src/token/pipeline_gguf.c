/* A GGUF's pipeline in llama.cpp's semantics (facts of its src/llama-vocab.cpp). */
#include "token/pipeline.h"
#include "token/pipeline_pre.h"

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

/* What add_special puts around where flags say so (all models but bert). */
static void put_around(struct pipeline *p, const struct vocab *v, unsigned flags, bool bos,
                       bool eos)
{
    const struct vocab_gguf *g = &v->gguf;
    bool gemma4 = str_eq(g->model, STR("gemma4"));
    uint32_t first = VOCAB_NONE, last = VOCAB_NONE;
    if (v->model == VOCAB_BPE && !gemma4) {
        first = flags & PRE_NO_BOS ? VOCAB_NONE : 11;
        last = 11;
    } else if (v->model == VOCAB_SPM) {
        first = 1;
        last = 2;
    } else if (v->model == VOCAB_UNIGRAM) {
        last = 1;
    }
    if ((g->has_bos_flag ? g->add_bos : bos) || flags & PRE_ALWAYS_BOS)
        put(&p->before, or_default(g->bos, first, v));
    if (g->has_eos_flag ? g->add_eos : eos)
        put(&p->after, or_default(g->eos, last, v));
}

static int add_pre_step(struct pipeline *p, const struct pre_splits *splits, unsigned i,
                        struct error *err)
{
    const struct pre_step *from = &splits->step[i];
    struct split_step *step = &p->split[p->split_n++];
    if (!from->regex) {
        *step = (struct split_step){.op = SPLIT_SCAN, .scan = from->scan, .name = splits->name};
        return 0;
    }
    *step = (struct split_step){
        .op = SPLIT_REGEX, .behavior = SPLIT_ISOLATED, .text = str_of(from->regex)};
    return regex_new_llama(&step->regex, step->text, err);
}

static int apply_family(struct pipeline *p, const struct pre_family *f, struct error *err)
{
    bool raw = f->flags & PRE_RAW;
    p->pre = f->splits->name;
    p->byte_level = !raw;
    p->escape_spaces = f->flags & PRE_ESCAPE_SPACES;
    p->model = (struct model_settings){
        .kind = raw ? MODEL_BPE_CHARS : MODEL_BPE_BYTES,
        .ignore_merges = f->flags & PRE_IGNORE_MERGES,
        .byte_fallback = raw,
        .single_bytes = raw,
        .drop_late = true,
        .whole_newlines = f->flags & PRE_WHOLE_NEWLINES,
        .unk = VOCAB_NONE,
    };
    for (unsigned i = 0; i < PRE_STEPS_MAX && pre_step_is(&f->splits->step[i]); i++)
        if (add_pre_step(p, f->splits, i, err) < 0)
            return -1;
    return 0;
}

/* llama.cpp's "whitespace" model: white space is dropped, what is left may be made lower case. */
static void whitespace_model(struct pipeline *p, const struct vocab *v)
{
    if (v->gguf.has_lowercase_flag && v->gguf.lowercase)
        p->norm[p->norm_n++] = (struct norm_step){.op = NORM_LOWER_LLAMA};
    p->split[p->split_n++] =
        (struct split_step){.op = SPLIT_SET, .set = SET_SPACE, .behavior = SPLIT_REMOVED};
}

static int from_bpe(struct pipeline *p, const struct vocab *v, struct error *err)
{
    struct str pre = v->gguf.pre.n ? v->gguf.pre : STR("default");
    if (str_eq(v->gguf.model, STR("gemma4")))
        pre = STR("gemma4");
    const struct pre_family *f = pre_find(pre);
    if (!f) {
        error_set(err, ERROR_UNSUPPORTED, "tokenizer.ggml.pre \"%.*s\" is not supported",
                  STR_ARG(str_first(pre, 64)));
        return error_remedy(err, "use the model's tokenizer.json");
    }
    if (str_eq(v->gguf.model, STR("whitespace")))
        whitespace_model(p, v);
    if (apply_family(p, f, err) < 0)
        return -1;
    put_around(p, v, f->flags, f->flags & PRE_ADD_BOS, false);
    return 0;
}

static int from_spm(struct pipeline *p, const struct vocab *v)
{
    p->pre = "spm";
    p->escape_spaces = true;
    p->space_prefix = v->gguf.has_prefix_flag ? v->gguf.add_space_prefix : true;
    p->model = (struct model_settings){.kind = MODEL_SPM, .unk = or_default(v->unk, 0, v)};
    put_around(p, v, 0, true, false);
    return 0;
}

/* [CLS] and [SEP] whatever the flags say. */
static int from_bert(struct pipeline *p, const struct vocab *v)
{
    const struct vocab_gguf *g = &v->gguf;
    bool lower = g->has_lowercase_flag ? g->lowercase : true;
    p->pre = "bert";
    p->norm[p->norm_n++] =
        (struct norm_step){.op = NORM_BERT_LLAMA,
                           .lower = lower,
                           .accents = g->has_accents_flag ? g->strip_accents : lower};
    p->split[p->split_n++] = (struct split_step){.op = SPLIT_NFD_WORDS};
    p->model = (struct model_settings){.kind = MODEL_WPM, .unk = or_default(v->unk, 100, v)};
    put(&p->before, or_default(g->bos, 101, v));
    put(&p->after, or_default(g->sep, 102, v));
    return 0;
}

static int from_t5(struct pipeline *p, const struct vocab *v, struct error *err)
{
    const struct vocab_gguf *g = &v->gguf;
    struct norm_step *s = &p->norm[p->norm_n++];
    *s = (struct norm_step){.op = NORM_UGM,
                            .left = g->has_prefix_flag && g->add_space_prefix,
                            .clean = g->remove_extra_whitespaces};
    if (g->charsmap.n && charsmap_new(&s->charsmap, g->charsmap, err) < 0)
        return error_wrap(err, "tokenizer.ggml.precompiled_charsmap");
    if (ugm_prefixes_new(&s->prefixes, v, err) < 0)
        return -1;
    p->pre = "ugm";
    p->model = (struct model_settings){
        .kind = MODEL_UNIGRAM, .ugm = true, .fuse_unk = true, .unk = or_default(v->unk, 2, v)};
    put_around(p, v, 0, false, true);
    return 0;
}

int pipeline_from_gguf(struct pipeline *p, const struct vocab *v, struct error *err)
{
    *p = (struct pipeline){.llama_cpp = true, .reference = "llama.cpp"};
    switch (v->model) {
    case VOCAB_BPE:
        return from_bpe(p, v, err);
    case VOCAB_SPM:
        return from_spm(p, v);
    case VOCAB_WORDPIECE:
        return from_bert(p, v);
    case VOCAB_UNIGRAM:
        return from_t5(p, v, err);
    default:
        return pipeline_unsupported(err, "tokenizer.ggml.model", v->gguf.model);
    }
}

/* Whether two scanners split by one expression, as either reference writes it. */
static bool same_expression(const struct scan_rules *a, const struct scan_rules *b)
{
    return a->family == b->family && a->digits == b->digits && a->set == b->set &&
           a->no_contraction == b->no_contraction && a->marks == b->marks;
}

static bool splits_alike(const struct pre_splits *splits, const struct pipeline *hf)
{
    unsigned i = 0;
    for (unsigned k = 0; k < hf->split_n; k++) {
        const struct split_step *s = &hf->split[k];
        if (s->op == SPLIT_PREFIX) /* a space in front: llama.cpp puts none there */
            continue;
        const struct scan_rules digit = {SCAN_RUNS, 1, .set = SCAN_NUMBERS};
        const struct scan_rules *scan =
            s->op == SPLIT_SCAN ? &s->scan
            : s->op == SPLIT_SET && s->set == SET_NUMERIC && s->behavior == SPLIT_ISOLATED ? &digit
                                                                                           : NULL;
        if (i == PRE_STEPS_MAX || !scan || splits->step[i].regex ||
            !same_expression(&splits->step[i].scan, scan))
            return false;
        i++;
    }
    return i > 0 && (i == PRE_STEPS_MAX || !pre_step_is(&splits->step[i]));
}

/* The family that llama.cpp's converter would name: of those that split alike, one that agrees
 * about ignore_merges if there is one. */
static const struct pre_family *family_of(const struct pipeline *hf)
{
    const struct pre_family *found = NULL, *f;
    for (size_t i = 0; (f = pre_at(i)) != NULL; i++) {
        if (f->flags & PRE_RAW || !splits_alike(f->splits, hf))
            continue;
        if (((f->flags & PRE_IGNORE_MERGES) != 0) == hf->model.ignore_merges)
            return f;
        if (!found)
            found = f;
    }
    return found;
}

static int refuse_json(struct error *err, const char *why)
{
    error_set(err, ERROR_UNSUPPORTED, "this tokenizer.json cannot be read as llama.cpp would: %s",
              why);
    return error_remedy(err, "give the model's GGUF file, or --reference huggingface");
}

int pipeline_llama_from_json(struct pipeline *p, const struct vocab *v, struct error *err)
{
    struct pipeline hf;
    int status = -1;
    *p = (struct pipeline){.llama_cpp = true, .reference = "llama.cpp"};
    if (pipeline_from_json(&hf, v, err) < 0)
        goto out;
    if (hf.model.kind != MODEL_BPE_BYTES) {
        refuse_json(err, "only byte-level BPE holds all that is needed in such a file");
        goto out;
    }
    const struct pre_family *f = family_of(&hf);
    if (!f) {
        refuse_json(err, "no tokenizer.ggml.pre is known for its pre-tokenizer");
        goto out;
    }
    if (f->flags & PRE_ADD_BOS && hf.before.n == 0) {
        refuse_json(err, "llama.cpp puts a BOS in front, and the file does not say which");
        goto out;
    }
    if (apply_family(p, f, err) < 0)
        goto out;
    p->before = hf.before;
    p->after = hf.after;
    status = 0;
out:
    pipeline_release(&hf);
    return status;
}
