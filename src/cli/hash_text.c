/* Small text files. */
#include "cli/hash.h"

#include "cli/report.h"
#include "cli/save.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool read_stream(FILE *in, const char *path, size_t most, gufo_str *text)
{
    size_t used = 0, got;
    char *data = NULL;

    do {
        size_t room = 2 * used + 4096;
        char *longer = used <= most ? realloc(data, room) : NULL;

        if (longer == NULL) {
            report_message(path, used <= most ? "out of memory" : "the text is too long");
            free(data);
            return false;
        }
        data = longer;
        got = fread(data + used, 1, room - used, in);
        used += got;
    } while (got > 0);
    *text = (gufo_str){data, used};
    if (!ferror(in))
        return true;
    report_system(path, errno);
    hash_text_free(text);
    return false;
}

bool hash_text_read(const char *path, size_t most, gufo_str *text)
{
    bool is_stdin = path_is_standard(path);
    FILE *in = is_stdin ? stdin : fopen(path, "re");
    bool read;

    *text = (gufo_str){0};
    if (in == NULL) {
        report_system(path, errno);
        return false;
    }
    (void)setvbuf(in, NULL, _IONBF, 0); /* no second copy, which would never be wiped */
    read = read_stream(in, path, most, text);
    if (!is_stdin)
        (void)fclose(in);
    return read;
}

void hash_wipe(void *data, size_t size)
{
    /* A compiler may drop the clearing of memory that is not read afterwards. */
    volatile char *bytes = data;

    for (size_t i = 0; i < size; i++)
        bytes[i] = 0;
}

void hash_text_free(gufo_str *text)
{
    hash_wipe((char *)text->data, text->len);
    free((char *)text->data);
    *text = (gufo_str){0};
}

bool hash_is_gguf(const char *path)
{
    char magic[4] = {0};
    /* What is read of a pipe would be missing afterwards. */
    FILE *in = path_is_standard(path) || save_is_stream(path) ? NULL : fopen(path, "re");
    bool is = in != NULL && fread(magic, 1, sizeof magic, in) == sizeof magic &&
              memcmp(magic, "GGUF", sizeof magic) == 0;

    if (in != NULL)
        (void)fclose(in);
    return is;
}
