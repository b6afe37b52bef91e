/* What an edit breaks: only findings that the file does not have already are reported. */
#include "../support/builder.h"
#include "../support/findings.h"
#include "../support/folder.h"

#include <string.h>

enum { BAD_TENSORS = 30 };

typedef struct checked {
    folder f;
    path_text path;
    gufo_edit *edit;
    gufo_document *document;
} checked;

/* A llama file that has `tensors` with unknown names. */
static checked begin(encoding e, uint64_t tensors)
{
    checked c = {.f = folder_new()};
    builder b = builder_new(e);
    const uint64_t dims[1] = {32};
    gufo_error error = no_error();

    c.path = folder_path(&c.f, "model.gguf");
    builder_header(&b, tensors, 3);
    builder_kv_str(&b, "general.architecture", "llama");
    builder_kv_str(&b, "general.license", "Apache-2.0");
    builder_kv_u32(&b, "llama.context_length", 5);
    for (uint64_t i = 0; i < tensors; i++) {
        char name[32];

        snprintf(name, sizeof name, "unknown.%d.x", (int)i);
        builder_tensor(&b, name, GUFO_TYPE_I8, 1, dims, 32 * i);
    }
    builder_pad(&b, 32);
    builder_fill(&b, 0, (size_t)(32 * tensors));
    write_file(c.path.text, b.data, b.len);
    builder_free(&b);
    c.edit = gufo_edit_open(c.path.text, NULL, &error);
    check(c.edit != NULL, "%s", error.message);
    c.document = gufo_edit_document(c.edit);
    return c;
}

static void end(checked *c)
{
    gufo_edit_free(c->edit);
    folder_remove(&c->f);
}

static findings look(const checked *c)
{
    findings f;
    gufo_error error = no_error();

    findings_init(&f);
    check_ok(gufo_edit_check(c->edit, NULL, findings_add, &f, &error), &error, "check");
    for (size_t i = 0; i < f.count; i++)
        check_u64(f.items[i].offset, GUFO_NO_OFFSET, "the result is nowhere yet");
    return f;
}

/* `rule` is what the edit breaks now, NULL: nothing. */
static void expect(const checked *c, const char *rule, const char *what)
{
    findings f = look(c);

    if (f.count != (rule != NULL) || (rule != NULL && findings_of(&f, rule) != 1)) {
        findings_print(&f);
        check(false, "%s: %zu findings", what, f.count);
    }
    findings_free(&f);
}

static void set_text(const checked *c, const char *key, const char *value)
{
    gufo_error error = no_error();

    check_ok(gufo_document_set_text(c->document, key, value, &error), &error, "%s", key);
}

static void test_new(void **state)
{
    (void)state;
    for (size_t e = 0; e < ENCODING_COUNT; e++) {
        checked c = begin(all_encodings[e], 0);
        gufo_error error = no_error();

        expect(&c, NULL, "no change");
        set_text(&c, "general.name", "x");
        expect(&c, NULL, "a good change");
        set_text(&c, "general.license", "apache2");
        expect(&c, "license", "a bad license");
        set_text(&c, "general.license", "MIT");
        expect(&c, NULL, "a good license");
        check_ok(gufo_document_set_u32(c.document, "llama.rope.freq_base", 5, &error), &error,
                 "set");
        expect(&c, "key-value-type", "a type");
        end(&c);
    }
}

/* The same fault is not reported again, another one in the same place is. */
static void test_old(void **state)
{
    checked c = begin(all_encodings[0], 0);
    gufo_error error = no_error();

    (void)state;
    set_text(&c, "general.license", "apache2");
    set_text(&c, "general.languages", "x");
    check_ok(gufo_edit_apply(c.edit, NULL, NULL, NULL, NULL, &error), &error, "apply");
    check_status(gufo_edit_check(c.edit, NULL, findings_add, NULL, &error), GUFO_E_ARGUMENT, &error,
                 "after it was applied");
    gufo_edit_free(c.edit);
    c.edit = gufo_edit_open(c.path.text, NULL, &error);
    check(c.edit != NULL, "%s", error.message);
    c.document = gufo_edit_document(c.edit);
    set_text(&c, "general.name", "x");
    expect(&c, NULL, "old faults");
    set_text(&c, "general.license", "apache3");
    expect(&c, "license", "another wrong license");
    check_ok(gufo_document_rename(c.document, "general.license", "general.licence", &error), &error,
             "rename");
    expect(&c, "key-misspelt", "another key");
    end(&c);
}

/* Of a rule with many findings not all are listed: another one that is listed is not new. */
static void test_many(void **state)
{
    checked c = begin(all_encodings[0], BAD_TENSORS);
    gufo_error error = no_error();

    (void)state;
    set_text(&c, "general.name", "x");
    expect(&c, NULL, "many old faults");
    check(gufo_document_drop_tensor(c.document, "unknown.0.x"), "drop");
    expect(&c, NULL, "one less");
    check_ok(gufo_document_rename_tensor(c.document, "unknown.1.x", "other.1.x", &error), &error,
             "rename");
    expect(&c, "tensor-unknown", "another name");
    end(&c);
}

/* An architecture that is not known keeps other faults from being found: they are not new. */
static void test_uncovered(void **state)
{
    checked c = begin(all_encodings[0], 1);
    gufo_error error = no_error();
    findings f;

    (void)state;
    set_text(&c, "general.architecture", "lama");
    check_ok(gufo_edit_apply(c.edit, NULL, NULL, NULL, NULL, &error), &error, "apply");
    gufo_edit_free(c.edit);
    c.edit = gufo_edit_open(c.path.text, NULL, &error);
    check(c.edit != NULL, "%s", error.message);
    c.document = gufo_edit_document(c.edit);
    set_text(&c, "general.architecture", "llama");
    expect(&c, NULL, "the right architecture");
    check_ok(gufo_document_set_u32(c.document, "llama.block_count", 0, &error), &error, "set");
    f = look(&c);
    check_u64(f.count, 1, "what is touched counts");
    findings_free(&f);
    end(&c);
}

/* Options that do not exist. */
static void test_failures(void **state)
{
    checked c = begin(all_encodings[0], 0);
    const gufo_check_options wrong = {.level = (gufo_level)99};
    gufo_error error = no_error();

    (void)state;
    check_status(gufo_edit_check(c.edit, &wrong, findings_add, NULL, &error), GUFO_OK, &error,
                 "nothing is changed, and nothing checked");
    set_text(&c, "general.name", "x");
    check_status(gufo_edit_check(c.edit, &wrong, findings_add, NULL, &error), GUFO_E_ARGUMENT,
                 &error, "a level that does not exist");
    check_status(gufo_edit_check(c.edit, &wrong, findings_add, NULL, NULL), GUFO_E_ARGUMENT, &error,
                 "the same without an error");
    end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new),      cmocka_unit_test(test_old),
        cmocka_unit_test(test_many),     cmocka_unit_test(test_uncovered),
        cmocka_unit_test(test_failures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
