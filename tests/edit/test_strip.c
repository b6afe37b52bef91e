/* Parts of models: what stays, and what goes. */
#include "copies.h"

typedef struct workshop {
    folder f;
    path_text in, out;
} workshop;

static void rich_metadata(builder *b)
{
    builder_kv_str(b, "general.architecture", "llama");
    builder_kv_u32(b, "general.alignment", 64);
    builder_kv_u32(b, "general.file_type", 2);
    builder_kv_u32(b, "general.quantization_version", 2);
    builder_kv_u32(b, "llama.context_length", 2048);
    builder_kv_str(b, "tokenizer.ggml.model", "gpt2");
    builder_kv_str(b, "quantize.imatrix.file", "i.gguf");
    builder_kv_str(b, "quantize.imatrixes", "another key");
}

enum { ENTRIES = 8, OF_VOCABULARY = 5 };

static workshop workshop_new(void)
{
    workshop w = {.f = folder_new()};
    test_model model = {.encoding = {3, false},
                        .alignment = 64,
                        .metadata = rich_metadata,
                        .entries = ENTRIES,
                        .tensors = copied_tensors,
                        .tensor_count = COUNT_OF(copied_tensors)};

    w.in = folder_path(&w.f, "in.gguf");
    w.out = folder_path(&w.f, "out.gguf");
    write_model(w.in.text, &model);
    return w;
}

static gufo_job *plan_strip(const gufo_model *set, const void *context, gufo_error *error)
{
    return gufo_job_strip(set, context, error);
}

/* Strips `in` and opens the result. */
static gufo_model *strip(const workshop *w, const char *in, const gufo_strip_options *options)
{
    copied made = copy_well(in, w->out.text, plan_strip, options, "strip");
    gufo_model *file = open_path(w->out.text);

    check_u64(made.outputs, 1, "one file");
    check_u64(made.normalised, 0, "nothing normalised");
    (void)unlink(w->out.text);
    return file;
}

static bool has_key(const gufo_model *file, const char *key)
{
    gufo_entry entry;

    return gufo_model_find(file, key, &entry);
}

static void test_no_tensors(void **state)
{
    workshop w = workshop_new();
    gufo_strip_options options = {0};
    gufo_model *file = strip(&w, w.in.text, &options);

    (void)state;
    check_u64(gufo_model_tensor_count(file), 0, "tensors");
    check_u64(gufo_model_entry_count(file), ENTRIES, "metadata");
    check_u64(gufo_model_facts(file).alignment, 64, "alignment");
    gufo_model_free(file);
    folder_remove(&w.f);
}

static void test_vocabulary(void **state)
{
    static const char *const gone[] = {"general.file_type", "general.quantization_version",
                                       "quantize.imatrix.file"};
    workshop w = workshop_new();
    gufo_strip_options options = {.vocabulary_only = true};
    gufo_model *file = strip(&w, w.in.text, &options);

    (void)state;
    check_u64(gufo_model_tensor_count(file), 0, "tensors");
    check_u64(gufo_model_entry_count(file), OF_VOCABULARY, "metadata");
    for (size_t i = 0; i < COUNT_OF(gone); i++)
        check(!has_key(file, gone[i]), "%s", gone[i]);
    check(has_key(file, "tokenizer.ggml.model") && has_key(file, "llama.context_length") &&
              has_key(file, "quantize.imatrixes"),
          "what stays");
    gufo_model_free(file);
    folder_remove(&w.f);
}

/* All but those that begin with the letter. */
static bool begins_otherwise(void *context, gufo_str name)
{
    return name.data[0] != *(const char *)context;
}

static void check_some(const workshop *w, const char *in)
{
    gufo_strip_options options = {.keeps_tensor = begins_otherwise, .context = "b"};
    gufo_model *file = strip(w, in, &options), *whole = open_path(w->in.text);

    check_u64(gufo_model_tensor_count(file), COUNT_OF(copied_tensors) - 1, "tensors");
    check_u64(gufo_model_entry_count(file), ENTRIES, "metadata");
    for (size_t i = 0; i < COUNT_OF(copied_tensors); i++) {
        const char *name = copied_tensors[i].name;
        gufo_tensor tensor, before;
        uint8_t *expected, *got;

        if (name[0] == 'b')
            continue;
        expected = tensor_bytes(whole, name, &before);
        got = tensor_bytes(file, name, &tensor);
        check(tensor.type == before.type && tensor.size == before.size &&
                  memcmp(got, expected, (size_t)tensor.size) == 0,
              "%s", name);
        free(expected);
        free(got);
    }
    gufo_model_free(whole);
    gufo_model_free(file);
}

static void test_some_tensors(void **state)
{
    workshop w = workshop_new();
    path_text prefix = folder_path(&w.f, "s");
    gufo_split_options twos = {.max_tensors = 2};

    (void)state;
    check_some(&w, w.in.text);
    /* A set gives one file without split keys. */
    (void)copy_well(w.in.text, prefix.text, plan_split, &twos, "split");
    check_some(&w, shard_of(prefix.text, 1, 3).text);
    folder_remove(&w.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_tensors),
        cmocka_unit_test(test_vocabulary),
        cmocka_unit_test(test_some_tensors),
    };

    return cmocka_run_group_tests(tests, copies_setup, NULL);
}
