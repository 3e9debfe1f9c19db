#define PCRE2_CODE_UNIT_WIDTH 8
#include "token/regex.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "token/regex_translate.h"

#define REGEX_MATCH_LIMIT 10000000u

struct regex {
    pcre2_code *code;
    pcre2_match_context *context;
};

static int make(struct regex **out, struct str pattern, bool llama_cpp, struct error *err)
{
    struct buf text = BUF_INIT(REGEX_TRANSLATED_MAX);
    int code = 0;
    PCRE2_SIZE at = 0;
    if (regex_translate(&text, pattern, llama_cpp, err) < 0) {
        buf_release(&text);
        return -1;
    }
    struct regex *re = calloc(1, sizeof *re);
    if (!re) {
        buf_release(&text);
        return error_no_memory(err);
    }
    pcre2_compile_context *cc = pcre2_compile_context_create(NULL);
    if (cc)
        pcre2_set_newline(cc, PCRE2_NEWLINE_LF);
    re->code = pcre2_compile((PCRE2_SPTR)text.p, text.n,
                             PCRE2_UTF | PCRE2_MULTILINE | PCRE2_NO_UTF_CHECK, &code, &at, cc);
    pcre2_compile_context_free(cc);
    buf_release(&text);
    re->context = pcre2_match_context_create(NULL);
    if (!re->code || !re->context) {
        regex_free(re);
        char why[128] = "";
        pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof why);
        return error_set(err, ERROR_UNSUPPORTED, "the pattern \"%.*s\" cannot be used: %s",
                         STR_ARG(str_first(pattern, 200)), why);
    }
    pcre2_set_match_limit(re->context, REGEX_MATCH_LIMIT);
    (void)pcre2_jit_compile(re->code, PCRE2_JIT_COMPLETE); /* else it is interpreted */
    *out = re;
    return 0;
}

int regex_new(struct regex **out, struct str pattern, struct error *err)
{
    return make(out, pattern, false, err);
}

int regex_new_llama(struct regex **out, struct str pattern, struct error *err)
{
    return make(out, pattern, true, err);
}

void regex_free(struct regex *re)
{
    if (!re)
        return;
    pcre2_code_free(re->code);
    pcre2_match_context_free(re->context);
    free(re);
}

int regex_next(const struct regex *re, struct str text, size_t at, struct regex_match *m,
               struct error *err)
{
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    if (!data)
        return error_no_memory(err);
    const char *p = text.p ? text.p : "";
    int got =
        pcre2_match(re->code, (PCRE2_SPTR)p, text.n, at, PCRE2_NO_UTF_CHECK, data, re->context);
    if (got == PCRE2_ERROR_JIT_STACKLIMIT)
        got = pcre2_match(re->code, (PCRE2_SPTR)p, text.n, at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT,
                          data, re->context);
    if (got >= 0) {
        const PCRE2_SIZE *o = pcre2_get_ovector_pointer(data);
        *m = (struct regex_match){o[0], o[1]};
    }
    pcre2_match_data_free(data);
    if (got >= 0)
        return 1;
    if (got == PCRE2_ERROR_NOMATCH)
        return 0;
    return error_set(err, ERROR_LIMIT,
                     "the pre-tokenizer's pattern needs more than %u steps for this text",
                     REGEX_MATCH_LIMIT);
}
