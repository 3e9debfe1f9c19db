/*
 * One answer in the making: its prompt, its choices, and the tokens as the model gives them.
 *
 *     job_start(conn, &ask, &arena);      // takes the arena; answers, or refuses, by itself
 *     job_wake(job, now_ns);              // a timer of its connection is due
 *     job_free(job);                      // leaves the model, wherever it stands
 *
 * The hooks of the model are here too. Ownership: the connection holds the job.
 */
#ifndef TALLY_SIM_JOB_H
#define TALLY_SIM_JOB_H

#include "ask.h"
#include "conn.h"
#include "wrap.h"

struct choice {
    struct model_seq seq; /* first: the model's hooks get its address */
    struct job *job;
    unsigned index;
    struct random random;
    int64_t wanted; /* tokens, the stop token not among them */
    bool stops;     /* by a stop token behind them; else by length */
    int64_t made;
    int64_t written; /* tokens that an event has carried */
    int64_t cached;  /* prompt tokens that were known */
    int64_t admit_ns, first_ns, last_ns;
    bool role_sent, finished;
    uint16_t *drawn; /* indices into the pool */
    size_t drawn_cap;
};

struct job {
    struct server *s;
    struct conn *c;
    struct ask ask;
    struct arena arena; /* texts of ask */
    struct wrapped prompt;
    int64_t prompt_n;
    int64_t number, created_s, start_ns;
    char id[48];
    struct faults faults;
    const struct pool *pool;
    struct choice *choices;
    unsigned n_choices, live;
    bool head_sent, ended;
    /* null mode */
    struct str chunk; /* one event with its chunk's frame */
    size_t stamp_at;  /* where its digits stand in it; 0: no stamp */
    int64_t due_ns, period_ns;
};

void job_start(struct conn *c, const struct ask *ask, struct arena *arena);
void job_wake(struct job *job, int64_t now_ns);
void job_free(struct job *job);

extern const struct model_hooks job_hooks;

/* The text and id of a choice's i-th token. */
static inline struct str job_piece(const struct choice *ch, int64_t i)
{
    return ch->job->pool->piece[ch->drawn[i]];
}
static inline uint32_t job_token_id(const struct choice *ch, int64_t i)
{
    return ch->job->pool->id[ch->drawn[i]];
}

/* Counts as usage reports them. */
struct job_usage {
    int64_t prompt, completion, cached;
};
/* ch NULL: all choices together. */
struct job_usage job_usage(const struct job *job, const struct choice *ch);

/* For job_start.c, job.c and job_null.c: */
void job_open_stream(struct job *job); /* the head, once */
int job_draw(struct choice *ch);       /* one more token; -1: out of memory */
void job_send_token(struct choice *ch, bool last);
/* The faults that strike behind so many tokens: true when the answer is over. */
bool job_strikes(struct choice *ch);
void job_end(struct job *job);
void job_finish(struct job *job); /* all choices have their tokens: the rest of the answer */
void null_start(struct job *job);
void null_wake(struct job *job, int64_t now_ns);
void null_pump(struct server *s); /* one event of each stream that sends flat out */

#endif
