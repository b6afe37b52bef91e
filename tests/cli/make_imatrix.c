/* make_imatrix OUT dat|gguf WORD...: writes an importance matrix for the tests of the command.
 *
 * It knows both formats by itself, so that the library is not its own judge, and checks nothing.
 *
 *     chunks N             the number of chunks
 *     size N               tokens of a chunk (gguf)
 *     dataset TEXT         a dataset; dat has room for one
 *     entry NAME COUNTS VALUES     lists with commas: counts per matrix (dat: one, the calls), and
 *                                  sums (dat: means times calls); nan and inf are numbers */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ENTRIES = 64, MAX_VALUES = 4096 };

typedef struct list {
    float values[MAX_VALUES];
    uint32_t count;
} list;

typedef struct entry {
    const char *name;
    list counts, sums;
} entry;

static entry entries[MAX_ENTRIES];
static uint32_t entry_count;
static const char *datasets[MAX_ENTRIES];
static uint32_t dataset_count, chunks, chunk_size = 512;
static FILE *out;

/* ---- little-endian numbers ---- */

static void put(uint64_t number, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        putc((int)(number >> 8 * i & 0xff), out);
}

static void put_floats(const list *numbers)
{
    for (uint32_t i = 0; i < numbers->count; i++) {
        uint32_t bits;

        memcpy(&bits, &numbers->values[i], sizeof bits);
        put(bits, 4);
    }
}

static void put_text(const char *text, unsigned width)
{
    put(strlen(text), width);
    fputs(text, out);
}

/* ---- the formats ---- */

static void write_dat(void)
{
    put(entry_count, 4);
    for (uint32_t i = 0; i < entry_count; i++) {
        put_text(entries[i].name, 4);
        put((uint64_t)entries[i].counts.values[0], 4);
        put(entries[i].sums.count, 4);
        put_floats(&entries[i].sums);
    }
    put(chunks, 4);
    put_text(dataset_count > 0 ? datasets[0] : "", 4);
}

enum { GGUF_UINT32 = 4, GGUF_STRING = 8, GGUF_ARRAY = 9 };

static void put_u32_entry(const char *key, uint32_t value)
{
    put_text(key, 8);
    put(GGUF_UINT32, 4);
    put(value, 4);
}

static uint64_t padded(uint64_t size)
{
    return (size + 31) / 32 * 32;
}

/* A tensor info of type F32 with two dims; returns where the next tensor goes. */
static uint64_t put_info(const char *name, const char *suffix, uint64_t columns, uint64_t matrices,
                         uint64_t offset)
{
    char text[256];

    snprintf(text, sizeof text, "%s%s", name, suffix);
    put_text(text, 8);
    put(2, 4);
    put(columns, 8);
    put(matrices, 8);
    put(0, 4);
    put(offset, 8);
    return padded(offset + columns * matrices * 4);
}

static void put_data(const list *numbers)
{
    put_floats(numbers);
    for (uint64_t size = numbers->count * 4; size < padded(numbers->count * 4); size++)
        putc(0, out);
}

static void write_gguf(void)
{
    uint64_t offset = 0;

    fputs("GGUF", out);
    put(3, 4);
    put(2 * entry_count, 8);
    put(4, 8);
    put_text("general.type", 8);
    put(GGUF_STRING, 4);
    put_text("imatrix", 8);
    put_text("imatrix.datasets", 8);
    put(GGUF_ARRAY, 4);
    put(GGUF_STRING, 4);
    put(dataset_count, 8);
    for (uint32_t i = 0; i < dataset_count; i++)
        put_text(datasets[i], 8);
    put_u32_entry("imatrix.chunk_count", chunks);
    put_u32_entry("imatrix.chunk_size", chunk_size);
    for (uint32_t i = 0; i < entry_count; i++) {
        uint32_t matrices = entries[i].counts.count;

        offset = put_info(entries[i].name, ".in_sum2", entries[i].sums.count / matrices, matrices,
                          offset);
        offset = put_info(entries[i].name, ".counts", 1, matrices, offset);
    }
    for (long at = ftell(out); at % 32 != 0; at++)
        putc(0, out);
    for (uint32_t i = 0; i < entry_count; i++) {
        put_data(&entries[i].sums);
        put_data(&entries[i].counts);
    }
}

/* ---- command line ---- */

static void read_list(const char *text, list *numbers)
{
    char *end;

    for (;; text = end + 1) {
        numbers->values[numbers->count++] = strtof(text, &end);
        if (*end != ',')
            return;
    }
}

static char **read_word(char **words)
{
    if (strcmp(words[0], "chunks") == 0) {
        chunks = (uint32_t)strtoul(words[1], NULL, 10);
    } else if (strcmp(words[0], "size") == 0) {
        chunk_size = (uint32_t)strtoul(words[1], NULL, 10);
    } else if (strcmp(words[0], "dataset") == 0) {
        datasets[dataset_count++] = words[1];
    } else {
        entry *e = &entries[entry_count++];

        e->name = words[1];
        read_list(words[2], &e->counts);
        read_list(words[3], &e->sums);
        return words + 4;
    }
    return words + 2;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 1;
    for (char **words = argv + 3; *words != NULL;)
        words = read_word(words);
    out = fopen(argv[1], "wb");
    if (out == NULL)
        return 1;
    if (strcmp(argv[2], "dat") == 0)
        write_dat();
    else
        write_gguf();
    return fclose(out) == 0 ? 0 : 1;
}
