/* Vocabularies: text to ids and back. */
#include "fields.h"

#include "gufo/files.h"
#include "gufo/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct vocab_object {
    PyObject_HEAD
    gufo_vocab *vocab;
    PyObject *source; /* the Model, or the bytes of a tokenizer.json */
} vocab_object;

/* ---- opening -------------------------------------------------------------------------------- */

typedef struct opening {
    const gufo_model *model; /* or NULL: */
    gufo_str json, config;
    gufo_vocab_options options;
    gufo_vocab *result;
} opening;

static gufo_status open_vocab(void *context, const gufo_run *run, gufo_error *error)
{
    opening *o = context;

    o->options.run = run;
    o->result = o->model != NULL ? gufo_vocab_open(o->model, &o->options, error)
                                 : gufo_vocab_open_json(o->json, o->config, &o->options, error);
    return o->result != NULL ? GUFO_OK : error->code;
}

static const field opening_fields[] = {
    {"flags", FIELD_U32, offsetof(opening, options.flags)},
    {"tokenizer", FIELD_U32, offsetof(opening, options.tokenizer)},
    {"pre", FIELD_TEXT, offsetof(opening, options.pre)},
    {"json", FIELD_BYTES, offsetof(opening, json)},
    {"config", FIELD_BYTES, offsetof(opening, config)},
    {0}};

static bool open_with(PyObject *module, PyObject *model, const core_call *call, opening *o)
{
    bool well;

    if (model == Py_None)
        return core_do(module, call, open_vocab, o);
    o->model = core_model_use(module, model);
    if (o->model == NULL)
        return false;
    well = core_do(module, call, open_vocab, o);
    core_model_leave(model);
    return well;
}

static PyObject *vocab_new(PyObject *module, PyObject *args)
{
    const core_call call = {.brief = false};
    PyObject *model, *options;
    vocab_object *self;
    opening o = {.model = NULL};

    if (!PyArg_ParseTuple(args, "OO!:vocab", &model, &PyDict_Type, &options) ||
        fields_read(options, opening_fields, &o) < 0 || !open_with(module, model, &call, &o))
        return NULL;
    self = (vocab_object *)PyType_GenericAlloc((PyTypeObject *)core_get(module, CORE_VOCAB), 0);
    if (self == NULL) {
        gufo_vocab_free(o.result);
        return NULL;
    }
    self->vocab = o.result;
    self->source = Py_NewRef(model != Py_None ? model : PyDict_GetItemString(options, "json"));
    return (PyObject *)self;
}

static void vocab_free(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    gufo_vocab_free(((vocab_object *)object)->vocab);
    Py_XDECREF(((vocab_object *)object)->source);
    PyObject_Free(object);
    Py_DECREF(type);
}

/* ---- looking -------------------------------------------------------------------------------- */

static const field facts_fields[] = {
    {"model", FIELD_TEXT, offsetof(gufo_vocab_facts, model)},
    {"algorithm", FIELD_TEXT, offsetof(gufo_vocab_facts, algorithm)},
    {"pre", FIELD_TEXT, offsetof(gufo_vocab_facts, pre)},
    {"size", FIELD_U32, offsetof(gufo_vocab_facts, size)},
    {"add_bos", FIELD_BOOL, offsetof(gufo_vocab_facts, add_bos)},
    {"add_eos", FIELD_BOOL, offsetof(gufo_vocab_facts, add_eos)},
    {"original", FIELD_TEXT, offsetof(gufo_vocab_facts, original)},
    {0}};

/* Role to id, of those that the vocabulary has. */
static PyObject *special_tokens(const gufo_vocab_facts *facts)
{
    PyObject *dict = PyDict_New(), *id;
    bool good = dict != NULL;

    for (int i = 0; good && i < GUFO_SPECIAL_COUNT; i++) {
        if (facts->special[i] == GUFO_NO_TOKEN)
            continue;
        id = PyLong_FromUnsignedLong(facts->special[i]);
        good =
            id != NULL && PyDict_SetItemString(dict, gufo_special_name((gufo_special)i), id) == 0;
        Py_XDECREF(id);
    }
    if (!good)
        Py_CLEAR(dict);
    return dict;
}

static PyObject *warnings(const gufo_vocab *vocab)
{
    PyObject *list = PyList_New(0);
    const char *text;

    for (uint64_t i = 0; list != NULL && (text = gufo_vocab_warning_at(vocab, i)) != NULL; i++)
        if (fields_add(list, PyUnicode_FromString(text)) < 0)
            Py_CLEAR(list);
    return list;
}

static PyObject *stop_tokens(const gufo_vocab *vocab)
{
    const size_t count = gufo_vocab_stop_tokens(vocab, NULL, 0);
    uint32_t *ids = PyMem_Malloc((count + 1) * sizeof *ids);
    PyObject *list = ids != NULL ? PyList_New(0) : PyErr_NoMemory();

    if (ids != NULL)
        (void)gufo_vocab_stop_tokens(vocab, ids, count);
    for (size_t i = 0; list != NULL && i < count; i++)
        if (fields_add(list, PyLong_FromUnsignedLong(ids[i])) < 0)
            Py_CLEAR(list);
    PyMem_Free(ids);
    return list;
}

static PyObject *vocab_facts(PyObject *object, PyObject *unused)
{
    const gufo_vocab *vocab = ((vocab_object *)object)->vocab;
    const gufo_vocab_facts facts = gufo_vocab_describe(vocab);
    PyObject *dict = fields_dict(facts_fields, &facts);

    (void)unused;
    if (dict == NULL || fields_set(dict, "special", special_tokens(&facts)) < 0 ||
        fields_set(dict, "stop_tokens", stop_tokens(vocab)) < 0 ||
        fields_set(dict, "warnings", warnings(vocab)) < 0)
        Py_CLEAR(dict);
    return dict;
}

static PyObject *vocab_token(PyObject *object, PyObject *argument)
{
    const unsigned long id = PyLong_AsUnsignedLong(argument);
    gufo_token token;

    if (PyErr_Occurred())
        return NULL;
    if (id > UINT32_MAX || !gufo_vocab_token(((vocab_object *)object)->vocab, (uint32_t)id, &token))
        return PyErr_Format(PyExc_IndexError, "the vocabulary has no token %lu", id);
    return Py_BuildValue("y#diI", token.text.data, (Py_ssize_t)token.text.len, (double)token.score,
                         (int)token.type, (unsigned)token.attributes);
}

static PyObject *vocab_find(PyObject *object, PyObject *argument)
{
    Py_buffer text;
    uint32_t id;

    if (PyObject_GetBuffer(argument, &text, PyBUF_SIMPLE) < 0)
        return NULL;
    id = gufo_vocab_find(((vocab_object *)object)->vocab, (gufo_str){text.buf, (size_t)text.len});
    PyBuffer_Release(&text);
    return PyLong_FromLong(id != GUFO_NO_TOKEN ? (long)id : -1L);
}

/* ---- encoding ------------------------------------------------------------------------------- */

typedef struct encoding {
    const gufo_vocab *vocab;
    gufo_str text;
    uint32_t flags;
    gufo_ids ids;
} encoding;

static gufo_status encode(void *context, const gufo_run *run, gufo_error *error)
{
    encoding *e = context;
    const gufo_tokenize_options options = {.flags = e->flags, .run = run};

    return gufo_tokenize(e->vocab, e->text, &options, &e->ids, error);
}

typedef struct counting {
    const gufo_vocab *vocab;
    gufo_str text;
    uint32_t flags;
    uint64_t count;
} counting;

static gufo_status count(void *context, const gufo_run *run, gufo_error *error)
{
    counting *c = context;
    const gufo_tokenize_options options = {.flags = c->flags, .run = run};

    return gufo_count_tokens(c->vocab, c->text, &options, &c->count, error);
}

/* A thread for it costs more than a short text takes. */
enum { SHORT_TEXT = 1 << 16 };

static PyObject *id_list(const gufo_ids *ids)
{
    PyObject *list = PyList_New((Py_ssize_t)ids->count), *id;

    for (size_t i = 0; list != NULL && i < ids->count; i++) {
        id = PyLong_FromUnsignedLong(ids->ids[i]);
        if (id == NULL || PyList_SetItem(list, (Py_ssize_t)i, id) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* Pairs of 64 bits in machine order, for numpy. */
static PyObject *span_bytes(const gufo_ids *ids)
{
    if (ids->spans == NULL)
        return Py_NewRef(Py_None);
    return PyBytes_FromStringAndSize((const char *)ids->spans,
                                     (Py_ssize_t)(ids->count * sizeof *ids->spans));
}

static PyObject *vocab_encode(PyObject *object, PyObject *args)
{
    encoding e = {.vocab = ((vocab_object *)object)->vocab};
    core_call call = {.threads = 0};
    PyObject *result = NULL;
    unsigned flags;
    Py_buffer text;

    if (!PyArg_ParseTuple(args, "y*IO&:encode", &text, &flags, core_threads, &call.threads))
        return NULL;
    e.text = (gufo_str){text.buf, (size_t)text.len};
    e.flags = flags;
    call.brief = text.len < SHORT_TEXT;
    if (core_do((PyObject *)Py_TYPE(object), &call, encode, &e))
        result = Py_BuildValue("NN", id_list(&e.ids), span_bytes(&e.ids));
    gufo_ids_free(&e.ids);
    PyBuffer_Release(&text);
    return result;
}

static PyObject *vocab_count(PyObject *object, PyObject *args)
{
    counting c = {.vocab = ((vocab_object *)object)->vocab};
    core_call call = {.threads = 0};
    unsigned flags;
    Py_buffer text;
    bool good;

    if (!PyArg_ParseTuple(args, "y*IO&:count", &text, &flags, core_threads, &call.threads))
        return NULL;
    c.text = (gufo_str){text.buf, (size_t)text.len};
    c.flags = flags;
    call.brief = text.len < SHORT_TEXT;
    good = core_do((PyObject *)Py_TYPE(object), &call, count, &c);
    PyBuffer_Release(&text);
    return good ? PyLong_FromUnsignedLongLong(c.count) : NULL;
}

/* ---- decoding ------------------------------------------------------------------------------- */

/* Reads a sequence of ids; the caller frees them with PyMem_Free.  NULL with an exception. */
static uint32_t *read_ids(PyObject *sequence, size_t *count)
{
    PyObject *list = PySequence_List(sequence);
    uint32_t *ids = NULL;

    *count = list != NULL ? (size_t)PyList_Size(list) : 0;
    if (list != NULL)
        ids = PyMem_Malloc((*count + 1) * sizeof *ids);
    if (list != NULL && ids == NULL)
        PyErr_NoMemory();
    for (size_t i = 0; ids != NULL && i < *count; i++) {
        const unsigned long id = PyLong_AsUnsignedLong(PyList_GetItem(list, (Py_ssize_t)i));

        ids[i] = (uint32_t)id;
        if (id > UINT32_MAX && !PyErr_Occurred())
            PyErr_Format(PyExc_OverflowError, "%lu is not an id", id);
        if (PyErr_Occurred()) {
            PyMem_Free(ids);
            ids = NULL;
        }
    }
    Py_XDECREF(list);
    return ids;
}

typedef struct decoding {
    const gufo_vocab *vocab;
    uint32_t *ids;
    size_t count;
    unsigned flags;
    gufo_text text;
} decoding;

static gufo_status decode(void *context, const gufo_run *run, gufo_error *error)
{
    decoding *d = context;

    (void)run;
    return gufo_detokenize(d->vocab, d->ids, d->count, d->flags, &d->text, error);
}

static PyObject *vocab_decode(PyObject *object, PyObject *args)
{
    decoding d = {.vocab = ((vocab_object *)object)->vocab};
    const core_call call = {.brief = true};
    PyObject *sequence, *result = NULL;

    if (!PyArg_ParseTuple(args, "OI:decode", &sequence, &d.flags) ||
        (d.ids = read_ids(sequence, &d.count)) == NULL)
        return NULL;
    if (core_do((PyObject *)Py_TYPE(object), &call, decode, &d))
        result = PyBytes_FromStringAndSize(d.text.data, (Py_ssize_t)d.text.len);
    gufo_text_free(&d.text);
    PyMem_Free(d.ids);
    return result;
}

static PyObject *vocab_piece(PyObject *object, PyObject *argument)
{
    const unsigned long id = PyLong_AsUnsignedLong(argument);
    PyObject *result = NULL;
    gufo_text text = {0};
    gufo_error error;

    if (PyErr_Occurred())
        return NULL;
    if (gufo_token_piece(((vocab_object *)object)->vocab,
                         id <= UINT32_MAX ? (uint32_t)id : GUFO_NO_TOKEN, &text, &error) == GUFO_OK)
        result = PyBytes_FromStringAndSize(text.data, (Py_ssize_t)text.len);
    else
        core_raise((PyObject *)Py_TYPE(object), &error);
    gufo_text_free(&text);
    return result;
}

/* ---- what it holds, and the forms of other programs ----------------------------------------- */

/* False with an exception: the model is closed.  Else in use until leave_source. */
static bool use_source(PyObject *object, gufo_vocab_source *out)
{
    PyObject *source = ((vocab_object *)object)->source;
    Py_ssize_t len;
    char *json;

    *out = (gufo_vocab_source){.model = NULL};
    if (PyBytes_Check(source)) {
        if (PyBytes_AsStringAndSize(source, &json, &len) < 0)
            return false;
        out->json = (gufo_str){json, (size_t)len};
        return true;
    }
    out->model = core_model_use((PyObject *)Py_TYPE(object), source);
    return out->model != NULL;
}

static void leave_source(PyObject *object)
{
    if (!PyBytes_Check(((vocab_object *)object)->source))
        core_model_leave(((vocab_object *)object)->source);
}

typedef struct exporting {
    const gufo_vocab *vocab;
    gufo_vocab_source source;
    const char *path;
    int as_list, replace; /* vocab.txt; a file that exists */
} exporting;

static gufo_status save_text(const exporting *e, const gufo_text *text, gufo_error *error)
{
    gufo_guard guard = {.files = NULL};
    const gufo_save_options options = {.flags = e->replace ? GUFO_SAVE_REPLACE : 0,
                                       .guard = &guard};
    const char *model = e->source.model != NULL ? gufo_model_name(e->source.model) : NULL;
    gufo_status status = gufo_guard_add_paths(&guard, &model, 1, error);

    if (status == GUFO_OK)
        status = gufo_save(e->path, (gufo_str){text->data, text->len}, &options, error);
    gufo_guard_free(&guard);
    return status;
}

static gufo_status export_vocab(void *context, const gufo_run *run, gufo_error *error)
{
    const exporting *e = context;
    gufo_text text = {0};
    gufo_status status = e->as_list ? gufo_vocab_export_txt(e->vocab, &text, error)
                                    : gufo_vocab_export_json(e->vocab, &e->source, &text, error);

    (void)run;
    if (status == GUFO_OK)
        status = save_text(e, &text, error);
    gufo_text_free(&text);
    return status;
}

static PyObject *vocab_export(PyObject *object, PyObject *args)
{
    exporting e = {.vocab = ((vocab_object *)object)->vocab};
    const core_call call = {.brief = false};
    bool well;

    if (!PyArg_ParseTuple(args, "ypp:export", &e.path, &e.as_list, &e.replace) ||
        !use_source(object, &e.source))
        return NULL;
    well = core_do((PyObject *)Py_TYPE(object), &call, export_vocab, &e);
    leave_source(object);
    return well ? Py_NewRef(Py_None) : NULL;
}

typedef struct counting_tokens {
    const gufo_vocab *vocab;
    uint64_t types[GUFO_TOKEN_TYPE_COUNT], tested;
    size_t count; /* of the longest */
    gufo_ids longest, duplicates, unreachable;
} counting_tokens;

static gufo_status take_census(void *context, const gufo_run *run, gufo_error *error)
{
    counting_tokens *c = context;
    gufo_status status = gufo_vocab_longest(c->vocab, c->count, &c->longest, error);

    gufo_vocab_count_types(c->vocab, c->types);
    if (status == GUFO_OK)
        status = gufo_vocab_duplicates(c->vocab, &c->duplicates, error);
    return status == GUFO_OK
               ? gufo_vocab_unreachable(c->vocab, run, &c->unreachable, &c->tested, error)
               : status;
}

static PyObject *type_counts(const uint64_t *counts)
{
    PyObject *dict = PyDict_New();

    for (int i = 0; dict != NULL && i < GUFO_TOKEN_TYPE_COUNT; i++)
        if (counts[i] > 0 &&
            fields_set(dict, gufo_token_type_name(i), PyLong_FromUnsignedLongLong(counts[i])) < 0)
            Py_CLEAR(dict);
    return dict;
}

static PyObject *vocab_census(PyObject *object, PyObject *args)
{
    counting_tokens c = {.vocab = ((vocab_object *)object)->vocab};
    core_call call = {.threads = 0};
    PyObject *result = NULL;
    Py_ssize_t longest;

    if (!PyArg_ParseTuple(args, "nI:census", &longest, &call.threads))
        return NULL;
    c.count = longest > 0 ? (size_t)longest : 0;
    if (core_do((PyObject *)Py_TYPE(object), &call, take_census, &c))
        result = Py_BuildValue("NNNNK", type_counts(c.types), id_list(&c.longest),
                               id_list(&c.duplicates), id_list(&c.unreachable),
                               (unsigned long long)c.tested);
    gufo_ids_free(&c.longest);
    gufo_ids_free(&c.duplicates);
    gufo_ids_free(&c.unreachable);
    return result;
}

/* ---- differences ---------------------------------------------------------------------------- */

enum { MOST_SETTINGS = GUFO_SPECIAL_ROOM + 8, SETTING_TEXT = 64 };

typedef struct comparing_vocabs {
    const gufo_vocab *a, *b;
    gufo_vocab_source sources[2];
    gufo_vocab_comparison found;
    const char *names[MOST_SETTINGS];
    char texts[MOST_SETTINGS][2][SETTING_TEXT];
    size_t setting_count;
    gufo_token_differences tokens;
} comparing_vocabs;

static void note_setting(void *context, const gufo_vocab_setting *setting)
{
    comparing_vocabs *c = context;

    if (c->setting_count == MOST_SETTINGS)
        return;
    c->names[c->setting_count] = setting->name;
    (void)snprintf(c->texts[c->setting_count][0], SETTING_TEXT, "%s", setting->a);
    (void)snprintf(c->texts[c->setting_count++][1], SETTING_TEXT, "%s", setting->b);
}

static gufo_status compare_vocabs(void *context, const gufo_run *run, gufo_error *error)
{
    comparing_vocabs *c = context;
    const gufo_vocab_compare_options options = {.source_a = &c->sources[0],
                                                .source_b = &c->sources[1],
                                                .tokens = &c->tokens,
                                                .setting = note_setting,
                                                .context = c};

    (void)run;
    return gufo_vocab_compare(c->a, c->b, &options, &c->found, error);
}

static PyObject *setting_dict(const comparing_vocabs *c)
{
    PyObject *dict = PyDict_New();

    for (size_t i = 0; dict != NULL && i < c->setting_count; i++)
        if (fields_set(dict, c->names[i], Py_BuildValue("ss", c->texts[i][0], c->texts[i][1])) < 0)
            Py_CLEAR(dict);
    return dict;
}

/* A list of (change, id, id); an id is -1 where only the other vocabulary has the token. */
static PyObject *token_list(const comparing_vocabs *c)
{
    static const char *const changes[GUFO_TOKEN_CHANGE_COUNT] = {"removed", "added", "moved",
                                                                 "type", "score"};
    PyObject *list = PyList_New(0);

    for (size_t i = 0; list != NULL && i < c->tokens.count; i++) {
        const gufo_token_difference *d = &c->tokens.items[i];

        if (fields_add(list, Py_BuildValue("sLL", changes[d->change],
                                           d->a != GUFO_NO_TOKEN ? (long long)d->a : -1,
                                           d->b != GUFO_NO_TOKEN ? (long long)d->b : -1)) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *compare_both(PyObject *object, comparing_vocabs *c)
{
    const core_call call = {.brief = false};

    if (!core_do((PyObject *)Py_TYPE(object), &call, compare_vocabs, c))
        return NULL;
    return Py_BuildValue("NN(KK)L", setting_dict(c), token_list(c),
                         (unsigned long long)c->found.merges_a,
                         (unsigned long long)c->found.merges_b,
                         c->found.merges_differ ? (long long)c->found.first_merge : -1);
}

static PyObject *vocab_compare(PyObject *object, PyObject *other)
{
    comparing_vocabs c = {.a = ((vocab_object *)object)->vocab};
    PyObject *result = NULL;

    if (Py_TYPE(other) != Py_TYPE(object))
        return PyErr_Format(PyExc_TypeError, "a Vocab is compared with another Vocab");
    c.b = ((vocab_object *)other)->vocab;
    if (!use_source(object, &c.sources[0]))
        return NULL;
    if (use_source(other, &c.sources[1])) {
        result = compare_both(object, &c);
        leave_source(other);
    }
    leave_source(object);
    gufo_token_differences_free(&c.tokens);
    return result;
}

/* ---- streams -------------------------------------------------------------------------------- */

/* Ids that come one after the other; the vocabulary lives as long. */
typedef struct decoder_object {
    PyObject_HEAD
    PyObject *vocab;
    gufo_detokenizer *stream;
    core_lock lock;
} decoder_object;

static PyObject *decoder_new(PyObject *object, PyObject *args)
{
    PyObject *module = (PyObject *)Py_TYPE(object);
    decoder_object *self;
    gufo_error error;
    unsigned flags;

    if (!PyArg_ParseTuple(args, "I:decoder", &flags))
        return NULL;
    self = (decoder_object *)PyType_GenericAlloc((PyTypeObject *)core_get(module, CORE_DECODER), 0);
    if (self == NULL)
        return NULL;
    self->vocab = Py_NewRef(object);
    self->stream = gufo_detokenizer_new(((vocab_object *)object)->vocab, flags, &error);
    if (self->stream == NULL) {
        core_raise(module, &error);
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static void decoder_free(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    gufo_detokenizer_free(((decoder_object *)object)->stream);
    Py_XDECREF(((decoder_object *)object)->vocab);
    PyObject_Free(object);
    Py_DECREF(type);
}

static PyObject *decoded(PyObject *object, gufo_status status, gufo_text *text,
                         const gufo_error *error)
{
    PyObject *result = NULL;

    if (status == GUFO_OK)
        result = PyBytes_FromStringAndSize(text->data, (Py_ssize_t)text->len);
    else
        core_raise((PyObject *)Py_TYPE(object), error);
    gufo_text_free(text);
    return result;
}

static PyObject *decoder_feed(PyObject *object, PyObject *sequence)
{
    decoder_object *self = (decoder_object *)object;
    gufo_text text = {0};
    gufo_status status;
    gufo_error error;
    size_t count;
    uint32_t *ids = read_ids(sequence, &count);

    if (ids == NULL)
        return NULL;
    if (!core_take(&self->lock, "the decoder")) {
        PyMem_Free(ids);
        return NULL;
    }
    status = gufo_detokenizer_feed(self->stream, ids, count, &text, &error);
    core_give(&self->lock);
    PyMem_Free(ids);
    return decoded(object, status, &text, &error);
}

static PyObject *decoder_end(PyObject *object, PyObject *unused)
{
    decoder_object *self = (decoder_object *)object;
    gufo_text text = {0};
    gufo_status status;
    gufo_error error;

    (void)unused;
    if (!core_take(&self->lock, "the decoder"))
        return NULL;
    status = gufo_detokenizer_end(self->stream, &text, &error);
    core_give(&self->lock);
    return decoded(object, status, &text, &error);
}

/* ---- types ---------------------------------------------------------------------------------- */

static PyMethodDef vocab_methods[] = {
    {"facts", vocab_facts, METH_NOARGS, "facts() -> dict: algorithm, size, special tokens."},
    {"token", vocab_token, METH_O, "token(id) -> (text, score, type, attributes)."},
    {"find", vocab_find, METH_O, "find(text) -> id, or -1."},
    {"piece", vocab_piece, METH_O, "piece(id) -> bytes: what the token gives on its own."},
    {"encode", vocab_encode, METH_VARARGS,
     "encode(text, flags, threads) -> (ids, spans): pairs of uint64 in machine order, or None."},
    {"count", vocab_count, METH_VARARGS, "count(text, flags, threads) -> the number of ids."},
    {"decode", vocab_decode, METH_VARARGS, "decode(ids, flags) -> bytes."},
    {"census", vocab_census, METH_VARARGS,
     "census(longest, threads) -> (types, longest, duplicates, unreachable, tested)."},
    {"compare", vocab_compare, METH_O,
     "compare(other) -> (settings, tokens, merges, first merge or -1)."},
    {"export", vocab_export, METH_VARARGS,
     "export(path, as_list, replace): writes vocab.txt, or tokenizer.json."},
    {"decoder", decoder_new, METH_VARARGS, "decoder(flags) -> Decoder, for ids in parts."},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef decoder_methods[] = {
    {"feed", decoder_feed, METH_O, "feed(ids) -> bytes that no further id can change."},
    {"end", decoder_end, METH_NOARGS, "end() -> bytes that were held back."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot vocab_slots[] = {
    {Py_tp_doc, "The vocabulary of a model: vocab() makes it."},
    {Py_tp_methods, vocab_methods},
    {Py_tp_dealloc, CORE_SLOT(vocab_free)},
    {0, NULL},
};

static PyType_Slot decoder_slots[] = {
    {Py_tp_doc, "Text of ids that come one after the other."},
    {Py_tp_methods, decoder_methods},
    {Py_tp_dealloc, CORE_SLOT(decoder_free)},
    {0, NULL},
};

static PyType_Spec vocab_spec = {
    .name = "gufo._core.Vocab",
    .basicsize = sizeof(vocab_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = vocab_slots,
};

static PyType_Spec decoder_spec = {
    .name = "gufo._core.Decoder",
    .basicsize = sizeof(decoder_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = decoder_slots,
};

static PyMethodDef functions[] = {
    {"vocab", vocab_new, METH_VARARGS, "vocab(model or None, options) -> Vocab"},
    {NULL, NULL, 0, NULL},
};

static int set_up(PyObject *module)
{
    return core_add_type(module, CORE_VOCAB, &vocab_spec, "Vocab") < 0
               ? -1
               : core_add_type(module, CORE_DECODER, &decoder_spec, "Decoder");
}

const core_part core_part_text = {functions, set_up};
