/* Sums over a model, for gufo show. */
#include "cli/show.h"

static uint64_t saturating_add(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

show_totals show_sum(const input *in)
{
    show_totals totals = {.sizes_known = true};
    gufo_tensor tensor;

    for (size_t i = 0; i < gufo_model_shard_count(in->model); i++) {
        totals.file_size =
            saturating_add(totals.file_size, gufo_model_facts(gufo_model_shard(in->model, i)).size);
        totals.data_size = saturating_add(
            totals.data_size, gufo_model_facts(gufo_model_shard(in->model, i)).data_size);
    }
    for (; gufo_tensor_at(in->model, totals.tensors, &tensor); totals.tensors++) {
        totals.parameters = saturating_add(totals.parameters, tensor.elements);
        totals.tensor_size = saturating_add(totals.tensor_size, tensor.size);
        totals.complete += tensor.complete;
        totals.sizes_known = totals.sizes_known && tensor.size_known;
    }
    return totals;
}
