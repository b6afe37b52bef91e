/* Manifests of Ollama, and names of its models. */
#include "../support/check.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "remote/ollama/manifest.h"
#include "remote/ollama/name.h"
#include "remote/sha256.h"

#define HEX "2bada8a7450677000f678be90653b85d364de7db25eb5ea54136ada5f3933730"
#define DIGEST "\"digest\":\"sha256:" HEX "\""

static gufo_error no_fault(void)
{
    return (gufo_error){.offset = 0};
}

/* ---- reading -------------------------------------------------------------------------------- */

static const char usual[] =
    "{\"schemaVersion\":2,\"mediaType\":\"application/vnd.docker.distribution.manifest.v2+json\","
    "\"config\":{\"mediaType\":\"application/vnd.docker.container.image.v1+json\"," DIGEST
    ",\"size\":485},\"layers\":["
    "{\"mediaType\":\"application/vnd.ollama.image.model\"," DIGEST ",\"size\":4683073184},"
    " {\"size\": 3, \"from\": {\"a\": [1]}, \"digest\": \"sha256-2BADA8A7450677000F678BE90653B85D"
    "364DE7DB25EB5EA54136ADA5F3933730\", \"mediaType\": \"application/vnd.ollama.image.license\"},"
    "{\"mediaType\":\"application/vnd.ollama.image.tensor\"," DIGEST
    ",\"size\":0,\"name\":\"a\\u0062c\"},"
    "{\"mediaType\":\"text/plain\"," DIGEST ",\"size\":1}]}\n";

static void a_manifest_is_read(void **state)
{
    gufo_error error = no_fault();
    ollama_manifest m;

    (void)state;
    check_ok(ollama_manifest_read(gufo_str_of(usual), &default_allocator, &m, &error), &error,
             "usual");
    check_u64(m.count, 4, "layers");
    check_u64(m.config.size, 485, "config");
    check_str(gufo_str_of(m.config.hex), HEX, "config");
    check_u64(m.layers[0].kind, OLLAMA_MODEL, "model");
    check_u64(m.layers[0].size, 4683073184, "model");
    check_u64(m.layers[1].kind, OLLAMA_LICENSE, "license");
    check_str(gufo_str_of(m.layers[1].hex), HEX, "a dash, and upper case");
    check_u64(m.layers[2].kind, OLLAMA_TENSOR, "tensor");
    check_str(m.layers[2].name, "abc", "tensor");
    check_u64(m.layers[3].kind, OLLAMA_OTHER, "other");
    check_str(m.layers[3].type, "text/plain", "other");
    check(ollama_manifest_find(&m, OLLAMA_LICENSE) == &m.layers[1], "license");
    check(ollama_manifest_find(&m, OLLAMA_SYSTEM) == NULL, "no system message");
    ollama_manifest_free(&m);
    ollama_manifest_free(&m);
}

static void manifests_without_a_config_or_layers(void **state)
{
    static const char *const texts[] = {"{\"layers\":[]}", "{\"layers\":null,\"config\":null}",
                                        "{\"config\":{\"mediaType\":\"\"," DIGEST
                                        ",\"size\":0},\"layers\":[]}"};
    gufo_error error = no_fault();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        ollama_manifest m;

        check_ok(ollama_manifest_read(gufo_str_of(texts[i]), &default_allocator, &m, &error),
                 &error, "%s", texts[i]);
        check_u64(m.count, 0, "%s", texts[i]);
        ollama_manifest_free(&m);
    }
}

static void other_texts_are_refused(void **state)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"", "ends"},
        {"[]", "'{'"},
        {"{}", "no layers"},
        {"{\"errors\":[{\"code\":\"MANIFEST_UNKNOWN\"}]}", "no layers"},
        {"<html>", "'{'"},
        {"{\"layers\":[]} x", "follows the end"},
        {"{\"layers\":[{}]}", "needs a mediaType"},
        {"{\"layers\":[{\"mediaType\":\"a\"," DIGEST "}]}", "needs a mediaType"},
        {"{\"layers\":[{\"mediaType\":\"a\"," DIGEST ",\"size\":9223372036854775808}]}",
         "needs a mediaType"},
        {"{\"layers\":[{\"mediaType\":\"a\",\"size\":1,\"digest\":\"sha256:../../x\"}]}",
         "not of SHA-256"},
        {"{\"layers\":[{\"mediaType\":\"a\",\"size\":1,\"digest\":\"sha512:" HEX "\"}]}",
         "not of SHA-256"},
        {"{\"layers\":[{\"mediaType\":\"a\",\"size\":1,\"digest\":\"sha256:" HEX "0\"}]}",
         "not of SHA-256"},
        {"{\"layers\":[{\"mediaType\":\"a\",\"size\":1,\"digest\":\"\\u001b[2J\"}]}", "\\u{1b}"},
        {"{\"layers\":[{\"mediaType\":\"a\",\"size\":-1," DIGEST "}]}", "negative"},
        {"{\"layers\":[{\"mediaType\":1,\"size\":1," DIGEST "}]}", "a string is expected"},
        {"{\"layers\":{}}", "'['"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_error error = no_fault();
        ollama_manifest m;

        check_status(
            ollama_manifest_read(gufo_str_of(rows[i].text), &default_allocator, &m, &error),
            rows[i].text[0] == '\0' ? GUFO_E_TRUNCATED : GUFO_E_MALFORMED, &error, "%s",
            rows[i].text);
        check(strstr(error.message, rows[i].says) != NULL, "%s: %s", rows[i].text, error.message);
        ollama_manifest_free(&m);
    }
}

/* No beginning of a manifest is one. */
static void cut_manifests_are_refused(void **state)
{
    (void)state;
    for (size_t len = 0; len + 2 < sizeof usual - 1; len++) {
        gufo_error error = no_fault();
        ollama_manifest m;

        check(ollama_manifest_read((gufo_str){usual, len}, &default_allocator, &m, &error) !=
                  GUFO_OK,
              "%zu", len);
        ollama_manifest_free(&m);
    }
}

static void too_much_is_refused(void **state)
{
    const size_t size = OLLAMA_MANIFEST_MOST + 1;
    char *text = malloc(size);
    gufo_text many = {0};
    gufo_error error = no_fault();
    ollama_manifest m;
    bool good;

    (void)state;
    check(text != NULL, "memory");
    memset(text, ' ', size);
    check_status(ollama_manifest_read((gufo_str){text, size}, &default_allocator, &m, &error),
                 GUFO_E_LIMIT, &error, "bytes");
    ollama_manifest_free(&m);
    free(text);
    good = text_add(&many, "{\"layers\":[", 11);
    for (int i = 0; i <= OLLAMA_MOST_LAYERS; i++)
        good = good && text_add(&many, i == 0 ? " " : ",", 1) &&
               text_add(&many, "{\"mediaType\":\"\",\"size\":0," DIGEST "}",
                        sizeof "{\"mediaType\":\"\",\"size\":0," DIGEST "}" - 1);
    check(good && text_add(&many, "]}", 2), "memory");
    check_status(
        ollama_manifest_read((gufo_str){many.data, many.len}, &default_allocator, &m, &error),
        GUFO_E_LIMIT, &error, "layers");
    ollama_manifest_free(&m);
    gufo_text_free(&many);
}

/* ---- writing -------------------------------------------------------------------------------- */

static void what_is_written_is_read_again(void **state)
{
    gufo_error error = no_fault();
    ollama_manifest m, again;
    gufo_text text = {0};

    (void)state;
    check_ok(ollama_manifest_read(gufo_str_of(usual), &default_allocator, &m, &error), &error,
             "usual");
    check_ok(ollama_manifest_write(&m.config, m.layers, m.count, &text, &error), &error, "writing");
    check_ok(
        ollama_manifest_read((gufo_str){text.data, text.len}, &default_allocator, &again, &error),
        &error, "again");
    check_u64(again.count, m.count, "layers");
    for (size_t i = 0; i < m.count; i++) {
        check_u64(again.layers[i].kind, m.layers[i].kind, "%zu", i);
        check_u64(again.layers[i].size, m.layers[i].size, "%zu", i);
        check_view(again.layers[i].type, m.layers[i].type, "%zu", i);
        check_view(again.layers[i].name, m.layers[i].name, "%zu", i);
        check_str(gufo_str_of(again.layers[i].hex), m.layers[i].hex, "%zu", i);
    }
    gufo_text_free(&text);
    ollama_manifest_free(&m);
    ollama_manifest_free(&again);
}

static void strings_are_escaped(void **state)
{
    gufo_text text = {0};

    (void)state;
    check(ollama_json_string((gufo_str){"a\"\\\n\x1b\xe2\x80\xae\xff\0\xc3\xa9", 12}, &text),
          "memory");
    check_view(((gufo_str){text.data, text.len}),
               gufo_str_of("\"a\\\"\\\\\\n\\u001b\\u202e\\ufffd\\u0000\xc3\xa9\""), "escapes");
    gufo_text_free(&text);
}

/* ---- names ---------------------------------------------------------------------------------- */

static void names_are_read(void **state)
{
    static const struct {
        const char *text, *path, *shown;
    } rows[] = {
        {"tiny", "registry.ollama.ai/library/tiny/latest", "tiny:latest"},
        {"tiny:q4", "registry.ollama.ai/library/tiny/q4", "tiny:q4"},
        {"me/tiny:7b-Q4_K.M", "registry.ollama.ai/me/tiny/7b-Q4_K.M", "me/tiny:7b-Q4_K.M"},
        {"hf.co/user/repo-GGUF:Q8_0", "hf.co/user/repo-GGUF/Q8_0", "hf.co/user/repo-GGUF:Q8_0"},
        {"localhost:5000/me/tiny", "localhost:5000/me/tiny/latest",
         "localhost:5000/me/tiny:latest"},
        {"registry.ollama.ai/library/tiny:a", "registry.ollama.ai/library/tiny/a", "tiny:a"},
        {"registry.ollama.ai/me/tiny:a", "registry.ollama.ai/me/tiny/a", "me/tiny:a"},
        {"_x/_y:_z", "registry.ollama.ai/_x/_y/_z", "_x/_y:_z"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_error error = no_fault();
        gufo_text path = {0}, shown = {0};
        ollama_name name;

        check_ok(ollama_name_read(gufo_str_of(rows[i].text), &name, &error), &error, "%s",
                 rows[i].text);
        check(ollama_name_path(&name, &path) && ollama_name_text(&name, &shown), "memory");
        check_str(((gufo_str){path.data, path.len}), rows[i].path, "%s", rows[i].text);
        check_str(((gufo_str){shown.data, shown.len}), rows[i].shown, "%s", rows[i].text);
        gufo_text_free(&path);
        gufo_text_free(&shown);
    }
}

static void other_names_are_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "/",
        ":",
        "a:",
        ":a",
        "a/",
        "/a",
        "..",
        "../a",
        "a/../b",
        "../../a",
        ".a",
        "a:.b",
        "a:..",
        "a:b/c:d/",
        "a/b/c/d",
        "a b",
        "a\nb",
        "a\\b",
        "-a",
        "a:-b",
        "me.x/a",
        "a//b",
        "h/o:p/m:t",
        "https://x/a/b",
        "a:\xc3\xa9",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        gufo_error error = no_fault();
        ollama_name name;

        check_status(ollama_name_read(gufo_str_of(texts[i]), &name, &error), GUFO_E_ARGUMENT,
                     &error, "'%s'", texts[i]);
        check(error.message[0] != '\0', "'%s'", texts[i]);
    }
}

/* The examples of FIPS 180-2. */
static void digests_are_right(void **state)
{
    gufo_error error = no_fault();
    char hex[SHA256_HEX + 1];

    (void)state;
    check_ok(sha256_of(gufo_str_of("abc"), hex, &error), &error, "abc");
    check_str(gufo_str_of(hex), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
              "abc");
    check_ok(sha256_of(gufo_str_of(""), hex, &error), &error, "nothing");
    check_str(gufo_str_of(hex), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
              "nothing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_manifest_is_read),
        cmocka_unit_test(manifests_without_a_config_or_layers),
        cmocka_unit_test(other_texts_are_refused),
        cmocka_unit_test(cut_manifests_are_refused),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(strings_are_escaped),
        cmocka_unit_test(names_are_read),
        cmocka_unit_test(other_names_are_refused),
        cmocka_unit_test(digests_are_right),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
