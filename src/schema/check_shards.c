/* Shards of a set: what their own metadata say.  The model is described by the first one; readers
 * look into no other, so that a contradiction is never noticed: a shard of another model. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "schema/findings_limit.h"

/* Shards of a set have one version and byte order: equal arrays have equal bytes. */
static bool same_array(const gufo_array *a, const gufo_array *b)
{
    return a->type == b->type && a->count == b->count && a->size == b->size &&
           memcmp(a->data, b->data, (size_t)a->size) == 0;
}

/* Integers of two types are the same if their numbers are. */
static bool same_value(const gufo_value *a, const gufo_value *b)
{
    uint64_t u[2];
    int64_t i[2];
    double f[2];

    if (gufo_value_u64(a, &u[0], NULL) == GUFO_OK && gufo_value_u64(b, &u[1], NULL) == GUFO_OK)
        return u[0] == u[1];
    if (gufo_value_i64(a, &i[0], NULL) == GUFO_OK && gufo_value_i64(b, &i[1], NULL) == GUFO_OK)
        return i[0] == i[1];
    if (gufo_value_f64(a, &f[0], NULL) == GUFO_OK && gufo_value_f64(b, &f[1], NULL) == GUFO_OK)
        return f[0] == f[1] || (isnan(f[0]) && isnan(f[1]));
    if (a->type != b->type)
        return false;
    return a->type == GUFO_VALUE_STRING  ? gufo_str_equal(a->as.str, b->as.str)
           : a->type == GUFO_VALUE_ARRAY ? same_array(&a->as.array, &b->as.array)
                                         : a->as.b == b->as.b;
}

static void check_shard(checker *c, findings_limit *limit, size_t shard)
{
    const gufo_file *file = gufo_set_shard(c->set, shard);
    char quoted[GUFO_QUOTE_SIZE];
    gufo_entry entry, first;

    for (uint64_t i = 0; gufo_metadata_at(file, i, &entry); i++) {
        finding_place place = gufo_place_entry(&entry);

        if (gufo_str_equal(entry.key, gufo_str_of("split.no")) ||
            !gufo_metadata_find_str(c->file, entry.key, &first) ||
            same_value(&entry.value, &first.value) ||
            !gufo_limit_allows(limit, SCHEMA_SHARD_METADATA))
            continue;
        place.shard = shard;
        gufo_check_report(c, SCHEMA_SHARD_METADATA, place,
                          "key %s has another value than in the first shard",
                          gufo_quote(quoted, entry.key));
    }
}

void gufo_check_shards(checker *c)
{
    findings_limit limit = {{0}};

    if (c->set == NULL)
        return;
    for (size_t i = 1; i < gufo_set_shard_count(c->set); i++)
        check_shard(c, &limit, i);
    gufo_limit_end(c, &limit);
}
