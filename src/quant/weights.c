/* What quantizing takes from an importance matrix. */
#include "base/checked.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "format/model/model.h"
#include "produce/produce.h"
#include "quant/imatrix/imatrix.h"
#include "quant/quantizer.h"
#include "quant/recipes/recipe.h"

#include <string.h>

/* ---- which tensor gets which ---------------------------------------------------------------- */

static gufo_status match(const gufo_quantizer *q, const quant_tensor *tensor, uint64_t *index,
                         gufo_error *error)
{
    const gufo_tensor input = quant_source(q, tensor);

    if (input.elements == 0) /* nothing to weigh; and dims may be of any size then */
        return GUFO_E_NOT_FOUND;
    return gufo_imatrix_match(q->options.importance, input.name, input.dims[0],
                              input.dims[2] * input.dims[3], index, error);
}

/* For errors. */
static gufo_status keep_path(gufo_quantizer *q, gufo_error *error)
{
    gufo_str path = gufo_str_of(q->options.importance_path);

    if (path.len == 0)
        return GUFO_OK;
    q->importance_path = mem_text(&q->allocator, path);
    return q->importance_path != NULL ? GUFO_OK : fail_memory(error);
}

gufo_status weights_find(gufo_quantizer *q, gufo_error *error)
{
    for (uint64_t i = 0; i < q->tensor_count && q->options.importance != NULL; i++) {
        quant_tensor *tensor = &q->tensors[i];
        uint64_t index = 0;
        gufo_status status = match(q, tensor, &index, NULL);

        tensor->importance_index = (uint32_t)index; /* a name_index holds no larger ones */
        tensor->has_importance = status == GUFO_OK;
        tensor->unfit_importance = status != GUFO_OK && status != GUFO_E_NOT_FOUND;
    }
    return keep_path(q, error);
}

/* Importance that does not fit belongs to another model; but the token embedding, which is looked
 * up and not multiplied, often has some that does not fit. */
gufo_status weights_check(const gufo_quantizer *q, const quant_tensor *tensor, gufo_error *error)
{
    gufo_error reason;
    gufo_status status;
    uint64_t index;

    if (!tensor->unfit_importance || recipe_kind(quant_name(q, tensor)) == KIND_EMBEDDING)
        return GUFO_OK;
    status = match(q, tensor, &index, &reason);
    if (q->importance_path == NULL)
        return refuse(error, status, "%s", reason.message);
    return refuse(error, status, "importance matrix %s: %s",
                  QUOTED(gufo_str_of(q->importance_path)), reason.message);
}

/* ---- its files ------------------------------------------------------------------------------ */

static gufo_status add_file(const gufo_quantizer *q, gufo_job *job, const gufo_imatrix *m,
                            uint32_t index, gufo_error *error)
{
    job_input input = {.role = GUFO_FILE_IMPORTANCE,
                       .index = index,
                       .name = m->name != NULL ? m->name : q->importance_path,
                       .source = imatrix_source(m),
                       .planned = true};
    uint32_t number;

    return job_add_input(job, &input, &number, error);
}

/* Those that it was merged of, one after the other. */
static gufo_status add_files(const gufo_quantizer *q, gufo_job *job, const gufo_imatrix *m,
                             uint32_t *index, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    if (m->input_count == 0)
        return add_file(q, job, m, (*index)++, error);
    for (size_t i = 0; i < m->input_count && status == GUFO_OK; i++)
        status = add_files(q, job, m->inputs[i], index, error);
    return status;
}

gufo_status weights_add_inputs(const gufo_quantizer *q, gufo_job *job, gufo_error *error)
{
    uint32_t index = 0;

    if (q->options.importance == NULL)
        return GUFO_OK;
    return add_files(q, job, q->options.importance, &index, error);
}

/* ---- its numbers ---------------------------------------------------------------------------- */

static gufo_status fail_weights(const gufo_quantizer *q, gufo_status status, gufo_error *error)
{
    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_IMPORTANCE, 0, q->importance_path);
    return status;
}

gufo_status weights_read(const gufo_quantizer *q, const quant_tensor *tensor, uint64_t slice,
                         float *out, gufo_error *error)
{
    gufo_status status =
        gufo_imatrix_importance(q->options.importance, tensor->importance_index,
                                quant_source(q, tensor).dims[0], slice, out, error);

    return fail_weights(q, status, error);
}

enum { NUMBERS = 1024 };

typedef gufo_status read_fn(const gufo_imatrix *imatrix, uint64_t index, uint64_t first,
                            uint64_t count, float *out, gufo_error *error);

static gufo_status chain_numbers(uint64_t *hash, const gufo_imatrix *imatrix, uint64_t index,
                                 uint64_t count, read_fn *read, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    float numbers[NUMBERS];

    for (uint64_t at = 0; at < count && status == GUFO_OK; at += NUMBERS) {
        uint64_t step = count - at < NUMBERS ? count - at : NUMBERS;

        status = read(imatrix, index, at, step, numbers, error);
        if (status == GUFO_OK)
            hash_chain(hash, numbers, (size_t)step * sizeof *numbers);
    }
    return status;
}

static gufo_status chain_entry(uint64_t *hash, const gufo_imatrix *imatrix, uint64_t index,
                               gufo_error *error)
{
    gufo_imatrix_entry entry;
    gufo_status status;

    (void)gufo_imatrix_entry_at(imatrix, index, &entry);
    hash_chain(hash, entry.name.data, entry.name.len);
    status = chain_numbers(hash, imatrix, index, entry.values, gufo_imatrix_read_sums, error);
    if (status == GUFO_OK)
        status =
            chain_numbers(hash, imatrix, index, entry.matrices, gufo_imatrix_read_counts, error);
    return status;
}

gufo_status weights_hash(const gufo_quantizer *q, uint64_t *hash, gufo_error *error)
{
    const gufo_imatrix *imatrix = q->options.importance;
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < q->tensor_count; i++) {
        hash_chain(hash, q->tensors[i].source_name.data, q->tensors[i].source_name.len);
        hash_chain(hash, &q->tensors[i].has_importance, sizeof q->tensors[i].has_importance);
    }
    for (uint64_t i = 0;
         imatrix != NULL && i < gufo_imatrix_entry_count(imatrix) && status == GUFO_OK; i++)
        status = chain_entry(hash, imatrix, i, error);
    return fail_weights(q, status, error);
}
