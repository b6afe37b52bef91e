/* Files of a model folder that few architectures ask for: modules.json of sentence-transformers, and
 * the model card. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/files/source.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/architectures/configuration/config.h"
#include "import/json_file.h"
#include "import/model_folder.h"

enum { PROCESSOR_LIMIT = 4 << 20, TOKENS_LIMIT = 64 << 20 };
enum { MODULES_LIMIT = 1 << 20, CARD_LIMIT = 4 << 20, NAME_SIZE = 256 };

gufo_status config_read_json(const model_config *config, const char *name, uint64_t limit,
                             json_t **json, gufo_error *error)
{
    return json_file_read(&config->folder, name, limit, config->bounds, json, error);
}

/* What it is, and where a symlink leads, is found when it is opened: nothing that has the name may pass for a
 * file that is not there. */
bool config_has_file(const model_config *config, gufo_str name)
{
    char text[NAME_MAX + 1];

    if (!is_plain_name(name))
        return false;
    memcpy(text, name.data, name.len);
    text[name.len] = '\0';
    return source_folder_has(&config->folder, text);
}

/* ---- towers ---------------------------------------------------------------------------------- */

/* What files say of images and sound: the fields of a later file, and those of the part that a file has for
 * it, come over those before. */
static const struct processor_row {
    const char *file, *part;
} processors[] = {
    {"preprocessor_config.json", "media_proc_cfg"},
    {"processor_config.json", "image_processor"},
};

static gufo_status lay_over(json_t *fields, json_t *others, gufo_error *error)
{
    return !json_is_object(others) || json_object_update(fields, others) == 0 ? GUFO_OK
                                                                              : fail_memory(error);
}

gufo_status config_read_processor(model_config *config, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    config->processor = json_object();
    if (config->processor == NULL)
        return fail_memory(error);
    for (size_t i = 0; i < sizeof processors / sizeof *processors && status == GUFO_OK; i++) {
        json_t *file = NULL;

        status = config_read_json(config, processors[i].file, PROCESSOR_LIMIT, &file, error);
        if (status == GUFO_OK)
            status = lay_over(config->processor, file, error);
        if (status == GUFO_OK)
            status = lay_over(config->processor, json_object_get(file, processors[i].part), error);
        json_decref(file);
    }
    return status;
}

/* Files that list tokens: where, and the fields of each. */
static const struct token_list {
    const char *file, *list, *text, *id;
} token_lists[] = {
    {"tekken.json", "special_tokens", "token_str", "rank"},
    {"tokenizer.json", "added_tokens", "content", "id"},
};

static bool is_token(const json_t *token, const char *field, gufo_str text)
{
    return gufo_str_equal(json_str(json_object_get(token, field)), text);
}

/* {"10": {"content": "[INST]"}} of tokenizer_config.json */
static bool find_decoder(const json_t *tokenizer, gufo_str text, int64_t *id)
{
    const char *key;
    json_t *token;

    json_object_foreach(json_object_get(tokenizer, "added_tokens_decoder"), key, token)
    {
        uint64_t number;

        if (!is_token(token, "content", text) || !str_number(gufo_str_of(key), &number) ||
            number > INT32_MAX)
            continue;
        *id = (int64_t)number;
        return true;
    }
    return false;
}

static bool find_in_list(const json_t *list, const struct token_list *row, gufo_str text,
                         int64_t *id)
{
    size_t index;
    json_t *token;

    json_array_foreach(list, index, token)
    {
        json_t *number = json_object_get(token, row->id);

        if (!is_token(token, row->text, text) || !json_is_integer(number))
            continue;
        *id = json_integer_value(number);
        return true;
    }
    return false;
}

gufo_status config_added_token(const model_config *config, gufo_str text, bool *found, int64_t *id,
                               gufo_error *error)
{
    gufo_status status = GUFO_OK;

    *found = find_decoder(config->tokenizer, text, id);
    for (size_t i = 0; !*found && i < sizeof token_lists / sizeof *token_lists; i++) {
        const struct token_list *row = &token_lists[i];
        json_t *file = NULL;

        status = config_read_json(config, row->file, TOKENS_LIMIT, &file, error);
        if (status != GUFO_OK)
            return status;
        *found = find_in_list(json_object_get(file, row->list), row, text, id);
        json_decref(file);
    }
    return status;
}

/* ---- pooling --------------------------------------------------------------------------------- */

/* A flag of the module, or its mode. */
static const struct pooling_row {
    const char *flag, *mode;
    uint32_t number;
} poolings[] = {
    {"pooling_mode_mean_tokens", "mean", 1},
    {"pooling_mode_cls_token", "cls", 2},
    {"pooling_mode_lasttoken", "lasttoken", 3},
};

static gufo_status pooling_of(const json_t *module, uint32_t *out, gufo_error *error)
{
    const char *mode = json_string_value(json_object_get(module, "pooling_mode"));
    const size_t count = sizeof poolings / sizeof *poolings;

    for (size_t i = 0; i < count; i++)
        if (json_is_true(json_object_get(module, poolings[i].flag))) {
            *out = poolings[i].number;
            return GUFO_OK;
        }
    for (size_t i = 0; i < count && mode != NULL; i++)
        if (strcmp(mode, poolings[i].mode) == 0) {
            *out = poolings[i].number;
            return GUFO_OK;
        }
    return refuse(error, GUFO_E_MALFORMED,
                  "the pooling is not mean, cls or last token, which GGUF has");
}

/* The folder of the first module that pools; an empty one if none does. */
static gufo_str pooling_folder(const json_t *modules)
{
    for (size_t i = 0; i < json_array_size(modules); i++) {
        const json_t *module = json_array_get(modules, i);
        gufo_str folder = json_str(json_object_get(module, "path"));

        if (str_ends(json_str(json_object_get(module, "type")), "Pooling") && folder.len > 0)
            return folder;
    }
    return (gufo_str){"", 0};
}

static gufo_status read_pooling(const model_config *c, gufo_str folder, uint32_t *out,
                                gufo_error *error)
{
    char name[NAME_SIZE + sizeof "/config.json"];
    json_t *module = NULL;
    gufo_status status;

    if (!is_plain_name(folder))
        return refuse(error, GUFO_E_MALFORMED,
                      "modules.json names the folder %s outside the model's", QUOTED(folder));
    (void)snprintf(name, sizeof name, "%.*s/config.json", (int)folder.len, folder.data);
    status = config_read_json(c, name, MODULES_LIMIT, &module, error);
    if (status == GUFO_OK && module == NULL)
        status = refuse(error, GUFO_E_NOT_FOUND, "modules.json names %s, which is missing",
                        QUOTED(gufo_str_of(name)));
    if (status == GUFO_OK)
        status = pooling_of(module, out, error);
    json_decref(module);
    return status;
}

gufo_status config_pooling(const model_config *config, bool *found, uint32_t *pooling,
                           gufo_error *error)
{
    json_t *modules = NULL;
    gufo_status status = config_read_json(config, "modules.json", MODULES_LIMIT, &modules, error);
    gufo_str folder = pooling_folder(modules);

    *found = folder.len > 0;
    if (status == GUFO_OK && *found)
        status = read_pooling(config, folder, pooling, error);
    json_decref(modules);
    return status;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Whether a text has a part, in any case. */
static bool has_folded(gufo_str text, const char *part)
{
    for (size_t at = 0; at < text.len; at++)
        if (str_begins_folded(str_from(text, at), part))
            return true;
    return false;
}

/* Whether a heading of the card has the name at its start.  A card that is missing says nothing; of a
 * long one the start counts. */
static gufo_status card_is_called(const model_config *c, const char *name, bool *out,
                                  gufo_error *error)
{
    static const char card[] = "README.md";
    char heading[NAME_SIZE + 2], *text = NULL;
    gufo_status status = GUFO_OK;
    size_t len;
    source s;

    if (!source_folder_has(&c->folder, card))
        return GUFO_OK;
    (void)snprintf(heading, sizeof heading, "# %s", name);
    if (source_folder_open(&c->folder, card, c->allocator, &s, NULL) == GUFO_OK) {
        len = (size_t)smaller(s.size, CARD_LIMIT);
        text = mem_alloc(c->allocator, len + 1);
        status = text != NULL ? GUFO_OK : fail_memory(error);
        if (text != NULL && source_read(&s, 0, text, len, NULL) == GUFO_OK)
            *out = has_folded((gufo_str){text, len}, heading);
    }
    source_close(&s);
    mem_free(c->allocator, text);
    return status;
}

gufo_status config_is_called(const model_config *config, gufo_str name, bool *out,
                             gufo_error *error)
{
    folder_name folder;
    char part[NAME_SIZE];
    const gufo_str texts[] = {gufo_str_of(config->class_name),
                              json_str(json_object_get(config->fields, "_name_or_path")),
                              json_str(json_object_get(config->fields, "model_type"))};

    if (name.len == 0 || name.len >= sizeof part)
        return refuse(error, GUFO_E_ARGUMENT, "a name of %s bytes", GROUPED(name.len));
    memcpy(part, name.data, name.len);
    part[name.len] = '\0';
    folder_name_read(&config->folder, &folder);
    *out = has_folded(gufo_str_of(folder.id), part);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *out |= has_folded(texts[i], part);
    return *out ? GUFO_OK : card_is_called(config, part, out, error);
}
