/* The tensors of a document. */
#include "format/document/document.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "codec/interleaved.h"
#include "format/rules/rules.h"

/* ---- looking -------------------------------------------------------------------------------- */

/* All shards have one byte order; to ask the whole set takes a look at each of them. */
static bool is_swapped(const gufo_model *from, gufo_byte_order order)
{
    return from != NULL && gufo_model_facts(gufo_model_shard(from, 0)).byte_order != order;
}

/* Always true: there is a tensor. */
static bool show(const gufo_document *document, const document_tensor *t, gufo_document_tensor *out)
{
    const gufo_model *from = document_tensor_from(document, t);

    if (out == NULL)
        return true;
    *out = (gufo_document_tensor){
        .name = t->named.name,
        .type = t->type,
        .n_dims = t->n_dims,
        .size = t->size,
        .from = from,
        .origin = from != NULL ? t->origin : GUFO_NO_ORIGIN,
        .swapped = is_swapped(from, (gufo_byte_order)document->encoding.byte_order),
        .offset = document->laid_out ? t->offset : GUFO_NO_OFFSET};
    memcpy(out->dims, t->dims, sizeof out->dims);
    return true;
}

uint64_t gufo_document_tensor_count(const gufo_document *document)
{
    return document->tensors.count;
}

bool gufo_document_tensor_at(const gufo_document *document, uint64_t index,
                             gufo_document_tensor *out)
{
    uint64_t slot;

    return named_list_seek(&document->tensors, index, &slot) &&
           show(document, document_tensor_in(document, slot), out);
}

bool gufo_document_tensor_find(const gufo_document *document, const char *name, uint64_t *index,
                               gufo_document_tensor *out)
{
    return gufo_document_tensor_find_str(document, gufo_str_of(name), index, out);
}

bool gufo_document_tensor_find_str(const gufo_document *document, gufo_str name, uint64_t *index,
                                   gufo_document_tensor *out)
{
    uint64_t slot;

    if (!named_list_find(&document->tensors, name, &slot))
        return false;
    if (index != NULL)
        *index = named_list_position(&document->tensors, slot);
    return show(document, document_tensor_in(document, slot), out);
}

/* ---- adding --------------------------------------------------------------------------------- */

/* Sets dimensions that are checked. */
static gufo_status set_dims(gufo_document *document, document_tensor *t, uint32_t n_dims,
                            const uint64_t *dims, gufo_error *error)
{
    uint64_t shape[GUFO_MAX_DIMS] = {1, 1, 1, 1};

    for (uint32_t i = 0; i < n_dims; i++)
        shape[i] = dims[i];
    t->n_dims = n_dims;
    t->dims = shapes_share(&document->shapes, shape, &document->allocator);
    return t->dims != NULL ? GUFO_OK : fail_memory(error);
}

/* Lists a tensor whose facts are checked.  Its name is copied if `owned`. */
static gufo_status add_tensor(gufo_document *document, gufo_str name, bool owned,
                              const document_tensor *facts, gufo_error *error)
{
    gufo_status status;
    uint64_t ignored;

    if (named_list_find(&document->tensors, name, &ignored))
        return rule_failure(error, RULE_NAME_DUPLICATE, "tensor %s was added before", QUOTED(name));
    if (document->tensors.count >= GUFO_MAX_COUNT)
        return rule_failure(error, RULE_COUNT_LIMIT, "too many tensors");
    status = named_list_add(&document->tensors, name, owned, facts, error);
    if (status != GUFO_OK)
        return status;
    document->infos_size += document_info_size(name, facts->n_dims);
    document_touch(document);
    return GUFO_OK;
}

/* Checks the facts of a tensor that came from no model, and lists it. */
static gufo_status add_new(gufo_document *document, gufo_str name, bool owned, uint32_t n_dims,
                           const uint64_t *dims, content_rules rules, document_tensor *facts,
                           gufo_error *error)
{
    gufo_status status = content_check_name(name, rules, error);

    if (status == GUFO_OK && n_dims > 0 && dims == NULL)
        status = refuse(error, GUFO_E_ARGUMENT, "the list of dims is missing");
    if (status == GUFO_OK)
        status = content_check_shape(name, facts->type, n_dims, dims, &facts->size, rules, error);
    if (status == GUFO_OK)
        status = set_dims(document, facts, n_dims, dims, error);
    return status == GUFO_OK ? add_tensor(document, name, owned, facts, error) : status;
}

/* A type whose size follows from dims. */
static gufo_status check_type(const gufo_element_type *type, content_rules rules, gufo_error *error)
{
    if (type == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "the element type is missing");
    /* Such types are no longer part of the format, as the error for new tensors says. */
    if (type->block_elements == 0 && rules != CONTENT_NEW)
        return refuse(error, GUFO_E_ARGUMENT, "the layout of element type %s is not known",
                      type->name);
    return GUFO_OK;
}

gufo_status gufo_document_add_tensor(gufo_document *document, const char *name,
                                     const gufo_element_type *type, uint32_t n_dims,
                                     const uint64_t *dims, gufo_error *error)
{
    return gufo_document_add_tensor_str(document, gufo_str_of(name), type, n_dims, dims, error);
}

gufo_status gufo_document_add_tensor_str(gufo_document *document, gufo_str name,
                                         const gufo_element_type *type, uint32_t n_dims,
                                         const uint64_t *dims, gufo_error *error)
{
    gufo_status status = check_type(type, document->rules, error);
    document_tensor facts = {.type = type != NULL ? type->id : 0};

    return status == GUFO_OK
               ? add_new(document, name, true, n_dims, dims, document->rules, &facts, error)
               : status;
}

gufo_status gufo_document_add_raw_tensor(gufo_document *document, const char *name, uint32_t type,
                                         uint32_t n_dims, const uint64_t *dims, uint64_t size,
                                         gufo_error *error)
{
    return gufo_document_add_raw_tensor_str(document, gufo_str_of(name), type, n_dims, dims, size,
                                            error);
}

gufo_status gufo_document_add_raw_tensor_str(gufo_document *document, gufo_str name, uint32_t type,
                                             uint32_t n_dims, const uint64_t *dims, uint64_t size,
                                             gufo_error *error)
{
    document_tensor facts = {.type = type, .size = size};

    return add_new(document, name, true, n_dims, dims, document_copy_rules(document), &facts,
                   error);
}

gufo_status document_lend_tensor(gufo_document *document, gufo_str name, uint32_t type,
                                 uint32_t n_dims, const uint64_t *dims, uint64_t size,
                                 gufo_error *error)
{
    document_tensor facts = {.type = type, .size = size};

    return add_new(document, name, false, n_dims, dims, document->rules, &facts, error);
}

/* ---- copying -------------------------------------------------------------------------------- */

/* Whether the numbers inside a tensor can be found, so that its bytes can be swapped. */
static gufo_status check_swap(const gufo_tensor *t, gufo_error *error)
{
    const gufo_element_type *type = gufo_element_type_by_id(t->type);
    const interleaved *groups = interleaved_find(t->type);

    if (type == NULL || type->block_elements == 0)
        return fail_with(error, GUFO_E_TYPE, t->info_offset,
                         "tensor %s has element type %" PRIu32
                         "%s%s%s, whose layout is not known: its byte order cannot be swapped",
                         QUOTED(t->name), t->type, type != NULL ? " (" : "",
                         type != NULL ? type->name : "", type != NULL ? ")" : "");
    if (groups != NULL && t->size / type->block_bytes % groups->rows != 0)
        return fail_with(error, GUFO_E_TYPE, t->info_offset,
                         "tensor %s has blocks of %s, which come in groups of %" PRIu32
                         ", but not whole groups",
                         QUOTED(t->name), type->name, groups->rows);
    return GUFO_OK;
}

gufo_status document_check_order(const gufo_document *document, gufo_byte_order order,
                                 gufo_error *error)
{
    gufo_status status = GUFO_OK;
    const document_tensor *t;
    gufo_tensor tensor;
    uint64_t slot = 0;

    while (status == GUFO_OK && (t = named_list_next(&document->tensors, &slot)) != NULL) {
        const gufo_model *from = document_tensor_from(document, t);

        if (!is_swapped(from, order))
            continue;
        status = model_tensor_at(from, t->origin, &tensor, error);
        /* What gets another type is decoded, and needs no swapping. */
        if (status == GUFO_OK && tensor.type == t->type)
            status = check_swap(&tensor, error);
    }
    return status;
}

/* Dims or offset make no sense, which only a lenient open lets in. */
static bool is_damaged(const gufo_model *model, uint64_t index, const gufo_tensor *t)
{
    const gufo_model *shard = gufo_model_shard(model, t->shard);
    uint64_t first = model_is_set(model) ? shard->first : 0;

    return shard->file != NULL &&
           (file_tensor(shard->file, index - first)->flags & TENSOR_UNUSABLE) != 0;
}

/* A model of which nothing was copied may be closed. */
static gufo_status add_copied(gufo_document *document, gufo_str name, const gufo_model *from,
                              document_tensor *facts, gufo_error *error)
{
    uint64_t models = document->models.count;
    gufo_status status = document_note_model(document, from, error);

    facts->model = (uint32_t)document->models.count; /* entries and tensors are fewer */
    if (status == GUFO_OK)
        status = add_tensor(document, name, false, facts, error);
    if (status != GUFO_OK)
        document_forget_models(document, models);
    return status;
}

static gufo_status copy_tensor(gufo_document *document, const gufo_model *model, uint64_t index,
                               const gufo_tensor *t, gufo_error *error)
{
    content_rules rules = document_copy_rules(document);
    document_tensor facts = {.origin = (uint32_t)index, .type = t->type, .size = t->size};
    gufo_status status;

    if (index > UINT32_MAX)
        return rule_failure(error, RULE_COUNT_LIMIT, "too many tensors");
    if (is_damaged(model, index, t))
        return fail_with(error, GUFO_E_MALFORMED, t->info_offset,
                         "tensor %s is damaged and cannot be copied", QUOTED(t->name));
    status = content_check_name(t->name, rules, error);
    if (status == GUFO_OK)
        status =
            content_check_shape(t->name, t->type, t->n_dims, t->dims, &facts.size, rules, error);
    if (status == GUFO_OK)
        status = set_dims(document, &facts, t->n_dims, t->dims, error);
    if (status == GUFO_OK && is_swapped(model, (gufo_byte_order)document->encoding.byte_order))
        status = check_swap(t, error);
    return status == GUFO_OK ? add_copied(document, t->name, model, &facts, error) : status;
}

gufo_status gufo_document_copy_tensor(gufo_document *document, const gufo_model *model,
                                      uint64_t index, gufo_error *error)
{
    gufo_status status;
    gufo_tensor t;

    if (model == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "the model is missing");
    if (index >= gufo_model_tensor_count(model))
        return model_fail(model, refuse(error, GUFO_E_RANGE, "no tensor %" PRIu64, index), error);
    status = model_tensor_at(model, index, &t, error);
    if (status != GUFO_OK)
        return status;
    return model_fail(model_holding(model, &t), copy_tensor(document, model, index, &t, error),
                      error);
}

gufo_status gufo_document_copy_tensors(gufo_document *document, const gufo_model *model,
                                       gufo_select_fn *select, void *context, uint64_t *copied,
                                       gufo_error *error)
{
    gufo_status status = GUFO_OK;
    uint64_t ignored;
    gufo_tensor t;

    copied = copied != NULL ? copied : &ignored;
    *copied = 0;
    if (model == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "the model is missing");
    for (uint64_t i = 0; status == GUFO_OK && i < gufo_model_tensor_count(model); i++) {
        status = model_tensor_at(model, i, &t, error);
        if (status != GUFO_OK || (select != NULL && !select(context, t.name)))
            continue;
        status = gufo_document_copy_tensor(document, model, i, error);
        *copied += status == GUFO_OK;
    }
    return status;
}

/* ---- changing ------------------------------------------------------------------------------- */

gufo_status gufo_document_rename_tensor(gufo_document *document, const char *from, const char *to,
                                        gufo_error *error)
{
    return gufo_document_rename_tensor_str(document, gufo_str_of(from), gufo_str_of(to), error);
}

gufo_status gufo_document_rename_tensor_str(gufo_document *document, gufo_str from, gufo_str to,
                                            gufo_error *error)
{
    gufo_status status = content_check_name(to, document->rules, error);
    uint64_t slot;

    if (status == GUFO_OK)
        status = named_list_check_rename(&document->tensors, from, to, &slot, error);
    if (status != GUFO_OK || gufo_str_equal(from, to))
        return status;
    status = named_list_rename(&document->tensors, slot, to, error);
    if (status != GUFO_OK)
        return status;
    document->infos_size = document->infos_size - from.len + to.len;
    document_touch(document);
    return GUFO_OK;
}

gufo_status gufo_document_retype(gufo_document *document, const char *name,
                                 const gufo_element_type *type, gufo_error *error)
{
    return gufo_document_retype_str(document, gufo_str_of(name), type, error);
}

gufo_status gufo_document_retype_str(gufo_document *document, gufo_str name,
                                     const gufo_element_type *type, gufo_error *error)
{
    gufo_status status = check_type(type, document->rules, error);
    uint64_t slot, size = 0;
    document_tensor *t;

    if (status == GUFO_OK)
        status = named_list_need(&document->tensors, name, &slot, error);
    if (status != GUFO_OK)
        return status;
    t = document_tensor_in(document, slot);
    if (t->type == type->id)
        return GUFO_OK;
    status = content_check_shape(name, type->id, t->n_dims, t->dims, &size, document->rules, error);
    if (status != GUFO_OK)
        return status;
    t->type = type->id;
    t->size = size;
    document_touch(document);
    return GUFO_OK;
}

void document_drop_tensor(void *document, void *tensor)
{
    const document_tensor *t = tensor;
    gufo_document *d = document;

    d->infos_size -= document_info_size(t->named.name, t->n_dims);
    document_touch(d);
}

void document_forget_tensors(gufo_document *document)
{
    document->tensors.drop = NULL; /* the header stays */
    named_list_free(&document->tensors);
    shapes_free(&document->shapes, &document->allocator);
}

bool gufo_document_drop_tensor(gufo_document *document, const char *name)
{
    return gufo_document_drop_tensor_str(document, gufo_str_of(name));
}

bool gufo_document_drop_tensor_str(gufo_document *document, gufo_str name)
{
    return named_list_remove_name(&document->tensors, name);
}

void gufo_document_drop_tensors(gufo_document *document, gufo_select_fn *select, void *context,
                                uint64_t *dropped)
{
    uint64_t count = named_list_remove_all(&document->tensors, select, context);

    if (dropped != NULL)
        *dropped = count;
}
