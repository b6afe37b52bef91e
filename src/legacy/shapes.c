/* Whether the tensors of an old file are those of a model.
 *
 * A letter in the shape of a name means the same number everywhere: those of the header are known,
 * others are what the first tensor has there.  So a file in which a width is wrong, or a layer is
 * missing, is refused before anything is made of it. */
#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "legacy/plan.h"

#include <inttypes.h>
#include <string.h>

/* ==== layers, where names stay ================================================================= */

/* Whether a model whose tensors keep their names has all its layers: each one has as many tensors
 * as the second one.  (The first one has some of its own.) */

/* The number behind `start` in a name; false where the name has another beginning. */
static bool layer_of(gufo_str name, const char *start, uint64_t *layer)
{
    size_t len = strlen(start), digits;

    if (!str_begins(name, start))
        return false;
    digits = str_digits(name, len);
    return digits > 0 && digits <= 9 && str_number((gufo_str){name.data + len, digits}, layer);
}

static gufo_status count_tensors(const legacy_file *file, const legacy_blocks *blocks,
                                 uint64_t *counts, uint64_t layers, gufo_error *error)
{
    const legacy_part *part = &file->parts[0];
    uint64_t layer;

    for (uint64_t i = 0; i < part->record_count; i++) {
        const legacy_record *r = &part->records[i];

        if (!layer_of(r->name, blocks->start, &layer))
            continue;
        if (layer >= layers)
            return fail_with(error, GUFO_E_MALFORMED, r->header,
                             "tensor %s is of layer %" PRIu64 ", but there are %s layers",
                             QUOTED(r->name), layer, GROUPED(layers));
        counts[layer]++;
    }
    return GUFO_OK;
}

static gufo_status check_blocks(const legacy_file *file, const legacy_blocks *blocks,
                                gufo_error *error)
{
    uint64_t layers = (uint64_t)field_of(file, blocks->layers);
    uint64_t *counts = mem_array(file->allocator, layers, sizeof *counts);
    gufo_status status = counts != NULL ? GUFO_OK : fail_memory(error);

    if (status == GUFO_OK)
        status = count_tensors(file, blocks, counts, layers, error);
    for (uint64_t i = 0; i < layers && status == GUFO_OK; i++)
        if (counts[i] == 0 || (i > 0 && counts[i] != counts[1]))
            status = fail_with(
                error, GUFO_E_MALFORMED, file->parts[0].source.size,
                "layer %" PRIu64 " has %s tensors %s%" PRIu64
                ".*, others have %s: the file was cut off, or is not a complete model",
                i, GROUPED(counts[i]), blocks->start, i, GROUPED(layers > 1 ? counts[1] : 1));
    mem_free(file->allocator, counts);
    return status;
}

/* Checks that every layer is there, where the family's names stay. */
static gufo_status legacy_check_layers(const legacy_file *file, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (int i = 0; i < LEGACY_MAX_BLOCKS && status == GUFO_OK; i++)
        if (file->family->blocks[i].start != NULL)
            status = check_blocks(file, &file->family->blocks[i], error);
    return status;
}

/* ==== shapes =================================================================================== */

/* ---- dimensions ----------------------------------------------------------------------------- */

void legacy_whole(const legacy_file *file, const legacy_record *record, const legacy_name *row,
                  uint64_t ne[LEGACY_MAX_DIMS])
{
    memcpy(ne, record->ne, sizeof record->ne);
    if (record->n_dims == 2)
        ne[row != NULL && row->division == DIVIDED_COLUMNS ? 0 : 1] *= file->part_count;
}

static gufo_status fail_shape(const legacy_record *r, const uint64_t *ne, uint32_t dim,
                              uint64_t expected, gufo_error *error)
{
    return fail_with(error, GUFO_E_MALFORMED, r->header,
                     "dimension %" PRIu32 " of tensor %s is %" PRIu64 ", not %" PRIu64, dim,
                     QUOTED(r->name), ne[dim], expected);
}

/* Matrices of 2022 are recognised by one whose width is the embedding on the wrong side. */
static bool is_flipped(const legacy_shapes *s, const legacy_name *row, const legacy_record *r)
{
    uint64_t embedding = s->size['E'];

    return row->order == ORDER_FLIPPED && r->n_dims == 2 && r->ne[0] != embedding &&
           r->ne[1] == embedding;
}

static gufo_status check_shape(const legacy_file *file, legacy_shapes *s, const legacy_name *row,
                               const legacy_record *r, gufo_error *error)
{
    uint64_t ne[LEGACY_MAX_DIMS];
    uint32_t n = (uint32_t)strlen(row->shape);
    bool flip = s->flipped && row->order == ORDER_FLIPPED && n == 2;

    if (row->shape[0] == '?')
        return GUFO_OK;
    legacy_whole(file, r, row, ne);
    if (r->n_dims != n)
        return fail_with(error, GUFO_E_MALFORMED, r->header, "tensor %s has %s dimensions, not %s",
                         QUOTED(r->name), GROUPED(r->n_dims), GROUPED(n));
    for (uint32_t i = 0; i < n; i++) {
        uint64_t *size = &s->size[(unsigned char)row->shape[flip ? n - 1 - i : i]];

        if (*size == 0)
            *size = ne[i];
        if (*size != ne[i])
            return fail_shape(r, ne, i, *size, error);
    }
    return GUFO_OK;
}

/* Letters that the header knows; 0 where it has no such number. */
static const struct header_letter {
    char letter;
    legacy_field field;
} header_letters[] = {
    {'E', FIELD_EMBD},      {'V', FIELD_VOCAB}, {'C', FIELD_CTX},        {'S', FIELD_AUDIO_STATE},
    {'O', FIELD_AUDIO_CTX}, {'B', FIELD_MELS},  {'T', FIELD_TEXT_STATE}, {'P', FIELD_TEXT_CTX},
};

static void preset(const legacy_file *file, legacy_shapes *s)
{
    uint64_t embedding = (uint64_t)field_of(file, FIELD_EMBD);
    uint64_t heads = larger((uint64_t)field_of(file, FIELD_HEAD), 1);
    uint64_t groups = larger((uint64_t)field_of(file, FIELD_HEAD_KV), 1);

    for (size_t i = 0; i < sizeof header_letters / sizeof *header_letters; i++)
        s->size[(unsigned char)header_letters[i].letter] =
            (uint64_t)field_of(file, header_letters[i].field);
    s->size['Q'] = 3 * embedding;
    s->size['q'] = embedding + 2 * groups * (embedding / heads);
    for (int digit = '1'; digit <= '9'; digit++)
        s->size[digit] = (uint64_t)(digit - '0');
}

/* ---- names ---------------------------------------------------------------------------------- */

static gufo_str name_of(const void *owner, uint64_t index)
{
    return ((const legacy_part *)owner)->records[index].name;
}

static gufo_status check_unique(const legacy_file *file, gufo_error *error)
{
    legacy_part *part = &file->parts[0];
    name_index *names = &part->by_name;
    uint64_t first;
    gufo_status status =
        name_index_new(names, part->record_count, name_of, part, file->allocator, error);

    for (uint64_t i = 0; status == GUFO_OK && i < part->record_count; i++)
        if (!name_index_add(names, i, &first))
            status = fail_with(error, GUFO_E_MALFORMED, part->records[i].header,
                               "tensor %s occurs twice", QUOTED(part->records[i].name));
    return status;
}

/* How often each row of the table was found. */
enum { MOST_NAMES = 64 };

typedef struct census {
    uint64_t found[MOST_NAMES];
    uint64_t layers;
} census;

static gufo_status check_record(const legacy_file *file, legacy_shapes *s, census *c,
                                const legacy_record *r, gufo_error *error)
{
    uint64_t layer;
    const legacy_name *row = legacy_name_find(file->family, r->name, &layer);

    if (row == NULL)
        return fail_with(error, GUFO_E_TYPE, r->header, "tensor %s is not one of a %s model",
                         QUOTED(r->name), file->family->name);
    if (layer != UINT64_MAX && layer >= c->layers)
        return fail_with(error, GUFO_E_MALFORMED, r->header,
                         "tensor %s is of layer %" PRIu64 ", but there are %s layers",
                         QUOTED(r->name), layer, GROUPED(c->layers));
    c->found[row - file->family->names]++;
    return check_shape(file, s, row, r, error);
}

/* How often a row should have been found. */
static uint64_t expected_count(const census *c, const legacy_name *row, uint64_t found,
                               bool other_way)
{
    uint64_t all = strchr(row->old_name, '%') != NULL ? c->layers : 1;

    if (row->need == LATER)
        return all - 1;
    if (row->need == ONE_WAY || row->need == OTHER_WAY)
        return (row->need == OTHER_WAY) == other_way ? all : 0;
    return row->need == OPTIONAL && found == 0 ? 0 : all;
}

static gufo_status fail_missing(const legacy_part *part, const char *name, gufo_error *error)
{
    return fail_with(error, GUFO_E_MALFORMED, part->source.size,
                     "tensor %s is missing: the file was cut off, or is not a complete model",
                     name);
}

/* Names the first tensor that is missing. */
static gufo_status fail_count(const legacy_file *file, const legacy_name *row, uint64_t found,
                              uint64_t expected, gufo_error *error)
{
    const legacy_part *part = &file->parts[0];
    uint64_t layers = (uint64_t)field_of(file, FIELD_LAYER);
    char name[LEGACY_MAX_NAME];

    for (uint64_t i = row->need == LATER; i < layers && found < expected; i++) {
        legacy_name_write_old(row, i, name, sizeof name);
        if (legacy_record_find(part, name) == NULL)
            return fail_missing(part, name, error);
    }
    legacy_name_write_old(row, 0, name, sizeof name);
    return fail_with(error, GUFO_E_MALFORMED, part->source.size,
                     "the file has %s tensors of the kind of %s, but the model has %s",
                     GROUPED(found), name, GROUPED(expected));
}

static gufo_status check_complete(const legacy_file *file, const census *c, gufo_error *error)
{
    const legacy_name *names = file->family->names;
    bool other_way = false;

    for (size_t i = 0; names[i].old_name != NULL; i++)
        other_way |= names[i].need == OTHER_WAY && c->found[i] != 0;
    for (size_t i = 0; names[i].old_name != NULL; i++) {
        uint64_t expected = expected_count(c, &names[i], c->found[i], other_way);

        if (c->found[i] != expected)
            return fail_count(file, &names[i], c->found[i], expected, error);
    }
    return GUFO_OK;
}

/* Where names stay. */
static gufo_status check_fixed(const legacy_file *file, legacy_shapes *s, gufo_error *error)
{
    const legacy_part *part = &file->parts[0];
    const legacy_name *row = file->family->fixed;
    gufo_status status = GUFO_OK;

    if (row == NULL || part->record_count == 0) /* or a vocabulary alone */
        return GUFO_OK;
    for (; row->old_name != NULL && status == GUFO_OK; row++) {
        const legacy_record *r = legacy_record_find(part, row->old_name);

        status = r != NULL ? check_shape(file, s, row, r, error)
                           : fail_missing(part, row->old_name, error);
    }
    return status == GUFO_OK ? legacy_check_layers(file, error) : status;
}

/* ---- starcoder ------------------------------------------------------------------------------ */

/* Whether the first `count` rows of k, and those of v, are the same in every head. */
static gufo_status has_one_kv(const legacy_file *file, const legacy_record *r, uint64_t count,
                              bool *one, gufo_error *error)
{
    uint64_t embedding = (uint64_t)field_of(file, FIELD_EMBD), all = r->ne[r->n_dims - 1];
    uint64_t heads = (uint64_t)field_of(file, FIELD_HEAD), row = r->size / all, size = count * row;
    uint8_t *bytes;
    gufo_status status;

    *one = heads > 1 && all == 3 * embedding && (r->n_dims == 1 || r->ne[0] == embedding);
    if (!*one) /* of another width, rows may be larger than memory */
        return GUFO_OK;
    bytes = mem_alloc(file->allocator, (size_t)size * 2);
    status = bytes != NULL ? GUFO_OK : fail_memory(error);
    for (uint64_t i = 0; status == GUFO_OK && *one && i < 2 * heads; i++) {
        uint64_t place = (embedding + i * (embedding / heads)) * row;
        bool first = i % heads == 0; /* of k, and of v */

        status = source_read(&file->parts[0].source, r->offset + place,
                             first ? bytes : bytes + size, (size_t)size, error);
        *one = first || memcmp(bytes, bytes + size, (size_t)size) == 0;
    }
    mem_free(file->allocator, bytes);
    return status;
}

static gufo_status fail_kv(const legacy_record *r, gufo_error *error)
{
    return fail_with(error, GUFO_E_MALFORMED, r->offset,
                     "tensor %s has different keys or values in its heads, so it is not one of a "
                     "starcoder model",
                     QUOTED(r->name));
}

static bool has_copies(const legacy_record *r)
{
    uint64_t layer;
    const legacy_name *row = legacy_name_find(&legacy_starcoder, r->name, &layer);

    return row != NULL && row->order == ORDER_ONE_KV;
}

gufo_status legacy_check_copies(const legacy_file *file, gufo_error *error)
{
    const legacy_part *part = &file->parts[0];
    gufo_status status = GUFO_OK;
    bool one = true;

    if (file->family != &legacy_starcoder)
        return GUFO_OK;
    for (uint64_t i = 0; i < part->record_count && status == GUFO_OK; i++) {
        const legacy_record *r = &part->records[i];
        uint64_t size = (uint64_t)(field_of(file, FIELD_EMBD) / field_of(file, FIELD_HEAD));

        if (!has_copies(r))
            continue;
        status = has_one_kv(file, r, size, &one, error);
        if (status == GUFO_OK && !one)
            status = fail_kv(r, error);
    }
    return status;
}

/* Both have the same header and names: data decides, unless the caller does. */
static bool may_be_starcoder(const legacy_file *file)
{
    return file->family == &legacy_starcoder ||
           (!file->is_given && strcmp(file->family->name, legacy_starcoder.like) == 0);
}

/* A trained gpt-2 never has equal heads; starcoder's converter copied the only one.  One row of
 * each head shows it. */
static gufo_status find_starcoder(legacy_file *file, gufo_error *error)
{
    const legacy_part *part = &file->parts[0];
    bool one = true, any = false, wanted = file->family == &legacy_starcoder;
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < part->record_count && status == GUFO_OK && one; i++) {
        const legacy_record *r = &part->records[i];

        if (!has_copies(r) || r->n_dims != 2)
            continue;
        any = true;
        status = has_one_kv(file, r, 1, &one, error);
        if (status == GUFO_OK && wanted && !one)
            status = fail_kv(r, error);
    }
    if (status == GUFO_OK && any && one)
        file->family = &legacy_starcoder;
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------ */

gufo_status legacy_check_shapes(legacy_file *file, legacy_shapes *s, gufo_error *error)
{
    const legacy_part *part = &file->parts[0];
    census c = {.layers = (uint64_t)field_of(file, FIELD_LAYER)};
    gufo_status status = check_unique(file, error);
    uint64_t layer;

    *s = (legacy_shapes){.flipped = false};
    preset(file, s);
    if (status == GUFO_OK && file->family->names == NULL)
        return check_fixed(file, s, error);
    if (status != GUFO_OK)
        return status;
    if (may_be_starcoder(file))
        status = find_starcoder(file, error);
    for (uint64_t i = 0; i < part->record_count && !s->flipped; i++) {
        const legacy_name *row = legacy_name_find(file->family, part->records[i].name, &layer);

        s->flipped = row != NULL && is_flipped(s, row, &part->records[i]);
    }
    for (uint64_t i = 0; i < part->record_count && status == GUFO_OK; i++)
        status = check_record(file, s, &c, &part->records[i], error);
    return status == GUFO_OK ? check_complete(file, &c, error) : status;
}
