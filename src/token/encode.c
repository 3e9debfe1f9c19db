#include <stdlib.h>

#include "base/utf8.h"
#include "token/encoder.h"

/* Text that holds no added token. */
static int encode_plain(struct encoder *e, const struct norm_view *view)
{
    return view->text.n ? encode_pieces(e, view, 0) : 0;
}

static int encode_between(struct encoder *e, const struct norm_view *view)
{
    const struct tokenizer *t = e->t;
    struct added_walk w = {0};
    struct added_hit hit;
    size_t at = 0;
    while (added_next(&t->normalized, view->text, &w, e->plain, &hit)) {
        struct norm_view part = norm_part(view, at, hit.from);
        if (encode_plain(e, &part) < 0)
            return -1;
        if (encoder_put_hit(e, view, &hit) < 0)
            return -1;
        at = hit.to;
    }
    struct norm_view part = norm_part(view, at, view->text.n);
    return encode_plain(e, &part);
}

/* Text between the added tokens that are matched on raw text. */
static int encode_part(struct encoder *e, const struct norm_view *view)
{
    struct norm_view done;
    if (view->text.n == 0)
        return 0;
    if (normalize_all(&e->t->pipe, *view, e->norm, &done, e->err) < 0)
        return -1;
    return encode_between(e, &done);
}

static int encode_huggingface(struct encoder *e, const struct norm_view *view)
{
    struct added_walk w = {0};
    struct added_hit hit;
    size_t at = 0;
    while (added_next(&e->t->raw, view->text, &w, e->plain, &hit)) {
        struct norm_view part = norm_part(view, at, hit.from);
        if (encode_part(e, &part) < 0 || encoder_put_hit(e, view, &hit) < 0)
            return -1;
        at = hit.to;
    }
    struct norm_view part = norm_part(view, at, view->text.n);
    return encode_part(e, &part);
}

/* Spaces become U+2581; one is put in front of text that begins or follows a special token. */
static int escape_spaces(struct encoder *e, struct norm_view *view, bool prefix)
{
    const struct str mark = STR("\xE2\x96\x81");
    struct norm_text *to = &e->escaped;
    norm_text_reset(to);
    to->want_origin = e->out->with_offsets;
    if (prefix)
        norm_put(to, view, 0, 0, mark);
    norm_replace(to, view, STR(" "), mark);
    *view = norm_text_view(to);
    return norm_check(to, e->err);
}

static int encode_fragment(struct encoder *e, struct norm_view view, bool behind_special)
{
    const struct pipeline *p = &e->t->pipe;
    if (view.text.n == 0)
        return 0;
    if (p->escape_spaces && escape_spaces(e, &view, p->space_prefix && behind_special) < 0)
        return -1;
    if (normalize_all(p, view, e->norm, &view, e->err) < 0)
        return -1;
    return encode_plain(e, &view);
}

static int encode_llama_cpp(struct encoder *e, const struct norm_view *view)
{
    size_t at = 0;
    if (added_partition(&e->t->raw, view->text, e->plain, &e->hits, e->err) < 0)
        return -1;
    for (size_t i = 0; i <= e->hits.n; i++) {
        size_t end = i < e->hits.n ? e->hits.hit[i].from : view->text.n;
        bool behind_special = i > 0 || (at == 0 && !view->continues);
        if (encode_fragment(e, norm_part(view, at, end), behind_special) < 0)
            return -1;
        if (i == e->hits.n)
            break;
        if (encoder_put_hit(e, view, &e->hits.hit[i]) < 0)
            return -1;
        at = e->hits.hit[i].to;
    }
    return 0;
}

/* Ill-formed parts become U+FFFD, each with the bytes it stands for as its origin. */
static int repair(struct encoder *e, struct str text, struct norm_view *view)
{
    struct norm_view in = {.text = text, .first = true};
    struct norm_text *fixed = &e->repaired;
    size_t bad = utf8_valid_prefix(text), done = 0;
    e->out->replaced = 0;
    if (bad == text.n) {
        *view = in;
        return 0;
    }
    norm_text_reset(fixed);
    fixed->want_origin = e->out->with_offsets;
    while (done < text.n) {
        size_t n = utf8_ill_formed(text, bad);
        norm_keep(fixed, &in, done, bad);
        if (n) {
            norm_put(fixed, &in, bad, bad + n, STR("\xEF\xBF\xBD"));
            e->out->replaced++;
        }
        done = bad + n;
        bad = done + utf8_valid_prefix(str_skip(text, done));
    }
    *view = norm_text_view(fixed);
    view->first = true;
    return norm_check(fixed, e->err);
}

static int encode_call(struct encoder *e, struct str text, const struct encode_options *o)
{
    const struct pipeline *p = &e->t->pipe;
    struct norm_view view;
    if (text.n > SCAN_TEXT_MAX)
        return error_set(e->err, ERROR_LIMIT, "a text of %zu bytes; the limit is %zu", text.n,
                         SCAN_TEXT_MAX);
    if (repair(e, text, &view) < 0)
        return -1;
    view.first = !o->continues;
    view.continues = o->continues;
    e->plain = o->special_text == SPECIAL_TEXT_PLAIN;
    e->norm[0].want_origin = e->norm[1].want_origin = e->out->with_offsets;
    for (size_t i = 0; i < PIPELINE_STEPS_MAX; i++)
        e->rewritten[i].want_origin = e->out->with_offsets;
    e->work.want_len = e->out->with_offsets;
    for (uint32_t i = 0; o->add_special && !o->continues && i < p->before.n; i++)
        if (encoder_put(e, p->before.id[i], 0, 0) < 0)
            return -1;
    if ((p->llama_cpp ? encode_llama_cpp(e, &view) : encode_huggingface(e, &view)) < 0)
        return -1;
    for (uint32_t i = 0; o->add_special && !o->goes_on && i < p->after.n; i++)
        if (encoder_put(e, p->after.id[i], text.n, text.n) < 0)
            return -1;
    return 0;
}

int tokenizer_encode(const struct tokenizer *t, struct str text, const struct encode_options *o,
                     struct token_ids *ids, struct error *err)
{
    struct encoder *e = encoder_borrow(t, err);
    if (!e)
        return -1;
    if (ids->with_offsets && !ids->from && ids->cap) { /* grown before without offsets */
        free(ids->id);
        ids->id = NULL;
        ids->cap = 0;
    }
    ids->n = 0;
    e->out = ids;
    e->count_only = false;
    e->err = err;
    int status = encode_call(e, text, o);
    if (status < 0)
        ids->n = 0;
    encoder_return(t, e);
    return status;
}

int tokenizer_count(const struct tokenizer *t, struct str text, const struct encode_options *o,
                    size_t *n, struct error *err)
{
    struct encoder *e = encoder_borrow(t, err);
    struct token_ids ids = {0};
    if (!e)
        return -1;
    e->out = &ids;
    e->count_only = true;
    e->counted = 0;
    e->err = err;
    int status = encode_call(e, text, o);
    if (status == 0)
        *n = e->counted + ids.n;
    token_ids_release(&ids);
    encoder_return(t, e);
    return status;
}
