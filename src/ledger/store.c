#include "ledger/store.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

/* Schema versions in order; PRAGMA user_version says how many were applied. */
static const char *const migrations[] = {
    "CREATE TABLE link ("
    " seq INTEGER PRIMARY KEY CHECK (seq > 0),"
    " previous TEXT NOT NULL CHECK (length(previous) = 64),"
    " digest TEXT NOT NULL UNIQUE CHECK (length(digest) = 64),"
    " kind TEXT NOT NULL,"
    " key TEXT NOT NULL CHECK (length(key) = 64),"
    " time_ns INTEGER NOT NULL,"
    " body TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX link_key ON link (key, seq);"
    "CREATE TRIGGER link_no_update BEFORE UPDATE ON link"
    " BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;"
    "CREATE TRIGGER link_no_delete BEFORE DELETE ON link"
    " BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;",
};
#define VERSION ((int)(sizeof migrations / sizeof migrations[0]))
/* "Tlly": marks the file as a ledger, so that another program's database is not taken for one. */
#define APPLICATION_ID 0x546c6c79

#define COLUMNS "seq, previous, digest, kind, key, time_ns, body"

enum statement { APPEND, LAST, GET, WALK_ALL, WALK_KEY, COUNT, STATEMENTS };

static const char *const sql[STATEMENTS] = {
    [APPEND] = "INSERT INTO link (" COLUMNS ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    [LAST] = "SELECT " COLUMNS " FROM link ORDER BY seq DESC LIMIT 1",
    [GET] = "SELECT " COLUMNS " FROM link WHERE seq = ?1",
    [WALK_ALL] = "SELECT " COLUMNS " FROM link ORDER BY seq",
    [WALK_KEY] = "SELECT " COLUMNS " FROM link WHERE key = ?1 ORDER BY seq",
    [COUNT] = "SELECT count(*) FROM link",
};

struct store {
    sqlite3 *db;
    sqlite3_stmt *statement[STATEMENTS];
    struct buf body; /* of the link returned last */
    char path[ERROR_FILE_MAX];
};

/* SQLite does not say what kept it from opening a file; 0 where nothing did that can be seen. */
static int system_reason(const struct store *s)
{
    int said = s->db ? sqlite3_system_errno(s->db) : 0;
    errno = 0;
    if (access(s->path, W_OK) < 0 && errno != ENOENT)
        return errno;
    return said == ENOENT ? 0 : said;
}

static int fail(struct store *s, const char *doing, struct error *err)
{
    int code = s->db ? sqlite3_errcode(s->db) & 0xff : SQLITE_NOMEM;
    const char *said = s->db ? sqlite3_errmsg(s->db) : "out of memory";
    enum error_kind kind = code == SQLITE_NOTADB || code == SQLITE_CORRUPT ? ERROR_INPUT : ERROR_IO;
    int why = code == SQLITE_CANTOPEN || code == SQLITE_READONLY ? system_reason(s) : 0;
    error_set(err, kind, "cannot %s the ledger: %s%s%s%s", doing, said, why ? " (" : "",
              why ? strerror(why) : "", why ? ")" : "");
    if (code == SQLITE_NOTADB)
        error_remedy(err, "name a ledger made by tally, or a path where none is yet");
    else if (code == SQLITE_CORRUPT)
        error_remedy(err, "restore the ledger from a copy; its published head tells a good one");
    else if (code == SQLITE_FULL)
        error_remedy(err, "free some space; nothing was written");
    else if (code == SQLITE_READONLY || code == SQLITE_CANTOPEN)
        error_remedy(err, "check the path and its permissions; nothing was written");
    else if (code == SQLITE_BUSY)
        error_remedy(err, "another run holds the ledger; try again when it has ended");
    return error_at_file(err, s->path);
}

static int exec(struct store *s, const char *text, const char *doing, struct error *err)
{
    return sqlite3_exec(s->db, text, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(s, doing, err);
}

static int pragma_int(struct store *s, const char *text, int *value, struct error *err)
{
    sqlite3_stmt *q = NULL;
    int status = -1;
    if (sqlite3_prepare_v2(s->db, text, -1, &q, NULL) == SQLITE_OK &&
        sqlite3_step(q) == SQLITE_ROW) {
        *value = sqlite3_column_int(q, 0);
        status = 0;
    } else {
        fail(s, "read", err);
    }
    sqlite3_finalize(q);
    return status;
}

static int migrate_from(struct store *s, int version, struct error *err)
{
    char text[96];
    if (store_begin(s, err) < 0)
        return -1;
    /* Another process may have migrated while we waited for the lock. */
    if (pragma_int(s, "PRAGMA user_version", &version, err) < 0)
        goto failed;
    for (; version < VERSION; version++)
        if (exec(s, migrations[version], "migrate", err) < 0)
            goto failed;
    snprintf(text, sizeof text, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             APPLICATION_ID, VERSION);
    if (exec(s, text, "migrate", err) < 0)
        goto failed;
    return store_commit(s, err);
failed:
    store_rollback(s);
    return -1;
}

static int check_version(struct store *s, enum ledger_mode mode, struct error *err)
{
    int version, application, tables;
    if (pragma_int(s, "PRAGMA user_version", &version, err) < 0 ||
        pragma_int(s, "PRAGMA application_id", &application, err) < 0 ||
        pragma_int(s, "SELECT count(*) FROM sqlite_master", &tables, err) < 0)
        return -1;
    bool fresh = version == 0 && tables == 0;
    if (!fresh && application != APPLICATION_ID) {
        error_set(err, ERROR_INPUT, "an SQLite file, but not a ledger");
        error_remedy(err, "name a ledger made by tally, or a path where none is yet");
        return error_at_file(err, s->path);
    }
    if (version > VERSION) {
        error_set(err, ERROR_UNSUPPORTED,
                  "a ledger of version %d; this program knows versions up to %d", version, VERSION);
        error_remedy(err, "use the newer tally that wrote it; nothing was changed");
        return error_at_file(err, s->path);
    }
    if (version == VERSION)
        return 0;
    if (mode == LEDGER_READ) {
        error_set(err, ERROR_INPUT,
                  fresh ? "the ledger is empty and was never opened for writing"
                        : "the ledger is of an older version");
        error_remedy(err, "open it once for writing: tally run --ledger FILE");
        return error_at_file(err, s->path);
    }
    return migrate_from(s, version, err);
}

static bool has_bytes(const char *path, const char *suffix)
{
    char name[ERROR_FILE_MAX + 8];
    struct stat st;
    snprintf(name, sizeof name, "%s%s", path, suffix);
    return stat(name, &st) == 0 && st.st_size > 0;
}

/* "file:PATH?immutable=1", with the bytes that mean something in a URI escaped. */
static int still_uri(const char *path, struct buf *uri, struct error *err)
{
    buf_adds(uri, "file:");
    for (; *path; path++)
        if (*path == '%' || *path == '?' || *path == '#')
            buf_addf(uri, "%%%02X", (unsigned char)*path);
        else
            buf_addc(uri, *path);
    buf_adds(uri, "?immutable=1");
    return buf_check(uri, "a path", err);
}

/* A write-ahead log needs a file of its own beside the ledger even to be read, which a read-only
 * disk has no place for. Where there is none to be read, the file alone is the whole ledger, and on
 * such a disk nobody changes it. */
static int open_still(struct store *s, struct error *err)
{
    struct buf uri = BUF_INIT(4 * ERROR_FILE_MAX);
    int status = 0;
    bool readable = sqlite3_exec(s->db, "PRAGMA user_version", NULL, NULL, NULL) == SQLITE_OK;
    errno = 0;
    if (readable || (sqlite3_errcode(s->db) & 0xff) != SQLITE_CANTOPEN ||
        access(s->path, W_OK) == 0 || errno != EROFS)
        return 0; /* whoever asks next says what is wrong */
    if (has_bytes(s->path, "-wal")) {
        error_set(err, ERROR_IO,
                  "the ledger's last links stand in %.200s-wal, which cannot be read "
                  "on a read-only disk",
                  s->path);
        error_remedy(err, "copy both files to a disk that can be written");
        return error_at_file(err, s->path);
    }
    sqlite3_close(s->db);
    s->db = NULL;
    if (still_uri(s->path, &uri, err) < 0)
        status = -1;
    else if (sqlite3_open_v2(uri.p, &s->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) !=
             SQLITE_OK)
        status = fail(s, "open", err);
    buf_release(&uri);
    return status;
}

int store_open(struct store **out, const char *path, enum ledger_mode mode, struct error *err)
{
    struct store *s = calloc(1, sizeof *s);
    if (!s)
        return error_no_memory(err);
    buf_init(&s->body, LEDGER_TEXT_MAX);
    snprintf(s->path, sizeof s->path, "%s", path);
    int flags =
        mode == LEDGER_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (mode == LEDGER_READ && !file_exists(path)) {
        error_set(err, ERROR_IO, "there is no ledger here");
        error_remedy(err, "check the path; `tally run --ledger FILE` makes one");
        error_at_file(err, path);
        goto failed;
    }
    if (sqlite3_open_v2(path, &s->db, flags, NULL) != SQLITE_OK) {
        fail(s, "open", err);
        goto failed;
    }
    if (mode == LEDGER_READ && open_still(s, err) < 0)
        goto failed;
    sqlite3_extended_result_codes(s->db, 1);
    sqlite3_busy_timeout(s->db, LEDGER_BUSY_MS);
    if (mode == LEDGER_WRITE && exec(s, "PRAGMA journal_mode = WAL", "open", err) < 0)
        goto failed;
    if (exec(s, "PRAGMA synchronous = FULL", "open", err) < 0 || check_version(s, mode, err) < 0)
        goto failed;
    for (size_t i = 0; i < STATEMENTS; i++)
        if (sqlite3_prepare_v3(s->db, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &s->statement[i],
                               NULL) != SQLITE_OK) {
            fail(s, "read", err);
            goto failed;
        }
    *out = s;
    return 0;
failed:
    store_close(s);
    return -1;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(s->statement[i]);
    sqlite3_close(s->db);
    buf_release(&s->body);
    free(s);
}

int store_begin(struct store *s, struct error *err)
{
    return exec(s, "BEGIN IMMEDIATE", "lock", err);
}

int store_commit(struct store *s, struct error *err)
{
    if (exec(s, "COMMIT", "write", err) == 0)
        return 0;
    store_rollback(s);
    return -1;
}

void store_rollback(struct store *s)
{
    sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

int store_append(struct store *s, const struct ledger_link *link, struct error *err)
{
    sqlite3_stmt *q = s->statement[APPEND];
    sqlite3_bind_int64(q, 1, link->seq);
    sqlite3_bind_text(q, 2, link->previous, -1, SQLITE_STATIC);
    sqlite3_bind_text(q, 3, link->digest, -1, SQLITE_STATIC);
    sqlite3_bind_text(q, 4, ledger_kind_name(link->kind), -1, SQLITE_STATIC);
    sqlite3_bind_text(q, 5, link->key, -1, SQLITE_STATIC);
    sqlite3_bind_int64(q, 6, link->time_ns);
    sqlite3_bind_text(q, 7, link->body.p, (int)link->body.n, SQLITE_STATIC);
    int status = sqlite3_step(q) == SQLITE_DONE ? 0 : fail(s, "write", err);
    sqlite3_reset(q);
    sqlite3_clear_bindings(q);
    return status;
}

static int take_hex(char out[SHA256_HEX], sqlite3_stmt *q, int column)
{
    const unsigned char *text = sqlite3_column_text(q, column);
    if (!text || sqlite3_column_bytes(q, column) != SHA256_HEX - 1)
        return -1;
    memcpy(out, text, SHA256_HEX);
    return 0;
}

static int take_link(struct store *s, sqlite3_stmt *q, struct ledger_link *link, struct error *err)
{
    static const char *const kinds[] = {
#define X(id, name) name,
        LEDGER_KINDS(X)
#undef X
    };
    const char *kind = (const char *)sqlite3_column_text(q, 3);
    struct ledger_link l = {.seq = sqlite3_column_int64(q, 0),
                            .time_ns = sqlite3_column_int64(q, 5)};
    size_t k = 0;
    while (kind && k < sizeof kinds / sizeof kinds[0] && strcmp(kind, kinds[k]) != 0)
        k++;
    if (!kind || k == sizeof kinds / sizeof kinds[0] || take_hex(l.previous, q, 1) < 0 ||
        take_hex(l.digest, q, 2) < 0 || take_hex(l.key, q, 4) < 0) {
        error_set(err, ERROR_REFUSED, "link %lld of the ledger is not one", (long long)l.seq);
        error_rule(err, "ledger_chain");
        error_remedy(err, "restore the ledger from a copy; its published head tells a good one");
        return error_at_file(err, s->path);
    }
    l.kind = (enum ledger_kind)k;
    buf_reset(&s->body);
    buf_add(&s->body, sqlite3_column_text(q, 6), (size_t)sqlite3_column_bytes(q, 6));
    if (buf_check(&s->body, "a ledger link", err) < 0)
        return -1;
    l.body = buf_str(&s->body);
    *link = l;
    return 0;
}

static int one(struct store *s, enum statement which, struct ledger_link *link, bool *found,
               struct error *err)
{
    sqlite3_stmt *q = s->statement[which];
    int status = 0, step = sqlite3_step(q);
    if (step == SQLITE_ROW)
        status = take_link(s, q, link, err);
    else if (step != SQLITE_DONE)
        status = fail(s, "read", err);
    sqlite3_reset(q);
    if (status == 0)
        *found = step == SQLITE_ROW;
    return status;
}

int store_last(struct store *s, struct ledger_link *link, bool *found, struct error *err)
{
    return one(s, LAST, link, found, err);
}

int store_get(struct store *s, int64_t seq, struct ledger_link *link, bool *found,
              struct error *err)
{
    sqlite3_bind_int64(s->statement[GET], 1, seq);
    return one(s, GET, link, found, err);
}

int store_walk(struct store *s, const char *key,
               int (*each)(void *ctx, const struct ledger_link *, struct error *), void *ctx,
               struct error *err)
{
    sqlite3_stmt *q = s->statement[key ? WALK_KEY : WALK_ALL];
    int status = 0, step = SQLITE_DONE;
    if (key)
        sqlite3_bind_text(q, 1, key, -1, SQLITE_STATIC);
    while (status == 0 && (step = sqlite3_step(q)) == SQLITE_ROW) {
        struct ledger_link link;
        status = take_link(s, q, &link, err);
        if (status == 0)
            status = each(ctx, &link, err);
    }
    if (status == 0 && step != SQLITE_DONE)
        status = fail(s, "read", err);
    sqlite3_reset(q);
    sqlite3_clear_bindings(q);
    return status;
}

int store_count(struct store *s, int64_t *count, struct error *err)
{
    sqlite3_stmt *q = s->statement[COUNT];
    int status = 0;
    if (sqlite3_step(q) == SQLITE_ROW)
        *count = sqlite3_column_int64(q, 0);
    else
        status = fail(s, "read", err);
    sqlite3_reset(q);
    return status;
}
