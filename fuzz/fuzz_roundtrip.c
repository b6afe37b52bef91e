/* Fuzz target: whatever opens can be written again and reads back the same.
 *
 * A file that opens is copied in both byte orders and one of the versions that can be written, the
 * copy is opened, and everything in it is compared with the original. */
#define _GNU_SOURCE /* memfd_create */
#include "walk.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Version and byte order of a copy, and whether its data is copied by the library or given to it,
 * byte for byte. */
typedef struct way {
    uint32_t version;
    gufo_byte_order order;
    bool given;
} way;

static void give_data(gufo_job *job, const gufo_model *file)
{
    gufo_tensor tensor;
    gufo_error error;

    for (uint64_t i = 0; gufo_model_tensor_at(file, i, &tensor); i++) {
        const uint8_t *data = gufo_tensor_raw(file, &tensor);
        size_t half = (size_t)tensor.size / 2;

        if (tensor.size == 0)
            continue;
        must(data != NULL, "a tensor of a file in memory has data");
        must(gufo_job_write(job, 0, i, 0, data, half, &error) == GUFO_OK &&
                 gufo_job_write(job, 0, i, half, data + half, (size_t)tensor.size - half, &error) ==
                     GUFO_OK,
             "data can be written in order");
    }
}

static void name_tensors(gufo_document *d, const gufo_model *file)
{
    gufo_tensor tensor;
    gufo_error error;

    for (uint64_t i = 0; gufo_model_tensor_at(file, i, &tensor); i++)
        must(gufo_document_add_raw_tensor_str(d, tensor.name, tensor.type, tensor.n_dims,
                                              tensor.dims, tensor.size, &error) == GUFO_OK,
             "tensors that open can be written");
}

/* The description of the copy; NULL if bytes would have to be swapped and cannot be, or if an
 * alignment would need gigabytes of padding. */
static gufo_document *describe(const gufo_model *file, const way *how, gufo_layout *layout)
{
    const gufo_document_options options = {.flags = GUFO_DOCUMENT_AS_READ};
    bool other_order = how->order != gufo_model_facts(file).byte_order;
    gufo_error error;
    gufo_document *d = gufo_document_new(&options, &error);
    gufo_status status = GUFO_OK;

    must(d != NULL, "a document can be made");
    must(gufo_document_set_encoding(d, how->version, how->order, &error) == GUFO_OK,
         "both versions and byte orders can be written");
    must(gufo_document_copy_entries(d, file, NULL, NULL, NULL, &error) == GUFO_OK,
         "metadata that opens can be copied");
    if (how->given)
        name_tensors(d, file);
    else
        status = gufo_document_copy_tensors(d, file, NULL, NULL, NULL, &error);
    must(status == GUFO_OK || (status == GUFO_E_TYPE && other_order),
         "tensors that open can be copied, or their bytes cannot be swapped");
    if (status == GUFO_OK) {
        status = gufo_document_layout(d, NULL, layout, &error);
        must(status == GUFO_OK ||
                 (status == GUFO_E_RANGE && gufo_model_facts(file).alignment > GUFO_MAX_ALIGNMENT),
             "what was copied can be laid out");
    }
    if (status == GUFO_OK)
        return d;
    gufo_document_free(d);
    return NULL;
}

/* Writes a copy of `file` to `fd`. */
static void write_copy(gufo_document *d, const gufo_model *file, const way *how, int fd)
{
    static const gufo_run one_thread = {.threads = 1};
    gufo_error error;
    gufo_job *job;

    job = gufo_job_of_documents(&d, 1, NULL, &error);
    must(job != NULL, "what can be laid out can be planned");
    if (how->given) {
        must(gufo_job_open_fd(job, fd, &error) == GUFO_OK, "a descriptor can be written to");
        give_data(job, file);
        must(gufo_job_finish(job, NULL, &error) == GUFO_OK, "a complete file can be finished");
    } else {
        must(gufo_job_stream(job, fd, &one_thread, &error) == GUFO_OK,
             "what was planned can be written");
    }
    gufo_job_free(job);
}

/* Every entry but room that a layout has made. */
static void compare_metadata(const gufo_model *a, const gufo_model *b)
{
    uint64_t next = 0;
    gufo_entry ea, eb;

    for (uint64_t i = 0; gufo_model_entry_at(a, i, &ea); i++) {
        if (gufo_str_equal(ea.key, gufo_str_of(GUFO_PADDING_KEY)) &&
            !gufo_model_find(b, GUFO_PADDING_KEY, NULL))
            continue;
        must(gufo_model_entry_at(b, next++, &eb), "the copy has every entry");
        must(gufo_str_equal(ea.key, eb.key), "keys are copied as they are");
        must(same_value(&ea.value, &eb.value), "values are copied as they are");
    }
    must(gufo_model_entry_count(b) == next, "the copy has as many entries");
}

/* Where both files are encoded alike, not only the values but the bytes are the same. */
static void compare_bytes(const gufo_model *a, const gufo_model *b)
{
    uint64_t count = gufo_model_entry_count(a);
    gufo_entry first, last;
    uint8_t *bytes[2];
    size_t size;

    if (count == 0 || gufo_model_entry_count(b) != count || gufo_model_facts(a).version == 1 ||
        gufo_model_facts(a).byte_order != gufo_model_facts(b).byte_order)
        return;
    must(gufo_model_entry_at(a, 0, &first) && gufo_model_entry_at(a, count - 1, &last),
         "first and last entry are there");
    size = (size_t)(last.end - first.offset);
    for (int i = 0; i < 2; i++) {
        bytes[i] = malloc(size);
        must(bytes[i] != NULL, "the machine has enough memory");
        must(gufo_model_read_raw(i ? b : a, first.offset, bytes[i], size, NULL) == GUFO_OK,
             "metadata can be read as bytes");
    }
    must(memcmp(bytes[0], bytes[1], size) == 0, "metadata is copied byte for byte");
    free(bytes[0]);
    free(bytes[1]);
}

/* The size of a tensor of unknown type reaches to the next tensor or the end of the file, so that
 * the padding behind it joins it in the copy. */
static bool same_size(const gufo_tensor *a, const gufo_tensor *b, uint32_t alignment)
{
    return a->size_known ? a->size == b->size : b->size >= a->size && b->size - a->size < alignment;
}

static void compare_tensors(const gufo_model *a, const gufo_model *b)
{
    gufo_tensor ta, tb;

    must(gufo_model_tensor_count(a) == gufo_model_tensor_count(b), "the copy has as many tensors");
    must(gufo_model_facts(a).alignment == gufo_model_facts(b).alignment,
         "the copy has the same alignment");
    for (uint64_t i = 0; gufo_model_tensor_at(a, i, &ta); i++) {
        must(gufo_model_tensor_at(b, i, &tb), "the copy has every tensor");
        must(gufo_str_equal(ta.name, tb.name) && ta.type == tb.type && ta.n_dims == tb.n_dims &&
                 memcmp(ta.dims, tb.dims, sizeof ta.dims) == 0 && ta.elements == tb.elements,
             "tensor infos are copied as they are");
        must(same_size(&ta, &tb, gufo_model_facts(a).alignment), "tensors keep their size");
    }
}

static void compare_data(const gufo_model *a, const gufo_model *b)
{
    gufo_tensor ta, tb;

    for (uint64_t i = 0; gufo_model_tensor_at(a, i, &ta) && gufo_model_tensor_at(b, i, &tb); i++)
        must(ta.size == 0 ||
                 memcmp(gufo_tensor_raw(a, &ta), gufo_tensor_raw(b, &tb), (size_t)ta.size) == 0,
             "data is copied as it is");
}

/* A shard is copied by itself. */
static const gufo_open_options just_this = {.flags = GUFO_OPEN_INCOMPLETE};

/* A copy, which is open; NULL if there is none. */
static gufo_model *make_copy(const gufo_model *file, const way *how)
{
    int fd = memfd_create("gufo-fuzz", MFD_CLOEXEC);
    gufo_layout layout;
    gufo_document *d = describe(file, how, &layout);
    gufo_model *copy = NULL;
    gufo_error error;

    must(fd >= 0, "the machine has memory files");
    if (d != NULL) {
        write_copy(d, file, how, fd);
        must((uint64_t)lseek(fd, 0, SEEK_END) == layout.file_size, "the layout tells the size");
        copy = gufo_model_open_fd(fd, &just_this, &error);
        must(copy != NULL, "what was written opens");
        must(gufo_model_facts(copy).version == how->version &&
                 gufo_model_facts(copy).byte_order == how->order,
             "version and byte order are those asked for");
        must(gufo_model_facts(copy).data_offset == layout.data_offset,
             "data begins where the layout says");
    }
    gufo_document_free(d);
    close(fd);
    return copy;
}

/* Numbers that were swapped are what they were when they are swapped again. */
static void compare_back(const gufo_model *file, const gufo_model *copy)
{
    const way how = {.version = 3, .order = gufo_model_facts(file).byte_order};
    gufo_model *back = make_copy(copy, &how);

    must(back != NULL, "what could be swapped can be swapped again");
    compare_tensors(file, back);
    compare_data(file, back);
    gufo_model_free(back);
}

static void round_trip(const gufo_model *file, const way *how)
{
    gufo_model *copy = make_copy(file, how);

    if (copy == NULL)
        return;
    compare_metadata(file, copy);
    compare_bytes(file, copy);
    compare_tensors(file, copy);
    if (how->given || how->order == gufo_model_facts(file).byte_order)
        compare_data(file, copy);
    else
        compare_back(file, copy);
    gufo_model_free(copy);
}

/* Version 2 or 3, which differ in one number: the content says which, so that a damaged byte is met
 * with either. */
static uint32_t version_for(const uint8_t *data, size_t size)
{
    unsigned sum = 0;

    for (size_t i = 0; i < size; i++)
        sum += data[i];
    return 2 + (sum & 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t nothing[1];
    gufo_model *file = gufo_model_open_memory(size ? data : nothing, size, &just_this, NULL);

    if (!file)
        return 0;
    for (int order = GUFO_LITTLE_ENDIAN; order <= GUFO_BIG_ENDIAN; order++)
        for (int given = 0; given < 2; given++)
            round_trip(file, &(way){version_for(data, size), (gufo_byte_order)order, given == 1});
    gufo_model_free(file);
    return 0;
}
