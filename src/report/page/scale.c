/* Scales of colours and axes. */
#include "report/page/scale.h"

#include "gufo/codec.h"

#include <math.h>
#include <string.h>

/* ---- element types ----------------------------------------------------------------------------- */

/* Two or three letters for a cell: the bits, and what tells types of these bits apart. */
static const struct {
    const char *name, *code;
} codes[] = {
    {"F32", "F"},         {"F16", "H"},         {"BF16", "B"},        {"F64", "D"},
    {"Q4_0", "4₀"},       {"Q4_1", "4₁"},       {"Q5_0", "5₀"},       {"Q5_1", "5₁"},
    {"Q8_0", "8"},        {"Q8_1", "8₁"},       {"Q2_K", "2K"},       {"Q3_K", "3K"},
    {"Q4_K", "4K"},       {"Q5_K", "5K"},       {"Q6_K", "6K"},       {"Q8_K", "8K"},
    {"IQ1_S", "1S"},      {"IQ1_M", "1M"},      {"IQ2_XXS", "2X"},    {"IQ2_XS", "2x"},
    {"IQ2_S", "2S"},      {"IQ3_XXS", "3X"},    {"IQ3_S", "3S"},      {"IQ4_NL", "4N"},
    {"IQ4_XS", "4X"},     {"TQ1_0", "T1"},      {"TQ2_0", "T2"},      {"MXFP4", "M4"},
    {"NVFP4", "N4"},      {"Q1_0", "1"},        {"Q2_0", "2₀"},       {"Q4_2", "4₂"},
    {"Q4_3", "4₃"},       {"Q4_0_4_4", "4r"},   {"Q4_0_4_8", "4r"},   {"Q4_0_8_8", "4r"},
    {"IQ4_NL_4_4", "Nr"}, {"IQ4_NL_4_8", "Nr"}, {"IQ4_NL_8_8", "Nr"}, {"I8", "i8"},
    {"I16", "i16"},       {"I32", "i32"},       {"I64", "i64"},
};

static const char *code_of(const char *name)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (strcmp(codes[i].name, name) == 0)
            return codes[i].code;
    return "+";
}

type_look scale_type(uint32_t id)
{
    static const double steps[] = {2, 3, 4, 5, 6, 7, 10, 20, INFINITY};
    static const char *const names[] = {"t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9"};
    const gufo_element_type *type = gufo_element_type_by_id(id);
    type_look look = {.name = "unknown", .color = "tu", .ink = "ink", .code = "?"};
    size_t step = 0;

    if (type == NULL)
        return look;
    look.name = type->name;
    look.code = code_of(type->name);
    if (type->block_elements == 0)
        return look;
    look.bits = 8.0 * type->block_bytes / type->block_elements;
    while (look.bits >= steps[step])
        step++;
    look.color = names[step];
    look.ink = step < 4 ? "w" : "k";
    return look;
}

/* ---- measured numbers --------------------------------------------------------------------------- */

bool heat_is_even(const heat_scale *scale)
{
    return scale->most - scale->least <= 0.01 * fmax(fabs(scale->least), fabs(scale->most));
}

unsigned heat_step(const heat_scale *scale, double value)
{
    double part = scale->is_log ? log(value / scale->least) / log(scale->most / scale->least)
                                : (value - scale->least) / (scale->most - scale->least);

    if (heat_is_even(scale))
        return HEAT_STEPS / 2;
    if (!(part > 0)) /* less, or NaN */
        return 0;
    return part >= 1 ? HEAT_STEPS - 1 : (unsigned)(part * HEAT_STEPS);
}

const char *heat_ink(unsigned step)
{
    return step >= HEAT_STEPS / 2 ? "hl" : "hd";
}

/* ---- axes ---------------------------------------------------------------------------------------- */

/* Multiples of a step up to `most`, and one more if the last is below it. */
static axis_ticks multiples(double most, double step)
{
    axis_ticks ticks = {.count = 0};

    while (ticks.count < MOST_TICKS) {
        double value = step * (double)ticks.count;

        ticks.values[ticks.count++] = value;
        ticks.end = value;
        if (value >= most)
            break;
    }
    ticks.end = fmax(ticks.end, most);
    return ticks;
}

axis_ticks axis_linear(double most, size_t wanted)
{
    double raw = most / (double)wanted, power, step;

    if (!(most > 0) || !isfinite(most))
        return multiples(1, 1);
    power = pow(10, floor(log10(raw)));
    step = raw <= power       ? power
           : raw <= 2 * power ? 2 * power
           : raw <= 5 * power ? 5 * power
                              : 10 * power;
    return multiples(most, step);
}

axis_ticks axis_binary(double most, size_t wanted)
{
    if (!(most > 0) || !isfinite(most))
        return multiples(1, 1);
    return multiples(most, exp2(ceil(log2(most / (double)wanted))));
}

axis_ticks axis_log(double least, double most)
{
    static const double between[] = {1, 2, 5};
    bool is_fine = most / least < 100;
    axis_ticks ticks = {.end = most};

    if (!(least > 0) || !isfinite(most))
        return ticks;
    for (int power = (int)floor(log10(least)); ticks.count < MOST_TICKS; power++)
        for (size_t i = 0; i < 3 && ticks.count < MOST_TICKS; i += is_fine ? 1 : 3) {
            double value = between[i] * pow(10, power);

            if (value > most * (1 + 1e-9))
                return ticks;
            if (value >= least * (1 - 1e-9))
                ticks.values[ticks.count++] = value;
        }
    return ticks;
}
