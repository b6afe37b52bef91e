/* The report of gufo quantize: before (the plan), after (the result), and warnings.
 *
 *     tables and JSON to standard output, warnings to standard error, CSV to a file */
#include "cli/quantize/quantize.h"

#include "cli/core/records/quoting.h"
#include "cli/core/records/tensor_text.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/array.h"
#include "cli/core/values/number.h"

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

/* ---- records -------------------------------------------------------------------------------- */

/* What several tensors come to. */
typedef struct sum_row {
    tensor_text type; /* or "all" */
    uint64_t tensors, bytes;
    double bits, relative;
    float largest;
    bool is_measured;
} sum_row;

#define IF_MEASURED(type) RECORD_KNOWN(type, is_measured)

static const record_field measure_fields[] = {
    {"size", "Size", RECORD_BYTES, RECORD_AT(sum_row, bytes), .width = 10},
    {"bits_per_weight", "Bits/weight", RECORD_REAL, RECORD_AT(sum_row, bits), .width = 12,
     .drop = 1, .format = "%.2f"},
    {"relative_rmse", "Relative RMSE", RECORD_REAL, RECORD_AT(sum_row, relative),
     IF_MEASURED(sum_row), .width = 14},
    {"largest_error", "Largest error", RECORD_SINGLE, RECORD_AT(sum_row, largest),
     IF_MEASURED(sum_row), .width = 14, .drop = 3},
};
static const record_type measure_type = RECORD_OF(sum_row, measure_fields, 0);

static const record_field sum_fields[] = {
    {"type", "Type", RECORD_CHARS, RECORD_AT(sum_row, type), .width = -8},
    {"tensors", "Tensors", RECORD_COUNT, RECORD_AT(sum_row, tensors), .width = 7, .drop = 2},
    {NULL, NULL, RECORD_RECORD, .bytes = sizeof(sum_row), .of = &measure_type},
};
static const record_type sum_type = RECORD_OF(sum_row, sum_fields, 0);

static sum_row row_of_sum(const type_sum *sum)
{
    sum_row row = {.type = tensor_type_text(sum->type),
                   .tensors = sum->tensors,
                   .bytes = sum->bytes,
                   .bits = tensor_bits(sum->bytes, sum->weights),
                   .largest = sum->loss.largest_error,
                   .is_measured = sum->loss.count > 0};

    if (row.is_measured)
        row.relative = gufo_quantize_loss_relative(&sum->loss);
    return row;
}

static bool make_sum(const void *context, uint64_t index, void *record)
{
    const type_sums *sums = context;

    if (index < sums->count)
        *(sum_row *)record = row_of_sum(&sums->list[index]);
    return index < sums->count;
}

/* With the sum of all types. */
static bool make_any_sum(const void *context, uint64_t index, void *record)
{
    const type_sums *sums = context;
    sum_row *row = record;

    if (index != sums->count)
        return make_sum(context, index, record);
    *row = row_of_sum(&sums->all);
    row->type = (tensor_text){"all"};
    return true;
}

/* What a tensor becomes. */
typedef struct tensor_row {
    gufo_quantizer_tensor t;
    why_text why;
    bool is_measured;
    double relative;
    const char *target;
    size_tensor size;
} tensor_row;

enum { PLANNED = 1 };

#define OF_TENSOR(kind, member) kind, RECORD_AT(tensor_row, member)

static const record_field tensor_fields[] = {
    {"name", "Tensor", OF_TENSOR(RECORD_STR, t.name), .width = -6, .column = "tensor"},
    {"dims", "Shape", OF_TENSOR(RECORD_SHAPE, t.source), .width = -5, .drop = 5, .column = "shape"},
    {"from", "From", OF_TENSOR(RECORD_TYPE, t.source.type), .width = -7, .drop = 4,
     .column = "from"},
    {"to", "To", OF_TENSOR(RECORD_TYPE, t.choice.type), .width = -7, .column = "to"},
    {"wanted", NULL, OF_TENSOR(RECORD_TYPE, t.choice.wanted), .column = "wanted"},
    {"fallback_bytes", NULL, OF_TENSOR(RECORD_SIGNED, t.choice.fallback_cost)},
    {"why", NULL, OF_TENSOR(RECORD_CHARS, why), .column = "why"},
    {"importance", NULL, OF_TENSOR(RECORD_FLAG, t.has_importance), .column = "importance"},
    {"adapters", NULL, OF_TENSOR(RECORD_COUNT, t.adapters), .none = RECORD_OR_OUT},
    {"size_before", NULL, OF_TENSOR(RECORD_COUNT, t.source.size), .column = "bytes_before"},
    {"size", "Bytes", OF_TENSOR(RECORD_COUNT, t.choice.size), .width = 12, .drop = 3,
     .column = "bytes"},
    {NULL, NULL, OF_TENSOR(RECORD_SIGNED, t.choice.fallback_cost), .column = "fallback_bytes"},
    {"relative_rmse", NULL, OF_TENSOR(RECORD_REAL, relative), IF_MEASURED(tensor_row),
     .column = "relative_rmse"},
    {"largest_error", NULL, OF_TENSOR(RECORD_SINGLE, t.loss.largest_error), IF_MEASURED(tensor_row),
     .column = "largest_error"},
    {NULL, NULL, OF_TENSOR(RECORD_WORD, target), .column = "target"},
    {NULL, NULL, OF_TENSOR(RECORD_RECORD, size), RECORD_GIVEN(tensor_row, size.is_planned),
     .part = PLANNED, .of = &size_tensor_type},
    {NULL, "Why", OF_TENSOR(RECORD_CHARS, why), .width = -3, .drop = 6},
};

static record_type tensor_type_of(const quantize_options *o)
{
    const record_type type =
        RECORD_OF(tensor_row, tensor_fields, o->size.plan != NULL ? PLANNED : 0);

    return type;
}

static bool make_tensor(const void *context, uint64_t index, void *record)
{
    const outcome *o = context;
    tensor_row *row = record;

    if (!tensor_at(o, index, &row->t))
        return false;
    row->why = why(o->options, &row->t);
    row->is_measured = row->t.loss.count > 0;
    row->relative = row->is_measured ? gufo_quantize_loss_relative(&row->t.loss) : 0;
    row->target = o->type;
    row->size = size_tensor_of(o->options, &row->t, o->output, index);
    return true;
}

/* ---- tables --------------------------------------------------------------------------------- */

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

/* A plan has no losses yet. */
static void print_outcome(const outcome *o, const type_sums *sums)
{
    const record_list tensors = {.make = make_tensor, .context = o};
    const record_list rows = {.make = make_any_sum, .context = sums};
    const record_type tensor_type = tensor_type_of(o->options);
    table of_tensors = record_table(&tensor_type, 0), of_sums = record_table(&sum_type, 0);

    of_tensors.most_name = SIZE_MAX;
    of_sums.count -= o->options->dry_run ? 2 : 0;
    of_sums.gap = 1;
    if (o->output > 0)
        putchar('\n');
    if (o->options->dry_run && sums->count > 0) {
        record_print(&of_tensors, &tensor_type, &tensors);
        putchar('\n');
    }
    print_headline(o, &sums->all);
    if (sums->count > 0)
        record_print(&of_sums, &sum_type, &rows);
    if (o->options->size.plan != NULL)
        size_print(o->options, o->quantizer, o->output);
    if (o->options->report_more != NULL)
        o->options->report_more(o->options, o->quantizer, o->output, NULL);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

typedef struct outcome_row {
    const char *output, *type;
    uint64_t output_size, size_before;
    sum_row all;
    record_list types;
} outcome_row;

static const record_field outcome_fields[] = {
    {"output", NULL, RECORD_TEXT, RECORD_AT(outcome_row, output)},
    {"type", NULL, RECORD_TEXT, RECORD_AT(outcome_row, type)},
    {"output_size", NULL, RECORD_COUNT, RECORD_AT(outcome_row, output_size)},
    {"size_before", NULL, RECORD_COUNT, RECORD_AT(outcome_row, size_before)},
    {NULL, NULL, RECORD_RECORD, RECORD_AT(outcome_row, all), .of = &measure_type},
    {"types", NULL, RECORD_LIST, RECORD_AT(outcome_row, types), .of = &sum_type},
};
static const record_type outcome_type = RECORD_OF(outcome_row, outcome_fields, 0);

static void write_outcome(const outcome *o, const type_sums *sums)
{
    const quantize_options *options = o->options;
    const outcome_row row = {.output = options->dry_run ? NULL : options->paths[o->output],
                             .type = o->type,
                             .output_size = gufo_quantizer_target_size(o->quantizer, o->output),
                             .size_before = sums->all.bytes_before,
                             .all = row_of_sum(&sums->all),
                             .types = {.make = make_sum, .context = sums}};
    const record_list tensors = {.make = make_tensor, .context = o};
    const record_type tensor_type = tensor_type_of(options);
    json_writer j = json_begin_document(options->input);

    record_write_members(&j, &outcome_type, &row);
    record_write_list(&j, "tensors", &tensor_type, &tensors);
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

int quantize_save_csv(const gufo_quantizer *q, const quantize_options *options,
                      const gufo_guard *guard)
{
    const record_type type = tensor_type_of(options);
    tensor_row row;
    text_stream csv;

    if (!text_stream_open(&csv))
        return report_memory(NULL);
    record_csv_heads(csv.out, &type, NULL, true);
    fputs("\r\n", csv.out);
    for (size_t k = 0; k < options->output_count; k++) {
        const outcome o = outcome_of(q, options, k);

        for (uint64_t i = 0; make_tensor(&o, i, &row); i++) {
            record_csv_cells(csv.out, &type, &row, true);
            fputs("\r\n", csv.out);
        }
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

    if (!gufo_model_tensor_find_str(other, tensor->name, &same))
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
