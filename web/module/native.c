/* The module as a program: `viewer_native FLAGS FILE[+FILE...] [FILE2] -- FUNCTION ARGUMENT...` prints the texts that
 * the functions give, a line each, for the tests that compare them with those of the module.
 *
 *     viewer_native 1 a.gguf b.gguf -- show -1 -- check -- compare */
#include "exports.h"
#include "module.h"

#include <stdlib.h>
#include <string.h>

enum { FILES = 64 };

static FILE *files[FILES];
static uint32_t file_count;

bool host_read(uint32_t number, double offset, void *buffer, size_t size)
{
    return number < file_count && fseek(files[number], (long)offset, SEEK_SET) == 0 &&
           fread(buffer, 1, size, files[number]) == size;
}

/* Adds a file to a place. */
static bool add_file(uint32_t place, const char *path, size_t len)
{
    char name[4096];
    long size;

    (void)snprintf(name, sizeof name, "%.*s", (int)len, path);
    files[file_count] = file_count < FILES ? fopen(name, "rb") : NULL;
    if (files[file_count] == NULL || fseek(files[file_count], 0, SEEK_END) != 0)
        return false;
    size = ftell(files[file_count]);
    memcpy(viewer_room(len), name, len);
    return viewer_add_file(place, file_count++, len, (double)size) == 0;
}

static bool add_files(uint32_t place, const char *paths)
{
    for (size_t len; *paths != '\0'; paths += len + (paths[len] == '+')) {
        len = strcspn(paths, "+");
        if (!add_file(place, paths, len))
            return false;
    }
    return true;
}

static double number(char **arguments, int at)
{
    return arguments[at] != NULL ? strtod(arguments[at], NULL) : 0;
}

/* A text in the room, in which "\0" is spelt as a bar. */
static size_t lend(const char *text)
{
    size_t len = strlen(text);
    char *at = viewer_room(len);

    for (size_t i = 0; i < len; i++)
        at[i] = text[i] == '|' ? '\0' : text[i];
    return len;
}

static void call(char **a)
{
    if (strcmp(a[0], "show") == 0)
        (void)viewer_show(0, number(a, 1));
    else if (strcmp(a[0], "page") == 0)
        (void)viewer_page(0);
    else if (strcmp(a[0], "check") == 0)
        (void)viewer_check(0);
    else if (strcmp(a[0], "vocabulary") == 0)
        (void)viewer_vocabulary(0, lend(a[1]), number(a, 2), number(a, 3));
    else if (strcmp(a[0], "statistics") == 0)
        (void)viewer_statistics(0, number(a, 1), number(a, 2));
    else if (strcmp(a[0], "compare") == 0)
        (void)viewer_compare();
    else if (strcmp(a[0], "compare_tensor") == 0)
        (void)viewer_compare_tensor(number(a, 1), number(a, 2));
    else if (strcmp(a[0], "script") == 0)
        (void)viewer_script(0, lend(a[1]));
    (void)fwrite(viewer_text(), 1, viewer_length(), stdout);
    putchar('\n');
}

int main(int argc, char **argv)
{
    uint32_t flags = argc > 2 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0, place = 0;
    int status, i;

    for (i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (!add_files(place++, argv[i]))
            return 3;
    for (uint32_t p = 0; p < place; p++) {
        status = viewer_open(p, flags);
        if (status != 0 || i >= argc) {
            (void)fwrite(viewer_text(), 1, viewer_length(), stdout);
            putchar('\n');
        }
        if (status != 0)
            return 1;
    }
    for (; i < argc; i++)
        if (strcmp(argv[i], "--") == 0) {
            argv[i] = NULL;
            if (argv[i + 1] != NULL)
                call(&argv[i + 1]);
        }
    viewer_close(0);
    viewer_close(1);
    return 0;
}
