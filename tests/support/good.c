/* The good files.  Each function lays one out by hand, field by field. */
#include "good.h"

#define DIMS(...) ((uint64_t[]){__VA_ARGS__})

/* Stored with the low bytes of each: extremes, so that a lost sign or a cut number shows. */
const uint64_t good_scalar_bits[GUFO_VALUE_TYPE_COUNT] = {
    [GUFO_VALUE_UINT8] = 0xff,
    [GUFO_VALUE_INT8] = 0x80,
    [GUFO_VALUE_UINT16] = 0xfffe,
    [GUFO_VALUE_INT16] = 0x8001,
    [GUFO_VALUE_UINT32] = 0xfffffffd,
    [GUFO_VALUE_INT32] = 0x80000002,
    [GUFO_VALUE_FLOAT32] = 0x3dcccccd, /* 0.1f */
    [GUFO_VALUE_BOOL] = 1,
    [GUFO_VALUE_UINT64] = UINT64_C(0xfffffffffffffffc),
    [GUFO_VALUE_INT64] = UINT64_C(0x8000000000000003),
    [GUFO_VALUE_FLOAT64] = UINT64_C(0x3fb999999999999a), /* 0.1 */
};

static void build_empty(builder *b, uint32_t number)
{
    (void)number;
    builder_header(b, 0, 0);
    builder_pad(b, 32);
}

static void build_scalars(builder *b, uint32_t number)
{
    char key[32];

    (void)number;
    builder_header(b, 0, 11);
    for (uint32_t type = 0; type < GUFO_VALUE_TYPE_COUNT; type++) {
        if (type == GUFO_VALUE_STRING || type == GUFO_VALUE_ARRAY)
            continue;
        snprintf(key, sizeof key, "test.%s", gufo_value_type_name((gufo_value_type)type));
        builder_key(b, key, type);
        builder_number(b, good_scalar_bits[type], gufo_value_type_size((gufo_value_type)type));
    }
    builder_pad(b, 32);
}

static void build_strings(builder *b, uint32_t number)
{
    (void)number;
    builder_header(b, 0, 6);
    builder_kv_str(b, "general.architecture", "llama");
    builder_kv_str(b, "s.empty", "");
    builder_kv_strn(b, "s.nul", "a\0b\0c", 5);
    builder_kv_strn(b, "s.nul_first", "\0abc", 4);
    builder_kv_str(b, "s.utf8", "gr\xc3\xbc\xc3\x9f \xf0\x9f\xa6\x89");
    builder_kv_strn(b, "s.bytes", "\xff\xfe\x80", 3);
    builder_pad(b, 32);
}

/* As C writers made them until August 2023: every length counts the NUL behind the text. */
static void build_counted_nul(builder *b, uint32_t number)
{
    (void)number;
    builder_header(b, 1, 4);
    builder_strn(b, "general.architecture", 21);
    builder_u32(b, GUFO_VALUE_STRING);
    builder_strn(b, "llama", 6);
    builder_strn(b, "s.empty", 8);
    builder_u32(b, GUFO_VALUE_STRING);
    builder_strn(b, "", 1);
    builder_strn(b, "s.two", 6);
    builder_u32(b, GUFO_VALUE_STRING);
    builder_strn(b, "x\0", 3);
    builder_strn(b, "s.list", 7);
    builder_u32(b, GUFO_VALUE_ARRAY);
    builder_array(b, GUFO_VALUE_STRING, 3);
    builder_strn(b, "one", 4);
    builder_strn(b, "", 1);
    builder_strn(b, "no nul", 6);
    builder_tensorn(b, "token_embd.weight", 18, GUFO_TYPE_F32, 1, DIMS(8), 0);
    builder_pad(b, 32);
    builder_pattern(b, 1, 32);
}

/* Three elements: 0, 1 and the extreme of "scalars" (for bool: 0, 1, 1). */
static void build_number_arrays(builder *b, uint32_t number)
{
    char key[32];

    (void)number;
    builder_header(b, 0, 11);
    for (uint32_t type = 0; type < GUFO_VALUE_TYPE_COUNT; type++) {
        size_t width = gufo_value_type_size((gufo_value_type)type);

        if (type == GUFO_VALUE_STRING || type == GUFO_VALUE_ARRAY)
            continue;
        snprintf(key, sizeof key, "list.%s", gufo_value_type_name((gufo_value_type)type));
        builder_kv_array(b, key, type, 3);
        builder_number(b, 0, width);
        builder_number(b, 1, width);
        builder_number(b, good_scalar_bits[type], width);
    }
    builder_pad(b, 32);
}

static void build_empty_arrays(builder *b, uint32_t number)
{
    char key[32];

    (void)number;
    builder_header(b, 0, GUFO_VALUE_TYPE_COUNT);
    for (uint32_t type = 0; type < GUFO_VALUE_TYPE_COUNT; type++) {
        snprintf(key, sizeof key, "none.%s", gufo_value_type_name((gufo_value_type)type));
        builder_kv_array(b, key, type, 0);
    }
    builder_pad(b, 32);
}

static void build_string_arrays(builder *b, uint32_t number)
{
    (void)number;
    builder_header(b, 0, 2);
    builder_kv_array(b, "tokenizer.ggml.tokens", GUFO_VALUE_STRING, 5);
    builder_str(b, "<unk>");
    builder_str(b, "");
    builder_strn(b, "a\0b", 3);
    builder_strn(b, "\xe2\x96", 2);
    builder_str(b, "the end");
    builder_kv_u32(b, "after", 7);
    builder_pad(b, 32);
}

/* [[1, 2], [], [3]] with different element types, and a chain of depth 16. */
static void build_nested_arrays(builder *b, uint32_t number)
{
    (void)number;
    builder_header(b, 0, 4);
    builder_kv_array(b, "nested.mixed", GUFO_VALUE_ARRAY, 4);
    builder_array(b, GUFO_VALUE_UINT16, 2);
    builder_u16(b, 1);
    builder_u16(b, 2);
    builder_array(b, GUFO_VALUE_STRING, 2);
    builder_str(b, "x");
    builder_str(b, "yz");
    builder_array(b, GUFO_VALUE_FLOAT64, 0);
    builder_array(b, GUFO_VALUE_ARRAY, 1);
    builder_array(b, GUFO_VALUE_INT8, 1);
    builder_u8(b, 0xff);
    builder_kv_array(b, "nested.deep", GUFO_VALUE_ARRAY, 1);
    for (int depth = 2; depth < GUFO_MAX_DEPTH; depth++)
        builder_array(b, GUFO_VALUE_ARRAY, 1);
    builder_array(b, GUFO_VALUE_UINT32, 2);
    builder_u32(b, 16);
    builder_u32(b, 17);
    builder_kv_array(b, "nested.deep_empty", GUFO_VALUE_ARRAY, 2);
    for (int depth = 2; depth < GUFO_MAX_DEPTH; depth++)
        builder_array(b, GUFO_VALUE_ARRAY, depth == GUFO_MAX_DEPTH - 1 ? 0 : 1);
    builder_array(b, GUFO_VALUE_STRING, 0);
    builder_kv_u8(b, "after", 1);
    builder_pad(b, 32);
}

/* Keys that are odd but safe: open takes printable ASCII. */
static void build_odd_keys(builder *b, uint32_t number)
{
    char key[GUFO_MAX_KEY + 1];

    (void)number;
    builder_header(b, 0, 7);
    builder_kv_u8(b, "Upper.Case", 1);
    builder_kv_u8(b, "with-hyphen", 2);
    builder_kv_u8(b, "with space and ~!@#$%^&*()", 3);
    builder_kv_u8(b, "..", 4);
    builder_kv_u8(b, "a", 5);
    builder_kv_u8(b, "general.alignment2", 6);
    memset(key, 'k', GUFO_MAX_KEY);
    key[GUFO_MAX_KEY] = '\0';
    builder_kv_u8(b, key, 7);
    builder_pad(b, 32);
}

static void build_names(builder *b, uint32_t number)
{
    static const char *const names[] = {
        "a", GOOD_LONG_NAME,        "gr\xc3\xbc\xc3\x9f",  "\xff\xfe",
        "",  "with space \x1b[31m", "general.architecture"};

    (void)number;
    builder_header(b, COUNT_OF(names), 1);
    builder_kv_str(b, "general.architecture", "llama");
    for (size_t i = 0; i < COUNT_OF(names); i++)
        builder_tensor(b, names[i], GUFO_TYPE_F32, 1, DIMS(8), 32 * i);
    builder_pad(b, 32);
    for (size_t i = 0; i < COUNT_OF(names); i++)
        builder_pattern(b, (unsigned)i, 32);
}

static void build_dims(builder *b, uint32_t number)
{
    (void)number;
    builder_header(b, 5, 0);
    builder_tensor(b, "scalar", GUFO_TYPE_F32, 0, DIMS(0), 0);
    builder_tensor(b, "vector", GUFO_TYPE_F16, 1, DIMS(5), 32);
    builder_tensor(b, "matrix", GUFO_TYPE_Q4_0, 2, DIMS(64, 3), 64);
    builder_tensor(b, "cube", GUFO_TYPE_I8, 3, DIMS(3, 5, 7), 192);
    builder_tensor(b, "four", GUFO_TYPE_I16, 4, DIMS(2, 3, 4, 5), 320);
    builder_pad(b, 32);
    builder_pattern(b, 0, 4);
    builder_pad(b, 32);
    builder_pattern(b, 1, 10);
    builder_pad(b, 32);
    builder_pattern(b, 2, 108);
    builder_pad(b, 32);
    builder_pattern(b, 3, 105);
    builder_pad(b, 32);
    builder_pattern(b, 4, 240);
    builder_pad(b, 32);
}

/* Tensors without elements lie where the next one begins, in any number, and overlap nothing. */
static void build_zero_dims(builder *b, uint32_t number)
{
    (void)number;
    builder_header(b, 6, 0);
    builder_tensor(b, "none", GUFO_TYPE_F32, 1, DIMS(0), 0);
    builder_tensor(b, "none.rows", GUFO_TYPE_Q8_0, 2, DIMS(32, 0), 0);
    builder_tensor(b, "some", GUFO_TYPE_F32, 2, DIMS(2, 2), 0);
    builder_tensor(b, "none.row", GUFO_TYPE_F64, 2, DIMS(0, 1000), 32);
    builder_tensor(b, "more", GUFO_TYPE_F32, 1, DIMS(8), 32);
    builder_tensor(b, "none.last", GUFO_TYPE_F32, 4, DIMS(1, 0, 0, 1), 64);
    builder_pad(b, 32);
    builder_pattern(b, 1, 16);
    builder_pad(b, 32);
    builder_pattern(b, 2, 32);
}

/* general.alignment `number`, and three tensors. */
static void build_alignment(builder *b, uint32_t number)
{
    uint64_t step = (12 + number - 1) / number * number;

    builder_header(b, 3, 2);
    builder_kv_str(b, "general.architecture", "llama");
    builder_kv_u32(b, "general.alignment", number);
    builder_tensor(b, "a", GUFO_TYPE_F32, 1, DIMS(3), 0);
    builder_tensor(b, "b", GUFO_TYPE_F32, 1, DIMS(3), step);
    builder_tensor(b, "c", GUFO_TYPE_F32, 1, DIMS(3), 2 * step);
    for (unsigned i = 0; i < 3; i++) {
        builder_pad(b, number);
        builder_pattern(b, i, 12);
    }
    builder_pad(b, number);
}

static void build_unpadded_tail(builder *b, uint32_t number)
{
    (void)number;
    builder_header(b, 2, 0);
    builder_tensor(b, "a", GUFO_TYPE_F32, 1, DIMS(3), 0);
    builder_tensor(b, "b", GUFO_TYPE_I8, 1, DIMS(5), 32);
    builder_pad(b, 32);
    builder_pattern(b, 1, 12);
    builder_pad(b, 32);
    builder_pattern(b, 2, 5);
}

/* Out of order, with a gap of 64 bytes, dirt in the padding, and bytes behind the last tensor. */
static void build_scattered(builder *b, uint32_t number)
{
    (void)number;
    builder_header(b, 3, 0);
    builder_tensor(b, "third", GUFO_TYPE_F32, 1, DIMS(4), 128);
    builder_tensor(b, "first", GUFO_TYPE_F32, 1, DIMS(4), 0);
    builder_tensor(b, "second", GUFO_TYPE_F32, 1, DIMS(4), 32);
    builder_pad(b, 32);
    builder_pattern(b, 2, 16);
    builder_fill(b, 0xee, 16);
    builder_pattern(b, 3, 16);
    builder_fill(b, 0xdd, 80);
    builder_pattern(b, 1, 16);
    builder_fill(b, 0xcc, 100);
}

/* Types nobody knows, and removed ones without a layout: they reach to the next offset or the
 * end. */
static void build_unknown_types(builder *b, uint32_t number)
{
    static const uint32_t types[] = {57, 4, 5, 37, 38, UINT32_MAX, 43};

    (void)number;
    builder_header(b, COUNT_OF(types) + 1, 0);
    builder_tensor(b, "known", GUFO_TYPE_F32, 1, DIMS(8), 0);
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        char name[16];

        snprintf(name, sizeof name, "type.%" PRIu32, types[i]);
        builder_tensor(b, name, types[i], 2, DIMS(7, 3), 32 + 64 * i);
    }
    builder_pad(b, 32);
    builder_pattern(b, 99, 32);
    for (size_t i = 0; i < COUNT_OF(types); i++)
        builder_pattern(b, (unsigned)i, 64);
    builder_pattern(b, 55, 32); /* the last one has 96 bytes */
}

/* A row of two blocks of every type whose layout is known, the removed ones among them. */
static void build_all_types(builder *b, uint32_t number)
{
    uint64_t offset = 0, count = 0;
    char name[32];

    (void)number;
    for (uint32_t id = 0; id < 43; id++)
        count += gufo_element_type_by_id(id)->block_bytes > 0;
    builder_header(b, count, 0);
    for (uint32_t id = 0; id < 43; id++) {
        const gufo_element_type *type = gufo_element_type_by_id(id);
        uint64_t size = 2 * (uint64_t)type->block_bytes;

        if (size == 0)
            continue;
        snprintf(name, sizeof name, "t.%s", type->name);
        builder_tensor(b, name, id, 1, DIMS(2 * (uint64_t)type->block_elements), offset);
        offset += (size + 31) / 32 * 32;
    }
    for (uint32_t id = 0; id < 43; id++) {
        builder_pad(b, 32);
        builder_pattern(b, id, 2 * (size_t)gufo_element_type_by_id(id)->block_bytes);
    }
    builder_pad(b, 32);
}

static void build_many(builder *b, uint32_t number)
{
    char name[32];

    builder_header(b, number, number);
    for (uint32_t i = 0; i < number; i++) {
        snprintf(name, sizeof name, "key.%" PRIu32, i);
        builder_kv_u32(b, name, i * 3);
    }
    for (uint32_t i = 0; i < number; i++) {
        snprintf(name, sizeof name, "blk.%" PRIu32 ".weight", i);
        builder_tensor(b, name, GUFO_TYPE_I32, 1, DIMS(1 + i % 16), i * UINT64_C(64));
    }
    for (uint32_t i = 0; i < number; i++) {
        builder_pad(b, 32);
        builder_pattern(b, i, 4 * (1 + i % 16));
        builder_pad(b, 32);
        if (i % 16 < 8)
            builder_zeros(b, 32);
    }
}

/* A bit of everything in few bytes: what prefixes and flipped bytes are made from. */
static void build_sampler(builder *b, uint32_t number)
{
    (void)number;
    builder_header(b, 3, 7);
    builder_kv_str(b, "general.architecture", "llama");
    builder_kv_u32(b, "general.alignment", 16);
    builder_kv_bool(b, "b", true);
    builder_kv_array(b, "bools", GUFO_VALUE_BOOL, 3);
    builder_raw(b, "\0\1\0", 3);
    builder_kv_array(b, "names", GUFO_VALUE_STRING, 2);
    builder_str(b, "ab");
    builder_str(b, "");
    builder_kv_array(b, "deep", GUFO_VALUE_ARRAY, 2);
    builder_array(b, GUFO_VALUE_UINT16, 2);
    builder_u16(b, 1);
    builder_u16(b, 2);
    builder_array(b, GUFO_VALUE_STRING, 1);
    builder_str(b, "z");
    builder_key(b, "f", GUFO_VALUE_FLOAT64);
    builder_f64(b, 0.5);
    builder_tensor(b, "a", GUFO_TYPE_Q8_0, 2, DIMS(32, 1), 0);
    builder_tensor(b, "b", GUFO_TYPE_F16, 1, DIMS(5), 48);
    builder_tensor(b, "c", 57, 1, DIMS(9), 64);
    builder_pad(b, 16);
    builder_pattern(b, 1, 34);
    builder_pad(b, 16);
    builder_pattern(b, 2, 10);
    builder_pad(b, 16);
    builder_pattern(b, 3, 16);
}

const good_file good_files[] = {
    {"empty", build_empty, 0, GOOD_ALL | GOOD_CANONICAL},
    {"scalars", build_scalars, 0, GOOD_ALL | GOOD_CANONICAL},
    {"strings", build_strings, 0, GOOD_ALL | GOOD_CANONICAL},
    {"counted nul", build_counted_nul, 0, GOOD_V1},
    {"number arrays", build_number_arrays, 0, GOOD_ALL | GOOD_CANONICAL},
    {"empty arrays", build_empty_arrays, 0, GOOD_ALL | GOOD_CANONICAL},
    {"string arrays", build_string_arrays, 0, GOOD_ALL | GOOD_CANONICAL},
    {"nested arrays", build_nested_arrays, 0, GOOD_ALL | GOOD_CANONICAL},
    {"odd keys", build_odd_keys, 0, GOOD_ALL | GOOD_CANONICAL},
    {"names", build_names, 0, GOOD_ALL | GOOD_CANONICAL},
    {"dims", build_dims, 0, GOOD_ALL | GOOD_CANONICAL},
    {"zero dims", build_zero_dims, 0, GOOD_ALL | GOOD_CANONICAL},
    {"alignment 1", build_alignment, 1, GOOD_ALL | GOOD_CANONICAL},
    {"alignment 2", build_alignment, 2, GOOD_ALL | GOOD_CANONICAL},
    {"alignment 4", build_alignment, 4, GOOD_ALL | GOOD_CANONICAL},
    {"alignment 8", build_alignment, 8, GOOD_ALL | GOOD_CANONICAL},
    {"alignment 16", build_alignment, 16, GOOD_ALL | GOOD_CANONICAL},
    {"alignment 24", build_alignment, 24, GOOD_ALL | GOOD_CANONICAL},
    {"alignment 32", build_alignment, 32, GOOD_ALL | GOOD_CANONICAL},
    {"alignment 40", build_alignment, 40, GOOD_ALL | GOOD_CANONICAL},
    {"alignment 64", build_alignment, 64, GOOD_ALL | GOOD_CANONICAL},
    {"alignment 4096", build_alignment, 4096, GOOD_ALL | GOOD_CANONICAL},
    {"unpadded tail", build_unpadded_tail, 0, GOOD_ALL},
    {"scattered", build_scattered, 0, GOOD_ALL},
    {"unknown types", build_unknown_types, 0, GOOD_ALL | GOOD_CANONICAL},
    {"all types", build_all_types, 0, GOOD_ALL | GOOD_CANONICAL},
    {"many", build_many, GOOD_MANY, GOOD_ALL},
    {"sampler", build_sampler, 0, GOOD_ALL | GOOD_CANONICAL},
};

const size_t good_file_count = COUNT_OF(good_files);

bool good_exists(const good_file *file, encoding e)
{
    return (file->flags & (e.version == 1 ? GOOD_V1 : GOOD_V2_V3)) != 0;
}

builder good_build(const good_file *file, encoding e)
{
    builder b = builder_new(e);

    file->build(&b, file->number);
    return b;
}

builder good_build_named(const char *name, encoding e)
{
    for (size_t i = 0; i < good_file_count; i++)
        if (strcmp(good_files[i].name, name) == 0)
            return good_build(&good_files[i], e);
    print_error("no good file is called %s\n", name);
    abort();
}

void good_for_each(void (*visit)(const good_file *file, const builder *bytes, const char *label,
                                 void *context),
                   void *context)
{
    for (size_t i = 0; i < good_file_count; i++) {
        for (size_t e = 0; e < ENCODING_COUNT; e++) {
            char label[96];
            builder b;

            if (!good_exists(&good_files[i], all_encodings[e]))
                continue;
            b = good_build(&good_files[i], all_encodings[e]);
            snprintf(label, sizeof label, "%s, %s", good_files[i].name,
                     encoding_name(all_encodings[e]));
            visit(&good_files[i], &b, label, context);
            builder_free(&b);
        }
    }
}
