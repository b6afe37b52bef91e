/* make_gguf OUT WORD...: writes a small GGUF file, good or broken, for the tests of the command.
 *
 * It knows the format by itself, so that the library is not its own judge, and checks nothing.
 *
 *     version N            1, 2 or 3; comes first, if at all
 *     big                  big-endian; likewise
 *     kv KEY TYPE VALUE    an entry; TYPE is uint8 ... float64, bool, string
 *     arr KEY TYPE N V...  an array of N values
 *     nested KEY           an array of two uint8 arrays: [[1,2],[3]]
 *     raw HEX              bytes between the metadata entries
 *     repeat N HEX         the same, N times
 *     align N              what tensor data is aligned to (writes no key)
 *     tensor NAME TYPE DIMS SIZE   TYPE a number, DIMS "4x2" or "-", SIZE bytes of data
 *     at N                 the relative offset of the next tensor, instead of the next free one
 *     entries N, tensors N what the header claims, instead of the truth
 *     nopad                no padding after the last tensor
 *     tail HEX             bytes after everything
 *     poke OFFSET HEX      overwrites bytes of the finished file
 *     cut N                only the first N bytes (negative: all but the last -N)
 *
 * In KEY, NAME and string values \n, \t, \\ and \xHH stand for bytes. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TENSORS 4096

typedef struct bytes {
    uint8_t *data;
    size_t len, room;
} bytes;

typedef struct tensor {
    uint64_t offset, size;
} tensor;

typedef struct maker {
    char **words; /* those that are not read yet; NULL ends them */
    unsigned version;
    bool big, no_padding;
    uint64_t entries, entries_claimed, tensors_claimed, alignment;
    uint64_t next_offset;
    bytes metadata, infos, tail;
    tensor tensors[MAX_TENSORS];
    size_t tensor_count;
    struct {
        uint64_t offset;
        const char *hex;
    } pokes[16];
    size_t poke_count;
    long long cut;
    bool cuts;
} maker;

static void die(const char *what, const char *detail)
{
    fprintf(stderr, "make_gguf: %s%s\n", what, detail);
    exit(1);
}

/* ---- bytes ---------------------------------------------------------------------------------- */

static void put(bytes *b, const void *data, size_t len)
{
    if (b->len + len > b->room) {
        b->room = (b->len + len) * 2 + 256;
        b->data = realloc(b->data, b->room);
        if (b->data == NULL)
            die("out of memory", "");
    }
    memcpy(b->data + b->len, data, len);
    b->len += len;
}

static void put_zeros(bytes *b, uint64_t count)
{
    static const uint8_t zero;

    for (; count > 0; count--)
        put(b, &zero, 1);
}

static void put_number(const maker *m, bytes *b, uint64_t value, size_t width)
{
    for (size_t i = 0; i < width; i++) {
        size_t shift = 8 * (m->big ? width - 1 - i : i);
        uint8_t byte = (uint8_t)(value >> shift);

        put(b, &byte, 1);
    }
}

/* A count, length or dimension. */
static void put_length(const maker *m, bytes *b, uint64_t value)
{
    put_number(m, b, value, m->version == 1 ? 4 : 8);
}

static uint8_t hex_byte(const char *hex)
{
    char digits[3] = {hex[0], hex[0] != '\0' ? hex[1] : '\0', '\0'};
    char *end;
    unsigned long value = strtoul(digits, &end, 16);

    if (end != digits + 2)
        die("not hexadecimal: ", hex);
    return (uint8_t)value;
}

static void put_hex(bytes *b, const char *hex)
{
    for (; *hex != '\0'; hex += 2) {
        uint8_t byte = hex_byte(hex);

        put(b, &byte, 1);
    }
}

/* Length and bytes of a string, its escapes resolved. */
static void put_string(const maker *m, bytes *b, const char *text)
{
    bytes plain = {0};

    for (; *text != '\0'; text++) {
        uint8_t byte = (uint8_t)*text;

        if (text[0] == '\\' && text[1] == 'x') {
            byte = hex_byte(text + 2);
            text += 3;
        } else if (text[0] == '\\' && text[1] != '\0') {
            text++;
            byte = (uint8_t)(*text == 'n' ? '\n' : *text == 't' ? '\t' : *text);
        }
        put(&plain, &byte, 1);
    }
    put_length(m, b, plain.len);
    if (plain.len > 0)
        put(b, plain.data, plain.len);
    free(plain.data);
}

/* ---- words ---------------------------------------------------------------------------------- */

static const char *next_word(maker *m)
{
    if (*m->words == NULL)
        die("a word is missing at the end", "");
    return *m->words++;
}

static uint64_t next_number(maker *m)
{
    const char *word = next_word(m);
    char *end;
    unsigned long long value = strtoull(word, &end, 0);

    if (*word == '\0' || *end != '\0')
        die("not a number: ", word);
    return value;
}

/* In the order of their numbers; strings and arrays have no width. */
static const struct value_type {
    const char *name;
    size_t width;
} value_types[] = {{"uint8", 1},  {"int8", 1},    {"uint16", 2}, {"int16", 2},  {"uint32", 4},
                   {"int32", 4},  {"float32", 4}, {"bool", 1},   {"string", 0}, {"array", 0},
                   {"uint64", 8}, {"int64", 8},   {"float64", 8}};

enum { TYPE_UINT8 = 0, TYPE_FLOAT32 = 6, TYPE_STRING = 8, TYPE_ARRAY = 9, TYPE_FLOAT64 = 12 };

static uint32_t next_type(maker *m)
{
    const char *word = next_word(m);

    for (uint32_t i = 0; i < sizeof value_types / sizeof *value_types; i++)
        if (strcmp(value_types[i].name, word) == 0 && i != TYPE_ARRAY)
            return i;
    die("no such type: ", word);
    return 0;
}

static uint64_t bits_of_number(uint32_t type, const char *word)
{
    float single = strtof(word, NULL);
    double wide = strtod(word, NULL);
    uint32_t single_bits;
    uint64_t wide_bits;

    memcpy(&single_bits, &single, sizeof single);
    memcpy(&wide_bits, &wide, sizeof wide);
    if (type == TYPE_FLOAT32)
        return single_bits;
    if (type == TYPE_FLOAT64)
        return wide_bits;
    return *word == '-' ? (uint64_t)strtoll(word, NULL, 0) : strtoull(word, NULL, 0);
}

static void put_value(maker *m, uint32_t type, const char *word)
{
    if (type == TYPE_STRING)
        put_string(m, &m->metadata, word);
    else
        put_number(m, &m->metadata, bits_of_number(type, word), value_types[type].width);
}

static void word_version(maker *m)
{
    m->version = (unsigned)next_number(m);
}

static void word_big(maker *m)
{
    m->big = true;
}

static void word_kv(maker *m)
{
    put_string(m, &m->metadata, next_word(m));
    uint32_t type = next_type(m);

    put_number(m, &m->metadata, type, 4);
    put_value(m, type, next_word(m));
    m->entries++;
}

static void word_arr(maker *m)
{
    put_string(m, &m->metadata, next_word(m));
    uint32_t type = next_type(m);
    uint64_t count = next_number(m);

    put_number(m, &m->metadata, TYPE_ARRAY, 4);
    put_number(m, &m->metadata, type, 4);
    put_length(m, &m->metadata, count);
    for (; count > 0; count--)
        put_value(m, type, next_word(m));
    m->entries++;
}

static void word_nested(maker *m)
{
    static const uint8_t numbers[] = {1, 2, 3};

    put_string(m, &m->metadata, next_word(m));
    put_number(m, &m->metadata, TYPE_ARRAY, 4);
    put_number(m, &m->metadata, TYPE_ARRAY, 4);
    put_length(m, &m->metadata, 2);
    for (size_t i = 0; i < 2; i++) {
        put_number(m, &m->metadata, TYPE_UINT8, 4);
        put_length(m, &m->metadata, 2 - i);
        put(&m->metadata, numbers + 2 * i, 2 - i);
    }
    m->entries++;
}

static void word_raw(maker *m)
{
    put_hex(&m->metadata, next_word(m));
}

static void word_repeat(maker *m)
{
    uint64_t count = next_number(m);
    const char *hex = next_word(m);

    for (; count > 0; count--)
        put_hex(&m->metadata, hex);
}

static void word_align(maker *m)
{
    m->alignment = next_number(m);
}

static uint64_t align_up(const maker *m, uint64_t offset)
{
    return (offset + m->alignment - 1) / m->alignment * m->alignment;
}

/* "4x2" */
static void put_dims(maker *m, const char *word)
{
    uint64_t dims[16];
    uint32_t count = 0;

    for (const char *at = word; at != NULL && strcmp(at, "-") != 0 && count < 16;) {
        char *end;

        dims[count++] = strtoull(at, &end, 10);
        at = *end == 'x' ? end + 1 : NULL;
    }
    put_number(m, &m->infos, count, 4);
    for (uint32_t i = 0; i < count; i++)
        put_length(m, &m->infos, dims[i]);
}

static void word_tensor(maker *m)
{
    if (m->tensor_count == MAX_TENSORS)
        die("too many tensors", "");
    tensor *t = &m->tensors[m->tensor_count++];

    put_string(m, &m->infos, next_word(m));
    uint64_t type = next_number(m);

    put_dims(m, next_word(m));
    put_number(m, &m->infos, type, 4);
    t->offset = m->next_offset;
    t->size = next_number(m);
    put_number(m, &m->infos, t->offset, 8);
    m->next_offset = align_up(m, t->offset + t->size);
}

static void word_at(maker *m)
{
    m->next_offset = next_number(m);
}

static void word_entries(maker *m)
{
    m->entries_claimed = next_number(m);
}

static void word_tensors(maker *m)
{
    m->tensors_claimed = next_number(m);
}

static void word_nopad(maker *m)
{
    m->no_padding = true;
}

static void word_tail(maker *m)
{
    put_hex(&m->tail, next_word(m));
}

static void word_poke(maker *m)
{
    if (m->poke_count == sizeof m->pokes / sizeof *m->pokes)
        die("too many pokes", "");
    m->pokes[m->poke_count].offset = next_number(m);
    m->pokes[m->poke_count++].hex = next_word(m);
}

static void word_cut(maker *m)
{
    m->cut = strtoll(next_word(m), NULL, 0);
    m->cuts = true;
}

static const struct {
    const char *name;
    void (*read)(maker *m);
} vocabulary[] = {
    {"version", word_version}, {"big", word_big},         {"kv", word_kv},
    {"arr", word_arr},         {"nested", word_nested},   {"raw", word_raw},
    {"repeat", word_repeat},   {"align", word_align},     {"tensor", word_tensor},
    {"at", word_at},           {"entries", word_entries}, {"tensors", word_tensors},
    {"nopad", word_nopad},     {"tail", word_tail},       {"poke", word_poke},
    {"cut", word_cut},
};

static void read_word(maker *m)
{
    const char *word = next_word(m);

    for (size_t i = 0; i < sizeof vocabulary / sizeof *vocabulary; i++) {
        if (strcmp(vocabulary[i].name, word) == 0) {
            vocabulary[i].read(m);
            return;
        }
    }
    die("no such word: ", word);
}

/* ---- the file ------------------------------------------------------------------------------- */

/* Every tensor's data is its number, from 1. */
static void put_data(const maker *m, bytes *file)
{
    size_t start = (size_t)align_up(m, file->len);

    if (m->tensor_count == 0)
        return;
    put_zeros(file, start - file->len);
    for (size_t i = 0; i < m->tensor_count; i++) {
        const tensor *t = &m->tensors[i];
        size_t end = start + (size_t)(t->offset + t->size);

        if (t->size == 0) /* wherever it is */
            continue;
        if (end > file->len)
            put_zeros(file, end - file->len);
        memset(file->data + start + t->offset, (int)(i + 1) & 0xff, (size_t)t->size);
    }
    if (!m->no_padding)
        put_zeros(file, align_up(m, file->len) - file->len);
}

static void apply_pokes(const maker *m, bytes *file)
{
    for (size_t i = 0; i < m->poke_count; i++) {
        bytes poked = {0};

        put_hex(&poked, m->pokes[i].hex);
        if (m->pokes[i].offset + poked.len > file->len)
            die("poke outside the file", "");
        if (poked.len > 0)
            memcpy(file->data + m->pokes[i].offset, poked.data, poked.len);
        free(poked.data);
    }
}

static void assemble(const maker *m, bytes *file)
{
    put(file, "GGUF", 4);
    put_number(m, file, m->version, 4);
    put_length(m, file, m->tensors_claimed != UINT64_MAX ? m->tensors_claimed : m->tensor_count);
    put_length(m, file, m->entries_claimed != UINT64_MAX ? m->entries_claimed : m->entries);
    if (m->metadata.len > 0)
        put(file, m->metadata.data, m->metadata.len);
    if (m->infos.len > 0)
        put(file, m->infos.data, m->infos.len);
    put_data(m, file);
    if (m->tail.len > 0)
        put(file, m->tail.data, m->tail.len);
    apply_pokes(m, file);
    if (m->cuts)
        file->len = m->cut >= 0 ? (size_t)m->cut : file->len - (size_t)-m->cut;
}

int main(int argc, char **argv)
{
    static maker m = {.version = 3,
                      .alignment = 32,
                      .entries_claimed = UINT64_MAX,
                      .tensors_claimed = UINT64_MAX};
    bytes file = {0};

    if (argc < 2)
        die("make_gguf OUT WORD...", "");
    for (m.words = argv + 2; *m.words != NULL;)
        read_word(&m);
    assemble(&m, &file);
    FILE *out = fopen(argv[1], "wb");

    if (out == NULL || fwrite(file.data, 1, file.len, out) != file.len || fclose(out) != 0)
        die("cannot write ", argv[1]);
    free(file.data);
    free(m.metadata.data);
    free(m.infos.data);
    free(m.tail.data);
    return 0;
}
