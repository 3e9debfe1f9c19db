#include "load/dialogue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus/talk.h"

/* What one worker plays: messages lie in turn with their texts, which are its own. */
struct player {
    int64_t ordinal; /* of the conversation among all that were begun */
    const struct talk_conversation *talk;
    size_t turn; /* that is being asked, from 0 */
    struct buf
        *own; /* texts of its first message and of live answers: 1 + TALK_TURNS_MAX at most */
    struct wire_message *messages;
    size_t messages_n;
    struct prompt *ready;
};

struct thought {
    int32_t worker;
    int64_t until_ns;
};

struct dialogues {
    struct prompts_source source;
    const struct talk *talk;
    bool live;
    int32_t workers;
    struct player *players;
    int64_t begun;
    struct thought *thoughts; /* a ring */
    int32_t first, thinking;
};

static void forget(struct player *p)
{
    for (size_t i = 0; p->own && p->talk && i <= p->talk->n; i++)
        buf_release(&p->own[i]);
    free(p->own);
    free(p->messages);
    *p = (struct player){.ready = NULL};
}

static void say(struct player *p, const char *role, struct str text)
{
    p->messages[p->messages_n++] = (struct wire_message){str_of(role), text};
}

/* Tokens of what is new in this turn; and of the answer that the file records, for its length. */
static int count(const struct dialogues *d, struct str text, int64_t *n, struct error *err)
{
    const struct corpus_counter *c = d->source.counter;
    size_t tokens;

    *n = COUNT_NONE;
    if (!c)
        return 0;
    if (c->count(c->ctx, text, &tokens, err) < 0)
        return -1;
    *n = (int64_t)tokens;
    return 0;
}

static int answer_length(const struct dialogues *d, const struct player *p, int64_t *n,
                         struct error *err)
{
    const struct talk_turn *t = &p->talk->turns[p->turn];

    *n = d->source.lane->plan->max_tokens;
    if (*n != COUNT_NONE)
        return 0;
    if (t->answer.p && count(d, t->answer, n, err) < 0)
        return -1;
    if (*n < 1)
        *n = PROMPT_ANSWER_TOKENS;
    return 0;
}

/* The request of the turn that the player has come to. */
static int make_ready(struct dialogues *d, struct player *p, struct error *err)
{
    const struct corpus_item *item = &d->talk->corpus.items[p->talk - d->talk->list];
    struct str text = p->messages[p->messages_n - 1].content;
    char id[PROMPT_ID_MAX];
    struct prompt_turn turn = {.id = id,
                               .turn = (int64_t)p->turn + 1,
                               .messages = p->messages,
                               .messages_n = p->messages_n};

    snprintf(id, sizeof id, "%.*s:r%d.c%d.k%lld.t%zu", STR_ARG(item->id), d->source.replicate,
             d->source.band, (long long)p->ordinal, p->turn + 1);
    return count(d, text, &turn.tokens, err) < 0 ||
                   answer_length(d, p, &turn.max_tokens, err) < 0 ||
                   prompt_make_turn(&d->source, &turn, &p->ready, err) < 0
               ? -1
               : 0;
}

/* What the user says first: as it stands there, or behind words of this conversation's own. */
static int first_text(struct dialogues *d, struct player *p, const struct corpus_item *item,
                      struct error *err)
{
    const struct corpus_draw which = {d->source.nonce, d->source.replicate, d->source.band, false,
                                      p->ordinal};
    struct corpus_prompt made;

    if (d->source.unique)
        return corpus_unique_of(&d->talk->corpus, item, d->source.counter, &which, &p->own[0],
                                &made, err);
    buf_addstr(&p->own[0], item->text);
    return buf_check(&p->own[0], "a message", err);
}

static int begin(struct dialogues *d, struct player *p, struct error *err)
{
    const char *system = d->source.lane->plan->system;
    size_t i = (size_t)(d->begun % (int64_t)d->talk->corpus.n);

    forget(p);
    p->ordinal = d->begun++;
    p->talk = &d->talk->list[i];
    p->own = calloc(p->talk->n + 1, sizeof *p->own);
    p->messages = calloc(2 * p->talk->n + 2, sizeof *p->messages);
    if (!p->own || !p->messages)
        return error_no_memory(err);
    for (size_t k = 0; k <= p->talk->n; k++)
        buf_init(&p->own[k], BUF_ANY);
    if (first_text(d, p, &d->talk->corpus.items[i], err) < 0)
        return -1;
    if (system)
        say(p, "system", str_of(system));
    else if (p->talk->system.p)
        say(p, "system", p->talk->system);
    say(p, "user", buf_str(&p->own[0]));
    return make_ready(d, p, err);
}

/* The answer, then what the user says to it. */
static int go_on(struct dialogues *d, struct player *p, const struct sample *s, struct error *err)
{
    const struct talk_turn *t = &p->talk->turns[p->turn];
    struct buf *own = &p->own[p->turn + 1];
    struct str answer = t->answer;

    if (d->live || !answer.p) {
        sample_join_text(s, EVENT_TEXT, own);
        if (buf_check(own, "an answer", err) < 0)
            return -1;
        answer = buf_str(own);
    }
    say(p, "assistant", answer);
    p->turn++;
    say(p, "user", p->talk->turns[p->turn].user);
    return make_ready(d, p, err);
}

int dialogues_answered(struct dialogues *d, int32_t worker, bool ok, const struct sample *s,
                       struct error *err)
{
    struct player *p = &d->players[worker];

    if (ok && p->turn + 1 < p->talk->n)
        return go_on(d, p, s, err);
    return begin(d, p, err);
}

struct prompt *dialogues_take(struct dialogues *d, int32_t worker)
{
    struct prompt *taken = d->players[worker].ready;

    d->players[worker].ready = NULL;
    return taken;
}

int dialogues_new(struct dialogues **out, const struct prompts_source *source,
                  const struct talk *talk, bool live, int32_t workers, struct error *err)
{
    struct dialogues *d = calloc(1, sizeof *d);

    if (!d)
        return error_no_memory(err);
    *d = (struct dialogues){.source = *source, .talk = talk, .live = live, .workers = workers};
    d->players = calloc((size_t)workers, sizeof *d->players);
    d->thoughts = calloc((size_t)workers, sizeof *d->thoughts);
    if (!d->players || !d->thoughts) {
        dialogues_free(d);
        return error_no_memory(err);
    }
    for (int32_t i = 0; i < workers; i++) {
        if (begin(d, &d->players[i], err) < 0) {
            dialogues_free(d);
            return -1;
        }
    }
    *out = d;
    return 0;
}

void dialogues_free(struct dialogues *d)
{
    if (!d)
        return;
    for (int32_t i = 0; d->players && i < d->workers; i++) {
        prompt_free(d->players[i].ready);
        forget(&d->players[i]);
    }
    free(d->players);
    free(d->thoughts);
    free(d);
}

void dialogues_think(struct dialogues *d, int32_t worker, int64_t until_ns)
{
    int64_t at = ((int64_t)d->first + d->thinking++) % d->workers;

    d->thoughts[at] = (struct thought){worker, until_ns};
}

bool dialogues_wake(struct dialogues *d, int64_t now_ns, bool hurry, int32_t *worker,
                    int64_t *at_ns)
{
    const struct thought *t = &d->thoughts[d->first];

    if (d->thinking == 0 || (t->until_ns > now_ns && !hurry))
        return false;
    *worker = t->worker;
    *at_ns = t->until_ns < now_ns ? t->until_ns : now_ns;
    d->first = (int32_t)(((int64_t)d->first + 1) % d->workers);
    d->thinking--;
    return true;
}

int64_t dialogues_deadline(const struct dialogues *d)
{
    return d->thinking > 0 ? d->thoughts[d->first].until_ns : INT64_MAX;
}
