/* The loss of encoding.
 *
 * Value i belongs to lane i % LANES.  A lane adds up the squares of PIECE / LANES values as floats,
 * and these sums as doubles: the order is fixed, so that every machine gets the same bits.  The
 * vectors are the compiler's own, of a size that all machines with vectors have. */
#include "quant/quantizer.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { LANES = 16, PIECE = 256, WIDTH = 4, VECTORS = LANES / WIDTH };

typedef float floats __attribute__((vector_size(WIDTH * sizeof(float))));
typedef int32_t ints __attribute__((vector_size(WIDTH * sizeof(int32_t))));

/* The sums of a piece. */
typedef struct lanes {
    floats square_value[VECTORS], square_error[VECTORS];
} lanes;

static inline floats load(const float *from)
{
    floats v;

    memcpy(&v, from, sizeof v);
    return v;
}

/* The larger magnitudes, as bits: those of floats that are not negative order as integers do. */
static inline ints larger(ints largest, floats error)
{
    ints size = (ints)error & INT32_MAX, mask = size > largest;

    return (size & mask) | (largest & ~mask);
}

/* Compares PIECE values.  The vectors of a step do not wait for each other. */
static inline lanes compare(const float *values, const float *decoded, ints *largest)
{
    lanes sums = {0};

    for (size_t i = 0; i < PIECE; i += LANES) {
#pragma GCC unroll 4
        for (size_t v = 0; v < VECTORS; v++) {
            floats value = load(values + i + v * WIDTH);
            floats error = value - load(decoded + i + v * WIDTH);

            sums.square_value[v] += value * value;
            sums.square_error[v] += error * error;
            largest[v] = larger(largest[v], error);
        }
    }
    return sums;
}

static void add_sums(gufo_quantize_loss *loss, const lanes *sums)
{
    for (size_t v = 0; v < VECTORS; v++) {
        for (size_t i = 0; i < WIDTH; i++) {
            loss->square_value += (double)sums->square_value[v][i];
            loss->square_error += (double)sums->square_error[v][i];
        }
    }
}

static float largest_of(const ints *largest)
{
    float size[LANES], most = 0;

    memcpy(size, largest, sizeof size);
    for (size_t i = 0; i < LANES; i++)
        most = size[i] > most ? size[i] : most;
    return most;
}

/* The fast way. */
static gufo_quantize_loss measure(const float *values, const float *decoded, uint64_t count)
{
    gufo_quantize_loss loss = {.count = count};
    float last_values[PIECE] = {0}, last_decoded[PIECE] = {0};
    uint64_t whole = count - count % PIECE;
    size_t rest = (size_t)(count - whole) * sizeof(float);
    ints largest[VECTORS] = {{0}};
    lanes sums;

    for (uint64_t i = 0; i < whole; i += PIECE) {
        sums = compare(values + i, decoded + i, largest);
        add_sums(&loss, &sums);
    }
    memcpy(last_values, values + whole, rest);
    memcpy(last_decoded, decoded + whole, rest);
    sums = compare(last_values, last_decoded, largest);
    add_sums(&loss, &sums);
    loss.largest_error = largest_of(largest);
    return loss;
}

/* The slow way, which leaves out what is not finite, and in which nothing is too large or too
 * small. */
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

/* Whether floats could hold the squares: none is too large or NaN, and not all are so small that
 * much was lost. */
static bool squares_fit(const gufo_quantize_loss *loss)
{
    const double least = 0x1p-80 * (double)loss->count; /* of a mean square; errors are smaller */

    return isfinite(loss->square_value) && isfinite(loss->square_error) &&
           loss->square_value >= least;
}

bool loss_measure(gufo_quantize_loss *loss, const float *values, const float *decoded,
                  uint64_t count)
{
    gufo_quantize_loss fresh = measure(values, decoded, count);

    if (!squares_fit(&fresh)) {
        fresh = (gufo_quantize_loss){0};
        measure_finite(&fresh, values, decoded, count);
    }
    gufo_quantize_loss_add(loss, &fresh);
    return fresh.count == count;
}

/* ---- weighted ------------------------------------------------------------------------------- */

typedef double doubles __attribute__((vector_size(WIDTH * sizeof(double))));

/* The sums of one row: value i belongs to lane i % WIDTH, what does not fill the lanes to lane 0. */
static void weigh_row(quant_loss *sum, const float *importance, const float *values,
                      const float *decoded, uint64_t columns)
{
    uint64_t whole = columns - columns % WIDTH;
    doubles square_value = {0}, square_error = {0};

    for (uint64_t i = 0; i < whole; i += WIDTH) {
        doubles value = __builtin_convertvector(load(values + i), doubles);
        doubles error = value - __builtin_convertvector(load(decoded + i), doubles);
        doubles weight = __builtin_convertvector(load(importance + i), doubles);

        square_value += weight * (value * value);
        square_error += weight * (error * error);
    }
    for (uint64_t i = whole; i < columns; i++) {
        double value = values[i], error = value - (double)decoded[i];

        square_value[0] += (double)importance[i] * (value * value);
        square_error[0] += (double)importance[i] * (error * error);
    }
    for (size_t i = 0; i < WIDTH; i++) {
        sum->weighted_value += square_value[i];
        sum->weighted_error += square_error[i];
    }
}

static void weigh_finite(quant_loss *sum, const float *importance, const float *values,
                         const float *decoded, uint64_t columns)
{
    for (uint64_t i = 0; i < columns; i++) {
        double value = values[i], error = value - (double)decoded[i];

        if (!isfinite(values[i]) || !isfinite(decoded[i]))
            continue;
        sum->weighted_value += (double)importance[i] * (value * value);
        sum->weighted_error += (double)importance[i] * (error * error);
    }
}

void loss_weigh(quant_loss *loss, const float *importance, const float *values,
                const float *decoded, uint64_t count, uint64_t columns)
{
    for (uint64_t i = 0; i < count; i++) {
        quant_loss row = {.weighted_value = 0};

        weigh_row(&row, importance, values + i * columns, decoded + i * columns, columns);
        if (!isfinite(row.weighted_value) || !isfinite(row.weighted_error)) {
            row = (quant_loss){.weighted_value = 0};
            weigh_finite(&row, importance, values + i * columns, decoded + i * columns, columns);
        }
        loss->weighted_value += row.weighted_value;
        loss->weighted_error += row.weighted_error;
    }
}

/* ---- sums ----------------------------------------------------------------------------------- */

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
