/* Which tensors of a checkpoint are parts of packed weights.
 *
 * A kind says what the parts of a weight are called.  A tensor with the name of its first part is a
 * weight if its type is one of those that the method packs; the name index finds the other parts. */
#include "import/packed/packed.h"

#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/containers/checkpoint.h"
#include "import/packed/cache.h"

enum { NAME_SIZE = 1024 }; /* of a part */

/* What becomes of a tensor of the checkpoint. */
typedef enum part_role { ROLE_KEPT, ROLE_WEIGHT, ROLE_PART, ROLE_DROPPED } part_role;

typedef struct finding {
    packed_set *set;
    checkpoint *checkpoint;
    uint8_t *roles; /* a part_role for each tensor */
} finding;

/* ---- methods that are not read -------------------------------------------------------------- */

/* Whether a tensor looks like part of a packed weight: its numbers are small or packed, or its name
 * says so. */
static bool looks_packed(const checkpoint_tensor *t)
{
    static const char *const names[] = {
        ".qweight",      ".qzeros",           ".scales",         ".g_idx",         ".weight_packed",
        ".weight_scale", ".weight_scale_inv", ".weight_scale_2", ".weight_blocks", "_blocks",
        "_scales",       ".qscale_weight",    ".absmax",         ".quant_map",     ".SCB",
    };
    const number_type *number = t->number;

    if (t->n_dims >= 2 &&
        (number->bits <= 8 || (number->kind == NUMBER_SIGNED && number->bits == 32)))
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_ends(t->name, names[i]))
            return true;
    return false;
}

static gufo_status refuse_packed(const finding *f, gufo_error *error)
{
    const packed_how *how = &f->set->how;
    char value[GUFO_QUOTE_SIZE + 2] = "";

    if (how->value[0] != '\0')
        (void)snprintf(value, sizeof value, ", %s", QUOTED(gufo_str_of(how->value)));

    for (uint64_t i = 0; i < f->checkpoint->tensor_count; i++) {
        const checkpoint_tensor *t = &f->checkpoint->tensors[i];

        if (looks_packed(t))
            return checkpoint_refuse(
                f->checkpoint, t, GUFO_E_TYPE, error,
                "quantized source (%s%s): tensor %s is part of a weight, and %s",
                QUOTED(gufo_str_of(how->name)), value, QUOTED(t->name),
                how->method != NULL ? how->method->refused : "gufo does not read this method");
    }
    return GUFO_OK;
}

/* ---- weights -------------------------------------------------------------------------------- */

/* Whether the type of a tensor is in a list of types. */
static bool has_type(const checkpoint_tensor *t, const char *types)
{
    const char *at = types != NULL ? strstr(types, t->number->name) : NULL;
    char end = at != NULL ? at[strlen(t->number->name)] : 'x';

    return types == NULL ||
           ((at == types || (at != NULL && at[-1] == ' ')) && (end == ' ' || end == '\0'));
}

/* The part of a module with this name; NULL: it does not exist. */
static const checkpoint_tensor *find_part(const finding *f, gufo_str module, const char *part)
{
    char name[NAME_SIZE];
    int len = snprintf(name, sizeof name, "%.*s%s", (int)module.len, module.data, part);

    return len > 0 && len < NAME_SIZE
               ? checkpoint_find(f->checkpoint, (gufo_str){name, (size_t)len})
               : NULL;
}

/* The first part that a weight of a kind lacks; NULL: it has all. */
static const char *missing_part(const finding *f, gufo_str module, const packed_kind *kind)
{
    for (uint32_t i = 1; i < kind->required; i++)
        if (find_part(f, module, kind->parts[i]) == NULL)
            return kind->parts[i];
    return NULL;
}

/* The kind of the weight whose first part a tensor is, and its module.  NULL: it is a plain tensor;
 * so is one that could be part of a weight by any name. */
static const packed_kind *kind_of(const finding *f, const checkpoint_tensor *t, gufo_str *module)
{
    const packed_choice *list = f->set->how.method->kinds;
    const packed_kind *incomplete = NULL;

    if (t->n_dims < 2 || t->name.len >= NAME_SIZE)
        return NULL;
    for (size_t i = 0; i < METHOD_KINDS && list[i].kind != NULL; i++) {
        const packed_kind *kind = list[i].kind;
        const char *first = kind->parts[0];
        gufo_str name = {t->name.data, t->name.len - strlen(first)};

        if (!str_ends(t->name, first) || !has_type(t, list[i].types))
            continue;
        *module = name;
        if (missing_part(f, name, kind) == NULL)
            return kind;
        if (*first != '\0' && incomplete == NULL)
            incomplete = kind;
    }
    if (incomplete != NULL)
        module->len = t->name.len - strlen(incomplete->parts[0]);
    return incomplete;
}

/* Marks the parts of a weight. */
static gufo_status mark_weight(finding *f, uint64_t index, gufo_error *error)
{
    const checkpoint *c = f->checkpoint;
    gufo_str module;
    const packed_kind *kind = kind_of(f, &c->tensors[index], &module);
    const char *missing = kind != NULL ? missing_part(f, module, kind) : NULL;

    if (kind == NULL)
        return GUFO_OK;
    if (missing != NULL)
        return checkpoint_refuse(f->checkpoint, &c->tensors[index], GUFO_E_MALFORMED, error,
                                 "weight %s (%s): its part %s is missing", QUOTED(module),
                                 kind->name, missing);
    f->set->count++;
    f->roles[index] = ROLE_WEIGHT;
    for (uint32_t i = 1; i < PACKED_PARTS && kind->parts[i] != NULL; i++) {
        const checkpoint_tensor *part = find_part(f, module, kind->parts[i]);

        if (part != NULL)
            f->roles[part - c->tensors] = ROLE_PART;
    }
    return GUFO_OK;
}

/* ---- what is left --------------------------------------------------------------------------- */

/* Scales of activations and caches, which readers of GGUF do not use. */
static const char *const dropped[] = {
    "activation_scale",
    ".qscale_act",
    ".input_scale",
    ".input_scale_ub",
    ".k_scale",
    ".v_scale",
    ".q_scale",
    ".prob_scale",
    ".output_scale",
    ".kv_scale",
    ".input_global_scale",
    ".input_zero_point",
};

static bool is_dropped(gufo_str name)
{
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
        if (str_ends(name, dropped[i]))
            return true;
    return false;
}

/* Whether a name is that of a part behind the first one, which no other tensor has; ".scales" is
 * also what AWQ calls factors of activation functions. */
static bool is_lone_part(const finding *f, gufo_str name)
{
    const packed_choice *list = f->set->how.method->kinds;

    for (size_t i = 0; i < METHOD_KINDS && list[i].kind != NULL; i++)
        for (uint32_t k = 1; k < PACKED_PARTS && list[i].kind->parts[k] != NULL; k++)
            if (str_ends(name, list[i].kind->parts[k]) && !str_ends(name, ".act.scales"))
                return true;
    return false;
}

static gufo_status mark_other(finding *f, uint64_t index, gufo_error *error)
{
    const checkpoint_tensor *t = &f->checkpoint->tensors[index];

    if (f->roles[index] != ROLE_KEPT)
        return GUFO_OK;
    if (is_dropped(t->name))
        f->roles[index] = ROLE_DROPPED;
    else if (is_lone_part(f, t->name))
        return checkpoint_refuse(f->checkpoint, t, GUFO_E_MALFORMED, error,
                                 "tensor %s is part of a weight (%s) whose other parts are missing",
                                 QUOTED(t->name), f->set->how.method->name);
    return GUFO_OK;
}

static gufo_status mark_all(finding *f, gufo_error *error)
{
    uint64_t count = f->checkpoint->tensor_count;
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < count && status == GUFO_OK; i++)
        if (f->roles[i] == ROLE_KEPT)
            status = mark_weight(f, i, error);
    for (uint64_t i = 0; i < count && status == GUFO_OK; i++)
        status = mark_other(f, i, error);
    return status;
}

/* ---- the new list --------------------------------------------------------------------------- */

static gufo_status open_weight(const finding *f, const checkpoint_tensor *t, packed_weight *w,
                               gufo_error *error)
{
    gufo_status status;

    *w = (packed_weight){.allocator = f->set->allocator,
                         .checkpoint = f->checkpoint,
                         .settings = f->set->how.settings,
                         .cache = f->set->cache,
                         .parts = {t},
                         .stacked = t->n_dims > 2};
    w->kind = kind_of(f, t, &w->module);
    for (uint32_t i = 1; i < PACKED_PARTS && w->kind->parts[i] != NULL; i++)
        w->parts[i] = find_part(f, w->module, w->kind->parts[i]);
    status = w->kind->open(w, error);
    if (status == GUFO_OK && (w->slices == 0 || w->rows == 0 || w->columns == 0))
        status = refuse(error, GUFO_E_MALFORMED, "it has no numbers");
    if (status == GUFO_OK && w->kind->find_type != NULL)
        status = w->kind->find_type(w, &w->type, error);
    return unpacked_fail(w, status, error);
}

/* NAME.weight, or where parts continue the name of a tensor, that name. */
static gufo_status name_weight(checkpoint *c, const packed_weight *w, gufo_str *out,
                               gufo_error *error)
{
    const char *end = w->kind->parts[0][0] == '.' ? ".weight" : "";
    size_t len = strlen(end);
    char *text;

    out->len = w->module.len + len;
    out->data = w->parts[0]->name.data;
    if (gufo_str_equal(*out, w->parts[0]->name))
        return GUFO_OK;
    text = checkpoint_memory(c, out->len + 1);
    if (text == NULL)
        return fail_memory(error);
    memcpy(text, w->module.data, w->module.len);
    memcpy(text + w->module.len, end, len);
    text[out->len] = '\0';
    out->data = text;
    return GUFO_OK;
}

/* Models that are not packed have the two axes the other way round. */
static gufo_status transpose(checkpoint *c, checkpoint_tensor *t, uint64_t *shape,
                             gufo_error *error)
{
    const uint32_t a = t->n_dims - 2u, b = t->n_dims - 1u;
    const uint64_t height = shape[a];
    uint64_t stride[CHECKPOINT_MAX_DIMS];

    checkpoint_tensor_strides(t, stride);
    stride[b] = stride[a];
    stride[a] = 1;
    shape[a] = shape[b];
    shape[b] = height;
    return checkpoint_set_strides(c, t, stride, error);
}

/* The tensor that the operations see. */
static gufo_status make_tensor(checkpoint *c, packed_weight *w, checkpoint_tensor *out,
                               gufo_error *error)
{
    const checkpoint_tensor *first = w->parts[0];
    uint64_t shape[CHECKPOINT_MAX_DIMS];
    uint8_t at = 0;
    gufo_status status;

    *out = (checkpoint_tensor){.number = number_by_name(gufo_str_of("F32")),
                               .file = first->file,
                               .offset = first->offset,
                               .packed = w};
    if (w->stacked)
        shape[at++] = w->slices;
    shape[at++] = w->rows;
    shape[at++] = w->columns;
    out->n_dims = at;
    status = name_weight(c, w, &out->name, error);
    if (status == GUFO_OK)
        status = tensor_shape(out, shape, first->offset, error);
    if (status == GUFO_OK && w->kind->transposed_stacks && w->stacked)
        status = transpose(c, out, shape, error);
    return status == GUFO_OK ? checkpoint_keep_shape(c, out, error) : status;
}

static gufo_status fill_list(finding *f, checkpoint_tensor *list, uint64_t *count,
                             gufo_error *error)
{
    checkpoint *c = f->checkpoint;
    uint64_t weights = 0;
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < c->tensor_count && status == GUFO_OK; i++) {
        packed_weight *w = &f->set->weights[weights];

        if (f->roles[i] == ROLE_KEPT)
            list[(*count)++] = c->tensors[i];
        if (f->roles[i] != ROLE_WEIGHT)
            continue;
        weights++;
        status = open_weight(f, &c->tensors[i], w, error);
        if (status == GUFO_OK)
            status = make_tensor(c, w, &list[(*count)++], error);
    }
    return status;
}

/* The weights take the places of their first parts. */
static gufo_status replace_parts(finding *f, gufo_error *error)
{
    checkpoint *c = f->checkpoint;
    checkpoint_tensor *list = mem_array(c->allocator, c->tensor_count, sizeof *list);
    uint64_t count = 0;
    gufo_status status = GUFO_OK;

    f->set->weights = mem_array(f->set->allocator, f->set->count, sizeof *f->set->weights);
    if (list == NULL || f->set->weights == NULL)
        status = fail_memory(error);
    if (status == GUFO_OK)
        status = fill_list(f, list, &count, error);
    if (status != GUFO_OK) {
        mem_free(c->allocator, list);
        return status;
    }
    f->set->files = c->tensors;
    c->tensor_room = c->tensor_count;
    c->tensors = list;
    c->tensor_count = count;
    name_index_free(&c->by_name, c->allocator);
    return checkpoint_index_names(c, error);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static gufo_status find_weights(finding *f, gufo_error *error)
{
    uint64_t count = f->checkpoint->tensor_count;
    gufo_status status;

    f->roles = mem_array(f->set->allocator, count, sizeof *f->roles);
    if (f->roles == NULL)
        return fail_memory(error);
    memset(f->roles, ROLE_KEPT, (size_t)count);
    status = mark_all(f, error);
    if (status == GUFO_OK)
        status = replace_parts(f, error);
    mem_free(f->set->allocator, f->roles);
    return status;
}

gufo_status packed_find(packed_set *set, checkpoint *c, const model_config *config,
                        gufo_error *error)
{
    finding f = {.set = set, .checkpoint = c};
    gufo_status status;

    *set = (packed_set){.allocator = c->allocator};
    status = method_open(&set->how, config, error);
    if (status != GUFO_OK || set->how.name[0] == '\0')
        return status;
    if (set->how.method == NULL || set->how.method->refused != NULL)
        return refuse_packed(&f, error);
    set->cache = packed_cache_new(set->allocator, error);
    return set->cache != NULL ? find_weights(&f, error) : GUFO_E_MEMORY;
}

void packed_free(packed_set *set)
{
    if (set->allocator != NULL) {
        packed_cache_free(set->cache);
        mem_free(set->allocator, set->weights);
        mem_free(set->allocator, set->files);
    }
    method_close(&set->how);
    *set = (packed_set){0};
}
