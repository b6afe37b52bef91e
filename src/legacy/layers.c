/* Whether a model whose tensors keep their names has all its layers: each one has as many tensors
 * as the second one.  (The first one has some of its own.) */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "legacy/plan.h"

/* The number behind `start` in a name; false where the name has another beginning. */
static bool layer_of(gufo_str name, const char *start, uint64_t *layer)
{
    size_t len = strlen(start), digits;

    if (!str_begins(name, start))
        return false;
    digits = str_digits(name, len);
    return digits > 0 && digits <= 9 && str_number((gufo_str){name.data + len, digits}, layer);
}

static gufo_status count_tensors(const legacy_file *file, const legacy_blocks *blocks,
                                 uint64_t *counts, uint64_t layers, gufo_error *error)
{
    const legacy_part *part = &file->parts[0];
    uint64_t layer;

    for (uint64_t i = 0; i < part->record_count; i++) {
        const legacy_record *r = &part->records[i];

        if (!layer_of(r->name, blocks->start, &layer))
            continue;
        if (layer >= layers)
            return fail_with(error, GUFO_E_MALFORMED, r->header,
                             "tensor %s is of layer %" PRIu64 ", but there are %s layers",
                             QUOTED(r->name), layer, GROUPED(layers));
        counts[layer]++;
    }
    return GUFO_OK;
}

static gufo_status check_blocks(const legacy_file *file, const legacy_blocks *blocks,
                                gufo_error *error)
{
    uint64_t layers = (uint64_t)field_of(file, blocks->layers);
    uint64_t *counts = mem_array(file->allocator, layers, sizeof *counts);
    gufo_status status = counts != NULL ? GUFO_OK : fail_memory(error);

    if (status == GUFO_OK)
        status = count_tensors(file, blocks, counts, layers, error);
    for (uint64_t i = 0; i < layers && status == GUFO_OK; i++)
        if (counts[i] == 0 || (i > 0 && counts[i] != counts[1]))
            status = fail_with(
                error, GUFO_E_MALFORMED, file->parts[0].source.size,
                "layer %" PRIu64 " has %s tensors %s%" PRIu64
                ".*, others have %s: the file was cut off, or is not a complete model",
                i, GROUPED(counts[i]), blocks->start, i, GROUPED(layers > 1 ? counts[1] : 1));
    mem_free(file->allocator, counts);
    return status;
}

gufo_status legacy_check_layers(const legacy_file *file, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (int i = 0; i < LEGACY_MAX_BLOCKS && status == GUFO_OK; i++)
        if (file->family->blocks[i].start != NULL)
            status = check_blocks(file, &file->family->blocks[i], error);
    return status;
}
