/*
 * SQLite, which keeps the ledger.
 *
 *     struct library sqlite = ledger_library();
 */
#ifndef TALLY_LEDGER_LIBRARY_H
#define TALLY_LEDGER_LIBRARY_H

#include "base/library.h"

struct library ledger_library(void);

#endif
