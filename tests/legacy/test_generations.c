/* Blocks of every generation in files without a version, whose ftype gives it: thousands for the
 * generation, the rest for the type.  Each file has known numbers, which are read back exactly. */
#include "../support/folder.h"
#include "../support/legacy_writer.h"

#include "base/bytes.h"
#include "codec/half.h"
#include "gufo/import.h"

enum { BLOCK = 32, FACTOR = 1000, GENERATIONS = 3, FTYPE_FIELD = 6 };

/* ---- numbers -------------------------------------------------------------------------------- */

typedef struct block_type {
    const char *name;
    uint32_t ftype;
    bool nibbles, fifth, minimum, wide; /* wide: floats in generation 0 and 1, halves in 2 */
    int middle;
} block_type;

static const block_type types[] = {
    {"Q4_0", 2, true, false, false, true, 8},  {"Q4_1", 3, true, false, true, true, 0},
    {"Q5_0", 8, true, true, false, false, 16}, {"Q5_1", 9, true, true, true, false, 0},
    {"Q8_0", 7, false, false, false, true, 0},
};

static const float scale = 0.125F, minimum = -1.5F;

/* The code of an element: every generation puts it into another place. */
static int code_of(const block_type *type, size_t index)
{
    return !type->nibbles ? (int)(index * 7 % 251) - 125
                          : (int)(index * 7 % (type->fifth ? 32 : 16));
}

static float number_of(const block_type *type, size_t index)
{
    return (float)(code_of(type, index) - type->middle) * scale + (type->minimum ? minimum : 0);
}

/* ---- blocks --------------------------------------------------------------------------------- */

static void put_real(builder *b, float number, bool wide)
{
    if (wide)
        builder_f32(b, number);
    else
        builder_u16(b, half_from_float(number));
}

static void put_codes(builder *b, const block_type *type, unsigned generation, size_t first)
{
    for (size_t i = 0; i < (type->nibbles ? BLOCK / 2 : BLOCK); i++) {
        size_t low = generation == 0 ? 2 * i : i, high = generation == 0 ? low + 1 : i + BLOCK / 2;

        builder_u8(b, (uint8_t)(type->nibbles ? (code_of(type, first + low) & 15) |
                                                    (code_of(type, first + high) & 15) << 4
                                              : code_of(type, first + i)));
    }
}

static void put_block(builder *b, const block_type *type, unsigned generation, size_t first)
{
    bool wide = type->wide && generation < 2;
    uint32_t fifth = 0;

    put_real(b, scale, wide);
    if (type->minimum)
        put_real(b, minimum, wide);
    for (size_t i = 0; type->fifth && i < BLOCK; i++)
        fifth |= (uint32_t)(code_of(type, first + i) >> 4 & 1) << i;
    if (type->fifth)
        builder_u32(b, fifth);
    put_codes(b, type, generation, first);
}

/* ---- files ---------------------------------------------------------------------------------- */

typedef struct subject {
    const char *sample;
    size_t ftype; /* of the header's numbers */
    const block_type *type;
    unsigned generation;
    char label[64];
} subject;

/* The sample with rows of one block, and matrices of the type. */
static legacy_sample sample_of(const subject *s)
{
    legacy_sample sample = *legacy_sample_named(s->sample);

    sample.generation = s->generation;
    sample.flags |= SAMPLE_MATRICES;
    sample.type = s->type->name;
    sample.fields[s->ftype] = FACTOR * s->generation + s->type->ftype;
    for (size_t i = 0; i < COUNT_OF(sample.sizes); i++) {
        char letter = sample.sizes[i].letter;

        if (letter == 'E')
            sample.fields[1] = BLOCK;
        if (letter == 'Q')
            sample.sizes[i].size = 3 * BLOCK;
        else if (letter != 0 && letter != 'V')
            sample.sizes[i].size = BLOCK;
    }
    return sample;
}

/* Known numbers instead of the sample's. */
static void set_blocks(const subject *s, builder *b, const legacy_sample *sample,
                       const legacy_marks *marks)
{
    for (size_t i = 0; i < marks->tensors; i++) {
        builder blocks = builder_new((encoding){3, false});

        if (strlen(sample->tensors[i].shape) < 2)
            continue;
        for (size_t first = 0; blocks.len < marks->ends[i] - marks->data[i]; first += BLOCK)
            put_block(&blocks, s->type, s->generation, first);
        check_u64(blocks.len, marks->ends[i] - marks->data[i], "%s", s->label);
        memcpy(b->data + marks->data[i], blocks.data, blocks.len);
        builder_free(&blocks);
    }
}

static void write_sample(const subject *s, const char *path)
{
    legacy_sample sample = sample_of(s);
    builder b = builder_new((encoding){3, false});
    legacy_marks marks;

    legacy_write(&b, &sample, &marks);
    set_blocks(s, &b, &sample, &marks);
    write_file(path, b.data, b.len);
    builder_free(&b);
}

/* ---- reading -------------------------------------------------------------------------------- */

static void check_tensor(const subject *s, const gufo_model *model, const gufo_tensor *tensor)
{
    float *numbers = calloc((size_t)tensor->elements, sizeof *numbers);
    gufo_error error = no_error();

    assert_non_null(numbers);
    check_ok(gufo_tensor_decode(model, tensor, 0, tensor->elements / tensor->dims[0], numbers, NULL,
                                &error),
             &error, "%s", s->label);
    for (size_t i = 0; i < tensor->elements; i++)
        check(float_to_bits(numbers[i]) == float_to_bits(number_of(s->type, i)),
              "%s: %.*s, number %zu is %g, not %g", s->label, (int)tensor->name.len,
              tensor->name.data, i, (double)numbers[i], (double)number_of(s->type, i));
    free(numbers);
}

static void check_blocks(const subject *s, const char *path, gufo_legacy_keep keep)
{
    const gufo_legacy_options options = {.keep = keep};
    gufo_error error = no_error();
    gufo_import *import = gufo_import_legacy(path, &options, &error);
    const gufo_model *model;
    gufo_tensor tensor;
    unsigned matrices = 0;

    check(import != NULL, "%s: %s", s->label, error.message);
    check_u64(gufo_import_describe(import).generation, s->generation, "%s", s->label);
    model = gufo_import_model(import);
    for (uint64_t i = 0; gufo_model_tensor_at(model, i, &tensor); i++)
        if (tensor.n_dims == 2) {
            check_tensor(s, model, &tensor);
            matrices++;
        }
    check(matrices > 5, "%s: %u matrices", s->label, matrices);
    gufo_import_free(import);
}

static void test_blocks_are_those_of_the_generation(void **state)
{
    static const struct {
        const char *sample;
        size_t ftype;
    } rows[] = {{"llama-ggml", 6}, {"bloom", 5}};
    folder f = folder_new();
    path_text path = folder_path(&f, "old.bin");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows) * COUNT_OF(types) * GENERATIONS; i++) {
        size_t row = i / GENERATIONS / COUNT_OF(types);
        subject s = {.sample = rows[row].sample,
                     .ftype = rows[row].ftype,
                     .type = &types[i / GENERATIONS % COUNT_OF(types)],
                     .generation = (unsigned)(i % GENERATIONS)};

        (void)snprintf(s.label, sizeof s.label, "%s, %s of generation %u", s.sample, s.type->name,
                       s.generation);
        write_sample(&s, path.text);
        check_blocks(&s, path.text, GUFO_LEGACY_NEAREST);
        check_blocks(&s, path.text, GUFO_LEGACY_F32);
    }
    folder_remove(&f);
}

/* ---- what contradicts itself ---------------------------------------------------------------- */

static void check_ftype(const char *path, const char *name, uint32_t ftype, bool good)
{
    legacy_sample sample = *legacy_sample_named(name);
    builder b = builder_new((encoding){3, false});
    gufo_error error = no_error();
    gufo_import *import;

    sample.fields[FTYPE_FIELD] = ftype;
    legacy_write(&b, &sample, NULL);
    write_file(path, b.data, b.len);
    builder_free(&b);
    import = gufo_import_legacy(path, NULL, &error);
    check((import != NULL) == good, "%s with ftype %u: %s", name, (unsigned)ftype, error.message);
    if (import == NULL)
        check_error_shape(&error, GUFO_E_MALFORMED, name);
    gufo_import_free(import);
}

static void test_the_factor_agrees_with_the_version(void **state)
{
    static const struct {
        const char *sample;
        uint32_t ftype;
        bool good;
    } rows[] = {
        {"llama-ggml", 1, true},      {"llama-ggml", 2001, true},   {"llama-ggml", 3001, false},
        {"llama-ggjt3", 2001, true},  {"llama-ggjt3", 1001, false}, {"llama-ggjt2", 1001, true},
        {"llama-ggjt2", 2001, false}, {"llama-ggmf1", 1, true},     {"llama-ggmf1", 1001, false}};
    folder f = folder_new();
    path_text path = folder_path(&f, "old.bin");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check_ftype(path.text, rows[i].sample, rows[i].ftype, rows[i].good);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_are_those_of_the_generation),
        cmocka_unit_test(test_the_factor_agrees_with_the_version),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
