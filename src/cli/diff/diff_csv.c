/* gufo diff --report: a row for every tensor, and five columns for every candidate. */
#include "cli/diff/diff_candidates.h"

#include "cli/core/records/csv.h"
#include "cli/core/values/number.h"
#include "cli/core/records/tensor_text.h"

#include <inttypes.h>

static void begin(candidates_report *r)
{
    static const char *const columns[] = {"type", "bytes", "relative_squared_error", "rmse",
                                          "note"};
    FILE *out = r->csv.out;

    fputs("tensor,shape,type,bytes", out);
    for (size_t k = 1; k <= r->count; k++) {
        for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
            putc(',', out);
            csv_put_column(out, columns[i], r->paths[k]);
        }
    }
    fputs("\r\n", out);
}

/* Two cells, empty without a tensor. */
static void put_tensor(FILE *out, const gufo_tensor *tensor)
{
    if (tensor->name.data != NULL)
        fprintf(out, ",%s,%" PRIu64, tensor_type_text(tensor->type).text, tensor->size);
    else
        fputs(",,", out);
}

static void put_candidate(FILE *out, const gufo_tensor_difference *d)
{
    char loss[NUMBER_SIZE] = "", rmse[NUMBER_SIZE] = "";
    double number;

    if (gufo_tensor_difference_loss(d, &number))
        number_f64(loss, number);
    if (diff_rmse(d, &number))
        number_f64(rmse, number);
    put_tensor(out, &d->b);
    fprintf(out, ",%s,%s,%s", loss, rmse, diff_note_word(d));
}

static void put_row(candidates_report *r, const gufo_tensor_difference *row)
{
    const gufo_tensor *tensor = diff_row_tensor(row, r->count);
    FILE *out = r->csv.out;

    csv_put(out, tensor->name);
    fprintf(out, ",%s", tensor_shape_text(tensor, "x").text);
    put_tensor(out, &row[0].a);
    for (size_t k = 0; k < r->count; k++)
        put_candidate(out, &row[k]);
    fputs("\r\n", out);
}

const candidates_form candidates_csv = {begin, put_row, NULL};
