#include "chat/hypothesis.h"

#include <stdio.h>
#include <string.h>

#define USUAL_SYSTEM "You are a helpful assistant."

/* Ways to depart from a profile, and what each is called. */
enum departure { DEPART_SPECIAL_TEXT = 1, DEPART_BOS = 2, DEPART_SYSTEM = 4 };

static void add_name(struct chat_hypothesis *h, const char *text)
{
    size_t n = strlen(h->name);
    snprintf(h->name + n, sizeof h->name - n, "%s", text);
}

static struct chat_hypothesis make(const struct chat_profile *p,
                                   const struct chat_named_template *t, int departures)
{
    struct chat_hypothesis h = {.profile = *p, .template = t ? t->template : NULL};
    snprintf(h.name, sizeof h.name, "%s", p->name);
    if (t) {
        add_name(&h, ", template of ");
        add_name(&h, t->name);
    }
    if (departures & DEPART_SPECIAL_TEXT) {
        h.profile.plain_content = !p->plain_content;
        add_name(&h, p->plain_content ? ", special-token text parsed" : ", content as plain text");
        h.departures++;
    }
    if (departures & DEPART_BOS) {
        h.profile.adds_special = !p->adds_special;
        add_name(&h, p->adds_special ? ", no BOS added" : ", BOS added");
        h.departures++;
    }
    if (departures & DEPART_SYSTEM) {
        h.system = USUAL_SYSTEM;
        add_name(&h, ", default system message \"" USUAL_SYSTEM "\"");
        h.departures++;
    }
    return h;
}

size_t chat_hypotheses(struct chat_hypothesis *out, size_t max,
                       const struct chat_named_template *templates, size_t n)
{
    size_t made = 0;
    const struct chat_profile *p;
    for (int wanted = 0; wanted <= 3; wanted++)
        for (size_t i = 0; (p = chat_profile_at(i)); i++) {
            bool own = p->built_in || p->raw;
            for (size_t k = 0; k < (own ? 1 : n); k++)
                for (int d = 0; d < 8; d++) {
                    struct chat_hypothesis h = make(p, own ? NULL : &templates[k], d);
                    if (h.departures == wanted && made < max)
                        out[made++] = h;
                }
        }
    return made;
}

static bool has_system(const struct chat_request *q)
{
    struct str role;
    return q->system ||
           (q->messages->n > 0 && json_str(&role, json_get(&q->messages->items[0], "role")) == 0 &&
            str_eq(role, STR("system")));
}

int chat_predict(const struct chat_hypothesis *h, const struct chat_request *q,
                 const struct tokenizer *t, struct chat_rendering *out, struct error *err)
{
    struct chat_request with = *q;
    if (h->system && !has_system(q))
        with.system = h->system;
    if (chat_render(out, h->template, &h->profile, &with, err) < 0)
        return -1;
    return chat_tokenize(out, t, &h->profile, err);
}
