/* Writes a file with many things of one kind: `make_many KIND COUNT FILE`.
 *
 * For counting how much work gufo has with files of one, two and four times the size.  KIND is one of
 *     keys        entries, all different
 *     texts       an array of strings
 *     arrays      an array of arrays
 *     tensors     tensors, data in order
 *     backwards   tensors, data in reverse order
 *     same-keys   entries, all with the same key
 *     same-names  tensors, all with the same name, and data in the same place */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gufo.h>

enum { TENSOR_SIZE = 32, VERSION = 3 };

/* ---- numbers and strings, little-endian on every machine ------------------------------------ */

static void put(FILE *out, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        putc((int)(number >> (8 * i) & 0xff), out);
}

static void put_text(FILE *out, const char *text)
{
    put(out, strlen(text), 8);
    fputs(text, out);
}

static void put_header(FILE *out, uint64_t tensors, uint64_t entries)
{
    fputs("GGUF", out);
    put(out, VERSION, 4);
    put(out, tensors, 8);
    put(out, entries, 8);
}

/* A short text that differs for every number, not only in its last characters. */
static const char *numbered(char out[48], const char *prefix, uint64_t number)
{
    snprintf(out, 48, "%s%" PRIx64 "_%" PRIu64, prefix, number * 0x9e3779b97f4a7c15u >> 40, number);
    return out;
}

/* ---- the kinds ------------------------------------------------------------------------------ */

static void put_entries(FILE *out, uint64_t count, bool same)
{
    char key[48];

    put_header(out, 0, count);
    for (uint64_t i = 0; i < count; i++) {
        put_text(out, same ? "key" : numbered(key, "key.", i));
        put(out, GUFO_VALUE_UINT32, 4);
        put(out, i, 4);
    }
}

static void make_keys(FILE *out, uint64_t count)
{
    put_entries(out, count, false);
}

static void make_same_keys(FILE *out, uint64_t count)
{
    put_entries(out, count, true);
}

static void put_array(FILE *out, uint64_t count, gufo_value_type type)
{
    put_header(out, 0, 1);
    put_text(out, "array");
    put(out, GUFO_VALUE_ARRAY, 4);
    put(out, type, 4);
    put(out, count, 8);
}

static void make_texts(FILE *out, uint64_t count)
{
    char text[48];

    put_array(out, count, GUFO_VALUE_STRING);
    for (uint64_t i = 0; i < count; i++)
        put_text(out, numbered(text, "", i));
}

static void make_arrays(FILE *out, uint64_t count)
{
    put_array(out, count, GUFO_VALUE_ARRAY);
    for (uint64_t i = 0; i < count; i++) {
        put(out, GUFO_VALUE_UINT16, 4);
        put(out, 1, 8);
        put(out, i, 2);
    }
}

static void put_info(FILE *out, const char *name, uint64_t offset)
{
    put_text(out, name);
    put(out, 1, 4);
    put(out, TENSOR_SIZE, 8);
    put(out, GUFO_TYPE_I8, 4);
    put(out, offset, 8);
}

static void put_data(FILE *out, uint64_t tensors)
{
    uint64_t padding = (TENSOR_SIZE - (uint64_t)ftell(out) % TENSOR_SIZE) % TENSOR_SIZE;

    for (uint64_t i = 0; i < padding + tensors * TENSOR_SIZE; i++)
        putc(0, out);
}

static void put_tensors(FILE *out, uint64_t count, bool backwards)
{
    char name[48];

    put_header(out, count, 0);
    for (uint64_t i = 0; i < count; i++)
        put_info(out, numbered(name, "blk.", i), (backwards ? count - 1 - i : i) * TENSOR_SIZE);
    put_data(out, count);
}

static void make_tensors(FILE *out, uint64_t count)
{
    put_tensors(out, count, false);
}

static void make_backwards(FILE *out, uint64_t count)
{
    put_tensors(out, count, true);
}

static void make_same_names(FILE *out, uint64_t count)
{
    put_header(out, count, 0);
    for (uint64_t i = 0; i < count; i++)
        put_info(out, "name", 0);
    put_data(out, 1);
}

static const struct {
    const char *name;
    void (*make)(FILE *out, uint64_t count);
} kinds[] = {
    {"keys", make_keys},
    {"texts", make_texts},
    {"arrays", make_arrays},
    {"tensors", make_tensors},
    {"backwards", make_backwards},
    {"same-keys", make_same_keys},
    {"same-names", make_same_names},
};

int main(int argc, char **argv)
{
    FILE *out = argc == 4 ? fopen(argv[3], "wb") : NULL;
    bool good = false;

    for (size_t i = 0; out && i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(argv[1], kinds[i].name) == 0) {
            kinds[i].make(out, strtoull(argv[2], NULL, 10));
            good = true;
        }
    }
    if (out)
        good = fclose(out) == 0 && good;
    if (!good)
        fprintf(stderr, "usage: make_many KIND COUNT FILE\n");
    return good ? 0 : 2;
}
