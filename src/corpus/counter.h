/*
 * The model's tokenizer as a corpus counts with it: the text alone, no special tokens added.
 *
 *     struct corpus_token_counter t;
 *     corpus_counter_init(&t, tokenizer, "parsed");
 *     corpus_check(&corpus, &t.counter, &t.identity, &seen, err);
 *
 * Ownership: borrows the tokenizer, which must live as long. Many threads may share one.
 */
#ifndef TALLY_CORPUS_COUNTER_H
#define TALLY_CORPUS_COUNTER_H

#include "corpus/corpus.h"
#include "token/tokenizer.h"

struct corpus_token_counter {
    struct corpus_counter counter; /* its ctx is this struct: do not copy */
    const struct tokenizer *tokenizer;
    struct encode_options how;
    struct corpus_tokenizer identity;
};

/* special_text: "parsed" or "plain"; NULL is "parsed". */
void corpus_counter_init(struct corpus_token_counter *t, const struct tokenizer *tokenizer,
                         const char *special_text);

#endif
