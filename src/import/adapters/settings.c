/* adapter_config.json: which kind of adapter it is, and how strong.
 *
 * The scale of a pair is alpha / rank, or alpha / sqrt(rank) with use_rslora; patterns give modules a rank or
 * an alpha of their own.  Readers of GGUF divide one alpha by the rank of each pair.  What that does
 * not give is a factor of the pair's numbers. */
#include "import/adapters/adapter.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/containers/checkpoint.h"
#include "import/json_file.h"

#define SETTINGS_NAME "adapter_config.json"

enum { SETTINGS_LIMIT = 16 << 20, MOST_KEY = 1024, MOST_RANK = 1 << 20 };

/* ---- what is not converted ------------------------------------------------------------------ */

/* Fields that must be false, null or empty. */
static const struct refused_field {
    const char *name, *why;
} refused_fields[] = {
    {"use_dora", "this is a DoRA adapter (use_dora): its magnitudes have no place in GGUF"},
    {"use_qalora", "this is a QALoRA adapter (use_qalora), which applies to groups of inputs, not "
                   "to single ones"},
    {"layer_replication", "the adapter is for a model with repeated layers (layer_replication)"},
    {"target_parameters", "the adapter changes parameters that are not the weights of modules "
                          "(target_parameters), whose "
                          "pairs are not converted"},
};

static bool is_set(const json_t *value)
{
    if (json_is_array(value) || json_is_object(value))
        return json_array_size(value) + json_object_size(value) > 0;
    return value != NULL && !json_is_null(value) && !json_is_false(value);
}

static gufo_status check_kind(const adapter *a, gufo_error *error)
{
    gufo_str kind = json_str(json_object_get(a->settings, "peft_type"));

    if (!gufo_str_equal(kind, gufo_str_of("LORA")))
        return refuse(error, GUFO_E_TYPE,
                      "peft_type is %s: only adapters of the type LORA are converted",
                      kind.len > 0 ? QUOTED(kind) : "missing");
    for (size_t i = 0; i < sizeof refused_fields / sizeof *refused_fields; i++)
        if (is_set(json_object_get(a->settings, refused_fields[i].name)))
            return refuse(error, GUFO_E_TYPE, "%s", refused_fields[i].why);
    return GUFO_OK;
}

/* ---- numbers -------------------------------------------------------------------------------- */

static gufo_status read_rank(const json_t *value, const char *name, uint64_t *out,
                             gufo_error *error)
{
    json_int_t number =
        json_is_real(value) && json_real_value(value) >= 0 && json_real_value(value) <= MOST_RANK
            ? (json_int_t)json_real_value(value)
            : json_integer_value(value);

    if (!json_is_number(value) || number < 1 || number > MOST_RANK ||
        json_number_value(value) != (double)number)
        return refuse(error, GUFO_E_MALFORMED, "%s is not a rank: a whole number from 1 to %d",
                      name, MOST_RANK);
    *out = (uint64_t)number;
    return GUFO_OK;
}

/* F32 has to hold it. */
static bool is_scale(double value)
{
    return isfinite(value) && fabs(value) <= FLT_MAX && fabs(value) >= FLT_MIN;
}

static gufo_status read_alpha(const json_t *value, const char *name, double *out, gufo_error *error)
{
    if (!json_is_number(value) || !is_scale(json_number_value(value)))
        return refuse(error, GUFO_E_MALFORMED,
                      "%s is not a scale: a number that is neither 0 nor beyond F32", name);
    *out = json_number_value(value);
    return GUFO_OK;
}

/* ---- patterns ------------------------------------------------------------------------------- */

/* Whether the key of a pattern is an expression, not a name. */
static bool is_expression(const char *key)
{
    return strpbrk(key, "*+?[](){}|\\^$") != NULL;
}

/* A pattern that is not read would scale nothing. */
static gufo_status read_pattern(adapter *a, const char *field, adapter_pattern *out,
                                gufo_error *error)
{
    json_t *given = json_object_get(a->settings, field), *value;
    uint64_t place = 0;
    const char *key;

    *out = (adapter_pattern){json_object(), UINT64_MAX};
    if (out->places == NULL)
        return fail_memory(error);
    if (given != NULL && !json_is_null(given) && !json_is_object(given))
        return refuse(error, GUFO_E_MALFORMED, "%s is not an object", field);
    json_object_foreach(given, key, value)
    {
        if (strlen(key) > MOST_KEY)
            return refuse(error, GUFO_E_LIMIT, "a key of %s has more than %s bytes", field,
                          GROUPED(MOST_KEY));
        if (!is_expression(key) &&
            json_object_set_new(out->places, key, json_integer((json_int_t)place)) != 0)
            return fail_memory(error);
        if (is_expression(key) && out->expressions_at == UINT64_MAX)
            out->expressions_at = place;
        place++;
    }
    return GUFO_OK;
}

/* The key of a pattern that counts for a module: an end of its name; "": none.  *known: false where an
 * expression might fit. */
static gufo_str find_key(const adapter_pattern *pattern, gufo_str module, bool *known)
{
    uint64_t first = UINT64_MAX;
    gufo_str found = {"", 0};

    for (size_t i = module.len > MOST_KEY ? module.len - MOST_KEY : 0; i < module.len; i++) {
        const gufo_str end = str_from(module, i);
        const json_t *place = i == 0 || module.data[i - 1] == '.'
                                  ? json_object_getn(pattern->places, end.data, end.len)
                                  : NULL;

        if (place == NULL || (uint64_t)json_integer_value(place) > first)
            continue;
        first = (uint64_t)json_integer_value(place);
        found = end;
    }
    *known = first <= pattern->expressions_at;
    return found;
}

/* The value that a pattern gives to a module; NULL: none. */
static const json_t *find_pattern(const adapter *a, const char *field,
                                  const adapter_pattern *pattern, gufo_str module, bool *known)
{
    const gufo_str key = find_key(pattern, module, known);

    return key.len > 0 ? json_object_getn(json_object_get(a->settings, field), key.data, key.len)
                       : NULL;
}

static gufo_status check_rank(const adapter *a, gufo_str module, uint64_t rank, gufo_error *error)
{
    bool known;
    const json_t *value = find_pattern(a, "rank_pattern", &a->ranks, module, &known);
    uint64_t wanted = a->rank;
    gufo_status status = GUFO_OK;

    if (value != NULL)
        status = read_rank(value, "a value of rank_pattern", &wanted, error);
    if (status != GUFO_OK || !known || rank == wanted)
        return status;
    return refuse(error, GUFO_E_MALFORMED,
                  "the pair of %s has rank %" PRIu64 ", but " SETTINGS_NAME " says %" PRIu64,
                  QUOTED(module), rank, wanted);
}

gufo_status adapter_scale(const adapter *a, gufo_str module, uint64_t rank, double *scale,
                          gufo_error *error)
{
    bool known;
    const json_t *value = find_pattern(a, "alpha_pattern", &a->alphas, module, &known);
    double alpha = a->alpha;
    gufo_status status = check_rank(a, module, rank, error);

    if (status == GUFO_OK && !known)
        return refuse(error, GUFO_E_TYPE,
                      "alpha_pattern has keys that are expressions; only names of modules are "
                      "understood");
    if (status == GUFO_OK && value != NULL)
        status = read_alpha(value, "a value of alpha_pattern", &alpha, error);
    *scale = alpha / a->alpha;
    if (a->has_root && rank != a->rank)
        *scale *= sqrt((double)rank / (double)a->rank);
    if (status != GUFO_OK || is_scale(*scale))
        return status;
    return refuse(error, GUFO_E_MALFORMED, "alpha_pattern scales the pair of %s by %g",
                  QUOTED(module), *scale);
}

/* ---- reading -------------------------------------------------------------------------------- */

static gufo_status read_numbers(adapter *a, gufo_error *error)
{
    gufo_status status = read_rank(json_object_get(a->settings, "r"), "r", &a->rank, error);

    if (status == GUFO_OK)
        status =
            read_alpha(json_object_get(a->settings, "lora_alpha"), "lora_alpha", &a->alpha, error);
    if (status != GUFO_OK)
        return status;
    a->has_root = is_set(json_object_get(a->settings, "use_rslora"));
    a->stored = a->has_root ? a->alpha * sqrt((double)a->rank) : a->alpha;
    return is_scale(a->stored)
               ? GUFO_OK
               : refuse(error, GUFO_E_MALFORMED, "lora_alpha times the root of r is beyond F32");
}

gufo_status adapter_take(adapter *a, json_t *settings, gufo_error *error)
{
    gufo_status status;

    a->settings = settings;
    if (!json_is_object(settings))
        return refuse(error, GUFO_E_MALFORMED, "not an object of JSON");
    status = check_kind(a, error);
    if (status == GUFO_OK)
        status = read_pattern(a, "rank_pattern", &a->ranks, error);
    if (status == GUFO_OK)
        status = read_pattern(a, "alpha_pattern", &a->alphas, error);
    if (status == GUFO_OK)
        status = read_numbers(a, error);
    a->base = json_str(json_object_get(settings, "base_model_name_or_path"));
    return status;
}

static gufo_status read_settings(adapter *a, const source_folder *folder, import_bounds *bounds,
                                 gufo_error *error)
{
    json_t *settings = NULL;
    gufo_status status =
        json_file_read(folder, SETTINGS_NAME, SETTINGS_LIMIT, bounds, &settings, error);

    if (status == GUFO_OK && settings == NULL)
        return refuse(error, GUFO_E_NOT_FOUND,
                      "no such file: an adapter is a folder with " SETTINGS_NAME
                      " and adapter_model.safetensors");
    return status == GUFO_OK ? adapter_take(a, settings, error) : status;
}

gufo_status adapter_open(adapter *a, const source_folder *folder, import_bounds *bounds,
                         const gufo_allocator *allocator, gufo_error *error)
{
    gufo_status status;

    *a = (adapter){.allocator = mem_allocator(allocator)};
    a->path = source_folder_join(folder, SETTINGS_NAME, a->allocator);
    if (a->path == NULL)
        return fail_memory(error);
    status = read_settings(a, folder, bounds, error);
    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_INPUT, 0, a->path);
    return status;
}

void adapter_close(adapter *a)
{
    if (a->allocator == NULL)
        return;
    if (a->seen.allocator != NULL)
        checkpoint_free_tensors(&a->seen);
    mem_free(a->allocator, a->products.list);
    mem_free(a->allocator, a->path);
    json_decref(a->settings);
    json_decref(a->ranks.places);
    json_decref(a->alphas.places);
    *a = (adapter){0};
}
