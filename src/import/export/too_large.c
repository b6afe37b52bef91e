/* Numbers that F16 cannot hold would be infinite: the export is refused, and names the first one. */
#include "import/export/too_large.h"

#include <math.h>

#include "base/error.h"
#include "gufo/codec.h"

gufo_status too_large_measure(void *context, uint64_t number, uint32_t which, uint64_t row,
                              uint64_t count, const float *values, const float *decoded,
                              void *result, gufo_error *error)
{
    gufo_job *const *job = context;
    const piece *p = &(*job)->pieces[number];
    const uint64_t all = count * p->columns;

    (void)row, (void)result;
    for (uint64_t i = gufo_first_nonfinite(decoded, all); i < all; i++)
        if (isfinite(values[i]) && !isfinite(decoded[i]))
            return refuse(error, GUFO_E_RANGE, "tensor %s: the value %.9g is too large for %s",
                          QUOTED(p->name), (double)values[i], p->made[which].type->name);
    return GUFO_OK;
}
