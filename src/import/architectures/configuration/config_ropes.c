/* Parameters of rotary positions: one object, whichever way a configuration spells them.
 *
 * New ones have "rope_parameters" with all of them, or one object for each kind of attention; older
 * ones have "rope_scaling" and the rest beside it. */
#include "import/architectures/configuration/config_parts.h"

#include "base/error.h"

enum { MAX_NAMES = 5 };

/* A parameter, and the fields of the configuration that may have it, the first one that does. */
static const struct rope_row {
    const char *parameter;
    const char *fields[MAX_NAMES + 1];
} completions[] = {
    {"rope_theta",
     {"global_rope_theta", "rope_global_theta", "rope_theta_global", "rope_theta",
      "rotary_emb_base"}},
    {"partial_rotary_factor", {"partial_rotary_factor", "rope_pct", "rope_percent"}},
    {"original_max_position_embeddings", {"original_max_position_embeddings"}},
};

static const char *const window_bases[] = {"local_rope_theta",     "rope_local_theta",
                                           "rope_theta_local",     "swa_rope_theta",
                                           "rope_local_base_freq", NULL};

/* The first field that is present; NULL also where that is null. */
static json_t *first_field(const json_t *fields, const char *const *names)
{
    json_t *found = NULL;

    for (size_t i = 0; names[i] != NULL && found == NULL; i++)
        found = json_object_get(fields, names[i]);
    return json_is_null(found) ? NULL : found;
}

/* Sets a parameter that is missing to a value, if there is one. */
static bool complete(json_t *ropes, const char *name, json_t *value)
{
    return value == NULL || json_object_get(ropes, name) != NULL ||
           json_object_set(ropes, name, value) == 0;
}

static bool complete_window(json_t *ropes, json_t *base)
{
    json_t *window;

    if (base == NULL)
        return true;
    window = json_pack("{s:O}", "rope_theta", base);
    return window != NULL && json_object_set_new(ropes, "sliding_attention", window) == 0;
}

static bool complete_all(json_t *ropes, const json_t *fields)
{
    json_t *type = json_object_get(ropes, "type");
    bool done;

    if (json_object_get(ropes, "full_attention") != NULL ||
        json_object_get(ropes, "sliding_attention") != NULL)
        return true;
    done = complete_window(ropes, first_field(fields, window_bases)) &&
           complete(ropes, "rope_type", json_is_null(type) ? NULL : type);
    for (size_t i = 0; i < sizeof completions / sizeof *completions && done; i++)
        done =
            complete(ropes, completions[i].parameter, first_field(fields, completions[i].fields));
    return done;
}

gufo_status config_complete_ropes(model_config *config, gufo_error *error)
{
    const char *name = "rope_parameters";
    json_t *given = json_object_get(config->fields, name);

    if (given == NULL)
        given = json_object_get(config->fields, name = "rope_scaling");
    if (given != NULL && !json_is_null(given) && !json_is_object(given) && !config->is_generic)
        return refuse(error, GUFO_E_MALFORMED, "%s is not an object", name);
    json_decref(config->ropes);
    config->ropes = json_is_object(given) ? json_deep_copy(given) : json_object();
    if (config->ropes == NULL || !complete_all(config->ropes, config->fields))
        return fail_memory(error);
    return GUFO_OK;
}
