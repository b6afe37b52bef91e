/* Writes the seeds of fuzz_legacy, one small model for each header that occurred: `make_legacy_seeds FOLDER`, or
 * checks them: `make_legacy_seeds --check FOLDER`. */
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
        char name[64];

        legacy_write(&b, sample, NULL);
        (void)snprintf(name, sizeof name, "%s.bin", sample->name);
        path_text path = path_join(argv[argc - 1], name);
        if (b.len > MOST_BYTES) {
            fprintf(stderr, "%s is too large: %zu bytes\n", name, b.len);
            good = false;
        } else if (checked)
            good &= check_seed(path.text, &b);
        else
            write_file(path.text, b.data, b.len);
        builder_free(&b);
    }
    return good ? 0 : 1;
}
