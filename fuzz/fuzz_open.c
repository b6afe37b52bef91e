/* Fuzz target: open anything, look at everything.
 *
 * The input is opened from memory and from a source, strictly and leniently.  Whatever it is, the
 * library must not crash, must not hold more memory than it promises, and must tell the same story
 * each time. */
#include "walk.h"

#include <stdlib.h>
#include <string.h>

typedef struct input {
    const uint8_t *data;
    size_t size;
} input;

static gufo_status read_input(void *context, uint64_t offset, void *buffer, size_t size,
                              gufo_error *error)
{
    const input *in = context;

    (void)error;
    must(offset <= in->size && size <= in->size - offset, "a source is read inside its bounds");
    if (size)
        memcpy(buffer, in->data + offset, size);
    return GUFO_OK;
}

static gufo_model *open_input(const input *in, bool from_source, const gufo_open_options *options,
                              gufo_error *error)
{
    gufo_source source = {.context = (void *)in, .size = in->size, .read = read_input};

    return from_source ? gufo_model_open_source(&source, options, error)
                       : gufo_model_open_memory(in->data, in->size, options, error);
}

/* Opens, walks and closes; what opening said comes back in *error (GUFO_OK if it said nothing). */
static void look(const input *in, bool from_source, bool lenient, gufo_error *error)
{
    counter count = {0};
    gufo_allocator allocator = counting_allocator(&count);
    gufo_open_options options = {.flags = GUFO_OPEN_INCOMPLETE | (lenient ? GUFO_OPEN_LENIENT : 0),
                                 .allocator = &allocator};
    gufo_model *file = open_input(in, from_source, &options, error);

    if (file) {
        uint64_t items = gufo_model_entry_count(file) + gufo_model_tensor_count(file);
        const gufo_error *damage = gufo_model_damage(file);

        /* What cannot be mapped is kept in memory; the rest is the model and the first room of its lists. */
        must(count.held <= 4224 + 200 * items + (from_source ? in->size : 0),
             "an open file holds no more than 200 bytes per item");
        *error = damage ? *damage : (gufo_error){0};
        walk_file(file, !lenient);
        gufo_model_free(file);
    }
    must(count.peak <= (16u << 20) + in->size, "opening takes little memory");
    must(count.held == 0 && count.blocks == 0, "everything is freed");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A block of exactly this size, so that the first byte past it is noticed. */
    uint8_t *copy = malloc(size ? size : 1);
    input in = {copy, size};
    gufo_error first = {0}, error;

    must(copy != NULL, "the machine has enough memory");
    if (size)
        memcpy(copy, data, size);
    look(&in, false, false, &first);
    for (int way = 1; way < 4; way++) {
        error = (gufo_error){0};
        look(&in, way & 1, way & 2, &error);
        must(error.code == first.code && error.offset == first.offset && error.rule == first.rule,
             "the first fault is the same whichever way the file is opened");
    }
    gufo_recognise(copy, size);
    free(copy);
    return 0;
}
