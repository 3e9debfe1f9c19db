#include "receipt/again.h"

#include <string.h>

#include "base/str.h"

/* What a shell takes as one word without quotes. */
static bool is_plain(const char *word)
{
    static const char others[] = "@%+=:,./_-";

    for (const char *c = word; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
              strchr(others, *c)))
            return false;
    return word[0] != '\0';
}

static void add_word(struct buf *out, const char *word)
{
    buf_addc(out, ' ');
    if (is_plain(word)) {
        buf_adds(out, word);
        return;
    }
    buf_addc(out, '\'');
    for (const char *c = word; *c; c++)
        if (*c == '\'')
            buf_adds(out, "'\\''");
        else
            buf_addc(out, *c == '\n' ? ' ' : *c);
    buf_addc(out, '\'');
}

void again_command(struct buf *out, const char *const *argv, size_t argc, const char *extra)
{
    buf_adds(out, "tally");
    for (size_t i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--out") == 0 || strcmp(argv[i], "-o") == 0)
            i++;
        else if (strncmp(argv[i], "--out=", 6) != 0)
            add_word(out, argv[i]);
    }
    buf_addf(out, " %s", extra);
}

void again_equal_work(struct buf *out, const char *const *argv, size_t argc)
{
    buf_adds(out, "make the lanes equal, by a system message for both or by their own template "
                  "flags:\n");
    again_command(out, argv, argc, "--system 'You are a helpful assistant.'");
    buf_adds(out, "\nor render one template here and send both lanes the same tokens:\n");
    again_command(out, argv, argc, "--wire completions --template FILE");
}
