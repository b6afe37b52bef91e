/* Fuzz target: whatever opens can be written again and reads back the same.
 *
 * A file that opens is copied in both byte orders and both versions that can be written, the copy is
 * opened, and everything in it is compared with the original. */
#define _GNU_SOURCE /* memfd_create */
#include "walk.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void copy_data(gufo_writer *w, const gufo_model *file)
{
    gufo_tensor tensor;
    gufo_error error;

    for (uint64_t i = 0; gufo_tensor_at(file, i, &tensor); i++) {
        const uint8_t *data = gufo_tensor_raw(file, &tensor);
        size_t half = (size_t)tensor.size / 2;

        if (tensor.size == 0)
            continue;
        must(data != NULL, "a tensor of a file in memory has data");
        must(gufo_writer_write(w, i, 0, data, half, &error) == GUFO_OK &&
                 gufo_writer_write(w, i, half, data + half, (size_t)tensor.size - half, &error) ==
                     GUFO_OK,
             "data can be written in order");
    }
}

/* Writes a copy of `file` to `fd`. */
static void write_copy(const gufo_model *file, const gufo_writer_options *options, int fd,
                       gufo_layout *layout)
{
    gufo_error error;
    gufo_writer *w = gufo_writer_new(options, &error);

    must(w != NULL, "a writer can be made");
    must(gufo_writer_copy_metadata(w, file, &error) == GUFO_OK,
         "metadata that opens can be copied");
    must(gufo_writer_copy_tensors(w, file, &error) == GUFO_OK, "tensors that open can be copied");
    must(gufo_writer_layout(w, layout, &error) == GUFO_OK, "what was copied can be laid out");
    must(gufo_writer_open_fd(w, fd, &error) == GUFO_OK, "a descriptor can be written to");
    copy_data(w, file);
    must(gufo_writer_finish(w, &error) == GUFO_OK, "a complete file can be finished");
    gufo_writer_free(w);
}

static void compare_metadata(const gufo_model *a, const gufo_model *b)
{
    gufo_entry ea, eb;

    must(gufo_metadata_count(a) == gufo_metadata_count(b), "the copy has as many entries");
    for (uint64_t i = 0; gufo_metadata_at(a, i, &ea); i++) {
        must(gufo_metadata_at(b, i, &eb), "the copy has every entry");
        must(gufo_str_equal(ea.key, eb.key), "keys are copied as they are");
        must(same_value(&ea.value, &eb.value), "values are copied as they are");
    }
}

/* Where both files are encoded alike, not only the values but the bytes are the same. */
static void compare_bytes(const gufo_model *a, const gufo_model *b)
{
    uint64_t count = gufo_metadata_count(a);
    gufo_entry first, last;
    uint8_t *bytes[2];
    size_t size;

    if (count == 0 || gufo_model_facts(a).version == 1 ||
        gufo_model_facts(a).byte_order != gufo_model_facts(b).byte_order)
        return;
    must(gufo_metadata_at(a, 0, &first) && gufo_metadata_at(a, count - 1, &last),
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

    must(gufo_tensor_count(a) == gufo_tensor_count(b), "the copy has as many tensors");
    must(gufo_model_facts(a).alignment == gufo_model_facts(b).alignment,
         "the copy has the same alignment");
    for (uint64_t i = 0; gufo_tensor_at(a, i, &ta); i++) {
        must(gufo_tensor_at(b, i, &tb), "the copy has every tensor");
        must(gufo_str_equal(ta.name, tb.name) && ta.type == tb.type && ta.n_dims == tb.n_dims &&
                 memcmp(ta.dims, tb.dims, sizeof ta.dims) == 0 && ta.elements == tb.elements,
             "tensor infos are copied as they are");
        must(same_size(&ta, &tb, gufo_model_facts(a).alignment), "tensors keep their size");
        must(ta.size == 0 ||
                 memcmp(gufo_tensor_raw(a, &ta), gufo_tensor_raw(b, &tb), (size_t)ta.size) == 0,
             "data is copied as it is");
    }
}

/* A shard is copied by itself. */
static const gufo_open_options just_this = {.flags = GUFO_OPEN_INCOMPLETE};

static void round_trip(const gufo_model *file, const gufo_writer_options *options)
{
    int fd = memfd_create("gufo-fuzz", MFD_CLOEXEC);
    gufo_error error;
    gufo_layout layout;
    gufo_model *copy;

    must(fd >= 0, "the machine has memory files");
    write_copy(file, options, fd, &layout);
    must((uint64_t)lseek(fd, 0, SEEK_END) == layout.file_size, "the layout tells the size");
    copy = gufo_open_fd(fd, &just_this, &error);
    must(copy != NULL, "what was written opens");
    must(gufo_model_facts(copy).version == options->version &&
             gufo_model_facts(copy).byte_order == options->byte_order,
         "version and byte order are those asked for");
    must(gufo_model_facts(copy).data_offset == layout.data_offset,
         "data begins where the layout says");
    compare_metadata(file, copy);
    compare_bytes(file, copy);
    compare_tensors(file, copy);
    gufo_close(copy);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t nothing[1];
    gufo_model *file = gufo_open_memory(size ? data : nothing, size, &just_this, NULL);

    if (!file)
        return 0;
    for (uint32_t version = 2; version <= 3; version++) {
        for (int order = GUFO_LITTLE_ENDIAN; order <= GUFO_BIG_ENDIAN; order++) {
            gufo_writer_options options = {
                .version = version,
                .byte_order = (gufo_byte_order)order,
                .flags = GUFO_WRITER_AS_READ,
            };
            round_trip(file, &options);
        }
    }
    gufo_close(file);
    return 0;
}
