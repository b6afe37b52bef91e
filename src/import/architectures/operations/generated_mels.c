/* Mel filters: how much of each frequency of a Fourier transform a mel band hears.
 *
 *     band 0   /\        triangles between neighbours that are equally far apart in mels,
 *     band 1    /\       each of area 1: 2 / width in Hz
 *     band 2      / \
 *
 * The scale is that of Slaney's Auditory Toolbox, which audio models are trained with: 200/3 Hz a
 * mel up to 1000 Hz, and 27 mels for each factor of 6.4 above.  Checkpoints do not have them.
 * The height is rounded to F32 before it is scaled, as the filters of the trained models were. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "import/architectures/operations/generated.h"

enum { MOST_BANDS = 1024, LARGEST_TRANSFORM = 1 << 16, HIGHEST_RATE = 1 << 20 };

#define LINEAR_HZ (200.0 / 3) /* of a mel */
#define LINEAR_MELS 15.0      /* up to 1000 Hz */
#define FACTOR_MELS 27.0      /* for a factor of 6.4 */

static double mels_of(double hz)
{
    return hz < 1000 ? hz / LINEAR_HZ : LINEAR_MELS + FACTOR_MELS * log(hz / 1000) / log(6.4);
}

static double hz_of(double mels)
{
    return mels < LINEAR_MELS ? mels * LINEAR_HZ
                              : 1000 * pow(6.4, (mels - LINEAR_MELS) / FACTOR_MELS);
}

static void fill_band(float *out, uint64_t frequencies, double step, const double edges[3])
{
    const double scale = 2 / (edges[2] - edges[0]);

    for (uint64_t i = 0; i < frequencies; i++) {
        double hz = (double)i * step;
        double up = (hz - edges[0]) / (edges[1] - edges[0]);
        double down = (edges[2] - hz) / (edges[2] - edges[1]);
        float height = (float)fmax(0, fmin(up, down));

        out[i] = (float)((double)height * scale);
    }
}

gufo_status generate_mels(const operation_call *c, gufo_error *error)
{
    const gufo_allocator *a = c->planner->grown.plan->allocator;
    const uint64_t rate = c->numbers[0], size = c->numbers[1], bands = c->numbers[2];
    const uint64_t frequencies = size / 2 + 1;
    double step, spacing;
    gufo_status status;
    float *values;

    if (rate == 0 || rate > HIGHEST_RATE || size == 0 || size > LARGEST_TRANSFORM || bands == 0 ||
        bands > MOST_BANDS)
        return refuse(error, GUFO_E_MALFORMED, "config.json: %s mel filters make no sense",
                      GROUPED(bands));
    values = mem_array(a, (size_t)(bands * frequencies), sizeof *values);
    if (values == NULL)
        return fail_memory(error);
    step = (double)rate / (double)size;
    spacing = mels_of((double)rate / 2) / (double)(bands + 1);
    for (uint64_t i = 0; i < bands; i++) {
        const double edges[3] = {hz_of(spacing * (double)i), hz_of(spacing * (double)(i + 1)),
                                 hz_of(spacing * (double)(i + 2))};

        fill_band(values + i * frequencies, frequencies, step, edges);
    }
    status = generate_view(c, values, bands * frequencies, error);
    mem_free(a, values);
    return status;
}
