/* Arrays: skipping them (value.h has the idea) and looking inside. */
#include "format/value/value.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"

/* ---- skipping ------------------------------------------------------------------------------- */

static skip_result short_of(array_skip *skip, uint64_t bytes)
{
    if (!checked_add(skip->position, bytes, &skip->need))
        skip->need = UINT64_MAX;
    return SKIP_SHORT;
}

static bool fits(const array_skip *skip, uint64_t bytes)
{
    return bytes <= skip->end - skip->position;
}

/* Reads type and count of the array at the current position and opens it. */
static skip_result enter_array(array_skip *skip)
{
    size_t header = array_header_size(skip->encoding);
    const uint8_t *at = skip->base + skip->position;

    if (!fits(skip, header))
        return short_of(skip, header);
    if (skip->depth >= skip->max_depth)
        return SKIP_TOO_DEEP;
    skip->type = load_u32(at, encoding_swapped(skip->encoding));
    if (value_type_row(skip->type) == NULL)
        return SKIP_BAD_TYPE;
    skip->inner = (gufo_value_type)skip->type;
    skip->left[skip->depth++] = load_length(at + 4, skip->encoding);
    skip->position += header;
    return SKIP_DONE;
}

static void leave_array(array_skip *skip)
{
    skip->depth--;
    skip->inner = GUFO_VALUE_ARRAY; /* of the array around the first one */
}

static void check_bools(array_skip *skip, uint64_t count)
{
    for (uint64_t i = 0; i < count && skip->bad_bool == UINT64_MAX; i++)
        if (skip->base[skip->position + i] > 1)
            skip->bad_bool = skip->position + i;
}

static skip_result skip_fixed(array_skip *skip, uint64_t *left, size_t size)
{
    uint64_t bytes;

    if (!checked_mul(*left, size, &bytes))
        bytes = UINT64_MAX;
    if (!fits(skip, bytes))
        return short_of(skip, bytes);
    if (skip->inner == GUFO_VALUE_BOOL)
        check_bools(skip, *left);
    skip->position += bytes;
    *left = 0;
    return SKIP_DONE;
}

/* The hot loop of opening a file: a vocabulary has a hundred thousand strings.  `width` and `swap`
 * are constants where it is called, so that the common case compiles to one load per string. */
static inline __attribute__((always_inline)) skip_result skip_strings(array_skip *skip,
                                                                      uint64_t *remaining,
                                                                      size_t width, bool swap)
{
    const uint8_t *base = skip->base;
    uint64_t position = skip->position, end = skip->end, left = *remaining;
    uint64_t missing = 0;

    for (; left > 0; left--) {
        uint64_t len;

        if (end - position < width) {
            missing = width;
            break;
        }
        len = width == 4 ? load_u32(base + position, swap) : load_u64(base + position, swap);
        if (len > end - position - width) {
            missing = checked_add(len, width, &missing) ? missing : UINT64_MAX;
            break;
        }
        position += width + len;
    }
    skip->position = position;
    *remaining = left;
    return left == 0 ? SKIP_DONE : short_of(skip, missing);
}

static skip_result skip_allowed_strings(array_skip *skip, uint64_t *left)
{
    bool swap = encoding_swapped(skip->encoding);

    if (skip->encoding.version == 1)
        return skip_strings(skip, left, 4, swap);
    return swap ? skip_strings(skip, left, 8, true) : skip_strings(skip, left, 8, false);
}

static skip_result skip_text(array_skip *skip, uint64_t *left)
{
    const uint64_t allowed = smaller(*left, skip->visits);
    uint64_t rest = allowed;
    skip_result result = skip_allowed_strings(skip, &rest);

    *left -= allowed - rest;
    skip->visits -= allowed - rest;
    return result == SKIP_DONE && *left > 0 ? SKIP_TOO_MANY : result;
}

/* Continues with the innermost array. */
static skip_result skip_step(array_skip *skip)
{
    const value_type_info *info = value_type_row((uint32_t)skip->inner);
    uint64_t *left = &skip->left[skip->depth - 1];

    if (info->size != 0)
        return skip_fixed(skip, left, info->size);
    if (info->kind == KIND_STRING)
        return skip_text(skip, left);
    if (skip->visits == 0)
        return SKIP_TOO_MANY;
    skip_result entered = enter_array(skip);

    *left -= entered == SKIP_DONE;
    skip->visits -= entered == SKIP_DONE;
    return entered;
}

/* Field by field: clearing the room for all depths would take longer than most arrays. */
void array_skip_start(array_skip *skip, const uint8_t *base, uint64_t position, uint64_t end,
                      gufo_encoding encoding)
{
    skip->base = base;
    skip->position = position;
    skip->end = end;
    skip->encoding = encoding;
    skip->need = skip->count = 0;
    skip->type = 0;
    skip->bad_bool = UINT64_MAX;
    skip->outer = skip->inner = GUFO_VALUE_ARRAY;
    skip->entered = false;
    skip->depth = 0;
    skip->max_depth = GUFO_LARGEST_DEPTH;
    skip->visits = UINT64_MAX;
}

/* Begins with the elements: the view has type and count. */
static void start_inside(array_skip *skip, const gufo_array *array)
{
    array_skip_start(skip, array->data, 0, array->size, array->encoding);
    skip->entered = true;
    skip->outer = skip->inner = array->type;
    skip->left[skip->depth++] = skip->count = array->count;
}

skip_result array_skip_run(array_skip *skip)
{
    skip_result result = SKIP_DONE;

    if (!skip->entered) {
        result = enter_array(skip);
        skip->entered = result == SKIP_DONE;
        if (skip->entered) {
            skip->outer = skip->inner;
            skip->count = skip->left[0];
        }
    }
    while (result == SKIP_DONE && skip->depth > 0) {
        if (skip->left[skip->depth - 1] == 0)
            leave_array(skip);
        else
            result = skip_step(skip);
    }
    return result;
}

/* ---- walking -------------------------------------------------------------------------------- */

void array_walk_start(array_skip *walk, const gufo_array *array)
{
    start_inside(walk, array);
}

static array_event failure(skip_result result)
{
    return result == SKIP_TOO_DEEP ? ARRAY_TOO_DEEP : ARRAY_CHANGED;
}

array_event array_walk_next(array_skip *walk, gufo_array *out)
{
    skip_result result = SKIP_DONE;

    if (!array_walk_has_more(walk)) {
        leave_array(walk);
        return walk->depth > 0               ? ARRAY_END
               : walk->position == walk->end ? ARRAY_DONE
                                             : ARRAY_CHANGED;
    }
    result = skip_step(walk);
    if (result != SKIP_DONE)
        return failure(result);
    *out = (gufo_array){.type = walk->inner,
                        .count = walk->left[walk->depth - 1],
                        .data = walk->base + walk->position,
                        .encoding = walk->encoding};
    if (walk->inner == GUFO_VALUE_ARRAY)
        return ARRAY_BEGIN;
    while (result == SKIP_DONE && array_walk_has_more(walk))
        result = skip_step(walk);
    leave_array(walk);
    out->size = walk->position - (uint64_t)(out->data - walk->base);
    return result == SKIP_DONE ? ARRAY_LEAF : failure(result);
}

array_event array_walk_leave(array_skip *walk)
{
    unsigned outside = walk->depth - 1;
    gufo_array ignored;
    array_event event;

    do
        event = array_walk_next(walk, &ignored);
    while (walk->depth > outside && event != ARRAY_TOO_DEEP && event != ARRAY_CHANGED);
    return event;
}

/* ---- views of callers ----------------------------------------------------------------------- */

/* Whether elements of fixed size take just the bytes of the array. */
static bool numbers_fill(const gufo_array *array, size_t width)
{
    uint64_t bytes;

    return checked_mul(array->count, width, &bytes) && bytes == array->size;
}

gufo_status array_fail_unfilled(const gufo_array *array, gufo_error *error)
{
    return refuse(error, GUFO_E_ARGUMENT,
                  "%s elements of type %s do not take the %s bytes of their array",
                  GROUPED(array->count), gufo_value_type_name(array->type), GROUPED(array->size));
}

gufo_status array_fail_changed(gufo_error *error)
{
    return refuse(error, GUFO_E_CHANGED, "array was changed while the file was open");
}

static gufo_status check_array(const gufo_array *array, gufo_error *error)
{
    const value_type_info *info = value_type_row((uint32_t)array->type);

    if (info == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "element type %d does not exist", (int)array->type);
    if (array->data == NULL && array->size > 0)
        return refuse(error, GUFO_E_ARGUMENT, "the elements of an array are missing");
    if (info->size != 0 && !numbers_fill(array, info->size))
        return array_fail_unfilled(array, error);
    return GUFO_OK;
}

gufo_status value_check(const gufo_value *value, gufo_error *error)
{
    if (value_type_row((uint32_t)value->type) == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "value type %d does not exist", (int)value->type);
    if (value->type == GUFO_VALUE_STRING && value->as.str.data == NULL && value->as.str.len > 0)
        return refuse(error, GUFO_E_ARGUMENT, "the text of a string is missing");
    return value->type == GUFO_VALUE_ARRAY ? check_array(&value->as.array, error) : GUFO_OK;
}

bool array_filled(const gufo_array *array)
{
    array_skip skip;
    skip_result result;

    if (gufo_value_type_size(array->type) != 0)
        return numbers_fill(array, gufo_value_type_size(array->type));
    start_inside(&skip, array);
    result = array_skip_run(&skip);
    return result == SKIP_TOO_DEEP || (result == SKIP_DONE && skip.position == array->size);
}

/* ---- looking inside ------------------------------------------------------------------------- */

gufo_array_iter gufo_array_start(const gufo_array *array)
{
    return (gufo_array_iter){.array = *array};
}

/* Each takes the element at the iterator's position; false if it is not inside the array. */
static bool next_string(gufo_array_iter *iter, gufo_value *out)
{
    const gufo_array *array = &iter->array;
    size_t width = encoding_length_size(array->encoding);
    uint64_t left = array->size - iter->position, len;
    const uint8_t *at;

    if (left < width) /* an array without bytes may have no address */
        return false;
    at = array->data + iter->position;
    len = load_length(at, array->encoding);
    if (len > left - width)
        return false;
    out->as.str = string_text(at + width, len, array->encoding);
    iter->position += width + len;
    return true;
}

static bool next_array(gufo_array_iter *iter, gufo_value *out)
{
    const gufo_array *array = &iter->array;
    size_t header = array_header_size(array->encoding);
    array_skip skip;

    array_skip_start(&skip, array->data, iter->position, array->size, array->encoding);
    if (array_skip_run(&skip) != SKIP_DONE)
        return false;
    out->as.array = (gufo_array){.type = skip.outer,
                                 .count = skip.count,
                                 .data = array->data + iter->position + header,
                                 .size = skip.position - iter->position - header,
                                 .encoding = array->encoding};
    iter->position = skip.position;
    return true;
}

static bool next_number(gufo_array_iter *iter, gufo_value *out, size_t size)
{
    if (iter->array.size - iter->position < size)
        return false;
    *out = load_number(iter->array.data + iter->position, iter->array.type, iter->array.encoding);
    iter->position += size;
    return true;
}

bool gufo_array_next(gufo_array_iter *iter, gufo_value *out)
{
    const value_type_info *info = value_type_row((uint32_t)iter->array.type);
    bool found;

    if (iter->index >= iter->array.count || iter->changed)
        return false;
    out->type = iter->array.type;
    /* Whoever makes an array or a walk may give it a type or a position that makes no sense. */
    found = info == NULL || iter->position > iter->array.size ? false
            : info->size != 0                                 ? next_number(iter, out, info->size)
            : info->kind == KIND_STRING                       ? next_string(iter, out)
                                                              : next_array(iter, out);
    iter->index += found;
    iter->changed = !found;
    return found;
}

static gufo_status check_element_type(gufo_value_type type, gufo_error *error)
{
    if (value_type_row((uint32_t)type) != NULL)
        return GUFO_OK;
    return refuse(error, GUFO_E_TYPE, "element type %d does not exist", (int)type);
}

gufo_status gufo_array_at(const gufo_array *array, uint64_t index, gufo_value *out,
                          gufo_error *error)
{
    size_t size = gufo_value_type_size(array->type);
    gufo_array_iter iter = gufo_array_start(array);
    gufo_status status = check_element_type(array->type, error);

    if (status != GUFO_OK)
        return status;
    if (index >= array->count)
        return refuse(error, GUFO_E_RANGE, "no element %" PRIu64 " in an array of %s", index,
                      GROUPED(array->count));
    if (size != 0) {
        iter.index = index;
        if (!checked_mul(index, size, &iter.position))
            iter.position = UINT64_MAX;
    }
    while (gufo_array_next(&iter, out))
        if (iter.index == index + 1)
            return GUFO_OK;
    return array_fail_changed(error);
}

/* Steps over `count` strings, and if `out` is not NULL takes them; false where one ends outside.  `width`
 * and `swap` are constants where it is called, as for skip_strings. */
static inline __attribute__((always_inline)) bool take_strings(const gufo_array *array,
                                                               uint64_t *position, uint64_t count,
                                                               gufo_str *out, size_t width,
                                                               bool swap)
{
    const uint8_t *base = array->data;
    uint64_t at = *position, end = array->size;

    for (uint64_t i = 0; i < count; i++) {
        uint64_t len;

        if (end - at < width)
            return false;
        len = width == 4 ? load_u32(base + at, swap) : load_u64(base + at, swap);
        if (len > end - at - width)
            return false;
        at += width;
        if (out != NULL)
            out[i] = width == 4 ? string_text(base + at, len, array->encoding)
                                : (gufo_str){(const char *)base + at, (size_t)len};
        at += len;
    }
    *position = at;
    return true;
}

static bool take_any_strings(const gufo_array *array, uint64_t *position, uint64_t count,
                             gufo_str *out)
{
    bool swap = encoding_swapped(array->encoding);

    if (array->encoding.version == 1)
        return take_strings(array, position, count, out, 4, swap);
    return swap ? take_strings(array, position, count, out, 8, true)
                : take_strings(array, position, count, out, 8, false);
}

gufo_status gufo_array_strings(const gufo_array *array, uint64_t first, uint64_t count,
                               gufo_str *out, gufo_error *error)
{
    uint64_t position = 0;

    if (array->type != GUFO_VALUE_STRING)
        return refuse(error, GUFO_E_TYPE, "the elements of the array are of type %s, not string",
                      gufo_value_type_name(array->type) != NULL ? gufo_value_type_name(array->type)
                                                                : "unknown");
    if (!range_inside(first, count, array->count))
        return refuse(error, GUFO_E_RANGE, "elements %" PRIu64 " to %" PRIu64 " of an array of %s",
                      first, first + count, GROUPED(array->count));
    if (count == 0 || (take_any_strings(array, &position, first, NULL) &&
                       take_any_strings(array, &position, count, out)))
        return GUFO_OK;
    return array_fail_changed(error);
}

gufo_status gufo_array_read(const gufo_array *array, uint64_t first, uint64_t count, void *out,
                            gufo_error *error)
{
    size_t size = gufo_value_type_size(array->type);
    gufo_status status = check_element_type(array->type, error);

    if (status != GUFO_OK)
        return status;
    if (size == 0)
        return refuse(error, GUFO_E_TYPE, "elements of type %s have no fixed size",
                      gufo_value_type_name(array->type));
    if (!range_inside(first, count, array->count))
        return refuse(error, GUFO_E_RANGE, "elements %" PRIu64 " to %" PRIu64 " of an array of %s",
                      first, first + count, GROUPED(array->count));
    if (!range_inside(first, count, array->size / size))
        return refuse(error, GUFO_E_RANGE, "an array of %s elements of type %s has only %s bytes",
                      GROUPED(array->count), gufo_value_type_name(array->type),
                      GROUPED(array->size));
    if (count > 0)
        copy_numbers(out, array->data + first * size, count, size,
                     encoding_swapped(array->encoding));
    return GUFO_OK;
}
