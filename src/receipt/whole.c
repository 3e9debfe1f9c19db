#include "receipt/whole.h"

#include <limits.h>

#include "base/file.h"
#include "receipt/pairing.h"
#include "receipt/receipt.h"
#include "record/sample_file.h"

static int read_bands(struct receipt_whole *w, const char *dir, bool keep, struct error *err)
{
    struct buf path = BUF_INIT(PATH_MAX);
    struct arena scratch;
    int status = -1;
    arena_init(&scratch, RECEIPT_ARENA_MAX);
    for (size_t i = 0; i < w->run->bands_n; i++) {
        struct sample *samples;
        size_t n;
        if (path_join(&path, dir, w->run->bands[i].sample_file, err) < 0 ||
            sample_file_read(&samples, &n, NULL, path.p, keep ? &w->arena : &scratch, err) < 0 ||
            measure_band(&w->measure, i, samples, n, err) < 0)
            goto out;
        w->bands[i].record = &w->run->bands[i];
        if (keep) {
            w->bands[i].samples = samples;
            w->bands[i].samples_n = n;
        }
        arena_reset(&scratch);
    }
    measure_finish(&w->measure);
    for (size_t i = 0; i < w->run->bands_n; i++)
        w->bands[i].metrics = w->measure.metrics[i];
    status = 0;
out:
    arena_release(&scratch);
    buf_release(&path);
    return status;
}

int receipt_whole_read(struct receipt_whole *w, const char *dir, bool keep_samples,
                       struct error *err)
{
    *w = (struct receipt_whole){0};
    arena_init(&w->arena, RECEIPT_ARENA_MAX);
    if (receipt_read_dir(&w->read, dir, err) < 0) {
        w->read = (struct receipt_read){0};
        goto fail;
    }
    w->run = &w->read.run;
    w->bands = arena_array(&w->arena, w->run->bands_n + 1, sizeof *w->bands);
    if (!w->bands) {
        error_no_memory(err);
        goto fail;
    }
    if (measure_init(&w->measure, w->run, err) < 0 || read_bands(w, dir, keep_samples, err) < 0 ||
        rules_judge(w->run, w->measure.metrics, w->measure.facts, &w->arena, &w->verdict, err) <
            0 ||
        pairing_compute(w->run, w->measure.metrics, w->verdict.band_status, false, &w->arena,
                        &w->pairs, &w->pairs_n, err) < 0)
        goto fail;
    return 0;
fail:
    receipt_whole_release(w);
    return -1;
}

void receipt_whole_release(struct receipt_whole *w)
{
    if (!w)
        return;
    measure_release(&w->measure);
    receipt_read_release(&w->read);
    arena_release(&w->arena);
    *w = (struct receipt_whole){0};
}
