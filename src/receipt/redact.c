#include "receipt/redact.h"

#include <string.h>

#include "base/buf.h"

#define WORD_MAX ((size_t)1 << 20)
#define NAME_MAX_BYTES 64
#define ROUNDS_MAX 64
#define KEY_LEAST 16 /* characters behind a provider's prefix */

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool contains(struct str s, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_find(s, str_of(list[i])) != STR_NONE)
            return true;
    return false;
}

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* Whether a name says that its value is a secret. "api-key", "API_KEY" and "apiKey" are one. */
static bool is_secret_name(struct str name, bool in_query)
{
    static const char *const within[] = {"apikey",     "accesskey", "secret",        "passw",
                                         "credential", "bearer",    "authorization", "signature"};
    static const char *const exact[] = {"auth", "sig", "pass", "pwd", "cookie", "setcookie"};
    static const char *const places[] = {"file", "env", "path"};
    char plain[NAME_MAX_BYTES];
    size_t n = 0;
    for (size_t i = 0; i < name.n && n < sizeof plain; i++) {
        char c = name.p[i];
        if (c == '-' || c == '_' || c == '.')
            continue;
        plain[n++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    struct str s = {plain, n};
    for (size_t i = 0; i < COUNT_OF(places); i++)
        if (str_ends(s, str_of(places[i])))
            return false;
    for (size_t i = 0; i < COUNT_OF(exact); i++)
        if (str_eq(s, str_of(exact[i])))
            return true;
    return contains(s, within, COUNT_OF(within)) || str_ends(s, STR("token")) ||
           (in_query && str_eq(s, STR("key")));
}

static bool is_scheme(struct str name)
{
    return str_eq_nocase(name, STR("bearer")) || str_eq_nocase(name, STR("basic"));
}

/* sk-…, hf_… and the like. */
static bool is_provider_key(struct str name)
{
    static const char *const prefixes[] = {"sk-",  "sk_",         "hf_",   "ghp_", "gho_",
                                           "ghs_", "github_pat_", "xoxb-", "AKIA", "AIza"};
    for (size_t i = 0; i < COUNT_OF(prefixes); i++) {
        struct str p = str_of(prefixes[i]);
        if (str_starts(name, p) && name.n >= p.n + KEY_LEAST)
            return true;
    }
    return false;
}

static size_t skip_spaces(struct str s, size_t at)
{
    while (at < s.n && is_space(s.p[at]))
        at++;
    return at;
}

/* Where a value that begins at `at` ends: its closing quote, or the first of `ends` or space. */
static size_t value_end(struct str s, size_t *at, const char *ends)
{
    char quote = *at < s.n && (s.p[*at] == '"' || s.p[*at] == '\'') ? s.p[*at] : '\0';
    size_t i = *at;
    if (quote) {
        *at = ++i;
        while (i < s.n && s.p[i] != quote)
            i += s.p[i] == '\\' && i + 1 < s.n ? 2 : 1;
        return i < s.n ? i : s.n;
    }
    while (i < s.n && !is_space(s.p[i]) && !memchr(ends, s.p[i], strlen(ends)))
        i++;
    return i;
}

/* Behind a name that ends at `end` and tells of a secret: the span of its value, if it has one. */
static bool find_value(struct str s, size_t begin, size_t end, size_t *from, size_t *to)
{
    struct str name = {s.p + begin, end - begin};
    size_t next = end;
    if (next < s.n && (s.p[next] == '"' || s.p[next] == '\''))
        next++; /* the name of a JSON member */
    size_t after = skip_spaces(s, next);
    if (after < s.n && s.p[after] == ':') {
        *from = skip_spaces(s, after + 1);
        if (*from < s.n && (s.p[*from] == '"' || s.p[*from] == '\'')) {
            *to = value_end(s, from, "");
            return *to > *from;
        }
        for (*to = *from; *to < s.n && !strchr("\"'\r\n,}", s.p[*to]);)
            ++*to;
        return *to > *from;
    }
    if (next == end && end < s.n && s.p[end] == '=') {
        *from = end + 1;
        *to = value_end(s, from, "&;#\"'");
        return *to > *from;
    }
    if (after > end && (name.p[0] == '-' || is_scheme(name))) {
        *from = after;
        *to = value_end(s, from, "\"'");
        return *to > *from && (s.p[*from] != '-' || is_scheme(name));
    }
    return false;
}

/* The user info of the URL whose "://" ends at `at`; false without any. */
static bool find_user_info(struct str s, size_t at, size_t *to)
{
    size_t end = at, last = STR_NONE;
    bool odd_port = false;
    while (end < s.n && !is_space(s.p[end]) && !strchr("/?#\"'", s.p[end]))
        end++;
    for (size_t i = at; i < end; i++) {
        if (s.p[i] == '@')
            last = i;
        if (s.p[i] == ':')
            odd_port = i + 1 < end && (s.p[i + 1] < '0' || s.p[i + 1] > '9') && s.p[at] != '[';
    }
    /* A password with an unescaped slash: what stands behind the colon is no port. */
    if (last == STR_NONE && odd_port)
        for (size_t i = end; i < s.n && !is_space(s.p[i]); i++)
            if (s.p[i] == '@')
                last = i;
    if (last == STR_NONE || last == at)
        return false;
    *to = last;
    return true;
}

static void redact_text(struct str s, struct buf *out)
{
    size_t done = 0, from, to;
    for (size_t i = 0; i < s.n;) {
        if (str_starts(str_skip(s, i), STR("://")) && find_user_info(s, i + 3, &to)) {
            buf_add(out, s.p + done, i + 3 - done);
            buf_adds(out, REDACTED);
            done = i = to;
            continue;
        }
        if (!is_name_char(s.p[i])) {
            i++;
            continue;
        }
        size_t end = i;
        while (end < s.n && is_name_char(s.p[end]))
            end++;
        struct str name = {s.p + i, end - i};
        bool in_query = i > 0 && (s.p[i - 1] == '?' || s.p[i - 1] == '&');
        if (is_provider_key(name)) {
            from = i;
            to = end;
        } else if (!(is_secret_name(name, in_query) || is_scheme(name)) ||
                   !find_value(s, i, end, &from, &to)) {
            i = end;
            continue;
        }
        buf_add(out, s.p + done, from - done);
        buf_adds(out, REDACTED);
        done = i = to;
    }
    buf_add(out, s.p + done, s.n - done);
}

/* user:password@host without a scheme, as some tools take it. */
static void redact_bare_user(struct buf *text)
{
    struct str s = buf_str(text);
    size_t begin = str_find_char(s, '='), at = STR_NONE, colon;
    begin = begin == STR_NONE ? 0 : begin + 1;
    if (str_find(s, STR("://")) != STR_NONE)
        return;
    for (size_t i = begin; i < s.n; i++) {
        if (is_space(s.p[i]) || strchr("{[\"'", s.p[i]))
            return;
        if (s.p[i] == '@')
            at = i;
    }
    colon = str_find_char(str_skip(s, begin), ':');
    if (at == STR_NONE || colon == STR_NONE || begin + colon >= at)
        return;
    struct buf out = BUF_INIT(WORD_MAX * 2);
    buf_add(&out, s.p, begin);
    buf_adds(&out, REDACTED);
    buf_add(&out, s.p + at, s.n - at);
    buf_reset(text);
    buf_addstr(text, buf_str(&out));
    if (out.failed)
        text->failed = out.failed;
    buf_release(&out);
}

const char *redact_word(struct str word, struct arena *arena)
{
    struct buf out = BUF_INIT(WORD_MAX * 2), again = BUF_INIT(WORD_MAX * 2);
    redact_text(word.n > WORD_MAX ? STR(REDACTED) : word, &out);
    redact_bare_user(&out);
    /* What was put in may complete another pattern: until nothing changes any more. */
    for (int round = 0; round < ROUNDS_MAX && !out.failed; round++) {
        buf_reset(&again);
        redact_text(buf_str(&out), &again);
        redact_bare_user(&again);
        bool same = str_eq(buf_str(&out), buf_str(&again));
        struct buf other = out;
        out = again;
        again = other;
        if (same)
            break;
    }
    const char *kept = out.failed ? NULL : arena_cstr(arena, buf_str(&out));
    buf_release(&out);
    buf_release(&again);
    return kept;
}

/* A header keeps its name; its value only where nobody hides anything. */
static const char *redact_header(struct str word, struct arena *arena)
{
    static const char *const harmless[] = {"accept", "accept-language", "content-type",
                                           "user-agent"};
    struct str name, value;
    struct buf out = BUF_INIT(WORD_MAX);
    if (str_cut(word, ':', &name, &value))
        for (size_t i = 0; i < COUNT_OF(harmless); i++)
            if (str_eq_nocase(str_trim(name), str_of(harmless[i])))
                return redact_word(word, arena);
    if (name.n < word.n) {
        buf_addstr(&out, str_first(name, WORD_MAX / 2));
        buf_adds(&out, ": ");
    }
    buf_adds(&out, REDACTED);
    const char *kept = out.failed ? NULL : arena_cstr(arena, buf_str(&out));
    buf_release(&out);
    return kept;
}

static bool is_header_option(struct str name)
{
    return str_eq(name, STR("--header")) || str_eq(name, STR("--headers")) ||
           str_eq(name, STR("-H"));
}

/* "--option=value" whose value needs more than the word's own reading. */
static const char *redact_assigned(struct str word, struct arena *arena)
{
    struct str name, value;
    if (!str_starts(word, STR("--")) || !str_cut(word, '=', &name, &value))
        return redact_word(word, arena);
    bool header = is_header_option(name);
    if (!header && !is_secret_name(name, false))
        return redact_word(word, arena);
    const char *kept = header ? redact_header(value, arena) : REDACTED;
    struct buf out = BUF_INIT(WORD_MAX * 2);
    buf_addstr(&out, name);
    buf_addc(&out, '=');
    buf_adds(&out, kept ? kept : "");
    const char *whole = !kept || out.failed ? NULL : arena_cstr(arena, buf_str(&out));
    buf_release(&out);
    return whole;
}

const char *const *redact_argv(size_t argc, const char *const *argv, struct arena *arena)
{
    const char **kept = arena_array(arena, argc + 1, sizeof *kept);
    struct str before = {0};
    if (!kept)
        return NULL;
    for (size_t i = 0; i < argc; i++) {
        struct str word = str_of(argv[i]);
        bool option = before.n > 1 && before.p[0] == '-' && !memchr(before.p, '=', before.n);
        bool whole_word = !str_starts(word, STR("--"));
        if (option && is_header_option(before))
            kept[i] = redact_header(word, arena);
        else if (option && whole_word && is_secret_name(before, false))
            kept[i] = REDACTED;
        else
            kept[i] = redact_assigned(word, arena);
        if (!kept[i])
            return NULL;
        before = word;
    }
    return kept;
}
