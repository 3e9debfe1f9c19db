/*
 * The forms of a run's plain records: which members of run_plan, run_lane, run_band stand under
 * which object of a receipt, and the ones that no table can hold (lists).
 *
 *     form_write(&form_protocol, &run->plan, "protocol", &nulls, &w);
 *
 * Constant tables; src/receipt/compose.c and read.c walk them.
 */
#ifndef TALLY_RECEIPT_RECORD_FORM_H
#define TALLY_RECEIPT_RECORD_FORM_H

#include "receipt/form.h"
#include "record/run.h"

/* Over struct run_plan. */
extern const struct form form_clock, form_corpus, form_request, form_rendering, form_workload,
    form_protocol, form_tokenization;
/* Over struct run_lane, struct run_client_load. */
extern const struct form form_lane, form_client_load;
/* Over struct run_clock. */
extern const struct form form_band_clock;
/* Over struct run_calibration: all but the client's own cost. */
extern const struct form form_calibration;
/* Over struct run_command. */
extern const struct form form_command;
/* Over struct run_server. */
extern const struct form form_band_server;
/* Over struct run_band: its times, and what the loop said. */
extern const struct form form_band_times, form_band_loop;

#endif
