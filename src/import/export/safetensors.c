/* Writing safetensors: 8 bytes with the length of a header, the header in JSON, the numbers.
 *
 * In a file tensors whose numbers are long come first, so that all are aligned, and then by name, as other
 * writers have them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "import/export/tensors.h"
#include "import/export/writers.h"

enum { PREFIX_SIZE = 8, ALIGNMENT = 8, MOST_FILES = 99999, MOST_BITS = 64 /* of a number */ };

/* The tensors of one file. */
typedef struct part {
    const export_tensor **tensors;
    uint64_t count, size;
} part;

/* ---- headers -------------------------------------------------------------------------------- */

static json_t *describe(const export_tensor *t)
{
    json_t *shape = json_array();

    for (uint32_t i = 0; shape != NULL && i < t->like->n_dims; i++)
        if (json_array_append_new(shape, json_integer((json_int_t)t->like->shape[i])) != 0) {
            json_decref(shape);
            shape = NULL;
        }
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", t->number->name, "shape", shape,
                     "data_offsets", (json_int_t)t->offset,
                     (json_int_t)t->offset + (json_int_t)t->size);
}

/* The bytes before the numbers; NULL without memory. */
static void *make_header(const part *p, const gufo_allocator *a, size_t *size)
{
    json_t *all = json_pack("{s:{s:s}}", "__metadata__", "format", "pt");
    char *text = NULL;
    uint8_t *header = NULL;
    bool whole = all != NULL;

    for (uint64_t i = 0; whole && i < p->count; i++) {
        const gufo_str name = p->tensors[i]->like->name;

        whole = json_object_set_new(all, name.data, describe(p->tensors[i])) == 0;
    }
    if (whole)
        text = json_dumps(all, JSON_COMPACT);
    if (text != NULL) {
        size_t len = strlen(text), padded = (len + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

        *size = PREFIX_SIZE + padded;
        header = mem_alloc(a, *size);
        if (header != NULL) {
            store_u64(header, padded, bytes_swapped(false));
            memcpy(header + PREFIX_SIZE, text, len);
            memset(header + PREFIX_SIZE + len, ' ', padded - len);
        }
    }
    free(text);
    json_decref(all);
    return header;
}

/* ---- files ---------------------------------------------------------------------------------- */

/* Divides the tensors into files: the number of files. */
static uint32_t divide(export_plan *plan, uint64_t shard_size)
{
    uint64_t size = 0;
    uint32_t file = 0;

    for (uint64_t i = 0; i < plan->count; i++) {
        export_tensor *t = &plan->tensors[i];

        if (size > 0 && (t->size > shard_size || size > shard_size - t->size)) {
            file++;
            size = 0;
        }
        size += t->size;
        t->file = file;
    }
    return file + 1;
}

static void name_file(uint32_t file, uint32_t files, char out[EXPORT_NAME_SIZE])
{
    if (files == 1)
        (void)snprintf(out, EXPORT_NAME_SIZE, "model.safetensors");
    else
        (void)snprintf(out, EXPORT_NAME_SIZE, "model-%05" PRIu32 "-of-%05" PRIu32 ".safetensors",
                       file + 1, files);
}

static gufo_status add_file(written_files *w, gufo_job *job, export_plan *plan, const part *p,
                            const char *name, gufo_error *error)
{
    size_t header_size = 0;
    void *header = make_header(p, &job->allocator, &header_size);
    uint32_t target;
    gufo_status status = written_keep(w, &job->allocator, header, error);

    if (status == GUFO_OK)
        status =
            written_target(w, job, name, header, header_size, p->size, p->count, &target, error);
    for (uint64_t i = 0; i < p->count && status == GUFO_OK; i++) {
        const export_tensor *t = p->tensors[i];

        status = arrange(job, &plan->inversion, t->owner, t->type, target, header_size + t->offset,
                         error);
    }
    return status;
}

static void place_tensor(part *p, export_tensor *t)
{
    t->offset = p->size;
    p->size += t->size;
    p->tensors[p->count++] = t;
}

/* Tensors [first, last) of the list, which are sorted by name, are those of a file. */
static gufo_status write_file(written_files *w, gufo_job *job, export_plan *plan, uint64_t first,
                              uint64_t last, const char *name, gufo_error *error)
{
    part p = {.count = 0};
    gufo_status status;

    p.tensors = mem_array(&job->allocator, last - first, sizeof(const export_tensor *));
    if (p.tensors == NULL)
        return fail_memory(error);
    for (uint32_t bits = MOST_BITS; bits > 0; bits /= 2)
        for (uint64_t i = first; i < last; i++)
            if (plan->tensors[i].number->bits == bits)
                place_tensor(&p, &plan->tensors[i]);
    status = add_file(w, job, plan, &p, name, error);
    mem_free(&job->allocator, (void *)p.tensors);
    return status;
}

/* ---- the index ------------------------------------------------------------------------------ */

static char *make_index(const export_plan *plan, uint32_t files)
{
    json_t *map = json_object(), *all;
    json_int_t size = 0;
    char *text;

    for (uint64_t i = 0; i < plan->count; i++) {
        const export_tensor *t = &plan->tensors[i];
        char name[EXPORT_NAME_SIZE];

        name_file(t->file, files, name);
        size += (json_int_t)t->size;
        (void)json_object_set_new(map, t->like->name.data, json_string(name));
    }
    all = json_pack("{s:{s:I}, s:O}", "metadata", "total_size", size, "weight_map", map);
    text = all != NULL && json_object_size(map) == plan->count ? json_dumps(all, JSON_INDENT(2))
                                                               : NULL;
    json_decref(all);
    json_decref(map);
    return text;
}

static gufo_status write_index(written_files *w, gufo_job *job, const export_plan *plan,
                               uint32_t files, gufo_error *error)
{
    char *text = make_index(plan, files), *own;
    uint32_t ignored;
    gufo_status status;

    own = text != NULL ? mem_join(&job->allocator, gufo_str_of(text), gufo_str_of("\n")) : NULL;
    free(text);
    status = written_keep(w, &job->allocator, own, error);
    return status == GUFO_OK ? written_target(w, job, "model.safetensors.index.json", own,
                                              strlen(own), 0, 0, &ignored, error)
                             : status;
}

gufo_status safetensors_write_all(written_files *w, gufo_job *job, export_plan *plan,
                                  uint64_t shard_size, gufo_error *error)
{
    uint32_t files = divide(plan, shard_size);
    gufo_status status = GUFO_OK;

    if (files > MOST_FILES)
        return refuse(error, GUFO_E_LIMIT, "more than %d files: a larger shard size is needed",
                      MOST_FILES);
    for (uint64_t first = 0, last; first < plan->count && status == GUFO_OK; first = last) {
        char name[EXPORT_NAME_SIZE];

        last = first;
        while (last < plan->count && plan->tensors[last].file == plan->tensors[first].file)
            last++;
        name_file(plan->tensors[first].file, files, name);
        status = write_file(w, job, plan, first, last, name, error);
    }
    return status == GUFO_OK && files > 1 ? write_index(w, job, plan, files, error) : status;
}
