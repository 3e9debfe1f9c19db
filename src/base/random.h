/*
 * Bytes that nobody can guess, from the system: for nonces.
 *
 *     uint8_t nonce[16];
 *     if (random_bytes(nonce, sizeof nonce, err) < 0) ...
 */
#ifndef TALLY_BASE_RANDOM_H
#define TALLY_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

int random_bytes(uint8_t *out, size_t n, struct error *err) TALLY_MUST_CHECK;

#endif
