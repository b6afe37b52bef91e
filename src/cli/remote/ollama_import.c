/* gufo ollama import MODEL... --name NAME: files become blobs of the store, and a manifest. */
#include "cli/remote/ollama.h"

#include <stdlib.h>
#include <string.h>

#include "cli/core/files/input.h"
#include "cli/core/files/progress.h"
#include "cli/core/records/record.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/signals.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/array.h"

enum { MOST_TEXT = 16 << 20 }; /* of a template or a license */

/* ---- what was made -------------------------------------------------------------------------- */

typedef struct layer_row {
    const char *role;
    uint64_t size;
    char digest[65];
    bool kept;
} layer_row;

static const char *const kept_words[] = {"new", "kept"};

static const record_field layer_fields[] = {
    {"role", "Layer", RECORD_TEXT, RECORD_AT(layer_row, role), .width = -9},
    {"size", NULL, RECORD_COUNT, RECORD_AT(layer_row, size)},
    {NULL, "Size", RECORD_BYTES, RECORD_AT(layer_row, size), .width = 9},
    {"kept", NULL, RECORD_FLAG, RECORD_AT(layer_row, kept)},
    {NULL, "Blob", RECORD_CHOICE, RECORD_AT(layer_row, kept), .width = -4, .words = kept_words},
    {"digest", "SHA-256", RECORD_CHARS, RECORD_AT(layer_row, digest), .width = -7, .drop = 1},
};
static const record_type layer_type = RECORD_OF(layer_row, layer_fields, 0);

/* ---- the work ------------------------------------------------------------------------------- */

typedef struct importing {
    const ollama_options *options;
    char *store;
    gufo_model **models;
    size_t count;
    gufo_str template_text;
    gufo_str *licenses; /* terminated */
    const char **license_texts;
    layer_row *layers;
    size_t layer_count;
    bool failed; /* without memory for a row */
} importing;

static void on_layer(void *context, const gufo_ollama_layer *layer)
{
    importing *i = context;
    layer_row *row = array_add(&i->layers, &i->layer_count, sizeof *row);

    if (row == NULL) {
        i->failed = true;
        return;
    }
    *row = (layer_row){.role = layer->role, .size = layer->size, .kept = layer->kept};
    memcpy(row->digest, layer->digest.data, layer->digest.len);
}

static int read_text(const char *path, gufo_str *text)
{
    int code =
        small_file_read(path, MOST_TEXT, "it has more than 16 MiB, the limit for a text", text);

    if (code != CODE_OK)
        return code;
    if (strlen(text->data) < text->len || gufo_utf8_valid_prefix(*text) < text->len)
        return report_as(CODE_USAGE, path, "it is not text: UTF-8 without NUL bytes");
    return CODE_OK;
}

static int read_texts(importing *i)
{
    const option_texts *licenses = &i->options->licenses;
    int code = CODE_OK;

    if (i->options->template_file != NULL)
        code = read_text(i->options->template_file, &i->template_text);
    i->licenses = calloc(licenses->count + 1, sizeof *i->licenses);
    i->license_texts = calloc(licenses->count + 1, sizeof *i->license_texts);
    if (i->licenses == NULL || i->license_texts == NULL)
        return report_memory(NULL);
    for (size_t l = 0; l < licenses->count && code == CODE_OK; l++) {
        code = read_text(licenses->items[l], &i->licenses[l]);
        i->license_texts[l] = i->licenses[l].data;
    }
    return code;
}

static int open_models(importing *i)
{
    const shared_options *shared = i->options->base.shared;

    i->models = calloc((size_t)shared->arg_count, sizeof(gufo_model *));
    if (i->models == NULL)
        return report_memory(NULL);
    for (int m = 1; m < shared->arg_count; m++) {
        const char *path = shared->args[m];
        gufo_model *model = path_is_standard(path) ? NULL : input_open_model(path, 0);

        if (path_is_standard(path))
            return report_usage("MODEL must be a file, not '-'");
        if (model == NULL)
            return CODE_FAILED;
        i->models[i->count++] = model;
        if (!gufo_model_has_data(model))
            return report_as(CODE_USAGE, path, "tensor data cannot be read from a pipe");
    }
    return CODE_OK;
}

/* ---- the report ----------------------------------------------------------------------------- */

static void report(const importing *i)
{
    const record_list list = {.items = i->layers, .count = i->layer_count};
    const ollama_options *o = i->options;

    if (o->base.shared->json) {
        json_writer j = json_begin_document(i->store);

        json_write_text(&j, "name", o->name);
        record_write_list(&j, "layers", &layer_type, &list);
        json_end_document(&j);
    } else if (!o->base.shared->quiet) {
        table t = record_table(&layer_type, 2);
        line l;

        line_begin(&l);
        text_put(l.out, gufo_str_of(o->name), TEXT_PLAIN);
        fputs(" is in ", l.out);
        text_put(l.out, gufo_str_of(i->store), TEXT_PLAIN);
        line_end(&l);
        record_print(&t, &layer_type, &list);
    }
}

static int report_failure(const importing *i, const gufo_error *error)
{
    if (error->code == GUFO_E_STOPPED)
        return report_as(CODE_INTERRUPTED, i->options->name, "interrupted; nothing was imported");
    if (error->code == GUFO_E_EXISTS) {
        report_error_with(i->store, error, "--force replaces it");
        return CODE_USAGE;
    }
    return report_refusal(
        error->file[0] != '\0' || error->code == GUFO_E_ARGUMENT ? NULL : i->store, error);
}

static int import(importing *i)
{
    const ollama_options *o = i->options;
    const gufo_ollama_import_options options = {.store = i->store,
                                                .name = o->name,
                                                .flags = o->base.shared->force ? GUFO_OLLAMA_REPLACE
                                                                               : 0u,
                                                .template_text = i->template_text.data,
                                                .system = o->system,
                                                .licenses = i->license_texts,
                                                .license_count = o->licenses.count,
                                                .params = (const char *const *)o->params.items,
                                                .param_count = o->params.count,
                                                .on_layer = on_layer,
                                                .on_layer_context = i};
    gufo_error error;
    gufo_status status;
    progress bar;
    gufo_run run;

    progress_start(&bar, o->base.shared->quiet);
    run = progress_run(&bar, o->base.shared);
    signals_defer();
    status =
        gufo_ollama_import((const gufo_model *const *)i->models, i->count, &options, &run, &error);
    progress_end(&bar);
    if (status != GUFO_OK)
        return report_failure(i, &error);
    if (i->failed)
        return report_memory(NULL);
    report(i);
    return CODE_OK;
}

static void release(importing *i)
{
    for (size_t m = 0; m < i->count; m++)
        gufo_model_free(i->models[m]);
    for (size_t l = 0; i->licenses != NULL && l < i->options->licenses.count; l++)
        small_file_free(&i->licenses[l]);
    small_file_free(&i->template_text);
    free(i->models);
    free(i->licenses);
    free(i->license_texts);
    free(i->layers);
    free(i->store);
}

int ollama_import(ollama_options *o)
{
    importing i = {.options = o};
    int code = CODE_OK;

    if (o->base.shared->arg_count < 2)
        return report_usage("import: MODEL is needed");
    if (o->name == NULL)
        return report_usage("import: --name is needed, such as --name tiny:q4");
    if (o->base.output != NULL || o->link || o->settings != NULL)
        return report_usage("import takes neither --output nor --link nor --settings");
    i.store = ollama_find_store(o, false);
    if (i.store == NULL)
        return CODE_FAILED;
    code = read_texts(&i);
    if (code == CODE_OK)
        code = open_models(&i);
    if (code == CODE_OK)
        code = import(&i);
    release(&i);
    return code;
}
