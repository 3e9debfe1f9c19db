/* The table of commands, in the order in which help lists them. */
#include "cli/cli.h"

extern const struct command cmd_man;
extern const struct command cmd_compare;
extern const struct command cmd_completions;
extern const struct command cmd_corpus;
extern const struct command cmd_count;
extern const struct command cmd_doctor;
extern const struct command cmd_gate;
extern const struct command cmd_key;
extern const struct command cmd_ledger;
extern const struct command cmd_probe;
extern const struct command cmd_render;
extern const struct command cmd_report;
extern const struct command cmd_run;
extern const struct command cmd_selftest;
extern const struct command cmd_show;
extern const struct command cmd_verify;

/* clang-format off: one command a line, so that two that are added do not meet */
const struct command *const tally_commands[] = {
    &cmd_doctor, &cmd_count,  &cmd_render,      &cmd_corpus, &cmd_probe, &cmd_run,
    &cmd_show,   &cmd_verify, &cmd_compare,     &cmd_report, &cmd_gate,  &cmd_selftest,
    &cmd_ledger, &cmd_key,    &cmd_completions, &cmd_man,    NULL,
};
/* clang-format on */
