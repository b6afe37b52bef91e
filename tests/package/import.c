/* A separate program that names an old file, and fails to open one that is cut off. */
#include <gufo.h>
#include <gufo/import.h>
#include <stdio.h>

int main(void)
{
    static const unsigned char head[8] = {'t', 'j', 'g', 'g', 3};
    const char *what = gufo_legacy_recognise(head, sizeof head);
    gufo_error error;

    if (what == NULL || gufo_import_legacy("/nowhere", NULL, &error) != NULL)
        return 1;
    printf("%s: %s\n", what, error.message);
    return 0;
}
