/* The report of gufo quantize: before (the plan), after (the result), and warnings.
 *
 *     tables and JSON to standard output, warnings to standard error, CSV to a file */
#include "cli/quantize.h"

#include "cli/human.h"
#include "cli/json.h"
#include "cli/model_json.h"
#include "cli/number.h"
#include "cli/report.h"
#include "cli/save.h"
#include "cli/tensor_text.h"
#include "cli/text.h"

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

static type_sum *sum_of(type_sums *sums, uint32_t type)
{
    type_sum *larger;

    for (size_t i = 0; i < sums->count; i++)
        if (sums->list[i].type == type)
            return &sums->list[i];
    larger = realloc(sums->list, (sums->count + 1) * sizeof *larger);
    if (larger == NULL)
        return NULL;
    sums->list = larger;
    sums->list[sums->count] = (type_sum){.type = type};
    return &sums->list[sums->count++];
}

static void add_to_sum(type_sum *sum, const gufo_quantizer_tensor *tensor)
{
    sum->tensors++;
    sum->bytes += tensor->choice.size;
    sum->weights += tensor->source->elements;
    gufo_quantize_loss_add(&sum->loss, &tensor->loss);
}

/* False without memory. */
static bool sum_up(const gufo_quantizer *q, type_sums *sums)
{
    gufo_quantizer_tensor tensor;

    *sums = (type_sums){0};
    for (uint64_t i = 0; gufo_quantizer_tensor_at(q, i, &tensor); i++) {
        type_sum *sum = sum_of(sums, tensor.choice.type);

        if (sum == NULL) {
            report_memory(NULL);
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

static int wider(int width, const char *text)
{
    int other = (int)strlen(text);

    return other > width ? other : width;
}

static void print_sum(const char *name, int width, const type_sum *sum, bool with_loss)
{
    printf("%-*s %7" PRIu64 " %10s %12.2f", width, name, sum->tensors, human_bytes(sum->bytes).text,
           bits_per_weight(sum->bytes, sum->weights));
    if (with_loss && sum->loss.count > 0)
        printf(" %14.3g %14.3g", gufo_quantize_loss_relative(&sum->loss),
               (double)sum->loss.largest_error);
    else if (with_loss)
        printf(" %14s %14s", "-", "-");
    putchar('\n');
}

static void print_sums(const type_sums *sums, bool with_loss)
{
    int width = 8;

    for (size_t i = 0; i < sums->count; i++)
        width = wider(width, tensor_type_text(sums->list[i].type).text);
    printf("%-*s %7s %10s %12s", width, "Type", "Tensors", "Size", "Bits/weight");
    if (with_loss)
        printf(" %14s %14s", "Relative RMSE", "Largest error");
    putchar('\n');
    for (size_t i = 0; i < sums->count; i++)
        print_sum(tensor_type_text(sums->list[i].type).text, width, &sums->list[i], with_loss);
    print_sum("all", width, &sums->all, with_loss);
}

/* "model.gguf as Q4_K_M: 477.1 MiB of tensors become 150.2 MiB" */
static void print_headline(const type_sums *sums, const quantize_options *options)
{
    text_put(stdout, gufo_str_of(options->input), TEXT_PLAIN);
    printf(" as %s: %s of tensors become %s\n", options->target.name,
           human_bytes(sums->bytes_before).text, human_bytes(sums->all.bytes).text);
}

/* Columns of the table of tensors. */
typedef struct row_widths {
    size_t name;
    int shape, from, to;
} row_widths;

static row_widths measure_rows(const gufo_quantizer *q)
{
    row_widths w = {.name = strlen("Tensor"), .shape = (int)strlen("Shape"), .from = 7, .to = 7};
    gufo_quantizer_tensor tensor;

    for (uint64_t i = 0; gufo_quantizer_tensor_at(q, i, &tensor); i++) {
        text_widen(&w.name, text_columns(tensor.name, TEXT_PLAIN));
        w.shape = wider(w.shape, tensor_shape_text(tensor.source, " x ").text);
        w.from = wider(w.from, tensor_type_text(tensor.source->type).text);
        w.to = wider(w.to, tensor_type_text(tensor.choice.type).text);
    }
    return w;
}

static void print_row(const gufo_quantizer_tensor *tensor, const row_widths *w)
{
    text_put_cell(stdout, tensor->name, w->name, SIZE_MAX);
    printf("  %-*s  %-*s  %-*s  %12" PRIu64 "  %s\n", w->shape,
           tensor_shape_text(tensor->source, " x ").text, w->from,
           tensor_type_text(tensor->source->type).text, w->to,
           tensor_type_text(tensor->choice.type).text, tensor->choice.size,
           why(&tensor->choice).text);
}

static void print_rows(const gufo_quantizer *q)
{
    row_widths w = measure_rows(q);
    gufo_quantizer_tensor tensor;

    printf("%-*s  %-*s  %-*s  %-*s  %12s  %s\n", (int)w.name, "Tensor", w.shape, "Shape", w.from,
           "From", w.to, "To", "Bytes", "Why");
    for (uint64_t i = 0; gufo_quantizer_tensor_at(q, i, &tensor); i++)
        print_row(&tensor, &w);
}

void quantize_print_plan(const gufo_quantizer *q, const quantize_options *options)
{
    type_sums sums;

    if (!sum_up(q, &sums))
        return;
    print_rows(q);
    putchar('\n');
    print_headline(&sums, options);
    print_sums(&sums, false);
    free(sums.list);
}

void quantize_print_result(const gufo_quantizer *q, const quantize_options *options)
{
    type_sums sums;

    if (!sum_up(q, &sums))
        return;
    print_headline(&sums, options);
    print_sums(&sums, true);
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

static void write_choice(json_writer *j, const gufo_recipe_choice *choice)
{
    json_write_text(j, "to", tensor_type_text(choice->type).text);
    json_write_text(j, "wanted", tensor_type_text(choice->wanted).text);
    json_write_i64(j, "fallback_bytes", choice->fallback_cost);
    json_write_text(j, "why", why(choice).text);
}

static void write_tensor(json_writer *j, const gufo_quantizer_tensor *tensor)
{
    json_begin_object(j, NULL);
    json_write_str(j, "name", tensor->name);
    model_json_dims(j, tensor->source);
    json_write_text(j, "from", tensor_type_text(tensor->source->type).text);
    write_choice(j, &tensor->choice);
    json_write_bool(j, "importance", tensor->has_importance);
    json_write_u64(j, "size_before", tensor->source->size);
    json_write_u64(j, "size", tensor->choice.size);
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
                       const quantize_options *options)
{
    json_write_text(j, "path", options->input);
    json_write_text(j, "output", options->dry_run ? NULL : options->output);
    json_write_text(j, "type", options->target.name);
    json_write_u64(j, "output_size", gufo_quantizer_output_size(q));
    json_write_u64(j, "size_before", sums->bytes_before);
    json_write_u64(j, "size", sums->all.bytes);
    json_write_f64(j, "bits_per_weight", bits_per_weight(sums->all.bytes, sums->all.weights));
    write_loss(j, &sums->all.loss);
}

void quantize_write_json(const gufo_quantizer *q, const quantize_options *options)
{
    json_writer j = json_writer_start(stdout);
    gufo_quantizer_tensor tensor;
    type_sums sums;

    if (!sum_up(q, &sums))
        return;
    json_begin_object(&j, NULL);
    write_head(&j, &sums, q, options);
    json_begin_array(&j, "types");
    for (size_t i = 0; i < sums.count; i++)
        write_sum(&j, &sums.list[i]);
    json_end_array(&j);
    json_begin_array(&j, "tensors");
    for (uint64_t i = 0; gufo_quantizer_tensor_at(q, i, &tensor); i++)
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

static void put_csv_row(FILE *out, const gufo_quantizer_tensor *tensor)
{
    const gufo_recipe_choice *choice = &tensor->choice;
    char number[NUMBER_SIZE];

    put_quoted(out, tensor->name);
    fprintf(out, ",%s,%s,", tensor_shape_text(tensor->source, "x").text,
            tensor_type_text(tensor->source->type).text);
    fprintf(out, "%s,%s,", tensor_type_text(choice->type).text,
            tensor_type_text(choice->wanted).text);
    put_quoted(out, gufo_str_of(why(choice).text));
    fprintf(out, ",%d,%" PRIu64 ",%" PRIu64 ",%" PRId64, tensor->has_importance,
            tensor->source->size, choice->size, choice->fallback_cost);
    if (tensor->loss.count > 0) {
        number_f64(number, gufo_quantize_loss_relative(&tensor->loss));
        fprintf(out, ",%s", number);
        number_f32(number, tensor->loss.largest_error);
        fprintf(out, ",%s\r\n", number);
    } else {
        fputs(",,\r\n", out);
    }
}

int quantize_save_report(const gufo_quantizer *q, const quantize_options *options,
                         const output_guard *guard)
{
    gufo_quantizer_tensor tensor;
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    int code = CODE_FAILED;

    if (out != NULL) {
        fputs("tensor,shape,from,to,wanted,why,importance,bytes_before,bytes,fallback_bytes,"
              "relative_rmse,largest_error\r\n",
              out);
        for (uint64_t i = 0; gufo_quantizer_tensor_at(q, i, &tensor); i++)
            put_csv_row(out, &tensor);
    }
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

static void warn_of_fallback(const fallback *f, const char *path)
{
    bool more = f->bytes >= 0;
    uint64_t bytes = more ? (uint64_t)f->bytes : 0 - (uint64_t)f->bytes;

    report_warning(path,
                   "%" PRIu64 " %s %s instead of %s, whose blocks the rows do not fill: "
                   "%s bytes %s",
                   f->tensors, f->tensors == 1 ? "tensor gets" : "tensors get",
                   tensor_type_text(f->type).text, tensor_type_text(f->wanted).text,
                   human_grouped(bytes).text, more ? "more" : "less");
}

static void warn_of_fallbacks(const gufo_quantizer *q, const char *path)
{
    enum { ROOM = 64 }; /* more than there are pairs */
    fallback list[ROOM];
    size_t count = 0;
    gufo_quantizer_tensor tensor;

    for (uint64_t i = 0; gufo_quantizer_tensor_at(q, i, &tensor); i++)
        if (tensor.choice.flags & GUFO_RECIPE_FELL_BACK)
            add_fallback(list, &count, ROOM, &tensor.choice);
    for (size_t i = 0; i < count; i++)
        warn_of_fallback(&list[i], path);
}

/* Tensors that some condition holds for: how many, and the first of them. */
typedef struct affected {
    uint64_t tensors;
    gufo_str first;
} affected;

static void note_affected(affected *a, gufo_str name)
{
    if (a->tensors++ == 0)
        a->first = name;
}

static void warn_of(const affected *a, const char *path, const char *what)
{
    if (a->tensors > 0)
        report_warning(path, "%.*s%s: %s", (int)a->first.len, a->first.data,
                       a->tensors > 1 ? " and others" : "", what);
}

static bool could_use_importance(const gufo_quantizer_tensor *tensor)
{
    const gufo_element_type *type = gufo_element_type_by_id(tensor->choice.type);

    return (tensor->choice.flags & GUFO_RECIPE_CONVERTS) != 0 && type != NULL &&
           (type->flags & GUFO_ELEMENT_WEIGHS) != 0;
}

void quantize_warn(const gufo_quantizer *q, const quantize_options *options)
{
    affected impossible = {0}, poor = {0}, unfit = {0}, missing = {0}, unknown = {0};
    gufo_quantizer_tensor tensor;

    for (uint64_t i = 0; gufo_quantizer_tensor_at(q, i, &tensor); i++) {
        if (tensor.choice.flags & GUFO_RECIPE_IMPOSSIBLE)
            note_affected(&impossible, tensor.name);
        else if (tensor.choice.flags & GUFO_RECIPE_POOR)
            note_affected(&poor, tensor.name);
        else if (tensor.unfit_importance)
            note_affected(&unfit, tensor.name);
        else if (options->imatrix != NULL && !tensor.has_importance &&
                 could_use_importance(&tensor))
            note_affected(&missing, tensor.name);
        else if (tensor.choice.reason == GUFO_REASON_UNKNOWN_TYPE)
            note_affected(&unknown, tensor.name);
    }
    warn_of_fallbacks(q, options->input);
    warn_of(&impossible, options->input,
            "this type cannot be made without importance data (--imatrix)");
    warn_of(&poor, options->input,
            "a type this small gives poor results without importance data (--imatrix)");
    warn_of(&unfit, options->input, "the importance data has another length and is ignored");
    warn_of(&missing, options->input, "it is not in the importance matrix");
    warn_of(&unknown, options->input, "its type cannot be decoded, so it is kept");
}
