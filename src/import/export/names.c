/* Names and shapes of a checkpoint whose conversion gives the tensors of a model.
 *
 * The rows of the table export_names are tried in their order.  The rules of gufo convert say what
 * a tensor with such a name becomes; it is part of the checkpoint if the model has all of that, and
 * no row before gives it.  Tensors that are left are looked for in the table hf_tensor_names. */
#include "import/export/tensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "gufo/schema.h"
#include "import/architectures/operations/names.h"
#include "import/architectures/operations/tensors.h"
#include "import/containers/checkpoint.h"

typedef struct export_row {
    const char *architectures, *name, *with, *shape;
} export_row;

static const export_row table[] = {
#define ROW(architectures, name, with, shape) {architectures, name, with, shape},
#include "registry/export_names.inc"
#undef ROW
};

enum { NAME_SIZE = 256, MOST_NESTED = 4, RESULTS = 4 };

/* How much of a tensor of the model is there. */
typedef struct coverage {
    uint64_t parts; /* of a stack; 1 of a tensor that is not one */
    uint64_t found;
} coverage;

typedef struct naming {
    made_up *made;
    const gufo_model *model;
    const gufo_allocator *allocator;
    const model_config *config;
    model_config axes; /* whose fields are those of the configuration, and a, b ... */
    tensor_tracer *tracer;
    coverage *coverage; /* of each tensor of the model */
    uint64_t *blocks;   /* numbers of blocks, each once, in their order */
    uint64_t block_count;
    uint64_t offset; /* where the next tensor is */
} naming;

/* ---- tensors of the model ------------------------------------------------------------------- */

static gufo_str name_at(const void *owner, uint64_t index)
{
    gufo_tensor t = {0};

    (void)gufo_model_tensor_at(owner, index, &t);
    return t.name;
}

static gufo_status index_tensors(naming *n, gufo_error *error)
{
    uint64_t count = gufo_model_tensor_count(n->model), first;
    gufo_status status =
        name_index_new(&n->made->by_name, count, name_at, n->model, n->allocator, error);

    for (uint64_t i = 0; i < count && status == GUFO_OK; i++)
        (void)name_index_add(&n->made->by_name, i, &first);
    return status;
}

/* The first part of a name that is a number; UINT64_MAX: none. */
static uint64_t block_of(gufo_str name)
{
    for (size_t at = 0; at < name.len; at++) {
        size_t digits = str_digits(name, at);
        uint64_t number;

        if (digits > 0 && at > 0 && name.data[at - 1] == '.' &&
            (at + digits == name.len || name.data[at + digits] == '.') &&
            str_number((gufo_str){name.data + at, digits}, &number))
            return number;
        at += digits;
    }
    return UINT64_MAX;
}

static int compare_numbers(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static gufo_status find_blocks(naming *n, gufo_error *error)
{
    uint64_t count = gufo_model_tensor_count(n->model), kept = 0;

    n->blocks = mem_array(n->allocator, count, sizeof *n->blocks);
    if (n->blocks == NULL)
        return fail_memory(error);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t block = block_of(name_at(n->model, i));

        if (block != UINT64_MAX)
            n->blocks[kept++] = block;
    }
    qsort(n->blocks, (size_t)kept, sizeof *n->blocks, compare_numbers);
    for (uint64_t i = 0; i < kept; i++)
        if (i == 0 || n->blocks[i] != n->blocks[n->block_count - 1])
            n->blocks[n->block_count++] = n->blocks[i];
    return GUFO_OK;
}

/* ---- patterns ------------------------------------------------------------------------------- */

/* A pattern with numbers in the place of {b} and {e}; false: too long. */
static bool fill_pattern(const char *pattern, uint64_t block, uint64_t entry, char out[NAME_SIZE])
{
    size_t at = 0;

    while (*pattern != '\0') {
        bool is_block = strncmp(pattern, "{b}", 3) == 0;

        if (at + 24 > NAME_SIZE)
            return false;
        if (!is_block && strncmp(pattern, "{e}", 3) != 0) {
            out[at++] = *pattern++;
            continue;
        }
        at += (size_t)snprintf(out + at, NAME_SIZE - at, "%" PRIu64, is_block ? block : entry);
        pattern += 3;
    }
    out[at] = '\0';
    return true;
}

/* Whether the model has the tensor that a row asks for, or lacks it where "!" is in front. */
static bool has_condition(const naming *n, const char *with, uint64_t block)
{
    bool lacks = *with == '!';
    char name[NAME_SIZE];
    uint64_t number;

    return *with == '\0' ||
           (fill_pattern(with + lacks, block, 0, name) &&
            name_index_find(&n->made->by_name, gufo_str_of(name), &number) != lacks);
}

/* ---- shapes --------------------------------------------------------------------------------- */

/* Sets a, b ... to the axes of the first result, slowest first, a2, b2 ... to those of the second. */
static bool set_axes(const naming *n, const uint64_t *results, uint32_t count)
{
    bool set = true;

    for (uint32_t i = 0; i < count; i++) {
        gufo_tensor t;

        (void)gufo_model_tensor_at(n->model, results[i], &t);
        for (uint32_t k = 0; k < t.n_dims; k++) {
            char name[3] = {(char)('a' + k), i > 0 ? (char)('1' + i) : '\0', '\0'};
            uint64_t size = t.dims[t.n_dims - 1 - k];

            set = set && size <= INT64_MAX &&
                  json_object_set_new(n->axes.fields, name, json_integer((json_int_t)size)) == 0;
        }
    }
    return set;
}

/* The next expression of a shape, up to a comma outside of parentheses. */
static gufo_str next_axis(const char **text)
{
    const char *start = *text;
    unsigned depth = 0;
    size_t len = 0;

    for (; start[len] != '\0' && (start[len] != ',' || depth > 0); len++) {
        depth += start[len] == '(';
        depth -= start[len] == ')' && depth > 0;
    }
    *text = start + len + (start[len] == ',');
    return (gufo_str){start, len};
}

typedef struct made_shape {
    uint64_t sizes[CHECKPOINT_MAX_DIMS]; /* slowest first */
    uint8_t n_dims;
} made_shape;

/* The shape that a row gives: expressions with commas between. */
static gufo_status read_shape(const naming *n, const char *text, made_shape *out, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (out->n_dims = 0; *text != '\0' && status == GUFO_OK; out->n_dims++) {
        gufo_str part = next_axis(&text);
        char expression[NAME_SIZE];

        if (out->n_dims == CHECKPOINT_MAX_DIMS || part.len >= sizeof expression)
            return refuse(error, GUFO_E_ARGUMENT, "a shape with too many axes");
        memcpy(expression, part.data, part.len);
        expression[part.len] = '\0';
        status = config_number(&n->axes, expression, &out->sizes[out->n_dims], error);
    }
    return status;
}

/* Without a shape in its row: that of the result, or of one entry of it. */
static void copy_shape(const naming *n, uint64_t result, bool is_stacked, made_shape *out)
{
    gufo_tensor t;

    (void)gufo_model_tensor_at(n->model, result, &t);
    out->n_dims = 0;
    for (uint32_t i = t.n_dims - (is_stacked && t.n_dims > 0 ? 1 : 0); i > 0; i--)
        out->sizes[out->n_dims++] = t.dims[i - 1];
}

static gufo_status find_shape(const naming *n, const char *shape, const tensor_fate *fate,
                              const uint64_t *results, made_shape *out, gufo_error *error)
{
    if (*shape == '\0') {
        copy_shape(n, results[0], fate->entries > 0, out);
        return GUFO_OK;
    }
    if (!set_axes(n, results, fate->count))
        return fail_memory(error);
    return read_shape(n, shape, out, error);
}

/* ---- adding --------------------------------------------------------------------------------- */

static gufo_status add_tensor(naming *n, const char *name, made_shape *shape, gufo_error *error)
{
    checkpoint *c = &n->made->checkpoint;
    checkpoint_tensor t = {.n_dims = shape->n_dims};
    size_t len = strlen(name);
    char *text = checkpoint_memory(c, len + 1);
    gufo_status status;

    if (text == NULL)
        return fail_memory(error);
    memcpy(text, name, len + 1);
    t.name = (gufo_str){text, len};
    t.number = number_by_name(gufo_str_of("F32"));
    t.offset = n->offset;
    status = tensor_shape(&t, shape->sizes, GUFO_NO_OFFSET, error);
    if (status == GUFO_OK && !checked_add(n->offset, checkpoint_tensor_size(&t), &n->offset))
        status = refuse(error, GUFO_E_LIMIT, "the tensors have more numbers than can be counted");
    return status == GUFO_OK ? checkpoint_add(c, &t, error) : status;
}

/* Finds the results of a name; false if the model lacks one, or something gives it already. */
static bool find_results(const naming *n, const tensor_fate *fate, uint64_t results[RESULTS])
{
    for (uint32_t i = 0; i < fate->count; i++) {
        const coverage *c;

        if (!name_index_find(&n->made->by_name, gufo_str_of(fate->names[i]), &results[i]))
            return false;
        c = &n->coverage[results[i]];
        if (c->found > 0 &&
            (fate->entries == 0 || c->parts != fate->entries || c->found == c->parts))
            return false;
    }
    return fate->count > 0;
}

static void cover(naming *n, const tensor_fate *fate, const uint64_t *results, uint64_t found)
{
    for (uint32_t i = 0; i < fate->count; i++) {
        n->coverage[results[i]].parts = fate->entries > 0 ? fate->entries : 1;
        n->coverage[results[i]].found += found;
    }
}

/* A tensor with the number of a block in a key of the model. */
static gufo_status try_key(naming *n, const export_row *row, uint64_t block, gufo_error *error)
{
    made_up *m = n->made;
    made_shape scalar = {.n_dims = 1, .sizes = {1}};
    char name[NAME_SIZE];
    given_number *list;
    gufo_array array;
    gufo_value value;

    if (gufo_model_key_array(n->model, row->with + 1, GUFO_VALUE_FLOAT32, &array, NULL) !=
            GUFO_OK ||
        gufo_array_at(&array, block, &value, NULL) != GUFO_OK ||
        !fill_pattern(row->name, block, 0, name))
        return GUFO_OK;
    list = mem_grow(n->allocator, m->given, m->given_count, &m->given_room, sizeof *list);
    if (list == NULL)
        return fail_memory(error);
    m->given = list;
    list[m->given_count++] =
        (given_number){.tensor = m->checkpoint.tensor_count, .value = (float)value.as.f};
    return add_tensor(n, name, &scalar, error);
}

/* What a tensor becomes, with itself in the checkpoint: conditions may ask for it. */
static gufo_status trace(const naming *n, const char *name, tensor_fate *fate, gufo_error *error)
{
    checkpoint *c = &n->made->checkpoint;
    const checkpoint_tensor t = {.name = gufo_str_of(name)};
    gufo_status status = checkpoint_add(c, &t, error);

    if (status != GUFO_OK)
        return status;
    status = tensor_trace(n->tracer, t.name, fate, error);
    c->tensor_count--;
    return status;
}

/* The tensors of a row in one block: one, or as many as the stack has entries. */
static gufo_status try_row(naming *n, const export_row *row, uint64_t block, gufo_error *error)
{
    bool has_entries = strstr(row->name, "{e}") != NULL;
    uint64_t results[RESULTS], count = 1;
    made_shape shape = {0};
    tensor_fate fate;
    char name[NAME_SIZE];
    gufo_status status;

    if (*row->with == '=')
        return try_key(n, row, block, error);
    if (!has_condition(n, row->with, block) || !fill_pattern(row->name, block, 0, name))
        return GUFO_OK;
    status = trace(n, name, &fate, error);
    if (status != GUFO_OK || !find_results(n, &fate, results))
        return status;
    if (has_entries)
        count = fate.entries;
    status = find_shape(n, row->shape, &fate, results, &shape, error);
    for (uint64_t i = 0; i < count && status == GUFO_OK; i++)
        if (fill_pattern(row->name, block, i, name))
            status = add_tensor(n, name, &shape, error);
    if (status == GUFO_OK)
        cover(n, &fate, results, count);
    return status;
}

static gufo_status try_blocks(naming *n, const export_row *row, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    if (strstr(row->name, "{b}") == NULL)
        return try_row(n, row, 0, error);
    for (uint64_t i = 0; i < n->block_count && status == GUFO_OK; i++)
        status = try_row(n, row, n->blocks[i], error);
    return status;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static bool is_in_list(const char *list, const char *word)
{
    while (*list != '\0')
        if (gufo_str_equal(str_piece(&list, ','), gufo_str_of(word)))
            return true;
    return false;
}

/* The rows of an architecture, or of a group, "@llama", that they name. */
static gufo_status try_rows(naming *n, const char *architecture, unsigned depth, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < sizeof table / sizeof *table && status == GUFO_OK; i++) {
        if (!is_in_list(table[i].architectures, architecture))
            continue;
        if (*table[i].name != '@')
            status = try_blocks(n, &table[i], error);
        else if (depth < MOST_NESTED)
            status = try_rows(n, table[i].name, depth + 1, error);
    }
    return status;
}

/* ---- what is left --------------------------------------------------------------------------- */

/* The name of a tensor with {bid} in the place of its block, without its suffix. */
static bool spell_tensor(gufo_str name, uint64_t block, char out[NAME_SIZE], const char **suffix)
{
    static const char *const suffixes[] = {".weight", ".bias", ""};
    char number[24];
    const char *at;

    for (size_t i = 0; i < 3 && (i == 0 || !str_ends(name, *suffix)); i++)
        *suffix = suffixes[i];
    name.len -= strlen(*suffix);
    if (name.len + 8 > NAME_SIZE)
        return false;
    (void)snprintf(out, NAME_SIZE, "%.*s", (int)name.len, name.data);
    (void)snprintf(number, sizeof number, ".%" PRIu64 ".", block);
    at = strstr(out, number);
    if (block != UINT64_MAX && at != NULL) {
        size_t begin = (size_t)(at - out), end = begin + strlen(number);

        (void)snprintf(out, NAME_SIZE, "%.*s.{bid}.%.*s", (int)begin, name.data,
                       (int)(name.len - end), name.data + end);
    }
    return true;
}

/* Tensors that gufo convert computes from the configuration. */
bool names_is_generated(gufo_str name)
{
    return str_begins(name, "rope_freqs.") || str_begins(name, "rope_factors_") ||
           str_begins(name, "mel_filters");
}

/* Whether the checkpoint has a tensor whose name begins so: classes differ in the names of their blocks. */
static bool has_beginning(const naming *n, const char *beginning)
{
    const checkpoint *c = &n->made->checkpoint;

    for (uint64_t i = 0; i < c->tensor_count; i++)
        if (str_begins(c->tensors[i].name, beginning))
            return true;
    return false;
}

static gufo_status try_names(naming *n, uint64_t index, gufo_error *error)
{
    gufo_str name = name_at(n->model, index);
    uint64_t block = block_of(name);
    char wanted[NAME_SIZE], filled[NAME_SIZE];
    const char *suffix = "", *name_there, *tensor;
    gufo_status status = GUFO_OK;

    if (names_is_generated(name) || !spell_tensor(name, block, wanted, &suffix))
        return GUFO_OK;
    for (size_t i = 0; names_row_at(i, &name_there, &tensor) && status == GUFO_OK; i++) {
        const char *place = strstr(name_there, "{bid}");
        const export_row row = {.name = filled, .with = "", .shape = ""};
        size_t begin = place == NULL ? 0 : (size_t)(place - name_there);
        int len;

        if (strcmp(tensor, wanted) != 0 || (place != NULL && block == UINT64_MAX))
            continue;
        (void)snprintf(filled, sizeof filled, "%.*s", (int)begin, name_there);
        if (!has_beginning(n, filled))
            continue;
        len = place == NULL ? snprintf(filled, sizeof filled, "%s%s", name_there, suffix)
                            : snprintf(filled, sizeof filled, "%.*s{b}%s%s", (int)begin, name_there,
                                       place + strlen("{bid}"), suffix);
        if (len > 0 && (size_t)len < sizeof filled)
            status = try_row(n, &row, block, error);
        if (n->coverage[index].found > 0)
            break;
    }
    return status;
}

static gufo_status try_rest(naming *n, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < gufo_model_tensor_count(n->model) && status == GUFO_OK; i++)
        if (n->coverage[i].found == 0)
            status = try_names(n, i, error);
    for (uint64_t i = 0; i < gufo_model_tensor_count(n->model); i++)
        n->made->covered[i] = n->coverage[i].found > 0;
    return status;
}

/* ---- life ----------------------------------------------------------------------------------- */

static gufo_status open_naming(naming *n, gufo_import *import, uint64_t tokens, gufo_error *error)
{
    const tensors_request request = {.import = import,
                                     .document = import->document,
                                     .checkpoint = &n->made->checkpoint,
                                     .config = n->config,
                                     .tokens = tokens};
    uint64_t count = gufo_model_tensor_count(n->model);
    gufo_status status = index_tensors(n, error);

    if (status == GUFO_OK)
        status = find_blocks(n, error);
    if (status != GUFO_OK)
        return status;
    n->coverage = mem_array(n->allocator, count, sizeof *n->coverage);
    n->made->covered = mem_array(n->allocator, count, sizeof *n->made->covered);
    n->axes = *n->config;
    n->axes.fields = json_copy(n->config->fields);
    if (n->coverage == NULL || n->made->covered == NULL || n->axes.fields == NULL)
        return fail_memory(error);
    memset(n->coverage, 0, (size_t)count * sizeof *n->coverage);
    memset(n->made->covered, 0, (size_t)count * sizeof *n->made->covered);
    n->tracer = tensor_tracer_new(&request, error);
    return n->tracer != NULL ? GUFO_OK : GUFO_E_MEMORY;
}

static void close_naming(naming *n)
{
    tensor_tracer_free(n->tracer);
    if (n->axes.fields != n->config->fields)
        json_decref(n->axes.fields);
    mem_free(n->allocator, n->coverage);
    mem_free(n->allocator, n->blocks);
}

gufo_status names_make_up(made_up *m, const gufo_model *model, gufo_import *import,
                          const model_config *config, uint64_t tokens, gufo_error *error)
{
    static char nameless[] = "";
    naming n = {.made = m, .model = model, .allocator = &import->allocator, .config = config};
    checkpoint *c = &m->checkpoint;
    gufo_status status;

    *m = (made_up){.file = {.path = nameless}};
    *c =
        (checkpoint){.allocator = n.allocator, .made_up = true, .files = &m->file, .file_count = 1};
    status = open_naming(&n, import, tokens, error);
    if (status == GUFO_OK)
        status = try_rows(&n, config->architecture, 0, error);
    if (status == GUFO_OK)
        status = try_rest(&n, error);
    if (status == GUFO_OK)
        status = checkpoint_index_names(c, error);
    close_naming(&n);
    return status;
}

void names_free(made_up *m)
{
    checkpoint *c = &m->checkpoint;

    if (c->allocator == NULL)
        return;
    mem_free(c->allocator, m->given);
    mem_free(c->allocator, m->covered);
    name_index_free(&m->by_name, c->allocator);
    checkpoint_free_tensors(c);
    *m = (made_up){.covered = NULL};
}
