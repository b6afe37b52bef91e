/* Writes a file of losses; cache_text.c shows one. */
#include "quant/losses/losses.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/disk.h"
#include "base/files/output.h"
#include "base/files/trust.h"
#include "base/memory.h"
#include "base/hash.h"

/* ---- what is written ------------------------------------------------------------------------ */

static bool add_text(buffer *out, const char *text)
{
    return buffer_append(out, text, strlen(text));
}

static bool add_head(buffer *out, const loss_identity *identity)
{
    char text[160];

    (void)snprintf(text, sizeof text,
                   CACHE_MAGIC "version\t%s\ninputs\t%016" PRIx64 "\nplan\t%016" PRIx64 "\n",
                   GUFO_VERSION_STRING, identity->inputs, identity->plan);
    return add_text(out, text);
}

static bool add_loss(buffer *out, const gufo_losses *l, uint64_t tensor, const loss_option *o)
{
    char text[160], relative[CACHE_NUMBER], standard_error[CACHE_NUMBER];

    cache_number(relative, o->relative);
    cache_number(standard_error, o->standard_error);
    (void)snprintf(text, sizeof text, "\t%s\t%s\t%s\t%" PRIu64 "\t%" PRIu64 "\n", o->type->name,
                   relative, standard_error, o->rows, loss_rows_of(l, tensor));
    return cache_name(out, l->q->tensors[tensor].source_name) && add_text(out, text);
}

static bool add_end(buffer *out, uint64_t count)
{
    uint64_t hash = xxh64_of((gufo_str){(const char *)out->data, out->len});
    char text[64];

    (void)snprintf(text, sizeof text, "end\t%" PRIu64 "\t%016" PRIx64 "\n", count, hash);
    return add_text(out, text);
}

static gufo_status make_text(const gufo_losses *l, buffer *out, gufo_error *error)
{
    uint64_t count = 0, kept = 0;
    loss_identity identity;
    gufo_status status = losses_identify(l, &identity, error);
    bool ok = status == GUFO_OK && add_head(out, &identity);

    for (uint64_t i = 0; i < l->q->tensor_count; i++) {
        for (size_t k = 0; k < l->tensors[i].count; k++) {
            const loss_option *o = loss_option_of(l, i, k);

            if (o->rows > 0 && ok) {
                ok = add_loss(out, l, i, o);
                count++;
            }
        }
        for (; kept < l->kept_count && l->kept[kept].tensor == i; kept++, count++)
            ok = ok && add_loss(out, l, i, &l->kept[kept].option);
    }
    if (status != GUFO_OK)
        return status;
    return ok && add_end(out, count) ? GUFO_OK : fail_memory(error);
}

/* ---- where ---------------------------------------------------------------------------------- */

/* Whether what is at that path is a file of losses that may be replaced. */
static gufo_status check_old(int fd, gufo_error *error)
{
    char magic[sizeof CACHE_MAGIC - 1];
    uint64_t size;
    size_t got = 0;
    const char *obstacle = cache_obstacle(fd, &size);
    gufo_status status = GUFO_OK;

    if (obstacle != NULL)
        return refuse(error, GUFO_E_EXISTS, "the file is not replaced: %s", obstacle);
    status = source_read_fd(fd, 0, magic, sizeof magic, &got, error);
    if (status == GUFO_OK && (got < sizeof magic || memcmp(magic, CACHE_MAGIC, got) != 0))
        return refuse(error, GUFO_E_EXISTS, "the file is not replaced: it does not hold losses");
    return status;
}

static gufo_status check_place(const char *path, gufo_error *error)
{
    int fd = disk_open(path, O_RDONLY | TRUST_OPEN_FLAGS, 0);
    gufo_status status;

    if (fd < 0 && errno == ENOENT)
        return GUFO_OK;
    if (fd < 0 && errno == ELOOP)
        return refuse(error, GUFO_E_EXISTS, "the file is not replaced: it is a symlink");
    if (fd < 0)
        return fail_io(error, errno, "cannot open the file of losses");
    status = check_old(fd, error);
    (void)close(fd);
    return status;
}

static gufo_status write_file(const gufo_losses *l, const char *path, const buffer *text,
                              gufo_error *error)
{
    output out;
    gufo_status status = output_find(&out, path, true, NULL, &l->allocator, error);

    if (status != GUFO_OK)
        return status;
    if (strcmp(out.target, path) != 0) /* a link that was not there before */
        status = refuse(error, GUFO_E_EXISTS, "the file is not replaced: it is a symlink");
    if (status == GUFO_OK)
        status = output_create(&out, text->len, true, error);
    if (status == GUFO_OK)
        status = output_write(&out, 0, text->data, text->len, error);
    if (status == GUFO_OK)
        status = output_commit(&out, error);
    output_discard(&out);
    return status;
}

gufo_status gufo_losses_write(const gufo_losses *l, const char *path, gufo_error *error)
{
    buffer text = {.allocator = &l->allocator};
    gufo_status status;

    if (path == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "the path is missing");
    status = check_place(path, error);
    if (status == GUFO_OK)
        status = make_text(l, &text, error);
    if (status == GUFO_OK)
        status = write_file(l, path, &text, error);
    buffer_free(&text);
    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_OUTPUT, 0, path);
    return status;
}
