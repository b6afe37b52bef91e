/* A manifest of what is fetched: lines about tensors, which gufo hash writes, or about all bytes of a file, as
 * sha256sum does. */
#include "cli/remote/fetch_manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/core/files/path.h"
#include "cli/core/terminal/report.h"

#define MOST_MANIFEST ((size_t)1 << 30)

int fetch_manifest_read(fetch_manifest *m, const char *path)
{
    gufo_error error;
    int code;

    if (path == NULL)
        return CODE_OK;
    m->path = path;
    code = small_file_read(path, MOST_MANIFEST, "the text is too long", &m->text);
    if (code != CODE_OK)
        return code;
    m->lines = gufo_manifest_parse(m->text, NULL, &error);
    return m->lines != NULL ? CODE_OK : report_error(path, &error);
}

void fetch_manifest_free(fetch_manifest *m)
{
    gufo_manifest_free(m->lines);
    small_file_free(&m->text);
    *m = (fetch_manifest){0};
}

static gufo_status refuse(gufo_error *error, gufo_status status, const fetch_manifest *m,
                          const char *what, const char *name)
{
    char message[sizeof error->message];

    (void)snprintf(message, sizeof message, "%s %s", what, name);
    (void)error_set(error, status, 0, message);
    (void)snprintf(error->file, sizeof error->file, "%s", m->path);
    error->role = GUFO_FILE_SECOND_INPUT;
    return status;
}

/* ---- all bytes of a file ---------------------------------------------------------------------- */

/* A line without a name is about any file. */
static bool is_about(const gufo_manifest_line *line, const char *path)
{
    const char *name = path_name(path);
    char *of = strndup(line->name.data != NULL ? line->name.data : "", line->name.len);
    bool is = of != NULL && (*of == '\0' || strcmp(path_name(of), name) == 0);

    free(of);
    return is;
}

static gufo_status compare_line(fetch_manifest *m, const gufo_manifest_line *line,
                                const gufo_fetched *file, gufo_error *error)
{
    uint32_t algorithm = UINT32_C(1) << line->algorithm;
    gufo_digests digests;
    gufo_status status = gufo_digest_files(&file->part, 1, algorithm, NULL, &digests, error);

    if (status != GUFO_OK)
        return status;
    m->differs = memcmp(digests.bytes[line->algorithm], line->digest,
                        gufo_digest_kind_of(line->algorithm)->size) != 0;
    return m->differs ? refuse(error, GUFO_E_CHANGED, m,
                               "has another hash than what was fetched as", file->path)
                      : GUFO_OK;
}

static gufo_status compare_file(fetch_manifest *m, const gufo_fetched *file, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    gufo_manifest_line line;
    bool found = false;

    for (uint64_t i = 0; status == GUFO_OK && gufo_manifest_file_at(m->lines, i, &line); i++)
        if (is_about(&line, file->path)) {
            found = true;
            status = compare_line(m, &line, file, error);
        }
    return found ? status : refuse(error, GUFO_E_NOT_FOUND, m, "has no line about", file->path);
}

/* ---- tensors ---------------------------------------------------------------------------------- */

static gufo_model *open_parts(const gufo_fetched *files, size_t count, gufo_error *error)
{
    gufo_open_options options = {.flags = count == 1 ? GUFO_OPEN_INCOMPLETE : 0};
    gufo_input *inputs = calloc(count, sizeof *inputs);
    gufo_model *model;

    for (size_t i = 0; inputs != NULL && i < count; i++)
        inputs[i] = gufo_input_path(files[i].part);
    model = inputs != NULL ? gufo_model_open_shards(inputs, count, &options, error) : NULL;
    if (inputs == NULL)
        (void)error_set(error, GUFO_E_MEMORY, 0, "out of memory");
    free(inputs);
    return model;
}

static gufo_status compare_tensors(fetch_manifest *m, const gufo_fetched *files, size_t count,
                                   gufo_error *error)
{
    const gufo_manifest_check check = {.manifest = m->lines, .path = files[0].path};
    gufo_model *model = open_parts(files, count, error);
    gufo_manifest_summary summary;
    gufo_status status =
        model != NULL ? gufo_model_verify(model, &check, NULL, &summary, error) : error->code;

    gufo_model_free(model);
    if (status != GUFO_OK)
        return status;
    m->differs = !gufo_manifest_agrees(&summary);
    return m->differs
               ? refuse(error, GUFO_E_CHANGED, m,
                        "has other hashes than the tensors that were fetched as", files[0].path)
               : GUFO_OK;
}

gufo_status fetch_manifest_check(fetch_manifest *m, const gufo_fetched *files, size_t count,
                                 gufo_error *error)
{
    gufo_status status = GUFO_OK;

    if (gufo_manifest_count(m->lines) > 0)
        status = compare_tensors(m, files, count, error);
    if (gufo_manifest_file_count(m->lines) > 0 || gufo_manifest_count(m->lines) == 0)
        for (size_t i = 0; i < count && status == GUFO_OK; i++)
            status = compare_file(m, &files[i], error);
    return status;
}
