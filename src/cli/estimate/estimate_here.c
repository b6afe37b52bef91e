/* The memory of this machine as limits: what is available now, less a reserve, which llama.cpp leaves,
 * too, for what no estimate knows: the driver, other programs. */
#include "cli/estimate/estimate.h"

#include "base/checked.h"

#include <stdlib.h>

enum { SHARE = 20 }; /* of a memory is left, and RESERVE */
#define RESERVE (UINT64_C(1) << 30)

static uint64_t limit_of(const estimate_options *o, uint64_t total, uint64_t available)
{
    uint64_t reserve = o->reserve > 0 ? o->reserve : RESERVE + total / SHARE;

    return available > reserve ? available - reserve : 1; /* 0 would be no limit */
}

/* Without any option the question is whether the model runs here. */
bool estimate_asks_here(const estimate_options *o)
{
    const unsigned char *at = (const unsigned char *)&o->ctx;
    bool any = false;

    for (; at < (const unsigned char *)(o + 1); at++)
        any |= *at != 0;
    return o->here || o->reserve > 0 || !any;
}

void estimate_look_here(const estimate_options *o, estimate_values *v)
{
    const char *root = getenv("GUFO_ROOT");
    machine *m = &v->here;

    if (!estimate_asks_here(o))
        return;
    v->is_here = true;
    machine_look(root != NULL ? root : "", m);
    v->has_limits = m->total > 0 || m->device_count > 0;
    if (!v->has_limits)
        report_warning(NULL, "this machine does not report its memory; --host 64G states it");
    v->run.n_devices = m->device_count;
    if (m->total > 0)
        v->limits.host_bytes = limit_of(o, m->total, m->available);
    for (uint32_t d = 0; d < m->device_count; d++)
        v->fit[d] = limit_of(o, m->devices[d].total, m->devices[d].free);
    if (m->device_count > 0) {
        v->limits.device_bytes = v->fit;
        v->limits.split = v->split;
    }
}
