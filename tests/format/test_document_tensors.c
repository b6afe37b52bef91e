/* The tensors of a document: adding, copying, renaming, dropping, retyping, and how it then differs
 * from its model. */
#include "../support/document.h"
#include "../support/good.h"
#include "../support/openers.h"

static const gufo_element_type *type_of(uint32_t id)
{
    return gufo_element_type_by_id(id);
}

static gufo_status add(gufo_document *d, const char *name, uint32_t type, uint64_t columns,
                       uint64_t rows, gufo_error *error)
{
    return gufo_document_add_tensor(d, name, type_of(type), 2, (uint64_t[]){columns, rows}, error);
}

static void check_names(const gufo_document *d, const char *const *names, size_t count)
{
    gufo_document_tensor t;
    uint64_t index;

    check_u64(gufo_document_tensor_count(d), count, "tensors");
    for (size_t i = 0; i < count; i++) {
        check(gufo_document_tensor_at(d, i, &t), "tensor %zu", i);
        check_str(t.name, names[i], "tensor %zu", i);
        check(gufo_document_tensor_find(d, names[i], &index, NULL), "%s", names[i]);
        check_u64(index, i, "%s", names[i]);
    }
    check(!gufo_document_tensor_at(d, count, &t), "past the end");
}

/* ---- new ones ------------------------------------------------------------------------------- */

static void test_adding(void **state)
{
    static const char *const names[] = {"a", "b", "scalar", "unknown"};
    gufo_document *d = document_for((encoding){3, false}, 0);
    gufo_error error = no_error();
    gufo_document_tensor t;
    gufo_layout layout;

    (void)state;
    check_ok(add(d, "a", GUFO_TYPE_Q4_0, 64, 3, &error), &error, "a");
    check_ok(add(d, "b", GUFO_TYPE_F16, 5, 3, &error), &error, "b");
    check_ok(gufo_document_add_tensor(d, "scalar", type_of(GUFO_TYPE_F32), 0, NULL, &error), &error,
             "scalar");
    check_ok(gufo_document_add_raw_tensor(d, "unknown", 57, 1, (uint64_t[]){3}, 77, &error), &error,
             "unknown");
    check_names(d, names, 4);
    check(gufo_document_tensor_at(d, 0, &t), "a");
    check_u64(t.size, 108, "a");
    check_u64(t.dims[1], 3, "a");
    check_u64(t.dims[2], 1, "beyond n_dims");
    check_u64(t.offset, GUFO_NO_OFFSET, "before the layout");
    check_u64(t.origin, GUFO_NO_ORIGIN, "new");
    check(t.from == NULL && !t.swapped, "new");
    check_ok(gufo_document_layout(d, NULL, &layout, &error), &error, "layout");
    check(gufo_document_tensor_at(d, 3, &t), "unknown");
    check_u64(t.offset, layout.data_offset + 128 + 32 + 32, "unknown");
    check_u64(layout.file_size, t.offset + 96, "file");
    check_u64(layout.tensor_count, 4, "file");
    gufo_document_free(d);
}

#define NAME65 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const struct {
    const char *label;
    gufo_str name;
    uint32_t type, n_dims;
    uint64_t dims[4];
    gufo_status strict, as_read;
    const char *rule;
} bad_tensors[] = {
    {"empty", {"", 0}, GUFO_TYPE_F32, 1, {4}, GUFO_E_MALFORMED, GUFO_OK, "name-empty"},
    {"65 bytes", {NAME65, 65}, GUFO_TYPE_F32, 1, {4}, GUFO_E_LIMIT, GUFO_E_LIMIT, "name-length"},
    {"NUL", {"a\0b", 3}, GUFO_TYPE_F32, 1, {4}, GUFO_E_MALFORMED, GUFO_E_MALFORMED, "name-nul"},
    {"UTF-8", {"\xff", 1}, GUFO_TYPE_F32, 1, {4}, GUFO_E_MALFORMED, GUFO_OK, "name-utf8"},
    {"dims", {"a", 1}, GUFO_TYPE_F32, 5, {1}, GUFO_E_LIMIT, GUFO_E_LIMIT, "dims-count"},
    {"rows", {"b", 1}, GUFO_TYPE_Q4_0, 1, {33}, GUFO_E_MALFORMED, GUFO_E_MALFORMED, "row-blocks"},
    {"bytes",
     {"c", 1},
     GUFO_TYPE_F32,
     1,
     {UINT64_C(1) << 62},
     GUFO_E_MALFORMED,
     GUFO_E_MALFORMED,
     "dims-overflow"},
    {"removed", {"d", 1}, GUFO_TYPE_Q4_0_4_4, 1, {32}, GUFO_E_MALFORMED, GUFO_OK, "type-removed"},
    {"twice",
     {"here", 4},
     GUFO_TYPE_F32,
     1,
     {4},
     GUFO_E_MALFORMED,
     GUFO_E_MALFORMED,
     "name-duplicate"},
};

static void test_refusals(void **state)
{
    static const uint32_t flags[] = {0, GUFO_DOCUMENT_AS_READ};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad_tensors) * 2; i++) {
        gufo_document *d = document_for((encoding){3, false}, flags[i % 2]);
        gufo_status expected = i % 2 == 0 ? bad_tensors[i / 2].strict : bad_tensors[i / 2].as_read;
        gufo_error error = no_error();
        gufo_status status;

        check_ok(add(d, "here", GUFO_TYPE_F32, 32, 1, &error), &error, "here");
        status = gufo_document_add_tensor_str(
            d, bad_tensors[i / 2].name, type_of(bad_tensors[i / 2].type), bad_tensors[i / 2].n_dims,
            bad_tensors[i / 2].dims, &error);
        if (expected == GUFO_OK)
            check_ok(status, &error, "%s", bad_tensors[i / 2].label);
        else
            check_rule(status, expected, &error, bad_tensors[i / 2].rule, bad_tensors[i / 2].label);
        check_u64(gufo_document_tensor_count(d), 1 + (expected == GUFO_OK), "%s",
                  bad_tensors[i / 2].label);
        gufo_document_free(d);
    }
}

/* A type without layout has no size that could follow. */
static void test_types_without_layout(void **state)
{
    const gufo_element_type *old = type_of(4);
    gufo_error error = no_error();

    (void)state;
    assert_non_null(old);
    for (uint32_t flags = 0; flags < 2; flags++) {
        gufo_document *d = document_for((encoding){3, false}, flags);
        gufo_status status = gufo_document_add_tensor(d, "a", old, 1, (uint64_t[]){32}, &error);

        check_status(status, flags == 0 ? GUFO_E_MALFORMED : GUFO_E_ARGUMENT, &error, "add");
        check_ok(gufo_document_add_raw_tensor(d, "a", 4, 1, (uint64_t[]){32}, 20, &error), &error,
                 "raw");
        status = gufo_document_add_raw_tensor(d, "b", 4, 1, (uint64_t[]){32}, 0, &error);
        check_status(status, GUFO_E_ARGUMENT, &error, "no size");
        status =
            gufo_document_add_raw_tensor(d, "b", GUFO_TYPE_F32, 1, (uint64_t[]){32}, 127, &error);
        check_status(status, GUFO_E_ARGUMENT, &error, "a size that is not right");
        check_u64(gufo_document_tensor_count(d), 1, "one");
        gufo_document_free(d);
    }
}

/* ---- copies --------------------------------------------------------------------------------- */

static bool is_even(void *context, gufo_str name)
{
    ++*(size_t *)context;
    return strtoul(name.data + strlen("blk."), NULL, 10) % 2 == 0;
}

static void test_copying(void **state)
{
    builder b = good_build_named("many", (encoding){3, true});
    gufo_model *model = open_built(&b, "many");
    gufo_document *d = document_for((encoding){3, true}, 0);
    gufo_error error = no_error();
    uint64_t copied = 0, count = gufo_model_tensor_count(model);
    gufo_document_tensor t;
    gufo_tensor was;
    size_t asked = 0;

    (void)state;
    check_ok(gufo_document_copy_tensors(d, model, is_even, &asked, &copied, &error), &error,
             "even");
    check_u64(asked, count, "asked");
    check_u64(copied, gufo_document_tensor_count(d), "copied");
    check(copied > 0 && copied < count, "some");
    for (uint64_t i = 0; gufo_document_tensor_at(d, i, &t); i++) {
        check(t.from == model && gufo_model_tensor_at(model, t.origin, &was), "origin");
        check_view(t.name, was.name, "origin");
        check_u64(t.size, was.size, "origin");
        check(!t.swapped, "the same order");
    }
    check_rule(gufo_document_copy_tensors(d, model, NULL, NULL, &copied, &error), GUFO_E_MALFORMED,
               &error, "name-duplicate", "again");
    check_status(gufo_document_copy_tensor(d, model, count, &error), GUFO_E_RANGE, &error, "range");
    gufo_document_drop_tensors(d, NULL, NULL, &copied);
    check_u64(copied, count / 2, "dropped");
    check_ok(gufo_document_set_encoding(d, 3, GUFO_LITTLE_ENDIAN, &error), &error, "little");
    check_ok(gufo_document_copy_tensor(d, model, 7, &error), &error, "one");
    check(gufo_document_tensor_at(d, 0, &t), "one");
    check(t.swapped && t.origin == 7, "its bytes have to be swapped");
    gufo_document_free(d);
    gufo_model_free(model);
    builder_free(&b);
}

/* Bytes that nobody can swap never get a label of the other order: neither when the tensor comes,
 * nor when the order changes; one that is decoded may. */
static void test_byte_order(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        builder b = builder_new((encoding){3, big == 1});
        gufo_byte_order same = big ? GUFO_BIG_ENDIAN : GUFO_LITTLE_ENDIAN;
        gufo_byte_order other = big ? GUFO_LITTLE_ENDIAN : GUFO_BIG_ENDIAN;
        gufo_error error = no_error();
        gufo_document *d = document_for((encoding){3, big == 0}, GUFO_DOCUMENT_AS_READ);
        gufo_model *model;

        builder_header(&b, 2, 0);
        builder_tensor(&b, "groups", GUFO_TYPE_Q4_0_4_4, 2, (uint64_t[]){32, 3}, 0);
        builder_tensor(&b, "unknown", 57, 1, (uint64_t[]){4}, 64);
        builder_pad(&b, 32);
        builder_pattern(&b, 1, 96);
        model = open_built(&b, "order");
        check_status(gufo_document_copy_tensor(d, model, 0, &error), GUFO_E_TYPE, &error, "groups");
        check_status(gufo_document_copy_tensor(d, model, 1, &error), GUFO_E_TYPE, &error, "57");
        check_u64(gufo_document_tensor_count(d), 0, "none");
        check_ok(gufo_document_set_encoding(d, 3, same, &error), &error, "same");
        check_ok(gufo_document_copy_tensor(d, model, 0, &error), &error, "groups");
        check_status(gufo_document_set_encoding(d, 3, other, &error), GUFO_E_TYPE, &error, "other");
        check_u64(gufo_document_byte_order(d), same, "as it was");
        check_ok(gufo_document_retype(d, "groups", type_of(GUFO_TYPE_Q8_0), &error), &error,
                 "retype");
        check_ok(gufo_document_set_encoding(d, 3, other, &error), &error, "decoded");
        gufo_document_free(d);
        gufo_model_free(model);
        builder_free(&b);
    }
}

/* ---- changes -------------------------------------------------------------------------------- */

static void test_changing(void **state)
{
    static const char *const names[] = {"b", "x", "d"};
    gufo_document *d = document_for((encoding){3, false}, 0);
    gufo_error error = no_error();
    uint64_t size, dropped;
    gufo_document_tensor t;
    gufo_status status;

    (void)state;
    for (const char *name = "abcd"; *name != '\0'; name++)
        check_ok(add(d, (char[]){*name, '\0'}, GUFO_TYPE_F32, 32, 2, &error), &error, "add");
    size = gufo_document_metadata_size(d);
    check_u64(size, 24 + 4 * (8 + 1 + 4 + 2 * 8 + 4 + 8), "infos");
    check(gufo_document_drop_tensor(d, "a"), "a");
    check(!gufo_document_drop_tensor(d, "a"), "a again");
    check_ok(gufo_document_rename_tensor(d, "c", "long.name", &error), &error, "c");
    check_u64(gufo_document_metadata_size(d), size - (8 + 1 + 4 + 16 + 4 + 8) + 8, "infos");
    check(gufo_document_tensor_find(d, "long.name", NULL, &t), "long.name");
    check_ok(gufo_document_rename_tensor_str(d, t.name, gufo_str_of("x"), &error), &error, "x");
    check_ok(gufo_document_rename_tensor(d, "x", "x", &error), &error, "x");
    check_names(d, names, 3);
    status = gufo_document_rename_tensor(d, "a", "y", &error);
    check_status(status, GUFO_E_NOT_FOUND, &error, "a");
    status = gufo_document_rename_tensor(d, "b", "d", &error);
    check_status(status, GUFO_E_EXISTS, &error, "d");
    status = gufo_document_rename_tensor(d, "b", "", &error);
    check_rule(status, GUFO_E_MALFORMED, &error, "name-empty", "empty");
    check_ok(gufo_document_retype(d, "d", type_of(GUFO_TYPE_Q8_0), &error), &error, "d");
    check(gufo_document_tensor_find(d, "d", NULL, &t), "d");
    check_u64(t.size, 2 * 34, "d");
    status = gufo_document_retype(d, "d", type_of(GUFO_TYPE_Q4_K), &error);
    check_rule(status, GUFO_E_MALFORMED, &error, "row-blocks", "Q4_K");
    status = gufo_document_retype(d, "a", type_of(GUFO_TYPE_F16), &error);
    check_status(status, GUFO_E_NOT_FOUND, &error, "a");
    gufo_document_drop_tensors(d, NULL, NULL, &dropped);
    check_u64(dropped, 3, "all");
    check_u64(gufo_document_metadata_size(d), 24, "none");
    gufo_document_free(d);
}

/* ---- differences ---------------------------------------------------------------------------- */

typedef struct log_of_changes {
    char text[1024];
    size_t len;
} log_of_changes;

static void note(void *context, const gufo_change *change)
{
    static const char *const kinds[] = {"-", "r", "c", "+", "tr", "t-", "tt", "t+"};
    log_of_changes *l = context;

    l->len += (size_t)snprintf(l->text + l->len, sizeof l->text - l->len, "%s %.*s %.*s%s%s; ",
                               kinds[change->kind], (int)change->old_name.len,
                               change->old_name.data, (int)change->new_name.len,
                               change->new_name.data, change->old_value != NULL ? " old" : "",
                               change->new_value != NULL ? " new" : "");
}

static void check_changes(const gufo_document *d, const char *expected)
{
    log_of_changes l = {.len = 0};
    gufo_error error = no_error();

    check_ok(gufo_document_changes(d, note, &l, &error), &error, "changes");
    check_str(((gufo_str){l.text, l.len}), expected, "changes");
}

static void build_model(builder *b)
{
    builder_header(b, 3, 5);
    builder_kv_u32(b, "a", 1);
    builder_kv_str(b, "b", "text");
    builder_kv_str(b, GUFO_PADDING_KEY, "        ");
    builder_kv_array(b, "c", GUFO_VALUE_STRING, 2);
    builder_str(b, "x");
    builder_str(b, "y");
    builder_kv_u32(b, "d", 4);
    for (const char *name = "uvw"; *name != '\0'; name++)
        builder_tensor(b, (char[]){*name, '\0'}, GUFO_TYPE_F32, 1, (uint64_t[]){32},
                       128 * (uint64_t)(name[0] - 'u'));
    builder_pad(b, 32);
    builder_zeros(b, 3 * 128);
}

static void test_differences(void **state)
{
    (void)state;
    for (size_t i = 0; i < ENCODING_COUNT; i++) {
        builder b = builder_new(all_encodings[i]);
        gufo_error e = no_error();
        const gufo_str texts[] = {{"x", 1}, {"y", 1}};
        const gufo_items same = {GUFO_VALUE_STRING, 2, texts}, less = {GUFO_VALUE_STRING, 1, texts};
        gufo_document_entry entry;
        gufo_document *d;
        gufo_model *model;

        build_model(&b);
        model = open_built(&b, "model");
        d = document_of(model, 0, "model");
        check_changes(d, "");
        check_ok(gufo_document_set_text(d, "b", "text", &e), &e, "b");
        check_ok(gufo_document_set_array(d, "c", &same, &e), &e, "c");
        check_changes(d, "");
        check_ok(gufo_document_set_array(d, "c", &less, &e), &e, "c");
        check_ok(gufo_document_set_u64(d, "d", 4, &e), &e, "d");
        (void)gufo_document_remove_key(d, "a");
        check_ok(gufo_document_set_u32(d, "a", 1, &e), &e, "a");
        check_ok(gufo_document_rename(d, "d", "e", &e), &e, "d");
        check_ok(gufo_document_rename_tensor(d, "v", "q", &e), &e, "v");
        check_ok(gufo_document_retype(d, "q", type_of(GUFO_TYPE_F16), &e), &e, "q");
        (void)gufo_document_drop_tensor(d, "u");
        check_ok(add(d, "u", GUFO_TYPE_F32, 32, 1, &e), &e, "u");
        check_changes(d, "- a a old; c c c old new; r d e; c e e old new; + a a new; "
                         "t- u u; tr v q; tt q q; t+ u u; ");
        check(gufo_document_find(d, "e", &entry), "e");
        check_u64(entry.origin, 4, "e was entry 4, gufo.padding counted");
        gufo_document_free(d);
        d = gufo_document_new(NULL, NULL);
        check_ok(gufo_document_copy_entries(d, model, NULL, NULL, NULL, &e), &e, "copy");
        check_changes(d, "+ a a new; + b b new; + c c new; + d d new; ");
        gufo_document_free(d);
        gufo_model_free(model);
        builder_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adding),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_types_without_layout),
        cmocka_unit_test(test_copying),
        cmocka_unit_test(test_byte_order),
        cmocka_unit_test(test_changing),
        cmocka_unit_test(test_differences),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
