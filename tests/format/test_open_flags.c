/* What each flag of opening changes, and that nothing else changes. */
#include "../support/openers.h"

static gufo_open_options with_flags(uint32_t flags)
{
    return (gufo_open_options){.flags = flags};
}

/* ---- GUFO_OPEN_METADATA_ONLY ---------------------------------------------------------------- */

/* Two tensors that share bytes, and of which the file has only some. */
static builder short_file(void)
{
    builder b = builder_new((encoding){3, false});

    builder_header(&b, 2, 0);
    builder_tensor(&b, "a", GUFO_TYPE_I8, 1, (uint64_t[]){100}, 0);
    builder_tensor(&b, "b", GUFO_TYPE_I8, 1, (uint64_t[]){100}, 32);
    builder_pad(&b, 32);
    builder_zeros(&b, 40);
    return b;
}

static void test_metadata_only(void **state)
{
    builder b = short_file();
    gufo_open_options options = with_flags(GUFO_OPEN_METADATA_ONLY);

    (void)state;
    assert_null(gufo_model_open_memory(b.data, b.len, NULL, NULL));
    for (way w = 0; w < WAY_COUNT; w++) {
        gufo_tensor t;
        opened o;

        open_way(&o, w, b.data, b.len, &options);
        check(o.file != NULL, "%s: %s", way_name(w), o.error.message);
        check(gufo_model_tensor_at(o.file, 1, &t), "%s", way_name(w));
        check_u64(t.offset, gufo_model_facts(o.file).data_offset + 32, "%s", way_name(w));
        check_u64(t.size, 100, "%s", way_name(w));
        check_u64(t.available, 8, "%s", way_name(w));
        check(!t.complete, "%s", way_name(w));
        check(gufo_tensor_raw(o.file, &t) == NULL, "%s: no pointer", way_name(w));
        check_u64(gufo_tensor_read_raw(o.file, &t, 0, &(char[9]){0}, 9, NULL), GUFO_E_TRUNCATED,
                  "%s", way_name(w));
        check_u64(gufo_model_facts(o.file).data_size, 0, "%s", way_name(w));
        close_way(&o);
    }
    builder_free(&b);
}

/* Offsets are still checked by themselves. */
static void test_metadata_only_refuses(void **state)
{
    static const struct {
        uint64_t offset;
        const char *rule;
    } rows[] = {{33, "G308"}, {UINT64_MAX - 31, "G309"}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        builder b = builder_new((encoding){3, false});
        gufo_open_options options = with_flags(GUFO_OPEN_METADATA_ONLY);
        gufo_error error = no_error();

        builder_header(&b, 1, 0);
        builder_tensor(&b, "a", GUFO_TYPE_I8, 1, (uint64_t[]){64}, rows[i].offset);
        assert_null(gufo_model_open_memory(b.data, b.len, &options, &error));
        check(strcmp(error.rule->id, rows[i].rule) == 0, "%s: %s", rows[i].rule, error.message);
        builder_free(&b);
    }
}

/* ---- GUFO_OPEN_AS_GGML ---------------------------------------------------------------------- */

static void control_key(builder *b)
{
    builder_header(b, 0, 1);
    builder_kv_u8(b, "a\nb", 1);
}

static void bool_of_2(builder *b)
{
    builder_header(b, 0, 1);
    builder_key(b, "a", GUFO_VALUE_BOOL);
    builder_u8(b, 2);
}

static void empty_key(builder *b)
{
    builder_header(b, 0, 1);
    builder_kv_u8(b, "", 1);
}

static void odd_alignment(builder *b)
{
    builder_header(b, 0, 1);
    builder_kv_u32(b, "general.alignment", 12);
}

static void name_with_nul(builder *b)
{
    builder_header(b, 1, 0);
    builder_tensorn(b, "a\0b", 3, GUFO_TYPE_I8, 1, (uint64_t[]){0}, 0);
}

static void test_as_ggml(void **state)
{
    static const struct {
        void (*build)(builder *b);
        const char *rule;
        bool tolerated;
    } rows[] = {
        {control_key, "G204", true},    {bool_of_2, "G209", true},      {empty_key, "G202", false},
        {odd_alignment, "G211", false}, {name_with_nul, "G303", false},
    };
    gufo_open_options options = with_flags(GUFO_OPEN_AS_GGML);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        builder b = builder_new((encoding){3, false});
        gufo_error error = no_error();
        gufo_model *file;

        rows[i].build(&b);
        assert_null(gufo_model_open_memory(b.data, b.len, NULL, &error));
        check(strcmp(error.rule->id, rows[i].rule) == 0, "row %zu: %s", i, error.message);
        file = gufo_model_open_memory(b.data, b.len, &options, &error);
        check((file != NULL) == rows[i].tolerated, "row %zu: %s", i, error.message);
        check(file == NULL || gufo_model_damage(file) == NULL, "row %zu is not damaged", i);
        gufo_model_free(file);
        builder_free(&b);
    }
}

/* ---- GUFO_OPEN_NO_READ_AHEAD ---------------------------------------------------------------- */

typedef struct upper_bound {
    const uint8_t *data;
    size_t size;
    uint64_t furthest;
} upper_bound;

/* Gives nothing where less is there than is asked for. */
static gufo_status read_exactly(void *context, uint64_t offset, void *buffer, size_t size,
                                gufo_error *error)
{
    upper_bound *from = context;

    (void)error;
    from->furthest = offset + size > from->furthest ? offset + size : from->furthest;
    if (offset > from->size || size > from->size - offset)
        return GUFO_E_IO;
    memcpy(buffer, from->data + offset, size);
    return GUFO_OK;
}

static void test_no_read_ahead(void **state)
{
    builder b = short_file();
    gufo_open_options options = with_flags(GUFO_OPEN_NO_READ_AHEAD | GUFO_OPEN_METADATA_ONLY);
    gufo_open_options ahead = with_flags(GUFO_OPEN_METADATA_ONLY);
    upper_bound from = {.data = b.data, .size = b.len};
    gufo_source source = {.context = &from, .size = 1 << 20, .read = read_exactly};
    gufo_model *file = gufo_model_open_source(&source, &options, NULL);

    (void)state;
    assert_non_null(file);
    check_u64(from.furthest, gufo_model_facts(file).infos_end, "no byte behind the infos");
    gufo_model_free(file);
    assert_null(gufo_model_open_source(&source, &ahead, NULL));
    from.size = 50; /* ends inside the infos */
    assert_null(gufo_model_open_source(&source, &options, NULL));
    builder_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metadata_only),
        cmocka_unit_test(test_metadata_only_refuses),
        cmocka_unit_test(test_as_ggml),
        cmocka_unit_test(test_no_read_ahead),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
