/* Opening: from a source to an indexed file.  file.h tells the stations. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"
#include "format/file.h"

static const gufo_open_options default_options = {0};

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

static gufo_file *file_new(const gufo_open_options *options, gufo_error *error)
{
    const gufo_allocator *allocator = allocator_of(options);
    gufo_file *file = mem_zero(allocator, sizeof *file);

    if (file == NULL) {
        (void)fail_memory(error);
        return NULL;
    }
    file->allocator = *allocator;
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

void gufo_close(gufo_file *file)
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
static bool drain(gufo_file *file)
{
    file->status = source_drain(&file->source, file->error);
    return file->status == GUFO_OK;
}

static bool stopped_by_failure(const gufo_file *file)
{
    return file->status != GUFO_OK;
}

/* Runs the stations.  A lenient walk that had to stop leaves whatever was read before. */
static void read_file(gufo_file *file)
{
    bool whole = file_walk(file);

    if (stopped_by_failure(file) || file->encoding.version == 0)
        return;
    if (!index_keys(file) || !index_alignment(file) || !index_names(file) || !drain(file))
        return;
    if (whole && file->alignment_known && extents_find(file))
        source_trim(&file->source, file->infos_end);
}

/* Finishes opening once the source is there. */
static gufo_file *file_read(gufo_file *file)
{
    read_file(file);
    if (!stopped_by_failure(file) && file->encoding.version == 0) {
        /* Lenient, but not even the version could be read: there is nothing to show. */
        file->status = file->damage.code;
        if (file->error != NULL)
            *file->error = file->damage;
    }
    if (stopped_by_failure(file)) {
        gufo_close(file);
        return NULL;
    }
    file->error = NULL;
    return file;
}

/* Takes over `fd`. */
static gufo_file *open_descriptor(int fd, const gufo_open_options *options, gufo_error *error)
{
    gufo_file *file = file_new(options, error);
    bool map = (options->flags & GUFO_OPEN_NO_MAP) == 0;

    if (file == NULL) {
        (void)close(fd);
        return NULL;
    }
    file->status =
        source_open_fd(&file->source, fd, map, unmapped_limit(options), &file->allocator, error);
    if (stopped_by_failure(file)) {
        gufo_close(file);
        return NULL;
    }
    return file_read(file);
}

gufo_file *gufo_open(const char *path, const gufo_open_options *options, gufo_error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    if (fd < 0) {
        (void)fail_io(error, errno, "cannot open");
        return NULL;
    }
    return open_descriptor(fd, options != NULL ? options : &default_options, error);
}

gufo_file *gufo_open_fd(int fd, const gufo_open_options *options, gufo_error *error)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);

    if (own < 0) {
        (void)fail_io(error, errno, "cannot read");
        return NULL;
    }
    return open_descriptor(own, options != NULL ? options : &default_options, error);
}

gufo_file *gufo_open_memory(const void *data, size_t size, const gufo_open_options *options,
                            gufo_error *error)
{
    gufo_file *file = file_new(options != NULL ? options : &default_options, error);

    if (file == NULL)
        return NULL;
    source_open_memory(&file->source, data, size);
    return file_read(file);
}

gufo_file *gufo_open_source(const gufo_source *user, const gufo_open_options *options,
                            gufo_error *error)
{
    gufo_file *file;

    if (options == NULL)
        options = &default_options;
    file = file_new(options, error);
    if (file == NULL) {
        if (user->close != NULL)
            user->close(user->context);
        return NULL;
    }
    source_open_user(&file->source, user, unmapped_limit(options), &file->allocator);
    file->source.no_read_ahead = (options->flags & GUFO_OPEN_NO_READ_AHEAD) != 0;
    return file_read(file);
}
