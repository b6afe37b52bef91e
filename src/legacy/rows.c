/* Rows of a tensor, made of what the old file has; what their blocks lose; and the piece of a job that they are.
 *
 * A row is read from one part, or from all (where columns are divided), and then copied, repacked,
 * or decoded:
 *
 *     part 0  [a0 a1 | b0 b1]         DIVIDED_COLUMNS: row r is row r of part 0, of part 1 ...
 *     part 1  [a2 a3 | b2 b3]   -->   a0 a1 a2 a3 | b0 b1 b2 b3
 *
 *     part 0  [a | b]                 DIVIDED_ROWS: all rows of part 0, then those of part 1
 *     part 1  [c | d]           -->   a | b | c | d */
#include "base/checked.h"
#include "base/error.h"
#include "base/sort.h"
#include "base/threads.h"
#include "codec/coding.h"
#include "codec/half.h"
#include "legacy/plan.h"
#include "produce/produce.h"

/* ==== what blocks lose ========================================================================= */

/* Blocks that may lose something are read chunk after chunk, on all processors. */

enum { CHUNK_BYTES = 1 << 20 };

typedef struct measuring {
    legacy_tensor *tensors;
    uint64_t *chunks; /* of the tensors before this one; one more than there are tensors */
    uint64_t count;
    gufo_legacy_keep keep;
    uint8_t **buffers; /* of threads */
    const gufo_run *run;
    uint64_t done, total; /* bytes */
} measuring;

typedef struct loss_pair {
    legacy_loss same_name, f16;
    uint64_t tensor, bytes;
} loss_pair;

static uint64_t chunk_blocks(const legacy_record *r)
{
    return CHUNK_BYTES / r->layout->block_bytes;
}

/* Whether the numbers decide if the tensor becomes F16. */
static bool may_become_f16(const legacy_tensor *t, gufo_legacy_keep keep)
{
    return keep == GUFO_LEGACY_F16 ||
           (keep == GUFO_LEGACY_NEAREST && first_record(t)->layout->today == LEGACY_NO_ID);
}

/* F32 scales are rounded to F16, and show files of the first days, whatever the tensor becomes. */
static bool has_single_scales(const legacy_tensor *t)
{
    return first_record(t)->layout->single_scales > 0;
}

/* Chunks that a tensor is read in: none where nothing can be lost. */
static uint64_t count_chunks(const legacy_tensor *t, gufo_legacy_keep keep)
{
    const legacy_record *r;

    if (t->record_count == 0 || first_record(t)->layout->block_length == 1 ||
        !(has_single_scales(t) || may_become_f16(t, keep)))
        return 0;
    r = first_record(t);
    return divide_up(r->size / r->layout->block_bytes, chunk_blocks(r)) * t->file->part_count;
}

static gufo_status measure_chunk(void *context, unsigned thread, uint64_t index, void *result,
                                 gufo_error *error)
{
    measuring *m = context;
    loss_pair *loss = result;
    legacy_tensor *t;
    const legacy_record *r;
    uint64_t in_part, chunk, blocks, part;
    gufo_status status;

    loss->tensor = last_begun(m->chunks, sizeof *m->chunks, m->count, index);
    t = &m->tensors[loss->tensor];
    in_part = larger(count_chunks(t, m->keep) / t->file->part_count, 1); /* never 0 */
    chunk = index - m->chunks[loss->tensor];
    part = chunk / in_part;
    r = &t->file->parts[part].records[t->records[0]];
    chunk %= in_part;
    blocks = smaller(chunk_blocks(r), r->size / r->layout->block_bytes - chunk * chunk_blocks(r));
    loss->bytes = blocks * r->layout->block_bytes;
    status = source_read(&t->file->parts[part].source,
                         r->offset + chunk * chunk_blocks(r) * r->layout->block_bytes,
                         m->buffers[thread], (size_t)loss->bytes, error);
    if (status == GUFO_OK)
        legacy_measure(r->layout, m->buffers[thread], blocks,
                       has_single_scales(t) ? &loss->same_name : NULL,
                       may_become_f16(t, m->keep) ? &loss->f16 : NULL);
    else
        fail_in(error, GUFO_FILE_INPUT, (uint32_t)part, t->file->parts[part].path);
    return status;
}

static gufo_status add_loss(void *context, uint64_t index, const void *result, gufo_error *error)
{
    measuring *m = context;
    const loss_pair *loss = result;
    legacy_tensor *t = &m->tensors[loss->tensor];

    (void)index;
    legacy_loss_add(&t->same_name, &loss->same_name);
    legacy_loss_add(&t->f16, &loss->f16);
    m->done += loss->bytes;
    if (m->run != NULL && m->run->progress != NULL &&
        !m->run->progress(m->run->progress_context, m->done, m->total))
        return refuse(error, GUFO_E_STOPPED, "stopped on request");
    return GUFO_OK;
}

/* A few blocks of any model are odd; many are those of the first days, which lie another way. */
static gufo_status check_scales(const legacy_tensor *t, gufo_error *error)
{
    const legacy_record *r;
    uint64_t scales;

    if (t->record_count == 0)
        return GUFO_OK;
    r = first_record(t);
    scales = t->same_name.blocks * r->layout->single_scales;
    if (scales == 0 || t->same_name.odd_scales <= scales / 20)
        return GUFO_OK;
    return fail_with(
        error, GUFO_E_MALFORMED, r->offset,
        "tensor %s has scales that make no sense: files made before 17 March 2023 have "
        "them in another order, and cannot be read",
        QUOTED(r->name));
}

gufo_status legacy_measure_all(legacy_tensor *tensors, uint64_t count, gufo_legacy_keep keep,
                               const gufo_run *run, const gufo_allocator *allocator,
                               gufo_error *error)
{
    unsigned threads = thread_count(run != NULL ? run->threads : 0);
    measuring m = {.tensors = tensors, .count = count, .keep = keep, .run = run};
    parallel_loop loop = {.threads = threads,
                          .result_size = sizeof(loss_pair),
                          .context = &m,
                          .work = measure_chunk,
                          .hand_over = add_loss};
    gufo_status status = GUFO_OK;

    m.chunks = mem_array(allocator, count + 1, sizeof *m.chunks);
    m.buffers = mem_array(allocator, threads, sizeof *m.buffers);
    if (m.chunks == NULL || m.buffers == NULL)
        status = fail_memory(error);
    for (unsigned i = 0; i < threads && status == GUFO_OK; i++) {
        m.buffers[i] = mem_alloc(allocator, CHUNK_BYTES);
        if (m.buffers[i] == NULL)
            status = fail_memory(error);
    }
    for (uint64_t i = 0; i < count && status == GUFO_OK; i++) {
        uint64_t chunks = count_chunks(&tensors[i], keep);

        m.chunks[i + 1] = m.chunks[i] + chunks;
        if (chunks > 0)
            m.total += first_record(&tensors[i])->size * tensors[i].file->part_count;
    }
    if (status == GUFO_OK) {
        loop.end = m.chunks[count];
        status = parallel_run(&loop, allocator, error);
    }
    for (uint64_t i = 0; i < count && status == GUFO_OK; i++) {
        tensors[i].measured = true;
        status = check_scales(&tensors[i], error);
    }
    for (unsigned i = 0; m.buffers != NULL && i < threads; i++)
        mem_free(allocator, m.buffers[i]);
    mem_free(allocator, m.buffers);
    mem_free(allocator, m.chunks);
    return status;
}

/* Numbers that are converted at once. */
enum { CHUNK_NUMBERS = 1 << 18 };

/* Whether the bytes of the old file are those of the tensor, but for the order of its rows. */
static bool legacy_is_copied(const legacy_tensor *t)
{
    const legacy_record *r = first_record(t);

    if (t->record_count == 0)
        return true;
    return r->layout->same_bytes && t->type->id == r->layout->today &&
           (t->file->part_count == 1 || t->row->division == DIVIDED_ROWS || r->n_dims != 2);
}

/* Memory for `count` things; NULL, too, where that is more than addresses. */
static void *room_for(const legacy_tensor *t, uint64_t count, uint64_t size)
{
    uint64_t bytes;

    return checked_mul(count, size, &bytes) && bytes <= SIZE_MAX
               ? mem_alloc(t->file->allocator, (size_t)bytes)
               : NULL;
}

/* ==== rows ===================================================================================== */

/* ---- old bytes ------------------------------------------------------------------------------ */

static gufo_status read_bytes(const legacy_file *file, uint32_t part, uint64_t offset, void *out,
                              uint64_t size, gufo_error *error)
{
    gufo_status status = source_read(&file->parts[part].source, offset, out, (size_t)size, error);

    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_INPUT, part, file->parts[part].path);
    return status;
}

static uint64_t part_row_bytes(const legacy_record *r)
{
    return r->ne[0] / r->layout->block_length * r->layout->block_bytes;
}

/* Rows whose columns are divided: a row of each part, in turn. */
static gufo_status gather_columns(const legacy_tensor *t, uint64_t first, uint64_t count,
                                  uint8_t *out, gufo_error *error)
{
    uint64_t size = part_row_bytes(first_record(t)), parts = t->file->part_count;
    uint8_t *bytes = room_for(t, count, size);
    gufo_status status = bytes != NULL ? GUFO_OK : fail_memory(error);

    for (uint32_t part = 0; part < parts && status == GUFO_OK; part++) {
        const legacy_record *r = &t->file->parts[part].records[t->records[0]];

        status = read_bytes(t->file, part, r->offset + first * size, bytes, count * size, error);
        for (uint64_t i = 0; i < count && status == GUFO_OK; i++)
            memcpy(out + (i * parts + part) * size, bytes + i * size, (size_t)size);
    }
    mem_free(t->file->allocator, bytes);
    return status;
}

/* Rows that each part has some of. */
static gufo_status gather_rows(const legacy_tensor *t, uint64_t first, uint64_t count, uint8_t *out,
                               gufo_error *error)
{
    const legacy_record *r0 = first_record(t);
    uint64_t size = part_row_bytes(r0), here = r0->size / size;
    gufo_status status = GUFO_OK;

    while (count > 0 && status == GUFO_OK) {
        uint32_t part = (uint32_t)(first / here);
        const legacy_record *r = &t->file->parts[part].records[t->records[0]];
        uint64_t some = smaller(count, here - first % here);

        status =
            read_bytes(t->file, part, r->offset + first % here * size, out, some * size, error);
        out += some * size;
        first += some;
        count -= some;
    }
    return status;
}

static gufo_status gather(const legacy_tensor *t, uint64_t first, uint64_t count, uint8_t *out,
                          gufo_error *error)
{
    bool columns = t->file->part_count > 1 && t->row->division == DIVIDED_COLUMNS &&
                   first_record(t)->n_dims == 2;

    return columns ? gather_columns(t, first, count, out, error)
                   : gather_rows(t, first, count, out, error);
}

/* ---- new bytes ------------------------------------------------------------------------------ */

static gufo_status decode(const legacy_layout *layout, const uint8_t *bytes, uint64_t blocks,
                          float *values, gufo_error *error)
{
    if (layout->decode == NULL)
        return coding_decode(gufo_element_type_by_id(layout->today), bytes, 1,
                             blocks * layout->block_length, values, GUFO_CPU_BEST, error);
    legacy_decode(layout, bytes, blocks, values);
    return GUFO_OK;
}

static gufo_status store_halves(const legacy_tensor *t, const float *values, uint64_t count,
                                uint8_t *out, gufo_error *error)
{
    for (uint64_t i = 0; i < count; i++) {
        uint16_t half = half_from_float(values[i]);

        if ((half & 0x7c00u) == 0x7c00u)
            return refuse(error, GUFO_E_RANGE,
                          "tensor %s has a number that F16 cannot hold: F32 can",
                          QUOTED(t->source));
        store_u16(out + 2 * i, half, bytes_swapped(false));
    }
    return GUFO_OK;
}

static void store_floats(const float *values, uint64_t count, uint8_t *out)
{
    for (uint64_t i = 0; i < count; i++)
        store_u32(out + 4 * i, float_to_bits(values[i]), bytes_swapped(false));
}

static gufo_status to_numbers(const legacy_tensor *t, const uint8_t *bytes, uint64_t blocks,
                              uint8_t *out, gufo_error *error)
{
    const legacy_layout *layout = first_record(t)->layout;
    uint64_t count = blocks * layout->block_length;
    float *values = room_for(t, count, sizeof *values);
    gufo_status status =
        values != NULL ? decode(layout, bytes, blocks, values, error) : fail_memory(error);

    if (status == GUFO_OK && t->type->id == GUFO_TYPE_F16)
        status = store_halves(t, values, count, out, error);
    else if (status == GUFO_OK)
        store_floats(values, count, out);
    mem_free(t->file->allocator, values);
    return status;
}

static gufo_status convert(const legacy_tensor *t, const uint8_t *bytes, uint64_t blocks,
                           uint8_t *out, gufo_error *error)
{
    const legacy_layout *layout = first_record(t)->layout;

    if (t->type->id != layout->today)
        return to_numbers(t, bytes, blocks, out, error);
    if (layout->same_bytes) {
        memcpy(out, bytes, (size_t)(blocks * layout->block_bytes));
        return GUFO_OK;
    }
    return legacy_repack(layout, bytes, blocks, out, error);
}

static gufo_status convert_rows(const legacy_tensor *t, uint64_t first, uint64_t count,
                                uint64_t columns, uint8_t *out, gufo_error *error)
{
    const legacy_layout *layout = first_record(t)->layout;
    uint64_t blocks = columns / layout->block_length;
    uint8_t *bytes = room_for(t, count, blocks * layout->block_bytes);
    gufo_status status = bytes != NULL ? gather(t, first, count, bytes, error) : fail_memory(error);

    if (status == GUFO_OK)
        status = convert(t, bytes, count * blocks, out, error);
    mem_free(t->file->allocator, bytes);
    return status;
}

/* Rows [first, first + count) of the tensor, in the order of the old file, in its new type. */
static gufo_status legacy_read_rows(const legacy_tensor *t, uint64_t first, uint64_t count,
                                    void *out, gufo_error *error)
{
    uint64_t ne[LEGACY_MAX_DIMS], size, step;
    gufo_status status;

    legacy_whole(t->file, first_record(t), t->row, ne);
    status = gufo_element_row_size(t->type, ne[0], &size, error);
    step = larger(CHUNK_NUMBERS / ne[0], 1);
    for (uint64_t done = 0; done < count && status == GUFO_OK; done += step) {
        uint64_t some = smaller(step, count - done);

        status = convert_rows(t, first + done, some, ne[0], (uint8_t *)out + done * size, error);
    }
    return status;
}

/* ==== pieces =================================================================================== */

/* A tensor as a piece of a job: where its rows are, and in which order.
 *
 * q k v of each head, or of each group of heads, become all q, all k, all v: rows in another order.
 * The elements of a bias are rows of one number each, so the same order serves them. */

enum { MOST_SEGMENTS = 3 };

/* What a piece is made of, while it is planned. */
typedef struct planning {
    const legacy_tensor *tensor;
    rows sources[LEGACY_MAX_PARTS];
    segment segments[LEGACY_MAX_PARTS];
    uint32_t source_count, segment_count;
    uint64_t columns, row_bytes, rows; /* of the piece */
} planning;

/* ---- sources -------------------------------------------------------------------------------- */

static gufo_status read_made_rows(const rows *r, uint64_t first, uint64_t count, void *out,
                                  gufo_error *error)
{
    return legacy_read_rows(r->context, first, count, out, error);
}

static void add_source(planning *p, uint32_t input, uint64_t offset, uint64_t count)
{
    p->sources[p->source_count++] = (rows){.input = input,
                                           .source = &p->tensor->file->parts[input].source,
                                           .offset = offset,
                                           .row_bytes = p->row_bytes,
                                           .count = count,
                                           .columns = p->columns,
                                           .type = p->tensor->type};
}

/* The bytes of the file: of every part, or of every record. */
static void add_copied_sources(planning *p)
{
    const legacy_tensor *t = p->tensor;
    uint32_t parts = first_record(t)->n_dims == 2 ? t->file->part_count : 1;

    for (uint32_t part = 0; part < parts; part++)
        for (uint32_t i = 0; i < t->record_count; i++) {
            const legacy_record *r = &t->file->parts[part].records[t->records[i]];

            add_source(p, part, r->offset, r->size / p->row_bytes);
        }
}

static void add_sources(planning *p)
{
    if (p->tensor->record_count == 0) {
        add_source(p, 0, p->tensor->file->parts[0].mel_offset, p->rows);
        return;
    }
    if (legacy_is_copied(p->tensor)) {
        add_copied_sources(p);
        return;
    }
    p->sources[p->source_count++] = (rows){.read = read_made_rows,
                                           .context = (void *)p->tensor,
                                           .row_bytes = p->row_bytes,
                                           .count = p->rows,
                                           .columns = p->columns,
                                           .type = p->tensor->type};
}

/* ---- orders --------------------------------------------------------------------------------- */

/* Heads of attention, as the header and the shapes say. */
typedef struct heads {
    uint64_t all, groups, size; /* heads, heads of keys and values, rows of one */
} heads;

static void add_segment(planning *p, uint64_t first, uint64_t count, uint64_t times,
                        uint64_t stride)
{
    p->segments[p->segment_count++] =
        (segment){.first = first, .count = {count, times, 1}, .stride = {1, stride, 0}};
}

/* [head][q k v] is [group][q... k v] with one head in each group. */
static void add_groups(planning *p, const heads *h)
{
    uint64_t q = h->all / h->groups * h->size, stride = q + 2 * h->size;

    add_segment(p, 0, q, h->groups, stride);
    add_segment(p, q, h->size, h->groups, stride);
    add_segment(p, q + h->size, h->size, h->groups, stride);
}

/* All q, and the first head of k and of v. */
static void add_one_kv(planning *p, const heads *h)
{
    uint64_t q = h->all * h->size;

    add_segment(p, 0, q, 1, 0);
    add_segment(p, q, h->size, 1, 0);
    add_segment(p, 2 * q, h->size, 1, 0);
}

static heads find_heads(const legacy_tensor *t)
{
    uint64_t all = (uint64_t)field_of(t->file, FIELD_HEAD);
    heads h = {.all = all, .groups = all, .size = (uint64_t)field_of(t->file, FIELD_EMBD) / all};

    if (t->order == ORDER_GROUPS)
        h.groups = (uint64_t)field_of(t->file, FIELD_HEAD_KV);
    return h;
}

/* Rows that attention has in the file: what the order is about. */
static uint64_t rows_before(const legacy_tensor *t, const heads *h)
{
    return t->order == ORDER_GROUPS ? (h->all + 2 * h->groups) * h->size : 3 * h->all * h->size;
}

static gufo_status add_order(planning *p, gufo_error *error)
{
    heads h;

    if (p->tensor->order == ORDER_AS_IS || p->tensor->order == ORDER_FLIPPED ||
        p->tensor->order == ORDER_STACKED) {
        for (uint32_t i = 0; i < p->source_count; i++) {
            add_segment(p, 0, p->sources[i].count, 1, 0);
            p->segments[i].source = i;
        }
        return GUFO_OK;
    }
    h = find_heads(p->tensor);
    if (p->sources[0].count != rows_before(p->tensor, &h))
        return fail_with(error, GUFO_E_MALFORMED, first_record(p->tensor)->header,
                         "tensor %s has %s rows of queries, keys and values, not %s",
                         QUOTED(p->tensor->source), GROUPED(p->sources[0].count),
                         GROUPED(rows_before(p->tensor, &h)));
    if (p->tensor->order == ORDER_ONE_KV)
        add_one_kv(p, &h);
    else
        add_groups(p, &h);
    return GUFO_OK;
}

/* ---- the piece ------------------------------------------------------------------------------ */

/* Rows of the file: of a bias whose order changes, each number. */
static gufo_status begin(planning *p, gufo_error *error)
{
    const legacy_tensor *t = p->tensor;
    uint64_t all = 1, ne[LEGACY_MAX_DIMS];

    if (t->record_count == 0) {
        p->columns = t->dims[0];
        p->rows = t->dims[1];
        return gufo_element_row_size(t->type, p->columns, &p->row_bytes, error);
    }
    legacy_whole(t->file, first_record(t), t->row, ne);
    for (uint32_t i = 0; i < LEGACY_MAX_DIMS; i++)
        all *= ne[i];
    p->columns = t->order != ORDER_AS_IS && first_record(t)->n_dims == 1 ? 1 : ne[0];
    if (first_record(t)->layout->block_length == 1 && t->row != NULL && t->row->dims != NULL)
        p->columns = 1; /* other dimensions: just numbers */
    p->rows = all / p->columns;
    return gufo_element_row_size(t->type, p->columns, &p->row_bytes, error);
}

gufo_status legacy_add_piece(gufo_job *job, const legacy_tensor *t, uint64_t place,
                             gufo_error *error)
{
    planning *p = mem_zero(t->file->allocator, sizeof *p);
    bool flip = t->order == ORDER_FLIPPED;
    gufo_status status;

    if (p == NULL)
        return fail_memory(error);
    p->tensor = t;
    status = begin(p, error);
    if (status == GUFO_OK) {
        add_sources(p);
        status = add_order(p, error);
    }
    if (status == GUFO_OK) {
        made result = {.place = place, .row_bytes = p->row_bytes, .type = t->type};
        piece all = {.how = flip ? PIECE_MAKE : PIECE_MOVE,
                     .name = gufo_str_of(t->name),
                     .sources = p->sources,
                     .segments = p->segments,
                     .made = &result,
                     .n_sources = p->source_count,
                     .n_segments = p->segment_count,
                     .n_made = 1,
                     .transpose = flip,
                     .columns = p->columns,
                     .slices = 1};

        for (uint32_t i = 0; i < p->segment_count; i++)
            all.slice_rows += p->segments[i].count[0] * p->segments[i].count[1];
        if (flip) { /* columns of the file become rows */
            all.columns = all.slice_rows;
            all.slice_rows = p->columns;
            status = gufo_element_row_size(t->type, all.columns, &result.row_bytes, error);
        }
        if (status == GUFO_OK)
            status = job_add_piece(job, &all, error);
    }
    mem_free(t->file->allocator, p);
    return status;
}
