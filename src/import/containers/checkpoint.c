/* Checkpoints: the containers that are known, opening, closing, looking up. */
#include "import/containers/checkpoint.h"

#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/containers/parts.h"
#include "import/containers/safetensors.h"
#include "import/containers/tensors.h"
#include "import/containers/torch.h"

enum { START_SIZE = 512 }; /* enough to recognise any container */

/* ---- containers ----------------------------------------------------------------------------- */

static const struct container_row {
    const char *name;
    bool (*recognise)(const uint8_t *bytes, size_t size);
    gufo_status (*read)(checkpoint *c, uint32_t file, gufo_error *error);
} containers[] = {
    {"safetensors", safetensors_recognise, safetensors_read},
    {"PyTorch", torch_zip_recognise, torch_zip_read},
    {"PyTorch (legacy)", torch_legacy_recognise, torch_legacy_read},
};

static const struct container_row *container_of(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < sizeof containers / sizeof *containers; i++)
        if (containers[i].recognise(bytes, size))
            return &containers[i];
    return NULL;
}

/* Files that are none of these, but well known. */
static const struct stranger_row {
    size_t at;
    const char *bytes, *what;
} strangers[] = {
    {0, "GGUF", "a GGUF file"},
    {0, "version https://git-lfs", "a pointer of git-lfs: the file itself was not fetched"},
    {0, "\x89HDF", "an HDF5 file, of TensorFlow or Keras"},
    {0, "\x80\2", "a pickle, but not one of PyTorch"},
    {0, "\x80\3", "a pickle, but not one of PyTorch"},
    {0, "\x80\4", "a pickle, but not one of PyTorch"},
    {257, "ustar", "a tar file, which PyTorch wrote before version 0.1.10"},
    {0, "<!DOCTYPE html", "a page of HTML"},
#ifndef GUFO_HAS_LEGACY /* GGML, GGMF, GGJT, GGCC, GGLA: little-endian numbers */
    {2, "gg", "a format before GGUF, which this gufo is built without"},
#endif
};

static gufo_status fail_unknown(const uint8_t *bytes, size_t size, gufo_error *error)
{
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        const struct stranger_row *row = &strangers[i];
        size_t len = strlen(row->bytes);

        if (size >= row->at + len && memcmp(bytes + row->at, row->bytes, len) == 0)
            return fail_with(error, GUFO_E_TYPE, row->at, "this is %s", row->what);
    }
    return fail_with(error, GUFO_E_TYPE, 0, "neither a file of safetensors nor one of PyTorch");
}

/* ---- files ---------------------------------------------------------------------------------- */

static gufo_status read_file(checkpoint *c, uint32_t number, gufo_error *error)
{
    const checkpoint_file *file = &c->files[number];
    size_t size = file->source.size < START_SIZE ? (size_t)file->source.size : START_SIZE;
    const struct container_row *container;
    uint8_t start[START_SIZE];
    gufo_status status = source_read(&file->source, 0, start, size, error);

    if (status != GUFO_OK)
        return status;
    container = container_of(start, size);
    /* A damaged header says more than an unknown file. */
    if (container == NULL && str_ends(gufo_str_of(file->path), ".safetensors") &&
        (size < 4 || memcmp(start, "vers", 4) != 0))
        container = &containers[0];
    if (container == NULL)
        return fail_unknown(start, size, error);
    if (number == 0)
        c->container = container->name;
    return container->read(c, number, error);
}

/* Makes room for a file; the next number is its own then. */
static gufo_status add_room(checkpoint *c, char *path, gufo_error *error)
{
    checkpoint_file *files =
        mem_grow(c->allocator, c->files, c->file_count, &c->file_room, sizeof *c->files);

    if (files == NULL) {
        mem_free(c->allocator, path);
        return fail_memory(error);
    }
    c->files = files;
    files[c->file_count] = (checkpoint_file){.path = path};
    files[c->file_count++].source.fd = -1;
    return GUFO_OK;
}

static gufo_status open_file(checkpoint *c, const source_folder *folder, const char *name,
                             gufo_error *error)
{
    char *path = source_folder_join(folder, name, c->allocator);
    gufo_status status = path != NULL ? add_room(c, path, error) : fail_memory(error);

    return status == GUFO_OK ? source_folder_open(folder, name, c->allocator,
                                                  &c->files[c->file_count - 1].source, error)
                             : status;
}

gufo_status checkpoint_add_file(checkpoint *c, const char *path, gufo_error *error)
{
    return open_file(c, &source_folder_anywhere, path, error);
}

static gufo_status add_file(checkpoint *c, const source_folder *folder, const char *name,
                            gufo_error *error)
{
    const uint32_t number = c->file_count;
    gufo_status status = open_file(c, folder, name, error);

    if (status == GUFO_OK)
        status = read_file(c, number, error);
    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_INPUT, number,
                number < c->file_count ? c->files[number].path : name);
    return status;
}

static gufo_status add_parts(checkpoint *c, const part_list *parts, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < parts->count && status == GUFO_OK; i++)
        status = add_file(c, &parts->place->folder, parts->names[i], error);
    return status;
}

/* ---- opening -------------------------------------------------------------------------------- */

static gufo_status open_place(checkpoint *c, part_list *parts, const model_place *place,
                              gufo_error *error)
{
    gufo_status status = parts_find(parts, place, error);

    if (status == GUFO_OK && parts->is_single)
        return add_file(c, &place->from, place->file, error);
    return status == GUFO_OK ? add_parts(c, parts, error) : status;
}

gufo_status checkpoint_open(checkpoint *c, const model_place *place, import_bounds *bounds,
                            const gufo_allocator *allocator, gufo_error *error)
{
    part_list parts = {.allocator = mem_allocator(allocator), .bounds = bounds};
    gufo_status status;

    *c = (checkpoint){.allocator = parts.allocator};
    status = open_place(c, &parts, place, error);
    if (status == GUFO_OK)
        status = checkpoint_index_names(c, error);
    if (status == GUFO_OK && parts.index != NULL)
        status = parts_compare(&parts, c, error);
    if (status != GUFO_OK)
        model_place_blame(place, error);
    c->layout = parts.layout;
    c->folder = place->folder;
    parts_free(&parts);
    return status;
}

void checkpoint_close(checkpoint *c)
{
    for (uint32_t i = 0; i < c->file_count; i++) {
        source_close(&c->files[i].source);
        mem_free(c->allocator, c->files[i].path);
    }
    checkpoint_free_tensors(c);
    mem_free(c->allocator, c->files);
    *c = (checkpoint){.allocator = c->allocator};
}

static const struct container_row *container_of_file(const model_place *place)
{
    const struct container_row *container = NULL;
    uint8_t start[START_SIZE];
    size_t size;
    source s;

    if (source_folder_open(&place->from, place->file, mem_allocator(NULL), &s, NULL) == GUFO_OK) {
        size = (size_t)smaller(s.size, sizeof start);
        if (source_read(&s, 0, start, size, NULL) == GUFO_OK)
            container = container_of(start, size);
    }
    if (container != NULL && container->read == torch_zip_read && !torch_zip_may_read(&s))
        container = NULL;
    source_close(&s);
    return container;
}

const char *checkpoint_recognise(const model_place *place)
{
    static const char *const layouts[] = {[CHECKPOINT_HUGGINGFACE] = "Hugging Face model",
                                          [CHECKPOINT_MISTRAL] = "Mistral model",
                                          [CHECKPOINT_ADAPTER] = "PEFT adapter"};
    const struct container_row *container;
    checkpoint_layout layout;

    if (place->file == NULL)
        return parts_recognise(&place->folder, &layout) ? layouts[layout] : NULL;
    if (str_ends(gufo_str_of(place->file), ".index.json"))
        return layouts[CHECKPOINT_HUGGINGFACE];
    container = container_of_file(place);
    return container != NULL ? container->name : NULL;
}
