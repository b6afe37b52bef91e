/* gufo._core: what Python sees of the libraries, through their public headers and Python's limited
 * API.
 *
 * Each file of the folders is a part, which has functions, types and constants of its own.  A new part is a row of
 * parts.def, and the file that defines core_part_NAME.  All of them use what is beside this file:
 *
 *     module.c   the module: puts the parts together
 *     error.c    gufo_error as an exception
 *     work.c     long calls: without the GIL, with progress, stopped by Ctrl-C
 *     source.c   what can be opened: paths, descriptors, buffers
 *     fields.c   structs of the library as dicts, by tables
 *     given.c    values of entries that Python gives
 *
 *     models/    what is in files
 *         model.c    models: entries, tensors, data
 *         value.c    values of entries as Python objects
 *         layers.c   tensors by layer and role
 *         check.c    findings
 *         codec.c    element types
 *         pack.c     texts as files have them
 *         digest.c   hashes, manifests
 *         edit.c     edits
 *         compare.c  differences
 *         estimate.c memory that a model needs to run
 *         find.c     models in folders and caches
 *         report.c   pages that show models
 *         convert.c  models in other formats
 *     jobs/      making files
 *         job.c      jobs: plans of files
 *         plan.c     jobs in parts
 *         quantize.c jobs that give other element types
 *         size.c     types of tensors for a size
 *         forms.c    jobs that split, merge, swap, strip, export
 *         write.c    files of what a program has
 *         imatrix.c  importance matrices
 *     text/      what models read and write
 *         text.c     vocabularies: ids of texts, texts of ids
 *         template.c chat templates */
#ifndef GUFO_PYTHON_CORE_H
#define GUFO_PYTHON_CORE_H

#ifndef Py_GIL_DISABLED /* which has no limited API */
#define Py_LIMITED_API 0x030B0000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <gufo.h>

#include <pthread.h>
#include <stdatomic.h>

/* ---- parts ----------------------------------------------------------------------------------- */

typedef struct core_part {
    PyMethodDef *methods;            /* functions of the module, or NULL */
    int (*set_up)(PyObject *module); /* adds types and constants; -1 with an exception; or NULL */
} core_part;

#define PART(name) extern const core_part core_part_##name;
#include "parts.def"
#undef PART

/* What the module keeps, one object each: its state is an array of them. */
typedef enum core_object {
    CORE_ERROR,         /* class Error */
    CORE_ERROR_CLASSES, /* dict: class of Python -> class that is an Error, too */
    CORE_MODEL,         /* type Model */
    CORE_VIEW,          /* type of what memoryviews of models hold on to */
    CORE_JOB,           /* types Job, Edit, Vocab, Decoder, Imatrix */
    CORE_EDIT,
    CORE_VOCAB,
    CORE_DECODER,
    CORE_IMATRIX,
    CORE_OBJECTS, /* their number */
} core_object;

/* The object, borrowed.  `module` is the module, or one of its types. */
PyObject *core_get(PyObject *module, core_object which);

/* Keeps an object, whose reference it takes. */
void core_keep(PyObject *module, core_object which, PyObject *object);

/* Makes a type and keeps it; with `name`, it is an attribute of the module, too. */
int core_add_type(PyObject *module, core_object which, PyType_Spec *spec, const char *name);

/* A row of constants, which end with {NULL, 0}. */
typedef struct core_constant {
    const char *name;
    long value;
} core_constant;
int core_add_constants(PyObject *module, const core_constant *constants);

/* A function with keywords, for a table of methods. */
#define CORE_METHOD(name, function, text)                                                 \
    {                                                                                     \
        name, (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS, text \
    }

/* A function in a slot of a type, which is a pointer to data. */
#define CORE_SLOT(function) (__extension__(void *)(function))

/* ---- text ------------------------------------------------------------------------------------ */

/* UTF-8, strictly, for what the caller asked for; with \xNN for other bytes, for messages. */
PyObject *core_text(gufo_str text);
PyObject *core_message(const char *text);

/* ---- errors ---------------------------------------------------------------------------------- */

/* Raises the exception for an error: an Error, and the class that Python has for such things
 * (ValueError for a file that breaks the format, FileNotFoundError ...).  Returns NULL. */
PyObject *core_raise(PyObject *module, const gufo_error *error);

/* Raises an exception that was fetched again, with a place before its text.  Takes over all references. */
void core_raise_at(PyObject *place, PyObject *type, PyObject *value, PyObject *trace);

/* Names the file of an error that names none. */
void core_name_file(gufo_error *error, const char *path);

/* ---- long calls ------------------------------------------------------------------------------ */

/* The work, which does nothing of Python; `run` is filled in, to be handed to the library. */
typedef gufo_status core_work(void *context, const gufo_run *run, gufo_error *error);

typedef struct core_call {
    unsigned threads; /* 0: one per processor */
    PyObject
        *progress; /* called with (done, total) some times a second; NULL or None: not wanted */
    bool brief;    /* it ends within milliseconds: no thread of its own */
} core_call;

/* Does work without the GIL.  Work that is not brief runs on a thread of its own, while this one looks
 * for signals and calls `progress`; an exception from either stops it.  False with an exception. */
bool core_do(PyObject *module, const core_call *call, core_work *work, void *context);

/* A converter ("O&") of a number of threads, for an `unsigned`: an int that fits. */
int core_threads(PyObject *object, void *out);

/* ---- objects that one call uses at a time ----------------------------------------------------- */

/* A part of an object, which begins as false: whether a call uses it.  Objects that a call makes or looks at
 * may run other code of Python, and that may call the same object; so may other threads. */
typedef atomic_bool core_lock;

/* Takes the object for a call, which ends with core_give; false with an exception: "the job is in use". */
bool core_take(core_lock *lock, const char *what);
void core_give(core_lock *lock);

/* The work that runs in an interpreter, which its end stops: a part of the module's state. */
typedef struct core_tasks {
    pthread_mutex_t lock;
    struct core_task *first;
    bool ends; /* no work begins any more */
} core_tasks;
core_tasks *core_running(PyObject *module);

/* ---- sources --------------------------------------------------------------------------------- */

/* What Python code names to be opened: a path (str or os.PathLike), a descriptor (int), or an object
 * with a buffer, bytes among them, which is the content. */
typedef struct core_source {
    gufo_input input; /* of kind path, fd or memory */
    PyObject *path;   /* the bytes that input.path points into, or NULL */
    Py_buffer buffer; /* .obj is NULL if there is none */
} core_source;

int core_source_get(PyObject *object, core_source *out);
void core_source_release(core_source *source);

/* ---- models ---------------------------------------------------------------------------------- */

typedef struct core_model {
    PyObject_HEAD
    PyObject *weak; /* list of weak references */
    gufo_model *model;
    core_source *sources; /* their memory belongs to the model */
    size_t source_count;
    PyObject *keeps;   /* what else must live as long, or NULL */
    atomic_long users; /* views of its bytes, and calls; -1: it is closed */
} core_model;

/* A Model of a model that is open, which it then owns, on failure too; `keeps` (may be NULL) lives as
 * long. */
PyObject *core_model_new(PyObject *module, gufo_model *model, PyObject *keeps);

/* The model of an argument, in use until core_model_leave; NULL with an exception if it is none, or
 * closed. */
const gufo_model *core_model_use(PyObject *module, PyObject *object);
void core_model_leave(PyObject *object);

/* ---- values ---------------------------------------------------------------------------------- */

/* str, int, float, bool, or a list of them. */
PyObject *core_value(PyObject *module, const gufo_value *value);

/* Texts [first, first + count) of an array of strings, to the end if count < 0, as a list. */
PyObject *core_strings(PyObject *module, const gufo_array *array, Py_ssize_t first,
                       Py_ssize_t count);

/* The pieces of an array as bytes: uint64 offset, uint64 count, uint32 type, uint32 kind of leaf, each. */
PyObject *core_parts(const gufo_entry *entry);

/* ---- findings -------------------------------------------------------------------------------- */

/* A gufo_finding_fn that appends findings to a list, as dicts; whoever holds the GIL may use it. */
typedef struct core_findings {
    PyObject *module, *list; /* the list is NULL after a failure, which is an exception */
} core_findings;

void core_add_finding(void *context, const gufo_finding *finding);

/* Calls `found` for the rules that a model which is open breaks.  It does nothing of Python. */
gufo_status core_check(const gufo_model *model, gufo_level level, gufo_finding_fn *found,
                       void *context, gufo_error *error);

/* ---- buffers --------------------------------------------------------------------------------- */

/* Whether a buffer has `count` items of `size` bytes; else an exception. */
bool core_has_room(const Py_buffer *buffer, uint64_t count, size_t size);

#endif
