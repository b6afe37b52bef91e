/* Models for tests of recipes: nothing but names and shapes. */
#ifndef TEST_QUANT_RECIPE_MODEL_H
#define TEST_QUANT_RECIPE_MODEL_H

#include "../support/check.h"

enum { MODEL_TENSORS = 1024, MODEL_NAMES = 65536 };

typedef struct model {
    gufo_tensor tensors[MODEL_TENSORS];
    gufo_recipe_choice choices[MODEL_TENSORS];
    size_t count;
    char names[MODEL_NAMES]; /* what the tensors' names point to */
    size_t names_len;
} model;

static inline void model_clear(model *m)
{
    m->count = m->names_len = 0;
}

/* A matrix, or with `depth` above 1 a stack of them. */
__attribute__((format(printf, 6, 7))) static inline gufo_tensor *model_add(model *m, uint32_t type,
                                                                           uint64_t columns,
                                                                           uint64_t rows,
                                                                           uint64_t depth,
                                                                           const char *format, ...)
{
    char *name = m->names + m->names_len;
    gufo_tensor *tensor = &m->tensors[m->count++];
    const gufo_element_type *known = gufo_element_type_by_id(type);
    va_list arguments;
    int len;

    va_start(arguments, format);
    len = vsnprintf(name, sizeof m->names - m->names_len, format, arguments);
    va_end(arguments);
    check(m->count < MODEL_TENSORS && len > 0, "%s", format);
    m->names_len += (size_t)len + 1;
    check(m->names_len < sizeof m->names, "%s", format);
    *tensor = (gufo_tensor){.name = {name, (size_t)len},
                            .type = type,
                            .n_dims = depth > 1 ? 3 : 2,
                            .dims = {columns, rows, depth, 1},
                            .elements = columns * rows * depth};
    if (known != NULL && known->block_elements != 0)
        tensor->size = tensor->elements / known->block_elements * known->block_bytes;
    return tensor;
}

static inline const gufo_recipe_choice *model_choice(const model *m, const char *name)
{
    for (size_t i = 0; i < m->count; i++)
        if (gufo_str_equal(m->tensors[i].name, gufo_str_of(name)))
            return &m->choices[i];
    check_failed(__FILE__, __LINE__, "no such tensor", "%s", name);
}

static inline gufo_status model_choose(model *m, const gufo_recipe_options *options,
                                       const gufo_recipe_model *facts, gufo_error *error)
{
    return gufo_recipe_choose(options, facts, m->tensors, m->count, m->choices, error);
}

/* The target that TYPE names. */
static inline gufo_quantize_target target_of(const char *name, bool pure)
{
    gufo_quantize_target target = {0};

    check(gufo_quantize_target_by_name(name, pure, &target), "%s", name);
    return target;
}

#endif
