#include "cli/render_against.h"

#include "chat/explain.h"

static int predict(struct chat_rendering *out, const struct chat_template *template,
                   const struct tokenizer *tokenizer, const struct chat_request *request,
                   const char *name, struct error *err)
{
    const struct chat_profile *p = chat_profile_find(name);
    if (chat_render(out, template, p, request, err) < 0)
        return error_wrap(err, "as %s", name);
    return chat_tokenize(out, tokenizer, p, err);
}

int render_against(struct cli *cli, const struct chat_template *template,
                   const struct tokenizer *tokenizer, const struct chat_request *request,
                   const char *one, const char *other, struct error *err)
{
    struct chat_rendering a = {0}, b = {0};
    struct chat_explanation x = {0};
    int rc = -1;
    if (predict(&a, template, tokenizer, request, one, err) < 0 ||
        predict(&b, template, tokenizer, request, other, err) < 0)
        goto out;
    const struct chat_side sa = {one, &a}, sb = {other, &b};
    if (chat_explain(&x, &sa, &sb, tokenizer, request, err) < 0)
        goto out;
    fprintf(cli->out, "%-14s %6zu tokens\n%-14s %6zu tokens, %+lld\n", one, a.ids.n, other, b.ids.n,
            (long long)x.delta);
    for (size_t i = 0; i < x.n; i++)
        fprintf(cli->out, "%+6lld  %s\n", (long long)x.items[i].tokens, x.items[i].words);
    rc = 0;
out:
    chat_explanation_release(&x);
    chat_rendering_release(&a);
    chat_rendering_release(&b);
    return rc;
}
