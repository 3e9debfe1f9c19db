/*
 * Conversations to be played turn by turn, read from messages in JSONL or from ShareGPT's form.
 *
 *     struct talk t;
 *     if (talk_read(&t, "sharegpt.json", err) < 0) ...
 *     t.corpus.items[i].text                    // what conversation i begins with
 *     t.list[i].turns[k].user, .answer          // its k-th turn as recorded
 *     talk_release(&t);
 *
 * A file is one JSON array of conversations, or one conversation a line. A conversation is an array
 * of messages, or an object that holds it as "messages" ({"role", "content"}) or "conversations"
 * ({"from", "value"}). Roles are system, user (human) and assistant (gpt, chatgpt, bing, bard,
 * model); a system message may stand first, then user and assistant take turns, the user beginning.
 * A conversation that does not do so is left out and counted (left_out, why: the first reason);
 * a file without any that does is ERROR_INPUT.
 * The corpus holds each conversation's first user message, under the id "cNUMBER", and promises
 * nothing. Ownership: all texts live in the talk. Limits: those of a corpus, TALK_TURNS_MAX turns.
 */
#ifndef TALLY_CORPUS_TALK_H
#define TALLY_CORPUS_TALK_H

#include "corpus/corpus.h"

#define TALK_TURNS_MAX 256

struct talk_turn {
    struct str user;
    struct str answer; /* as recorded; p NULL where there is none */
};

struct talk_conversation {
    struct str system; /* p NULL */
    const struct talk_turn *turns;
    size_t n; /* at least 1 */
};

struct talk {
    struct corpus corpus;
    struct talk_conversation *list; /* one an item of the corpus */
    size_t cap;
    int64_t left_out, turns; /* conversations not usable; turns of all others */
    char why[200];           /* "" when none was left out */
};

int talk_read(struct talk *t, const char *path, struct error *err) TALLY_MUST_CHECK;
/* From bytes in memory, which are not kept; name stands in errors and must outlive the talk. */
int talk_read_bytes(struct talk *t, struct str bytes, const char *name,
                    struct error *err) TALLY_MUST_CHECK;
void talk_release(struct talk *t); /* NULL and zeroed are fine */

#endif
