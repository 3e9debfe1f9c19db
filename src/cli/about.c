#include "cli/about.h"

#include <string.h>

#include "base/arena.h"
#include "codec/json_write.h"
#include "codec/library.h"
#include "ledger/library.h"
#include "metrics/metrics.h"
#include "receipt/host.h"
#include "token/library.h"
#include "wire/library.h"

#define ARENA_MAX ((size_t)1 << 20)
#define LIBRARIES_MAX (CODEC_LIBRARIES + 4)

static void put(struct json_writer *w, const char *key, const char *text)
{
    json_key(w, key);
    json_put_cstr(w, text && text[0] ? text : NULL);
}

static void put_bool(struct json_writer *w, const char *key, bool on)
{
    json_key(w, key);
    json_put_bool(w, on);
}

static void put_build(struct json_writer *w)
{
    json_key(w, "build");
    json_begin_object(w);
    put(w, "compiler", TALLY_COMPILER);
    put(w, "type", TALLY_BUILD_TYPE);
    put(w, "sanitizers", TALLY_SANITIZERS);
    put(w, "system", TALLY_SYSTEM);
    put(w, "architecture", TALLY_ARCHITECTURE);
    json_end_object(w);
}

static void put_libraries(struct json_writer *w)
{
    struct library list[LIBRARIES_MAX] = {base_library(), wire_library(), ledger_library(),
                                          token_library()};

    codec_libraries(list + LIBRARIES_MAX - CODEC_LIBRARIES);
    json_key(w, "libraries");
    json_begin_array(w);
    for (size_t i = 0; i < LIBRARIES_MAX; i++) {
        json_begin_object(w);
        put(w, "name", list[i].name);
        put(w, "built", list[i].built);
        put(w, "running", list[i].running);
        json_end_object(w);
    }
    json_end_array(w);
}

static void put_features(struct json_writer *w)
{
    struct wire_features f;

    wire_features(&f);
    json_key(w, "features");
    json_begin_object(w);
    put(w, "poller", f.poller);
    put(w, "tls", f.tls);
    put_bool(w, "http2", f.http2);
    put_bool(w, "unix_sockets", f.unix_sockets);
    put_bool(w, "kernel_time", f.kernel_time);
    json_end_object(w);
}

static int print_json(struct cli *cli, struct error *err)
{
    struct receipt_program program;
    struct buf text = BUF_INIT(BUF_ANY);
    struct json_writer w;
    struct arena arena;
    int rc;

    arena_init(&arena, ARENA_MAX);
    json_writer_init(&w, &text, 2);
    json_begin_object(&w);
    rc = program_look(&program, cli_version(), cli_commit(), &arena, err);
    if (rc == 0) {
        put(&w, "name", program.name);
        put(&w, "version", program.version);
        put(&w, "commit", program.commit);
        put(&w, "binary_sha256", program.binary_sha256);
        json_key(&w, "metrics_version");
        json_put_i64(&w, METRICS_VERSION);
        put_build(&w);
        put_libraries(&w);
        put_features(&w);
        json_end_object(&w);
        rc = json_writer_check(&w, "the version", err);
    }
    if (rc == 0)
        fprintf(cli->out, "%.*s\n", STR_ARG(buf_str(&text)));
    buf_release(&text);
    arena_release(&arena);
    return rc;
}

int about_print(struct cli *cli, int argc, char **argv, struct error *err)
{
    if (argc == 0) {
        fprintf(cli->out, "tally %s (%s)\n", cli_version(), cli_commit());
        return 0;
    }
    if (argc == 1 && strcmp(argv[0], "--json") == 0)
        return print_json(cli, err);
    error_set(err, ERROR_USAGE, "'tally --version' takes '--json' and nothing else");
    return error_remedy(err, "write 'tally --version' or 'tally --version --json'");
}
