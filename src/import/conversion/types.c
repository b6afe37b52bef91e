/* Element types of a conversion: what each tensor becomes when a checkpoint is converted to a plain
 * type, as converters do.  Recipes, which decide about all other targets, keep more tensors as they
 * are. */
#include <string.h>

#include "import/conversion/conversion.h"
#include "import/general/file_name.h"
#include "schema/name/suggest.h"

/* The targets, and the parts of names of tensors that they leave to F16. */
static const uint32_t targets[] = {GUFO_TYPE_F32,  GUFO_TYPE_F16,   GUFO_TYPE_BF16,
                                   GUFO_TYPE_Q8_0, GUFO_TYPE_TQ1_0, GUFO_TYPE_TQ2_0};
static const char *const kept_from_ternary[] = {
    "token_embd.", "per_layer_token_embd.", "output.", "altup_router.", "laurel_l.", "laurel_r."};

static bool is_target(const gufo_quantize_target *target)
{
    for (size_t i = 0; target->base_type != NULL && i < sizeof targets / sizeof *targets; i++)
        if (targets[i] == target->base_type->id)
            return true;
    return false;
}

/* Whether a name is such a part and a suffix, behind "blk.N." or not. */
static bool is_kept_from_ternary(const char *name)
{
    for (size_t i = 0; i < sizeof kept_from_ternary / sizeof *kept_from_ternary; i++) {
        const char *at = strstr(name, kept_from_ternary[i]);

        if (at != NULL && (at == name || at[-1] == '.'))
            return true;
    }
    return false;
}

static const gufo_element_type *type_for(const planned_tensor *t, const gufo_element_type *wanted)
{
    const gufo_element_type *half = gufo_element_type_by_id(GUFO_TYPE_F16);
    bool ternary = wanted->id == GUFO_TYPE_TQ1_0 || wanted->id == GUFO_TYPE_TQ2_0;

    /* Floats of 4 bits stay, as in files that are converted to F16 elsewhere. */
    if (t->keeps_type || t->comes_first)
        return t->type;
    if (ternary && is_kept_from_ternary(t->name))
        return half;
    return t->dims[0] % wanted->block_elements == 0 ? wanted : half;
}

const gufo_element_type *gufo_import_type(void *import, const gufo_quantize_target *target,
                                          gufo_str name)
{
    const conversion *c = conversion_of(import);
    uint64_t index;

    if (c == NULL || !is_target(target) ||
        !gufo_document_tensor_find(c->base.document, name, &index, NULL))
        return NULL;
    return type_for(&c->plan.tensors[index], target->base_type);
}

gufo_status gufo_import_file_name(const gufo_import *import, const char *type,
                                  char out[GUFO_NAME_SIZE], gufo_error *error)
{
    char encoding[GUFO_NAME_SIZE];

    (void)file_name_fill(encoding, sizeof encoding, gufo_str_of("{FTYPE}"),
                         type != NULL ? type : "");
    return name_suggest_as(import->opened, encoding, out, error);
}

const gufo_element_type *gufo_import_main_type(const gufo_import *import)
{
    const conversion *c = conversion_of(import);

    if (c != NULL && c->is_adapter)
        return gufo_element_type_by_id(GUFO_TYPE_F32);
    return c != NULL && c->plan.first_type != NULL ? c->plan.first_type
                                                   : gufo_element_type_by_id(GUFO_TYPE_F16);
}
