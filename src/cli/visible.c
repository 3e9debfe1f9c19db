#include "cli/visible.h"

#include "base/utf8.h"

void cli_add_visible(struct buf *b, struct str s)
{
    uint32_t cp;

    buf_addc(b, '"');
    for (size_t at = 0, n; at < s.n; at += n) {
        n = utf8_decode(s, at, &cp);
        if (n == 0 || cp < 0x20 || cp == 0x7f) {
            unsigned byte = (unsigned char)s.p[at];
            n = 1;
            if (byte == '\n')
                buf_adds(b, "\\n");
            else if (byte == '\t')
                buf_adds(b, "\\t");
            else if (byte == '\r')
                buf_adds(b, "\\r");
            else
                buf_addf(b, "\\x%02x", byte);
        } else if (cp == '"' || cp == '\\') {
            buf_addc(b, '\\');
            buf_addc(b, (char)cp);
        } else {
            buf_add(b, s.p + at, n);
        }
    }
    buf_addc(b, '"');
}
