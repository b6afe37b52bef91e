/* Reads a file of losses; cache_text.c shows one.
 *
 * It may come from anybody.  All of it is checked before anything is taken, and it is read only as far
 * as a file about this model can reach. */
#include "quant/losses/losses.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/files/disk.h"
#include "base/files/trust.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/text.h"
#include "base/hash.h"
#include "format/file/records.h"

typedef struct reader {
    gufo_losses *l;
    char *text; /* the file; names are read where they are */
    size_t size, at;
    uint64_t line;
    name_index names;
    loss_kept *found;
    uint64_t count, room;
    gufo_error *error;
} reader;

static gufo_status damaged(const reader *r, const char *why)
{
    return refuse(r->error, GUFO_E_MALFORMED, "line %" PRIu64 " of the losses: %s", r->line, why);
}

/* ---- the file ------------------------------------------------------------------------------- */

/* More than a line takes beside its name, each byte of which has four at most. */
enum { LINE_REST = 160, FILE_REST = 4096 };

/* The largest file about this model: every type of every tensor. */
static uint64_t most_bytes(const gufo_losses *l)
{
    uint64_t bytes = 0;

    for (uint64_t i = 0; i < l->q->tensor_count; i++)
        bytes += LINE_REST + 4 * (uint64_t)l->q->tensors[i].source_name.len;
    return bytes * gufo_element_type_count() + FILE_REST;
}

static gufo_status load_fd(const gufo_losses *l, int fd, char **text, size_t *size,
                           gufo_error *error)
{
    uint64_t bytes = 0;
    const char *obstacle = cache_obstacle(fd, &bytes);

    if (obstacle != NULL)
        return refuse(error, GUFO_E_ARGUMENT, "the file of losses is not read: %s", obstacle);
    if (bytes > most_bytes(l))
        return refuse(error, GUFO_E_MALFORMED,
                      "the file is larger than all losses of this model can be");
    *text = mem_array(&l->allocator, bytes + 1, 1);
    if (*text == NULL)
        return fail_memory(error);
    return source_read_fd(fd, 0, *text, (size_t)bytes, size, error);
}

static gufo_status load(const gufo_losses *l, const char *path, char **text, size_t *size,
                        gufo_error *error)
{
    int fd = disk_open(path, O_RDONLY | TRUST_OPEN_FLAGS, 0);
    gufo_status status;

    if (fd < 0 && errno == ENOENT)
        return refuse(error, GUFO_E_NOT_FOUND, "the file of losses does not exist");
    if (fd < 0 && errno == ELOOP)
        return refuse(error, GUFO_E_ARGUMENT, "the file of losses is not read: it is a symlink");
    if (fd < 0)
        return fail_io(error, errno, "cannot open the file of losses");
    status = load_fd(l, fd, text, size, error);
    (void)close(fd);
    return status;
}

/* ---- lines that are about all --------------------------------------------------------------- */

static gufo_str next_line(reader *r)
{
    r->line++;
    return str_line((gufo_str){r->text, r->size}, &r->at);
}

/* "WORD<tab>TEXT": the text; false for another word. */
static bool read_word(reader *r, const char *word, gufo_str *text)
{
    *text = next_line(r);
    return gufo_str_equal(cache_field(text), gufo_str_of(word));
}

static bool read_hex(gufo_str text, uint64_t *out)
{
    return text.len == 16 && str_hex(text, 0, 16, out) == 16;
}

static gufo_status check_hash(reader *r, const char *word, uint64_t expected, const char *other)
{
    gufo_str text;
    uint64_t found;

    if (!read_word(r, word, &text) || !read_hex(text, &found))
        return damaged(r, "a hash is missing");
    return found == expected ? GUFO_OK : refuse(r->error, GUFO_E_CHANGED, "%s", other);
}

static gufo_status read_head(reader *r, const loss_identity *identity)
{
    const size_t magic = sizeof CACHE_MAGIC - 1;
    gufo_str text;
    gufo_status status;

    if (r->size < magic || memcmp(r->text, CACHE_MAGIC, magic) != 0)
        return refuse(r->error, GUFO_E_MALFORMED, "the file does not hold losses");
    (void)next_line(r);
    if (!read_word(r, "version", &text))
        return damaged(r, "the version is missing");
    if (!gufo_str_equal(text, gufo_str_of(GUFO_VERSION_STRING)))
        return refuse(r->error, GUFO_E_CHANGED,
                      "the losses were measured by version %s of gufo, and this is %s",
                      QUOTED(text), GUFO_VERSION_STRING);
    status = check_hash(r, "inputs", identity->inputs,
                        "the losses are of another model, or the model was changed");
    return status == GUFO_OK
               ? check_hash(r, "plan", identity->plan,
                            "the losses were measured with another importance matrix, adapter or "
                            "effort")
               : status;
}

/* ---- losses --------------------------------------------------------------------------------- */

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

static const gufo_element_type *type_of(gufo_str name)
{
    for (uint32_t id = 0; id < gufo_element_type_count(); id++) {
        const gufo_element_type *type = gufo_element_type_by_id(id);

        if (type != NULL && (type->flags & GUFO_ELEMENT_ENCODES) != 0 &&
            gufo_str_equal(name, gufo_str_of(type->name)))
            return type;
    }
    return NULL;
}

/* The fields behind the name. */
static gufo_status read_numbers(const reader *r, gufo_str rest, loss_kept *out)
{
    loss_option *o = &out->option;
    uint64_t all = loss_rows_of(r->l, out->tensor), said;

    o->type = type_of(cache_field(&rest));
    if (o->type == NULL)
        return damaged(r, "a type that does not exist, or is not encoded");
    if (!cache_read_number(cache_field(&rest), &o->relative) ||
        !cache_read_number(cache_field(&rest), &o->standard_error))
        return damaged(r, "a loss that is not a finite number from 0 on");
    if (!str_number(cache_field(&rest), &o->rows) || !str_number(cache_field(&rest), &said) ||
        said != all || o->rows == 0 || o->rows > all)
        return damaged(r, "a number of rows that the tensor does not have");
    if (o->rows == all && o->standard_error != 0)
        return damaged(r, "a standard error, though all rows were measured");
    return rest.len == 0 ? GUFO_OK : damaged(r, "too many fields");
}

static gufo_status read_loss(reader *r, gufo_str line)
{
    gufo_str field = cache_field(&line), name;
    loss_kept found = {0}, *list;
    gufo_status status;

    if (!cache_read_name(r->text + (field.data - r->text), &name, field.len) ||
        !name_index_find(&r->names, name, &found.tensor))
        return damaged(r, "a tensor that the model does not have");
    status = read_numbers(r, line, &found);
    if (status != GUFO_OK)
        return status;
    list = mem_grow(&r->l->allocator, r->found, r->count, &r->room, sizeof *list);
    if (list == NULL)
        return fail_memory(r->error);
    r->found = list;
    r->found[r->count++] = found;
    return GUFO_OK;
}

static gufo_status check_end(reader *r, gufo_str rest, uint64_t hash)
{
    uint64_t count, said;

    if (!str_number(cache_field(&rest), &count) || count != r->count || !read_hex(rest, &said) ||
        said != hash || r->at != r->size)
        return damaged(r, "the end does not fit what is before it");
    return GUFO_OK;
}

/* Where the last line begins. */
static bool find_end(const reader *r, size_t *begin)
{
    *begin = r->size;
    if (r->size == 0 || r->text[r->size - 1] != '\n')
        return false;
    for (--*begin; *begin > 0 && r->text[*begin - 1] != '\n';)
        --*begin;
    return true;
}

/* Names are read where they are, and change: so the hash comes first. */
static gufo_status read_losses(reader *r)
{
    gufo_status status = GUFO_OK;
    gufo_str last;
    uint64_t hash;
    size_t end;

    if (!find_end(r, &end) || end < r->at)
        return damaged(r, "the end is missing");
    hash = xxh64_of((gufo_str){r->text, end});
    while (r->at < end && status == GUFO_OK)
        status = read_loss(r, next_line(r));
    if (status != GUFO_OK)
        return status;
    if (!read_word(r, "end", &last))
        return damaged(r, "the end is missing");
    return check_end(r, last, hash);
}

/* ---- taking --------------------------------------------------------------------------------- */

static bool is_before(const void *a, const void *b)
{
    const loss_kept *left = a, *right = b;

    if (left->tensor != right->tensor)
        return left->tensor < right->tensor;
    return left->option.type->id < right->option.type->id;
}

static gufo_status check_unique(reader *r)
{
    sort_items(r->found, (size_t)r->count, sizeof *r->found, is_before);
    for (uint64_t i = 1; i < r->count; i++)
        if (!is_before(&r->found[i - 1], &r->found[i]))
            return refuse(r->error, GUFO_E_MALFORMED, "tensor %s has two losses of one type",
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

/* What is an option becomes known; the rest is kept. */
static uint64_t take(reader *r)
{
    gufo_losses *l = r->l;
    uint64_t taken = 0, kept = 0;

    for (uint64_t i = 0; i < r->count; i++) {
        const loss_option *found = &r->found[i].option;
        loss_option *o = option_of(l, &r->found[i]);
        uint64_t all = loss_rows_of(l, r->found[i].tensor);

        if (o == NULL || o->stays) {
            if (o == NULL)
                r->found[kept++] = r->found[i];
            continue;
        }
        if (found->rows <= o->rows)
            continue;
        taken += !loss_is_known(o, all, l->all_rows) && loss_is_known(found, all, l->all_rows);
        o->relative = found->relative;
        o->standard_error = found->standard_error;
        o->rows = found->rows;
    }
    mem_free(&l->allocator, l->kept);
    l->kept = r->found;
    l->kept_count = kept;
    r->found = NULL;
    return taken;
}

static gufo_status read_all(reader *r, const loss_identity *identity)
{
    gufo_status status = read_head(r, identity);

    if (status == GUFO_OK)
        status = index_names(r);
    if (status == GUFO_OK)
        status = read_losses(r);
    return status == GUFO_OK ? check_unique(r) : status;
}

gufo_status cache_take(gufo_losses *l, const loss_identity *identity, char *text, size_t size,
                       uint64_t *taken, gufo_error *error)
{
    reader r = {.l = l, .text = text, .size = size, .error = error};
    gufo_status status = read_all(&r, identity);

    if (status == GUFO_OK)
        *taken = take(&r);
    name_index_free(&r.names, &l->allocator);
    mem_free(&l->allocator, r.found);
    return status;
}

gufo_status gufo_losses_read(gufo_losses *l, const char *path, uint64_t *taken, gufo_error *error)
{
    uint64_t count = 0;
    loss_identity identity;
    char *text = NULL;
    size_t size = 0;
    gufo_status status = path != NULL ? load(l, path, &text, &size, error)
                                      : refuse(error, GUFO_E_ARGUMENT, "the path is missing");

    if (status == GUFO_OK)
        status = losses_identify(l, &identity, error);
    if (status == GUFO_OK)
        status = cache_take(l, &identity, text, size, &count, error);
    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_INPUT, 0, path);
    if (taken != NULL)
        *taken = count;
    mem_free(&l->allocator, text);
    return status;
}
