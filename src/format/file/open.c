/* Opening one file: from a source to an index.  file.h describes the stages. */
#include "base/error.h"

#include <inttypes.h>

#include "format/file/file.h"

/* ---- the alignment of an open file: general.alignment, where it is present and valid ------------ */

bool alignment_acceptable(uint64_t alignment)
{
    bool power_of_two = (alignment & (alignment - 1)) == 0;

    return alignment != 0 && (power_of_two || alignment % 8 == 0);
}

static bool occurs_twice(const gguf_file *file, gufo_str key)
{
    unsigned times = 0;

    for (uint64_t i = 0; i < file->entries.count; i++)
        times += gufo_str_equal(file_name(file, &file_entry(file, i)->record), key);
    return times > 1;
}

static bool file_find_alignment(gguf_file *file)
{
    gufo_str subject = gufo_str_of(GUFO_ALIGNMENT_KEY);
    gufo_entry entry;

    file->alignment = GUFO_DEFAULT_ALIGNMENT;
    file->alignment_known = true;
    if (!file_entry_find(file, subject, &entry))
        return true;
    file->alignment_known = false;
    if (file->damaged && occurs_twice(file, subject))
        return true; /* reported already; which one is meant is not known */
    if (entry.value.type != GUFO_VALUE_UINT32)
        return file_fault(file, RULE_ALIGNMENT_TYPE, entry.offset, subject,
                          "general.alignment has type %s, not uint32",
                          gufo_value_type_name(entry.value.type));
    if (!alignment_acceptable(entry.value.as.u))
        return file_fault(file, RULE_ALIGNMENT_VALUE, entry.value_offset, subject,
                          "general.alignment is %" PRIu64
                          "; it must be a power of two or a multiple of 8",
                          entry.value.as.u);
    file->alignment = (uint32_t)entry.value.as.u;
    file->alignment_known = true;
    return true;
}

static gguf_file *file_new(const gufo_open_options *options, uint32_t number, gufo_error *error)
{
    const gufo_allocator *allocator = mem_allocator(options->allocator);
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
    file->header_alone = file->metadata_only && (options->flags & GUFO_OPEN_NO_READ_AHEAD) != 0;
    file->as_ggml = (options->flags & GUFO_OPEN_AS_GGML) != 0;
    file->max_metadata = file_count_limit(options->max_metadata);
    file->max_tensors = file_count_limit(options->max_tensors);
    file->max_texts = options->max_texts > 0 ? options->max_texts : GUFO_MAX_TEXTS;
    file->max_depth = options->max_depth > 0 ? (unsigned)options->max_depth : GUFO_MAX_DEPTH;
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

/* Runs the stations.  A lenient walk that had to stop leaves whatever was read before. */
static void read_file(gguf_file *file)
{
    bool whole = file_walk(file);

    if (file->status != GUFO_OK || file->encoding.version == 0)
        return;
    if (!index_keys(file) || !file_find_alignment(file) || !index_names(file))
        return;
    /* Counts what is left of a pipe, so that extents can be compared with the end of the file. */
    if (file->header_alone)
        source_end(&file->source);
    else
        file->status = source_drain(&file->source, file->error);
    whole = whole && !file->cut_short && file->alignment_known;
    if (file->status == GUFO_OK && whole && extents_find(file))
        source_trim(&file->source, file->infos_end);
}

/* Finishes opening once the source is open. */
static gguf_file *file_read_all(gguf_file *file)
{
    read_file(file);
    if (file->status == GUFO_OK && file->encoding.version == 0) {
        /* Lenient, but not even the version could be read: there is nothing to show. */
        file->status = file->damage.code;
        if (file->error != NULL)
            *file->error = file->damage;
    }
    if (file->status != GUFO_OK) {
        file_close(file);
        return NULL;
    }
    file->error = NULL;
    file->opening = NULL;
    file->source.progress = NULL;
    return file;
}

/* ---- kinds of input ------------------------------------------------------------------------- */

static gufo_status open_source(gguf_file *file, const gufo_input *input,
                               const gufo_open_options *options, gufo_error *error)
{
    uint64_t limit = options->max_unmapped == 0 ? GUFO_MAX_UNMAPPED : options->max_unmapped;

    if (input->kind == GUFO_INPUT_MEMORY) {
        source_open_memory(&file->source, input->data, input->size);
        return GUFO_OK;
    }
    if (input->kind == GUFO_INPUT_SOURCE) {
        source_open_user(&file->source, input->source, limit, &file->allocator);
        file->source.no_read_ahead = (options->flags & GUFO_OPEN_NO_READ_AHEAD) != 0;
        return GUFO_OK;
    }
    return file_open_system(file, input, (options->flags & GUFO_OPEN_NO_MAP) == 0, limit, error);
}

static bool note_bytes(void *context, uint64_t done, uint64_t total)
{
    gguf_file *file = context;

    (void)total;
    return opening_note(file->opening, &file->noted, done);
}

gguf_file *file_open(const gufo_input *input, opening_state *o, uint32_t number, gufo_error *error)
{
    gguf_file *file = file_new(o->options, number, error);

    if (file == NULL) {
        if (input->kind == GUFO_INPUT_SOURCE && input->source->close != NULL)
            input->source->close(input->source->context);
        return NULL;
    }
    file->status = open_source(file, input, o->options, error);
    file->opening = o;
    file->source.progress = note_bytes;
    file->source.progress_context = file;
    if (file->status == GUFO_OK)
        return file_read_all(file);
    file_close(file);
    return NULL;
}
