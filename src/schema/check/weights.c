/* What general.* says of the tensors: the version of quantization, and the file type.
 *
 * A file type is an element type and a mixture with others, which differs from model to model: of a
 * model whose queries, keys and values are one tensor, Q3_K_L makes a third Q3_K and a half Q5_K.
 * So it is contradicted only if hardly any weights have its element type.  What counts are the
 * weights of the blocks: embeddings and output have their own types in most mixtures (and are most
 * of a small model), vectors are never quantized, and a row that does not fill the blocks of a type
 * gets another one. */
#include "schema/check/check.h"

#include <inttypes.h>

#include "base/checked.h"
#include "base/text.h"
#include "schema/registry/tables.h"

/* ---- quantization version ------------------------------------------------------------------- */

static bool has_quantized(const check_context *c)
{
    gufo_tensor tensor;

    for (uint64_t i = 0; gufo_model_tensor_at(c->model, i, &tensor); i++) {
        const gufo_element_type *type = gufo_element_type_by_id(tensor.type);

        if (type != NULL && (type->flags & GUFO_ELEMENT_QUANTIZED))
            return true;
    }
    return false;
}

static void check_quantization_version(check_context *c)
{
    enum { TODAY = 2 };
    gufo_entry entry;
    uint64_t version;

    if (schema_check_number(c, "general.quantization_version", &entry, &version) &&
        version != TODAY && has_quantized(c))
        schema_report(c, RULE_QUANTIZATION_VERSION, at_entry(&entry),
                      "general.quantization_version is %" PRIu64
                      "; that of the current types is %d",
                      version, TODAY);
}

/* ---- file type ------------------------------------------------------------------------------ */

enum {
    FILE_TYPE_GUESSED = 1024, /* a flag that readers add where they guess */
    OTHER = 63,               /* where weights of types above are counted */
    DOUBTFUL_PART = 10,       /* more than one in so many of another type: it is a mixture */
    LEAST_PART = 8,           /* in each mixture more than one in so many has the type itself */
};

typedef struct weight_count {
    uint64_t weights[OTHER + 1]; /* by element type */
    uint64_t total;
    uint32_t most; /* the type of most of them */
} weight_count;

/* Whether quantizing to `claimed` (NULL: to anything) would give the tensor its element type. */
static bool is_counted(const gufo_tensor *tensor, const gufo_file_type *claimed)
{
    const gufo_element_type *base =
        claimed != NULL ? gufo_element_type_by_id(claimed->base_type) : NULL;
    /* That one is for experts, which are in one tensor; all others are Q8_0. */
    bool only_experts = claimed != NULL && claimed->id == GUFO_FILE_TYPE_MXFP4_MOE;

    return tensor->n_dims >= (only_experts ? 3 : 2) && !str_begins(tensor->name, "token_embd.") &&
           !str_begins(tensor->name, "output.") &&
           (base == NULL || base->block_elements == 0 ||
            tensor->dims[0] % base->block_elements == 0);
}

static weight_count count_weights(const check_context *c, const gufo_file_type *claimed)
{
    weight_count count = {.total = 0};
    gufo_tensor tensor;

    for (uint64_t i = 0; gufo_model_tensor_at(c->model, i, &tensor); i++) {
        uint32_t type = tensor.type < OTHER ? tensor.type : OTHER;

        if (!is_counted(&tensor, claimed) ||
            !checked_add(count.total, tensor.elements, &count.total))
            continue;
        count.weights[type] += tensor.elements;
    }
    for (uint32_t type = 0; type <= OTHER; type++)
        if (count.weights[type] > count.weights[count.most])
            count.most = type;
    return count;
}

/* The only file type that is made of this element type; NULL if there are several or none. */
static const gufo_file_type *only_file_type(uint32_t base)
{
    const gufo_file_type *only = NULL, *type;

    for (size_t i = 0; (type = gufo_file_type_at(i)) != NULL; i++) {
        if (type->base_type != base || (type->flags & GUFO_FILE_TYPE_REMOVED))
            continue;
        if (only != NULL)
            return NULL;
        only = type;
    }
    return only;
}

/* Says what the file type should be, where there is one answer. */
static void offer_file_type(gufo_finding *finding, const weight_count *count)
{
    const gufo_file_type *right = only_file_type(count->most);

    if (right == NULL || count->weights[count->most] < count->total - count->total / DOUBTFUL_PART)
        return;
    *finding = with_certain_fix(
        *finding, fix_number(GUFO_FIX_SET, finding->subject, GUFO_VALUE_UINT32, right->id));
}

static const char *type_name(uint32_t id)
{
    const gufo_element_type *type = gufo_element_type_by_id(id);

    return type != NULL ? type->name : "of an unknown type";
}

/* Where all weights are there to be counted. */
static void check_agreement(check_context *c, const gufo_entry *entry,
                            const gufo_file_type *claimed)
{
    weight_count count = count_weights(c, claimed);
    gufo_finding finding = at_entry(entry);

    if (c->options->single || count.most == claimed->base_type ||
        count.weights[claimed->base_type] >= count.total / LEAST_PART)
        return;
    offer_file_type(&finding, &count);
    schema_report(c, RULE_FILE_TYPE, finding,
                  "general.file_type is %" PRIu32 " (%s), but most weights are %s", claimed->id,
                  claimed->name, type_name(count.most));
}

static void report_unknown(check_context *c, const gufo_entry *entry, uint64_t id, bool removed)
{
    weight_count count = count_weights(c, NULL);
    gufo_finding finding = at_entry(entry);

    if (!c->options->single && count.total > 0)
        offer_file_type(&finding, &count);
    schema_report(c, RULE_FILE_TYPE_UNKNOWN, finding, "general.file_type %" PRIu64 " is not %s", id,
                  removed ? "supported any more" : "known");
}

static void check_file_type(check_context *c)
{
    const gufo_file_type *claimed;
    gufo_entry entry;
    uint64_t id;
    bool removed;

    if (!schema_check_number(c, "general.file_type", &entry, &id))
        return;
    claimed = gufo_file_type_by_id(id & ~(uint64_t)FILE_TYPE_GUESSED);
    removed = claimed != NULL && (claimed->flags & GUFO_FILE_TYPE_REMOVED) != 0 &&
              values_find_number("general.file_type", claimed->id) != VALUE_STANDARD;
    if (claimed == NULL || removed)
        report_unknown(c, &entry, id, removed);
    else
        check_agreement(c, &entry, claimed);
}

void schema_check_weights(check_context *c)
{
    check_quantization_version(c);
    check_file_type(c);
}
