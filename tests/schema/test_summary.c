/* A model in a few facts. */
#include "../support/check.h"

enum { TOKENS = 3 };

static gufo_model *model_of(gufo_document *d, void **header)
{
    gufo_layout layout;
    const void *bytes;
    size_t size;
    gufo_error error;

    check_ok(gufo_document_layout(d, NULL, &layout, &error), &error, "layout");
    check_ok(gufo_document_header(d, &bytes, &size, &error), &error, "header");
    *header = calloc(1, (size_t)layout.file_size);
    assert_non_null(*header);
    memcpy(*header, bytes, size);
    return gufo_model_open_memory(*header, (size_t)layout.file_size, NULL, &error);
}

static void add_tensor(gufo_document *d, const char *name, const char *type, uint64_t columns)
{
    gufo_error error;

    check_ok(
        gufo_document_add_tensor(d, name, gufo_element_type_by_name(type), 1, &columns, &error),
        &error, "%s", name);
}

static gufo_document *make_document(void)
{
    static const gufo_str texts[TOKENS] = {{"<unk>", 5}, {"<s>", 3}, {"</s>", 4}};
    static const gufo_items items = {GUFO_VALUE_STRING, TOKENS, texts};
    gufo_document *d = gufo_document_new(NULL, NULL);
    gufo_error error;

    assert_non_null(d);
    check_ok(gufo_document_set_text(d, "general.base_model.0.name", "Base", &error), &error, "set");
    check_ok(gufo_document_set_text(d, "general.base_model.1.repo_url", "u", &error), &error,
             "set");
    check_ok(gufo_document_set_array(d, "tokenizer.ggml.tokens", &items, &error), &error, "set");
    check_ok(gufo_document_set_u32(d, "tokenizer.ggml.bos_token_id", 1, &error), &error, "set");
    check_ok(gufo_document_set_u32(d, "tokenizer.ggml.eos_token_id", 9, &error), &error, "set");
    add_tensor(d, "a", "Q8_0", 64);
    add_tensor(d, "b", "F32", 16);
    add_tensor(d, "c", "F32", 16);
    return d;
}

static void test_sums(void **state)
{
    gufo_document *d = make_document();
    void *bytes;
    gufo_model *model = model_of(d, &bytes);
    size_t place = GUFO_SUMMARY_TYPES;
    gufo_summary s;

    (void)state;
    assert_non_null(model);
    gufo_model_summarize(model, &s);
    check_u64(s.parameters, 96, "elements");
    check_u64(s.tensor_size, 68 + 128, "bytes");
    check_u64(s.tensors, 3, "tensors");
    check_u64(s.complete, 3, "complete");
    check(s.bits_per_weight == 8.0 * 196 / 96, "%g bits", s.bits_per_weight);
    assert_null(s.file_type);
    assert_string_equal(s.quantization, "Q8_0"); /* of most elements */
    assert_true(gufo_summary_next_type(&s, &place));
    assert_string_equal(gufo_summary_type_name(place), "F32"); /* of most tensors */
    assert_true(gufo_summary_next_type(&s, &place));
    check_u64(s.types[place].elements, 64, "Q8_0");
    assert_false(gufo_summary_next_type(&s, &place));
    assert_string_equal(gufo_summary_type_name(1000), "unknown");
    gufo_model_free(model);
    free(bytes);
    gufo_document_free(d);
}

static void test_tokens_and_parents(void **state)
{
    gufo_model_token tokens[GUFO_MOST_SPECIAL_TOKENS];
    gufo_document *d = make_document();
    void *bytes;
    gufo_model *model = model_of(d, &bytes);
    gufo_parent parent;

    (void)state;
    assert_non_null(model);
    assert_int_equal(gufo_model_special_tokens(model, tokens), 2);
    check_str(tokens[0].role, "bos", "role");
    check_str(tokens[0].text, "<s>", "text");
    assert_true(tokens[0].has_text);
    check_u64(tokens[1].id, 9, "eos");
    assert_false(tokens[1].has_text);
    assert_true(gufo_model_parent_at(model, 0, &parent));
    check_str(parent.name, "Base", "name");
    assert_true(gufo_model_parent_at(model, 1, &parent));
    check_str(parent.url, "u", "address");
    check_u64(parent.name.len, 0, "no name");
    assert_false(gufo_model_parent_at(model, 2, &parent));
    gufo_model_free(model);
    free(bytes);
    gufo_document_free(d);
}

static void test_chat_templates(void **state)
{
    static const char *const keys[] = {
        "tokenizer.chat_template.tool_use", "tokenizer.chat_template",
        "tokenizer.chat_templates",         "tokenizer.chat_template.",
        "tokenizer.chat_template.rag",
    };
    static const char *const names[] = {"tool_use", "", "rag"};
    gufo_document *d =
        gufo_document_new(&(gufo_document_options){.flags = GUFO_DOCUMENT_AS_READ}, NULL);
    gufo_str name, source;
    uint64_t place = 0;
    gufo_model *model;
    gufo_error error;
    void *bytes;

    (void)state;
    assert_non_null(d);
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        check_ok(gufo_document_set_text(d, keys[i], keys[i], &error), &error, "%s", keys[i]);
    check_ok(gufo_document_set_u32(d, "tokenizer.chat_template.n", 1, &error), &error, "a number");
    model = model_of(d, &bytes);
    assert_non_null(model);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        assert_true(gufo_model_next_chat_template(model, &place, &name, &source));
        check_str(name, names[i], "name %zu", i);
        check_ok(
            gufo_model_chat_template(model, *names[i] != '\0' ? names[i] : NULL, &name, &error),
            &error, "%s", names[i]);
        check(gufo_str_equal(name, source), "%s", names[i]);
    }
    assert_false(gufo_model_next_chat_template(model, &place, NULL, NULL));
    check_u64(gufo_model_chat_template(model, "n", &name, &error), GUFO_E_TYPE, "a number");
    check_u64(gufo_model_chat_template(model, "none", &name, &error), GUFO_E_NOT_FOUND, "none");
    gufo_model_free(model);
    gufo_document_free(d);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums),
                                       cmocka_unit_test(test_tokens_and_parents),
                                       cmocka_unit_test(test_chat_templates)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
