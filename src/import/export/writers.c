/* What all writers of tensors share: memory, and targets. */
#include "import/export/writers.h"

#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"

gufo_status written_keep(written_files *w, const gufo_allocator *a, void *block, gufo_error *error)
{
    void **list = mem_grow(a, (void *)w->blocks, w->block_count, &w->block_room, sizeof *list);

    if (list != NULL)
        w->blocks = list;
    if (block == NULL || list == NULL) {
        mem_free(a, block);
        return fail_memory(error);
    }
    list[w->block_count++] = block;
    return GUFO_OK;
}

void written_free(written_files *w, const gufo_allocator *a)
{
    for (uint64_t i = 0; i < w->block_count; i++)
        mem_free(a, w->blocks[i]);
    mem_free(a, (void *)w->blocks);
    *w = (written_files){.blocks = NULL};
}

gufo_status written_target(written_files *w, gufo_job *job, const char *name, const void *header,
                           size_t header_size, uint64_t data, uint64_t tensors, uint32_t *number,
                           gufo_error *error)
{
    char *own = mem_text(&job->allocator, gufo_str_of(name));
    job_target target = {.name = own,
                         .header = header,
                         .header_size = header_size,
                         .tensor_count = tensors,
                         .data_size = data};
    gufo_status status = written_keep(w, &job->allocator, own, error);

    if (status == GUFO_OK && !checked_add(header_size, data, &target.size))
        status = refuse(error, GUFO_E_LIMIT, "file %s would be too large", name);
    return status == GUFO_OK ? job_add_target(job, &target, number, error) : status;
}
