/* Conventions of the whole interface: options that are NULL mean {0}, reserved fields that are not zero
 * are refused, a compulsory field that is missing is named, and outputs that are not the point of a
 * call may be NULL.
 *
 * Each row of a table is a call.  It is made with everything zero first, which must work, so that the
 * refusal is about the reserved field alone. */
#include "../support/check.h"
#include "../support/folder.h"
#include "../support/process.h"

/* A model of one tensor, and what a call may need beside it. */
typedef struct things {
    char path[512];
    gufo_model *model;
    gufo_tensor tensor;
    uint8_t bytes[4096];
    size_t size;
} things;

static const gufo_element_type *f32(void)
{
    return gufo_element_type_by_id(GUFO_TYPE_F32);
}

/* header, one key, one tensor info, padding, data */
static void make_things(things *t, const folder *f)
{
    static const uint8_t head[] = {
        'G', 'G', 'U', 'F', 3, 0, 0, 0, 1, 0, 0, 0,   0,   0,   0,   0,   1,   0,   0,   0,   0,
        0,   0,   0,   12,  0, 0, 0, 0, 0, 0, 0, 'g', 'e', 'n', 'e', 'r', 'a', 'l', '.', 'n', 'a',
        'm', 'e', 8,   0,   0, 0, 1, 0, 0, 0, 0, 0,   0,   0,   'a', 1,   0,   0,   0,   0,   0,
        0,   0,   't', 1,   0, 0, 0, 4, 0, 0, 0, 0,   0,   0,   0,   0,   0,   0,   0};
    FILE *stream;

    memcpy(t->bytes, head, sizeof head);
    t->size = (sizeof head + 8 + 31) / 32 * 32 + 32;
    (void)snprintf(t->path, sizeof t->path, "%s/a.gguf", f->path);
    stream = fopen(t->path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(t->bytes, 1, t->size, stream), t->size);
    assert_int_equal(fclose(stream), 0);
    t->model = gufo_open(t->path, NULL, NULL);
    assert_non_null(t->model);
    assert_true(gufo_tensor_find(t->model, "t", &t->tensor));
}

/* ---- reserved fields ---- */

typedef gufo_status call_fn(const things *t, uint64_t reserved, gufo_error *error);

static gufo_status close_opened(gufo_model *model, const gufo_error *error)
{
    gufo_status status = model != NULL ? GUFO_OK : error->code;

    gufo_close(model);
    return status;
}

static gufo_status open_path(const things *t, uint64_t reserved, gufo_error *error)
{
    gufo_open_options o = {.reserved = {0, reserved}};

    return close_opened(gufo_open(t->path, &o, error), error);
}

static gufo_status open_memory(const things *t, uint64_t reserved, gufo_error *error)
{
    gufo_open_options o = {.reserved = {0, 0, reserved}};

    return close_opened(gufo_open_memory(t->bytes, t->size, &o, error), error);
}

static gufo_status open_shards(const things *t, uint64_t reserved, gufo_error *error)
{
    gufo_input input = gufo_input_path(t->path);

    input.reserved[3] = reserved;
    return close_opened(gufo_open_shards(&input, 1, NULL, error), error);
}

static gufo_status read_bytes(void *context, uint64_t offset, void *buffer, size_t size,
                              gufo_error *error)
{
    const things *t = context;

    (void)error;
    memcpy(buffer, t->bytes + offset, size);
    return GUFO_OK;
}

static gufo_status open_source(const things *t, uint64_t reserved, gufo_error *error)
{
    things copy = *t;
    gufo_source source = {
        .context = &copy, .size = t->size, .read = read_bytes, .reserved = {reserved}};

    return close_opened(gufo_open_source(&source, NULL, error), error);
}

static gufo_status open_provider(const things *t, uint64_t reserved, gufo_error *error)
{
    gufo_provider provider = {.reserved = {0, 0, 0, reserved}};

    (void)t;
    return close_opened(gufo_open_provider(&provider, NULL, error), error);
}

static gufo_status validate_input(const things *t, uint64_t reserved, gufo_error *error)
{
    gufo_input input = gufo_input_memory(t->bytes, t->size);

    input.reserved[0] = reserved;
    return gufo_validate(&input, NULL, NULL, NULL, error);
}

static gufo_status validate_options(const things *t, uint64_t reserved, gufo_error *error)
{
    gufo_input input = gufo_input_path(t->path);
    gufo_open_options o = {.reserved = {reserved}};

    return gufo_validate(&input, &o, NULL, NULL, error);
}

static gufo_status check_meaning(const things *t, uint64_t reserved, gufo_error *error)
{
    gufo_check_options o = {.reserved = {0, 0, reserved}};

    return gufo_check(t->model, &o, NULL, NULL, error);
}

static gufo_status make_encoder(const things *t, uint64_t reserved, gufo_error *error)
{
    gufo_encoder_options o = {.reserved = {reserved}};
    gufo_encoder *encoder = gufo_encoder_new(f32(), &o, error);
    gufo_status status = encoder != NULL ? GUFO_OK : error->code;

    (void)t;
    gufo_encoder_free(encoder);
    return status;
}

static gufo_status compare_options(const things *t, uint64_t reserved, gufo_error *error)
{
    gufo_compare_options o = {.reserved = {0, reserved}};

    return gufo_compare(t->model, t->model, &o, NULL, NULL, error);
}

static gufo_status compare_run(const things *t, uint64_t reserved, gufo_error *error)
{
    gufo_run run = {.reserved = {0, reserved}};

    return gufo_compare(t->model, t->model, NULL, &run, NULL, error);
}

static gufo_status decode_run(const things *t, uint64_t reserved, gufo_error *error)
{
    gufo_run run = {.reserved = {reserved}};
    float values[4];

    return gufo_tensor_decode(t->model, &t->tensor, 0, 1, values, &run, error);
}

static gufo_status stats_run(const things *t, uint64_t reserved, gufo_error *error)
{
    gufo_run run = {.reserved = {0, 0, 0, reserved}};
    gufo_stats stats;

    return gufo_stats_scan(t->model, &t->tensor, 0, &run, &stats, error);
}

static gufo_status check_data_run(const things *t, uint64_t reserved, gufo_error *error)
{
    gufo_run run = {.reserved = {0, 0, reserved}};

    return gufo_model_check_data(t->model, &run, NULL, NULL, error);
}

static void reserved_fields_are_refused(void **state)
{
    static const struct {
        const char *what, *struct_name;
        call_fn *call;
    } rows[] = {
        {"gufo_open", "gufo_open_options", open_path},
        {"gufo_open_memory", "gufo_open_options", open_memory},
        {"gufo_open_shards", "gufo_input", open_shards},
        {"gufo_open_source", "gufo_source", open_source},
        {"gufo_open_provider", "gufo_provider", open_provider},
        {"gufo_validate, input", "gufo_input", validate_input},
        {"gufo_validate, options", "gufo_open_options", validate_options},
        {"gufo_check", "gufo_check_options", check_meaning},
        {"gufo_encoder_new", "gufo_encoder_options", make_encoder},
        {"gufo_compare", "gufo_compare_options", compare_options},
        {"gufo_compare, run", "gufo_run", compare_run},
        {"gufo_tensor_decode", "gufo_run", decode_run},
        {"gufo_stats_scan", "gufo_run", stats_run},
        {"gufo_model_check_data", "gufo_run", check_data_run},
    };
    static things t;
    folder f = folder_new();

    (void)state;
    make_things(&t, &f);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_error error = {0};

        check_ok(rows[i].call(&t, 0, &error), &error, "%s", rows[i].what);
        check_status(rows[i].call(&t, 1, &error), GUFO_E_ARGUMENT, &error, "%s", rows[i].what);
        check(strstr(error.message, rows[i].struct_name) != NULL, "%s: %s", rows[i].what,
              error.message);
    }
    gufo_close(t.model);
    folder_remove(&f);
}

/* ---- NULL ---- */

static void options_may_be_null(void **state)
{
    static things t;
    folder f = folder_new();
    gufo_input input;
    gufo_stats stats;
    gufo_encoder *encoder = gufo_encoder_new(f32(), NULL, NULL);
    float values[4];

    (void)state;
    make_things(&t, &f);
    assert_non_null(encoder);
    gufo_encoder_free(encoder);
    input = gufo_input_path(t.path);
    assert_int_equal(gufo_validate(&input, NULL, NULL, NULL, NULL), GUFO_OK);
    assert_int_equal(gufo_check(t.model, NULL, NULL, NULL, NULL), GUFO_OK);
    assert_int_equal(gufo_model_check(t.model, NULL, NULL, NULL), GUFO_OK);
    assert_int_equal(gufo_model_check_data(t.model, NULL, NULL, NULL, NULL), GUFO_OK);
    assert_int_equal(gufo_compare(t.model, t.model, NULL, NULL, NULL, NULL), GUFO_OK);
    assert_int_equal(gufo_tensor_decode(t.model, &t.tensor, 0, 1, values, NULL, NULL), GUFO_OK);
    assert_int_equal(gufo_stats_scan(t.model, &t.tensor, 0, NULL, &stats, NULL), GUFO_OK);
    gufo_close(t.model);
    gufo_close(NULL);
    gufo_encoder_free(NULL);
    folder_remove(&f);
}

static void secondary_outputs_may_be_null(void **state)
{
    static const char named[] = "Mixtral-8x7B-Instruct-v0.1-Q4_K_M.gguf";
    static things t;
    folder f = folder_new();
    uint8_t blocks[4 * 18] = {0}, plain[4 * 18];
    const gufo_element_type *old = gufo_element_type_by_name("Q4_0_4_4");

    (void)state;
    make_things(&t, &f);
    assert_true(gufo_metadata_find(t.model, "general.name", NULL));
    assert_false(gufo_metadata_find(t.model, "general.nothing", NULL));
    assert_true(gufo_metadata_find_str(t.model, gufo_str_of("general.name"), NULL));
    assert_true(gufo_metadata_at(t.model, 0, NULL));
    assert_false(gufo_metadata_at(t.model, 1, NULL));
    assert_true(gufo_tensor_find(t.model, "t", NULL));
    assert_false(gufo_tensor_find_str(t.model, gufo_str_of("u"), NULL));
    assert_true(gufo_tensor_at(t.model, 0, NULL));
    assert_false(gufo_tensor_at(t.model, 1, NULL));
    assert_true(gufo_shard_path_parse("a-00001-of-00002.gguf", NULL, NULL, NULL));
    assert_false(gufo_shard_path_parse("a.gguf", NULL, NULL, NULL));
    assert_true(gufo_name_match(gufo_str_of(named), NULL));
    assert_int_equal(gufo_name_explain(gufo_str_of(named), NULL, NULL), GUFO_OK);
    assert_int_equal(gufo_name_explain(gufo_str_of("a"), NULL, NULL), GUFO_E_MALFORMED);
    assert_true(gufo_tensor_info_find(gufo_str_of("blk.0.attn_q.weight"), NULL));
    assert_null(gufo_key_replacement(gufo_key_at(0), NULL));
    assert_non_null(old);
    assert_int_equal(gufo_repack(old, blocks, 4, 32, plain, NULL, NULL), GUFO_OK);
    gufo_close(t.model);
    folder_remove(&f);
}

static void what_is_missing_is_named(void **state)
{
    gufo_input inputs[] = {gufo_input_path(NULL), gufo_input_source(NULL),
                           gufo_input_memory(NULL, 4)};
    static const char *const fields[] = {"gufo_input.path", "gufo_input.source", "gufo_input.data"};
    const gufo_source mute = {.size = 100};
    const gufo_provider empty = {.entry_count = 1}, no_tensors = {.tensor_count = 1};
    gufo_check_options level = {.level = (gufo_level)99};
    gufo_encoder_options effort = {.effort = (gufo_effort)99};
    gufo_error error;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(inputs); i++) {
        assert_null(gufo_open_shards(&inputs[i], 1, NULL, &error));
        check_status(error.code, GUFO_E_ARGUMENT, &error, "%s", fields[i]);
        check(strstr(error.message, fields[i]) != NULL, "%s", error.message);
        check_status(gufo_validate(&inputs[i], NULL, NULL, NULL, &error), GUFO_E_ARGUMENT, &error,
                     "%s", fields[i]);
    }
    assert_null(gufo_open(NULL, NULL, &error));
    check_status(error.code, GUFO_E_ARGUMENT, &error, "path");
    assert_null(gufo_open_source(&mute, NULL, &error));
    check(strstr(error.message, "gufo_source.read") != NULL, "%s", error.message);
    assert_null(gufo_open_provider(&empty, NULL, &error));
    check(strstr(error.message, "gufo_provider.entry_at") != NULL, "%s", error.message);
    assert_null(gufo_open_provider(&no_tensors, NULL, &error));
    check(strstr(error.message, "gufo_provider.tensor_at") != NULL, "%s", error.message);
    assert_null(gufo_encoder_new(f32(), &effort, &error));
    check_status(error.code, GUFO_E_ARGUMENT, &error, "effort");
    check_status(gufo_check(NULL, &level, NULL, NULL, &error), GUFO_E_ARGUMENT, &error, "level");
    check_str(gufo_str_of(NULL), "", "no text");
    assert_null(gufo_str_of(NULL).data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reserved_fields_are_refused),
        cmocka_unit_test(options_may_be_null),
        cmocka_unit_test(secondary_outputs_may_be_null),
        cmocka_unit_test(what_is_missing_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
