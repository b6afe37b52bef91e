/* Tensors out of a model, in formats that are not GGUF.
 *
 *     raw           data
 *     npy           magic, version, length | dictionary of Python, padded to 64 | data
 *     safetensors   length of the JSON (8)  | JSON, padded to 8                 | data | data ...
 *
 * npy: NumPy Enhancement Proposal 1, version 1.0.  safetensors: format description of its
 * repository.  Both count dimensions from the outermost, GGUF from the row. */
#include "edit/planner.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "codec/interleaved.h"
#include "format/model/model.h"

/* A type of numbers as other formats call it; NULL where they do not have it. */
typedef struct number_type {
    uint32_t id;
    const char *numpy, *safetensors;
} number_type;

/* How the bytes of a tensor come about. */
typedef enum part_method {
    PART_MOVED,   /* as they are */
    PART_SWAPPED, /* in the other byte order */
    PART_DECODED, /* as numbers of type `target` */
} part_method;

/* A tensor that is taken out. */
typedef struct part {
    gufo_tensor source;
    uint64_t index;                /* of the tensor in its model */
    const gufo_element_type *type; /* NULL: the type is unknown; it is only moved */
    part_method method;
    uint32_t target;      /* its type in the output */
    uint64_t place, size; /* there */
} part;

typedef struct extraction {
    gufo_job *job;
    const gufo_extract_options *options;
    part *parts; /* in the order of the output */
    uint64_t count;
    buffer header;
} extraction;

/* ---- the headers of npy and safetensors files --------------------------------------------------- */

/* The types of numbers that other formats have. */
static const number_type number_types[] = {
    {GUFO_TYPE_F32, "<f4", "F32"}, {GUFO_TYPE_F16, "<f2", "F16"}, {GUFO_TYPE_BF16, NULL, "BF16"},
    {GUFO_TYPE_F64, "<f8", "F64"}, {GUFO_TYPE_I8, "|i1", "I8"},   {GUFO_TYPE_I16, "<i2", "I16"},
    {GUFO_TYPE_I32, "<i4", "I32"}, {GUFO_TYPE_I64, "<i8", "I64"},
};

/* NULL for types that are not plain numbers. */
static const number_type *extract_number_type(uint32_t id)
{
    for (size_t i = 0; i < sizeof number_types / sizeof *number_types; i++)
        if (number_types[i].id == id)
            return &number_types[i];
    return NULL;
}

enum { NUMPY_ALIGNMENT = 64, NUMPY_BEFORE = 10, SAFETENSORS_ALIGNMENT = 8, LENGTH = 8 };

__attribute__((format(printf, 2, 3))) static bool buffer_print(buffer *out, const char *format, ...)
{
    char text[128];
    va_list arguments;
    int len;
    void *room;

    va_start(arguments, format);
    len = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (len < 0 || (size_t)len >= sizeof text)
        return false;
    room = buffer_extend(out, (uint64_t)len);
    if (room != NULL)
        memcpy(room, text, (size_t)len);
    return room != NULL;
}

/* Spaces until `out` and `more` further bytes fill whole multiples of `alignment`. */
static bool pad(buffer *out, size_t more, size_t alignment)
{
    bool padded = true;

    while ((out->len + more) % alignment != 0 && padded)
        padded = buffer_print(out, " ");
    return padded;
}

/* From the outermost dimension to the row. */
static bool print_shape(buffer *out, const gufo_tensor *tensor, const char *separator)
{
    bool printed = true;

    for (uint32_t i = tensor->n_dims; i > 0 && printed; i--)
        printed = buffer_print(out, "%" PRIu64 "%s", tensor->dims[i - 1], i > 1 ? separator : "");
    return printed;
}

/* ---- npy ------------------------------------------------------------------------------------ */

static gufo_status extract_numpy_header(extraction *x, gufo_error *error)
{
    static const uint8_t magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 0, 0};
    const part *p = &x->parts[0];
    buffer *out = &x->header;
    const char *type = extract_number_type(p->target)->numpy;
    bool printed = buffer_append(out, magic, sizeof magic) &&
                   buffer_print(out, "{'descr': '%s', 'fortran_order': False, 'shape': (", type) &&
                   print_shape(out, &p->source, ", ") &&
                   /* a tuple of one has a comma */
                   buffer_print(out, "%s), }", p->source.n_dims == 1 ? "," : "") &&
                   pad(out, 1, NUMPY_ALIGNMENT) && buffer_print(out, "\n");
    if (!printed)
        return fail_memory(error);
    store_u16(out->data + NUMPY_BEFORE - 2, (uint16_t)(out->len - NUMPY_BEFORE),
              bytes_swapped(false));
    return GUFO_OK;
}

/* ---- safetensors ---------------------------------------------------------------------------- */

/* Larger numbers first, so that all of them are aligned; else as they were. */
static bool is_wider(const void *a, const void *b)
{
    const part *first = a, *second = b;
    uint32_t width_a = gufo_element_type_by_id(first->target)->block_bytes;
    uint32_t width_b = gufo_element_type_by_id(second->target)->block_bytes;

    if (width_a != width_b)
        return width_a > width_b;
    return first->index < second->index;
}

/* A JSON string. */
static bool print_string(buffer *out, gufo_str text)
{
    bool printed = buffer_print(out, "\"");

    for (size_t i = 0; i < text.len && printed; i++) {
        unsigned char byte = (unsigned char)text.data[i];

        if (byte < 0x20 || byte == 0x7f)
            printed = buffer_print(out, "\\u%04x", byte);
        else
            printed = buffer_print(out, "%s%c", byte == '"' || byte == '\\' ? "\\" : "", byte);
    }
    return printed && buffer_print(out, "\"");
}

static gufo_status check_name(const gufo_tensor *tensor, gufo_error *error)
{
    if (gufo_utf8_valid_prefix(tensor->name) == tensor->name.len &&
        !gufo_str_equal(tensor->name, gufo_str_of("__metadata__")))
        return GUFO_OK;
    return fail_with(error, GUFO_E_ARGUMENT, tensor->info_offset,
                     "%s cannot be the name of a tensor in a safetensors file",
                     QUOTED(tensor->name));
}

/* "name":{"dtype":"F32","shape":[4,3],"data_offsets":[0,48]} */
static bool print_tensor(buffer *out, const part *p, uint64_t offset)
{
    return print_string(out, p->source.name) &&
           buffer_print(out, ":{\"dtype\":\"%s\",\"shape\":[",
                        extract_number_type(p->target)->safetensors) &&
           print_shape(out, &p->source, ",") &&
           buffer_print(out, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", offset,
                        offset + p->size);
}

static gufo_status print_tensors(extraction *x, gufo_error *error)
{
    buffer *out = &x->header;
    uint64_t offset = 0;

    for (uint64_t i = 0; i < x->count; i++) {
        const part *p = &x->parts[i];
        gufo_status status = check_name(&p->source, error);

        if (status != GUFO_OK)
            return model_fail(model_holding(planner_of(x->job)->input, &p->source), status, error);
        if ((i > 0 && !buffer_print(out, ",")) || !print_tensor(out, p, offset))
            return fail_memory(error);
        offset += p->size;
    }
    return GUFO_OK;
}

static gufo_status extract_safetensors_header(extraction *x, gufo_error *error)
{
    buffer *out = &x->header;
    gufo_status status = GUFO_OK;

    sort_items(x->parts, (size_t)x->count, sizeof *x->parts, is_wider);
    if (buffer_extend(out, LENGTH) == NULL || !buffer_print(out, "{"))
        return fail_memory(error);
    status = print_tensors(x, error);
    if (status != GUFO_OK)
        return status;
    if (!buffer_print(out, "}") || !pad(out, 0, SAFETENSORS_ALIGNMENT))
        return fail_memory(error);
    store_u64(out->data, out->len - LENGTH, bytes_swapped(false));
    return GUFO_OK;
}

/* ---- what becomes of a tensor --------------------------------------------------------------- */

/* The longest row of a type that merges several. */
enum { MOST_MERGED_COLUMNS = 512 * 1024 };

static bool is_big(const extraction *x, const part *p)
{
    const gufo_model *shard = gufo_model_shard(planner_of(x->job)->input, p->source.shard);

    return gufo_model_facts(shard).byte_order == GUFO_BIG_ENDIAN;
}

/* The type that the numbers get; that of the tensor where its blocks are kept. */
static uint32_t target_of(const gufo_extract_options *options, const part *p)
{
    if (options->type != NULL)
        return options->type->id;
    if (options->format == GUFO_EXTRACT_RAW || extract_number_type(p->source.type) != NULL)
        return p->source.type;
    return GUFO_TYPE_F32;
}

static gufo_status check_decodable(const part *p, gufo_error *error)
{
    const interleaved *merged = p->type != NULL ? interleaved_find(p->type->id) : NULL;
    uint64_t row_count;

    if (p->type == NULL || (p->type->flags & GUFO_ELEMENT_DECODES) == 0)
        return fail_with(error, GUFO_E_TYPE, p->source.info_offset,
                         "tensor %s has element type %" PRIu32 ", which cannot be decoded",
                         QUOTED(p->source.name), p->source.type);
    if (merged == NULL || p->source.elements == 0)
        return GUFO_OK;
    if (p->source.dims[0] > MOST_MERGED_COLUMNS)
        return fail_with(error, GUFO_E_LIMIT, p->source.info_offset,
                         "rows of tensor %s are too long to be decoded in groups",
                         QUOTED(p->source.name));
    row_count = p->source.elements / p->source.dims[0];
    if (row_count % merged->rows != 0)
        return fail_with(error, GUFO_E_ARGUMENT, p->source.info_offset,
                         "%s needs a multiple of %" PRIu32 " rows, not %s", p->type->name,
                         merged->rows, GROUPED(row_count));
    return GUFO_OK;
}

static gufo_status plan_decoding(part *p, gufo_error *error)
{
    gufo_status status = check_decodable(p, error);

    if (status != GUFO_OK)
        return status;
    p->method = PART_DECODED;
    if (!checked_mul(p->source.elements, gufo_element_type_by_id(p->target)->block_bytes, &p->size))
        return fail_with(error, GUFO_E_RANGE, p->source.info_offset,
                         "the decoded tensor would be larger than any file can be");
    return GUFO_OK;
}

/* Chooses how a part is made. */
static gufo_status plan_part(const extraction *x, part *p, gufo_error *error)
{
    const gufo_extract_options *options = x->options;

    p->target = target_of(options, p);
    if (options->format == GUFO_EXTRACT_NUMPY && p->target == GUFO_TYPE_BF16)
        return fail_with(error, GUFO_E_TYPE, p->source.info_offset,
                         "tensor %s would be bfloat16, a type that NumPy does not have",
                         QUOTED(p->source.name));
    if (p->target != p->source.type)
        return plan_decoding(p, error);
    /* Asking for numbers asks for those of this machine's kind of file, even if they are stored. */
    if (is_big(x, p) && p->source.size > 0 &&
        (options->format != GUFO_EXTRACT_RAW || options->type != NULL) && p->type->block_bytes > 1)
        p->method = PART_SWAPPED;
    return GUFO_OK;
}

static gufo_status plan_parts(extraction *x, const uint64_t *tensors, gufo_error *error)
{
    const gufo_model *input = planner_of(x->job)->input;
    gufo_status status = GUFO_OK;

    if (x->count < SIZE_MAX / sizeof *x->parts)
        x->parts = mem_zero(&x->job->allocator, ((size_t)x->count + 1) * sizeof *x->parts);
    if (x->parts == NULL)
        return fail_memory(error);
    for (size_t i = 0; i < x->count && status == GUFO_OK; i++) {
        part *p = &x->parts[i];

        if (!gufo_model_tensor_at(input, tensors[i], &p->source))
            return refuse(error, GUFO_E_RANGE, "no tensor %" PRIu64, tensors[i]);
        p->index = tensors[i];
        p->type = gufo_element_type_by_id(p->source.type);
        p->size = p->source.size;
        status = model_fail(model_holding(input, &p->source), plan_part(x, p, error), error);
    }
    return status;
}

/* ---- the file ------------------------------------------------------------------------------- */

/* Makes the header, which says where the data will be: that decides the order of the parts. */
static gufo_status make_header(extraction *x, gufo_error *error)
{
    static gufo_status (*const headers[])(extraction *, gufo_error *) = {
        [GUFO_EXTRACT_NUMPY] = extract_numpy_header,
        [GUFO_EXTRACT_SAFETENSORS] = extract_safetensors_header,
    };
    gufo_status status = GUFO_OK;

    x->header.allocator = &x->job->allocator;
    if (x->options->format != GUFO_EXTRACT_RAW)
        status = headers[x->options->format](x, error);
    planner_of(x->job)->header = x->header.data;
    return status;
}

/* Places the parts one after the other. */
static gufo_status add_target(extraction *x, uint32_t *number, gufo_error *error)
{
    job_target file = {
        .tensor_count = x->count, .header = x->header.data, .header_size = x->header.len};
    uint64_t end = x->header.len;

    for (uint64_t i = 0; i < x->count; i++) {
        part *p = &x->parts[i];

        p->place = end;
        file.data_size += p->size;
        if (!checked_add(end, p->size, &end) || end > INT64_MAX)
            return refuse(error, GUFO_E_RANGE, "the file would be larger than any file can be");
    }
    file.size = end;
    return job_add_target(x->job, &file, number, error);
}

/* Where blocks are not merged over rows, one is a row: shapes do not matter. */
static gufo_status add_decoded(gufo_job *job, const part *p, uint32_t target, gufo_error *error)
{
    const gufo_element_type *to = gufo_element_type_by_id(p->target);
    rows r = job_tensor_rows(job, (uint32_t)p->source.shard, &p->source, 0);
    made numbers = {.target = target, .place = p->place, .type = to, .encode = true};

    if (interleaved_find(p->type->id) == NULL) {
        r.columns = p->type->block_elements;
        r.row_bytes = p->type->block_bytes;
        r.count = p->source.size / r.row_bytes;
    }
    numbers.row_bytes = r.columns * to->block_bytes;
    return job_add_rows(job, PIECE_MAKE, p->source.name, &r, &numbers, 1, error);
}

/* Of a model without files: rows are made. */
static gufo_status add_made(gufo_job *job, const part *p, uint32_t target, gufo_error *error)
{
    made result = {.target = target,
                   .place = p->place,
                   .type = gufo_element_type_by_id(p->target),
                   .encode = p->method == PART_DECODED};

    return job_add_tensor(job, 0, &p->source, p->index, &result, 1, 1, error);
}

static gufo_status add_part(const extraction *x, const part *p, uint32_t target, gufo_error *error)
{
    uint32_t input = (uint32_t)p->source.shard;

    if (x->job->inputs[input].source == NULL && p->source.size > 0)
        return add_made(x->job, p, target, error);
    if (p->method == PART_DECODED)
        return add_decoded(x->job, p, target, error);
    if (p->method == PART_SWAPPED)
        return job_add_swapped(x->job, input, &p->source, target, p->place, error);
    return job_add_move(x->job, input, p->source.offset, p->source.size, target, p->place,
                        p->source.name, error);
}

static gufo_status extract(extraction *x, const uint64_t *tensors, gufo_error *error)
{
    gufo_status status = plan_parts(x, tensors, error);
    uint32_t target;

    if (status == GUFO_OK)
        status = make_header(x, error);
    if (status == GUFO_OK)
        status = add_target(x, &target, error);
    for (uint64_t i = 0; i < x->count && status == GUFO_OK; i++)
        status = add_part(x, &x->parts[i], target, error);
    return status;
}

static gufo_status check_options(const gufo_extract_options *options, size_t count,
                                 gufo_error *error)
{
    gufo_status status = reserved_check(options->reserved, "gufo_extract_options", error);

    if (status != GUFO_OK)
        return status;
    if (options->format > GUFO_EXTRACT_SAFETENSORS)
        return refuse(error, GUFO_E_ARGUMENT, "format %d does not exist", (int)options->format);
    if (options->type != NULL && options->type->id != GUFO_TYPE_F32 &&
        options->type->id != GUFO_TYPE_F16 && options->type->id != GUFO_TYPE_BF16)
        return refuse(error, GUFO_E_ARGUMENT,
                      "numbers are extracted as F32, F16 or BF16, not as %s", options->type->name);
    if (count != 1 && options->format != GUFO_EXTRACT_SAFETENSORS)
        return refuse(error, GUFO_E_ARGUMENT,
                      "%s tensors cannot be in one file of this format; safetensors holds several",
                      GROUPED(count));
    return GUFO_OK;
}

gufo_job *gufo_job_extract(const gufo_model *input, const uint64_t *tensors, size_t count,
                           const gufo_extract_options *options, gufo_error *error)
{
    static const gufo_extract_options standard = {0};
    extraction x = {.options = options != NULL ? options : &standard, .count = count};
    gufo_status status;

    if (tensors == NULL && count > 0)
        (void)refuse(error, GUFO_E_ARGUMENT, "the list of tensors is missing");
    else if (planner_check_input(input, error) == GUFO_OK &&
             check_options(x.options, count, error) == GUFO_OK)
        x.job = planner_begin_any(input, x.options->allocator, error);
    if (x.job == NULL)
        return NULL;
    status = extract(&x, tensors, error);
    mem_free(&x.job->allocator, x.parts);
    return job_planned(x.job, model_fail(input, status, error), error);
}
