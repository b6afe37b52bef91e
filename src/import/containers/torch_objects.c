/* What the objects in a pickle of PyTorch are.
 *
 * Two tables say everything: globals, with what a call of each makes, and the names of number types.
 * A global that is in neither is refused by name: with it a pickle could do anything. */
#include "import/containers/torch_objects.h"

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

/* Tags of globals that are not rows of the table, and of what calls made. */
enum { TAG_STORAGE_CLASS = 1000, TAG_DTYPE, TAG_STORAGE, TAG_TENSOR };
enum { UNTYPED = -1 };

static torch_objects *objects_of(const pickle *p)
{
    return p->host->context;
}

static gufo_status fail_call(torch_objects *o, const char *what)
{
    return pickle_fail(&o->pickle, GUFO_E_MALFORMED, "%s", what);
}

static const number_type *number_of(pickle_value value)
{
    return value.is.number == UNTYPED ? NULL : number_at((size_t)value.is.number);
}

static bool is_host(pickle_value value, uint32_t tag)
{
    return value.kind == PICKLE_HOST && value.tag == tag;
}

/* ---- storages ------------------------------------------------------------------------------- */

static gufo_str key_of_storage(const void *owner, uint64_t index)
{
    const torch_objects *o = owner;

    return pickle_text(&o->pickle, o->storages[index].key);
}

torch_storage *torch_storage_find(torch_objects *o, gufo_str key)
{
    uint64_t number;

    return name_index_find(&o->by_key, key, &number) ? &o->storages[number] : NULL;
}

static bool same_storage(const torch_objects *o, const torch_storage *a, const torch_storage *b)
{
    return a->number == b->number && a->elements == b->elements && a->begin == b->begin &&
           a->root.kind == b->root.kind &&
           gufo_str_equal(pickle_text(&o->pickle, a->root), pickle_text(&o->pickle, b->root));
}

/* Adds a storage, or finds the one that has its key. */
static gufo_status add_storage(torch_objects *o, const torch_storage *storage, uint64_t *number)
{
    torch_storage *storages = mem_grow(o->pickle.allocator, o->storages, o->storage_count,
                                       &o->storage_room, sizeof *storages);
    gufo_status status;

    if (storages == NULL)
        return fail_memory(o->pickle.error);
    o->storages = storages;
    status = name_index_grow(&o->by_key, o->storage_count, o->pickle.allocator, o->pickle.error);
    if (status != GUFO_OK)
        return status;
    storages[o->storage_count] = *storage;
    *number = o->storage_count;
    if (name_index_add(&o->by_key, o->storage_count, number))
        o->storage_count++;
    else if (!same_storage(o, storage, &storages[*number]))
        return pickle_fail(&o->pickle, GUFO_E_MALFORMED, "storage %s has two types, or two sizes",
                           QUOTED(pickle_text(&o->pickle, storage->key)));
    return GUFO_OK;
}

/* ("storage", class, key, location, elements [, view]); a view is None, or (key, begin, elements) of
 * a window in the storage before it. */
static bool read_view(const torch_objects *o, pickle_value value, torch_storage *storage)
{
    const pickle_object *view = pickle_items(&o->pickle, value);

    if (value.kind != PICKLE_TUPLE || view->count != 3 || view->items[0].kind != PICKLE_TEXT ||
        view->items[1].kind != PICKLE_INT || view->items[2].kind != PICKLE_INT ||
        view->items[1].is.number < 0 || view->items[2].is.number < 0 ||
        !range_inside((uint64_t)view->items[1].is.number, (uint64_t)view->items[2].is.number,
                      storage->elements))
        return false;
    *storage = (torch_storage){.key = view->items[0],
                               .number = storage->number,
                               .elements = (uint64_t)view->items[2].is.number,
                               .begin = (uint64_t)view->items[1].is.number,
                               .root = storage->key};
    return true;
}

static bool is_storage_id(const torch_objects *o, pickle_value id)
{
    const pickle_object *parts = pickle_items(&o->pickle, id);
    const pickle_value *items = parts->items;

    return id.kind == PICKLE_TUPLE && (parts->count == 5 || parts->count == 6) &&
           gufo_str_equal(pickle_text(&o->pickle, items[0]), gufo_str_of("storage")) &&
           items[1].kind == PICKLE_GLOBAL && items[1].tag == TAG_STORAGE_CLASS &&
           items[2].kind == PICKLE_TEXT && items[4].kind == PICKLE_INT && items[4].is.number >= 0;
}

static gufo_status load_storage(pickle *p, pickle_value id, pickle_value *out)
{
    torch_objects *o = objects_of(p);
    const pickle_object *parts = pickle_items(p, id);
    torch_storage storage;
    gufo_status status;
    uint64_t number;

    if (!is_storage_id(o, id))
        return fail_call(o, "a persistent id is not that of a storage");
    storage = (torch_storage){.key = parts->items[2],
                              .number = number_of(parts->items[1]),
                              .elements = (uint64_t)parts->items[4].is.number};
    status = add_storage(o, &storage, &number);
    if (status == GUFO_OK && parts->count == 6 && parts->items[5].kind != PICKLE_NONE)
        status = read_view(o, parts->items[5], &storage)
                     ? add_storage(o, &storage, &number)
                     : fail_call(o, "a view is not a part of its storage");
    *out = (pickle_value){.kind = PICKLE_HOST, .tag = TAG_STORAGE, .is.number = (int64_t)number};
    return status;
}

/* ---- tensors -------------------------------------------------------------------------------- */

/* Numbers that are not negative, of a tuple. */
static bool read_numbers(const torch_objects *o, pickle_value tuple, uint64_t *out, uint64_t *count)
{
    const pickle_object *items = pickle_items(&o->pickle, tuple);

    if ((tuple.kind != PICKLE_TUPLE && tuple.kind != PICKLE_LIST) ||
        items->count > CHECKPOINT_MAX_DIMS)
        return false;
    for (uint64_t i = 0; i < items->count; i++) {
        if (items->items[i].kind != PICKLE_INT || items->items[i].is.number < 0)
            return false;
        out[i] = (uint64_t)items->items[i].is.number;
    }
    *count = items->count;
    return true;
}

/* Whether the elements follow each other: strides of dimensions with one element do not count. */
static bool is_contiguous(const checkpoint_tensor *t, const uint64_t *strides)
{
    uint64_t next[CHECKPOINT_MAX_DIMS];

    checkpoint_tensor_strides(t, next);
    for (uint32_t i = 0; i < t->n_dims && t->elements > 0; i++)
        if (t->shape[i] > 1 && strides[i] != next[i])
            return false;
    return true;
}

/* The bytes of the storage up to the last element of a tensor that begins at element `first`. */
static bool reach(const torch_tensor *made, uint64_t first, uint64_t *bytes)
{
    const checkpoint_tensor *t = &made->tensor;
    uint64_t step, last = first;

    *bytes = 0;
    if (t->elements == 0)
        return true;
    for (uint32_t i = 0; i < t->n_dims; i++)
        if (!checked_mul(t->shape[i] - 1, made->stride[i], &step) ||
            !checked_add(last, step, &last))
            return false;
    return checked_add(last, 1, &last) && checked_mul(last, t->number->bits / 8, bytes);
}

static gufo_status check_reach(torch_objects *o, const torch_tensor *t, uint64_t first)
{
    const torch_storage *storage = &o->storages[t->storage];
    const uint64_t size = checkpoint_tensor_size(&t->tensor);
    uint64_t bytes, most;

    if (!checked_mul(storage->elements, torch_storage_width(storage), &most))
        return fail_call(o, "64 bits do not hold the size of a storage");
    if (!reach(t, first, &bytes) || bytes > most)
        return pickle_fail(&o->pickle, GUFO_E_MALFORMED,
                           "a tensor ends past the end of its storage %s, which has %s bytes",
                           QUOTED(pickle_text(&o->pickle, storage->key)), GROUPED(most));
    /* A stride of 0, or windows that overlap: a few bytes would become as many as one likes. */
    if (size > most)
        return pickle_fail(
            &o->pickle, GUFO_E_LIMIT,
            "a tensor repeats the numbers of its storage %s: it has %s bytes, the storage %s",
            QUOTED(pickle_text(&o->pickle, storage->key)), GROUPED(size), GROUPED(most));
    return GUFO_OK;
}

static gufo_status add_tensor(torch_objects *o, const torch_tensor *tensor, pickle_value *out)
{
    torch_tensor *tensors = mem_grow(o->pickle.allocator, o->tensors, o->tensor_count,
                                     &o->tensor_room, sizeof *tensors);

    if (tensors == NULL)
        return fail_memory(o->pickle.error);
    o->tensors = tensors;
    *out = (pickle_value){
        .kind = PICKLE_HOST, .tag = TAG_TENSOR, .is.number = (int64_t)o->tensor_count};
    tensors[o->tensor_count++] = *tensor;
    return GUFO_OK;
}

/* (storage, first element, shape, strides), the elements of a type. */
static gufo_status rebuild(torch_objects *o, const pickle_value *items, const number_type *number,
                           pickle_value *out)
{
    torch_tensor t = {.tensor.number = number, .storage = (uint64_t)items[0].is.number};
    uint64_t strides[CHECKPOINT_MAX_DIMS] = {0}, n_dims, n_strides, first;
    gufo_status status;

    if (items[1].kind != PICKLE_INT || items[1].is.number < 0 ||
        !read_numbers(o, items[2], t.shape, &n_dims) ||
        !read_numbers(o, items[3], strides, &n_strides) || n_dims != n_strides)
        return fail_call(o, "a tensor has an invalid offset, shape or strides");
    first = (uint64_t)items[1].is.number;
    t.tensor.n_dims = (uint8_t)n_dims;
    status =
        tensor_shape(&t.tensor, t.shape, o->pickle.base + o->pickle.opcode_at, o->pickle.error);
    if (status != GUFO_OK)
        return status;
    checkpoint_tensor_strides(&t.tensor, t.stride);
    t.strided = !is_contiguous(&t.tensor, strides);
    if (t.strided)
        memcpy(t.stride, strides, (size_t)n_dims * sizeof *strides);
    status = check_reach(o, &t, first);
    if (status != GUFO_OK)
        return status;
    t.tensor.offset = t.tensor.elements > 0 ? first * (number->bits / 8) : 0;
    return add_tensor(o, &t, out);
}

static const torch_storage *storage_of(const torch_objects *o, pickle_object arguments)
{
    return arguments.count >= 4 && is_host(arguments.items[0], TAG_STORAGE)
               ? &o->storages[arguments.items[0].is.number]
               : NULL;
}

static gufo_status call_rebuild(torch_objects *o, pickle_object arguments, pickle_value *out)
{
    const torch_storage *storage = storage_of(o, arguments);

    if (storage == NULL || storage->number == NULL)
        return fail_call(o, "a tensor has no storage with a type");
    return rebuild(o, arguments.items, storage->number, out);
}

/* With the type of the elements as its seventh argument. */
static gufo_status call_rebuild_typed(torch_objects *o, pickle_object arguments, pickle_value *out)
{
    const torch_storage *storage = storage_of(o, arguments);
    const number_type *number;

    if (storage == NULL || arguments.count < 7 || arguments.items[6].kind != PICKLE_GLOBAL ||
        arguments.items[6].tag != TAG_DTYPE)
        return fail_call(o, "a tensor has no storage, or no type");
    number = number_of(arguments.items[6]);
    if (storage->number != NULL && storage->number != number)
        return fail_call(o, "a tensor has another type than its storage");
    return rebuild(o, arguments.items, number, out);
}

/* A parameter is a tensor; what else it has does not matter here. */
static gufo_status call_parameter(torch_objects *o, pickle_object arguments, pickle_value *out)
{
    if (arguments.count == 0 || !is_host(arguments.items[0], TAG_TENSOR))
        return fail_call(o, "a parameter is not a tensor");
    *out = arguments.items[0];
    return GUFO_OK;
}

/* ---- other values --------------------------------------------------------------------------- */

/* Empty, or with the pairs of a list (Python 2). */
static gufo_status call_dictionary(torch_objects *o, pickle_object arguments, pickle_value *out)
{
    pickle_value list = arguments.count > 0 ? arguments.items[0] : (pickle_value){0};
    gufo_status status = pickle_make(&o->pickle, PICKLE_DICT, out);

    if (arguments.count > 1 ||
        (arguments.count == 1 && list.kind != PICKLE_LIST && list.kind != PICKLE_DICT))
        return fail_call(o, "a dictionary does not consist of pairs");
    if (list.kind != PICKLE_LIST) {
        *out = list.kind == PICKLE_DICT ? list : *out;
        return status;
    }
    for (uint64_t i = 0; status == GUFO_OK && i < pickle_items(&o->pickle, list)->count; i++) {
        const pickle_object pair =
            *pickle_items(&o->pickle, pickle_items(&o->pickle, list)->items[i]);

        if (pair.count != 2)
            return fail_call(o, "a dictionary does not consist of pairs");
        status = pickle_add(&o->pickle, *out, pair.items[0]);
        if (status == GUFO_OK)
            status = pickle_add(&o->pickle, *out, pair.items[1]);
    }
    return status;
}

static gufo_status call_size(torch_objects *o, pickle_object arguments, pickle_value *out)
{
    if (arguments.count != 1)
        return fail_call(o, "a torch.Size has more than one tuple");
    *out = arguments.items[0];
    return GUFO_OK;
}

static gufo_status call_unused(torch_objects *o, pickle_object arguments, pickle_value *out)
{
    (void)o, (void)arguments;
    *out = (pickle_value){.kind = PICKLE_OPAQUE};
    return GUFO_OK;
}

/* ---- globals -------------------------------------------------------------------------------- */

static const struct global_row {
    const char *name;
    gufo_status (*call)(torch_objects *o, pickle_object arguments, pickle_value *out);
} globals[] = {
    {"collections.OrderedDict", call_dictionary},
    {"collections.Counter", call_dictionary},
    {"torch._utils._rebuild_tensor", call_rebuild},
    {"torch._utils._rebuild_tensor_v2", call_rebuild},
    {"torch._utils._rebuild_tensor_v3", call_rebuild_typed},
    {"torch._utils._rebuild_parameter", call_parameter},
    {"torch._utils._rebuild_parameter_with_state", call_parameter},
    {"torch.nn.parameter.Parameter", call_parameter},
    {"torch.Size", call_size},
    {"torch.device", call_unused},
    {"torch.serialization._get_layout", call_unused},
    {"_codecs.encode", call_unused},
    {"builtins.set", call_unused},
    {"__builtin__.set", call_unused},
};

enum { GLOBAL_COUNT = sizeof globals / sizeof *globals };

static pickle_value global_of(uint32_t tag, const number_type *number)
{
    int64_t index = number == NULL ? UNTYPED : number - number_at(0);

    return (pickle_value){.kind = PICKLE_GLOBAL, .tag = tag, .is.number = index};
}

/* torch.FloatStorage and the like, and torch.float32 and the like. */
static bool find_number(gufo_str name, pickle_value *out)
{
    static const char prefix[] = "torch.", suffix[] = "Storage";
    const number_type *number;
    gufo_str rest;

    if (!str_begins(name, prefix))
        return false;
    rest = (gufo_str){name.data + sizeof prefix - 1, name.len - (sizeof prefix - 1)};
    number = number_by_dtype(rest);
    *out = global_of(TAG_DTYPE, number);
    if (number == NULL && str_ends(rest, suffix)) {
        number = number_by_storage((gufo_str){rest.data, rest.len - (sizeof suffix - 1)});
        *out = global_of(TAG_STORAGE_CLASS, number);
    }
    return number != NULL;
}

static gufo_status find_global(pickle *p, gufo_str name, pickle_value *out)
{
    if (gufo_str_equal(name, gufo_str_of("torch.storage.UntypedStorage")) ||
        gufo_str_equal(name, gufo_str_of("torch.storage.TypedStorage"))) {
        *out = global_of(TAG_STORAGE_CLASS, NULL);
        return GUFO_OK;
    }
    for (uint32_t i = 0; i < GLOBAL_COUNT; i++)
        if (gufo_str_equal(name, gufo_str_of(globals[i].name))) {
            *out = global_of(i, NULL);
            return GUFO_OK;
        }
    if (find_number(name, out))
        return GUFO_OK;
    return pickle_fail(p, GUFO_E_TYPE,
                       "the pickle wants %s, which no file of tensors needs: gufo does not read it",
                       QUOTED(name));
}

static gufo_status call_global(pickle *p, pickle_value global, pickle_value arguments,
                               pickle_value *out)
{
    torch_objects *o = objects_of(p);

    if (global.tag >= GLOBAL_COUNT)
        return fail_call(o, "the pickle calls a type");
    return globals[global.tag].call(o, *pickle_items(p, arguments), out);
}

gufo_status torch_objects_new(torch_objects *o, source *s, uint64_t base,
                              const gufo_allocator *allocator, gufo_error *error)
{
    *o = (torch_objects){.pickle = {.allocator = allocator,
                                    .source = s,
                                    .base = base,
                                    .host = &o->host,
                                    .error = error},
                         .host = {find_global, call_global, load_storage, o}};
    return name_index_new(&o->by_key, 0, key_of_storage, o, allocator, error);
}

void torch_objects_free(torch_objects *o)
{
    name_index_free(&o->by_key, o->pickle.allocator);
    mem_free(o->pickle.allocator, o->storages);
    mem_free(o->pickle.allocator, o->tensors);
    pickle_free(&o->pickle);
}

/* ---- the dictionary ------------------------------------------------------------------------- */

static uint64_t count_tensors(const torch_objects *o, pickle_value dictionary)
{
    const pickle_object *pairs = pickle_items(&o->pickle, dictionary);
    uint64_t count = 0;

    for (uint64_t i = 0; dictionary.kind == PICKLE_DICT && i + 1 < pairs->count; i += 2)
        count += pairs->items[i].kind == PICKLE_TEXT && is_host(pairs->items[i + 1], TAG_TENSOR);
    return count;
}

enum { MOST_TRIED = 8, MOST_SHARED = 256 };

/* The dictionary itself, or the one in it that training programs put the tensors in. */
static pickle_value choose_dictionary(const torch_objects *o, pickle_value dictionary)
{
    static const char known[] = "state_dict model_state_dict model module";
    const pickle_object *pairs = pickle_items(&o->pickle, dictionary);
    unsigned tried = 0; /* a name that occurs often may have the same dictionary each time */

    if (dictionary.kind != PICKLE_DICT || count_tensors(o, dictionary) > 0)
        return dictionary;
    for (uint64_t i = 0; i + 1 < pairs->count && tried < MOST_TRIED; i += 2)
        if (str_is_word(pickle_text(&o->pickle, pairs->items[i]), known)) {
            tried++;
            if (count_tensors(o, pairs->items[i + 1]) > 0)
                return pairs->items[i + 1];
        }
    return dictionary;
}

static gufo_status place_tensor(torch_objects *o, checkpoint_tensor *t, uint64_t number)
{
    const torch_storage *storage = &o->storages[number];
    const torch_storage *root = storage->root.kind == PICKLE_UNSET
                                    ? storage
                                    : torch_storage_find(o, pickle_text(&o->pickle, storage->root));

    if (root == NULL || !root->located)
        return pickle_fail(&o->pickle, GUFO_E_MALFORMED, "the data of storage %s is missing",
                           QUOTED(pickle_text(&o->pickle, storage->key)));
    t->offset += root->offset + storage->begin * torch_storage_width(storage);
    return GUFO_OK;
}

gufo_status torch_objects_add(torch_objects *o, pickle_value dictionary, checkpoint *c,
                              uint32_t file, bool swapped)
{
    const pickle_value chosen = choose_dictionary(o, dictionary);
    const pickle_object *pairs = pickle_items(&o->pickle, chosen);
    gufo_status status = GUFO_OK;
    uint64_t bytes = 0;

    if (count_tensors(o, chosen) == 0)
        return pickle_fail(&o->pickle, GUFO_E_TYPE, "the pickle holds no dictionary of tensors");
    if (chosen.is.object != dictionary.is.object)
        c->skipped += pickle_items(&o->pickle, dictionary)->count / 2 - 1;
    for (uint64_t i = 0; i + 1 < pairs->count && status == GUFO_OK; i += 2) {
        gufo_str name = pickle_text(&o->pickle, pairs->items[i]);
        const torch_tensor *made;
        checkpoint_tensor t;

        if (pairs->items[i].kind != PICKLE_TEXT || !is_host(pairs->items[i + 1], TAG_TENSOR)) {
            c->skipped++;
            continue;
        }
        if (gufo_utf8_valid_prefix(name) < name.len)
            return fail_call(o, "the name of a tensor is not UTF-8");
        made = &o->tensors[pairs->items[i + 1].is.number];
        t = made->tensor;
        t.shape = made->shape;
        t.name = name;
        t.file = file;
        t.swapped = swapped && t.number->bits > 8;
        status = place_tensor(o, &t, made->storage);
        if (status == GUFO_OK && made->strided)
            status = checkpoint_set_strides(c, &t, made->stride, o->pickle.error);
        if (status == GUFO_OK && (!checked_add(bytes, checkpoint_tensor_size(&t), &bytes) ||
                                  bytes / MOST_SHARED > c->files[file].source.size))
            status = pickle_fail(&o->pickle, GUFO_E_LIMIT,
                                 "its tensors have more than %d times the bytes of the file",
                                 MOST_SHARED);
        if (status == GUFO_OK)
            status = checkpoint_add(c, &t, o->pickle.error);
    }
    return status;
}
