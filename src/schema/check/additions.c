/* Values that programs know and the specification does not list (spec, General metadata, Scaling,
 * Tokenizer, ggml_type).  Unknown values break rules of their own. */
#include <inttypes.h>

#include "schema/check/check.h"
#include "schema/check/vocabulary.h"
#include "schema/registry/tables.h"

static void report_value(check_context *c, const gufo_entry *entry, const char *value)
{
    schema_report(c, RULE_UNSPECIFIED, at_entry(entry),
                  "key %s is %s, which programs know, but which the specification does not list",
                  QUOTED(entry->key), value);
}

static void check_text(check_context *c, const gufo_entry *entry, const char *key, bool known)
{
    if (known && values_find(key, entry->value.as.str) != VALUE_STANDARD)
        report_value(c, entry, QUOTED(entry->value.as.str));
}

static void check_scaling(check_context *c)
{
    static const char key[] = "{arch}.rope.scaling.type";
    gufo_entry entry;

    if (c->architecture.len > 0 && schema_arch_entry(c, &entry, "rope.scaling.type") &&
        entry.value.type == GUFO_VALUE_STRING)
        check_text(c, &entry, key, values_find(key, entry.value.as.str) != VALUE_UNKNOWN);
}

static void check_model(check_context *c)
{
    static const char key[] = "tokenizer.ggml.model";
    gufo_entry entry;

    if (gufo_metadata_find(c->model, key, &entry) && entry.value.type == GUFO_VALUE_STRING)
        check_text(c, &entry, key, gufo_tokenizer_model_find(entry.value.as.str) != NULL);
}

static void check_file_type(check_context *c)
{
    static const char key[] = "general.file_type";
    const gufo_file_type *type;
    gufo_entry entry;
    uint64_t id;

    if (!schema_check_number(c, key, &entry, &id) || values_find_number(key, id) == VALUE_STANDARD)
        return;
    type = gufo_file_type_by_id(id);
    if (type != NULL && (type->flags & GUFO_FILE_TYPE_REMOVED) == 0)
        report_value(c, &entry, schema_text(c, "%" PRIu64 " (%s)", id, type->name));
}

/* One finding for all tensors: the first, and how many there are. */
static void check_element_types(check_context *c)
{
    gufo_tensor tensor, first;
    uint64_t count = 0;

    for (uint64_t i = 0; gufo_tensor_at(c->model, i, &tensor); i++) {
        const gufo_element_type *type = gufo_element_type_by_id(tensor.type);

        if (type != NULL && (type->flags & GUFO_ELEMENT_REMOVED) == 0 &&
            values_find_number("ggml_type", type->id) != VALUE_STANDARD && count++ == 0)
            first = tensor;
    }
    if (count > 0)
        schema_report(
            c, RULE_UNSPECIFIED, at_tensor(&first),
            "tensor %s has type %s, which programs know, but which the specification does "
            "not list%s",
            QUOTED(first.name), gufo_element_type_by_id(first.type)->name,
            schema_and_more(c, count));
}

void schema_check_additions(check_context *c)
{
    check_file_type(c);
    check_model(c);
    check_scaling(c);
    check_element_types(c);
}
