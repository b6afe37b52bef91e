/* Rules of single kinds of files: importance matrices, projectors, later shards of a set. */
#include "schema/check/check.h"

/* Importance matrices: for each tensor of a model, sums of squares and how many were summed.
 *
 *     NAME.in_sum2   F32 [columns, matrices]
 *     NAME.counts    F32 [1, matrices] */

static void check_keys(check_context *c)
{
    static const char *const keys[] = {"imatrix.datasets", "imatrix.chunk_count",
                                       "imatrix.chunk_size"};
    gufo_entry entry;
    uint64_t tokens;

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!gufo_model_find(c->model, keys[i], NULL))
            schema_report(c, RULE_IMATRIX_KEYS, at_missing(keys[i]),
                          "key \"%s\" is missing; some readers refuse the file", keys[i]);
    if (schema_check_number(c, "imatrix.chunk_size", &entry, &tokens) && tokens == 0)
        schema_report(c, RULE_IMATRIX_CHUNK_SIZE, at_entry(&entry),
                      "imatrix.chunk_size is 0; readers divide by it");
}

static void look_at(check_context *c, const gufo_tensor *tensor, bool paired)
{
    const gufo_element_type *type = gufo_element_type_by_id(tensor->type);

    if (!paired)
        schema_report(c, RULE_IMATRIX_TENSOR, at_tensor(tensor),
                      "tensor %s is neither in_sum2 nor counts of another one",
                      QUOTED(tensor->name));
    else if (tensor->type != GUFO_TYPE_F32)
        schema_report(c, RULE_IMATRIX_TYPE, at_tensor(tensor), "tensor %s has type %s, not F32",
                      QUOTED(tensor->name), type != NULL ? type->name : "unknown");
}

/* One count for each matrix, however the dimensions are written. */
static void compare(check_context *c, const gufo_tensor *sums, const gufo_tensor *counts,
                    gufo_str base)
{
    (void)base;
    if (sums->elements == 0 || counts->elements == 0 || sums->elements % counts->elements != 0)
        schema_report(
            c, RULE_IMATRIX_SHAPE, at_tensor(sums),
            "tensor %s has %s sums for %s counts; each count is for the same number of sums",
            QUOTED(sums->name), GROUPED(sums->elements), GROUPED(counts->elements));
}

void schema_check_imatrix(check_context *c)
{
    static const pair_rules pairs = {{".in_sum2", ".counts"}, RULE_IMATRIX_PAIR, look_at, compare};

    check_keys(c);
    schema_check_pairs(c, &pairs);
}

/* Projectors: they convert images or sound into embeddings of a language model.  There are dozens
 * of kinds; only what all of them need is looked at. */

/* Whether the key is present and true. */
static bool says_yes(const check_context *c, const char *key)
{
    bool value;

    return gufo_model_get_bool(c->model, key, &value, NULL) == GUFO_OK && value;
}

void schema_check_projector(check_context *c)
{
    /* Files made before there was a key for the type have only one kind of projector. */
    static const char *const types[] = {"clip.projector_type", "clip.vision.projector_type",
                                        "clip.audio.projector_type", "clip.has_llava_projector"};
    bool typed = false;

    if (!says_yes(c, "clip.has_vision_encoder") && !says_yes(c, "clip.has_audio_encoder") &&
        !says_yes(c, "clip.has_text_encoder"))
        schema_report(c, RULE_PROJECTOR_ENCODER, at_missing("clip.has_vision_encoder"),
                      "the projector has no encoder: neither clip.has_vision_encoder nor "
                      "clip.has_audio_encoder is true");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        typed |= gufo_model_find(c->model, types[i], NULL);
    if (!typed)
        schema_report(c, RULE_PROJECTOR_TYPE, at_missing("clip.projector_type"),
                      "key \"clip.projector_type\" is missing; readers assume an MLP");
}

/* Shards of a set: what their own metadata say.  The model is described by the first one; readers
 * look into no other, so that a contradiction is never noticed: a shard of another model. */

static void check_shard(check_context *c, size_t shard)
{
    const gufo_model *file = gufo_model_shard(c->model, shard);
    gufo_entry entry, first;

    for (uint64_t i = 0; gufo_model_entry_at(file, i, &entry); i++) {
        gufo_finding finding = at_entry(&entry);

        finding.shard = shard;
        if (!gufo_str_equal(entry.key, gufo_str_of("split.no")) &&
            gufo_model_find_str(c->model, entry.key, &first) &&
            !schema_same_value(&entry.value, &first.value))
            schema_report(c, RULE_SHARD_METADATA, finding,
                          "key %s has another value than in the first shard", QUOTED(entry.key));
    }
}

void schema_check_shards(check_context *c)
{
    for (size_t i = 1; i < gufo_model_shard_count(c->model); i++)
        check_shard(c, i);
}
