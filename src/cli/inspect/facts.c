/* The table of facts, and the values of keys in it. */
#include "cli/inspect/facts.h"

#include "cli/core/human.h"
#include "cli/core/number.h"
#include "cli/core/text.h"
#include "cli/core/value.h"
#include "gufo/schema.h"

#include <stdlib.h>

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

static bool find_value(const fact *f, const overview *o, gufo_value *out)
{
    gufo_entry entry;

    if (!gufo_key_entry(o->model, f->key, &entry))
        return f->with != NULL && gufo_key_entry(o->model, f->with, NULL) &&
               gufo_key_value(o->model, f->key, out);
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
    char text[NUMBER_SIZE];
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
            fwrite(text, 1, number_f32(text, (float)number), out);
    }
    if (f->kind == COUNT && is_list)
        fputs(human_grouped(value->as.array.count).text, out);
    if (f->kind == LIST && is_list)
        put_list(out, &value->as.array);
    return "";
}

/* The text of a row, without what joins it to others; the caller frees it.  NULL for an empty
 * one. */
static char *describe(const fact *f, const overview *o)
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
static const fact *put_line(FILE *out, const overview *o, const fact *f)
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

void facts_put(const overview *o, void (*put)(const char *label, char *text))
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

void facts_write(json_writer *j, const char *key, const overview *o, uint64_t limit)
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
