/* The methods of quantization, as a table: what a configuration calls them, how their weights are
 * packed, and where the settings are.
 *
 *     config.json          quantization_config, compression_config
 *     params.json          quantization (Mistral)
 *     hf_quant_config.json, quantize_config.json, quant_config.json: files of tools, where the
 *                          configuration says nothing */
#include "import/packed/packed.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/memory.h"
#include "import/json_file.h"

#define CONFIG_LIMIT (UINT64_C(16) << 20)

/* ---- numbers of a configuration ------------------------------------------------------------- */

/* A number under one of two names, as tools call it; *out stays without one.  -1 is the same as
 * nothing. */
static gufo_status read_size(const json_t *how, const char *name, const char *other, uint64_t *out,
                             gufo_error *error)
{
    const json_t *value = json_object_get(how, name);

    if (value == NULL && other != NULL)
        value = json_object_get(how, other);
    if (value == NULL || json_is_null(value))
        return GUFO_OK;
    if (!json_is_integer(value) || json_integer_value(value) < -1)
        return refuse(error, GUFO_E_MALFORMED, "%s of the quantization is not a size", name);
    *out = json_integer_value(value) == -1 ? 0 : (uint64_t)json_integer_value(value);
    return GUFO_OK;
}

static gufo_status read_bits(const json_t *how, const char *name, const char *other, uint32_t *out,
                             gufo_error *error)
{
    uint64_t bits = *out;
    gufo_status status = read_size(how, name, other, &bits, error);

    if (status == GUFO_OK && bits > 32)
        return refuse(error, GUFO_E_MALFORMED,
                      "%" PRIu64 " bits for a number of a quantized weight", bits);
    *out = (uint32_t)bits;
    return status;
}

/* [rows, columns] */
static gufo_status read_block(const json_t *how, const char *name, uint64_t out[2],
                              gufo_error *error)
{
    const json_t *block = json_object_get(how, name);

    if (block == NULL || json_is_null(block))
        return GUFO_OK;
    for (size_t i = 0; i < 2; i++) {
        const json_t *size = json_array_get(block, i);

        if (json_array_size(block) != 2 || !json_is_integer(size) || json_integer_value(size) <= 0)
            return refuse(error, GUFO_E_MALFORMED,
                          "%s of the quantization is not a list of two sizes", name);
        out[i] = (uint64_t)json_integer_value(size);
    }
    return GUFO_OK;
}

/* ---- the methods' settings ------------------------------------------------------------------ */

static gufo_status read_gptq(const json_t *how, packed_settings *out, gufo_error *error)
{
    const char *format = json_string_value(json_object_get(how, "checkpoint_format"));
    gufo_status status;

    out->bits = 4;
    out->zero_plus_one = format == NULL || strcasecmp(format, "gptq_v2") != 0;
    status = read_bits(how, "bits", "w_bit", &out->bits, error);
    return status == GUFO_OK ? read_size(how, "group_size", "q_group_size", &out->group, error)
                             : status;
}

static gufo_status read_awq(const json_t *how, packed_settings *out, gufo_error *error)
{
    gufo_status status;

    out->bits = 4;
    out->symmetric = json_is_false(json_object_get(how, "zero_point"));
    status = read_bits(how, "bits", "w_bit", &out->bits, error);
    return status == GUFO_OK ? read_size(how, "group_size", "q_group_size", &out->group, error)
                             : status;
}

static gufo_status read_fp8(const json_t *how, packed_settings *out, gufo_error *error)
{
    return read_block(how, "weight_block_size", out->block, error);
}

static gufo_status read_nothing(const json_t *how, packed_settings *out, gufo_error *error)
{
    (void)how, (void)out, (void)error;
    return GUFO_OK;
}

/* What compressed-tensors says of the weights of a group of modules. */
static gufo_status read_group(const json_t *group, packed_settings *out, gufo_error *error)
{
    const json_t *weights = json_object_get(group, "weights");
    gufo_status status;

    *out = (packed_settings){.symmetric = !json_is_false(json_object_get(weights, "symmetric")),
                             .reciprocal = true};
    if (!json_is_object(weights))
        return refuse(error, GUFO_E_TYPE, "a group of the quantization has no weights");
    status = read_bits(weights, "num_bits", NULL, &out->bits, error);
    if (status == GUFO_OK)
        status = read_size(weights, "group_size", NULL, &out->group, error);
    return status == GUFO_OK ? read_block(weights, "block_structure", out->block, error) : status;
}

static gufo_status read_groups(const json_t *how, packed_settings *out, gufo_error *error)
{
    json_t *groups = json_object_get(how, "config_groups"), *group;
    const char *sparsity =
        json_string_value(json_object_get(json_object_get(how, "sparsity_config"), "format"));
    const char *name;
    bool first = true;

    if (sparsity != NULL && strcmp(sparsity, "dense") != 0)
        return refuse(error, GUFO_E_TYPE, "sparse weights (%s) are not read",
                      QUOTED(gufo_str_of(sparsity)));
    json_object_foreach(groups, name, group)
    {
        packed_settings settings;
        gufo_status status = read_group(group, &settings, error);

        if (status != GUFO_OK)
            return status;
        if (!first && (settings.bits != out->bits || settings.group != out->group ||
                       settings.symmetric != out->symmetric ||
                       memcmp(settings.block, out->block, sizeof out->block) != 0))
            return refuse(error, GUFO_E_TYPE, "groups of modules are quantized in several ways");
        *out = settings;
        first = false;
    }
    return first ? refuse(error, GUFO_E_MALFORMED, "config_groups of the quantization is empty")
                 : GUFO_OK;
}

/* ---- the table ------------------------------------------------------------------------------ */

#define F8 "F8_E4M3 F8_E5M2"

static const packed_method methods[] = {
    {"fp8",
     NULL,
     NULL,
     {{&packed_fp8, F8}, {&packed_fp8_mistral, F8}, {&packed_fp8_stacked, F8}},
     read_fp8,
     NULL},
    {"fbgemm_fp8",
     NULL,
     NULL,
     {{&packed_scaled, F8}, {&packed_scaled_stacked, F8}},
     read_nothing,
     NULL},
    {"compressed-tensors",
     "format",
     "float-quantized int-quantized naive-quantized",
     {{&packed_scaled, F8 " I8"}},
     read_groups,
     NULL},
    {"compressed-tensors", "format", "pack-quantized", {{&packed_int, NULL}}, read_groups, NULL},
    {"compressed-tensors",
     "format",
     "nvfp4-pack-quantized",
     {{&packed_nvfp4_global, NULL}},
     read_groups,
     NULL},
    {"compressed-tensors", NULL, NULL, {{0}}, NULL, "weights of this format are not read"},
    {"modelopt",
     "quant_algo",
     "FP8 FP8_PER_CHANNEL_PER_TOKEN NVFP4 NVFP4_AWQ MIXED_PRECISION",
     {{&packed_nvfp4, "U8"}, {&packed_scaled, F8}},
     read_nothing,
     NULL},
    {"modelopt", NULL, NULL, {{0}}, NULL, "weights of this kind are not read"},
    {"gptq", "checkpoint_format", "gptq gptq_v2", {{&packed_gptq, NULL}}, read_gptq, NULL},
    {"gptq", NULL, NULL, {{0}}, NULL, "weights of this format are not read"},
    {"awq", "version", "gemm", {{&packed_awq, NULL}}, read_awq, NULL},
    {"awq", NULL, NULL, {{0}}, NULL, "weights of this version are not read"},
    {"mxfp4", NULL, NULL, {{&packed_mxfp4, "U8"}}, read_nothing, NULL},
    {"bitnet", NULL, NULL, {{&packed_ternary, "U8"}}, read_nothing, NULL},
};

#undef F8

/* Whether a word is in a list of words. */
static bool is_in(const char *list, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = list; at != NULL && len > 0; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strncasecmp(at, word, len) == 0 && (at[len] == ' ' || at[len] == '\0'))
            return true;
    }
    return false;
}

/* ---- finding -------------------------------------------------------------------------------- */

/* Objects of the configuration, and the method if they do not name it. */
static const struct {
    const char *name, *method;
    bool of_whole; /* configuration, which may be of more than a model of text */
} objects[] = {
    {"quantization_config", NULL, false},
    {"compression_config", NULL, true},
    {"quantization", "fp8", true},
};

/* Files beside it, the object in them, and the method likewise. */
static const struct {
    const char *name, *object, *method;
} files[] = {
    {"hf_quant_config.json", "quantization", "modelopt"},
    {"quantize_config.json", NULL, "gptq"},
    {"quant_config.json", NULL, "awq"},
};

/* What says how weights are quantized; NULL: nothing does.  *method: its name by default. */
static gufo_status find_how(packed_how *how, const model_config *config, const json_t **out,
                            const char **method, gufo_error *error)
{
    *method = NULL;
    *out = NULL;
    for (size_t i = 0; !json_is_object(*out) && i < sizeof objects / sizeof *objects; i++) {
        *method = objects[i].method;
        *out = json_object_get(objects[i].of_whole ? config->raw : config->fields, objects[i].name);
    }
    for (size_t i = 0; !json_is_object(*out) && i < sizeof files / sizeof *files; i++) {
        gufo_status status = json_file_read(&config->folder, files[i].name, CONFIG_LIMIT,
                                            config->bounds, &how->file, error);

        if (status != GUFO_OK)
            return status;
        *method = files[i].method;
        how->file_name = files[i].name;
        *out = files[i].object != NULL ? json_object_get(how->file, files[i].object) : how->file;
        if (!json_is_object(*out)) {
            json_decref(how->file);
            how->file = NULL;
        }
    }
    if (!json_is_object(*out))
        *out = NULL;
    return GUFO_OK;
}

/* The value of the field that a row is about; "": the configuration has none. */
static const char *value_of(const json_t *how, const char *field)
{
    const json_t *value = field != NULL ? json_object_get(how, field) : NULL;

    return json_is_string(value) ? json_string_value(value) : "";
}

/* The first row for a configuration.  A row with a field is also for those that lack the field, if
 * it is the method's first one. */
static const packed_method *find_row(const json_t *how, const char *name)
{
    const packed_method *found = NULL, *first = NULL;

    for (size_t i = 0; i < sizeof methods / sizeof *methods && found == NULL; i++) {
        const packed_method *row = &methods[i];
        const char *value = value_of(how, row->field);

        if (strcasecmp(row->name, name) != 0)
            continue;
        first = first != NULL ? first : row;
        if (row->field == NULL || is_in(row->values, value) || (*value == '\0' && row == first))
            found = row;
    }
    return found;
}

/* Names the file that settings are in. */
static gufo_status fail_settings(const packed_how *how, const model_config *config,
                                 gufo_status status, gufo_error *error)
{
    if (how->file == NULL || status == GUFO_OK)
        return config_failed(config, status, error);
    source_folder_fail_in(&config->folder, how->file_name, error);
    return status;
}

gufo_status method_open(packed_how *how, const model_config *config, gufo_error *error)
{
    const json_t *json;
    const char *name, *given;
    gufo_status status;

    *how = (packed_how){.method = NULL};
    status = find_how(how, config, &json, &name, error);
    if (status != GUFO_OK || json == NULL)
        return status;
    given = json_string_value(json_object_get(json, "quant_method"));
    name = given != NULL ? given : name != NULL ? name : "unknown method";
    (void)snprintf(how->name, sizeof how->name, "%s", name);
    how->method = find_row(json, name);
    if (how->method == NULL)
        return GUFO_OK;
    for (size_t i = 0; i < sizeof methods / sizeof *methods && how->value[0] == '\0'; i++)
        if (strcmp(methods[i].name, how->method->name) == 0)
            (void)snprintf(how->value, sizeof how->value, "%s", value_of(json, methods[i].field));
    status = how->method->read != NULL ? how->method->read(json, &how->settings, error) : GUFO_OK;
    return fail_settings(how, config, status, error);
}

void method_close(packed_how *how)
{
    json_decref(how->file);
    how->file = NULL;
}
