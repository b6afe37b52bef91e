/* Arrays whose bytes do not hold what the view of them says, as after somebody has overwritten the
 * file: walks stop, say so, and stay inside the bytes. */
#include "../support/builder.h"

typedef struct odd_array {
    const char *label;
    void (*build)(builder *b);
    gufo_value_type type;
    uint64_t count, good; /* elements that are claimed, and that can be read */
} odd_array;

static void one_number(builder *b)
{
    builder_u16(b, 1);
    builder_u8(b, 1);
}

static void one_text(builder *b)
{
    builder_str(b, "text");
}

static void half_a_length(builder *b)
{
    builder_str(b, "text");
    builder_u16(b, 0);
}

static void long_text(builder *b)
{
    builder_str(b, "text");
    builder_length(b, 5);
    builder_raw(b, "four", 4);
}

static void endless_text(builder *b)
{
    builder_length(b, b->encoding.version == 1 ? UINT32_MAX : UINT64_MAX);
    builder_raw(b, "four", 4);
}

static void short_array(builder *b)
{
    builder_array(b, GUFO_VALUE_UINT8, 2);
    builder_u16(b, 0x0101);
    builder_array(b, GUFO_VALUE_UINT8, 3);
    builder_u16(b, 0x0101);
}

static void cut_array(builder *b)
{
    builder_array(b, GUFO_VALUE_UINT8, 0);
    builder_u32(b, GUFO_VALUE_UINT8);
}

static void odd_type(builder *b)
{
    builder_array(b, 13, 1);
    builder_zeros(b, 16);
}

static void endless_array(builder *b)
{
    builder_array(b, GUFO_VALUE_UINT64, b->encoding.version == 1 ? UINT32_MAX : UINT64_MAX);
    builder_zeros(b, 16);
}

static void endless_texts(builder *b)
{
    builder_array(b, GUFO_VALUE_STRING, b->encoding.version == 1 ? UINT32_MAX : UINT64_MAX);
    builder_zeros(b, 16);
}

static void deep(builder *b)
{
    for (int i = 0; i < GUFO_MAX_DEPTH + 4; i++)
        builder_array(b, GUFO_VALUE_ARRAY, 1);
    builder_array(b, GUFO_VALUE_UINT8, 0);
}

static const odd_array rows[] = {
    {"numbers, one and a half", one_number, GUFO_VALUE_UINT16, 2, 1},
    {"numbers, none", NULL, GUFO_VALUE_FLOAT64, 1, 0},
    {"text, none", NULL, GUFO_VALUE_STRING, 1, 0},
    {"text, one less", one_text, GUFO_VALUE_STRING, 2, 1},
    {"text, half a length", half_a_length, GUFO_VALUE_STRING, 2, 1},
    {"text, a byte too long", long_text, GUFO_VALUE_STRING, 2, 1},
    {"text, endless", endless_text, GUFO_VALUE_STRING, 1, 0},
    {"array, none", NULL, GUFO_VALUE_ARRAY, 1, 0},
    {"array, a byte short", short_array, GUFO_VALUE_ARRAY, 2, 1},
    {"array, half a header", cut_array, GUFO_VALUE_ARRAY, 2, 1},
    {"array, of no type", odd_type, GUFO_VALUE_ARRAY, 1, 0},
    {"array, endless", endless_array, GUFO_VALUE_ARRAY, 1, 0},
    {"array, of endless texts", endless_texts, GUFO_VALUE_ARRAY, 1, 0},
    {"array, too deep", deep, GUFO_VALUE_ARRAY, 1, 0},
};

static gufo_array view_of(const odd_array *row, const uint8_t *data, size_t size, encoding e)
{
    return (gufo_array){
        .type = row->type,
        .count = row->count,
        .data = data,
        .size = size,
        .encoding = {(uint8_t)e.version, e.big ? GUFO_BIG_ENDIAN : GUFO_LITTLE_ENDIAN}};
}

static void check_walk(const gufo_array *array, uint64_t good, const char *label)
{
    gufo_array_iter iter = gufo_array_start(array);
    gufo_value value;
    gufo_error error = no_error();

    for (uint64_t i = 0; i < good; i++) {
        check(gufo_array_next(&iter, &value), "%s, %" PRIu64, label, i);
        check_ok(gufo_array_at(array, i, &value, &error), &error, "%s, %" PRIu64, label, i);
    }
    check(!gufo_array_next(&iter, &value), "%s", label);
    check(iter.changed, "%s", label);
    check(!gufo_array_next(&iter, &value), "%s: and does not go on", label);
    check_status(gufo_array_at(array, good, &value, &error), GUFO_E_CHANGED, &error, "%s", label);
    check_error_shape(&error, GUFO_E_CHANGED, label);
}

/* In a block of exactly its size, so that a sanitizer sees the first byte read past it. */
static void test_walks(void **state)
{
    (void)state;
    for (size_t e = 0; e < ENCODING_COUNT; e++) {
        for (size_t i = 0; i < COUNT_OF(rows); i++) {
            builder b = builder_new(all_encodings[e]);
            uint8_t *copy;
            gufo_array array;
            char label[80];

            if (rows[i].build != NULL)
                rows[i].build(&b);
            copy = builder_exact_copy(&b, b.len);
            array = view_of(&rows[i], copy, b.len, all_encodings[e]);
            snprintf(label, sizeof label, "%s, %s", rows[i].label, encoding_name(all_encodings[e]));
            check_walk(&array, rows[i].good, label);
            free(copy);
            builder_free(&b);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
