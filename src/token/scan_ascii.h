/*
 * Scanning ASCII 64 bytes at a time: pieces' ends from bit masks of classes.
 *
 *     if (scan_ascii_can(&rules) && end - p >= SCAN_ASCII_BLOCK)
 *         n += scan_ascii(&rules, base, p, ends + n, &stopped);
 *
 * Each class of characters is a mask of 64 bits, one a byte; where pieces begin follows from masks
 * and the same masks moved by one, as the expressions say (scan_ascii.c). What they cannot say,
 * such as characters beyond ASCII or 's, stops the block in front of it; the scanners by character
 * go on there.
 */
#ifndef TALLY_TOKEN_SCAN_ASCII_H
#define TALLY_TOKEN_SCAN_ASCII_H

#include "token/scan.h"

#define SCAN_ASCII_BLOCK 64

/* One mask a class; bit i is byte i. */
struct ascii_masks {
    uint64_t letter, upper, digit, space, newline, blank, other, control, apostrophe, slash, wide;
};

/* Whether this family of expressions, on this machine, can be scanned so. */
bool scan_ascii_can(const struct scan_rules *rules);

/* A piece begins at p; SCAN_ASCII_BLOCK bytes can be read there. Appends ends of pieces, as offsets
 * from base, at most SCAN_ASCII_BLOCK, with room for as many. *stopped: behind the last of them (or
 * p) a piece follows that has to be scanned by character. Returns how many ends. */
size_t scan_ascii(const struct scan_rules *rules, const uint8_t *base, const uint8_t *p,
                  uint32_t *ends, bool *stopped);

void scan_ascii_classify(struct ascii_masks *m, const uint8_t *p);

#endif
