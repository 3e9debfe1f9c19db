/*
 * The live part of self-test: two simulated servers are measured by the code that measures real
 * ones, and the gate judges the receipts. What is wrong with a server must turn the gate red.
 *
 *     struct live_options o = {.root = dir, .sim = NULL, .client = client};
 *     if (selftest_live(&t, &o, err) < 0) ...      // adds results of the suite "live"
 *
 * Each try takes a few seconds. Where this machine is so busy that the client saturates, servers
 * are slowed and it is tried again, LIVE_TRIES times; then the result is SELFTEST_NOT_TRIED: a
 * limit is never weakened. Without a tally-sim nothing is tried.
 */
#ifndef TALLY_CLI_SELFTEST_LIVE_H
#define TALLY_CLI_SELFTEST_LIVE_H

#include "gate/selftest.h"

#define LIVE_TRIES 4

struct live_options {
    const char *root; /* a directory of its own */
    const char *sim;  /* path of tally-sim; NULL: the one beside this program, or in PATH */
    struct receipt_client client;
};

int selftest_live(struct selftest *t, const struct live_options *o,
                  struct error *err) TALLY_MUST_CHECK;

#endif
