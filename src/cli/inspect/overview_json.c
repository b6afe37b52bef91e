/* The facts of a model as JSON: sums, then what keys say as they say it. */
#include "cli/inspect/overview.h"

#include "cli/core/value.h"

/* Members that are the value of a key. */
typedef struct value_member {
    const char *name, *key; /* "{arch}" in the key is the architecture of the file */
} value_member;

static const value_member identity[] = {
    {"name", "general.name"},
    {"type", "general.type"},
    {"architecture", "general.architecture"},
    {0},
};

static const value_member numbers[] = {
    {"context_length", "{arch}.context_length"},
    {"embedding_length", "{arch}.embedding_length"},
    {"block_count", "{arch}.block_count"},
    {"feed_forward_length", "{arch}.feed_forward_length"},
    {"head_count", "{arch}.attention.head_count"},
    {"head_count_kv", "{arch}.attention.head_count_kv"},
    {"expert_count", "{arch}.expert_count"},
    {"expert_used_count", "{arch}.expert_used_count"},
    {"expert_shared_count", "{arch}.expert_shared_count"},
    {0},
};

static const value_member rope[] = {
    {"freq_base", "{arch}.rope.freq_base"},
    {"dimension_count", "{arch}.rope.dimension_count"},
    {"scaling_type", "{arch}.rope.scaling.type"},
    {"scaling_factor", "{arch}.rope.scaling.factor"},
    {"original_context_length", "{arch}.rope.scaling.original_context_length"},
    {0},
};

static const value_member origin[] = {
    {"size_label", "general.size_label"},
    {"finetune", "general.finetune"},
    {"version", "general.version"},
    {"author", "general.author"},
    {"organization", "general.organization"},
    {"quantized_by", "general.quantized_by"},
    {"description", "general.description"},
    {"license", "general.license"},
    {"license_name", "general.license.name"},
    {"license_link", "general.license.link"},
    {"url", "general.url"},
    {"repo_url", "general.repo_url"},
    {"languages", "general.languages"},
    {"tags", "general.tags"},
    {"datasets", "general.datasets"},
    {0},
};

/* ---- members -------------------------------------------------------------------------------- */

typedef struct summary {
    json_writer *j;
    const overview *o;
    uint64_t limit;
    bool sound;
} summary;

static void write_value(summary *s, const char *name, const char *key)
{
    gufo_entry entry;

    if (overview_find(s->o->model, key, &entry))
        s->sound = value_write_plain(s->j, name, &entry.value, s->limit) && s->sound;
}

static void write_values(summary *s, const value_member *members)
{
    for (; members->name != NULL; members++)
        write_value(s, members->name, members->key);
}

static void write_sums(summary *s)
{
    json_writer *j = s->j;
    const overview *o = s->o;

    if (o->parameters < UINT64_MAX)
        json_write_u64(j, "parameters", o->parameters);
    json_write_text(j, "quantization", overview_quantization(o));
    json_write_text(j, "file_type", overview_file_type(o));
    json_begin_object(j, "element_types");
    for (size_t type = OVERVIEW_TYPES; overview_next_type(o, &type);)
        json_write_u64(j, overview_type_name(type), o->types[type].tensors);
    json_end_object(j);
    json_write_u64(j, "size", o->facts.size);
    json_write_u64(j, "tensor_size", o->tensor_size);
    if (o->sizes_known && o->parameters > 0 && o->parameters < UINT64_MAX)
        json_write_f64(j, "bits_per_weight", (double)o->tensor_size * 8 / (double)o->parameters);
    json_write_u64(j, "tensor_count", o->tensors);
}

static void write_rope(summary *s)
{
    json_begin_object(s->j, "rope");
    write_values(s, rope);
    json_end_object(s->j);
}

static void write_vocabulary(summary *s)
{
    gufo_array tokens;

    json_begin_object(s->j, "vocabulary");
    if (gufo_get_array(s->o->model, "tokenizer.ggml.tokens", GUFO_VALUE_STRING, &tokens, NULL) ==
        GUFO_OK)
        json_write_u64(s->j, "size", tokens.count);
    write_value(s, "model", "tokenizer.ggml.model");
    write_value(s, "pre", "tokenizer.ggml.pre");
    json_end_object(s->j);
}

static void write_tokens(summary *s)
{
    overview_token tokens[OVERVIEW_TOKENS];
    size_t count = overview_tokens(s->o->model, tokens);

    json_begin_object(s->j, "special_tokens");
    for (size_t i = 0; i < count; i++) {
        json_begin_named_object(s->j, tokens[i].role);
        json_write_u64(s->j, "id", tokens[i].id);
        if (tokens[i].has_text)
            json_write_str(s->j, "text", tokens[i].text);
        json_end_object(s->j);
    }
    json_end_object(s->j);
}

static void write_templates(summary *s)
{
    uint64_t position = 0;
    gufo_str text, name;

    json_write_bool(s->j, "chat_template",
                    gufo_get_str(s->o->model, "tokenizer.chat_template", &text, NULL) == GUFO_OK);
    json_begin_array(s->j, "chat_templates");
    while (overview_next_template(s->o->model, &position, &name))
        json_write_str(s->j, NULL, name);
    json_end_array(s->j);
}

static void write_part(json_writer *j, const char *name, gufo_str text)
{
    if (text.len > 0)
        json_write_str(j, name, text);
}

static void write_parents(summary *s)
{
    overview_parent parent;

    json_begin_array(s->j, "base_models");
    for (uint64_t i = 0; overview_parent_at(s->o->model, i, &parent); i++) {
        json_begin_object(s->j, NULL);
        write_part(s->j, "name", parent.name);
        write_part(s->j, "organization", parent.organization);
        write_part(s->j, "url", parent.url);
        json_end_object(s->j);
    }
    json_end_array(s->j);
}

bool overview_write_json(json_writer *j, const char *key, const overview *o, uint64_t limit)
{
    summary s = {j, o, limit, true};

    json_begin_object(j, key);
    write_values(&s, identity);
    write_sums(&s);
    write_values(&s, numbers);
    write_rope(&s);
    write_vocabulary(&s);
    write_tokens(&s);
    write_templates(&s);
    write_values(&s, origin);
    write_parents(&s);
    json_end_object(j);
    return s.sound;
}
