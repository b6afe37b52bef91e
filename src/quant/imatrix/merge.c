/* The sum of importance matrices: only their entries are merged here; numbers are added up when
 * they are read (imatrix.c). */
#include "quant/imatrix/imatrix.h"

#include <string.h>

#include "base/checked.h"
#include "base/error.h"

static const gufo_imatrix_merge_options default_options = {0};

/* ---- entries -------------------------------------------------------------------------------- */

/* The same tensor in another input: as many values, and as many matrices or one. */
static gufo_status join(imatrix_entry *entry, const imatrix_entry *more, gufo_error *error)
{
    if (entry->values != more->values ||
        (entry->matrices != more->matrices && entry->matrices != 1 && more->matrices != 1))
        return refuse(error, GUFO_E_ARGUMENT,
                      "the entry for %s has %s values in %s matrices, but %s in %s before: these "
                      "importance matrices were made from different models",
                      QUOTED(entry->name), GROUPED(more->values), GROUPED(more->matrices),
                      GROUPED(entry->values), GROUPED(entry->matrices));
    if (more->matrices > entry->matrices)
        entry->matrices = more->matrices;
    return GUFO_OK;
}

static gufo_status take_entry(gufo_imatrix *m, const imatrix_entry *from, gufo_error *error)
{
    imatrix_entry *entry;
    gufo_status status;
    uint64_t index;

    if (imatrix_find(m, from->name, &index))
        return join(imatrix_entry_at(m, index), from, error);
    status = imatrix_add(m, from->name, GUFO_NO_OFFSET, &entry, error);
    if (status == GUFO_OK) {
        entry->values = from->values;
        entry->matrices = from->matrices;
    }
    return status;
}

static gufo_status take_entries(gufo_imatrix *m, const gufo_imatrix *input,
                                const gufo_imatrix_merge_options *options, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < input->entries.count && status == GUFO_OK; i++) {
        const imatrix_entry *entry = imatrix_entry_at(input, i);

        if (options->keep == NULL || options->keep(options->keep_context, entry->name))
            status = take_entry(m, entry, error);
    }
    return status;
}

/* ---- facts ---------------------------------------------------------------------------------- */

static gufo_status take_datasets(gufo_imatrix *m, const gufo_imatrix *input, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    gufo_str text;

    for (uint64_t i = 0; status == GUFO_OK && gufo_imatrix_dataset_at(input, i, &text); i++)
        status = imatrix_add_dataset(m, text, error);
    return status;
}

/* Chunks of the first input's size; where they do not come out even, the last one is not full. */
static void take_chunks(gufo_imatrix *m)
{
    uint64_t tokens = 0, more;

    m->format = GUFO_IMATRIX_LEGACY;
    m->chunk_size = m->inputs[0]->chunk_size;
    for (size_t i = 0; i < m->input_count; i++) {
        const gufo_imatrix *input = m->inputs[i];

        if (!checked_mul(input->chunk_count, input->chunk_size, &more) ||
            !checked_add(tokens, more, &tokens))
            tokens = UINT64_MAX;
        if (input->format == GUFO_IMATRIX_GGUF)
            m->format = GUFO_IMATRIX_GGUF;
    }
    m->chunk_count = tokens / m->chunk_size + (tokens % m->chunk_size != 0);
}

static gufo_status fill(gufo_imatrix *m, const gufo_imatrix_merge_options *options,
                        gufo_error *error)
{
    gufo_status status = GUFO_OK;

    take_chunks(m);
    for (size_t i = 0; i < m->input_count && status == GUFO_OK; i++) {
        status = take_entries(m, m->inputs[i], options, error);
        if (status == GUFO_OK)
            status = take_datasets(m, m->inputs[i], error);
        (void)imatrix_fail(m->inputs[i], (uint32_t)i, status, error);
    }
    return status;
}

gufo_imatrix *gufo_imatrix_merge(const gufo_imatrix *const *inputs, size_t count,
                                 const gufo_imatrix_merge_options *options, gufo_error *error)
{
    const size_t each = sizeof(const gufo_imatrix *);
    gufo_imatrix *m;

    options = options != NULL ? options : &default_options;
    if (count == 0 || count > SIZE_MAX / each) {
        (void)refuse(error, GUFO_E_ARGUMENT, "nothing to merge");
        return NULL;
    }
    if (reserved_check(options->reserved, "gufo_imatrix_merge_options", error) != GUFO_OK)
        return NULL;
    m = imatrix_new(options->allocator, NULL, error);
    if (m == NULL)
        return NULL;
    m->inputs = mem_alloc(&m->allocator, count * each);
    if (m->inputs != NULL) {
        memcpy(m->inputs, inputs, count * each);
        m->input_count = count;
    }
    if (m->inputs == NULL ? fail_memory(error) : fill(m, options, error)) {
        gufo_imatrix_free(m);
        return NULL;
    }
    return m;
}
