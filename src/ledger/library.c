#include "ledger/library.h"

#include <sqlite3.h>

struct library ledger_library(void)
{
    return (struct library){"sqlite", SQLITE_VERSION, sqlite3_libversion()};
}
