/* The planner that writes importance matrices; the formats are drawn in
 * open.c.
 *
 * All numbers are rows of one float that are read from the sources of the matrix when they are
 * written.  A GGUF file is a document with two tensors for each entry; a file in the old format is
 *
 *     | count | head | values | head | values | ... | tail |
 *
 * whose heads and tail are in memory, one after the other.
 *
 * From sums and counts to the old format:  value = sum / count * calls, where calls is the highest
 * count of the entry in chunks, rounded up so that it is not 0.  Data from the old format is
 * preserved: sum and count are then value * size and calls * size for a chunk of any size. */
#include <math.h>
#include <string.h>

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/hash.h"
#include "format/model/model.h"
#include "produce/produce.h"
#include "quant/imatrix/imatrix.h"

/* Numbers of entries: as they are, or with `calls` as values of the old format. */
typedef struct reading {
    const gufo_imatrix *imatrix;
    range_reader *read;
    const uint32_t *calls;
} reading;

/* What belongs to the job. */
typedef struct plan {
    const gufo_imatrix *imatrix;
    gufo_allocator allocator;
    gufo_job *job;
    gufo_document *document; /* GGUF */
    buffer texts;            /* old format: everything that is not a value */
    uint32_t *calls;         /* old format: of each entry; 0 for those without data */
    uint32_t numbers;        /* the input that represents computed data */
    reading sums, counts, values;
} plan;

static void plan_free(void *planner)
{
    plan *p = planner;
    gufo_allocator allocator = p->allocator;

    gufo_document_free(p->document);
    buffer_free(&p->texts);
    mem_free(&allocator, p->calls);
    mem_free(&allocator, p);
}

/* ---- numbers -------------------------------------------------------------------------------- */

/* As floats.  A finite number that none can hold is refused: infinity would make the entry useless.
 */
static gufo_status store_floats(const gufo_imatrix *m, uint64_t index, const double *numbers,
                                size_t count, uint8_t *bytes, gufo_error *error)
{
    for (size_t i = 0; i < count; i++, bytes += sizeof(float)) {
        float number = (float)numbers[i];
        uint32_t bits;

        if (isinf(number) && isfinite(numbers[i]))
            return refuse(error, GUFO_E_RANGE,
                          "a number of the entry for %s is %g, beyond the range of a float",
                          QUOTED(imatrix_entry_at(m, index)->name), numbers[i]);
        memcpy(&bits, &number, sizeof bits);
        store_u32(bytes, bits, bytes_swapped(false));
    }
    return GUFO_OK;
}

/* Values of the old format, from sums: those of one matrix after the other. */
static gufo_status values_from(const reading *from, uint64_t index, uint64_t first, size_t count,
                               double *out, gufo_error *error)
{
    const imatrix_entry *entry = imatrix_entry_at(from->imatrix, index);
    uint64_t columns = entry->values / entry->matrices;
    double calls = (double)from->calls[index], tokens = 0;
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < count && status == GUFO_OK; i++) {
        if (i == 0 || (first + i) % columns == 0)
            status = imatrix_count(from->imatrix, index, (first + i) / columns, &tokens, error);
        out[i] = tokens > 0 ? out[i] * calls / tokens : calls;
    }
    return status;
}

static gufo_status read_numbers(const rows *r, uint64_t first, uint64_t count, void *out,
                                gufo_error *error)
{
    const reading *from = r->context;
    double numbers[IMATRIX_CHUNK];
    uint8_t *bytes = out;
    gufo_status status = GUFO_OK;
    size_t n;

    for (; count > 0 && status == GUFO_OK; first += n, count -= n, bytes += n * sizeof(float)) {
        n = (size_t)smaller(count, IMATRIX_CHUNK);
        status = from->read(from->imatrix, r->offset, first, n, numbers, error);
        if (status == GUFO_OK && from->calls != NULL)
            status = values_from(from, r->offset, first, n, numbers, error);
        if (status == GUFO_OK)
            status = store_floats(from->imatrix, r->offset, numbers, n, bytes, error);
    }
    return status;
}

/* ---- pieces --------------------------------------------------------------------------------- */

/* Numbers of entry `index` to byte `place`. */
static gufo_status add_numbers(plan *p, uint64_t index, uint64_t count, uint64_t place,
                               const reading *what, gufo_error *error)
{
    const gufo_element_type *type = gufo_element_type_by_id(GUFO_TYPE_F32);
    const rows from = {.input = p->numbers,
                       .offset = index,
                       .read = read_numbers,
                       .context = (void *)what,
                       .row_bytes = sizeof(float),
                       .count = count,
                       .columns = 1,
                       .type = type};
    const made floats = {.place = place, .row_bytes = sizeof(float), .type = type};

    return job_add_rows(p->job, PIECE_MAKE, imatrix_entry_at(p->imatrix, index)->name, &from,
                        &floats, 1, error);
}

static gufo_status read_text(const rows *r, uint64_t first, uint64_t count, void *out,
                             gufo_error *error)
{
    const plan *p = r->context;

    (void)error;
    memcpy(out, p->texts.data + r->offset + first, (size_t)count);
    return GUFO_OK;
}

/* What was put into the texts since there were `begin` bytes of them; moves *place behind it. */
static gufo_status add_text(plan *p, size_t begin, uint64_t *place, gufo_error *error)
{
    uint64_t count = p->texts.len - begin;
    const rows from = {.input = p->numbers,
                       .offset = begin,
                       .read = read_text,
                       .context = p,
                       .row_bytes = 1,
                       .count = count};
    const made text = {.place = *place, .row_bytes = 1};

    *place += count;
    return job_add_rows(p->job, PIECE_MOVE, (gufo_str){"", 0}, &from, &text, 1, error);
}

/* ---- GGUF ----------------------------------------------------------------------------------- */

static gufo_status set_datasets(const gufo_imatrix *m, gufo_document *d, gufo_error *error)
{
    uint64_t count = m->datasets.count;
    gufo_str *texts = mem_array(&m->allocator, count, sizeof *texts);
    gufo_status status;

    if (texts == NULL)
        return fail_memory(error);
    for (uint64_t i = 0; i < count; i++)
        (void)gufo_imatrix_dataset_at(m, i, &texts[i]);
    status = gufo_document_set_array(d, "imatrix.datasets",
                                     &(gufo_items){GUFO_VALUE_STRING, count, texts}, error);
    mem_free(&m->allocator, texts);
    return status;
}

static gufo_status set_metadata(const gufo_imatrix *m, gufo_document *d, gufo_error *error)
{
    gufo_status status = gufo_document_set_text(d, "general.type", "imatrix", error);

    if (m->chunk_count > UINT32_MAX)
        return refuse(error, GUFO_E_RANGE, "%s chunks are more than the format can count",
                      GROUPED(m->chunk_count));
    if (status == GUFO_OK)
        status = set_datasets(m, d, error);
    if (status == GUFO_OK)
        status = gufo_document_set_u32(d, "imatrix.chunk_count", (uint32_t)m->chunk_count, error);
    if (status == GUFO_OK)
        status = gufo_document_set_u32(d, "imatrix.chunk_size", m->chunk_size, error);
    return status;
}

static gufo_status add_tensor(gufo_document *d, const imatrix_entry *entry, const char *suffix,
                              uint64_t columns, gufo_error *error)
{
    char name[GUFO_MAX_NAME + 1];
    size_t len = strlen(suffix);

    if (entry->name.len + len > GUFO_MAX_NAME)
        return refuse(error, GUFO_E_LIMIT,
                      "the name %s with %s has more than %d bytes, the most that GGUF allows",
                      QUOTED(entry->name), suffix, GUFO_MAX_NAME);
    memcpy(name, entry->name.data, entry->name.len);
    memcpy(name + entry->name.len, suffix, len);
    return gufo_document_add_tensor_str(d, (gufo_str){name, entry->name.len + len},
                                        gufo_element_type_by_id(GUFO_TYPE_F32), 2,
                                        (uint64_t[]){columns, entry->matrices}, error);
}

/* The document: entry i has tensors 2i and 2i + 1. */
static gufo_status describe(plan *p, gufo_error *error)
{
    gufo_document_options options = {.flags = GUFO_DOCUMENT_AS_READ, .allocator = &p->allocator};
    const gufo_imatrix *m = p->imatrix;
    gufo_status status;

    p->document = gufo_document_new(&options, error);
    if (p->document == NULL)
        return GUFO_E_MEMORY;
    status = set_metadata(m, p->document, error);
    for (uint64_t i = 0; i < m->entries.count && status == GUFO_OK; i++) {
        const imatrix_entry *entry = imatrix_entry_at(m, i);

        status = add_tensor(p->document, entry, ".in_sum2", entry->values / entry->matrices, error);
        if (status == GUFO_OK)
            status = add_tensor(p->document, entry, ".counts", 1, error);
    }
    return status;
}

static gufo_status plan_gguf(plan *p, gufo_error *error)
{
    const gufo_imatrix *m = p->imatrix;
    gufo_document_tensor tensor = {.offset = 0};
    uint32_t target;
    gufo_status status = describe(p, error);

    if (status == GUFO_OK)
        status = job_add_document_target(p->job, p->document, &target, error);
    for (uint64_t i = 0; i < m->entries.count && status == GUFO_OK; i++) {
        const imatrix_entry *entry = imatrix_entry_at(m, i);

        (void)gufo_document_tensor_at(p->document, 2 * i, &tensor);
        status = add_numbers(p, i, entry->values, tensor.offset, &p->sums, error);
        (void)gufo_document_tensor_at(p->document, 2 * i + 1, &tensor);
        if (status == GUFO_OK)
            status = add_numbers(p, i, entry->matrices, tensor.offset, &p->counts, error);
    }
    return status;
}

/* ---- the old format ------------------------------------------------------------------------- */

/* Numbers are signed and have 32 bits. */
static gufo_status check_number(uint64_t number, const char *what, gufo_error *error)
{
    if (number > INT32_MAX)
        return refuse(error, GUFO_E_RANGE, "%s %s are more than the format can count",
                      GROUPED(number), what);
    return GUFO_OK;
}

/* The highest count in chunks; 0: no matrix was reached. */
static gufo_status count_calls(const gufo_imatrix *m, uint64_t index, uint32_t *out,
                               gufo_error *error)
{
    gufo_status status = GUFO_OK;
    double highest = 0, count;
    uint64_t calls;

    for (uint64_t i = 0; i < imatrix_entry_at(m, index)->matrices && status == GUFO_OK; i++) {
        status = imatrix_count(m, index, i, &count, error);
        if (status == GUFO_OK && count > highest)
            highest = count;
    }
    if (status != GUFO_OK)
        return status;
    calls = highest < 0x1p63 ? (uint64_t)highest : (uint64_t)1 << 63;
    calls = divide_up(calls, m->chunk_size);
    *out = (uint32_t)calls;
    return check_number(calls, "chunks", error);
}

static gufo_str last_dataset(const gufo_imatrix *m)
{
    gufo_str text = {"", 0};

    (void)gufo_imatrix_dataset_at(m, m->datasets.count - 1, &text);
    return text;
}

/* What every entry becomes: the number of those that have data, and the size of the file. */
static gufo_status measure(plan *p, uint32_t *entries, uint64_t *size, gufo_error *error)
{
    const gufo_imatrix *m = p->imatrix;
    gufo_str dataset = last_dataset(m);
    gufo_status status = check_number(m->chunk_count, "chunks", error);

    if (status == GUFO_OK && dataset.len > GUFO_MAX_KEY) /* more than can be read again */
        status =
            refuse(error, GUFO_E_LIMIT, "the name of the last dataset has %s bytes, more than %s",
                   GROUPED(dataset.len), GROUPED(GUFO_MAX_KEY));
    *size = 4 + 4 + 4 + dataset.len;
    *entries = 0;
    for (uint64_t i = 0; i < m->entries.count && status == GUFO_OK; i++) {
        const imatrix_entry *entry = imatrix_entry_at(m, i);

        status = check_number(entry->values, "values", error);
        if (status == GUFO_OK)
            status = count_calls(m, i, &p->calls[i], error);
        if (status != GUFO_OK || p->calls[i] == 0)
            continue;
        ++*entries;
        *size += 4 + entry->name.len + 4 + 4 + entry->values * sizeof(float);
    }
    if (status == GUFO_OK && *entries == 0)
        return refuse(error, GUFO_E_RANGE, "no entry has data");
    return status;
}

static bool put_number(plan *p, uint64_t number)
{
    void *place = buffer_extend(&p->texts, 4);

    if (place != NULL)
        store_u32(place, (uint32_t)number, bytes_swapped(false));
    return place != NULL;
}

static bool put_text(plan *p, gufo_str text)
{
    bool put = put_number(p, text.len);
    void *place = put && text.len > 0 ? buffer_extend(&p->texts, text.len) : NULL;

    if (place != NULL)
        memcpy(place, text.data, text.len);
    return put && (place != NULL || text.len == 0);
}

static gufo_status plan_entry(plan *p, uint64_t index, uint64_t *place, gufo_error *error)
{
    const imatrix_entry *entry = imatrix_entry_at(p->imatrix, index);
    size_t begin = p->texts.len;
    gufo_status status;

    if (p->calls[index] == 0)
        return GUFO_OK;
    if (!put_text(p, entry->name) || !put_number(p, p->calls[index]) ||
        !put_number(p, entry->values))
        return fail_memory(error);
    status = add_text(p, begin, place, error);
    if (status == GUFO_OK)
        status = add_numbers(p, index, entry->values, *place, &p->values, error);
    *place += entry->values * sizeof(float);
    return status;
}

static gufo_status plan_tail(plan *p, uint64_t *place, gufo_error *error)
{
    size_t begin = p->texts.len;

    if (!put_number(p, p->imatrix->chunk_count) || !put_text(p, last_dataset(p->imatrix)))
        return fail_memory(error);
    return add_text(p, begin, place, error);
}

static gufo_status plan_legacy(plan *p, gufo_error *error)
{
    const gufo_imatrix *m = p->imatrix;
    job_target target = {.size = 0};
    uint32_t entries, number;
    uint64_t place = 0;
    gufo_status status;

    p->calls = mem_array(&p->allocator, m->entries.count, sizeof *p->calls);
    if (p->calls == NULL)
        return fail_memory(error);
    p->values = (reading){m, imatrix_sums, p->calls};
    status = measure(p, &entries, &target.size, error);
    if (status == GUFO_OK)
        status = job_add_target(p->job, &target, &number, error);
    if (status == GUFO_OK && !put_number(p, entries))
        status = fail_memory(error);
    if (status == GUFO_OK)
        status = add_text(p, 0, &place, error);
    for (uint64_t i = 0; i < m->entries.count && status == GUFO_OK; i++)
        status = plan_entry(p, i, &place, error);
    if (status == GUFO_OK)
        status = plan_tail(p, &place, error);
    if (status == GUFO_OK)
        p->job->identity ^=
            hash_text((hash_key){0, 0}, (gufo_str){(const char *)p->texts.data, p->texts.len});
    return status;
}

/* ---- the job -------------------------------------------------------------------------------- */

/* All files that the numbers come from; `index` among the inputs of a merged one.  The result may
 * replace them: it is complete before it gets its name, and a file that is open keeps its bytes. */
static gufo_status add_files(plan *p, const gufo_imatrix *m, uint32_t index, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    uint32_t number;

    for (size_t i = 0; i < m->input_count && status == GUFO_OK; i++)
        status = add_files(p, m->inputs[i], (uint32_t)i, error);
    if (m->inputs != NULL || status != GUFO_OK)
        return status;

    job_input input = {.role = GUFO_FILE_IMPORTANCE,
                       .index = index,
                       .name = m->name,
                       .source = imatrix_source(m),
                       .replaceable = true};

    input.head = m->file != NULL ? gufo_model_facts(m->file).data_offset : 0;
    if (input.head > input.source->size)
        input.head = input.source->size;
    /* What the user says of a file counts as much as what the file says. */
    p->job->identity = hash_text((hash_key){p->job->identity, m->chunk_size}, (gufo_str){"", 0});
    return job_add_input(p->job, &input, &number, error);
}

/* Numbers that the format cannot hold belong to the output; whatever cannot be read names its file
 * itself.
 */
static gufo_status fill(plan *p, gufo_imatrix_format format, gufo_error *error)
{
    static const job_input computed = {.role = GUFO_FILE_OUTPUT};
    gufo_status status;

    p->job->identity = (uint64_t)format;
    status = job_add_input(p->job, &computed, &p->numbers, error);
    if (status == GUFO_OK)
        status = add_files(p, p->imatrix, 0, error);
    if (status != GUFO_OK)
        return status;
    return format == GUFO_IMATRIX_GGUF ? plan_gguf(p, error) : plan_legacy(p, error);
}

static gufo_status begin(plan **out, gufo_job *job, const gufo_imatrix *imatrix, gufo_error *error)
{
    plan *p = mem_zero(&job->allocator, sizeof *p);

    *out = p;
    if (p == NULL)
        return fail_memory(error);
    job->planner = p;
    job->planner_free = plan_free;
    p->imatrix = imatrix;
    p->sums = (reading){imatrix, imatrix_sums, NULL};
    p->counts = (reading){imatrix, imatrix_counts, NULL};
    p->allocator = job->allocator;
    p->texts.allocator = &p->allocator;
    p->job = job;
    return GUFO_OK;
}

gufo_job *gufo_job_imatrix(const gufo_imatrix *imatrix, gufo_imatrix_format format,
                           const gufo_job_plan_options *options, gufo_error *error)
{
    const gufo_allocator *allocator =
        options != NULL && options->allocator != NULL ? options->allocator : &imatrix->allocator;
    gufo_job *job = job_new(allocator, error);
    gufo_status status;
    plan *p;

    if (job == NULL)
        return NULL;
    status = begin(&p, job, imatrix, error);
    if (status == GUFO_OK && options != NULL)
        status = reserved_check(options->reserved, "gufo_job_plan_options", error);
    if (status == GUFO_OK && format != GUFO_IMATRIX_GGUF && format != GUFO_IMATRIX_LEGACY)
        status =
            refuse(error, GUFO_E_ARGUMENT, "gufo_imatrix_format %d does not exist", (int)format);
    if (status == GUFO_OK)
        status = fill(p, format, error);
    return job_planned(job, status, error);
}
