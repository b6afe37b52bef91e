/* The entries of a conversion without its tensors: what the files of an export would become. */
#include "base/error.h"
#include "base/memory.h"
#include "import/conversion/conversion.h"

static gufo_status try_all(conversion *c, const memory_files *files, gufo_error *error)
{
    const source_folder folder = source_folder_memory(files);
    uint64_t tokens;
    gufo_status status =
        config_open(&c->config, &folder, NULL, false, NULL, &c->base.allocator, error);

    if (status == GUFO_OK)
        status = stored_open(&c->stored, &c->config, &c->base.allocator, error);
    if (status == GUFO_OK)
        status = conversion_make_documents(c, error);
    if (status == GUFO_OK)
        status = conversion_read_vocabulary(c, &tokens, error);
    if (status == GUFO_OK)
        status = conversion_set_keys(c, error);
    return status == GUFO_OK ? conversion_sort_keys(c, error) : status;
}

gufo_status conversion_try(const memory_files *files, json_t *failed,
                           const gufo_allocator *allocator, gufo_document **out, gufo_error *error)
{
    conversion *c = mem_object(allocator, sizeof *c, error);
    gufo_status status;

    *out = NULL;
    if (c == NULL)
        return GUFO_E_MEMORY;
    c->base.kind = &conversion_kind;
    c->failed = failed;
    status = try_all(c, files, error);
    if (status == GUFO_OK) {
        *out = c->base.document;
        c->base.document = NULL;
    }
    gufo_import_close(&c->base);
    return status;
}
