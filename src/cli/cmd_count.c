/* tally count: tokens of text, files and JSONL, by the model's own tokenizer. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/line.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "cli/count_files.h"
#include "cli/count_table.h"
#include "cli/tokens.h"
#include "cli/visible.h"
#include "codec/json_write.h"
#include "token/tokenizer.h"

#define LINE_BYTES_MAX ((size_t)64 << 20)

struct args {
    const char *tokenizer, *reference, *special_text, *tokenizer_sha256;
    bool ids, pieces, special, digest, jsonl, json, table;
    int64_t jobs;
};

static const struct option options[] = {
    {"tokenizer", OPTION_STRING, OFFSET(struct args, tokenizer), "FILE",
     .help = "the model's tokenizer.json or GGUF", .letter = 't'},
    {"special", OPTION_FLAG, OFFSET(struct args, special),
     .help = "add the tokenizer's own BOS and EOS"},
    {"special-text", OPTION_STRING, OFFSET(struct args, special_text), "HOW", "parsed",
     .choices = "parsed|plain",
     .help = "whether text that spells a special token is that token: parsed or plain"},
    CLI_REFERENCE(struct args, reference),
    {"tokenizer-sha256", OPTION_STRING, OFFSET(struct args, tokenizer_sha256), "HEX",
     .help = "assert that the tokenizer's file has this digest (exit 4 if not)"},
    {"jsonl", OPTION_FLAG, OFFSET(struct args, jsonl),
     .help = "read lines {\"text\": ...}, write lines {\"n\": ...}"},
    {"jobs", OPTION_I64, OFFSET(struct args, jobs), "N",
     .help = "count up to N files at a time (default: one a processor)", .letter = 'j', .min = 1,
     .max = COUNT_JOBS_MAX},
    {"Output", OPTION_HEADING, 0, .help = ""},
    {"table", OPTION_FLAG, OFFSET(struct args, table),
     .help = "print the table of file, bytes, tokens and bytes a token for a single file too"},
    {"ids", OPTION_FLAG, OFFSET(struct args, ids), .help = "print the token ids"},
    {"pieces", OPTION_FLAG, OFFSET(struct args, pieces),
     .help = "print each token's id and text, one a line"},
    {"digest", OPTION_FLAG, OFFSET(struct args, digest),
     .help = "print the digests of the tokenizer; without a FILE, nothing else"},
    {"json", OPTION_FLAG, OFFSET(struct args, json), .help = "print one JSON document"},
    OPTIONS_END,
};

struct count {
    struct cli *cli;
    const struct args *args;
    struct tokenizer *tokenizer;
    struct encode_options how;
    struct token_ids ids;
    struct buf scratch;
    struct buf out; /* what --json and --jsonl are about to print */
    struct json_writer w;
    struct count_file sum;
    struct count_table table;
    bool list_pieces, listed; /* what print_part prints; whether it has */
};

static void tell_replaced(struct count *c, const char *name, size_t n)
{
    if (n > 0)
        fprintf(c->cli->err, "tally: %s: %zu ill-formed UTF-8 part%s read as U+FFFD\n", name, n,
                n == 1 ? " was" : "s were");
}

static int encode(struct count *c, struct str text, const char *name, struct error *err)
{
    if (tokenizer_encode(c->tokenizer, text, &c->how, &c->ids, err) < 0)
        return error_at_file(err, name);
    tell_replaced(c, name, c->ids.replaced);
    return 0;
}

static void print_pieces(struct count *c, const struct token_ids *ids)
{
    struct buf piece = BUF_INIT(BUF_ANY);

    for (size_t i = 0; i < ids->n; i++) {
        buf_reset(&piece);
        buf_reset(&c->scratch);
        (void)tokenizer_piece(c->tokenizer, ids->id[i], &piece);
        cli_add_visible(&c->scratch, buf_str(&piece));
        fprintf(c->cli->out, "%8u  %.*s\n", (unsigned)ids->id[i], STR_ARG(buf_str(&c->scratch)));
    }
    buf_release(&piece);
}

static void put_ids(struct count *c)
{
    json_key(&c->w, "ids");
    json_begin_array(&c->w);
    for (size_t i = 0; i < c->ids.n; i++)
        json_put_i64(&c->w, c->ids.id[i]);
    json_end_array(&c->w);
}

/* A piece may be part of a character: its text where it is UTF-8, its bytes in hexadecimal where
 * it is not, so that nothing is lost. */
static void put_pieces(struct count *c)
{
    struct buf piece = BUF_INIT(BUF_ANY);

    json_key(&c->w, "pieces");
    json_begin_array(&c->w);
    for (size_t i = 0; i < c->ids.n; i++) {
        buf_reset(&piece);
        (void)tokenizer_piece(c->tokenizer, c->ids.id[i], &piece);
        json_begin_object(&c->w);
        json_key(&c->w, "id");
        json_put_i64(&c->w, c->ids.id[i]);
        if (utf8_valid(buf_str(&piece))) {
            json_key(&c->w, "text");
            json_put_str(&c->w, buf_str(&piece));
        } else {
            buf_reset(&c->scratch);
            for (size_t k = 0; k < piece.n; k++)
                buf_addf(&c->scratch, "%02x", (unsigned)(unsigned char)piece.p[k]);
            json_key(&c->w, "hex");
            json_put_str(&c->w, buf_str(&c->scratch));
        }
        json_end_object(&c->w);
    }
    json_end_array(&c->w);
    buf_release(&piece);
}

static void put_counts(struct count *c, size_t n, size_t replaced)
{
    json_key(&c->w, "n");
    json_put_i64(&c->w, (int64_t)n);
    if (replaced > 0 || !c->args->jsonl) {
        json_key(&c->w, "replaced");
        json_put_i64(&c->w, (int64_t)replaced);
    }
    if (c->args->ids)
        put_ids(c);
    if (c->args->pieces)
        put_pieces(c);
}

static void put_bytes_per_token(struct count *c, const struct count_file *f)
{
    json_key(&c->w, "bytes_per_token");
    if (f->tokens == 0)
        json_put_null(&c->w); /* there are none */
    else
        json_put_real9(&c->w, (double)f->bytes / (double)f->tokens);
}

static void put_file(struct count *c, const struct count_file *f)
{
    json_begin_object(&c->w);
    json_key(&c->w, "file");
    json_put_cstr(&c->w, f->path);
    json_key(&c->w, "bytes");
    json_put_i64(&c->w, (int64_t)f->bytes);
    put_counts(c, f->tokens, f->replaced);
    put_bytes_per_token(c, f);
    json_end_object(&c->w);
}

/* A file that is done, in the order of the command line. */
static void show_file(void *ctx, const struct count_file *f)
{
    struct count *c = ctx;

    tell_replaced(c, count_file_name(f->path), f->replaced);
    c->sum.bytes += f->bytes;
    c->sum.tokens += f->tokens;
    if (c->args->json)
        put_file(c, f);
    else if (c->table.name_columns)
        count_table_row(&c->table, count_file_name(f->path), f);
    else
        fprintf(c->cli->out, "%zu\n", f->tokens);
}

static int count_many(struct count *c, char *const *paths, int n, struct error *err)
{
    struct count_file *files = calloc((size_t)n, sizeof files[0]);
    struct count_work work = {
        .cli = c->cli,
        .t = c->tokenizer,
        .how = c->how,
        .jobs = c->args->jobs,
        .ctx = c,
        .done = show_file,
    };
    int rc;

    if (!files)
        return error_no_memory(err);
    for (int i = 0; i < n; i++)
        files[i].path = paths[i];
    if (!c->args->json && (n > 1 || c->args->table))
        count_table_begin(&c->table, c->cli, paths, n);
    rc = count_files(&work, files, (size_t)n, err);
    if (rc == 0 && c->table.name_columns && n > 1)
        count_table_row(&c->table, "total", &c->sum);
    free(files);
    return rc;
}

/* With --ids or --pieces: the ids of a part, printed or (where the count must stand in front and
 * cannot be had first) kept. */
static int keep_ids(void *ctx, const struct token_ids *ids, struct error *err)
{
    struct count *c = ctx;
    uint32_t *grown;

    if (c->ids.cap - c->ids.n < ids->n) {
        size_t cap = c->ids.n + ids->n + c->ids.n / 2;
        grown = realloc(c->ids.id, cap * sizeof grown[0]);
        if (!grown)
            return error_no_memory(err);
        c->ids.id = grown;
        c->ids.cap = cap;
    }
    if (ids->n)
        memcpy(c->ids.id + c->ids.n, ids->id, ids->n * sizeof grown[0]);
    c->ids.n += ids->n;
    return 0;
}

static int print_part(void *ctx, const struct token_ids *ids, struct error *err)
{
    struct count *c = ctx;

    (void)err;
    if (c->list_pieces) {
        print_pieces(c, ids);
        return 0;
    }
    for (size_t i = 0; i < ids->n; i++) {
        fprintf(c->cli->out, "%s%u", c->listed ? " " : "", (unsigned)ids->id[i]);
        c->listed = true;
    }
    return 0;
}

static int print_list(struct count *c, const char *path, bool kept, bool pieces, struct error *err)
{
    struct count_file again = {.path = path};
    struct count_parts parts = {.ctx = c, .ids = print_part};
    int rc;

    c->list_pieces = pieces;
    c->listed = false;
    rc =
        kept ? print_part(c, &c->ids, err) : count_file(&again, c->tokenizer, &c->how, &parts, err);
    if (!pieces)
        fputc('\n', c->cli->out);
    return rc;
}

static bool is_regular(const char *path)
{
    struct stat st;

    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* With --ids or --pieces. The count stands in front of them: a file is read once more for each, so
 * that its size does not matter; of what can be read only once, and for JSON, the ids are kept. */
static int list_file(struct count *c, const char *path, bool name_it, struct error *err)
{
    bool kept = c->args->json || !is_regular(path);
    struct count_parts parts = {.ctx = c, .ids = kept ? keep_ids : NULL};
    struct count_file f = {.path = path};

    c->ids.n = 0;
    if (count_file(&f, c->tokenizer, &c->how, &parts, err) < 0)
        return -1;
    tell_replaced(c, count_file_name(path), f.replaced);
    c->sum.bytes += f.bytes;
    c->sum.tokens += f.tokens;
    if (c->args->json) {
        put_file(c, &f);
        return 0;
    }
    if (name_it)
        fprintf(c->cli->out, "%8zu  %s\n", f.tokens, count_file_name(path));
    else
        fprintf(c->cli->out, "%zu\n", f.tokens);
    if (c->args->ids && print_list(c, path, kept, false, err) < 0)
        return -1;
    return c->args->pieces ? print_list(c, path, kept, true, err) : 0;
}

/* The line of a corpus that states its promises has no text of its own. */
static bool is_meta(const struct json *line)
{
    return json_get(line, "_meta") && !json_get(line, "text");
}

static int count_line(struct count *c, const char *name, struct str line, struct arena *arena,
                      struct error *err)
{
    const struct json *doc;
    struct str text;

    arena_reset(arena);
    if (json_parse(&doc, line, &JSON_LIMITS_DEFAULT, arena, err) < 0)
        return -1;
    if (doc->type != JSON_OBJECT) {
        error_set(err, ERROR_INPUT, "the line is %s; an object with a member 'text' is wanted",
                  json_type_name(doc->type));
        return -1;
    }
    if (is_meta(doc))
        return 0;
    if (json_need_str(&text, doc, "text", err) < 0 || encode(c, text, name, err) < 0)
        return -1;
    buf_reset(&c->out);
    json_writer_init(&c->w, &c->out, 0);
    json_begin_object(&c->w);
    put_counts(c, c->ids.n, c->ids.replaced);
    json_end_object(&c->w);
    if (json_writer_check(&c->w, "the counts of a line", err) < 0)
        return -1;
    fwrite(c->out.p, 1, c->out.n, c->cli->out);
    fputc('\n', c->cli->out);
    return 0;
}

static int count_jsonl(struct count *c, const char *path, struct error *err)
{
    struct line_reader r = {0};
    struct arena arena;
    struct str line;
    int got, rc = -1;

    arena_init(&arena, 4 * LINE_BYTES_MAX);
    if (line_open(&r, path, LINE_BYTES_MAX, err) < 0)
        goto out;
    while ((got = line_next(&r, &line, err)) > 0) {
        if (count_line(c, r.name, line, &arena, err) < 0) {
            if (!err->remedy[0])
                error_remedy(err, "with --jsonl each line is an object with a member \"text\"; "
                                  "plain text is counted without --jsonl");
            error_at_file(err, r.name);
            error_at_line(err, r.number, err->column);
            goto out;
        }
    }
    rc = got;
out:
    line_close(&r);
    arena_release(&arena);
    return rc;
}

static void describe(struct count *c)
{
    struct tokenizer_info info;

    tokenizer_describe(c->tokenizer, &info);
    if (!c->args->json) {
        fprintf(c->cli->out,
                "tokenizer_sha256   %s\nvocabulary_sha256  %s\npipeline_sha256    %s\n",
                info.tokenizer_sha256, info.vocabulary_sha256, info.pipeline_sha256);
        return;
    }
    json_key(&c->w, "tokenizer");
    json_begin_object(&c->w);
    json_key(&c->w, "file");
    json_put_cstr(&c->w, c->args->tokenizer);
    json_key(&c->w, "format");
    json_put_cstr(&c->w, info.format);
    json_key(&c->w, "reference");
    json_put_cstr(&c->w, info.reference);
    json_key(&c->w, "model");
    json_put_cstr(&c->w, info.model);
    json_key(&c->w, "pre_tokenizer");
    json_put_cstr(&c->w, info.pre);
    json_key(&c->w, "vocab_size");
    json_put_i64(&c->w, (int64_t)info.vocab_size);
    json_key(&c->w, "padding");
    json_put_i64(&c->w, (int64_t)info.padding);
    json_key(&c->w, "added");
    json_put_i64(&c->w, (int64_t)info.added);
    json_key(&c->w, "tokenizer_sha256");
    json_put_cstr(&c->w, info.tokenizer_sha256);
    json_key(&c->w, "vocabulary_sha256");
    json_put_cstr(&c->w, info.vocabulary_sha256);
    json_key(&c->w, "pipeline_sha256");
    json_put_cstr(&c->w, info.pipeline_sha256);
    json_end_object(&c->w);
}

static int count_operands(struct count *c, const struct operands *operands, bool only_digest,
                          struct error *err)
{
    static char dash[] = "-";
    char *const from_stdin[] = {dash};
    char *const *paths = operands->n ? operands->v : from_stdin;
    int n = operands->n ? operands->n : only_digest ? 0 : 1;

    if (!c->args->jsonl && !c->args->ids && !c->args->pieces)
        return n ? count_many(c, paths, n, err) : 0;
    for (int i = 0; i < n; i++) {
        if ((c->args->jsonl ? count_jsonl(c, paths[i], err) : list_file(c, paths[i], n > 1, err)) <
            0)
            return -1;
    }
    if (!c->args->json && !c->args->jsonl && n > 1)
        fprintf(c->cli->out, "%8zu  total\n", c->sum.tokens);
    return 0;
}

static int count_json(struct count *c, const struct operands *operands, bool only_digest,
                      struct error *err)
{
    json_writer_init(&c->w, &c->out, 2);
    json_begin_object(&c->w);
    describe(c);
    json_key(&c->w, "special_text");
    json_put_cstr(&c->w, c->args->special_text);
    json_key(&c->w, "special_added");
    json_put_bool(&c->w, c->args->special);
    json_key(&c->w, "files");
    json_begin_array(&c->w);
    if (count_operands(c, operands, only_digest, err) < 0)
        return -1;
    json_end_array(&c->w);
    json_key(&c->w, "total");
    json_put_i64(&c->w, (int64_t)c->sum.tokens);
    json_key(&c->w, "total_bytes");
    json_put_i64(&c->w, (int64_t)c->sum.bytes);
    put_bytes_per_token(c, &c->sum);
    json_end_object(&c->w);
    if (json_writer_check(&c->w, "the counts", err) < 0)
        return -1;
    fwrite(c->out.p, 1, c->out.n, c->cli->out);
    fputc('\n', c->cli->out);
    return 0;
}

static int check_args(const struct args *a, struct error *err)
{
    if (a->jsonl && a->json) {
        error_set(err, ERROR_USAGE, "--json and --jsonl exclude each other");
        return error_remedy(err, "--jsonl writes JSON already, a line for each line read");
    }
    return 0;
}

static int run(struct cli *cli, void *arguments, const struct operands *operands, struct error *err)
{
    const struct args *a = arguments;
    struct count c = {
        .cli = cli, .args = a, .scratch = BUF_INIT(BUF_ANY), .out = BUF_INIT(BUF_ANY)};
    bool only_digest = a->digest && operands->n == 0 && !a->jsonl;
    int rc = -1;

    if (check_args(a, err) < 0)
        return -1;
    c.how = (struct encode_options){
        .special_text =
            strcmp(a->special_text, "plain") == 0 ? SPECIAL_TEXT_PLAIN : SPECIAL_TEXT_PARSED,
        .add_special = a->special,
    };
    if (cli_open_tokenizer(&c.tokenizer, a->tokenizer, a->reference, a->tokenizer_sha256, err) < 0)
        return -1;
    if (a->digest && !a->json)
        describe(&c);
    rc = a->json ? count_json(&c, operands, only_digest, err)
                 : count_operands(&c, operands, only_digest, err);
    token_ids_release(&c.ids);
    tokenizer_free(c.tokenizer);
    buf_release(&c.scratch);
    buf_release(&c.out);
    return rc;
}

const struct command cmd_count = {
    .name = "count",
    .summary = "count tokens with a model's own tokenizer",
    .usage = "--tokenizer FILE [OPTION...] [FILE...]",
    .description =
        "Counts the tokens of each FILE ('-' or none: standard input), exactly as the model's "
        "reference implementation does: Hugging Face's for a tokenizer.json, llama.cpp's for a "
        "GGUF. What the tokenizer needs and tally does not have is an error that names it, never "
        "an approximation.\n\n"
        "A single FILE gives its count alone, several a table with the bytes and the bytes a token "
        "of each. Files of any size are counted in bounded memory where the tokenizer allows "
        "it: a text is cut only where nothing reaches across, so the ids are those of the whole. "
        "Text that is not UTF-8 is read with each ill-formed part as U+FFFD; how many there were "
        "is said on standard error, and as \"replaced\" in JSON.\n\n"
        "Truncation and padding declared in a tokenizer.json never shape a count. The _meta line "
        "of a corpus is passed over by --jsonl.",
    .examples = "  tally count --tokenizer tokenizer.json README.md\n"
                "  tally count -t tokenizer.json --jobs 2 corpus/*.txt\n"
                "  echo -n 'Hello world' | tally count -t model.gguf --pieces\n"
                "  tally count -t tokenizer.json --jsonl --ids < texts.jsonl\n",
    .options = options,
    .args_size = sizeof(struct args),
    .operands_min = 0,
    .operands_max = -1,
    .run = run,
};
