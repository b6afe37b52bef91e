/* Values that other documents define: the layout of tensor data, and embedded tokenizers. */
#include <inttypes.h>

#include "base/text.h"
#include "schema/check/check.h"
#include "schema/registry/tables.h"
#include "schema/syntax/json.h"
#include "schema/syntax/rwkv_world.h"

static bool find_text(const check_context *c, const char *key, gufo_entry *entry)
{
    return gufo_metadata_find(c->model, key, entry) && entry->value.type == GUFO_VALUE_STRING;
}

/* ---- layout --------------------------------------------------------------------------------- */

static gufo_str layout_name(const void *table, size_t index)
{
    (void)table;
    return gufo_str_of(schema_layout_at(index)->name);
}

/* A known layout may be another architecture's. */
static void check_known_layout(check_context *c, const gufo_entry *entry,
                               const tensor_data_layout *layout)
{
    if (*layout->arch == '\0' || gufo_str_equal(c->architecture, gufo_str_of(layout->arch)))
        return;
    if (str_is_word(c->architecture, layout->others))
        schema_report(c, RULE_UNSPECIFIED, at_entry(entry),
                      "key %s is %s, which the specification describes for %s alone",
                      QUOTED(entry->key), QUOTED(entry->value.as.str), layout->arch);
    else
        schema_report(c, RULE_TENSOR_DATA_LAYOUT, at_entry(entry),
                      "key %s is %s, which is a layout of architecture %s", QUOTED(entry->key),
                      QUOTED(entry->value.as.str), layout->arch);
}

static void check_layout(check_context *c)
{
    gufo_entry entry;
    gufo_finding finding;
    const tensor_data_layout *layout;
    size_t nearest;

    if (c->architecture.len == 0 || !schema_arch_entry(c, &entry, "tensor_data_layout") ||
        entry.value.type != GUFO_VALUE_STRING)
        return;
    layout = schema_layout_find(entry.value.as.str);
    if (layout != NULL) {
        check_known_layout(c, &entry, layout);
        return;
    }
    finding = at_entry(&entry);
    if (nearest_find(entry.value.as.str, layout_name, NULL, schema_layout_count(), &nearest))
        finding.fix = fix_text(GUFO_FIX_SET, entry.key, layout_name(NULL, nearest));
    schema_report(c, RULE_TENSOR_DATA_LAYOUT, finding, "key %s is %s, which is not a known layout",
                  QUOTED(entry.key), QUOTED(entry.value.as.str));
}

/* ---- tokenizers ----------------------------------------------------------------------------- */

/* The parts that every tokenizer.json has: {"model": {"vocab": ...}}. */
typedef struct tokenizer_parts {
    bool in_model; /* the last member of the outermost object is the model */
    bool model, vocabulary;
} tokenizer_parts;

static void note_part(void *context, unsigned depth, gufo_str name, char first)
{
    tokenizer_parts *parts = context;

    if (depth == 1) {
        parts->in_model = first == '{' && gufo_str_equal(name, gufo_str_of("model"));
        parts->model |= parts->in_model;
    } else if (depth == 2 && parts->in_model && gufo_str_equal(name, gufo_str_of("vocab"))) {
        parts->vocabulary |= first == '{' || first == '[';
    }
}

static void check_huggingface(check_context *c)
{
    static const char key[] = "tokenizer.huggingface.json";
    tokenizer_parts parts = {0};
    gufo_entry entry;
    json_fault fault;

    if (!find_text(c, key, &entry))
        return;
    fault = json_check(entry.value.as.str, note_part, &parts);
    if (fault.reason != NULL) {
        gufo_finding finding = at_entry(&entry);

        finding.offset = entry.value_offset + fault.at;
        schema_report(c, RULE_HUGGINGFACE_JSON, finding, "%s is not JSON: it %s", key,
                      fault.reason);
    } else if (!parts.vocabulary) {
        schema_report(c, RULE_HUGGINGFACE_JSON, at_entry(&entry),
                      "%s is not a tokenizer: it has no %s", key,
                      parts.model ? "vocabulary in its model" : "model");
    }
}

static void check_rwkv_world(check_context *c)
{
    static const char key[] = "tokenizer.rwkv.world";
    gufo_finding finding;
    gufo_entry entry;
    world_survey survey;

    if (!find_text(c, key, &entry))
        return;
    c->status = rwkv_world_survey(entry.value.as.str, c->allocator, &survey, c->error);
    if (c->status != GUFO_OK || survey.status == GUFO_OK)
        return;
    finding = at_entry(&entry);
    finding.offset = entry.value_offset + survey.at;
    schema_report(c, RULE_RWKV_WORLD, finding, "%s: line %" PRIu64 " %s", key, survey.lines,
                  survey.fault);
}

void schema_check_documents(check_context *c)
{
    check_layout(c);
    check_huggingface(c);
    check_rwkv_world(c);
}
