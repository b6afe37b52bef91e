/* Comparing models. */
#include "../support/allocator.h"
#include "../support/folder.h"
#include "../support/pace.h"

#include "gufo/compare.h"

#include <math.h>
#include <unistd.h>

#include "edit/compare/compare.h"

/* ---- what is reported ----------------------------------------------------------------------- */

/* Differences as text: "+key -key !key[3]", tensors after a bar with t (type), s (shape) and the
 * first byte that differs. */
typedef struct told {
    char text[512];
    gufo_value_difference values; /* of the last tensor that has some */
    bool has_values;
} told;

__attribute__((format(printf, 2, 3))) static void tell(told *t, const char *format, ...)
{
    size_t len = strlen(t->text);
    va_list arguments;

    if (len > 0)
        t->text[len++] = ' ';
    va_start(arguments, format);
    vsnprintf(t->text + len, sizeof t->text - len, format, arguments);
    va_end(arguments);
}

static const char marks[] = {[GUFO_DIFFERENCE_NONE] = '?',
                             [GUFO_DIFFERENCE_ADDED] = '+',
                             [GUFO_DIFFERENCE_REMOVED] = '-',
                             [GUFO_DIFFERENCE_CHANGED] = '!'};

static void on_entry(void *context, const gufo_entry_difference *d)
{
    gufo_str key = d->kind == GUFO_DIFFERENCE_ADDED ? d->b.key : d->a.key;

    if (d->has_first)
        tell(context, "%c%.*s[%" PRIu64 "]", marks[d->kind], (int)key.len, key.data, d->first);
    else
        tell(context, "%c%.*s", marks[d->kind], (int)key.len, key.data);
}

static void on_tensor(void *context, const gufo_tensor_difference *d)
{
    gufo_str name = d->kind == GUFO_DIFFERENCE_ADDED ? d->b.name : d->a.name;
    told *t = context;

    tell(t, "%c|%.*s%s%s", marks[d->kind], (int)name.len, name.data, d->type ? ":t" : "",
         d->shape ? ":s" : "");
    if (d->data)
        tell(t, d->unordered ? "unordered" : "at %" PRIu64, d->first);
    if (d->has_values) {
        t->values = d->values;
        t->has_values = true;
    }
}

static gufo_comparison compare_with(const char *a, const char *b, uint32_t flags, unsigned threads,
                                    told *t)
{
    gufo_error error = no_error();
    gufo_model *set_a = gufo_model_open(a, NULL, &error);
    gufo_model *set_b = set_a != NULL ? gufo_model_open(b, NULL, &error) : NULL;
    gufo_compare_options options = {
        .flags = flags, .entry = on_entry, .tensor = on_tensor, .context = t};
    gufo_run run = {.threads = threads};
    gufo_comparison result;

    *t = (told){.text = ""};
    check(set_b != NULL, "%s", error.message);
    check_ok(gufo_compare(set_a, set_b, &options, &run, &result, &error), &error, "%s", a);
    gufo_model_free(set_a);
    gufo_model_free(set_b);
    check_u64(result.same, t->text[0] == '\0', "%s", t->text);
    return result;
}

/* ---- metadata ------------------------------------------------------------------------------- */

static void array_of_u32(builder *b, const char *key, uint64_t count, uint64_t odd)
{
    builder_kv_array(b, key, GUFO_VALUE_UINT32, count);
    for (uint64_t i = 0; i < count; i++)
        builder_u32(b, i == odd ? 99 : (uint32_t)i);
}

static void array_of_text(builder *b, const char *key, const char *last)
{
    builder_kv_array(b, key, GUFO_VALUE_STRING, 2);
    builder_str(b, "x");
    builder_str(b, last);
}

static void nested(builder *b, const char *key, uint8_t last)
{
    builder_kv_array(b, key, GUFO_VALUE_ARRAY, 2);
    builder_array(b, GUFO_VALUE_UINT8, 1);
    builder_u8(b, 1);
    builder_array(b, GUFO_VALUE_UINT8, 1);
    builder_u8(b, last);
}

static void kv_f32(builder *b, const char *key, float value)
{
    builder_key(b, key, GUFO_VALUE_FLOAT32);
    builder_f32(b, value);
}

/* Both files have four keys of each pair, or what a row makes of them. */
static void write_metadata(const char *path, encoding e, bool other)
{
    builder b = builder_new(e);

    builder_header(&b, 0, 11);
    if (other)
        builder_kv_u32(&b, "added", 1);
    builder_kv_u32(&b, "same", 7);
    if (!other)
        builder_kv_u32(&b, "removed", 1);
    builder_kv_u32(&b, "number", other ? 2 : 1);
    if (other)
        builder_kv_u64(&b, "type", 5);
    else
        builder_kv_u32(&b, "type", 5);
    kv_f32(&b, "zero", other ? -0.0F : 0.0F);
    kv_f32(&b, "nan", NAN);
    builder_kv_str(&b, "text", other ? "b" : "a");
    array_of_u32(&b, "long", 1000, other ? 777 : UINT64_MAX);
    array_of_u32(&b, "count", other ? 6 : 5, UINT64_MAX);
    array_of_text(&b, "texts", other ? "z" : "y");
    nested(&b, "nested", other ? 3 : 2);
    write_file(path, b.data, b.len);
    builder_free(&b);
}

static void metadata_differs(void **state)
{
    folder f = folder_new();
    path_text a = folder_path(&f, "a"), b = folder_path(&f, "b");

    (void)state;
    for (size_t i = 2; i < ENCODING_COUNT; i++) {
        for (size_t j = 2; j < ENCODING_COUNT; j++) {
            told t;
            gufo_comparison result;

            write_metadata(a.text, all_encodings[i], false);
            write_metadata(b.text, all_encodings[j], false);
            result = compare_with(a.text, b.text, 0, 1, &t);
            check_str(gufo_str_of(t.text), "", "%zu and %zu", i, j);
            check_u64((result.notes & GUFO_NOTE_BYTE_ORDER) != 0, i % 2 != j % 2, "notes");
            check_u64((result.notes & GUFO_NOTE_VERSION) != 0, i / 2 != j / 2, "notes");
            write_metadata(b.text, all_encodings[j], true);
            result = compare_with(a.text, b.text, 0, 1, &t);
            check_str(gufo_str_of(t.text),
                      "-removed !number !type !zero !text !long[777] !count[5] !texts[1] "
                      "!nested[1] +added",
                      "%zu and %zu", i, j);
            check_u64(result.entries[GUFO_DIFFERENCE_NONE], 2, "same");
            check_u64(result.entries[GUFO_DIFFERENCE_CHANGED], 8, "changed");
        }
    }
    folder_remove(&f);
}

static void order_and_housekeeping_are_no_difference(void **state)
{
    folder f = folder_new();
    path_text a = folder_path(&f, "a"), b = folder_path(&f, "b");
    builder first = builder_new(all_encodings[4]), second = builder_new(all_encodings[4]);
    told t;
    gufo_comparison result;

    (void)state;
    builder_header(&first, 0, 3);
    builder_kv_u32(&first, "x", 1);
    builder_kv_u32(&first, "y", 2);
    builder_kv_u32(&first, "gufo.padding", 2);
    builder_header(&second, 0, 5);
    builder_kv_u16(&second, "split.no", 0);
    builder_kv_u32(&second, "y", 2);
    builder_kv_str(&second, "gufo.split.id", "00");
    builder_kv_str(&second, "gufo.padding", "00");
    builder_kv_u32(&second, "x", 1);
    write_file(a.text, first.data, first.len);
    write_file(b.text, second.data, second.len);
    result = compare_with(a.text, b.text, 0, 1, &t);
    check_str(gufo_str_of(t.text), "", "told");
    check_u64(result.notes, GUFO_NOTE_KEY_ORDER, "notes");
    check_u64(result.entries[GUFO_DIFFERENCE_NONE], 2, "same");
    builder_free(&first);
    builder_free(&second);
    folder_remove(&f);
}

/* ---- tensors -------------------------------------------------------------------------------- */

typedef struct tensor_row {
    const char *name;
    uint32_t type;
    uint64_t rows, columns;
    const void *data; /* as a little-endian file has it */
    size_t size;
} tensor_row;

/* Tensors [first, end) of `rows`; as shard `number` of `count` unless that is 0. */
static void write_tensors(const char *path, encoding e, const tensor_row *rows, size_t total,
                          size_t first, size_t end, uint16_t number, uint16_t count)
{
    builder b = builder_new(e);
    uint64_t offset = 0;

    builder_header(&b, end - first, count > 0 ? 3 : 0);
    if (count > 0) {
        builder_kv_u16(&b, "split.no", number);
        builder_kv_u16(&b, "split.count", count);
        builder_kv_i32(&b, "split.tensors.count", (int32_t)total);
    }
    for (size_t i = first; i < end; i++) {
        uint64_t dims[2] = {rows[i].columns, rows[i].rows};

        builder_tensor(&b, rows[i].name, rows[i].type, 2, dims, offset);
        offset = (offset + rows[i].size + 31) / 32 * 32;
    }
    builder_pad(&b, 32);
    for (size_t i = first; i < end; i++) {
        const gufo_element_type *type = gufo_element_type_by_id(rows[i].type);
        uint8_t *data = malloc(rows[i].size);

        memcpy(data, rows[i].data, rows[i].size);
        if (e.big && type != NULL)
            check_ok(gufo_swap_blocks(type, data, rows[i].size / type->block_bytes, NULL), NULL,
                     "%s", rows[i].name);
        builder_raw(&b, data, rows[i].size);
        builder_pad(&b, 32);
        free(data);
    }
    write_file(path, b.data, b.len);
    builder_free(&b);
}

static const uint8_t some_bytes[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
static const uint8_t more_bytes[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17};

static void tensors_differ(void **state)
{
    static const tensor_row first[] = {
        {"same", GUFO_TYPE_I8, 2, 8, some_bytes, 16},
        {"gone", GUFO_TYPE_I8, 2, 8, some_bytes, 16},
        {"bytes", GUFO_TYPE_I8, 2, 8, some_bytes, 16},
        {"type", GUFO_TYPE_I16, 1, 8, some_bytes, 16},
        {"shape", GUFO_TYPE_I8, 2, 8, some_bytes, 16},
        {"size", GUFO_TYPE_I8, 2, 8, some_bytes, 16},
        {"unknown", 57, 2, 8, some_bytes, 16},
    };
    static const tensor_row second[] = {
        {"new", GUFO_TYPE_I8, 2, 8, some_bytes, 16},
        {"same", GUFO_TYPE_I8, 2, 8, some_bytes, 16},
        {"bytes", GUFO_TYPE_I8, 2, 8, more_bytes, 16},
        {"type", GUFO_TYPE_F16, 1, 8, some_bytes, 16},
        {"size", GUFO_TYPE_I8, 2, 16, some_bytes, 32},
        {"shape", GUFO_TYPE_I8, 8, 2, some_bytes, 16},
        {"unknown", 57, 2, 8, some_bytes, 16},
    };
    folder f = folder_new();
    path_text a = folder_path(&f, "a"), b = folder_path(&f, "b");
    told t;
    gufo_comparison result;

    (void)state;
    write_tensors(a.text, all_encodings[4], first, 7, 0, 7, 0, 0);
    write_tensors(b.text, all_encodings[4], second, 7, 0, 7, 0, 0);
    result = compare_with(a.text, b.text, 0, 2, &t);
    check_str(gufo_str_of(t.text), "-|gone !|bytes at 15 !|type:t !|shape:s !|size:s +|new",
              "told");
    check_u64(result.notes, GUFO_NOTE_TENSOR_ORDER, "notes");
    check_u64(result.tensors[GUFO_DIFFERENCE_NONE], 2, "same");
    result = compare_with(a.text, b.text, GUFO_COMPARE_METADATA, 2, &t);
    check_str(gufo_str_of(t.text), "", "told of tensors that are not compared");
    check_u64(result.tensors[GUFO_DIFFERENCE_NONE], 0, "compared");
    write_tensors(b.text, all_encodings[5], first, 7, 0, 7, 0, 0);
    result = compare_with(a.text, b.text, 0, 2, &t);
    check_str(gufo_str_of(t.text), "!|unknown unordered", "other byte order");
    check_u64(result.notes, GUFO_NOTE_BYTE_ORDER, "notes");
    folder_remove(&f);
}

/* A set equals the whole model, and the byte orders of every type equal each other. */
static void sets_and_byte_orders_are_no_difference(void **state)
{
    folder f = folder_new();
    path_text a = folder_path(&f, "a"), one = folder_path(&f, "b-00001-of-00002.gguf"),
              two = folder_path(&f, "b-00002-of-00002.gguf");
    tensor_row rows[64];
    size_t count = 0;
    uint8_t *data = malloc(1 << 16);
    uint64_t random = 1;
    told t;

    (void)state;
    for (size_t i = 0; i < 1 << 16; i++)
        data[i] = (uint8_t)random_next(&random);
    for (size_t i = 0; i < gufo_element_type_count() && count < COUNT_OF(rows); i++) {
        const gufo_element_type *type = gufo_element_type_at(i);

        if (type->block_bytes > 0)
            rows[count++] = (tensor_row){
                type->name, type->id, 8, type->block_elements, data, 8 * (size_t)type->block_bytes};
    }
    write_tensors(a.text, all_encodings[4], rows, count, 0, count, 0, 0);
    for (size_t e = 4; e < ENCODING_COUNT; e++) {
        gufo_comparison result;

        write_tensors(one.text, all_encodings[e], rows, count, 0, 5, 0, 2);
        write_tensors(two.text, all_encodings[e], rows, count, 5, count, 1, 2);
        result = compare_with(a.text, one.text, GUFO_COMPARE_VALUES, 2, &t);
        check_str(gufo_str_of(t.text), "", "told");
        check_u64(result.notes, GUFO_NOTE_SHARDS | (e == 5 ? GUFO_NOTE_BYTE_ORDER : 0U), "notes");
        check_u64(result.tensors[GUFO_DIFFERENCE_NONE], count, "same");
    }
    free(data);
    folder_remove(&f);
}

/* ---- values --------------------------------------------------------------------------------- */

static void check_near(double got, double expected, const char *what)
{
    if (!(fabs(got - expected) <= 1e-12 * fabs(expected)))
        check(false, "%s is %.17g, expected %.17g", what, got, expected);
}

/* Differences by hand: 1 2 3 -4 against 1 2 4 -2, as F32 and F64. */
static void values_are_measured(void **state)
{
    static const float first[] = {1, 2, 3, -4};
    static const double second[] = {1, 2, 4, -2};
    static const float zeros[4] = {0};
    tensor_row a = {"t", GUFO_TYPE_F32, 2, 2, first, sizeof first};
    tensor_row b = {"t", GUFO_TYPE_F64, 2, 2, second, sizeof second};
    tensor_row z = {"t", GUFO_TYPE_F32, 2, 2, zeros, sizeof zeros};
    folder f = folder_new();
    path_text path_a = folder_path(&f, "a"), path_b = folder_path(&f, "b");
    uint8_t bytes[sizeof second];
    told t;

    (void)state;
    /* Rows are little-endian, whatever this machine is. */
    for (size_t i = 0; i < 4; i++) {
        uint64_t bits;

        memcpy(&bits, &second[i], sizeof bits);
        for (size_t j = 0; j < 8; j++)
            bytes[8 * i + j] = (uint8_t)(bits >> (8 * j));
    }
    b.data = bytes;
    uint8_t narrow[sizeof first];
    for (size_t i = 0; i < 4; i++) {
        uint32_t bits;

        memcpy(&bits, &first[i], sizeof bits);
        for (size_t j = 0; j < 4; j++)
            narrow[4 * i + j] = (uint8_t)(bits >> (8 * j));
    }
    a.data = narrow;
    write_tensors(path_a.text, all_encodings[4], &a, 1, 0, 1, 0, 0);
    write_tensors(path_b.text, all_encodings[5], &b, 1, 0, 1, 0, 0);
    compare_with(path_a.text, path_b.text, GUFO_COMPARE_VALUES, 2, &t);
    check_str(gufo_str_of(t.text), "!|t:t", "told");
    assert_true(t.has_values);
    check_u64(t.values.compared, 4, "compared");
    check_u64(t.values.unequal, 2, "unequal");
    check_u64(t.values.largest_at, 3, "place");
    check_near(t.values.largest, 2, "largest");
    check_near(t.values.rmse, sqrt(5.0 / 4), "RMSE");
    check_near(t.values.relative, sqrt(5.0 / 30), "relative RMSE");
    check_near(t.values.cosine, 25.0 / (sqrt(30) * 5), "cosine");
    write_tensors(path_b.text, all_encodings[4], &z, 1, 0, 1, 0, 0);
    compare_with(path_a.text, path_b.text, GUFO_COMPARE_VALUES, 1, &t);
    check_near(t.values.relative, 1, "relative RMSE to zeros");
    check_near(t.values.cosine, 0, "cosine with zeros");
    compare_with(path_b.text, path_a.text, GUFO_COMPARE_VALUES, 1, &t);
    assert_true(isinf(t.values.relative));
    compare_with(path_a.text, path_b.text, 0, 1, &t);
    assert_false(t.has_values);
    folder_remove(&f);
}

/* Squares of float64 may be more than a double can hold. */
static void infinite_sums_have_no_quotient(void **state)
{
    gufo_value_difference d = {.compared = 2,
                               .square_difference = INFINITY,
                               .square_a = INFINITY,
                               .square_b = INFINITY,
                               .product = -INFINITY};

    (void)state;
    compare_conclude(&d);
    assert_true(isinf(d.rmse));
    assert_true(isnan(d.relative));
    assert_true(isnan(d.cosine));
    assert_false(signbit(d.relative)); /* which would be printed */
    assert_false(signbit(d.cosine));
    d.square_b = 4;
    compare_conclude(&d);
    assert_true(isnan(d.cosine));
}

/* Every pair of types that decode: sums as gufo_decode gives them, the same with any threads.  Rows
 * are so long that there are several tiles, whose columns end in the middle of a row. */
enum { ROWS = 16, COLUMNS = 256 * 41 };

static float *decoded(const gufo_element_type *type, const uint8_t *blocks)
{
    float *values = malloc((size_t)ROWS * COLUMNS * sizeof *values);
    gufo_error error = no_error();

    check_ok(gufo_decode(type, blocks, ROWS, COLUMNS, values, NULL, &error), &error, "%s",
             type->name);
    return values;
}

static void check_pair(folder *f, const gufo_element_type *type_a, const gufo_element_type *type_b,
                       const uint8_t *blocks, bool big)
{
    size_t size_a = (size_t)ROWS * COLUMNS / type_a->block_elements * type_a->block_bytes;
    size_t size_b = (size_t)ROWS * COLUMNS / type_b->block_elements * type_b->block_bytes;
    tensor_row a = {"t", type_a->id, ROWS, COLUMNS, blocks, size_a};
    tensor_row b = {"t", type_b->id, ROWS, COLUMNS, blocks + 8, size_b};
    path_text path_a = folder_path(f, "a"), path_b = folder_path(f, "b");
    float *values_a = decoded(type_a, blocks), *values_b = decoded(type_b, blocks + 8);
    uint64_t nonfinite = 0, compared = 0;
    double largest = 0, sum = 0;
    told t, again;

    write_tensors(path_a.text, all_encodings[4], &a, 1, 0, 1, 0, 0);
    write_tensors(path_b.text, all_encodings[big ? 5 : 4], &b, 1, 0, 1, 0, 0);
    compare_with(path_a.text, path_b.text, GUFO_COMPARE_VALUES, 1, &t);
    compare_with(path_a.text, path_b.text, GUFO_COMPARE_VALUES, 4, &again);
    check(t.has_values && memcmp(&t.values, &again.values, sizeof t.values) == 0, "%s and %s",
          type_a->name, type_b->name);
    for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++) {
        double difference = fabs((double)values_a[i] - (double)values_b[i]);

        if (!isfinite(values_a[i]) || !isfinite(values_b[i])) {
            nonfinite++;
            continue;
        }
        compared++;
        largest = difference > largest ? difference : largest;
        sum += difference * difference;
    }
    check_u64(t.values.compared, compared, "%s and %s", type_a->name, type_b->name);
    check_u64(t.values.nonfinite, nonfinite, "%s and %s", type_a->name, type_b->name);
    check_near(t.values.largest, largest, type_a->name);
    check(fabs(t.values.square_difference - sum) <= 1e-9 * sum, "%s and %s", type_a->name,
          type_b->name);
    free(values_a);
    free(values_b);
}

static void values_of_every_type(void **state)
{
    /* A plain one, rows of blocks, and interleaved ones of 4 and 8 rows. */
    static const char *const partners[] = {"F32", "Q6_K", "Q4_0_4_4", "Q4_0_8_8"};
    folder f = folder_new();
    size_t size = (size_t)ROWS * COLUMNS * 8 + 8;
    uint8_t *blocks = malloc(size);
    uint64_t random = 7;

    (void)state;
    /* Small exponents: sums must not overflow. */
    for (size_t i = 0; i < size; i++)
        blocks[i] = (uint8_t)(random_next(&random) >> 32 & 0x37);
    for (size_t i = 0; i < gufo_element_type_count(); i += all_or_few(1, 5)) {
        const gufo_element_type *type = gufo_element_type_at(i);

        if ((type->flags & GUFO_ELEMENT_DECODES) == 0 || type->id == GUFO_TYPE_F64 ||
            type->id == GUFO_TYPE_I64 || type->id == GUFO_TYPE_I32)
            continue;
        check_pair(&f, type, gufo_element_type_by_name(partners[i % COUNT_OF(partners)]), blocks,
                   i % 3 == 0);
    }
    free(blocks);
    folder_remove(&f);
}

/* ---- several candidates --------------------------------------------------------------------- */

/* Rows of candidates: "name" and a letter for each: = same, ! changed, - removed, + added, . absent;
 * and the values. */
typedef struct rows_told {
    char text[256];
    gufo_value_difference values[8][GUFO_COMPARE_CANDIDATES];
    double losses[8][GUFO_COMPARE_CANDIDATES]; /* -1: not known */
    size_t rows;
} rows_told;

static void on_row(void *context, const gufo_tensor_difference *row, size_t count)
{
    static const char letters[] = "=+-!";
    rows_told *t = context;
    gufo_str name = row[0].a.name;
    char line[GUFO_COMPARE_CANDIDATES + 1] = "";

    for (size_t k = 0; k < count; k++) {
        bool absent = row[k].a.name.data == NULL && row[k].b.name.data == NULL;

        name = name.data == NULL ? row[k].b.name : name;
        line[k] = absent ? '.' : letters[row[k].kind];
        t->values[t->rows][k] = row[k].values;
        if (!gufo_tensor_difference_loss(&row[k], &t->losses[t->rows][k]))
            t->losses[t->rows][k] = -1;
    }
    size_t len = strlen(t->text);

    snprintf(t->text + len, sizeof t->text - len, "%s%.*s%s", len > 0 ? " " : "", (int)name.len,
             name.data, line);
    t->rows++;
}

static void compare_several(const path_text *paths, size_t count, unsigned threads, rows_told *t,
                            gufo_candidate *result)
{
    gufo_error error = no_error();
    gufo_model *models[GUFO_COMPARE_CANDIDATES + 1];
    gufo_candidates_options options = {
        .flags = GUFO_COMPARE_VALUES, .tensor = on_row, .context = t};
    gufo_run run = {.threads = threads};

    *t = (rows_told){.rows = 0};
    for (size_t k = 0; k < count; k++) {
        models[k] = gufo_model_open(paths[k].text, NULL, &error);
        check(models[k] != NULL, "%s", error.message);
    }
    check_ok(gufo_compare_candidates(models[0], (const gufo_model *const *)models + 1, count - 1,
                                     &options, &run, result, &error),
             &error, "candidates");
    for (size_t k = 0; k < count; k++)
        gufo_model_free(models[k]);
}

/* The numbers of each pair are those of comparing two models, to the last bit, whatever the other
 * candidates and the threads are. */
static void candidates_are_pairs(void **state)
{
    static const char *const types[] = {"F16", "Q6_K", "Q4_0_4_4", "Q4_0_8_8", "F16", "Q8_0"};
    folder f = folder_new();
    size_t size = (size_t)ROWS * COLUMNS * 2 + 8;
    uint8_t *blocks = malloc(size);
    path_text paths[COUNT_OF(types)];
    uint64_t random = 7;
    rows_told t, again;
    gufo_candidate result[COUNT_OF(types)];

    (void)state;
    for (size_t i = 0; i < size; i++)
        blocks[i] = (uint8_t)(random_next(&random) >> 32 & 0x37);
    for (size_t k = 0; k < COUNT_OF(types); k++) {
        const gufo_element_type *type = gufo_element_type_by_name(types[k]);
        size_t bytes = (size_t)ROWS * COLUMNS / type->block_elements * type->block_bytes;
        tensor_row row = {"t", type->id, ROWS, COLUMNS, blocks, bytes};
        char name[2] = {(char)('a' + k), '\0'};

        paths[k] = folder_path(&f, name);
        write_tensors(paths[k].text, all_encodings[k % 2 == 0 ? 4 : 5], &row, 1, 0, 1, 0, 0);
    }
    compare_several(paths, COUNT_OF(types), 1, &t, result);
    compare_several(paths, COUNT_OF(types), 4, &again, result);
    check_str(gufo_str_of(t.text), "t!!!=!", "rows");
    check(memcmp(t.values[0], again.values[0], 5 * sizeof t.values[0][0]) == 0, "threads");
    for (size_t k = 1; k < COUNT_OF(types); k++) {
        const gufo_value_difference *v = &t.values[0][k - 1];
        told pair;

        compare_with(paths[0].text, paths[k].text, GUFO_COMPARE_VALUES, 2, &pair);
        check_u64(pair.has_values, k != 4, "%s", types[k]);
        check(memcmp(v, &pair.values, sizeof *v) == 0, "%s", types[k]);
        check_near(t.losses[0][k - 1], k == 4 ? 0 : v->square_difference / v->square_a, types[k]);
        check_u64(result[k - 1].same, k == 4, "%s", types[k]);
        check_near(result[k - 1].loss, t.losses[0][k - 1], types[k]);
    }
    free(blocks);
    folder_remove(&f);
}

/* Tensors that a model lacks, or has in another shape or of an unknown type, have no loss. */
static void candidates_that_differ(void **state)
{
    static const tensor_row original[] = {
        {"all", GUFO_TYPE_I8, 2, 8, some_bytes, 16},
        {"shape", GUFO_TYPE_I8, 2, 8, some_bytes, 16},
        {"gone", GUFO_TYPE_I8, 2, 8, some_bytes, 16},
    };
    static const tensor_row first[] = {
        {"extra", GUFO_TYPE_I8, 1, 8, some_bytes, 8},
        {"shape", GUFO_TYPE_I8, 8, 2, some_bytes, 16},
        {"all", GUFO_TYPE_I8, 2, 8, more_bytes, 16},
    };
    static const tensor_row second[] = {
        {"all", 57, 2, 8, some_bytes, 16},
        {"extra", GUFO_TYPE_I8, 1, 8, some_bytes, 8},
        {"own", GUFO_TYPE_I8, 1, 8, some_bytes, 8},
        {"gone", GUFO_TYPE_I8, 2, 8, some_bytes, 16},
    };
    folder f = folder_new();
    path_text paths[] = {folder_path(&f, "a"), folder_path(&f, "b"), folder_path(&f, "c")};
    rows_told t;
    gufo_candidate result[2];

    (void)state;
    write_tensors(paths[0].text, all_encodings[4], original, 3, 0, 3, 0, 0);
    write_tensors(paths[1].text, all_encodings[4], first, 3, 0, 3, 0, 0);
    write_tensors(paths[2].text, all_encodings[4], second, 4, 0, 4, 0, 0);
    compare_several(paths, 3, 2, &t, result);
    check_str(gufo_str_of(t.text), "all!! shape!- gone-= extra++ own.+", "rows");
    check_near(t.losses[0][0], 1.0 / 1496, "loss"); /* 16 became 17; 1 + 4 + ... + 256 */
    check_near(t.losses[0][1], -1, "an unknown type");
    check_near(t.losses[1][0], -1, "another shape");
    check_near(t.losses[2][0], -1, "missing");
    check_near(t.losses[2][1], 0, "the same");
    check_near(result[0].loss, 1.0 / 1496, "sum");
    check_u64(result[0].unmeasured, 1, "shape");
    check_u64(result[1].unmeasured, 1, "type");
    check_u64(result[0].bytes, 40, "bytes");
    check_u64(result[1].elements, 48, "elements");
    check_u64(result[1].tensors[GUFO_DIFFERENCE_ADDED], 2, "added");
    check_u64(result[1].tensors[GUFO_DIFFERENCE_NONE], 1, "same");
    folder_remove(&f);
}

/* The same as rows of the first candidate, whose tensors are in another order. */
static void losses_by_tensor(void **state)
{
    static const tensor_row original[] = {
        {"a", GUFO_TYPE_I8, 2, 8, some_bytes, 16},
        {"b", GUFO_TYPE_I8, 2, 8, some_bytes, 16},
        {"gone", GUFO_TYPE_I8, 2, 8, some_bytes, 16},
    };
    static const tensor_row first[] = {
        {"extra", GUFO_TYPE_I8, 1, 8, some_bytes, 8},
        {"b", GUFO_TYPE_I8, 2, 8, some_bytes, 16},
        {"a", GUFO_TYPE_I8, 2, 8, more_bytes, 16},
    };
    static const tensor_row second[] = {{"a", 57, 2, 8, some_bytes, 16}};
    folder f = folder_new();
    path_text paths[] = {folder_path(&f, "a"), folder_path(&f, "b"), folder_path(&f, "c")};
    const gufo_candidate_losses *list;
    gufo_candidates_options options = {.tensor = on_row};
    gufo_error error = no_error();
    gufo_model *models[3];
    gufo_loss_table *table = NULL;
    gufo_candidate sums[2];
    rows_told t = {.rows = 0};
    size_t count;

    (void)state;
    write_tensors(paths[0].text, all_encodings[4], original, 3, 0, 3, 0, 0);
    write_tensors(paths[1].text, all_encodings[4], first, 3, 0, 3, 0, 0);
    write_tensors(paths[2].text, all_encodings[4], second, 1, 0, 1, 0, 0);
    for (size_t k = 0; k < 3; k++)
        models[k] = gufo_model_open(paths[k].text, NULL, NULL);
    options.context = &t;
    for (size_t at = 1; table == NULL; at++) { /* whatever request for memory fails */
        gufo_allocator allocator;
        counter c;

        counter_init(&c);
        allocator = counter_allocator(&c);
        c.fail_at = at;
        options.allocator = &allocator;
        t = (rows_told){.rows = 0};
        table = gufo_loss_table_new(models[0], (const gufo_model *const *)models + 1, 2, &options,
                                    NULL, sums, &error);
        if (table == NULL) {
            check_u64(error.code, GUFO_E_MEMORY, "request %zu", at);
            check_u64(c.in_use, 0, "request %zu", at);
            continue;
        }
        check_u64(at, 6, "two lists of each candidate, and the table");
        gufo_loss_table_free(table);
        check_u64(c.in_use, 0, "freed");
    }
    check_str(gufo_str_of(t.text), "a!! b=- gone-- extra+.", "rows are served, too");
    table = gufo_loss_table_new(models[0], (const gufo_model *const *)models + 1, 2, NULL, NULL,
                                NULL, &error);
    check(table != NULL, "%s", error.message);
    list = gufo_loss_table_list(table, &count);
    check_u64(count, 2, "candidates");
    check(isnan(list[0].losses[0]), "added");
    check_near(list[0].losses[1], 0, "the same");
    check_near(list[0].losses[2], 1.0 / 1496, "changed");
    check(isnan(list[1].losses[2]) && isnan(list[1].losses[1]), "unknown and missing");
    check_u64(list[0].types[0], GUFO_TYPE_I8, "type");
    check_u64(list[1].types[0], GUFO_NO_TYPE, "missing");
    check_u64(list[1].types[2], 57, "unknown");
    check(memcmp(&list[0].sums, &sums[0], sizeof *sums) == 0, "sums");
    gufo_loss_table_free(table);
    gufo_loss_table_free(NULL);
    check(gufo_loss_table_new(models[0], (const gufo_model *const *)models + 1, 0, NULL, NULL, NULL,
                              &error) == NULL,
          "no candidates");
    check_u64(error.code, GUFO_E_ARGUMENT, "no candidates");
    for (size_t k = 0; k < 3; k++)
        gufo_model_free(models[k]);
    folder_remove(&f);
}

/* What cannot be a loss: of zeros that changed, of sums that are too large, of nothing. */
static void losses_that_are_not_known(void **state)
{
    static const struct {
        gufo_value_difference values;
        bool known;
        double loss;
    } rows[] = {
        {{.compared = 4, .square_a = 2, .square_difference = 1}, true, 0.5},
        {{.compared = 4}, true, 0},
        {{.compared = 0}, false, 0},
        {{.compared = 4, .square_difference = 1}, false, 0},
        {{.compared = 4, .square_a = INFINITY, .square_difference = INFINITY}, false, 0},
        {{.compared = 4, .square_a = INFINITY, .square_difference = 1}, false, 0},
        {{.compared = 4, .square_a = INFINITY}, true, 0},
        {{.compared = 4, .square_a = 1, .square_difference = NAN}, false, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_tensor_difference d = {
            .kind = GUFO_DIFFERENCE_CHANGED, .has_values = true, .values = rows[i].values};
        double loss;

        check_u64(gufo_tensor_difference_loss(&d, &loss), rows[i].known, "row %zu", i);
        if (rows[i].known)
            check_near(loss, rows[i].loss, "loss");
    }
}

static void too_many_candidates(void **state)
{
    const gufo_model *models[GUFO_COMPARE_CANDIDATES + 1] = {NULL};
    gufo_error error = no_error();

    (void)state;
    check_status(gufo_compare_candidates(NULL, models, 0, NULL, NULL, NULL, &error),
                 GUFO_E_ARGUMENT, &error, "none");
    check_status(gufo_compare_candidates(NULL, models, COUNT_OF(models), NULL, NULL, NULL, &error),
                 GUFO_E_ARGUMENT, &error, "33");
}

static bool stop_at_once(void *context, uint64_t done, uint64_t total)
{
    (void)context;
    (void)done;
    (void)total;
    return false;
}

static void stops_when_asked(void **state)
{
    tensor_row row = {"t", GUFO_TYPE_I8, 2, 8, some_bytes, 16};
    folder f = folder_new();
    path_text path = folder_path(&f, "a");
    gufo_run run = {.progress = stop_at_once};
    gufo_comparison result;
    gufo_error error = no_error();

    (void)state;
    write_tensors(path.text, all_encodings[4], &row, 1, 0, 1, 0, 0);
    gufo_model *set = gufo_model_open(path.text, NULL, NULL);

    check_status(gufo_compare(set, set, NULL, &run, &result, &error), GUFO_E_STOPPED, &error,
                 "stop");
    check_ok(gufo_compare(set, set, NULL, NULL, &result, &error), &error, "without options");
    gufo_model_free(set);
    folder_remove(&f);
}

/* What sums of nothing and of zeros come to. */
static void sums_of_nothing(void **state)
{
    gufo_value_difference d = {0};

    (void)state;
    compare_conclude(&d);
    check_near(d.rmse, 0, "RMSE of no pairs");
    check_near(d.relative, 0, "relative RMSE of no pairs");
    check_near(d.cosine, 1, "cosine of zeros");
    d.square_a = 4;
    compare_conclude(&d);
    check_near(d.relative, 0, "relative RMSE of the same");
    check_near(d.cosine, 0, "cosine of one that is zeros");
    d.square_b = INFINITY;
    compare_conclude(&d);
    assert_true(isnan(d.cosine));
}

/* Pairs in which one is not a finite number are left out; NaN equals NaN. */
static void nonfinite_values(void **state)
{
    static const uint32_t first[] = {0x7fc00000, 0x7fc00000, 0x3f800000, 0x7f800000, 0x40000000};
    static const uint32_t second[] = {0x7fc00001, 0x3f800000, 0x7f800000, 0x7f800000, 0x40400000};
    tensor_row rows[2];
    uint8_t bytes[2][sizeof first];
    folder f = folder_new();
    path_text a = folder_path(&f, "a"), b = folder_path(&f, "b");
    told t;

    (void)state;
    for (size_t side = 0; side < 2; side++) {
        for (size_t i = 0; i < COUNT_OF(first); i++)
            for (size_t byte = 0; byte < 4; byte++)
                bytes[side][4 * i + byte] =
                    (uint8_t)((side == 0 ? first : second)[i] >> (8 * byte));
        rows[side] = (tensor_row){"t", GUFO_TYPE_F32, 1, 5, bytes[side], sizeof bytes[side]};
    }
    write_tensors(a.text, all_encodings[4], &rows[0], 1, 0, 1, 0, 0);
    write_tensors(b.text, all_encodings[4], &rows[1], 1, 0, 1, 0, 0);
    compare_with(a.text, b.text, GUFO_COMPARE_VALUES, 1, &t);
    assert_true(t.has_values);
    check_u64(t.values.nonfinite, 4, "left out");
    check_u64(t.values.compared, 1, "compared");
    check_u64(t.values.unequal, 3, "unequal"); /* not two NaNs, not two infinities */
    check_near(t.values.largest, 1, "largest");
    check_u64(t.values.largest_at, 4, "place");
    folder_remove(&f);
}

/* Numbers that cannot be had: unknown types, rows that do not fill their groups, none. */
static void without_values(void **state)
{
    static const tensor_row first[] = {
        {"unknown", 57, 2, 8, some_bytes, 16},
        {"group", GUFO_TYPE_Q4_0, 2, 32, some_bytes, 36},
        {"empty", GUFO_TYPE_F32, 0, 8, some_bytes, 0},
        {"whole", GUFO_TYPE_I8, 2, 8, some_bytes, 16},
    };
    static const tensor_row second[] = {
        {"unknown", GUFO_TYPE_I8, 2, 8, some_bytes, 16},
        {"group", GUFO_TYPE_Q4_0_4_4, 2, 32, some_bytes, 36},
        {"empty", GUFO_TYPE_F16, 0, 8, some_bytes, 0},
        {"whole", GUFO_TYPE_I8, 2, 8, more_bytes, 16},
    };
    static const char *const expected[] = {"!|unknown:t", "!|group:t", "!|empty:t",
                                           "!|whole at 15"};
    folder f = folder_new();
    path_text a = folder_path(&f, "a"), b = folder_path(&f, "b");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(first); i++) {
        for (size_t swapped = 0; swapped < 2; swapped++) {
            told t;

            write_tensors(swapped ? b.text : a.text, all_encodings[4], first, 4, i, i + 1, 0, 0);
            write_tensors(swapped ? a.text : b.text, all_encodings[4], second, 4, i, i + 1, 0, 0);
            compare_with(a.text, b.text, GUFO_COMPARE_VALUES, 2, &t);
            check_str(gufo_str_of(t.text), expected[i], "row %zu", i);
            check_u64(t.has_values, i == 3, "row %zu", i);
        }
        told t;

        write_tensors(b.text, all_encodings[4], first, 4, i, i + 1, 0, 0);
        write_tensors(a.text, all_encodings[4], first, 4, i, i + 1, 0, 0);
        compare_with(a.text, b.text, GUFO_COMPARE_VALUES, 2, &t);
        check_str(gufo_str_of(t.text), "", "row %zu with itself", i);
    }
    folder_remove(&f);
}

/* The size of an unknown type reaches to the next tensor: padding makes no difference, more than
 * that does. */
static void sizes_that_are_not_known(void **state)
{
    static const tensor_row last[] = {{"u", 57, 2, 8, some_bytes, 16}};
    static const tensor_row followed[] = {{"u", 57, 2, 8, some_bytes, 16},
                                          {"v", GUFO_TYPE_I8, 2, 8, some_bytes, 16}};
    static const tensor_row longer[] = {{"u", 57, 2, 8, some_bytes, 64}};
    static const struct {
        const tensor_row *a, *b;
        size_t count_a, count_b;
        const char *expected;
    } rows[] = {
        {last, followed, 1, 2, "+|v"},
        {followed, last, 2, 1, "-|v"},
        {last, longer, 1, 1, "!|u at 32"},
        {longer, last, 1, 1, "!|u at 32"},
    };
    folder f = folder_new();
    path_text a = folder_path(&f, "a"), b = folder_path(&f, "b");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        told t;

        write_tensors(a.text, all_encodings[4], rows[i].a, rows[i].count_a, 0, rows[i].count_a, 0,
                      0);
        write_tensors(b.text, all_encodings[4], rows[i].b, rows[i].count_b, 0, rows[i].count_b, 0,
                      0);
        /* One of them ends with its last byte. */
        if (rows[i].count_a != rows[i].count_b)
            check(truncate(rows[i].count_a == 1 ? a.text : b.text, 96 + 16) == 0, "truncate");
        compare_with(a.text, b.text, 0, 1, &t);
        check_str(gufo_str_of(t.text), rows[i].expected, "row %zu", i);
    }
    folder_remove(&f);
}

/* Values of each type, alone and in arrays, against another value of it and against another
 * type. */
static void kinds_of_values_differ(void **state)
{
    typedef struct kind {
        uint32_t type;
        uint64_t a, b; /* bits */
    } kind;
    static const kind kinds[] = {
        {GUFO_VALUE_UINT8, 1, 2},   {GUFO_VALUE_INT8, 0xff, 0xfe},
        {GUFO_VALUE_UINT16, 1, 2},  {GUFO_VALUE_INT16, 0xffff, 0xfffe},
        {GUFO_VALUE_UINT32, 1, 2},  {GUFO_VALUE_INT32, 0xffffffff, 0xfffffffe},
        {GUFO_VALUE_FLOAT32, 1, 2}, {GUFO_VALUE_BOOL, 1, 0},
        {GUFO_VALUE_UINT64, 1, 2},  {GUFO_VALUE_INT64, UINT64_MAX, UINT64_MAX - 1},
        {GUFO_VALUE_FLOAT64, 1, 2},
    };
    folder f = folder_new();
    path_text a = folder_path(&f, "a"), b = folder_path(&f, "b");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        const kind *k = &kinds[i], *other = &kinds[(i + 1) % COUNT_OF(kinds)];
        told t;

        for (size_t side = 0; side < 2; side++) {
            builder out = builder_new(all_encodings[side == 0 ? 4 : 5]);
            uint64_t value = side == 0 ? k->a : k->b;
            size_t width = gufo_value_type_size((gufo_value_type)k->type);
            size_t other_width = gufo_value_type_size((gufo_value_type)other->type);

            builder_header(&out, 0, 6);
            builder_key(&out, "alone", k->type);
            builder_number(&out, value, width);
            builder_kv_array(&out, "many", k->type, 2 + side);
            for (size_t j = 0; j < 2 + side; j++)
                builder_number(&out, j == 0 ? k->a : value, width);
            builder_kv_array(&out, "empty", k->type, 0);
            builder_kv_array(&out, "short", k->type, 3 - 2 * side);
            for (size_t j = 0; j < 3 - 2 * side; j++)
                builder_number(&out, k->a, width);
            builder_kv_array(&out, "retyped", side == 0 ? k->type : other->type, 1);
            builder_number(&out, 1, side == 0 ? width : other_width);
            if (side == 0) {
                builder_kv_array(&out, "unlike", k->type, 1);
                builder_number(&out, k->a, width);
            } else
                builder_kv_str(&out, "unlike", "text");
            write_file(side == 0 ? a.text : b.text, out.data, out.len);
            builder_free(&out);
        }
        compare_with(a.text, b.text, 0, 1, &t);
        check_str(gufo_str_of(t.text), "!alone !many[1] !short[1] !retyped !unlike",
                  "type %" PRIu32, k->type);
        compare_with(b.text, a.text, 0, 1, &t);
        check_str(gufo_str_of(t.text), "!alone !many[1] !short[1] !retyped !unlike",
                  "type %" PRIu32, k->type);
        compare_with(a.text, a.text, 0, 1, &t);
        check_str(gufo_str_of(t.text), "", "type %" PRIu32, k->type);
    }
    folder_remove(&f);
}

/* An array that is changed after it was opened is neither the same nor another one. */
static void array_changes_meanwhile(void **state)
{
    folder f = folder_new();
    path_text paths[2] = {folder_path(&f, "a"), folder_path(&f, "b")};

    (void)state;
    for (size_t changed = 0; changed < 2; changed++) {
        gufo_error error = no_error();
        gufo_comparison result;
        gufo_model *sets[2];
        uint8_t *bytes;
        size_t len;

        for (size_t side = 0; side < 2; side++) {
            /* In two byte orders, so that elements are looked at. */
            builder b = builder_new(all_encodings[side == 0 ? 4 : 5]);

            builder_header(&b, 0, 1);
            array_of_text(&b, "texts", "y");
            write_file(paths[side].text, b.data, b.len);
            builder_free(&b);
            sets[side] = gufo_model_open(paths[side].text, NULL, &error);
            check(sets[side] != NULL, "%s", error.message);
        }
        /* In place, so that it is the file which is mapped: the length of "y" reaches far
         * beyond. */
        bytes = read_file(paths[changed].text, &len);
        memset(bytes + len - 9, 0x7f, 8);
        write_file(paths[changed].text, bytes, len);
        free(bytes);
        check_status(gufo_compare(sets[0], sets[1], NULL, NULL, &result, &error), GUFO_E_CHANGED,
                     &error, "changed");
        gufo_model_free(sets[0]);
        gufo_model_free(sets[1]);
    }
    folder_remove(&f);
}

/* ---- work ----------------------------------------------------------------------------------- */

/* A file that is cut after it was opened: the error names which one. */
static void truncated_meanwhile(void **state)
{
    static const tensor_row first = {"t", GUFO_TYPE_I8, 8, 8, some_bytes, 64};
    static const tensor_row second = {"t", GUFO_TYPE_I16, 8, 8, "\0", 128};
    static const uint8_t zeros[128];
    tensor_row wide = second;
    folder f = folder_new();
    path_text paths[2] = {folder_path(&f, "a"), folder_path(&f, "b")};

    (void)state;
    wide.data = zeros;
    for (size_t row = 0; row < 4; row++) {
        const gufo_compare_options options = {.flags = GUFO_COMPARE_VALUES};
        const gufo_run run = {.threads = 2};
        bool in_b = row % 2 == 1, as_values = row >= 2;
        gufo_error error = no_error();
        gufo_comparison result;
        gufo_model *sets[2];

        write_tensors(paths[0].text, all_encodings[4], &first, 1, 0, 1, 0, 0);
        write_tensors(paths[1].text, all_encodings[5], as_values ? &wide : &first, 1, 0, 1, 0, 0);
        for (size_t side = 0; side < 2; side++)
            sets[side] = gufo_model_open(paths[side].text, NULL, &error);
        check(sets[0] != NULL && sets[1] != NULL, "%s", error.message);
        check(truncate(paths[in_b].text, 96) == 0, "truncate");
        check_status(gufo_compare(sets[0], sets[1], &options, &run, &result, &error),
                     GUFO_E_TRUNCATED, &error, "row %zu", row);
        check_u64(error.role, in_b ? GUFO_FILE_SECOND_INPUT : GUFO_FILE_INPUT, "row %zu", row);
        check_u64(error.file_index, 0, "row %zu", row);
        check(strcmp(error.file, paths[in_b].text) == 0, "row %zu: %s", row, error.file);
        gufo_model_free(sets[0]);
        gufo_model_free(sets[1]);
    }
    folder_remove(&f);
}

/* What came through a pipe cannot be read again. */
static void pipes_are_refused(void **state)
{
    static const tensor_row row = {"t", GUFO_TYPE_I8, 2, 8, some_bytes, 16};
    folder f = folder_new();
    path_text path = folder_path(&f, "a");
    gufo_error error = no_error();
    gufo_comparison result;
    gufo_model *set, *piped;
    char name[32];
    uint8_t *bytes;
    size_t len;
    int ends[2];

    (void)state;
    write_tensors(path.text, all_encodings[4], &row, 1, 0, 1, 0, 0);
    bytes = read_file(path.text, &len);
    check(pipe(ends) == 0 && write(ends[1], bytes, len) == (ssize_t)len, "pipe");
    close(ends[1]);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    piped = gufo_model_open(name, NULL, &error);
    check(piped != NULL, "%s", error.message);
    set = gufo_model_open(path.text, NULL, &error);
    check_status(gufo_compare(set, piped, NULL, NULL, &result, &error), GUFO_E_ARGUMENT, &error,
                 "pipe");
    check_str(gufo_str_of(error.message), "the data of a pipe cannot be compared", "message");
    check_status(gufo_compare(piped, set, NULL, NULL, &result, &error), GUFO_E_ARGUMENT, &error,
                 "pipe");
    gufo_model_free(piped);
    gufo_model_free(set);
    close(ends[0]);
    free(bytes);
    folder_remove(&f);
}

typedef struct watch {
    uint64_t last, total;
    bool backwards;
} watch;

static bool watch_progress(void *context, uint64_t done, uint64_t total)
{
    watch *w = context;

    w->backwards = w->backwards || done < w->last;
    w->last = done;
    w->total = total;
    return true;
}

/* Progress goes up to the whole, however many threads there are to be. */
static void progress_is_told(void **state)
{
    enum { SIZE = 1 << 20 };
    uint8_t *data = calloc(1, SIZE);
    tensor_row rows[2] = {{"same", GUFO_TYPE_I8, 1, SIZE, data, SIZE},
                          {"other", GUFO_TYPE_I8, 2, 8, some_bytes, 16}};
    folder f = folder_new();
    path_text a = folder_path(&f, "a"), b = folder_path(&f, "b");
    watch w = {0};
    gufo_compare_options options = {.flags = GUFO_COMPARE_VALUES};
    gufo_run run = {.threads = 1000, .progress = watch_progress, .progress_context = &w};
    gufo_error error = no_error();
    gufo_comparison result;
    gufo_model *set_a, *set_b;

    (void)state;
    write_tensors(a.text, all_encodings[4], rows, 2, 0, 2, 0, 0);
    rows[1].data = more_bytes;
    write_tensors(b.text, all_encodings[4], rows, 2, 0, 2, 0, 0);
    set_a = gufo_model_open(a.text, NULL, &error);
    set_b = gufo_model_open(b.text, NULL, &error);
    check_ok(gufo_compare(set_a, set_b, &options, &run, &result, &error), &error, "compare");
    check_u64(result.tensors[GUFO_DIFFERENCE_CHANGED], 1, "changed");
    check_u64(w.total, SIZE + 16, "all bytes");
    check_u64(w.last, w.total, "all of them");
    assert_false(w.backwards);
    gufo_model_free(set_a);
    gufo_model_free(set_b);
    free(data);
    folder_remove(&f);
}

/* Tensors that a provider makes, in the order that it has. */
static bool made_tensor(void *context, uint64_t index, gufo_tensor *out)
{
    static const char *const names[] = {"a", "b", "c"};
    const unsigned *order = context;

    *out = (gufo_tensor){.name = gufo_str_of(names[order[index]]),
                         .type = GUFO_TYPE_F32,
                         .n_dims = 1,
                         .dims = {4, 1, 1, 1}};
    return true;
}

static gufo_status made_rows(void *context, uint64_t index, uint64_t first, uint64_t count,
                             void *out, gufo_error *error)
{
    (void)context, (void)index, (void)first, (void)error;
    memset(out, 0, (size_t)count * 16);
    return GUFO_OK;
}

static void test_made_order(void **state)
{
    static const struct {
        unsigned a[3], b[3];
        uint32_t notes;
    } rows[] = {
        {{0, 1, 2}, {0, 1, 2}, 0},
        {{0, 1, 2}, {0, 2, 1}, GUFO_NOTE_TENSOR_ORDER},
        {{2, 1, 0}, {2, 1, 0}, 0},
        {{2, 1, 0}, {0, 1, 2}, GUFO_NOTE_TENSOR_ORDER},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_provider a = {.context = (void *)rows[i].a,
                           .tensor_count = 3,
                           .tensor_at = made_tensor,
                           .read_rows = made_rows};
        gufo_provider b = a;
        gufo_error error = no_error();
        gufo_comparison result;
        gufo_model *first, *second;

        b.context = (void *)rows[i].b;
        first = gufo_model_open_provider(&a, NULL, &error);
        second = gufo_model_open_provider(&b, NULL, &error);
        check(first != NULL && second != NULL, "%s", error.message);
        check_ok(gufo_compare(first, second, NULL, NULL, &result, &error), &error, "row %zu", i);
        check_u64(result.notes, rows[i].notes, "row %zu", i);
        check(result.same, "row %zu", i);
        gufo_model_free(first);
        gufo_model_free(second);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metadata_differs),
        cmocka_unit_test(order_and_housekeeping_are_no_difference),
        cmocka_unit_test(tensors_differ),
        cmocka_unit_test(sets_and_byte_orders_are_no_difference),
        cmocka_unit_test(values_are_measured),
        cmocka_unit_test(infinite_sums_have_no_quotient),
        cmocka_unit_test(values_of_every_type),
        cmocka_unit_test(candidates_are_pairs),
        cmocka_unit_test(candidates_that_differ),
        cmocka_unit_test(losses_by_tensor),
        cmocka_unit_test(losses_that_are_not_known),
        cmocka_unit_test(too_many_candidates),
        cmocka_unit_test(stops_when_asked),
        cmocka_unit_test(sums_of_nothing),
        cmocka_unit_test(nonfinite_values),
        cmocka_unit_test(without_values),
        cmocka_unit_test(sizes_that_are_not_known),
        cmocka_unit_test(kinds_of_values_differ),
        cmocka_unit_test(array_changes_meanwhile),
        cmocka_unit_test(truncated_meanwhile),
        cmocka_unit_test(pipes_are_refused),
        cmocka_unit_test(test_made_order),
        cmocka_unit_test(progress_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
