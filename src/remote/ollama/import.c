/* Models into the store of Ollama.
 *
 *     MODEL ...  what each is (a model, a projector, an adapter)
 *                its bytes into blobs/: moved as they are, or merged by a job, and hashed
 *                texts, parameters, configuration: blobs of their own
 *                the manifest, last
 *
 * A template is not made of the model's: its chat template is in the language Jinja, that of Ollama in Go's.
 * Without a layer for it Ollama renders messages with the template that is in the file. */
#include "gufo/ollama.h"

#include "base/buffer.h"
#include "base/error.h"
#include "base/files/disk.h"
#include "base/memory.h"
#include "format/model/model.h"
#include "gufo/document.h"
#include "gufo/edit.h"
#include "gufo/summary.h"
#include "remote/ollama/moving.h"
#include "remote/ollama/settings.h"
#include "remote/ollama/store.h"

typedef struct importing {
    const gufo_ollama_import_options *options;
    ollama_store store;
    ollama_name name;
    gufo_allocator allocator;
    const gufo_model *parts[OLLAMA_ADAPTER + 1]; /* the first of each kind */
    ollama_layer_kind *kinds;                    /* of the models */
    ollama_layer *layers;
    size_t count;
    uint64_t room;
    ollama_progress progress;
    gufo_error *error;
} importing;

/* ---- what a model is ------------------------------------------------------------------------ */

static gufo_str text_of(const gufo_model *model, const char *key)
{
    gufo_str text = {"", 0};

    (void)gufo_model_get_str(model, key, &text, NULL);
    return text;
}

static bool has_blocks(const gufo_model *model, const char *key)
{
    uint64_t blocks;

    return gufo_model_get_u64(model, key, &blocks, NULL) == GUFO_OK && blocks > 0;
}

static ollama_layer_kind kind_of(const gufo_model *model)
{
    gufo_str type = text_of(model, "general.type");

    if (gufo_str_equal(type, gufo_str_of("adapter")))
        return OLLAMA_ADAPTER;
    if (str_is_word(type, "mmproj projector") ||
        gufo_str_equal(text_of(model, "general.architecture"), gufo_str_of("clip")) ||
        (!has_blocks(model, "{arch}.block_count") &&
         has_blocks(model, "{arch}.vision.block_count")))
        return OLLAMA_PROJECTOR;
    return str_is_word(type, "imatrix vocab") ? OLLAMA_OTHER : OLLAMA_MODEL;
}

static gufo_status classify(importing *i, const gufo_model *model, ollama_layer_kind *kind)
{
    *kind = kind_of(model);
    if (*kind == OLLAMA_OTHER || gufo_model_tensor_count(model) == 0)
        return model_fail(model,
                          refuse(i->error, GUFO_E_ARGUMENT,
                                 "is neither a model with tensors nor a projector nor an adapter"),
                          i->error);
    if (*kind == OLLAMA_MODEL && i->parts[OLLAMA_MODEL] != NULL)
        return model_fail(model,
                          refuse(i->error, GUFO_E_ARGUMENT,
                                 "is a second model; a name has one, with projectors and adapters "
                                 "beside it"),
                          i->error);
    if (i->parts[*kind] == NULL)
        i->parts[*kind] = model;
    return GUFO_OK;
}

static gufo_status check_adapter(const importing *i, const gufo_model *model,
                                 ollama_layer_kind kind)
{
    gufo_str base = text_of(i->parts[OLLAMA_MODEL], "general.architecture");
    gufo_str own = text_of(model, "general.architecture");

    if (kind != OLLAMA_ADAPTER || gufo_str_equal(own, base))
        return GUFO_OK;
    return model_fail(model,
                      refuse(i->error, GUFO_E_ARGUMENT,
                             "is an adapter for the architecture %s, and the model has %s",
                             QUOTED(own), QUOTED(base)),
                      i->error);
}

static gufo_status classify_all(importing *i, const gufo_model *const *models, size_t count)
{
    gufo_status status = GUFO_OK;

    i->kinds = mem_array(&i->allocator, count, sizeof *i->kinds);
    if (i->kinds == NULL)
        return fail_memory(i->error);
    for (size_t m = 0; m < count && status == GUFO_OK; m++)
        status = classify(i, models[m], &i->kinds[m]);
    if (status == GUFO_OK && i->parts[OLLAMA_MODEL] == NULL)
        status = refuse(i->error, GUFO_E_ARGUMENT,
                        "a model is missing: a projector or an adapter alone is none");
    for (size_t m = 0; m < count && status == GUFO_OK; m++)
        status = check_adapter(i, models[m], i->kinds[m]);
    return status;
}

/* ---- layers --------------------------------------------------------------------------------- */

static gufo_status add_layer(importing *i, const ollama_layer *layer, bool kept)
{
    ollama_layer *grown = mem_grow(&i->allocator, i->layers, i->count, &i->room, sizeof *i->layers);
    const gufo_ollama_layer seen = {.role = ollama_layer_word(layer->kind),
                                    .is_gguf = layer->kind <= OLLAMA_ADAPTER,
                                    .type = layer->type,
                                    .digest = gufo_str_of(layer->hex),
                                    .size = layer->size,
                                    .kept = kept};

    if (grown == NULL)
        return fail_memory(i->error);
    i->layers = grown;
    i->layers[i->count++] = *layer;
    if (i->options->on_layer != NULL)
        i->options->on_layer(i->options->on_layer_context, &seen);
    return GUFO_OK;
}

static gufo_status add_text(importing *i, ollama_layer_kind kind, gufo_str text)
{
    ollama_layer layer;
    bool kept;
    gufo_status status =
        text.len > 0 ? ollama_store_put(&i->store, kind, text, &layer, &kept, i->error) : GUFO_OK;

    return status == GUFO_OK && text.len > 0 ? add_layer(i, &layer, kept) : status;
}

/* ---- files ---------------------------------------------------------------------------------- */

/* The one file of a model that is moved as it is; NULL: a job has to make one. */
static const source *whole_file(const gufo_model *model)
{
    const gufo_model *shard =
        gufo_model_shard_count(model) == 1 ? gufo_model_shard(model, 0) : NULL;

    return shard != NULL && shard->file != NULL ? &model_file(shard)->source : NULL;
}

static uint64_t bytes_of(const gufo_model *model)
{
    gufo_summary summary;
    const source *file = whole_file(model);

    if (file != NULL)
        return file->size;
    gufo_model_summarize(model, &summary);
    return summary.tensor_size <= UINT64_MAX / 4 ? 2 * summary.tensor_size : 0; /* and hashed */
}

/* A job's progress as that of a step: its bytes are as many as those of tensors. */
static bool on_job(void *context, uint64_t done, uint64_t total)
{
    const ollama_progress *p = context;

    (void)total;
    return ollama_progress_note(p, done, NULL) == GUFO_OK;
}

static gufo_job *plan(const gufo_model *model, gufo_document **document,
                      const gufo_allocator *allocator, gufo_error *error)
{
    if (model_provider(model) == NULL)
        return gufo_job_merge(model, &(gufo_merge_options){.allocator = allocator}, error);
    *document = gufo_document_from(model, NULL, error);
    return *document != NULL ? gufo_job_of_documents(document, 1, NULL, error) : NULL;
}

/* Makes one file of a model. */
static gufo_status make(importing *i, const gufo_model *model, const char *path,
                        ollama_layer *layer)
{
    ollama_progress hashing = i->progress;
    gufo_document *document = NULL;
    gufo_job *job = plan(model, &document, &i->allocator, i->error);
    gufo_run run = hashing.run != NULL ? *hashing.run : (gufo_run){0};
    gufo_status status;

    if (run.progress != NULL) {
        run.progress = on_job;
        run.progress_context = &i->progress;
    }
    status = job != NULL ? gufo_job_run(job, &(gufo_job_options){.path = path}, &run, i->error)
                         : i->error->code;
    gufo_job_free(job);
    gufo_document_free(document);
    if (status != GUFO_OK)
        return status;
    hashing.before += bytes_of(model) / 2;
    status = ollama_hash_file(path, layer->hex, &layer->size, &hashing, &i->allocator, i->error);
    if (status != GUFO_OK)
        (void)disk_unlink(path);
    return status;
}

/* Makes the file of a temporary name; nothing is there after a failure. */
static gufo_status make_file(importing *i, const gufo_model *model, const char *path,
                             ollama_layer *layer)
{
    const source *file = whole_file(model);
    gufo_status status;

    if (file == NULL)
        return make(i, model, path, layer);
    layer->size = file->size;
    status =
        ollama_move(file, path, false, NULL, layer->hex, &i->progress, &i->allocator, i->error);
    return model_fail(model, status, i->error);
}

static gufo_status add_model(importing *i, const gufo_model *model, ollama_layer_kind kind)
{
    ollama_layer layer = {.kind = kind, .type = gufo_str_of(ollama_layer_type(kind))};
    char *path = ollama_store_new(&i->store, i->error);
    bool kept = false;
    gufo_status status = path != NULL ? make_file(i, model, path, &layer) : i->error->code;

    if (status == GUFO_OK) {
        status = ollama_store_take(&i->store, path, &layer, &kept, i->error);
        if (status != GUFO_OK)
            (void)disk_unlink(path);
    }
    mem_free(&i->allocator, path);
    i->progress.before += bytes_of(model);
    return status == GUFO_OK ? add_layer(i, &layer, kept) : status;
}

/* The model first, as Ollama has it. */
static gufo_status add_models(importing *i, const gufo_model *const *models, size_t count)
{
    gufo_status status = GUFO_OK;

    for (ollama_layer_kind kind = OLLAMA_MODEL; kind <= OLLAMA_ADAPTER; kind++)
        for (size_t m = 0; m < count && status == GUFO_OK; m++)
            if (i->kinds[m] == kind)
                status = add_model(i, models[m], kind);
    return status;
}

/* ---- options -------------------------------------------------------------------------------- */

static gufo_status check_template(const char *text, gufo_error *error)
{
    return text == NULL || strstr(text, "{%") == NULL
               ? GUFO_OK
               : refuse(error, GUFO_E_ARGUMENT,
                        "the template is one of Jinja, with {%%, and Ollama needs one of Go's "
                        "text/template; without one it uses that of the model");
}

static gufo_status check_options(const gufo_ollama_import_options *o, gufo_error *error)
{
    gufo_status status =
        flags_check(o->flags, GUFO_OLLAMA_REPLACE, "gufo_ollama_import_options", error);

    if (status == GUFO_OK)
        status = reserved_check(o->reserved, "gufo_ollama_import_options", error);
    if (status == GUFO_OK && (o->store == NULL || *o->store == '\0' || o->name == NULL))
        status =
            refuse(error, GUFO_E_ARGUMENT, "gufo_ollama_import_options.store or name is missing");
    return status == GUFO_OK ? check_template(o->template_text, error) : status;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static gufo_status add_texts(importing *i, gufo_str params)
{
    const gufo_ollama_import_options *o = i->options;
    gufo_status status = add_text(i, OLLAMA_TEMPLATE, gufo_str_of(o->template_text));

    if (status == GUFO_OK)
        status = add_text(i, OLLAMA_SYSTEM, gufo_str_of(o->system));
    for (size_t l = 0; l < o->license_count && status == GUFO_OK; l++)
        status = add_text(i, OLLAMA_LICENSE, gufo_str_of(o->licenses[l]));
    return status == GUFO_OK ? add_text(i, OLLAMA_PARAMS, params) : status;
}

static gufo_status publish(importing *i)
{
    gufo_text text = {.allocator = &i->allocator};
    ollama_layer config;
    bool kept;
    gufo_status status =
        ollama_config(i->parts[OLLAMA_MODEL], i->parts[OLLAMA_PROJECTOR], &text, i->error);

    if (status == GUFO_OK)
        status = ollama_store_put(&i->store, OLLAMA_OTHER, (gufo_str){text.data, text.len}, &config,
                                  &kept, i->error);
    if (status == GUFO_OK)
        status = ollama_store_publish(&i->store, &i->name, &config, i->layers, i->count,
                                      (i->options->flags & GUFO_OLLAMA_REPLACE) != 0, i->error);
    gufo_text_free(&text);
    return status;
}

static gufo_status import(importing *i, const gufo_model *const *models, size_t count)
{
    const gufo_ollama_import_options *o = i->options;
    gufo_text params = {.allocator = &i->allocator};
    gufo_status status = ollama_name_read(gufo_str_of(o->name), &i->name, i->error);

    if (status == GUFO_OK)
        status = classify_all(i, models, count);
    if (status == GUFO_OK)
        status =
            ollama_params(i->parts[OLLAMA_MODEL], o->params, o->param_count, &params, i->error);
    if (status == GUFO_OK && (o->flags & GUFO_OLLAMA_REPLACE) == 0)
        status = ollama_store_check(&i->store, &i->name, i->error);
    for (size_t m = 0; m < count && status == GUFO_OK; m++)
        i->progress.total += bytes_of(models[m]);
    if (status == GUFO_OK)
        status = ollama_store_prepare(&i->store, &i->name, i->error);
    if (status == GUFO_OK)
        status = add_models(i, models, count);
    if (status == GUFO_OK)
        status = add_texts(i, (gufo_str){params.data, params.len});
    if (status == GUFO_OK)
        status = publish(i);
    gufo_text_free(&params);
    return status;
}

gufo_status gufo_ollama_import(const gufo_model *const *models, size_t count,
                               const gufo_ollama_import_options *options, const gufo_run *run,
                               gufo_error *error)
{
    static const gufo_ollama_import_options none = {0};
    gufo_error unseen;
    importing i = {.options = options != NULL ? options : &none,
                   .progress.run = run,
                   .error = error != NULL ? error : &unseen};
    gufo_status status = check_options(i.options, i.error);

    if (status != GUFO_OK)
        return status;
    i.allocator = *mem_allocator(i.options->allocator);
    i.store = (ollama_store){i.options->store, &i.allocator};
    status = import(&i, models, count);
    mem_free(&i.allocator, i.kinds);
    mem_free(&i.allocator, i.layers);
    return status;
}
