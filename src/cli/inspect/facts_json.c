/* Facts that are not the value of one key, as JSON. */
#include "cli/inspect/facts.h"

#include "cli/core/tensor_text.h"

void facts_write_sums(json_writer *j, const overview *o)
{
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
        json_write_f64(j, "bits_per_weight", tensor_bits(o->tensor_size, o->parameters));
    json_write_u64(j, "tensor_count", o->tensors);
}

void facts_write_tokens(json_writer *j, const overview *o)
{
    overview_token tokens[OVERVIEW_TOKENS];
    size_t count = overview_tokens(o->model, tokens);

    json_begin_object(j, "special_tokens");
    for (size_t i = 0; i < count; i++) {
        json_begin_named_object(j, tokens[i].role);
        json_write_u64(j, "id", tokens[i].id);
        if (tokens[i].has_text)
            json_write_str(j, "text", tokens[i].text);
        json_end_object(j);
    }
    json_end_object(j);
}

void facts_write_templates(json_writer *j, const overview *o)
{
    uint64_t position = 0;
    gufo_str text, name;

    json_write_bool(j, "chat_template",
                    gufo_get_str(o->model, "tokenizer.chat_template", &text, NULL) == GUFO_OK);
    json_begin_array(j, "chat_templates");
    while (overview_next_template(o->model, &position, &name))
        json_write_str(j, NULL, name);
    json_end_array(j);
}

static void write_part(json_writer *j, const char *name, gufo_str text)
{
    if (text.len > 0)
        json_write_str(j, name, text);
}

void facts_write_parents(json_writer *j, const overview *o)
{
    overview_parent parent;

    json_begin_array(j, "base_models");
    for (uint64_t i = 0; overview_parent_at(o->model, i, &parent); i++) {
        json_begin_object(j, NULL);
        write_part(j, "name", parent.name);
        write_part(j, "organization", parent.organization);
        write_part(j, "url", parent.url);
        json_end_object(j);
    }
    json_end_array(j);
}
