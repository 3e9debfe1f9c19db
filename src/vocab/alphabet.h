/*
 * GPT-2's alphabet: 256 printable characters, one a byte, in which byte-level vocabularies spell
 * their tokens.
 *
 *     utf8_add(&out, byte_level_char(0x20));             // U+0120
 *     if ((byte = byte_level_byte(cp)) < 0) ...          // no character of the alphabet
 */
#ifndef TALLY_VOCAB_ALPHABET_H
#define TALLY_VOCAB_ALPHABET_H

#include <stdint.h>

uint32_t byte_level_char(uint8_t byte);
int byte_level_byte(uint32_t cp);

#endif
