/* The numbers of a view, a part at a time. */
#include "import/architectures/plan/numbers.h"

#include "base/error.h"
#include "base/memory.h"
#include "import/architectures/plan/gather.h"
#include "import/architectures/plan/products.h"
#include "import/containers/unpack.h"

gufo_status numbers_open(number_reader *r, const view *v, const checkpoint *c, gufo_error *error)
{
    const chunk *first = v->chunks;

    *r = (number_reader){.allocator = v->allocator, .numbers = v->numbers};
    for (uint64_t i = 1; i < v->count; i++)
        if (v->chunks[i].number != first->number || v->chunks[i].swapped != first->swapped)
            return refuse(error, GUFO_E_TYPE, "its parts have several types");
    if (v->count == 0)
        return GUFO_OK;
    if (first->number == &product_number)
        return refuse(
            error, GUFO_E_TYPE,
            "the rules of the architecture look at its numbers, which an adapter does not "
            "have");
    if (!number_is_read(first->number))
        return refuse(error, GUFO_E_TYPE, "numbers of type %s are not converted",
                      first->number->name);
    r->number = first->number;
    r->gathering = gather_new(v, c, 1);
    r->bytes = mem_array(v->allocator, NUMBERS_AT_ONCE, first->number->bits / 8);
    if (r->gathering == NULL || r->bytes == NULL)
        return fail_memory(error);
    r->rows = (rows){.read = gather_rows,
                     .context = r->gathering,
                     .row_bytes = first->number->bits / 8,
                     .count = v->numbers,
                     .columns = 1,
                     .type = number_element_type(first->number),
                     .unpack = unpack_find(first->number),
                     .swapped = first->swapped && first->number->bits > 8};
    return GUFO_OK;
}

void numbers_close(number_reader *r)
{
    if (r->allocator != NULL) {
        mem_free(r->allocator, r->gathering);
        mem_free(r->allocator, r->bytes);
    }
    *r = (number_reader){0};
}

gufo_status numbers_bytes(const number_reader *r, uint64_t first, uint64_t count, gufo_error *error)
{
    return gather_rows(&r->rows, first, count, r->bytes, error);
}

gufo_status numbers_floats(const number_reader *r, uint64_t first, uint64_t count, float *out,
                           gufo_error *error)
{
    gufo_status status = numbers_bytes(r, first, count, error);

    return status == GUFO_OK
               ? unpack_floats(r->number, r->rows.swapped, r->bytes, count, out, error)
               : status;
}
