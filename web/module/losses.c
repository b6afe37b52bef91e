/* What the first model loses of the second one, tensor by tensor as the page asks, so that it can show how far it is, and stop.
 *
 *     page   --index-->   losses_add   rows of both, from a sample of each
 *     page   --page--->   page.c       the section "What is lost", of all that is known by then */
#include "module.h"

#include "gufo/compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct losses {
    const gufo_model *original;
    double *losses; /* by the index in the first model */
    uint32_t *types;
    uint64_t count, sampled; /* tensors; those of which some rows were read */
    char original_name[512];
    gufo_candidate_losses record;
};

void losses_free(losses *l)
{
    if (l == NULL)
        return;
    free(l->losses);
    free(l->types);
    free(l);
}

static losses *losses_new(const gufo_model *model, const gufo_model *original, gufo_error *error)
{
    size_t count = (size_t)gufo_model_tensor_count(model);
    losses *l = calloc(1, sizeof(losses));

    if (l != NULL) {
        l->original = original;
        l->count = count;
        l->losses = calloc(count + 1, sizeof *l->losses);
        l->types = calloc(count + 1, sizeof *l->types);
    }
    if (l == NULL || l->losses == NULL || l->types == NULL) {
        losses_free(l);
        (void)viewer_refuse(error, GUFO_E_MEMORY, "no memory for losses");
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        gufo_tensor tensor;

        (void)gufo_model_tensor_at(model, i, &tensor);
        l->losses[i] = NAN;
        l->types[i] = tensor.type;
    }
    return l;
}

static void write_difference(json_writer *j, const gufo_tensor *tensor, bool sampled,
                             const gufo_tensor_difference *d)
{
    double loss = 0;

    json_begin_object(j, NULL);
    json_write_str(j, "name", tensor->name);
    json_write_bool(j, "sampled", sampled);
    json_write_bool(j, "same", d->kind == GUFO_DIFFERENCE_NONE);
    if (d->has_values) {
        json_write_u64(j, "compared", d->values.compared);
        json_write_u64(j, "unequal", d->values.unequal);
        json_write_f64(j, "largest", d->values.largest);
        json_write_f64(j, "rmse", d->values.rmse);
        json_write_f64(j, "relative", d->values.relative);
        json_write_f64(j, "cosine", d->values.cosine);
    }
    if (gufo_tensor_difference_loss(d, &loss))
        json_write_f64(j, "loss", loss);
    json_end_object(j);
}

gufo_status losses_add(viewer_model *m, const gufo_model *original, uint64_t index, uint64_t limit,
                       json_writer *j, gufo_error *error)
{
    gufo_tensor_difference difference;
    gufo_tensor tensor;
    double known; /* from an earlier look */
    bool sampled;
    gufo_status status;

    if (!gufo_model_tensor_at(m->model, index, &tensor))
        return viewer_refuse(error, GUFO_E_RANGE, "no tensor has this index");
    if (m->losses == NULL)
        m->losses = losses_new(m->model, original, error);
    if (m->losses == NULL)
        return error->code;
    status = sample_compare(original, m->model, &tensor, limit, &difference, &sampled, error);
    if (status != GUFO_OK)
        return status;
    known = m->losses->losses[index];
    if (!gufo_tensor_difference_loss(&difference, &m->losses->losses[index]))
        m->losses->losses[index] = NAN;
    m->losses->sampled += sampled && isnan(known);
    write_difference(j, &tensor, sampled, &difference);
    return GUFO_OK;
}

/* ---- for the page --------------------------------------------------------------------------- */

/* Sums in the order of the original, as gufo_compare_candidates adds them. */
static void add_up(losses *l, const gufo_model *model)
{
    gufo_candidate *sums = &l->record.sums;
    gufo_tensor tensor;
    uint64_t index;

    *sums = (gufo_candidate){0};
    for (uint64_t i = 0; gufo_model_tensor_at(model, i, &tensor); i++) {
        sums->bytes += tensor.size;
        sums->elements += tensor.elements;
    }
    for (uint64_t i = 0; gufo_model_tensor_at(l->original, i, &tensor); i++)
        if (gufo_model_tensor_index(model, tensor.name, &index) && !isnan(l->losses[index]))
            sums->loss += l->losses[index];
}

const gufo_candidate_losses *losses_record(losses *l, const gufo_model *model,
                                           const char *original_name, gufo_str *original)
{
    int len;

    add_up(l, model);
    l->record.losses = l->losses;
    l->record.types = l->types;
    len = l->sampled == 0 ? snprintf(l->original_name, sizeof l->original_name, "%s", original_name)
                          : snprintf(l->original_name, sizeof l->original_name,
                                     "%.400s (%" PRIu64 " of its tensors read in part)",
                                     original_name, l->sampled);
    *original = (gufo_str){l->original_name, len > 0 && (size_t)len < sizeof l->original_name
                                                 ? (size_t)len
                                                 : strlen(l->original_name)};
    return &l->record;
}
