/* Which tensors are written, and of what type.
 *
 *     names.c     a checkpoint is made up from the names and shapes of the model's tensors
 *     invert.c    its conversion is planned, and inverted
 *     here        warnings of what is lost, the choice of types, the order of names */
#include "import/export/tensors.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "gufo/schema.h"

/* ---- what is lost --------------------------------------------------------------------------- */

static gufo_status check_tensor(export_plan *p, uint64_t index, gufo_error *error)
{
    gufo_tensor t;

    (void)gufo_model_tensor_at(p->model, index, &t);
    if (p->inversion.given[index])
        return GUFO_OK;
    if (p->inversion.differs[index] || names_is_generated(t.name))
        return export_warn(&p->files, error,
                           "tensor %s is not exported: config.json cannot say its numbers",
                           QUOTED(t.name));
    return refuse(error, GUFO_E_TYPE,
                  "tensor %s of the architecture %s has no name in the frameworks that gufo knows",
                  QUOTED(t.name), p->config.architecture);
}

/* ---- types ---------------------------------------------------------------------------------- */

static const number_type *number_of(const gufo_element_type *type)
{
    const number_type *number;

    for (size_t i = 0; (number = number_at(i)) != NULL; i++)
        if (number->type >= 0 && (uint32_t)number->type == type->id)
            return number;
    return NULL;
}

/* The type of all numbers of a tensor of the checkpoint in the model; NULL: it has none, or several. */
static const gufo_element_type *type_in_model(const export_plan *p, uint64_t owner)
{
    const undoing *u = &p->inversion.undoings[owner];
    const gufo_element_type *type = NULL;

    for (uint64_t i = 0; i < u->box_count; i++) {
        gufo_tensor t;

        (void)gufo_model_tensor_at(p->model, p->inversion.boxes[u->first_box + i].tensor, &t);
        if (i > 0 && (type == NULL || type->id != t.type))
            return NULL;
        type = gufo_element_type_by_id(t.type);
    }
    return type;
}

/* *decoded: whether numbers are approximate already. */
static gufo_status choose_type(export_plan *p, export_tensor *t, const export_types *types,
                               bool *decoded, gufo_error *error)
{
    undoing *u = &p->inversion.undoings[t->owner];
    gufo_status status = GUFO_OK;
    const gufo_element_type *type = type_in_model(p, t->owner);
    bool exact = true, is_plain = u->box_count == 0 || (type != NULL && number_of(type) != NULL);

    *decoded = !is_plain;
    if (u->box_count == 0) /* numbers of a key */
        type = gufo_element_type_by_id(GUFO_TYPE_F32);
    if (u->ternary || (u->n_ops > 0 && !(u->exact && is_plain)))
        status = undo_choose_type(&p->inversion, u, &type, &exact, error);
    else if (!is_plain)
        type = types->decoded;
    else if (types->matrices != NULL && t->like->n_dims >= 2)
        type = types->matrices;
    if (type->id == GUFO_TYPE_BF16 && types->without_bf16)
        type = gufo_element_type_by_id(GUFO_TYPE_F32);
    t->type = type;
    t->number = number_of(type);
    t->size = t->like->elements * type->block_bytes; /* no more than its size as F32, or F64 */
    if (status != GUFO_OK || exact || !is_plain)
        return status;
    return export_warn(
        &p->files, error,
        "tensor %s: some of its numbers are not the same when they are converted again",
        QUOTED(t->like->name));
}

static int compare_names(const void *a, const void *b)
{
    const export_tensor *x = a, *y = b;
    const gufo_str left = x->like->name, right = y->like->name;
    int order = memcmp(left.data, right.data, (size_t)smaller(left.len, right.len));

    return order != 0 ? order : (left.len > right.len) - (left.len < right.len);
}

static gufo_status list_tensors(export_plan *p, const export_types *types, gufo_error *error)
{
    const checkpoint *c = &p->made.checkpoint;
    uint64_t quantized = 0;
    gufo_status status = GUFO_OK;

    p->tensors = mem_array(&p->allocator, c->tensor_count, sizeof *p->tensors);
    if (p->tensors == NULL)
        return fail_memory(error);
    for (p->count = 0; p->count < c->tensor_count && status == GUFO_OK; p->count++) {
        export_tensor *t = &p->tensors[p->count];
        bool decoded;

        *t = (export_tensor){.like = &c->tensors[p->count], .owner = p->count};
        status = choose_type(p, t, types, &decoded, error);
        quantized += decoded;
    }
    if (p->count > 0)
        qsort(p->tensors, (size_t)p->count, sizeof *p->tensors, compare_names);
    if (quantized == 0 || status != GUFO_OK)
        return status;
    return export_warn(&p->files, error, "%s tensors are quantized: they are decoded to %s",
                       GROUPED(quantized), types->decoded->name);
}

/* ---- the model ------------------------------------------------------------------------------ */

/* The number of tokens; the document of the import gets them, as some rules look for texts. */
static gufo_status read_tokens(export_plan *p, uint64_t *count, gufo_error *error)
{
    const gufo_document_options options = {.allocator = &p->allocator};
    gufo_entry entry;

    *count = 0;
    p->import.document = gufo_document_new(&options, error);
    if (p->import.document == NULL)
        return GUFO_E_MEMORY;
    if (!gufo_model_key_entry(p->model, "tokenizer.ggml.tokens", &entry) ||
        entry.value.type != GUFO_VALUE_ARRAY)
        return GUFO_OK;
    *count = entry.value.as.array.count;
    return gufo_document_set_entry(p->import.document, entry.key, &entry.value, error);
}

static gufo_status find_architecture(const gufo_model *model, char out[GUFO_NAME_SIZE],
                                     gufo_error *error)
{
    gufo_str name;
    gufo_status status = gufo_model_get_str(model, "general.architecture", &name, error);

    if (status != GUFO_OK)
        return status;
    if (name.len >= GUFO_NAME_SIZE || memchr(name.data, '\0', name.len) != NULL)
        return refuse(error, GUFO_E_TYPE, "no rules for the architecture %s", QUOTED(name));
    memcpy(out, name.data, name.len);
    out[name.len] = '\0';
    return GUFO_OK;
}

gufo_status export_plan_open(export_plan *p, const gufo_model *model, json_t *config,
                             const export_types *types, export_files *warnings,
                             const gufo_allocator *allocator, gufo_error *error)
{
    char architecture[GUFO_NAME_SIZE];
    uint64_t tokens = 0;
    gufo_status status;

    *p = (export_plan){.allocator = *mem_allocator(allocator), .model = model, .files = *warnings};
    *warnings = (export_files){.count = 0};
    p->import.allocator = p->allocator;
    status = find_architecture(model, architecture, error);
    if (status == GUFO_OK)
        status = config_open_made(&p->config, config, architecture, &p->allocator, error);
    if (status == GUFO_OK)
        status = read_tokens(p, &tokens, error);
    if (status == GUFO_OK)
        status = names_make_up(&p->made, model, &p->import, &p->config, tokens, error);
    if (status == GUFO_OK)
        status =
            inversion_open(&p->inversion, model, &p->made, &p->import, &p->config, tokens, error);
    for (uint64_t i = 0; i < gufo_model_tensor_count(model) && status == GUFO_OK; i++)
        status = check_tensor(p, i, error);
    if (status == GUFO_OK)
        status = copies_check(&p->inversion, error);
    return status == GUFO_OK ? list_tensors(p, types, error) : status;
}

void export_plan_close(export_plan *p)
{
    if (p->allocator.resize == NULL)
        return;
    mem_free(&p->allocator, p->tensors);
    inversion_free(&p->inversion);
    names_free(&p->made);
    if (p->config.allocator != NULL)
        config_close(&p->config);
    gufo_document_free(p->import.document);
    for (uint64_t i = 0; i < p->import.warning_count; i++)
        mem_free(&p->allocator, p->import.warnings[i]);
    mem_free(&p->allocator, (void *)p->import.warnings);
    export_files_free(&p->files);
    *p = (export_plan){.model = NULL};
}
