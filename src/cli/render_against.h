/*
 * tally render --against: one conversation as two servers would wrap it, and why they differ.
 *
 *     if (render_against(cli, template, tokenizer, &request, "apr", "llama-server", err) < 0) ...
 */
#ifndef TALLY_CLI_RENDER_AGAINST_H
#define TALLY_CLI_RENDER_AGAINST_H

#include "chat/render.h"
#include "cli/cli.h"

/* Profiles by name; they exist. template may be NULL where both have their own. */
int render_against(struct cli *cli, const struct chat_template *template,
                   const struct tokenizer *tokenizer, const struct chat_request *request,
                   const char *one, const char *other, struct error *err);

#endif
