/* Mending: what a finding says is the one right answer becomes a change. */
#include "../support/disk.h"
#include "../support/edit.h"
#include "../support/openers.h"

#include <string.h>

typedef struct fixing {
    folder f;
    path_text in, out;
    gufo_edit *edit;
    bool pack;
} fixing;

static fixing begin(encoding e)
{
    fixing m = {.f = folder_new()};
    gufo_error error = no_error();

    m.in = folder_path(&m.f, "model.gguf");
    m.out = folder_path(&m.f, "out.gguf");
    write_small_model(m.in.text, e);
    m.edit = gufo_edit_open(m.in.text, NULL, &error);
    check(m.edit != NULL, "%s", error.message);
    return m;
}

static gufo_fix fix_of(gufo_fix_kind kind, const char *key, gufo_value value)
{
    return (gufo_fix){.kind = kind, .key = gufo_str_of(key), .value = value};
}

static gufo_value number(uint64_t u)
{
    return (gufo_value){.type = GUFO_VALUE_UINT32, .as.u = u};
}

static gufo_value text(const char *s)
{
    return (gufo_value){.type = GUFO_VALUE_STRING, .as.str = gufo_str_of(s)};
}

static void apply_fix(const fixing *m, gufo_fix fix)
{
    gufo_error error = no_error();

    check_ok(gufo_document_fix(gufo_edit_document(m->edit), &fix, &error), &error, "fix");
}

static void refuse(const fixing *m, gufo_fix fix, gufo_status expected, const char *message)
{
    gufo_error error = no_error();

    check_u64(gufo_document_fix(gufo_edit_document(m->edit), &fix, &error), expected, "%s",
              message);
    check(strstr(error.message, message) != NULL, "%s is not in: %s", message, error.message);
}

/* Writes the result and opens it. */
static gufo_model *finish(const fixing *m)
{
    const gufo_edit_target target = {.output = m->out.text, .pack = m->pack};
    gufo_error error = no_error();
    gufo_model *file;

    check_ok(gufo_edit_apply(m->edit, &target, NULL, NULL, NULL, &error), &error, "apply");
    file = gufo_model_open(m->out.text, NULL, &error);
    check(file != NULL, "%s", error.message);
    return file;
}

static void end(fixing *m, gufo_model *file)
{
    gufo_model_free(file);
    gufo_edit_free(m->edit);
    folder_remove(&m->f);
}

static void check_list(const gufo_model *file, int16_t last)
{
    gufo_array list;
    int16_t values[2];
    gufo_error error = no_error();

    check_ok(gufo_model_get_array(file, "list", GUFO_VALUE_INT16, &list, &error), &error, "list");
    check_u64(list.count, 2, "elements");
    check_ok(gufo_array_read(&list, 0, 2, values, &error), &error, "read");
    check_u64((uint64_t)values[0], 1, "the first stays");
    check_u64((uint64_t)values[1], (uint64_t)last, "the second stays");
}

/* All kinds together, in every encoding. */
static void test_changes(void **state)
{
    (void)state;
    for (size_t e = 0; e < ENCODING_COUNT; e++) {
        fixing m = begin(all_encodings[e]);
        gufo_model *file;
        uint64_t u;
        gufo_str s;

        apply_fix(&m, (gufo_fix){.kind = GUFO_FIX_NONE});
        apply_fix(&m, fix_of(GUFO_FIX_SET, "answer", number(43)));
        apply_fix(&m, fix_of(GUFO_FIX_SET, "new", number(7)));
        apply_fix(&m, fix_of(GUFO_FIX_RENAME, "general.name", text("general.title")));
        apply_fix(&m, fix_of(GUFO_FIX_SHORTEN, "list", number(2)));
        file = finish(&m);
        check_u64(gufo_model_entry_count(file), 5, "entries");
        check_u64(gufo_model_get_u64(file, "answer", &u, NULL), GUFO_OK, "answer");
        check_u64(u, 43, "answer");
        check_u64(gufo_model_get_u64(file, "new", &u, NULL), GUFO_OK, "new");
        check_u64(u, 7, "new");
        check_u64(gufo_model_get_str(file, "general.title", &s, NULL), GUFO_OK, "title");
        check_u64(s.len, 2000, "title");
        check_list(file, 2);
        end(&m, file);
    }
}

/* The elements of an array in another type, in every encoding. */
static void test_retype(void **state)
{
    (void)state;
    for (size_t e = 0; e < ENCODING_COUNT; e++) {
        fixing m = begin(all_encodings[e]);
        gufo_value type = {.type = GUFO_VALUE_FLOAT32};
        gufo_model *file;
        gufo_array list;
        uint32_t values[3];

        type.type = GUFO_VALUE_UINT32;
        apply_fix(&m, fix_of(GUFO_FIX_RETYPE, "list", type));
        file = finish(&m);
        check_u64(gufo_model_get_array(file, "list", GUFO_VALUE_UINT32, &list, NULL), GUFO_OK,
                  "list");
        check_u64(list.count, 3, "elements");
        check_u64(gufo_array_read(&list, 0, 3, values, NULL), GUFO_OK, "read");
        check_u64(values[0], 1, "first");
        check_u64(values[1], 2, "second");
        end(&m, file);
    }
}

/* Integers and floats, where the numbers are the same. */
static void test_retype_kind(void **state)
{
    static const float whole[] = {0, 1, -3, 16777216}, fraction[] = {0.5F};
    static const int32_t long_number[] = {16777217}, odd[] = {INT32_MIN, 16777216, -1};
    static const uint8_t flags[] = {0, 1, 1};
    static const struct {
        gufo_value_type from, to;
        uint64_t count;
        const void *items;
        bool fits;
    } rows[] = {
        {GUFO_VALUE_FLOAT32, GUFO_VALUE_INT32, 4, whole, true},
        {GUFO_VALUE_FLOAT32, GUFO_VALUE_UINT32, 2, whole, true},
        {GUFO_VALUE_FLOAT32, GUFO_VALUE_UINT32, 3, whole, false},
        {GUFO_VALUE_FLOAT32, GUFO_VALUE_INT16, 4, whole, false},
        {GUFO_VALUE_FLOAT32, GUFO_VALUE_INT32, 1, fraction, false},
        {GUFO_VALUE_INT32, GUFO_VALUE_FLOAT32, 3, odd, true},
        {GUFO_VALUE_INT32, GUFO_VALUE_FLOAT32, 1, long_number, false},
        {GUFO_VALUE_INT32, GUFO_VALUE_FLOAT64, 1, long_number, true},
        {GUFO_VALUE_UINT8, GUFO_VALUE_BOOL, 3, flags, true},
        {GUFO_VALUE_INT32, GUFO_VALUE_BOOL, 1, odd, false},
        {GUFO_VALUE_FLOAT32, GUFO_VALUE_BOOL, 2, whole, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixing m = begin(all_encodings[0]);
        gufo_document *document = gufo_edit_document(m.edit);
        const gufo_fix fix = fix_of(GUFO_FIX_RETYPE, "numbers", (gufo_value){.type = rows[i].to});
        const gufo_items items = {rows[i].from, rows[i].count, rows[i].items};
        gufo_document_entry entry;
        gufo_error error = no_error();

        check_ok(gufo_document_set_array(document, "numbers", &items, &error), &error, "numbers");
        check_u64(gufo_document_fix(document, &fix, &error) == GUFO_OK, rows[i].fits, "row %zu", i);
        check(gufo_document_find(document, "numbers", &entry), "numbers");
        check_u64(entry.value.as.array.type, rows[i].fits ? rows[i].to : rows[i].from, "row %zu",
                  i);
        end(&m, NULL);
    }
}

static void test_remove_and_rename(void **state)
{
    fixing m = begin(all_encodings[0]);
    gufo_model *file;
    gufo_tensor tensor;
    gufo_str old;
    gufo_fix fix;

    (void)state;
    file = gufo_model_open(m.in.text, NULL, NULL);
    check(gufo_model_tensor_at(file, 0, &tensor), "a tensor");
    fix = fix_of(GUFO_FIX_RENAME_TENSOR, "", text("other"));
    fix.key = old = tensor.name;
    apply_fix(&m, fix);
    refuse(&m, fix, GUFO_E_NOT_FOUND, "no");
    apply_fix(&m, fix_of(GUFO_FIX_REMOVE, "answer", number(0)));
    refuse(&m, fix_of(GUFO_FIX_REMOVE, "answer", number(0)), GUFO_E_NOT_FOUND, "answer");
    gufo_model *fixed = finish(&m);

    check(gufo_model_tensor_find(fixed, "other", NULL), "the new name");
    check(!gufo_model_find(fixed, "answer", NULL), "the key is gone");
    gufo_model_free(file);
    end(&m, fixed);
}

/* Shortening to nothing and to all. */
static void test_bounds(void **state)
{
    static const uint64_t counts[] = {0, 3};

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        fixing m = begin(all_encodings[0]);
        gufo_model *file;
        gufo_array list;

        apply_fix(&m, fix_of(GUFO_FIX_SHORTEN, "list", number(counts[i])));
        file = finish(&m);
        check_u64(gufo_model_get_array(file, "list", GUFO_VALUE_INT16, &list, NULL), GUFO_OK,
                  "list");
        check_u64(list.count, counts[i], "elements");
        end(&m, file);
    }
}

static void test_refused(void **state)
{
    fixing m = begin(all_encodings[0]);
    static const uint8_t bytes[] = {0, 0x80, 0, 0}; /* 32768 */
    const gufo_value wide = {
        .type = GUFO_VALUE_ARRAY,
        .as.array = {GUFO_VALUE_INT32, 1, bytes, sizeof bytes, {3, GUFO_LITTLE_ENDIAN}}};
    const gufo_value narrow = {.type = GUFO_VALUE_INT16};
    gufo_error error = no_error();

    (void)state;
    refuse(&m, fix_of(GUFO_FIX_SHORTEN, "list", number(4)), GUFO_E_ARGUMENT, "no elements");
    refuse(&m, fix_of(GUFO_FIX_SHORTEN, "answer", number(0)), GUFO_E_ARGUMENT, "no elements");
    refuse(&m, fix_of(GUFO_FIX_SHORTEN, "nothing", number(0)), GUFO_E_NOT_FOUND, "nothing");
    refuse(&m, fix_of(GUFO_FIX_RETYPE, "answer", number(0)), GUFO_E_ARGUMENT, "not an array");
    refuse(&m, fix_of(GUFO_FIX_RETYPE, "list", text("")), GUFO_E_ARGUMENT, "numbers only");
    check_ok(gufo_document_set(gufo_edit_document(m.edit), "wide", &wide, &error), &error, "wide");
    refuse(&m, fix_of(GUFO_FIX_RETYPE, "wide", narrow), GUFO_E_RANGE, "does not fit into int16");
    refuse(&m, fix_of(GUFO_FIX_RETYPE, "nothing", number(0)), GUFO_E_NOT_FOUND, "nothing");
    refuse(&m, fix_of(GUFO_FIX_SUPPLY, "answer", number(0)), GUFO_E_ARGUMENT, "not known");
    refuse(&m, fix_of(GUFO_FIX_RENAME, "nothing", text("something")), GUFO_E_NOT_FOUND, "nothing");
    refuse(&m, fix_of(GUFO_FIX_RENAME, "answer", text("list")), GUFO_E_EXISTS, "list");
    end(&m, NULL);
}

/* Two tensors with a gap between them, in the wrong order, and bytes behind. */
static void write_loose_file(const char *path)
{
    builder b = builder_new(all_encodings[ENCODING_COUNT - 1]);
    const uint64_t dims[1] = {8};

    builder_header(&b, 2, 1);
    builder_kv_str(&b, "general.architecture", "llama");
    builder_tensor(&b, "late", GUFO_TYPE_I8, 1, dims, 96);
    builder_tensor(&b, "early", GUFO_TYPE_I8, 1, dims, 0);
    builder_pad(&b, 32);
    builder_pattern(&b, 1, 8);
    builder_fill(&b, 0xee, 88);
    builder_pattern(&b, 2, 8);
    builder_fill(&b, 0xee, 100);
    write_file(path, b.data, b.len);
    builder_free(&b);
}

static void test_lay_out_again(void **state)
{
    fixing m = {.f = folder_new()};
    gufo_error error = no_error();
    uint8_t before[8], after[8];
    gufo_edit_plan plan;
    gufo_tensor tensor;
    gufo_model *file;

    (void)state;
    m.in = folder_path(&m.f, "loose.gguf");
    m.out = folder_path(&m.f, "out.gguf");
    write_loose_file(m.in.text);
    m.edit = gufo_edit_open(m.in.text, NULL, &error);
    check(m.edit != NULL, "%s", error.message);
    apply_fix(&m, (gufo_fix){.kind = GUFO_FIX_REWRITE});
    m.pack = true;
    check_ok(gufo_edit_plan_for(m.edit, &(gufo_edit_target){.pack = true}, &plan, &error), &error,
             "plan");
    check_u64(plan.way, GUFO_EDIT_REWRITE, "without any change of a key, too");
    check(strstr(plan.not_overwritten, "new layout") != NULL, "%s", plan.not_overwritten);
    file = finish(&m);
    check_u64(gufo_model_facts(file).size - gufo_model_facts(file).data_offset, 64,
              "two tensors, padded");
    for (uint64_t i = 0; gufo_model_tensor_at(file, i, &tensor); i++) {
        gufo_tensor old;

        check_u64(tensor.offset - gufo_model_facts(file).data_offset, 32 * i, "place %d", (int)i);
        check(gufo_model_tensor_find_str(gufo_edit_model(m.edit), tensor.name, &old), "old");
        check_ok(gufo_tensor_read_raw(gufo_edit_model(m.edit), &old, 0, before, 8, &error), &error,
                 "read");
        check_ok(gufo_tensor_read_raw(file, &tensor, 0, after, 8, &error), &error, "read");
        check(memcmp(before, after, 8) == 0, "bytes of tensor %d", (int)i);
    }
    end(&m, file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes),       cmocka_unit_test(test_retype),
        cmocka_unit_test(test_retype_kind),   cmocka_unit_test(test_remove_and_rename),
        cmocka_unit_test(test_bounds),        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_lay_out_again),
    };

    disk_simulate(true);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
