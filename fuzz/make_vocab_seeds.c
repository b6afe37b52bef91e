/* Writes the seeds of fuzz_vocab, or checks them: `make_vocab_seeds [--check] FOLDER`. */
#include "vocabularies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool write_seed(const char *path, gufo_str bytes)
{
    FILE *out = fopen(path, "wb");
    bool good = out != NULL && fwrite(bytes.data, 1, bytes.len, out) == bytes.len;

    return out != NULL && fclose(out) == 0 && good;
}

/* Whether the file has these bytes. */
static bool check_seed(const char *path, gufo_str bytes)
{
    char *data = malloc(bytes.len + 1);
    FILE *in = fopen(path, "rb");
    bool same = in != NULL && data != NULL && fread(data, 1, bytes.len + 1, in) == bytes.len &&
                memcmp(data, bytes.data, bytes.len) == 0;

    if (in != NULL)
        (void)fclose(in);
    free(data);
    return same;
}

int main(int argc, char **argv)
{
    bool check = argc == 3 && strcmp(argv[1], "--check") == 0, good = true;

    if (argc != 2 && !check) {
        fprintf(stderr, "usage: make_vocab_seeds [--check] FOLDER\n");
        return 2;
    }
    for (size_t i = 0; vocabulary_name(i) != NULL; i++) {
        char path[4096];
        gufo_str bytes;
        gufo_document *d = vocabulary_make(i, &bytes);

        snprintf(path, sizeof path, "%s/%s.gguf", argv[argc - 1], vocabulary_name(i));
        if (!(check ? check_seed : write_seed)(path, bytes)) {
            fprintf(stderr, "%s: %s\n", path,
                    check ? "is missing, or has other content" : "cannot be written");
            good = false;
        }
        gufo_document_free(d);
    }
    return good ? 0 : 1;
}
