/* Opening an importance matrix: which of its formats a file has. */
#include "quant/imatrix/imatrix.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "format/model/model.h"

/* The GGUF format of importance matrices.
 *
 *     general.type          "imatrix"
 *     imatrix.datasets      strings
 *     imatrix.chunk_count   uint32
 *     imatrix.chunk_size    uint32: tokens
 *
 *     NAME.in_sum2          float32 [columns, matrices]    the sums
 *     NAME.counts           float32 [1, matrices]          the counts */

static const char sums_suffix[] = ".in_sum2";
static const char counts_suffix[] = ".counts";

/* NAME of "NAME" followed by `suffix`. */
static bool strip(gufo_str name, const char *suffix, gufo_str *out)
{
    size_t len = strlen(suffix);

    if (name.len <= len || memcmp(name.data + name.len - len, suffix, len) != 0)
        return false;
    *out = (gufo_str){name.data, name.len - len};
    return true;
}

static bool find_with_suffix(const gufo_model *file, gufo_str name, const char *suffix,
                             gufo_tensor *out)
{
    char text[GUFO_MAX_NAME];
    size_t len = strlen(suffix);

    if (name.len + len > sizeof text)
        return false;
    memcpy(text, name.data, name.len);
    memcpy(text + name.len, suffix, len);
    return gufo_model_tensor_find_str(file, (gufo_str){text, name.len + len}, out);
}

/* ---- tensors -------------------------------------------------------------------------------- */

static gufo_status check_pair(const gufo_tensor *sums, const gufo_tensor *counts, gufo_str name,
                              gufo_error *error)
{
    if (sums->type != GUFO_TYPE_F32 || counts->type != GUFO_TYPE_F32)
        return fail_with(error, GUFO_E_MALFORMED, sums->info_offset,
                         "sums and counts of %s are not both of type F32", QUOTED(name));
    if (sums->elements == 0 || counts->elements == 0)
        return fail_with(error, GUFO_E_MALFORMED, sums->info_offset, "%s has no %s", QUOTED(name),
                         sums->elements == 0 ? "sums" : "counts");
    if (sums->elements % counts->elements != 0)
        return fail_with(error, GUFO_E_MALFORMED, sums->info_offset,
                         "%s has %s sums, which is not a multiple of its %s counts", QUOTED(name),
                         GROUPED(sums->elements), GROUPED(counts->elements));
    return GUFO_OK;
}

static gufo_status add_pair(gufo_imatrix *m, const gufo_tensor *sums, gufo_str name,
                            gufo_error *error)
{
    gufo_tensor counts;
    imatrix_entry *entry;
    gufo_status status;

    if (!find_with_suffix(m->file, name, counts_suffix, &counts))
        return fail_with(error, GUFO_E_MALFORMED, sums->info_offset, "%s has sums but no counts",
                         QUOTED(name));
    status = check_pair(sums, &counts, name, error);
    if (status == GUFO_OK)
        status = imatrix_add(m, name, sums->info_offset, &entry, error);
    if (status != GUFO_OK)
        return status;
    entry->values = sums->elements;
    entry->matrices = counts.elements;
    entry->sums_at = sums->offset;
    entry->counts_at = counts.offset;
    return GUFO_OK;
}

static gufo_status add_tensors(gufo_imatrix *m, gufo_error *error)
{
    gufo_tensor tensor, sums;
    gufo_status status = GUFO_OK;
    gufo_str name;

    for (uint64_t i = 0; status == GUFO_OK && i < gufo_model_tensor_count(m->file); i++) {
        status = model_tensor_at(m->file, i, &tensor, error);
        if (status != GUFO_OK)
            return status;
        if (strip(tensor.name, sums_suffix, &name))
            status = add_pair(m, &tensor, name, error);
        else if (strip(tensor.name, counts_suffix, &name) &&
                 !find_with_suffix(m->file, name, sums_suffix, &sums))
            status = fail_with(error, GUFO_E_MALFORMED, tensor.info_offset,
                               "%s has counts but no sums", QUOTED(name));
    }
    return status;
}

/* ---- metadata ------------------------------------------------------------------------------- */

/* Keys that are absent or of another type say nothing. */
static uint32_t read_u32(const gufo_model *file, const char *key, uint32_t otherwise)
{
    uint64_t value;

    return gufo_model_get_u64(file, key, &value, NULL) == GUFO_OK && value <= UINT32_MAX &&
                   value > 0
               ? (uint32_t)value
               : otherwise;
}

static gufo_status add_datasets(gufo_imatrix *m, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    gufo_array array;
    gufo_value value;

    if (gufo_model_get_array(m->file, "imatrix.datasets", GUFO_VALUE_STRING, &array, NULL) !=
        GUFO_OK)
        return GUFO_OK;
    gufo_array_iter iter = gufo_array_start(&array);

    while (status == GUFO_OK && gufo_array_next(&iter, &value))
        status = imatrix_add_dataset(m, value.as.str, error);
    return status;
}

/* Fill an importance matrix that has its file or source already. */
static gufo_status imatrix_read_gguf(gufo_imatrix *m, gufo_error *error)
{
    gufo_status status = add_tensors(m, error);

    if (status == GUFO_OK && m->entries.count == 0)
        return refuse(error, GUFO_E_MALFORMED,
                      "not an importance matrix: no tensor has a name that ends in %s",
                      sums_suffix);
    m->chunk_count = read_u32(m->file, "imatrix.chunk_count", 0);
    m->chunk_size = read_u32(m->file, "imatrix.chunk_size", m->chunk_size);
    return status == GUFO_OK ? add_datasets(m, error) : status;
}

/* The old format of importance matrices ("imatrix.dat").  All numbers are little-endian:
 *
 *     int32 entries
 *     entry:  int32 length, NAME | int32 calls | int32 values | float32 value ...
 *     ...
 *     int32 chunks | int32 length, DATASET           (may be missing, the second part also alone)
 *
 * The format has no magic number: at the first fault the file counts as one of another format.  A value is
 * the mean of the squares, multiplied with `calls`, which says how many chunks of text were used;
 * the size of a chunk is not recorded.  Experts that no token reached have ones. */

/* The shortest entry: a name of one letter and one value. */
enum { SHORTEST_ENTRY = 4 + 1 + 4 + 4 + 4 };

typedef struct cursor {
    gufo_imatrix *imatrix;
    uint64_t position;
    gufo_error *error;
} cursor;

static uint64_t bytes_left(const cursor *c)
{
    return c->imatrix->source.size - c->position;
}

static gufo_status fail_end(const cursor *c, const char *inside)
{
    return fail_with(c->error, GUFO_E_TRUNCATED, c->position, "the file ends inside %s", inside);
}

/* The next number, which must be from `lowest` to 2^31 - 1. */
static gufo_status read_number(cursor *c, int32_t lowest, const char *what, uint32_t *out)
{
    uint8_t bytes[4];
    gufo_status status;

    if (bytes_left(c) < sizeof bytes)
        return fail_end(c, what);
    status = source_read(&c->imatrix->source, c->position, bytes, sizeof bytes, c->error);
    if (status != GUFO_OK)
        return status;
    *out = load_u32(bytes, bytes_swapped(false));
    if (*out > INT32_MAX || *out < (uint32_t)lowest)
        return fail_with(c->error, GUFO_E_MALFORMED, c->position, "%s is %" PRId32, what,
                         (int32_t)*out);
    c->position += sizeof bytes;
    return GUFO_OK;
}

/* A length and so many bytes. */
static gufo_status read_text(cursor *c, int32_t shortest, const char *what, gufo_str *out)
{
    uint32_t len;
    gufo_status status = read_number(c, shortest, what, &len);
    char *text;

    if (status != GUFO_OK)
        return status;
    if (len > bytes_left(c))
        return fail_end(c, what);
    if (len > GUFO_MAX_KEY)
        return fail_with(c->error, GUFO_E_LIMIT, c->position, "%s is %s, more than %s", what,
                         GROUPED(len), GROUPED(GUFO_MAX_KEY));
    text = imatrix_text(c->imatrix, len);
    if (text == NULL)
        return fail_memory(c->error);
    status = source_read(&c->imatrix->source, c->position, text, len, c->error);
    c->position += len;
    *out = (gufo_str){text, len};
    return status;
}

static gufo_status read_entry(cursor *c)
{
    uint64_t at = c->position;
    uint32_t calls, values;
    imatrix_entry *entry;
    gufo_str name;
    gufo_status status = read_text(c, 1, "the length of a name", &name);

    if (status == GUFO_OK)
        status = read_number(c, 0, "the number of calls", &calls);
    if (status == GUFO_OK)
        status = read_number(c, 1, "the number of values", &values);
    if (status == GUFO_OK && bytes_left(c) / sizeof(float) < values)
        status = fail_end(c, "the values of an entry");
    if (status == GUFO_OK)
        status = imatrix_add(c->imatrix, name, at, &entry, c->error);
    if (status != GUFO_OK)
        return status;
    entry->values = values;
    entry->matrices = 1;
    entry->calls = calls != 0 ? calls : 1; /* values without a number of calls are means already */
    entry->sums_at = c->position;
    c->position += (uint64_t)values * sizeof(float);
    return GUFO_OK;
}

/* Chunks and dataset were added to the format one after the other. */
static gufo_status read_trailer(cursor *c)
{
    gufo_status status;
    uint32_t chunks;
    gufo_str dataset;

    if (bytes_left(c) == 0)
        return GUFO_OK;
    status = read_number(c, 0, "the number of chunks", &chunks);
    if (status != GUFO_OK)
        return status;
    c->imatrix->chunk_count = chunks;
    if (bytes_left(c) == 0)
        return GUFO_OK;
    status = read_text(c, 0, "the length of a dataset's name", &dataset);
    if (status == GUFO_OK && dataset.len > 0)
        status = imatrix_add_dataset(c->imatrix, dataset, c->error);
    if (status == GUFO_OK && bytes_left(c) > 0)
        status = fail_with(c->error, GUFO_E_MALFORMED, c->position, "%s bytes follow the end",
                           GROUPED(bytes_left(c)));
    return status;
}

/* The number of entries, which alone can show that the file is something else. */
static gufo_status read_head(cursor *c, uint32_t *entries)
{
    enum { SEEN = 4096 };
    uint64_t size = c->imatrix->source.size;
    uint8_t start[SEEN];
    size_t seen = size < SEEN ? (size_t)size : SEEN;
    const char *other;
    gufo_status status = source_read(&c->imatrix->source, 0, start, seen, c->error);

    if (status != GUFO_OK)
        return status;
    other = gufo_recognise(start, seen);
    if (seen >= 4) {
        *entries = load_u32(start, bytes_swapped(false));
        c->position = 4;
        if (*entries > 0 && *entries <= INT32_MAX && *entries <= bytes_left(c) / SHORTEST_ENTRY)
            return GUFO_OK;
    }
    return fail_with(c->error, GUFO_E_MALFORMED, 0, "not an importance matrix%s%s",
                     other != NULL ? ", but " : "", other != NULL ? other : "");
}

static gufo_status imatrix_read_legacy(gufo_imatrix *m, gufo_error *error)
{
    cursor c = {.imatrix = m, .error = error};
    uint32_t entries = 0;
    gufo_status status = read_head(&c, &entries);

    for (uint32_t i = 0; i < entries && status == GUFO_OK; i++)
        status = read_entry(&c);
    return status == GUFO_OK ? read_trailer(&c) : status;
}

/* Whether the source begins as a GGUF file does, in either byte order (the magic number is bytes).
 */
static gufo_status read_magic(const gufo_imatrix *m, bool *gguf, gufo_error *error)
{
    static const char magic[] = {'G', 'G', 'U', 'F'};
    char bytes[sizeof magic];
    gufo_status status;

    *gguf = false;
    if (m->source.size < sizeof bytes)
        return GUFO_OK;
    status = source_read(&m->source, 0, bytes, sizeof bytes, error);
    *gguf = memcmp(bytes, magic, sizeof bytes) == 0;
    return status;
}

static gufo_model *open_gguf(gufo_imatrix *m, gufo_error *error)
{
    gufo_open_options options = {.flags = GUFO_OPEN_NO_MAP, .allocator = &m->allocator};

    gufo_error reason = {.code = GUFO_OK};
    gufo_model *model =
        m->source.fd >= 0
            ? gufo_model_open_fd(m->source.fd, &options, &reason)
            : gufo_model_open_memory(m->source.base, (size_t)m->source.size, &options, &reason);

    if (model == NULL && reason.code == GUFO_E_SHARDS)
        (void)refuse(error, GUFO_E_SHARDS,
                     "the file is one of several shards; an importance matrix is a single file");
    else if (model == NULL)
        (void)fail_as(error, &reason);
    return model;
}

/* Takes over `m`, whose source is open. */
static gufo_imatrix *open_source(gufo_imatrix *m, const gufo_imatrix_options *options,
                                 gufo_error *error)
{
    bool gguf;
    gufo_status status = read_magic(m, &gguf, error);

    m->format = gguf ? GUFO_IMATRIX_GGUF : GUFO_IMATRIX_LEGACY;
    m->chunk_size =
        options != NULL && options->chunk_size != 0 ? options->chunk_size : GUFO_IMATRIX_CHUNK_SIZE;
    if (status == GUFO_OK && gguf) {
        m->file = open_gguf(m, error);
        source_close(&m->source);
        status = m->file != NULL ? imatrix_read_gguf(m, error) : GUFO_E_MALFORMED;
    } else if (status == GUFO_OK) {
        status = imatrix_read_legacy(m, error);
    }
    if (status != GUFO_OK) {
        (void)imatrix_fail(m, 0, status, error);
        gufo_imatrix_free(m);
        return NULL;
    }
    return m;
}

/* An empty one for a file that errors call `name`, unless the options have another. */
static gufo_imatrix *begin(const char *name, const gufo_imatrix_options *options, gufo_error *error)
{
    if (options == NULL)
        return imatrix_new(NULL, name, error);
    if (reserved_check(options->reserved, "gufo_imatrix_options", error) != GUFO_OK)
        return NULL;
    return imatrix_new(options->allocator, options->name != NULL ? options->name : name, error);
}

static gufo_status open_descriptor(gufo_imatrix *m, const char *path, gufo_error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    gufo_status status;

    if (fd < 0)
        return fail_io(error, errno, "cannot open");
    status = source_open_fd(&m->source, fd, false, 0, &m->allocator, error);
    if (status == GUFO_OK && m->source.sequential)
        return refuse(error, GUFO_E_ARGUMENT,
                      "an importance matrix is read in pieces, which a pipe does not allow; give "
                      "a file");
    return status;
}

gufo_imatrix *gufo_imatrix_open(const char *path, const gufo_imatrix_options *options,
                                gufo_error *error)
{
    gufo_imatrix *m;
    gufo_status status;

    if (path == NULL) {
        (void)refuse(error, GUFO_E_ARGUMENT, "the path is missing");
        return NULL;
    }
    m = begin(path, options, error);
    if (m == NULL)
        return NULL;
    status = open_descriptor(m, path, error);
    if (status == GUFO_OK)
        return open_source(m, options, error);
    (void)imatrix_fail(m, 0, status, error);
    gufo_imatrix_free(m);
    return NULL;
}

gufo_imatrix *gufo_imatrix_open_memory(const void *data, size_t size,
                                       const gufo_imatrix_options *options, gufo_error *error)
{
    gufo_imatrix *m = begin(NULL, options, error);

    if (m == NULL)
        return NULL;
    source_open_memory(&m->source, data, size);
    return open_source(m, options, error);
}
