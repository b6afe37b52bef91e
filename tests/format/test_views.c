/* Views that callers make, and that contradict themselves: refused, and never a byte is read
 * outside. */
#include "../support/allocator.h"
#include "../support/builder.h"

enum { BYTES = 12 };

typedef struct view {
    const char *label;
    gufo_value_type type;
    uint64_t count, size;
    const char *bytes;
    bool walks; /* the first element is inside */
} view;

#define LITTLE                \
    {                         \
        3, GUFO_LITTLE_ENDIAN \
    }

static const view views[] = {
    {"too many numbers", GUFO_VALUE_UINT32, 1000, BYTES, "aaaabbbbcccc", true},
    {"too few numbers", GUFO_VALUE_UINT32, 2, BYTES, "aaaabbbbcccc", true},
    {"a product that wraps", GUFO_VALUE_UINT64, UINT64_C(1) << 61, 0, "", false},
    {"half a number", GUFO_VALUE_UINT16, 1, 1, "a", false},
    {"unknown elements", (gufo_value_type)77, 3, 0, NULL, false},
    {"unknown elements with bytes", (gufo_value_type)-1, 3, 3, "abc", false},
    {"no text for its length", GUFO_VALUE_STRING, 1, 4, "\3\0\0", false},
    {"a text past the end", GUFO_VALUE_STRING, 1, 10, "\3\0\0\0\0\0\0\0ab", false},
    {"a huge text", GUFO_VALUE_STRING, 1, 10, "\377\377\377\377\377\377\377\377ab", false},
    {"one text, two counted", GUFO_VALUE_STRING, 2, 10, "\2\0\0\0\0\0\0\0ab", true},
    {"bytes after the text", GUFO_VALUE_STRING, 1, 11, "\2\0\0\0\0\0\0\0abc", true},
    {"texts without bytes", GUFO_VALUE_STRING, 5, 0, NULL, false},
    {"an array of unknown ones", GUFO_VALUE_ARRAY, 1, 12, "\115\0\0\0\0\0\0\0\0\0\0\0", false},
    {"an array past the end", GUFO_VALUE_ARRAY, 1, 13, "\0\0\0\0\2\0\0\0\0\0\0\0a", false},
    {"bytes after the array", GUFO_VALUE_ARRAY, 1, 14, "\0\0\0\0\1\0\0\0\0\0\0\0ab", true},
};

/* The bytes in a block of their own: whoever reads past it is noticed by sanitizers. */
static gufo_array array_of(const view *v, uint8_t **block)
{
    *block = v->bytes != NULL ? malloc((size_t)v->size + (v->size == 0)) : NULL;
    if (v->bytes != NULL)
        memcpy(*block, v->bytes, (size_t)v->size);
    return (gufo_array){v->type, v->count, *block, v->size, LITTLE};
}

/* What the walk finds, all at once; and nothing where it finds less. */
static void check_strings(const view *v, const gufo_array *array)
{
    gufo_array_iter iter = gufo_array_start(array);
    gufo_error error = no_error();
    gufo_str texts[4] = {{NULL, 0}};
    gufo_value value;
    uint64_t found = 0;

    if (v->type != GUFO_VALUE_STRING) {
        check_status(gufo_array_strings(array, 0, 0, texts, &error), GUFO_E_TYPE, &error, "%s",
                     v->label);
        return;
    }
    while (gufo_array_next(&iter, &value))
        found++;
    check_ok(gufo_array_strings(array, 0, found, texts, &error), &error, "%s", v->label);
    check(found == 0 || (texts[0].len == 2 && memcmp(texts[0].data, "ab", 2) == 0), "%s", v->label);
    check_status(gufo_array_strings(array, 0, found + 1, texts, &error),
                 found < v->count ? GUFO_E_CHANGED : GUFO_E_RANGE, &error, "%s", v->label);
    check_status(gufo_array_strings(array, v->count, 1, texts, &error), GUFO_E_RANGE, &error, "%s",
                 v->label);
    check_status(gufo_array_strings(array, UINT64_MAX, 2, texts, &error), GUFO_E_RANGE, &error,
                 "%s", v->label);
}

static void check_looks(const view *v, const gufo_array *array)
{
    bool fixed = gufo_value_type_size(v->type) != 0;
    gufo_array_iter iter = gufo_array_start(array);
    gufo_error error = no_error();
    gufo_value value;
    uint64_t items[4];
    uint64_t found = 0;

    while (gufo_array_next(&iter, &value))
        found++;
    check(found < v->count || v->walks, "%s: %" PRIu64, v->label, found);
    check(found > 0 || !v->walks, "%s: nothing found", v->label);
    check(iter.changed || v->walks, "%s: looks whole", v->label);
    check(fixed || found == v->count ||
              gufo_array_at(array, v->count - 1, &value, &error) != GUFO_OK,
          "%s: last", v->label);
    check(found == v->count || gufo_array_at(array, found, &value, &error) != GUFO_OK, "%s: next",
          v->label);
    check_u64(gufo_array_at(array, 0, &value, NULL) == GUFO_OK, v->walks, "%s: first", v->label);
    check_status(gufo_array_read(array, 0, v->count, items, &error),
                 v->size == BYTES && v->count == 2 ? GUFO_OK
                 : fixed                           ? GUFO_E_RANGE
                                                   : GUFO_E_TYPE,
                 &error, "%s: read", v->label);
    check(memchr(error.message, '(', sizeof error.message) == NULL, "%s: %s", v->label,
          error.message);
}

static void test_views(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(views); i++) {
        uint8_t *block;
        gufo_value value = {.type = GUFO_VALUE_ARRAY, .as.array = array_of(&views[i], &block)};
        gufo_error error = no_error();
        gufo_document *d = gufo_document_new(NULL, &error);

        check_looks(&views[i], &value.as.array);
        check_strings(&views[i], &value.as.array);
        for (unsigned order = 0; order < 2; order++) { /* of the document: as it is, and swapped */
            check_ok(gufo_document_set_encoding(d, 3, (gufo_byte_order)order, &error), &error,
                     "order");
            check_status(gufo_document_set(d, "k", &value, &error), GUFO_E_ARGUMENT, &error, "%s",
                         views[i].label);
            check_error_shape(&error, GUFO_E_ARGUMENT, views[i].label);
        }
        check_u64(gufo_document_entry_count(d), 0, "%s", views[i].label);
        gufo_document_free(d);
        free(block);
    }
}

/* Arrays in the other byte order are encoded anew, element by element. */
static void test_other_order(void **state)
{
    uint8_t *block;
    gufo_array array = array_of(&views[0], &block);
    gufo_value value = {.type = GUFO_VALUE_ARRAY};
    gufo_error error = no_error();
    gufo_document *d = gufo_document_new(NULL, &error);

    (void)state;
    array.encoding.byte_order = GUFO_BIG_ENDIAN;
    value.as.array = array;
    check_status(gufo_document_set(d, "k", &value, &error), GUFO_E_ARGUMENT, &error, "big-endian");
    value.as.array.count = 3;
    check_ok(gufo_document_set(d, "k", &value, &error), &error, "all is right");
    gufo_document_free(d);
    free(block);
}

static void test_missing(void **state)
{
    const gufo_value values[] = {
        {.type = GUFO_VALUE_STRING, .as.str = {NULL, 4}},
        {.type = GUFO_VALUE_ARRAY, .as.array = {GUFO_VALUE_UINT8, 4, NULL, 4, LITTLE}},
        {.type = (gufo_value_type)13},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        gufo_error error = no_error();
        gufo_document *d = gufo_document_new(NULL, &error);

        check_status(gufo_document_set(d, "k", &values[i], &error), GUFO_E_ARGUMENT, &error,
                     "row %zu", i);
        gufo_document_free(d);
    }
}

/* A type that does not exist is none of those that are asked for. */
static void test_getters(void **state)
{
    const gufo_value value = {.type = (gufo_value_type)77};
    gufo_error error = no_error();
    gufo_array array;
    gufo_str text;
    uint64_t u;
    int64_t i;
    double f;
    bool b;

    (void)state;
    check_status(gufo_value_u64(&value, &u, &error), GUFO_E_TYPE, &error, "u64");
    check_status(gufo_value_i64(&value, &i, &error), GUFO_E_TYPE, &error, "i64");
    check_status(gufo_value_f64(&value, &f, &error), GUFO_E_TYPE, &error, "f64");
    check_status(gufo_value_bool(&value, &b, &error), GUFO_E_TYPE, &error, "bool");
    check_status(gufo_value_str(&value, &text, &error), GUFO_E_TYPE, &error, "str");
    check_status(gufo_value_array(&value, GUFO_VALUE_UINT8, &array, &error), GUFO_E_TYPE, &error,
                 "array");
}

/* ---- of a provider -------------------------------------------------------------------------- */

static bool entry_at(void *context, uint64_t index, gufo_entry *out)
{
    (void)index;
    out->key = gufo_str_of("x.y");
    out->value = *(const gufo_value *)context;
    return true;
}

/* Refused when it is opened; one that changes later is not handed out. */
static void test_provider(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(views); i++) {
        uint8_t *block;
        const gufo_value bad = {.type = GUFO_VALUE_ARRAY, .as.array = array_of(&views[i], &block)};
        gufo_value value = bad;
        const gufo_provider provider = {.context = &value, .entry_count = 1, .entry_at = entry_at};
        gufo_error error = no_error();
        gufo_model *model = gufo_model_open_provider(&provider, NULL, &error);
        gufo_document *d;

        check(model == NULL, "%s: opens", views[i].label);
        check(error.code == GUFO_E_ARGUMENT || error.rule != NULL, "%s: %s", views[i].label,
              error.message);
        value = (gufo_value){.type = GUFO_VALUE_UINT8};
        model = gufo_model_open_provider(&provider, NULL, &error);
        check(model != NULL, "%s: %s", views[i].label, error.message);
        value = bad;
        d = gufo_document_from(model, NULL, &error);
        check(d == NULL || gufo_value_type_size(views[i].type) == 0, "%s", views[i].label);
        if (d != NULL) { /* elements are looked at when they are encoded */
            const void *header;
            size_t size;

            check_ok(gufo_document_layout(d, NULL, NULL, &error), &error, "%s", views[i].label);
            check_status(gufo_document_header(d, &header, &size, &error), GUFO_E_CHANGED, &error,
                         "%s", views[i].label);
        }
        gufo_document_free(d);
        gufo_model_free(model);
        free(block);
    }
}

/* ---- walks ------------------------------------------------------------------------------------- */

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
    for (int i = 0; i < GUFO_LARGEST_DEPTH + 4; i++)
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
        cmocka_unit_test(test_views),    cmocka_unit_test(test_other_order),
        cmocka_unit_test(test_missing),  cmocka_unit_test(test_getters),
        cmocka_unit_test(test_provider), cmocka_unit_test(test_walks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
