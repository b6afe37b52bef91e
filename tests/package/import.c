/* A separate program that fails to open a checkpoint that is not there. */
#include <gufo.h>
#include <gufo/import.h>
#include <stdio.h>

int main(void)
{
    gufo_error error;

    if (gufo_import_checkpoint("/nowhere", NULL, &error) != NULL)
        return 1;
    printf("import: %s: %s\n", error.file, error.message);
    return 0;
}
