/* gufo_import_checkpoint: from the files of a framework to the model that they become.
 *
 *     files --checkpoint--> tensors --operations--> tensor_plan --> document, job
 *     config.json --config--> keys -------------------------------> document
 *     tokenizer.* ----------> keys -------------------------------> document */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/run.h"
#include "import/architectures/operations/tensors.h"
#include "import/conversion/conversion.h"
#include "text/formats/json_tree.h"

/* ---- questions ------------------------------------------------------------------------------ */

static bool tensor_at(const gufo_import *base, uint64_t index, gufo_import_tensor *out)
{
    const conversion *c = (const conversion *)base;
    const planned_tensor *t;

    if (index >= c->plan.count)
        return false;
    t = &c->plan.tensors[index];
    *out = (gufo_import_tensor){.source = planned_source(t),
                                .name = gufo_str_of(t->name),
                                .from = t->packed != NULL ? t->packed->kind->name : t->type->name,
                                .to = t->type,
                                .packed = t->packed != NULL,
                                .measured = true,
                                .exact = true};
    return true;
}

static const char *part_at(const gufo_import *base, uint32_t index)
{
    const conversion *c = (const conversion *)base;

    return index < c->checkpoint.file_count ? c->checkpoint.files[index].path : NULL;
}

static void close_conversion(gufo_import *base)
{
    conversion *c = (conversion *)base;
    gufo_allocator allocator = base->allocator;

    tensor_plan_free(&c->plan);
    adapter_close(&c->adapter);
    config_close(&c->config);
    free(c->base_config);
    free(c->base_name);
    free(c->base_uuid);
    mem_free(&allocator, c->base_path);
    mem_free(&allocator, c->path);
    packed_free(&c->packed);
    checkpoint_close(&c->checkpoint);
    gufo_document_free(c->vocabulary);
    stored_close(&c->stored);
    json_decref(c->metadata);
    json_decref(c->origins);
    mem_free(&allocator, c);
}

const import_kind conversion_kind = {conversion_plan, tensor_at, part_at, close_conversion};

/* ---- opening -------------------------------------------------------------------------------- */

static bool is_generic(const conversion *c)
{
    return (c->options.flags & GUFO_CHECKPOINT_GENERIC) != 0;
}

static config_kind kind_of(const conversion *c)
{
    if ((c->options.flags & GUFO_CHECKPOINT_TOWER) != 0)
        return CONFIG_OF_TOWER;
    return is_generic(c) ? CONFIG_GENERIC : CONFIG_OF_MODEL;
}

static gufo_status conversion_make_documents(conversion *c, gufo_error *error)
{
    const gufo_document_options options = {.allocator = &c->base.allocator};

    c->base.document = gufo_document_new(&options, error);
    if (c->base.document != NULL)
        c->vocabulary = gufo_document_new(&options, error);
    if (c->vocabulary == NULL)
        return GUFO_E_MEMORY;
    c->origins = json_object();
    if (c->origins == NULL)
        return fail_memory(error);
    return gufo_document_set_text(c->base.document, "general.architecture", c->config.architecture,
                                  error);
}

static gufo_status plan_by_rules(conversion *c, uint64_t tokens, gufo_error *error)
{
    const tensors_request request = {.import = &c->base,
                                     .document = c->vocabulary,
                                     .checkpoint = &c->checkpoint,
                                     .config = &c->config,
                                     .tokens = tokens};

    return tensors_plan(&c->plan, &request, error);
}

/* Readers have a row of the embedding for each token. */
static gufo_status compare_tokens(conversion *c, uint64_t tokens, gufo_error *error)
{
    gufo_document_tensor embedding;

    if (tokens == 0 ||
        !gufo_document_tensor_find(c->base.document, "token_embd.weight", NULL, &embedding) ||
        embedding.n_dims < 2 || embedding.dims[1] == tokens)
        return GUFO_OK;
    return import_warn(&c->base, error,
                       "the embedding has %s rows, but the vocabulary has %s tokens",
                       GROUPED(embedding.dims[1]), GROUPED(tokens));
}

static gufo_status plan_tensors(conversion *c, uint64_t tokens, gufo_error *error)
{
    gufo_status status;

    if (!c->has_tensors)
        return GUFO_OK;
    status = is_generic(c)
                 ? tensors_plan_generic(&c->plan, &c->base, &c->checkpoint, &c->config, error)
                 : plan_by_rules(c, tokens, error);
    if (status == GUFO_OK && c->plan.is_assumed && stored_type(&c->stored) != NULL)
        c->plan.first_type = stored_type(&c->stored);
    if (status == GUFO_OK)
        status = stored_sort_tensors(&c->stored, &c->plan, error);
    if (status == GUFO_OK)
        status = conversion_add_tensors(c, error);
    if (status == GUFO_OK && c->checkpoint.skipped > 0)
        status = import_warn(&c->base, error,
                             "%s entries of the checkpoint are not tensors: they are "
                             "skipped",
                             GROUPED(c->checkpoint.skipped));
    return status == GUFO_OK ? compare_tokens(c, tokens, error) : status;
}

/* How weights were packed, if any were. */
static void set_packed(const conversion *c, gufo_import_facts *facts)
{
    facts->packed = c->packed.count;
    facts->quantized = c->packed.count > 0 ? c->packed.how.method->name : NULL;
    for (uint64_t i = 0; i < c->packed.count; i++)
        facts->repacked += c->packed.weights[i].type != NULL;
}

static void set_facts(conversion *c, uint64_t tokens)
{
    gufo_import_facts *facts = &c->base.facts;

    set_packed(c, facts);
    facts->origin = c->is_adapter ? GUFO_IMPORT_ADAPTER : GUFO_IMPORT_CHECKPOINT;
    facts->family = c->config.architecture;
    facts->container = c->checkpoint.container;
    facts->parts = c->checkpoint.file_count;
    facts->vocabulary = tokens;
    facts->called = c->called;
    facts->base_called = c->base_path != NULL ? c->base_called : NULL;
    for (uint32_t i = 0; i < c->checkpoint.file_count; i++)
        facts->size += c->checkpoint.files[i].source.size;
}

static gufo_status conversion_sort_keys(conversion *c, gufo_error *error)
{
    gufo_document *before = c->base.document, *sorted;
    gufo_status status = stored_sort(&c->stored, before, &c->base.allocator, &sorted, error);

    if (status != GUFO_OK || sorted == NULL)
        return status;
    c->base.document = sorted;
    gufo_document_free(before);
    return c->has_tensors ? conversion_add_tensors(c, error) : GUFO_OK;
}

static gufo_import *open_place(const model_place *place, char *path,
                               const gufo_checkpoint_options *options, bool is_base,
                               gufo_error *error);

/* Takes the name and the weights of a base that is a folder; mostly its tensors are there. */
static gufo_status look_at_base(conversion *c, gufo_error *error)
{
    const gufo_checkpoint_options options = {.allocator = &c->base.allocator,
                                             .arch = c->options.arch,
                                             .memory = c->bounds.left,
                                             .flags = (c->options.flags & GUFO_CHECKPOINT_FOLLOW) |
                                                      GUFO_CHECKPOINT_NO_VOCABULARY |
                                                      GUFO_CHECKPOINT_NO_CHECK};
    gufo_error reason = {.code = GUFO_OK};
    gufo_import *base;
    gufo_status status;

    if (c->base_path == NULL || c->bounds.left == 0 || checkpoint_recognise(&c->base_place) == NULL)
        return GUFO_OK;
    base = open_place(&c->base_place, NULL, &options, true, &reason);
    status = base != NULL ? conversion_take_base(c, gufo_import_model(base), &reason) : reason.code;
    gufo_import_free(base);
    if (status == GUFO_E_MEMORY)
        return fail_as(error, &reason);
    return status == GUFO_OK
               ? GUFO_OK
               : import_warn(&c->base, error,
                             "the adapter does not say which weights its base has: %s",
                             reason.message);
}

/* What the configuration that is open could not say. */
static gufo_status warn_of_unread(conversion *c, gufo_error *error)
{
    return c->config.unread == NULL
               ? GUFO_OK
               : import_warn(&c->base, error, "generation_config.json is left out: %s",
                             c->config.unread);
}

/* The keys, and the model that all of it is; tensors are in the document. */
static gufo_status finish(conversion *c, uint64_t tokens, gufo_error *error)
{
    gufo_status status;

    set_facts(c, tokens); /* some become keys */
    status = conversion_set_keys(c, error);
    if (status == GUFO_OK)
        status = conversion_sort_keys(c, error);
    if (status == GUFO_OK)
        status = import_open_model(&c->base, error);
    return status == GUFO_OK ? conversion_judge(c, error) : status;
}

/* Whether to go on after one of the steps that take long. */
static gufo_status note_step(const conversion *c, uint64_t done, gufo_error *error)
{
    enum { STEPS = 4 };

    return c->options.run != NULL ? run_progress(c->options.run, done, STEPS, error) : GUFO_OK;
}

/* The files of tensors, if any are wanted, are open. */
static gufo_status open_checkpoint(conversion *c, gufo_error *error)
{
    uint64_t tokens = 0;
    gufo_status status;

    if (c->options.base != NULL)
        return refuse(error, GUFO_E_ARGUMENT, "only an adapter has a base; this is not an adapter");
    status = config_open(&c->config, &c->place.folder, c->options.arch, kind_of(c), &c->bounds,
                         &c->base.allocator, error);
    if (status == GUFO_OK && c->has_tensors && !is_tower(c))
        status = packed_find(&c->packed, &c->checkpoint, &c->config, error);
    if (status == GUFO_OK)
        status = warn_of_unread(c, error);
    if (status == GUFO_OK)
        status = stored_open(&c->stored, &c->config, &c->base.allocator, error);
    if (status == GUFO_OK)
        status = conversion_make_documents(c, error);
    if (status == GUFO_OK)
        status = note_step(c, 1, error);
    if (status == GUFO_OK)
        status = conversion_read_vocabulary(c, &tokens, error);
    if (status == GUFO_OK)
        status = note_step(c, 2, error);
    if (status == GUFO_OK)
        status = plan_tensors(c, tokens, error);
    if (status == GUFO_OK)
        status = note_step(c, 3, error);
    if (status == GUFO_OK)
        status = finish(c, tokens, error);
    return status == GUFO_OK ? note_step(c, 4, error) : status;
}

static gufo_status open_adapter(conversion *c, gufo_error *error)
{
    gufo_status status;

    if (c->is_base)
        return refuse(error, GUFO_E_ARGUMENT, "it is an adapter itself");
    status = conversion_open_adapter(c, error);
    if (status == GUFO_OK)
        status = look_at_base(c, error);
    if (status == GUFO_OK)
        status = warn_of_unread(c, error);
    if (status == GUFO_OK)
        status = conversion_make_documents(c, error);
    if (status == GUFO_OK)
        status = conversion_plan_adapter(c, error);
    return status == GUFO_OK ? finish(c, 0, error) : status;
}

static gufo_status open_files(conversion *c, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    if (c->has_tensors)
        status = checkpoint_open(&c->checkpoint, &c->place, &c->bounds, &c->base.allocator, error);
    if (status != GUFO_OK)
        return status;
    c->is_adapter = c->has_tensors && c->checkpoint.layout == CHECKPOINT_ADAPTER &&
                    kind_of(c) == CONFIG_OF_MODEL;
    return c->is_adapter ? open_adapter(c, error) : open_checkpoint(c, error);
}

static gufo_status check_called(const char *called, const char *option, gufo_error *error)
{
    folder_name name;

    return called == NULL || folder_name_parse(gufo_str_of(called), &name)
               ? GUFO_OK
               : refuse(error, GUFO_E_ARGUMENT,
                        "gufo_checkpoint_options.%s is not what a folder is called: %s", option,
                        QUOTED(gufo_str_of(called)));
}

static gufo_status check_options(const gufo_checkpoint_options *o, gufo_error *error)
{
    const uint32_t both = GUFO_CHECKPOINT_NO_VOCABULARY | GUFO_CHECKPOINT_VOCABULARY_ONLY,
                   known = both | GUFO_CHECKPOINT_GENERIC | GUFO_CHECKPOINT_KEEP_TOKENIZER |
                           GUFO_CHECKPOINT_KEEP_WORLD | GUFO_CHECKPOINT_FOLLOW |
                           GUFO_CHECKPOINT_FORCE_CONFIG | GUFO_CHECKPOINT_NO_CHECK |
                           GUFO_CHECKPOINT_TOWER;

    if (flags_check(o->flags, known, "gufo_checkpoint_options", error) != GUFO_OK)
        return GUFO_E_ARGUMENT;
    if ((o->flags & both) == both)
        return refuse(error, GUFO_E_ARGUMENT, "neither tensors nor a vocabulary are requested");
    if ((o->flags & GUFO_CHECKPOINT_GENERIC) != 0 && o->arch == NULL)
        return refuse(error, GUFO_E_ARGUMENT,
                      "an architecture without rules needs a name: gufo_checkpoint_options.arch");
    if ((o->flags & GUFO_CHECKPOINT_TOWER) != 0 &&
        (o->arch != NULL || (o->flags & GUFO_CHECKPOINT_VOCABULARY_ONLY) != 0))
        return refuse(error, GUFO_E_ARGUMENT,
                      "the class alone says what a tower is, and it has no vocabulary");
    if (check_called(o->called, "called", error) != GUFO_OK ||
        check_called(o->base_called, "base_called", error) != GUFO_OK)
        return GUFO_E_ARGUMENT;
    if (o->run != NULL && run_check(o->run, error) != GUFO_OK)
        return GUFO_E_ARGUMENT;
    if (o->folder != NULL && (o->folder->name_at == NULL || o->folder->open == NULL ||
                              reserved_check(o->folder->reserved, "gufo_folder", error) != GUFO_OK))
        return refuse(error, GUFO_E_ARGUMENT,
                      "gufo_checkpoint_options.folder lacks a function, or "
                      "has one of a later version");
    return reserved_check((const uint64_t[4]){o->reserved[0], o->reserved[1], o->reserved[2]},
                          "gufo_checkpoint_options", error);
}

/* Takes over `path`, which the place may be of. */
static gufo_import *open_place(const model_place *place, char *path,
                               const gufo_checkpoint_options *options, bool is_base,
                               gufo_error *error)
{
    conversion *c = mem_object(options->allocator, sizeof *c, error);

    if (c == NULL) {
        mem_free(mem_allocator(options->allocator), path);
        return NULL;
    }
    c->is_base = is_base;
    c->base.kind = &conversion_kind;
    c->options = *options;
    c->place = *place;
    c->path = path;
    folder_name_settle(&c->place.folder, options->called, c->called);
    c->bounds.left = options->memory > 0 ? options->memory : JSON_TREE_MEMORY;
    c->has_tensors = (options->flags & GUFO_CHECKPOINT_VOCABULARY_ONLY) == 0;
    if ((options->flags & GUFO_CHECKPOINT_TOWER) != 0)
        c->options.flags |= GUFO_CHECKPOINT_NO_VOCABULARY;
    if (open_files(c, error) == GUFO_OK)
        return &c->base;
    model_place_fail_in(place, error);
    gufo_import_free(&c->base);
    return NULL;
}

gufo_import *conversion_open(const model_place *place, const gufo_checkpoint_options *options,
                             gufo_error *error)
{
    return check_options(options, error) == GUFO_OK ? open_place(place, NULL, options, false, error)
                                                    : NULL;
}

gufo_import *gufo_import_checkpoint(const char *path, const gufo_checkpoint_options *options,
                                    gufo_error *error)
{
    static const gufo_checkpoint_options none = {0};
    model_place place;
    char *own;

    if (options == NULL)
        options = &none;
    if (path == NULL) {
        (void)refuse(error, GUFO_E_ARGUMENT, "the path is missing");
        return NULL;
    }
    if (check_options(options, error) != GUFO_OK)
        return NULL;
    own = mem_text(mem_allocator(options->allocator), gufo_str_of(path));
    if (own == NULL) {
        (void)fail_memory(error);
        return NULL;
    }
    if (options->folder != NULL)
        place = (model_place){.folder = source_folder_user(options->folder, gufo_str_of(own))};
    else
        place = model_place_of(own, (options->flags & GUFO_CHECKPOINT_FOLLOW) != 0);
    return open_place(&place, own, options, false, error);
}

const char *gufo_checkpoint_recognise(const char *path)
{
    const model_place place = model_place_of(path, false);

    return checkpoint_recognise(&place);
}

/* The entries of a conversion without its tensors: what the files of an export would become. */

static gufo_status try_all(conversion *c, const memory_files *files, gufo_error *error)
{
    const source_folder folder = source_folder_memory(files);
    uint64_t tokens;
    gufo_status status =
        config_open(&c->config, &folder, NULL, CONFIG_OF_MODEL, NULL, &c->base.allocator, error);

    if (status == GUFO_OK)
        status = stored_open(&c->stored, &c->config, &c->base.allocator, error);
    if (status == GUFO_OK)
        status = conversion_make_documents(c, error);
    if (status == GUFO_OK)
        status = conversion_read_vocabulary(c, &tokens, error);
    if (status == GUFO_OK)
        status = conversion_set_keys(c, error);
    return status == GUFO_OK ? conversion_sort_keys(c, error) : status;
}

gufo_status conversion_try(const memory_files *files, json_t *failed,
                           const gufo_allocator *allocator, gufo_document **out, gufo_error *error)
{
    conversion *c = mem_object(allocator, sizeof *c, error);
    gufo_status status;

    *out = NULL;
    if (c == NULL)
        return GUFO_E_MEMORY;
    c->base.kind = &conversion_kind;
    c->failed = failed;
    status = try_all(c, files, error);
    if (status == GUFO_OK) {
        *out = c->base.document;
        c->base.document = NULL;
    }
    gufo_import_free(&c->base);
    return status;
}
