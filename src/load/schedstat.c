#include "load/schedstat.h"

#include "base/file.h"
#include "base/num.h"
#include "record/sample.h"

int64_t schedstat_wait_ns(void)
{
    struct buf text = BUF_INIT(0);
    struct error err;
    struct str run, rest, wait;
    int64_t ns = COUNT_NONE;

    /* "RUN_NS WAIT_NS SLICES\n" */
    if (file_read(&text, "/proc/thread-self/schedstat", 4096, &err) == 0 &&
        str_cut(buf_str(&text), ' ', &run, &rest)) {
        (void)str_cut(rest, ' ', &wait, &rest);
        if (num_parse_i64(&ns, str_trim(wait)) < 0)
            ns = COUNT_NONE;
    }
    buf_release(&text);
    return ns;
}
