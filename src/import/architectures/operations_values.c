/* Arithmetic on the numbers of tensors: the engine does it, in double.  Results of F16 numbers are F16
 * numbers again, whatever type they are stored in; all others are F32. */
#include "import/architectures/operations_values.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

static bool is_half(const view *v)
{
    for (uint64_t i = 0; i < v->count; i++)
        if (v->chunks[i].number->type != GUFO_TYPE_F16)
            return false;
    return v->count > 0;
}

static gufo_status operate(const operation_call *c, const row_op_kind *kind, double number,
                           gufo_error *error)
{
    view *v = &c->item->views[c->view];
    const row_op op = {.kind = kind, .number = number}, rounding = {.kind = &row_op_round_f16};
    gufo_status status = view_operate(v, &op, error);

    return status == GUFO_OK && is_half(v) ? view_operate(v, &rounding, error) : status;
}

gufo_status values_add(const operation_call *c, gufo_error *error)
{
    return operate(c, &row_op_add, (double)c->numbers[0], error);
}

gufo_status values_neg_exp(const operation_call *c, gufo_error *error)
{
    return operate(c, &row_op_neg_exp, 0, error);
}

/* As many times as the argument says. */
gufo_status values_halve(const operation_call *c, gufo_error *error)
{
    uint64_t times = c->numbers[0] < 1000 ? c->numbers[0] : 1000;

    return times == 0 ? GUFO_OK : operate(c, &row_op_scale, ldexp(1, -(int)times), error);
}

/* A field of the configuration, "a" or "a.b". */
static json_t *field_of(const model_config *config, gufo_str path)
{
    json_t *at = config->fields;

    while (path.len > 0) {
        const char *dot = memchr(path.data, '.', path.len);
        size_t len = dot != NULL ? (size_t)(dot - path.data) : path.len;
        char name[128];

        if (len >= sizeof name)
            return NULL;
        memcpy(name, path.data, len);
        name[len] = '\0';
        at = json_object_get(at, name);
        path = str_from(path, dot != NULL ? len + 1 : len);
    }
    return at;
}

/* By a real number of the configuration. */
gufo_status values_multiply(const operation_call *c, gufo_error *error)
{
    json_t *number = field_of(c->planner->config, c->texts[0]);

    if (!json_is_number(number))
        return refuse(error, GUFO_E_ARGUMENT, "config.json has no number %s", QUOTED(c->texts[0]));
    return operate(c, &row_op_scale, json_number_value(number), error);
}
