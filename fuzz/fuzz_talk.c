/* Whatever bytes come as conversations: read whole, or refused; what is read takes turns. */
#include "corpus/talk.h"
#include "fuzz.h"

static void use(const struct talk *t)
{
    int64_t turns = 0;

    FUZZ_REQUIRE(t->corpus.n > 0);
    for (size_t i = 0; i < t->corpus.n; i++) {
        const struct talk_conversation *c = &t->list[i];
        FUZZ_REQUIRE(c->n >= 1 && c->n <= TALK_TURNS_MAX);
        for (size_t k = 0; k < c->n; k++) {
            FUZZ_REQUIRE(c->turns[k].user.n > 0);
            FUZZ_REQUIRE(k + 1 == c->n || c->turns[k].answer.n > 0);
        }
        FUZZ_REQUIRE(str_eq(t->corpus.items[i].text, c->turns[0].user));
        turns += (int64_t)c->n;
    }
    FUZZ_REQUIRE(turns == t->turns && (t->left_out > 0) == (t->why[0] != '\0'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    struct talk t;

    if (talk_read_bytes(&t, str_make(data, size), "talk", &err) == 0) {
        use(&t);
        talk_release(&t);
    } else {
        FUZZ_REQUIRE(err.kind != ERROR_NONE && err.message[0]);
    }
    return 0;
}
