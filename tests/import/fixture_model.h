/* Model folders of tests/import/architectures and towers: written as the README.md of the first says. */
#ifndef TEST_IMPORT_FIXTURE_MODEL_H
#define TEST_IMPORT_FIXTURE_MODEL_H

#include "../support/folder.h"
#include "../support/pace.h"
#include "../support/safetensors_maker.h"

#include <dirent.h>
#include <jansson.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "codec/half.h"
#include "gufo/import.h"

enum { MOST_TENSORS = 256 };

/* ---- numbers by rule ------------------------------------------------------------------------- */

static inline uint64_t fnv1a64(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325;

    for (; *text != '\0'; text++)
        hash = (hash ^ (uint8_t)*text) * 0x100000001b3;
    return hash;
}

static inline uint64_t splitmix64(uint64_t state)
{
    uint64_t z = state + 0x9e3779b97f4a7c15;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* Element types of the files, and how a number is stored, little-endian. */
static inline void store_number(const char *dtype, float number, uint8_t byte, uint8_t *out)
{
    const bool swapped = bytes_swapped(false);
    uint32_t bits = float_to_bits(number);

    if (strcmp(dtype, "F32") == 0) {
        store_u32(out, bits, swapped);
    } else if (strcmp(dtype, "BF16") == 0) {
        store_u16(out, (uint16_t)(bits >> 16), swapped); /* exact: 8 bits are enough */
    } else if (strcmp(dtype, "F16") == 0) {
        store_u16(out, half_from_float(number), swapped);
    } else if (strcmp(dtype, "I64") == 0) {
        store_u64(out, byte, swapped);
    } else {
        check(strcmp(dtype, "U8") == 0, "dtype %s", dtype);
        *out = byte;
    }
}

/* Whether element i of a matrix that joins two per head, [a, b] rows of each, is 0: they have halves of the columns each. */
static inline bool outside_blocks(const json_t *rows, uint64_t columns, uint64_t i)
{
    uint64_t a = (uint64_t)json_integer_value(json_array_get(rows, 0));
    uint64_t b = (uint64_t)json_integer_value(json_array_get(rows, 1));

    return (i / columns % (a + b) < a) != (i % columns < columns / 2);
}

/* The data of a tensor; to be freed. */
static inline uint8_t *make_data(const json_t *row, const safetensor *t)
{
    const json_t *constant = json_array_get(row, 3);
    const uint64_t start = fnv1a64(t->name);
    const size_t size = safetensor_size(t);
    uint64_t count = 1;
    uint8_t *data = malloc(size + 1);

    assert_non_null(data);
    for (uint32_t i = 0; i < t->n_dims; i++)
        count *= t->shape[i];
    for (uint64_t i = 0; i < count; i++) {
        uint8_t byte = (uint8_t)(splitmix64(start + i) >> 56);
        float number = (float)((int)byte - 128) / 64.0f;

        if (constant != NULL &&
            strcmp(t->dtype, "U8") == 0) /* "finite": scales, of which 255 is NaN */
            byte %= 255;
        else if (json_is_array(constant))
            number = outside_blocks(constant, t->shape[t->n_dims - 1], i) ? 0 : number;
        else if (constant != NULL)
            number = json_is_number(constant) ? (float)json_number_value(constant) : 0;
        store_number(t->dtype, number, byte, data + i * (size / count));
    }
    return data;
}

/* ---- a model folder -------------------------------------------------------------------------- */

typedef struct subject {
    char name[64]; /* the label of every message */
    folder *root;
    path_text path;
    json_t *fixture;
    gufo_import *import;
    const gufo_model *model;
    unsigned differences;
} subject;

__attribute__((format(printf, 2, 3))) static inline void differ(subject *s, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_error("%s: ", s->name);
    vprint_error(format, arguments);
    print_error("\n");
    va_end(arguments);
    s->differences++;
}

/* A file of the folder, in a folder of its own if its name has one. */
static inline void write_json(const subject *s, const char *name, const json_t *value)
{
    path_text path = path_join(s->path.text, name);
    char *text = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY);
    const char *content = text != NULL ? text : json_string_value(value);
    char *slash = strrchr(path.text, '/');

    *slash = '\0';
    (void)mkdir(path.text, 0777);
    *slash = '/';
    write_file(path.text, content, strlen(content));
    free(text);
}

/* The tensors of a fixture, whose data is to be freed. */
static inline size_t make_tensors(const json_t *fixture, safetensor tensors[MOST_TENSORS])
{
    const json_t *rows = json_object_get(fixture, "tensors");
    size_t count = json_array_size(rows);

    check(count <= MOST_TENSORS, "%zu tensors", count);
    for (size_t i = 0; i < count; i++) {
        const json_t *row = json_array_get(rows, i), *shape = json_array_get(row, 2);
        safetensor *t = &tensors[i];

        *t = (safetensor){.name = json_string_value(json_array_get(row, 0)),
                          .dtype = json_string_value(json_array_get(row, 1)),
                          .n_dims = (uint32_t)json_array_size(shape)};
        for (uint32_t d = 0; d < t->n_dims; d++)
            t->shape[d] = (uint64_t)json_integer_value(json_array_get(shape, d));
        t->bytes = make_data(row, t);
    }
    return count;
}

static inline void free_tensors(safetensor *tensors, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free((void *)tensors[i].bytes);
}

/* The folder of the model, at s->path, with these tensors. */
static inline void write_folder(const subject *s, const safetensor *tensors, size_t count)
{
    bool is_mistral = json_object_get(s->fixture, "mistral") != NULL;
    const char *name;
    json_t *value;

    assert_int_equal(mkdir(s->path.text, 0777), 0);
    write_json(s, is_mistral ? "params.json" : "config.json",
               json_object_get(s->fixture, "config"));
    json_object_foreach(json_object_get(s->fixture, "other_files"), name, value)
        write_json(s, name, value);
    name = is_mistral ? "consolidated.safetensors" : "model.safetensors";
    safetensors_write(path_join(s->path.text, name).text, tensors, count);
}

static inline void write_fixture(subject *s)
{
    safetensor tensors[MOST_TENSORS];
    size_t count = make_tensors(s->fixture, tensors);

    s->path = folder_path(s->root, s->name);
    write_folder(s, tensors, count);
    free_tensors(tensors, count);
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* What is done with a model; it counts differences. */
typedef void try_subject(subject *s);

static inline unsigned try_fixture(folder *root, const char *directory, const char *file,
                                   try_subject *try)
{
    subject s = {.root = root};
    json_error_t reason;

    (void)snprintf(s.name, sizeof s.name, "%.*s", (int)(strlen(file) - strlen(".json")), file);
    s.fixture = json_load_file(path_join(directory, file).text, 0, &reason);
    check(s.fixture != NULL, "%s: %s", file, reason.text);
    try(&s);
    json_decref(s.fixture);
    return s.differences;
}

static inline bool is_fixture(const char *name)
{
    size_t len = strlen(name);

    return len > 5 && strcmp(name + len - 5, ".json") == 0;
}

/* Tries one of every `stride` models of a folder, or the one whose file GUFO_ONLY names; the number of
 * differences. */
static inline unsigned each_fixture_in(const char *place, folder *root, unsigned stride,
                                       try_subject *try)
{
    const char *source = getenv("GUFO_SOURCE"), *only = getenv("GUFO_ONLY");
    path_text directory = path_join(source != NULL ? source : ".", place);
    struct dirent **list;
    unsigned differences = 0, models = 0;
    int count = scandir(directory.text, &list, NULL, alphasort);

    check(count > 0, "no files in %s", directory.text);
    for (int i = 0; i < count; i++) {
        if (is_fixture(list[i]->d_name) && (unsigned)i % stride == 0 &&
            (only == NULL || strcmp(only, list[i]->d_name) == 0)) {
            differences += try_fixture(root, directory.text, list[i]->d_name, try);
            models++;
        }
        free(list[i]);
    }
    free(list);
    check(models > 0 || only != NULL, "no models");
    return differences;
}

static inline unsigned each_fixture(folder *root, unsigned stride, try_subject *try)
{
    return each_fixture_in("tests/import/architectures", root, stride, try);
}

#endif
