/* Writes a small LLaMA model in one of the formats before GGUF.
 *
 *     make_legacy FILE [WORD VALUE]...
 *
 *     container NAME   ggml, ggmf or ggjt (as it comes)
 *     version N        of the container (1)
 *     type NAME        of the matrices: f32, f16, q4_0 or q8_0 (as it comes: f32)
 *     scale X          of all blocks (0.125, which 16 bits hold)
 *     parts N          FILE, FILE.1 ... (1)
 *     embd N           (64)
 *     layers N         (1)
 *
 * Rows of wk and wv are half as many as those of wq: two of the four heads have keys and values of
 * their own.  Numbers grow along a row, and start anew in every row. */
#include "base/bytes.h"
#include "codec/half.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS = 262, HEADS = 4, BLOCK = 32, NAME = 80 };

enum { F32 = 0, F16 = 1, Q4_0 = 2, Q8_0 = 8 };

typedef struct maker {
    FILE *file;
    const char *container;
    uint32_t version, type, parts, embd, layers;
    float scale;
} maker;

static void put_u32(const maker *m, uint32_t value)
{
    uint8_t bytes[4];

    store_u32(bytes, value, HOST_IS_BIG_ENDIAN);
    fwrite(bytes, 1, sizeof bytes, m->file);
}

static void put_f32(const maker *m, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    put_u32(m, bits);
}

static void put_f16(const maker *m, float value)
{
    uint8_t bytes[2];

    (void)store_half(bytes, value);
    fwrite(bytes, 1, sizeof bytes, m->file);
}

/* ---- header and vocabulary ------------------------------------------------------------------ */

static bool is(const maker *m, const char *container)
{
    return strcmp(m->container, container) == 0;
}

static void put_header(const maker *m)
{
    const uint32_t fields[] = {TOKENS, m->embd, BLOCK, HEADS, m->layers, m->embd / HEADS, m->type};

    put_u32(m, is(m, "ggml") ? 0x67676d6c : is(m, "ggmf") ? 0x67676d66 : 0x67676a74);
    if (!is(m, "ggml"))
        put_u32(m, m->version);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        put_u32(m, fields[i]);
}

/* Unknown, begin, end, the bytes, and three words. */
static void put_vocabulary(const maker *m)
{
    static const char *const words[] = {"a", " the", " of"};

    for (uint32_t id = 0; id < TOKENS; id++) {
        const char byte = (char)(id - 3), *text = &byte;
        size_t len = id < 3 ? 0 : 1;

        if (id == 0 || id >= 259) {
            text = id == 0 ? " \xe2\x81\x87 " : words[id - 259];
            len = strlen(text);
        }
        put_u32(m, (uint32_t)len);
        fwrite(text, 1, len, m->file);
        if (!is(m, "ggml"))
            put_f32(m, id < 259 ? 0 : 259 - (float)id);
    }
}

/* ---- tensors -------------------------------------------------------------------------------- */

static void put_block(const maker *m, uint32_t start)
{
    bool wide = is(m, "ggjt") ? m->version < 3 : true;

    if (wide)
        put_f32(m, m->scale);
    else
        put_f16(m, m->scale);
    for (uint32_t i = 0; i < (m->type == Q8_0 ? BLOCK : BLOCK / 2); i++)
        fputc((int)((start + 7 * i) & 0xff), m->file);
}

static void put_row(const maker *m, uint32_t type, uint32_t columns)
{
    for (uint32_t i = 0; i < columns; i += type == F32 || type == F16 ? 1 : BLOCK) {
        if (type == F32)
            put_f32(m, (float)i / 64);
        else if (type == F16)
            put_f16(m, (float)i / 64);
        else
            put_block(m, i);
    }
}

static void put_tensor(const maker *m, const char *name, uint32_t columns, uint32_t rows)
{
    uint32_t type = rows > 0 ? m->type : F32;

    put_u32(m, rows > 0 ? 2 : 1);
    put_u32(m, (uint32_t)strlen(name));
    put_u32(m, type);
    put_u32(m, columns);
    if (rows > 0)
        put_u32(m, rows);
    fputs(name, m->file);
    while (is(m, "ggjt") && ftell(m->file) % 32 != 0)
        fputc(0, m->file);
    for (uint32_t i = 0; i < (rows > 0 ? rows : 1); i++)
        put_row(m, type, columns);
}

static void put_layer(const maker *m, uint32_t layer)
{
    const uint32_t n = m->embd, part = n / m->parts;
    const struct {
        const char *name;
        uint32_t columns, rows; /* no rows: a vector */
    } tensors[] = {{"attention.wq", n, part},
                   {"attention.wk", n, part / 2},
                   {"attention.wv", n, part / 2},
                   {"attention.wo", part, n},
                   {"attention_norm", n, 0},
                   {"feed_forward.w1", n, 2 * part},
                   {"feed_forward.w2", 2 * part, n},
                   {"feed_forward.w3", n, 2 * part},
                   {"ffn_norm", n, 0}};
    char name[NAME];

    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        snprintf(name, sizeof name, "layers.%u.%s.weight", (unsigned)layer, tensors[i].name);
        put_tensor(m, name, tensors[i].columns, tensors[i].rows);
    }
}

static void put_part(const maker *m)
{
    put_header(m);
    put_vocabulary(m);
    put_tensor(m, "tok_embeddings.weight", m->embd / m->parts, TOKENS);
    put_tensor(m, "norm.weight", m->embd, 0);
    put_tensor(m, "output.weight", m->embd, TOKENS / m->parts);
    for (uint32_t i = 0; i < m->layers; i++)
        put_layer(m, i);
}

/* ---- words ---------------------------------------------------------------------------------- */

static uint32_t type_of(const char *name)
{
    static const struct {
        const char *name;
        uint32_t type;
    } types[] = {{"f32", F32}, {"f16", F16}, {"q4_0", Q4_0}, {"q8_0", Q8_0}};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return types[i].type;
    exit(2);
}

static void read_word(maker *m, const char *word, const char *value)
{
    uint32_t number = (uint32_t)strtoul(value, NULL, 10);

    if (strcmp(word, "container") == 0)
        m->container = value;
    else if (strcmp(word, "version") == 0)
        m->version = number;
    else if (strcmp(word, "type") == 0)
        m->type = type_of(value);
    else if (strcmp(word, "scale") == 0)
        m->scale = strtof(value, NULL);
    else if (strcmp(word, "parts") == 0)
        m->parts = number;
    else if (strcmp(word, "embd") == 0)
        m->embd = number;
    else if (strcmp(word, "layers") == 0)
        m->layers = number;
    else
        exit(2);
}

int main(int argc, char **argv)
{
    maker m = {
        .container = "ggjt", .version = 1, .parts = 1, .embd = 64, .layers = 1, .scale = 0.125F};
    char path[4096];

    if (argc < 2)
        return 2;
    for (int i = 2; i + 1 < argc; i += 2)
        read_word(&m, argv[i], argv[i + 1]);
    for (uint32_t part = 0; part < m.parts; part++) {
        if (part > 0)
            snprintf(path, sizeof path, "%s.%u", argv[1], (unsigned)part);
        else
            snprintf(path, sizeof path, "%s", argv[1]);
        m.file = fopen(path, "wb");
        if (m.file == NULL)
            return 3;
        put_part(&m);
        if (fclose(m.file) != 0)
            return 3;
    }
    return 0;
}
