#include "token/tokenizer.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "token/tokenizer_internal.h"

/* Weights behind the vocabulary may be of any size: only what is read counts. */
#define TOKENIZER_FILE_MAX (SIZE_MAX / 4)

void tokenizer_free(struct tokenizer *t)
{
    if (!t)
        return;
    if (t->pool) {
        encoder_free_all(t->pool);
        pthread_mutex_destroy(&t->pool->lock);
        free(t->pool);
    }
    added_release(&t->raw);
    added_release(&t->normalized);
    model_release(&t->model);
    pipeline_release(&t->pipe);
    pieces_release(&t->pieces);
    vocab_free(t->vocab);
    free(t->chat_template);
    free(t);
}

int normalize_all(const struct pipeline *p, struct norm_view in, struct norm_text two[2],
                  struct norm_view *out, struct error *err)
{
    unsigned turn = 0;
    for (unsigned i = 0; i < p->norm_n; i++) {
        norm_text_reset(&two[turn]);
        int changed = norm_apply(&two[turn], &in, &p->norm[i], err);
        if (changed < 0)
            return -1;
        if (!changed)
            continue;
        bool first = in.first && two[turn].dropped == 0, continues = in.continues;
        in = norm_text_view(&two[turn]);
        in.first = first;
        in.continues = continues;
        turn ^= 1;
    }
    *out = in;
    return 0;
}

/* An added token that is matched behind the normalizer is looked for in its normalized form. */
static int insert_normalized(struct tokenizer *t, uint32_t i, struct error *err)
{
    struct norm_text two[2];
    struct norm_view view = {.text = t->vocab->added[i].text};
    norm_text_init(&two[0]);
    norm_text_init(&two[1]);
    int status = normalize_all(&t->pipe, view, two, &view, err);
    if (status == 0)
        status = added_insert(&t->normalized, view.text, i, err);
    norm_text_release(&two[0]);
    norm_text_release(&two[1]);
    return status;
}

static int build_added(struct tokenizer *t, struct error *err)
{
    const struct vocab *v = t->vocab;
    added_init(&t->raw, v->added);
    added_init(&t->normalized, v->added);
    for (uint32_t i = 0; i < v->added_n; i++) {
        bool behind = !t->pipe.llama_cpp && v->added[i].normalized;
        if (v->format == VOCAB_SENTENCEPIECE) { /* spelled as in the normalized text */
            if (added_insert(&t->normalized, v->added[i].text, i, err) < 0)
                return -1;
            continue;
        }
        if ((behind ? insert_normalized(t, i, err)
                    : added_insert(&t->raw, v->added[i].text, i, err)) < 0)
            return -1;
    }
    return 0;
}

int tokenizer_reference_parse(enum tokenizer_reference *out, const char *name)
{
    static const char *const names[] = {
        [REFERENCE_HUGGINGFACE] = "huggingface",
        [REFERENCE_LLAMA_CPP] = "llama.cpp",
        [REFERENCE_TIKTOKEN] = "tiktoken",
        [REFERENCE_SENTENCEPIECE] = "sentencepiece",
    };
    *out = REFERENCE_FROM_FILE;
    for (size_t i = 1; name && i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (enum tokenizer_reference)i;
            return 0;
        }
    return name ? -1 : 0;
}

/* A GGUF as Hugging Face would read it: by the tokenizer.json that it may hold. */
static int open_embedded(struct tokenizer *t, struct error *err)
{
    struct vocab *inner, *outer = t->vocab;
    if (!outer->gguf.huggingface.n) {
        error_set(err, ERROR_UNSUPPORTED,
                  "this GGUF cannot be read as Hugging Face would: it holds no "
                  "tokenizer.huggingface.json, and neither normalizer nor pre-tokenizer");
        return error_remedy(err, "give the model's tokenizer.json instead");
    }
    if (vocab_open(&inner, outer->gguf.huggingface, "tokenizer.huggingface.json", err) < 0)
        return -1;
    if (inner->format != VOCAB_TOKENIZER_JSON) {
        vocab_free(inner);
        return error_set(err, ERROR_INPUT, "tokenizer.huggingface.json is no tokenizer.json");
    }
    t->vocab = inner;
    vocab_free(outer);
    return 0;
}

static const char *const formats[] = {
    [VOCAB_TOKENIZER_JSON] = "tokenizer.json",
    [VOCAB_GGUF] = "gguf",
    [VOCAB_TIKTOKEN] = "tiktoken",
    [VOCAB_SENTENCEPIECE] = "sentencepiece",
};

static int wrong_reference(const char *format, struct error *err)
{
    error_set(err, ERROR_UNSUPPORTED, "a file of the form \"%s\" is not read in that way", format);
    return error_remedy(err, "leave --reference out, or give the file that goes with it");
}

static int build_pipeline(struct tokenizer *t, enum tokenizer_reference reference,
                          struct error *err)
{
    static const enum tokenizer_reference own[] = {
        [VOCAB_TOKENIZER_JSON] = REFERENCE_HUGGINGFACE,
        [VOCAB_GGUF] = REFERENCE_LLAMA_CPP,
        [VOCAB_TIKTOKEN] = REFERENCE_TIKTOKEN,
        [VOCAB_SENTENCEPIECE] = REFERENCE_SENTENCEPIECE,
    };
    struct vocab *v = t->vocab;
    if (reference == REFERENCE_FROM_FILE)
        reference = own[v->format];
    bool alone = v->format == VOCAB_TIKTOKEN || v->format == VOCAB_SENTENCEPIECE;
    if (alone != (reference >= REFERENCE_TIKTOKEN) || (alone && reference != own[v->format]))
        return wrong_reference(formats[v->format], err);
    if (alone)
        return v->format == VOCAB_TIKTOKEN ? pipeline_from_tiktoken(&t->pipe, v, err)
                                           : pipeline_from_spm(&t->pipe, v, err);
    if (reference == REFERENCE_HUGGINGFACE) {
        if (v->format == VOCAB_GGUF && open_embedded(t, err) < 0)
            return -1;
        return pipeline_from_json(&t->pipe, t->vocab, err);
    }
    if (v->format == VOCAB_GGUF)
        return pipeline_from_gguf(&t->pipe, v, err);
    return pipeline_llama_from_json(&t->pipe, v, err) < 0 ? -1 : vocab_as_llama(v, err);
}

static int keep_template(struct tokenizer *t, struct error *err)
{
    const char *text = t->vocab->chat_template.p;
    return text && !(t->chat_template = strdup(text)) ? error_no_memory(err) : 0;
}

static int build(struct tokenizer *t, const struct tokenizer_options *o, struct error *err)
{
    t->format = t->vocab->format;
    if (keep_template(t, err) < 0 || build_pipeline(t, o->reference, err) < 0)
        return -1;
    const struct vocab *v = t->vocab;
    enum pieces_spelling spelling =
        t->pipe.model.kind == MODEL_BPE_BYTES ? PIECES_BYTE_LEVEL : PIECES_AS_TEXT;
    if (pieces_build(&t->pieces, v, spelling, err) < 0 ||
        model_build(&t->model, v, &t->pieces, &t->pipe.model, err) < 0)
        return -1;
    if (build_added(t, err) < 0)
        return -1;
    t->pool = calloc(1, sizeof *t->pool);
    if (!t->pool || pthread_mutex_init(&t->pool->lock, NULL) != 0) {
        free(t->pool);
        t->pool = NULL;
        return error_no_memory(err);
    }
    return digest_all(t, err);
}

/* The vocabulary, and the digest of what was read of the bytes, which are not needed afterwards. */
static int read_vocab(struct tokenizer **out, struct str bytes, const char *name, struct error *err)
{
    struct tokenizer *t = calloc(1, sizeof *t);
    if (!t)
        return error_no_memory(err);
    if (vocab_open(&t->vocab, bytes, name, err) < 0 ||
        sha256_hex(t->tokenizer_sha256, str_first(bytes, t->vocab->read), err) < 0) {
        tokenizer_free(t);
        return error_at_file(err, name);
    }
    *out = t;
    return 0;
}

#define CONFIG_BYTES_MAX ((size_t)32 << 20)

/* A tiktoken file's special tokens: of the configuration that lies beside it, if one does. */
static int add_specials(struct tokenizer *t, const char *beside, struct error *err)
{
    struct buf path = BUF_INIT(FILE_PATH_MAX), config = BUF_INIT(CONFIG_BYTES_MAX);
    const char *slash = beside ? strrchr(beside, '/') : NULL;
    int status = -1;
    buf_add(&path, beside, slash ? (size_t)(slash - beside) + 1 : 0);
    buf_adds(&path, "tokenizer_config.json");
    if (buf_check(&path, "path", err) < 0)
        goto out;
    if (!beside || !file_exists(path.p)) {
        status = vocab_tiktoken_specials(t->vocab, NULL, err);
        goto out;
    }
    if (file_read(&config, path.p, CONFIG_BYTES_MAX, err) < 0)
        goto out;
    struct str text = buf_str(&config);
    status = vocab_tiktoken_specials(t->vocab, &text, err);
    if (status < 0)
        error_at_file(err, path.p);
out:
    buf_release(&path);
    buf_release(&config);
    return status;
}

/* beside: the file's path, where it has one. */
static int finish(struct tokenizer **out, struct tokenizer *t, const char *name, const char *beside,
                  const struct tokenizer_options *o, struct error *err)
{
    if ((t->vocab->format == VOCAB_TIKTOKEN && add_specials(t, beside, err) < 0) ||
        build(t, o, err) < 0) {
        tokenizer_free(t);
        return error_at_file(err, name);
    }
    *out = t;
    return 0;
}

int tokenizer_open_bytes(struct tokenizer **out, struct str bytes, const char *name,
                         const struct tokenizer_options *o, struct error *err)
{
    struct tokenizer *t = NULL;
    return read_vocab(&t, bytes, name, err) < 0 ? -1 : finish(out, t, name, NULL, o, err);
}

int tokenizer_open(struct tokenizer **out, const char *path, const struct tokenizer_options *o,
                   struct error *err)
{
    struct file_map map;
    struct tokenizer *t = NULL;
    if (file_map_open(&map, path, TOKENIZER_FILE_MAX, err) < 0)
        return -1;
    int status = read_vocab(&t, str_make(map.p, map.n), path, err);
    file_map_close(&map); /* before the tables are built: both need memory */
    return status < 0 ? -1 : finish(out, t, path, path, o, err);
}

int tokenizer_piece(const struct tokenizer *t, uint32_t id, struct buf *out)
{
    if (id >= t->vocab->n || !t->vocab->tokens[id].text.p)
        return -1;
    decode_piece(t, id, out);
    return 0;
}

void tokenizer_describe(const struct tokenizer *t, struct tokenizer_info *info)
{
    static const char *const models[] = {"BPE", "SPM", "Unigram", "WordPiece", "WordLevel"};
    const struct vocab *v = t->vocab;
    *info = (struct tokenizer_info){
        .format = formats[t->format],
        .reference = t->pipe.reference,
        .model = models[v->model],
        .pre = t->pipe.pre,
        .vocab_size = v->n,
        .padding = v->padding,
        .added = v->added_n,
        .chat_template = t->chat_template,
    };
    memcpy(info->tokenizer_sha256, t->tokenizer_sha256, SHA256_HEX);
    memcpy(info->vocabulary_sha256, t->vocabulary_sha256, SHA256_HEX);
    memcpy(info->pipeline_sha256, t->pipeline_sha256, SHA256_HEX);
}

int tokenizer_special(const struct tokenizer *t, size_t i, struct str *text, uint32_t *id)
{
    for (uint32_t k = 0; k < t->vocab->added_n; k++) {
        const struct vocab_added *a = &t->vocab->added[k];
        if (!a->special || i-- > 0)
            continue;
        *text = a->text;
        *id = a->id;
        return 0;
    }
    return -1;
}

int64_t tokenizer_id_of(const struct tokenizer *t, struct str text)
{
    uint32_t id = vocab_find(t->vocab, text);
    return id == VOCAB_NONE ? -1 : (int64_t)id;
}
