/* The entries of the document, in the order that readers expect: what the model is, general.*, its
 * architecture, its vocabulary.  What the caller knows replaces all else. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "gufo/codec.h"
#include "import/architectures/configuration/config.h"
#include "import/architectures/configuration/keys.h"
#include "import/conversion/conversion.h"
#include "import/general/general.h"
#include "import/json_file.h"
#include "import/tokenizers/tokenizers.h"
#include "import/typed_value.h"
#include "quant/quantizer.h"
#include "text/pretokenizers/pre_rules.h"

/* Reading gguf-metadata.json.  It is a file of strangers like all others: every value is checked as
 * those that a user gives, before anything is converted. */

enum { STORED_LIMIT = 256 << 20, MOST_FILES = 256 };

/* The bytes of a file that becomes a value: here, in the document, in that of the model, in the header
 * that is written. */
enum { COPIES = 4 };

const gufo_element_type *stored_type(const stored_metadata *stored)
{
    const char *type = json_string_value(json_object_get(stored->root, "type"));

    return type != NULL ? gufo_element_type_by_name(type) : NULL;
}

/* The keys that it decides about, an object; NULL: none. */
static const json_t *stored_keys(const stored_metadata *stored)
{
    return json_object_get(stored->root, "keys");
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* Keys that follow from the conversion itself. */
static bool is_made(const char *key)
{
    static const char *const keys[] = {"general.architecture", "general.file_type",
                                       GUFO_SPLIT_NO_KEY, GUFO_SPLIT_COUNT_KEY,
                                       GUFO_SPLIT_TENSORS_KEY};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

/* Files that keys name, each of which is read once. */
typedef struct named_files {
    const model_config *config;
    struct {
        const char *name; /* of the JSON */
        buffer bytes;
    } files[MOST_FILES];
    size_t count;
} named_files;

/* Where a file that was not read yet goes. */
static gufo_status read_file(named_files *n, const char *name, gufo_error *error)
{
    const import_bounds *bounds = n->config->bounds;
    uint64_t limit = bounds != NULL ? smaller(STORED_LIMIT, bounds->left) : STORED_LIMIT;
    gufo_status status = GUFO_OK;
    bool found = false;

    if (n->count == MOST_FILES)
        return refuse(error, GUFO_E_LIMIT, "more than %d files are named", MOST_FILES);
    n->files[n->count].name = name;
    n->files[n->count].bytes = (buffer){.allocator = n->config->allocator};
    if (is_plain_name(gufo_str_of(name)))
        status = source_folder_read(&n->config->folder, name, limit, &n->files[n->count++].bytes,
                                    &found, error);
    return status != GUFO_OK || found
               ? status
               : refuse(error, GUFO_E_MALFORMED, "the file %s is not in the folder",
                        QUOTED(gufo_str_of(name)));
}

static gufo_status find_file(void *context, const char *name, gufo_str *bytes, gufo_error *error)
{
    named_files *n = context;
    gufo_status status = GUFO_OK;
    const buffer *found;
    size_t i = 0;

    while (i < n->count && strcmp(n->files[i].name, name) != 0)
        i++;
    if (i == n->count)
        status = read_file(n, name, error);
    if (status != GUFO_OK)
        return status;
    found = &n->files[i].bytes;
    *bytes = (gufo_str){found->len > 0 ? (const char *)found->data : "", found->len};
    return import_bounds_take(n->config->bounds, COPIES * (uint64_t)bytes->len, error);
}

static gufo_status set_keys(stored_metadata *stored, named_files *files, gufo_error *error)
{
    json_t *keys = json_object_get(stored->root, "keys"), *value;
    gufo_status status = GUFO_OK;
    const char *key;

    json_object_foreach(keys, key, value)
    {
        if (json_is_null(value))
            continue;
        if (is_made(key))
            return refuse(error, GUFO_E_MALFORMED, "%s follows from the model: it cannot be given",
                          key);
        status = typed_value_set(stored->entries, key, value, find_file, files, error);
        if (status != GUFO_OK)
            break;
    }
    return status;
}

static gufo_status read_keys(stored_metadata *stored, const model_config *config, gufo_error *error)
{
    named_files *files = mem_object(config->allocator, sizeof *files, error);
    gufo_status status;

    if (files == NULL)
        return GUFO_E_MEMORY;
    files->config = config;
    status = set_keys(stored, files, error);
    for (size_t i = 0; i < files->count; i++)
        buffer_free(&files->files[i].bytes);
    mem_free(config->allocator, files);
    return status;
}

static gufo_status check_keys(const stored_metadata *stored, gufo_error *error)
{
    const json_t *keys = stored_keys(stored);

    return keys == NULL || json_is_object(keys)
               ? GUFO_OK
               : refuse(error, GUFO_E_MALFORMED, "\"keys\" is not an object");
}

/* Lists of names. */
static gufo_status check_order(const stored_metadata *stored, const char *member, gufo_error *error)
{
    const json_t *order = json_object_get(stored->root, member);

    if (order != NULL && !json_is_array(order))
        return refuse(error, GUFO_E_MALFORMED, "\"%s\" is not an array", member);
    for (size_t i = 0; i < json_array_size(order); i++)
        if (!json_is_string(json_array_get(order, i)))
            return refuse(error, GUFO_E_MALFORMED, "\"%s\" has something that is not a name",
                          member);
    return GUFO_OK;
}

static gufo_status check_type(const stored_metadata *stored, gufo_error *error)
{
    return json_object_get(stored->root, "type") == NULL || stored_type(stored) != NULL
               ? GUFO_OK
               : refuse(error, GUFO_E_MALFORMED, "\"type\" is not an element type");
}

static gufo_status check_version(const stored_metadata *stored, gufo_error *error)
{
    const json_t *version = json_object_get(stored->root, "version");

    if (!json_is_object(stored->root))
        return refuse(error, GUFO_E_MALFORMED, "not an object of JSON");
    if (!json_is_integer(version) || json_integer_value(version) < 1)
        return refuse(error, GUFO_E_MALFORMED, "\"version\" is not a number from 1 on");
    return json_integer_value(version) <= STORED_VERSION
               ? GUFO_OK
               : refuse(error, GUFO_E_TYPE, "version %lld, but only 1 is known",
                        (long long)json_integer_value(version));
}

/* The name that a key of "keys" has in new files, unless that is there itself. */
static const char *new_name(const stored_metadata *stored, const char *key, gufo_str architecture,
                            char out[GUFO_KEY_NAME_SIZE])
{
    return import_new_name(gufo_str_of(key), architecture, out) &&
                   json_object_get(stored_keys(stored), out) == NULL
               ? out
               : key;
}

static json_t *renamed_keys(const stored_metadata *stored, gufo_str architecture)
{
    json_t *renamed = json_object(), *value;
    char name[GUFO_KEY_NAME_SIZE];
    int failed = renamed == NULL;
    const char *key;

    json_object_foreach((json_t *)stored_keys(stored), key, value)
    {
        const char *kept = json_is_null(value) ? key : new_name(stored, key, architecture, name);

        if (failed == 0)
            failed = json_object_set(renamed, kept, value);
    }
    if (failed == 0)
        return renamed;
    json_decref(renamed);
    return NULL;
}

/* Gives keys of old files their names of today. */
static gufo_status rename_keys(stored_metadata *stored, const model_config *config,
                               gufo_error *error)
{
    const gufo_str architecture =
        gufo_str_of(config->architecture != NULL ? config->architecture : "");
    json_t *keys;

    if (stored_keys(stored) == NULL)
        return GUFO_OK;
    keys = renamed_keys(stored, architecture);
    return keys != NULL && json_object_set_new(stored->root, "keys", keys) == 0
               ? GUFO_OK
               : fail_memory(error);
}

static gufo_status read_all(stored_metadata *stored, const model_config *config, gufo_error *error)
{
    gufo_status status = check_version(stored, error);

    if (status == GUFO_OK)
        status = check_keys(stored, error);
    if (status == GUFO_OK)
        status = rename_keys(stored, config, error);
    if (status == GUFO_OK)
        status = read_keys(stored, config, error);
    if (status == GUFO_OK)
        status = check_order(stored, "order", error);
    if (status == GUFO_OK)
        status = check_order(stored, "tensors", error);
    return status == GUFO_OK ? check_type(stored, error) : status;
}

gufo_status stored_open(stored_metadata *stored, const model_config *config,
                        const gufo_allocator *allocator, gufo_error *error)
{
    const gufo_document_options options = {.allocator = allocator};
    gufo_status status;

    *stored = (stored_metadata){.root = NULL};
    status = config_read_json(config, STORED_NAME, STORED_LIMIT, &stored->root, error);
    if (status != GUFO_OK || stored->root == NULL)
        return status;
    stored->entries = gufo_document_new(&options, error);
    status = stored->entries != NULL ? read_all(stored, config, error) : GUFO_E_MEMORY;
    if (status == GUFO_OK)
        return GUFO_OK;
    source_folder_fail_in(&config->folder, STORED_NAME, error);
    stored_close(stored);
    return status;
}

void stored_close(stored_metadata *stored)
{
    json_decref(stored->root);
    gufo_document_free(stored->entries);
    *stored = (stored_metadata){.root = NULL};
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* Whether it decides about a key; *has_value: and gives it a value. */
static bool stored_decides(const stored_metadata *stored, const char *key, bool *has_value)
{
    const json_t *value = json_object_get(stored_keys(stored), key);

    *has_value = value != NULL && !json_is_null(value);
    return value != NULL;
}

/* Whether the caller gives a key itself, or the group that it is of. */
static bool is_given(const json_t *given, const char *key)
{
    static const char *const groups[][2] = {{"general.base_model.", "general.base_models"},
                                            {"general.dataset.", "general.datasets"}};

    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strncmp(key, groups[i][0], strlen(groups[i][0])) == 0 &&
            json_object_get(given, groups[i][1]) != NULL)
            return true;
    return json_object_get(given, key) != NULL;
}

static bool is_wanted(const char *key, const char *prefix, const char *but)
{
    return strncmp(key, prefix, strlen(prefix)) == 0 &&
           (but == NULL || strncmp(key, but, strlen(but)) != 0);
}

/* Sets, and removes, the keys of the import's document that begin with `prefix` and that `given` (what
 * the caller says itself, as JSON; may be NULL) does not have.  `but`: not those that begin so; NULL:
 * all. */
static gufo_status stored_set(gufo_import *import, const stored_metadata *stored,
                              const char *prefix, const char *but, const json_t *given,
                              gufo_error *error)
{
    gufo_status status = GUFO_OK;
    gufo_document_entry entry;
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)stored_keys(stored), key, value)
    {
        if (!is_wanted(key, prefix, but) || is_given(given, key))
            continue;
        if (json_is_null(value))
            (void)gufo_document_remove_key(import->document, key);
        else if (gufo_document_find(stored->entries, key, &entry))
            status = gufo_document_set_entry(import->document, entry.key, &entry.value, error);
        if (status != GUFO_OK)
            break;
    }
    return status;
}

/* ---- order ----------------------------------------------------------------------------------- */

static gufo_status copy_sorted(const json_t *order, const gufo_document *from, gufo_document *to,
                               gufo_error *error)
{
    gufo_document_entry entry;
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < json_array_size(order) && status == GUFO_OK; i++)
        if (gufo_document_find(from, json_string_value(json_array_get(order, i)), &entry))
            status = gufo_document_set_entry(to, entry.key, &entry.value, error);
    for (uint64_t i = 0; status == GUFO_OK && gufo_document_entry_at(from, i, &entry); i++)
        if (!gufo_document_find_str(to, entry.key, NULL))
            status = gufo_document_set_entry(to, entry.key, &entry.value, error);
    return status;
}

gufo_status stored_sort(const stored_metadata *stored, const gufo_document *from,
                        const gufo_allocator *allocator, gufo_document **out, gufo_error *error)
{
    const gufo_document_options options = {.allocator = allocator};
    const json_t *order = json_object_get(stored->root, "order");
    gufo_status status;

    *out = NULL;
    if (order == NULL)
        return GUFO_OK;
    *out = gufo_document_new(&options, error);
    if (*out == NULL)
        return GUFO_E_MEMORY;
    status = copy_sorted(order, from, *out, error);
    if (status != GUFO_OK) {
        gufo_document_free(*out);
        *out = NULL;
    }
    return status;
}

/* ---- tensors --------------------------------------------------------------------------------- */

/* Where each tensor of the plan is, by its name, counted from 1; NULL without memory. */
static json_t *places_of(const tensor_plan *plan)
{
    json_t *places = json_object();

    for (uint64_t i = 0; places != NULL && i < plan->count; i++)
        if (json_object_set_new(places, plan->tensors[i].name, json_integer((json_int_t)i + 1)) !=
            0) {
            json_decref(places);
            places = NULL;
        }
    return places;
}

/* Moves the tensors into `list`: those of the order first, each once. */
static void move_tensors(const json_t *order, json_t *places, const tensor_plan *plan,
                         planned_tensor *list)
{
    uint64_t count = 0;

    for (size_t i = 0; i < json_array_size(order); i++) {
        const char *name = json_string_value(json_array_get(order, i));
        json_int_t place = json_integer_value(json_object_get(places, name));

        if (place > 0) {
            list[count++] = plan->tensors[place - 1];
            (void)json_object_del(places, name);
        }
    }
    for (uint64_t i = 0; i < plan->count; i++)
        if (json_object_get(places, plan->tensors[i].name) != NULL)
            list[count++] = plan->tensors[i];
}

gufo_status stored_sort_tensors(const stored_metadata *stored, tensor_plan *plan, gufo_error *error)
{
    const json_t *order = json_object_get(stored->root, "tensors");
    planned_tensor *list;
    json_t *places;

    if (order == NULL || plan->count == 0)
        return GUFO_OK;
    places = places_of(plan);
    list = mem_array(plan->allocator, plan->count, sizeof *list);
    if (places == NULL || list == NULL) {
        json_decref(places);
        mem_free(plan->allocator, list);
        return fail_memory(error);
    }
    move_tensors(order, places, plan, list);
    json_decref(places);
    mem_free(plan->allocator, plan->tensors);
    plan->tensors = list;
    plan->room = plan->count;
    return GUFO_OK;
}

#define TOKENIZER "tokenizer."
#define GENERAL "general."

enum { METADATA_LIMIT = 64 << 20, PRE_SIZE = 64 };

/* ---- the vocabulary ------------------------------------------------------------------------- */

/* tokenizer.ggml.pre of gguf-metadata.json; NULL: it says none. */
static const char *stored_pre(const conversion *c, char out[PRE_SIZE])
{
    gufo_document_entry entry;

    if (c->stored.entries == NULL ||
        !gufo_document_find(c->stored.entries, "tokenizer.ggml.pre", &entry) ||
        entry.value.type != GUFO_VALUE_STRING || entry.value.as.str.len >= PRE_SIZE)
        return NULL;
    memcpy(out, entry.value.as.str.data, entry.value.as.str.len);
    out[entry.value.as.str.len] = '\0';
    return pre_rules_find(gufo_str_of(out)) != NULL ? out : NULL;
}

static gufo_status read_vocabulary(void *context, const char *readers, gufo_error *error)
{
    conversion *c = context;
    char pre[PRE_SIZE];
    const tokenizer_request request = {
        .config = &c->config,
        .readers = readers,
        .pre = c->options.pre != NULL ? c->options.pre : stored_pre(c, pre),
        .compare = (c->options.flags & GUFO_CHECKPOINT_NO_CHECK) == 0,
        .keep_json = (c->options.flags & GUFO_CHECKPOINT_KEEP_TOKENIZER) != 0,
        .keep_world = (c->options.flags & GUFO_CHECKPOINT_KEEP_WORLD) != 0};

    return tokenizers_write(&c->base, &request, error);
}

/* The blocks that hold floats of 4 bits, after which a file is called whatever else is in it, or those
 * that most numbers are in; NULL: most are plain. */
static const gufo_element_type *main_blocks(const conversion *c)
{
    static const uint32_t types[] = {GUFO_TYPE_F32, GUFO_TYPE_Q4_0, GUFO_TYPE_Q4_1, GUFO_TYPE_Q8_0};
    uint64_t numbers[sizeof types / sizeof *types] = {0};
    size_t most = 0;

    for (uint64_t i = 0; i < c->plan.count; i++) {
        const planned_tensor *t = &c->plan.tensors[i];
        size_t k = sizeof types / sizeof *types - 1;

        if (t->comes_first && t->type->block_elements > 1)
            return t->type;
        while (k > 0 && types[k] != t->type->id)
            k--;
        numbers[k] += t->dims[0] * t->dims[1] * t->dims[2] * t->dims[3];
        most = numbers[k] > numbers[most] ? k : most;
    }
    return most == 0 ? NULL : gufo_element_type_by_id(types[most]);
}

static uint32_t file_type(const conversion *c)
{
    const gufo_element_type *blocks = main_blocks(c);
    const char *name = blocks != NULL ? blocks->name : gufo_import_main_type(&c->base)->name;
    gufo_quantize_target target;

    if (blocks != NULL && blocks->id == GUFO_TYPE_MXFP4)
        return GUFO_FILE_TYPE_MXFP4_MOE;
    return gufo_quantize_target_by_name(name, false, &target) && target.file_type != NULL
               ? target.file_type->id
               : 0;
}

/* What all phases of keys are asked for. */
static keys_request request_of(const conversion *c)
{
    return (keys_request){.config = &c->config,
                          .file_type = file_type(c),
                          .decided = stored_keys(&c->stored),
                          .values = c->stored.entries,
                          .failed = c->failed,
                          .origins = c->origins};
}

static uint64_t count_tokens(const gufo_document *document)
{
    gufo_document_entry entry;

    return gufo_document_find(document, "tokenizer.ggml.tokens", &entry) &&
                   entry.value.type == GUFO_VALUE_ARRAY
               ? entry.value.as.array.count
               : 0;
}

/* An unknown architecture may come without a tokenizer. */
static gufo_status read_any_vocabulary(conversion *c, gufo_error *error)
{
    gufo_error reason;
    gufo_status status = read_vocabulary(c, NULL, &reason);

    if (status != GUFO_E_NOT_FOUND && status != GUFO_OK)
        return fail_as(error, &reason);
    return status == GUFO_OK ? GUFO_OK
                             : import_warn(&c->base, error, "no tokenizer: %s", reason.message);
}

/* The vocabulary of the files, as gguf-metadata.json changes it; where that has the tokens, or says that
 * the model has none, no file is read. */
static gufo_status read_files(conversion *c, gufo_error *error)
{
    keys_request request = request_of(c);
    gufo_status status = GUFO_OK;
    bool has_value;

    request.read_vocabulary = read_vocabulary;
    request.context = c;
    if (stored_decides(&c->stored, "tokenizer.ggml.tokens", &has_value))
        status = GUFO_OK;
    else if ((c->options.flags & GUFO_CHECKPOINT_GENERIC) != 0)
        status = read_any_vocabulary(c, error);
    else
        status = keys_write(&c->base, &request, KEYS_VOCABULARY, error);
    return status == GUFO_OK ? stored_set(&c->base, &c->stored, TOKENIZER, NULL, NULL, error)
                             : status;
}

gufo_status conversion_read_vocabulary(conversion *c, uint64_t *tokens, gufo_error *error)
{
    gufo_document *document = c->base.document;
    gufo_status status;

    *tokens = 0;
    if ((c->options.flags & GUFO_CHECKPOINT_NO_VOCABULARY) != 0)
        return GUFO_OK;
    c->base.document = c->vocabulary;
    status = c->options.vocabulary != NULL
                 ? import_copy_vocabulary(c->vocabulary, c->options.vocabulary, error)
                 : read_files(c, error);
    c->base.document = document;
    *tokens = count_tokens(c->vocabulary);
    return status;
}

/* ---- all entries ---------------------------------------------------------------------------- */

/* Reads what the caller says. */
static gufo_status read_metadata(conversion *c, gufo_error *error)
{
    const char *name = c->options.metadata;
    gufo_status status = GUFO_OK;

    if (name != NULL)
        status = json_file_read(&source_folder_anywhere, name, METADATA_LIMIT, &c->bounds,
                                &c->metadata, error);
    if (status != GUFO_OK || name == NULL || c->metadata != NULL)
        return status;
    status = refuse(error, GUFO_E_IO, "the metadata file does not exist");
    fail_in(error, GUFO_FILE_INPUT, 0, name);
    return status;
}

static gufo_status set_general(conversion *c, gufo_error *error)
{
    const model_config own = {.folder = c->place.folder, .raw = c->adapter.settings};
    const general_request request = {.config = c->is_adapter ? &own : &c->config,
                                     .metadata = c->metadata,
                                     .decided = stored_keys(&c->stored),
                                     .metadata_name = c->options.metadata,
                                     .vocabulary_only =
                                         (c->options.flags & GUFO_CHECKPOINT_VOCABULARY_ONLY) != 0,
                                     .adapter = c->is_adapter,
                                     .tower = is_tower(c),
                                     .weights = c->adapter.parameters,
                                     .base = c->adapter.base};
    gufo_status status = general_write(&c->base, &request, error);

    return status == GUFO_OK ? stored_set(&c->base, &c->stored, GENERAL, NULL, c->metadata, error)
                             : status;
}

/* The keys of the architecture. */
static gufo_status set_architecture(conversion *c, gufo_error *error)
{
    const keys_request request = request_of(c);

    return (c->options.flags & GUFO_CHECKPOINT_GENERIC) != 0
               ? general_write_generic(&c->base, &c->config, c->config.architecture, error)
               : keys_write(&c->base, &request, KEYS_PARAMETERS, error);
}

static gufo_status set_tensor_keys(conversion *c, gufo_error *error)
{
    const keys_request request = request_of(c);

    return (c->options.flags & GUFO_CHECKPOINT_GENERIC) != 0
               ? GUFO_OK
               : keys_write(&c->base, &request, KEYS_TENSORS, error);
}

static gufo_status set_version(conversion *c, gufo_error *error)
{
    return gufo_document_set_u32(c->base.document, "general.quantization_version",
                                 GUFO_QUANTIZATION_VERSION, error);
}

gufo_status conversion_set_keys(conversion *c, gufo_error *error)
{
    typedef gufo_status step(conversion * c, gufo_error * error);
    static step *const of_models[] = {read_metadata,    set_tensor_keys, set_general,
                                      set_architecture, set_version,     NULL};
    static step *const of_adapters[] = {read_metadata, set_general, conversion_set_adapter_keys,
                                        set_version, NULL};
    step *const *steps = c->is_adapter ? of_adapters : of_models;
    gufo_status status = GUFO_OK;

    for (; *steps != NULL && status == GUFO_OK; steps++)
        status = (*steps)(c, error);
    if (status == GUFO_OK)
        status = import_set_entries(&c->base, c->vocabulary, error);
    if (status == GUFO_OK)
        status = stored_set(&c->base, &c->stored, "", TOKENIZER, c->metadata, error);
    return status == GUFO_OK ? import_set_entries(&c->base, c->options.known, error) : status;
}
