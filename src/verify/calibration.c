/* The client's floor, computed again from the samples that it was measured by. */
#include <string.h>

#include "base/file.h"
#include "record/sample_file.h"
#include "verify/note.h"

int verify_calibration(struct verify_work *w, struct error *err)
{
    const struct run_record *run = &w->receipt.run;
    const char *name = run->calibration.file;
    struct buf path = BUF_INIT(FILE_PATH_MAX);
    struct arena arena;
    struct sample *samples;
    size_t n;
    int status = -1;
    if (!name) {
        verify_pass(w->report, VERIFY_CALIBRATION, "none was asked for");
        return 0;
    }
    if (!verify_digest_of(w, str_of(name))) {
        verify_fail(w->report, VERIFY_CALIBRATION, &(struct verify_place){.file = name},
                    "is not there");
        return 0;
    }
    arena_init(&arena, RECEIPT_ARENA_MAX);
    if (path_join(&path, w->dir, name, err) < 0)
        goto out;
    if (sample_file_read(&samples, &n, NULL, path.p, &arena, err) == 0 &&
        metrics_floor_compute(&w->floor, samples, n, run->plan.t_zero_mono_ns, &arena, err) == 0) {
        w->has_floor = true;
        verify_pass(w->report, VERIFY_CALIBRATION, "%lld events of %lld streams",
                    (long long)w->floor.events, (long long)w->floor.requests);
        status = 0;
    } else if (err->kind != ERROR_MEMORY) {
        verify_fail_error(w->report, VERIFY_CALIBRATION, w->dir, err);
        status = 0;
    }
out:
    arena_release(&arena);
    buf_release(&path);
    return status;
}
