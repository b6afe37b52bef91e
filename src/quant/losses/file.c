/* The file of losses: a GGUF file without tensors, whose arrays are the columns of a table with a row for
 * each tensor and type.
 *
 *     gufo.losses.version    "0.1.0"              by which they were measured
 *     general.type           "losses"
 *     gufo.losses.inputs     0x9f0c5a7e33b1d204   identity: the files, and what is done to them
 *     gufo.losses.plan       0x1c44e8a06b97f35d
 *     gufo.losses.check      0x5b8d02e91f6c7a34   of the rows
 *
 *     .tensors               .types   .relative   .standard_errors   .rows   .sampled
 *     blk.0.attn_k.weight    Q4_K     0.00508     0.0000318          64      true
 *     ...
 *
 * A run uses what it would measure itself, to the last bit: `sampled` losses where it draws samples, those of all
 * rows where it measures all (of short tensors they are the same).  So what it chooses does not depend on the file.
 * Rows are in the order of tensors.  A file may come from a stranger: the reader refuses one that is larger than
 * this model's losses can be, and checks all of it before it uses any of it. */
#include "base/error.h"
#include "base/files/disk.h"
#include "base/files/output.h"
#include "base/files/trust.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/sort.h"
#include "format/file/records.h"
#include "gufo/document.h"
#include "quant/losses/losses.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* ---- identity ------------------------------------------------------------------------------- */

/* What losses depend on, beside tensor and type: the files that rows come from, what is done to them,
 * importance, effort.
 *
 * A plan of a job that makes floats of every tensor says all of that, and nothing of the types that are
 * wanted this time. */
static bool has_floats(const gufo_quantizer *q, const quant_tensor *t)
{
    const gufo_element_type *from = quant_source_type(q, t);

    return from != NULL && (from->flags & GUFO_ELEMENT_DECODES) != 0 &&
           quant_source(q, t).elements > 0;
}

static gufo_status add_tensor(const gufo_losses *l, gufo_job *job, const quant_tensor *t,
                              gufo_error *error)
{
    made floats = {
        .target = NO_TARGET, .type = gufo_element_type_by_id(GUFO_TYPE_F32), .encode = true};

    return has_floats(l->q, t)
               ? pieces_add_tensor(l->q, job, t, &floats, 1, t->has_importance, error)
               : GUFO_OK;
}

static gufo_status plan(const gufo_losses *l, gufo_job *job, gufo_error *error)
{
    const gufo_quantizer *q = l->q;
    gufo_status status = pieces_add_inputs(q, job, error);

    job->effort = q->options.effort;
    job->identity = q->options.flags & GUFO_QUANTIZE_KEEP_NONFINITE;
    for (uint64_t i = 0; i < q->tensor_count && status == GUFO_OK; i++)
        status = add_tensor(l, job, &q->tensors[i], error);
    return status == GUFO_OK ? weights_hash(q, &job->identity, error) : status;
}

static gufo_status losses_identify(const gufo_losses *l, loss_identity *out, gufo_error *error)
{
    gufo_job *job = job_new(&l->allocator, error);
    gufo_status status;

    if (job == NULL)
        return GUFO_E_MEMORY;
    status = plan(l, job, error);
    job = job_planned(job, status, error);
    if (job == NULL)
        return status != GUFO_OK ? status : GUFO_E_MEMORY;
    status = job_identity(job, &out->inputs, &out->plan, error);
    gufo_job_free(job);
    return status;
}

/* ---- keys ----------------------------------------------------------------------------------- */

#define VERSION_KEY "gufo.losses.version"
#define INPUTS_KEY "gufo.losses.inputs"
#define PLAN_KEY "gufo.losses.plan"
#define CHECK_KEY "gufo.losses.check"

typedef enum column {
    TENSORS,
    TYPES,
    RELATIVE,
    STANDARD_ERRORS,
    ROWS_SEEN,
    SAMPLED,
    COLUMNS
} column;

static const struct {
    const char *key;
    gufo_value_type type;
    size_t size;
} columns[COLUMNS] = {
    [TENSORS] = {"gufo.losses.tensors", GUFO_VALUE_STRING, sizeof(gufo_str)},
    [TYPES] = {"gufo.losses.types", GUFO_VALUE_STRING, sizeof(gufo_str)},
    [RELATIVE] = {"gufo.losses.relative", GUFO_VALUE_FLOAT64, sizeof(double)},
    [STANDARD_ERRORS] = {"gufo.losses.standard_errors", GUFO_VALUE_FLOAT64, sizeof(double)},
    [ROWS_SEEN] = {"gufo.losses.rows", GUFO_VALUE_UINT64, sizeof(uint64_t)},
    [SAMPLED] = {"gufo.losses.sampled", GUFO_VALUE_BOOL, sizeof(bool)},
};

void losses_chain(uint64_t *check, gufo_str name, const loss_option *o)
{
    const double numbers[] = {o->relative, o->standard_error};
    const uint64_t counts[] = {o->type->id, o->rows, o->sampled};

    hash_chain(check, name.data, name.len);
    hash_chain(check, numbers, sizeof numbers);
    hash_chain(check, counts, sizeof counts);
}

/* ---- the place ------------------------------------------------------------------------------ */

/* Opens what is at the path, if it is a file of ours; *fd is -1 if nothing is there. */
static gufo_status open_own(const char *path, int *fd, uint64_t *size, const char *what,
                            gufo_status refusal, gufo_error *error)
{
    const char *obstacle = NULL;
    struct stat info;

    *fd = disk_open(path, O_RDONLY | TRUST_OPEN_FLAGS, 0);
    if (*fd < 0 && errno == ENOENT)
        return GUFO_OK;
    if (*fd < 0 && errno != ELOOP)
        return fail_io(error, errno, "cannot open the file of losses");
    if (*fd < 0)
        obstacle = "it is a symlink";
    else
        obstacle = fstat(*fd, &info) != 0 ? "it cannot be examined" : trust_own(path, &info, 0);
    if (obstacle == NULL) {
        *size = (uint64_t)info.st_size;
        return GUFO_OK;
    }
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
    return refuse(error, refusal, "the file %s: %s", what, obstacle);
}

/* ---- reading -------------------------------------------------------------------------------- */

typedef struct reader {
    gufo_losses *l;
    const gufo_model *file;
    name_index names;
    loss_kept *found;
    uint64_t count;
    gufo_error *error;
} reader;

/* More than a row takes beside its name, and a file beside its rows. */
enum { ROW_REST = 64, FILE_REST = 4096 };

/* The largest file about this model: every type of every tensor, measured in both ways. */
static uint64_t most_bytes(const gufo_losses *l)
{
    uint64_t bytes = 0;

    for (uint64_t i = 0; i < l->q->tensor_count; i++)
        bytes += ROW_REST + (uint64_t)l->q->tensors[i].source_name.len;
    return 2 * bytes * gufo_element_type_count() + FILE_REST;
}

static gufo_status compare_hash(const reader *r, const char *key, uint64_t expected,
                                gufo_status refusal, const char *other)
{
    uint64_t found;

    if (gufo_model_get_u64(r->file, key, &found, NULL) != GUFO_OK)
        return refuse(r->error, GUFO_E_MALFORMED, "the losses are damaged: %s is missing", key);
    return found == expected ? GUFO_OK : refuse(r->error, refusal, "%s", other);
}

static gufo_status check_identity(const reader *r, const loss_identity *identity)
{
    gufo_str version;
    gufo_status status;

    if (gufo_model_get_str(r->file, VERSION_KEY, &version, NULL) != GUFO_OK)
        return refuse(r->error, GUFO_E_MALFORMED, "the file does not hold losses");
    if (!gufo_str_equal(version, gufo_str_of(GUFO_VERSION_STRING)))
        return refuse(r->error, GUFO_E_CHANGED,
                      "the losses were measured by version %s of gufo, and this is %s",
                      QUOTED(version), GUFO_VERSION_STRING);
    status = compare_hash(r, INPUTS_KEY, identity->inputs, GUFO_E_CHANGED,
                          "the losses are of another model, or the model was changed");
    return status == GUFO_OK
               ? compare_hash(r, PLAN_KEY, identity->plan, GUFO_E_CHANGED,
                              "the losses were measured with another importance matrix, adapter or "
                              "effort")
               : status;
}

static gufo_str name_of_source(const void *owner, uint64_t index)
{
    return ((const gufo_quantizer *)owner)->tensors[index].source_name;
}

static gufo_status index_names(reader *r)
{
    const gufo_quantizer *q = r->l->q;
    uint64_t first;
    gufo_status status =
        name_index_new(&r->names, q->tensor_count, name_of_source, q, &r->l->allocator, r->error);

    for (uint64_t i = 0; i < q->tensor_count && status == GUFO_OK; i++)
        (void)name_index_add(&r->names, i, &first);
    return status;
}

static const gufo_element_type *type_named(gufo_str name)
{
    char text[16] = "";

    if (name.len < sizeof text)
        memcpy(text, name.data, name.len);
    return strlen(text) == name.len ? gufo_element_type_by_name(text) : NULL;
}

/* Why a row is not a loss; NULL for nothing. */
static const char *read_row(const reader *r, const gufo_value cells[COLUMNS], loss_kept *out)
{
    loss_option *o = &out->option;
    uint64_t all;

    if (!name_index_find(&r->names, cells[TENSORS].as.str, &out->tensor))
        return "a tensor that the model does not have";
    o->type = type_named(cells[TYPES].as.str);
    if (o->type == NULL || (o->type->flags & GUFO_ELEMENT_ENCODES) == 0)
        return "a type that does not exist, or is not encoded";
    o->relative = cells[RELATIVE].as.f;
    o->standard_error = cells[STANDARD_ERRORS].as.f;
    if (!isfinite(o->relative) || o->relative < 0 || !isfinite(o->standard_error) ||
        o->standard_error < 0)
        return "a loss that is not a finite number from 0 on";
    o->rows = cells[ROWS_SEEN].as.u;
    all = loss_rows_of(r->l, out->tensor);
    if (o->rows == 0 || o->rows > all)
        return "a number of rows that the tensor does not have";
    o->sampled = cells[SAMPLED].as.b;
    if (!o->sampled && o->rows != all)
        return "not of a sample, though not all rows were measured";
    return o->rows == all && o->standard_error != 0
               ? "a standard error, though all rows were measured"
               : NULL;
}

/* Starts a walk of each column; all have as many rows. */
static gufo_status start_columns(reader *r, gufo_array_iter walks[COLUMNS])
{
    gufo_array array;

    for (int c = 0; c < COLUMNS; c++) {
        if (gufo_model_get_array(r->file, columns[c].key, columns[c].type, &array, NULL) !=
                GUFO_OK ||
            (c > 0 && array.count != r->count))
            return refuse(r->error, GUFO_E_MALFORMED,
                          "the losses are damaged: %s is missing, or has another number of rows",
                          columns[c].key);
        r->count = array.count;
        walks[c] = gufo_array_start(&array);
    }
    return GUFO_OK;
}

static gufo_status read_rows(reader *r)
{
    gufo_array_iter walks[COLUMNS];
    gufo_value cells[COLUMNS];
    uint64_t check = 0;
    gufo_status status = start_columns(r, walks);

    if (status != GUFO_OK)
        return status;
    r->found = mem_array(&r->l->allocator, r->count, sizeof *r->found);
    if (r->found == NULL)
        return fail_memory(r->error);
    for (uint64_t i = 0; i < r->count; i++) {
        const char *fault = NULL;

        for (int c = 0; c < COLUMNS && fault == NULL; c++)
            fault = gufo_array_next(&walks[c], &cells[c]) ? NULL : "its bytes were changed";
        if (fault == NULL)
            fault = read_row(r, cells, &r->found[i]);
        if (fault != NULL)
            return refuse(r->error, GUFO_E_MALFORMED, "loss %s of the file: %s", GROUPED(i + 1),
                          fault);
        losses_chain(&check, cells[TENSORS].as.str, &r->found[i].option);
    }
    return compare_hash(r, CHECK_KEY, check, GUFO_E_MALFORMED,
                        "the losses are damaged: " CHECK_KEY " does not fit them");
}

static bool is_before(const void *a, const void *b)
{
    const loss_kept *left = a, *right = b;

    if (left->tensor != right->tensor)
        return left->tensor < right->tensor;
    if (left->option.type != right->option.type)
        return left->option.type->id < right->option.type->id;
    return left->option.sampled && !right->option.sampled;
}

static gufo_status check_unique(reader *r)
{
    sort_items(r->found, (size_t)r->count, sizeof *r->found, is_before);
    for (uint64_t i = 1; i < r->count; i++)
        if (!is_before(&r->found[i - 1], &r->found[i]))
            return refuse(r->error, GUFO_E_MALFORMED,
                          "tensor %s has two losses of one type, measured in one way",
                          QUOTED(r->l->q->tensors[r->found[i].tensor].source_name));
    return GUFO_OK;
}

static loss_option *option_of(const gufo_losses *l, const loss_kept *found)
{
    for (size_t i = 0; i < l->tensors[found->tensor].count; i++)
        if (loss_option_of(l, found->tensor, i)->type == found->option.type)
            return loss_option_of(l, found->tensor, i);
    return NULL;
}

/* Whether a measurement would give the same. */
static bool serves(const gufo_losses *l, uint64_t tensor, const loss_option *found)
{
    return l->all_rows ? found->rows == loss_rows_of(l, tensor) : found->sampled;
}

/* What serves as an option becomes known; the rest is kept. */
static uint64_t take(reader *r)
{
    gufo_losses *l = r->l;
    uint64_t taken = 0, kept = 0;

    for (uint64_t i = 0; i < r->count; i++) {
        const loss_option *found = &r->found[i].option;
        loss_option *o = option_of(l, &r->found[i]);

        if (o == NULL || !serves(l, r->found[i].tensor, found)) {
            r->found[kept++] = r->found[i];
            continue;
        }
        if (loss_is_known(o))
            continue;
        taken++;
        o->relative = found->relative;
        o->standard_error = found->standard_error;
        o->rows = found->rows;
        o->sampled = found->sampled;
    }
    mem_free(&l->allocator, l->kept);
    l->kept = r->found;
    l->kept_count = kept;
    r->found = NULL;
    return taken;
}

gufo_status losses_take(gufo_losses *l, const loss_identity *identity, const gufo_model *file,
                        uint64_t *taken, gufo_error *error)
{
    reader r = {.l = l, .file = file, .error = error};
    gufo_status status = check_identity(&r, identity);

    if (status == GUFO_OK)
        status = index_names(&r);
    if (status == GUFO_OK)
        status = read_rows(&r);
    if (status == GUFO_OK)
        status = check_unique(&r);
    if (status == GUFO_OK)
        *taken = take(&r);
    name_index_free(&r.names, &l->allocator);
    mem_free(&l->allocator, r.found);
    return status;
}

/* A file that is truncated meanwhile must not stop the program: it is not mapped. */
static gufo_status open_file(const gufo_losses *l, const char *path, gufo_model **out,
                             gufo_error *error)
{
    const gufo_open_options options = {.flags = GUFO_OPEN_NO_MAP, .allocator = &l->allocator};
    uint64_t size = 0;
    gufo_error reason;
    int fd;
    gufo_status status =
        open_own(path, &fd, &size, "of losses is not read", GUFO_E_ARGUMENT, error);

    if (status != GUFO_OK)
        return status;
    if (fd < 0)
        return refuse(error, GUFO_E_NOT_FOUND, "the file of losses does not exist");
    if (size > most_bytes(l))
        status = refuse(error, GUFO_E_MALFORMED,
                        "the file is larger than all losses of this model can be");
    else if ((*out = gufo_model_open_fd(fd, &options, &reason)) == NULL)
        status = reason.code == GUFO_E_MEMORY || reason.code == GUFO_E_IO
                     ? fail_as(error, &reason)
                     : refuse(error, GUFO_E_MALFORMED, "the file does not hold losses: %s",
                              reason.message);
    (void)close(fd);
    return status;
}

gufo_status gufo_losses_read(gufo_losses *l, const char *path, uint64_t *taken, gufo_error *error)
{
    uint64_t count = 0;
    loss_identity identity;
    gufo_model *file = NULL;
    gufo_status status = path != NULL ? open_file(l, path, &file, error)
                                      : refuse(error, GUFO_E_ARGUMENT, "the path is missing");

    if (status == GUFO_OK)
        status = losses_identify(l, &identity, error);
    if (status == GUFO_OK)
        status = losses_take(l, &identity, file, &count, error);
    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_INPUT, 0, path);
    if (taken != NULL)
        *taken = count;
    gufo_model_free(file);
    return status;
}

/* ---- writing -------------------------------------------------------------------------------- */

typedef struct writer {
    const gufo_losses *l;
    void *cells[COLUMNS];
    uint64_t count, check;
} writer;

static void add_row(writer *w, uint64_t tensor, const loss_option *o)
{
    gufo_str name = w->l->q->tensors[tensor].source_name;

    ((gufo_str *)w->cells[TENSORS])[w->count] = name;
    ((gufo_str *)w->cells[TYPES])[w->count] = gufo_str_of(o->type->name);
    ((double *)w->cells[RELATIVE])[w->count] = o->relative;
    ((double *)w->cells[STANDARD_ERRORS])[w->count] = o->standard_error;
    ((uint64_t *)w->cells[ROWS_SEEN])[w->count] = o->rows;
    ((bool *)w->cells[SAMPLED])[w->count] = o->sampled;
    w->count++;
    losses_chain(&w->check, name, o);
}

/* Whether this run has measured a loss with as many rows: then the one in the file is not kept. */
static bool was_measured(const gufo_losses *l, const loss_kept *kept)
{
    const loss_option *o = option_of(l, kept);

    return o != NULL && o->rows > 0 && o->sampled == kept->option.sampled;
}

static void add_rows(writer *w)
{
    const gufo_losses *l = w->l;
    uint64_t kept = 0;

    for (uint64_t i = 0; i < l->q->tensor_count; i++) {
        for (size_t k = 0; k < l->tensors[i].count; k++)
            if (loss_option_of(l, i, k)->rows > 0)
                add_row(w, i, loss_option_of(l, i, k));
        for (; kept < l->kept_count && l->kept[kept].tensor == i; kept++)
            if (!was_measured(l, &l->kept[kept]))
                add_row(w, i, &l->kept[kept].option);
    }
}

static gufo_status set_identity(gufo_document *d, const loss_identity *identity, uint64_t check,
                                gufo_error *error)
{
    gufo_status status = gufo_document_set_text(d, VERSION_KEY, GUFO_VERSION_STRING, error);

    if (status == GUFO_OK)
        status = gufo_document_set_text(d, "general.type", "losses", error);
    if (status == GUFO_OK)
        status = gufo_document_set_u64(d, INPUTS_KEY, identity->inputs, error);
    if (status == GUFO_OK)
        status = gufo_document_set_u64(d, PLAN_KEY, identity->plan, error);
    return status == GUFO_OK ? gufo_document_set_u64(d, CHECK_KEY, check, error) : status;
}

gufo_status losses_describe(const gufo_losses *l, const loss_identity *identity, gufo_document *d,
                            gufo_error *error)
{
    writer w = {.l = l};
    gufo_status status = GUFO_OK;

    for (int c = 0; c < COLUMNS && status == GUFO_OK; c++) {
        w.cells[c] = mem_array(&l->allocator, l->option_count + l->kept_count, columns[c].size);
        if (w.cells[c] == NULL)
            status = fail_memory(error);
    }
    if (status == GUFO_OK) {
        add_rows(&w);
        status = set_identity(d, identity, w.check, error);
    }
    for (int c = 0; c < COLUMNS; c++) {
        const gufo_items items = {columns[c].type, w.count, w.cells[c]};

        if (status == GUFO_OK)
            status = gufo_document_set_array(d, columns[c].key, &items, error);
        mem_free(&l->allocator, w.cells[c]);
    }
    return status == GUFO_OK ? gufo_document_layout(d, NULL, NULL, error) : status;
}

/* Where the first value begins: magic, version, two counts, the length of the first key and that key. */
enum { SAME_BYTES = 4 + 4 + 8 + 8 + 8 + sizeof VERSION_KEY - 1 };

/* Whether what is at that path may be replaced: a file that begins as all files of losses. */
static gufo_status check_place(const char *path, const uint8_t *header, gufo_error *error)
{
    uint8_t bytes[SAME_BYTES];
    uint64_t size = 0;
    size_t got = 0;
    int fd;
    gufo_status status = open_own(path, &fd, &size, "is not replaced", GUFO_E_EXISTS, error);

    if (status != GUFO_OK || fd < 0)
        return status;
    status = source_read_fd(fd, 0, bytes, sizeof bytes, &got, error);
    if (status == GUFO_OK && (got < sizeof bytes || memcmp(bytes, header, got) != 0))
        status = refuse(error, GUFO_E_EXISTS, "the file is not replaced: it does not hold losses");
    (void)close(fd);
    return status;
}

static gufo_status write_file(const gufo_losses *l, const char *path, const void *bytes,
                              size_t size, gufo_error *error)
{
    output out;
    gufo_status status = output_find(&out, path, true, NULL, &l->allocator, error);

    if (status != GUFO_OK)
        return status;
    if (strcmp(out.target, path) != 0) /* a link that was not there before */
        status = refuse(error, GUFO_E_EXISTS, "the file is not replaced: it is a symlink");
    if (status == GUFO_OK)
        status = output_create(&out, size, true, error);
    if (status == GUFO_OK)
        status = output_write(&out, 0, bytes, size, error);
    if (status == GUFO_OK)
        status = output_commit(&out, error);
    output_discard(&out);
    return status;
}

static gufo_status write_losses(const gufo_losses *l, const char *path, gufo_error *error)
{
    const gufo_document_options options = {.allocator = &l->allocator};
    gufo_document *d = gufo_document_new(&options, error);
    const void *bytes;
    loss_identity identity;
    size_t size;
    gufo_status status = d != NULL ? losses_identify(l, &identity, error) : GUFO_E_MEMORY;

    if (status == GUFO_OK)
        status = losses_describe(l, &identity, d, error);
    if (status == GUFO_OK)
        status = gufo_document_header(d, &bytes, &size, error);
    if (status == GUFO_OK)
        status = check_place(path, bytes, error);
    if (status == GUFO_OK)
        status = write_file(l, path, bytes, size, error);
    gufo_document_free(d);
    return status;
}

gufo_status gufo_losses_write(const gufo_losses *l, const char *path, gufo_error *error)
{
    gufo_status status = path != NULL ? write_losses(l, path, error)
                                      : refuse(error, GUFO_E_ARGUMENT, "the path is missing");

    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_OUTPUT, 0, path);
    return status;
}
