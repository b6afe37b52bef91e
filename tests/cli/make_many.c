/* Writes a file with many things of one kind: `make_many KIND COUNT FILE`.
 *
 * For counting how much work gufo has with files of one, two and four times the size.  KIND is one
 * of
 *     keys        entries, all different
 *     texts       an array of strings
 *     arrays      an array of arrays
 *     tensors     tensors, data in order
 *     backwards   tensors, data in reverse order
 *     overlaps    tensors whose data all reaches to the end of the file
 *     matrices    an importance matrix with one entry, of matrices with one value each
 *     same-keys   entries, all with the same key
 *     same-names  tensors, all with the same name, and data in the same place
 *     tokens      tokens, and as many merges
 *     blocks      blocks with one tensor each, in lists with an element for each block
 *     pairs       tensors of an adapter that lack the other one of their pair */
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

static void put_f32_info(FILE *out, const char *name, uint64_t elements, uint64_t offset)
{
    put_text(out, name);
    put(out, 2, 4);
    put(out, 1, 8);
    put(out, elements, 8);
    put(out, GUFO_TYPE_F32, 4);
    put(out, offset, 8);
}

static void make_overlaps(FILE *out, uint64_t count)
{
    char name[48];

    put_header(out, count, 0);
    for (uint64_t i = 0; i < count; i++)
        put_f32_info(out, numbered(name, "blk.", i), (count - i) * TENSOR_SIZE / 4,
                     i * TENSOR_SIZE);
    put_data(out, count);
}

static void make_matrices(FILE *out, uint64_t count)
{
    uint64_t blocks = (4 * count + TENSOR_SIZE - 1) / TENSOR_SIZE;

    put_header(out, 2, 0);
    put_f32_info(out, "blk.0.ffn_up_exps.weight.in_sum2", count, 0);
    put_f32_info(out, "blk.0.ffn_up_exps.weight.counts", count, blocks * TENSOR_SIZE);
    put_data(out, 2 * blocks);
}

static void make_same_names(FILE *out, uint64_t count)
{
    put_header(out, count, 0);
    for (uint64_t i = 0; i < count; i++)
        put_info(out, "name", 0);
    put_data(out, 1);
}

static void put_string(FILE *out, const char *key, const char *value)
{
    put_text(out, key);
    put(out, GUFO_VALUE_STRING, 4);
    put_text(out, value);
}

static void put_array_entry(FILE *out, const char *key, gufo_value_type type, uint64_t count)
{
    put_text(out, key);
    put(out, GUFO_VALUE_ARRAY, 4);
    put(out, type, 4);
    put(out, count, 8);
}

/* What every second merge makes is a token. */
static void make_tokens(FILE *out, uint64_t count)
{
    char text[48], merge[128];

    put_header(out, 0, 4);
    put_string(out, "general.architecture", "llama");
    put_string(out, "tokenizer.ggml.model", "gpt2");
    put_array_entry(out, "tokenizer.ggml.tokens", GUFO_VALUE_STRING, count);
    for (uint64_t i = 0; i < count; i++)
        put_text(out, numbered(text, "", i));
    put_array_entry(out, "tokenizer.ggml.merges", GUFO_VALUE_STRING, count);
    for (uint64_t i = 0; i < count; i++) {
        numbered(text, "", i);
        snprintf(merge, sizeof merge, "%.1s %s", text, text + (i % 2 == 0));
        put_text(out, merge);
    }
}

static void put_list(FILE *out, const char *key, uint64_t count, uint64_t value)
{
    put_array_entry(out, key, GUFO_VALUE_UINT32, count);
    for (uint64_t i = 0; i < count; i++)
        put(out, i % 2 == 0 ? value : 0, 4);
}

/* Every second block has neither attention nor feed-forward, and no tensors. */
static void make_blocks(FILE *out, uint64_t count)
{
    char name[48];

    put_header(out, count, 4);
    put_string(out, "general.architecture", "llama");
    put_text(out, "llama.block_count");
    put(out, GUFO_VALUE_UINT32, 4);
    put(out, 2 * count, 4);
    put_list(out, "llama.attention.head_count", 2 * count, 4);
    put_list(out, "llama.feed_forward_length", 2 * count, TENSOR_SIZE);
    for (uint64_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "blk.%" PRIu64 ".attn_norm.weight", 2 * i);
        put_info(out, name, i * TENSOR_SIZE);
    }
    put_data(out, count);
}

static void make_pairs(FILE *out, uint64_t count)
{
    char name[48];

    put_header(out, count, 2);
    put_string(out, "general.architecture", "llama");
    put_string(out, "general.type", "adapter");
    for (uint64_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "blk.%" PRIu64 ".attn_q.weight.lora_a", i);
        put_info(out, name, i * TENSOR_SIZE);
    }
    put_data(out, count);
}

static const struct {
    const char *name;
    void (*make)(FILE *out, uint64_t count);
} kinds[] = {
    {"keys", make_keys},         {"texts", make_texts},         {"arrays", make_arrays},
    {"tensors", make_tensors},   {"backwards", make_backwards}, {"overlaps", make_overlaps},
    {"matrices", make_matrices}, {"same-keys", make_same_keys}, {"same-names", make_same_names},
    {"tokens", make_tokens},     {"blocks", make_blocks},       {"pairs", make_pairs},
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
