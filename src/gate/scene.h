/*
 * A gate with everything that it asks for, so that each thing can be taken away: a matrix with
 * every kind of arm, signed receipts of one cell (against another server and against the ratchet's
 * build), a ledger, and earlier receipts (inside src/gate only).
 *
 *     struct scene s;
 *     if (scene_init(&s, root, &client, err) < 0) ...
 *     scene_reset(&s);
 *     ... change s.dirs, s.matrix, s.now_ns …
 *     if (scene_judge(&s, &verdict, err) < 0) ...      // rows live until the next scene_reset
 *     scene_release(&s);
 */
#ifndef TALLY_GATE_SCENE_H
#define TALLY_GATE_SCENE_H

#include "gate/judge.h"
#include "gate/load.h"
#include "gate/specimen.h"

#define SCENE_DIRS_MAX 4
#define SCENE_SESSIONS 6 /* earlier receipts of the old build */
#define SCENE_EARLIER (SCENE_SESSIONS + 2)

struct scene {
    const char *root;
    struct receipt_client client;
    struct arena arena; /* paths, texts: as long as the scene */
    struct ed25519_key *key;
    struct envelope_signer signer, stranger;
    const char *parity_dir, *ratchet_dir, *moved_dir;
    char parity_id[SHA256_HEX], ratchet_id[SHA256_HEX];
    const char *whole_ledger;
    /* The old build against the one before it, that one alone, then sessions of the old one. */
    struct gate_set earlier;
    struct gate_set parity, ratchet; /* as they were written, with the whole ledger */
    int made;

    /* What a judgement takes; scene_reset puts it right. */
    struct buf matrix;
    const char *dirs[SCENE_DIRS_MAX];
    size_t dirs_n;
    const char *ledger;
    const struct envelope_signer *trusted;
    int64_t now_ns;
    const char *build;
    bool with_before; /* the matrix as it is written is the one before */
    struct gate_receipt receipts[SCENE_DIRS_MAX];
    struct gate_receipt sessions[SCENE_EARLIER];
    size_t sessions_n;
    struct gate_set now[SCENE_DIRS_MAX], moved;
    struct arena rows;
};

int scene_init(struct scene *s, const char *root, const struct receipt_client *client,
               struct error *err) TALLY_MUST_CHECK;
void scene_release(struct scene *s); /* NULL and zeroed are fine */
void scene_reset(struct scene *s);
int scene_judge(struct scene *s, struct gate_verdict *v, struct error *err) TALLY_MUST_CHECK;

/* The specimen of the run against another server, or against the ratchet's build; to be changed and
 * made anew. */
void scene_parity(const struct scene *s, struct specimen *p);
void scene_ratchet(const struct scene *s, struct specimen *p);
/* The old build against the one before it: what allows the ratchet to stand where it stands. */
void scene_moved(const struct scene *s, struct specimen *p);
/* Writes and signs one in a directory of its own; its path, which lives as long as the scene. */
int scene_make(struct scene *s, struct specimen *p, const char **dir,
               struct error *err) TALLY_MUST_CHECK;
int scene_sign(const struct scene *s, const char *dir, struct error *err) TALLY_MUST_CHECK;
/* A ledger in which both runs were claimed and settled, with so many declared looks; `open` leaves
 * one more claim without its receipt. */
int scene_ledger(struct scene *s, size_t looks, bool open, const char **path,
                 struct error *err) TALLY_MUST_CHECK;
/* Replaces the first `from` of the matrix; an error when there is none. */
int scene_edit(struct scene *s, const char *from, const char *to,
               struct error *err) TALLY_MUST_CHECK;

#endif
