/* Whatever is read: names and labels lie in the text, a name is never empty, lines go forward, and
 * a refusal says where. */
#include "codec/prometheus.h"
#include "fuzz.h"

struct seen {
    struct str text;
    int64_t line;
    size_t n;
};

static int inside(const struct seen *s, struct str part)
{
    return part.n == 0 || (part.p >= s->text.p && part.p + part.n <= s->text.p + s->text.n);
}

static int take(void *ctx, const struct prom_sample *p)
{
    struct seen *s = ctx;
    FUZZ_REQUIRE(p->name.n > 0 && inside(s, p->name) && inside(s, p->labels));
    FUZZ_REQUIRE(p->line > s->line);
    s->line = p->line;
    return s->n++ == 1000;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    struct seen s = {.text = str_make(data, size)};
    int got = prom_read(s.text, take, &s, &err);
    FUZZ_REQUIRE((got == -1) == (err.message[0] != '\0'));
    FUZZ_REQUIRE(got != -1 || err.line > s.line);
    return 0;
}
