/* tally doctor: what this machine would do to a measurement. */
#include <string.h>

#include "cli/cli.h"
#include "codec/json_write.h"
#include "load/doctor.h"
#include "report/text.h"

#define NAME_INDENT 10
#define TEXT_INDENT 26

struct args {
    const char *out;
    bool json;
};

static const struct option options[] = {
    {"out", OPTION_STRING, OFFSET(struct args, out), "DIR", ".",
     .help = "where runs will be written: its disk is tried"},
    {"json", OPTION_FLAG, OFFSET(struct args, json), .help = "print one JSON document"},
    OPTIONS_END,
};

static void put_finding(struct json_writer *w, const struct doctor_finding *f)
{
    json_begin_object(w);
    json_key(w, "name");
    json_put_cstr(w, f->name);
    json_key(w, "level");
    json_put_cstr(w, doctor_level_name(f->level));
    json_key(w, "seen");
    json_put_cstr(w, f->seen);
    json_key(w, "why");
    json_put_cstr(w, f->why[0] ? f->why : NULL);
    json_key(w, "remedy");
    json_put_cstr(w, f->remedy[0] ? f->remedy : NULL);
    json_end_object(w);
}

static int print_json(const struct doctor *d, struct buf *text, struct error *err)
{
    static const enum doctor_level levels[] = {DOCTOR_SPOILS, DOCTOR_NOTE, DOCTOR_UNKNOWN,
                                               DOCTOR_OK};
    struct json_writer w;

    json_writer_init(&w, text, 2);
    json_begin_object(&w);
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        json_key(&w, doctor_level_name(levels[i]));
        json_put_i64(&w, (int64_t)doctor_count(d, levels[i]));
    }
    json_key(&w, "findings");
    json_begin_array(&w);
    for (size_t i = 0; i < d->n; i++)
        put_finding(&w, &d->finding[i]);
    json_end_array(&w);
    json_end_object(&w);
    buf_addc(text, '\n');
    return json_writer_check(&w, "the findings", err);
}

static void print_finding(const struct term *t, const struct doctor_finding *f, struct buf *text)
{
    static const enum term_style styles[] = {[DOCTOR_OK] = TERM_GOOD,
                                             [DOCTOR_UNKNOWN] = TERM_DIM,
                                             [DOCTOR_NOTE] = TERM_WARNING,
                                             [DOCTOR_SPOILS] = TERM_ERROR};

    struct buf line = BUF_INIT(BUF_ANY); /* measured without its colours */

    text_cell(&line, str_of(doctor_level_name(f->level)), NAME_INDENT);
    text_cell(&line, str_of(f->name), TEXT_INDENT - NAME_INDENT);
    text_wrap(&line, str_of(f->seen), TEXT_INDENT);
    buf_adds(text, term_on(t, styles[f->level]));
    buf_addstr(text, str_first(buf_str(&line), NAME_INDENT));
    buf_adds(text, term_off(t));
    buf_addstr(text, str_skip(buf_str(&line), NAME_INDENT));
    buf_addc(text, '\n');
    buf_release(&line);
    if (f->why[0]) {
        text_wrap(text, str_of(f->why), TEXT_INDENT);
        buf_addc(text, '\n');
    }
    if (f->remedy[0]) { /* on one line, so that it can be copied */
        buf_pad(text, ' ', NAME_INDENT);
        buf_addf(text, "> %s\n", f->remedy);
    }
}

static void print_text(const struct cli *cli, const struct doctor *d, struct buf *text)
{
    size_t spoils = doctor_count(d, DOCTOR_SPOILS), notes = doctor_count(d, DOCTOR_NOTE);

    for (size_t i = 0; i < d->n; i++)
        print_finding(&cli->out_term, &d->finding[i], text);
    buf_addc(text, '\n');
    if (spoils)
        buf_addf(text, "%zu thing%s would spoil a measurement here; ", spoils,
                 spoils == 1 ? "" : "s");
    else
        buf_adds(text, "Nothing seen would spoil a measurement here; ");
    buf_addf(text, "%zu more %s worth knowing.\n", notes, notes == 1 ? "is" : "are");
}

static int run(struct cli *cli, void *arguments, const struct operands *operands, struct error *err)
{
    const struct args *a = arguments;
    struct buf text = BUF_INIT(BUF_ANY);
    struct doctor d;
    int rc = 0;

    (void)operands;
    doctor_look(&d, &(struct doctor_where){.root = "", .dir = a->out});
    if (a->json)
        rc = print_json(&d, &text, err);
    else
        print_text(cli, &d, &text);
    if (rc == 0 && (rc = buf_check(&text, "the findings", err)) == 0)
        fwrite(text.p, 1, text.n, cli->out);
    buf_release(&text);
    if (rc < 0)
        return -1;
    return doctor_count(&d, DOCTOR_SPOILS) ? error_exit_code(ERROR_ENVIRONMENT) : 0;
}

const struct command cmd_doctor = {
    .name = "doctor",
    .summary = "say what on this machine would spoil a measurement",
    .usage = "[--out DIR] [--json]",
    .description =
        "Looks at the machine the client will run on: processors, governor, turbo, load, time "
        "taken by the host of a virtual machine, control-group limits, memory, ports, clock "
        "source; and tries out what files do not tell: a kernel time stamp on a loopback socket, "
        "reading the clock, how long a thread waits for a processor and for waking up, open "
        "files, room and fsync where runs will be written. It changes nothing and takes less "
        "than a second.\n\n"
        "Each finding is 'ok', 'unknown' (the system does not tell), 'note' (worth knowing; the "
        "numbers stand) or 'spoils' (a measurement here would be refused, suspect or not "
        "repeatable), with why it matters and the command that mends it.\n\n"
        "Exit code 0: nothing spoils. 5: something does.",
    .examples = "  tally doctor\n"
                "  tally doctor --out /data/runs --json\n",
    .options = options,
    .args_size = sizeof(struct args),
    .operands_min = 0,
    .operands_max = 0,
    .run = run,
};
