/* Plans of jobs that are made in parts: how far these are. */
#include "fields.h"

typedef struct looking {
    const char *path;
    gufo_plan *plan;
} looking;

static gufo_status look(void *context, const gufo_run *run, gufo_error *error)
{
    looking *l = context;

    (void)run;
    l->plan = gufo_plan_open(l->path, error);
    return l->plan != NULL ? gufo_plan_look(l->plan, l->path, error) : error->code;
}

static PyObject *parts_of(const gufo_plan *plan)
{
    static const field fields[] = {{"state", FIELD_UINT, offsetof(gufo_part_info, state)},
                                   {"units", FIELD_U64, offsetof(gufo_part_info, unit_count)},
                                   {"units_done", FIELD_U64, offsetof(gufo_part_info, units_done)},
                                   {"size", FIELD_U64, offsetof(gufo_part_info, size)},
                                   {"silent", FIELD_F64, offsetof(gufo_part_info, silent)},
                                   {"worker", FIELD_TEXT, offsetof(gufo_part_info, worker)},
                                   {"reason", FIELD_TEXT, offsetof(gufo_part_info, reason)},
                                   {0}};
    PyObject *list = PyList_New(0);
    gufo_part_info part;

    for (uint64_t i = 0; list != NULL && gufo_plan_part_at(plan, i, &part); i++)
        if (fields_append(list, fields, &part) < 0)
            Py_CLEAR(list);
    return list;
}

static PyObject *outputs_of(const gufo_plan *plan)
{
    PyObject *list = PyList_New(0);
    gufo_plan_output output;

    for (size_t i = 0; list != NULL && gufo_plan_output_at(plan, i, &output); i++)
        if (fields_add(list, Py_BuildValue("(yKO)", output.name, (unsigned long long)output.size,
                                           output.complete ? Py_True : Py_False)) < 0)
            Py_CLEAR(list);
    return list;
}

/* The command line of the first worker. */
static PyObject *command_of(const gufo_plan *plan)
{
    PyObject *list = PyList_New(0);
    const char *argument;

    for (size_t i = 0; list != NULL && (argument = gufo_plan_argument(plan, i)) != NULL; i++)
        if (fields_add(list, PyBytes_FromString(argument)) < 0)
            Py_CLEAR(list);
    return list;
}

static PyObject *plan(PyObject *module, PyObject *args)
{
    const core_call call = {.brief = true};
    looking l = {.plan = NULL};
    PyObject *result = NULL;

    if (!PyArg_ParseTuple(args, "y:plan", &l.path))
        return NULL;
    if (core_do(module, &call, look, &l))
        result = Py_BuildValue("(NNN)", parts_of(l.plan), outputs_of(l.plan), command_of(l.plan));
    gufo_plan_free(l.plan);
    return result;
}

static PyMethodDef methods[] = {
    {"plan", plan, METH_VARARGS,
     "plan(path) -> (parts, outputs, command): of what is made in parts."},
    {NULL, NULL, 0, NULL},
};

const core_part core_part_plan = {methods, NULL};
