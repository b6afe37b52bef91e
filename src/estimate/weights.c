/* The tensors that an architecture uses, and where llama.cpp loads them: each into a buffer of the
 * host or of a device, at a multiple of 32 bytes.
 *
 * A model without a tensor for the output uses the table of token embeddings for it.  Where the output
 * is on a device, a second copy of the table is loaded there. */
#include "estimate/estimator.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "gufo/schema.h"

#define WEIGHT_ALIGNMENT 32

/* ---- reading -------------------------------------------------------------------------------- */

static bool is_used(const gufo_tensor_match *match, const char *arch)
{
    size_t count;
    const gufo_arch_tensor *rows = gufo_arch_tensors(arch, &count);

    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, match->info->name) == 0)
            return true;
    return false;
}

static uint64_t row_bytes(const gufo_tensor *tensor)
{
    return tensor->elements > 0 ? tensor->size / (tensor->elements / tensor->dims[0]) : 0;
}

static weight make_weight(const gufo_tensor *tensor, const gufo_tensor_match *match,
                          const model_values *v)
{
    tensor_rule rule = rule_read_tensor(v->rule.arch, match->info->name);

    /* A bias beside the table or the output is neither. */
    if (!gufo_str_equal(match->suffix, gufo_str_of(".weight")))
        rule.roles &= ~(unsigned)(ROLE_TABLE | ROLE_HEAD);
    return (weight){.name = tensor->name,
                    .offset = tensor->offset,
                    .bytes = tensor->size,
                    .row_bytes = row_bytes(tensor),
                    .layer = match->block,
                    .shard = tensor->shard,
                    .place = rule.place,
                    .roles = rule.roles};
}

static bool find_weight(gufo_tensor_match *match, const gufo_tensor *tensor, const model_values *v)
{
    return gufo_tensor_info_find_str(tensor->name, match) && is_used(match, v->rule.arch) &&
           !(match->has_block && match->block >= v->layers);
}

bool estimate_weight_read(weight *out, const gufo_tensor *tensor, const model_values *v)
{
    gufo_tensor_match match;

    if (!find_weight(&match, tensor, v))
        return false;
    *out = make_weight(tensor, &match, v);
    return true;
}

static void add_weight(model_weights *w, const gufo_tensor *tensor, const gufo_tensor_match *match,
                       const model_values *v)
{
    weight *one = &w->list[w->count++];

    *one = make_weight(tensor, match, v);
    w->roles |= one->roles;
    if ((one->roles & ROLE_DENSE) != 0)
        w->is_dense[one->layer] = true;
    if ((one->roles & ROLE_FUSED) != 0)
        w->is_fused[one->layer] = true;
}

gufo_status estimate_weights_read(model_weights *w, const gufo_model *model, const model_values *v,
                                  const gufo_allocator *allocator, gufo_error *error)
{
    uint64_t count = gufo_model_tensor_count(model), total = 0;
    gufo_tensor tensor;
    gufo_tensor_match match;

    w->list = mem_array(allocator, count, sizeof *w->list);
    if (w->list == NULL)
        return fail_memory(error);
    for (uint64_t i = 0; i < count && gufo_model_tensor_at(model, i, &tensor); i++) {
        if (find_weight(&match, &tensor, v))
            add_weight(w, &tensor, &match, v);
        else if (!checked_add(w->unused_bytes, tensor.size, &w->unused_bytes))
            return amount_refuse(error);
    }
    if (gufo_model_get_u64(model, "split.tensors.count", &total, NULL) == GUFO_OK && total > count)
        w->missing = total - count;
    return GUFO_OK;
}

/* ---- places --------------------------------------------------------------------------------- */

/* `choice` is the user's. */
gufo_status estimate_weight_device(const weight *w, const model_values *v, const settings *s,
                                   uint32_t *out, gufo_error *error)
{
    int choice =
        s->o.place != NULL ? s->o.place(s->o.place_context, w->name) : GUFO_ESTIMATE_BY_RULE;

    if (choice >= 0 && (uint32_t)choice >= s->o.n_devices)
        return refuse(error, GUFO_E_ARGUMENT, "tensor %s: there are %" PRIu32 " devices, not %d",
                      QUOTED(w->name), s->o.n_devices, choice + 1);
    if (choice != GUFO_ESTIMATE_BY_RULE)
        *out = choice < 0 ? 0 : (uint32_t)choice + 1;
    else if ((w->roles & ROLE_EXPERT) != 0 && w->layer < s->o.n_cpu_moe)
        *out = 0;
    else if (w->place == PLACE_LAYER || w->place == PLACE_FIRST)
        *out = settings_device(s, w->place == PLACE_LAYER ? w->layer : 0);
    else
        *out = w->place == PLACE_OUTPUT ? settings_device(s, v->layers) : 0;
    return GUFO_OK;
}

/* ---- sums ----------------------------------------------------------------------------------- */

uint64_t estimate_weight_room(bool *is_too_large, uint64_t bytes)
{
    return amount_align(is_too_large, bytes, WEIGHT_ALIGNMENT);
}

typedef struct summing {
    gufo_estimate *out;
    uint64_t begin, end; /* of the range of a file that is mapped */
    uint32_t shard;
    bool is_too_large;
} summing;

static void end_range(summing *sum)
{
    sum->out->devices[0].mapped_bytes += sum->end - sum->begin;
    sum->begin = sum->end = 0;
}

/* Mapped of a file is from the first to the last tensor of the host. */
static void map_weight(summing *sum, const weight *w)
{
    uint64_t end;

    if (w->offset == GUFO_NO_OFFSET || !checked_add(w->offset, w->bytes, &end))
        return;
    if (sum->shard != w->shard)
        end_range(sum);
    sum->shard = w->shard;
    if (sum->end == 0)
        sum->begin = w->offset;
    sum->begin = smaller(sum->begin, w->offset);
    sum->end = larger(sum->end, end);
}

static void add_read(summing *sum, uint32_t device, uint64_t bytes)
{
    uint64_t *read = &sum->out->devices[device].read_bytes;

    *read = amount_plus(&sum->is_too_large, *read, bytes);
}

static void add_copy(summing *sum, uint32_t device, const weight *w)
{
    uint64_t *bytes = &sum->out->devices[device].model_bytes;

    *bytes =
        amount_plus(&sum->is_too_large, *bytes, estimate_weight_room(&sum->is_too_large, w->bytes));
    if (device == 0)
        map_weight(sum, w);
}

/* Which devices have layers that use a tensor outside blocks. */
static void find_users(bool *has, const weight *w, const model_values *v, const settings *s)
{
    for (uint64_t i = 0; i < v->layers; i++)
        if (w->place == PLACE_EVERY || !v->layer[i].has_window)
            has[settings_device(s, i)] = true;
}

/* Copies of a tensor that each device with such layers has. */
static void add_everywhere(summing *sum, const weight *w, const model_values *v, const settings *s)
{
    bool has[1 + GUFO_ESTIMATE_MAX_DEVICES] = {false};

    find_users(has, w, v, s);
    for (uint32_t d = 0; d < sum->out->device_count; d++)
        if (has[d]) {
            add_copy(sum, d, w);
            add_read(sum, d, w->bytes);
        }
}

/* The second copy of the table of tokens, for the output. */
static void add_second_table(summing *sum, const model_weights *w, const model_values *v,
                             const settings *s, const weight *table, uint32_t device)
{
    uint32_t output = settings_device(s, v->layers);

    if ((w->roles & ROLE_HEAD) != 0 || v->rule.has[RULE_NO_TABLE])
        return;
    if (output != device || v->rule.has[RULE_TABLE_TWICE])
        add_copy(sum, output, table);
    add_read(sum, output, table->bytes);
}

gufo_status estimate_weights_sum(const model_weights *w, const model_values *v, const settings *s,
                                 gufo_estimate *out, expert_places *experts, gufo_error *error)
{
    summing sum = {.out = out};

    for (uint64_t i = 0; i < w->count; i++) {
        const weight *one = &w->list[i];
        uint32_t device;
        gufo_status status = estimate_weight_device(one, v, s, &device, error);

        if (status != GUFO_OK)
            return status;
        if ((one->roles & ROLE_EXPERT) != 0 && settings_device(s, one->layer) != 0) {
            experts->on_host |= device == 0;
            experts->on_devices |= device != 0;
        }
        if (one->place == PLACE_EVERY || one->place == PLACE_UNWINDOWED) {
            add_everywhere(&sum, one, v, s);
        } else {
            add_copy(&sum, device, one);
            add_read(&sum, device, speed_weight(one, v));
        }
        if ((one->roles & ROLE_TABLE) != 0)
            add_second_table(&sum, w, v, s, one, device);
    }
    end_range(&sum);
    out->unused_bytes = w->unused_bytes;
    out->missing_tensors = w->missing;
    return sum.is_too_large ? amount_refuse(error) : GUFO_OK;
}
