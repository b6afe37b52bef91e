/* Jobs: making them, and the files that planners give them; pieces.c has the rest. */
#include "base/checked.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/interleaved.h"
#include "produce/units/work.h"

#define JOB_MEMORY (UINT64_C(24) << 20) /* for buffers, by default */

gufo_job *job_new(const gufo_allocator *allocator, gufo_error *error)
{
    gufo_job *job = mem_object(allocator, sizeof *job, error);

    if (job != NULL)
        job->memory = JOB_MEMORY;
    return job;
}

/* ---- lists ---------------------------------------------------------------------------------- */

gufo_status job_add_input(gufo_job *job, const job_input *input, uint32_t *number,
                          gufo_error *error)
{
    job_input *list =
        mem_grow(&job->allocator, job->inputs, job->input_count, &job->input_room, sizeof *list);

    if (list == NULL)
        return fail_memory(error);
    job->inputs = list;
    *number = (uint32_t)job->input_count;
    list[job->input_count++] = *input;
    return GUFO_OK;
}

gufo_status job_add_target(gufo_job *job, const job_target *target, uint32_t *number,
                           gufo_error *error)
{
    job_target *list =
        mem_grow(&job->allocator, job->targets, job->target_count, &job->target_room, sizeof *list);

    if (list == NULL)
        return fail_memory(error);
    job->targets = list;
    *number = (uint32_t)job->target_count;
    list[job->target_count] = *target;
    list[job->target_count++].has_pieces = false;
    return GUFO_OK;
}

/* Pieces as a job keeps them: whole, or as the few numbers that plain ones are made of again. */

static void free_rows(const gufo_allocator *a, const rows *r)
{
    for (unsigned i = 0; i < ROWS_SIDES; i++)
        mem_free(a, (void *)r->side[i]);
}

void piece_free(const gufo_allocator *a, piece *p)
{
    for (uint32_t i = 0; i < p->n_sources; i++)
        free_rows(a, &p->sources[i]);
    for (uint32_t i = 0; i < p->n_ops; i++)
        for (unsigned k = 0; k < OP_SIDES; k++)
            mem_free(a, (void *)p->ops[i].side[k]);
    mem_free(a, p); /* with its lists */
}

/* ---- whole ones ------------------------------------------------------------------------------ */

/* Replaces pointers to side tables by copies of them; false without memory, and then all that are
 * not copied are NULL. */
static bool own_sides(const gufo_job *job, const rows **sides, unsigned count)
{
    bool owned = true;

    for (unsigned i = 0; i < count; i++) {
        rows *copy = NULL;

        if (sides[i] == NULL)
            continue;
        if (owned)
            copy = mem_alloc(&job->allocator, sizeof *copy);
        if (copy != NULL)
            *copy = *sides[i];
        sides[i] = copy;
        owned = copy != NULL;
    }
    return owned;
}

/* Copies a list to *room, and moves *room behind it. */
static void *place_list(char **room, const void *list, size_t size)
{
    char *place = *room;

    if (size > 0)
        memcpy(place, list, size);
    *room += size;
    return place;
}

/* Inputs of another job come as the next ones behind `first`. */
static void move_inputs(piece *p, uint32_t first)
{
    for (uint32_t i = 0; i < p->n_sources; i++) {
        p->sources[i].input += first;
        for (unsigned k = 0; k < ROWS_SIDES; k++)
            if (p->sources[i].side[k] != NULL)
                ((rows *)p->sources[i].side[k])->input += first;
    }
    for (uint32_t i = 0; i < p->n_ops; i++)
        for (unsigned k = 0; k < OP_SIDES; k++)
            if (p->ops[i].side[k] != NULL)
                ((rows *)p->ops[i].side[k])->input += first;
}

/* A copy that owns all that it points to, in one block but for side tables; NULL without memory. */
static piece *own_piece(const gufo_job *job, const piece *p, uint32_t first_input)
{
    const size_t sources = p->n_sources * sizeof *p->sources,
                 segments = p->n_segments * sizeof *p->segments, ops = p->n_ops * sizeof *p->ops,
                 results = p->n_made * sizeof *p->made;
    piece *own = mem_alloc(&job->allocator, sizeof *own + sources + segments + ops + results);
    bool owned = true;
    char *room;

    if (own == NULL)
        return NULL;
    room = (char *)(own + 1);
    *own = *p;
    own->sources = place_list(&room, p->sources, sources);
    own->segments = place_list(&room, p->segments, segments);
    own->ops = place_list(&room, p->ops, ops);
    own->made = place_list(&room, p->made, results);
    for (uint32_t i = 0; i < p->n_sources; i++)
        owned = own_sides(job, own->sources[i].side, ROWS_SIDES) && owned;
    for (uint32_t i = 0; i < p->n_ops; i++)
        owned = own_sides(job, own->ops[i].side, OP_SIDES) && owned;
    if (owned) {
        move_inputs(own, first_input);
        return own;
    }
    piece_free(&job->allocator, own);
    return NULL;
}

/* ---- plain ones ------------------------------------------------------------------------------ */

/* Whether a source is all rows of an input, as a file has them. */
static bool is_plain_source(const gufo_job *job, const rows *r, uint32_t first_input)
{
    for (unsigned i = 0; i < ROWS_SIDES; i++)
        if (r->side[i] != NULL)
            return false;
    return r->source != NULL && r->source == job->inputs[r->input + first_input].source &&
           r->context == NULL && r->memory == 0 && r->unpack == NULL;
}

static bool is_plain(const gufo_job *job, const piece *p, uint32_t first_input)
{
    const segment *s = p->segments;

    if (p->n_made != 1 || p->n_ops > 0 || p->transpose || p->slices != 1 || p->slice_rows == 0 ||
        p->name.len > UINT32_MAX)
        return false;
    if (p->how == PIECE_GIVEN)
        return p->n_sources == 0 && p->n_segments == 0;
    return p->n_sources == 1 && p->n_segments == 1 && s->first == 0 &&
           s->count[0] == p->slice_rows && (s->count[0] == 1 || s->stride[0] == 1) &&
           p->sources->count == p->slice_rows && p->sources->columns == p->columns &&
           (p->sources->type != NULL || p->sources->row_bytes == p->made->row_bytes) &&
           is_plain_source(job, p->sources, first_input);
}

static kept_piece plain_of(const piece *p, uint32_t first_input)
{
    kept_piece kept = {.name = p->name.data,
                       .name_len = (uint32_t)p->name.len,
                       .columns = p->columns,
                       .count = p->slice_rows,
                       .made = *p->made,
                       .how = (uint8_t)p->how};

    if (p->n_sources > 0) {
        kept.input = p->sources->input + first_input;
        kept.offset = p->sources->offset;
        kept.type = p->sources->type;
        kept.swapped = p->sources->swapped;
    }
    return kept;
}

/* ---- all -------------------------------------------------------------------------------------- */

/* Whether anything is noted of a piece. */
static bool is_measured(const piece *p)
{
    for (uint32_t i = 0; i < p->n_made; i++)
        if (p->made[i].measure)
            return true;
    return false;
}

bool piece_keep(gufo_job *job, const piece *p, uint32_t first_input, kept_piece *out)
{
    kept_piece kept = {.whole = NULL};

    if (job->piece_at == NULL && is_plain(job, p, first_input))
        kept = plain_of(p, first_input);
    else if ((kept.whole = own_piece(job, p, first_input)) == NULL)
        return false;
    kept.first_unit = p->first_unit;
    kept.result = is_measured(p) ? job->result_count++ : NO_RESULT;
    *out = kept;
    return true;
}

static uint64_t row_bytes_of(const kept_piece *kept)
{
    uint64_t bytes = kept->made.row_bytes;

    if (kept->type != NULL)
        (void)gufo_element_row_size(kept->type, kept->columns, &bytes, NULL);
    return bytes;
}

const piece *job_piece_at(const gufo_job *job, uint64_t index, plain_piece *room)
{
    const kept_piece *kept;
    uint32_t sources;

    if (job->piece_at != NULL)
        return job->piece_at(job, index, room);
    kept = &job->pieces[index];
    if (kept->whole != NULL)
        return kept->whole;
    sources = kept->how != PIECE_GIVEN;
    room->source = (rows){.input = kept->input,
                          .swapped = kept->swapped,
                          .source = sources > 0 ? job->inputs[kept->input].source : NULL,
                          .offset = kept->offset,
                          .row_bytes = row_bytes_of(kept),
                          .count = kept->count,
                          .columns = kept->columns,
                          .type = kept->type};
    room->all = (segment){.count = {kept->count, 1, 1}, .stride = {1, 0, 0}};
    room->result = kept->made;
    room->piece = (piece){.how = (piece_how)kept->how,
                          .name = {kept->name, kept->name_len},
                          .sources = &room->source,
                          .segments = &room->all,
                          .made = &room->result,
                          .n_sources = sources,
                          .n_segments = sources,
                          .n_made = 1,
                          .columns = kept->columns,
                          .slices = 1,
                          .slice_rows = kept->count,
                          .bytes = kept->count * room->source.row_bytes};
    (void)cut_piece(&room->piece, kept->first_unit, NULL); /* job_add_piece has done it, too */
    return &room->piece;
}

/* ---- queries about a job, and the checks that every way of writing begins and ends with --------- */

size_t gufo_job_output_count(const gufo_job *job)
{
    return (size_t)job->target_count;
}

bool gufo_job_output_at(const gufo_job *job, size_t index, gufo_job_output *out)
{
    const job_target *t;

    if (index >= job->target_count)
        return false;
    t = &job->targets[index];
    if (out != NULL)
        *out = (gufo_job_output){
            .size = t->size, .tensor_count = t->tensor_count, .data_size = t->data_size};
    return true;
}

uint32_t gufo_job_normalised(const gufo_job *job)
{
    return job->normalised;
}

const char *volatile const *gufo_job_temporaries(const gufo_job *job)
{
    return job->temporaries;
}

/* ---- paths ---------------------------------------------------------------------------------- */

/* The bytes of `path` before the part that says which shard a file is. */
static size_t prefix_of(const gufo_job *job, const char *path)
{
    static const char suffix[] = ".gguf";
    size_t len = strlen(path), suffix_len = sizeof suffix - 1, prefix_len;
    uint32_t number, count;

    if (job->naming == JOB_NAMED_PREFIX)
        return len;
    if (gufo_shard_path_parse(path, &prefix_len, &number, &count) && number == 1 &&
        count == job_set_size(job))
        return prefix_len;
    if (job->naming == JOB_NAMED_STEM && len > suffix_len &&
        strcmp(path + len - suffix_len, suffix) == 0)
        return len - suffix_len;
    return len;
}

size_t gufo_job_output_path(const gufo_job *job, const char *path, size_t index, char *out,
                            size_t size)
{
    size_t len = strlen(path);
    uint64_t shards = job_set_size(job);
    bool alone = shards == 1 && job->naming != JOB_NAMED_PREFIX;

    if (job->naming == JOB_NAMED_EACH) {
        int written = snprintf(out, size, "%s/%s", path, job->targets[index].name);

        return written > 0 ? (size_t)written : 0;
    }
    if (job->naming != JOB_NAMED_FILE && !alone)
        return gufo_shard_path_format(out, size, path, prefix_of(job, path),
                                      (uint32_t)(index % shards) + 1, (uint32_t)shards);
    if (size > 0) {
        size_t fits = len < size ? len : size - 1;

        memcpy(out, path, fits);
        out[fits] = '\0';
    }
    return len;
}

/* ---- headers -------------------------------------------------------------------------------- */

gufo_status job_header(const job_target *target, const void **bytes, size_t *size,
                       gufo_error *error)
{
    if (target->document != NULL)
        return gufo_document_header(target->document, bytes, size, error);
    *bytes = target->header;
    *size = target->header_size;
    return GUFO_OK;
}

/* ---- calls ---------------------------------------------------------------------------------- */

gufo_status job_check_options(const gufo_job_options *options, gufo_error *error)
{
    const uint32_t known = GUFO_JOB_REPLACE | GUFO_JOB_RESUMABLE | GUFO_JOB_RESUME |
                           GUFO_JOB_DELETE_INPUT | GUFO_JOB_CONTINUE;

    if (options == NULL || options->path == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "gufo_job_options.path is missing");
    if (flags_check(options->flags, known, "gufo_job_options", error) != GUFO_OK)
        return GUFO_E_ARGUMENT;
    if ((options->flags & GUFO_JOB_DELETE_INPUT) != 0 && (options->flags & GUFO_JOB_RESUME) == 0)
        return refuse(error, GUFO_E_ARGUMENT, "GUFO_JOB_DELETE_INPUT needs GUFO_JOB_RESUME");
    if ((options->flags & GUFO_JOB_CONTINUE) != 0 &&
        (options->flags & (GUFO_JOB_RESUMABLE | GUFO_JOB_RESUME)) == 0)
        return refuse(error, GUFO_E_ARGUMENT, "GUFO_JOB_CONTINUE needs GUFO_JOB_RESUMABLE");
    if (options->also_read == NULL && options->also_read_count > 0)
        return refuse(error, GUFO_E_ARGUMENT, "gufo_job_options.also_read is missing");
    if (options->more_paths == NULL && options->more_count > 0)
        return refuse(error, GUFO_E_ARGUMENT, "gufo_job_options.more_paths is missing");
    return reserved_check((const uint64_t[4]){options->reserved[0], options->reserved[1]},
                          "gufo_job_options", error);
}

gufo_status job_check_run(const gufo_run *run, gufo_error *error)
{
    if (!gufo_cpu_available(run->cpu))
        return refuse(error, GUFO_E_ARGUMENT,
                      "this processor does not have the instructions that were asked for");
    return run_check(run, error);
}

/* An input that changed meanwhile may have been read half old and half new. */
gufo_status job_check_inputs(const gufo_job *job, gufo_error *error)
{
    for (uint64_t i = 0; i < job->input_count; i++) {
        const job_input *input = &job->inputs[i];
        gufo_status status = input->source != NULL && !input->released
                                 ? source_unchanged(input->source, error)
                                 : GUFO_OK;

        if (status != GUFO_OK) {
            fail_in(error, input->role, input->index, input->name);
            return status;
        }
    }
    return GUFO_OK;
}

gufo_status job_begin(gufo_job *job, const gufo_run *run, gufo_error *error)
{
    gufo_status status = job_check_run(run, error);

    if (status != GUFO_OK)
        return status;
    if (job->used)
        return refuse(error, GUFO_E_ARGUMENT, "the job has run already");
    job->used = true;
    return job->hooks.begin != NULL ? job->hooks.begin(job->hooks.context, run, error) : GUFO_OK;
}
