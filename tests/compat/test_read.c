/* Reading through the documented C API: from a path, a FILE, memory and a callback. */
#include "../support/good.h"
#include "../support/openers.h"
#include "compat.h"

/* ---- the four sources ----------------------------------------------------------------------- */

typedef struct memory {
    const uint8_t *data;
    size_t size, chunk, calls;
    bool too_large; /* more than `chunk` was asked for at once */
    bool beyond;    /* bytes behind the end were asked for */
} memory;

/* Gives nothing where less is there than is asked for. */
static size_t read_memory(void *userdata, void *output, uint64_t offset, size_t len)
{
    memory *m = userdata;

    m->calls++;
    m->too_large |= m->chunk > 0 && len > m->chunk;
    if (offset > m->size || len > m->size - offset) {
        m->beyond = true;
        return 0;
    }
    memcpy(output, m->data + offset, len);
    return len;
}

enum { FROM_PATH, FROM_FILE, FROM_MEMORY, FROM_CALLBACK, FROM_COUNT };

static struct gguf_context *read_from(int source, const builder *b, const folder *f,
                                      struct gguf_init_params params)
{
    path_text path = folder_path(f, "model.gguf");
    memory m = {.data = b->data, .size = b->len, .chunk = 7};
    struct gguf_context *ctx;
    FILE *file;

    write_file(path.text, b->data, b->len);
    if (source == FROM_PATH)
        return gguf_init_from_file(path.text, params);
    if (source == FROM_MEMORY)
        return gguf_init_from_buffer(b->data, b->len, params);
    if (source == FROM_CALLBACK) {
        ctx = gguf_init_from_callback(read_memory, &m, m.chunk, (uint64_t)4 << 30, params);
        check(!m.too_large, "the callback is asked for at most a chunk");
        check(ctx == NULL || !m.beyond, "nothing beyond what is needed is asked for");
        return ctx;
    }
    file = fopen(path.text, "rb");
    assert_non_null(file);
    ctx = gguf_init_from_file_ptr(file, params);
    fclose(file);
    return ctx;
}

static void check_small(const struct gguf_context *ctx, const char *label)
{
    check(ctx != NULL, "%s: %s", label, last_log);
    check_u64(gguf_get_version(ctx), 3, "%s", label);
    check_u64(gguf_get_alignment(ctx), 32, "%s", label);
    check_u64(gguf_get_n_kv(ctx), 2, "%s", label);
    check_u64(gguf_find_key(ctx, "a"), 0, "%s", label);
    check_u64(gguf_get_val_u32(ctx, 0), 7, "%s", label);
    check(strcmp(gguf_get_val_str(ctx, 1), "small") == 0, "%s", label);
    check(gguf_find_key(ctx, "b") == -1, "%s", label);
    check_u64(gguf_get_n_tensors(ctx), 2, "%s", label);
    check_u64(gguf_find_tensor(ctx, "y"), 1, "%s", label);
    check(gguf_find_tensor(ctx, "z") == -1, "%s", label);
    check_u64(gguf_get_tensor_offset(ctx, 1), 32, "%s", label);
    check_u64(gguf_get_tensor_size(ctx, 0), 20, "%s", label);
    check_u64(gguf_get_tensor_size(ctx, 1), 24, "%s", label);
    check_u64(gguf_get_tensor_ne(ctx, 1)[0], 4, "%s", label);
    check_u64(gguf_get_tensor_ne(ctx, 1)[1], 3, "%s", label);
    check_u64(gguf_get_tensor_ne(ctx, 1)[3], 1, "%s", label);
    check_u64(gguf_get_tensor_type(ctx, 1), GGML_TYPE_I16, "%s", label);
    check(strcmp(gguf_get_tensor_name(ctx, 0), "x") == 0, "%s", label);
}

static void check_tensors(struct ggml_context *tensors, bool no_alloc, const builder *b,
                          size_t data_offset, const char *label)
{
    struct ggml_tensor *t = ggml_get_first_tensor(tensors);

    if (!no_alloc) {
        check(strcmp(t->name, "GGUF tensor data binary blob") == 0, "%s", label);
        check_u64(ggml_nbytes(t), 64, "%s", label);
        t = ggml_get_next_tensor(tensors, t);
    }
    check(t == ggml_get_tensor(tensors, "x"), "%s", label);
    check(no_alloc == (t->data == NULL), "%s", label);
    t = ggml_get_next_tensor(tensors, t);
    check(strcmp(t->name, "y") == 0 && ggml_is_contiguous(t), "%s", label);
    check(ggml_get_next_tensor(tensors, t) == NULL, "%s", label);
    check(ggml_get_no_alloc(tensors) == no_alloc, "%s", label);
    if (!no_alloc)
        check(memcmp(t->data, b->data + data_offset + 32, 24) == 0, "%s: data", label);
}

static void test_sources(void **state)
{
    builder b = small_model();
    folder f = folder_new();

    (void)state;
    capture_log();
    for (int i = 0; i < FROM_COUNT * 3; i++) {
        bool tensors_wanted = i % 3 > 0, no_alloc = i % 3 == 1;
        struct ggml_context *tensors = NULL;
        struct gguf_init_params params = {no_alloc, tensors_wanted ? &tensors : NULL};
        struct gguf_context *ctx = read_from(i / 3, &b, &f, params);
        char label[32];

        (void)snprintf(label, sizeof label, "source %d, mode %d", i / 3, i % 3);
        check_small(ctx, label);
        check((tensors != NULL) == tensors_wanted, "%s", label);
        if (tensors_wanted)
            check_tensors(tensors, no_alloc, &b, gguf_get_data_offset(ctx), label);
        ggml_free(tensors);
        gguf_free(ctx);
    }
    check_u64(log_lines, 0, "nothing to report");
    folder_remove(&f);
    builder_free(&b);
}

/* Every source refuses every file that ends too early, and says so once. */
static void test_truncated(void **state)
{
    builder whole = small_model();
    folder f = folder_new();

    (void)state;
    for (size_t len = 1; len < whole.len; len += 3) {
        builder b = whole;

        b.len = len;
        for (int source = 0; source < FROM_COUNT; source++) {
            struct ggml_context *tensors = NULL;
            struct gguf_init_params params = {false, &tensors};

            capture_log();
            check(read_from(source, &b, &f, params) == NULL, "%zu bytes, source %d", len, source);
            check(tensors == NULL, "no tensors are left: %zu bytes, source %d", len, source);
            check(log_lines == 1, "reported once: %zu bytes, source %d", len, source);
        }
    }
    folder_remove(&f);
    builder_free(&whole);
}

/* A GGUF file behind something else: offsets count from the start of the FILE. */
static void test_embedded(void **state)
{
    builder b = builder_new(native());
    FILE *file = tmpfile();
    struct ggml_context *tensors = NULL;
    struct gguf_context *ctx;

    (void)state;
    builder_zeros(&b, 40); /* something else */
    builder_raw(&b, "GGUF", 4);
    builder_u32(&b, 3);
    builder_u64(&b, 1);
    builder_u64(&b, 0);
    builder_tensor(&b, "x", GUFO_TYPE_I8, 1, (uint64_t[]){3}, 0);
    builder_pad(&b, 32);
    builder_pattern(&b, 5, 3);
    builder_pad(&b, 32);
    check_u64(fwrite(b.data, 1, b.len, file), b.len, "writing");
    check_u64(fseek(file, 40, SEEK_SET), 0, "seeking");
    ctx = gguf_init_from_file_ptr(file, (struct gguf_init_params){false, &tensors});
    assert_non_null(ctx);
    check_u64(gguf_get_data_offset(ctx), b.len - 32, "data offset");
    check(memcmp(ggml_get_tensor(tensors, "x")->data, b.data + b.len - 32, 3) == 0, "data");
    check_u64(ftell(file), b.len, "the position is behind what was read");
    gguf_free(ctx);
    ggml_free(tensors);
    check_u64(fseek(file, 40, SEEK_SET), 0, "seeking");
    ctx = gguf_init_from_file_ptr(file, only_metadata());
    check(ftell(file) < (long)b.len - 32, "without data the position is behind the infos");
    gguf_free(ctx);
    fclose(file);
    builder_free(&b);
}

static void test_nothing(void **state)
{
    (void)state;
    capture_log();
    assert_null(gguf_init_from_buffer(NULL, 10, only_metadata()));
    assert_null(gguf_init_from_buffer("GGUF", 0, only_metadata()));
    assert_null(gguf_init_from_file_ptr(NULL, only_metadata()));
    assert_null(gguf_init_from_callback(NULL, NULL, 0, 100, only_metadata()));
    check_u64(log_lines, 0, "wrong use is not reported");
    assert_null(gguf_init_from_file("/nonexistent/model.gguf", only_metadata()));
    check(strcmp(last_log,
                 "gguf: /nonexistent/model.gguf: cannot open: No such file or directory\n") == 0,
          "%s", last_log);
    gguf_free(NULL);
}

/* If data is not loaded, its presence is not checked. */
static void test_metadata_only(void **state)
{
    builder b = small_model();
    struct ggml_context *tensors = NULL;
    struct gguf_context *ctx;
    size_t data_offset;

    (void)state;
    ctx = read_bytes(&b, NULL, false);
    data_offset = gguf_get_data_offset(ctx);
    gguf_free(ctx);
    b.len = data_offset;
    ctx = read_bytes(&b, NULL, false);
    check_small(ctx, "without data");
    gguf_free(ctx);
    ctx = read_bytes(&b, &tensors, true);
    check_small(ctx, "tensors without data");
    gguf_free(ctx);
    ggml_free(tensors);
    tensors = NULL;
    assert_null(read_bytes(&b, &tensors, false));
    assert_null(tensors);
    b.len--; /* not even the place where data would begin */
    assert_null(read_bytes(&b, NULL, false));
    builder_free(&b);
}

/* ---- every good file ------------------------------------------------------------------------ */

static bool has_nested_array(const gufo_model *file)
{
    gufo_entry e;

    for (uint64_t i = 0; gufo_model_entry_at(file, i, &e); i++)
        if (e.value.type == GUFO_VALUE_ARRAY && e.value.as.array.type == GUFO_VALUE_ARRAY)
            return true;
    return false;
}

/* Whether ggml can have this tensor at this place. */
static bool tensor_is_plain(const gufo_tensor *t, uint64_t expected)
{
    const gufo_element_type *type = gufo_element_type_by_id(t->type);

    return type != NULL && !(type->flags & GUFO_ELEMENT_REMOVED) && t->name.len < GGML_MAX_NAME &&
           t->offset == expected;
}

/* Whether ggml's rules let it through when no data is read. */
static bool ggml_accepts(const gufo_model *file)
{
    uint64_t align = gufo_model_facts(file).alignment,
             expected = gufo_model_facts(file).data_offset;
    gufo_tensor t;

    if (gufo_model_facts(file).version < 2 || (align & (align - 1)) != 0 ||
        (gufo_model_facts(file).byte_order == GUFO_BIG_ENDIAN) != native().big ||
        has_nested_array(file))
        return false;
    for (uint64_t i = 0; gufo_model_tensor_at(file, i, &t); i++) {
        if (!tensor_is_plain(&t, expected))
            return false;
        expected += (t.size + align - 1) / align * align;
    }
    return gufo_model_tensor_count(file) == 0 ||
           gufo_model_facts(file).data_offset <= gufo_model_facts(file).size;
}

static void check_string_array(const struct gguf_context *ctx, int64_t id, const gufo_array *array,
                               const char *label)
{
    for (uint64_t j = 0; j < array->count; j++) {
        gufo_value element;
        const char *text = gguf_get_arr_str(ctx, id, (size_t)j);

        check_ok(gufo_array_at(array, j, &element, NULL), NULL, "%s", label);
        check(memcmp(text, element.as.str.data, element.as.str.len) == 0, "%s", label);
        check(text[element.as.str.len] == '\0', "%s", label);
    }
    check(gguf_get_arr_str(ctx, id, (size_t)array->count) == NULL, "%s", label);
}

static void check_array(const struct gguf_context *ctx, int64_t id, const gufo_array *array,
                        const char *label)
{
    size_t size = (size_t)array->count * gufo_value_type_size(array->type);
    void *values;

    check_u64(gguf_get_kv_type(ctx, id), GGUF_TYPE_ARRAY, "%s", label);
    check_u64(gguf_get_arr_type(ctx, id), array->type, "%s", label);
    check_u64(gguf_get_arr_n(ctx, id), array->count, "%s", label);
    if (array->type == GUFO_VALUE_STRING) {
        check_string_array(ctx, id, array, label);
        return;
    }
    values = malloc(size + 1);
    assert_non_null(values);
    check_ok(gufo_array_read(array, 0, array->count, values, NULL), NULL, "%s", label);
    check(memcmp(values, gguf_get_arr_data(ctx, id), size) == 0, "%s", label);
    free(values);
}

static void check_scalar(const struct gguf_context *ctx, int64_t id, const gufo_model *file,
                         const gufo_entry *e, const char *label)
{
    uint8_t bytes[8];
    size_t size = gufo_value_type_size(e->value.type);

    check_u64(gguf_get_kv_type(ctx, id), e->value.type, "%s", label);
    check_u64(gguf_get_arr_n(ctx, id), 1, "%s", label);
    if (e->value.type == GUFO_VALUE_STRING) {
        const char *text = gguf_get_val_str(ctx, id);

        check(memcmp(text, e->value.as.str.data, e->value.as.str.len) == 0, "%s", label);
        return;
    }
    check_ok(gufo_model_read_raw(file, e->value_offset, bytes, size, NULL), NULL, "%s", label);
    check(memcmp(bytes, gguf_get_val_data(ctx, id), size) == 0, "%s: bits", label);
}

/* The context reports what the file holds. */
static void check_same(const struct gguf_context *ctx, const gufo_model *file, const char *label)
{
    gufo_entry e;
    gufo_tensor t;

    check_u64(gguf_get_n_kv(ctx), gufo_model_entry_count(file), "%s", label);
    check_u64(gguf_get_n_tensors(ctx), gufo_model_tensor_count(file), "%s", label);
    check_u64(gguf_get_version(ctx), gufo_model_facts(file).version, "%s", label);
    check_u64(gguf_get_data_offset(ctx),
              gufo_model_tensor_count(file) > 0 ? gufo_model_facts(file).data_offset
                                                : gufo_model_facts(file).infos_end,
              "%s", label);
    for (int64_t i = 0; gufo_model_entry_at(file, (uint64_t)i, &e); i++) {
        check_view(gufo_str_of(gguf_get_key(ctx, i)), e.key, "%s", label);
        check_u64(gguf_find_key(ctx, gguf_get_key(ctx, i)), i, "%s", label);
        if (e.value.type == GUFO_VALUE_ARRAY)
            check_array(ctx, i, &e.value.as.array, label);
        else
            check_scalar(ctx, i, file, &e, label);
    }
    for (int64_t i = 0; gufo_model_tensor_at(file, (uint64_t)i, &t); i++) {
        check_view(gufo_str_of(gguf_get_tensor_name(ctx, i)), t.name, "%s", label);
        check_u64(gguf_get_tensor_size(ctx, i), t.size, "%s", label);
        check_u64(gguf_get_tensor_offset(ctx, i), t.offset - gufo_model_facts(file).data_offset,
                  "%s", label);
        for (int d = 0; d < GGML_MAX_DIMS; d++)
            check_u64(gguf_get_tensor_ne(ctx, i)[d], t.dims[d], "%s", label);
    }
}

typedef struct tally {
    unsigned accepted, refused;
} tally;

static void visit_good(const good_file *good, const builder *b, const char *label, void *context)
{
    tally *count = context;
    gufo_model *file = open_built(b, label);
    struct gguf_context *ctx = read_bytes(b, NULL, false);

    (void)good;
    check((ctx != NULL) == ggml_accepts(file), "%s: %s", label, last_log);
    if (ctx != NULL)
        check_same(ctx, file, label);
    count->accepted += ctx != NULL;
    count->refused += ctx == NULL;
    gguf_free(ctx);
    gufo_model_free(file);
}

static void test_good_files(void **state)
{
    tally count = {0};

    (void)state;
    capture_log();
    good_for_each(visit_good, &count);
    check(count.accepted >= 10 && count.refused >= 10, "both happen: %u and %u", count.accepted,
          count.refused);
}

/* ---- what ggml accepts and gufo does not ---------------------------------------------------- */

static void test_tolerated(void **state)
{
    builder b = builder_new(native());
    struct gguf_context *ctx;
    char *long_key = malloc(70001);

    (void)state;
    assert_non_null(long_key);
    memset(long_key, 'k', 70000);
    long_key[70000] = '\0';
    builder_header(&b, 0, 5);
    builder_kv_u8(&b, "control \x1b key", 1);
    builder_key(&b, "bool", GUFO_VALUE_BOOL);
    builder_u8(&b, 77);
    builder_kv_array(&b, "bools", GUFO_VALUE_BOOL, 3);
    builder_raw(&b, "\0\2\377", 3);
    builder_kv_u8(&b, long_key, 2);
    builder_kv_u32(&b, "general.alignment", 1u << 30);
    ctx = read_bytes(&b, NULL, false);
    check(ctx != NULL, "%s", last_log);
    check(gguf_find_key(ctx, "control \x1b key") == 0, "any bytes");
    check(gguf_get_val_bool(ctx, 1), "true");
    check_u64(*(const uint8_t *)gguf_get_val_data(ctx, 1), 1, "and 1");
    check(memcmp(gguf_get_arr_data(ctx, 2), "\0\1\1", 3) == 0, "bools are 0 or 1");
    check_u64(gguf_find_key(ctx, long_key), 3, "a long key");
    check_u64(gguf_get_alignment(ctx), 1u << 30, "a large alignment");
    gguf_free(ctx);
    assert_null(gufo_model_open_memory(b.data, b.len, NULL, NULL));
    free(long_key);
    builder_free(&b);
}

/* ---- what is refused ------------------------------------------------------------------------ */

static void v1(builder *b)
{
    b->encoding.version = 1;
    builder_header(b, 0, 0);
}

static void other_order(builder *b)
{
    b->encoding.big = !b->encoding.big;
    builder_header(b, 0, 0);
}

static void nested(builder *b)
{
    builder_header(b, 0, 1);
    builder_kv_array(b, "n", GUFO_VALUE_ARRAY, 1);
    builder_array(b, GUFO_VALUE_UINT8, 0);
}

static void name_of_64(builder *b)
{
    builder_header(b, 1, 0);
    builder_tensor(b, GOOD_LONG_NAME, GUFO_TYPE_I8, 1, (uint64_t[]){32}, 0);
    builder_pad(b, 32);
    builder_zeros(b, 32);
}

static void tensor_of(builder *b, uint32_t type, uint64_t ne0, uint64_t offset)
{
    builder_header(b, 1, 0);
    builder_tensor(b, "t", type, 1, &ne0, offset);
    builder_pad(b, 32);
    builder_zeros(b, 64);
}

static void unknown_type(builder *b)
{
    tensor_of(b, GGML_TYPE_COUNT, 32, 0);
}

static void negative_type(builder *b)
{
    tensor_of(b, 0xffffffffu, 32, 0);
}

static void removed_type(builder *b)
{
    tensor_of(b, 31, 32, 0);
}

static void half_a_block(builder *b)
{
    tensor_of(b, GUFO_TYPE_Q4_0, 48, 0);
}

static void gap(builder *b)
{
    tensor_of(b, GUFO_TYPE_I8, 32, 32);
}

static void alignment_24(builder *b)
{
    builder_header(b, 0, 1);
    builder_kv_u32(b, "general.alignment", 24);
}

static void alignment_0(builder *b)
{
    builder_header(b, 0, 1);
    builder_kv_u32(b, "general.alignment", 0);
}

static void alignment_text(builder *b)
{
    builder_header(b, 0, 1);
    builder_kv_str(b, "general.alignment", "32");
}

static void key_with_nul(builder *b)
{
    builder_header(b, 0, 1);
    builder_strn(b, "a\0b", 3);
    builder_u32(b, GUFO_VALUE_UINT8);
    builder_u8(b, 1);
}

static void name_with_nul(builder *b)
{
    builder_header(b, 1, 0);
    builder_tensorn(b, "a\0b", 3, GUFO_TYPE_I8, 1, (uint64_t[]){32}, 0);
    builder_pad(b, 32);
    builder_zeros(b, 32);
}

static void same_key_twice(builder *b)
{
    builder_header(b, 0, 2);
    builder_kv_u8(b, "a", 1);
    builder_kv_u8(b, "a", 1);
}

/* The products are 0 and 2^64 - 4: what guards of single formulas miss. */
static void product_wraps(builder *b)
{
    builder_header(b, 1, 0);
    builder_tensor(b, "t", GUFO_TYPE_F32, 2, (uint64_t[]){(uint64_t)1 << 32, (uint64_t)1 << 32}, 0);
    builder_pad(b, 32);
}

static void padding_wraps(builder *b)
{
    builder_header(b, 1, 0);
    builder_tensor(b, "t", GUFO_TYPE_F32, 1, (uint64_t[]){((uint64_t)1 << 62) - 1}, 0);
    builder_pad(b, 32);
}

/* Sums of sizes, and sizes that only ggml's own formula overflows. */
static void sum_wraps(builder *b)
{
    builder_header(b, 2, 0);
    builder_tensor(b, "t", GUFO_TYPE_I8, 1, (uint64_t[]){0x7fffffffffffffc0}, 0);
    builder_tensor(b, "u", GUFO_TYPE_I8, 1, (uint64_t[]){0x7fffffffffffffc0}, 0x7fffffffffffffc0);
    builder_pad(b, 32);
}

static void row_bytes_wrap(builder *b)
{
    builder_header(b, 1, 0);
    builder_tensor(b, "t", GUFO_TYPE_Q6_K, 1, (uint64_t[]){(uint64_t)1 << 58}, 0);
    builder_pad(b, 32);
}

static void test_refused(void **state)
{
    static const struct {
        const char *label, *said;
        void (*build)(builder *b);
    } rows[] = {
        {"version 1", "version 1 is not supported", v1},
        {"other byte order", "-endian, unlike this machine", other_order},
        {"nested arrays", "arrays inside an array", nested},
        {"name of 64 bytes", "more than 63 bytes", name_of_64},
        {"unknown type", "does not know", unknown_type},
        {"type -1", "does not know", negative_type},
        {"removed type", "has removed", removed_type},
        {"half a block", "not a multiple of 32", half_a_block},
        {"gap", "does not begin where", gap},
        {"alignment 24", "not a power of two", alignment_24},
        {"alignment 0", "general.alignment is 0", alignment_0},
        {"alignment as text", "has type string", alignment_text},
        {"NUL in a key", "key \"a\\u{0}b\" holds a NUL byte", key_with_nul},
        {"NUL in a name", "holds a NUL byte", name_with_nul},
        {"same key twice", "occurs twice", same_key_twice},
        {"product wraps", "do not fit into 63 bits", product_wraps},
        {"padding wraps", "63 bits", padding_wraps},
        {"sum wraps", "is too large", sum_wraps},
        {"bytes of a row wrap", "is too large", row_bytes_wrap},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (int mode = 0; mode < 3; mode++) {
            builder b = builder_new(native());
            struct ggml_context *tensors = NULL;

            rows[i].build(&b);
            capture_log();
            check(read_bytes(&b, mode > 0 ? &tensors : NULL, mode == 1) == NULL, "%s",
                  rows[i].label);
            check(strstr(last_log, rows[i].said) != NULL, "%s: %s", rows[i].label, last_log);
            assert_null(tensors);
            builder_free(&b);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sources),       cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_embedded),      cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_metadata_only), cmocka_unit_test(test_good_files),
        cmocka_unit_test(test_tolerated),     cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
