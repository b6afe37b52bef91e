/* Writing importance matrices; the formats are drawn in imatrix_gguf.c and imatrix_legacy.c.
 *
 * From sums and counts to the old format:  value = sum / count * calls, where calls is the highest
 * count of the entry in chunks, rounded up so that it is not 0.  What came from the old format
 * becomes what it was: sum and count are then value * size and calls * size for a chunk of any
 * size. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/output.h"
#include "quant/imatrix.h"

struct gufo_imatrix_output {
    const gufo_imatrix *imatrix;
    gufo_allocator allocator;
    gufo_writer *writer;     /* GGUF */
    output file;             /* old format, with a path */
    int stream;              /* old format, with a descriptor; else -1 */
    uint64_t position, size; /* old format: bytes written, and in all */
    uint32_t entries;        /* old format: those that have data */
};

/* As floats.  A finite number that none can hold is refused: infinity would make the entry useless.
 */
static gufo_status store_floats(const gufo_imatrix *m, uint64_t index, const double *numbers,
                                size_t count, uint8_t *bytes, gufo_error *error)
{
    char quoted[GUFO_QUOTE_SIZE];

    for (size_t i = 0; i < count; i++, bytes += sizeof(float)) {
        float number = (float)numbers[i];
        uint32_t bits;

        if (isinf(number) && isfinite(numbers[i]))
            return fail_with(error, GUFO_E_RANGE, GUFO_NO_OFFSET,
                             "a number of the entry for %s is %g, beyond the range of a float",
                             quote_name(quoted, imatrix_entry_at(m, index)->name), numbers[i]);
        memcpy(&bits, &number, sizeof bits);
        store_u32(bytes, bits, bytes_swapped(false));
    }
    return GUFO_OK;
}

/* ---- GGUF ----------------------------------------------------------------------------------- */

static gufo_status add_datasets(const gufo_imatrix *m, gufo_writer *w, gufo_error *error)
{
    uint64_t count = m->datasets.count;
    gufo_str *texts = count > SIZE_MAX / sizeof *texts
                          ? NULL
                          : mem_alloc(&m->allocator, (size_t)(count + 1) * sizeof *texts);
    gufo_status status;

    if (texts == NULL)
        return fail_memory(error);
    for (uint64_t i = 0; i < count; i++)
        (void)gufo_imatrix_dataset_at(m, i, &texts[i]);
    status = gufo_writer_add_array(w, "imatrix.datasets",
                                   &(gufo_items){GUFO_VALUE_STRING, count, texts}, error);
    mem_free(&m->allocator, texts);
    return status;
}

static gufo_status add_metadata(const gufo_imatrix *m, gufo_writer *w, gufo_error *error)
{
    gufo_status status = gufo_writer_add_text(w, "general.type", "imatrix", error);

    if (m->chunk_count > UINT32_MAX)
        return fail_with(error, GUFO_E_RANGE, GUFO_NO_OFFSET,
                         "%" PRIu64 " chunks are more than the format can count", m->chunk_count);
    if (status == GUFO_OK)
        status = add_datasets(m, w, error);
    if (status == GUFO_OK)
        status = gufo_writer_add_u32(w, "imatrix.chunk_count", (uint32_t)m->chunk_count, error);
    if (status == GUFO_OK)
        status = gufo_writer_add_u32(w, "imatrix.chunk_size", m->chunk_size, error);
    return status;
}

static gufo_status add_tensor(gufo_writer *w, const imatrix_entry *entry, const char *suffix,
                              uint64_t columns, gufo_error *error)
{
    char name[GUFO_MAX_NAME + 1], quoted[GUFO_QUOTE_SIZE];
    size_t len = strlen(suffix);

    if (entry->name.len + len > GUFO_MAX_NAME)
        return fail_with(error, GUFO_E_LIMIT, GUFO_NO_OFFSET,
                         "the name %s with %s has more than %d bytes, the most that GGUF allows",
                         quote_name(quoted, entry->name), suffix, GUFO_MAX_NAME);
    memcpy(name, entry->name.data, entry->name.len);
    memcpy(name + entry->name.len, suffix, len);
    return gufo_writer_add_tensor(w, (gufo_str){name, entry->name.len + len}, GUFO_TYPE_F32, 2,
                                  (uint64_t[]){columns, entry->matrices}, 0, error);
}

static gufo_status plan_gguf(gufo_imatrix_output *o, gufo_error *error)
{
    gufo_writer_options options = {.flags = GUFO_WRITER_AS_READ, .allocator = &o->allocator};
    const gufo_imatrix *m = o->imatrix;
    gufo_status status;

    o->writer = gufo_writer_new(&options, error);
    if (o->writer == NULL)
        return GUFO_E_MEMORY;
    status = add_metadata(m, o->writer, error);
    for (uint64_t i = 0; i < m->entries.count && status == GUFO_OK; i++) {
        const imatrix_entry *entry = imatrix_entry_at(m, i);

        status = add_tensor(o->writer, entry, ".in_sum2", entry->values / entry->matrices, error);
        if (status == GUFO_OK)
            status = add_tensor(o->writer, entry, ".counts", 1, error);
    }
    return status;
}

typedef gufo_status number_reader(const gufo_imatrix *imatrix, uint64_t index, uint64_t first,
                                  size_t count, double *out, gufo_error *error);

static gufo_status write_tensor(gufo_imatrix_output *o, uint64_t tensor, uint64_t index,
                                uint64_t count, number_reader *read, gufo_error *error)
{
    double numbers[IMATRIX_CHUNK];
    uint8_t bytes[IMATRIX_CHUNK * sizeof(float)];
    gufo_status status = GUFO_OK;
    size_t n;

    for (uint64_t first = 0; first < count && status == GUFO_OK; first += n) {
        n = count - first < IMATRIX_CHUNK ? (size_t)(count - first) : IMATRIX_CHUNK;
        status = read(o->imatrix, index, first, n, numbers, error);
        if (status == GUFO_OK)
            status = store_floats(o->imatrix, index, numbers, n, bytes, error);
        if (status == GUFO_OK)
            status = gufo_writer_write(o->writer, tensor, first * sizeof(float), bytes,
                                       n * sizeof(float), error);
    }
    return status;
}

static gufo_status write_gguf(gufo_imatrix_output *o, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < o->imatrix->entries.count && status == GUFO_OK; i++) {
        const imatrix_entry *entry = imatrix_entry_at(o->imatrix, i);

        status = write_tensor(o, 2 * i, i, entry->values, imatrix_sums, error);
        if (status == GUFO_OK)
            status = write_tensor(o, 2 * i + 1, i, entry->matrices, imatrix_counts, error);
    }
    return status;
}

/* ---- the old format ------------------------------------------------------------------------- */

/* Numbers are signed and have 32 bits. */
static gufo_status check_number(uint64_t number, const char *what, gufo_error *error)
{
    if (number > INT32_MAX)
        return fail_with(error, GUFO_E_RANGE, GUFO_NO_OFFSET,
                         "%" PRIu64 " %s are more than the format can count", number, what);
    return GUFO_OK;
}

/* No longer than what can be read again. */
static gufo_status check_dataset(gufo_str dataset, gufo_error *error)
{
    if (dataset.len > GUFO_MAX_KEY)
        return fail_with(error, GUFO_E_LIMIT, GUFO_NO_OFFSET,
                         "the name of the last dataset has %zu bytes, more than %d", dataset.len,
                         GUFO_MAX_KEY);
    return GUFO_OK;
}

/* The highest count in chunks; 0: no matrix was reached. */
static gufo_status count_calls(const gufo_imatrix *m, uint64_t index, uint64_t *calls,
                               gufo_error *error)
{
    gufo_status status = GUFO_OK;
    double highest = 0, count;

    for (uint64_t i = 0; i < imatrix_entry_at(m, index)->matrices && status == GUFO_OK; i++) {
        status = imatrix_count(m, index, i, &count, error);
        if (status == GUFO_OK && count > highest)
            highest = count;
    }
    if (status != GUFO_OK)
        return status;
    *calls = highest < 0x1p63 ? (uint64_t)highest : (uint64_t)1 << 63;
    *calls = *calls / m->chunk_size + (*calls % m->chunk_size != 0);
    return check_number(*calls, "chunks", error);
}

static gufo_str last_dataset(const gufo_imatrix *m)
{
    gufo_str text = {"", 0};

    (void)gufo_imatrix_dataset_at(m, m->datasets.count - 1, &text);
    return text;
}

static gufo_status plan_legacy(gufo_imatrix_output *o, gufo_error *error)
{
    const gufo_imatrix *m = o->imatrix;
    gufo_status status = check_number(m->chunk_count, "chunks", error);
    uint64_t calls;

    if (status == GUFO_OK)
        status = check_dataset(last_dataset(m), error);
    o->size = 4 + 4 + 4 + last_dataset(m).len;
    for (uint64_t i = 0; i < m->entries.count && status == GUFO_OK; i++) {
        const imatrix_entry *entry = imatrix_entry_at(m, i);

        status = check_number(entry->values, "values", error);
        if (status == GUFO_OK)
            status = count_calls(m, i, &calls, error);
        if (status != GUFO_OK || calls == 0)
            continue;
        o->entries++;
        o->size += 4 + entry->name.len + 4 + 4 + entry->values * sizeof(float);
    }
    if (status == GUFO_OK && o->entries == 0)
        return fail_with(error, GUFO_E_RANGE, GUFO_NO_OFFSET, "no entry has data");
    return status;
}

static gufo_status put(gufo_imatrix_output *o, const void *bytes, size_t size, gufo_error *error)
{
    gufo_status status;

    if (size > o->size - o->position)
        return fail_with(error, GUFO_E_CHANGED, GUFO_NO_OFFSET,
                         "the importance matrix changed while it was being read");
    status = o->stream >= 0 ? output_write_all(o->stream, bytes, size, error)
                            : output_write(&o->file, o->position, bytes, size, error);
    o->position += size;
    return status;
}

static gufo_status put_number(gufo_imatrix_output *o, uint64_t number, gufo_error *error)
{
    uint8_t bytes[4];

    store_u32(bytes, (uint32_t)number, bytes_swapped(false));
    return put(o, bytes, sizeof bytes, error);
}

static gufo_status put_text(gufo_imatrix_output *o, gufo_str text, gufo_error *error)
{
    gufo_status status = put_number(o, text.len, error);

    return status == GUFO_OK ? put(o, text.data, text.len, error) : status;
}

/* The values of one matrix. */
static gufo_status put_matrix(gufo_imatrix_output *o, uint64_t index, uint64_t matrix,
                              uint64_t calls, gufo_error *error)
{
    const imatrix_entry *entry = imatrix_entry_at(o->imatrix, index);
    uint64_t columns = entry->values / entry->matrices;
    double numbers[IMATRIX_CHUNK], count;
    uint8_t bytes[IMATRIX_CHUNK * sizeof(float)];
    gufo_status status = imatrix_count(o->imatrix, index, matrix, &count, error);
    size_t n;

    for (uint64_t done = 0; done < columns && status == GUFO_OK; done += n) {
        n = columns - done < IMATRIX_CHUNK ? (size_t)(columns - done) : IMATRIX_CHUNK;
        status = imatrix_sums(o->imatrix, index, matrix * columns + done, n, numbers, error);
        for (size_t i = 0; i < n && status == GUFO_OK; i++)
            numbers[i] = count > 0 ? numbers[i] * (double)calls / count : (double)calls;
        if (status == GUFO_OK)
            status = store_floats(o->imatrix, index, numbers, n, bytes, error);
        if (status == GUFO_OK)
            status = put(o, bytes, n * sizeof(float), error);
    }
    return status;
}

static gufo_status put_entry(gufo_imatrix_output *o, uint64_t index, gufo_error *error)
{
    const imatrix_entry *entry = imatrix_entry_at(o->imatrix, index);
    uint64_t calls;
    gufo_status status = count_calls(o->imatrix, index, &calls, error);

    if (status != GUFO_OK || calls == 0)
        return status;
    status = put_text(o, entry->name, error);
    if (status == GUFO_OK)
        status = put_number(o, calls, error);
    if (status == GUFO_OK)
        status = put_number(o, entry->values, error);
    for (uint64_t i = 0; i < entry->matrices && status == GUFO_OK; i++)
        status = put_matrix(o, index, i, calls, error);
    return status;
}

static gufo_status write_legacy(gufo_imatrix_output *o, gufo_error *error)
{
    gufo_status status = put_number(o, o->entries, error);

    for (uint64_t i = 0; i < o->imatrix->entries.count && status == GUFO_OK; i++)
        status = put_entry(o, i, error);
    if (status == GUFO_OK)
        status = put_number(o, o->imatrix->chunk_count, error);
    return status == GUFO_OK ? put_text(o, last_dataset(o->imatrix), error) : status;
}

/* ---- the output ----------------------------------------------------------------------------- */

static gufo_imatrix_output *plan(const gufo_imatrix *imatrix, gufo_imatrix_format format,
                                 gufo_error *error)
{
    gufo_imatrix_output *o = mem_zero(&imatrix->allocator, sizeof *o);
    gufo_status status;

    if (o == NULL) {
        (void)fail_memory(error);
        return NULL;
    }
    o->imatrix = imatrix;
    o->allocator = imatrix->allocator;
    o->stream = -1;
    o->file.fd = -1;
    status = format == GUFO_IMATRIX_GGUF ? plan_gguf(o, error) : plan_legacy(o, error);
    if (status != GUFO_OK) {
        gufo_imatrix_output_free(o);
        return NULL;
    }
    return o;
}

gufo_imatrix_output *gufo_imatrix_output_open(const gufo_imatrix *imatrix,
                                              gufo_imatrix_format format, const char *path,
                                              bool replace, gufo_error *error)
{
    gufo_imatrix_output *o = plan(imatrix, format, error);
    gufo_status status;

    if (o == NULL)
        return NULL;
    if (o->writer != NULL)
        status = gufo_writer_open_path(o->writer, path, replace, error);
    else
        status = output_open(&o->file, path, replace, o->size, NULL, &o->allocator, error);
    if (status != GUFO_OK) {
        gufo_imatrix_output_free(o);
        return NULL;
    }
    return o;
}

gufo_imatrix_output *gufo_imatrix_output_open_fd(const gufo_imatrix *imatrix,
                                                 gufo_imatrix_format format, int fd,
                                                 gufo_error *error)
{
    gufo_imatrix_output *o = plan(imatrix, format, error);

    if (o == NULL)
        return NULL;
    o->stream = fd;
    if (o->writer != NULL && gufo_writer_open_fd(o->writer, fd, error) != GUFO_OK) {
        gufo_imatrix_output_free(o);
        return NULL;
    }
    return o;
}

const char *gufo_imatrix_output_temporary(const gufo_imatrix_output *o)
{
    return o->writer != NULL ? gufo_writer_temporary(o->writer) : o->file.temporary;
}

gufo_status gufo_imatrix_output_write(gufo_imatrix_output *o, gufo_error *error)
{
    return o->writer != NULL ? write_gguf(o, error) : write_legacy(o, error);
}

gufo_status gufo_imatrix_output_finish(gufo_imatrix_output *o, gufo_error *error)
{
    if (o->writer != NULL)
        return gufo_writer_finish(o->writer, error);
    if (o->position != o->size)
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                         "%" PRIu64 " of %" PRIu64 " bytes were written", o->position, o->size);
    return o->stream >= 0 ? GUFO_OK : output_commit(&o->file, error);
}

void gufo_imatrix_output_free(gufo_imatrix_output *o)
{
    gufo_allocator allocator;

    if (o == NULL)
        return;
    allocator = o->allocator;
    gufo_writer_free(o->writer);
    output_discard(&o->file);
    mem_free(&allocator, o);
}
