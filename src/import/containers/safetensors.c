/* A file of safetensors.
 *
 *     | u64 n | n bytes of JSON        | data                                   |
 *             | {"a": {"dtype": "F16", | a a a a a a a a | b b b b | c c c c c c
 *             |   "shape": [2, 4],       0               16
 *             |   "data_offsets": [0, 16]}, ...
 *
 * The tensors cover the data, without holes and without overlap, so that a file has only one
 * reading.  Of the header only the names are kept.
 *
 * Source: the description of the format and the checks of its library. */
#include "import/containers/checkpoint.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/pull.h"

enum { LENGTH_SIZE = 8, MAX_HEADER = 100 * 1000 * 1000 };

typedef struct reading {
    checkpoint *c;
    uint32_t file;
    uint64_t first;     /* number of the file's first tensor */
    uint64_t data_size; /* of the file */
    pull header;
} reading;

/* ---- an entry ------------------------------------------------------------------------------- */

typedef struct entry {
    checkpoint_tensor tensor;
    uint64_t shape[CHECKPOINT_MAX_DIMS];
    uint64_t begin, end; /* in the data */
    size_t shape_at, offsets_at;
} entry;

static bool read_dtype(pull *p, entry *e)
{
    size_t at = p->at;
    gufo_str name;

    if (!pull_string(p, &name))
        return false;
    e->tensor.number = number_by_name(name);
    return e->tensor.number != NULL ||
           pull_fail(p, GUFO_E_TYPE, at, "tensor %s has elements of %s, which are not known",
                     QUOTED(e->tensor.name), QUOTED(name));
}

static bool read_shape(pull *p, entry *e)
{
    checkpoint_tensor *t = &e->tensor;

    e->shape_at = p->at;
    if (!pull_mark(p, '['))
        return false;
    for (bool first = true; pull_next(p, ']', &first); t->n_dims++) {
        if (t->n_dims == CHECKPOINT_MAX_DIMS)
            return pull_fail(p, GUFO_E_LIMIT, p->at, "tensor %s has more than %d dimensions",
                             QUOTED(t->name), CHECKPOINT_MAX_DIMS);
        if (!pull_u64(p, &e->shape[t->n_dims]))
            return false;
    }
    return p->status == GUFO_OK;
}

static bool read_offsets(pull *p, entry *e)
{
    e->offsets_at = p->at;
    return pull_mark(p, '[') && pull_u64(p, &e->begin) && pull_mark(p, ',') &&
           pull_u64(p, &e->end) && pull_mark(p, ']');
}

static const struct field_row {
    const char *name;
    bool (*read)(pull *p, entry *e);
} fields[] = {
    {"dtype", read_dtype},
    {"shape", read_shape},
    {"data_offsets", read_offsets},
};

enum { FIELD_COUNT = sizeof fields / sizeof *fields, ALL_FIELDS = (1 << FIELD_COUNT) - 1 };

static bool read_fields(pull *p, entry *e)
{
    unsigned seen = 0;
    size_t begin = p->at, at;
    gufo_str name;

    if (!pull_mark(p, '{'))
        return false;
    for (bool first = true; pull_next(p, '}', &first);) {
        size_t field = 0;

        at = p->at;
        if (!pull_name(p, &name))
            return false;
        while (field < FIELD_COUNT && !gufo_str_equal(name, gufo_str_of(fields[field].name)))
            field++;
        if (field == FIELD_COUNT || (seen & 1U << field) != 0)
            return pull_fail(p, GUFO_E_MALFORMED, at, "tensor %s has a field %s%s",
                             QUOTED(e->tensor.name), QUOTED(name),
                             field < FIELD_COUNT ? " twice" : ", which the format does not have");
        seen |= 1U << field;
        if (!fields[field].read(p, e))
            return false;
    }
    for (size_t field = 0; field < FIELD_COUNT; field++)
        if ((seen & 1U << field) == 0)
            return pull_fail(p, GUFO_E_MALFORMED, begin, "tensor %s has no field \"%s\"",
                             QUOTED(e->tensor.name), fields[field].name);
    return p->status == GUFO_OK;
}

/* The fields agree with each other and with the file. */
static bool check_entry(reading *r, entry *e)
{
    checkpoint_tensor *t = &e->tensor;
    pull *p = &r->header;
    uint64_t size;

    if (e->end < e->begin)
        return pull_fail(p, GUFO_E_MALFORMED, e->offsets_at, "tensor %s ends before it begins",
                         QUOTED(t->name));
    p->status = tensor_shape(t, e->shape, p->base + e->shape_at, p->error);
    if (p->status != GUFO_OK)
        return false;
    size = checkpoint_tensor_size(t);
    if (e->end - e->begin != size)
        return pull_fail(p, GUFO_E_MALFORMED, e->offsets_at,
                         "tensor %s has %s bytes, but its shape of %s takes %s", QUOTED(t->name),
                         GROUPED(e->end - e->begin), t->number->name, GROUPED(size));
    if (e->end > r->data_size)
        return pull_fail(p, GUFO_E_TRUNCATED, e->offsets_at,
                         "tensor %s ends at byte %" PRIu64 " of the data, but the file has only "
                         "%s bytes of data",
                         QUOTED(t->name), e->end, GROUPED(r->data_size));
    return true;
}

static bool read_tensor(reading *r, gufo_str name)
{
    pull *p = &r->header;
    entry e = {.tensor = {.name = name, .file = r->file}};

    if (!read_fields(p, &e) || !check_entry(r, &e))
        return false;
    e.tensor.offset = p->base + p->len + e.begin;
    p->status = checkpoint_add(r->c, &e.tensor, p->error);
    return p->status == GUFO_OK;
}

/* ---- the header ----------------------------------------------------------------------------- */

/* "format": "pt" and the like: texts by name, which say nothing about tensors. */
static bool skip_metadata(pull *p)
{
    gufo_str text;

    if (!pull_mark(p, '{'))
        return false;
    for (bool first = true; pull_next(p, '}', &first);)
        if (!pull_name(p, &text) || !pull_string(p, &text))
            return false;
    return p->status == GUFO_OK;
}

static gufo_status parse_header(reading *r)
{
    bool has_metadata = false;
    pull *p = &r->header;
    gufo_str name;

    if (p->len == 0 || p->text[0] != '{') /* no white space before it */
        (void)pull_fail(p, GUFO_E_MALFORMED, 0, "the header does not begin with '{'");
    if (!pull_mark(p, '{'))
        return p->status;
    for (bool first = true; pull_next(p, '}', &first);) {
        size_t at = p->at;

        if (!pull_name(p, &name))
            break;
        if (!gufo_str_equal(name, gufo_str_of("__metadata__")))
            (void)read_tensor(r, name);
        else if (has_metadata)
            (void)pull_fail(p, GUFO_E_MALFORMED, at, "\"__metadata__\" occurs twice");
        else
            has_metadata = skip_metadata(p);
    }
    (void)pull_end(p);
    return p->status;
}

static gufo_status load_header(reading *r, gufo_error *error)
{
    checkpoint_file *file = &r->c->files[r->file];
    const source *s = &file->source;
    uint8_t length[LENGTH_SIZE];
    gufo_status status;
    uint64_t n;

    if (s->size < LENGTH_SIZE)
        return fail_with(error, GUFO_E_TRUNCATED, s->size,
                         "the file ends inside the length of its header");
    status = source_read(s, 0, length, sizeof length, error);
    if (status != GUFO_OK)
        return status;
    n = load_u64(length, bytes_swapped(false));
    if (n > MAX_HEADER)
        return fail_with(error, GUFO_E_LIMIT, 0,
                         "the header has %s bytes: safetensors allows at most %s", GROUPED(n),
                         GROUPED(MAX_HEADER));
    if (n > s->size - LENGTH_SIZE)
        return fail_with(error, GUFO_E_TRUNCATED, 0,
                         "the header has %s bytes, but only %s are left in the file", GROUPED(n),
                         GROUPED(s->size - LENGTH_SIZE));
    file->head = LENGTH_SIZE + n;
    r->data_size = s->size - file->head;
    r->header = (pull){.len = (size_t)n, .base = LENGTH_SIZE, .error = error};
    r->header.text = r->header.decoded = mem_array(r->c->allocator, n, 1);
    if (r->header.text == NULL)
        return fail_memory(error);
    return source_read(s, LENGTH_SIZE, r->header.decoded, (size_t)n, error);
}

/* ---- all tensors ---------------------------------------------------------------------------- */

static bool is_before_in_file(const void *owner, uint32_t a, uint32_t b)
{
    const checkpoint_tensor *tensors = owner, *x = &tensors[a], *y = &tensors[b];
    const uint64_t x_size = checkpoint_tensor_size(x), y_size = checkpoint_tensor_size(y);

    return x->offset != y->offset ? x->offset < y->offset
           : x_size != y_size     ? x_size < y_size
                                  : a < b;
}

static bool is_before_by_name(const void *owner, uint32_t a, uint32_t b)
{
    const checkpoint_tensor *tensors = owner;
    gufo_str x = tensors[a].name, y = tensors[b].name;
    int order = memcmp(x.data, y.data, x.len < y.len ? x.len : y.len);

    return order != 0 ? order < 0 : x.len != y.len ? x.len < y.len : a < b;
}

/* Tensor after tensor, the data are covered once. */
static gufo_status check_cover(const reading *r, const checkpoint_tensor *tensors,
                               const uint32_t *order, uint64_t count, gufo_error *error)
{
    const uint64_t head = r->c->files[r->file].head;
    uint64_t end = head;

    for (uint64_t i = 0; i < count; i++) {
        const checkpoint_tensor *t = &tensors[order[i]];

        if (t->offset < end)
            return fail_with(error, GUFO_E_MALFORMED, t->offset, "tensors %s and %s overlap",
                             QUOTED(tensors[order[i - 1]].name), QUOTED(t->name));
        if (t->offset > end)
            return fail_with(error, GUFO_E_MALFORMED, end,
                             "%s bytes before tensor %s belong to no tensor",
                             GROUPED(t->offset - end), QUOTED(t->name));
        end = t->offset + checkpoint_tensor_size(t);
    }
    if (end - head != r->data_size)
        return fail_with(error, GUFO_E_MALFORMED, end,
                         "%s bytes at the end of the file belong to no tensor",
                         GROUPED(r->data_size - (end - head)));
    return GUFO_OK;
}

/* Puts the tensors where `order` says, in place: along its cycles, which end up as `order[i] == i`. */
static void arrange(checkpoint_tensor *tensors, uint32_t *order, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        checkpoint_tensor kept = tensors[i];
        uint64_t to = i, from;

        while ((from = order[to]) != i) {
            tensors[to] = tensors[from];
            order[to] = (uint32_t)to;
            to = from;
        }
        tensors[to] = kept;
        order[to] = (uint32_t)to;
    }
}

static gufo_status check_names(const reading *r, const checkpoint_tensor *tensors, uint64_t count,
                               gufo_error *error)
{
    for (uint64_t i = 1; i < count; i++)
        if (gufo_str_equal(tensors[i].name, tensors[i - 1].name))
            return fail_with(error, GUFO_E_MALFORMED,
                             r->header.base + (uint64_t)(tensors[i].name.data - r->header.text),
                             "two tensors are called %s", QUOTED(tensors[i].name));
    return GUFO_OK;
}

static void number_all(uint32_t *order, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
}

/* Most files are in order already. */
static void put_in_order(uint32_t *order, uint64_t count, sort_before *before,
                         const checkpoint_tensor *tensors)
{
    uint64_t i = 1;

    while (i < count && before(tensors, order[i - 1], order[i]))
        i++;
    if (i < count)
        sort_indices(order, count, before, tensors);
}

static gufo_status settle(const reading *r, gufo_error *error)
{
    const uint64_t count = r->c->tensor_count - r->first;
    checkpoint_tensor *tensors = count > 0 ? r->c->tensors + r->first : NULL;
    uint32_t *order = mem_array(r->c->allocator, count, sizeof *order);
    gufo_status status;

    if (order == NULL)
        return fail_memory(error);
    number_all(order, count);
    put_in_order(order, count, is_before_by_name, tensors);
    arrange(tensors, order, count);
    status = check_names(r, tensors, count, error);
    if (status == GUFO_OK) {
        put_in_order(order, count, is_before_in_file, tensors);
        status = check_cover(r, tensors, order, count, error);
    }
    mem_free(r->c->allocator, order);
    return status;
}

/* Copies the names out of the header, which has ten times their bytes. */
static gufo_status keep_names(const reading *r, gufo_error *error)
{
    uint64_t size = 0;
    char *text;

    for (uint64_t i = r->first; i < r->c->tensor_count; i++)
        size += r->c->tensors[i].name.len;
    text = checkpoint_memory(r->c, size);
    if (text == NULL)
        return fail_memory(error);
    for (uint64_t i = r->first; i < r->c->tensor_count; i++) {
        gufo_str *name = &r->c->tensors[i].name;

        memcpy(text, name->data, name->len);
        name->data = text;
        text += name->len;
    }
    return GUFO_OK;
}

gufo_status safetensors_read(checkpoint *c, uint32_t file, gufo_error *error)
{
    reading r = {.c = c, .file = file, .first = c->tensor_count};
    gufo_status status = load_header(&r, error);

    if (status == GUFO_OK)
        status = parse_header(&r);
    if (status == GUFO_OK)
        status = settle(&r, error);
    if (status == GUFO_OK)
        status = keep_names(&r, error);
    mem_free(c->allocator, r.header.decoded);
    return status;
}

bool safetensors_recognise(const uint8_t *bytes, size_t size)
{
    return size > LENGTH_SIZE && bytes[LENGTH_SIZE] == '{' &&
           load_u64(bytes, bytes_swapped(false)) <= MAX_HEADER;
}
