/* Tensors that are computed from the configuration: factors of the frequencies of rotary positions.
 *
 * The factors of Llama 3.1 leave short waves as they are, make long ones longer by one factor, and pass
 * from one to the other between.  All steps are rounded to F32, as the models were trained. */
#include "base/error.h"
#include "base/memory.h"
#include "import/architectures/operations/operation.h"

#include <math.h>
#include <string.h>

/* ---- numbers that are made ------------------------------------------------------------------ */

static gufo_status generate_view(const operation_call *c, const float *values, uint64_t count,
                                 gufo_error *error)
{
    gufo_status status = plan_view(c->planner->plan, values, count, &c->item->views[0], error);

    if (status != GUFO_OK)
        return status;
    c->item->n_views = 1;
    return GUFO_OK;
}

/* ---- the configuration ---------------------------------------------------------------------- */

enum { MOST_FACTORS = 1 << 16 };

/* A parameter of rotary positions; NULL: it has none. */
static json_t *parameter(const model_config *config, const char *name)
{
    json_t *all = config->ropes, *full = json_object_get(all, "full_attention");
    json_t *value = json_object_get(full != NULL ? full : all, name);

    return json_is_null(value) ? NULL : value;
}

static float real_or(const model_config *config, const char *name, double otherwise)
{
    json_t *value = parameter(config, name);

    return (float)(json_is_number(value) ? json_number_value(value) : otherwise);
}

/* ---- llama3 --------------------------------------------------------------------------------- */

float llama3_factor(const llama3_ropes *l, uint64_t index)
{
    float power = (float)pow((double)l->base, (double)((float)(2 * index) / l->size));
    float frequency = 1.0f / power, wave = 1.0f / frequency * 6.28318531f, smooth;

    if (wave < l->context / l->high)
        return 1.0f;
    if (wave > l->context / l->low || !(l->high > l->low)) /* equal in Llama 4 */
        return l->factor;
    smooth = (1.0f / wave * l->context - l->low) / (l->high - l->low);
    return 1.0f / ((1.0f - smooth) / l->factor + smooth);
}

/* Argument: the factor where the configuration has none. */
gufo_status generate_llama3(const operation_call *c, gufo_error *error)
{
    const model_config *config = c->planner->config;
    const gufo_allocator *a = c->planner->plan->allocator;
    llama3_ropes l = {.base = real_or(config, "rope_theta", 10000),
                      .factor = real_or(config, "factor", (double)c->numbers[0]),
                      .low = real_or(config, "low_freq_factor", 1),
                      .high = real_or(config, "high_freq_factor", 4),
                      .context = real_or(config, "original_max_position_embeddings", 8192)};
    uint64_t size;
    gufo_status status =
        config_number(config, "else(head_dim, hidden_size // num_attention_heads)", &size, error);
    float *values;

    if (status != GUFO_OK)
        return status;
    if (size < 2 || size % 2 != 0 || size / 2 > MOST_FACTORS || !(l.high >= l.low) ||
        !(l.low > 0) || !(l.factor > 0) || !(l.base > 0))
        return refuse(error, GUFO_E_MALFORMED,
                      "config.json: the parameters of rope_type llama3 make no sense");
    l.size = (float)size;
    values = mem_array(a, size / 2, sizeof *values);
    if (values == NULL)
        return fail_memory(error);
    for (uint64_t i = 0; i < size / 2; i++)
        values[i] = llama3_factor(&l, i);
    status = generate_view(c, values, size / 2, error);
    mem_free(a, values);
    return status;
}

/* ---- lists ---------------------------------------------------------------------------------- */

/* Arguments: a field of the rotary parameters that is a list, and how many numbers it has. */
gufo_status generate_factors(const operation_call *c, gufo_error *error)
{
    const gufo_allocator *a = c->planner->plan->allocator;
    char name[64] = "";
    json_t *list;
    size_t count;
    float *values;
    gufo_status status = GUFO_OK;

    memcpy(name, c->texts[0].data, c->texts[0].len < sizeof name ? c->texts[0].len : 0);
    list = parameter(c->planner->config, name);
    count = json_array_size(list);
    if (count != c->numbers[1] || count == 0 || count > MOST_FACTORS)
        return refuse(error, GUFO_E_MALFORMED, "config.json: %s must be a list of %s numbers", name,
                      GROUPED(c->numbers[1]));
    values = mem_array(a, count, sizeof *values);
    if (values == NULL)
        return fail_memory(error);
    for (size_t i = 0; i < count && status == GUFO_OK; i++) {
        json_t *number = json_array_get(list, i);

        values[i] = (float)json_number_value(number);
        if (!json_is_number(number))
            status = refuse(error, GUFO_E_MALFORMED, "config.json: entry %zu of %s is not a number",
                            i, name);
    }
    if (status == GUFO_OK)
        status = generate_view(c, values, count, error);
    mem_free(a, values);
    return status;
}

/* Gemma 4 rotates a part of each head, as if the rest had waves without end: readers take frequencies
 * that are divided by these factors.  Arguments: the size of a head, and how many of its halves are
 * rotated. */
gufo_status generate_proportional(const operation_call *c, gufo_error *error)
{
    const gufo_allocator *a = c->planner->plan->allocator;
    uint64_t count = c->numbers[0] / 2, rotated = c->numbers[1];
    gufo_status status;
    float *values;

    if (count == 0 || count > MOST_FACTORS || rotated > count)
        return refuse(error, GUFO_E_MALFORMED, "config.json: %s rotary factors of %s make no sense",
                      GROUPED(rotated), GROUPED(count));
    values = mem_array(a, count, sizeof *values);
    if (values == NULL)
        return fail_memory(error);
    for (uint64_t i = 0; i < count; i++)
        values[i] = i < rotated ? 1 : 1e30f;
    status = generate_view(c, values, count, error);
    mem_free(a, values);
    return status;
}

/* Mel filters: how much of each frequency of a Fourier transform a mel band hears.
 *
 *     band 0   /\        triangles between neighbours that are equally far apart in mels,
 *     band 1    /\       each of area 1: 2 / width in Hz
 *     band 2      / \
 *
 * The scale is that of Slaney's Auditory Toolbox, which audio models are trained with: 200/3 Hz a
 * mel up to 1000 Hz, and 27 mels for each factor of 6.4 above.  Checkpoints do not have them.
 * The height is rounded to F32 before it is scaled, as the filters of the trained models were. */

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

/* Arguments: samples in a second, samples of a transform, and filters. */
gufo_status generate_mels(const operation_call *c, gufo_error *error)
{
    const gufo_allocator *a = c->planner->plan->allocator;
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
