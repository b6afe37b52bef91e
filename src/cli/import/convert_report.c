/* What became of the weights of a quantized source: a row for each way they were packed and each type
 * that they have now.  And what --force-config has let pass. */
#include "cli/import/convert_report.h"

#include "cli/core/values/array.h"
#include "cli/core/values/number.h"
#include "cli/core/terminal/line.h"
#include "cli/core/records/table.h"
#include "cli/core/records/tensor_text.h"

#include <stdlib.h>
#include <string.h>

typedef struct packed_sum {
    const char *from;
    uint32_t to;
    bool repacked; /* blocks have the same numbers; else these are unpacked, and rounded */
    uint64_t tensors;
    gufo_quantize_loss loss;
} packed_sum;

typedef struct packed_sums {
    packed_sum *list; /* in the order of first appearance */
    size_t count;
    bool planned; /* nothing is measured yet */
} packed_sums;

static packed_sum *sum_of(packed_sums *sums, const packed_sum *like)
{
    packed_sum *added;

    for (size_t i = 0; i < sums->count; i++)
        if (strcmp(sums->list[i].from, like->from) == 0 && sums->list[i].to == like->to &&
            sums->list[i].repacked == like->repacked)
            return &sums->list[i];
    added = array_add(&sums->list, &sums->count, sizeof *added);
    if (added != NULL)
        *added = *like;
    return added;
}

static bool add_tensor(packed_sums *sums, const gufo_import_tensor *from,
                       const gufo_quantizer_tensor *now)
{
    const gufo_element_type *to = gufo_element_type_by_id(now->choice.type);
    const packed_sum like = {.from = from->from,
                             .to = now->choice.type,
                             .repacked = (now->choice.flags & GUFO_RECIPE_CONVERTS) == 0 &&
                                         (to->flags & GUFO_ELEMENT_QUANTIZED) != 0};
    packed_sum *sum = sum_of(sums, &like);

    if (sum == NULL)
        return false;
    sum->tensors++;
    gufo_quantize_loss_add(&sum->loss, &now->loss);
    return true;
}

/* False after a report. */
static bool sum_up(packed_sums *sums, const gufo_import *import, const gufo_quantizer *q,
                   size_t output)
{
    gufo_quantizer_tensor now;
    gufo_import_tensor from;

    for (uint64_t i = 0; gufo_quantizer_target_tensor_at(q, output, i, &now) &&
                         gufo_import_tensor_at(import, i, &from);
         i++)
        if (from.packed && !add_tensor(sums, &from, &now))
            return false;
    return true;
}

/* ---- text ----------------------------------------------------------------------------------- */

static bool make_row(const void *context, uint64_t index, table_row *row)
{
    const packed_sums *sums = context;
    const packed_sum *sum = &sums->list[index];

    if (index >= sums->count)
        return false;
    row_text(row, "%s", sum->from);
    row_text(row, "%s", human_grouped(sum->tensors).text);
    row_text(row, "%s", sum->repacked ? "repacked" : "unpacked");
    row_text(row, "%s", tensor_type_text(sum->to).text);
    if (sums->planned && !sum->repacked) {
        row_text(row, "-");
        row_text(row, "-");
    } else {
        row_text(row, "%.3g", gufo_quantize_loss_relative(&sum->loss));
        row_text(row, "%.3g", (double)sum->loss.largest_error);
    }
    return true;
}

static void print_sums(const packed_sums *sums)
{
    static const table_column columns[] = {{"Quantized as", -12, 0}, {"Tensors", 7, 2},
                                           {"How", -8, 0},           {"To", -8, 0},
                                           {"Relative RMSE", 14, 1}, {"Largest error", 14, 3}};
    table t = table_of(columns, 6);

    t.indent = 0;
    t.gap = 1;
    putchar('\n');
    table_print(&t, make_row, sums);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void write_sums(const packed_sums *sums, const gufo_import *import, json_writer *j)
{
    json_begin_object(j, "quantized_source");
    json_write_text(j, "method", gufo_import_describe(import).quantized);
    json_begin_array(j, "weights");
    for (const packed_sum *sum = sums->list; sum < sums->list + sums->count; sum++) {
        json_begin_object(j, NULL);
        json_write_text(j, "from", sum->from);
        json_write_text(j, "to", tensor_type_text(sum->to).text);
        json_write_bool(j, "repacked", sum->repacked);
        json_write_u64(j, "tensors", sum->tensors);
        if (sums->planned && !sum->repacked) {
            json_write_null(j, "relative_rmse");
            json_write_null(j, "largest_error");
        } else {
            json_write_f64(j, "relative_rmse", gufo_quantize_loss_relative(&sum->loss));
            json_write_f32(j, "largest_error", sum->loss.largest_error);
        }
        json_end_object(j);
    }
    json_end_array(j);
    json_end_object(j);
}

/* ---- contradictions ------------------------------------------------------------------------- */

static void print_forced(const gufo_import *import)
{
    const char *text;

    for (uint64_t i = 0; (text = gufo_import_forced_at(import, i)) != NULL; i++) {
        if (i == 0)
            puts("\n--force-config accepted:");
        text_print("  %s\n", text);
    }
}

static void write_forced(const gufo_import *import, json_writer *j)
{
    const char *text;

    json_begin_array(j, "forced");
    for (uint64_t i = 0; (text = gufo_import_forced_at(import, i)) != NULL; i++)
        json_write_text(j, NULL, text);
    json_end_array(j);
}

void convert_report(const gufo_import *import, const quantize_options *options,
                    const gufo_quantizer *q, size_t output, json_writer *j)
{
    packed_sums sums = {.planned = options->dry_run};

    if (gufo_import_describe(import).quantized != NULL && sum_up(&sums, import, q, output) &&
        sums.count > 0) {
        if (j != NULL)
            write_sums(&sums, import, j);
        else
            print_sums(&sums);
    }
    free(sums.list);
    if (j != NULL)
        write_forced(import, j);
    else if (output == 0)
        print_forced(import);
}
