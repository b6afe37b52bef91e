/* From the sums of rows to a loss and its standard error.
 *
 * The loss is a ratio of sums, E = sum n / sum m, and not a mean of ratios, in which rows of tiny
 * numbers would count as much as others.  The standard error of a ratio that is estimated from k of K
 * rows, to the first order (Cochran, "Sampling Techniques", 1977, section 6.4):
 *
 *     SE^2 = (1 - k/K) / (k (k - 1)) * sum (n - E m)^2 / mean(m)^2
 */
#include "quant/losses/losses.h"

#include <math.h>

void loss_sums_add(loss_sums *sums, double error, double value)
{
    sums->count++;
    sums->error += error;
    sums->value += value;
    sums->error_error += error * error;
    sums->error_value += error * value;
    sums->value_value += value * value;
}

double loss_ratio(double error, double value)
{
    if (error == 0)
        return 0;
    return value > 0 ? error / value : 1;
}

double loss_standard_error(const loss_sums *s, uint64_t all)
{
    double count = (double)s->count, ratio = loss_ratio(s->error, s->value), mean, squares;

    if (s->count >= all)
        return 0;
    if (s->count < 2 || s->value <= 0)
        return ratio;
    mean = s->value / count;
    squares = s->error_error - 2 * ratio * s->error_value + ratio * ratio * s->value_value;
    if (!(squares > 0)) /* rounding, where all rows have the same ratio */
        return 0;
    return sqrt((1 - count / (double)all) / (count * (count - 1)) * squares) / mean;
}
