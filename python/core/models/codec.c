/* Element types: the table, and blocks to numbers and back. */
#include "core.h"

/* Elements that take less time than a look at the signals; the slowest encoders do some 300,000 a second. */
#define DECODED_AT_ONCE (1u << 20)
#define ENCODED_AT_ONCE (1u << 14)

static PyObject *types(PyObject *module, PyObject *none)
{
    PyObject *list = PyList_New(0);

    (void)module;
    (void)none;
    for (size_t i = 0; list != NULL && i < gufo_element_type_count(); i++) {
        const gufo_element_type *type = gufo_element_type_at(i);
        PyObject *row = Py_BuildValue("(IsIII)", type->id, type->name, type->block_elements,
                                      type->block_bytes, type->flags);

        if (row == NULL || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* The type with an id, or NULL with an exception. */
static const gufo_element_type *type_by_id(unsigned id)
{
    const gufo_element_type *type = gufo_element_type_by_id(id);

    if (type == NULL)
        PyErr_Format(PyExc_ValueError, "no element type has the id %u", id);
    return type;
}

bool core_has_room(const Py_buffer *buffer, uint64_t count, size_t size)
{
    if (count <= (uint64_t)buffer->len / size && count * size == (uint64_t)buffer->len)
        return true;
    PyErr_Format(PyExc_ValueError, "the buffer has %zd bytes, not %llu times %zu", buffer->len,
                 (unsigned long long)count, size);
    return false;
}

/* ---- rows ------------------------------------------------------------------------------------- */

/* Rows of blocks, and the same rows as numbers. */
typedef struct coding {
    const gufo_element_type *type;
    const gufo_encoder *encoder;
    const float *importance;
    char *blocks;
    float *values;
    uint64_t rows, columns;
} coding;

static bool whole_buffers(coding *c, PyObject *module, const Py_buffer *blocks,
                          const Py_buffer *values)
{
    uint64_t row_bytes;
    gufo_error error;

    if (gufo_element_row_size(c->type, c->columns, &row_bytes, &error) != GUFO_OK) {
        core_raise(module, &error);
        return false;
    }
    if (c->rows != 0 && c->columns > UINT64_MAX / c->rows) {
        PyErr_SetString(PyExc_OverflowError, "rows times columns overflow");
        return false;
    }
    c->blocks = blocks->buf;
    c->values = values->buf;
    return (row_bytes == 0 || core_has_room(blocks, c->rows, (size_t)row_bytes)) &&
           core_has_room(values, c->rows * c->columns, sizeof(float));
}

static gufo_status decode_all(void *context, const gufo_run *run, gufo_error *error)
{
    const coding *c = context;

    return gufo_decode(c->type, c->blocks, c->rows, c->columns, c->values, run, error);
}

static gufo_status encode_all(void *context, const gufo_run *run, gufo_error *error)
{
    const coding *c = context;

    return gufo_encoder_encode(c->encoder, c->values, c->rows, c->columns, c->importance, c->blocks,
                               run, error);
}

static bool sizes_of(coding *c, Py_ssize_t rows, Py_ssize_t columns)
{
    c->rows = (uint64_t)rows;
    c->columns = (uint64_t)columns;
    if (rows >= 0 && columns >= 0)
        return true;
    PyErr_SetString(PyExc_ValueError, "rows and columns are not negative");
    return false;
}

static PyObject *decode(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"type", "blocks",  "rows",     "columns",
                            "out",  "threads", "progress", NULL};
    core_call call = {.threads = 0};
    coding c = {.type = NULL};
    unsigned id;
    Py_ssize_t rows, columns;
    Py_buffer blocks, out;
    bool well;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "Iy*nnw*|O&O:decode", names, &id, &blocks,
                                     &rows, &columns, &out, core_threads, &call.threads,
                                     &call.progress))
        return NULL;
    c.type = type_by_id(id);
    well =
        c.type != NULL && sizes_of(&c, rows, columns) && whole_buffers(&c, module, &blocks, &out);
    if (well) {
        call.brief = c.rows * c.columns <= DECODED_AT_ONCE / 4;
        well = core_do(module, &call, decode_all, &c);
    }
    PyBuffer_Release(&blocks);
    PyBuffer_Release(&out);
    return well ? Py_NewRef(Py_None) : NULL;
}

/* The importance of columns, of which an argument need not be given. */
static bool importance_of(coding *c, PyObject *object, Py_buffer *buffer)
{
    if (object == NULL || object == Py_None)
        return true;
    if (PyObject_GetBuffer(object, buffer, PyBUF_SIMPLE) < 0)
        return false;
    c->importance = buffer->buf;
    return core_has_room(buffer, c->columns, sizeof(float));
}

/* Whether encoding tries many scales; without importance, small blocks have one that is right. */
static bool searches(const coding *c, int effort)
{
    return c->importance != NULL || effort != GUFO_EFFORT_REFERENCE ||
           c->type->block_elements >= 256;
}

static bool encode_with(PyObject *module, core_call *call, coding *c, int effort)
{
    gufo_encoder_options options = {.effort = (gufo_effort)effort};
    gufo_error error;
    gufo_encoder *encoder = gufo_encoder_new(c->type, &options, &error);
    bool well;

    if (encoder == NULL) {
        core_raise(module, &error);
        return false;
    }
    c->encoder = encoder;
    call->brief =
        c->rows * c->columns <= (searches(c, effort) ? ENCODED_AT_ONCE : DECODED_AT_ONCE / 4);
    well = core_do(module, call, encode_all, c);
    gufo_encoder_free(encoder);
    return well;
}

static PyObject *encode(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"type",       "values", "rows",    "columns",  "out",
                            "importance", "effort", "threads", "progress", NULL};
    core_call call = {.threads = 0};
    coding c = {.type = NULL};
    unsigned id;
    Py_ssize_t rows, columns;
    Py_buffer values, out, importance = {.obj = NULL};
    PyObject *weights = NULL;
    int effort = GUFO_EFFORT_REFERENCE;
    bool well;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "Iy*nnw*|OiO&O:encode", names, &id, &values,
                                     &rows, &columns, &out, &weights, &effort, core_threads,
                                     &call.threads, &call.progress))
        return NULL;
    c.type = type_by_id(id);
    well = c.type != NULL && sizes_of(&c, rows, columns) &&
           whole_buffers(&c, module, &out, &values) && importance_of(&c, weights, &importance) &&
           encode_with(module, &call, &c, effort);
    if (importance.obj != NULL)
        PyBuffer_Release(&importance);
    PyBuffer_Release(&values);
    PyBuffer_Release(&out);
    return well ? Py_NewRef(Py_None) : NULL;
}

static PyObject *swap(PyObject *module, PyObject *args)
{
    const gufo_element_type *type;
    unsigned id;
    Py_buffer blocks;
    gufo_error error;
    bool well;

    if (!PyArg_ParseTuple(args, "Iw*:swap", &id, &blocks))
        return NULL;
    type = type_by_id(id);
    well = type != NULL;
    if (well && type->block_bytes != 0 && (size_t)blocks.len % type->block_bytes != 0) {
        PyErr_Format(PyExc_ValueError, "%zd bytes are not whole blocks of %s", blocks.len,
                     type->name);
        well = false;
    }
    if (well &&
        gufo_swap_blocks(type, blocks.buf,
                         type->block_bytes == 0 ? 0 : (size_t)blocks.len / type->block_bytes,
                         &error) != GUFO_OK) {
        core_raise(module, &error);
        well = false;
    }
    PyBuffer_Release(&blocks);
    return well ? Py_NewRef(Py_None) : NULL;
}

static PyMethodDef functions[] = {
    {"types", types, METH_NOARGS,
     "types() -> list of (id, name, elements of a block, bytes of a block, flags)."},
    CORE_METHOD("decode", decode,
                "decode(type, blocks, rows, columns, out, threads=0, progress=None)\n\n"
                "Blocks, little-endian, to float32 values in the writable buffer `out`."),
    CORE_METHOD("encode", encode,
                "encode(type, values, rows, columns, out, importance=None, effort=0, threads=0, "
                "progress=None)\n\nfloat32 values to blocks in the writable buffer `out`."),
    {"swap", swap, METH_VARARGS,
     "swap(type, buffer): swaps the byte order of whole blocks, in place."},
    {NULL, NULL, 0, NULL},
};

static const core_constant constants[] = {
    {"ELEMENT_QUANTIZED", GUFO_ELEMENT_QUANTIZED},
    {"ELEMENT_REMOVED", GUFO_ELEMENT_REMOVED},
    {"ELEMENT_WEIGHS", GUFO_ELEMENT_WEIGHS},
    {"ELEMENT_NEEDS_IMPORTANCE", GUFO_ELEMENT_NEEDS_IMPORTANCE},
    {"ELEMENT_DECODES", GUFO_ELEMENT_DECODES},
    {"ELEMENT_ENCODES", GUFO_ELEMENT_ENCODES},
    {"EFFORT_REFERENCE", GUFO_EFFORT_REFERENCE},
    {"EFFORT_HIGH", GUFO_EFFORT_HIGH},
    {NULL, 0},
};

static int set_up(PyObject *module)
{
    return core_add_constants(module, constants);
}

const core_part core_part_codec = {functions, set_up};
