/* Numbers that F16 cannot hold would be infinite: the export is refused, and names the first one. */
#include "import/export/too_large.h"

#include <math.h>

#include "base/error.h"
#include "gufo/codec.h"

gufo_status too_large_measure(void *context, const measured_rows *seen, void *result,
                              gufo_error *error)
{
    gufo_job *const *job = context;
    plain_piece room;
    const piece *p = job_piece_at(*job, seen->piece, &room);
    const uint64_t all = seen->count * p->columns;

    (void)result;
    for (uint64_t i = gufo_first_nonfinite(seen->decoded, all); i < all; i++)
        if (isfinite(seen->values[i]) && !isfinite(seen->decoded[i]))
            return refuse(error, GUFO_E_RANGE, "tensor %s: the value %.9g is too large for %s",
                          QUOTED(p->name), (double)seen->values[i], p->made[seen->made].type->name);
    return GUFO_OK;
}
