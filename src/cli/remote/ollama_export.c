/* gufo ollama export NAME [OUT]: files of the store.
 *
 *     tiny.gguf  mmproj-tiny.gguf  tiny-adapter.gguf  tiny-adapter-2.gguf */
#include "cli/remote/ollama.h"

#include <stdlib.h>
#include <string.h>

#include "cli/core/files/path.h"
#include "cli/core/files/progress.h"
#include "cli/core/files/save.h"
#include "cli/core/records/record.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/signals.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/array.h"

typedef struct file_row {
    char *path;
    const char *role;
    uint64_t size;
    size_t layer; /* its number in the manifest */
} file_row;

static const record_field file_fields[] = {
    {"path", "File", RECORD_TEXT, RECORD_AT(file_row, path), .width = -4},
    {"role", "Layer", RECORD_TEXT, RECORD_AT(file_row, role), .width = -9},
    {"size", NULL, RECORD_COUNT, RECORD_AT(file_row, size)},
    {NULL, "Size", RECORD_BYTES, RECORD_AT(file_row, size), .width = 9},
};
static const record_type file_type = RECORD_OF(file_row, file_fields, 0);

typedef struct exporting {
    const ollama_options *options;
    const char *name, *out;
    char *store, *made; /* `out` where nobody gives one */
    gufo_ollama *model;
    file_row *files;
    size_t count;
    progress bar;
    uint64_t before, total; /* bytes */
} exporting;

/* ---- names of files ------------------------------------------------------------------------- */

/* "MODEL-TAG.gguf" of "HOST/NAMESPACE/MODEL:TAG". */
static char *usual_name(const char *name)
{
    const char *slash = strrchr(name, '/'), *model = slash != NULL ? slash + 1 : name;
    const char *tag = strchr(model, ':');

    return tag != NULL ? path_format("%.*s-%s.gguf", (int)(tag - model), model, tag + 1)
                       : path_format("%s.gguf", model);
}

/* "DIR/mmproj-tiny.gguf", or "DIR/tiny-adapter-2.gguf". */
static char *name_beside(const char *out, const char *role, unsigned number)
{
    const char *name = path_name(out), *point = strrchr(name, '.');
    int folder = (int)(name - out);
    int stem =
        point != NULL && strcmp(point, ".gguf") == 0 ? (int)(point - name) : (int)strlen(name);
    char count[16] = "";

    if (number > 1)
        (void)snprintf(count, sizeof count, "-%u", number);
    if (strcmp(role, "projector") == 0)
        return path_format("%.*smmproj-%.*s%s.gguf", folder, out, stem, name, count);
    return path_format("%.*s%.*s-%s%s.gguf", folder, out, stem, name, role, count);
}

static unsigned number_of(const exporting *e, const char *role)
{
    unsigned number = 1;

    for (size_t i = 0; i < e->count; i++)
        number += strcmp(e->files[i].role, role) == 0;
    return number;
}

static int add_file(exporting *e, size_t layer, const gufo_ollama_layer *facts)
{
    unsigned number = number_of(e, facts->role);
    bool first = number == 1 && strcmp(facts->role, "model") == 0;
    char *path = first ? path_format("%s", e->out) : name_beside(e->out, facts->role, number);
    file_row *row = path != NULL ? array_add(&e->files, &e->count, sizeof *row) : NULL;

    if (row == NULL) {
        free(path);
        return CODE_FAILED;
    }
    *row = (file_row){path, facts->role, facts->size, layer};
    e->total += facts->size;
    return CODE_OK;
}

/* Finds the layers that are files. */
static int list_files(exporting *e)
{
    gufo_ollama_layer layer;
    bool tensors = false;
    int code = CODE_OK;

    for (size_t i = 0; code == CODE_OK && gufo_ollama_layer_at(e->model, i, &layer); i++) {
        tensors = tensors || strcmp(layer.role, "tensor") == 0;
        if (layer.is_gguf)
            code = add_file(e, i, &layer);
    }
    if (code == CODE_OK && e->count == 0)
        return report_as(CODE_FAILED, e->name,
                         tensors
                             ? "its tensors are files of their own, as safetensors has them: it "
                               "has no GGUF file"
                             : "it has no GGUF file");
    return code;
}

/* ---- writing -------------------------------------------------------------------------------- */

static bool on_progress(void *context, uint64_t done, uint64_t total)
{
    exporting *e = context;

    (void)total;
    return progress_step(&e->bar, e->before + done, e->total);
}

static int save_file(exporting *e, const file_row *file)
{
    const shared_options *shared = e->options->base.shared;
    const gufo_ollama_save_options options = {.flags = (shared->force ? GUFO_OLLAMA_REPLACE : 0u) |
                                                       (e->options->link ? GUFO_OLLAMA_LINK : 0u)};
    const gufo_run run = {.progress = on_progress, .progress_context = e};
    gufo_error error;
    gufo_status status;

    status = gufo_ollama_save(e->model, file->layer, file->path, &options, &run, &error);
    e->before += file->size;
    if (status == GUFO_OK)
        return CODE_OK;
    progress_end(&e->bar);
    return error.role == GUFO_FILE_INPUT ? report_error(file->path, &error)
                                         : save_report(file->path, &error);
}

/* None of the files is written if one of them cannot be. */
static int save_all(exporting *e)
{
    const bool force = e->options->base.shared->force;
    int code = CODE_OK;

    for (size_t i = 0; i < e->count && code == CODE_OK; i++)
        code = save_check(e->files[i].path, force, NULL);
    if (code != CODE_OK)
        return code;
    signals_defer();
    progress_start(&e->bar, e->options->base.shared->quiet);
    for (size_t i = 0; i < e->count && code == CODE_OK; i++)
        code = save_file(e, &e->files[i]);
    progress_end(&e->bar);
    return code;
}

static int save_settings(const exporting *e)
{
    const char *path = e->options->settings;
    gufo_text text = {0};
    gufo_error error;
    int code = CODE_OK;

    if (gufo_ollama_settings(e->model, &text, &error) != GUFO_OK)
        code = report_error(e->name, &error);
    else if (save_is_stdout(path))
        fwrite(text.data, 1, text.len, stdout);
    else
        code =
            save_bytes(path, (gufo_str){text.data, text.len}, e->options->base.shared->force, NULL);
    gufo_text_free(&text);
    return code;
}

/* ---- the report ----------------------------------------------------------------------------- */

static void report(const exporting *e)
{
    const record_list list = {.items = e->files, .count = e->count};

    if (e->options->base.shared->json) {
        json_writer j = json_begin_document(e->store);

        json_write_text(&j, "name", e->name);
        json_write_bool(&j, "linked", e->options->link);
        record_write_list(&j, "outputs", &file_type, &list);
        json_end_document(&j);
    } else if (!e->options->base.shared->quiet) {
        table t = record_table(&file_type, 0);

        record_print(&t, &file_type, &list);
    }
}

/* ---- the command ---------------------------------------------------------------------------- */

static int take_arguments(exporting *e)
{
    const ollama_options *o = e->options;
    const shared_options *shared = o->base.shared;

    if (shared->arg_count < 2 || shared->arg_count > 3)
        return report_usage("export: NAME, and at most one OUT, are needed");
    if (shared->arg_count == 3 && o->base.output != NULL)
        return report_usage("export: OUT is given twice");
    if (o->name != NULL || o->system != NULL || o->template_file != NULL || o->params.count > 0 ||
        o->licenses.count > 0)
        return report_usage("--name, --param, --system, --template and --license are for import");
    e->name = shared->args[1];
    e->out = shared->arg_count == 3 ? shared->args[2] : o->base.output;
    if (e->out != NULL && path_is_standard(e->out))
        return report_usage("export writes files, not standard output");
    if (e->out == NULL)
        e->out = e->made = usual_name(e->name);
    return e->out != NULL ? CODE_OK : CODE_FAILED;
}

static int export(exporting *e)
{
    const bool settings_alone =
        e->options->settings != NULL && save_is_stdout(e->options->settings);
    gufo_error error;
    int code;

    e->model = gufo_ollama_open(e->store, e->name, NULL, &error);
    if (e->model == NULL)
        return report_refusal(error.code == GUFO_E_ARGUMENT ? NULL : e->store, &error);
    if (settings_alone)
        return save_settings(e);
    code = list_files(e);
    if (code == CODE_OK && e->options->settings != NULL)
        code = save_settings(e);
    if (code == CODE_OK)
        code = save_all(e);
    if (code == CODE_OK)
        report(e);
    return code;
}

int ollama_export(ollama_options *o)
{
    exporting e = {.options = o};
    int code = take_arguments(&e);

    if (code == CODE_OK) {
        e.store = ollama_find_store(o, true);
        code = e.store != NULL ? export(&e) : CODE_FAILED;
    }
    gufo_ollama_free(e.model);
    for (size_t i = 0; i < e.count; i++)
        free(e.files[i].path);
    free(e.files);
    free(e.store);
    free(e.made);
    return code;
}
