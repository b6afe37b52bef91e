/* The report of gufo quantize: before (the plan), after (the result), and warnings.
 *
 *     tables and JSON to standard output, warnings to standard error, CSV to a file */
#include "cli/quantize/quantize.h"

#include "cli/core/values/array.h"
#include "cli/core/records/quoting.h"
#include "cli/core/records/record.h"
#include "cli/core/values/number.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/json.h"
#include "cli/core/records/model_json.h"
#include "cli/core/records/tensor_text.h"
#include "cli/core/records/table.h"

#include <inttypes.h>
#include <stdlib.h>

/* Why a tensor gets its type, in words. */
typedef struct why_text {
    char text[320];
} why_text;

static why_text why(const quantize_options *o, const gufo_quantizer_tensor *tensor)
{
    const gufo_recipe_choice *choice = &tensor->choice;
    bool merged = tensor->adapters > 0;
    const char *reason = merged && choice->reason == GUFO_REASON_COPY ? "type kept"
                         : o->size.plan != NULL && choice->reason == GUFO_REASON_MODEL
                             ? "chosen for the size"
                             : gufo_recipe_reason_text(choice->reason);
    char rule[64] = "", fallback[128] = "";
    why_text out;

    if (choice->rule != NULL)
        snprintf(rule, sizeof rule, " (%s)", choice->rule);
    if (choice->flags & GUFO_RECIPE_FELL_BACK)
        snprintf(fallback, sizeof fallback, "; rows do not fill blocks of %s",
                 tensor_type_text(choice->wanted).text);
    snprintf(out.text, sizeof out.text, "%s%s%s%s", reason, rule, fallback,
             merged ? "; adapter merged" : "");
    return out;
}

/* One of the outputs. */
typedef struct outcome {
    const quantize_options *options;
    const gufo_quantizer *quantizer;
    size_t output;
    const char
        *type; /* the target; for one without a target of its own the model that it is like */
} outcome;

static outcome outcome_of(const gufo_quantizer *q, const quantize_options *options, size_t output)
{
    const gufo_quantize_target *target = &options->targets[output];
    bool like_other = options->types_from != NULL && target->base_type == NULL;

    return (outcome){options, q, output, like_other ? options->types_from : target->name};
}

static bool tensor_at(const outcome *o, uint64_t index, gufo_quantizer_tensor *out)
{
    return gufo_quantizer_target_tensor_at(o->quantizer, o->output, index, out);
}

/* ---- sums over tensors of a type ------------------------------------------------------------ */

typedef struct type_sum {
    uint32_t type;
    uint64_t tensors, bytes_before, bytes, weights;
    gufo_quantize_loss loss;
} type_sum;

typedef struct type_sums {
    type_sum *list; /* in the order of first appearance */
    size_t count;
    type_sum all;
} type_sums;

/* NULL after a report. */
static type_sum *sum_of(type_sums *sums, uint32_t type)
{
    type_sum *added;

    for (size_t i = 0; i < sums->count; i++)
        if (sums->list[i].type == type)
            return &sums->list[i];
    added = array_add(&sums->list, &sums->count, sizeof *added);
    if (added != NULL)
        added->type = type;
    return added;
}

static void add_to_sum(type_sum *sum, const gufo_quantizer_tensor *tensor)
{
    sum->tensors++;
    sum->bytes_before += tensor->source.size;
    sum->bytes += tensor->choice.size;
    sum->weights += tensor->source.elements;
    gufo_quantize_loss_add(&sum->loss, &tensor->loss);
}

/* False after a report; the caller frees the list in any case. */
static bool sum_up(const outcome *o, type_sums *sums)
{
    gufo_quantizer_tensor tensor;

    *sums = (type_sums){0};
    for (uint64_t i = 0; tensor_at(o, i, &tensor); i++) {
        type_sum *sum = sum_of(sums, tensor.choice.type);

        if (sum == NULL)
            return false;
        add_to_sum(sum, &tensor);
        add_to_sum(&sums->all, &tensor);
    }
    return true;
}

/* ---- tables --------------------------------------------------------------------------------- */

static bool make_sum_row(const void *context, uint64_t index, table_row *row)
{
    const type_sums *sums = context;
    const type_sum *sum = index < sums->count ? &sums->list[index] : &sums->all;

    row_text(row, "%s", sum != &sums->all ? tensor_type_text(sum->type).text : "all");
    row_text(row, "%s", human_grouped(sum->tensors).text);
    row_text(row, "%s", human_file_size(sum->bytes).text);
    row_text(row, "%.2f", tensor_bits(sum->bytes, sum->weights));
    if (sum->loss.count > 0) {
        row_text(row, "%.3g", gufo_quantize_loss_relative(&sum->loss));
        row_text(row, "%.3g", (double)sum->loss.largest_error);
    } else {
        row_text(row, "-");
        row_text(row, "-");
    }
    return index <= sums->count;
}

static bool make_row(const void *context, uint64_t index, table_row *row)
{
    const outcome *o = context;
    gufo_quantizer_tensor tensor;

    if (!tensor_at(o, index, &tensor))
        return false;
    row_str(row, tensor.name);
    row_text(row, "%s", tensor_shape_text(&tensor.source, " x ").text);
    row_text(row, "%s", tensor_type_text(tensor.source.type).text);
    row_text(row, "%s", tensor_type_text(tensor.choice.type).text);
    row_text(row, "%s", human_grouped(tensor.choice.size).text);
    if (o->options->size.plan != NULL)
        size_add_cells(o->options, o->output, index, row);
    row_text(row, "%s", why(o->options, &tensor).text);
    return true;
}

/* "model.gguf as Q4_K_M, out.gguf: 500 MB of tensors become 157 MB". */
static void print_headline(const outcome *o, const type_sum *all)
{
    const char *path = o->options->paths[o->output];
    bool is_empty = all->tensors == 0;
    size_t adapters = o->options->plan.adapter_count;

    line l;

    line_begin(&l);
    text_put(l.out, gufo_str_of(o->options->input), TEXT_PLAIN);
    if (adapters > 0)
        fprintf(l.out, " with %zu adapter%s", adapters, adapters > 1 ? "s" : "");
    if (!is_empty && (adapters == 0 || o->options->targets[o->output].base_type != NULL))
        fprintf(l.out, " as %s", o->type);
    if (path != NULL) {
        fputs(is_empty ? " as " : ", ", l.out);
        text_put(l.out, gufo_str_of(path), TEXT_PLAIN);
    }
    if (is_empty)
        fputs(": no tensors", l.out);
    else
        fprintf(l.out, ": %s of tensors become %s", human_file_size(all->bytes_before).text,
                human_file_size(all->bytes).text);
    line_end(&l);
}

/* What every tensor becomes; with a size, what that is expected to lose, too. */
static void print_tensors(const outcome *o)
{
    static const table_column columns[] = {
        {"Tensor", -6, 0}, {"Shape", -5, 5},      {"From", -7, 4},
        {"To", -7, 0},     {"Bytes", 12, 3},      {"Coefficient", 11, 2},
        {"Loss", 10, 0},   {"Std. error", 10, 1}, {"Why", -3, 6}};
    bool planned = o->options->size.plan != NULL;
    table_column used[TABLE_CELLS];
    size_t count = 0;
    table t;

    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (planned || i < 5 || i >= 5 + SIZE_CELLS)
            used[count++] = columns[i];
    t = table_of(used, count);
    t.indent = 0;
    t.most_name = SIZE_MAX;
    table_print(&t, make_row, o);
    putchar('\n');
}

/* A plan has no losses yet. */
static void print_outcome(const outcome *o, const type_sums *sums)
{
    static const table_column of_sums[] = {{"Type", -8, 0},          {"Tensors", 7, 2},
                                           {"Size", 10, 0},          {"Bits/weight", 12, 1},
                                           {"Relative RMSE", 14, 0}, {"Largest error", 14, 3}};
    table types = table_of(of_sums, o->options->dry_run ? 4 : 6);

    types.indent = 0;
    types.gap = 1;
    if (o->output > 0)
        putchar('\n');
    if (o->options->dry_run && sums->count > 0)
        print_tensors(o);
    print_headline(o, &sums->all);
    if (sums->count > 0)
        table_print(&types, make_sum_row, sums);
    if (o->options->size.plan != NULL)
        size_print(o->options, o->quantizer, o->output);
    if (o->options->report_more != NULL)
        o->options->report_more(o->options, o->quantizer, o->output, NULL);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void write_loss(json_writer *j, const gufo_quantize_loss *loss)
{
    if (loss->count > 0) {
        json_write_f64(j, "relative_rmse", gufo_quantize_loss_relative(loss));
        json_write_f32(j, "largest_error", loss->largest_error);
    } else {
        json_write_null(j, "relative_rmse");
        json_write_null(j, "largest_error");
    }
}

static void write_tensor(json_writer *j, const outcome *o, uint64_t index,
                         const gufo_quantizer_tensor *tensor)
{
    const gufo_recipe_choice *choice = &tensor->choice;

    json_begin_object(j, NULL);
    json_write_str(j, "name", tensor->name);
    model_json_dims(j, &tensor->source);
    json_write_text(j, "from", tensor_type_text(tensor->source.type).text);
    json_write_text(j, "to", tensor_type_text(choice->type).text);
    json_write_text(j, "wanted", tensor_type_text(choice->wanted).text);
    json_write_i64(j, "fallback_bytes", choice->fallback_cost);
    json_write_text(j, "why", why(o->options, tensor).text);
    json_write_bool(j, "importance", tensor->has_importance);
    if (tensor->adapters > 0)
        json_write_u64(j, "adapters", tensor->adapters);
    json_write_u64(j, "size_before", tensor->source.size);
    json_write_u64(j, "size", choice->size);
    write_loss(j, &tensor->loss);
    if (o->options->size.plan != NULL)
        size_write_tensor(o->options, tensor, o->output, index, j);
    json_end_object(j);
}

static void write_sum(json_writer *j, const type_sum *sum)
{
    json_write_u64(j, "size", sum->bytes);
    json_write_f64(j, "bits_per_weight", tensor_bits(sum->bytes, sum->weights));
    write_loss(j, &sum->loss);
}

static void write_outcome(const outcome *o, const type_sums *sums)
{
    const quantize_options *options = o->options;
    json_writer j = json_begin_document(options->input);
    gufo_quantizer_tensor tensor;

    json_write_text(&j, "output", options->dry_run ? NULL : options->paths[o->output]);
    json_write_text(&j, "type", o->type);
    json_write_u64(&j, "output_size", gufo_quantizer_target_size(o->quantizer, o->output));
    json_write_u64(&j, "size_before", sums->all.bytes_before);
    write_sum(&j, &sums->all);
    json_begin_array(&j, "types");
    for (size_t i = 0; i < sums->count; i++) {
        json_begin_object(&j, NULL);
        json_write_text(&j, "type", tensor_type_text(sums->list[i].type).text);
        json_write_u64(&j, "tensors", sums->list[i].tensors);
        write_sum(&j, &sums->list[i]);
        json_end_object(&j);
    }
    json_end_array(&j);
    json_begin_array(&j, "tensors");
    for (uint64_t i = 0; tensor_at(o, i, &tensor); i++)
        write_tensor(&j, o, i, &tensor);
    json_end_array(&j);
    if (options->size.plan != NULL)
        size_write(options, o->quantizer, o->output, &j);
    if (options->report_more != NULL)
        options->report_more(options, o->quantizer, o->output, &j);
    json_end_document(&j);
}

void quantize_report(const gufo_quantizer *q, const quantize_options *options)
{
    const shared_options *shared = options->base.shared;

    for (size_t i = 0; i < options->output_count; i++) {
        const outcome o = outcome_of(q, options, i);
        type_sums sums;
        bool summed = sum_up(&o, &sums);

        if (summed && shared->json)
            write_outcome(&o, &sums);
        else if (summed && (options->dry_run || !shared->quiet))
            print_outcome(&o, &sums);
        free(sums.list);
    }
}

/* ---- CSV ------------------------------------------------------------------------------------ */

/* A tensor in the file of --report. */
typedef struct csv_row {
    gufo_str name;
    gufo_tensor source;
    uint32_t type, wanted;
    why_text why;
    bool has_importance, is_measured;
    uint64_t size;
    int64_t fallback_cost;
    double relative_rmse;
    float largest_error;
    const char *target;
} csv_row;

static const record_field csv_fields[] = {
    {.column = "tensor", .kind = RECORD_STR, RECORD_AT(csv_row, name)},
    {.column = "shape", .kind = RECORD_SHAPE, RECORD_AT(csv_row, source)},
    {.column = "from", .kind = RECORD_TYPE, RECORD_AT(csv_row, source.type)},
    {.column = "to", .kind = RECORD_TYPE, RECORD_AT(csv_row, type)},
    {.column = "wanted", .kind = RECORD_TYPE, RECORD_AT(csv_row, wanted)},
    {.column = "why", .kind = RECORD_CHARS, RECORD_AT(csv_row, why)},
    {.column = "importance", .kind = RECORD_FLAG, RECORD_AT(csv_row, has_importance)},
    {.column = "bytes_before", .kind = RECORD_BYTES, RECORD_AT(csv_row, source.size)},
    {.column = "bytes", .kind = RECORD_BYTES, RECORD_AT(csv_row, size)},
    {.column = "fallback_bytes", .kind = RECORD_SIGNED, RECORD_AT(csv_row, fallback_cost)},
    {.column = "relative_rmse",
     .kind = RECORD_REAL,
     RECORD_AT(csv_row, relative_rmse),
     RECORD_KNOWN(csv_row, is_measured)},
    {.column = "largest_error",
     .kind = RECORD_SINGLE,
     RECORD_AT(csv_row, largest_error),
     RECORD_KNOWN(csv_row, is_measured)},
    {.column = "target", .kind = RECORD_WORD, RECORD_AT(csv_row, target)},
};
static const record_type csv_rows = RECORD_OF(csv_row, csv_fields, 0);

static void put_csv_row(FILE *out, const outcome *o, uint64_t index,
                        const gufo_quantizer_tensor *tensor)
{
    const bool is_measured = tensor->loss.count > 0;
    const csv_row row = {
        .name = tensor->name,
        .source = tensor->source,
        .type = tensor->choice.type,
        .wanted = tensor->choice.wanted,
        .why = why(o->options, tensor),
        .has_importance = tensor->has_importance,
        .is_measured = is_measured,
        .size = tensor->choice.size,
        .fallback_cost = tensor->choice.fallback_cost,
        .relative_rmse = is_measured ? gufo_quantize_loss_relative(&tensor->loss) : 0,
        .largest_error = tensor->loss.largest_error,
        .target = o->type,
    };

    record_csv_cells(out, &csv_rows, &row, true);
    if (o->options->size.plan != NULL)
        size_put_csv(o->options, tensor, o->output, index, out);
    fputs("\r\n", out);
}

int quantize_save_csv(const gufo_quantizer *q, const quantize_options *options,
                      const output_guard *guard)
{
    gufo_quantizer_tensor tensor;
    text_stream csv;

    if (!text_stream_open(&csv))
        return report_memory(NULL);
    record_csv_heads(csv.out, &csv_rows, NULL, true);
    fputs(options->size.plan != NULL ? ",coefficient,loss,standard_error,actual_loss\r\n" : "\r\n",
          csv.out);
    for (size_t k = 0; k < options->output_count; k++) {
        const outcome o = outcome_of(q, options, k);

        for (uint64_t i = 0; tensor_at(&o, i, &tensor); i++)
            put_csv_row(csv.out, &o, i, &tensor);
    }
    return csv_save(&csv, options->report, options->base.shared->force, guard);
}

/* ---- warnings ------------------------------------------------------------------------------- */

/* Tensors that fell back from one type to another. */
typedef struct fallback {
    uint32_t wanted, type;
    uint64_t tensors;
    int64_t bytes;
} fallback;

enum { MOST_FALLBACKS = 64 }; /* more than there are pairs */

static void add_fallback(fallback *list, size_t *count, const gufo_recipe_choice *choice)
{
    size_t i = 0;

    while (i < *count && (list[i].wanted != choice->wanted || list[i].type != choice->type))
        i++;
    if (i == MOST_FALLBACKS)
        return;
    if (i == *count)
        list[(*count)++] = (fallback){.wanted = choice->wanted, .type = choice->type};
    list[i].tensors++;
    list[i].bytes += choice->fallback_cost;
}

static void warn_of_fallbacks(const outcome *o, const char *before)
{
    fallback list[MOST_FALLBACKS];
    size_t count = 0;
    gufo_quantizer_tensor tensor;

    for (uint64_t i = 0; tensor_at(o, i, &tensor); i++)
        if (tensor.choice.flags & GUFO_RECIPE_FELL_BACK)
            add_fallback(list, &count, &tensor.choice);
    for (const fallback *f = list; f < list + count; f++) {
        bool more = f->bytes >= 0;

        report_warning(o->options->input,
                       "%s%s %s instead of %s (rows do not fill its blocks): %s bytes %s", before,
                       human_counted(f->tensors, "tensor gets", "tensors get").text,
                       tensor_type_text(f->type).text, tensor_type_text(f->wanted).text,
                       human_grouped(more ? (uint64_t)f->bytes : 0 - (uint64_t)f->bytes).text,
                       more ? "more" : "less");
    }
}

/* Warnings about a tensor, by number. */
static const char *const warnings[] = {
    "this type cannot be made without importance data (--imatrix)",
    "a type this small gives poor results without importance data (--imatrix)",
    "the importance data has another length and is ignored",
    "it is not in the importance matrix",
    "its type cannot be decoded, so it is kept",
    "it is not in the model of --types-from",
    "its type in the model of --types-from is not known",
    "it is quantized: it is decoded, changed and encoded again; the original would lose less",
};

enum { WARNINGS = sizeof warnings / sizeof *warnings }; /* as a number: no warning */

static bool is_quantized(uint32_t id)
{
    const gufo_element_type *type = gufo_element_type_by_id(id);

    return type != NULL && (type->flags & GUFO_ELEMENT_QUANTIZED) != 0;
}

static bool could_use_importance(const gufo_recipe_choice *choice)
{
    const gufo_element_type *type = gufo_element_type_by_id(choice->type);

    return (choice->flags & GUFO_RECIPE_CONVERTS) != 0 && type != NULL &&
           (type->flags & GUFO_ELEMENT_WEIGHS) != 0;
}

/* Of a tensor that does not get its type from the other model: a table of whole numbers stays. */
static size_t warning_of_other(const gufo_model *other, const gufo_quantizer_tensor *tensor)
{
    gufo_tensor same;

    if (!gufo_tensor_find_str(other, tensor->name, &same))
        return 5;
    return gufo_element_type_by_id(same.type) == NULL ? 6 : WARNINGS;
}

static size_t warning_of(const gufo_quantizer_tensor *tensor, const quantize_options *options)
{
    const gufo_recipe_choice *choice = &tensor->choice;

    if (choice->flags & GUFO_RECIPE_IMPOSSIBLE)
        return 0;
    if (tensor->adapters > 0 && is_quantized(tensor->source.type) && is_quantized(choice->type))
        return 7;
    if (choice->flags & GUFO_RECIPE_POOR)
        return 1;
    if (tensor->unfit_importance)
        return 2;
    if (options->imatrix != NULL && !tensor->has_importance && could_use_importance(choice))
        return 3;
    if (choice->reason == GUFO_REASON_UNKNOWN_TYPE)
        return 4;
    return options->types_from != NULL && choice->reason != GUFO_REASON_MODEL
               ? warning_of_other(options->plan.recipe.model_context, tensor)
               : WARNINGS;
}

static void warn(const outcome *o, const char *before)
{
    uint64_t tensors[WARNINGS + 1] = {0};
    gufo_str first[WARNINGS + 1];
    gufo_quantizer_tensor tensor;

    for (uint64_t i = 0; tensor_at(o, i, &tensor); i++) {
        size_t warning = warning_of(&tensor, o->options);

        if (tensors[warning]++ == 0)
            first[warning] = tensor.name;
    }
    warn_of_fallbacks(o, before);
    for (size_t i = 0; i < WARNINGS; i++) {
        char others[40] = "";

        if (tensors[i] > 1)
            snprintf(others, sizeof others, " and %.32s",
                     human_counted(tensors[i] - 1, "other", "others").text);
        if (tensors[i] > 0)
            report_warning(o->options->input, "%s%.*s%s: %s", before, (int)first[i].len,
                           first[i].data, others, warnings[i]);
    }
}

void quantize_warn(const gufo_quantizer *q, const quantize_options *options)
{
    for (size_t i = 0; i < options->output_count; i++) {
        const outcome o = outcome_of(q, options, i);
        char before[64] = ""; /* of several outputs, the type */

        if (options->output_count > 1)
            snprintf(before, sizeof before, "%s: ", o.type);
        warn(&o, before);
    }
}
