#include "cli/count_table.h"

#include "base/num.h"
#include "base/utf8.h"
#include "report/text.h"

#define BYTES_COLUMNS 16
#define TOKENS_COLUMNS 15
#define RATIO_COLUMNS 13
#define NUMBERS_COLUMNS (BYTES_COLUMNS + TOKENS_COLUMNS + RATIO_COLUMNS)
#define NAME_COLUMNS_MIN 12

/* The longest end of s that is at most so many columns wide. */
static struct str last_columns(struct str s, size_t columns)
{
    uint32_t cp;

    while (s.n && utf8_width(s) > columns) {
        size_t n = utf8_decode(s, 0, &cp);
        s = str_skip(s, n ? n : 1);
    }
    return s;
}

static void print_row(struct count_table *t, struct str name, struct str bytes, struct str tokens,
                      struct str ratio)
{
    struct buf line = BUF_INIT(BUF_ANY);
    size_t columns = t->name_columns;

    if (utf8_width(name) > columns) { /* the end of a path tells more than its beginning */
        buf_adds(&line, "...");
        columns -= 3;
        name = last_columns(name, columns);
    }
    text_cell(&line, name, columns);
    text_right(&line, bytes, BYTES_COLUMNS);
    text_right(&line, tokens, TOKENS_COLUMNS);
    text_right(&line, ratio, RATIO_COLUMNS);
    fprintf(t->cli->out, "%.*s\n", STR_ARG(buf_str(&line)));
    buf_release(&line);
}

void count_table_row(struct count_table *t, const char *name, const struct count_file *f)
{
    struct buf bytes = BUF_INIT(64), tokens = BUF_INIT(64), ratio = BUF_INIT(64);

    num_add_grouped(&bytes, (int64_t)f->bytes);
    num_add_grouped(&tokens, (int64_t)f->tokens);
    if (f->tokens)
        buf_addf(&ratio, "%.3f", (double)f->bytes / (double)f->tokens);
    else
        buf_adds(&ratio, "-");
    print_row(t, str_of(name), buf_str(&bytes), buf_str(&tokens), buf_str(&ratio));
    buf_release(&bytes);
    buf_release(&tokens);
    buf_release(&ratio);
}

void count_table_begin(struct count_table *t, struct cli *cli, char *const *paths, int n)
{
    size_t width, most = NAME_COLUMNS_MIN, widest = NAME_COLUMNS_MIN;

    term_measure(&cli->out_term);
    width = (size_t)cli->out_term.width;
    if (width > NUMBERS_COLUMNS + most)
        most = width - NUMBERS_COLUMNS;
    for (int i = 0; i < n; i++) {
        size_t columns = utf8_width(str_of(count_file_name(paths[i])));
        widest = columns > widest ? columns : widest;
    }
    *t = (struct count_table){.cli = cli, .name_columns = widest < most ? widest : most};
    print_row(t, STR("file"), STR("bytes"), STR("tokens"), STR("bytes/token"));
}
