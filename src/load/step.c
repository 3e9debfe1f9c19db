#include "load/step.h"

#include <string.h>

#include "load/calibrate.h"
#include "load/server.h"

#define SAID_ARENA_MAX ((size_t)64 << 20)
#define CALIBRATE_ARENA_MAX ((size_t)1 << 30)

/* The band, and what its server says of itself before and after it. */
int step_band(const struct step_shared *shared, const struct drive_config *config,
              struct run_band *b, struct error *err)
{
    const volatile sig_atomic_t *stop = shared->stop;
    struct buf said = BUF_INIT(SERVER_SAID_MAX);
    struct server_watch watch = {0};
    struct lane_trouble trouble;
    char detail[SERVER_DETAIL_MAX];
    struct arena arena;
    bool capped;
    int rc = -1;

    if (lane_switch_to(shared->lanes_up, b->lane, &trouble, err) < 0)
        return -1;
    if (trouble.reason)
        return drive_skip(config, b, trouble.reason, trouble.detail, err);
    arena_init(&arena, SAID_ARENA_MAX);
    if (server_watch_begin(&watch, config->lane, b->band, stop, &arena, &capped, detail, err) < 0)
        goto out;
    rc = capped ? drive_skip(config, b, RUN_ADMISSION_CAPPED, detail, err)
                : drive_band(config, b, err);
    if (rc < 0)
        goto out;
    rc = -1;
    if (!capped && server_watch_ask(&watch, config->lane, SERVER_AFTER, stop, &arena, err) < 0)
        goto out;
    if (server_watch_write(&watch, &said, err) == 0)
        rc = receipt_server_keep(shared->receipt, b, buf_str(&said), err);
out:
    arena_release(&arena);
    buf_release(&said);
    return rc;
}

/* What the client itself costs and errs, with as many streams as the largest band has. */
int step_floor(const struct step_shared *shared, const struct run_plan *p, const char *url,
               int64_t burn_ns, struct run_calibration *out, struct error *err)
{
    int32_t most = p->bands[p->bands_n - 1];
    const struct calibrate_config config = {
        .url = url,
        .streams = most < CALIBRATE_STREAMS_MAX ? most : CALIBRATE_STREAMS_MAX,
        .zero_ns = p->t_zero_mono_ns,
        .user_time_only = strcmp(p->time_source, "user") == 0,
        .burn_ns = burn_ns,
        .stop = shared->stop,
    };
    struct run_calibration calibration;
    struct sample *samples;
    struct arena arena;
    size_t n;
    int rc;

    arena_init(&arena, CALIBRATE_ARENA_MAX);
    rc = calibrate(&config, &samples, &n, &calibration, &arena, err);
    if (rc == 0)
        rc = receipt_calibration_keep(shared->receipt, &calibration, samples, n, err);
    if (rc == 0)
        *out = calibration;
    arena_release(&arena);
    return rc;
}
