/*
 * What a run does beside the load itself: around each band its lane's commands and its server's own
 * words, and before the first one the client's floor.
 *
 *     const struct step_shared shared = {&lanes_up, receipt, stop};
 *     if (step_floor(&shared, &options, &record.calibration, err) < 0) ...
 *     if (step_band(&shared, &drive, &band, err) < 0) ...
 *
 * -1 only when measuring itself broke down; what a server or a lane's command does wrong is the
 * band's status and reason.
 */
#ifndef TALLY_LOAD_STEP_H
#define TALLY_LOAD_STEP_H

#include "load/drive.h"
#include "load/switch.h"

struct step_shared {
    struct lane_switch *lanes_up;
    struct receipt_run *receipt;
    const volatile sig_atomic_t *stop; /* NULL */
};

int step_band(const struct step_shared *shared, const struct drive_config *drive,
              struct run_band *band, struct error *err) TALLY_MUST_CHECK;
/* As many streams as the plan's largest band has, at most CALIBRATE_STREAMS_MAX, from url. */
int step_floor(const struct step_shared *shared, const struct run_plan *plan, const char *url,
               int64_t burn_ns, struct run_calibration *out, struct error *err) TALLY_MUST_CHECK;

#endif
