/* The facts at the top of `gufo show`: a table of lines, each of which is left out where the file
 * does not say. */
#include "cli/inspect/show.h"

#include "cli/core/human.h"
#include "cli/core/text.h"
#include "gufo/schema.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_COLUMNS 18
#define TEXT_COLUMNS 58

typedef struct summary {
    const input *in;
    const gufo_model *file; /* the one with the metadata */
    show_totals totals;
} summary;

/* A line says a fact, or what an entry holds; nothing where the file does not say. */
typedef struct summary_line {
    const char *label;
    void (*fact)(FILE *out, const summary *s);
    void (*value)(FILE *out, const summary *s, const struct summary_line *line);
    const char *key;            /* whole, or for a number what follows the architecture */
    const char *detail, *words; /* of a number: a second key, and what its number counts */
} summary_line;

/* ---- sums ----------------------------------------------------------------------------------- */

static uint64_t saturating_add(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

show_totals show_sum(const input *in)
{
    show_totals totals = {.sizes_known = true};
    gufo_tensor tensor;

    for (size_t i = 0; i < gufo_model_shard_count(in->model); i++) {
        gufo_facts facts = gufo_model_facts(gufo_model_shard(in->model, i));

        totals.file_size = saturating_add(totals.file_size, facts.size);
        totals.data_size = saturating_add(totals.data_size, facts.data_size);
    }
    for (; gufo_tensor_at(in->model, totals.tensors, &tensor); totals.tensors++) {
        totals.parameters = saturating_add(totals.parameters, tensor.elements);
        totals.tensor_size = saturating_add(totals.tensor_size, tensor.size);
        totals.complete += tensor.complete;
        totals.sizes_known = totals.sizes_known && tensor.size_known;
    }
    return totals;
}

uint64_t show_claimed_tensors(const input *in)
{
    uint64_t claimed = 0;

    for (size_t i = 0; i < gufo_model_shard_count(in->model); i++)
        claimed += gufo_model_facts(gufo_model_shard(in->model, i)).claimed_tensors;
    return claimed;
}

/* ---- looking up ----------------------------------------------------------------------------- */

/* The entry ARCHITECTURE.suffix. */
static bool find_model_key(const summary *s, const char *suffix, gufo_entry *entry)
{
    char key[256];
    gufo_str architecture;
    size_t len = strlen(suffix);

    if (gufo_get_str(s->file, "general.architecture", &architecture, NULL) != GUFO_OK ||
        architecture.len + 1 + len > sizeof key)
        return false;
    memcpy(key, architecture.data, architecture.len);
    key[architecture.len] = '.';
    memcpy(key + architecture.len + 1, suffix, len);
    return gufo_metadata_find_str(s->file, (gufo_str){key, architecture.len + 1 + len}, entry);
}

static void put_text(FILE *out, const summary *s, const summary_line *line)
{
    gufo_str text;

    if (gufo_get_str(s->file, line->key, &text, NULL) == GUFO_OK)
        text_put_cut(out, text, TEXT_PLAIN, TEXT_COLUMNS);
}

typedef struct number_text {
    char text[96];
} number_text;

/* A number, or the range of an array with one number per block; "" for anything else. */
static number_text describe_number(const gufo_value *value)
{
    uint64_t number, low = UINT64_MAX, high = 0;
    gufo_value element;
    number_text t = {""};

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
        snprintf(t.text, sizeof t.text, "%s to %s, by block", human_grouped(low).text,
                 human_grouped(high).text);
    return t;
}

static number_text model_number(const summary *s, const char *suffix)
{
    gufo_entry entry;

    return find_model_key(s, suffix, &entry) ? describe_number(&entry.value) : (number_text){""};
}

/* "32 (8 key/value)" */
static void put_number(FILE *out, const summary *s, const summary_line *line)
{
    number_text number = model_number(s, line->key), more = {""};

    if (line->detail != NULL)
        more = model_number(s, line->detail);
    fputs(number.text, out);
    if (number.text[0] != '\0' && more.text[0] != '\0')
        fprintf(out, " (%s %s)", more.text, line->words);
}

/* ---- the lines ------------------------------------------------------------------------------ */

static void put_kind(FILE *out, const summary *s, const summary_line *line)
{
    gufo_str kind;

    if (gufo_get_str(s->file, line->key, &kind, NULL) == GUFO_OK &&
        !gufo_str_equal(kind, gufo_str_of("model")))
        put_text(out, s, line);
}

static void put_parameters(FILE *out, const summary *s)
{
    uint64_t parameters = s->totals.parameters;

    if (s->totals.tensors == 0 || parameters == UINT64_MAX)
        return;
    if (parameters >= 1000)
        fprintf(out, "%s (%s)", human_count(parameters).text, human_grouped(parameters).text);
    else
        fprintf(out, "%" PRIu64, parameters);
}

/* How many tensors have each row of the type table; all types without a name count as one more.
 * NULL without memory. */
static uint64_t *count_types(const summary *s)
{
    size_t rows = gufo_element_type_count();
    uint64_t *counts = calloc(rows + 1, sizeof *counts);
    gufo_tensor tensor;

    for (uint64_t t = 0; counts != NULL && gufo_tensor_at(s->in->model, t, &tensor); t++) {
        size_t row = 0;

        while (row < rows && gufo_element_type_at(row)->id != tensor.type)
            row++;
        counts[row]++;
    }
    return counts;
}

static const char *name_of_row(size_t row)
{
    return row < gufo_element_type_count() ? gufo_element_type_at(row)->name : "unknown";
}

/* "Q4_K 112, F32 34, Q6_K 17": the most frequent first, of equals the first by name.  Clears what is
 * written. */
static void put_counts(FILE *out, uint64_t *counts)
{
    for (const char *before = "";; before = ", ") {
        size_t most = 0;

        for (size_t row = 1; row <= gufo_element_type_count(); row++)
            if (counts[row] > counts[most] ||
                (counts[row] == counts[most] && strcmp(name_of_row(row), name_of_row(most)) < 0))
                most = row;
        if (counts[most] == 0)
            return;
        fprintf(out, "%s%s %s", before, name_of_row(most), human_grouped(counts[most]).text);
        counts[most] = 0;
    }
}

/* "Q4_K_M (Q4_K 112, F32 34, Q6_K 17)" */
static void put_quantization(FILE *out, const summary *s)
{
    uint64_t *counts = count_types(s), number;
    const gufo_file_type *file_type = NULL;
    bool named;

    if (counts == NULL)
        return;
    if (gufo_get_u64(s->file, "general.file_type", &number, NULL) == GUFO_OK)
        file_type = gufo_file_type_by_id(number);
    named = file_type != NULL && file_type->name != NULL;
    fputs(named ? file_type->name : "", out);
    fputs(named && s->totals.tensors > 0 ? " (" : "", out);
    put_counts(out, counts);
    fputs(named && s->totals.tensors > 0 ? ")" : "", out);
    free(counts);
}

static void put_size(FILE *out, const summary *s)
{
    fputs(human_bytes(s->totals.file_size).text, out);
    if (s->totals.file_size >= 1024)
        fprintf(out, " (%s bytes)", human_grouped(s->totals.file_size).text);
    if (gufo_model_shard_count(s->in->model) > 1)
        fprintf(out, " in %zu shards", gufo_model_shard_count(s->in->model));
}

static void put_bits(FILE *out, const summary *s)
{
    const show_totals *t = &s->totals;

    if (t->sizes_known && t->parameters > 0 && t->parameters < UINT64_MAX)
        fprintf(out, "%.2f", (double)t->tensor_size * 8 / (double)t->parameters);
}

/* "128,256 tokens (gpt2)" */
static void put_vocabulary(FILE *out, const summary *s)
{
    gufo_array tokens;
    gufo_str model;

    if (gufo_get_array(s->file, "tokenizer.ggml.tokens", GUFO_VALUE_STRING, &tokens, NULL) !=
        GUFO_OK)
        return;
    fprintf(out, "%s tokens", human_grouped(tokens.count).text);
    if (gufo_get_str(s->file, "tokenizer.ggml.model", &model, NULL) != GUFO_OK)
        return;
    fputs(" (", out);
    text_put_cut(out, model, TEXT_PLAIN, 32);
    putc(')', out);
}

static void put_format(FILE *out, const summary *s)
{
    fprintf(out, "GGUF v%" PRIu32 ", %s-endian, alignment %" PRIu32,
            gufo_model_facts(s->file).version,
            gufo_model_facts(s->file).byte_order == GUFO_BIG_ENDIAN ? "big" : "little",
            gufo_model_facts(s->file).alignment);
}

static void put_complete(FILE *out, const summary *s)
{
    uint64_t claimed = show_claimed_tensors(s->in);

    if (gufo_model_damage(s->in->model) != NULL && claimed > 0)
        fprintf(out, "%s of %s tensors: the file is damaged",
                human_grouped(s->totals.complete).text, human_grouped(claimed).text);
}

static const summary_line lines[] = {
    {"Name", .value = put_text, .key = "general.name"},
    {"Type", .value = put_kind, .key = "general.type"},
    {"Architecture", .value = put_text, .key = "general.architecture"},
    {"Parameters", .fact = put_parameters},
    {"Quantization", .fact = put_quantization},
    {"Size", .fact = put_size},
    {"Bits per weight", .fact = put_bits},
    {"Context length", .value = put_number, .key = "context_length"},
    {"Embedding length", .value = put_number, .key = "embedding_length"},
    {"Blocks", .value = put_number, .key = "block_count"},
    {"Attention heads", .value = put_number, .key = "attention.head_count",
     .detail = "attention.head_count_kv", .words = "key/value"},
    {"Experts", .value = put_number, .key = "expert_count", .detail = "expert_used_count",
     .words = "used"},
    {"Vocabulary", .fact = put_vocabulary},
    {"License", .value = put_text, .key = "general.license"},
    {"Format", .fact = put_format},
    {"Complete", .fact = put_complete},
};

static void write_line(const summary *s, const summary_line *line)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    if (out == NULL)
        return;
    if (line->fact != NULL)
        line->fact(out, s);
    else
        line->value(out, s, line);
    if (fclose(out) == 0 && len > 0)
        printf("  %-*s%s\n", LABEL_COLUMNS, line->label, text);
    free(text);
}

void show_write_summary(const input *in)
{
    summary s = {.in = in, .file = in->model, .totals = show_sum(in)};

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        write_line(&s, &lines[i]);
}
