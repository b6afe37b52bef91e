/* Settings of old files by their hash. */
#include "../support/check.h"

#include "gufo/import.h"

static const struct {
    const char *json;
    gufo_status status;
    const char *message;
} rows[] = {
    {"{\"h\": {\"settings\": {\"llama.context_length\": 4096, \"general.name\": \"n\"}}}", GUFO_OK,
     ""},
    {"{\"h\": {\"settings\": {\"x.y\": {\"type\": \"uint8\", \"value\": [1, 2]}}}}", GUFO_OK, ""},
    {"{", GUFO_E_MALFORMED, "line 1: "},
    {"[]", GUFO_E_MALFORMED, "not a JSON object"},
    {"{\"h\": 1}", GUFO_E_MALFORMED, "\"settings\" is not an object"},
    {"{\"h\": {\"settings\": {\"x.y\": null}}}", GUFO_E_TYPE, "'x.y': expected a value"},
    {"{\"h\": {\"settings\": {\"x.y\": []}}}", GUFO_E_TYPE, "'x.y': its type is not known"},
    {"{\"h\": {\"settings\": {\"split.no\": 1}}}", GUFO_E_ARGUMENT, "'split.no': "},
    {"{\"h\": {\"settings\": {\"general.architecture\": \"gpt2\"}}}", GUFO_E_ARGUMENT, "itself"},
    {"{\"h\": {\"settings\": {\"llama.context_length\": -1}}}", GUFO_E_TYPE, "uint32"},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_error error = no_error();
        gufo_document *document = gufo_document_new(NULL, &error);
        bool found = false;

        check(document != NULL, "%s", error.message);
        check_status(gufo_legacy_settings(gufo_str_of(rows[i].json), "h", document, &found, &error),
                     rows[i].status, &error, "%s", rows[i].json);
        check(rows[i].status == GUFO_OK || strstr(error.message, rows[i].message) != NULL, "%s: %s",
              rows[i].json, error.message);
        check(rows[i].status != GUFO_OK || found, "%s", rows[i].json);
        gufo_document_free(document);
    }
}

/* Keys that are there stay; another hash has none. */
static void test_known(void **state)
{
    const gufo_str json = gufo_str_of("{\"h\": {\"settings\": {\"general.name\": \"n\"}}}");
    gufo_error error = no_error();
    gufo_document *document = gufo_document_new(NULL, &error);
    gufo_document_entry entry;
    bool found = true;

    (void)state;
    check_ok(gufo_legacy_settings(json, "other", document, &found, &error), &error, "other");
    check(!found && !gufo_document_find(document, "general.name", NULL), "nothing is set");
    check_ok(gufo_document_set_text(document, "general.name", "mine", &error), &error, "mine");
    check_ok(gufo_legacy_settings(json, "h", document, NULL, &error), &error, "h");
    check(gufo_document_find(document, "general.name", &entry), "there");
    check_str(entry.value.as.str, "mine", "it stays");
    check_status(gufo_legacy_settings(json, NULL, document, NULL, &error), GUFO_E_ARGUMENT, &error,
                 "no hash");
    gufo_document_free(document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_known)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
