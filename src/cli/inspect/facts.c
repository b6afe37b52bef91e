/* The table of facts, and the values of keys in it. */
#include "cli/core/files/foreign_file.h"
#include "cli/core/files/input.h"
#include "cli/core/files/path.h"
#include "cli/core/records/tensor_text.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/number.h"
#include "cli/core/values/value.h"
#include "cli/inspect/show.h"
#include "gufo/schema.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Facts that are not the value of one key, as JSON. */

static void facts_write_sums(json_writer *j, const gufo_summary *o)
{
    if (o->parameters < UINT64_MAX)
        json_write_u64(j, "parameters", o->parameters);
    json_write_text(j, "quantization", o->quantization);
    json_write_text(j, "file_type", o->file_type);
    json_begin_object(j, "element_types");
    for (size_t type = GUFO_SUMMARY_TYPES; gufo_summary_next_type(o, &type);)
        json_write_u64(j, gufo_summary_type_name(type), o->types[type].tensors);
    json_end_object(j);
    json_write_u64(j, "size", o->facts.size);
    json_write_u64(j, "tensor_size", o->tensor_size);
    if (o->bits_per_weight > 0)
        json_write_f64(j, "bits_per_weight", o->bits_per_weight);
    json_write_u64(j, "tensor_count", o->tensors);
}

static void facts_write_tokens(json_writer *j, const gufo_summary *o)
{
    gufo_model_token tokens[GUFO_MOST_SPECIAL_TOKENS];
    size_t count = gufo_model_special_tokens(o->model, tokens);

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

/* The next chat template that has a name. */
static bool facts_next_template(const gufo_model *model, uint64_t *place, gufo_str *name)
{
    while (gufo_model_next_chat_template(model, place, name, NULL))
        if (name->len > 0)
            return true;
    return false;
}

static void facts_write_templates(json_writer *j, const gufo_summary *o)
{
    uint64_t place = 0;
    gufo_str text, name;

    json_write_bool(j, "chat_template",
                    gufo_model_get_str(o->model, "tokenizer.chat_template", &text, NULL) ==
                        GUFO_OK);
    json_begin_array(j, "chat_templates");
    while (facts_next_template(o->model, &place, &name))
        json_write_str(j, NULL, name);
    json_end_array(j);
}

static void write_part(json_writer *j, const char *name, gufo_str text)
{
    if (text.len > 0)
        json_write_str(j, name, text);
}

static void facts_write_parents(json_writer *j, const gufo_summary *o)
{
    gufo_parent parent;

    json_begin_array(j, "base_models");
    for (uint64_t i = 0; gufo_model_parent_at(o->model, i, &parent); i++) {
        json_begin_object(j, NULL);
        write_part(j, "name", parent.name);
        write_part(j, "organization", parent.organization);
        write_part(j, "url", parent.url);
        json_end_object(j);
    }
    json_end_array(j);
}

/* Facts that are not the value of one key, for people. */

enum {
    BEFORE_TEXT = 20, /* columns: labels (show_text.c) */
    LEAST_COLUMNS = 12,
    LIST_ITEMS = 16,
};

/* The columns that a terminal has left for a text. */
static size_t facts_room(void)
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
static void facts_put_merge(FILE *out, const gufo_summary *o)
{
    const char *path = gufo_model_name(o->model);
    gufo_str type;

    if (o->facts.is_made || gufo_model_key_str(o->model, "general.type", &type, NULL) != GUFO_OK ||
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
static void facts_put_shard(FILE *out, const gufo_summary *o)
{
    uint64_t number, count;

    if (input_is_part(o->model, &number, &count))
        fprintf(out, "%s of %s: parameters, types and sizes are those of this file alone",
                human_grouped(number).text, human_grouped(count).text);
}

static void facts_put_parameters(FILE *out, const gufo_summary *o)
{
    if (o->tensors == 0 || o->parameters == UINT64_MAX)
        return;
    if (o->parameters >= 1000)
        fprintf(out, "%s (%s)", human_count(o->parameters).text, human_grouped(o->parameters).text);
    else
        fprintf(out, "%" PRIu64, o->parameters);
}

/* "Q4_K_M (Q4_K 112, F32 34, Q6_K 17)" */
static void facts_put_quantization(FILE *out, const gufo_summary *o)
{
    const char *name = o->file_type, *before = name != NULL ? " (" : "";

    fputs(name != NULL ? name : "", out);
    for (size_t type = GUFO_SUMMARY_TYPES; gufo_summary_next_type(o, &type); before = ", ")
        fprintf(out, "%s%s %s", before, gufo_summary_type_name(type),
                human_grouped(o->types[type].tensors).text);
    fputs(name != NULL && o->tensors > 0 ? ")" : "", out);
}

static void facts_put_size(FILE *out, const gufo_summary *o)
{
    if (o->facts.is_made)
        return;
    fputs(human_file_size(o->facts.size).text, out);
    if (o->facts.size >= 1024)
        fprintf(out, " (%s bytes)", human_grouped(o->facts.size).text);
    if (gufo_model_shard_count(o->model) > 1)
        fprintf(out, " in %zu shards", gufo_model_shard_count(o->model));
}

static void facts_put_bits(FILE *out, const gufo_summary *o)
{
    if (o->bits_per_weight > 0)
        fprintf(out, "%.2f", o->bits_per_weight);
}

/* A line each: bos 128000 "<|begin_of_text|>" */
static void facts_put_tokens(FILE *out, const gufo_summary *o)
{
    gufo_model_token tokens[GUFO_MOST_SPECIAL_TOKENS];
    size_t count = gufo_model_special_tokens(o->model, tokens);

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
static void facts_put_templates(FILE *out, const gufo_summary *o)
{
    const char *before = "";
    gufo_str template, name;
    uint64_t place = 0;

    if (gufo_model_key_str(o->model, "tokenizer.chat_template", &template, NULL) == GUFO_OK) {
        fprintf(out, "yes (%s)", human_counted(template.len, "byte", "bytes").text);
        before = ", ";
    }
    for (size_t i = 0; i < LIST_ITEMS && facts_next_template(o->model, &place, &name); i++) {
        fputs(before, out);
        put_str(out, name);
        before = ", ";
    }
    if (before[0] == '\0' && gufo_model_key_entry(o->model, "tokenizer.ggml.tokens", NULL))
        fputs("no", out);
}

/* A line each: "Llama 3.1 8B by Meta Llama, https://..." */
static void facts_put_parents(FILE *out, const gufo_summary *o)
{
    gufo_parent parent;

    for (uint64_t i = 0; i < LIST_ITEMS && gufo_model_parent_at(o->model, i, &parent); i++) {
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

static void facts_put_format(FILE *out, const gufo_summary *o)
{
    fprintf(out, "GGUF v%" PRIu32 ", %s-endian, alignment %" PRIu32, o->facts.version,
            o->facts.byte_order == GUFO_BIG_ENDIAN ? "big" : "little", o->facts.alignment);
    if (o->facts.is_made)
        put_maker(out, gufo_model_name(o->model));
}

static void facts_put_complete(FILE *out, const gufo_summary *o)
{
    uint64_t claimed = o->facts.claimed_tensors;

    if (gufo_model_damage(o->model) != NULL && claimed > 0)
        fprintf(out, "%s of %s tensors: the file is damaged", human_grouped(o->complete).text,
                human_grouped(claimed).text);
}

#define PART_COLUMNS 32 /* of a text inside a line */
#define MOST_WHOLE 1e12 /* of floats that are written as whole numbers */

/* How text shows the value of a key. */
typedef enum fact_kind { NOT_SHOWN, TEXT, NUMBER, FLOAT, COUNT, LIST } fact_kind;

/* How a value continues the line. */
typedef enum fact_join {
    AFTER_COMMA,
    IN_BRACKETS, /* together with its neighbours, if the line has begun */
    AFTER_LAST,  /* directly, if the last value with another join is there */
} fact_join;

/* Writes a line, or nothing if the file has no such fact.  A newline begins another line below. */
typedef void fact_text(FILE *out, const gufo_summary *o);
/* Writes members of an object. */
typedef void fact_json(json_writer *j, const gufo_summary *o);

typedef struct fact {
    const char *label;  /* begins a line */
    const char *member; /* of JSON, whatever type the value has */
    const char *key;    /* "{arch}" in it is the architecture */
    const char *with;   /* a key with which readers take a value where the other one is missing */
    fact_kind kind;
    fact_join join;
    const char *before, *after; /* of the value, in text */
    const char *unless;         /* a value that the text omits */
    const char *object;         /* of JSON, that the member is in */
    fact_text *put;             /* in place of the key */
    fact_json *write;
} fact;

static const char rope[] = "rope", vocabulary[] = "vocabulary"; /* compared by address */

static const fact facts[] = {
    {"Name", "name", "general.name", .kind = TEXT},
    {"Type", "type", "general.type", .kind = TEXT, .unless = "model"},
    {"Architecture", "architecture", "general.architecture", .kind = TEXT},
    {"Merged by", .put = facts_put_merge},
    {"Shard", .put = facts_put_shard},
    {"Parameters", .put = facts_put_parameters, .write = facts_write_sums},
    {"Quantization", .put = facts_put_quantization},
    {"Size", .put = facts_put_size},
    {"Bits per weight", .put = facts_put_bits},
    {"Context length", "context_length", "{arch}.context_length", .kind = NUMBER},
    {"Embedding length", "embedding_length", "{arch}.embedding_length", .kind = NUMBER},
    {"Blocks", "block_count", "{arch}.block_count", .kind = NUMBER},
    {NULL, "feed_forward_length", .key = "{arch}.feed_forward_length"},
    {"Attention heads", "head_count", "{arch}.attention.head_count", .kind = NUMBER},
    {NULL, "head_count_kv", "{arch}.attention.head_count_kv", .kind = NUMBER, .join = IN_BRACKETS,
     .after = " key/value"},
    {"Experts", "expert_count", "{arch}.expert_count", .kind = NUMBER},
    {NULL, "expert_used_count", "{arch}.expert_used_count", .kind = NUMBER, .join = IN_BRACKETS,
     .after = " used"},
    {NULL, "expert_shared_count", "{arch}.expert_shared_count", .kind = NUMBER, .join = IN_BRACKETS,
     .after = " shared"},
    {"Rope", "freq_base", "{arch}.rope.freq_base", .kind = FLOAT, .before = "base ",
     .object = rope},
    {NULL, "dimension_count", "{arch}.rope.dimension_count", .kind = NUMBER, .after = " dimensions",
     .object = rope},
    {NULL, "scaling_type", "{arch}.rope.scaling.type", .with = "{arch}.rope.scaling.factor",
     .kind = TEXT, .after = " scaling", .unless = "none", .object = rope},
    {NULL, "scaling_factor", "{arch}.rope.scaling.factor", .kind = FLOAT, .join = AFTER_LAST,
     .before = " by ", .object = rope},
    {NULL, "original_context_length", "{arch}.rope.scaling.original_context_length", .kind = NUMBER,
     .join = AFTER_LAST, .before = " from ", .object = rope},
    {"Vocabulary", "size", "tokenizer.ggml.tokens", .kind = COUNT, .after = " tokens",
     .object = vocabulary},
    {NULL, "model", "tokenizer.ggml.model", .kind = TEXT, .join = IN_BRACKETS,
     .object = vocabulary},
    {NULL, "pre", "tokenizer.ggml.pre", .kind = TEXT, .join = AFTER_LAST,
     .before = ", pre-tokenizer ", .object = vocabulary},
    {"Special tokens", .put = facts_put_tokens, .write = facts_write_tokens},
    {"Chat template", .put = facts_put_templates, .write = facts_write_templates},
    {NULL, "size_label", .key = "general.size_label"},
    {"Fine tune", "finetune", "general.finetune", .kind = TEXT},
    {"Version", "version", "general.version", .kind = TEXT},
    {"Author", "author", "general.author", .kind = TEXT},
    {"Organization", "organization", "general.organization", .kind = TEXT},
    {"Quantized by", "quantized_by", "general.quantized_by", .kind = TEXT},
    {"Base model", .put = facts_put_parents},
    {NULL, "description", .key = "general.description"},
    {"License", "license", "general.license", .kind = TEXT},
    {NULL, "license_name", .key = "general.license.name"},
    {NULL, "license_link", .key = "general.license.link"},
    {NULL, "url", .key = "general.url"},
    {NULL, "repo_url", .key = "general.repo_url"},
    {"Languages", "languages", "general.languages", .kind = LIST},
    {"Tags", "tags", "general.tags", .kind = LIST},
    {"Data sets", "datasets", "general.datasets", .kind = LIST},
    {NULL, .write = facts_write_parents},
    {"Repository", NULL, "general.repo_url", .kind = TEXT},
    {"Format", .put = facts_put_format},
    {"Complete", .put = facts_put_complete},
};

#define END (facts + sizeof facts / sizeof *facts)

/* ---- values --------------------------------------------------------------------------------- */

static bool find_value(const fact *f, const gufo_summary *o, gufo_value *out)
{
    gufo_entry entry;

    if (!gufo_model_key_entry(o->model, f->key, &entry))
        return f->with != NULL && gufo_model_key_entry(o->model, f->with, NULL) &&
               gufo_model_key_value(o->model, f->key, out);
    *out = entry.value;
    return true;
}

/* ---- text ----------------------------------------------------------------------------------- */

/* Writes a number, or the range of an array with one number per block; nothing for anything else.
 * Returns what follows the words after it. */
static const char *put_number(FILE *out, const gufo_value *value)
{
    uint64_t number, low = UINT64_MAX, high = 0;
    gufo_value element;

    if (value->type != GUFO_VALUE_ARRAY) {
        if (gufo_value_u64(value, &number, NULL) == GUFO_OK)
            fputs(human_grouped(number).text, out);
        return "";
    }
    gufo_array_iter iter = gufo_array_start(&value->as.array);

    while (gufo_array_next(&iter, &element)) {
        if (gufo_value_u64(&element, &number, NULL) != GUFO_OK)
            return "";
        low = number < low ? number : low;
        high = number > high ? number : high;
    }
    if (low <= high)
        fputs(human_grouped(low).text, out);
    if (low < high)
        fprintf(out, " to %s", human_grouped(high).text);
    return low < high ? ", by block" : "";
}

/* "en, de, fr, ..." */
static void put_list(FILE *out, const gufo_array *array)
{
    gufo_array_iter iter = gufo_array_start(array);
    gufo_value item;
    size_t used = 0;

    while (gufo_array_next(&iter, &item)) {
        fputs(used > 0 ? ", " : "", out);
        if (used > 0 && used + item.as.str.len + 16 > facts_room()) {
            fprintf(out, "... (%s)", human_grouped(array->count).text);
            return;
        }
        used += 2 + text_put_cut(out, item.as.str, TEXT_PLAIN, facts_room());
    }
}

static const char *put_value(FILE *out, const fact *f, const gufo_value *value)
{
    bool is_text = value->type == GUFO_VALUE_STRING;
    bool is_list = value->type == GUFO_VALUE_ARRAY && value->as.array.type == GUFO_VALUE_STRING;
    char text[GUFO_NUMBER_SIZE];
    double number;

    if (f->kind == NUMBER)
        return put_number(out, value);
    if (f->kind == TEXT && is_text &&
        (f->unless == NULL || !gufo_str_equal(value->as.str, gufo_str_of(f->unless))))
        text_put_cut(out, value->as.str, TEXT_PLAIN,
                     f->label != NULL ? facts_room() : PART_COLUMNS);
    if (f->kind == FLOAT && gufo_value_f64(value, &number, NULL) == GUFO_OK) {
        if (number >= 0 && number < MOST_WHOLE && number == (double)(uint64_t)number)
            fputs(human_grouped((uint64_t)number).text, out);
        else
            fwrite(text, 1, gufo_number_f32(text, (float)number), out);
    }
    if (f->kind == COUNT && is_list)
        fputs(human_grouped(value->as.array.count).text, out);
    if (f->kind == LIST && is_list)
        put_list(out, &value->as.array);
    return "";
}

/* The text of a row, without what joins it to others; the caller frees it.  NULL for an empty
 * one. */
static char *describe(const fact *f, const gufo_summary *o)
{
    const char *rest = "";
    gufo_value value;
    text_stream text;

    if (!text_stream_open(&text))
        return NULL;
    if (f->put != NULL)
        f->put(text.out, o);
    else if (f->kind != NOT_SHOWN && find_value(f, o, &value))
        rest = put_value(text.out, f, &value);
    if (ftell(text.out) > 0)
        fprintf(text.out, "%s%s", f->after != NULL ? f->after : "", rest);
    return text_stream_close(&text);
}

/* The line that begins with a row; returns the row of the next line. */
static const fact *put_line(FILE *out, const gufo_summary *o, const fact *f)
{
    bool begun = false, last = false, open = false;

    do {
        char *text = describe(f, o);

        if ((f->join == IN_BRACKETS && !begun) || (f->join == AFTER_LAST && !last)) {
            free(text);
            text = NULL;
        }
        last = f->join == AFTER_LAST ? last : text != NULL;
        if (text == NULL)
            continue;
        if (f->join == IN_BRACKETS)
            fputs(open ? ", " : " (", out);
        else if (f->join == AFTER_COMMA && begun)
            fputs(", ", out);
        fprintf(out, "%s%s", f->before != NULL ? f->before : "", text);
        open = open || f->join == IN_BRACKETS;
        begun = true;
        free(text);
    } while (++f < END && f->label == NULL);
    fputs(open ? ")" : "", out);
    return f;
}

void facts_put(const gufo_summary *o, void (*put)(const char *label, char *text))
{
    for (const fact *f = facts, *next; f < END; f = next) {
        text_stream line;
        char *text;

        if (!text_stream_open(&line))
            return;
        next = put_line(line.out, o, f);
        text = text_stream_close(&line);
        if (text != NULL)
            put(f->label, text);
        free(text);
    }
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void write_value(json_writer *j, const fact *f, const gufo_value *value, uint64_t limit)
{
    if (f->kind != COUNT)
        value_write_plain(j, f->member, value, limit);
    else if (value->type == GUFO_VALUE_ARRAY && value->as.array.type == GUFO_VALUE_STRING)
        json_write_u64(j, f->member, value->as.array.count);
}

/* Members of one object are neighbours in the table. */
static void change_object(json_writer *j, const char *from, const char *to)
{
    if (from != to && from != NULL)
        json_end_object(j);
    if (from != to && to != NULL)
        json_begin_object(j, to);
}

void facts_write(json_writer *j, const char *key, const gufo_summary *o, uint64_t limit)
{
    const char *object = NULL;
    gufo_value value;

    json_begin_object(j, key);
    for (const fact *f = facts; f < END; f++) {
        change_object(j, object, f->object);
        object = f->object;
        if (f->write != NULL)
            f->write(j, o);
        else if (f->member != NULL && find_value(f, o, &value))
            write_value(j, f, &value, limit);
    }
    json_end_object(j);
}
