/* The model of an import as one of its own, which closes the import. */
#include "base/error.h"
#include "format/model/model.h"
#include "import/import.h"

/* ---- of an import from a GGUF file: a model that shows that of the file --------------------- */

static bool entry_at(void *import, uint64_t index, gufo_entry *out)
{
    return gufo_metadata_at(gufo_import_model(import), index, out);
}

static bool tensor_at(void *import, uint64_t index, gufo_tensor *out)
{
    return gufo_tensor_at(gufo_import_model(import), index, out);
}

static gufo_status read_rows(void *import, uint64_t tensor, uint64_t first, uint64_t count,
                             void *out, gufo_error *error)
{
    const gufo_model *model = gufo_import_model(import);
    uint64_t row_size;
    gufo_tensor info;

    (void)gufo_tensor_at(model, tensor, &info);
    row_size = info.size / (info.elements / info.dims[0]);
    return gufo_tensor_read_raw(model, &info, first * row_size, out, (size_t)(count * row_size),
                                error);
}

static void close_import(void *context)
{
    gufo_import *import = context;

    if (model_provider(import->opened) != NULL)
        import->opened = NULL; /* it is being closed */
    gufo_import_close(import);
}

static gufo_model *show_file(gufo_import *import, const char *name, gufo_error *error)
{
    const gufo_model *inner = gufo_import_model(import);
    const gufo_open_options options = {.name = name, .allocator = &import->allocator};
    const gufo_provider provider = {.context = import,
                                    .entry_count = gufo_metadata_count(inner),
                                    .tensor_count = gufo_tensor_count(inner),
                                    .entry_at = entry_at,
                                    .tensor_at = tensor_at,
                                    .read_rows = read_rows,
                                    .close = close_import};

    return gufo_open_provider(&provider, &options, error);
}

/* ---- of any --------------------------------------------------------------------------------- */

gufo_model *gufo_import_take_model(gufo_import *import, const char *name, gufo_error *error)
{
    if (model_provider(import->opened) == NULL)
        return show_file(import, name, error);
    if (model_hand_over(import->opened, name, close_import, error) == GUFO_OK)
        return import->opened;
    gufo_import_close(import);
    return NULL;
}

const gufo_import *gufo_import_of(const gufo_model *model)
{
    const gufo_provider *provider = model_provider(model);

    return provider != NULL && provider->close == close_import ? provider->context : NULL;
}
