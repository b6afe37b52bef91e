/* Caches of other programs: what is found in them, and what is not believed. */
#include "../support/folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "remote/places/local.h"

#define COMMIT "0123456789abcdef0123456789abcdef01234567"
#define OTHER "89abcdef0123456789abcdef0123456789abcdef"
#define DIGEST "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

/* Makes the folders of a file, and the file. */
static void put(const folder *f, const char *name, const char *text)
{
    char path[512];

    (void)snprintf(path, sizeof path, "%s", folder_path(f, name).text);
    for (char *at = path + strlen(f->path) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        (void)mkdir(path, 0700);
        *at = '/';
    }
    write_file(path, text, strlen(text));
}

static void put_link(const folder *f, const char *name, const char *target)
{
    put(f, name, "");
    (void)unlink(folder_path(f, name).text);
    check(symlink(target, folder_path(f, name).text) == 0, "%s", name);
}

static void make(const folder *f)
{
#define HUB "hub/models--org--repo/"
    put(f, HUB "refs/main", COMMIT "\n");
    put(f, HUB "refs/refs/pr/1", OTHER);
    put(f, HUB "refs/bad", "../../../../etc");
    put(f, HUB "refs/long", COMMIT COMMIT COMMIT);
    put(f, HUB "blobs/aa", "GGUF");
    put_link(f, HUB "snapshots/" COMMIT "/m-Q4_K_M.gguf", "../../blobs/aa");
    put_link(f, HUB "snapshots/" COMMIT "/sub/s.gguf", "../../../blobs/aa");
    put_link(f, HUB "snapshots/" COMMIT "/out.gguf", "../../../../outside");
    put_link(f, HUB "snapshots/" COMMIT "/gone.gguf", "../../blobs/bb");
    put(f, HUB "snapshots/" COMMIT "/half-00001-of-00002.gguf", "GGUF");
    put(f, HUB "snapshots/" COMMIT "/set-Q8_0-00001-of-00002.gguf", "GGUF");
    put(f, HUB "snapshots/" COMMIT "/set-Q8_0-00002-of-00002.gguf", "GGUF");
    put(f, HUB ".no_exist/" COMMIT "/absent.json", "");
    put(f, HUB "snapshots/" OTHER "/pr.gguf", "GGUF");
    put(f, "hub/datasets--org--data/refs/main", COMMIT);
    put(f, "hub/datasets--org--data/snapshots/" COMMIT "/d.gguf", "GGUF");
    put(f, "outside", "GGUF");
#undef HUB
    put(f, "lm/org/studio/m-Q4_K_M.gguf", "GGUF");
    put(f, "llama/org_cpp_sub_m.gguf", "GGUF");
    put(f, "llama/models--org--newer/refs/main", COMMIT);
    put(f, "llama/models--org--newer/snapshots/" COMMIT "/m.gguf", "GGUF");
    put(f, "ollama/manifests/registry.ollama.ai/library/tiny/latest",
        "{\"schemaVersion\":2,\"layers\":[{\"mediaType\":\"application/vnd.ollama.image.template\","
        "\"digest\":\"sha256:" DIGEST "\",\"size\":1},{\"mediaType\":"
        "\"application/vnd.ollama.image.model\",\"digest\":\"sha256:" DIGEST "\",\"size\":4}]}");
    put(f, "ollama/manifests/registry.ollama.ai/library/short/latest",
        "{\"layers\":[{\"mediaType\":\"application/"
        "vnd.ollama.image.model\",\"digest\":\"sha256:" DIGEST "\",\"size\":5}]}");
    put(f, "ollama/manifests/registry.ollama.ai/library/evil/latest",
        "{\"layers\":[{\"mediaType\":\"application/vnd.ollama.image.model\",\"digest\":"
        "\"sha256:../../outside\",\"size\":4}]}");
    put(f, "ollama/blobs/sha256-" DIGEST, "GGUF");
}

static const struct {
    const char *text;
    local_answer answer;
    const char *path, *cache, *commit;
} rows[] = {
    {"hf://org/repo/m-Q4_K_M.gguf", LOCAL_FILE,
     "hub/models--org--repo/snapshots/" COMMIT "/m-Q4_K_M.gguf", "huggingface", COMMIT},
    {"hf://org/repo@" COMMIT "/sub/s.gguf", LOCAL_FILE,
     "hub/models--org--repo/snapshots/" COMMIT "/sub/s.gguf", "huggingface", COMMIT},
    {"hf://org/repo@refs/pr/1/pr.gguf", LOCAL_FILE,
     "hub/models--org--repo/snapshots/" OTHER "/pr.gguf", "huggingface", OTHER},
    {"hf://datasets/org/data/d.gguf", LOCAL_FILE,
     "hub/datasets--org--data/snapshots/" COMMIT "/d.gguf", "huggingface", COMMIT},
    {"org/repo:q4_k_m", LOCAL_FILE, "hub/models--org--repo/snapshots/" COMMIT "/m-Q4_K_M.gguf",
     "huggingface", COMMIT},
    {"org/repo:Q8_0", LOCAL_FILE,
     "hub/models--org--repo/snapshots/" COMMIT "/set-Q8_0-00001-of-00002.gguf", "huggingface",
     COMMIT},
    {"hf://org/repo", LOCAL_FOLDER, "hub/models--org--repo/snapshots/" COMMIT, "huggingface",
     COMMIT},
    {"hf://org/repo/absent.json", LOCAL_ABSENT, NULL, NULL, NULL},
    {"hf://org/repo/none.gguf", LOCAL_NOTHING, NULL, NULL, NULL},
    {"org/repo:Q5_K_M", LOCAL_NOTHING, NULL, NULL, NULL},
    {"hf://org/repo/half-00001-of-00002.gguf", LOCAL_NOTHING, NULL, NULL, NULL},
    {"hf://org/repo/out.gguf", LOCAL_NOTHING, NULL, NULL, NULL},
    {"hf://org/repo/gone.gguf", LOCAL_NOTHING, NULL, NULL, NULL},
    {"hf://org/repo@bad/m-Q4_K_M.gguf", LOCAL_NOTHING, NULL, NULL, NULL},
    {"hf://org/repo@long/m-Q4_K_M.gguf", LOCAL_NOTHING, NULL, NULL, NULL},
    {"hf://org/repo@v2/m-Q4_K_M.gguf", LOCAL_NOTHING, NULL, NULL, NULL},
    {"hf://spaces/org/repo/m-Q4_K_M.gguf", LOCAL_NOTHING, NULL, NULL, NULL},
    {"ms://org/repo/m-Q4_K_M.gguf", LOCAL_NOTHING, NULL, NULL, NULL},
    {"hf://org/studio/m-Q4_K_M.gguf", LOCAL_FILE, "lm/org/studio/m-Q4_K_M.gguf", "LM Studio", ""},
    {"org/studio:Q4_K_M", LOCAL_FILE, "lm/org/studio/m-Q4_K_M.gguf", "LM Studio", ""},
    {"hf://org/studio@v1/m-Q4_K_M.gguf", LOCAL_NOTHING, NULL, NULL, NULL},
    {"hf://org/cpp/sub/m.gguf", LOCAL_FILE, "llama/org_cpp_sub_m.gguf", "llama.cpp", ""},
    {"hf://org/newer/m.gguf", LOCAL_FILE, "llama/models--org--newer/snapshots/" COMMIT "/m.gguf",
     "huggingface", COMMIT},
    {"ollama://tiny", LOCAL_FILE, "ollama/blobs/sha256-" DIGEST, "ollama", ""},
    {"ollama://library/tiny:latest", LOCAL_FILE, "ollama/blobs/sha256-" DIGEST, "ollama", ""},
    {"ollama://tiny:8b", LOCAL_NOTHING, NULL, NULL, NULL},
    {"ollama://short", LOCAL_NOTHING, NULL, NULL, NULL}, /* a blob of another size */
    {"ollama://evil", LOCAL_NOTHING, NULL, NULL, NULL},
    {"https://example.org/m.gguf", LOCAL_NOTHING, NULL, NULL, NULL},
};

static void caches_are_looked_into(void **state)
{
    folder f = folder_new();
    char hub[512], ollama[512], lm[512], llama[512];
    const char *const others[] = {lm, llama, NULL};
    const local_folders folders = {hub, ollama, others}, none = {NULL, NULL, NULL};

    (void)state;
    make(&f);
    (void)snprintf(hub, sizeof hub, "%s", folder_path(&f, "hub").text);
    (void)snprintf(ollama, sizeof ollama, "%s", folder_path(&f, "ollama").text);
    (void)snprintf(lm, sizeof lm, "%s", folder_path(&f, "lm").text);
    (void)snprintf(llama, sizeof llama, "%s", folder_path(&f, "llama").text);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_error error = no_error();
        local_place place;
        address a;

        check_ok(address_read(gufo_str_of(rows[i].text), &a, &error), &error, "%s", rows[i].text);
        check_u64(local_find(&a, &none, &place), LOCAL_NOTHING, "%s, without caches", rows[i].text);
        check_u64(local_find(&a, &folders, &place), rows[i].answer, "%s", rows[i].text);
        if (rows[i].path == NULL)
            continue;
        check_str(gufo_str_of(place.path), folder_path(&f, rows[i].path).text, "%s", rows[i].text);
        check_str(gufo_str_of(place.cache), rows[i].cache, "%s", rows[i].text);
        check_str(gufo_str_of(place.commit), rows[i].commit, "%s", rows[i].text);
        if (rows[i].answer == LOCAL_FILE)
            check_u64(place.size, 4, "%s", rows[i].text);
    }
    folder_remove(&f);
}

/* Links to folders are not followed, and those in circles do no harm. */
static void folders_are_listed(void **state)
{
    folder f = folder_new();
    place_files files = {.allocator = &default_allocator};
    gufo_error error = no_error();

    (void)state;
    make(&f);
    put_link(&f, "hub/models--org--repo/snapshots/" COMMIT "/circle", ".");
    check_ok(
        local_list(folder_path(&f, "hub/models--org--repo/snapshots/" COMMIT).text, &files, &error),
        &error, "list");
    check_u64(files.count, 6, "files");
    check_str(gufo_str_of(files.list[0].path), "half-00001-of-00002.gguf", "in order");
    check_str(gufo_str_of(files.list[5].path), "sub/s.gguf", "in folders");
    place_files_free(&files);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(caches_are_looked_into),
        cmocka_unit_test(folders_are_listed),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
