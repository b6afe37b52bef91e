/* Checkpoints: which files of a folder are a model's, which container each is; opening, closing, looking up. */
#include "base/checked.h"
#include "base/error.h"
#include "base/files/folder.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/text.h"
#include "import/containers/checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ==== which files ============================================================================== */

/* Files are known by their names.  An index beside them, model.safetensors.index.json, lists the
 * files and says which tensors each one has:
 *
 *     {"metadata": {...}, "weight_map": {"lm_head.weight": "model-00002-of-00002.safetensors", ...}}
 *
 * Then the index rules: its files have to be there, with these tensors and no others. */

enum { INDEX_NAME = 64 };

typedef struct part_list {
    const gufo_allocator *allocator;
    import_bounds *bounds; /* of the files, lent; NULL: the default */
    const model_place *place;
    char **names; /* of files in the folder, in order; none with `is_single` */
    uint64_t count, room;
    checkpoint_layout layout;
    bool is_single; /* the file of the place itself */
    json_t *index;  /* the file's whole content; NULL: no index exists */
    /* Where it is; one that the user names may be a symlink to any place. */
    const source_folder *index_folder;
    const char *index_name;
    char own_name[INDEX_NAME]; /* made of that of the files */
} part_list;

enum { MAX_PARTS = 1 << 16, MAX_INDEX = 256 << 20, NAMED_TENSORS = 3 };

#define INDEX_END ".index.json"

/* In falling priority. */
static const struct part_row {
    const char *start, *end; /* of the names of files */
    checkpoint_layout layout;
} rows[] = {
    {"model", ".safetensors", CHECKPOINT_HUGGINGFACE},
    {"pytorch_model", ".bin", CHECKPOINT_HUGGINGFACE},
    {"consolidated", ".safetensors", CHECKPOINT_MISTRAL},
    {"diffusion_pytorch_model", ".safetensors", CHECKPOINT_HUGGINGFACE},
    {"adapter_model", ".safetensors", CHECKPOINT_ADAPTER},
    {"adapter_model", ".bin", CHECKPOINT_ADAPTER},
};

enum { ROW_COUNT = sizeof rows / sizeof *rows, MISTRAL_ROW = 2 };

static bool is_part(const struct part_row *row, gufo_str name)
{
    return str_begins(name, row->start) && str_ends(name, row->end);
}

/* ---- files of a folder ---------------------------------------------------------------------- */

static gufo_status add_name(part_list *parts, gufo_str name, gufo_error *error)
{
    char **names;

    if (parts->count == MAX_PARTS)
        return refuse(error, GUFO_E_LIMIT, "more than %s files of tensors", GROUPED(MAX_PARTS));
    names = mem_grow(parts->allocator, parts->names, parts->count, &parts->room, sizeof *names);
    if (names == NULL)
        return fail_memory(error);
    parts->names = names;
    names[parts->count] = mem_text(parts->allocator, name);
    return names[parts->count++] != NULL ? GUFO_OK : fail_memory(error);
}

/* What a listing of a folder finds. */
typedef struct part_search {
    unsigned found;             /* rows that have files, as bits */
    const struct part_row *row; /* whose names are added to `parts`; NULL: none */
    part_list *parts;
} part_search;

static gufo_status visit_name(void *context, gufo_str name, gufo_error *error)
{
    part_search *s = context;

    for (size_t i = 0; i < ROW_COUNT; i++)
        s->found |= is_part(&rows[i], name) ? 1U << i : 0;
    return s->row != NULL && is_part(s->row, name) ? add_name(s->parts, name, error) : GUFO_OK;
}

/* Mistral's own layout rules where only it has a configuration. */
static bool is_mistral(const source_folder *folder)
{
    return !source_folder_has(folder, "config.json") && source_folder_has(folder, "params.json");
}

static const char *name_of_index(const struct part_row *row, char out[INDEX_NAME])
{
    (void)snprintf(out, INDEX_NAME, "%s%s" INDEX_END, row->start, row->end);
    return out;
}

/* Files come before an index whose files are missing; NULL: neither exists. */
static const struct part_row *choose_row(const source_folder *folder, unsigned found)
{
    char name[INDEX_NAME];

    if ((found & 1U << MISTRAL_ROW) != 0 && is_mistral(folder))
        return &rows[MISTRAL_ROW];
    for (size_t i = 0; i < ROW_COUNT; i++)
        if ((found & 1U << i) != 0)
            return &rows[i];
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (source_folder_has(folder, name_of_index(&rows[i], name)))
            return &rows[i];
    return NULL;
}

/* Whether a folder has such files; *layout is that of the first one. */
static bool parts_recognise(const source_folder *folder, checkpoint_layout *layout)
{
    const struct part_row *row;
    part_search s = {.found = 0};

    if (source_folder_list(folder, ".", visit_name, &s, NULL) != GUFO_OK)
        return false;
    row = choose_row(folder, s.found);
    if (row != NULL)
        *layout = row->layout;
    return row != NULL;
}

static bool is_name_before(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;

    return strcmp(*x, *y) < 0;
}

/* ---- the index ------------------------------------------------------------------------------ */

/* All files that the index lists, once each, in order.  The names are those of the JSON value until
 * they are known to differ: as many as there are tensors. */
static gufo_status list_files(part_list *parts, json_t *map, gufo_error *error)
{
    const uint64_t count = json_object_size(map);
    const char **files = mem_array(parts->allocator, count, sizeof *files);
    gufo_status status = files == NULL ? fail_memory(error) : GUFO_OK;
    uint64_t listed = 0;
    const char *tensor;
    json_t *file;

    if (status != GUFO_OK)
        return status;
    json_object_foreach(map, tensor, file)
    {
        if (status == GUFO_OK && (!json_is_string(file) || !is_plain_name(json_str(file))))
            status = refuse(error, GUFO_E_MALFORMED,
                            "the file of tensor %s is %s, which is not a plain name",
                            QUOTED(gufo_str_of(tensor)),
                            json_is_string(file) ? QUOTED(json_str(file)) : "not a text");
        files[listed++] = json_string_value(file);
    }
    if (status == GUFO_OK)
        sort_items(files, (size_t)count, sizeof *files, is_name_before);
    for (uint64_t i = 0; status == GUFO_OK && i < count; i++)
        if (i == 0 || strcmp(files[i], files[i - 1]) != 0)
            status = add_name(parts, gufo_str_of(files[i]), error);
    mem_free(parts->allocator, files);
    return status;
}

static json_t *weight_map(const part_list *parts)
{
    return json_object_get(parts->index, "weight_map");
}

/* Names of some tensors, for a message. */
typedef struct sample {
    uint64_t count;
    char text[NAMED_TENSORS * 110];
} sample;

static void sample_add(sample *s, gufo_str name)
{
    size_t len = strlen(s->text);

    if (s->count++ < NAMED_TENSORS)
        (void)snprintf(s->text + len, sizeof s->text - len, "%s%.100s", len > 0 ? ", " : "",
                       QUOTED(name));
    else if (s->count == NAMED_TENSORS + 1 && len + 5 < sizeof s->text)
        memcpy(s->text + len, " ...", 5);
}

static gufo_status fail_missing(const part_list *parts, const char *file, uint64_t others,
                                gufo_error *error)
{
    sample tensors = {0};
    char also[64] = "";
    const char *tensor;
    json_t *value;

    json_object_foreach(weight_map(parts), tensor, value)
    {
        if (strcmp(json_string_value(value), file) == 0)
            sample_add(&tensors, gufo_str_of(tensor));
    }
    if (others > 0)
        (void)snprintf(also, sizeof also, " (and %s more files)", GROUPED(others));
    return refuse(error, GUFO_E_SHARDS,
                  "the shard %s%s is missing: the index lists %s tensors in it: %s",
                  QUOTED(gufo_str_of(file)), also, GROUPED(tensors.count), tensors.text);
}

static gufo_status check_present(const part_list *parts, gufo_error *error)
{
    const char *missing = NULL;
    uint64_t others = 0;

    for (uint64_t i = 0; i < parts->count; i++) {
        if (source_folder_has(&parts->place->folder, parts->names[i]))
            continue;
        if (missing == NULL)
            missing = parts->names[i];
        else
            others++;
    }
    return missing == NULL ? GUFO_OK : fail_missing(parts, missing, others, error);
}

/* Reads the index; GUFO_OK if no such file exists. */
static gufo_status read_index(part_list *parts, gufo_error *error)
{
    gufo_status status = json_file_read(parts->index_folder, parts->index_name, MAX_INDEX,
                                        parts->bounds, &parts->index, error);

    if (status == GUFO_OK && parts->index != NULL && !json_is_object(weight_map(parts)))
        status = refuse(error, GUFO_E_MALFORMED, "the index has no object \"weight_map\"");
    else if (status == GUFO_OK && parts->index != NULL && json_object_size(weight_map(parts)) == 0)
        status = refuse(error, GUFO_E_MALFORMED, "the index lists no tensors");
    if (status == GUFO_OK && parts->index != NULL)
        status = list_files(parts, weight_map(parts), error);
    if (status == GUFO_OK && parts->index != NULL)
        status = check_present(parts, error);
    if (status != GUFO_OK)
        source_folder_fail_in(parts->index_folder, parts->index_name, error);
    return status;
}

/* ---- both ----------------------------------------------------------------------------------- */

static gufo_status find_in_folder(part_list *parts, gufo_error *error)
{
    const source_folder *folder = &parts->place->folder;
    part_search s = {.parts = parts};
    gufo_status status = source_folder_list(folder, ".", visit_name, &s, error);
    const struct part_row *row;

    if (status != GUFO_OK)
        return status;
    row = choose_row(folder, s.found);
    if (row == NULL)
        return refuse(error, GUFO_E_NOT_FOUND,
                      "the folder has no file model*.safetensors, pytorch_model*.bin, "
                      "consolidated*.safetensors or adapter_model.safetensors");
    parts->layout = row->layout;
    parts->index_folder = folder;
    parts->index_name = name_of_index(row, parts->own_name);
    status = read_index(parts, error);
    if (status != GUFO_OK || parts->index != NULL)
        return status;
    s.row = row;
    status = source_folder_list(folder, ".", visit_name, &s, error);
    if (parts->count > 0)
        sort_items(parts->names, (size_t)parts->count, sizeof *parts->names, is_name_before);
    return status;
}

/* Finds the files of the checkpoint in a place, which outlives the list: they are there.  Freed with
 * parts_free, also after a failure. */
static gufo_status parts_find(part_list *parts, const model_place *place, gufo_error *error)
{
    gufo_status status;

    parts->place = place;
    if (place->file == NULL)
        return find_in_folder(parts, error);
    for (size_t i = ROW_COUNT; i > 0; i--)
        if (str_begins(gufo_str_of(place->file + folder_len(place->file)), rows[i - 1].start))
            parts->layout = rows[i - 1].layout;
    parts->is_single = !str_ends(gufo_str_of(place->file), INDEX_END);
    if (parts->is_single)
        return GUFO_OK;
    parts->index_folder = &place->from;
    parts->index_name = place->file;
    status = read_index(parts, error);
    return status == GUFO_OK && parts->index == NULL ? fail_io(error, ENOENT, "cannot open")
                                                     : status;
}

static void parts_free(part_list *parts)
{
    for (uint64_t i = 0; i < parts->count; i++)
        mem_free(parts->allocator, parts->names[i]);
    mem_free(parts->allocator, parts->names);
    json_decref(parts->index);
    *parts = (part_list){.allocator = parts->allocator};
}

/* ---- what the index says of tensors --------------------------------------------------------- */

static const char *name_of_file(const checkpoint *c, const checkpoint_tensor *t)
{
    const char *path = c->files[t->file].path;

    return path + folder_len(path);
}

/* The tensors of all files are those that the index lists, where it lists them. */
static gufo_status parts_compare(const part_list *parts, const checkpoint *c, gufo_error *error)
{
    sample missing = {0}, moved = {0}, unlisted = {0};
    json_t *map = weight_map(parts), *file;
    gufo_status status;
    const char *name;

    json_object_foreach(map, name, file)
    {
        const checkpoint_tensor *t = checkpoint_find(c, gufo_str_of(name));

        if (t == NULL)
            sample_add(&missing, gufo_str_of(name));
        else if (strcmp(name_of_file(c, t), json_string_value(file)) != 0)
            sample_add(&moved, gufo_str_of(name));
    }
    for (uint64_t i = 0; i < c->tensor_count; i++) {
        gufo_str tensor = c->tensors[i].name;

        if (memchr(tensor.data, '\0', tensor.len) != NULL ||
            json_object_getn(map, tensor.data, tensor.len) == NULL)
            sample_add(&unlisted, tensor);
    }
    if (missing.count + moved.count + unlisted.count == 0)
        return GUFO_OK;
    status = refuse(error, GUFO_E_SHARDS,
                    "the index and its files disagree: %s tensors are in no file%s%s; "
                    "%s in another file%s%s; %s not in the index%s%s",
                    GROUPED(missing.count), missing.count > 0 ? ": " : "", missing.text,
                    GROUPED(moved.count), moved.count > 0 ? ": " : "", moved.text,
                    GROUPED(unlisted.count), unlisted.count > 0 ? ": " : "", unlisted.text);
    source_folder_fail_in(parts->index_folder, parts->index_name, error);
    return status;
}

enum { START_SIZE = 512 }; /* enough to recognise any container */

/* ==== the checkpoint =========================================================================== */

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
        model_place_fail_in(place, error);
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
