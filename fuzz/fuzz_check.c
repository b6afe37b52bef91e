/* Fuzz target: what a file means.
 *
 * Whatever can be opened, strictly or leniently, goes through the whole validator, and gets a name
 * suggested.  The validator must not crash, must say the same each time, and each fix that it
 * offers must be one that can be made. */
#include "gufo/vocab.h"
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
        .level = level,
        .path = "folder/Name-7B-v1.0-Q4_0.gguf",
        .single = single,
#ifdef FUZZ_TEXT
        .tokenizer_json = gufo_tokenizer_json_tokens,
#endif
    };
    findings f = {.hash = UINT64_C(0xcbf29ce484222325)};
    gufo_error error;

    must(gufo_model_check_content(file, &options, on_finding, &f, &error) == GUFO_OK,
         "a check does not fail");
    return f;
}

/* What holds of two checks of a file; `model`: what the first one found. */
static void compare(const gufo_model *file, findings model)
{
    findings again = check(file, GUFO_LEVEL_MODEL, false);
    findings standard = check(file, GUFO_LEVEL_STANDARD, false);

    must(model.hash == again.hash && model.count == again.count, "a check says the same again");
    must(standard.count <= model.count, "a level looks at all that the one below looks at");
    must(check(file, GUFO_LEVEL_SPEC, false).count >= model.count || model.count > 20,
         "the specification asks for no less");
    must(check(file, GUFO_LEVEL_STRUCTURE, false).count == 0,
         "meaning is not a matter of structure");
}

static void suggest(const gufo_model *file)
{
    char name[GUFO_NAME_SIZE];

    if (gufo_model_suggest_name(file, 0, name, NULL) == GUFO_OK)
        must(gufo_utf8_valid_prefix(gufo_str_of(name)) == strlen(name) &&
                 strchr(name, '/') == NULL && strstr(name, "--") == NULL,
             "a name that is suggested is a name");
}

/* One file in so many is looked at in every way: a check takes most of the time, and its second run
 * comes to no other lines of the library.  The content decides, so that a failure can be
 * repeated. */
enum { EVERY_WAY = 8 };

static bool is_chosen(const uint8_t *data, size_t size)
{
    findings content = {.hash = UINT64_C(0xcbf29ce484222325)};

    mix(&content, data, size);
    return (content.hash >> 32) % EVERY_WAY == 0;
}

/* False if the file cannot be opened. */
static bool look(const uint8_t *data, size_t size, bool lenient, bool every_way)
{
    const gufo_open_options options = {.flags = GUFO_OPEN_INCOMPLETE |
                                                (lenient ? GUFO_OPEN_LENIENT : 0)};
    gufo_model *file = gufo_model_open_memory(data, size, &options, NULL);
    findings model;

    if (file == NULL)
        return false;
    model = check(file, GUFO_LEVEL_MODEL, lenient);
    if (every_way && !lenient)
        compare(file, model);
    suggest(file);
    gufo_model_free(file);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A block of exactly this size, so that the first byte past it is noticed. */
    uint8_t *copy = malloc(size ? size : 1);
    bool every_way = is_chosen(data, size);

    must(copy != NULL, "the machine has enough memory");
    if (size)
        memcpy(copy, data, size);
    if (!look(copy, size, false, every_way) || every_way)
        (void)look(copy, size, true, every_way);
    free(copy);
    return 0;
}
