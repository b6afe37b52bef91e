/* Models in other formats. */
#define _XOPEN_SOURCE 700 /* realpath */

#include "cli/core/files/foreign_file.h"

#include "cli/core/values/str.h"
#include "cli/core/files/path.h"
#include "cli/core/files/save.h"
#include "cli/core/options/options.h"
#include "cli/core/terminal/report.h"
#include "cli/core/values/number.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef GUFO_HAS_IMPORT

#include "gufo/import.h"

gufo_find_kind foreign_file_kind(const char *path)
{
    return path_is_standard(path) ? GUFO_FIND_NOTHING : gufo_import_kind(path, NULL);
}

bool foreign_file_find(const char *path, foreign_kind *kind)
{
    foreign_kind found = {.noun = " file", .command = "migrate"};
    gufo_find_kind what =
        path_is_standard(path) ? GUFO_FIND_NOTHING : gufo_import_kind(path, &found.name);

    if (what == GUFO_FIND_CHECKPOINT) {
        found.command = "convert";
        found.converts = true;
        if (ends_with(gufo_str_of(found.name), " model") ||
            ends_with(gufo_str_of(found.name), " adapter"))
            found.noun = "";
    }
    if (kind != NULL)
        *kind = found;
    return what != GUFO_FIND_NOTHING;
}

/* Whether the configuration or the tokenizer is what failed, without which tensors can be seen. */
static bool lacks_rules(const gufo_error *error)
{
    return error->code == GUFO_E_TYPE || error->code == GUFO_E_NOT_FOUND;
}

/* The option that would have helped. */
static gufo_import *advise(gufo_import *import, gufo_error *error)
{
    size_t len = import == NULL ? strlen(error->message) : 0;

    if (import == NULL && error->advice == GUFO_ADVICE_FOLLOW)
        (void)snprintf(error->message + len, sizeof error->message - len, " (--follow reads it)");
    return import;
}

/* Opens a checkpoint with as much as is understood of it. */
static gufo_import *open_checkpoint(const char *path, foreign_use use, gufo_error *error)
{
    const gufo_checkpoint_options options = {
        .flags = GUFO_CHECKPOINT_NO_CHECK | (options_follow() ? GUFO_CHECKPOINT_FOLLOW : 0u)};
    gufo_import *import = gufo_import_checkpoint(path, &options, error);
    gufo_error reason = import == NULL ? *error : (gufo_error){0};

    if (import == NULL && use == FOREIGN_SEEN && lacks_rules(error))
        import = gufo_import_outline(path, options.flags & GUFO_CHECKPOINT_FOLLOW, error);
    if (import != NULL && reason.code != GUFO_OK)
        report_warning(reason.file[0] != '\0' ? reason.file : path,
                       "%s; the model is shown without it", reason.message);
    return advise(import, error);
}

/* What becomes of weights that are quantized already. */
static void describe_packed(const char *path, const gufo_import *import)
{
    const gufo_import_facts facts = gufo_import_describe(import);

    if (facts.quantized != NULL)
        report_warning(
            path, "its weights are quantized (%s): %s become blocks without loss, %s are unpacked",
            facts.quantized, human_grouped(facts.repacked).text,
            human_grouped(facts.packed - facts.repacked).text);
}

gufo_model *foreign_file_open(const char *path, foreign_use use, gufo_error *error)
{
    gufo_import *import;
    foreign_kind kind;
    gufo_model *model;

    if (use != FOREIGN_OUTLINE && foreign_file_find(path, &kind))
        report_warning(path,
                       "this is a %s%s; gufo reads it as the GGUF file that 'gufo %s' would write",
                       kind.name, kind.noun, kind.command);
    if (use == FOREIGN_OUTLINE)
        import =
            advise(gufo_import_outline(path, options_follow() ? GUFO_CHECKPOINT_FOLLOW : 0u, error),
                   error);
    else if (gufo_import_kind(path, NULL) == GUFO_FIND_OLD)
        import = gufo_import_legacy(path, NULL, error);
    else
        import = open_checkpoint(path, use, error);
    if (import == NULL)
        return NULL;
    if (use == FOREIGN_SEEN)
        describe_packed(path, import);
    model = gufo_import_take_model(import, path, error);
    if (model != NULL && use == FOREIGN_JUDGED)
        foreign_file_warn(model, path);
    return model;
}

void foreign_file_warn(const gufo_model *model, const char *path)
{
    const gufo_import *import = gufo_model_import(model);
    const char *text;

    for (uint64_t i = 0; (text = gufo_import_warning_at(import, i)) != NULL; i++)
        report_warning(path, "%s", text);
}

const char *foreign_file_part_at(const gufo_model *model, uint32_t index)
{
    const gufo_import *import = gufo_model_import(model);

    return import != NULL ? gufo_import_part_at(import, index) : NULL;
}

#else

gufo_find_kind foreign_file_kind(const char *path)
{
    (void)path;
    return GUFO_FIND_NOTHING;
}

bool foreign_file_find(const char *path, foreign_kind *kind)
{
    (void)path, (void)kind;
    return false;
}

gufo_model *foreign_file_open(const char *path, foreign_use use, gufo_error *error)
{
    (void)path, (void)use, (void)error;
    return NULL; /* foreign_file_find finds none */
}

void foreign_file_warn(const gufo_model *model, const char *path)
{
    (void)model, (void)path;
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
        report_message(path, "this is a %s%s, not a GGUF file; 'gufo %s' converts it", kind.name,
                       kind.noun, kind.command);
    return found;
}

/* ---- outputs -------------------------------------------------------------------------------- */

/* Files of a model folder are known by how their names end. */
static bool is_of_model(const char *name)
{
    static const char *const ends[] = {".safetensors", ".bin", ".pth",   ".pt", ".json",
                                       ".model",       ".txt", ".jinja", ".md"};

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(gufo_str_of(name), ends[i]))
            return true;
    return false;
}

/* The folder of the model at `path`; false: it has none. */
static bool folder_of_model(const char *path, char folder[PATH_MAX])
{
    foreign_kind kind;
    size_t len = strlen(path);

    if (!path_is_folder(path))
        return foreign_file_find(path, &kind) && kind.converts && path_folder(path, folder);
    if (len >= PATH_MAX)
        return false;
    memcpy(folder, path, len + 1);
    return true;
}

bool foreign_file_spoiled(const char *path, const char *output)
{
    char whole[PATH_MAX], place[PATH_MAX], folder[PATH_MAX];
    const char *target = realpath(output, whole) != NULL ? whole : output;

    if (!is_of_model(target) || !path_folder(target, place) || !folder_of_model(path, folder) ||
        !path_same(place, folder))
        return false;
    report_message(output, "in the folder of the model this name is that of one of its files");
    return true;
}

bool foreign_file_guard(const char *path, gufo_guard *guard)
{
    char folder[PATH_MAX], file[PATH_MAX];
    const char *const files[] = {file};
    DIR *listing = folder_of_model(path, folder) ? opendir(folder) : NULL;
    const struct dirent *entry;
    bool guarded = true;

    while (listing != NULL && guarded && (entry = readdir(listing)) != NULL) {
        int len = snprintf(file, sizeof file, "%s/%s", folder, entry->d_name);

        if (is_of_model(entry->d_name) && len > 0 && (size_t)len < sizeof file)
            guarded = save_guard_more(guard, files, 1);
    }
    if (listing != NULL)
        (void)closedir(listing);
    return guarded;
}
