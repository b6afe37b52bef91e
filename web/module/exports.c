/* What JavaScript calls.  Texts pass through memory that viewer_room lends, answers through viewer_text; every
 * function that can fail returns 0 or the number of a gufo_status, and its answer is {"error":...} then. */
#include "exports.h"

#include "module.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static viewer_model models[VIEWER_MODELS];
static char *room;
static answer last;

/* ---- texts ----------------------------------------------------------------------------------- */

bool answer_begin(answer *a)
{
    *a = (answer){0};
    a->out = open_memstream(&a->text, &a->len);
    return a->out != NULL;
}

bool answer_end(answer *a)
{
    bool whole = ferror(a->out) == 0;

    whole = fclose(a->out) == 0 && whole;
    a->out = NULL;
    if (!whole)
        answer_free(a);
    return whole;
}

void answer_free(answer *a)
{
    free(a->text);
    *a = (answer){0};
}

gufo_status viewer_refuse(gufo_error *error, gufo_status status, const char *format, ...)
{
    va_list arguments;

    *error = (gufo_error){.code = status, .offset = GUFO_NO_OFFSET};
    va_start(arguments, format);
    (void)vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return status;
}

void *viewer_room(size_t size)
{
    free(room);
    room = malloc(size + 1);
    return room;
}

const char *viewer_text(void)
{
    return last.text;
}

size_t viewer_length(void)
{
    return last.len;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Begins the answer. */
static json_writer begin(void)
{
    answer_free(&last);
    return json_writer_start(answer_begin(&last) ? last.out : NULL);
}

/* Ends the answer: what was written of a failure gives way to the error. */
static int end(gufo_status status, const gufo_error *error)
{
    if (last.out == NULL || !answer_end(&last))
        return GUFO_E_MEMORY;
    if (status == GUFO_OK)
        return GUFO_OK;
    json_writer j = begin();

    if (j.out == NULL)
        return GUFO_E_MEMORY;
    json_begin_object(&j, NULL);
    error_write(&j, error);
    json_end_object(&j);
    return answer_end(&last) ? (int)status : GUFO_E_MEMORY;
}

/* The model in a place, or NULL with an error. */
static viewer_model *model_in(uint32_t place, gufo_error *error)
{
    if (place < VIEWER_MODELS && models[place].model != NULL)
        return &models[place];
    (void)viewer_refuse(error, GUFO_E_ARGUMENT, "no model is open there");
    return NULL;
}

/* ---- opening --------------------------------------------------------------------------------- */

static gufo_status read_file(void *context, uint64_t offset, void *buffer, size_t size,
                             gufo_error *error)
{
    const viewer_file *file = context;

    if (host_read(file->number, (double)offset, buffer, size))
        return GUFO_OK;
    return viewer_refuse(error, GUFO_E_IO, "the file cannot be read");
}

void viewer_close(uint32_t place)
{
    viewer_model *m = place < VIEWER_MODELS ? &models[place] : NULL;

    if (m == NULL)
        return;
    losses_free(models[0].losses); /* of both */
    models[0].losses = NULL;
    gufo_model_free(m->model);
    findings_free(m->findings);
    for (size_t i = 0; i < m->file_count; i++)
        free(m->files[i].name);
    *m = (viewer_model){0};
}

/* The name is in the room.  Files of a set come in their order. */
int viewer_add_file(uint32_t place, uint32_t number, size_t name_len, double size)
{
    viewer_model *m = place < VIEWER_MODELS ? &models[place] : NULL;
    viewer_file *file;
    char *name;

    if (m == NULL || room == NULL || m->file_count == VIEWER_FILES || !(size >= 0) || size > 0x1p53)
        return GUFO_E_ARGUMENT;
    name = malloc(name_len + 1);
    if (name == NULL)
        return GUFO_E_MEMORY;
    memcpy(name, room, name_len);
    name[name_len] = '\0';
    file = &m->files[m->file_count];
    *file = (viewer_file){.number = number, .name = name};
    file->source = (gufo_source){.context = file, .size = (uint64_t)size, .read = read_file};
    m->inputs[m->file_count] = gufo_input_source(&file->source);
    m->inputs[m->file_count].name = name;
    m->file_count++;
    return GUFO_OK;
}

static gufo_status open_model(viewer_model *m, uint32_t flags, gufo_error *error)
{
    gufo_open_options options = {.flags = flags, .name = m->files[0].name};

    if ((flags & GUFO_OPEN_LENIENT) != 0) {
        options.on_finding = findings_add;
        options.finding_context = m->findings;
    }
    m->model = m->file_count == 1
                   ? gufo_model_open_source(&m->files[0].source, &options, error)
                   : gufo_model_open_shards(m->inputs, m->file_count, &options, error);
    return m->model != NULL ? GUFO_OK : error->code;
}

/* Opens the files that were added.  A file that cannot be opened because it breaks a rule has findings. */
int viewer_open(uint32_t place, uint32_t flags)
{
    viewer_model *m = place < VIEWER_MODELS ? &models[place] : NULL;
    json_writer j = begin();
    gufo_error error;

    if (m == NULL || m->file_count == 0 || m->model != NULL)
        return end(viewer_refuse(&error, GUFO_E_ARGUMENT, "no file was added"), &error);
    m->findings = findings_new(&error);
    if (m->findings == NULL)
        return end(error.code, &error);
    if (open_model(m, flags | (m->file_count == 1 ? GUFO_OPEN_INCOMPLETE : 0), &error) != GUFO_OK)
        return end(error.code, &error);
    json_begin_object(&j, NULL);
    json_write_u64(&j, "tensors", gufo_model_tensor_count(m->model));
    json_write_u64(&j, "entries", gufo_model_entry_count(m->model));
    json_write_bool(&j, "damaged", gufo_model_damage(m->model) != NULL);
    json_end_object(&j);
    return end(GUFO_OK, NULL);
}

/* ---- questions ------------------------------------------------------------------------------- */

int viewer_show(uint32_t place, double array_limit)
{
    gufo_error error;
    viewer_model *m = model_in(place, &error);
    json_writer j = begin();

    if (m == NULL)
        return end(error.code, &error);
    show_write(m, array_limit < 0 ? UINT64_MAX : (uint64_t)array_limit, &j);
    return end(GUFO_OK, NULL);
}

int viewer_page(uint32_t place)
{
    gufo_error error;
    viewer_model *m = model_in(place, &error);
    json_writer j = begin();

    if (m == NULL)
        return end(error.code, &error);
    return end(page_write(m, &models[1], j.out, &error), &error);
}

/* Without an answer: the page has the findings then. */
int viewer_check(uint32_t place)
{
    gufo_error error;
    viewer_model *m = model_in(place, &error);

    (void)begin();
    if (m == NULL)
        return end(error.code, &error);
    return end(findings_check(m, &error), &error);
}

int viewer_vocabulary(uint32_t place, size_t filter_len, double first, double count)
{
    gufo_error error;
    viewer_model *m = model_in(place, &error);
    gufo_str filter = {room, room != NULL ? filter_len : 0};
    json_writer j = begin();

    if (m == NULL)
        return end(error.code, &error);
    return end(vocabulary_write(m->model, filter, (uint64_t)first, (uint64_t)count, &j, &error),
               &error);
}

int viewer_statistics(uint32_t place, double index, double limit)
{
    gufo_error error;
    viewer_model *m = model_in(place, &error);
    json_writer j = begin();

    if (m == NULL)
        return end(error.code, &error);
    return end(statistics_write(m->model, (uint64_t)index, (uint64_t)limit, &j, &error), &error);
}

int viewer_compare(void)
{
    gufo_error error;
    viewer_model *a = model_in(0, &error), *b = a != NULL ? model_in(1, &error) : NULL;
    json_writer j = begin();

    if (b == NULL)
        return end(error.code, &error);
    return end(compare_write(a->model, b->model, &j, &error), &error);
}

int viewer_compare_tensor(double index, double limit)
{
    gufo_error error;
    viewer_model *a = model_in(0, &error), *b = a != NULL ? model_in(1, &error) : NULL;
    json_writer j = begin();

    if (b == NULL)
        return end(error.code, &error);
    return end(losses_add(a, b->model, (uint64_t)index, (uint64_t)limit, &j, &error), &error);
}

/* The changes are in the room. */
int viewer_script(uint32_t place, size_t len)
{
    gufo_error error;
    viewer_model *m = model_in(place, &error);
    json_writer j = begin();

    if (m == NULL || room == NULL)
        return end(GUFO_E_ARGUMENT, &error);
    return end(script_write(m, (gufo_str){room, len}, j.out, &error), &error);
}
