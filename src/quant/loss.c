/* How much encoding has lost.
 *
 * Sums are kept in lanes, value i in lane i % LANES, and the lanes added up in a fixed order: the
 * compiler may use vectors, and every machine gets the same bits. */
#include "quant/quantizer.h"

#include <float.h>
#include <math.h>

enum { LANES = 8 };

typedef struct lanes {
    double square_value[LANES], square_error[LANES];
    float largest_error[LANES];
} lanes;

/* Compares `count` values, at most LANES. */
static inline void add_lanes(lanes *sums, const float *values, const float *decoded, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double value = values[i];
        float difference = values[i] - decoded[i];
        double error = difference;
        float size = difference < 0 ? -difference : difference;

        sums->square_value[i] += value * value;
        sums->square_error[i] += error * error;
        sums->largest_error[i] = size > sums->largest_error[i] ? size : sums->largest_error[i];
    }
}

static void fold(gufo_quantize_loss *loss, const lanes *sums)
{
    for (size_t i = 0; i < LANES; i++) {
        loss->square_value += sums->square_value[i];
        loss->square_error += sums->square_error[i];
        if (sums->largest_error[i] > loss->largest_error)
            loss->largest_error = sums->largest_error[i];
    }
}

/* The slow way, which leaves out what is not finite, and in which no difference is too large. */
static void measure_finite(gufo_quantize_loss *loss, const float *values, const float *decoded,
                           uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        double value = values[i], error = value - (double)decoded[i];
        float size = fabs(error) < (double)FLT_MAX ? (float)fabs(error) : FLT_MAX;

        if (!isfinite(values[i]) || !isfinite(decoded[i]))
            continue;
        loss->count++;
        loss->square_value += value * value;
        loss->square_error += error * error;
        loss->largest_error = size > loss->largest_error ? size : loss->largest_error;
    }
}

bool gufo_loss_measure(gufo_quantize_loss *loss, const float *values, const float *decoded,
                       uint64_t count)
{
    lanes sums = {0};
    gufo_quantize_loss fresh = {.count = count};
    uint64_t whole = count - count % LANES;

    for (uint64_t i = 0; i < whole; i += LANES)
        add_lanes(&sums, values + i, decoded + i, LANES);
    add_lanes(&sums, values + whole, decoded + whole, (size_t)(count - whole));
    fold(&fresh, &sums);
    /* What is not finite makes a sum that is not. */
    if (!isfinite(fresh.square_value) || !isfinite(fresh.square_error)) {
        fresh = (gufo_quantize_loss){0};
        measure_finite(&fresh, values, decoded, count);
    }
    gufo_quantize_loss_add(loss, &fresh);
    return fresh.count == count;
}

void gufo_quantize_loss_add(gufo_quantize_loss *loss, const gufo_quantize_loss *more)
{
    loss->count += more->count;
    loss->square_value += more->square_value;
    loss->square_error += more->square_error;
    if (more->largest_error > loss->largest_error)
        loss->largest_error = more->largest_error;
}

double gufo_quantize_loss_relative(const gufo_quantize_loss *loss)
{
    if (loss->square_error == 0)
        return 0;
    return sqrt(loss->square_error / loss->square_value);
}
