#include "jinja/lexer.h"

#include <string.h>

#include "base/utf8.h"
#include "jinja/unicode.h"

enum state { ROOT = 0, AT_TAG, IN_VAR, IN_BLOCK };

const char *token_name(enum token_kind kind)
{
    static const char *const names[] = {
#define X(kind, name) name,
        TOKENS(X)
#undef X
    };
    return names[kind];
}

int lexer_normalize(struct str *out, struct str source, const struct jinja_syntax *syntax,
                    struct arena *a, struct error *err)
{
    if (source.n > JINJA_SOURCE_MAX)
        return error_set(err, ERROR_LIMIT, "template is longer than %zu bytes", JINJA_SOURCE_MAX);
    size_t bad = utf8_valid_prefix(source);
    if (bad < source.n) {
        error_set(err, ERROR_INPUT, "template is not UTF-8");
        return error_at_offset(err, (int64_t)bad);
    }
    char *p = arena_alloc(a, source.n + 1);
    if (!p)
        return arena_check(a, "template", err);
    size_t n = 0;
    for (size_t i = 0; i < source.n; i++) {
        if (source.p[i] == '\r') {
            p[n++] = '\n';
            if (i + 1 < source.n && source.p[i + 1] == '\n')
                i++;
        } else {
            p[n++] = source.p[i];
        }
    }
    if (n && p[n - 1] == '\n' && !syntax->keep_trailing_newline)
        n--;
    *out = (struct str){p, n};
    return 0;
}

static char peek(const struct lexer *lx, size_t ahead)
{
    return lx->at + ahead < lx->source.n ? lx->source.p[lx->at + ahead] : '\0';
}

static bool looking_at(const struct lexer *lx, struct str s)
{
    return str_starts(str_skip(lx->source, lx->at), s);
}

static size_t skip_space(struct str s, size_t at)
{
    uint32_t cp;
    while (at < s.n) {
        size_t n = uni_next(s, at, &cp);
        if (!uni_is_space(cp))
            break;
        at += n;
    }
    return at;
}

/* Text in front of a tag, with the tag's sign and lstrip_blocks applied. */
static struct str strip_before(const struct lexer *lx, struct str text, char sign, bool variable)
{
    if (sign == '-')
        return uni_strip(text, false, true);
    if (sign == '+' || variable || !lx->syntax.lstrip_blocks)
        return text;
    size_t line = text.n;
    while (line > 0 && text.p[line - 1] != '\n')
        line--;
    if (line == 0 && !lx->line_start)
        return text;
    return skip_space(text, line) == text.n ? str_first(text, line) : text;
}

static char sign_at(const struct lexer *lx, size_t at)
{
    char c = at < lx->source.n ? lx->source.p[at] : '\0';
    return c == '-' || c == '+' ? c : '\0';
}

/* The end of a tag at lx->at: "-X}" with the white space behind it, "+X}" or "X}" (which takes one
 * newline under trim_blocks, but not after a variable). Moves past it; false when it is none. */
static bool take_end(struct lexer *lx, char c)
{
    char sign = c == '}' && peek(lx, 0) == '+' ? '\0' : sign_at(lx, lx->at);
    size_t n = sign ? 1 : 0;
    if (peek(lx, n) != c || peek(lx, n + 1) != '}')
        return false;
    lx->at += n + 2;
    size_t end = lx->at;
    if (sign == '-')
        end = skip_space(lx->source, lx->at);
    else if (sign == '\0' && c != '}' && lx->syntax.trim_blocks && peek(lx, 0) == '\n')
        end = lx->at + 1;
    lx->at = end;
    lx->line_start = lx->source.p[end - 1] == '\n';
    return true;
}

/* "{%- raw -%}": its end when one begins at lx->at, else 0. The end takes no newline by itself. */
static size_t raw_begin(const struct lexer *lx)
{
    size_t at = lx->at + 2 + (sign_at(lx, lx->at + 2) ? 1 : 0);
    at = skip_space(lx->source, at);
    if (!str_starts(str_skip(lx->source, at), STR("raw")))
        return 0;
    at = skip_space(lx->source, at + 3);
    if (str_starts(str_skip(lx->source, at), STR("-%}")))
        return skip_space(lx->source, at + 3);
    return str_starts(str_skip(lx->source, at), STR("%}")) ? at + 2 : 0;
}

static int skip_comment(struct lexer *lx, struct token *tok, struct error *err)
{
    tok->from = (uint32_t)lx->at;
    lx->at += 2 + (sign_at(lx, lx->at + 2) ? 1 : 0);
    size_t n = str_find(str_skip(lx->source, lx->at), STR("#}"));
    if (n == STR_NONE)
        return error_set(err, ERROR_INPUT, "missing end of comment tag");
    lx->at += n;
    if (n > 0 && sign_at(lx, lx->at - 1))
        lx->at--;
    take_end(lx, '#');
    return 0;
}

/* Where "{% endraw %}" begins; its tag is left at lx->at. */
static int find_endraw(struct lexer *lx, struct token *tok, struct error *err)
{
    for (size_t from = lx->at; from < lx->source.n; from += 2) {
        size_t n = str_find(str_skip(lx->source, from), STR("{%"));
        if (n == STR_NONE)
            break;
        from += n;
        size_t at = from + 2 + (sign_at(lx, from + 2) ? 1 : 0);
        at = skip_space(lx->source, at);
        if (!str_starts(str_skip(lx->source, at), STR("endraw")))
            continue;
        struct lexer end = *lx;
        end.at = skip_space(lx->source, at + 6);
        if (!take_end(&end, '%'))
            continue;
        struct str text = {lx->source.p + lx->at, from - lx->at};
        *tok = (struct token){T_DATA, (uint32_t)lx->at, (uint32_t)from,
                              strip_before(lx, text, sign_at(lx, from + 2), false)};
        lx->at = end.at;
        lx->line_start = end.line_start;
        return 0;
    }
    tok->from = (uint32_t)lx->at;
    return error_set(err, ERROR_INPUT, "missing end of raw directive");
}

/* Text up to the next tag; the state afterwards says what stands there. */
static void take_text(struct lexer *lx, struct token *tok)
{
    size_t from = lx->at, at = from;
    while (at + 1 < lx->source.n) {
        const char *brace = memchr(lx->source.p + at, '{', lx->source.n - 1 - at);
        if (!brace) {
            at = lx->source.n;
            break;
        }
        at = (size_t)(brace - lx->source.p);
        if (brace[1] == '%' || brace[1] == '{' || brace[1] == '#')
            break;
        at++;
    }
    struct str text = {lx->source.p + from, lx->source.n - from};
    bool tag = at + 1 < lx->source.n;
    if (tag)
        text = strip_before(lx, str_first(text, at - from), sign_at(lx, at + 2),
                            lx->source.p[at + 1] == '{');
    lx->at = tag ? at : lx->source.n;
    lx->state = tag ? AT_TAG : ROOT;
    *tok = (struct token){T_DATA, (uint32_t)from, (uint32_t)(from + text.n), text};
}

static void begin_tag(struct lexer *lx, struct token *tok, bool variable)
{
    *tok = (struct token){.kind = variable ? T_VAR_BEGIN : T_BLOCK_BEGIN, .from = (uint32_t)lx->at};
    lx->at += 2 + (sign_at(lx, lx->at + 2) ? 1 : 0);
    tok->to = (uint32_t)lx->at;
    lx->state = variable ? IN_VAR : IN_BLOCK;
    lx->line_start = false;
}

/* What stands between two tags. Returns 1 when *tok is a token, 0 to go on, -1 on error. */
static int outside(struct lexer *lx, struct token *tok, struct error *err)
{
    size_t end;
    switch ((enum state)lx->state) {
    case ROOT:
        if (lx->at >= lx->source.n) {
            *tok = (struct token){.kind = T_EOF, .from = (uint32_t)lx->at, .to = (uint32_t)lx->at};
            return 1;
        }
        take_text(lx, tok);
        return tok->text.n > 0;
    case AT_TAG:
        if (peek(lx, 1) == '#') {
            lx->state = ROOT;
            return skip_comment(lx, tok, err);
        }
        end = peek(lx, 1) == '%' ? raw_begin(lx) : 0;
        if (end == 0) {
            begin_tag(lx, tok, peek(lx, 1) == '{');
            return 1;
        }
        lx->at = end;
        lx->line_start = lx->source.p[end - 1] == '\n';
        lx->state = ROOT;
        if (find_endraw(lx, tok, err) < 0)
            return -1;
        return tok->text.n > 0;
    default:
        return 0;
    }
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits with single underscores between them, from `at` on; at itself when there are none. */
static size_t digits(struct str s, size_t at, const char *set)
{
    size_t end = at;
    while (end < s.n) {
        size_t next = end > at && s.p[end] == '_' ? end + 1 : end;
        if (next >= s.n || !s.p[next] || !strchr(set, s.p[next]))
            break;
        end = next + 1;
    }
    return end;
}

static size_t float_end(struct str s, size_t at)
{
    static const char ten[] = "0123456789";
    size_t whole = digits(s, at, ten), end = whole;
    if (at > 0 && s.p[at - 1] == '.')
        return at;
    if (end < s.n && s.p[end] == '.' && digits(s, end + 1, ten) > end + 1)
        end = digits(s, end + 1, ten);
    if (end < s.n && (s.p[end] == 'e' || s.p[end] == 'E')) {
        size_t from = end + 1;
        if (from < s.n && (s.p[from] == '+' || s.p[from] == '-'))
            from++;
        if (digits(s, from, ten) > from)
            end = digits(s, from, ten);
    }
    return end > whole ? end : at;
}

static size_t int_end(struct str s, size_t at)
{
    static const struct {
        char letter;
        const char *set;
    } bases[] = {{'b', "01"}, {'o', "01234567"}, {'x', "0123456789abcdefABCDEF"}};
    if (s.p[at] != '0')
        return digits(s, at, "0123456789");
    for (size_t i = 0; i < 3 && at + 2 < s.n; i++) {
        /* "0x_1" is fine: an underscore may follow the letter. */
        size_t from = at + 2 + (s.p[at + 2] == '_' ? 1 : 0);
        if ((s.p[at + 1] | 0x20) == bases[i].letter && digits(s, from, bases[i].set) > from)
            return digits(s, from, bases[i].set);
    }
    return digits(s, at, "0");
}

static int take_number(struct lexer *lx, struct token *tok, struct error *err)
{
    struct str s = lx->source;
    size_t from = lx->at, end = float_end(s, from);
    tok->kind = end > from ? T_FLOAT : T_INT;
    if (end == from)
        end = int_end(s, from);
    char *p = arena_alloc(lx->arena, end - from + 1);
    if (!p)
        return arena_check(lx->arena, "template", err);
    size_t n = 0;
    for (size_t i = from; i < end; i++)
        if (s.p[i] != '_')
            p[n++] = s.p[i];
    tok->text = (struct str){p, n};
    lx->at = end;
    return 1;
}

static bool is_word(struct str s, size_t at, size_t *n)
{
    unsigned char c = (unsigned char)s.p[at];
    uint32_t cp;
    *n = 1;
    if (c < 0x80)
        return (c | 0x20) >= 'a' ? (c | 0x20) <= 'z' || c == '_' : is_digit((char)c);
    *n = uni_next(s, at, &cp);
    return uni_is_alnum(cp);
}

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int add_hex(struct buf *b, struct str s, size_t *at, size_t n, struct error *err)
{
    uint32_t cp = 0;
    for (size_t i = 0; i < n; i++, (*at)++) {
        int v = *at < s.n ? hex_value(s.p[*at]) : -1;
        if (v < 0)
            return error_set(err, ERROR_INPUT, "truncated \\%c escape in string",
                             n == 2   ? 'x'
                             : n == 4 ? 'u'
                                      : 'U');
        cp = cp << 4 | (uint32_t)v;
    }
    char c[4];
    if (utf8_encode(c, cp) == 0)
        return error_set(err, ERROR_INPUT, "escape U+%04X in string is no character", cp);
    utf8_add(b, cp);
    return 0;
}

/* The escape whose backslash stands at s.p[*at]. */
static int add_escape(struct buf *b, struct str s, size_t *at, struct error *err)
{
    static const char from[] = "\\'\"abfnrtv", to[] = "\\'\"\a\b\f\n\r\t\v";
    char c = *at + 1 < s.n ? s.p[*at + 1] : '\0';
    const char *simple = c ? strchr(from, c) : NULL;
    *at += 2;
    if (c == '\n')
        return 0;
    if (simple) {
        buf_addc(b, to[simple - from]);
        return 0;
    }
    if (c >= '0' && c <= '7') {
        uint32_t cp = (uint32_t)(c - '0');
        for (int i = 0; i < 2 && *at < s.n && s.p[*at] >= '0' && s.p[*at] <= '7'; i++, (*at)++)
            cp = cp * 8 + (uint32_t)(s.p[*at] - '0');
        utf8_add(b, cp);
        return 0;
    }
    if (c == 'x' || c == 'u' || c == 'U')
        return add_hex(b, s, at, c == 'x' ? 2 : c == 'u' ? 4 : 8, err);
    if (c == 'N')
        return error_set(err, ERROR_UNSUPPORTED, "\\N{…} in a string: write \\u and its number");
    if ((unsigned char)c < 0x80) {
        buf_addc(b, '\\');
        buf_addc(b, c);
        return 0;
    }
    /* Jinja2 spells non-ASCII as \xNN or \uNNNN before it unescapes, so a backslash in front of one
     * escapes that spelling's own backslash. */
    uint32_t cp;
    *at = *at - 1 + uni_next(s, *at - 1, &cp);
    buf_addf(b, cp < 0x100 ? "\\x%02x" : cp < 0x10000 ? "\\u%04x" : "\\U%08x", cp);
    return 0;
}

static int take_string(struct lexer *lx, struct token *tok, struct error *err)
{
    struct str s = lx->source;
    char quote = s.p[lx->at];
    size_t from = lx->at + 1, end = from;
    bool escaped = false;
    while (end < s.n && s.p[end] != quote) {
        escaped = escaped || s.p[end] == '\\';
        end += s.p[end] == '\\' ? 2 : 1;
    }
    if (end >= s.n)
        return error_set(err, ERROR_INPUT, "string without its closing %c", quote);
    tok->kind = T_STRING;
    tok->text = (struct str){s.p + from, end - from};
    lx->at = end + 1;
    if (!escaped)
        return 1;
    struct buf b = BUF_INIT(JINJA_SOURCE_MAX * 2);
    struct str raw = tok->text;
    int rc = 0;
    for (size_t at = 0; rc == 0 && at < raw.n;) {
        if (raw.p[at] != '\\')
            buf_addc(&b, raw.p[at++]);
        else
            rc = add_escape(&b, raw, &at, err);
    }
    if (rc == 0)
        rc = buf_check(&b, "string", err);
    if (rc == 0) {
        tok->text = arena_str(lx->arena, buf_str(&b));
        rc = arena_check(lx->arena, "template", err);
    }
    buf_release(&b);
    return rc < 0 ? -1 : 1;
}

static const struct {
    char text[3];
    uint8_t kind;
} operators[] = {
    {"**", T_POW},   {"//", T_FLOORDIV}, {"==", T_EQ},      {"!=", T_NE},      {"<=", T_LE},
    {">=", T_GE},    {"+", T_ADD},       {"-", T_SUB},      {"*", T_MUL},      {"/", T_DIV},
    {"%", T_MOD},    {"~", T_TILDE},     {"<", T_LT},       {">", T_GT},       {"=", T_ASSIGN},
    {".", T_DOT},    {":", T_COLON},     {"|", T_PIPE},     {",", T_COMMA},    {";", T_SEMICOLON},
    {"(", T_LPAREN}, {")", T_RPAREN},    {"[", T_LBRACKET}, {"]", T_RBRACKET}, {"{", T_LBRACE},
    {"}", T_RBRACE},
};

/* Keeps the brackets balanced, because "}}" and "%}" end a tag only outside of all of them. */
static int balance(struct lexer *lx, const struct token *tok, struct error *err)
{
    uint8_t k = tok->kind;
    if (k == T_LPAREN || k == T_LBRACKET || k == T_LBRACE) {
        if (lx->n_open == JINJA_DEPTH_MAX)
            return error_set(err, ERROR_LIMIT, "brackets nested deeper than %d", JINJA_DEPTH_MAX);
        lx->open[lx->n_open++] = (uint8_t)(k + 1);
    } else if (k == T_RPAREN || k == T_RBRACKET || k == T_RBRACE) {
        if (lx->n_open == 0)
            return error_set(err, ERROR_INPUT, "unexpected '%s'", token_name(k));
        uint8_t want = lx->open[--lx->n_open];
        if (want != k)
            return error_set(err, ERROR_INPUT, "unexpected '%s', expected '%s'", token_name(k),
                             token_name(want));
    }
    return 1;
}

static int take_operator(struct lexer *lx, struct token *tok, struct error *err)
{
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        struct str op = str_of(operators[i].text);
        if (!looking_at(lx, op))
            continue;
        tok->kind = operators[i].kind;
        tok->text = op;
        lx->at += op.n;
        return balance(lx, tok, err);
    }
    uint32_t cp;
    uni_next(lx->source, lx->at, &cp);
    if (cp < 0x20 || cp > 0x7E)
        return error_set(err, ERROR_INPUT, "unexpected character U+%04X", cp);
    return error_set(err, ERROR_INPUT, "unexpected character '%c'", (int)cp);
}

static int inside(struct lexer *lx, struct token *tok, struct error *err)
{
    size_t n;
    if (lx->n_open == 0) {
        *tok = (struct token){.from = (uint32_t)lx->at};
        if (take_end(lx, lx->state == IN_VAR ? '}' : '%')) {
            tok->kind = lx->state == IN_VAR ? T_VAR_END : T_BLOCK_END;
            tok->to = (uint32_t)lx->at;
            lx->state = ROOT;
            return 1;
        }
    }
    lx->at = skip_space(lx->source, lx->at);
    *tok = (struct token){.kind = T_EOF, .from = (uint32_t)lx->at, .to = (uint32_t)lx->at};
    if (lx->at >= lx->source.n)
        return 1;
    char c = lx->source.p[lx->at];
    int rc;
    if (lx->n_open == 0 && (c == '-' || c == '+' || c == '}' || c == '%')) {
        struct lexer end = *lx;
        if (take_end(&end, lx->state == IN_VAR ? '}' : '%'))
            return 0; /* the tag's end, seen again at the top */
    }
    if (is_digit(c)) {
        rc = take_number(lx, tok, err);
    } else if (is_word(lx->source, lx->at, &n)) {
        while (lx->at < lx->source.n && is_word(lx->source, lx->at, &n))
            lx->at += n;
        tok->kind = T_NAME;
        tok->text = str_first(str_skip(lx->source, tok->from), lx->at - tok->from);
        rc = 1;
    } else if (c == '"' || c == '\'') {
        rc = take_string(lx, tok, err);
    } else {
        rc = take_operator(lx, tok, err);
    }
    tok->to = (uint32_t)lx->at;
    return rc;
}

int lexer_next(struct lexer *lx, struct token *tok, struct error *err)
{
    int rc;
    if (lx->at == 0 && lx->state == ROOT)
        lx->line_start = true;
    do
        rc =
            lx->state == ROOT || lx->state == AT_TAG ? outside(lx, tok, err) : inside(lx, tok, err);
    while (rc == 0);
    return rc < 0 ? -1 : 0;
}
