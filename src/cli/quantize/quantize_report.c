/* The report of gufo quantize: before (the plan), after (the result), and warnings.
 *
 *     tables and JSON to standard output, warnings to standard error, CSV to a file */
#include "cli/quantize/quantize.h"

#include "cli/core/array.h"
#include "cli/core/human.h"
#include "cli/core/json.h"
#include "cli/core/model_json.h"
#include "cli/core/number.h"
#include "cli/core/report.h"
#include "cli/core/save.h"
#include "cli/core/table.h"
#include "cli/core/tensor_text.h"
#include "cli/core/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Why a tensor gets its type, in words. */
typedef struct why_text {
    char text[192];
} why_text;

static why_text why(const gufo_recipe_choice *choice)
{
    const char *reason = gufo_recipe_reason_text(choice->reason);
    char rule[64] = "", fallback[128] = "";
    why_text out;

    if (choice->rule != NULL)
        snprintf(rule, sizeof rule, " (%s)", choice->rule);
    if (choice->flags & GUFO_RECIPE_FELL_BACK)
        snprintf(fallback, sizeof fallback, "; rows do not fill blocks of %s",
                 tensor_type_text(choice->wanted).text);
    snprintf(out.text, sizeof out.text, "%s%s%s", reason, rule, fallback);
    return out;
}

/* What an output is called: without a target of its own it is like another model. */
static const char *type_name(const quantize_options *options, const quantize_output *output)
{
    return options->types_from != NULL && output->target.base_type == NULL ? options->types_from
                                                                           : output->target.name;
}

/* ---- sums over tensors of a type ------------------------------------------------------------ */

typedef struct type_sum {
    uint32_t type;
    uint64_t tensors, bytes, weights;
    gufo_quantize_loss loss;
} type_sum;

typedef struct type_sums {
    type_sum *list; /* in the order of first appearance */
    size_t count;
    type_sum all;
    uint64_t bytes_before;
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
    sum->bytes += tensor->choice.size;
    sum->weights += tensor->source->elements;
    gufo_quantize_loss_add(&sum->loss, &tensor->loss);
}

/* False after a report. */
static bool sum_up(const gufo_quantizer *q, size_t output, type_sums *sums)
{
    gufo_quantizer_tensor tensor;

    *sums = (type_sums){0};
    for (uint64_t i = 0; gufo_quantizer_target_tensor_at(q, output, i, &tensor); i++) {
        type_sum *sum = sum_of(sums, tensor.choice.type);

        if (sum == NULL) {
            free(sums->list);
            return false;
        }
        add_to_sum(sum, &tensor);
        add_to_sum(&sums->all, &tensor);
        sums->bytes_before += tensor.source->size;
    }
    return true;
}

static double bits_per_weight(uint64_t bytes, uint64_t weights)
{
    return weights > 0 ? 8 * (double)bytes / (double)weights : 0;
}

/* ---- tables --------------------------------------------------------------------------------- */

static bool make_sum_row(const void *context, uint64_t index, table_row *row)
{
    const type_sums *sums = context;
    const type_sum *sum = index < sums->count ? &sums->list[index] : &sums->all;

    row_text(row, "%s", sum != &sums->all ? tensor_type_text(sum->type).text : "all");
    row_text(row, "%" PRIu64, sum->tensors);
    row_text(row, "%s", human_bytes(sum->bytes).text);
    row_text(row, "%.2f", bits_per_weight(sum->bytes, sum->weights));
    if (sum->loss.count > 0) {
        row_text(row, "%.3g", gufo_quantize_loss_relative(&sum->loss));
        row_text(row, "%.3g", (double)sum->loss.largest_error);
    } else {
        row_text(row, "-");
        row_text(row, "-");
    }
    return index <= sums->count;
}

/* Of a plan without the columns of losses. */
static void print_sums(const type_sums *sums, bool with_loss)
{
    static const table_column columns[] = {{"Type", -8},          {"Tensors", 7},
                                           {"Size", 10},          {"Bits/weight", 12},
                                           {"Relative RMSE", 14}, {"Largest error", 14}};
    table t = table_of(columns, with_loss ? 6 : 4);

    t.indent = 0;
    t.gap = 1;
    table_print(&t, make_sum_row, sums);
}

/* "model.gguf as Q4_K_M: 477.1 MiB of tensors become 150.2 MiB"; of several models also the path,
 * which is not in the command line. */
static void print_headline(const type_sums *sums, const quantize_options *options,
                           const quantize_output *output)
{
    text_put(stdout, gufo_str_of(options->input), TEXT_PLAIN);
    printf(" as %s", type_name(options, output));
    if (options->folder != NULL) {
        fputs(", ", stdout);
        text_put(stdout, gufo_str_of(output->path), TEXT_PLAIN);
    }
    printf(": %s of tensors become %s\n", human_bytes(sums->bytes_before).text,
           human_bytes(sums->all.bytes).text);
}

/* The tensors of one output. */
typedef struct planned {
    const gufo_quantizer *quantizer;
    size_t output;
} planned;

static bool make_row(const void *context, uint64_t index, table_row *row)
{
    const planned *p = context;
    gufo_quantizer_tensor tensor;

    if (!gufo_quantizer_target_tensor_at(p->quantizer, p->output, index, &tensor))
        return false;
    row_str(row, tensor.name);
    row_text(row, "%s", tensor_shape_text(tensor.source, " x ").text);
    row_text(row, "%s", tensor_type_text(tensor.source->type).text);
    row_text(row, "%s", tensor_type_text(tensor.choice.type).text);
    row_text(row, "%" PRIu64, tensor.choice.size);
    row_text(row, "%s", why(&tensor.choice).text);
    return true;
}

static void print_rows(const planned *p)
{
    static const table_column columns[] = {{"Tensor", -6}, {"Shape", -5}, {"From", -7},
                                           {"To", -7},     {"Bytes", 12}, {"Why", -3}};
    table t = table_of(columns, 6);

    t.indent = 0;
    t.most_name = SIZE_MAX;
    table_print(&t, make_row, p);
}

void quantize_print(const gufo_quantizer *q, const quantize_options *options, size_t output)
{
    const planned p = {q, output};
    type_sums sums;

    if (!sum_up(q, output, &sums))
        return;
    if (output > 0)
        putchar('\n');
    if (options->dry_run) {
        print_rows(&p);
        putchar('\n');
    }
    print_headline(&sums, options, &options->outputs[output]);
    print_sums(&sums, !options->dry_run);
    free(sums.list);
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

static void write_tensor(json_writer *j, const gufo_quantizer_tensor *tensor)
{
    const gufo_recipe_choice *choice = &tensor->choice;

    json_begin_object(j, NULL);
    json_write_str(j, "name", tensor->name);
    model_json_dims(j, tensor->source);
    json_write_text(j, "from", tensor_type_text(tensor->source->type).text);
    json_write_text(j, "to", tensor_type_text(choice->type).text);
    json_write_text(j, "wanted", tensor_type_text(choice->wanted).text);
    json_write_i64(j, "fallback_bytes", choice->fallback_cost);
    json_write_text(j, "why", why(choice).text);
    json_write_bool(j, "importance", tensor->has_importance);
    json_write_u64(j, "size_before", tensor->source->size);
    json_write_u64(j, "size", choice->size);
    write_loss(j, &tensor->loss);
    json_end_object(j);
}

static void write_sum(json_writer *j, const type_sum *sum)
{
    json_begin_object(j, NULL);
    json_write_text(j, "type", tensor_type_text(sum->type).text);
    json_write_u64(j, "tensors", sum->tensors);
    json_write_u64(j, "size", sum->bytes);
    json_write_f64(j, "bits_per_weight", bits_per_weight(sum->bytes, sum->weights));
    write_loss(j, &sum->loss);
    json_end_object(j);
}

static void write_head(json_writer *j, const type_sums *sums, const gufo_quantizer *q,
                       const quantize_options *options, size_t output)
{
    json_write_text(j, "output", options->dry_run ? NULL : options->outputs[output].path);
    json_write_text(j, "type", type_name(options, &options->outputs[output]));
    json_write_u64(j, "output_size", gufo_quantizer_target_size(q, output));
    json_write_u64(j, "size_before", sums->bytes_before);
    json_write_u64(j, "size", sums->all.bytes);
    json_write_f64(j, "bits_per_weight", bits_per_weight(sums->all.bytes, sums->all.weights));
    write_loss(j, &sums->all.loss);
}

void quantize_write_json(const gufo_quantizer *q, const quantize_options *options, size_t output)
{
    gufo_quantizer_tensor tensor;
    type_sums sums;
    json_writer j;

    if (!sum_up(q, output, &sums))
        return;
    j = json_begin_document(options->input);
    write_head(&j, &sums, q, options, output);
    json_begin_array(&j, "types");
    for (size_t i = 0; i < sums.count; i++)
        write_sum(&j, &sums.list[i]);
    json_end_array(&j);
    json_begin_array(&j, "tensors");
    for (uint64_t i = 0; gufo_quantizer_target_tensor_at(q, output, i, &tensor); i++)
        write_tensor(&j, &tensor);
    json_end_array(&j);
    json_end_document(&j);
    free(sums.list);
}

/* ---- CSV ------------------------------------------------------------------------------------ */

/* A spreadsheet takes a cell that begins with one of these for a formula, and names of tensors come
 * from strangers: an apostrophe makes it text. */
static bool begins_formula(gufo_str text)
{
    return text.len > 0 && text.data[0] != '\0' && strchr("=+-@", text.data[0]) != NULL;
}

/* RFC 4180: always in quotes, and quotes doubled. */
static void put_quoted(FILE *out, gufo_str text)
{
    putc('"', out);
    if (begins_formula(text))
        putc('\'', out);
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '"')
            putc('"', out);
        putc(text.data[i], out);
    }
    putc('"', out);
}

static void put_csv_row(FILE *out, const gufo_quantizer_tensor *tensor, const char *target)
{
    const gufo_recipe_choice *choice = &tensor->choice;
    char number[NUMBER_SIZE];

    put_quoted(out, tensor->name);
    fprintf(out, ",%s,%s,%s,%s,", tensor_shape_text(tensor->source, "x").text,
            tensor_type_text(tensor->source->type).text, tensor_type_text(choice->type).text,
            tensor_type_text(choice->wanted).text);
    put_quoted(out, gufo_str_of(why(choice).text));
    fprintf(out, ",%d,%" PRIu64 ",%" PRIu64 ",%" PRId64, tensor->has_importance,
            tensor->source->size, choice->size, choice->fallback_cost);
    if (tensor->loss.count > 0) {
        number_f64(number, gufo_quantize_loss_relative(&tensor->loss));
        fprintf(out, ",%s", number);
        number_f32(number, tensor->loss.largest_error);
        fprintf(out, ",%s", number);
    } else {
        fputs(",,", out);
    }
    fprintf(out, ",%s\r\n", target);
}

static void put_csv(FILE *out, const gufo_quantizer *q, const quantize_options *options)
{
    gufo_quantizer_tensor tensor;

    fputs("tensor,shape,from,to,wanted,why,importance,bytes_before,bytes,fallback_bytes,"
          "relative_rmse,largest_error,target\r\n",
          out);
    for (size_t k = 0; k < options->output_count; k++)
        for (uint64_t i = 0; gufo_quantizer_target_tensor_at(q, k, i, &tensor); i++)
            put_csv_row(out, &tensor, type_name(options, &options->outputs[k]));
}

int quantize_save_report(const gufo_quantizer *q, const quantize_options *options,
                         const output_guard *guard)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    int code = CODE_FAILED;

    if (out != NULL)
        put_csv(out, q, options);
    if (out != NULL && fclose(out) == 0)
        code =
            save_bytes(options->report, (gufo_str){text, len}, options->base.shared->force, guard);
    else
        report_memory(NULL);
    free(text);
    return code;
}

/* ---- warnings ------------------------------------------------------------------------------- */

/* Tensors that fell back from one type to another. */
typedef struct fallback {
    uint32_t wanted, type;
    uint64_t tensors;
    int64_t bytes;
} fallback;

static void add_fallback(fallback *list, size_t *count, size_t room,
                         const gufo_recipe_choice *choice)
{
    size_t i = 0;

    while (i < *count && (list[i].wanted != choice->wanted || list[i].type != choice->type))
        i++;
    if (i == room)
        return;
    if (i == *count)
        list[(*count)++] = (fallback){.wanted = choice->wanted, .type = choice->type};
    list[i].tensors++;
    list[i].bytes += choice->fallback_cost;
}

/* What a warning begins with: of several outputs, the type. */
typedef struct warned {
    const quantize_options *options;
    const gufo_quantizer *quantizer;
    size_t output;
    char type[64];
} warned;

static void warn_of_fallback(const fallback *f, const warned *w)
{
    bool more = f->bytes >= 0;
    uint64_t bytes = more ? (uint64_t)f->bytes : 0 - (uint64_t)f->bytes;

    report_warning(w->options->input,
                   "%s%" PRIu64 " %s %s instead of %s, whose blocks the rows do not fill: "
                   "%s bytes %s",
                   w->type, f->tensors, f->tensors == 1 ? "tensor gets" : "tensors get",
                   tensor_type_text(f->type).text, tensor_type_text(f->wanted).text,
                   human_grouped(bytes).text, more ? "more" : "less");
}

static void warn_of_fallbacks(const warned *w)
{
    enum { ROOM = 64 }; /* more than there are pairs */
    fallback list[ROOM];
    size_t count = 0;
    gufo_quantizer_tensor tensor;

    for (uint64_t i = 0; gufo_quantizer_target_tensor_at(w->quantizer, w->output, i, &tensor); i++)
        if (tensor.choice.flags & GUFO_RECIPE_FELL_BACK)
            add_fallback(list, &count, ROOM, &tensor.choice);
    for (size_t i = 0; i < count; i++)
        warn_of_fallback(&list[i], w);
}

static bool could_use_importance(const gufo_quantizer_tensor *tensor)
{
    const gufo_element_type *type = gufo_element_type_by_id(tensor->choice.type);

    return (tensor->choice.flags & GUFO_RECIPE_CONVERTS) != 0 && type != NULL &&
           (type->flags & GUFO_ELEMENT_WEIGHS) != 0;
}

/* Warnings about a tensor, by number; the last one is empty: no warning. */
static const char *const warnings[] = {
    "this type cannot be made without importance data (--imatrix)",
    "a type this small gives poor results without importance data (--imatrix)",
    "the importance data has another length and is ignored",
    "it is not in the importance matrix",
    "its type cannot be decoded, so it is kept",
    "it is not in the model of --types-from",
};

enum { WARNINGS = sizeof warnings / sizeof *warnings };

static size_t warning_of(const gufo_quantizer_tensor *tensor, const quantize_options *options)
{
    gufo_recipe_reason reason = tensor->choice.reason;

    if (tensor->choice.flags & GUFO_RECIPE_IMPOSSIBLE)
        return 0;
    if (tensor->choice.flags & GUFO_RECIPE_POOR)
        return 1;
    if (tensor->unfit_importance)
        return 2;
    if (options->imatrix != NULL && !tensor->has_importance && could_use_importance(tensor))
        return 3;
    if (reason == GUFO_REASON_UNKNOWN_TYPE)
        return 4;
    return options->types_from != NULL && reason != GUFO_REASON_MODEL ? 5 : WARNINGS;
}

static void warn(const warned *w)
{
    uint64_t tensors[WARNINGS + 1] = {0};
    gufo_str first[WARNINGS + 1];
    gufo_quantizer_tensor tensor;

    for (uint64_t i = 0; gufo_quantizer_target_tensor_at(w->quantizer, w->output, i, &tensor);
         i++) {
        size_t warning = warning_of(&tensor, w->options);

        if (tensors[warning]++ == 0)
            first[warning] = tensor.name;
    }
    warn_of_fallbacks(w);
    for (size_t i = 0; i < WARNINGS; i++)
        if (tensors[i] > 1)
            report_warning(w->options->input, "%s%.*s and %" PRIu64 " others: %s", w->type,
                           (int)first[i].len, first[i].data, tensors[i] - 1, warnings[i]);
        else if (tensors[i] == 1)
            report_warning(w->options->input, "%s%.*s: %s", w->type, (int)first[i].len,
                           first[i].data, warnings[i]);
}

void quantize_warn(const gufo_quantizer *q, const quantize_options *options)
{
    warned w = {.options = options, .quantizer = q};

    for (; w.output < options->output_count; w.output++) {
        if (options->output_count > 1)
            snprintf(w.type, sizeof w.type,
                     "%s: ", type_name(options, &options->outputs[w.output]));
        warn(&w);
    }
}
