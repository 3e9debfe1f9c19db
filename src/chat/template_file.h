/*
 * Chat templates from the files that carry them.
 *
 *     struct chat_template *t;
 *     if (chat_template_open(&t, "model.gguf", NULL, &JINJA_SYNTAX_TRANSFORMERS, err) < 0) ...
 *     chat_template_free(t);
 *
 * The content decides: a GGUF; a JSON object with a member chat_template (tokenizer_config.json,
 * chat_template.json; a list of named ones too); anything else is the template itself (.jinja).
 * variant names one of several ("tool_use"); NULL is the default one.
 * Ownership: heap-held, immutable, owns all it points to. Limits: CHAT_FILE_MAX bytes of JSON or
 * template; a GGUF is mapped, and only its key-values are read.
 */
#ifndef TALLY_CHAT_TEMPLATE_FILE_H
#define TALLY_CHAT_TEMPLATE_FILE_H

#include "base/hash.h"
#include "codec/json.h"
#include "jinja/jinja.h"

#define CHAT_FILE_MAX ((size_t)64 << 20)
#define CHAT_SPECIALS_MAX 16

/* A variable that the template's file gives it: bos_token, eos_token, … */
struct chat_special {
    struct str name, text;
};

struct chat_template {
    struct jinja_template *jinja;
    struct str source;
    const char *origin; /* "jinja", "json", "gguf", "built-in" */
    char sha256[SHA256_HEX];
    struct chat_special specials[CHAT_SPECIALS_MAX];
    size_t specials_n;
    struct arena arena;
};

int chat_template_open(struct chat_template **out, const char *path, const char *variant,
                       const struct jinja_syntax *syntax, struct error *err) TALLY_MUST_CHECK;
/* From text; name stands in errors. */
int chat_template_from_text(struct chat_template **out, struct str source, const char *name,
                            const struct jinja_syntax *syntax, struct error *err) TALLY_MUST_CHECK;
/* Gives the template a special-token variable; text that is no string (NULL too) is passed over. */
int chat_template_add_special(struct chat_template *t, const char *name, const struct json *text,
                              struct error *err) TALLY_MUST_CHECK;
void chat_template_free(struct chat_template *t); /* NULL is fine */

#endif
