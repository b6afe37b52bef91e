/* Packed weights in tests: parts in memory, and their numbers compared with those a test expects. */
#ifndef TEST_IMPORT_PACKED_CASE_H
#define TEST_IMPORT_PACKED_CASE_H

#include "../support/allocator.h"
#include "../support/builder.h"
#include "../support/codec.h"

#include "base/memory.h"
#include "import/containers/checkpoint.h"
#include "import/packed/cache.h"

enum { PACKED_FILE_START = 24 }; /* where the first part is: places count from the file's start */

typedef struct packed_case {
    packed_weight weight;
    checkpoint checkpoint;
    checkpoint_file file;
    checkpoint_tensor tensors[PACKED_PARTS];
    uint64_t shapes[PACKED_PARTS][CHECKPOINT_MAX_DIMS];
    builder bytes;
    gufo_error error;
} packed_case;

/* A case points into itself: it stays where it is. */
static inline void packed_new(packed_case *c, const packed_kind *kind)
{
    *c = (packed_case){.weight = {.kind = kind, .allocator = &default_allocator},
                       .file = {.path = (char *)"weights"},
                       .bytes = builder_new((encoding){3, false}),
                       .error = no_error()};
    builder_zeros(&c->bytes, PACKED_FILE_START);
    c->checkpoint = (checkpoint){.files = &c->file, .file_count = 1};
    c->weight.checkpoint = &c->checkpoint;
}

static inline void packed_done(packed_case *c)
{
    builder_free(&c->bytes);
}

/* Appends a part; `bytes` are those of a file, or NULL: zeros. */
static inline void packed_part(packed_case *c, uint32_t part, const char *dtype, uint32_t n_dims,
                               const uint64_t *shape, const void *bytes)
{
    checkpoint_tensor *t = &c->tensors[part];

    *t = (checkpoint_tensor){.name = gufo_str_of("part"),
                             .number = number_by_name(gufo_str_of(dtype)),
                             .n_dims = (uint8_t)n_dims,
                             .offset = c->bytes.len};
    for (uint32_t i = 0; i < n_dims; i++)
        c->shapes[part][i] = shape[i];
    check_ok(tensor_shape(t, c->shapes[part], 0, &c->error), &c->error, "part %u", (unsigned)part);
    if (bytes != NULL)
        builder_raw(&c->bytes, bytes, (size_t)checkpoint_tensor_size(t));
    else
        builder_zeros(&c->bytes, (size_t)checkpoint_tensor_size(t));
    c->weight.parts[part] = t;
}

static inline gufo_status packed_open(packed_case *c)
{
    c->error = no_error();
    source_open_memory(&c->file.source, c->bytes.data, c->bytes.len);
    return c->weight.kind->open(&c->weight, &c->error);
}

static inline gufo_status packed_find_type(packed_case *c)
{
    c->weight.type = NULL;
    return c->weight.kind->find_type(&c->weight, &c->weight.type, &c->error);
}

/* The weight does not open; the sentence holds `text`, and names the file. */
static inline void check_not_opened(packed_case *c, gufo_status code, const char *text)
{
    gufo_status status = packed_open(c);

    check_status(status, code, &c->error, "%s", text);
    check(strstr(c->error.message, text) != NULL, "\"%s\" in \"%s\"", text, c->error.message);
    packed_done(c);
}

/* Rows are read in many ways to divide them, as floats and as blocks. */
static inline void check_packed_rows(packed_case *c, uint64_t first, uint64_t count,
                                     const float *expected, const char *label)
{
    const packed_weight *w = &c->weight;
    uint64_t numbers = count * w->columns, size = 0;
    float *floats = malloc((size_t)numbers * sizeof *floats);
    uint8_t *blocks;

    check_ok(w->kind->floats(w, first, count, floats, &c->error), &c->error, "%s", label);
    check_same_floats(floats, expected + first * w->columns, numbers, label, "floats");
    if (w->type != NULL) {
        check_ok(gufo_element_row_size(w->type, numbers, &size, &c->error), &c->error, "%s", label);
        blocks = malloc((size_t)size);
        check_ok(w->kind->blocks(w, first, count, blocks, &c->error), &c->error, "%s", label);
        check_ok(gufo_decode(w->type, blocks, count, w->columns, floats, NULL, &c->error),
                 &c->error, "%s", label);
        check_same_floats(floats, expected + first * w->columns, numbers, label, "blocks");
        free(blocks);
    }
    free(floats);
}

/* Without memory at any request, rows are not read, and nothing stays. */
static inline void check_without_memory(packed_case *c, bool shared, const char *label)
{
    packed_weight *w = &c->weight;
    float *row = malloc((size_t)w->columns * sizeof *row);
    gufo_status status = GUFO_E_MEMORY;
    gufo_allocator allocator;
    counter memory;

    counter_init(&memory);
    allocator = counter_allocator(&memory);
    w->allocator = &allocator;
    for (size_t i = 1; status != GUFO_OK; i++) {
        c->error = no_error();
        memory.calls = 0;
        memory.fail_at = i;
        w->cache = shared ? packed_cache_new(&allocator, &c->error) : NULL;
        status =
            shared && w->cache == NULL ? GUFO_E_MEMORY : w->kind->floats(w, 0, 1, row, &c->error);
        packed_cache_free(w->cache);
        check(status == (memory.denied == i ? GUFO_E_MEMORY : GUFO_OK), "%s: request %zu", label,
              i);
        check(status == GUFO_OK || c->error.code == GUFO_E_MEMORY, "%s: %s", label,
              c->error.message);
        check_u64(memory.in_use, 0, "%s", label);
    }
    w->cache = NULL;
    w->allocator = &default_allocator;
    free(row);
}

/* Opens the weight and compares all its numbers, whose blocks have the type `type`, or none has them. */
static inline void check_packed(packed_case *c, const char *type, const float *expected,
                                const char *label)
{
    uint64_t rows;

    check_ok(packed_open(c), &c->error, "%s", label);
    check_ok(packed_find_type(c), &c->error, "%s", label);
    check((type == NULL) == (c->weight.type == NULL), "%s: blocks of %s", label,
          c->weight.type == NULL ? "no type" : c->weight.type->name);
    if (type != NULL)
        check_str(gufo_str_of(c->weight.type->name), type, "%s", label);
    rows = c->weight.slices * c->weight.rows;
    for (int shared = 0; shared < 2; shared++) {
        c->weight.cache = shared ? packed_cache_new(&default_allocator, &c->error) : NULL;
        for (uint64_t step = 1; step <= rows; step = step < 3 ? step + 1 : 5 * step + 2)
            for (uint64_t row = 0; row < rows; row += step)
                check_packed_rows(c, row, rows - row < step ? rows - row : step, expected, label);
        check_packed_rows(c, 0, rows, expected, label);
        packed_cache_free(c->weight.cache);
        check_without_memory(c, shared != 0, label);
    }
}

/* Floats are not read; the sentence holds `text`, and the place is byte `at` of a part. */
static inline void check_not_read(packed_case *c, uint32_t part, uint64_t at, const char *text)
{
    const packed_weight *w = &c->weight;
    uint64_t rows = w->slices * w->rows;
    float *floats = malloc((size_t)(rows * w->columns) * sizeof *floats);

    for (int shared = 0; shared < 2; shared++) {
        c->weight.cache = shared ? packed_cache_new(&default_allocator, &c->error) : NULL;
        c->error = no_error();
        check_status(w->kind->floats(w, 0, rows, floats, &c->error), GUFO_E_MALFORMED, &c->error,
                     "%s", text);
        check(strstr(c->error.message, text) != NULL, "\"%s\" in \"%s\"", text, c->error.message);
        check_u64(c->error.offset, c->tensors[part].offset + at, "%s", text);
        packed_cache_free(c->weight.cache);
    }
    c->weight.cache = NULL;
    free(floats);
}

#endif
