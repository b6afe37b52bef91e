/* Memory that a plan of tensors owns: contexts of rows, and numbers that are made. */
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "codec/half.h"
#include "import/architectures/plan/plan.h"

gufo_status plan_keep(tensor_plan *plan, void *block, gufo_error *error)
{
    void **list = mem_grow(plan->allocator, (void *)plan->blocks, plan->block_count,
                           &plan->block_room, sizeof *list);

    if (list == NULL) {
        mem_free(plan->allocator, block);
        return fail_memory(error);
    }
    plan->blocks = list;
    list[plan->block_count++] = block;
    return GUFO_OK;
}

/* Numbers in memory, as a source. */
typedef struct made_numbers {
    source source;
    uint8_t bytes[];
} made_numbers;

gufo_status plan_numbers(tensor_plan *plan, const float *values, uint64_t count, const source **out,
                         gufo_error *error)
{
    uint64_t size;
    made_numbers *numbers;

    if (!checked_mul(count, sizeof(float), &size) || size > SIZE_MAX - sizeof *numbers)
        return fail_memory(error);
    numbers = mem_zero(plan->allocator, sizeof *numbers + (size_t)size);
    if (numbers == NULL)
        return fail_memory(error);
    for (uint64_t i = 0; i < count; i++)
        store_u32(numbers->bytes + 4 * i, float_to_bits(values[i]), bytes_swapped(false));
    source_open_memory(&numbers->source, numbers->bytes, (size_t)size);
    *out = &numbers->source;
    return plan_keep(plan, numbers, error);
}

gufo_status plan_view(tensor_plan *plan, const float *values, uint64_t count, view *out,
                      gufo_error *error)
{
    const source *numbers;
    gufo_status status = plan_numbers(plan, values, count, &numbers, error);

    if (status != GUFO_OK)
        return status;
    *out = (view){.allocator = plan->allocator,
                  .checkpoint = plan->checkpoint,
                  .n_dims = 1,
                  .shape = {count},
                  .numbers = count};
    out->chunks = mem_zero(plan->allocator, sizeof *out->chunks);
    if (out->chunks == NULL)
        return fail_memory(error);
    out->count = out->room = 1;
    out->chunks[0] = (chunk){.source = numbers,
                             .number = number_by_name(gufo_str_of("F32")),
                             .box = {.count = {count}, .stride = {1}, .n = 1},
                             .numbers = count};
    return GUFO_OK;
}
