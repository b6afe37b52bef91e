/* Conventions of the whole interface: options that are NULL mean {0}, reserved fields that are not
 * zero are refused, a compulsory field that is missing is named, and outputs that are not the point
 * of a call may be NULL.
 *
 * Each row of a table is a call.  It is made with everything zero first, which must work, so that
 * the refusal is about the reserved field alone. */
#include "../support/check.h"
#include "../support/folder.h"
#include "../support/process.h"

#include <fcntl.h>
#include <unistd.h>

/* A model of one tensor, and what a call may need beside it. */
typedef struct things {
    char path[512];
    gufo_model *model;
    gufo_tensor tensor;
    uint8_t bytes[4096];
    size_t size;
    path_text matrix; /* an importance matrix */
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
    t->model = gufo_model_open(t->path, NULL, NULL);
    assert_non_null(t->model);
    assert_true(gufo_model_tensor_find(t->model, "t", &t->tensor));
}

/* ---- reserved fields ---- */

typedef gufo_status call_fn(const things *t, uint64_t reserved, gufo_error *error);

static gufo_status close_opened(gufo_model *model, const gufo_error *error)
{
    gufo_status status = model != NULL ? GUFO_OK : error->code;

    gufo_model_free(model);
    return status;
}

static gufo_status open_path(const things *t, uint64_t reserved, gufo_error *error)
{
    gufo_open_options o = {.reserved = {0, reserved}};

    return close_opened(gufo_model_open(t->path, &o, error), error);
}

static gufo_status open_memory(const things *t, uint64_t reserved, gufo_error *error)
{
    gufo_open_options o = {.reserved = {0, 0, reserved}};

    return close_opened(gufo_model_open_memory(t->bytes, t->size, &o, error), error);
}

static gufo_status open_shards(const things *t, uint64_t reserved, gufo_error *error)
{
    gufo_input input = gufo_input_path(t->path);

    input.reserved[3] = reserved;
    return close_opened(gufo_model_open_shards(&input, 1, NULL, error), error);
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

    return close_opened(gufo_model_open_source(&source, NULL, error), error);
}

static gufo_status open_provider(const things *t, uint64_t reserved, gufo_error *error)
{
    gufo_provider provider = {.reserved = {0, 0, 0, reserved}};

    (void)t;
    return close_opened(gufo_model_open_provider(&provider, NULL, error), error);
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
    gufo_check_options o = {.reserved = {reserved}};

    return gufo_model_check_content(t->model, &o, NULL, NULL, error);
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

static gufo_status candidates_options(const things *t, uint64_t reserved, gufo_error *error)
{
    const gufo_model *const candidates[] = {t->model};
    gufo_candidates_options o = {.reserved = {0, reserved}};

    return gufo_compare_candidates(t->model, candidates, 1, &o, NULL, NULL, error);
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

static gufo_status recipe_options(const things *t, uint64_t reserved, gufo_error *error)
{
    gufo_recipe_options o = {.reserved = {0, reserved}};
    gufo_recipe_choice choice;

    return gufo_recipe_choose(&o, NULL, &t->tensor, 1, &choice, error);
}

static gufo_status recipe_target(const things *t, uint64_t reserved, gufo_error *error)
{
    gufo_recipe_options o = {.target.reserved = {0, 0, 0, reserved}};
    gufo_recipe_choice choice;

    return gufo_recipe_choose(&o, NULL, &t->tensor, 1, &choice, error);
}

static gufo_status recipe_model(const things *t, uint64_t reserved, gufo_error *error)
{
    gufo_recipe_model model = {.reserved = {reserved}};
    gufo_recipe_choice choice;

    return gufo_recipe_choose(NULL, &model, &t->tensor, 1, &choice, error);
}

static gufo_status quantizer_target(const things *t, uint64_t reserved, gufo_error *error)
{
    gufo_quantize_options o = {.recipe.target.reserved = {0, reserved}};
    gufo_quantizer *q = gufo_quantizer_new(t->model, &o, error);
    gufo_status status = q != NULL ? GUFO_OK : error->code;

    gufo_quantizer_free(q);
    return status;
}

static gufo_status document_options(const things *t, uint64_t reserved, gufo_error *error)
{
    gufo_document_options o = {.reserved = {0, 0, 0, reserved}};
    gufo_document *d = gufo_document_from(t->model, &o, error);
    gufo_status status = d != NULL ? GUFO_OK : error->code;

    gufo_document_free(d);
    return status;
}

static gufo_status layout_options(const things *t, uint64_t reserved, gufo_error *error)
{
    gufo_layout_options o = {.reserved = {0, 0, 0, reserved}};
    gufo_document *d = gufo_document_from(t->model, NULL, error);
    gufo_status status = gufo_document_layout(d, &o, NULL, error);

    gufo_document_free(d);
    return status;
}

static gufo_status stats_run(const things *t, uint64_t reserved, gufo_error *error)
{
    gufo_run run = {.reserved = {0, 0, 0, reserved}};
    gufo_stats stats;

    return gufo_tensor_scan(t->model, &t->tensor, 0, &run, &stats, error);
}

static gufo_status check_data_run(const things *t, uint64_t reserved, gufo_error *error)
{
    gufo_run run = {.reserved = {0, 0, reserved}};

    return gufo_model_check_data(t->model, &run, NULL, NULL, error);
}

static gufo_status rename_move(const things *t, uint64_t reserved, gufo_error *error)
{
    char to[sizeof t->path + 8];
    gufo_move there = {.from = t->path, .to = to, .reserved = {0, reserved}};
    gufo_move back = {.from = to, .to = t->path};
    gufo_status status;

    snprintf(to, sizeof to, "%s.other", t->path);
    status = gufo_rename(&there, 1, NULL, error);
    return status == GUFO_OK ? gufo_rename(&back, 1, NULL, error) : status;
}

static gufo_status allocate_group(const things *t, uint64_t reserved, gufo_error *error)
{
    const gufo_allocate_option option = {.bytes = 1};
    gufo_allocate_group group = {.options = &option, .count = 1, .reserved = {reserved}};
    gufo_allocation found;
    size_t choice;

    (void)t;
    return gufo_allocate(&group, 1, 1, NULL, &choice, &found, error);
}

/* A document with a vocabulary of one token. */
static gufo_document *with_tokens(void)
{
    static const gufo_str tokens[] = {{"a", 1}};
    static const gufo_items items = {GUFO_VALUE_STRING, 1, tokens};
    gufo_document *d = gufo_document_new(NULL, NULL);

    assert_non_null(d);
    assert_int_equal(gufo_document_set_array(d, "tokenizer.ggml.tokens", &items, NULL), GUFO_OK);
    return d;
}

static gufo_status set_elements(const things *t, uint64_t reserved, gufo_error *error)
{
    gufo_element_change change = {.value = {GUFO_VALUE_STRING, .as.str = {"b", 1}},
                                  .reserved = {0, 0, 0, reserved}};
    gufo_document *d = with_tokens();
    gufo_status status = gufo_document_set_elements(d, "tokenizer.ggml.tokens", &change, 1, error);

    (void)t;
    gufo_document_free(d);
    return status;
}

static gufo_status find_tokens(const things *t, uint64_t reserved, gufo_error *error)
{
    gufo_token_search search = {.text = {"a", 1}, .reserved = {reserved}};
    gufo_document *d = with_tokens();
    gufo_status status = gufo_document_find_tokens(d, &search, 1, error);

    (void)t;
    gufo_document_free(d);
    return status;
}

static void reserved_fields_are_refused(void **state)
{
    static const struct {
        const char *what, *struct_name;
        call_fn *call;
    } rows[] = {
        {"gufo_model_open", "gufo_open_options", open_path},
        {"gufo_model_open_memory", "gufo_open_options", open_memory},
        {"gufo_model_open_shards", "gufo_input", open_shards},
        {"gufo_model_open_source", "gufo_source", open_source},
        {"gufo_model_open_provider", "gufo_provider", open_provider},
        {"gufo_validate, input", "gufo_input", validate_input},
        {"gufo_validate, options", "gufo_open_options", validate_options},
        {"gufo_model_check_content", "gufo_check_options", check_meaning},
        {"gufo_encoder_new", "gufo_encoder_options", make_encoder},
        {"gufo_compare", "gufo_compare_options", compare_options},
        {"gufo_compare_candidates", "gufo_candidates_options", candidates_options},
        {"gufo_compare, run", "gufo_run", compare_run},
        {"gufo_tensor_decode", "gufo_run", decode_run},
        {"gufo_recipe_choose", "gufo_recipe_options", recipe_options},
        {"gufo_recipe_choose, target", "gufo_quantize_target", recipe_target},
        {"gufo_recipe_choose, model", "gufo_recipe_model", recipe_model},
        {"gufo_quantizer_new, target", "gufo_quantize_target", quantizer_target},
        {"gufo_document_from", "gufo_document_options", document_options},
        {"gufo_document_layout", "gufo_layout_options", layout_options},
        {"gufo_tensor_scan", "gufo_run", stats_run},
        {"gufo_model_check_data", "gufo_run", check_data_run},
        {"gufo_rename", "gufo_move", rename_move},
        {"gufo_allocate, group", "gufo_allocate_group", allocate_group},
        {"gufo_document_set_elements", "gufo_element_change", set_elements},
        {"gufo_document_find_tokens", "gufo_token_search", find_tokens},
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
    gufo_model_free(t.model);
    folder_remove(&f);
}

/* ---- flags and numbers of a later version ---- */

typedef gufo_status flags_fn(const things *t, uint32_t flags, gufo_error *error);

static gufo_status flags_open(const things *t, uint32_t flags, gufo_error *error)
{
    const gufo_open_options o = {.flags = flags};

    return close_opened(gufo_model_open(t->path, &o, error), error);
}

static gufo_status flags_provider(const things *t, uint32_t flags, gufo_error *error)
{
    const gufo_open_options o = {.flags = flags};
    const gufo_provider provider = {0};

    (void)t;
    return close_opened(gufo_model_open_provider(&provider, &o, error), error);
}

static gufo_status flags_validate(const things *t, uint32_t flags, gufo_error *error)
{
    const gufo_open_options o = {.flags = flags};
    const gufo_input input = gufo_input_path(t->path);

    return gufo_validate(&input, &o, NULL, NULL, error);
}

static gufo_status flags_document(const things *t, uint32_t flags, gufo_error *error)
{
    const gufo_document_options o = {.flags = flags};
    gufo_document *d = gufo_document_from(t->model, &o, error);
    gufo_status status = d != NULL ? GUFO_OK : error->code;

    gufo_document_free(d);
    return status;
}

static gufo_status flags_compare(const things *t, uint32_t flags, gufo_error *error)
{
    const gufo_compare_options o = {.flags = flags};

    return gufo_compare(t->model, t->model, &o, NULL, NULL, error);
}

static gufo_status flags_candidates(const things *t, uint32_t flags, gufo_error *error)
{
    const gufo_model *const candidates[] = {t->model};
    const gufo_candidates_options o = {.flags = flags};

    return gufo_compare_candidates(t->model, candidates, 1, &o, NULL, NULL, error);
}

static gufo_status flags_stats(const things *t, uint32_t flags, gufo_error *error)
{
    gufo_stats stats;

    return gufo_tensor_scan(t->model, &t->tensor, flags, NULL, &stats, error);
}

static gufo_status flags_edit(const things *t, uint32_t flags, gufo_error *error)
{
    const gufo_edit_options o = {.flags = flags};
    gufo_edit *edit = gufo_edit_open(t->path, &o, error);
    gufo_status status = edit != NULL ? GUFO_OK : error->code;

    gufo_edit_free(edit);
    return status;
}

static gufo_status flags_recover(const things *t, uint32_t flags, gufo_error *error)
{
    const gufo_edit_options o = {.flags = flags};

    return gufo_edit_recover(t->path, &o, NULL, error);
}

static gufo_status flags_run(const things *t, uint32_t flags, gufo_error *error)
{
    char out[600];
    const gufo_job_options o = {.path = out, .flags = flags | GUFO_JOB_REPLACE};
    gufo_job *job = gufo_job_strip(t->model, NULL, error);
    gufo_status status;

    (void)snprintf(out, sizeof out, "%s.out", t->path);
    status = gufo_job_run(job, &o, NULL, error);
    gufo_job_free(job);
    return status;
}

static gufo_status flags_job_open(const things *t, uint32_t flags, gufo_error *error)
{
    char out[600];
    const gufo_job_options o = {.path = out, .flags = flags | GUFO_JOB_REPLACE};
    gufo_job *job = gufo_job_strip(t->model, NULL, error);
    gufo_status status;

    (void)snprintf(out, sizeof out, "%s.out", t->path);
    status = gufo_job_open(job, &o, error);
    gufo_job_free(job);
    return status;
}

static gufo_status flags_quantize(const things *t, uint32_t flags, gufo_error *error)
{
    const gufo_quantize_options o = {.flags = flags};
    gufo_quantizer *q = gufo_quantizer_new(t->model, &o, error);
    gufo_status status = q != NULL ? GUFO_OK : error->code;

    gufo_quantizer_free(q);
    return status;
}

/* Every struct and function with flags; the calls work without flags. */
static void unknown_flags_are_refused(void **state)
{
    static const struct {
        const char *what, *named;
        flags_fn *call;
    } rows[] = {
        {"gufo_model_open", "gufo_open_options", flags_open},
        {"gufo_model_open_provider", "gufo_open_options", flags_provider},
        {"gufo_validate", "gufo_open_options", flags_validate},
        {"gufo_document_from", "gufo_document_options", flags_document},
        {"gufo_compare", "gufo_compare_options", flags_compare},
        {"gufo_compare_candidates", "gufo_candidates_options", flags_candidates},
        {"gufo_tensor_scan", "gufo_tensor_scan", flags_stats},
        {"gufo_edit_open", "gufo_edit_options", flags_edit},
        {"gufo_edit_recover", "gufo_edit_options", flags_recover},
        {"gufo_job_run", "gufo_job_options", flags_run},
        {"gufo_job_open", "gufo_job_options", flags_job_open},
        {"gufo_quantizer_new", "gufo_quantize_options", flags_quantize},
    };
    static const uint32_t later[] = {UINT32_C(1) << 20, UINT32_C(1) << 31};
    static things t;
    folder f = folder_new();

    (void)state;
    make_things(&t, &f);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_error error = {0};

        check_ok(rows[i].call(&t, 0, &error), &error, "%s", rows[i].what);
        for (size_t k = 0; k < COUNT_OF(later); k++) {
            check_status(rows[i].call(&t, later[k], &error), GUFO_E_ARGUMENT, &error, "%s",
                         rows[i].what);
            check(strstr(error.message, rows[i].named) != NULL &&
                      strstr(error.message, "flags that this version does not know") != NULL,
                  "%s: %s", rows[i].what, error.message);
        }
    }
    gufo_model_free(t.model);
    folder_remove(&f);
}

static void unknown_numbers_are_refused(void **state)
{
    const gufo_edit_target target = {.in_place = (gufo_edit_in_place)7};
    const gufo_quantize_options effort = {.effort = (gufo_effort)7};
    const gufo_endian_options order = {.order = (gufo_byte_order)7};
    const gufo_layout_options way = {.way = (gufo_layout_way)7};
    static things t;
    folder f = folder_new();
    gufo_error error = {0};
    gufo_edit *edit;

    (void)state;
    make_things(&t, &f);
    edit = gufo_edit_open(t.path, NULL, &error);
    assert_non_null(edit);
    check_status(gufo_edit_plan_for(edit, &target, NULL, &error), GUFO_E_ARGUMENT, &error, "plan");
    check(strstr(error.message, "gufo_edit_target.in_place") != NULL, "%s", error.message);
    check_status(gufo_edit_stream(edit, 1, &target, NULL, &error), GUFO_E_ARGUMENT, &error,
                 "stream");
    check_status(gufo_edit_apply(edit, &target, NULL, NULL, NULL, &error), GUFO_E_ARGUMENT, &error,
                 "apply");
    check_status(gufo_document_layout(gufo_edit_document(edit), &way, NULL, &error),
                 GUFO_E_ARGUMENT, &error, "layout");
    gufo_edit_free(edit);
    assert_null(gufo_quantizer_new(t.model, &effort, &error));
    check(strstr(error.message, "effort 7") != NULL, "%s", error.message);
    assert_null(gufo_job_endian(t.model, &order, &error));
    check(strstr(error.message, "byte order 7") != NULL, "%s", error.message);
    gufo_model_free(t.model);
    folder_remove(&f);
}

/* ---- options that are NULL ---- */

/* Each makes its call with NULL, or with {0}: both must do the same. */
typedef gufo_status null_fn(const things *t, bool null, gufo_error *error);

static gufo_status null_open(const things *t, bool null, gufo_error *error)
{
    const gufo_open_options o = {0};

    return close_opened(gufo_model_open(t->path, null ? NULL : &o, error), error);
}

static gufo_status null_open_fd(const things *t, bool null, gufo_error *error)
{
    const gufo_open_options o = {0};
    int fd = open(t->path, O_RDONLY | O_CLOEXEC);
    gufo_status status = close_opened(gufo_model_open_fd(fd, null ? NULL : &o, error), error);

    assert_int_equal(close(fd), 0);
    return status;
}

static gufo_status null_open_memory(const things *t, bool null, gufo_error *error)
{
    const gufo_open_options o = {0};

    return close_opened(gufo_model_open_memory(t->bytes, t->size, null ? NULL : &o, error), error);
}

static gufo_status null_open_source(const things *t, bool null, gufo_error *error)
{
    const gufo_open_options o = {0};
    things copy = *t;
    gufo_source source = {.context = &copy, .size = t->size, .read = read_bytes};

    return close_opened(gufo_model_open_source(&source, null ? NULL : &o, error), error);
}

static gufo_status null_open_shards(const things *t, bool null, gufo_error *error)
{
    const gufo_open_options o = {0};
    gufo_input input = gufo_input_path(t->path);

    return close_opened(gufo_model_open_shards(&input, 1, null ? NULL : &o, error), error);
}

static gufo_status null_open_provider(const things *t, bool null, gufo_error *error)
{
    const gufo_open_options o = {0};
    const gufo_provider provider = {0};

    (void)t;
    return close_opened(gufo_model_open_provider(&provider, null ? NULL : &o, error), error);
}

static gufo_status null_validate(const things *t, bool null, gufo_error *error)
{
    const gufo_open_options o = {0};
    gufo_input input = gufo_input_path(t->path);

    return gufo_validate(&input, null ? NULL : &o, NULL, NULL, error);
}

static gufo_status null_check(const things *t, bool null, gufo_error *error)
{
    const gufo_check_options o = {0};

    return gufo_model_check_content(t->model, null ? NULL : &o, NULL, NULL, error);
}

static gufo_status null_encoder(const things *t, bool null, gufo_error *error)
{
    const gufo_encoder_options o = {0};
    gufo_encoder *encoder = gufo_encoder_new(f32(), null ? NULL : &o, error);
    gufo_status status = encoder != NULL ? GUFO_OK : error->code;

    (void)t;
    gufo_encoder_free(encoder);
    return status;
}

static gufo_status null_compare(const things *t, bool null, gufo_error *error)
{
    const gufo_compare_options o = {0};

    return gufo_compare(t->model, t->model, null ? NULL : &o, NULL, NULL, error);
}

static gufo_status free_document(gufo_document *d, const gufo_error *error)
{
    gufo_status status = d != NULL ? GUFO_OK : error->code;

    gufo_document_free(d);
    return status;
}

static gufo_status null_document_new(const things *t, bool null, gufo_error *error)
{
    const gufo_document_options o = {0};

    (void)t;
    return free_document(gufo_document_new(null ? NULL : &o, error), error);
}

static gufo_status null_document_from(const things *t, bool null, gufo_error *error)
{
    const gufo_document_options o = {0};

    return free_document(gufo_document_from(t->model, null ? NULL : &o, error), error);
}

static gufo_status null_layout(const things *t, bool null, gufo_error *error)
{
    const gufo_layout_options o = {0};
    gufo_document *d = gufo_document_from(t->model, NULL, error);
    gufo_status status = gufo_document_layout(d, null ? NULL : &o, NULL, error);

    gufo_document_free(d);
    return status;
}

static gufo_status free_job(gufo_job *job, const gufo_error *error)
{
    gufo_status status = job != NULL ? GUFO_OK : error->code;

    gufo_job_free(job);
    return status;
}

static gufo_status null_of_documents(const things *t, bool null, gufo_error *error)
{
    const gufo_job_plan_options o = {0};
    gufo_document *d = gufo_document_from(t->model, NULL, error);
    gufo_status status = free_job(gufo_job_of_documents(&d, 1, null ? NULL : &o, error), error);

    gufo_document_free(d);
    return status;
}

static gufo_status null_run(const things *t, bool null, gufo_error *error)
{
    const gufo_job_options o = {0};
    gufo_job *job = gufo_job_strip(t->model, NULL, error);
    gufo_status status = gufo_job_run(job, null ? NULL : &o, NULL, error);

    gufo_job_free(job);
    return status;
}

static gufo_status null_job_open(const things *t, bool null, gufo_error *error)
{
    const gufo_job_options o = {0};
    gufo_job *job = gufo_job_strip(t->model, NULL, error);
    gufo_status status = gufo_job_open(job, null ? NULL : &o, error);

    gufo_job_free(job);
    return status;
}

static gufo_status null_split(const things *t, bool null, gufo_error *error)
{
    const gufo_split_options o = {0};

    return free_job(gufo_job_split(t->model, null ? NULL : &o, error), error);
}

static gufo_status null_merge(const things *t, bool null, gufo_error *error)
{
    const gufo_merge_options o = {0};

    return free_job(gufo_job_merge(t->model, null ? NULL : &o, error), error);
}

static gufo_status null_endian(const things *t, bool null, gufo_error *error)
{
    const gufo_endian_options o = {0};

    return free_job(gufo_job_endian(t->model, null ? NULL : &o, error), error);
}

static gufo_status null_strip(const things *t, bool null, gufo_error *error)
{
    const gufo_strip_options o = {0};

    return free_job(gufo_job_strip(t->model, null ? NULL : &o, error), error);
}

static gufo_status null_extract(const things *t, bool null, gufo_error *error)
{
    const gufo_extract_options o = {0};
    const uint64_t first = 0;

    return free_job(gufo_job_extract(t->model, &first, 1, null ? NULL : &o, error), error);
}

static gufo_status null_edit_open(const things *t, bool null, gufo_error *error)
{
    const gufo_edit_options o = {0};
    gufo_edit *edit = gufo_edit_open(t->path, null ? NULL : &o, error);
    gufo_status status = edit != NULL ? GUFO_OK : error->code;

    gufo_edit_free(edit);
    return status;
}

static gufo_status null_recover(const things *t, bool null, gufo_error *error)
{
    const gufo_edit_options o = {0};

    return gufo_edit_recover(t->path, null ? NULL : &o, NULL, error);
}

static gufo_status null_edit_apply(const things *t, bool null, gufo_error *error)
{
    const gufo_edit_target o = {0};
    gufo_edit *edit = gufo_edit_open(t->path, NULL, error);
    gufo_status status = gufo_edit_plan_for(edit, null ? NULL : &o, NULL, error);

    if (status == GUFO_OK)
        status = gufo_edit_apply(edit, null ? NULL : &o, NULL, NULL, NULL, error);
    gufo_edit_free(edit);
    return status;
}

static gufo_status null_edit_stream(const things *t, bool null, gufo_error *error)
{
    const gufo_edit_target o = {0};
    gufo_edit *edit = gufo_edit_open(t->path, NULL, error);
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    gufo_status status = gufo_edit_stream(edit, fd, null ? NULL : &o, NULL, error);

    assert_int_equal(close(fd), 0);
    gufo_edit_free(edit);
    return status;
}

/* One entry of one value, in the old format. */
static const uint8_t matrix_bytes[] = {1, 0, 0, 0, 1, 0, 0, 0, 't', 1, 0,
                                       0, 0, 1, 0, 0, 0, 0, 0, 128, 63};

static gufo_status close_matrix(gufo_imatrix *m, const gufo_error *error)
{
    gufo_status status = m != NULL ? GUFO_OK : error->code;

    gufo_imatrix_free(m);
    return status;
}

static gufo_status null_imatrix_open(const things *t, bool null, gufo_error *error)
{
    const gufo_imatrix_options o = {0};

    return close_matrix(gufo_imatrix_open(t->matrix.text, null ? NULL : &o, error), error);
}

static gufo_status null_imatrix_memory(const things *t, bool null, gufo_error *error)
{
    const gufo_imatrix_options o = {0};

    (void)t;
    return close_matrix(
        gufo_imatrix_open_memory(matrix_bytes, sizeof matrix_bytes, null ? NULL : &o, error),
        error);
}

static gufo_status null_imatrix_merge(const things *t, bool null, gufo_error *error)
{
    const gufo_imatrix_merge_options o = {0};
    gufo_imatrix *m = gufo_imatrix_open(t->matrix.text, NULL, error);
    const gufo_imatrix *all = m;
    gufo_status status = close_matrix(gufo_imatrix_merge(&all, 1, null ? NULL : &o, error), error);

    gufo_imatrix_free(m);
    return status;
}

static gufo_status null_job_imatrix(const things *t, bool null, gufo_error *error)
{
    const gufo_job_plan_options o = {0};
    gufo_imatrix *m = gufo_imatrix_open(t->matrix.text, NULL, error);
    gufo_status status =
        free_job(gufo_job_imatrix(m, GUFO_IMATRIX_GGUF, null ? NULL : &o, error), error);

    gufo_imatrix_free(m);
    return status;
}

static gufo_status null_recipe(const things *t, bool null, gufo_error *error)
{
    const gufo_recipe_options o = {0};
    const gufo_recipe_model model = {0};
    gufo_recipe_choice choice;
    gufo_status status =
        gufo_recipe_choose(null ? NULL : &o, null ? NULL : &model, &t->tensor, 1, &choice, error);

    assert_int_equal(choice.type, t->tensor.type);
    return status;
}

static gufo_status null_quantizer(const things *t, bool null, gufo_error *error)
{
    const gufo_quantize_options o = {0};
    gufo_quantizer *q = gufo_quantizer_new(t->model, null ? NULL : &o, error);
    gufo_status status = q != NULL ? GUFO_OK : error->code;

    gufo_quantizer_free(q);
    return status;
}

static void null_options_mean_zeros(void **state)
{
    static const struct {
        const char *what;
        null_fn *call;
        gufo_status status;
        const char *named; /* in the error */
    } rows[] = {
        {"gufo_model_open", null_open, GUFO_OK, NULL},
        {"gufo_model_open_fd", null_open_fd, GUFO_OK, NULL},
        {"gufo_model_open_memory", null_open_memory, GUFO_OK, NULL},
        {"gufo_model_open_source", null_open_source, GUFO_OK, NULL},
        {"gufo_model_open_shards", null_open_shards, GUFO_OK, NULL},
        {"gufo_model_open_provider", null_open_provider, GUFO_OK, NULL},
        {"gufo_validate", null_validate, GUFO_OK, NULL},
        {"gufo_model_check_content", null_check, GUFO_OK, NULL},
        {"gufo_encoder_new", null_encoder, GUFO_OK, NULL},
        {"gufo_compare", null_compare, GUFO_OK, NULL},
        {"gufo_document_new", null_document_new, GUFO_OK, NULL},
        {"gufo_document_from", null_document_from, GUFO_OK, NULL},
        {"gufo_document_layout", null_layout, GUFO_OK, NULL},
        {"gufo_job_of_documents", null_of_documents, GUFO_OK, NULL},
        {"gufo_job_run", null_run, GUFO_E_ARGUMENT, "gufo_job_options.path"},
        {"gufo_job_open", null_job_open, GUFO_E_ARGUMENT, "gufo_job_options.path"},
        {"gufo_job_split", null_split, GUFO_E_ARGUMENT, "gufo_split_options.max_size"},
        {"gufo_job_merge", null_merge, GUFO_E_SHARDS, "not part of a set"},
        {"gufo_job_endian", null_endian, GUFO_E_ARGUMENT, "little-endian already"},
        {"gufo_job_strip", null_strip, GUFO_OK, NULL},
        {"gufo_job_extract", null_extract, GUFO_OK, NULL},
        {"gufo_edit_open", null_edit_open, GUFO_OK, NULL},
        {"gufo_edit_recover", null_recover, GUFO_OK, NULL},
        {"gufo_edit_apply", null_edit_apply, GUFO_OK, NULL},
        {"gufo_edit_stream", null_edit_stream, GUFO_OK, NULL},
        {"gufo_imatrix_open", null_imatrix_open, GUFO_OK, NULL},
        {"gufo_imatrix_open_memory", null_imatrix_memory, GUFO_OK, NULL},
        {"gufo_imatrix_merge", null_imatrix_merge, GUFO_OK, NULL},
        {"gufo_job_imatrix", null_job_imatrix, GUFO_OK, NULL},
        {"gufo_recipe_choose", null_recipe, GUFO_OK, NULL},
        {"gufo_quantizer_new", null_quantizer, GUFO_OK, NULL},
    };
    static things t;
    folder f = folder_new();

    (void)state;
    make_things(&t, &f);
    t.matrix = folder_path(&f, "matrix.dat");
    write_file(t.matrix.text, matrix_bytes, sizeof matrix_bytes);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_error zeros = {0}, null = {0};

        check_status(rows[i].call(&t, false, &zeros), rows[i].status, &zeros, "%s: {0}",
                     rows[i].what);
        check_status(rows[i].call(&t, true, &null), rows[i].status, &null, "%s: NULL",
                     rows[i].what);
        assert_string_equal(null.message, zeros.message);
        check(rows[i].named == NULL || strstr(null.message, rows[i].named) != NULL, "%s: %s",
              rows[i].what, null.message);
    }
    gufo_model_free(t.model);
    folder_remove(&f);
}

/* ---- NULL ---- */

static void work_is_run_without_a_run(void **state)
{
    static things t;
    folder f = folder_new();
    gufo_stats stats;
    float values[4];

    (void)state;
    make_things(&t, &f);
    assert_int_equal(gufo_model_check_data(t.model, NULL, NULL, NULL, NULL), GUFO_OK);
    assert_int_equal(gufo_compare(t.model, t.model, NULL, NULL, NULL, NULL), GUFO_OK);
    assert_int_equal(gufo_tensor_decode(t.model, &t.tensor, 0, 1, values, NULL, NULL), GUFO_OK);
    assert_int_equal(gufo_tensor_scan(t.model, &t.tensor, 0, NULL, &stats, NULL), GUFO_OK);
    gufo_model_free(t.model);
    gufo_model_free(NULL);
    gufo_encoder_free(NULL);
    folder_remove(&f);
}

static void lists_without_outputs(const things *t, const folder *f)
{
    path_text path = folder_path(f, "matrix.dat");
    gufo_quantizer *q = gufo_quantizer_new(t->model, NULL, NULL);
    gufo_document *d = gufo_document_from(t->model, NULL, NULL);
    gufo_job *job = gufo_job_strip(t->model, NULL, NULL);
    gufo_imatrix *m;

    write_file(path.text, matrix_bytes, sizeof matrix_bytes);
    m = gufo_imatrix_open(path.text, NULL, NULL);
    assert_true(q != NULL && d != NULL && job != NULL && m != NULL);
    assert_true(gufo_quantizer_tensor_at(q, 0, NULL));
    assert_false(gufo_quantizer_tensor_at(q, 1, NULL));
    assert_true(gufo_imatrix_entry_at(m, 0, NULL));
    assert_false(gufo_imatrix_entry_at(m, 1, NULL));
    assert_false(gufo_imatrix_dataset_at(m, gufo_imatrix_entry_count(m), NULL));
    assert_true(gufo_document_entry_at(d, 0, NULL));
    assert_true(gufo_document_tensor_at(d, 0, NULL));
    assert_true(gufo_document_tensor_find(d, "t", NULL, NULL));
    assert_true(gufo_job_output_at(job, 0, NULL));
    gufo_imatrix_free(m);
    gufo_job_free(job);
    gufo_document_free(d);
    gufo_quantizer_free(q);
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
    assert_true(gufo_model_find(t.model, "general.name", NULL));
    assert_false(gufo_model_find(t.model, "general.nothing", NULL));
    assert_true(gufo_model_find_str(t.model, gufo_str_of("general.name"), NULL));
    assert_true(gufo_model_entry_at(t.model, 0, NULL));
    assert_false(gufo_model_entry_at(t.model, 1, NULL));
    assert_true(gufo_model_tensor_find(t.model, "t", NULL));
    assert_false(gufo_model_tensor_find_str(t.model, gufo_str_of("u"), NULL));
    assert_true(gufo_model_tensor_at(t.model, 0, NULL));
    assert_false(gufo_model_tensor_at(t.model, 1, NULL));
    assert_true(gufo_shard_path_parse("a-00001-of-00002.gguf", NULL, NULL, NULL));
    assert_false(gufo_shard_path_parse("a.gguf", NULL, NULL, NULL));
    assert_true(gufo_name_match(gufo_str_of(named), NULL));
    assert_int_equal(gufo_name_explain(gufo_str_of(named), NULL, NULL), GUFO_OK);
    assert_int_equal(gufo_name_explain(gufo_str_of("a"), NULL, NULL), GUFO_E_MALFORMED);
    assert_true(gufo_tensor_info_find("blk.0.attn_q.weight", NULL));
    assert_null(gufo_key_replacement(gufo_key_at(0), NULL));
    assert_true(gufo_level_by_name("model", NULL));
    assert_true(gufo_quantize_target_by_name("Q4_K_M", false, NULL));
    assert_false(gufo_quantize_target_by_name("Q99", false, NULL));
    lists_without_outputs(&t, &f);
    assert_non_null(old);
    assert_int_equal(gufo_repack(old, blocks, 4, 32, plain, NULL, NULL), GUFO_OK);
    gufo_model_free(t.model);
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
        assert_null(gufo_model_open_shards(&inputs[i], 1, NULL, &error));
        check_status(error.code, GUFO_E_ARGUMENT, &error, "%s", fields[i]);
        check(strstr(error.message, fields[i]) != NULL, "%s", error.message);
        check_status(gufo_validate(&inputs[i], NULL, NULL, NULL, &error), GUFO_E_ARGUMENT, &error,
                     "%s", fields[i]);
    }
    assert_null(gufo_model_open(NULL, NULL, &error));
    check_status(error.code, GUFO_E_ARGUMENT, &error, "path");
    assert_null(gufo_model_open_source(&mute, NULL, &error));
    check(strstr(error.message, "gufo_source.read") != NULL, "%s", error.message);
    assert_null(gufo_model_open_provider(NULL, NULL, &error));
    check(strstr(error.message, "the provider is missing") != NULL, "%s", error.message);
    assert_null(gufo_imatrix_open(NULL, NULL, &error));
    check_status(error.code, GUFO_E_ARGUMENT, &error, "matrix");
    check(strstr(error.message, "the path is missing") != NULL, "%s", error.message);
    assert_null(gufo_model_open_provider(&empty, NULL, &error));
    check(strstr(error.message, "gufo_provider.entry_at") != NULL, "%s", error.message);
    assert_null(gufo_model_open_provider(&no_tensors, NULL, &error));
    check(strstr(error.message, "gufo_provider.tensor_at") != NULL, "%s", error.message);
    assert_null(gufo_encoder_new(f32(), &effort, &error));
    check_status(error.code, GUFO_E_ARGUMENT, &error, "effort");
    check_status(gufo_model_check_content(NULL, &level, NULL, NULL, &error), GUFO_E_ARGUMENT,
                 &error, "level");
    check_str(gufo_str_of(NULL), "", "no text");
    assert_null(gufo_str_of(NULL).data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reserved_fields_are_refused),
        cmocka_unit_test(unknown_flags_are_refused),
        cmocka_unit_test(unknown_numbers_are_refused),
        cmocka_unit_test(null_options_mean_zeros),
        cmocka_unit_test(work_is_run_without_a_run),
        cmocka_unit_test(secondary_outputs_may_be_null),
        cmocka_unit_test(what_is_missing_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
