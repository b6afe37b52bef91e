/* What a job does not preserve: everything that can be written in several ways.
 *
 * The validator already finds most of it, so this code uses its findings. */
#include <string.h>

#include "base/checked.h"
#include "edit/planner.h"
#include "format/model/model.h"

static const struct {
    gufo_normalised kind;
    const char *rule; /* of the validator; NULL: found here */
    const char *text;
} kinds[] = {
    {GUFO_NORMALISED_VERSION, NULL, "the version becomes 3"},
    {GUFO_NORMALISED_ORDER, "data-order", "data is put in the order of the tensor infos"},
    {GUFO_NORMALISED_GAPS, "data-gap", "gaps between tensors are closed"},
    {GUFO_NORMALISED_PADDING, "padding-nonzero", "padding becomes zeros"},
    {GUFO_NORMALISED_TAIL, NULL, "padding at the end is added"},
    {GUFO_NORMALISED_TRAILING, "trailing-bytes", "bytes after the end of the model are dropped"},
    {GUFO_NORMALISED_SPLIT_KEYS, NULL, "split keys are dropped from a file that was not a shard"},
    {GUFO_NORMALISED_METADATA, NULL,
     "metadata of shards after the first is dropped where the first one differs"},
};

enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

const char *gufo_normalised_text(gufo_normalised kind)
{
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (kinds[i].kind == kind)
            return kinds[i].text;
    return NULL;
}

static void on_finding(void *context, const gufo_finding *finding)
{
    uint32_t *found = context;

    for (size_t i = 0; i < KIND_COUNT; i++)
        if (kinds[i].rule != NULL && strcmp(finding->rule->name, kinds[i].rule) == 0)
            *found |= kinds[i].kind;
}

/* Whether a tensor without bytes is anywhere but where it would be written; the validator reports
 * others. */
static bool empty_misplaced(const gufo_model *file)
{
    uint64_t expected = gufo_model_facts(file).data_offset;
    gufo_tensor tensor;

    for (uint64_t i = 0; gufo_tensor_at(file, i, &tensor); i++) {
        if (tensor.size == 0 && tensor.offset != expected)
            return true;
        if (tensor.size > 0)
            (void)checked_align(tensor.offset + tensor.size, gufo_model_facts(file).alignment,
                                &expected);
    }
    return false;
}

static bool lacks_tail(const gufo_model *file)
{
    uint64_t end = gufo_model_facts(file).data_offset + gufo_model_facts(file).data_size;

    return checked_align(end, gufo_model_facts(file).alignment, &end) &&
           gufo_model_facts(file).size < end;
}

static gufo_status note_file(gufo_job *job, const gufo_model *file, gufo_error *error)
{
    uint32_t version = gufo_document_version(planner_document_at(planner_of(job), 0));
    gufo_status status = gufo_model_check(file, on_finding, &job->normalised, error);

    if (gufo_model_facts(file).version != version)
        job->normalised |= GUFO_NORMALISED_VERSION;
    if (empty_misplaced(file))
        job->normalised |= GUFO_NORMALISED_ORDER;
    if (lacks_tail(file))
        job->normalised |= GUFO_NORMALISED_TAIL;
    return status;
}

/* ---- keys ----------------------------------------------------------------------------------- */

static bool has_shard_keys(const gufo_model *file)
{
    gufo_entry entry;

    for (uint64_t i = 0; gufo_metadata_at(file, i, &entry); i++)
        if (!document_is_model_key(NULL, entry.key))
            return true;
    return false;
}

/* Whether both entries have the same bytes: shards of a set have one byte order and version. */
static bool same_entry(const gufo_model *a, const gufo_entry *in_a, const gufo_model *b,
                       const gufo_entry *in_b)
{
    uint64_t size = in_a->end - in_a->offset;

    return in_b->end - in_b->offset == size &&
           memcmp(model_file(a)->source.base + in_a->offset,
                  model_file(b)->source.base + in_b->offset, (size_t)size) == 0;
}

/* Whether a later shard says something that the first does not say. */
static bool has_own_metadata(const gufo_model *first, const gufo_model *later)
{
    gufo_entry entry, in_first;

    for (uint64_t i = 0; gufo_metadata_at(later, i, &entry); i++) {
        if (!document_is_model_key(NULL, entry.key) ||
            gufo_str_equal(entry.key, gufo_str_of(GUFO_ALIGNMENT_KEY)) ||
            gufo_str_equal(entry.key, gufo_str_of(GUFO_PADDING_KEY)))
            continue;
        if (!gufo_metadata_find_str(first, entry.key, &in_first) ||
            !same_entry(first, &in_first, later, &entry))
            return true;
    }
    return false;
}

gufo_status planner_note_normalised(gufo_job *job, gufo_error *error)
{
    const planner *p = planner_of(job);
    const gufo_model *first = gufo_model_shard(p->input, 0), *file;
    size_t count = gufo_model_shard_count(p->input);
    gufo_status status = GUFO_OK;

    for (size_t i = 0; status == GUFO_OK && i < count; i++) {
        file = gufo_model_shard(p->input, i);
        status = note_file(job, file, error);
        if (i > 0 && !p->keeps_keys && has_own_metadata(first, file))
            job->normalised |= GUFO_NORMALISED_METADATA;
    }
    if (count == 1 && p->drops_shard_keys && has_shard_keys(first))
        job->normalised |= GUFO_NORMALISED_SPLIT_KEYS;
    return status;
}
