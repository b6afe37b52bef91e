/* The second level of validation when memory runs out, at each request: it says so, and keeps
 * none. */
#include "../../support/allocator.h"
#include "../../support/folder.h"

#include "gufo/check.h"

#include <stdlib.h>

static const char *const seeds[] = {"seeds_check/model.gguf", "seeds_check/vocabulary.gguf",
                                    "seeds_check/merges.gguf", "seeds_check/adapter.gguf",
                                    "seeds/imatrix.gguf"};

static void count_finding(void *context, const gufo_finding *finding)
{
    (void)finding;
    ++*(size_t *)context;
}

/* Whether the check went through. */
static bool check_with(const gufo_model *file, counter *memory, size_t *findings, const char *label)
{
    gufo_allocator allocator = counter_allocator(memory);
    const gufo_check_options options = {.level = GUFO_LEVEL_MODEL, .allocator = &allocator};
    gufo_error error = no_error();
    gufo_status status;

    *findings = 0;
    status = gufo_model_check_content(file, &options, count_finding, findings, &error);
    check_u64(memory->in_use, 0, "%s: bytes left", label);
    check(status == GUFO_OK || status == GUFO_E_MEMORY, "%s: %s", label, error.message);
    check_u64(error.code, status, "%s: what the error says", label);
    return status == GUFO_OK;
}

static void fail_each(const gufo_model *file, const char *label)
{
    counter memory;
    size_t expected, findings, requests;

    counter_init(&memory);
    check(check_with(file, &memory, &expected, label), "%s: with all memory", label);
    requests = memory.calls;
    for (size_t at = 1; at <= requests; at++)
        for (int on = 0; on < 2; on++) {
            counter_init(&memory);
            memory.fail_at = at;
            memory.fail_on = on;
            check(!check_with(file, &memory, &findings, label), "%s: request %zu", label, at);
            check(findings <= expected, "%s: no finding comes of it", label);
        }
}

static void test_no_memory(void **state)
{
    const char *source = getenv("GUFO_SOURCE");

    (void)state;
    if (source == NULL)
        skip();
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        char fuzz[256];
        path_text path;
        gufo_error error = no_error();
        gufo_model *file;

        snprintf(fuzz, sizeof fuzz, "%s/fuzz", source);
        path = path_join(fuzz, seeds[i]);
        file = gufo_model_open(path.text, NULL, &error);
        check(file != NULL, "%s", error.message);
        fail_each(file, seeds[i]);
        gufo_model_free(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_memory)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
