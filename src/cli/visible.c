#include "cli/visible.h"

#include "base/utf8.h"

static const char *escape_of(unsigned byte)
{
    return byte == '\n' ? "\\n" : byte == '\t' ? "\\t" : byte == '\r' ? "\\r" : NULL;
}

size_t cli_add_visible_char(struct buf *b, struct str s, size_t at)
{
    uint32_t cp;
    size_t n = utf8_decode(s, at, &cp);
    unsigned byte = (unsigned char)s.p[at];

    /* C1 controls too: some terminals obey them */
    if (n > 0 && cp >= 0x20 && cp != 0x7f && !(cp >= 0x80 && cp < 0xa0)) {
        buf_add(b, s.p + at, n);
        return n;
    }
    if (escape_of(byte))
        buf_adds(b, escape_of(byte));
    else
        buf_addf(b, "\\x%02x", byte);
    return 1;
}

void cli_add_visible(struct buf *b, struct str s)
{
    buf_addc(b, '"');
    for (size_t at = 0; at < s.n;) {
        if (s.p[at] == '"' || s.p[at] == '\\')
            buf_addc(b, '\\');
        at += cli_add_visible_char(b, s, at);
    }
    buf_addc(b, '"');
}
