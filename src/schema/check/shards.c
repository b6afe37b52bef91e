/* Shards of a set: what their own metadata say.  The model is described by the first one; readers
 * look into no other, so that a contradiction is never noticed: a shard of another model. */
#include "schema/check/check.h"

static void check_shard(check_context *c, size_t shard)
{
    const gufo_model *file = gufo_model_shard(c->model, shard);
    gufo_entry entry, first;

    for (uint64_t i = 0; gufo_metadata_at(file, i, &entry); i++) {
        gufo_finding finding = at_entry(&entry);

        finding.shard = shard;
        if (!gufo_str_equal(entry.key, gufo_str_of("split.no")) &&
            gufo_metadata_find_str(c->model, entry.key, &first) &&
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
