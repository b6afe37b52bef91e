/* The size label that a converter writes: two digits at least, in thousands, millions, billions or
 * trillions.  That of a file's name (schema/name/size.c) counts experts' biases as experts, and is written otherwise:
 * here 1,000,000,000 is "1000M", there "1B". */
#include "import/general/size_label.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/checked.h"
#include "base/text.h"

static uint64_t add(uint64_t a, uint64_t b)
{
    uint64_t sum;

    return checked_add(a, b, &sum) ? sum : UINT64_MAX;
}

static uint64_t elements_of(const gufo_document_tensor *tensor)
{
    uint64_t product = 1;

    for (uint32_t i = 0; i < tensor->n_dims; i++)
        if (!checked_mul(product, tensor->dims[i], &product))
            return UINT64_MAX;
    return product;
}

/* How many experts a tensor holds; 0: it counts as shared by all, as matrices do, those of biases too. */
static uint64_t experts_of(const gufo_document_tensor *tensor)
{
    bool bias = str_search(tensor->name, gufo_str_of(".bias")) != NULL;

    if (str_search(tensor->name, gufo_str_of("_exps.")) == NULL || tensor->n_dims < 3)
        return 0;
    return tensor->dims[bias ? 1 : 2];
}

parameter_count count_parameters(const gufo_document *document)
{
    uint64_t sum_of_experts = 0, tensors_of_experts = 0;
    parameter_count count = {0};
    gufo_document_tensor tensor;

    for (uint64_t i = 0; gufo_document_tensor_at(document, i, &tensor); i++) {
        uint64_t elements = elements_of(&tensor), experts = experts_of(&tensor);

        count.total = add(count.total, elements);
        if (experts == 0) {
            count.shared = add(count.shared, elements);
            continue;
        }
        count.expert = add(count.expert, elements / experts);
        sum_of_experts = add(sum_of_experts, experts);
        tensors_of_experts++;
    }
    if (tensors_of_experts > 0)
        count.experts = sum_of_experts / tensors_of_experts;
    return count;
}

/* The comma of a locale becomes a point. */
static size_t copy_number(const char *from, char *out)
{
    size_t len = 0;

    for (; *from != '\0'; from++)
        if (is_digit(*from))
            out[len++] = *from;
        else if (out[len - 1] != '.')
            out[len++] = '.';
    return len;
}

static void write_scaled(uint64_t number, char out[SIZE_LABEL_ROOM / 2])
{
    static const struct {
        uint64_t above;
        double scale;
        char letter;
    } scales[] = {{UINT64_C(1000000000000), 1e-12, 'T'},
                  {UINT64_C(1000000000), 1e-9, 'B'},
                  {UINT64_C(1000000), 1e-6, 'M'},
                  {0, 1e-3, 'K'}};
    char digits[SIZE_LABEL_ROOM / 2];
    double scaled, rounded;
    size_t i = 0, len;

    while (number <= scales[i].above && scales[i].above > 0)
        i++;
    scaled = (double)number * scales[i].scale;
    rounded = nearbyint(scaled);
    (void)snprintf(digits, sizeof digits, "%.*f", rounded < 1 ? 2 : rounded < 10 ? 1 : 0, scaled);
    len = copy_number(digits, out);
    out[len] = scales[i].letter;
    out[len + 1] = '\0';
}

void size_label_write(const parameter_count *count, char out[SIZE_LABEL_ROOM])
{
    char size[SIZE_LABEL_ROOM / 2];

    write_scaled(count->experts > 0 ? add(count->shared, count->expert) : count->total, size);
    if (count->experts > 0)
        (void)snprintf(out, SIZE_LABEL_ROOM, "%" PRIu64 "x%s", count->experts, size);
    else
        (void)snprintf(out, SIZE_LABEL_ROOM, "%s", size);
}
