/* An adapter on its way to GGUF: the rules and the configuration are those of its base, all else is its
 * own. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/architectures/inverse/inverse.h"
#include "import/architectures/operations/tensors.h"
#include "import/conversion/conversion.h"
#include "import/json_file.h"

/* ---- the base ------------------------------------------------------------------------------- */

/* The last name of a path, or of an id. */
static gufo_str last_name(gufo_str path)
{
    while (path.len > 0 && path.data[path.len - 1] == '/')
        path.len--;
    for (size_t i = path.len; i > 0; i--)
        if (path.data[i - 1] == '/')
            return (gufo_str){path.data + i, path.len - i};
    return path;
}

static gufo_status fail_base(const conversion *c, gufo_error *error)
{
    const char *field = "base_model_name_or_path";
    gufo_status status =
        c->adapter.base.len == 0
            ? refuse(error, GUFO_E_NOT_FOUND, "the base of the adapter is not known: no %s", field)
            : refuse(error, GUFO_E_NOT_FOUND,
                     "the base of the adapter, %s (%s), is not in a folder of that name beside it",
                     QUOTED(c->adapter.base), field);

    fail_in(error, GUFO_FILE_INPUT, 0, c->adapter.path);
    return import_advise(status, GUFO_ADVICE_BASE, error);
}

/* FOLDER/../NAME, which the caller frees; NULL without memory. */
static char *path_beside(const source_folder *folder, gufo_str name,
                         const gufo_allocator *allocator)
{
    char *above = source_folder_join(folder, "../", allocator);
    char *path = above != NULL ? mem_join(allocator, gufo_str_of(above), name) : NULL;

    mem_free(allocator, above);
    return path;
}

/* It is a stranger who names the base. */
static gufo_status check_base(const conversion *c, const char *folder, gufo_error *error)
{
    struct stat info;

    if (c->place.folder.follow || lstat(folder, &info) != 0 || !S_ISLNK(info.st_mode))
        return GUFO_OK;
    (void)refuse(error, GUFO_E_MALFORMED, "the folder named like the adapter's base is a symlink");
    fail_in(error, GUFO_FILE_INPUT, 0, folder);
    return import_advise(GUFO_E_MALFORMED, GUFO_ADVICE_FOLLOW, error);
}

/* A folder on disk beside that of the adapter, called as its base: *out is owned; NULL if none exists. */
static gufo_status find_base(const conversion *c, char **out, gufo_error *error)
{
    gufo_str name = last_name(c->adapter.base);
    gufo_status status;
    source_folder folder;
    char *path;

    *out = NULL;
    if (!is_plain_name(name) || c->place.folder.path.len == 0)
        return GUFO_OK;
    path = path_beside(&c->place.folder, name, &c->base.allocator);
    if (path == NULL)
        return fail_memory(error);
    folder = source_folder_disk(gufo_str_of(path));
    status = check_base(c, path, error);
    if (status == GUFO_OK && source_folder_has(&folder, "config.json"))
        *out = path;
    else
        mem_free(&c->base.allocator, path);
    return status;
}

/* The configuration that a GGUF model would have in its framework. */
static gufo_status make_config(conversion *c, const gufo_model *model, gufo_error *error)
{
    source_folder folder;
    json_t *config = NULL;
    gufo_status status = inverse_config(model, NULL, &config, error);

    if (status == GUFO_OK)
        c->base_config = json_dumps(config, 0);
    if (status == GUFO_OK && c->base_config == NULL)
        status = fail_memory(error);
    json_decref(config);
    if (status != GUFO_OK)
        return status;
    c->base_file = (memory_file){"config.json", gufo_str_of(c->base_config)};
    c->base_files = (memory_files){&c->base_file, 1};
    folder = source_folder_memory(&c->base_files);
    return config_open(&c->config, &folder, c->options.arch, CONFIG_OF_MODEL, NULL,
                       &c->base.allocator, error);
}

static gufo_status take_text(const gufo_model *model, const char *key, char **out,
                             gufo_error *error)
{
    gufo_str text;

    if (gufo_model_get_str(model, key, &text, NULL) != GUFO_OK || text.len == 0)
        return GUFO_OK;
    *out = strndup(text.data, text.len);
    return *out == NULL ? fail_memory(error) : GUFO_OK;
}

gufo_status conversion_take_base(conversion *c, const gufo_model *model, gufo_error *error)
{
    gufo_status status = take_text(model, "general.name", &c->base_name, error);

    if (status == GUFO_OK)
        status = take_text(model, "general.uuid", &c->base_uuid, error);
    if (status == GUFO_OK && gufo_model_tensor_count(model) > 0 && gufo_model_has_data(model))
        status = identity_of_weights(model, &c->base.allocator, c->base_weights, error);
    return status;
}

static gufo_status open_model(conversion *c, const char *path, gufo_error *error)
{
    const gufo_open_options options = {.allocator = &c->base.allocator};
    gufo_error reason = {.code = GUFO_OK};
    gufo_model *model = gufo_model_open(path, &options, &reason);
    gufo_status status;

    if (model == NULL)
        return fail_as(error, &reason);
    status = make_config(c, model, error);
    if (status == GUFO_OK)
        status = conversion_take_base(c, model, error);
    gufo_model_free(model);
    return status;
}

static gufo_status open_folder(conversion *c, const char *path, gufo_error *error)
{
    c->base_path = mem_text(&c->base.allocator, gufo_str_of(path));
    if (c->base_path == NULL)
        return fail_memory(error);
    c->base_place = model_place_of(c->base_path, c->place.folder.follow);
    folder_name_settle(&c->base_place.folder, c->options.base_called, c->base_called);
    return config_open(&c->config, &c->base_place.folder, c->options.arch, CONFIG_OF_MODEL,
                       &c->bounds, &c->base.allocator, error);
}

/* The configuration of a base that the caller names. */
static gufo_status open_given(conversion *c, const char *path, gufo_error *error)
{
    gufo_status status = model_place_of(path, false).file == NULL ? open_folder(c, path, error)
                                                                  : open_model(c, path, error);

    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_INPUT, 0, path);
    return status;
}

static gufo_status open_found(conversion *c, gufo_error *error)
{
    char *folder = NULL;
    gufo_status status = find_base(c, &folder, error);

    if (status == GUFO_OK && folder == NULL)
        return fail_base(c, error);
    if (status == GUFO_OK)
        status = open_folder(c, folder, error);
    if (status == GUFO_OK)
        status = import_warn(&c->base, error, "gufo takes %s as the base", folder);
    mem_free(&c->base.allocator, folder);
    return status;
}

gufo_status conversion_open_adapter(conversion *c, gufo_error *error)
{
    gufo_status status =
        adapter_open(&c->adapter, &c->place.folder, &c->bounds, &c->base.allocator, error);

    if (status != GUFO_OK)
        return status;
    return c->options.base != NULL ? open_given(c, c->options.base, error) : open_found(c, error);
}

/* ---- tensors -------------------------------------------------------------------------------- */

gufo_status conversion_plan_adapter(conversion *c, gufo_error *error)
{
    const tensors_request request = {.import = &c->base,
                                     .document = c->base.document,
                                     .checkpoint = &c->adapter.seen,
                                     .config = &c->config,
                                     .products = &c->adapter.products};
    gufo_status status = adapter_pair(&c->adapter, &c->checkpoint, c->config.architecture, error);

    if (status == GUFO_OK)
        status = tensors_plan(&c->plan, &request, error);
    return status == GUFO_OK ? conversion_add_tensors(c, error) : status;
}

/* ---- keys ----------------------------------------------------------------------------------- */

enum { MOST_INVOCATION_TOKENS = 1 << 12 };

/* Tokens after which the adapter begins to act. */
static gufo_status set_invocation(conversion *c, gufo_error *error)
{
    const json_t *list = json_object_get(c->adapter.settings, "alora_invocation_tokens");
    uint32_t tokens[MOST_INVOCATION_TOKENS];
    gufo_items items = {.type = GUFO_VALUE_UINT32, .items = tokens, .count = json_array_size(list)};

    if (list == NULL || json_is_null(list) || (json_is_array(list) && items.count == 0))
        return GUFO_OK;
    for (size_t i = 0; i < items.count && items.count <= MOST_INVOCATION_TOKENS; i++) {
        const json_t *token = json_array_get(list, i);
        json_int_t number = json_is_integer(token) ? json_integer_value(token) : -1;

        if (number < 0 || number > UINT32_MAX)
            items.count = UINT64_MAX;
        else
            tokens[i] = (uint32_t)number;
    }
    if (!json_is_array(list) || items.count > MOST_INVOCATION_TOKENS) {
        (void)refuse(error, GUFO_E_MALFORMED,
                     "alora_invocation_tokens is not a list of at most %s tokens",
                     GROUPED(MOST_INVOCATION_TOKENS));
        fail_in(error, GUFO_FILE_INPUT, 0, c->adapter.path);
        return GUFO_E_MALFORMED;
    }
    return gufo_document_set_array(c->base.document, "adapter.alora.invocation_tokens", &items,
                                   error);
}

/* Adapters that PEFT reads with another base than the one on disk. */
static gufo_status warn_of_start(conversion *c, gufo_error *error)
{
    static const char *const starts[] = {"pissa", "olora", "corda"};
    gufo_str start = json_str(json_object_get(c->adapter.settings, "init_lora_weights"));
    bool changes = false;

    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        changes = changes || str_begins(start, starts[i]);
    if (!changes)
        return GUFO_OK;
    return import_warn(&c->base, error,
                       "init_lora_weights is %s: PEFT changes the weights of the base before it "
                       "applies the adapter, which does not fit the unchanged base",
                       QUOTED(start));
}

/* Sets a key that the card has not set. */
static gufo_status set_absent(conversion *c, const char *key, const char *text, gufo_error *error)
{
    if (text == NULL || *text == 0 || gufo_document_find(c->base.document, key, NULL))
        return GUFO_OK;
    return gufo_document_set_text(c->base.document, key, text, error);
}

/* general.base_model.* and the hash of the base, of a base whose tensors are there. */
static gufo_status set_base(conversion *c, gufo_error *error)
{
    static const char count[] = "general.base_model.count";
    bool named = c->base_name != NULL || c->base_uuid != NULL;
    gufo_status status = GUFO_OK;

    if (named && !gufo_document_find(c->base.document, count, NULL))
        status = gufo_document_set_u32(c->base.document, count, 1, error);
    if (status == GUFO_OK)
        status = set_absent(c, "general.base_model.0.name", c->base_name, error);
    if (status == GUFO_OK)
        status = set_absent(c, "general.base_model.0.uuid", c->base_uuid, error);
    return status == GUFO_OK ? set_absent(c, IDENTITY_BASE_KEY, c->base_weights, error) : status;
}

gufo_status conversion_set_adapter_keys(conversion *c, gufo_error *error)
{
    gufo_status status = gufo_document_set_text(c->base.document, "adapter.type", "lora", error);

    if (status == GUFO_OK)
        status = gufo_document_set_f32(c->base.document, "adapter.lora.alpha",
                                       (float)c->adapter.stored, error);
    if (status == GUFO_OK)
        status = set_base(c, error);
    if (status == GUFO_OK)
        status = set_invocation(c, error);
    return status == GUFO_OK ? warn_of_start(c, error) : status;
}
