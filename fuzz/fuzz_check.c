/* Fuzz target: what a file means.
 *
 * Whatever can be opened, strictly or leniently, goes through the whole validator, and gets a name
 * suggested.  The validator must not crash, must say the same each time, and each fix that it offers
 * must be one that can be made. */
#include "walk.h"

#include <stdlib.h>
#include <string.h>

/* What was found, as one number. */
typedef struct findings {
    uint64_t hash, count;
} findings;

static void mix(findings *f, const void *data, size_t len)
{
    for (size_t i = 0; i < len; i++)
        f->hash = (f->hash ^ ((const uint8_t *)data)[i]) * UINT64_C(0x100000001b3);
}

static void check_fix(const gufo_fix *fix)
{
    if (fix->kind == GUFO_FIX_NONE || fix->kind == GUFO_FIX_REWRITE)
        return;
    must(fix->key.len > 0, "a fix names its key");
    if (fix->kind == GUFO_FIX_RENAME)
        must(fix->value.type == GUFO_VALUE_STRING && fix->value.as.str.len > 0,
             "a key gets a new name");
    if (fix->kind == GUFO_FIX_SHORTEN)
        must(fix->value.type != GUFO_VALUE_STRING && fix->value.type != GUFO_VALUE_ARRAY,
             "a list gets a length");
}

static void on_finding(void *context, const gufo_finding *finding)
{
    findings *f = context;

    must(finding->rule != NULL && finding->message[0] != '\0', "a finding says what is wrong");
    check_fix(&finding->fix);
    f->count++;
    mix(f, finding->rule->id, strlen(finding->rule->id));
    mix(f, finding->message, strlen(finding->message));
    mix(f, finding->subject.data, finding->subject.len);
    mix(f, &finding->offset, sizeof finding->offset);
    if (finding->hint != NULL)
        mix(f, finding->hint, strlen(finding->hint));
}

static findings check(const gufo_model *file, gufo_level level, bool single)
{
    const gufo_check_options options = {
        .level = level, .path = "folder/Name-7B-v1.0-Q4_0.gguf", .single = single};
    findings f = {.hash = UINT64_C(0xcbf29ce484222325)};
    gufo_error error;

    must(gufo_check(file, &options, on_finding, &f, &error) == GUFO_OK, "a check does not fail");
    return f;
}

static void look(const gufo_model *file)
{
    findings model = check(file, GUFO_LEVEL_MODEL, false);
    findings again = check(file, GUFO_LEVEL_MODEL, false);
    findings standard = check(file, GUFO_LEVEL_STANDARD, false);

    must(model.hash == again.hash && model.count == again.count, "a check says the same again");
    must(standard.count <= model.count, "a level looks at all that the one below looks at");
    must(check(file, GUFO_LEVEL_STRUCTURE, false).count == 0, "meaning is no matter of structure");
}

static void suggest(const gufo_model *file)
{
    char name[GUFO_NAME_SIZE];
    gufo_name parts;

    if (gufo_name_suggest(file, 0, name, NULL) == GUFO_OK)
        must(gufo_name_match(gufo_str_of(name), &parts), "a name that is suggested conforms");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A block of exactly this size, so that the first byte past it is noticed. */
    uint8_t *copy = malloc(size ? size : 1);

    must(copy != NULL, "the machine has enough memory");
    if (size)
        memcpy(copy, data, size);
    for (uint32_t lenient = 0; lenient < 2; lenient++) {
        const gufo_open_options options = {.flags = GUFO_OPEN_INCOMPLETE |
                                                    (lenient ? GUFO_OPEN_LENIENT : 0)};
        gufo_model *file = gufo_open_memory(copy, size, &options, NULL);

        if (file == NULL)
            continue;
        if (lenient)
            (void)check(file, GUFO_LEVEL_MODEL, true);
        else
            look(file);
        suggest(file);
        gufo_close(file);
    }
    free(copy);
    return 0;
}
