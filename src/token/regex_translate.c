#include "token/regex_translate.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "token/unicode.h"

#define CODE_POINTS 0x110000u
#define CLASS_DEPTH_MAX 16

/* A set of code points, a bit each. */
struct set {
    uint64_t bits[CODE_POINTS / 64];
};

struct translator {
    struct str in;
    size_t at;
    struct buf *out;
    struct error *err;
    bool quantifiable; /* something stands before that a quantifier can follow */
    bool in_class;     /* between [ and ] */
    unsigned fold;     /* how many (?i..) there are */
    bool llama_cpp;    /* Unicode 15.1, and \d is [0-9] */
};

static bool has(const struct set *s, uint32_t cp)
{
    return (s->bits[cp / 64] >> (cp % 64) & 1) != 0;
}

static void add(struct set *s, uint32_t cp)
{
    s->bits[cp / 64] |= (uint64_t)1 << (cp % 64);
}

static void invert(struct set *s)
{
    for (size_t i = 0; i < CODE_POINTS / 64; i++)
        s->bits[i] = ~s->bits[i];
}

static int refuse(struct translator *t, const char *what)
{
    error_set(t->err, ERROR_UNSUPPORTED, "the pattern \"%.*s\" uses %s, which is not supported",
              STR_ARG(str_first(t->in, 200)), what);
    return error_remedy(t->err, "counts would not be exact; use the server's own usage "
                                "(--count server-usage) for this model");
}

static bool more(const struct translator *t)
{
    return t->at < t->in.n;
}

static char peek(const struct translator *t)
{
    return t->at < t->in.n ? t->in.p[t->at] : '\0';
}

static bool take(struct translator *t, const char *text)
{
    struct str s = str_of(text);
    if (!str_starts(str_skip(t->in, t->at), s))
        return false;
    t->at += s.n;
    return true;
}

static int take_char(struct translator *t, uint32_t *cp)
{
    size_t n = utf8_decode(t->in, t->at, cp);
    if (n == 0)
        return refuse(t, "a pattern that ends early or is not UTF-8");
    t->at += n;
    return 0;
}

static const struct {
    const char *name;
    uint32_t categories;
} properties[] = {
    {"L", UNI_LETTER},
    {"Letter", UNI_LETTER},
    {"M", UNI_MARK},
    {"Mark", UNI_MARK},
    {"N", UNI_NUMBER},
    {"Number", UNI_NUMBER},
    {"P", UNI_PUNCTUATION},
    {"Punct", UNI_PUNCTUATION},
    {"Punctuation", UNI_PUNCTUATION},
    {"S", UNI_SYMBOL},
    {"Symbol", UNI_SYMBOL},
    {"Lu", UNI_BIT(UNI_LU)},
    {"Ll", UNI_BIT(UNI_LL)},
    {"Lt", UNI_BIT(UNI_LT)},
    {"Lm", UNI_BIT(UNI_LM)},
    {"Lo", UNI_BIT(UNI_LO)},
    {"Mn", UNI_BIT(UNI_MN)},
    {"Mc", UNI_BIT(UNI_MC)},
    {"Me", UNI_BIT(UNI_ME)},
    {"Nd", UNI_BIT(UNI_ND)},
    {"Nl", UNI_BIT(UNI_NL)},
    {"No", UNI_BIT(UNI_NO)},
    {"Pc", UNI_BIT(UNI_PC)},
    {"Pd", UNI_BIT(UNI_PD)},
    {"Ps", UNI_BIT(UNI_PS)},
    {"Pe", UNI_BIT(UNI_PE)},
    {"Pi", UNI_BIT(UNI_PI)},
    {"Pf", UNI_BIT(UNI_PF)},
    {"Po", UNI_BIT(UNI_PO)},
    {"Sm", UNI_BIT(UNI_SM)},
    {"Sc", UNI_BIT(UNI_SC)},
    {"Sk", UNI_BIT(UNI_SK)},
    {"So", UNI_BIT(UNI_SO)},
    {"Zs", UNI_BIT(UNI_ZS)},
    {"Zl", UNI_BIT(UNI_ZL)},
    {"Zp", UNI_BIT(UNI_ZP)},
    {"Cf", UNI_BIT(UNI_CF)},
    {"Co", UNI_BIT(UNI_CO)},
    {"Cn", UNI_BIT(UNI_CN)},
    {"Cc", UNI_BIT(UNI_CC) | UNI_BIT(UNI_CC_SPACE)},
    {"Z", UNI_BIT(UNI_ZS) | UNI_BIT(UNI_ZL) | UNI_BIT(UNI_ZP)},
};

static void add_categories(const struct translator *t, struct set *s, uint32_t categories,
                           bool inverted)
{
    for (uint32_t cp = 0; cp < CODE_POINTS; cp++)
        if ((uni_is(cp, categories) && !(t->llama_cpp && uni_is_newer(cp))) != inverted)
            add(s, cp);
}

static void add_digits(const struct translator *t, struct set *s, bool inverted)
{
    if (!t->llama_cpp) {
        add_categories(t, s, UNI_BIT(UNI_ND), inverted);
        return;
    }
    for (uint32_t cp = 0; cp < CODE_POINTS; cp++)
        if ((cp - '0' < 10) != inverted)
            add(s, cp);
}

/* The \w of Oniguruma (probed): letters, marks, decimal and letter numbers, connectors, and some.
 */
static bool is_word(uint32_t cp, bool in_class)
{
    if (uni_is(cp, UNI_LETTER | UNI_MARK | UNI_BIT(UNI_ND) | UNI_BIT(UNI_NL) | UNI_BIT(UNI_PC)))
        return true;
    if (cp == 0xB2 || cp == 0xB3 || cp == 0xB9 || (cp >= 0xBC && cp <= 0xBE))
        return !in_class;
    return (cp >= 0x24B6 && cp <= 0x24E9) || (cp >= 0x1F130 && cp <= 0x1F149) ||
           (cp >= 0x1F150 && cp <= 0x1F169) || (cp >= 0x1F170 && cp <= 0x1F189);
}

static void add_word(struct set *s, bool inverted, bool in_class)
{
    for (uint32_t cp = 0; cp < CODE_POINTS; cp++)
        if (is_word(cp, in_class) != inverted)
            add(s, cp);
}

/* Behind \p or \P: {Name}, {^Name}. */
static int add_property(struct translator *t, struct set *s, bool inverted)
{
    struct str name;
    if (!take(t, "{"))
        return refuse(t, "\\p without braces");
    if (take(t, "^"))
        inverted = !inverted;
    size_t n = str_find_char(str_skip(t->in, t->at), '}');
    if (n == STR_NONE)
        return refuse(t, "\\p without its closing brace");
    name = str_make(t->in.p + t->at, n);
    t->at += n + 1;
    if (str_eq_nocase(name, STR("Han"))) {
        for (uint32_t cp = 0; cp < CODE_POINTS; cp++)
            if (((uni_prop(cp) & UNI_PROP_HAN) != 0) != inverted)
                add(s, cp);
        return 0;
    }
    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++)
        if (str_eq_nocase(name, str_of(properties[i].name))) {
            add_categories(t, s, properties[i].categories, inverted);
            return 0;
        }
    return refuse(t, "a property other than general categories and Han");
}

static int take_hex(struct translator *t, uint32_t *cp, size_t most)
{
    bool braces = most == 0 && take(t, "{");
    size_t n = 0;
    *cp = 0;
    if (most == 0)
        most = braces ? 8 : 2;
    for (; n < most && more(t); n++, t->at++) {
        char c = peek(t);
        uint32_t d = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                     : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                     : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                            : 99;
        if (d == 99)
            break;
        *cp = *cp << 4 | d;
    }
    if (n == 0 || (braces && !take(t, "}")) || *cp >= CODE_POINTS || (!braces && *cp >= 0x80))
        return refuse(t, "an escape by code that is not one character");
    return 0;
}

/* Behind a backslash. 1: a set was added; 0: one character in *cp; -1. */
static int take_escape(struct translator *t, struct set *s, uint32_t *cp)
{
    static const char letters[] = "nrtfvae", codes[] = "\n\r\t\f\v\a\x1B";
    char c = peek(t);
    if (!more(t))
        return refuse(t, "a backslash at its end");
    const char *letter = strchr(letters, c);
    if (letter && c) {
        t->at++;
        *cp = (uint32_t)(unsigned char)codes[letter - letters];
        return 0;
    }
    if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')))
        return take_char(t, cp);
    t->at++;
    switch (c) {
    case 'p':
    case 'P':
        return add_property(t, s, c == 'P') < 0 ? -1 : 1;
    case 's':
    case 'S':
        add_categories(t, s, UNI_SPACE, c == 'S');
        return 1;
    case 'd':
    case 'D':
        add_digits(t, s, c == 'D');
        return 1;
    case 'w':
    case 'W':
        add_word(s, c == 'W', t->in_class);
        return 1;
    case 'x':
        return take_hex(t, cp, 0);
    default:
        return refuse(t, "an escape that is not known");
    }
}

static int take_class(struct translator *t, struct set *s, unsigned depth);

/* One member or range. */
static int take_member(struct translator *t, struct set *s)
{
    uint32_t from, to;
    int got;
    if (take(t, "\\"))
        got = take_escape(t, s, &from);
    else
        got = take_char(t, &from);
    if (got != 0)
        return got < 0 ? -1 : 0;
    to = from;
    if (peek(t) == '-' && t->at + 1 < t->in.n && t->in.p[t->at + 1] != ']') {
        t->at++;
        if (peek(t) == '[')
            return refuse(t, "a range that ends in a class");
        got = take(t, "\\") ? take_escape(t, s, &to) : take_char(t, &to);
        if (got != 0)
            return got < 0 ? -1 : refuse(t, "a range that ends in a class");
        if (to < from)
            return refuse(t, "a range that runs backwards");
    }
    for (uint32_t cp = from; cp <= to; cp++)
        add(s, cp);
    return 0;
}

static int take_nested(struct translator *t, struct set *s, unsigned depth)
{
    struct set *inner = calloc(1, sizeof *inner);
    if (!inner)
        return error_no_memory(t->err);
    int status = take_class(t, inner, depth + 1);
    for (size_t i = 0; status == 0 && i < CODE_POINTS / 64; i++)
        s->bits[i] |= inner->bits[i];
    free(inner);
    return status;
}

/* Behind '[': members, nested classes, && . Negation goes last, over the intersection. */
static int take_class(struct translator *t, struct set *s, unsigned depth)
{
    bool negated = take(t, "^"), first = true, meets = false;
    struct set *left = NULL;
    int status = 0;
    if (depth > CLASS_DEPTH_MAX)
        return refuse(t, "classes nested too deeply");
    for (; status == 0 && !(peek(t) == ']' && !first); first = false) {
        if (!more(t)) {
            status = refuse(t, "a class without its end");
        } else if (t->in.p[t->at] == '[' && t->at + 1 < t->in.n && t->in.p[t->at + 1] == ':') {
            status = refuse(t, "a POSIX class");
        } else if (take(t, "[")) {
            status = take_nested(t, s, depth);
        } else if (take(t, "&&")) {
            if (!left)
                left = calloc(1, sizeof *left);
            if (!left) {
                status = error_no_memory(t->err);
                break;
            }
            for (size_t i = 0; i < CODE_POINTS / 64; i++) {
                left->bits[i] = meets ? left->bits[i] & s->bits[i] : s->bits[i];
                s->bits[i] = 0;
            }
            meets = true;
        } else {
            status = take_member(t, s);
        }
    }
    if (status == 0) {
        t->at++; /* ] */
        for (size_t i = 0; meets && i < CODE_POINTS / 64; i++)
            s->bits[i] &= left->bits[i];
        if (negated)
            invert(s);
    }
    free(left);
    return status;
}

static void put_set(struct translator *t, const struct set *s)
{
    bool any = false;
    buf_addc(t->out, '[');
    for (uint32_t cp = 0; cp < CODE_POINTS; cp++) {
        if (!has(s, cp) || (cp >= 0xD800 && cp <= 0xDFFF))
            continue;
        uint32_t to = cp;
        while (to + 1 < CODE_POINTS && has(s, to + 1) && to + 1 != 0xD800)
            to++;
        buf_addf(t->out, "\\x{%X}-\\x{%X}", cp, to);
        cp = to;
        any = true;
    }
    if (!any) { /* nothing matches */
        buf_truncate(t->out, t->out->n - 1);
        buf_adds(t->out, "(?!)");
        return;
    }
    buf_addc(t->out, ']');
}

static int class_atom(struct translator *t, bool bracket)
{
    struct set *s = calloc(1, sizeof *s);
    uint32_t cp = 0;
    if (!s)
        return error_no_memory(t->err);
    t->in_class = bracket;
    int got = bracket ? (take_class(t, s, 0) < 0 ? -1 : 1) : take_escape(t, s, &cp);
    if (got == 0)
        buf_addf(t->out, "\\x{%X}", cp);
    else if (got > 0)
        put_set(t, s);
    free(s);
    t->quantifiable = true;
    return got < 0 ? -1 : 0;
}

static int word_boundary(struct translator *t, bool inverted)
{
    struct set *s = calloc(1, sizeof *s);
    if (!s)
        return error_no_memory(t->err);
    add_word(s, false, false);
    const char *const parts[] = {inverted ? "(?:(?<=" : "(?:(?<!",
                                 inverted ? ")(?=" : ")(?=", inverted ? ")|(?<!" : ")|(?<=", ")(?!",
                                 "))"};
    for (size_t i = 0; i < 5; i++) {
        buf_adds(t->out, parts[i]);
        if (i < 4)
            put_set(t, s);
    }
    free(s);
    t->quantifiable = false;
    return 0;
}

static int escape(struct translator *t)
{
    switch (peek(t)) {
    case 'A':
    case 'z':
        buf_addc(t->out, '\\');
        buf_addc(t->out, peek(t));
        t->at++;
        t->quantifiable = false;
        return 0;
    case 'b':
    case 'B':
        t->at++;
        return word_boundary(t, t->in.p[t->at - 1] == 'B');
    default:
        return class_atom(t, false);
    }
}

/* {n}, {n,}, {,m}, {n,m}; a brace that is none of these is a character. */
static int braces(struct translator *t)
{
    struct str rest = str_skip(t->in, t->at);
    size_t end = str_find_char(rest, '}'), i = 1;
    while (end != STR_NONE && i < end &&
           ((rest.p[i] >= '0' && rest.p[i] <= '9') || rest.p[i] == ','))
        i++;
    if (end == STR_NONE || i != end || end == 1 || !t->quantifiable) {
        buf_adds(t->out, "\\{");
        t->at++;
        t->quantifiable = true;
        return 0;
    }
    buf_addc(t->out, '{');
    if (rest.p[1] == ',')
        buf_addc(t->out, '0');
    buf_add(t->out, rest.p + 1, end);
    t->at += end + 1;
    if (peek(t) == '+' || peek(t) == '?' || peek(t) == '*')
        return refuse(t, "a quantifier behind {n,m}");
    t->quantifiable = false;
    return 0;
}

static int quantifier(struct translator *t)
{
    if (!t->quantifiable)
        return refuse(t, "a quantifier with nothing before it");
    buf_addc(t->out, t->in.p[t->at++]);
    /* Possessive and lazy ones mean the same in both. */
    if (peek(t) == '+' || peek(t) == '?')
        buf_addc(t->out, t->in.p[t->at++]);
    if (peek(t) == '+' || peek(t) == '?' || peek(t) == '*')
        return refuse(t, "a quantifier behind a quantifier");
    t->quantifiable = false;
    return 0;
}

static int group(struct translator *t)
{
    static const char *const known[] = {"(?:", "(?=",  "(?!",  "(?<=", "(?<!",
                                        "(?>", "(?i:", "(?i)", "(?-i:"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (take(t, known[i])) {
            if (known[i][2] == 'i')
                t->fold++;
            buf_adds(t->out, known[i]);
            t->quantifiable = false;
            return 0;
        }
    if (str_starts(str_skip(t->in, t->at), STR("(?")) ||
        str_starts(str_skip(t->in, t->at), STR("(*")))
        return refuse(t, "a group of a kind that is not known");
    t->at++;
    buf_adds(t->out, "(?:"); /* captures are of no use here */
    t->quantifiable = false;
    return 0;
}

/* Letters that fold with others to one character, as ss with sharp s: PCRE2 does not do that. */
static bool folds_together(struct translator *t)
{
    static const char *const pairs[] = {"ss", "st", "ff", "fi", "fl"};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        for (size_t at = 0; at + 2 <= t->in.n; at++)
            if (str_eq_nocase(str_make(t->in.p + at, 2), str_of(pairs[i])))
                return true;
    return false;
}

static int literal(struct translator *t)
{
    uint32_t cp;
    if (take_char(t, &cp) < 0)
        return -1;
    if (cp < 0x80 && strchr("{}#&-~", (int)cp) && cp)
        buf_addc(t->out, '\\');
    utf8_add(t->out, cp);
    t->quantifiable = true;
    return 0;
}

static int translate_one(struct translator *t)
{
    switch (peek(t)) {
    case '\\':
        t->at++;
        return escape(t);
    case '[':
        t->at++;
        return class_atom(t, true);
    case '(':
        return group(t);
    case '{':
        return braces(t);
    case '*':
    case '+':
    case '?':
        return quantifier(t);
    case '^':
    case '$':
    case '|':
        buf_addc(t->out, t->in.p[t->at++]);
        t->quantifiable = false;
        return 0;
    case ')':
    case '.':
        buf_addc(t->out, t->in.p[t->at++]);
        t->quantifiable = true;
        return 0;
    default:
        return literal(t);
    }
}

int regex_translate(struct buf *out, struct str pattern, bool llama_cpp, struct error *err)
{
    struct translator t = {.in = pattern, .out = out, .err = err, .llama_cpp = llama_cpp};
    if (pattern.n > REGEX_PATTERN_MAX)
        return error_set(err, ERROR_LIMIT, "a pattern of %zu bytes; the limit is %u", pattern.n,
                         REGEX_PATTERN_MAX);
    while (more(&t))
        if (translate_one(&t) < 0)
            return -1;
    if (t.fold && folds_together(&t))
        return refuse(&t, "(?i) over letters that fold together");
    return buf_check(out, "translated pattern", err);
}
