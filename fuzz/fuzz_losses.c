/* Fuzz target: anything as a file of losses, and as the rows of one that is right otherwise.
 * All of it is taken, or nothing; what is taken are losses, and can be written and taken again. */
#include "walk.h"

#include <math.h>
#include <string.h>

#include "quant/losses/losses.h"

/* ---- a model -------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    uint64_t columns, rows;
} shapes[] = {{"a.weight", 256, 400}, {"b\tc\\.weight", 32, 7}, {"d.bias", 32, 1}};

enum { TENSORS = sizeof shapes / sizeof *shapes };

static bool tensor_at(void *context, uint64_t index, gufo_tensor *out)
{
    (void)context;
    *out = (gufo_tensor){.name = gufo_str_of(shapes[index].name),
                         .n_dims = 2,
                         .dims = {shapes[index].columns, shapes[index].rows}};
    return true;
}

static gufo_status no_rows(void *context, uint64_t tensor, uint64_t first, uint64_t count,
                           void *out, gufo_error *error)
{
    (void)context, (void)tensor, (void)first, (void)count, (void)out, (void)error;
    return GUFO_E_IO;
}

static gufo_losses *losses_new(void)
{
    static const gufo_provider provider = {
        .tensor_count = TENSORS, .tensor_at = tensor_at, .read_rows = no_rows};
    static gufo_model *opened;

    if (opened == NULL)
        opened = gufo_model_open_provider(&provider, NULL, NULL);
    must(opened != NULL, "a small model can be opened");
    return gufo_losses_new(opened, NULL, NULL, NULL);
}

/* ---- taking --------------------------------------------------------------------------------- */

static void look(const gufo_losses *l, bool taken)
{
    gufo_loss loss;

    for (uint64_t i = 0; i < gufo_losses_count(l); i++)
        for (size_t k = 0; gufo_losses_option_at(l, i, k, &loss); k++) {
            must(loss.rows <= loss.all_rows, "no more rows than there are");
            must(isfinite(loss.relative) && loss.relative >= 0, "a loss is a number");
            must(isfinite(loss.standard_error) && loss.standard_error >= 0, "an error is a number");
            must(taken || loss.rows == 0, "all or nothing");
        }
}

static const loss_identity identity = {0, 0};

static bool take(gufo_losses *l, const void *data, size_t size)
{
    gufo_model *file = gufo_model_open_memory(data, size, NULL, NULL);
    uint64_t taken = 0;
    bool ok = file != NULL && losses_take(l, &identity, file, &taken, NULL) == GUFO_OK;

    look(l, ok);
    gufo_model_free(file);
    return ok;
}

/* What was taken is written, and taken again. */
static void write_again(const gufo_losses *l)
{
    gufo_document *d = gufo_document_new(NULL, NULL);
    gufo_losses *again = losses_new();
    const void *bytes;
    size_t size = 0;

    must(d != NULL && again != NULL && losses_describe(l, &identity, d, NULL) == GUFO_OK &&
             gufo_document_header(d, &bytes, &size, NULL) == GUFO_OK,
         "losses can be written");
    must(take(again, bytes, size), "what is written can be taken");
    must(again->kept_count == l->kept_count, "what is not an option is kept");
    gufo_losses_free(again);
    gufo_document_free(d);
}

static void take_file(const void *data, size_t size)
{
    gufo_losses *l = losses_new();

    must(l != NULL, "the machine has enough memory");
    if (take(l, data, size))
        write_again(l);
    gufo_losses_free(l);
}

/* ---- rows ----------------------------------------------------------------------------------- */

enum { ROW_BYTES = 1 + 1 + 3 * 8, MOST_ROWS = 32 };

/* The rows of a file that is right otherwise: a tensor and how it was measured, a type, two numbers, and how
 * many rows. */
static void take_rows(const uint8_t *data, size_t size)
{
    gufo_str tensors[MOST_ROWS], types[MOST_ROWS];
    double relative[MOST_ROWS], errors[MOST_ROWS];
    bool drawn[MOST_ROWS];
    uint64_t seen[MOST_ROWS], count = size / ROW_BYTES < MOST_ROWS ? size / ROW_BYTES : MOST_ROWS;
    uint64_t check = 0;
    gufo_document *d = gufo_document_new(NULL, NULL);
    const void *bytes;
    size_t len = 0;

    for (uint64_t i = 0; i < count; i++, data += ROW_BYTES) {
        size_t tensor = data[0] % (TENSORS + 1);
        const gufo_element_type *type = gufo_element_type_by_id(data[1]);
        loss_option o = {.type = type != NULL ? type : gufo_element_type_by_id(0),
                         .sampled = data[0] < 128};

        memcpy(&o.relative, data + 2, sizeof o.relative);
        memcpy(&o.standard_error, data + 10, sizeof o.standard_error);
        memcpy(&o.rows, data + 18, sizeof o.rows);
        tensors[i] = gufo_str_of(tensor < TENSORS ? shapes[tensor].name : "none");
        types[i] = gufo_str_of(type != NULL ? type->name : "none");
        relative[i] = o.relative;
        errors[i] = o.standard_error;
        seen[i] = o.rows;
        drawn[i] = o.sampled;
        losses_chain(&check, tensors[i], &o);
    }
    must(d != NULL &&
             gufo_document_set_text(d, "gufo.losses.version", GUFO_VERSION_STRING, NULL) ==
                 GUFO_OK &&
             gufo_document_set_u64(d, "gufo.losses.inputs", 0, NULL) == GUFO_OK &&
             gufo_document_set_u64(d, "gufo.losses.plan", 0, NULL) == GUFO_OK &&
             gufo_document_set_u64(d, "gufo.losses.check", check, NULL) == GUFO_OK &&
             gufo_document_set_array(d, "gufo.losses.tensors",
                                     &(gufo_items){GUFO_VALUE_STRING, count, tensors},
                                     NULL) == GUFO_OK &&
             gufo_document_set_array(d, "gufo.losses.types",
                                     &(gufo_items){GUFO_VALUE_STRING, count, types},
                                     NULL) == GUFO_OK &&
             gufo_document_set_array(d, "gufo.losses.relative",
                                     &(gufo_items){GUFO_VALUE_FLOAT64, count, relative},
                                     NULL) == GUFO_OK &&
             gufo_document_set_array(d, "gufo.losses.standard_errors",
                                     &(gufo_items){GUFO_VALUE_FLOAT64, count, errors},
                                     NULL) == GUFO_OK &&
             gufo_document_set_array(d, "gufo.losses.rows",
                                     &(gufo_items){GUFO_VALUE_UINT64, count, seen},
                                     NULL) == GUFO_OK &&
             gufo_document_set_array(d, "gufo.losses.sampled",
                                     &(gufo_items){GUFO_VALUE_BOOL, count, drawn},
                                     NULL) == GUFO_OK &&
             gufo_document_layout(d, NULL, NULL, NULL) == GUFO_OK &&
             gufo_document_header(d, &bytes, &len, NULL) == GUFO_OK,
         "a document of arrays can be made");
    take_file(bytes, len);
    gufo_document_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    take_file(data, size);
    take_rows(data, size);
    return 0;
}
