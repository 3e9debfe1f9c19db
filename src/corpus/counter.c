#include "corpus/counter.h"

static int count(void *ctx, struct str text, size_t *n, struct error *err)
{
    const struct corpus_token_counter *t = ctx;

    return tokenizer_count(t->tokenizer, text, &t->how, n, err);
}

void corpus_counter_init(struct corpus_token_counter *t, const struct tokenizer *tokenizer,
                         const char *special_text)
{
    struct tokenizer_info info;
    bool plain = special_text && strcmp(special_text, "plain") == 0;

    tokenizer_describe(tokenizer, &info);
    *t = (struct corpus_token_counter){
        .counter = {count, t},
        .tokenizer = tokenizer,
        .how = {.special_text = plain ? SPECIAL_TEXT_PLAIN : SPECIAL_TEXT_PARSED},
        .identity = {.reference = info.reference},
    };
    memcpy(t->identity.tokenizer_sha256, info.tokenizer_sha256, SHA256_HEX);
    memcpy(t->identity.vocabulary_sha256, info.vocabulary_sha256, SHA256_HEX);
    memcpy(t->identity.pipeline_sha256, info.pipeline_sha256, SHA256_HEX);
}
