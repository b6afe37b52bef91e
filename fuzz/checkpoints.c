/* Opens anything as a checkpoint. */
#define _GNU_SOURCE /* memfd_create */
#include "checkpoints.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "import/containers/checkpoint.h"
#include "walk.h"

/* The last byte of the last element is in the file. */
static void check_place(const checkpoint *c, const checkpoint_tensor *t)
{
    const uint64_t size = checkpoint_tensor_size(t);
    uint64_t last = 0, width = t->number->bits / 8, strides[CHECKPOINT_MAX_DIMS];
    uint8_t byte;

    if (size == 0)
        return;
    checkpoint_tensor_strides(t, strides);
    for (uint32_t i = 0; i < t->n_dims; i++)
        last += (t->shape[i] - 1) * strides[i];
    last = t->number->bits < 8 ? size - 1 : last * width + width - 1;
    must(t->strides != NULL || last == size - 1, "rows follow each other");
    must(source_read(&c->files[t->file].source, t->offset + last, &byte, 1, NULL) == GUFO_OK,
         "data are in the file");
}

static void look_at_tensors(const checkpoint *c)
{
    for (uint64_t i = 0; i < c->tensor_count; i++) {
        const checkpoint_tensor *t = &c->tensors[i];

        must(checkpoint_find(c, t->name) == t, "every tensor is found");
        must(gufo_utf8_valid_prefix(t->name) == t->name.len, "a name is UTF-8");
        must(t->n_dims <= CHECKPOINT_MAX_DIMS && t->file == 0, "a tensor has few dimensions");
        check_place(c, t);
    }
}

void look_at_checkpoint(const uint8_t *data, size_t size)
{
    int fd = memfd_create("checkpoint", MFD_CLOEXEC);
    counter count = {0};
    gufo_allocator allocator = counting_allocator(&count);
    gufo_error error = {0};
    gufo_status status;
    model_place place;
    checkpoint c;
    char path[64];

    must(fd >= 0 && (size == 0 || write(fd, data, size) == (ssize_t)size), "a file takes bytes");
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    place = model_place_of(path, false);
    (void)checkpoint_recognise(&place);
    status = checkpoint_open(&c, &place, NULL, &allocator, &error);
    must(status == error.code, "a failure says so");
    must(status == GUFO_OK || error.message[0] != '\0', "a failure has a sentence");
    must(count.peak <= (1U << 20) + 256 * size, "opening takes little memory");
    if (status == GUFO_OK)
        look_at_tensors(&c);
    checkpoint_close(&c);
    must(count.held == 0 && count.blocks == 0, "everything is freed");
    (void)close(fd);
}
