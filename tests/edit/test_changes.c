/* Changes of metadata: what they do to keys, values and names, and what is refused. */
#include "../support/allocator.h"
#include "../support/edits.h"
#include "../support/disk.h"
#include "../support/edit.h"
#include "../support/good.h"
#include "../support/openers.h"
#include "../support/walk.h"
#include "../support/sink.h"

#include <math.h>
#include <unistd.h>

static const char name[] = "model.gguf";

/* ---- single changes ------------------------------------------------------------------------- */

static gufo_edit *open_model(const folder *f, encoding e)
{
    path_text path = folder_path(f, name);
    gufo_error error = no_error();
    gufo_edit *edit;

    write_small_model(path.text, e);
    edit = gufo_edit_open(path.text, NULL, &error);
    check(edit != NULL, "%s", error.message);
    return edit;
}

static gufo_status set_u32(gufo_edit *edit, const char *key, uint32_t number, gufo_error *error)
{
    const gufo_value value = {.type = GUFO_VALUE_UINT32, .as.u = number};

    return edit_set(edit, key, &value, error);
}

static gufo_model *apply_and_open(gufo_edit *edit, const folder *f)
{
    const gufo_edit_target rewrite = {.in_place = GUFO_EDIT_IN_PLACE_NEVER};
    path_text path = folder_path(f, name);
    gufo_error error = no_error();
    gufo_model *file;

    check_ok(gufo_edit_apply(edit, &rewrite, NULL, NULL, NULL, &error), &error, "apply");
    gufo_edit_free(edit);
    file = gufo_model_open(path.text, NULL, &error);
    check(file != NULL, "%s", error.message);
    return file;
}

/* The keys of a file, with commas. */
static void check_keys(const gufo_model *file, const char *expected)
{
    char keys[512] = "";
    gufo_entry entry;

    for (uint64_t i = 0; gufo_model_entry_at(file, i, &entry); i++)
        snprintf(keys + strlen(keys), sizeof keys - strlen(keys), "%.*s,", (int)entry.key.len,
                 entry.key.data);
    check(strcmp(keys, expected) == 0, "keys are %s, not %s", keys, expected);
}

static bool is_answer(void *context, gufo_str key)
{
    (void)context;
    return gufo_str_equal(key, gufo_str_of("answer"));
}

static bool is_any(void *context, gufo_str key)
{
    (void)context, (void)key;
    return true;
}

/* Every encoding: an edit keeps byte order and version. */
static void test_order_and_places(void **state)
{
    folder f = folder_new();

    (void)state;
    for (size_t e = 0; e < ENCODING_COUNT; e++) {
        gufo_edit *edit = open_model(&f, all_encodings[e]);
        gufo_error error = no_error();
        gufo_model *file;
        gufo_tensor tensor;
        uint64_t number, removed;

        check_ok(set_u32(edit, "new.key", 5, &error), &error, "set");
        check_ok(set_u32(edit, "answer", 43, &error), &error, "set");
        check_ok(edit_rename(edit, "answer", "question", &error), &error, "rename");
        edit_remove(edit, is_answer, NULL, &removed);
        check_u64(removed, 0, "renamed, so not removed");
        check_ok(set_u32(edit, "answer", 44, &error), &error, "set again");
        check_ok(edit_rename_tensor(edit, "a", "c", &error), &error, "rename tensor");
        check_ok(edit_rename_tensor(edit, "b", "a", &error), &error, "rename tensor");
        file = apply_and_open(edit, &f);
        check_keys(file, "general.architecture,general.name,question,list,new.key,answer,");
        check_ok(gufo_model_get_u64(file, "question", &number, &error), &error, "question");
        check_u64(number, 43, "question");
        check(gufo_model_tensor_find(file, "c", &tensor), "tensor c");
        check_u64(((const uint8_t *)gufo_tensor_raw(file, &tensor))[7], pattern_byte(0, 7), "c");
        check(gufo_model_tensor_find(file, "a", &tensor), "tensor a");
        check_u64(((const uint8_t *)gufo_tensor_raw(file, &tensor))[7], pattern_byte(1, 7), "a");
        check_u64(gufo_model_facts(file).version,
                  all_encodings[e].version == 1 ? 3 : (unsigned)all_encodings[e].version,
                  "version");
        check_u64(gufo_model_facts(file).byte_order, all_encodings[e].big, "byte order");
        gufo_model_free(file);
    }
    folder_remove(&f);
}

static void test_refused(void **state)
{
    folder f = folder_new();
    gufo_edit *edit = open_model(&f, (encoding){3, false});
    const gufo_value large = {.type = GUFO_VALUE_UINT8, .as.u = 256};
    const gufo_value bad_text = {.type = GUFO_VALUE_STRING, .as.str = {"\xff", 1}};
    char long_name[GUFO_MAX_NAME + 2];
    gufo_error error = no_error();
    gufo_value value;

    (void)state;
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    check_status(edit_set(edit, "a", &large, &error), GUFO_E_RANGE, &error, "number");
    check_status(edit_set(edit, "a", &bad_text, &error), GUFO_E_MALFORMED, &error, "text");
    check_status(set_u32(edit, "", 1, &error), GUFO_E_MALFORMED, &error, "empty key");
    check_status(set_u32(edit, "a b", 1, &error), GUFO_E_MALFORMED, &error, "key with a space");
    check_status(set_u32(edit, "gufo.padding", 1, &error), GUFO_E_ARGUMENT, &error, "padding");
    check_status(set_u32(edit, "general.alignment", 12, &error), GUFO_E_MALFORMED, &error, "12");
    check_status(edit_rename(edit, "none", "a", &error), GUFO_E_NOT_FOUND, &error, "none");
    check_status(edit_rename(edit, "answer", "list", &error), GUFO_E_EXISTS, &error, "list");
    check_status(edit_rename(edit, "answer", "a b", &error), GUFO_E_MALFORMED, &error, "a b");
    check_status(edit_rename_tensor(edit, "a", "b", &error), GUFO_E_EXISTS, &error, "b");
    check_status(edit_rename_tensor(edit, "c", "d", &error), GUFO_E_NOT_FOUND, &error, "c");
    check(edit_rename_tensor(edit, "a", long_name, &error) != GUFO_OK, "long name");
    check(edit_find(edit, "answer", &value) && value.as.u == 42, "as before");
    gufo_edit_free(edit);
    folder_remove(&f);
}

/* The reported changes are the differences of the result. */
static void count_kinds(void *context, const gufo_change *change)
{
    ((unsigned *)context)[change->kind]++;
}

static void test_differences(void **state)
{
    folder f = folder_new();
    gufo_edit *edit = open_model(&f, (encoding){3, false});
    unsigned counts[GUFO_CHANGE_TENSOR_RENAMED + 1] = {0};
    gufo_error error = no_error();
    uint64_t removed;

    (void)state;
    check_ok(set_u32(edit, "answer", 42, &error), &error, "the same value");
    check_ok(edit_rename(edit, "list", "numbers", &error), &error, "rename");
    check_ok(edit_rename(edit, "numbers", "list", &error), &error, "and back");
    check_ok(edit_rename_tensor(edit, "a", "c", &error), &error, "rename");
    check_ok(edit_rename_tensor(edit, "c", "a", &error), &error, "and back");
    check_ok(edit_changes(edit, count_kinds, counts, &error), &error, "changes");
    for (size_t i = 0; i < COUNT_OF(counts); i++)
        check_u64(counts[i], 0, "kind %zu", i);
    check_ok(set_u32(edit, "answer", 43, &error), &error, "changed");
    check_ok(edit_rename(edit, "answer", "question", &error), &error, "renamed");
    check_ok(set_u32(edit, "new", 1, &error), &error, "added");
    check_ok(set_u32(edit, "answer", 1, &error), &error, "added");
    edit_remove(edit, is_answer, NULL, &removed);
    check_u64(removed, 1, "removed again");
    check_ok(edit_rename_tensor(edit, "a", "c", &error), &error, "tensor");
    check_ok(edit_changes(edit, count_kinds, counts, &error), &error, "changes");
    check_u64(counts[GUFO_CHANGE_CHANGED], 1, "changed");
    check_u64(counts[GUFO_CHANGE_RENAMED], 1, "renamed");
    check_u64(counts[GUFO_CHANGE_ADDED], 1, "added");
    check_u64(counts[GUFO_CHANGE_REMOVED], 0, "removed");
    check_u64(counts[GUFO_CHANGE_TENSOR_RENAMED], 1, "tensor");
    gufo_edit_free(edit);
    folder_remove(&f);
}

/* ---- any file ------------------------------------------------------------------------------- */

/* Every good file, with every key of it copied into a model of the other byte order: the values are
 * the same, signalling NaNs, nested arrays and all. */
static void copy_all(const good_file *good, const builder *b, const char *label, void *context)
{
    const folder *f = context;
    gufo_model *other = open_built(b, label), *file;
    gufo_edit *edit = open_model(f, (encoding){3, !b->encoding.big});
    gufo_error error = no_error();
    gufo_entry entry, copy;
    uint64_t copied, at;

    (void)good;
    check_ok(edit_copy(edit, other, is_any, NULL, &copied, &error), &error, "%s", label);
    check_u64(copied, gufo_model_entry_count(other), "%s", label);
    file = apply_and_open(edit, f);
    for (at = 0; gufo_model_entry_at(other, at, &entry); at++) {
        check(gufo_model_find_str(file, entry.key, &copy), "%s", label);
        check_u64(copy.value.type, entry.value.type, "%s", label);
        if (gufo_value_type_size(entry.value.type) > 0)
            check(copy.value.as.u == entry.value.as.u ||
                      (isnan(copy.value.as.f) && isnan(entry.value.as.f)),
                  "%s", label);
    }
    gufo_model_free(file);
    gufo_model_free(other);
}

static void test_copies(void **state)
{
    folder f = folder_new();

    (void)state;
    good_for_each(copy_all, &f);
    folder_remove(&f);
}

/* More keys than any first index has room for: new ones, and then the same ones again. */
static void test_many_copies(void **state)
{
    enum { KEYS = 1000 };
    const gufo_open_options options = {.flags = GUFO_OPEN_METADATA_ONLY};
    folder f = folder_new();
    gufo_edit *edit = open_model(&f, (encoding){3, false});
    uint64_t before = gufo_model_entry_count(gufo_edit_model(edit)), copied, number;
    gufo_error error = no_error();
    gufo_document *d = gufo_document_new(NULL, &error);
    gufo_model *other, *file;
    char key[32];
    const void *bytes;
    size_t size;

    (void)state;
    for (uint32_t i = 0; i < KEYS; i++) {
        snprintf(key, sizeof key, "many.%u", i);
        check_ok(gufo_document_set_u32(d, key, i, &error), &error, "%s", key);
    }
    check_ok(gufo_document_layout(d, NULL, NULL, &error), &error, "layout");
    bytes = document_header(d, &size);
    other = gufo_model_open_memory(bytes, size, &options, &error);
    check(other != NULL, "%s", error.message);
    for (int round = 0; round < 2; round++) {
        check_ok(edit_copy(edit, other, is_any, NULL, &copied, &error), &error, "copy");
        check_u64(copied, KEYS, "round %d", round);
    }
    file = apply_and_open(edit, &f);
    check_u64(gufo_model_entry_count(file), before + KEYS, "keys");
    for (uint32_t i = 0; i < KEYS; i++) {
        snprintf(key, sizeof key, "many.%u", i);
        check_ok(gufo_model_get_u64(file, key, &number, &error), &error, "%s", key);
        check_u64(number, i, "%s", key);
    }
    gufo_model_free(file);
    gufo_model_free(other);
    gufo_document_free(d);
    folder_remove(&f);
}

/* Every good file edited and edited back, in every way: its content is the same. */
static void edit_and_back(const good_file *good, const builder *b, const char *label, void *context)
{
    static const gufo_edit_in_place ways[] = {GUFO_EDIT_IN_PLACE_IF_SAFE, GUFO_EDIT_IN_PLACE_NEVER};
    path_text path = folder_path(context, name);
    char long_text[5000];
    gufo_value value = {.type = GUFO_VALUE_STRING, .as.str = {long_text, sizeof long_text}};
    gufo_model *before = open_built(b, label), *after;
    char *expected = dump_file(before, DUMP_DATA), *got;
    gufo_error error = no_error();

    (void)good;
    memset(long_text, 'x', sizeof long_text);
    (void)unlink(path.text);
    write_file(path.text, b->data, b->len);
    for (size_t i = 0; i < 2 * COUNT_OF(ways); i++) {
        const gufo_edit_target target = {.in_place = ways[i % COUNT_OF(ways)]};
        gufo_edit *edit = gufo_edit_open(path.text, NULL, &error);
        uint64_t removed;

        check(edit != NULL, "%s: %s", label, error.message);
        if (i % 2 == 0)
            check_ok(edit_set(edit, "answer", &value, &error), &error, "%s", label);
        else
            edit_remove(edit, is_answer, NULL, &removed);
        check_ok(gufo_edit_apply(edit, &target, NULL, NULL, NULL, &error), &error, "%s", label);
        gufo_edit_free(edit);
    }
    after = gufo_model_open(path.text, NULL, &error);
    check(after != NULL, "%s: %s", label, error.message);
    got = dump_file(after, DUMP_DATA);
    check_same_dump(got, expected, label);
    free(got);
    free(expected);
    gufo_model_free(after);
    gufo_model_free(before);
}

static void test_there_and_back(void **state)
{
    folder f = folder_new();

    (void)state;
    good_for_each(edit_and_back, &f);
    folder_remove(&f);
}

/* ---- alignment and streams ------------------------------------------------------------------ */

static void test_alignment(void **state)
{
    static const uint32_t alignments[] = {8, 64, 24, 4096, 40, 1000, 32};
    folder f = folder_new();
    gufo_error error = no_error();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(alignments); i++) {
        gufo_edit *edit = open_model(&f, (encoding){3, true});
        gufo_edit_plan plan;
        gufo_tensor tensor;
        gufo_model *file;

        check_ok(set_u32(edit, "general.alignment", alignments[i], &error), &error, "set");
        check_ok(gufo_edit_plan_for(edit, NULL, &plan, &error), &error, "plan");
        check_u64(plan.relaid, alignments[i] != 32, "alignment %u", alignments[i]);
        file = apply_and_open(edit, &f);
        check_u64(gufo_model_facts(file).alignment, alignments[i], "alignment");
        for (unsigned k = 0; gufo_model_tensor_at(file, k, &tensor); k++) {
            check_u64(tensor.offset % alignments[i], 0, "offset");
            check_u64(((const uint8_t *)gufo_tensor_raw(file, &tensor))[99], pattern_byte(k, 99),
                      "data");
        }
        gufo_model_free(file);
    }
    folder_remove(&f);
}

/* A stream gets the bytes that a file gets. */
static void test_stream(void **state)
{
    static const uint32_t alignments[] = {32, 128};
    folder f = folder_new();
    path_text to = folder_path(&f, "streamed"), path = folder_path(&f, name);
    gufo_error error = no_error();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(alignments); i++) {
        const gufo_edit_options read_only = {.flags = GUFO_EDIT_READ_ONLY};
        gufo_edit *edit = open_model(&f, (encoding){3, false});
        FILE *out = fopen(to.text, "wb");
        uint8_t *bytes;
        size_t len;

        gufo_edit_free(edit);
        edit = gufo_edit_open(path.text, &read_only, &error);
        check(edit != NULL && out != NULL, "%s", error.message);
        check_ok(set_u32(edit, "general.alignment", alignments[i], &error), &error, "set");
        check_status(gufo_edit_apply(edit, NULL, NULL, NULL, NULL, &error), GUFO_E_ARGUMENT, &error,
                     "the file itself is read only");
        check_ok(gufo_edit_stream(edit, fileno(out), NULL, NULL, &error), &error, "stream");
        fclose(out);
        gufo_edit_free(edit);
        edit = open_model(&f, (encoding){3, false});
        check_ok(set_u32(edit, "general.alignment", alignments[i], &error), &error, "set");
        gufo_model_free(apply_and_open(edit, &f));
        bytes = read_file(path.text, &len);
        check_file(to.text, bytes, len, "streamed");
        free(bytes);
    }
    folder_remove(&f);
}

static bool stop(void *context, uint64_t done, uint64_t total)
{
    (void)context, (void)done, (void)total;
    return false;
}

static void test_stopped(void **state)
{
    const gufo_edit_target target = {.in_place = GUFO_EDIT_IN_PLACE_NEVER};
    const gufo_run run = {.progress = stop};
    folder f = folder_new();
    gufo_error error = no_error();

    (void)state;
    for (uint32_t alignment = 32; alignment <= 64; alignment += 32) {
        gufo_edit *edit = open_model(&f, (encoding){3, false});

        check_ok(set_u32(edit, "general.alignment", alignment, &error), &error, "set");
        check_status(gufo_edit_apply(edit, &target, &run, NULL, NULL, &error), GUFO_E_STOPPED,
                     &error, "stopped");
        check_status(gufo_edit_apply(edit, &target, NULL, NULL, NULL, &error), GUFO_E_ARGUMENT,
                     &error, "only once");
        gufo_edit_free(edit);
        check_u64(entry_count(f.path), 1, "nothing is left");
    }
    folder_remove(&f);
}

/* ---- memory --------------------------------------------------------------------------------- */

/* Opens, changes and writes with an allocator. */
static gufo_status edit_with(const gufo_allocator *allocator, const char *path)
{
    const gufo_edit_options options = {.allocator = allocator};
    const gufo_edit_target rewrite = {.in_place = GUFO_EDIT_IN_PLACE_NEVER};
    const int16_t numbers[] = {1, -1};
    const gufo_items items = {GUFO_VALUE_INT16, 2, numbers};
    gufo_error error = no_error();
    gufo_edit *edit = gufo_edit_open(path, &options, &error);
    gufo_status status = edit != NULL ? set_u32(edit, "new", 1, &error) : error.code;

    if (status == GUFO_OK)
        status = edit_set_array(edit, "array", &items, &error);
    if (status == GUFO_OK)
        status = edit_rename(edit, "answer", "question", &error);
    if (status == GUFO_OK)
        status = edit_rename_tensor(edit, "a", "c", &error);
    if (status == GUFO_OK)
        status = gufo_edit_apply(edit, &rewrite, NULL, NULL, NULL, &error);
    gufo_edit_free(edit);
    return status;
}

/* Each allocation fails in turn: an error, and the file is as it was. */
static void test_no_memory(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, name);
    gufo_status status = GUFO_E_MEMORY;
    uint8_t *before;
    size_t len;

    (void)state;
    write_small_model(path.text, (encoding){3, false});
    before = read_file(path.text, &len);
    for (size_t at = 1; status != GUFO_OK; at++) {
        gufo_allocator allocator;
        counter memory;

        counter_init(&memory);
        memory.fail_at = at;
        allocator = counter_allocator(&memory);
        status = edit_with(&allocator, path.text);
        check_u64(memory.in_use, 0, "bytes left after failure %zu", at);
        if (status != GUFO_OK) {
            check_u64(status, GUFO_E_MEMORY, "failure %zu", at);
            check_file(path.text, before, len, "as it was");
        }
        check_u64(entry_count(f.path), 1, "nothing is left");
    }
    free(before);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_and_places), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_differences),      cmocka_unit_test(test_copies),
        cmocka_unit_test(test_many_copies),      cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_alignment),        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_stopped),          cmocka_unit_test(test_no_memory),
    };

    disk_simulate(true);
    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
