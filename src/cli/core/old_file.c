/* Model files of formats before GGUF. */
#include "cli/core/old_file.h"

#include "cli/core/path.h"
#include "cli/core/report.h"

#include <string.h>

#ifdef GUFO_HAS_IMPORT

#include "format/model/made.h"
#include "gufo/import.h"

const char *old_file_kind(const char *path)
{
    unsigned char begin[32] = {0};
    size_t size = path_begin(path, begin, sizeof begin);

    return memcmp(begin, "GGUF", 4) != 0 ? gufo_legacy_recognise(begin, size) : NULL;
}

/* ---- the model ------------------------------------------------------------------------------ */

/* The import's own model lives as long as the import: one around it closes both. */

static bool entry_at(void *import, uint64_t index, gufo_entry *out)
{
    return gufo_metadata_at(gufo_import_model(import), index, out);
}

static bool tensor_at(void *import, uint64_t index, gufo_tensor *out)
{
    return gufo_tensor_at(gufo_import_model(import), index, out);
}

static gufo_status read_rows(void *import, uint64_t tensor, uint64_t first_row, uint64_t rows,
                             void *out, gufo_error *error)
{
    const gufo_model *model = gufo_import_model(import);
    uint64_t row_size;
    gufo_tensor info;

    (void)gufo_tensor_at(model, tensor, &info);
    row_size = info.size / (info.elements / info.dims[0]);
    return gufo_tensor_read_raw(model, &info, first_row * row_size, out, (size_t)(rows * row_size),
                                error);
}

static void close_import(void *import)
{
    gufo_import_close(import);
}

gufo_model *old_file_open(const char *path, uint64_t *size, gufo_error *error)
{
    const gufo_open_options options = {.name = path};
    gufo_import *import = gufo_import_legacy(path, NULL, error);
    gufo_provider provider = {.context = import,
                              .entry_at = entry_at,
                              .tensor_at = tensor_at,
                              .read_rows = read_rows,
                              .close = close_import};

    if (import == NULL)
        return NULL;
    provider.entry_count = gufo_metadata_count(gufo_import_model(import));
    provider.tensor_count = gufo_tensor_count(gufo_import_model(import));
    if (size != NULL)
        *size = gufo_import_describe(import).size;
    return gufo_open_provider(&provider, &options, error);
}

const char *old_file_part_at(const gufo_model *model, uint32_t index)
{
    const made *m = model->made;

    return m != NULL && m->provider.close == close_import
               ? gufo_import_part_at(m->provider.context, index)
               : NULL;
}

#else

const char *old_file_kind(const char *path)
{
    (void)path;
    return NULL;
}

gufo_model *old_file_open(const char *path, uint64_t *size, gufo_error *error)
{
    (void)path, (void)size, (void)error;
    return NULL; /* old_file_kind knows none */
}

const char *old_file_part_at(const gufo_model *model, uint32_t index)
{
    (void)model, (void)index;
    return NULL;
}

#endif

bool old_file_refuse(const char *path)
{
    const char *kind = old_file_kind(path);

    if (kind != NULL)
        report_message(path, "this is a %s file, not a GGUF file; 'gufo migrate' makes one of it",
                       kind);
    return kind != NULL;
}
