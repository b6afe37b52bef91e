/* Models in other formats. */
#include "cli/core/foreign_file.h"

#include "cli/core/path.h"
#include "cli/core/report.h"

#include <string.h>

#ifdef GUFO_HAS_IMPORT

#include "base/text.h"
#include "gufo/import.h"

static const char *legacy_name(const char *path)
{
    unsigned char begin[32] = {0};
    size_t size = path_begin(path, begin, sizeof begin);

    return memcmp(begin, "GGUF", 4) != 0 ? gufo_legacy_recognise(begin, size) : NULL;
}

bool foreign_file_find(const char *path, foreign_kind *kind)
{
    foreign_kind found = {.name = legacy_name(path), .noun = " file", .command = "migrate"};

    if (found.name == NULL && !path_is_standard(path)) {
        found.name = gufo_checkpoint_recognise(path);
        found.command = "convert";
        if (found.name != NULL && str_ends(gufo_str_of(found.name), " model"))
            found.noun = "";
    }
    if (kind != NULL)
        *kind = found;
    return found.name != NULL;
}

/* Whether the configuration or the tokenizer is what failed, without which tensors can be seen. */
static bool lacks_rules(const gufo_error *error)
{
    return error->code == GUFO_E_TYPE || error->code == GUFO_E_NOT_FOUND;
}

/* Opens a checkpoint with as much as is understood of it. */
static gufo_import *open_checkpoint(const char *path, gufo_error *error)
{
    static const gufo_checkpoint_options less[] = {
        {.flags = GUFO_CHECKPOINT_NO_VOCABULARY},
        {.flags = GUFO_CHECKPOINT_NO_VOCABULARY | GUFO_CHECKPOINT_GENERIC, .arch = "unknown"}};
    gufo_import *import = gufo_import_checkpoint(path, NULL, error);

    for (size_t i = 0; import == NULL && lacks_rules(error) && i < sizeof less / sizeof *less;
         i++) {
        report_warning(path, "%s; it is shown without what that is about", error->message);
        import = gufo_import_checkpoint(path, &less[i], error);
    }
    return import;
}

gufo_model *foreign_file_open(const char *path, uint64_t *size, gufo_error *error)
{
    gufo_import *import = legacy_name(path) != NULL ? gufo_import_legacy(path, NULL, error)
                                                    : open_checkpoint(path, error);

    if (import == NULL)
        return NULL;
    if (size != NULL)
        *size = gufo_import_describe(import).size;
    return gufo_import_take_model(import, path, error);
}

const char *foreign_file_part_at(const gufo_model *model, uint32_t index)
{
    const gufo_import *import = gufo_import_of(model);

    return import != NULL ? gufo_import_part_at(import, index) : NULL;
}

#else

bool foreign_file_find(const char *path, foreign_kind *kind)
{
    (void)path, (void)kind;
    return false;
}

gufo_model *foreign_file_open(const char *path, uint64_t *size, gufo_error *error)
{
    (void)path, (void)size, (void)error;
    return NULL; /* foreign_file_find finds none */
}

const char *foreign_file_part_at(const gufo_model *model, uint32_t index)
{
    (void)model, (void)index;
    return NULL;
}

#endif

bool foreign_file_refuse(const char *path)
{
    foreign_kind kind;
    bool found = foreign_file_find(path, &kind);

    if (found)
        report_message(path, "this is a %s%s, not a GGUF file; 'gufo %s' makes one of it",
                       kind.name, kind.noun, kind.command);
    return found;
}
