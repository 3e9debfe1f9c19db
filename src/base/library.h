/*
 * A library that the program was built with, and the one it runs with: each folder that names a
 * library tells of it (base/library.c, codec/library.c, wire/library.c, ...).
 *
 *     struct library crypto = base_library();
 *     printf("%s %s", crypto.name, crypto.running);
 *
 * Texts are static.
 */
#ifndef TALLY_BASE_LIBRARY_H
#define TALLY_BASE_LIBRARY_H

struct library {
    const char *name;
    const char *built;   /* version of the headers; NULL where they do not tell */
    const char *running; /* version that is loaded; NULL where it does not tell */
};

struct library base_library(void); /* OpenSSL's libcrypto */

#endif
