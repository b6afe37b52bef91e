/* The headers of npy and safetensors files. */
#include "edit/extract.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/sort.h"
#include "format/model/model.h"

/* The types of numbers that other formats have. */
static const number_type number_types[] = {
    {GUFO_TYPE_F32, "<f4", "F32"}, {GUFO_TYPE_F16, "<f2", "F16"}, {GUFO_TYPE_BF16, NULL, "BF16"},
    {GUFO_TYPE_F64, "<f8", "F64"}, {GUFO_TYPE_I8, "|i1", "I8"},   {GUFO_TYPE_I16, "<i2", "I16"},
    {GUFO_TYPE_I32, "<i4", "I32"}, {GUFO_TYPE_I64, "<i8", "I64"},
};

const number_type *extract_number_type(uint32_t id)
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

gufo_status extract_numpy_header(extraction *x, gufo_error *error)
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

gufo_status extract_safetensors_header(extraction *x, gufo_error *error)
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
