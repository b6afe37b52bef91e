/* Where bytes were spent best: candidates in the order of their sizes, and for each step from one to
 * the next the tensors that lose less for their additional bytes.
 *
 *     candidate 2, 4 MB  ->  candidate 1, 6 MB
 *         blk.0.ffn_down.weight   Q4_K -> Q6_K   1 MB more, loss 0.004 less */
#include "cli/diff/diff_candidates.h"

#include <string.h>

diff_steps diff_steps_of(const gufo_candidate *candidates, size_t count)
{
    size_t order[GUFO_COMPARE_CANDIDATES];
    diff_steps s = {.count = count - 1};

    for (size_t k = 0; k < count; k++) {
        size_t at = k;

        for (; at > 0 && candidates[order[at - 1]].bytes > candidates[k].bytes; at--)
            order[at] = order[at - 1];
        order[at] = k;
    }
    for (size_t i = 0; i + 1 < count; i++)
        s.steps[i] =
            (diff_step){.from = order[i],
                        .to = order[i + 1],
                        .bytes = candidates[order[i + 1]].bytes - candidates[order[i]].bytes};
    return s;
}

double diff_gain_rate(uint64_t bytes, double loss)
{
    return loss / (double)bytes * 1e6;
}

/* Keeps the gain if it is one of the best; of two that are equal, the first. */
static void keep(diff_step *step, const diff_gain *gain)
{
    double rate = diff_gain_rate(gain->bytes, gain->loss);
    size_t at = 0;

    while (at < step->count && diff_gain_rate(step->best[at].bytes, step->best[at].loss) >= rate)
        at++;
    if (at == DIFF_BEST)
        return;
    step->count += step->count < DIFF_BEST;
    memmove(&step->best[at + 1], &step->best[at], (step->count - 1 - at) * sizeof *gain);
    step->best[at] = *gain;
}

static void add(diff_step *step, const gufo_tensor_difference *from,
                const gufo_tensor_difference *to)
{
    diff_gain gain = {.name = from->a.name, .from = from->b.type, .to = to->b.type};
    double before, after;

    if (!gufo_tensor_difference_loss(from, &before) || !gufo_tensor_difference_loss(to, &after))
        return;
    gain.loss = before - after;
    step->loss += gain.loss;
    if (gain.loss <= 0 || to->b.size <= from->b.size)
        return;
    gain.bytes = to->b.size - from->b.size;
    keep(step, &gain);
}

void diff_steps_add(diff_steps *s, const gufo_tensor_difference *row)
{
    for (size_t i = 0; i < s->count; i++)
        add(&s->steps[i], &row[s->steps[i].from], &row[s->steps[i].to]);
}
