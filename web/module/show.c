/* The members of `gufo show --json` without the summary, which the page has in pictures; tests compare them. */
#include "module.h"

#include <inttypes.h>
#include <string.h>

static void write_facts(json_writer *j, const gufo_facts *facts)
{
    json_write_u64(j, "schema_version", 1);
    json_write_u64(j, "file_size", facts->size);
    json_write_u64(j, "version", facts->version);
    json_write_text(j, "byte_order", facts->byte_order == GUFO_BIG_ENDIAN ? "big" : "little");
    json_write_u64(j, "alignment", facts->alignment);
    json_write_u64(j, "data_offset", facts->data_offset);
    json_write_u64(j, "data_size", facts->data_size);
}

static void write_shards(json_writer *j, const gufo_model *model)
{
    size_t count = gufo_model_shard_count(model);

    if (count < 2)
        return;
    json_begin_array(j, "shards");
    for (size_t i = 0; i < count; i++)
        json_write_text(j, NULL, gufo_model_name(gufo_model_shard(model, i)));
    json_end_array(j);
}

/* One file of a set, alone. */
static void write_part(json_writer *j, const gufo_model *model)
{
    uint64_t number, count;

    if (gufo_model_shard_count(model) > 1 ||
        gufo_model_get_u64(model, "split.count", &count, NULL) != GUFO_OK || count <= 1 ||
        gufo_model_get_u64(model, "split.no", &number, NULL) != GUFO_OK || number >= count)
        return;
    json_begin_object(j, "partial");
    json_write_u64(j, "number", number + 1);
    json_write_u64(j, "of", count);
    json_end_object(j);
}

static void write_damage(json_writer *j, const gufo_model *model)
{
    const gufo_error *damage = NULL;
    size_t shard = 0;

    for (; shard < gufo_model_shard_count(model) && damage == NULL; shard++)
        damage = gufo_model_damage(gufo_model_shard(model, shard));
    if (damage == NULL)
        return;
    json_begin_object(j, "damaged");
    json_write_offset(j, damage->offset);
    json_write_text(j, "message", damage->message);
    if (gufo_model_shard_count(model) > 1)
        json_write_u64(j, "shard", shard);
    json_end_object(j);
}

/* Whether an entry cannot be a member of an object: its key was there before, or is not text. */
static bool is_extra(const gufo_model *model, const gufo_entry *entry)
{
    gufo_entry first;

    return gufo_utf8_valid_prefix(entry->key) < entry->key.len ||
           (gufo_model_find_str(model, entry->key, &first) && first.key.data != entry->key.data);
}

static uint64_t write_entries(json_writer *j, const gufo_model *model, uint64_t limit, bool extra)
{
    uint64_t others = 0;
    gufo_entry entry;

    for (uint64_t i = 0; gufo_model_entry_at(model, i, &entry); i++) {
        if (is_extra(model, &entry) != extra) {
            others++;
            continue;
        }
        if (extra) {
            json_begin_object(j, NULL);
            json_write_str(j, "key", entry.key);
        } else {
            json_begin_named_object(j, entry.key);
        }
        json_write_value(j, NULL, &entry.value, GUFO_VALUE_JSON_MEMBERS, limit);
        json_end_object(j);
    }
    return others;
}

static void write_metadata(json_writer *j, const gufo_model *model, uint64_t limit)
{
    uint64_t others;

    json_begin_object(j, "metadata");
    others = write_entries(j, model, limit, false);
    json_end_object(j);
    if (others == 0)
        return;
    json_begin_array(j, "duplicates");
    (void)write_entries(j, model, limit, true);
    json_end_array(j);
}

static void write_type(json_writer *j, uint32_t id)
{
    const gufo_element_type *type = gufo_element_type_by_id(id);
    char text[24];

    (void)snprintf(text, sizeof text, "type %" PRIu32, id);
    json_write_text(j, "type", type != NULL ? type->name : text);
}

static void write_tensors(json_writer *j, const gufo_model *model)
{
    bool set = gufo_model_shard_count(model) > 1;
    gufo_tensor tensor;

    json_begin_array(j, "tensors");
    for (uint64_t i = 0; gufo_model_tensor_at(model, i, &tensor); i++) {
        json_begin_object(j, NULL);
        json_write_str(j, "name", tensor.name);
        write_type(j, tensor.type);
        json_begin_array(j, "dims");
        for (uint32_t d = 0; d < tensor.n_dims; d++)
            json_write_u64(j, NULL, tensor.dims[d]);
        json_end_array(j);
        json_write_u64(j, "elements", tensor.elements);
        json_write_offset(j, tensor.offset);
        json_write_u64(j, "size", tensor.size);
        if (set)
            json_write_u64(j, "shard", tensor.shard + 1);
        json_end_object(j);
    }
    json_end_array(j);
}

void show_write(const viewer_model *m, uint64_t array_limit, json_writer *j)
{
    gufo_facts facts = gufo_model_facts(m->model);

    json_begin_object(j, NULL);
    json_write_text(j, "path", m->files[0].name);
    write_facts(j, &facts);
    write_shards(j, m->model);
    write_part(j, m->model);
    write_damage(j, m->model);
    write_metadata(j, m->model, array_limit);
    write_tensors(j, m->model);
    json_end_object(j);
}

void error_write(json_writer *j, const gufo_error *error)
{
    json_begin_object(j, "error");
    json_write_text(j, "code", gufo_status_name(error->code));
    json_write_text(j, "file", error->file);
    json_write_offset(j, error->offset);
    json_write_text(j, "message", error->message);
    json_end_object(j);
}
