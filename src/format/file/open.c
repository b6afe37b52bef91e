/* Opening one file: from a source to an index.  file.h describes the stages. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"
#include "format/file/file.h"

static uint64_t count_limit(uint64_t limit)
{
    return limit == 0 || limit > GUFO_MAX_COUNT ? GUFO_MAX_COUNT : limit;
}

static uint64_t unmapped_limit(const gufo_open_options *options)
{
    return options->max_unmapped == 0 ? GUFO_MAX_UNMAPPED : options->max_unmapped;
}

static const gufo_allocator *allocator_of(const gufo_open_options *options)
{
    return options->allocator != NULL ? options->allocator : &default_allocator;
}

static gguf_file *file_new(const gufo_open_options *options, uint32_t number, gufo_error *error)
{
    const gufo_allocator *allocator = allocator_of(options);
    gguf_file *file = mem_zero(allocator, sizeof *file);

    if (file == NULL) {
        (void)fail_memory(error);
        return NULL;
    }
    file->allocator = *allocator;
    file->number = number;
    file->source.fd = -1;
    file->entries.size = sizeof(entry_record);
    file->tensors.size = sizeof(tensor_record);
    file->lenient = (options->flags & GUFO_OPEN_LENIENT) != 0;
    file->metadata_only = (options->flags & GUFO_OPEN_METADATA_ONLY) != 0;
    file->as_ggml = (options->flags & GUFO_OPEN_AS_GGML) != 0;
    file->max_metadata = count_limit(options->max_metadata);
    file->max_tensors = count_limit(options->max_tensors);
    file->on_finding = options->on_finding;
    file->finding_context = options->finding_context;
    file->error = error;
    return file;
}

void file_close(gguf_file *file)
{
    gufo_allocator allocator;

    if (file == NULL)
        return;
    allocator = file->allocator;
    source_close(&file->source);
    records_free(&file->entries, &allocator);
    records_free(&file->tensors, &allocator);
    name_index_free(&file->keys, &allocator);
    name_index_free(&file->names, &allocator);
    mem_free(&allocator, file);
}

/* Counts what is left of a pipe, so that extents can be compared with the end of the file. */
static bool drain(gguf_file *file)
{
    file->status = source_drain(&file->source, file->error);
    return file->status == GUFO_OK;
}

static bool stopped_by_failure(const gguf_file *file)
{
    return file->status != GUFO_OK;
}

/* Runs the stations.  A lenient walk that had to stop leaves whatever was read before. */
static void read_file(gguf_file *file)
{
    bool whole = file_walk(file);

    if (stopped_by_failure(file) || file->encoding.version == 0)
        return;
    if (!index_keys(file) || !file_find_alignment(file) || !index_names(file) || !drain(file))
        return;
    if (whole && file->alignment_known && extents_find(file))
        source_trim(&file->source, file->infos_end);
}

/* Finishes opening once the source is open. */
static gguf_file *file_read_all(gguf_file *file)
{
    read_file(file);
    if (!stopped_by_failure(file) && file->encoding.version == 0) {
        /* Lenient, but not even the version could be read: there is nothing to show. */
        file->status = file->damage.code;
        if (file->error != NULL)
            *file->error = file->damage;
    }
    if (stopped_by_failure(file)) {
        file_close(file);
        return NULL;
    }
    file->error = NULL;
    return file;
}

/* ---- kinds of input ------------------------------------------------------------------------- */

/* Takes over `fd`. */
static gufo_status open_descriptor(gguf_file *file, int fd, const gufo_open_options *options,
                                   gufo_error *error)
{
    bool map = (options->flags & GUFO_OPEN_NO_MAP) == 0;

    return source_open_fd(&file->source, fd, map, unmapped_limit(options), &file->allocator, error);
}

static gufo_status open_path(gguf_file *file, const gufo_input *input,
                             const gufo_open_options *options, gufo_error *error)
{
    int fd = open(input->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        return fail_io(error, errno, "cannot open");
    return open_descriptor(file, fd, options, error);
}

static gufo_status open_fd(gguf_file *file, const gufo_input *input,
                           const gufo_open_options *options, gufo_error *error)
{
    int own = fcntl(input->fd, F_DUPFD_CLOEXEC, 0);

    if (own < 0)
        return fail_io(error, errno, "cannot read");
    return open_descriptor(file, own, options, error);
}

static gufo_status open_memory(gguf_file *file, const gufo_input *input,
                               const gufo_open_options *options, gufo_error *error)
{
    (void)options;
    (void)error;
    source_open_memory(&file->source, input->data, input->size);
    return GUFO_OK;
}

static gufo_status open_source(gguf_file *file, const gufo_input *input,
                               const gufo_open_options *options, gufo_error *error)
{
    (void)error;
    source_open_user(&file->source, input->source, unmapped_limit(options), &file->allocator);
    file->source.no_read_ahead = (options->flags & GUFO_OPEN_NO_READ_AHEAD) != 0;
    return GUFO_OK;
}

gguf_file *file_open(const gufo_input *input, const gufo_open_options *options, uint32_t number,
                     gufo_error *error)
{
    static gufo_status (*const openers[])(gguf_file *, const gufo_input *,
                                          const gufo_open_options *,
                                          gufo_error *) = {[GUFO_INPUT_PATH] = open_path,
                                                           [GUFO_INPUT_FD] = open_fd,
                                                           [GUFO_INPUT_MEMORY] = open_memory,
                                                           [GUFO_INPUT_SOURCE] = open_source};
    gguf_file *file = file_new(options, number, error);

    if (file == NULL) {
        if (input->kind == GUFO_INPUT_SOURCE && input->source->close != NULL)
            input->source->close(input->source->context);
        return NULL;
    }
    file->status = openers[input->kind](file, input, options, error);
    if (!stopped_by_failure(file))
        return file_read_all(file);
    file_close(file);
    return NULL;
}
