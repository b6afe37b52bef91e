/* Fuzz target: anything as a file of losses, and as the lines of one whose beginning and end are right.
 * All of it is taken, or nothing; what is taken are losses. */
#include "walk.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/hash.h"
#include "quant/losses/losses.h"

/* ---- a model -------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    uint64_t columns, rows;
} shapes[] = {{"a.weight", 256, 400}, {"b\tc\\.weight", 32, 7}, {"d.bias", 32, 1}};

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

static gufo_losses *losses_new(const gufo_model **model)
{
    static const gufo_provider provider = {.tensor_count = sizeof shapes / sizeof *shapes,
                                           .tensor_at = tensor_at,
                                           .read_rows = no_rows};
    static gufo_model *opened;

    if (opened == NULL)
        opened = gufo_open_provider(&provider, NULL, NULL);
    *model = opened;
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

static void take(const char *data, size_t size)
{
    static const loss_identity identity = {0, 0};
    const gufo_model *model;
    gufo_losses *l = losses_new(&model);
    char *text = malloc(size + 1);
    uint64_t taken = 0;
    gufo_status status;

    must(l != NULL && text != NULL, "the machine has enough memory");
    memcpy(text, data, size);
    status = cache_take(l, &identity, text, size, &taken, NULL);
    look(l, status == GUFO_OK);
    free(text);
    gufo_losses_free(l);
}

static void append(buffer *out, const char *text)
{
    must(buffer_append(out, text, strlen(text)), "the machine has enough memory");
}

/* The lines with a head and an end. */
static void take_lines(const uint8_t *data, size_t size)
{
    const gufo_allocator allocator = *mem_allocator(NULL);
    buffer out = {.allocator = &allocator};
    char end[64];
    unsigned count = 0;

    append(&out, CACHE_MAGIC "version\t" GUFO_VERSION_STRING
                             "\ninputs\t0000000000000000\nplan\t0000000000000000\n");
    must(buffer_append(&out, data, size), "the machine has enough memory");
    for (size_t i = 0; i < size; i++)
        count += data[i] == '\n';
    if (size > 0 && data[size - 1] != '\n') {
        append(&out, "\n");
        count++;
    }
    (void)snprintf(end, sizeof end, "end\t%u\t%016" PRIx64 "\n", count,
                   xxh64_of((gufo_str){(const char *)out.data, out.len}));
    append(&out, end);
    take((const char *)out.data, out.len);
    buffer_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    take((const char *)data, size);
    take_lines(data, size);
    return 0;
}
