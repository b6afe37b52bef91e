/* Small text files. */
#include "cli/trust/hash.h"

#include "cli/core/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A text that moves leaves nothing behind: it may be a password. */
static bool grow(gufo_str *text, size_t room)
{
    char *longer = malloc(room);

    if (longer == NULL)
        return false;
    if (text->len > 0)
        memcpy(longer, text->data, text->len);
    hash_text_free(&(gufo_str){text->data, text->len});
    text->data = longer;
    return true;
}

static bool read_stream(FILE *in, const char *path, size_t most, gufo_str *text)
{
    size_t room = 0, got = 1;

    while (got > 0 && text->len <= most) {
        if (text->len == room && !grow(text, room = 2 * room + 4096)) {
            report_memory(path);
            return false;
        }
        got = fread((char *)text->data + text->len, 1, room - text->len, in);
        text->len += got;
    }
    if (text->len > most)
        report_message(path, "the text is too long");
    else if (ferror(in))
        report_system(path, errno);
    return text->len <= most && !ferror(in);
}

bool hash_text_read(const char *path, size_t most, gufo_str *text)
{
    FILE *in = path_is_standard(path) ? stdin : fopen(path, "re");
    bool read;

    *text = (gufo_str){0};
    if (in == NULL) {
        report_system(path, errno);
        return false;
    }
    (void)setvbuf(in, NULL, _IONBF, 0); /* no second copy, which would never be wiped */
    read = read_stream(in, path, most, text);
    if (!read)
        hash_text_free(text);
    if (in != stdin)
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
