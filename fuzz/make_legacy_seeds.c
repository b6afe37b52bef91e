/* Writes the seeds of fuzz_legacy, one small model for each header that occurred, and of GGUF
 * versions 1 and 2: `make_legacy_seeds FOLDER`, or checks them: `make_legacy_seeds --check
 * FOLDER`. */
#include "../tests/support/folder.h"
#include "../tests/support/legacy_writer.h"

enum { MOST_BYTES = 4096 };

static bool check_seed(const char *path, const builder *b)
{
    size_t size = 0;
    uint8_t *found = read_file(path, &size);
    bool same = found != NULL && size == b->len && memcmp(found, b->data, size) == 0;

    if (!same)
        fprintf(stderr, "%s: %s\n", path, found != NULL ? "has other content" : "is missing");
    free(found);
    return same;
}

/* Writes the file, or checks it. */
static bool take(const char *place, const char *name, const builder *b, bool checked)
{
    char file[64];

    (void)snprintf(file, sizeof file, "%s.bin", name);
    path_text path = path_join(place, file);
    if (b->len > MOST_BYTES) {
        fprintf(stderr, "%s is too large: %zu bytes\n", file, b->len);
        return false;
    }
    if (checked)
        return check_seed(path.text, b);
    write_file(path.text, b->data, b->len);
    return true;
}

/* GGUF version 1 or 2, with blocks of a type that was removed. */
static builder make_gguf(int version)
{
    builder b = builder_new((encoding){version, false});

    builder_header(&b, 2, 2);
    builder_kv_str(&b, "general.architecture", "llama");
    builder_kv_array(&b, "tokenizer.ggml.tokens", GUFO_VALUE_STRING, 2);
    builder_str(&b, "a");
    builder_str(&b, "b");
    builder_tensor(&b, "output_norm.weight", GUFO_TYPE_F32, 1, (uint64_t[]){4}, 0);
    builder_tensor(&b, "output.weight", GUFO_TYPE_Q4_0_4_4, 2, (uint64_t[]){32, 4}, 32);
    builder_pad(&b, 32);
    builder_pattern(&b, 1, 16);
    builder_pad(&b, 32);
    builder_pattern(&b, 2, 72);
    builder_pad(&b, 32);
    return b;
}

int main(int argc, char **argv)
{
    bool checked = argc == 3 && strcmp(argv[1], "--check") == 0, good = true;
    const legacy_sample *sample;

    if (argc != 2 && !checked) {
        fprintf(stderr, "usage: make_legacy_seeds [--check] FOLDER\n");
        return 2;
    }
    for (size_t i = 0; (sample = legacy_sample_at(i)) != NULL; i++) {
        builder b = builder_new((encoding){3, false});

        legacy_write(&b, sample, NULL);
        good &= take(argv[argc - 1], sample->name, &b, checked);
        builder_free(&b);
    }
    for (int version = 1; version < 3; version++) {
        builder b = make_gguf(version);

        good &= take(argv[argc - 1], version == 1 ? "gguf-v1" : "gguf-v2", &b, checked);
        builder_free(&b);
    }
    return good ? 0 : 1;
}
