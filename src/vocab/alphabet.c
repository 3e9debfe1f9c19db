#include "vocab/alphabet.h"

#include <stdbool.h>

/* Printable Latin-1 stands for itself; the other 68 bytes follow in order from U+0100. */
static bool stands_for_itself(uint32_t c)
{
    return (c >= '!' && c <= '~') || (c >= 0xA1 && c <= 0xAC) || (c >= 0xAE && c <= 0xFF);
}

uint32_t byte_level_char(uint8_t byte)
{
    uint32_t next = 256;
    if (stands_for_itself(byte))
        return byte;
    for (uint32_t b = 0; b < byte; b++)
        next += !stands_for_itself(b);
    return next;
}

int byte_level_byte(uint32_t cp)
{
    if (cp < 256)
        return stands_for_itself(cp) ? (int)cp : -1;
    if (cp <= 0x120) /* 0x00..0x20 */
        return (int)cp - 256;
    if (cp <= 0x142) /* 0x7F..0xA0 */
        return (int)cp - 0x121 + 0x7F;
    return cp == 0x143 ? 0xAD : -1;
}
