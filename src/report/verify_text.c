/* What verify said, rule by rule. */
#include "report/text.h"

#define NAME_COLUMNS 21
#define INDENT 30

static const char *state_word(enum verify_state s)
{
    static const char *const words[] = {"skipped", "ok", "FAILED"};
    return words[s];
}

static void put_failure(const struct verify_failure *f, struct buf *out)
{
    struct buf text = BUF_INIT(BUF_ANY);
    buf_adds(&text, f->file[0] ? f->file : "the directory");
    if (f->line)
        buf_addf(&text, ":%lld", (long long)f->line);
    if (f->line && f->column)
        buf_addf(&text, ":%lld", (long long)f->column);
    buf_adds(&text, ": ");
    if (f->path[0])
        buf_addf(&text, "%s: ", f->path);
    buf_adds(&text, f->what);
    text_wrap(out, buf_str(&text), 10);
    buf_addc(out, '\n');
    buf_release(&text);
}

static void put_rule(const struct verify_report *v, enum verify_rule r, struct buf *out)
{
    const struct verify_result *result = &v->rules[r];
    text_cell(out, str_of(state_word(result->state)), 8);
    text_cell(out, str_of(verify_rule_name(r)), NAME_COLUMNS);
    buf_addc(out, ' ');
    if (result->state != VERIFY_FAILED) {
        text_wrap(out, str_of(result->seen), INDENT);
        buf_addc(out, '\n');
        return;
    }
    text_wrap(out, str_of(verify_rule_proves(r)), INDENT);
    buf_addc(out, '\n');
    for (size_t i = 0; i < result->failures_n; i++)
        put_failure(&result->failures[i], out);
    if (result->failed > (int64_t)result->failures_n)
        buf_addf(out, "          and %lld more\n",
                 (long long)(result->failed - (int64_t)result->failures_n));
}

void verify_text(const struct verify_report *v, struct buf *out)
{
    for (int r = 0; r < VERIFY_RULE_COUNT; r++)
        put_rule(v, (enum verify_rule)r, out);
    buf_addc(out, '\n');
    buf_adds(out, verify_summary(v));
    if (v->signed_by)
        buf_addf(out, " (%s)", v->signed_by);
    buf_addc(out, '\n');
    if (v->run_id[0])
        buf_addf(out, "run     %s\n", v->run_id);
    if (v->status) {
        buf_adds(out, "status  ");
        text_wrap(out, str_of(v->status), 8);
        if (v->reason)
            buf_addf(out, " {%s}", v->reason);
        buf_addc(out, '\n');
    }
}

static void put_text(struct json_writer *w, const char *name, const char *value)
{
    json_key(w, name);
    json_put_cstr(w, value && value[0] ? value : NULL);
}

static void put_place(struct json_writer *w, const struct verify_failure *f)
{
    json_begin_object(w);
    put_text(w, "file", f->file);
    json_key(w, "line");
    f->line ? json_put_i64(w, f->line) : json_put_null(w);
    json_key(w, "column");
    f->column ? json_put_i64(w, f->column) : json_put_null(w);
    put_text(w, "path", f->path);
    put_text(w, "what", f->what);
    json_end_object(w);
}

void verify_json(const struct verify_report *v, struct json_writer *w)
{
    static const char *const verdicts[] = {"verified", "broken", "incomplete"};
    static const char *const states[] = {"skipped", "passed", "failed"};
    static const char *const signatures[] = {"valid", "unsigned", "unknown_key", "wrong"};
    json_begin_object(w);
    put_text(w, "verdict", verdicts[v->verdict]);
    put_text(w, "summary", verify_summary(v));
    put_text(w, "run_id", v->run_id);
    put_text(w, "status", v->status);
    put_text(w, "reason", v->reason);
    put_text(w, "signature", signatures[v->signature]);
    put_text(w, "signed_by", v->signed_by);
    json_key(w, "bands");
    json_put_i64(w, v->bands);
    json_key(w, "samples");
    json_put_i64(w, v->samples);
    json_key(w, "rules");
    json_begin_array(w);
    for (int r = 0; r < VERIFY_RULE_COUNT; r++) {
        const struct verify_result *result = &v->rules[r];
        json_begin_object(w);
        put_text(w, "rule", verify_rule_name((enum verify_rule)r));
        put_text(w, "proves", verify_rule_proves((enum verify_rule)r));
        put_text(w, "state", states[result->state]);
        put_text(w, "seen", result->seen);
        json_key(w, "failed");
        json_put_i64(w, result->failed);
        json_key(w, "failures");
        json_begin_array(w);
        for (size_t i = 0; i < result->failures_n; i++)
            put_place(w, &result->failures[i]);
        json_end_array(w);
        json_end_object(w);
    }
    json_end_array(w);
    json_end_object(w);
}
