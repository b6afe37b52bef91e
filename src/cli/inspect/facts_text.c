/* Facts that are not the value of one key, for people. */
#include "cli/inspect/facts.h"

#include "cli/core/foreign_file.h"
#include "cli/core/human.h"
#include "cli/core/input.h"
#include "cli/core/path.h"
#include "cli/core/shell.h"
#include "cli/core/stdout.h"
#include "cli/core/tensor_text.h"
#include "cli/core/text.h"
#include "gufo/schema.h"

#include <inttypes.h>

enum {
    BEFORE_TEXT = 20, /* columns: labels (show_text.c) */
    LEAST_COLUMNS = 12,
    LIST_ITEMS = 16,
};

size_t facts_room(void)
{
    size_t columns = stdout_columns();

    if (columns == 0)
        return SIZE_MAX / 2;
    return columns > BEFORE_TEXT + LEAST_COLUMNS ? columns - BEFORE_TEXT : LEAST_COLUMNS;
}

/* As much of a text as fits. */
static void put_str(FILE *out, gufo_str text)
{
    text_put_cut(out, text, TEXT_PLAIN, facts_room());
}

/* An adapter runs as it is, or becomes part of its base. */
void facts_put_merge(FILE *out, const overview *o)
{
    const char *path = gufo_model_name(o->model);
    gufo_str type;

    if (o->facts.is_made || gufo_key_str(o->model, "general.type", &type, NULL) != GUFO_OK ||
        !gufo_str_equal(type, gufo_str_of("adapter")))
        return;
    fputs("gufo lora merge BASE", out);
    if (path_is_standard(path))
        fputs(" ADAPTER", out);
    else
        shell_put_file(out, path);
    fputs(" -o OUT", out);
}

/* One file of a set whose other files are missing, or not asked for. */
void facts_put_shard(FILE *out, const overview *o)
{
    uint64_t number, count;

    if (input_is_part(o->model, &number, &count))
        fprintf(out, "%s of %s: parameters, types and sizes are those of this file alone",
                human_grouped(number).text, human_grouped(count).text);
}

void facts_put_parameters(FILE *out, const overview *o)
{
    if (o->tensors == 0 || o->parameters == UINT64_MAX)
        return;
    if (o->parameters >= 1000)
        fprintf(out, "%s (%s)", human_count(o->parameters).text, human_grouped(o->parameters).text);
    else
        fprintf(out, "%" PRIu64, o->parameters);
}

/* "Q4_K_M (Q4_K 112, F32 34, Q6_K 17)" */
void facts_put_quantization(FILE *out, const overview *o)
{
    const char *name = overview_file_type(o), *before = name != NULL ? " (" : "";

    fputs(name != NULL ? name : "", out);
    for (size_t type = OVERVIEW_TYPES; overview_next_type(o, &type); before = ", ")
        fprintf(out, "%s%s %s", before, overview_type_name(type),
                human_grouped(o->types[type].tensors).text);
    fputs(name != NULL && o->tensors > 0 ? ")" : "", out);
}

void facts_put_size(FILE *out, const overview *o)
{
    if (o->facts.is_made)
        return;
    fputs(human_file_size(o->facts.size).text, out);
    if (o->facts.size >= 1024)
        fprintf(out, " (%s bytes)", human_grouped(o->facts.size).text);
    if (gufo_model_shard_count(o->model) > 1)
        fprintf(out, " in %zu shards", gufo_model_shard_count(o->model));
}

void facts_put_bits(FILE *out, const overview *o)
{
    if (o->sizes_known && o->parameters > 0 && o->parameters < UINT64_MAX)
        fprintf(out, "%.2f", tensor_bits(o->tensor_size, o->parameters));
}

/* A line each: bos 128000 "<|begin_of_text|>" */
void facts_put_tokens(FILE *out, const overview *o)
{
    overview_token tokens[OVERVIEW_TOKENS];
    size_t count = overview_tokens(o->model, tokens);

    for (size_t i = 0; i < count; i++) {
        fprintf(out, "%s%.*s %" PRIu64, i > 0 ? "\n" : "", (int)tokens[i].role.len,
                tokens[i].role.data, tokens[i].id);
        fputs(tokens[i].has_text ? " \"" : " (not in the vocabulary)", out);
        if (tokens[i].has_text)
            text_put_cut(out, tokens[i].text, TEXT_QUOTED, 32);
        fputs(tokens[i].has_text ? "\"" : "", out);
    }
}

/* "yes (6,123 bytes), tool_use, rag"; "no" beside a vocabulary. */
void facts_put_templates(FILE *out, const overview *o)
{
    const char *before = "";
    gufo_str template, name;
    uint64_t position = 0;

    if (gufo_key_str(o->model, "tokenizer.chat_template", &template, NULL) == GUFO_OK) {
        fprintf(out, "yes (%s)", human_counted(template.len, "byte", "bytes").text);
        before = ", ";
    }
    for (size_t i = 0; i < LIST_ITEMS && overview_next_template(o->model, &position, &name); i++) {
        fputs(before, out);
        put_str(out, name);
        before = ", ";
    }
    if (before[0] == '\0' && gufo_key_entry(o->model, "tokenizer.ggml.tokens", NULL))
        fputs("no", out);
}

/* A line each: "Llama 3.1 8B by Meta Llama, https://..." */
void facts_put_parents(FILE *out, const overview *o)
{
    overview_parent parent;

    for (uint64_t i = 0; i < LIST_ITEMS && overview_parent_at(o->model, i, &parent); i++) {
        fputs(i > 0 ? "\n" : "", out);
        put_str(out, parent.name.len > 0 ? parent.name : parent.url);
        if (parent.organization.len > 0) {
            fputs(" by ", out);
            put_str(out, parent.organization);
        }
    }
}

/* What writes the file that is seen in place of a model in another format. */
static void put_maker(FILE *out, const char *path)
{
    foreign_kind kind;

    if (!foreign_file_find(path, &kind))
        return;
    fprintf(out, ", once 'gufo %s", kind.command);
    shell_put_file(out, path);
    fputs("' has written it", out);
}

void facts_put_format(FILE *out, const overview *o)
{
    fprintf(out, "GGUF v%" PRIu32 ", %s-endian, alignment %" PRIu32, o->facts.version,
            o->facts.byte_order == GUFO_BIG_ENDIAN ? "big" : "little", o->facts.alignment);
    if (o->facts.is_made)
        put_maker(out, gufo_model_name(o->model));
}

void facts_put_complete(FILE *out, const overview *o)
{
    uint64_t claimed = o->facts.claimed_tensors;

    if (gufo_model_damage(o->model) != NULL && claimed > 0)
        fprintf(out, "%s of %s tensors: the file is damaged", human_grouped(o->complete).text,
                human_grouped(claimed).text);
}
