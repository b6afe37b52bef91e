/* Fuzz target: packed weights of any method.  The configuration, a NUL, a file of safetensors; every
 * weight is read in several ways, which agree. */
#define _GNU_SOURCE /* memfd_create */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "codec/half.h"
#include "import/json_file.h"
#include "import/packed/packed.h"
#include "walk.h"

enum { MOST_NUMBERS = 1 << 16 };

/* Number `index` of F32 as files have it. */
static float float_at(const uint8_t *numbers, uint64_t index)
{
    return float_from_bits(load_u32(numbers + 4 * index, bytes_swapped(false)));
}

/* Floats that are equal, or both NaN. */
static bool same_floats(const uint8_t *a, const uint8_t *b, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (float_at(a, i) != float_at(b, i) && !(isnan(float_at(a, i)) && isnan(float_at(b, i))))
            return false;
    return true;
}

/* Some rows, and some numbers, are those of all. */
static void read_parts(const packed_weight *w, const uint8_t *all, uint64_t height)
{
    uint64_t numbers = height * w->columns, first = numbers / 3, row = height / 2;
    uint8_t *some = malloc(4 * (size_t)numbers);
    gufo_error error;

    must(some != NULL, "memory");
    must(unpacked_rows(w, row, height - row, some, &error) == GUFO_OK &&
             same_floats(some, all + row * w->columns * 4, (height - row) * w->columns),
         "some rows are those of all");
    must(unpacked_numbers(w, first, numbers - first, some, &error) == GUFO_OK &&
             same_floats(some, all + first * 4, numbers - first),
         "some numbers are those of all");
    free(some);
}

/* Blocks have the numbers, but for their factor. */
static void read_blocks(const packed_weight *w, const uint8_t *all, uint64_t height)
{
    uint64_t numbers = height * w->columns, row_bytes;
    float *decoded = malloc((size_t)numbers * sizeof *decoded), factors[2] = {1, 1};
    uint8_t *blocks;
    gufo_error error;

    must(gufo_element_row_size(w->type, w->columns, &row_bytes, &error) == GUFO_OK,
         "rows are whole blocks");
    blocks = malloc((size_t)(row_bytes * height));
    must(decoded != NULL && blocks != NULL, "memory");
    if (w->kind->factors != NULL)
        must(w->kind->factors(w, factors, &error) == GUFO_OK, "floats have had the factors");
    must(unpacked_blocks(w, 0, height, blocks, &error) == GUFO_OK, "what floats have, blocks have");
    must(gufo_decode(w->type, blocks, height, w->columns, decoded, NULL, &error) == GUFO_OK,
         "blocks are decoded");
    for (uint64_t i = 0; i < numbers; i++)
        must(decoded[i] * factors[0] == float_at(all, i) || isnan(float_at(all, i)),
             "blocks have the numbers");
    free(blocks);
    free(decoded);
}

static void read_weight(const packed_weight *w)
{
    uint64_t height = w->slices * w->rows;
    uint8_t *all;
    gufo_error error = {0};

    if (height > MOST_NUMBERS || w->columns > MOST_NUMBERS / height)
        return;
    all = malloc(4 * (size_t)(height * w->columns));
    must(all != NULL, "memory");
    if (unpacked_rows(w, 0, height, all, &error) == GUFO_OK) {
        read_parts(w, all, height);
        if (w->type != NULL)
            read_blocks(w, all, height);
    } else {
        must(error.message[0] != '\0' && error.file[0] != '\0', "a failure says what and where");
    }
    free(all);
}

static void find_weights(checkpoint *c, json_t *json)
{
    static const memory_files nothing = {NULL, 0};
    model_config config = {.allocator = c->allocator,
                           .folder = source_folder_memory(&nothing),
                           .raw = json,
                           .fields = json};
    packed_set set;
    gufo_error error = {0};
    gufo_status status = packed_find(&set, c, &config, &error);

    must(status == error.code, "a failure says so");
    must(status == GUFO_OK || error.message[0] != '\0', "a failure has a sentence");
    for (uint64_t i = 0; i < c->tensor_count && status == GUFO_OK; i++) {
        must(checkpoint_find(c, c->tensors[i].name) == &c->tensors[i], "every tensor is found");
        if (c->tensors[i].packed != NULL)
            read_weight(c->tensors[i].packed);
    }
    packed_free(&set);
}

static void look_at(const uint8_t *data, size_t size, json_t *json)
{
    int fd = memfd_create("checkpoint", MFD_CLOEXEC);
    counter count = {0};
    gufo_allocator allocator = counting_allocator(&count);
    gufo_error error = {0};
    model_place place;
    checkpoint c;
    char path[64];

    must(fd >= 0 && (size == 0 || write(fd, data, size) == (ssize_t)size), "a file takes bytes");
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    place = model_place_of(path, false);
    if (checkpoint_open(&c, &place, NULL, &allocator, &error) == GUFO_OK)
        find_weights(&c, json);
    checkpoint_close(&c);
    must(count.held == 0 && count.blocks == 0, "everything is freed");
    (void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size > 0 ? memchr(data, '\0', size) : NULL;
    json_t *json = NULL;
    gufo_error error;

    if (end != NULL && json_read_text((gufo_str){(const char *)data, (size_t)(end - data)}, NULL, 0,
                                      NULL, &json, &error) == GUFO_OK)
        look_at(end + 1, size - (size_t)(end + 1 - data), json);
    json_decref(json);
    return 0;
}
