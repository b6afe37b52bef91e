/* gufo show --json: one object per file, which docs/json.md describes. */
#include "cli/inspect/show.h"

#include "cli/core/options/names.h"
#include "cli/core/records/model_json.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/values/value.h"

#define SCHEMA_VERSION 1 /* of the output: higher when a member changes its meaning */

static const char *const byte_orders[] = {
    [GUFO_LITTLE_ENDIAN] = "little", [GUFO_BIG_ENDIAN] = "big"};

static const record_field facts_fields[] = {
    {"schema_version", NULL, RECORD_FIXED, .at = SCHEMA_VERSION},
    {"file_size", NULL, RECORD_PLAIN, RECORD_AT(gufo_facts, size)},
    {"version", NULL, RECORD_PLAIN, RECORD_AT(gufo_facts, version)},
    {"byte_order", NULL, RECORD_CHOICE, RECORD_AT(gufo_facts, byte_order), .words = byte_orders},
    {"alignment", NULL, RECORD_PLAIN, RECORD_AT(gufo_facts, alignment)},
    {"data_offset", NULL, RECORD_PLAIN, RECORD_AT(gufo_facts, data_offset)},
    {"data_size", NULL, RECORD_PLAIN, RECORD_AT(gufo_facts, data_size)},
};
static const record_type facts_type = RECORD_OF(gufo_facts, facts_fields, 0);

/* That all sums are those of one shard. */
static void write_part(json_writer *j, const gufo_model *model)
{
    uint64_t number, count;

    if (!input_is_part(model, &number, &count))
        return;
    json_begin_object(j, "partial");
    json_write_u64(j, "number", number);
    json_write_u64(j, "of", count);
    json_end_object(j);
}

/* The first fault of the first damaged file. */
static void write_damage(json_writer *j, const input *in)
{
    const gufo_error *damage = NULL;
    size_t shard = 0;

    for (; shard < gufo_model_shard_count(in->model) && damage == NULL; shard++)
        damage = gufo_model_damage(gufo_model_shard(in->model, shard));
    if (damage == NULL)
        return;
    json_begin_object(j, "damaged");
    json_write_offset(j, damage->offset);
    json_write_text(j, "message", damage->message);
    if (gufo_model_shard_count(in->model) > 1)
        json_write_u64(j, "shard", shard);
    json_end_object(j);
}

static uint64_t array_limit(const show_options *options)
{
    return options->limit_given ? options->array_limit : VALUE_ALL;
}

/* Whether an entry cannot be a member of an object: its key was there before, or is not text. */
static bool is_extra(const gufo_model *model, const gufo_entry *entry)
{
    gufo_entry first;

    return gufo_utf8_valid_prefix(entry->key) < entry->key.len ||
           (gufo_metadata_find_str(model, entry->key, &first) && first.key.data != entry->key.data);
}

/* Writes the entries that are members, or the others.  Returns the number of those that it
 * skips. */
static uint64_t write_entries(json_writer *j, const input *in, const show_options *options,
                              bool extra)
{
    uint64_t others = 0;
    gufo_entry entry;

    for (uint64_t i = 0;
         !stdout_broken() && glob_next_entry(options->metadata_glob, in->model, &i, &entry);) {
        if (is_extra(in->model, &entry) != extra) {
            others++;
        } else if (extra) {
            value_write_entry(j, NULL, &entry, array_limit(options));
        } else {
            json_begin_named_object(j, entry.key);
            value_write_members(j, &entry.value, array_limit(options));
            json_end_object(j);
        }
    }
    return others;
}

static void write_metadata(json_writer *j, const input *in, const show_options *options)
{
    uint64_t others;

    json_begin_object(j, "metadata");
    others = write_entries(j, in, options, false);
    json_end_object(j);
    if (others == 0)
        return;
    json_begin_array(j, "duplicates");
    (void)write_entries(j, in, options, true);
    json_end_array(j);
}

bool show_write_json(const input *in, const show_options *options)
{
    show_tensors tensors = show_tensors_of(in->model, options->tensor_glob), *next = &tensors;
    overview o = overview_of(in->model);
    json_writer j = json_begin_document(in->path);

    record_write_members(&j, &facts_type, &o.facts);
    model_json_shards(&j, "shards", in->model);
    write_part(&j, in->model);
    write_damage(&j, in);
    if (show_wants(options, options->only_summary))
        facts_write(&j, "summary", &o, array_limit(options));
    if (show_wants(options, options->only_metadata))
        write_metadata(&j, in, options);
    if (show_wants(options, options->only_tensors))
        record_write_list(&j, "tensors", &tensors.type,
                          &(record_list){.make = show_make_tensor, .context = &next});
    json_end_document(&j);
    return !j.changed;
}
