/* From rows to a loss and its standard error.
 *
 * The loss E = sum n / sum m is a mean of the losses of single rows, n / m, in which a row counts by its
 * weight m.  Of all rows the weights are known, because that takes no encoder.  So rows are drawn with
 * chances in the proportion of their weights, and the plain mean of their losses estimates E (Hansen and
 * Hurwitz 1943):
 *
 *     E = part of heavy rows * their loss + rest * mean(n / m)
 *     SE = rest * deviation(n / m) / sqrt(k)
 *
 * Rows that would be drawn again and again, the heavy ones, are taken once and for certain.  A loss of a
 * row is a number between 0 and about 1 whatever the row's size, so that few rows show how much they
 * differ.  In the ratio of sums over evenly spaced rows a few large rows decide, and a sample without
 * them knows neither the loss nor its error. */
#include "quant/losses/losses.h"

#include <math.h>

double loss_ratio(double error, double value)
{
    if (error == 0)
        return 0;
    return value > 0 ? error / value : 1;
}

void loss_sums_draw(loss_sums *sums, double error, double value, uint64_t times)
{
    double ratio = loss_ratio(error, value);

    sums->drawn += times;
    sums->ratio += (double)times * ratio;
    sums->ratio_ratio += (double)times * (ratio * ratio);
}

double loss_estimate(const loss_sums *s, double rest, double *standard_error)
{
    double count = (double)s->drawn, certain = loss_ratio(s->error, s->value), mean, squares;

    *standard_error = 0;
    if (s->drawn == 0)
        return certain;
    mean = s->ratio / count;
    squares = s->ratio_ratio - count * (mean * mean);
    if (s->drawn > 1 && squares > 0) /* below 0: rounding, where all are the same */
        *standard_error = rest * sqrt(squares / (count * (count - 1)));
    return (1 - rest) * certain + rest * mean;
}
