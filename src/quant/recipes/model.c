/* The facts about a model that recipes ask for, from its metadata. */
#include <stdio.h>

#include "gufo/quant.h"

/* No architecture has a longer name. */
enum { ARCHITECTURE_MAX = 64, KEY_SIZE = ARCHITECTURE_MAX + 32 };

/* A number, or the first one of an array with one per layer. */
static bool read_number(const gufo_model *file, const char *key, uint64_t *out)
{
    gufo_entry entry;
    gufo_value value;

    if (!gufo_metadata_find(file, key, &entry))
        return false;
    value = entry.value;
    if (value.type == GUFO_VALUE_ARRAY &&
        gufo_array_at(&entry.value.as.array, 0, &value, NULL) != GUFO_OK)
        return false;
    return gufo_value_u64(&value, out, NULL) == GUFO_OK;
}

void gufo_recipe_model_read(const gufo_model *file, gufo_recipe_model *out)
{
    struct {
        const char *key;
        uint64_t *to;
    } facts[] = {
        {"block_count", &out->layers},
        {"attention.head_count", &out->heads},
        {"attention.head_count_kv", &out->key_value_heads},
        {"expert_count", &out->experts},
    };
    char key[KEY_SIZE];

    *out = (gufo_recipe_model){.architecture = {"", 0}};
    if (gufo_get_str(file, "general.architecture", &out->architecture, NULL) != GUFO_OK ||
        out->architecture.len > ARCHITECTURE_MAX) {
        out->architecture = gufo_str_of("");
        return;
    }
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        (void)snprintf(key, sizeof key, "%.*s.%s", (int)out->architecture.len,
                       out->architecture.data, facts[i].key);
        (void)read_number(file, key, facts[i].to);
    }
    /* Without groups every head has its own keys and values. */
    if (out->key_value_heads == 0)
        out->key_value_heads = out->heads;
}
