/* What gufo_gguf_open_* open beyond gguf_init_from_*: all that the specification allows. */
#include "../support/good.h"
#include "compat.h"

#include <gufo_gguf.h>

static struct gguf_context *open_bytes(const builder *b, struct ggml_context **tensors)
{
    return gufo_gguf_open_buffer(b->data, b->len, (struct gguf_init_params){false, tensors});
}

/* ---- metadata ------------------------------------------------------------------------------- */

static void check_arrays(const struct gufo_gguf_array *arrays, const gufo_array *from,
                         const char *label);

/* `data`: strings as const char *. */
static void check_elements(enum gguf_type type, size_t n, const void *data, const gufo_array *from,
                           const char *label)
{
    size_t size = (size_t)from->count * gufo_value_type_size(from->type);
    void *values = malloc(size + 1);

    assert_non_null(values);
    check_u64(type, from->type, "%s", label);
    check_u64(n, from->count, "%s", label);
    for (uint64_t i = 0; type == GGUF_TYPE_STRING && i < n; i++) {
        gufo_value element;

        check_ok(gufo_array_at(from, i, &element, NULL), NULL, "%s", label);
        check_view((gufo_str){((const char *const *)data)[i], element.as.str.len}, element.as.str,
                   "%s", label);
    }
    if (type == GGUF_TYPE_ARRAY)
        check_arrays(data, from, label);
    else if (type != GGUF_TYPE_STRING) {
        check_ok(gufo_array_read(from, 0, from->count, values, NULL), NULL, "%s", label);
        check(memcmp(values, data, size) == 0, "%s", label);
    }
    free(values);
}

static void check_arrays(const struct gufo_gguf_array *arrays, const gufo_array *from,
                         const char *label)
{
    for (uint64_t i = 0; i < from->count; i++) {
        gufo_value element;

        check_ok(gufo_array_at(from, i, &element, NULL), NULL, "%s", label);
        check_elements(arrays[i].type, arrays[i].n, arrays[i].data, &element.as.array, label);
    }
}

static void check_array(const struct gguf_context *ctx, int64_t id, const gufo_array *from,
                        const char *label)
{
    size_t n = gguf_get_arr_n(ctx, id);
    enum gguf_type type = gguf_get_arr_type(ctx, id);
    const char **texts = calloc(n + 1, sizeof *texts);

    assert_non_null(texts);
    for (size_t i = 0; type == GGUF_TYPE_STRING && i < n; i++)
        texts[i] = gguf_get_arr_str(ctx, id, i);
    check_elements(type, n,
                   type == GGUF_TYPE_STRING  ? (const void *)texts
                   : type == GGUF_TYPE_ARRAY ? (const void *)gufo_gguf_get_arrays(ctx, id)
                                             : gguf_get_arr_data(ctx, id),
                   from, label);
    free(texts);
}

static void check_scalar(const struct gguf_context *ctx, int64_t id, const gufo_value *value,
                         const char *label)
{
    switch (value->type) {
    case GUFO_VALUE_UINT16:
        check_u64(gguf_get_val_u16(ctx, id), value->as.u, "%s", label);
        break;
    case GUFO_VALUE_UINT32:
        check_u64(gguf_get_val_u32(ctx, id), value->as.u, "%s", label);
        break;
    case GUFO_VALUE_INT64:
        check(gguf_get_val_i64(ctx, id) == value->as.i, "%s", label);
        break;
    case GUFO_VALUE_FLOAT32:
        check((double)gguf_get_val_f32(ctx, id) == value->as.f, "%s", label);
        break;
    case GUFO_VALUE_FLOAT64:
        check(gguf_get_val_f64(ctx, id) == value->as.f, "%s", label);
        break;
    case GUFO_VALUE_STRING:
        check_view((gufo_str){gguf_get_val_str(ctx, id), value->as.str.len}, value->as.str, "%s",
                   label);
        break;
    default:
        check_u64(gguf_get_kv_type(ctx, id), value->type, "%s", label);
    }
}

static void check_metadata(const struct gguf_context *ctx, const gufo_model *file,
                           const char *label)
{
    gufo_entry e;

    check_u64(gguf_get_n_kv(ctx), gufo_model_entry_count(file), "%s", label);
    check_u64(gguf_get_version(ctx), gufo_model_facts(file).version, "%s", label);
    check_u64(gguf_get_alignment(ctx), gufo_model_facts(file).alignment, "%s", label);
    for (int64_t i = 0; gufo_model_entry_at(file, (uint64_t)i, &e); i++) {
        check_view(gufo_str_of(gguf_get_key(ctx, i)), e.key, "%s", label);
        if (e.value.type == GUFO_VALUE_ARRAY)
            check_array(ctx, i, &e.value.as.array, label);
        else
            check_scalar(ctx, i, &e.value, label);
    }
}

/* ---- tensors -------------------------------------------------------------------------------- */

static void check_data(const struct ggml_tensor *tensor, const gufo_model *file,
                       const gufo_tensor *from, const char *label)
{
    const gufo_element_type *type = gufo_element_type_by_id(from->type);
    bool swapped = (gufo_model_facts(file).byte_order == GUFO_BIG_ENDIAN) != native().big;
    uint8_t *bytes = malloc((size_t)from->size + 1);

    assert_non_null(bytes);
    check_u64(ggml_nbytes(tensor), from->size, "%s", label);
    check_ok(gufo_tensor_read_raw(file, from, 0, bytes, (size_t)from->size, NULL), NULL, "%s",
             label);
    if (swapped && type != NULL && !(type->flags & GUFO_ELEMENT_REMOVED))
        check_ok(gufo_swap_blocks(type, bytes, from->size / type->block_bytes, NULL), NULL, "%s",
                 label);
    check(memcmp(bytes, tensor->data, (size_t)from->size) == 0, "%s: data", label);
    free(bytes);
}

static void check_tensor(const struct gguf_context *ctx, int64_t id, const gufo_tensor *from,
                         const char *label)
{
    check_view(gufo_str_of(gguf_get_tensor_name(ctx, id)), from->name, "%s", label);
    check_u64(gguf_find_tensor(ctx, gguf_get_tensor_name(ctx, id)), id, "%s", label);
    check_u64((uint32_t)gguf_get_tensor_type(ctx, id), from->type, "%s", label);
    check_u64(gguf_get_tensor_size(ctx, id), from->size, "%s", label);
    check_u64(gguf_get_data_offset(ctx) + gguf_get_tensor_offset(ctx, id), from->offset, "%s",
              label);
    for (int d = 0; d < GGML_MAX_DIMS; d++)
        check_u64(gguf_get_tensor_ne(ctx, id)[d], from->dims[d], "%s", label);
}

typedef struct tally {
    unsigned same, more;
} tally;

static void visit_good(const good_file *good, const builder *b, const char *label, void *context)
{
    tally *count = context;
    gufo_error error;
    gufo_model *file = gufo_model_open_memory(b->data, b->len, NULL, &error);
    struct ggml_context *tensors = NULL;
    struct ggml_tensor *tensor;
    struct gguf_context *plain = read_bytes(b, NULL, false), *ctx = open_bytes(b, &tensors);
    gufo_tensor from;

    (void)good;
    check(ctx != NULL && file != NULL, "%s: %s", label, last_log);
    check_metadata(ctx, file, label);
    check_u64(gguf_get_n_tensors(ctx), gufo_model_tensor_count(file), "%s", label);
    tensor = ggml_get_next_tensor(tensors, ggml_get_first_tensor(tensors)); /* behind the blob */
    for (int64_t i = 0; gufo_model_tensor_at(file, (uint64_t)i, &from); i++) {
        check_tensor(ctx, i, &from, label);
        check_data(tensor, file, &from, label);
        check(strncmp(tensor->name, gguf_get_tensor_name(ctx, i), GGML_MAX_NAME - 1) == 0, "%s",
              label);
        tensor = ggml_get_next_tensor(tensors, tensor);
    }
    assert_null(tensor);
    count->same += plain != NULL;
    count->more += plain == NULL;
    gguf_free(plain);
    gguf_free(ctx);
    ggml_free(tensors);
    gufo_model_free(file);
}

/* Each file in every version and byte order: odd alignments, scattered data, long names, unknown
 * types, arrays inside arrays. */
static void test_every_good_file_opens(void **state)
{
    tally count = {0};

    (void)state;
    capture_log();
    good_for_each(visit_good, &count);
    check(count.same >= 10 && count.more >= 100, "%u and %u", count.same, count.more);
}

/* ---- what ggml refuses, one by one ---------------------------------------------------------- */

static encoding other_order(void)
{
    return (encoding){3, !native().big};
}

static encoding version_1(void)
{
    return (encoding){1, native().big};
}

static void test_refused_otherwise(void **state)
{
    static const struct {
        const char *name, *said;
        encoding (*in)(void);
    } rows[] = {
        {"scalars", "version 1 is not supported", version_1},
        {"scalars", "-endian, unlike this machine", other_order},
        {"nested arrays", "arrays inside an array", native},
        {"names", "more than 63 bytes", native},
        {"unknown types", "does not know", native},
        {"alignment 24", "not a power of two", native},
        {"scattered", "does not begin where", native},
    };
    folder f = folder_new();
    path_text path = folder_path(&f, "model.gguf");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        builder b = good_build_named(rows[i].name, rows[i].in());
        struct ggml_context *tensors = NULL;
        struct gguf_context *ctx;

        capture_log();
        write_file(path.text, b.data, b.len);
        assert_null(gguf_init_from_file(path.text, only_metadata()));
        check(strstr(last_log, rows[i].said) != NULL, "%s: %s", rows[i].name, last_log);
        ctx = gufo_gguf_open_file(path.text, (struct gguf_init_params){true, &tensors});
        check(ctx != NULL && tensors != NULL, "%s: %s", rows[i].name, last_log);
        check_u64(log_lines, 1, "only the refusal is reported");
        ggml_free(tensors);
        gguf_free(ctx);
        builder_free(&b);
    }
    folder_remove(&f);
}

/* Values by hand, not by the library that reads them. */
static builder big_and_nested(encoding e)
{
    builder b = builder_new(e);

    builder_header(&b, 1, 2);
    builder_kv_u32(&b, "a", 0x01020304);
    builder_kv_array(&b, "n", GUFO_VALUE_ARRAY, 2);
    builder_array(&b, GUFO_VALUE_ARRAY, 2);
    builder_array(&b, GUFO_VALUE_UINT16, 2);
    builder_u16(&b, 258);
    builder_u16(&b, 3);
    builder_array(&b, GUFO_VALUE_STRING, 2);
    builder_str(&b, "inner");
    builder_str(&b, "");
    builder_array(&b, GUFO_VALUE_BOOL, 1);
    builder_u8(&b, 77); /* counts as true */
    builder_tensor(&b, "t", GUFO_TYPE_F32, 1, (uint64_t[]){2}, 0);
    builder_pad(&b, 32);
    builder_f32(&b, 1.5f);
    builder_f32(&b, -2.0f);
    return b;
}

static void check_nested(const struct gguf_context *ctx, int64_t id)
{
    const struct gufo_gguf_array *outer = gufo_gguf_get_arrays(ctx, id), *inner = outer[0].data;

    check_u64(gguf_get_kv_type(ctx, id), GGUF_TYPE_ARRAY, "of the entry");
    check_u64(gguf_get_arr_type(ctx, id), GGUF_TYPE_ARRAY, "of the elements");
    check_u64(gguf_get_arr_n(ctx, id), 2, "elements");
    check(outer[0].type == GGUF_TYPE_ARRAY && outer[0].n == 2, "arrays inside");
    check(inner[0].type == GGUF_TYPE_UINT16 && inner[0].n == 2, "numbers");
    check_u64(((const uint16_t *)inner[0].data)[0], 258, "a number");
    check_u64(((const uint16_t *)inner[0].data)[1], 3, "a number");
    check(inner[1].type == GGUF_TYPE_STRING && inner[1].n == 2, "strings");
    check(strcmp(((const char *const *)inner[1].data)[0], "inner") == 0, "a string");
    check(strcmp(((const char *const *)inner[1].data)[1], "") == 0, "an empty one");
    check(outer[1].type == GGUF_TYPE_BOOL && *(const uint8_t *)outer[1].data == 1, "a bool");
}

static void test_values_in_every_encoding(void **state)
{
    (void)state;
    capture_log();
    for (unsigned version = 1; version <= 3; version++)
        for (int big = 0; big < 2; big++) {
            builder b = big_and_nested((encoding){(uint8_t)version, big});
            struct ggml_context *tensors = NULL;
            struct gguf_context *ctx = open_bytes(&b, &tensors);
            const float *data;

            check(ctx != NULL, "version %u, big %d: %s", version, big, last_log);
            data = ggml_get_data_f32(ggml_get_tensor(tensors, "t"));
            check_u64(gguf_get_version(ctx), version, "version");
            check_u64(gguf_get_val_u32(ctx, 0), 0x01020304, "a number");
            check_nested(ctx, 1);
            check(data[0] == 1.5f && data[1] == -2.0f, "data");
            gguf_free(ctx);
            ggml_free(tensors);
            builder_free(&b);
        }
}

/* A copy holds nothing of the original. */
static void test_arrays_are_copied(void **state)
{
    builder b = big_and_nested(native());
    struct gguf_context *ctx = open_bytes(&b, NULL), *copy = gguf_init_empty();

    (void)state;
    gguf_set_kv(copy, ctx);
    gguf_free(ctx);
    check_nested(copy, 1);
    gguf_free(copy);
    builder_free(&b);
}

static void test_deep_arrays(void **state)
{
    (void)state;
    capture_log();
    for (unsigned depth = GUFO_LARGEST_DEPTH; depth <= GUFO_LARGEST_DEPTH + 1; depth++) {
        builder b = builder_new(native());
        struct gguf_context *ctx;

        builder_header(&b, 0, 1);
        builder_kv_array(&b, "deep", GUFO_VALUE_ARRAY, 1);
        for (unsigned i = 2; i < depth; i++)
            builder_array(&b, GUFO_VALUE_ARRAY, 1);
        builder_array(&b, GUFO_VALUE_UINT8, 0);
        ctx = open_bytes(&b, NULL);
        check((ctx != NULL) == (depth == GUFO_LARGEST_DEPTH), "%u: %s", depth, last_log);
        if (ctx != NULL)
            check_u64(gufo_gguf_get_arrays(ctx, 0)[0].n, 1, "an element");
        gguf_free(ctx);
        builder_free(&b);
    }
}

/* ---- what stays refused --------------------------------------------------------------------- */

static void test_damage_is_refused(void **state)
{
    builder b = big_and_nested(other_order());
    struct ggml_context *tensors = NULL;

    (void)state;
    for (size_t len = 1; len < b.len; len++) {
        builder part = b;

        part.len = len;
        capture_log();
        assert_null(open_bytes(&part, &tensors));
        assert_null(tensors);
        check(log_lines == 1, "%zu bytes: %s", len, last_log);
    }
    builder_free(&b);
    b = builder_new(native());
    builder_header(&b, 2, 0);
    builder_tensor(&b, "t", GUFO_TYPE_I8, 1, (uint64_t[]){64}, 0);
    builder_tensor(&b, "u", GUFO_TYPE_I8, 1, (uint64_t[]){64}, 32);
    builder_pad(&b, 32);
    builder_zeros(&b, 96);
    capture_log();
    assert_null(open_bytes(&b, &tensors));
    check(strstr(last_log, "inside that of tensor \"t\"") != NULL, "%s", last_log);
    builder_free(&b);
    capture_log();
    assert_null(gufo_gguf_open_buffer(NULL, 1, only_metadata()));
    assert_null(gufo_gguf_open_buffer("GGUF", 0, only_metadata()));
    check_u64(log_lines, 0, "wrong use is not reported");
    assert_null(gufo_gguf_open_file("/nonexistent/model.gguf", only_metadata()));
    check(strstr(last_log, "/nonexistent/model.gguf: cannot open") != NULL, "%s", last_log);
}

/* ---- writing -------------------------------------------------------------------------------- */

static void test_written_for_everybody(void **state)
{
    builder b = good_build_named("scattered", (encoding){1, !native().big});
    folder f = folder_new();
    path_text path = folder_path(&f, "model.gguf");
    struct ggml_context *tensors = NULL, *again = NULL;
    struct gguf_context *ctx, *back;
    struct ggml_tensor *t;

    (void)state;
    capture_log();
    ctx = open_bytes(&b, &tensors);
    check(ctx != NULL, "%s", last_log);
    t = ggml_get_next_tensor(tensors, ggml_get_first_tensor(tensors));
    for (; t != NULL; t = ggml_get_next_tensor(tensors, t))
        gguf_set_tensor_data(ctx, t->name, t->data);
    check(gguf_write_to_file(ctx, path.text, false), "%s", last_log);
    back = gguf_init_from_file(path.text, (struct gguf_init_params){false, &again});
    check(back != NULL, "%s", last_log);
    check_u64(gguf_get_version(back), 3, "version");
    check_u64(gguf_get_n_tensors(back), gguf_get_n_tensors(ctx), "tensors");
    t = ggml_get_next_tensor(tensors, ggml_get_first_tensor(tensors));
    for (; t != NULL; t = ggml_get_next_tensor(tensors, t))
        check(memcmp(t->data, ggml_get_tensor(again, t->name)->data, ggml_nbytes(t)) == 0, "%s",
              t->name);
    ggml_free(tensors);
    ggml_free(again);
    gguf_free(back);
    gguf_free(ctx);
    folder_remove(&f);
    builder_free(&b);
}

static void test_not_written(void **state)
{
    static const struct {
        const char *name, *said;
    } rows[] = {
        {"nested arrays", "arrays inside an array"},
        {"names", "more than 63 bytes"},
        {"unknown types", "does not know"},
        {"alignment 24", "not a power of two"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        builder b = good_build_named(rows[i].name, native());
        struct gguf_context *ctx = open_bytes(&b, NULL);

        capture_log();
        check_u64(gguf_get_meta_size(ctx), 0, "%s", rows[i].name);
        check(strstr(last_log, rows[i].said) != NULL, "%s: %s", rows[i].name, last_log);
        gguf_free(ctx);
        builder_free(&b);
    }
}

/* A change lays the tensors out: none lies in another. */
static void test_changed_is_packed(void **state)
{
    builder b = good_build_named("scattered", native());
    struct gguf_context *ctx = open_bytes(&b, NULL);
    struct ggml_tensor t = {.type = GGML_TYPE_I8, .ne = {3, 1, 1, 1}, .nb = {1, 3, 3, 3}};
    int64_t last = gguf_get_n_tensors(ctx);
    size_t end = 0;

    (void)state;
    gguf_add_tensor(ctx, ggml_set_name(&t, "added last"));
    for (int64_t i = 0; i <= last; i++) {
        check_u64(gguf_get_tensor_offset(ctx, i), end, "tensor %d", (int)i);
        end += GGML_PAD(gguf_get_tensor_size(ctx, i), gguf_get_alignment(ctx));
    }
    gguf_free(ctx);
    builder_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_good_file_opens),
        cmocka_unit_test(test_refused_otherwise),
        cmocka_unit_test(test_values_in_every_encoding),
        cmocka_unit_test(test_arrays_are_copied),
        cmocka_unit_test(test_deep_arrays),
        cmocka_unit_test(test_damage_is_refused),
        cmocka_unit_test(test_written_for_everybody),
        cmocka_unit_test(test_not_written),
        cmocka_unit_test(test_changed_is_packed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
