/* Chat templates: every case of the shared reference data, as Python's Jinja renders it. */
#include "../support/check.h"
#include "../support/shared.h"

#include "gufo/template.h"

#include <jansson.h>

typedef struct reference {
    const json_t *line;
    const char *label;
    gufo_str source;
    json_t *context;
} reference;

static const char *text_of(const json_t *line, const char *key)
{
    return json_string_value(json_object_get(line, key));
}

static gufo_str bytes_of(const json_t *text)
{
    return (gufo_str){json_string_value(text), json_string_length(text)};
}

/* A message of the template's own must be the same; of others only that there is one. */
static void check_failure(const reference *r, gufo_status status, const gufo_error *error)
{
    bool raised = strcmp(text_of(r->line, "error_kind"), "raise_exception") == 0;

    check(json_object_get(r->line, "expected") == NULL, "%s fails: %s", r->label, error->message);
    check((status == GUFO_E_STOPPED) == raised, "%s: who refuses: %s", r->label, error->message);
    if (raised)
        check_str(gufo_str_of(error->message), text_of(r->line, "error"), "%s", r->label);
}

static void check_rendering(const reference *r)
{
    const gufo_template_options options = {.now = 1767312000}; /* 2026-01-02 */
    char *context = json_dumps(r->context, JSON_REAL_PRECISION(17));
    gufo_error error = {0};
    gufo_text out = {0};
    gufo_template *parsed = gufo_template_parse(r->source, NULL, NULL, &error);
    gufo_template_values *values = gufo_template_values_new(NULL, &error);
    gufo_status status = error.code;

    assert_non_null(values);
    assert_int_equal(gufo_template_values_set_all(values, gufo_str_of(context), &error), GUFO_OK);
    if (parsed != NULL)
        status = gufo_template_render(parsed, values, &options, &out, NULL, &error);
    if (status != GUFO_OK) {
        check_failure(r, status, &error);
    } else {
        check(json_object_get(r->line, "expected") != NULL, "%s: fails in Python", r->label);
        check(gufo_str_equal((gufo_str){out.data, out.len},
                             bytes_of(json_object_get(r->line, "expected"))),
              "%s: %.*s", r->label, (int)out.len, out.data);
    }
    gufo_text_free(&out);
    gufo_template_values_free(values);
    gufo_template_free(parsed);
    free(context);
}

typedef void check_line(const json_t *line);

static size_t each_line(const char *name, check_line *check_one)
{
    path_text path = need_shared(name);
    size_t len, count = 0;
    char *text = (char *)read_file(path.text, &len), *rest = text;

    assert_non_null(text);
    while (rest < text + len) {
        char *end = memchr(rest, '\n', (size_t)(text + len - rest));
        json_t *line;

        end = end == NULL ? text + len : end;
        line = json_loadb(rest, (size_t)(end - rest), JSON_ALLOW_NUL, NULL);
        assert_non_null(line);
        check_one(line);
        json_decref(line);
        rest = end + 1;
        count++;
    }
    free(text);
    return count;
}

static void check_language(const json_t *line)
{
    check_rendering(&(reference){.line = line,
                                 .label = text_of(line, "name"),
                                 .source = bytes_of(json_object_get(line, "template")),
                                 .context = json_object_get(line, "context")});
}

static void test_language(void **state)
{
    size_t count = each_line("data/text/jinja-language.jsonl", check_language);

    (void)state;
    check(count >= 200, "%zu cases", count);
}

static void check_template(const json_t *line)
{
    char label[200];
    path_text where = need_shared("data/text/templates");
    path_text path = path_join(where.text, text_of(line, "template"));
    size_t len;
    char *source = (char *)read_file(path.text, &len);

    assert_non_null(source);
    (void)snprintf(label, sizeof label, "%s, case %d", text_of(line, "template"),
                   (int)json_integer_value(json_object_get(line, "case")));
    check_rendering(&(reference){.line = line,
                                 .label = label,
                                 .source = {source, len},
                                 .context = json_object_get(line, "context")});
    free(source);
}

static void test_templates(void **state)
{
    size_t count = each_line("data/text/templates.jsonl", check_template);

    (void)state;
    check(count >= 1000, "%zu cases", count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_language),
        cmocka_unit_test(test_templates),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
