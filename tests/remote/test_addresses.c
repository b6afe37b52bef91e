/* Addresses: what their grammar takes apart, what it refuses, and what becomes of them on the web. */
#include "../support/check.h"

#include "remote/places/address.h"
#include "remote/places/services.h"

/* ---- what is read ---------------------------------------------------------------------------- */

typedef struct good_row {
    const char *text;
    const char *service, *type, *owner, *name, *revision, *path, *tag;
    bool is_folder, may_be_file;
    const char *url; /* of the file, or of the list */
} good_row;

#define HF "https://huggingface.co/"
#define COMMIT "0123456789abcdef0123456789abcdef01234567"

static const good_row good[] = {
    {"hf://org/repo/m.gguf", "hf", "models/", "org", "repo", "", "m.gguf", "", false, false,
     HF "org/repo/resolve/main/m.gguf"},
    {"HF://org/repo/sub/a b+c#?.gguf", "hf", "models/", "org", "repo", "", "sub/a b+c#?.gguf", "",
     false, false, HF "org/repo/resolve/main/sub/a%20b%2Bc%23%3F.gguf"},
    {"hf://models/org/repo@v1.0/m.gguf", "hf", "models/", "org", "repo", "v1.0", "m.gguf", "",
     false, false, HF "org/repo/resolve/v1.0/m.gguf"},
    {"hf://datasets/org/repo@" COMMIT "/d.gguf", "hf", "datasets/", "org", "repo", COMMIT, "d.gguf",
     "", false, false, HF "datasets/org/repo/resolve/" COMMIT "/d.gguf"},
    {"hf://spaces/org/repo/x", "hf", "spaces/", "org", "repo", "", "x", "", false, false,
     HF "spaces/org/repo/resolve/main/x"},
    {"hf://org/repo@refs/pr/1/m.gguf", "hf", "models/", "org", "repo", "refs/pr/1", "m.gguf", "",
     false, false, HF "org/repo/resolve/refs%2Fpr%2F1/m.gguf"},
    {"hf://org/repo@refs%2Fpr%2F1/m.gguf", "hf", "models/", "org", "repo", "refs/pr/1", "m.gguf",
     "", false, false, HF "org/repo/resolve/refs%2Fpr%2F1/m.gguf"},
    {"hf://org/repo", "hf", "models/", "org", "repo", "", "", "", true, false,
     HF "api/models/org/repo/tree/main?recursive=true"},
    {"hf://org/repo/", "hf", "models/", "org", "repo", "", "", "", true, false,
     HF "api/models/org/repo/tree/main?recursive=true"},
    {"hf://datasets/org/repo@x", "hf", "datasets/", "org", "repo", "x", "", "", true, false,
     HF "api/datasets/org/repo/tree/x?recursive=true"},
    {"hf://org/repo/BF16/", "hf", "models/", "org", "repo", "", "BF16", "", true, false,
     HF "api/models/org/repo/tree/main?recursive=true"},
    {"hf://org/repo:Q4_K_M", "hf", "models/", "org", "repo", "", "", "Q4_K_M", false, false, NULL},
    {"hf.co/org/repo:UD-Q4_K_XL", "hf", "models/", "org", "repo", "", "", "UD-Q4_K_XL", false, true,
     NULL},
    {"huggingface.co/org/repo", "hf", "models/", "org", "repo", "", "", "", true, true,
     HF "api/models/org/repo/tree/main?recursive=true"},
    {"org/repo:q8_0", "hf", "models/", "org", "repo", "", "", "q8_0", false, true, NULL},
    {"o_1/a.b-c_d:latest", "hf", "models/", "o_1", "a.b-c_d", "", "", "latest", false, true, NULL},
    {HF "org/repo/resolve/main/a%20b.gguf?download=true", "hf", "models/", "org", "repo", "main",
     "a b.gguf", "", false, false, HF "org/repo/resolve/main/a%20b.gguf"},
    {HF "org/repo/blob/refs%2Fpr%2F2/m.gguf", "hf", "models/", "org", "repo", "refs/pr/2", "m.gguf",
     "", false, false, HF "org/repo/resolve/refs%2Fpr%2F2/m.gguf"},
    {HF "org/repo/tree/main", "hf", "models/", "org", "repo", "main", "", "", true, false, NULL},
    {HF "org/repo/tree/main/BF16", "hf", "models/", "org", "repo", "main", "BF16", "", true, false,
     NULL},
    {HF "org/repo", "hf", "models/", "org", "repo", "", "", "", true, false, NULL},
    {"https://hf.co/datasets/org/repo", "hf", "datasets/", "org", "repo", "", "", "", true, false,
     NULL},
    {"ms://Org/Repo/m.gguf", "ms", "models/", "Org", "Repo", "", "m.gguf", "", false, false,
     "https://www.modelscope.cn/models/Org/Repo/resolve/master/m.gguf"},
    {"ollama://llama3", "ollama", NULL, "library", "llama3", "", "", "latest", false, false,
     "https://registry.ollama.ai/v2/library/llama3/manifests/latest"},
    {"ollama://me/tiny:q4_0", "ollama", NULL, "me", "tiny", "", "", "q4_0", false, false,
     "https://registry.ollama.ai/v2/me/tiny/manifests/q4_0"},
    {"ollama://registry.example:5000/me/tiny:x", "ollama", NULL, "me", "tiny", "", "", "x", false,
     false, "https://registry.example:5000/v2/me/tiny/manifests/x"},
    {"ollama://127.0.0.1:5000/me/tiny", "ollama", NULL, "me", "tiny", "", "", "latest", false,
     false, "http://127.0.0.1:5000/v2/me/tiny/manifests/latest"},
    {"ollama://127.0.0.1.example/me/tiny", "ollama", NULL, "me", "tiny", "", "", "latest", false,
     false, "https://127.0.0.1.example/v2/me/tiny/manifests/latest"},
    {"https://ollama.com/library/llama3:8b", "ollama", NULL, "library", "llama3", "", "", "8b",
     false, false, NULL},
};

static void addresses_are_taken_apart(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        const good_row *row = &good[i];
        gufo_error error = no_error();
        gufo_text url = {0};
        address a;

        check(address_is_one(gufo_str_of(row->text)), "%s", row->text);
        check_ok(address_read(gufo_str_of(row->text), &a, &error), &error, "%s", row->text);
        check_str(gufo_str_of(a.service->name), row->service, "service of %s", row->text);
        check_str(gufo_str_of(a.type != NULL ? a.type->word : "none"),
                  row->type != NULL ? row->type : "none", "type of %s", row->text);
        check_str(gufo_str_of(a.owner), row->owner, "owner of %s", row->text);
        check_str(gufo_str_of(a.name), row->name, "name of %s", row->text);
        check_str(gufo_str_of(a.revision), row->revision, "revision of %s", row->text);
        check_str(gufo_str_of(a.path), row->path, "path of %s", row->text);
        check_str(gufo_str_of(a.tag), row->tag, "tag of %s", row->text);
        check_u64(a.is_folder, row->is_folder, "whether %s is a folder", row->text);
        check_u64(a.may_be_file, row->may_be_file, "whether %s may be a file", row->text);
        if (row->url != NULL) {
            const char *pattern =
                a.service->file != NULL && !a.is_folder ? a.service->file : a.service->list;

            check_ok(service_url(&a, pattern, NULL, NULL, &url, &error), &error, "%s", row->text);
            check_str(((gufo_str){url.data, url.len}), row->url, "url of %s", row->text);
        }
        gufo_text_free(&url);
    }
}

/* Whatever else the web has is an address as it stands. */
static void other_pages_stay_as_they_are(void **state)
{
    static const char *const texts[] = {
        "https://example.org/m.gguf?token=a%2Fb",
        "http://127.0.0.1:80/m.gguf",
        HF "org/repo/raw/main/m.gguf", /* a pointer of LFS, which is said when it is read */
        HF "org/repo/resolve/main/..%2Fm.gguf",
        HF "api/models/org",
        "https://huggingface.co.example.org/org/repo/resolve/main/m.gguf",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        gufo_error error = no_error();
        address a;

        check_ok(address_read(gufo_str_of(texts[i]), &a, &error), &error, "%s", texts[i]);
        check_str(gufo_str_of(a.service->name), "https", "%s", texts[i]);
        check_str(a.url, texts[i], "%s", texts[i]);
    }
}

/* ---- what is refused ------------------------------------------------------------------------- */

#define S(text)                      \
    {                                \
        "" text "", sizeof(text) - 1 \
    }

static const gufo_str refused[] = {
    S("hf://"),
    S("hf:///"),
    S("hf://org"),
    S("hf://org/"),
    S("hf:///repo/m.gguf"),
    S("hf://../../etc/passwd"),
    S("hf://../etc/passwd"),
    S("hf://org/../m.gguf"),
    S("hf://org/repo/../../../etc/passwd"),
    S("hf://org/repo/./m.gguf"),
    S("hf://org/repo//m.gguf"),
    S("hf://org/repo/a/.."),
    S("hf://org/repo/..\\m.gguf"),
    S("hf://org/repo/a\\b"),
    S("hf://org/repo/a\0b"),
    S("hf://org/re\0po/m.gguf"),
    S("hf://org/repo\0"),
    S("hf://org/repo/a\nb"),
    S("hf://org/repo/a\x1b[31m"),
    S("hf://org/repo/\xe2\x80\xaegguf.exe"), /* right to left */
    S("hf://org/repo/\xff\xfe"),
    S("hf://org/repo@/m.gguf"),
    S("hf://org/repo@../m.gguf"),
    S("hf://org/repo@a..b/m.gguf"),
    S("hf://org/repo@-x/m.gguf"),
    S("hf://org/repo@%2e%2e%2fx/m.gguf"),
    S("hf://org/repo@%00/m.gguf"),
    S("hf://org/repo@refs/pr//m.gguf"),
    S("hf://org/repo@refs/pr/../m.gguf"),
    S("hf://or--g/repo/m.gguf"),
    S("hf://org/repo.git/m.gguf"),
    S("hf://.org/repo/m.gguf"),
    S("hf://org-/repo/m.gguf"),
    S("hf://o rg/repo/m.gguf"),
    S("hf://org/repo:"),
    S("hf://org/repo:../x"),
    S("hf.co/org/repo:Q4 K"),
    S("ms://org/../x"),
    S("ollama://"),
    S("ollama://../x"),
    S("ollama://a/b/c/d"),
    S("ollama://x:../y"),
    S("ollama://x:"),
    S("ollama://x\0"),
    S("ollama://..:80/a/b"),
    S("https://"),
    S("https://user:secret@example.org/m.gguf"),
    S("https://user@example.org/m.gguf"),
    S("https://example.org/a b"),
    S("https://example.org/a\\b"),
    S("https://example.org/\xe2\x80\xae"),
    S("https://example.org/a\0b"),
    S("https://example.org/\n"),
};

static void what_no_grammar_allows_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        gufo_error error = no_error();
        address a;

        check(address_is_one(refused[i]), "row %zu: %s", i, refused[i].data);
        check_status(address_read(refused[i], &a, &error), GUFO_E_ARGUMENT, &error, "row %zu: %s",
                     i, refused[i].data);
        check_error_shape(&error, GUFO_E_ARGUMENT, refused[i].data);
        check(strstr(error.message, "secret") == NULL, "a password is in the message");
    }
}

static void paths_are_not_addresses(void **state)
{
    static const gufo_str texts[] = {
        S(""),
        S("-"),
        S("model.gguf"),
        S("dir/model.gguf"),
        S("./org/repo:Q4_0"),
        S("/hf/x:Q4_0"),
        S("org/repo"),
        S("a/b/c:Q4_0"),
        S("../repo:Q4_0"),
        S("org/repo:"),
        S("org/repo:x"),
        S("C:\\m.gguf"),
        S("hf:/org/repo"),
        S("s3://bucket/m.gguf"),
        S("a:b"),
        S("org/repo:4"),
        S("hf.com/a"),
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        check(!address_is_one(texts[i]), "%s", texts[i].data);
}

/* The longest that is read, and one byte more. */
static void long_texts_are_refused(void **state)
{
    enum { LENGTH = 1 << 16 };
    static const char *const starts[] = {
        "hf://",          "hf://org/",       "hf://org/repo/",
        "hf://org/repo@", "ollama://",       "https://example.org/",
        "hf://org/repo:", "ollama://a/b/c:", "ms://org/repo/"};
    char *text = malloc(LENGTH + 1);

    (void)state;
    check(text != NULL, "memory");
    for (size_t i = 0; i < COUNT_OF(starts); i++) {
        static const size_t lengths[] = {400, 1100, ADDRESS_MOST, ADDRESS_MOST + 1, LENGTH};

        for (size_t l = 0; l < COUNT_OF(lengths); l++) {
            gufo_error error = no_error();
            gufo_status status;
            address a;

            memset(text, 'a', LENGTH);
            memcpy(text, starts[i], strlen(starts[i]));
            status = address_read((gufo_str){text, lengths[l]}, &a, &error);
            if (strncmp(starts[i], "https", 5) == 0 && lengths[l] <= ADDRESS_MOST)
                check_ok(status, &error, "%s, %zu bytes", starts[i], lengths[l]);
            else
                check(status != GUFO_OK, "%s, %zu bytes", starts[i], lengths[l]);
        }
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_taken_apart),
        cmocka_unit_test(other_pages_stay_as_they_are),
        cmocka_unit_test(what_no_grammar_allows_is_refused),
        cmocka_unit_test(paths_are_not_addresses),
        cmocka_unit_test(long_texts_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
