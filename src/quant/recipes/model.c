/* The facts about a model that recipes ask for, from its metadata. */
#include <stdio.h>
#include <string.h>

#include "gufo/schema.h"
#include "quant/recipes/recipe.h"

/* No architecture has a longer name. */
enum { ARCHITECTURE_MAX = 64, KEY_SIZE = ARCHITECTURE_MAX + 32 };

static const struct {
    const char *key;
    size_t at;
} facts[] = {
    {"{arch}.block_count", offsetof(gufo_recipe_model, layers)},
    {"{arch}.attention.head_count", offsetof(gufo_recipe_model, heads)},
    {"{arch}.attention.head_count_kv", offsetof(gufo_recipe_model, key_value_heads)},
    {"{arch}.expert_count", offsetof(gufo_recipe_model, experts)},
};

enum { FACT_COUNT = sizeof facts / sizeof *facts };

static uint64_t *fact_at(gufo_recipe_model *model, size_t i)
{
    return (uint64_t *)(void *)((char *)model + facts[i].at);
}

/* A number, or the first one of an array with one per layer. */
static bool read_number(const gufo_model *file, const char *key, uint64_t *out)
{
    gufo_value value, first;

    if (!gufo_key_value(file, key, &value))
        return false;
    if (value.type != GUFO_VALUE_ARRAY)
        return gufo_value_u64(&value, out, NULL) == GUFO_OK;
    return gufo_array_at(&value.as.array, 0, &first, NULL) == GUFO_OK &&
           gufo_value_u64(&first, out, NULL) == GUFO_OK;
}

void gufo_recipe_model_read(const gufo_model *file, gufo_recipe_model *out)
{
    *out = (gufo_recipe_model){.architecture = {"", 0}};
    if (gufo_get_str(file, "general.architecture", &out->architecture, NULL) != GUFO_OK ||
        out->architecture.len > ARCHITECTURE_MAX) {
        out->architecture = gufo_str_of("");
        return;
    }
    for (size_t i = 0; i < FACT_COUNT; i++)
        (void)read_number(file, facts[i].key, fact_at(out, i));
    /* 0 groups: every head has its own keys and values. */
    if (out->key_value_heads == 0)
        out->key_value_heads = out->heads;
}

void recipe_model_override(gufo_recipe_model *model, const gufo_quantize_override *overrides,
                           size_t count)
{
    char key[KEY_SIZE];

    for (size_t i = 0; i < FACT_COUNT; i++) {
        (void)snprintf(key, KEY_SIZE, "%.*s%s", (int)model->architecture.len,
                       model->architecture.data, facts[i].key + strlen("{arch}"));
        for (size_t k = 0; k < count; k++)
            if (gufo_str_equal(overrides[k].key, gufo_str_of(key)))
                (void)gufo_value_u64(&overrides[k].value, fact_at(model, i), NULL);
    }
}
