/* A program that looks functions up by name, as bindings of other languages do: `plain_names LIBGGUF.so GGUF.H`.  Every
 * function that the header declares has ggml's name, and works. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *library;

/* ISO C has no pointer to a function in a pointer to an object; POSIX has. */
static void *look_up(const char *name)
{
    void *symbol = dlsym(library, name);

    if (symbol == NULL) {
        fprintf(stderr, "no %s\n", name);
        exit(1);
    }
    return symbol;
}

/* Looks up every name that is followed by a parenthesis. */
static unsigned look_up_all(FILE *header)
{
    char line[512];
    unsigned count = 0;

    while (fgets(line, sizeof line, header) != NULL) {
        char *name = strstr(line, "gguf_"), *end;

        if (strncmp(line, "GGML_API", 8) != 0)
            continue;
        for (; name != NULL; name = strstr(name + 1, "gguf_")) {
            end = name + strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789");
            if (*end != '(' || (name > line && name[-1] == '_'))
                continue;
            *end = '\0';
            (void)look_up(name);
            count++;
            break;
        }
    }
    return count;
}

static int use(void)
{
    void *(*init_empty)(void);
    void (*set_u32)(void *, const char *, uint32_t);
    int64_t (*find)(const void *, const char *);
    uint32_t (*get_u32)(const void *, int64_t);
    void (*free_context)(void *);
    void *names[] = {look_up("gguf_init_empty"), look_up("gguf_set_val_u32"),
                     look_up("gguf_find_key"), look_up("gguf_get_val_u32"), look_up("gguf_free")};
    void *context;
    uint32_t number;

    memcpy(&init_empty, &names[0], sizeof init_empty);
    memcpy(&set_u32, &names[1], sizeof set_u32);
    memcpy(&find, &names[2], sizeof find);
    memcpy(&get_u32, &names[3], sizeof get_u32);
    memcpy(&free_context, &names[4], sizeof free_context);
    context = init_empty();
    set_u32(context, "a.number", 1234);
    number = get_u32(context, find(context, "a.number"));
    free_context(context);
    return number == 1234 ? 0 : 1;
}

int main(int argc, char **argv)
{
    FILE *header = argc == 3 ? fopen(argv[2], "r") : NULL;
    unsigned count;

    library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (library == NULL || header == NULL) {
        fprintf(stderr, "usage: plain_names LIBGGUF.so GGUF.H (%s)\n", dlerror());
        return 2;
    }
    count = look_up_all(header);
    fclose(header);
    printf("%u functions\n", count);
    return count < 50 ? 1 : use();
}
