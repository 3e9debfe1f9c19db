#include "base/base64.h"

#include <stdint.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_add(struct buf *out, struct str bytes)
{
    const unsigned char *p = (const unsigned char *)bytes.p;
    for (size_t i = 0; i < bytes.n; i += 3) {
        size_t left = bytes.n - i;
        uint32_t v = (uint32_t)p[i] << 16;
        if (left > 1)
            v |= (uint32_t)p[i + 1] << 8;
        if (left > 2)
            v |= p[i + 2];
        const char group[4] = {alphabet[v >> 18], alphabet[v >> 12 & 63],
                               left > 1 ? alphabet[v >> 6 & 63] : '=',
                               left > 2 ? alphabet[v & 63] : '='};
        buf_add(out, group, sizeof group);
    }
}

static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* One group of four characters into 1-3 bytes; 0 when it is not canonical. */
static size_t decode_group(const char *p, bool last, unsigned char out[3])
{
    size_t chars = 4;
    if (last && p[3] == '=')
        chars = p[2] == '=' ? 2 : 3;
    uint32_t v = 0;
    for (size_t i = 0; i < 4; i++) {
        int d = i < chars ? value_of(p[i]) : 0;
        if (d < 0)
            return 0;
        v = v << 6 | (uint32_t)d;
    }
    size_t n = chars - 1;
    if (v & ((UINT32_C(1) << (24 - 8 * n)) - 1))
        return 0;
    for (size_t i = 0; i < n; i++)
        out[i] = (unsigned char)(v >> (16 - 8 * i));
    return n;
}

int base64_decode(struct buf *out, struct str text)
{
    size_t before = out->n;
    if (text.n % 4 != 0)
        return -1;
    for (size_t i = 0; i < text.n; i += 4) {
        unsigned char bytes[3];
        size_t n = decode_group(text.p + i, i + 4 == text.n, bytes);
        if (n == 0) {
            buf_truncate(out, before);
            return -1;
        }
        buf_add(out, bytes, n);
    }
    return 0;
}
