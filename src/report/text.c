#include "report/text.h"

#include "base/utf8.h"

static void add_safe(struct buf *out, struct str s)
{
    struct buf fixed = BUF_INIT(BUF_ANY);
    uint32_t cp;
    utf8_add_lossy(&fixed, s);
    struct str clean = buf_str(&fixed);
    for (size_t at = 0, n; at < clean.n; at += n) {
        n = utf8_decode(clean, at, &cp);
        if (n == 0)
            break;
        if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0x2028 || cp == 0x2029 ||
            (cp >= 0x202a && cp <= 0x202e) || (cp >= 0x2066 && cp <= 0x2069))
            buf_addc(out, '?');
        else
            buf_add(out, clean.p + at, n);
    }
    buf_release(&fixed);
}

/* As many characters of s as fit in so many columns; their columns. */
static size_t fit(struct str s, size_t columns, size_t *bytes)
{
    size_t width = 0, at = 0, n;
    uint32_t cp;
    while (at < s.n && (n = utf8_decode(s, at, &cp)) > 0) {
        size_t w = utf8_width(str_first(str_skip(s, at), n));
        if (width + w > columns)
            break;
        width += w;
        at += n;
    }
    *bytes = at;
    return width;
}

static void cell(struct buf *out, struct str s, size_t columns, bool right)
{
    struct buf safe = BUF_INIT(BUF_ANY);
    size_t bytes, width;
    add_safe(&safe, s);
    s = buf_str(&safe);
    width = fit(s, columns, &bytes);
    bool cut = bytes < s.n && columns > 3;
    if (cut)
        width = fit(s, columns - 3, &bytes) + 3;
    if (right)
        buf_pad(out, ' ', columns - width);
    buf_addstr(out, str_first(s, bytes));
    buf_adds(out, cut ? "..." : "");
    if (!right)
        buf_pad(out, ' ', columns - width);
    buf_release(&safe);
}

void text_cell(struct buf *out, struct str s, size_t columns)
{
    cell(out, s, columns, false);
}

void text_right(struct buf *out, struct str s, size_t columns)
{
    cell(out, s, columns, true);
}

void text_wrap(struct buf *out, struct str s, size_t indent)
{
    struct buf safe = BUF_INIT(BUF_ANY);
    size_t begin = out->n, column;
    while (begin > 0 && out->p[begin - 1] != '\n')
        begin--;
    column = utf8_width(str_make(out->p ? out->p + begin : "", out->n - begin));
    if (column < indent) {
        buf_pad(out, ' ', indent - column);
        column = indent;
    }
    add_safe(&safe, s);
    struct str rest = buf_str(&safe), word;
    for (bool more = true, first = true; more; first = false) {
        more = str_cut(rest, ' ', &word, &rest);
        size_t w = utf8_width(word);
        if (!first && column + 1 + w > TEXT_COLUMNS) {
            buf_addc(out, '\n');
            buf_pad(out, ' ', indent);
            column = indent;
        } else if (!first) {
            buf_addc(out, ' ');
            column++;
        }
        buf_addstr(out, word);
        column += w;
    }
    buf_release(&safe);
}
