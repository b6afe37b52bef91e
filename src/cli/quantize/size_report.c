/* What was planned for a size, and what came of it. */
#include "cli/quantize/quantize.h"

#include "cli/core/records/tensor_text.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/number.h"
#include "gufo/summary.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- expected and actual losses ------------------------------------------------------------- */

/* The tensors of an output that lost something else than expected: how many, and the first ones. */
enum { NAMED = 4 };

typedef struct agreement {
    uint64_t compared, within;
    gufo_str others[NAMED];
} agreement;

static agreement compare(const quantize_options *o, const gufo_quantizer *q, size_t output)
{
    agreement sum = {0};
    gufo_quantizer_tensor tensor;
    gufo_size_tensor planned;
    bool agrees;

    for (uint64_t i = 0; gufo_quantizer_target_tensor_at(q, output, i, &tensor) &&
                         gufo_size_plan_tensor_at(o->size.plan, output, i, &planned);
         i++) {
        uint64_t others = sum.compared - sum.within;

        if (!gufo_size_tensor_compare(&planned, &tensor, NULL, &agrees))
            continue;
        sum.compared++;
        if (agrees)
            sum.within++;
        else if (others < NAMED)
            sum.others[others] = tensor.name;
    }
    return sum;
}

/* ---- text ----------------------------------------------------------------------------------- */

static void begin_line(line *l, const char *head)
{
    line_begin(l);
    fprintf(l->out, "%-13s ", head);
}

/* "5,800,000,000 bytes (5.80 GB)" */
static void put_bytes(FILE *out, uint64_t bytes)
{
    fputs(human_counted(bytes, "byte", "bytes").text, out);
    if (bytes >= 1000)
        fprintf(out, " (%s)", human_file_size(bytes).text);
}

static void print_sizes(const quantize_options *o, size_t output, const gufo_size_result *result)
{
    bool of_files = o->size.targets[output].bytes > 0;
    uint64_t counted = of_files ? result->size : result->data_size;
    line l;

    begin_line(&l, "Asked for");
    if (!of_files)
        fprintf(l.out, "%.9g bits per weight, ", o->size.targets[output].bits_per_weight);
    put_bytes(l.out, result->asked);
    fputs(of_files ? "" : " of tensors", l.out);
    line_end(&l);
    begin_line(&l, "Planned");
    put_bytes(l.out, counted);
    fprintf(l.out, ", %s fewer; %.4f bits per weight", human_grouped(result->asked - counted).text,
            tensor_bits(result->data_size, result->elements));
    if (!of_files)
        fprintf(l.out, "; files of %s bytes", human_grouped(result->size).text);
    line_end(&l);
    if (o->dry_run)
        return;
    begin_line(&l, "Written");
    put_bytes(l.out, o->size.reached[output]);
    line_end(&l);
}

/* "12.3 % less than Q4_K_M, which is 12,345 bytes smaller" */
static void print_loss(const gufo_size_result *result)
{
    line l;

    begin_line(&l, "Loss");
    fprintf(l.out, "%.6g", result->loss);
    if (result->mixture == NULL) {
        fputs("; no fixed mixture of these types is as small", l.out);
    } else {
        double more = result->mixture_loss - result->loss;
        bool is_smaller = result->mixture_size <= result->size;
        uint64_t apart =
            is_smaller ? result->size - result->mixture_size : result->mixture_size - result->size;

        if (result->mixture_loss > 0)
            fprintf(l.out, ", %.1f %% %s than %s", 100 * fabs(more) / result->mixture_loss,
                    more >= 0 ? "less" : "more", result->mixture->name);
        else
            fprintf(l.out, "; %s loses nothing", result->mixture->name);
        if (apart > 0)
            fprintf(l.out, ", which is %s %s", human_counted(apart, "byte", "bytes").text,
                    is_smaller ? "smaller" : "larger");
        else
            fputs(", which is as large", l.out);
    }
    line_end(&l);
}

static void print_proof(const gufo_size_result *result)
{
    line l;

    begin_line(&l, "Proof");
    if (result->is_best)
        fputs("every tensor has the best of its types; more bytes gain nothing", l.out);
    else if (result->is_proven)
        fputs("optimal: no other choice of types of that size has a smaller loss", l.out);
    else if (result->bound > 0)
        fprintf(l.out, "at most %.3g %% from the optimum",
                100 * (result->loss - result->bound) / result->bound);
    else
        fputs("none: the optimum may be anything from 0 on", l.out);
    line_end(&l);
}

enum { ROLES = 24 };

/* The coefficients of all roles, in the order of the tensors. */
static void print_coefficients(const quantize_options *o, size_t output)
{
    gufo_size_tensor tensor, seen[ROLES];
    size_t count = 0;
    line l;

    begin_line(&l, "Coefficients");
    fputs(o->size.equal                 ? "all 1: "
          : o->size.sensitivity != NULL ? "of the file: "
                                        : "built-in: ",
          l.out);
    for (uint64_t i = 0; gufo_size_plan_tensor_at(o->size.plan, output, i, &tensor); i++) {
        size_t k = 0;

        while (k < count && (seen[k].coefficient != tensor.coefficient ||
                             !gufo_str_equal(gufo_tensor_role(seen[k].name, NULL),
                                             gufo_tensor_role(tensor.name, NULL))))
            k++;
        if (tensor.is_kept || k < count || count == ROLES)
            continue;
        fputs(count > 0 ? ", " : "", l.out);
        text_put(l.out, gufo_tensor_role(tensor.name, NULL), TEXT_PLAIN);
        fprintf(l.out, " %.4g", tensor.coefficient);
        seen[count++] = tensor;
    }
    line_end(&l);
}

static void print_agreement(const quantize_options *o, const gufo_quantizer *q, size_t output)
{
    agreement sum = compare(o, q, output);
    uint64_t others = sum.compared - sum.within;
    line l;

    if (sum.compared == 0)
        return;
    begin_line(&l, "As expected");
    fprintf(l.out, "%s of %s lost what the plan says, within 3 standard errors",
            human_grouped(sum.within).text, human_counted(sum.compared, "tensor", "tensors").text);
    for (uint64_t i = 0; i < others && i < NAMED; i++) {
        fputs(i == 0 ? "; not " : ", ", l.out);
        text_put(l.out, sum.others[i], TEXT_PLAIN);
    }
    if (others > NAMED)
        fprintf(l.out, " and %s others", human_grouped(others - NAMED).text);
    line_end(&l);
}

void size_print(const quantize_options *o, const gufo_quantizer *q, size_t output)
{
    gufo_size_result result;

    if (!gufo_size_plan_at(o->size.plan, output, &result))
        return;
    putchar('\n');
    print_sizes(o, output, &result);
    print_loss(&result);
    print_proof(&result);
    print_coefficients(o, output);
    if (!o->dry_run)
        print_agreement(o, q, output);
}

/* ---- records -------------------------------------------------------------------------------- */

static const record_field tensor_fields[] = {
    {"coefficient", "Coefficient", RECORD_REAL, RECORD_AT(size_tensor, planned.coefficient),
     .width = 11, .drop = 2, .format = "%.4g", .column = "coefficient"},
    {"loss", "Loss", RECORD_REAL, RECORD_AT(size_tensor, planned.loss.relative), .width = 10,
     .format = "%.4g", .column = "loss"},
    {"standard_error", "Std. error", RECORD_REAL,
     RECORD_AT(size_tensor, planned.loss.standard_error), .width = 10, .drop = 1, .format = "%.2g",
     .column = "standard_error"},
    {"rows", NULL, RECORD_COUNT, RECORD_AT(size_tensor, planned.loss.rows)},
    {"all_rows", NULL, RECORD_COUNT, RECORD_AT(size_tensor, planned.loss.all_rows)},
    {"tied", NULL, RECORD_COUNT, RECORD_AT(size_tensor, planned.tied)},
    {"actual_loss", NULL, RECORD_REAL, RECORD_AT(size_tensor, actual),
     RECORD_GIVEN(size_tensor, is_compared), .column = "actual_loss"},
};
const record_type size_tensor_type = RECORD_OF(size_tensor, tensor_fields, 0);

size_tensor size_tensor_of(const quantize_options *o, const gufo_quantizer_tensor *tensor,
                           size_t output, uint64_t index)
{
    size_tensor row = {.is_planned = false};

    if (o->size.plan == NULL ||
        !gufo_size_plan_tensor_at(o->size.plan, output, index, &row.planned) || row.planned.is_kept)
        return row;
    row.is_planned = true;
    row.is_compared = gufo_size_tensor_compare(&row.planned, tensor, &row.actual, NULL);
    return row;
}

typedef struct plan_row {
    gufo_size_result r;
    bool has_bits, has_mixture, is_written;
    double bits;
    uint64_t planned, written;
    const char *file_type, *mixture, *coefficients;
    agreement agreed;
} plan_row;

#define OF_PLAN(kind, member) kind, RECORD_AT(plan_row, member)

static const record_field mixture_fields[] = {
    {"type", NULL, OF_PLAN(RECORD_TEXT, mixture)},
    {"size", NULL, OF_PLAN(RECORD_COUNT, r.mixture_size)},
    {"loss", NULL, OF_PLAN(RECORD_REAL, r.mixture_loss)},
};
static const record_type mixture_type = RECORD_OF(plan_row, mixture_fields, 0);

static const record_field plan_fields[] = {
    {"asked", NULL, OF_PLAN(RECORD_COUNT, r.asked)},
    {"bits_per_weight", NULL, OF_PLAN(RECORD_REAL, bits), RECORD_KNOWN(plan_row, has_bits)},
    {"planned", NULL, OF_PLAN(RECORD_COUNT, planned)},
    {"data_size", NULL, OF_PLAN(RECORD_COUNT, r.data_size)},
    {"elements", NULL, OF_PLAN(RECORD_COUNT, r.elements)},
    {"least", NULL, OF_PLAN(RECORD_COUNT, r.least)},
    {"written", NULL, OF_PLAN(RECORD_COUNT, written), RECORD_KNOWN(plan_row, is_written)},
    {"loss", NULL, OF_PLAN(RECORD_REAL, r.loss)},
    {"bound", NULL, OF_PLAN(RECORD_REAL, r.bound)},
    {"proven", NULL, OF_PLAN(RECORD_FLAG, r.is_proven)},
    {"best", NULL, OF_PLAN(RECORD_FLAG, r.is_best)},
    {"file_type", NULL, OF_PLAN(RECORD_TEXT, file_type)},
    {"mixture", NULL, RECORD_RECORD, .bytes = sizeof(plan_row), RECORD_KNOWN(plan_row, has_mixture),
     .of = &mixture_type},
    {"coefficients", NULL, OF_PLAN(RECORD_TEXT, coefficients)},
    {"compared", NULL, OF_PLAN(RECORD_COUNT, agreed.compared), RECORD_GIVEN(plan_row, is_written)},
    {"within_3_standard_errors", NULL, OF_PLAN(RECORD_COUNT, agreed.within),
     RECORD_GIVEN(plan_row, is_written)},
};
static const record_type plan_type = RECORD_OF(plan_row, plan_fields, 0);

void size_write(const quantize_options *o, const gufo_quantizer *q, size_t output, json_writer *j)
{
    const gufo_size_target *target = &o->size.targets[output];
    plan_row row = {.has_bits = target->bytes == 0,
                    .bits = target->bits_per_weight,
                    .is_written = !o->dry_run,
                    .written = o->size.reached[output],
                    .coefficients = o->size.equal                 ? "none"
                                    : o->size.sensitivity != NULL ? o->size.sensitivity
                                                                  : "built-in"};

    if (!gufo_size_plan_at(o->size.plan, output, &row.r))
        return;
    row.planned = row.has_bits ? row.r.data_size : row.r.size;
    row.file_type = row.r.file_type != NULL ? row.r.file_type->name : NULL;
    row.has_mixture = row.r.mixture != NULL;
    row.mixture = row.has_mixture ? row.r.mixture->name : NULL;
    if (row.is_written)
        row.agreed = compare(o, q, output);
    record_write(j, "plan", &plan_type, &row);
}
