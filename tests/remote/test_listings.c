/* Lists of files: what services answer, and the file that is meant by an element type. */
#include "../support/check.h"

#include "base/memory.h"
#include "remote/places/listing.h"
#include "remote/places/services.h"

#define OID "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static const listing_shape *shape_of(const char *service)
{
    return service_named(service)->shape;
}

static void lists_are_read(void **state)
{
    static const char hf[] =
        "[{\"type\":\"directory\",\"oid\":\"a\",\"size\":0,\"path\":\"sub\"},"
        "{\"type\":\"file\",\"oid\":\"b\",\"size\":5,\"path\":\"sub\\/b.txt\"},"
        "{\"path\":\"a.gguf\",\"lfs\":{\"size\":7,\"oid\":\"" OID "\",\"pointerSize\":130},"
        "\"xetHash\":\"x\",\"type\":\"file\",\"size\":7,\"lastCommit\":{\"id\":[1,{}]}}]";
    static const char ms[] = "{\"Code\":200,\"Data\":{\"Files\":[{\"Path\":\"a.gguf\",\"Size\":7,"
                             "\"Type\":\"blob\",\"Sha256\":\"" OID "\"},{\"Path\":\"sub\","
                             "\"Type\":\"tree\"},{\"Path\":\"sub/b.txt\",\"Size\":5,\"Type\":"
                             "\"blob\",\"Sha256\":\"\"}],\"IsVisual\":0},\"Success\":true}";
    static const struct {
        const char *service, *text;
    } rows[] = {{"hf", hf}, {"ms", ms}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        place_files files = {.allocator = &default_allocator};
        gufo_error error = no_error();

        check_ok(listing_read(gufo_str_of(rows[i].text), shape_of(rows[i].service), &files, &error),
                 &error, "%s", rows[i].service);
        place_files_sort(&files);
        check_u64(files.count, 2, "%s", rows[i].service);
        check_str(gufo_str_of(files.list[0].path), "a.gguf", "%s", rows[i].service);
        check_u64(files.list[0].size, 7, "%s", rows[i].service);
        check_str(gufo_str_of(files.list[0].sha256), OID, "%s", rows[i].service);
        check_str(gufo_str_of(files.list[1].path), "sub/b.txt", "%s", rows[i].service);
        check_u64(files.list[1].size, 5, "%s", rows[i].service);
        check_str(gufo_str_of(files.list[1].sha256), "", "%s", rows[i].service);
        place_files_free(&files);
    }
}

/* Names that lead elsewhere are left out, and counted. */
static void names_that_are_no_paths_are_left_out(void **state)
{
    static const char text[] =
        "[{\"type\":\"file\",\"path\":\"../x\"},{\"type\":\"file\",\"path\":\"/etc/passwd\"},"
        "{\"type\":\"file\",\"path\":\"a\\\\b\"},{\"type\":\"file\",\"path\":\"a\\u0000b\"},"
        "{\"type\":\"file\",\"path\":\"\\u202egguf.exe\"},{\"type\":\"file\",\"path\":7},"
        "{\"type\":\"file\"},{\"type\":\"file\",\"path\":\"\"},"
        "{\"type\":\"file\",\"path\":\"good\",\"size\":null}]";
    place_files files = {.allocator = &default_allocator};
    gufo_error error = no_error();

    (void)state;
    check_ok(listing_read(gufo_str_of(text), shape_of("hf"), &files, &error), &error, "hostile");
    check_u64(files.count, 1, "files");
    check_u64(files.left_out, 8, "left out");
    place_files_free(&files);
}

static void what_is_no_list_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "{",
        "[",
        "[1]",
        "{}",
        "null",
        "<html>",
        "[{}] x",
        "[{\"a\":]}",
        "[[]]",
        "[{\"path\":\"a]",
        "\"x\"",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        place_files files = {.allocator = &default_allocator};
        gufo_error error = no_error();
        gufo_status status = listing_read(gufo_str_of(texts[i]), shape_of("hf"), &files, &error);

        check(status == GUFO_E_MALFORMED || status == GUFO_E_TRUNCATED, "%s", texts[i]);
        place_files_free(&files);
    }
}

/* ---- choosing -------------------------------------------------------------------------------- */

static const char *const names[] = {
    "README.md",
    "imatrix-Q4_K_M.gguf",
    "mmproj-model-f16.gguf",
    "model-BF16/model-BF16-00001-of-00002.gguf",
    "model-BF16/model-BF16-00002-of-00002.gguf",
    "model-IQ4_XS.gguf",
    "model-Q4_K_M.gguf",
    "model-Q4_K_S.gguf",
    "model-UD-Q4_K_M.gguf",
    "model.Q8_0.gguf",
};

static const struct {
    const char *type, *chosen; /* NULL: none */
} choices[] = {
    {"Q4_K_M", "model-Q4_K_M.gguf"},
    {"q4_k_m", "model-Q4_K_M.gguf"},
    {"UD-Q4_K_M", "model-UD-Q4_K_M.gguf"},
    {"Q4_K", NULL},
    {"Q4_XS", NULL},
    {"IQ4_XS", "model-IQ4_XS.gguf"},
    {"Q8_0", "model.Q8_0.gguf"},
    {"bf16", "model-BF16/model-BF16-00001-of-00002.gguf"},
    {"F16", NULL},
    {"latest", "model-Q4_K_M.gguf"},
    {"md", NULL},
};

static void a_type_chooses_a_file(void **state)
{
    place_files files = {.allocator = &default_allocator};
    gufo_error error = no_error();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        check_ok(place_files_add(&files, gufo_str_of(names[i]), 1, gufo_str_of(""), &error), &error,
                 "%s", names[i]);
    for (size_t i = 0; i < COUNT_OF(choices); i++) {
        const place_file *chosen = place_files_choose(&files, gufo_str_of(choices[i].type));

        check_str(gufo_str_of(chosen != NULL ? chosen->path : "none"),
                  choices[i].chosen != NULL ? choices[i].chosen : "none", "%s", choices[i].type);
    }
    check_status(place_files_refuse(&files, gufo_str_of("Q9"), &error), GUFO_E_NOT_FOUND, &error,
                 "none");
    check(strstr(error.message, "model-Q4_K_M.gguf") != NULL, "what there is: %s", error.message);
    place_files_free(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_read),
        cmocka_unit_test(names_that_are_no_paths_are_left_out),
        cmocka_unit_test(what_is_no_list_is_refused),
        cmocka_unit_test(a_type_chooses_a_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
