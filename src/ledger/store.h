/*
 * The SQLite side of the ledger: the only file that names that library. It stores links and reads
 * them back; what a link may say is decided in ledger.c.
 *
 *     store_begin(s, err); store_last(s, &link, &found, err); store_append(s, &next, err);
 *     store_commit(s, err);
 *
 * Ownership and durability as in ledger/ledger.h. A transaction that fails is rolled back.
 */
#ifndef TALLY_LEDGER_STORE_H
#define TALLY_LEDGER_STORE_H

#include "ledger/ledger.h"

struct store;

int store_open(struct store **out, const char *path, enum ledger_mode mode,
               struct error *err) TALLY_MUST_CHECK;
void store_close(struct store *s);

int store_begin(struct store *s, struct error *err) TALLY_MUST_CHECK; /* takes the write lock */
int store_commit(struct store *s, struct error *err) TALLY_MUST_CHECK;
void store_rollback(struct store *s);

int store_append(struct store *s, const struct ledger_link *link,
                 struct error *err) TALLY_MUST_CHECK;
/* *found tells whether there was one; the link's body lives until the next call. */
int store_last(struct store *s, struct ledger_link *link, bool *found,
               struct error *err) TALLY_MUST_CHECK;
int store_get(struct store *s, int64_t seq, struct ledger_link *link, bool *found,
              struct error *err) TALLY_MUST_CHECK;
/* Every link (key NULL), or those of one key, in order. */
int store_walk(struct store *s, const char *key,
               int (*each)(void *ctx, const struct ledger_link *, struct error *), void *ctx,
               struct error *err) TALLY_MUST_CHECK;
int store_count(struct store *s, int64_t *count, struct error *err) TALLY_MUST_CHECK;

#endif
