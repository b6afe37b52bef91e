/* The name of the file that an import becomes. */
#include "base/error.h"
#include "import/conversion/conversion.h"
#include "schema/name/name.h"

#include <string.h>

/* Of "llama-7b.ggmlv3.q4_0.bin" and "llama-7b-q4_0.bin": llama-7b. */
static gufo_str stem_of(const char *name)
{
    gufo_str stem = {name, strcspn(name, ".")};
    size_t last = stem.len;

    while (last > 0 && stem.data[last - 1] != '-')
        last--;
    if (last > 1 && name_file_type(str_from(stem, last)) != NULL)
        stem.len = last - 1;
    return stem;
}

/* A model without a name of its own is called as its file: what that says beside the name, of the
 * format and its types, is not part of the name. */
static gufo_status suggest_by_file(const char *file, const gufo_name *suggested,
                                   char out[GUFO_NAME_SIZE], gufo_error *error)
{
    gufo_name parts = *suggested;
    name_title title;
    char name[GUFO_NAME_SIZE];

    name_read_title(stem_of(file), &title);
    if (title.base.len > 0)
        parts.base_name = name_text_view(&title.base);
    parts.fine_tune = name_text_view(&title.fine_tune);
    if (title.version.len > 0)
        parts.version = name_text_view(&title.version);
    if (gufo_name_format(name, sizeof name, &parts) >= sizeof name)
        return refuse(error, GUFO_E_RANGE, "the name of the output would be too long");
    memcpy(out, name, sizeof name);
    return GUFO_OK;
}

gufo_status gufo_import_file_name(const gufo_import *import, const char *type,
                                  char out[GUFO_NAME_SIZE], gufo_error *error)
{
    const char *none = conversion_of(import) != NULL ? "" : NULL;
    const char *path = gufo_import_part_at(import, 0);
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    char encoding[GUFO_NAME_SIZE];
    gufo_status status;
    gufo_name parts;
    gufo_str name;

    (void)gufo_name_fill(encoding, sizeof encoding, "{FTYPE}", type != NULL ? type : "");
    status = name_suggest_as(import->opened, type != NULL ? encoding : none, out, error);
    path = slash != NULL ? slash + 1 : path;
    if (status == GUFO_OK && path != NULL &&
        gufo_model_get_str(import->opened, "general.name", &name, NULL) == GUFO_OK &&
        gufo_str_equal(name, gufo_str_of(path)) && gufo_name_match(gufo_str_of(out), &parts))
        status = suggest_by_file(path, &parts, out, error);
    return status;
}
