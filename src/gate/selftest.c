#include "gate/selftest.h"

#include <assert.h>
#include <stdio.h>

#include "base/file.h"
#include "codec/json_write.h"
#include "gate/suites.h"

#define CORPUS_TOKENS 64
#define CORPUS_TOLERANCE 2
#define CORPUS_COUNT 8

void selftest_add(struct selftest *t, const char *suite, const char *rule, const char *mutation,
                  enum selftest_outcome outcome, const char *said)
{
    assert(t->n < SELFTEST_RESULTS_MAX); /* the registries are constant, and smaller */
    struct selftest_result *r = &t->results[t->n++];
    *r = (struct selftest_result){
        .suite = suite, .rule = rule, .mutation = mutation, .outcome = outcome};
    snprintf(r->said, sizeof r->said, "%s", said);
}

size_t selftest_count(const struct selftest *t, enum selftest_outcome outcome)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        n += t->results[i].outcome == outcome;
    return n;
}

/* The letter that GPT-2's byte-level alphabet writes for a byte: itself where it is printable
 * Latin-1, else the next one from U+0100 on. */
static void add_byte_letter(struct buf *out, unsigned byte)
{
    unsigned shifted = 0;
    for (unsigned b = 0; b <= byte; b++) {
        bool plain = (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b != 0xad);
        if (b == byte && plain)
            shifted = b;
        else if (b == byte)
            shifted += 0x100;
        else if (!plain)
            shifted++;
    }
    if (shifted < 0x80) {
        buf_addc(out, (char)shifted);
    } else {
        buf_addc(out, (char)(0xc0 | shifted >> 6));
        buf_addc(out, (char)(0x80 | (shifted & 0x3f)));
    }
}

/* The words of a specimen, each behind a blank (U+0120 in that alphabet), and what they begin with:
 * every one is a merge of the one before it and its last letter. */
static const char *const pieces[] = {"o",   "on",  "one", "t",   "tw", "two", "s",
                                     "si",  "six", "te",  "ten", "sk", "sky", "se",
                                     "sea", "r",   "re",  "red", "f",  "fa",  "far"};

static void put_model(struct json_writer *w)
{
    struct buf text = BUF_INIT(64);
    json_key(w, "model");
    json_begin_object(w);
    json_key(w, "type");
    json_put_cstr(w, "BPE");
    json_key(w, "vocab");
    json_begin_object(w);
    int64_t id = 0;
    for (unsigned byte = 0; byte < 256; byte++) {
        buf_reset(&text);
        add_byte_letter(&text, byte);
        json_key_str(w, buf_str(&text));
        json_put_i64(w, id++);
    }
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        buf_reset(&text);
        buf_addf(&text, "\xc4\xa0%s", pieces[i]);
        json_key_str(w, buf_str(&text));
        json_put_i64(w, id++);
    }
    json_end_object(w);
    json_key(w, "merges");
    json_begin_array(w);
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        struct str piece = str_of(pieces[i]);
        buf_reset(&text);
        buf_addf(&text, "\xc4\xa0%.*s %c", (int)piece.n - 1, piece.p, piece.p[piece.n - 1]);
        json_put_str(w, buf_str(&text));
    }
    json_end_array(w);
    json_end_object(w);
    buf_release(&text);
}

int selftest_tokenizer(struct buf *out, struct error *err)
{
    static const char byte_level[] =
        "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,"
        "\"use_regex\":true}";
    struct json_writer w;
    json_writer_init(&w, out, 0);
    json_begin_object(&w);
    json_key(&w, "version");
    json_put_cstr(&w, "1.0");
    json_key(&w, "pre_tokenizer");
    json_put_raw(&w, str_of(byte_level));
    json_key(&w, "decoder");
    json_put_raw(&w, str_of(byte_level));
    put_model(&w);
    json_end_object(&w);
    buf_addc(out, '\n');
    return json_writer_check(&w, "the tokenizer", err);
}

struct counting {
    struct buf tokenizer_path, corpus_path;
    struct tokenizer *tokenizer;
    struct corpus corpus;
    bool has_corpus;
    struct corpus_token_counter counter;
};

static int name_files(struct counting *c, const struct selftest_options *o, bool given,
                      struct error *err)
{
    if (!given)
        return path_join(&c->tokenizer_path, o->root, SELFTEST_TOKENIZER, err) < 0
                   ? -1
                   : path_join(&c->corpus_path, o->root, SELFTEST_CORPUS, err);
    buf_adds(&c->tokenizer_path, o->tokenizer);
    buf_adds(&c->corpus_path, o->corpus);
    return buf_check(&c->corpus_path, "a path", err);
}

static int write_tokenizer(const struct counting *c, struct error *err)
{
    struct buf text = BUF_INIT(BUF_ANY);
    int status = selftest_tokenizer(&text, err);
    if (status == 0)
        status = file_write_atomic(c->tokenizer_path.p, buf_str(&text), err);
    buf_release(&text);
    return status;
}

static int write_corpus(const struct counting *c, struct error *err)
{
    const struct corpus_spec spec = {.count = CORPUS_COUNT,
                                     .tokens = CORPUS_TOKENS,
                                     .tolerance = CORPUS_TOLERANCE,
                                     .seed = 1,
                                     .special_text = "parsed",
                                     .tokenizer = c->counter.identity};
    struct buf text = BUF_INIT(BUF_ANY);
    int status = corpus_make(&spec, &c->counter.counter, &text, err);
    if (status == 0)
        status = file_write_atomic(c->corpus_path.p, buf_str(&text), err);
    buf_release(&text);
    return status;
}

/* given: the files that were named; else ours, which are written first. */
static int open_counting(struct counting *c, const struct selftest_options *o, bool given,
                         struct error *err)
{
    const struct tokenizer_options how = {0};
    *c = (struct counting){.tokenizer_path = BUF_INIT(FILE_PATH_MAX),
                           .corpus_path = BUF_INIT(FILE_PATH_MAX)};
    if (name_files(c, o, given, err) < 0 || (!given && write_tokenizer(c, err) < 0) ||
        tokenizer_open(&c->tokenizer, c->tokenizer_path.p, &how, err) < 0)
        return -1;
    corpus_counter_init(&c->counter, c->tokenizer, "parsed");
    if ((!given && write_corpus(c, err) < 0) || corpus_read(&c->corpus, c->corpus_path.p, err) < 0)
        return -1;
    c->has_corpus = true;
    return 0;
}

static void close_counting(struct counting *c)
{
    tokenizer_free(c->tokenizer);
    if (c->has_corpus)
        corpus_release(&c->corpus);
    buf_release(&c->tokenizer_path);
    buf_release(&c->corpus_path);
}

int selftest_run(struct selftest *t, const struct selftest_options *o, struct error *err)
{
    struct counting ours, theirs = {0};
    int status = open_counting(&ours, o, false, err);
    *t = (struct selftest){0};
    if (status == 0 && o->tokenizer)
        status = open_counting(&theirs, o, true, err);
    if (status == 0) {
        struct counting *c = o->tokenizer ? &theirs : &ours;
        const struct suite_counting with = {c->tokenizer_path.p, c->corpus_path.p, &c->corpus,
                                            &c->counter};
        status = suite_verify(t, o, &with, err);
    }
    if (status == 0)
        status = suite_compare(t, o, err);
    if (status == 0)
        status = suite_gate(t, o, err);
    close_counting(&ours);
    close_counting(&theirs);
    return status;
}
