/* The size label of a model, counted from its tensors as the converters of the field do it:
 *
 *     8x7B     of a mixture of experts: the number of experts, and the parameters that are shared
 *              plus those of one expert
 *     3.8B     of any other model: all parameters
 *
 * The experts of a layer are one tensor ("blk.0.ffn_up_exps.weight", the last dimension counts
 * them), or in old files a tensor each ("blk.0.ffn_up.7.weight").  Of an adapter (LoRA) the
 * parameters are those of the matrices that it changes: A has their columns, B their rows. */
#include "schema/name/name.h"

#include "base/checked.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct census {
    uint64_t shared;   /* parameters of no expert */
    uint64_t expert;   /* of one expert, in tensors that hold all of them */
    uint64_t separate; /* of all experts, in tensors that hold one each */
    uint64_t experts;
    bool overflow;
} census;

static void add(census *c, uint64_t *sum, uint64_t count)
{
    c->overflow = c->overflow || !checked_add(*sum, count, sum);
}

/* ---- adapters ------------------------------------------------------------------------------- */

#define LORA_A ".lora_a"
#define LORA_B ".lora_b"

/* The parameters of the matrix that A and B together change; 0 where there is no A. */
static uint64_t changed_parameters(census *c, const gufo_model *model, const gufo_tensor *b)
{
    char name[GUFO_MAX_NAME + 1];
    gufo_tensor a;
    uint64_t count;

    if (b->name.len > GUFO_MAX_NAME || b->dims[0] == 0)
        return 0;
    memcpy(name, b->name.data, b->name.len);
    name[b->name.len] = '\0';
    name[b->name.len - 1] = 'a';
    if (!gufo_model_tensor_find(model, name, &a))
        return 0;
    if (checked_mul(b->elements / b->dims[0], a.dims[0], &count))
        return count;
    c->overflow = true;
    return 0;
}

/* ---- experts -------------------------------------------------------------------------------- */

/* The number of the expert in "blk.0.ffn_up.7.weight". */
static bool expert_number(gufo_str name, uint64_t *number)
{
    static const char *const kinds[] = {".ffn_gate.", ".ffn_up.", ".ffn_down."};
    enum { MOST_DIGITS = 6 };
    size_t at, digits;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!name_find(name, kinds[i], &at))
            continue;
        at += strlen(kinds[i]);
        digits = (size_t)smaller(str_digits(name, at), MOST_DIGITS);
        return at + digits < name.len && name.data[at + digits] == '.' &&
               str_number((gufo_str){name.data + at, digits}, number);
    }
    return false;
}

static void count_tensor(census *c, const gufo_model *model, const gufo_tensor *tensor)
{
    uint64_t elements = tensor->elements, number;
    size_t at;

    if (str_ends(tensor->name, LORA_A))
        return;
    if (str_ends(tensor->name, LORA_B))
        elements = changed_parameters(c, model, tensor);
    if (name_find(tensor->name, "_exps.", &at) && tensor->n_dims > 1 &&
        tensor->dims[tensor->n_dims - 1] > 0) {
        c->experts = larger(c->experts, tensor->dims[tensor->n_dims - 1]);
        add(c, &c->expert, elements / tensor->dims[tensor->n_dims - 1]);
    } else if (expert_number(tensor->name, &number)) {
        c->experts = larger(c->experts, number + 1);
        add(c, &c->separate, elements);
    } else {
        add(c, &c->shared, elements);
    }
}

void name_count_size(const gufo_model *model, name_text *out)
{
    census c = {0};
    gufo_tensor tensor;

    for (uint64_t i = 0; gufo_model_tensor_at(model, i, &tensor); i++)
        count_tensor(&c, model, &tensor);
    if (c.experts > 0)
        add(&c, &c.shared, c.separate / c.experts);
    add(&c, &c.shared, c.expert);
    *out = (name_text){0};
    if (!c.overflow && c.shared > 0)
        name_write_size(c.experts, c.shared, out);
}

/* ---- text ----------------------------------------------------------------------------------- */

bool name_sizes_agree(gufo_str a, gufo_str b)
{
    uint64_t a_experts, b_experts, a_parameters, b_parameters;

    if (!name_is_size(a) || !name_is_size(b) || !name_read_size(a, &a_experts, &a_parameters) ||
        !name_read_size(b, &b_experts, &b_parameters))
        return false;
    uint64_t less = smaller(a_parameters, b_parameters);
    uint64_t more = larger(a_parameters, b_parameters);

    return a_experts == b_experts && more - less < more / 10;
}

/* The parameters in `step`s, rounded to the nearest. */
static uint64_t rounded(uint64_t parameters, uint64_t step)
{
    return parameters / step + (parameters % step >= step - step / 2 ? 1 : 0);
}

/* The precision of a number of parameters: two digits, or all before the point. */
static uint64_t fraction_of(uint64_t parameters, uint64_t unit)
{
    uint64_t fraction = 1;

    for (uint64_t least = parameters; least < 10 * unit && fraction < 1000; least *= 10)
        fraction *= 10;
    return fraction;
}

void name_write_size(uint64_t experts, uint64_t parameters, name_text *out)
{
    char mixture[24] = "", point[24] = "";
    size_t i = 0;

    /* 999.6M is 1000M, that is 1B. */
    while (NAME_SCALES[i + 1] != '\0' && rounded(parameters, name_scale(NAME_SCALES[i])) >= 1000)
        i++;
    uint64_t unit = name_scale(NAME_SCALES[i]);
    uint64_t fraction = fraction_of(parameters, unit);
    uint64_t number = rounded(parameters, unit / fraction);

    for (; fraction > 1 && number % 10 == 0; fraction /= 10)
        number /= 10;
    if (fraction > 1) {
        snprintf(point, sizeof point, "%" PRIu64, fraction + number % fraction);
        point[0] = '.'; /* instead of the 1 that keeps the zeros behind it */
    }
    if (experts > 0)
        snprintf(mixture, sizeof mixture, "%" PRIu64 "x", experts);
    out->len = (size_t)snprintf(out->data, sizeof out->data, "%s%" PRIu64 "%s%c", mixture,
                                number / fraction, point, NAME_SCALES[i]);
}

bool name_set_size(name_text *out, gufo_str label)
{
    size_t first = name_component(label, 0);
    char scale = first > 0 ? to_upper(label.data[first - 1]) : '\0';

    if (label.len > NAME_PART_MAX || !name_is_size(name_slice(label, 0, first)) ||
        name_scale(scale) == 0 ||
        (first < label.len && !name_is_attribute(name_slice(label, first + 1, label.len))))
        return false;
    name_set(out, label);
    out->data[first - 1] = scale;
    return true;
}
