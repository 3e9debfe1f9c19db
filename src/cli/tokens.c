#include "cli/tokens.h"

int cli_open_tokenizer(struct tokenizer **out, const char *path, const char *reference,
                       const char *sha256, struct error *err)
{
    struct tokenizer_options how = {0};
    struct tokenizer_info info;
    struct tokenizer *t;

    if (!path) {
        error_set(err, ERROR_USAGE,
                  "--tokenizer is missing: tokens are counted by the model's own tokenizer");
        return error_remedy(err, "give the model's tokenizer.json or GGUF: --tokenizer FILE");
    }
    if (tokenizer_reference_parse(&how.reference, reference) < 0)
        return error_set(err, ERROR_USAGE, "--reference %.64s: there is no such one", reference);
    if (tokenizer_open(&t, path, &how, err) < 0)
        return -1;
    tokenizer_describe(t, &info);
    if (sha256 && !str_eq_nocase(str_of(sha256), str_of(info.tokenizer_sha256))) {
        error_set(err, ERROR_REFUSED, "the tokenizer's digest is %s, not %.64s",
                  info.tokenizer_sha256, sha256);
        error_at_file(err, path);
        error_rule(err, "tokenizer_sha256");
        error_remedy(err, "give the file that the digest was taken of");
        tokenizer_free(t);
        return -1;
    }
    *out = t;
    return 0;
}
