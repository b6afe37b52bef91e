/* What planners and edits ask of their callers, and what only a document can want of them. */
#include "copies.h"

typedef struct workshop {
    folder f;
    path_text in, out;
    gufo_model *model;
} workshop;

static workshop begin(void)
{
    workshop w = {.f = folder_new()};

    w.in = folder_path(&w.f, "in.gguf");
    w.out = folder_path(&w.f, "out.gguf");
    write_small_model(w.in.text);
    w.model = open_path(w.in.text);
    return w;
}

static void end(workshop *w)
{
    gufo_model_free(w->model);
    folder_remove(&w->f);
}

static void refused(gufo_job *job, const gufo_error *error, const char *named)
{
    check(job == NULL, "%s is refused", named);
    check_error_shape(error, GUFO_E_ARGUMENT, named);
    check(strstr(error->message, named) != NULL, "%s is not in: %s", named, error->message);
    gufo_job_free(job);
}

/* Structs with fields of a later version. */
static void test_structs(void **state)
{
    const gufo_split_options split = {.max_tensors = 1, .reserved = {1}};
    const gufo_merge_options merge = {.reserved = {0, 1}};
    const gufo_endian_options endian = {.order = GUFO_BIG_ENDIAN, .reserved = {0, 0, 1}};
    const gufo_strip_options strip = {.reserved = {0, 0, 0, 1}};
    const gufo_extract_options extract = {.reserved = {1}};
    const uint64_t first = 0;
    workshop w = begin();
    gufo_error e = no_error();

    (void)state;
    refused(gufo_job_split(w.model, &split, &e), &e, "gufo_split_options");
    refused(gufo_job_merge(w.model, &merge, &e), &e, "gufo_merge_options");
    refused(gufo_job_endian(w.model, &endian, &e), &e, "gufo_endian_options");
    refused(gufo_job_strip(w.model, &strip, &e), &e, "gufo_strip_options");
    refused(gufo_job_extract(w.model, &first, 1, &extract, &e), &e, "gufo_extract_options");
    end(&w);
}

static void test_values(void **state)
{
    const gufo_extract_options format = {.format = (gufo_extract_format)3};
    const gufo_extract_options type = {.type = gufo_element_type_by_name("Q4_0")};
    const uint64_t first = 0;
    workshop w = begin();
    gufo_error e = no_error();

    (void)state;
    refused(gufo_job_extract(w.model, &first, 1, &format, &e), &e, "format 3");
    refused(gufo_job_extract(w.model, &first, 1, &type, &e), &e, "not as Q4_0");
    end(&w);
}

static void test_edit_structs(void **state)
{
    const gufo_edit_options later = {.reserved = {1}}, flags = {.flags = 2};
    const gufo_edit_target target = {.reserved = {1}};
    workshop w = begin();
    gufo_error e = no_error();
    gufo_edit *edit = gufo_edit_open(w.in.text, NULL, &e);

    (void)state;
    check(gufo_edit_open(NULL, NULL, &e) == NULL && e.code == GUFO_E_ARGUMENT, "no path");
    check(gufo_edit_open(w.in.text, &later, &e) == NULL && e.code == GUFO_E_ARGUMENT, "reserved");
    check(gufo_edit_open(w.in.text, &flags, &e) == NULL && e.code == GUFO_E_ARGUMENT, "flags");
    check(edit != NULL, "edit");
    check_status(gufo_edit_plan_for(edit, &target, NULL, &e), GUFO_E_ARGUMENT, &e, "plan");
    check_status(gufo_edit_stream(edit, 1, &target, NULL, &e), GUFO_E_ARGUMENT, &e, "stream");
    check_status(gufo_edit_apply(edit, &target, NULL, NULL, NULL, &e), GUFO_E_ARGUMENT, &e,
                 "apply");
    check(e.role == GUFO_FILE_INPUT && strcmp(e.file, w.in.text) == 0, "%s", e.file);
    check_ok(gufo_edit_plan_for(edit, NULL, NULL, &e), &e, "without a plan to fill");
    gufo_edit_free(edit);
    end(&w);
}

/* A plan says what can be applied: nothing in place of a file that is only read. */
static void test_read_only(void **state)
{
    workshop w = begin();
    const gufo_edit_target elsewhere = {.output = w.out.text};
    const gufo_edit_options options = {.flags = GUFO_EDIT_READ_ONLY};
    gufo_error e = no_error();
    gufo_edit *edit = gufo_edit_open(w.in.text, &options, &e);

    (void)state;
    check(edit != NULL, "%s", e.message);
    check_status(gufo_edit_plan_for(edit, NULL, NULL, &e), GUFO_E_ARGUMENT, &e, "plan");
    check(strstr(e.message, "read-only") != NULL && strcmp(e.file, w.in.text) == 0, "%s",
          e.message);
    check_status(gufo_edit_apply(edit, NULL, NULL, NULL, NULL, &e), GUFO_E_ARGUMENT, &e, "apply");
    check_ok(gufo_edit_plan_for(edit, &elsewhere, NULL, &e), &e, "plan for another file");
    check_ok(gufo_edit_apply(edit, &elsewhere, NULL, NULL, NULL, &e), &e, "another file");
    check_status(gufo_edit_plan_for(edit, &elsewhere, NULL, &e), GUFO_E_ARGUMENT, &e, "again");
    check_status(gufo_edit_stream(edit, 1, NULL, NULL, &e), GUFO_E_ARGUMENT, &e, "again");
    gufo_edit_free(edit);
    end(&w);
}

/* ---- documents ------------------------------------------------------------------------------ */

static gufo_edit *open_edit(const workshop *w)
{
    gufo_error e = no_error();
    gufo_edit *edit =
        gufo_edit_open(w->in.text, &(gufo_edit_options){.flags = GUFO_EDIT_READ_ONLY}, &e);

    check(edit != NULL, "%s", e.message);
    return edit;
}

/* A tensor less: its bytes stay where they are, or go when the file is packed. */
static void test_dropped(void **state)
{
    (void)state;
    for (int pack = 0; pack < 2; pack++) {
        workshop w = begin();
        const gufo_edit_target target = {.output = w.out.text, .pack = pack != 0};
        gufo_edit *edit = open_edit(&w);
        gufo_error e = no_error();
        gufo_tensor old, new;
        uint8_t *was, *is;
        gufo_model *out;

        check(gufo_document_drop_tensor(gufo_edit_document(edit), "a.weight"), "drop");
        check_ok(gufo_edit_apply(edit, &target, NULL, NULL, NULL, &e), &e, "pack %d", pack);
        out = open_path(w.out.text);
        check_u64(gufo_model_tensor_count(out), gufo_model_tensor_count(w.model) - 1, "tensors");
        check(!gufo_model_tensor_find(out, "a.weight", &new), "it is gone");
        was = tensor_bytes(w.model, "d.weight", &old);
        is = tensor_bytes(out, "d.weight", &new);
        check(new.size == old.size &&memcmp(was, is, (size_t)old.size) == 0, "another one");
        check((new.offset - gufo_model_facts(out).data_offset ==
               old.offset - gufo_model_facts(w.model).data_offset) == (pack == 0),
              "pack %d: its place", pack);
        free(was);
        free(is);
        gufo_model_free(out);
        gufo_edit_free(edit);
        end(&w);
    }
}

/* The data of an added tensor does not exist. */
static void test_added(void **state)
{
    const uint64_t dims[] = {4};

    (void)state;
    for (int pack = 0; pack < 2; pack++) {
        workshop w = begin();
        const gufo_edit_target target = {.output = w.out.text, .pack = pack != 0};
        gufo_edit *edit = open_edit(&w);
        gufo_error e = no_error();

        check_ok(gufo_document_add_tensor(gufo_edit_document(edit), "new",
                                          gufo_element_type_by_id(GUFO_TYPE_F32), 1, dims, &e),
                 &e, "add");
        check_status(gufo_edit_apply(edit, &target, NULL, NULL, NULL, &e), GUFO_E_ARGUMENT, &e,
                     "pack %d", pack);
        check(!file_exists(w.out.text), "nothing is written");
        gufo_edit_free(edit);
        end(&w);
    }
}

/* Planning a packed file leaves the version of the document alone. */
static void test_plan_only(void **state)
{
    workshop w = begin();
    gufo_edit *edit;
    gufo_error e = no_error();
    gufo_edit_plan plan;

    (void)state;
    check_ok(gufo_document_set_encoding(gufo_edit_document(edit = open_edit(&w)), 2,
                                        GUFO_LITTLE_ENDIAN, &e),
             &e, "version 2");
    check_ok(gufo_edit_plan_for(edit, &(gufo_edit_target){.output = w.out.text, .pack = true},
                                &plan, &e),
             &e, "plan");
    check(plan.relaid && plan.way == GUFO_EDIT_REWRITE, "a rewrite");
    check_u64(gufo_document_version(gufo_edit_document(edit)), 2, "as before");
    gufo_edit_free(edit);
    end(&w);
}

/* ---- gufo.padding --------------------------------------------------------------------------- */

static uint64_t split_id(const char *path, const char *prefix)
{
    const gufo_split_options ones = {.max_tensors = 1};
    uint64_t id = 0;
    gufo_model *set;

    (void)copy_well(path, prefix, plan_split, &ones, path);
    set = open_path(shard_of(prefix, 1, COUNT_OF(copied_tensors)).text);
    check(!gufo_model_find(gufo_model_shard(set, 0), GUFO_PADDING_KEY, NULL), "%s", path);
    check(gufo_model_get_u64(gufo_model_shard(set, 0), GUFO_SPLIT_ID_KEY, &id, NULL) == GUFO_OK,
          "id");
    gufo_model_free(set);
    return id;
}

/* Room that was reserved is not copied, and does not decide about gufo.split.id. */
static void test_padding(void **state)
{
    workshop w = begin();
    const gufo_edit_target target = {.output = w.out.text, .reserve = 1000};
    gufo_edit *edit = open_edit(&w);
    gufo_error e = no_error();
    uint64_t id;

    (void)state;
    check_ok(gufo_edit_apply(edit, &target, NULL, NULL, NULL, &e), &e, "reserve");
    gufo_edit_free(edit);
    id = split_id(w.in.text, folder_path(&w.f, "x").text);
    check_u64(split_id(w.out.text, folder_path(&w.f, "y").text), id, "id");
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_structs),      cmocka_unit_test(test_values),
        cmocka_unit_test(test_edit_structs), cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_dropped),      cmocka_unit_test(test_added),
        cmocka_unit_test(test_plan_only),    cmocka_unit_test(test_padding),
    };

    return cmocka_run_group_tests(tests, copies_setup, NULL);
}
