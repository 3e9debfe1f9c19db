/* A SentencePiece model's pipeline, in SentencePiece's own semantics. */
#include "token/pipeline.h"

/* Unused pieces merge like others and are taken apart again afterwards, which is not done here: a
 * model in which one of them can come up is refused. */
static int check_unused(const struct vocab *v, struct error *err)
{
    for (uint32_t id = 0; id < v->n; id++) {
        struct str text = v->tokens[id].text;
        for (size_t at = 1; v->tokens[id].type == VOCAB_TYPE_UNUSED && at < text.n; at++)
            if (vocab_find(v, str_first(text, at)) != VOCAB_NONE &&
                vocab_find(v, str_skip(text, at)) != VOCAB_NONE)
                return pipeline_unsupported(err, "SentencePiece's unused piece", text);
    }
    return 0;
}

int pipeline_from_spm(struct pipeline *p, const struct vocab *v, struct error *err)
{
    bool unigram = v->model == VOCAB_UNIGRAM;
    *p = (struct pipeline){.reference = "sentencepiece", .pre = unigram ? "unigram" : "bpe"};
    struct norm_step *s = &p->norm[p->norm_n++];
    *s = (struct norm_step){.op = NORM_SPM,
                            .left = v->spm.dummy_prefix,
                            .right = v->spm.suffix,
                            .clean = v->spm.remove_extra,
                            .escape = v->spm.escape};
    if (v->spm.charsmap.n && charsmap_new(&s->charsmap, v->spm.charsmap, err) < 0)
        return error_wrap(err, "normalizer_spec.precompiled_charsmap");
    if (ugm_prefixes_new(&s->prefixes, v, err) < 0 || (!unigram && check_unused(v, err) < 0))
        return -1;
    p->model = (struct model_settings){.kind = unigram ? MODEL_UNIGRAM : MODEL_SPM,
                                       .sentencepiece = true,
                                       .byte_fallback = v->spm.byte_fallback,
                                       .fuse_unk = true,
                                       .unk = v->unk};
    p->decode[p->decode_n++] =
        (struct decode_step){.op = DECODE_REPLACE, .text = STR("\xE2\x96\x81"), .with = STR(" ")};
    p->decode[p->decode_n++] = (struct decode_step){.op = DECODE_BYTE_FALLBACK};
    p->decode[p->decode_n++] = (struct decode_step){.op = DECODE_FUSE};
    if (v->spm.dummy_prefix && !v->spm.suffix)
        p->decode[p->decode_n++] =
            (struct decode_step){.op = DECODE_STRIP, .text = STR(" "), .start = 1};
    return 0;
}
