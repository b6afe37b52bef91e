/* All files beside the tensors, in the order in which each needs those before it. */
#include <string.h>

#include "base/error.h"
#include "gufo/schema.h"
#include "import/architectures/inverse/inverse.h"
#include "import/architectures/inverse/model_keys.h"
#include "import/export/parts.h"

/* The type of the largest tensor. */
static uint32_t main_type(const gufo_model *model)
{
    uint64_t largest = 0;
    uint32_t type = GUFO_TYPE_BF16;
    gufo_tensor t;

    for (uint64_t i = 0; gufo_tensor_at(model, i, &t); i++)
        if (t.n_dims > 1 && t.elements > largest) {
            largest = t.elements;
            type = t.type;
        }
    return type;
}

/* What the frameworks call a type. */
static const char *dtype_of(uint32_t type)
{
    static const struct {
        uint32_t type;
        const char *name;
    } names[] = {{GUFO_TYPE_F32, "float32"}, {GUFO_TYPE_F16, "float16"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (type == names[i].type)
            return names[i].name;
    return "bfloat16"; /* quantized tensors, too */
}

static gufo_status warn(void *context, const char *sentence, gufo_error *error)
{
    return export_warn(context, error, "%s", sentence);
}

gufo_status export_config(const gufo_model *model, json_t **out, export_files *files,
                          gufo_error *error)
{
    const inverse_warner warner = {warn, files};

    return inverse_config(model, &warner, out, error);
}

static gufo_status add_config(const gufo_model *model, json_t *config, export_files *files,
                              gufo_error *error)
{
    if (json_object_get(config, "torch_dtype") == NULL &&
        json_object_set_new(config, "torch_dtype", json_string(dtype_of(main_type(model)))) != 0)
        return fail_memory(error);
    return export_add_json(files, "config.json", config, error);
}

/* ---- generation_config.json ------------------------------------------------------------------ */

static const struct {
    const char *key, *field;
} samplings[] = {
    {"general.sampling.sequence", "sequence"},
    {"general.sampling.top_k", "top_k"},
    {"general.sampling.top_p", "top_p"},
    {"general.sampling.min_p", "min_p"},
    {"general.sampling.xtc_probability", "xtc_probability"},
    {"general.sampling.xtc_threshold", "xtc_threshold"},
    {"general.sampling.temp", "temperature"},
    {"general.sampling.penalty_last_n", "penalty_last_n"},
    {"general.sampling.penalty_repeat", "penalty_repeat"},
    {"general.sampling.mirostat", "mirostat"},
    {"general.sampling.mirostat_tau", "mirostat_tau"},
    {"general.sampling.mirostat_eta", "mirostat_eta"},
    {"tokenizer.ggml.bos_token_id", "bos_token_id"},
    {"tokenizer.ggml.eos_token_id", "eos_token_id"},
    {"tokenizer.ggml.padding_token_id", "pad_token_id"},
};

static gufo_status add_generation(const gufo_model *model, export_files *files, gufo_error *error)
{
    json_t *fields = json_object();
    gufo_status status = fields != NULL ? GUFO_OK : fail_memory(error);
    gufo_entry entry;

    for (size_t i = 0; status == GUFO_OK && i < sizeof samplings / sizeof *samplings; i++) {
        json_t *value = NULL;

        if (gufo_key_entry(model, samplings[i].key, &entry))
            value = model_key_value(&entry.value);
        if (value != NULL && json_object_set_new(fields, samplings[i].field, value) != 0)
            status = fail_memory(error);
    }
    if (status == GUFO_OK && json_object_size(fields) > 0)
        status = export_add_json(files, "generation_config.json", fields, error);
    json_decref(fields);
    return status;
}

gufo_status export_add_files(const gufo_model *model, json_t *config, export_files *files,
                             gufo_error *error)
{
    gufo_status status = add_config(model, config, files, error);

    if (status == GUFO_OK)
        status = add_generation(model, files, error);
    if (status == GUFO_OK)
        status = export_vocabulary(model, files, error);
    if (status == GUFO_OK)
        status = export_card(model, files, error);
    return status == GUFO_OK ? export_metadata(model, main_type(model), files, error) : status;
}
