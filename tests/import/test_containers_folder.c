/* Which files of a folder are a model's, and what an index may say of them. */
#include "../support/folder.h"
#include "../support/safetensors_maker.h"
#include "place.h"

#include <sys/stat.h>
#include <unistd.h>

#include "import/containers/checkpoint.h"

static folder place;

static int make_folder(void **state)
{
    (void)state;
    place = folder_new();
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    folder_remove(&place);
    return 0;
}

static void put_tensors(const char *file, const char *name, const char *other)
{
    const safetensor tensors[] = {{name, "F16", 1, {2}, NULL}, {other, "U8", 1, {3}, NULL}};

    safetensors_write(folder_path(&place, file).text, tensors, other != NULL ? 2 : 1);
}

static void put_text(const char *file, const char *text)
{
    write_file(folder_path(&place, file).text, text, strlen(text));
}

static checkpoint opened(const char *path)
{
    gufo_error error;
    checkpoint c;

    if (checkpoint_open(&c, PLACE_AT(path), NULL, NULL, &error) != GUFO_OK)
        fail_msg("%s: %s", error.file, error.message);
    return c;
}

static void check_refused(const char *path, gufo_status status, const char *file, const char *part)
{
    gufo_error error = {0};
    checkpoint c;

    assert_int_equal(checkpoint_open(&c, PLACE_AT(path), NULL, NULL, &error), status);
    checkpoint_close(&c);
    if (strstr(error.message, part) == NULL)
        fail_msg("%s", error.message);
    assert_string_equal(error.file, file[0] == '\0' ? place.path : folder_path(&place, file).text);
}

/* ---- without an index ----------------------------------------------------------------------- */

static void test_parts(void **state)
{
    checkpoint c;

    (void)state;
    assert_null(checkpoint_recognise(PLACE_AT(place.path)));
    check_refused(place.path, GUFO_E_NOT_FOUND, "", "model*.safetensors");
    put_tensors("consolidated.safetensors", "norm", NULL);
    assert_string_equal(checkpoint_recognise(PLACE_AT(place.path)), "Mistral model");
    put_tensors("model-2.safetensors", "b", "a");
    put_tensors("model-1.safetensors", "z", NULL);
    put_text("pytorch_model.bin", "nothing");
    put_text("model.txt", "nothing");
    assert_string_equal(checkpoint_recognise(PLACE_AT(place.path)), "Hugging Face model");
    c = opened(place.path);
    assert_int_equal(c.file_count, 2);
    assert_string_equal(c.files[0].path, folder_path(&place, "model-1.safetensors").text);
    assert_int_equal(c.tensor_count, 3);
    assert_true(gufo_str_equal(c.tensors[0].name, gufo_str_of("z")));
    assert_true(gufo_str_equal(c.tensors[1].name, gufo_str_of("a")));
    assert_int_equal(c.tensors[1].file, 1);
    assert_int_equal(c.layout, CHECKPOINT_HUGGINGFACE);
    checkpoint_close(&c);

    /* params.json without config.json: Mistral's own layout. */
    put_text("params.json", "{}");
    c = opened(place.path);
    assert_int_equal(c.layout, CHECKPOINT_MISTRAL);
    assert_int_equal(c.tensor_count, 1);
    checkpoint_close(&c);
    put_text("config.json", "{}");
    c = opened(place.path);
    assert_int_equal(c.layout, CHECKPOINT_HUGGINGFACE);
    checkpoint_close(&c);
}

/* Names of the cache are links; a file that is named is that file alone. */
static void test_links(void **state)
{
    path_text with_slash = folder_path(&place, "");
    checkpoint c;

    (void)state;
    put_tensors("blob", "a", NULL);
    assert_int_equal(symlink("blob", folder_path(&place, "model.safetensors").text), 0);
    c = opened(with_slash.text);
    check_str(c.folder.path, place.path, "folder");
    assert_int_equal(c.tensor_count, 1);
    checkpoint_close(&c);
    c = opened(folder_path(&place, "blob").text);
    check_str(c.folder.path, place.path, "folder");
    checkpoint_close(&c);
    assert_int_equal(unlink(folder_path(&place, "blob").text), 0);
    check_refused(place.path, GUFO_E_IO, "model.safetensors", "cannot open");
    assert_int_equal(mkfifo(folder_path(&place, "blob").text, 0600), 0);
    check_refused(place.path, GUFO_E_IO, "model.safetensors", "not a regular file");
    assert_null(checkpoint_recognise(PLACE_AT(folder_path(&place, "blob").text)));
}

static void test_twice(void **state)
{
    (void)state;
    put_tensors("model.fp16.safetensors", "a", "b");
    put_tensors("model.safetensors", "b", NULL);
    check_refused(place.path, GUFO_E_MALFORMED, "model.safetensors", "model.fp16.safetensors");
}

static void test_strangers(void **state)
{
    path_text path = folder_path(&place, "file");
    char tar[512] = {0};

    (void)state;
    put_text("file", "GGUF....");
    check_refused(path.text, GUFO_E_TYPE, "file", "GGUF");
    put_text("model.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n");
    check_refused(place.path, GUFO_E_TYPE, "model.safetensors", "git-lfs");
    memcpy(tar + 257, "ustar", 5);
    write_file(path.text, tar, sizeof tar);
    check_refused(path.text, GUFO_E_TYPE, "file", "tar");
    put_text("file", "anything");
    check_refused(path.text, GUFO_E_TYPE, "file", "neither");
    put_text("file", "");
    check_refused(path.text, GUFO_E_TYPE, "file", "neither");
    assert_null(checkpoint_recognise(PLACE_AT(path.text)));
    assert_null(checkpoint_recognise(PLACE_AT(folder_path(&place, "none").text)));
    check_refused(folder_path(&place, "none").text, GUFO_E_IO, "none", "cannot open");
}

/* ---- with an index -------------------------------------------------------------------------- */

#define INDEX "model.safetensors.index.json"

static void put_shards(void)
{
    put_tensors("model-00001-of-00002.safetensors", "a", "b");
    put_tensors("model-00002-of-00002.safetensors", "c", NULL);
    put_text(INDEX, "{\"metadata\":{\"total_size\":13},\"weight_map\":{"
                    "\"c\":\"model-00002-of-00002.safetensors\","
                    "\"a\":\"model-00001-of-00002.safetensors\","
                    "\"b\":\"model-00001-of-00002.safetensors\"}}");
}

static void test_index(void **state)
{
    checkpoint c;

    (void)state;
    put_shards();
    put_tensors("model-old.safetensors", "a", "x"); /* which the index does not list */
    c = opened(place.path);
    assert_int_equal(c.file_count, 2);
    assert_int_equal(c.tensor_count, 3);
    assert_int_equal(c.tensors[2].file, 1);
    checkpoint_close(&c);
    c = opened(folder_path(&place, INDEX).text);
    assert_int_equal(c.tensor_count, 3);
    check_str(c.folder.path, place.path, "folder");
    checkpoint_close(&c);
    c = opened(folder_path(&place, "model-00001-of-00002.safetensors").text);
    assert_int_equal(c.tensor_count, 2);
    checkpoint_close(&c);
}

static void test_missing_shard(void **state)
{
    (void)state;
    put_shards();
    assert_int_equal(unlink(folder_path(&place, "model-00001-of-00002.safetensors").text), 0);
    check_refused(place.path, GUFO_E_SHARDS, INDEX,
                  "the shard \"model-00001-of-00002.safetensors\" is missing: the index lists 2 "
                  "tensors in it: \"a\", \"b\"");
    assert_int_equal(unlink(folder_path(&place, "model-00002-of-00002.safetensors").text), 0);
    check_refused(place.path, GUFO_E_SHARDS, INDEX, "and 1 more files");
    assert_string_equal(checkpoint_recognise(PLACE_AT(place.path)), "Hugging Face model");
}

static void test_index_lies(void **state)
{
    static const struct {
        const char *map; /* one.safetensors has a and b; two.safetensors has c */
        gufo_status status;
        const char *part;
    } rows[] = {
        {"{\"a\":\"one.safetensors\",\"b\":\"one.safetensors\",\"d\":\"one.safetensors\"}",
         GUFO_E_SHARDS, "1 tensors are in no file: \"d\"; 0 in another file; 0 not in the index"},
        {"{\"a\":\"one.safetensors\"}", GUFO_E_SHARDS, "1 not in the index: \"b\""},
        {"{\"a\":\"two.safetensors\",\"b\":\"one.safetensors\",\"c\":\"two.safetensors\"}",
         GUFO_E_SHARDS, "1 in another file: \"a\""},
        {"{\"a\":\"../one.safetensors\"}", GUFO_E_MALFORMED, "not a plain name"},
        {"{\"a\":\"/etc/passwd\"}", GUFO_E_MALFORMED, "not a plain name"},
        {"{\"a\":\"..\"}", GUFO_E_MALFORMED, "not a plain name"},
        {"{\"a\":\"\"}", GUFO_E_MALFORMED, "not a plain name"},
        {"{\"a\":\"one.safetensors\\u0000\"}", GUFO_E_MALFORMED, "not a plain name"},
        {"{\"a\":7}", GUFO_E_MALFORMED, "not a text"},
        {"{}", GUFO_E_MALFORMED, "lists no tensors"},
        {"[]", GUFO_E_MALFORMED, "no object \"weight_map\""},
        {"{\"a\":\"one.safetensors\",\"a\":\"one.safetensors\"}", GUFO_E_MALFORMED, "twice"},
    };

    (void)state;
    put_tensors("one.safetensors", "a", "b");
    put_tensors("two.safetensors", "c", NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512];

        (void)snprintf(text, sizeof text, "{\"weight_map\":%s}", rows[i].map);
        put_text(INDEX, text);
        check_refused(place.path, rows[i].status, INDEX, rows[i].part);
    }
    put_text(INDEX, "[");
    check_refused(place.path, GUFO_E_TRUNCATED, INDEX, "JSON");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_parts, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_links, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_twice, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_strangers, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_index, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_missing_shard, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_index_lies, make_folder, remove_folder),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
