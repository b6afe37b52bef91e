/* Opening the same bytes in every way the library knows. */
#include "openers.h"

#include <fcntl.h>
#include <unistd.h>

static gufo_status read_test_source(void *context, uint64_t offset, void *buffer, size_t size,
                                    gufo_error *error)
{
    test_source *s = context;

    s->calls++;
    if (s->calls == s->fail_at) {
        if (error != NULL) {
            *error = no_error();
            error->code = GUFO_E_IO;
            error->system = 5;
            snprintf(error->message, sizeof error->message, "the test's source failed");
        }
        return GUFO_E_IO;
    }
    if (offset > s->size || size > s->size - offset) {
        s->bad++;
        return GUFO_E_IO;
    }
    if (size > 0)
        memcpy(buffer, s->data + offset, size);
    return GUFO_OK;
}

static void close_test_source(void *context)
{
    test_source *s = context;

    s->closed++;
}

gufo_source source_over(test_source *state, const void *data, size_t size)
{
    memset(state, 0, sizeof *state);
    state->data = data;
    state->size = size;
    return (gufo_source){
        .context = state, .size = size, .read = read_test_source, .close = close_test_source};
}

typedef struct way_facts {
    const char *name;
    bool data, pointers;
} way_facts;

static const way_facts facts[WAY_COUNT] = {
    [WAY_MEMORY] = {"memory", true, true},
    [WAY_PATH] = {"path", true, true},
    [WAY_PATH_NO_MAP] = {"path without map", true, false},
    [WAY_FD] = {"descriptor", true, true},
    [WAY_FD_NO_MAP] = {"descriptor without map", true, false},
    [WAY_PIPE] = {"pipe", false, false},
    [WAY_SOURCE] = {"source", true, false},
};

const char *way_name(way w)
{
    return facts[w].name;
}

bool way_has_data(way w)
{
    return facts[w].data;
}

bool way_has_pointers(way w)
{
    return facts[w].pointers;
}

static void open_from_file(opened *o, way w, const void *data, size_t len,
                           const gufo_open_options *options)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "file.gguf");
    int fd;

    write_file(path.text, data, len);
    if (w == WAY_PATH || w == WAY_PATH_NO_MAP) {
        o->file = gufo_model_open(path.text, options, &o->error);
    } else {
        fd = open(path.text, O_RDONLY);
        o->file = gufo_model_open_fd(fd, options, &o->error);
        close(fd);
    }
    folder_remove(&f); /* an open file outlives its name */
}

static void open_from_pipe(opened *o, const void *data, size_t len,
                           const gufo_open_options *options)
{
    feeder f;

    feeder_start(&f, data, len);
    o->file = gufo_model_open_fd(f.fd, options, &o->error);
    feeder_end(&f);
}

static void copy_bytes(opened *o, const void *data, size_t len)
{
    o->copy = malloc(len > 0 ? len : 1);
    if (o->copy == NULL)
        abort();
    if (len > 0)
        memcpy(o->copy, data, len);
}

void open_way(opened *o, way w, const void *data, size_t len, const gufo_open_options *options)
{
    gufo_open_options own = options != NULL ? *options : (gufo_open_options){0};
    gufo_source source;

    memset(o, 0, sizeof *o);
    o->error = no_error();
    if (w == WAY_PATH_NO_MAP || w == WAY_FD_NO_MAP)
        own.flags |= GUFO_OPEN_NO_MAP;
    switch (w) {
    case WAY_MEMORY:
        copy_bytes(o, data, len);
        o->file = gufo_model_open_memory(o->copy, len, &own, &o->error);
        break;
    case WAY_SOURCE:
        copy_bytes(o, data, len);
        source = source_over(&o->source, o->copy, len);
        o->file = gufo_model_open_source(&source, &own, &o->error);
        break;
    case WAY_PIPE:
        open_from_pipe(o, data, len, &own);
        break;
    default:
        open_from_file(o, w, data, len, &own);
        break;
    }
}

void close_way(opened *o)
{
    gufo_model_free(o->file);
    free(o->copy);
    o->file = NULL;
    o->copy = NULL;
}

gufo_model *open_built(const builder *b, const char *label)
{
    gufo_error error = no_error();
    gufo_model *file = gufo_model_open_memory(b->data, b->len, NULL, &error);

    check(file != NULL, "%s: does not open: %s", label, error.message);
    return file;
}
