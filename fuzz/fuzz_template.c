/* Fuzz target: parse a chat template, judge it, and render it with small limits and variables that
 * do not change. */
#include "walk.h"

#include "gufo/template.h"

#include <stdlib.h>
#include <string.h>

static const char variables[] =
    "{\"messages\":[{\"role\":\"user\",\"content\":\"h\\u00e9llo\"},{\"role\":\"assistant\","
    "\"content\":[{\"type\":\"text\",\"text\":\"<a> "
    "'b'\"}],\"tool_calls\":[{\"function\":{\"name\":"
    "\"f\",\"arguments\":{\"x\":[1,2.5,null,true]}}}]}],\"tools\":null,\"bos_token\":\"<s>\","
    "\"add_generation_prompt\":true,\"n\":7,\"s\":\"\\u65e5\\u672c abc\",\"d\":{\"b\":1,\"a\":{}}}";

typedef struct listener {
    gufo_str text;
    size_t count;
} listener;

static bool listen(void *context, const gufo_template_finding *finding)
{
    listener *l = context;

    must(finding->offset <= l->text.len, "a finding is in the template");
    must(finding->line >= 1 && finding->column >= 1, "lines and columns are in the template");
    must(finding->message[0] != '\0', "a finding says something");
    must(gufo_utf8_valid_prefix(gufo_str_of(finding->message)) == strlen(finding->message),
         "messages are text");
    l->count++;
    return true;
}

static void judge(gufo_str text, bool parsed)
{
    listener l = {.text = text};
    gufo_error error;

    must(gufo_template_lint(text, NULL, listen, &l, &error) == GUFO_OK, "every template is judged");
    must(parsed || l.count == 1, "what cannot be parsed has a finding");
    must(l.count <= text.len + 1, "findings are not made of nothing");
}

static void render(const gufo_template *parsed)
{
    const gufo_template_options options = {
        .now = 1767312000, .steps = 20000, .output = 1 << 20, .memory = 16 << 20, .recursion = 50};
    gufo_template_values *values = gufo_template_values_new(NULL, NULL);
    gufo_template_place place = {0};
    gufo_text out = {0}, again = {0};
    gufo_status status;
    gufo_error error;

    must(values != NULL &&
             gufo_template_values_set_all(values, gufo_str_of(variables), &error) == GUFO_OK,
         "the variables are JSON");
    status = gufo_template_render(parsed, values, &options, &out, &place, &error);
    must(status == GUFO_OK || status == GUFO_E_STOPPED || status == GUFO_E_TYPE ||
             status == GUFO_E_LIMIT,
         "only these failures exist");
    must(status == GUFO_OK || (out.len == 0 && place.line >= 1), "a failure has a place");
    must(status != GUFO_OK || gufo_utf8_valid_prefix((gufo_str){out.data, out.len}) == out.len,
         "the output is UTF-8");
    must(gufo_template_render(parsed, values, &options, &again, NULL, NULL) == status &&
             again.len == out.len && (out.len == 0 || memcmp(again.data, out.data, out.len) == 0),
         "it is repeatable");
    gufo_text_free(&out);
    gufo_text_free(&again);
    gufo_template_values_free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A block of exactly this size, so that the first byte past it is noticed. */
    char *copy = malloc(size ? size : 1);
    gufo_str text = {copy, size};
    gufo_template_place place;
    gufo_template *parsed;
    gufo_error error;

    must(copy != NULL, "the machine has enough memory");
    if (size)
        memcpy(copy, data, size);
    parsed = gufo_template_parse(text, NULL, &place, &error);
    must(parsed != NULL ||
             (place.line >= 1 && (error.offset == GUFO_NO_OFFSET || error.offset <= size)),
         "a fault has a place");
    judge(text, parsed != NULL);
    if (parsed != NULL)
        render(parsed);
    gufo_template_free(parsed);
    free(copy);
    return 0;
}
