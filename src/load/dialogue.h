/*
 * Conversations in play: each worker plays one turn by turn, the answer becoming part of the next
 * prompt, then begins another.
 *
 *     struct dialogues *d;
 *     if (dialogues_new(&d, &source, talk, live, workers, err) < 0) ...
 *     p = dialogues_take(d, worker);                    // the timing thread: the worker's prompt
 *     dialogues_answered(d, worker, ok, &sample, err);  // the judge's: makes the next one ready
 *     dialogues_free(d);
 *
 * A worker's prompt is made when its last answer has been parsed, off the timing path; who takes it
 * must have been told since (the judge's verdict). Conversations follow each other from the file's
 * beginning on; with unique prompts each begins with words of its own, so that no server has seen
 * it. A turn that does not end ok ends its conversation.
 * Ownership: a prompt that was taken is the caller's; the source's parts are borrowed.
 */
#ifndef TALLY_LOAD_DIALOGUE_H
#define TALLY_LOAD_DIALOGUE_H

#include "corpus/talk.h"
#include "load/prompts.h"

struct dialogues;

/* live: the answers of the server; else those that the file records, where it does. */
int dialogues_new(struct dialogues **out, const struct prompts_source *source,
                  const struct talk *talk, bool live, int32_t workers,
                  struct error *err) TALLY_MUST_CHECK;
void dialogues_free(struct dialogues *d); /* NULL is fine */
struct prompt *dialogues_take(struct dialogues *d, int32_t worker);
int dialogues_answered(struct dialogues *d, int32_t worker, bool ok, const struct sample *s,
                       struct error *err) TALLY_MUST_CHECK;

/* The timing thread's: a worker whose answer has been parsed thinks before it goes on, all equally
 * long. */
void dialogues_think(struct dialogues *d, int32_t worker, int64_t until_ns);
/* True with the next worker that goes on, since *at_ns; hurry: none thinks any longer. */
bool dialogues_wake(struct dialogues *d, int64_t now_ns, bool hurry, int32_t *worker,
                    int64_t *at_ns);
int64_t dialogues_deadline(const struct dialogues *d); /* INT64_MAX: nobody thinks */

#endif
