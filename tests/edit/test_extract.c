/* Tensors in other formats: headers to the byte, numbers to the bit. */
#include "../support/pace.h"
#include "copies.h"

#include "base/bytes.h"

typedef struct workshop {
    folder f;
    path_text in, out;
} workshop;

static workshop workshop_new(void)
{
    workshop w = {.f = folder_new()};

    w.in = folder_path(&w.f, "in.gguf");
    w.out = folder_path(&w.f, "out");
    return w;
}

#define AS_STORED UINT32_MAX /* no type has this number */

/* Extracts by numbers; the bytes of the file into *bytes, to be freed, if it succeeds. */
static gufo_status extract(const workshop *w, const uint64_t *tensors, size_t count,
                           gufo_extract_format format, uint32_t type, uint8_t **bytes, size_t *len,
                           gufo_error *error)
{
    gufo_extract_options options = {.format = format, .type = gufo_element_type_by_id(type)};
    gufo_model *set = gufo_model_open(w->in.text, NULL, error);
    gufo_job *copy = set != NULL ? gufo_job_extract(set, tensors, count, &options, error) : NULL;
    gufo_status status =
        copy != NULL ? run_job(copy, w->out.text, false, NULL, error) : error->code;

    gufo_job_free(copy);
    gufo_model_free(set);
    if (status != GUFO_OK) {
        check(!file_exists(w->out.text), "nothing is left");
        return status;
    }
    *bytes = read_file(w->out.text, len);
    check(*bytes != NULL, "the output");
    (void)unlink(w->out.text);
    return GUFO_OK;
}

static uint8_t *extract_well(const workshop *w, uint64_t tensor, gufo_extract_format format,
                             uint32_t type, size_t *len)
{
    gufo_error error = no_error();
    uint8_t *bytes = NULL;

    check_ok(extract(w, &tensor, 1, format, type, &bytes, len, &error), &error, "tensor %" PRIu64,
             tensor);
    return bytes;
}

/* ---- every type ----------------------------------------------------------------------------- */

enum { ROWS = 8, LONG_ROWS = 1200 };

static uint64_t rows_of(const gufo_element_type *type)
{
    /* More than one unit of work for some of each kind. */
    return type->id % 5 == 2 || type->id == GUFO_TYPE_Q4_0_4_8 ? LONG_ROWS : ROWS;
}

/* Random blocks of every type with a decoder, in either byte order. */
static void write_types(const char *path, bool big)
{
    builder b = builder_new((encoding){3, big});
    uint64_t offset = 0, count = 0, random = 3;
    const gufo_element_type *type;

    for (size_t i = 0; (type = gufo_element_type_at(i)) != NULL; i++)
        count += (type->flags & GUFO_ELEMENT_DECODES) != 0;
    builder_header(&b, count, 0);
    for (size_t i = 0; (type = gufo_element_type_at(i)) != NULL; i++) {
        if ((type->flags & GUFO_ELEMENT_DECODES) == 0)
            continue;
        builder_tensor(&b, type->name, type->id, 2,
                       (uint64_t[]){2 * (uint64_t)type->block_elements, rows_of(type)}, offset);
        offset += (2 * rows_of(type) * type->block_bytes + 31) / 32 * 32;
    }
    builder_pad(&b, 32);
    for (size_t i = 0; (type = gufo_element_type_at(i)) != NULL; i++) {
        uint64_t blocks = 2 * rows_of(type), size = blocks * type->block_bytes;
        uint8_t *data;

        if ((type->flags & GUFO_ELEMENT_DECODES) == 0)
            continue;
        data = malloc((size_t)size);
        check(data != NULL, "memory");
        for (size_t byte = 0; byte < size; byte++)
            data[byte] = (uint8_t)(random_next(&random) >> 32);
        if (big)
            check(gufo_swap_blocks(type, data, blocks, NULL) == GUFO_OK, "%s", type->name);
        builder_raw(&b, data, (size_t)size);
        builder_pad(&b, 32);
        free(data);
    }
    write_file(path, b.data, b.len);
    builder_free(&b);
}

/* The bits of number `index`, which is one of a little-endian file or of this machine. */
static uint32_t bits_of(const uint8_t *numbers, size_t width, size_t index, bool of_file)
{
    bool swap = of_file && bytes_swapped(false);

    numbers += width * index;
    return width == 4 ? load_u32(numbers, swap) : load_u16(numbers, swap);
}

/* Whether the bits are those of a NaN: sign and payload of what is decoded mean nothing. */
static bool is_nan(uint32_t bits, uint32_t type)
{
    if (type == GUFO_TYPE_F32)
        return (bits & 0x7fffffff) > 0x7f800000;
    return (bits & 0x7fff) > (type == GUFO_TYPE_F16 ? 0x7c00u : 0x7f80u);
}

static void check_numbers(const uint8_t *got, const uint8_t *expected, size_t count, uint32_t type,
                          gufo_str name)
{
    size_t width = gufo_element_type_by_id(type)->block_bytes;

    for (size_t i = 0; i < count; i++) {
        uint32_t a = bits_of(got, width, i, true), b = bits_of(expected, width, i, false);

        check(a == b || (is_nan(a, type) && is_nan(b, type)),
              "%.*s as type %" PRIu32 ": number %zu is %#" PRIx32 ", not %#" PRIx32, (int)name.len,
              name.data, type, i, a, b);
    }
}

/* What the decoder makes of the whole tensor at once, in the byte order of this machine. */
static uint8_t *decoded(const gufo_model *file, const gufo_tensor *tensor, uint32_t target,
                        size_t *len)
{
    const gufo_element_type *type = gufo_element_type_by_id(tensor->type);
    size_t width = gufo_element_type_by_id(target)->block_bytes;
    gufo_tensor same;
    char *name = strndup(tensor->name.data, tensor->name.len);
    uint8_t *blocks = tensor_bytes(file, name, &same);
    uint64_t columns = tensor->dims[0], rows = tensor->dims[1];
    uint8_t *numbers = malloc((size_t)(columns * rows) * width);
    gufo_status status;

    check(numbers != NULL, "memory");
    if (gufo_model_facts(file).byte_order == GUFO_BIG_ENDIAN)
        check(gufo_swap_blocks(type, blocks, tensor->size / type->block_bytes, NULL) == GUFO_OK,
              "%s", name);
    if (target == GUFO_TYPE_F32)
        status = gufo_decode(type, blocks, rows, columns, (float *)(void *)numbers,
                             &(gufo_run){.cpu = 0}, NULL);
    else if (target == GUFO_TYPE_F16)
        status = gufo_decode_f16(type, blocks, rows, columns, (uint16_t *)(void *)numbers,
                                 &(gufo_run){.cpu = 0}, NULL);
    else
        status = gufo_decode_bf16(type, blocks, rows, columns, (uint16_t *)(void *)numbers,
                                  &(gufo_run){.cpu = 0}, NULL);
    check(status == GUFO_OK, "%s", name);
    *len = (size_t)(columns * rows) * width;
    free(blocks);
    free(name);
    return numbers;
}

static void check_decoded(const workshop *w, const gufo_model *file, uint64_t index)
{
    static const uint32_t targets[] = {GUFO_TYPE_F32, GUFO_TYPE_F16, GUFO_TYPE_BF16};
    gufo_tensor tensor;

    (void)gufo_model_tensor_at(file, index, &tensor);
    for (size_t i = 0; i < COUNT_OF(targets); i++) {
        size_t len, expected_len;
        uint8_t *expected, *got;

        if (targets[i] == tensor.type)
            continue; /* they are not decoded, but kept, NaNs and all */
        got = extract_well(w, index, GUFO_EXTRACT_RAW, targets[i], &len);
        expected = decoded(file, &tensor, targets[i], &expected_len);
        check_u64(len, expected_len, "%.*s", (int)tensor.name.len, tensor.name.data);
        check_numbers(got, expected, (size_t)tensor.elements, targets[i], tensor.name);
        free(expected);
        free(got);
    }
}

/* Raw bytes as stored; and those of a little-endian file wherever numbers are asked for. */
static void check_kept(const workshop *w, const gufo_model *file, uint64_t index)
{
    gufo_tensor tensor, same;
    size_t len;
    uint8_t *got = extract_well(w, index, GUFO_EXTRACT_RAW, AS_STORED, &len);
    char name[32];
    uint8_t *stored;

    (void)gufo_model_tensor_at(file, index, &tensor);
    snprintf(name, sizeof name, "%.*s", (int)tensor.name.len, tensor.name.data);
    stored = tensor_bytes(file, name, &same);
    check(len == tensor.size && memcmp(got, stored, len) == 0, "%s", name);
    free(got);
    if (tensor.type == GUFO_TYPE_F32) {
        if (gufo_model_facts(file).byte_order == GUFO_BIG_ENDIAN)
            check(gufo_swap_blocks(gufo_element_type_by_id(tensor.type), stored, tensor.elements,
                                   NULL) == GUFO_OK,
                  "swap");
        got = extract_well(w, index, GUFO_EXTRACT_RAW, GUFO_TYPE_F32, &len);
        check(len == tensor.size && memcmp(got, stored, len) == 0, "%s", name);
        free(got);
    }
    free(stored);
}

static void test_types(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        workshop w = workshop_new();
        gufo_model *file;

        write_types(w.in.text, big != 0);
        file = open_path(w.in.text);
        for (uint64_t i = 0; i < gufo_model_tensor_count(file); i += all_or_few(1, 3)) {
            check_decoded(&w, file, i);
            check_kept(&w, file, i);
        }
        gufo_model_free(file);
        folder_remove(&w.f);
    }
}

/* ---- headers -------------------------------------------------------------------------------- */

static const test_tensor shapes[] = {
    {"scalar", GUFO_TYPE_F32, 0, {0}},     {"vector", GUFO_TYPE_F16, 1, {5}},
    {"matrix", GUFO_TYPE_F32, 2, {4, 3}},  {"bytes", GUFO_TYPE_I8, 3, {3, 5, 7}},
    {"brain", GUFO_TYPE_BF16, 2, {2, 3}},  {"long", GUFO_TYPE_I64, 1, {2}},
    {"quant", GUFO_TYPE_Q8_0, 2, {32, 2}}, {"\"quoted\\\n\"", GUFO_TYPE_F64, 1, {1}},
    {"none", GUFO_TYPE_F32, 2, {0, 4}},
};

/* Whatever the data, because only headers are looked at. */
static void write_shapes(const char *path)
{
    builder b = builder_new((encoding){3, false});
    uint64_t offset = 0;

    builder_header(&b, COUNT_OF(shapes), 0);
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        const gufo_element_type *type = gufo_element_type_by_id(shapes[i].type);
        uint64_t elements = 1;

        for (uint32_t d = 0; d < shapes[i].n_dims; d++)
            elements *= shapes[i].dims[d];
        builder_tensor(&b, shapes[i].name, shapes[i].type, shapes[i].n_dims, shapes[i].dims,
                       offset);
        offset += (elements / type->block_elements * type->block_bytes + 31) / 32 * 32;
    }
    builder_pad(&b, 32);
    builder_pattern(&b, 1, (size_t)offset);
    write_file(path, b.data, b.len);
    builder_free(&b);
}

static void check_numpy(const workshop *w, uint64_t index, const char *dictionary)
{
    size_t len, header = strlen(dictionary) + 1;
    uint8_t *got = extract_well(w, index, GUFO_EXTRACT_NUMPY, AS_STORED, &len);

    header += 10;
    header += (64 - header % 64) % 64;
    check(len >= header && memcmp(got, "\x93NUMPY\1\0", 8) == 0, "%s", dictionary);
    check_u64(got[8] + 256u * got[9], header - 10, "%s", dictionary);
    check(memcmp(got + 10, dictionary, strlen(dictionary)) == 0, "%.*s, not %s", (int)header - 11,
          (const char *)got + 10, dictionary);
    for (size_t i = 10 + strlen(dictionary); i < header - 1; i++)
        check(got[i] == ' ', "padding of %s", dictionary);
    check(got[header - 1] == '\n', "end of %s", dictionary);
    free(got);
}

static void test_numpy(void **state)
{
    workshop w = workshop_new();
    gufo_error error = no_error();
    uint64_t brain = 4, two[] = {0, 1};

    (void)state;
    write_shapes(w.in.text);
    check_numpy(&w, 0, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }");
    check_numpy(&w, 1, "{'descr': '<f2', 'fortran_order': False, 'shape': (5,), }");
    check_numpy(&w, 2, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }");
    check_numpy(&w, 3, "{'descr': '|i1', 'fortran_order': False, 'shape': (7, 5, 3), }");
    check_numpy(&w, 5, "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }");
    check_numpy(&w, 6, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 32), }");
    check_numpy(&w, 7, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }");
    check_numpy(&w, 8, "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 0), }");
    check_status(extract(&w, &brain, 1, GUFO_EXTRACT_NUMPY, AS_STORED, NULL, NULL, &error),
                 GUFO_E_TYPE, &error, "bfloat16");
    check_status(extract(&w, two, 2, GUFO_EXTRACT_NUMPY, GUFO_TYPE_F32, NULL, NULL, &error),
                 GUFO_E_ARGUMENT, &error, "two");
    two[0] = COUNT_OF(shapes);
    check_status(extract(&w, two, 1, GUFO_EXTRACT_RAW, GUFO_TYPE_F32, NULL, NULL, &error),
                 GUFO_E_RANGE, &error, "no such tensor");
    folder_remove(&w.f);
}

static void test_safetensors(void **state)
{
    static const uint64_t all[] = {0, 1, 2, 3, 4, 5, 6, 7};
    static const char expected[] =
        "{\"long\":{\"dtype\":\"I64\",\"shape\":[2],\"data_offsets\":[0,16]},"
        "\"\\\"quoted\\\\\\u000a\\\"\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[16,24]},"
        "\"scalar\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[24,28]},"
        "\"matrix\":{\"dtype\":\"F32\",\"shape\":[3,4],\"data_offsets\":[28,76]},"
        "\"quant\":{\"dtype\":\"F32\",\"shape\":[2,32],\"data_offsets\":[76,332]},"
        "\"vector\":{\"dtype\":\"F16\",\"shape\":[5],\"data_offsets\":[332,342]},"
        "\"brain\":{\"dtype\":\"BF16\",\"shape\":[3,2],\"data_offsets\":[342,354]},"
        "\"bytes\":{\"dtype\":\"I8\",\"shape\":[7,5,3],\"data_offsets\":[354,459]}}";
    workshop w = workshop_new();
    gufo_error error = no_error();
    size_t len, header = (sizeof expected - 1 + 7) / 8 * 8;
    gufo_tensor tensor;
    gufo_model *file;
    uint8_t *got = NULL, *stored;

    (void)state;
    write_shapes(w.in.text);
    check_ok(
        extract(&w, all, COUNT_OF(all), GUFO_EXTRACT_SAFETENSORS, AS_STORED, &got, &len, &error),
        &error, "all");
    check_u64(len, 8 + header + 459, "size");
    check_u64(got[0] + 256u * got[1], header, "length of the header");
    check(memcmp(got + 8, expected, sizeof expected - 1) == 0, "%.*s", (int)header,
          (const char *)got + 8);
    file = open_path(w.in.text);
    stored = tensor_bytes(file, "matrix", &tensor);
    check(memcmp(got + 8 + header + 28, stored, 48) == 0, "matrix");
    free(stored);
    free(got);
    gufo_model_free(file);
    folder_remove(&w.f);
}

/* Names that a safetensors file cannot have, and types that cannot be decoded. */
static void test_refused(void **state)
{
    workshop w = workshop_new();
    builder b = builder_new((encoding){3, false});
    gufo_error error = no_error();

    (void)state;
    builder_header(&b, 3, 0);
    builder_tensor(&b, "__metadata__", GUFO_TYPE_F32, 1, (uint64_t[]){8}, 0);
    builder_tensor(&b, "\xff", GUFO_TYPE_F32, 1, (uint64_t[]){8}, 32);
    builder_tensor(&b, "new", 99, 1, (uint64_t[]){8}, 64);
    builder_pad(&b, 32);
    builder_pattern(&b, 1, 96);
    write_file(w.in.text, b.data, b.len);
    builder_free(&b);
    for (uint64_t i = 0; i < 3; i++) {
        check_status(extract(&w, &i, 1, GUFO_EXTRACT_SAFETENSORS, AS_STORED, NULL, NULL, &error),
                     i < 2 ? GUFO_E_ARGUMENT : GUFO_E_TYPE, &error, "tensor %" PRIu64, i);
        check_u64(entry_count(w.f.path), 1, "nothing written");
    }
    folder_remove(&w.f);
}

/* ---- streams -------------------------------------------------------------------------------- */

/* The same bytes to a stream and to a file, whatever the number of threads. */
static void test_stream(void **state)
{
    workshop w = workshop_new();
    uint64_t tensors[] = {0, 2, 5, 7, 12, 17};
    gufo_extract_options options = {.format = GUFO_EXTRACT_SAFETENSORS};
    gufo_error error = no_error();
    size_t len;
    uint8_t *expected = NULL;

    (void)state;
    write_types(w.in.text, false);
    check_ok(
        extract(&w, tensors, COUNT_OF(tensors), options.format, AS_STORED, &expected, &len, &error),
        &error, "to a file");
    for (unsigned threads = 1; threads <= 5; threads += 2) {
        gufo_run run = {.threads = threads};
        gufo_model *set = gufo_model_open(w.in.text, NULL, &error);
        gufo_job *copy = gufo_job_extract(set, tensors, COUNT_OF(tensors), &options, &error);
        FILE *out = fopen(w.out.text, "wb");

        check(copy != NULL && out != NULL, "%s", error.message);
        check_ok(gufo_job_stream(copy, fileno(out), &run, &error), &error, "stream");
        check(fclose(out) == 0, "close");
        check_file(w.out.text, expected, len, "stream");
        gufo_job_free(copy);
        gufo_model_free(set);
    }
    free(expected);
    folder_remove(&w.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),       cmocka_unit_test(test_numpy),
        cmocka_unit_test(test_safetensors), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_stream),
    };

    return cmocka_run_group_tests(tests, copies_setup, NULL);
}
