#include "wire/ndjson.h"

void ndjson_init(struct ndjson *nd, const struct ndjson_reader *reader)
{
    *nd = (struct ndjson){.reader = *reader};
    buf_init(&nd->line, NDJSON_LINE_MAX + 1); /* one more for the CR of a CRLF */
}

void ndjson_release(struct ndjson *nd)
{
    if (nd)
        buf_release(&nd->line);
}

static int take_line(struct ndjson *nd, struct str line, uint64_t end, bool unterminated,
                     struct error *err)
{
    if (line.n > 0 && line.p[line.n - 1] == '\r') {
        line.n--;
        end--;
    }
    if (line.n > NDJSON_LINE_MAX)
        return error_set(err, ERROR_LIMIT, "a line of more than %zu bytes", NDJSON_LINE_MAX);
    if (str_trim(line).n == 0)
        return 0;
    return nd->reader.on_line(
        nd->reader.ctx,
        &(struct ndjson_line){.text = line, .end = end, .unterminated = unterminated}, err);
}

int ndjson_feed(struct ndjson *nd, struct str bytes, struct error *err)
{
    while (bytes.n > 0) {
        size_t n = str_find_char(bytes, '\n');
        struct str line = str_first(bytes, n == STR_NONE ? bytes.n : n);
        bool whole = n != STR_NONE && nd->line.n == 0;
        int status;
        nd->at += line.n;
        if (!whole) {
            buf_addstr(&nd->line, line);
            if (buf_check(&nd->line, "a line of newline-delimited JSON", err) < 0)
                return -1;
        }
        if (n == STR_NONE)
            return 0;
        status = take_line(nd, whole ? line : buf_str(&nd->line), nd->at, false, err);
        if (!whole)
            buf_reset(&nd->line);
        if (status < 0)
            return -1;
        nd->at++;
        bytes = str_skip(bytes, n + 1);
    }
    return 0;
}

int ndjson_finish(struct ndjson *nd, struct error *err)
{
    int status;
    if (nd->line.n == 0)
        return 0;
    status = take_line(nd, buf_str(&nd->line), nd->at, true, err);
    buf_reset(&nd->line);
    return status;
}
