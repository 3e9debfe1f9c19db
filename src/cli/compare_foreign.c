#include "cli/compare_foreign.h"

#include "base/status.h"
#include "codec/json_write.h"
#include "gate/foreign.h"

#define ROWS_MAX ((size_t)16 << 20)
#define MARK "UNRECEIPTED"

static int read_side(struct foreign *f, const char *path, const char *role, struct error *err)
{
    return foreign_is_file(path) ? foreign_read(f, path, err)
                                 : foreign_read_receipt(f, path, role, err);
}

static void put_side(struct buf *out, const char *role, const char *path, const struct foreign *f)
{
    int64_t completed = 0, failed = 0;
    for (size_t i = 0; i < f->runs_n; i++) {
        completed =
            f->runs[i].completed < 0 || completed < 0 ? -1 : completed + f->runs[i].completed;
        failed = f->runs[i].failed < 0 || failed < 0 ? -1 : failed + f->runs[i].failed;
    }
    buf_addf(out, "%-11s %s\n            ", role, path);
    if (f->tool == FOREIGN_RECEIPT)
        buf_adds(out, "a receipt of tally run");
    else
        buf_addf(out, MARK ": %s, version %s", foreign_tool_name(f->tool),
                 f->version ? f->version : "not stated");
    if (f->model)
        buf_addf(out, "; model %s", f->model);
    if (completed >= 0)
        buf_addf(out, "; %lld requests ok", (long long)completed);
    if (failed > 0)
        buf_addf(out, ", %lld FAILED", (long long)failed);
    buf_addc(out, '\n');
}

static void put_text(struct buf *out, const char *const paths[2], const struct foreign sides[2],
                     const struct foreign_row *rows, size_t n)
{
    put_side(out, "subject", paths[0], &sides[0]);
    put_side(out, "comparator", paths[1], &sides[1]);
    buf_adds(out, "\n    c  metric               subject    comparator    ratio\n");
    for (size_t i = 0; i < n; i++) {
        if (rows[i].concurrency)
            buf_addf(out, "%5lld", (long long)rows[i].concurrency);
        else
            buf_addf(out, "%5s", "?");
        buf_addf(out, "  %-16s%12.4f  %12.4f%9.4f  " MARK "\n", foreign_metric_name(rows[i].metric),
                 rows[i].subject, rows[i].comparator, rows[i].ratio);
    }
    buf_adds(out, "\nNothing proves how an unreceipted number was measured: which prompts, which "
                  "tokens,\nwhich window. No bounds, no verdict; a gate refuses such a file.\n\n");
    buf_addf(out, "%s{unreceipted}\n", status_name(STATUS_INCONCLUSIVE));
}

static void put_json_side(struct json_writer *w, const char *role, const char *path,
                          const struct foreign *f)
{
    json_key(w, role);
    json_begin_object(w);
    json_key(w, "path");
    json_put_cstr(w, path);
    json_key(w, "tool");
    json_put_cstr(w, foreign_tool_name(f->tool));
    json_key(w, "version");
    json_put_cstr(w, f->version);
    json_key(w, "model");
    json_put_cstr(w, f->model);
    json_key(w, "receipted");
    json_put_bool(w, f->tool == FOREIGN_RECEIPT);
    json_end_object(w);
}

static void put_json(struct buf *out, const char *const paths[2], const struct foreign sides[2],
                     const struct foreign_row *rows, size_t n)
{
    struct json_writer w;
    json_writer_init(&w, out, 2);
    json_begin_object(&w);
    json_key(&w, "unreceipted");
    json_put_bool(&w, true);
    put_json_side(&w, "subject", paths[0], &sides[0]);
    put_json_side(&w, "comparator", paths[1], &sides[1]);
    json_key(&w, "rows");
    json_begin_array(&w);
    for (size_t i = 0; i < n; i++) {
        json_begin_object(&w);
        json_key(&w, "band");
        rows[i].concurrency ? json_put_i64(&w, rows[i].concurrency) : json_put_null(&w);
        json_key(&w, "metric");
        json_put_cstr(&w, foreign_metric_name(rows[i].metric));
        json_key(&w, "subject");
        json_put_real9(&w, rows[i].subject);
        json_key(&w, "comparator");
        json_put_real9(&w, rows[i].comparator);
        json_key(&w, "ratio");
        json_put_real9(&w, rows[i].ratio);
        json_key(&w, "unreceipted");
        json_put_bool(&w, true);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_key(&w, "verdict");
    json_put_cstr(&w, status_name(STATUS_INCONCLUSIVE));
    json_key(&w, "reason");
    json_put_cstr(&w, "unreceipted");
    json_end_object(&w);
    buf_addc(out, '\n');
}

int compare_foreign(struct cli *cli, const char *subject, const char *comparator, bool json,
                    struct error *err)
{
    const char *const paths[2] = {subject, comparator};
    struct foreign sides[2] = {0};
    struct foreign_row *rows;
    struct buf text = BUF_INIT(BUF_ANY);
    struct arena arena;
    size_t n;
    int rc = -1;
    if (!comparator) {
        error_set(err, ERROR_USAGE, "a result file has one lane: what is it to be compared with?");
        return error_remedy(err,
                            "tally compare SUBJECT COMPARATOR, each a file or a run directory");
    }
    arena_init(&arena, ROWS_MAX);
    if (read_side(&sides[0], subject, "subject", err) < 0 ||
        read_side(&sides[1], comparator, "comparator", err) < 0 ||
        foreign_compare(&sides[0], &sides[1], &arena, &rows, &n, err) < 0)
        goto out;
    (json ? put_json : put_text)(&text, paths, sides, rows, n);
    if (buf_check(&text, "the comparison", err) < 0)
        goto out;
    fwrite(text.p, 1, text.n, cli->out);
    rc = status_exit_code(STATUS_INCONCLUSIVE);
out:
    foreign_release(&sides[0]);
    foreign_release(&sides[1]);
    arena_release(&arena);
    buf_release(&text);
    return rc;
}
