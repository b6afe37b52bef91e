/* What one token reads, and the bound of speed that follows from it: generation has to read all weights
 * in use, and the cache, once for every token, and memory is slower than arithmetic.
 *
 *     weights         whole; of tables a row; of experts those that are in use, k of X
 *     cache           of one sequence, full
 *     state           of one sequence
 *
 * Devices follow one another, so that their times add up. */
#include "estimate/estimator.h"

bool speed_has_layer(const model_values *v, uint64_t layer)
{
    return layer + v->predicting < v->layers;
}

uint64_t speed_weight(const weight *w, const model_values *v)
{
    if (w->place == PLACE_HOST)
        return w->row_bytes;
    if (w->place == PLACE_LAYER && !speed_has_layer(v, w->layer))
        return 0;
    if ((w->roles & ROLE_EXPERT) != 0 && v->experts > 0)
        return w->bytes / v->experts * smaller(v->experts_used, v->experts);
    return w->bytes;
}

uint64_t speed_cache(const settings *s, uint64_t bytes)
{
    return bytes / s->n_streams;
}

uint64_t speed_state(const model_values *v, const settings *s, uint64_t bytes)
{
    uint64_t snapshots = v->rule.has_snapshots ? s->o.n_rs_seq : 0;

    return bytes / s->o.n_seq / (1 + snapshots);
}

double gufo_estimate_speed(const gufo_estimate *e, uint64_t host_bandwidth,
                           const uint64_t *device_bandwidths)
{
    double seconds = 0;

    if (e == NULL)
        return 0;
    for (uint32_t d = 0; d < e->device_count; d++) {
        uint64_t bandwidth = host_bandwidth;

        if (d > 0)
            bandwidth = device_bandwidths != NULL ? device_bandwidths[d - 1] : 0;
        if (bandwidth > 0)
            seconds += (double)e->devices[d].read_bytes / (double)bandwidth;
    }
    return seconds > 0 ? 1 / seconds : 0;
}
