/* The facts at the top of `gufo show`: a table of lines, each of which is left out where the file
 * does not say. */
#include "cli/inspect/show.h"

#include "cli/core/human.h"
#include "cli/core/number.h"
#include "cli/core/stdout.h"
#include "cli/core/text.h"
#include "gufo/schema.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BEFORE_TEXT 20 /* columns: labels (show_text.c) */
#define LEAST_COLUMNS 24
#define LIST_ITEMS 16

/* A line says a fact, or what an entry holds; nothing where the file does not say.  A newline
 * begins another line below it. */
typedef struct summary_line {
    const char *label;
    void (*fact)(FILE *out, const overview *o);
    void (*value)(FILE *out, const overview *o, const struct summary_line *line);
    const char *key;            /* "{arch}" in it is the architecture */
    const char *detail, *words; /* of a number: a second key, and what its number counts */
} summary_line;

/* The columns for a text: what a terminal has left. */
static size_t text_room(void)
{
    size_t columns = stdout_columns();

    if (columns == 0)
        return SIZE_MAX / 2;
    return columns > BEFORE_TEXT + LEAST_COLUMNS ? columns - BEFORE_TEXT : LEAST_COLUMNS;
}

/* ---- values --------------------------------------------------------------------------------- */

static void put_str(FILE *out, gufo_str text)
{
    text_put_cut(out, text, TEXT_PLAIN, text_room());
}

static void put_text(FILE *out, const overview *o, const summary_line *line)
{
    gufo_str text;

    if (gufo_get_str(o->model, line->key, &text, NULL) == GUFO_OK)
        put_str(out, text);
}

/* "en, de, fr, ..." */
static void put_list(FILE *out, const overview *o, const summary_line *line)
{
    gufo_array array;
    gufo_value item;
    size_t used = 0;

    if (gufo_get_array(o->model, line->key, GUFO_VALUE_STRING, &array, NULL) != GUFO_OK)
        return;
    gufo_array_iter iter = gufo_array_start(&array);

    while (gufo_array_next(&iter, &item)) {
        fputs(used > 0 ? ", " : "", out);
        if (used > 0 && used + item.as.str.len + 16 > text_room()) {
            fprintf(out, "... (%s)", human_grouped(array.count).text);
            return;
        }
        used += 2 + text_put_cut(out, item.as.str, TEXT_PLAIN, text_room());
    }
}

typedef struct number_text {
    char text[96];
    const char *by_block; /* what follows it */
} number_text;

/* A number, or the range of an array with one number per block; "" for anything else. */
static number_text describe_number(const gufo_value *value)
{
    uint64_t number, low = UINT64_MAX, high = 0;
    gufo_value element;
    number_text t = {"", ""};

    if (gufo_value_u64(value, &number, NULL) == GUFO_OK)
        snprintf(t.text, sizeof t.text, "%s", human_grouped(number).text);
    if (value->type != GUFO_VALUE_ARRAY)
        return t;
    gufo_array_iter iter = gufo_array_start(&value->as.array);

    while (gufo_array_next(&iter, &element)) {
        if (gufo_value_u64(&element, &number, NULL) != GUFO_OK)
            return t;
        low = number < low ? number : low;
        high = number > high ? number : high;
    }
    if (low == high)
        snprintf(t.text, sizeof t.text, "%s", human_grouped(low).text);
    else if (low < high)
        snprintf(t.text, sizeof t.text, "%s to %s", human_grouped(low).text,
                 human_grouped(high).text);
    t.by_block = low < high ? ", by block" : "";
    return t;
}

static number_text number_at(const overview *o, const char *key)
{
    gufo_entry entry;

    return key != NULL && overview_find(o->model, key, &entry) ? describe_number(&entry.value)
                                                               : (number_text){"", ""};
}

/* "32 (8 key/value)" */
static void put_number(FILE *out, const overview *o, const summary_line *line)
{
    number_text number = number_at(o, line->key), more = number_at(o, line->detail);

    fprintf(out, "%s%s", number.text, number.by_block);
    if (number.text[0] != '\0' && more.text[0] != '\0')
        fprintf(out, " (%s %s%s)", more.text, line->words, more.by_block);
}

/* ---- size and shape ------------------------------------------------------------------------- */

static void put_kind(FILE *out, const overview *o, const summary_line *line)
{
    gufo_str kind;

    if (gufo_get_str(o->model, line->key, &kind, NULL) == GUFO_OK &&
        !gufo_str_equal(kind, gufo_str_of("model")))
        put_str(out, kind);
}

static void put_parameters(FILE *out, const overview *o)
{
    if (o->tensors == 0 || o->parameters == UINT64_MAX)
        return;
    if (o->parameters >= 1000)
        fprintf(out, "%s (%s)", human_count(o->parameters).text, human_grouped(o->parameters).text);
    else
        fprintf(out, "%" PRIu64, o->parameters);
}

/* "Q4_K_M (Q4_K 112, F32 34, Q6_K 17)" */
static void put_quantization(FILE *out, const overview *o)
{
    const char *name = overview_file_type(o), *before = name != NULL ? " (" : "";

    fputs(name != NULL ? name : "", out);
    for (size_t type = OVERVIEW_TYPES; overview_next_type(o, &type); before = ", ")
        fprintf(out, "%s%s %s", before, overview_type_name(type),
                human_grouped(o->types[type].tensors).text);
    fputs(name != NULL && o->tensors > 0 ? ")" : "", out);
}

static void put_size(FILE *out, const overview *o)
{
    fputs(human_bytes(o->facts.size).text, out);
    if (o->facts.size >= 1024)
        fprintf(out, " (%s bytes)", human_grouped(o->facts.size).text);
    if (gufo_model_shard_count(o->model) > 1)
        fprintf(out, " in %zu shards", gufo_model_shard_count(o->model));
}

static void put_bits(FILE *out, const overview *o)
{
    if (o->sizes_known && o->parameters > 0 && o->parameters < UINT64_MAX)
        fprintf(out, "%.2f", (double)o->tensor_size * 8 / (double)o->parameters);
}

/* "256 (8 used, 1 shared)" */
static void put_experts(FILE *out, const overview *o)
{
    number_text count = number_at(o, "{arch}.expert_count");
    number_text used = number_at(o, "{arch}.expert_used_count");
    number_text shared = number_at(o, "{arch}.expert_shared_count");
    const char *before = " (";

    if (count.text[0] == '\0')
        return;
    fputs(count.text, out);
    if (used.text[0] != '\0') {
        fprintf(out, "%s%s used", before, used.text);
        before = ", ";
    }
    if (shared.text[0] != '\0') {
        fprintf(out, "%s%s shared", before, shared.text);
        before = ", ";
    }
    fputs(before[0] == ',' ? ")" : "", out);
}

static bool find_float(const overview *o, const char *key, char text[NUMBER_SIZE])
{
    double number;

    if (gufo_get_f64(o->model, key, &number, NULL) != GUFO_OK)
        return false;
    (void)number_f32(text, (float)number);
    return true;
}

/* "base 500000, 128 dimensions, yarn scaling by 4 from 32,768" */
static void put_rope(FILE *out, const overview *o)
{
    number_text dimensions = number_at(o, "{arch}.rope.dimension_count");
    number_text original = number_at(o, "{arch}.rope.scaling.original_context_length");
    char number[NUMBER_SIZE];
    const char *before = "";
    gufo_str scaling;

    if (find_float(o, "{arch}.rope.freq_base", number)) {
        fprintf(out, "base %s", number);
        before = ", ";
    }
    if (dimensions.text[0] != '\0') {
        fprintf(out, "%s%s dimensions", before, dimensions.text);
        before = ", ";
    }
    if (gufo_get_str(o->model, "{arch}.rope.scaling.type", &scaling, NULL) != GUFO_OK ||
        gufo_str_equal(scaling, gufo_str_of("none")))
        return;
    fputs(before, out);
    put_str(out, scaling);
    fputs(" scaling", out);
    if (find_float(o, "{arch}.rope.scaling.factor", number))
        fprintf(out, " by %s", number);
    if (original.text[0] != '\0')
        fprintf(out, " from %s", original.text);
}

/* ---- vocabulary ----------------------------------------------------------------------------- */

/* "128,256 tokens (gpt2, pre-tokenizer llama-bpe)" */
static void put_vocabulary(FILE *out, const overview *o)
{
    gufo_array tokens;
    gufo_str model, pre;

    if (gufo_get_array(o->model, "tokenizer.ggml.tokens", GUFO_VALUE_STRING, &tokens, NULL) !=
        GUFO_OK)
        return;
    fprintf(out, "%s tokens", human_grouped(tokens.count).text);
    if (gufo_get_str(o->model, "tokenizer.ggml.model", &model, NULL) != GUFO_OK)
        return;
    fputs(" (", out);
    text_put_cut(out, model, TEXT_PLAIN, 32);
    if (gufo_get_str(o->model, "tokenizer.ggml.pre", &pre, NULL) == GUFO_OK) {
        fputs(", pre-tokenizer ", out);
        text_put_cut(out, pre, TEXT_PLAIN, 32);
    }
    putc(')', out);
}

/* A line each: bos 128000 "<|begin_of_text|>" */
static void put_tokens(FILE *out, const overview *o)
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
static void put_templates(FILE *out, const overview *o)
{
    const char *before = "";
    gufo_str template, name;
    uint64_t position = 0;
    gufo_entry tokens;

    if (gufo_get_str(o->model, "tokenizer.chat_template", &template, NULL) == GUFO_OK) {
        fprintf(out, "yes (%s bytes)", human_grouped(template.len).text);
        before = ", ";
    }
    for (size_t i = 0; i < LIST_ITEMS && overview_next_template(o->model, &position, &name); i++) {
        fputs(before, out);
        put_str(out, name);
        before = ", ";
    }
    if (before[0] == '\0' && gufo_metadata_find(o->model, "tokenizer.ggml.tokens", &tokens))
        fputs("no", out);
}

/* ---- origin --------------------------------------------------------------------------------- */

/* A line each: "Llama 3.1 8B by Meta Llama, https://..." */
static void put_parents(FILE *out, const overview *o)
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

static void put_format(FILE *out, const overview *o)
{
    fprintf(out, "GGUF v%" PRIu32 ", %s-endian, alignment %" PRIu32, o->facts.version,
            o->facts.byte_order == GUFO_BIG_ENDIAN ? "big" : "little", o->facts.alignment);
}

static void put_complete(FILE *out, const overview *o)
{
    uint64_t claimed = o->facts.claimed_tensors;

    if (gufo_model_damage(o->model) != NULL && claimed > 0)
        fprintf(out, "%s of %s tensors: the file is damaged", human_grouped(o->complete).text,
                human_grouped(claimed).text);
}

/* ---- the lines ------------------------------------------------------------------------------ */

static const summary_line lines[] = {
    {"Name", .value = put_text, .key = "general.name"},
    {"Type", .value = put_kind, .key = "general.type"},
    {"Architecture", .value = put_text, .key = "general.architecture"},
    {"Parameters", .fact = put_parameters},
    {"Quantization", .fact = put_quantization},
    {"Size", .fact = put_size},
    {"Bits per weight", .fact = put_bits},
    {"Context length", .value = put_number, .key = "{arch}.context_length"},
    {"Embedding length", .value = put_number, .key = "{arch}.embedding_length"},
    {"Blocks", .value = put_number, .key = "{arch}.block_count"},
    {"Attention heads", .value = put_number, .key = "{arch}.attention.head_count",
     .detail = "{arch}.attention.head_count_kv", .words = "key/value"},
    {"Experts", .fact = put_experts},
    {"Rope", .fact = put_rope},
    {"Vocabulary", .fact = put_vocabulary},
    {"Special tokens", .fact = put_tokens},
    {"Chat template", .fact = put_templates},
    {"Fine tune", .value = put_text, .key = "general.finetune"},
    {"Version", .value = put_text, .key = "general.version"},
    {"Author", .value = put_text, .key = "general.author"},
    {"Organization", .value = put_text, .key = "general.organization"},
    {"Quantized by", .value = put_text, .key = "general.quantized_by"},
    {"Base model", .fact = put_parents},
    {"License", .value = put_text, .key = "general.license"},
    {"Languages", .value = put_list, .key = "general.languages"},
    {"Tags", .value = put_list, .key = "general.tags"},
    {"Data sets", .value = put_list, .key = "general.datasets"},
    {"Repository", .value = put_text, .key = "general.repo_url"},
    {"Format", .fact = put_format},
    {"Complete", .fact = put_complete},
};

void show_each_fact(const overview *o, void (*put)(const char *label, char *text))
{
    for (const summary_line *line = lines; line < lines + sizeof lines / sizeof *lines; line++) {
        char *text = NULL;
        size_t len = 0;
        FILE *out = open_memstream(&text, &len);

        if (out == NULL)
            return;
        if (line->fact != NULL)
            line->fact(out, o);
        else
            line->value(out, o, line);
        if (fclose(out) == 0 && len > 0)
            put(line->label, text);
        free(text);
    }
}
