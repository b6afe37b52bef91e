/* What all importers share: questions about an import, its model, its job, and the model of its own that it may
 * become. */
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "codec/interleaved.h"
#include "format/model/model.h"
#include "import/import.h"
#include "schema/registry/key.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- filling -------------------------------------------------------------------------------- */

gufo_status import_add_setting(gufo_import *im, gufo_str key, gufo_setting_origin origin,
                               bool required, gufo_value_type type, const char *why,
                               gufo_error *error)
{
    import_setting *list =
        mem_grow(&im->allocator, im->settings, im->setting_count, &im->setting_room, sizeof *list);
    char *own = mem_text(&im->allocator, key);

    if (list != NULL)
        im->settings = list;
    if (list == NULL || own == NULL) {
        mem_free(&im->allocator, own);
        return fail_memory(error);
    }
    list[im->setting_count++] = (import_setting){.key = own,
                                                 .shown = {.key = {own, key.len},
                                                           .origin = origin,
                                                           .required = required,
                                                           .value = {.type = type},
                                                           .why = why}};
    return GUFO_OK;
}

gufo_status import_note_forced(gufo_import *im, gufo_error *error)
{
    uint64_t *list =
        mem_grow(&im->allocator, im->forced, im->forced_count, &im->forced_room, sizeof *list);

    if (list == NULL)
        return fail_memory(error);
    im->forced = list;
    list[im->forced_count++] = im->warning_count - 1;
    return GUFO_OK;
}

gufo_status import_name_assumed(gufo_import *im, gufo_error *error)
{
    gufo_str *names = mem_array(&im->allocator, im->setting_count + 1, sizeof *names);
    gufo_items keys = {GUFO_VALUE_STRING, 0, names};
    gufo_status status = GUFO_OK;

    if (names == NULL)
        return fail_memory(error);
    for (uint64_t i = 0; i < im->setting_count; i++)
        if (im->settings[i].shown.origin == GUFO_SETTING_ASSUMED)
            names[keys.count++] = im->settings[i].shown.key;
    if (keys.count > 0)
        status = gufo_document_set_array(im->document, "gufo.assumed", &keys, error);
    mem_free(&im->allocator, names);
    return status;
}

gufo_status import_warn(gufo_import *im, gufo_error *error, const char *format, ...)
{
    char text[GUFO_MESSAGE_SIZE];
    char **list =
        mem_grow(&im->allocator, im->warnings, im->warning_count, &im->warning_room, sizeof *list);
    va_list arguments;

    if (list == NULL)
        return fail_memory(error);
    im->warnings = list;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    list[im->warning_count] = mem_text(&im->allocator, gufo_str_of(text));
    if (list[im->warning_count] == NULL)
        return fail_memory(error);
    im->warning_count++;
    return GUFO_OK;
}

gufo_status import_set_entries(gufo_import *im, const gufo_document *from, gufo_error *error)
{
    gufo_document_entry entry;
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0;
         from != NULL && status == GUFO_OK && gufo_document_entry_at(from, i, &entry); i++)
        status = gufo_document_set_entry(im->document, entry.key, &entry.value, error);
    return status;
}

/* ---- the job -------------------------------------------------------------------------------- */

gufo_job *gufo_import_job(gufo_import *im, gufo_error *error)
{
    gufo_job *job = job_new(&im->allocator, error);
    gufo_status status;

    if (job == NULL)
        return NULL;
    status = im->kind->plan(im, job, error);
    return job_planned(job, status, error);
}

/* ---- the model ------------------------------------------------------------------------------ */

static bool entry_at(void *context, uint64_t index, gufo_entry *out)
{
    const gufo_import *im = context;
    gufo_document_entry entry;

    if (!gufo_document_entry_at(im->document, index, &entry))
        return false;
    out->key = entry.key;
    out->value = entry.value;
    return true;
}

static bool tensor_at(void *context, uint64_t index, gufo_tensor *out)
{
    const gufo_import *im = context;
    gufo_document_tensor tensor;

    if (!gufo_document_tensor_at(im->document, index, &tensor))
        return false;
    out->name = tensor.name;
    out->type = tensor.type;
    out->n_dims = tensor.n_dims;
    memcpy(out->dims, tensor.dims, sizeof out->dims);
    return true;
}

/* A row of the model is one row of its piece, or, where these are single numbers, as many as it
 * has. */
static gufo_status read_rows(void *context, uint64_t index, uint64_t first, uint64_t count,
                             void *out, gufo_error *error)
{
    const gufo_import *im = context;
    plain_piece room;
    gufo_document_tensor tensor;
    gufo_status status;
    uint64_t each;

    if (!gufo_document_tensor_at(im->document, index, &tensor))
        return refuse(error, GUFO_E_ARGUMENT, "no such tensor");
    each = tensor.dims[0] / job_piece_at(im->peeked, index, &room)->columns;
    status = job_peek(im->peeked, index, first * each, count * each, out, error);
    /* Who reads the model does not see its files. */
    return status == GUFO_OK ? job_check_inputs(im->peeked, error) : status;
}

gufo_status import_open_model(gufo_import *im, gufo_error *error)
{
    gufo_provider provider = {.context = im,
                              .entry_count = gufo_document_entry_count(im->document),
                              .tensor_count = gufo_document_tensor_count(im->document),
                              .entry_at = entry_at,
                              .tensor_at = tensor_at,
                              .read_rows = read_rows};
    gufo_open_options options = {.allocator = &im->allocator};
    gufo_error reason = {.code = GUFO_OK};

    im->peeked = gufo_import_job(im, &reason);
    if (im->peeked == NULL)
        return fail_as(error, &reason);
    im->opened = gufo_model_open_provider(&provider, &options, &reason);
    if (im->opened == NULL)
        return fail_as(error, &reason);
    model_set_maker(im->opened, im->peeked);
    return GUFO_OK;
}

const gufo_model *gufo_import_model(const gufo_import *im)
{
    return im->opened;
}

/* ---- keys of others ------------------------------------------------------------------------- */

bool import_new_name(gufo_str key, gufo_str architecture, char out[GUFO_KEY_NAME_SIZE])
{
    const gufo_key_info *info = gufo_key_find_str(key, architecture), *today = NULL;
    bool safe = false;

    if (info != NULL)
        today = gufo_key_replacement(info, &safe);
    return safe && key_in_file(today, architecture, out);
}

static bool is_tokenizer_key(void *context, gufo_str key)
{
    (void)context;
    return str_begins(key, "tokenizer.");
}

gufo_status import_copy_vocabulary(gufo_document *document, const gufo_model *from,
                                   gufo_error *error)
{
    gufo_status status =
        gufo_document_copy_entries(document, from, is_tokenizer_key, NULL, NULL, error);
    gufo_document_entry entry;
    char name[GUFO_KEY_NAME_SIZE];

    for (uint64_t i = 0; status == GUFO_OK && gufo_document_entry_at(document, i, &entry); i++)
        if (import_new_name(entry.key, gufo_str_of(""), name) &&
            !gufo_document_find(document, name, NULL))
            status = gufo_document_rename_str(document, entry.key, gufo_str_of(name), error);
    return status;
}

/* ---- questions ------------------------------------------------------------------------------ */

gufo_import_facts gufo_import_describe(const gufo_import *im)
{
    return im->facts;
}

bool gufo_import_setting_at(const gufo_import *im, uint64_t index, gufo_import_setting *out)
{
    gufo_document_entry entry;

    if (index >= im->setting_count)
        return false;
    *out = im->settings[index].shown;
    if (gufo_document_find_str(im->document, out->key, &entry))
        out->value = entry.value;
    return true;
}

bool gufo_import_tensor_at(const gufo_import *im, uint64_t index, gufo_import_tensor *out)
{
    return im->kind->tensor_at(im, index, out);
}

const char *gufo_import_warning_at(const gufo_import *im, uint64_t index)
{
    return index < im->warning_count ? im->warnings[index] : NULL;
}

const char *gufo_import_forced_at(const gufo_import *im, uint64_t index)
{
    return index < im->forced_count ? im->warnings[im->forced[index]] : NULL;
}

const char *gufo_import_part_at(const gufo_import *im, uint32_t index)
{
    return im->kind->part_at(im, index);
}

void gufo_import_free(gufo_import *im)
{
    if (im == NULL)
        return;
    gufo_job_free(im->peeked);
    gufo_document_free(im->document);
    gufo_model_free(im->opened); /* which both may refer to */
    for (uint64_t i = 0; i < im->setting_count; i++)
        mem_free(&im->allocator, im->settings[i].key);
    for (uint64_t i = 0; i < im->warning_count; i++)
        mem_free(&im->allocator, im->warnings[i]);
    mem_free(&im->allocator, im->settings);
    mem_free(&im->allocator, im->warnings);
    mem_free(&im->allocator, im->forced);
    im->kind->close(im);
}

/* ---- the model as one of its own, which closes the import ------------------------------------- */

/* Of an import from a GGUF file: a model that has what the job would write. */

/* Rows of interleaved blocks, which come in whole groups: `begin` is the first of the groups that have
 * these rows. */
static gufo_status read_groups(const gufo_import *im, const gufo_tensor *tensor, uint64_t begin,
                               uint64_t end, uint64_t first, uint64_t count, void *out,
                               gufo_error *error)
{
    const gufo_element_type *type = gufo_element_type_by_id(tensor->type);
    uint64_t row_size;
    uint8_t *blocks;
    size_t size;
    gufo_status status = gufo_element_row_size(type, tensor->dims[0], &row_size, error);

    if (status != GUFO_OK)
        return status;
    size = (size_t)((end - begin) * row_size); /* a part of the file */
    blocks = mem_array(&im->allocator, size, 2);
    if (blocks == NULL)
        return fail_memory(error);
    status = gufo_tensor_read_rows(im->opened, tensor, begin, end - begin, blocks, error);
    if (status == GUFO_OK)
        status =
            gufo_repack(type, blocks, end - begin, tensor->dims[0], blocks + size, NULL, error);
    if (status == GUFO_OK)
        memcpy(out, blocks + size + (size_t)((first - begin) * row_size),
               (size_t)(count * row_size));
    mem_free(&im->allocator, blocks);
    return status;
}

static gufo_status shown_read_rows(void *import, uint64_t index, uint64_t first, uint64_t count,
                                   void *out, gufo_error *error)
{
    const gufo_import *im = import;
    const interleaved *layout;
    gufo_document_tensor shown;
    gufo_tensor tensor;
    uint64_t begin, end;

    if (!gufo_document_tensor_at(im->document, index, &shown) ||
        !gufo_model_tensor_at(im->opened, shown.origin, &tensor))
        return refuse(error, GUFO_E_ARGUMENT, "no such tensor");
    layout = interleaved_find(tensor.type);
    if (layout == NULL || count == 0)
        return gufo_tensor_read_rows(im->opened, &tensor, first, count, out, error);
    begin = first - first % layout->rows;
    end = first + count + (layout->rows - 1 - (first + count - 1) % layout->rows);
    return read_groups(im, &tensor, begin, end, first, count, out, error);
}

static void close_import(void *context)
{
    gufo_import *import = context;

    if (model_provider(import->opened) != NULL)
        import->opened = NULL; /* it is being closed */
    gufo_import_free(import);
}

static gufo_model *show_file(gufo_import *import, const char *name, gufo_error *error)
{
    const gufo_open_options options = {.name = name, .allocator = &import->allocator};
    const gufo_provider provider = {.context = import,
                                    .entry_count = gufo_document_entry_count(import->document),
                                    .tensor_count = gufo_document_tensor_count(import->document),
                                    .entry_at = entry_at,
                                    .tensor_at = tensor_at,
                                    .read_rows = shown_read_rows,
                                    .close = close_import};

    return gufo_model_open_provider(&provider, &options, error);
}

gufo_model *gufo_import_take_model(gufo_import *import, const char *name, gufo_error *error)
{
    if (model_provider(import->opened) == NULL)
        return show_file(import, name, error);
    if (model_hand_over(import->opened, name, close_import, error) == GUFO_OK)
        return import->opened;
    gufo_import_free(import);
    return NULL;
}

const gufo_import *gufo_model_import(const gufo_model *model)
{
    const gufo_provider *provider = model_provider(model);

    return provider != NULL && provider->close == close_import ? provider->context : NULL;
}
