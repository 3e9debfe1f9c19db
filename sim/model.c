#include "model.h"

#include <assert.h>
#include <string.h>

#include "base/clock.h"

void model_init(struct model *m, const struct model_options *o, const struct model_hooks *hooks,
                void *ctx)
{
    assert(o->slots > 0 && o->slots <= MODEL_SLOTS_MAX && o->prefill_tok_s > 0);
    memset(m, 0, sizeof *m);
    m->o = *o;
    m->hooks = hooks;
    m->ctx = ctx;
    m->step_end_ns = INT64_MAX;
    random_seed(&m->random, o->seed);
}

static unsigned most_active(const struct model *m)
{
    unsigned most = m->o.slots;
    if (m->o.batching == BATCHING_SERIAL)
        return 1;
    return m->o.admitted > 0 && m->o.admitted < most ? m->o.admitted : most;
}

static void leave_queue(struct model *m, struct model_seq *seq)
{
    *(seq->before ? &seq->before->after : &m->first) = seq->after;
    *(seq->after ? &seq->after->before : &m->last) = seq->before;
    seq->before = seq->after = NULL;
    m->n_waiting--;
}

static void admit(struct model *m, int64_t t_ns)
{
    while (m->first && m->n_active < most_active(m)) {
        struct model_seq *seq = m->first;
        leave_queue(m, seq);
        seq->slot = m->hooks->admit(m->ctx, m, seq, t_ns);
        assert(seq->slot >= 0 && (unsigned)seq->slot < m->o.slots && !m->slot[seq->slot]);
        assert(seq->prompt_left > 0);
        seq->state = MODEL_HOLDS_SLOT;
        seq->order = ++m->admitted;
        m->slot[seq->slot] = seq;
        m->active[m->n_active++] = seq;
        if (m->n_active > m->n_most)
            m->n_most = m->n_active;
    }
}

static int64_t step_ns(struct model *m, int64_t prompt, int64_t decoding)
{
    double ns = (double)prompt / m->o.prefill_tok_s * 1e9;
    if (decoding > 0)
        ns += (double)(m->o.base_ns + m->o.per_sequence_ns * decoding);
    if (m->o.jitter > 0)
        ns *= 1 + m->o.jitter * (2 * random_unit(&m->random) - 1);
    return ns < 1 ? 1 : (int64_t)ns; /* time must pass, or model_run would not end */
}

static void begin_step(struct model *m, int64_t t_ns)
{
    int64_t budget = m->o.prefill_chunk > 0 ? m->o.prefill_chunk : INT64_MAX;
    int64_t prompt = 0, decoding = 0;
    admit(m, t_ns);
    m->step_end_ns = INT64_MAX;
    if (m->n_active == 0)
        return;
    for (unsigned i = 0; i < m->n_active; i++) {
        struct model_seq *seq = m->active[i];
        int64_t take = seq->prompt_left < budget ? seq->prompt_left : budget;
        bool prefills = seq->prompt_left > 0;
        seq->in_step = take;
        budget -= take;
        prompt += take;
        decoding += !prefills;
        seq->decodes = seq->prompt_left == take && (take > 0 || !prefills);
    }
    m->step_end_ns = t_ns + step_ns(m, prompt, decoding);
}

static void free_slot(struct model *m, struct model_seq *seq)
{
    m->slot[seq->slot] = NULL;
    seq->state = MODEL_IDLE;
}

static void end_step(struct model *m)
{
    int64_t t_ns = m->step_end_ns;
    unsigned kept = 0, n = m->n_active;
    for (unsigned i = 0; i < n; i++) {
        struct model_seq *seq = m->active[i];
        seq->prompt_left -= seq->in_step;
        seq->in_step = 0;
        if (seq->decodes && !m->hooks->token(m->ctx, seq, t_ns))
            free_slot(m, seq);
        else
            m->active[kept++] = seq;
    }
    m->n_active = kept;
    begin_step(m, t_ns);
}

void model_submit(struct model *m, struct model_seq *seq, int64_t now_ns)
{
    assert(seq->state == MODEL_IDLE);
    *seq = (struct model_seq){.state = MODEL_WAITING, .slot = -1, .before = m->last};
    *(m->last ? &m->last->after : &m->first) = seq;
    m->last = seq;
    m->n_waiting++;
    if (m->step_end_ns == INT64_MAX)
        begin_step(m, now_ns);
}

void model_cancel(struct model *m, struct model_seq *seq)
{
    if (seq->state == MODEL_WAITING) {
        leave_queue(m, seq);
        seq->state = MODEL_IDLE;
    } else if (seq->state == MODEL_HOLDS_SLOT) {
        unsigned kept = 0;
        for (unsigned i = 0; i < m->n_active; i++)
            if (m->active[i] != seq)
                m->active[kept++] = m->active[i];
        m->n_active = kept;
        free_slot(m, seq);
    }
}

int64_t model_next_ns(const struct model *m)
{
    return m->step_end_ns;
}

void model_run(struct model *m, int64_t now_ns)
{
    for (int i = 0; i < MODEL_STEPS_RUN && m->step_end_ns <= now_ns; i++)
        end_step(m);
}
