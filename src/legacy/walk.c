/* One file, by one of the headers that occurred:
 *
 *     magic [version] | numbers | [mel filters] | [count] tokens | record, record ...
 *
 *     record:  n_dims | length of the name | type | dims | name | [zeros to 32] | data
 *
 * Nothing says how many records there are, so every size has to be right: one wrong block size, and
 * the next record makes no sense. */
#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "legacy/file.h"

#include <inttypes.h>
#include <string.h>

/* ==== bytes in order =========================================================================== */

/* Bytes of a file in order, through a window: headers and vocabularies are many small numbers. */

static gufo_status fail_end(const reader *r, uint64_t size, gufo_error *error)
{
    return fail_with(error, GUFO_E_TRUNCATED, r->at,
                     "the file ends inside %s: %s bytes are needed here, %s are left", r->inside,
                     GROUPED(size), GROUPED(reader_left(r)));
}

static gufo_status fill(reader *r, gufo_error *error)
{
    r->window_at = r->at;
    r->window_size = (size_t)smaller(sizeof r->window, reader_left(r));
    return source_read(r->source, r->at, r->window, r->window_size, error);
}

gufo_status reader_bytes(reader *r, void *out, size_t size, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    if (size > reader_left(r))
        return fail_end(r, size, error);
    if (size > sizeof r->window) {
        status = source_read(r->source, r->at, out, size, error);
    } else {
        if (!range_inside(r->at - r->window_at, size, r->window_size) || r->at < r->window_at)
            status = fill(r, error);
        if (status == GUFO_OK && size > 0)
            memcpy(out, r->window + (r->at - r->window_at), size);
    }
    if (status == GUFO_OK)
        r->at += size;
    return status;
}

gufo_status reader_u32(reader *r, uint32_t *out, gufo_error *error)
{
    uint8_t bytes[4];
    gufo_status status = reader_bytes(r, bytes, sizeof bytes, error);

    if (status == GUFO_OK)
        *out = load_u32(bytes, bytes_swapped(false));
    return status;
}

gufo_status reader_i32(reader *r, int32_t *out, gufo_error *error)
{
    uint32_t bits;
    gufo_status status = reader_u32(r, &bits, error);

    if (status == GUFO_OK)
        memcpy(out, &bits, sizeof bits);
    return status;
}

static gufo_status reader_f32(reader *r, float *out, gufo_error *error)
{
    uint32_t bits;
    gufo_status status = reader_u32(r, &bits, error);

    if (status == GUFO_OK)
        memcpy(out, &bits, sizeof bits);
    return status;
}

gufo_status reader_skip(reader *r, uint64_t size, gufo_error *error)
{
    if (size > reader_left(r))
        return fail_end(r, size, error);
    r->at += size;
    return GUFO_OK;
}

typedef struct walk {
    const legacy_file *file;
    legacy_part *part;
    const legacy_form *form;
    uint32_t version;
    unsigned generation;
    reader in;
} walk;

static const char *const field_names[FIELD_COUNT] = {
    [FIELD_VOCAB] = "n_vocab",
    [FIELD_CTX] = "n_ctx",
    [FIELD_EMBD] = "n_embd",
    [FIELD_MULT] = "n_mult",
    [FIELD_HEAD] = "n_head",
    [FIELD_HEAD_KV] = "n_head_kv",
    [FIELD_LAYER] = "n_layer",
    [FIELD_ROT] = "n_rot",
    [FIELD_PARALLEL] = "par_res",
    [FIELD_ALIBI] = "alibi_bias_max",
    [FIELD_CLIP] = "clip_qkv",
    [FIELD_RELEASE] = "version",
    [FIELD_FTYPE] = "ftype",
    [FIELD_MERGES] = "n_bpe_merges",
    [FIELD_AUDIO_CTX] = "n_audio_ctx",
    [FIELD_AUDIO_STATE] = "n_audio_state",
    [FIELD_AUDIO_HEAD] = "n_audio_head",
    [FIELD_AUDIO_LAYER] = "n_audio_layer",
    [FIELD_TEXT_CTX] = "n_text_ctx",
    [FIELD_TEXT_STATE] = "n_text_state",
    [FIELD_TEXT_HEAD] = "n_text_head",
    [FIELD_TEXT_LAYER] = "n_text_layer",
    [FIELD_MELS] = "n_mels",
};

/* The numbers that a field may have; others are refused before they are used for anything. */
typedef struct field_range {
    int32_t least, most;
} field_range;

enum { MOST_LAYERS = 1 << 10, MOST = 1 << 24 };

static const field_range ranges[FIELD_COUNT] = {
    [FIELD_VOCAB] = {1, LEGACY_MAX_VOCABULARY},
    [FIELD_CTX] = {1, MOST},
    [FIELD_EMBD] = {1, MOST},
    [FIELD_MULT] = {0, MOST},
    [FIELD_HEAD] = {1, MOST},
    [FIELD_HEAD_KV] = {1, MOST},
    [FIELD_LAYER] = {1, MOST_LAYERS},
    [FIELD_ROT] = {0, MOST},
    [FIELD_PARALLEL] = {0, 1},
    [FIELD_RELEASE] = {7, 40},
    [FIELD_FTYPE] = {0, MOST},
    [FIELD_MERGES] = {0, MOST},
    [FIELD_AUDIO_CTX] = {1, MOST},
    [FIELD_AUDIO_STATE] = {1, MOST},
    [FIELD_AUDIO_HEAD] = {1, MOST},
    [FIELD_AUDIO_LAYER] = {1, MOST_LAYERS},
    [FIELD_TEXT_CTX] = {1, MOST},
    [FIELD_TEXT_STATE] = {1, MOST},
    [FIELD_TEXT_HEAD] = {1, MOST},
    [FIELD_TEXT_LAYER] = {1, MOST_LAYERS},
    [FIELD_MELS] = {1, MOST},
};

static bool is_float(legacy_field field)
{
    return field == FIELD_ALIBI || field == FIELD_CLIP;
}

/* ==== the walk ================================================================================= */

/* ---- the header ----------------------------------------------------------------------------- */

static gufo_status read_field(walk *w, legacy_field field, gufo_error *error)
{
    legacy_number *out = &w->part->fields[field];
    uint64_t at = w->in.at;
    field_range range = ranges[field];
    gufo_status status;

    if (is_float(field)) {
        status = reader_f32(&w->in, &out->f, error);
        if (status == GUFO_OK && !(out->f >= 0 && out->f <= 1e6F))
            status = fail_with(error, GUFO_E_MALFORMED, at, "%s is %g, which no model has",
                               field_names[field], (double)out->f);
        return status;
    }
    status = reader_i32(&w->in, &out->i, error);
    if (status == GUFO_OK && (out->i < range.least || out->i > range.most))
        status = fail_with(error, GUFO_E_MALFORMED, at, "%s is %" PRId32 ", which no model has",
                           field_names[field], out->i);
    return status;
}

/* Where a number of the header is in the file. */
static uint64_t field_place(const walk *w, legacy_field field)
{
    uint64_t at = w->version != 0 ? 8 : 4;

    for (const uint8_t *f = w->form->fields; *f != FIELD_END && *f != field; f++)
        at += sizeof(legacy_number);
    return at;
}

static gufo_status check_heads(const walk *w, legacy_field width, legacy_field heads,
                               gufo_error *error)
{
    int32_t n = w->part->fields[width].i, h = w->part->fields[heads].i;

    if (h == 0 || n % h == 0)
        return GUFO_OK;
    return fail_with(error, GUFO_E_MALFORMED, field_place(w, heads),
                     "%s is %" PRId32 ", which does not divide %s, %" PRId32, field_names[heads], h,
                     field_names[width], n);
}

/* In a file without a version, ftype is this times the generation, and the type. */
enum { GENERATION_FACTOR = 1000 };

/* The generation of blocks: by the version, or by the factor in the ftype. */
static gufo_status find_generation(walk *w, gufo_error *error)
{
    int32_t ftype = w->part->fields[FIELD_FTYPE].i;
    unsigned factor = (unsigned)(ftype / GENERATION_FACTOR);

    switch (w->form->container) {
    case CONTAINER_GGML:
        w->generation = factor;
        break;
    case CONTAINER_GGJT:
        w->generation = w->version - 1;
        break;
    case CONTAINER_GGCC:
        w->generation = 2;
        break;
    case CONTAINER_RWKV:
        w->generation = w->version == 100 ? 0 : 2;
        break;
    default:
        w->generation = 0;
    }
    if (ftype < 0 || w->generation > 2)
        return fail_with(
            error, GUFO_E_MALFORMED, field_place(w, FIELD_FTYPE),
            "ftype is %" PRId32 ": the generations of blocks, its thousands, are 0 to 2", ftype);
    if (factor != 0 && factor != w->generation)
        return fail_with(error, GUFO_E_MALFORMED, field_place(w, FIELD_FTYPE),
                         "ftype is %" PRId32 ", of generation %u, but the version of the file is "
                         "that of generation %u",
                         ftype, factor, w->generation);
    if (w->form->container == CONTAINER_RWKV &&
        legacy_layout_find_rwkv((uint32_t)ftype, w->generation) == NULL)
        return fail_with(error, GUFO_E_MALFORMED, field_place(w, FIELD_FTYPE),
                         "data type %" PRId32 " does not exist in such a file", ftype);
    return GUFO_OK;
}

static gufo_status read_header(walk *w, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    w->in.inside = "the header";
    for (const uint8_t *f = w->form->fields; *f != FIELD_END && status == GUFO_OK; f++)
        status = read_field(w, (legacy_field)*f, error);
    if (status == GUFO_OK)
        status = check_heads(w, FIELD_EMBD, FIELD_HEAD, error);
    if (status == GUFO_OK)
        status = check_heads(w, FIELD_HEAD, FIELD_HEAD_KV, error);
    if (status == GUFO_OK)
        status = check_heads(w, FIELD_AUDIO_STATE, FIELD_AUDIO_HEAD, error);
    if (status == GUFO_OK)
        status = check_heads(w, FIELD_TEXT_STATE, FIELD_TEXT_HEAD, error);
    if (status == GUFO_OK)
        status = find_generation(w, error);
    return status;
}

static gufo_status read_mels(walk *w, gufo_error *error)
{
    legacy_part *part = w->part;
    uint64_t at = w->in.at;
    gufo_status status;

    w->in.inside = "the mel filters";
    status = reader_i32(&w->in, &part->mel_rows, error);
    if (status == GUFO_OK)
        status = reader_i32(&w->in, &part->mel_columns, error);
    if (status != GUFO_OK)
        return status;
    if (part->mel_rows != part->fields[FIELD_MELS].i)
        return fail_with(error, GUFO_E_MALFORMED, at,
                         "%" PRId32 " mel filters, but the header says %" PRId32, part->mel_rows,
                         part->fields[FIELD_MELS].i);
    if (part->mel_rows < 1 || part->mel_columns < 1)
        return fail_with(error, GUFO_E_MALFORMED, at,
                         "%" PRId32 " mel filters of %" PRId32 " numbers, which no model has",
                         part->mel_rows, part->mel_columns);
    part->mel_offset = w->in.at;
    return reader_skip(&w->in, (uint64_t)part->mel_rows * (uint64_t)part->mel_columns * 4, error);
}

/* ---- the vocabulary ------------------------------------------------------------------------- */

/* A text with its length before it; its place in `texts` for now, since that may move. */
static gufo_status read_text(walk *w, gufo_str *out, gufo_error *error)
{
    buffer *texts = &w->part->texts;
    uint64_t at = w->in.at;
    uint32_t length;
    void *room;
    gufo_status status = reader_u32(&w->in, &length, error);

    if (status != GUFO_OK)
        return status;
    if (length > LEGACY_MAX_TOKEN)
        return fail_with(error, GUFO_E_MALFORMED, at, "a token has %s bytes, more than %s",
                         GROUPED(length), GROUPED(LEGACY_MAX_TOKEN));
    *out = (gufo_str){NULL, length};
    room = buffer_extend(texts, length);
    if (room == NULL)
        return fail_memory(error);
    return reader_bytes(&w->in, room, length, error);
}

/* Rows of an embedding that no token uses have no text: there are some hundred.  A hole in a file is
 * tokens without end. */
enum { MOST_EMPTY = 1 << 16 };

/* Reads the next token to the end of the list, whose length grows with what is there. */
static gufo_status read_token(walk *w, bool has_score, uint64_t *room, gufo_error *error)
{
    legacy_vocabulary *v = &w->part->vocabulary;
    legacy_token *tokens =
        mem_grow(w->file->allocator, v->tokens, v->count, room, sizeof *v->tokens);
    gufo_status status;

    if (tokens == NULL)
        return fail_memory(error);
    v->tokens = tokens;
    tokens[v->count] = (legacy_token){.score = 0};
    status = read_text(w, &tokens[v->count].bytes, error);
    return status == GUFO_OK && has_score ? reader_f32(&w->in, &tokens[v->count].score, error)
                                          : status;
}

static gufo_status read_tokens(walk *w, uint64_t count, gufo_error *error)
{
    legacy_vocabulary *v = &w->part->vocabulary;
    bool scores = (w->form->flags & FORM_SCORES) != 0;
    uint64_t room = 0, empty = 0;
    gufo_status status = GUFO_OK;

    if (count > reader_left(&w->in) / (scores ? 8 : 4))
        return fail_with(error, GUFO_E_TRUNCATED, w->in.at,
                         "the file announces %s tokens, but only %s bytes are left", GROUPED(count),
                         GROUPED(reader_left(&w->in)));
    v->has_scores = scores;
    while (v->count < count && status == GUFO_OK) {
        status = read_token(w, scores, &room, error);
        empty += status == GUFO_OK && v->tokens[v->count++].bytes.len == 0;
        if (empty > MOST_EMPTY)
            status = fail_with(error, GUFO_E_MALFORMED, w->in.at,
                               "more than %s tokens have no text", GROUPED(MOST_EMPTY));
    }
    return status;
}

/* Two halves, which become one text with a blank between them. */
static gufo_status read_merge(walk *w, gufo_str *out, gufo_error *error)
{
    gufo_str first, second;
    uint64_t at = w->in.at;
    gufo_status status = read_text(w, &first, error);
    char *blank;

    if (status != GUFO_OK)
        return status;
    blank = buffer_extend(&w->part->texts, 1);
    if (blank == NULL)
        return fail_memory(error);
    *blank = ' ';
    status = read_text(w, &second, error);
    if (status != GUFO_OK)
        return status;
    if (first.len + second.len == 0)
        return fail_with(error, GUFO_E_MALFORMED, at, "a merge joins two tokens without text");
    *out = (gufo_str){NULL, first.len + 1 + second.len};
    return GUFO_OK;
}

static gufo_status read_merges(walk *w, gufo_error *error)
{
    legacy_vocabulary *v = &w->part->vocabulary;
    uint64_t at = w->in.at, room = 0;
    uint32_t count;
    gufo_status status = reader_u32(&w->in, &count, error);

    if (status != GUFO_OK)
        return status;
    if (count != (uint32_t)w->part->fields[FIELD_MERGES].i)
        return fail_with(error, GUFO_E_MALFORMED, at,
                         "%s merges follow, but the header says %" PRId32, GROUPED(count),
                         w->part->fields[FIELD_MERGES].i);
    if (count > reader_left(&w->in) / 8)
        return fail_with(error, GUFO_E_TRUNCATED, at,
                         "the file announces %s merges, but only %s bytes are left", GROUPED(count),
                         GROUPED(reader_left(&w->in)));
    while (v->merge_count < count && status == GUFO_OK) {
        gufo_str *merges =
            mem_grow(w->file->allocator, v->merges, v->merge_count, &room, sizeof *merges);

        if (merges == NULL)
            return fail_memory(error);
        v->merges = merges;
        status = read_merge(w, &merges[v->merge_count], error);
        v->merge_count += status == GUFO_OK;
    }
    return status;
}

/* Texts were read one after the other; now they stay where they are. */
static void place_texts(legacy_part *part)
{
    legacy_vocabulary *v = &part->vocabulary;
    const char *at = (const char *)part->texts.data;

    for (uint64_t i = 0; i < v->count; at += v->tokens[i++].bytes.len)
        v->tokens[i].bytes.data = at;
    for (uint64_t i = 0; i < v->merge_count; at += v->merges[i++].len)
        v->merges[i].data = at;
}

static gufo_status read_vocabulary(walk *w, gufo_error *error)
{
    uint32_t flags = w->form->flags, announced = (uint32_t)w->part->fields[FIELD_VOCAB].i;
    uint32_t count = announced, missing;
    uint64_t at = w->in.at;
    gufo_status status = GUFO_OK;

    w->in.inside = "the vocabulary";
    if ((flags & FORM_COUNTED) != 0)
        status = reader_u32(&w->in, &count, error);
    missing = (flags & FORM_FEWER) != 0 ? LEGACY_MAX_MISSING : 0;
    if (status == GUFO_OK && (count > announced || announced - count > missing))
        return fail_with(error, GUFO_E_MALFORMED, at,
                         "the vocabulary has %s tokens, but the header says %s", GROUPED(count),
                         GROUPED(announced));
    if (status == GUFO_OK)
        status = read_tokens(w, count, error);
    if (status == GUFO_OK && w->form->container == CONTAINER_GGCC)
        status = read_merges(w, error);
    place_texts(w->part);
    return status;
}

/* ---- records -------------------------------------------------------------------------------- */

static bool is_name(gufo_str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.data[i] <= ' ' || name.data[i] > '~')
            return false;
    return name.len > 0;
}

static gufo_status read_name(walk *w, uint32_t length, uint64_t at, gufo_str *out,
                             gufo_error *error)
{
    char *room;
    gufo_status status;

    if (length == 0 || length > LEGACY_MAX_NAME)
        return fail_with(error, GUFO_E_MALFORMED, at,
                         "a tensor's name has %s bytes; 1 to %d are possible", GROUPED(length),
                         LEGACY_MAX_NAME);
    room = buffer_extend(&w->part->names, length);
    if (room == NULL)
        return fail_memory(error);
    status = reader_bytes(&w->in, room, length, error);
    *out = (gufo_str){room, length};
    if (status == GUFO_OK && !is_name(*out))
        status =
            fail_with(error, GUFO_E_MALFORMED, at, "%s is not the name of a tensor", QUOTED(*out));
    out->data = NULL; /* names may move */
    return status;
}

/* Data of a tensor: its bytes have to be inside the file. */
static gufo_status measure(walk *w, legacy_record *r, gufo_error *error)
{
    uint64_t elements = 1;

    for (uint32_t i = 0; i < r->n_dims; i++)
        if (r->ne[i] == 0 || !checked_mul(elements, r->ne[i], &elements))
            return fail_with(error, GUFO_E_MALFORMED, r->header,
                             "dimension %" PRIu32 " of a tensor is %" PRIu64
                             ", which no tensor has",
                             i, r->ne[i]);
    if (r->ne[0] % r->layout->block_length != 0)
        return fail_with(error, GUFO_E_MALFORMED, r->header,
                         "rows of %s numbers do not fill blocks of %s, which have %" PRIu32 "%s",
                         GROUPED(r->ne[0]), r->layout->name, r->layout->block_length,
                         r->layout->block_length == 256
                             ? " (programs built with LLAMA_QKK_64 made others, which GGUF has "
                               "no type for)"
                             : "");
    if (!checked_mul(elements / r->layout->block_length, r->layout->block_bytes, &r->size))
        return fail_with(error, GUFO_E_MALFORMED, r->header,
                         "a tensor has %s numbers, more than any file holds", GROUPED(elements));
    if ((w->form->flags & FORM_ALIGNED) != 0) {
        uint64_t place;

        if (!checked_align(w->in.at, LEGACY_ALIGNMENT, &place))
            return fail_with(error, GUFO_E_MALFORMED, w->in.at, "the file is too large");
        if (reader_skip(&w->in, place - w->in.at, error) != GUFO_OK)
            return GUFO_E_TRUNCATED;
    }
    r->offset = w->in.at;
    w->in.inside = "the data of a tensor";
    return reader_skip(&w->in, r->size, error);
}

static gufo_status read_record(walk *w, legacy_record *r, gufo_error *error)
{
    uint32_t type = 0, length = 0;
    gufo_status status;

    w->in.inside = "the description of a tensor";
    *r = (legacy_record){.header = w->in.at};
    for (int i = 0; i < LEGACY_MAX_DIMS; i++)
        r->ne[i] = 1;
    status = reader_u32(&w->in, &r->n_dims, error);
    if (status == GUFO_OK)
        status = reader_u32(&w->in, &length, error);
    if (status == GUFO_OK)
        status = reader_u32(&w->in, &type, error);
    if (status == GUFO_OK && r->n_dims > LEGACY_MAX_DIMS)
        status = fail_with(error, GUFO_E_MALFORMED, r->header,
                           "a tensor has %s dimensions; 0 to %d are possible", GROUPED(r->n_dims),
                           LEGACY_MAX_DIMS);
    for (uint32_t i = 0; i < r->n_dims && status == GUFO_OK; i++) {
        uint32_t n = 0;

        status = reader_u32(&w->in, &n, error);
        r->ne[i] = n;
    }
    if (status == GUFO_OK)
        status = read_name(w, length, r->header, &r->name, error);
    if (status != GUFO_OK)
        return status;
    r->layout = w->form->container == CONTAINER_RWKV ? legacy_layout_find_rwkv(type, w->generation)
                                                     : legacy_layout_find(type, w->generation);
    if (r->layout == NULL)
        return fail_with(error, GUFO_E_MALFORMED, r->header + 8,
                         "tensor type %" PRIu32 " does not exist in such a file", type);
    return measure(w, r, error);
}

/* Whether a name begins with one of the words of the form. */
static bool fits_form(const legacy_form *form, gufo_str name)
{
    const char *at = form->name_start;

    while (*at != '\0') {
        gufo_str word = str_piece(&at, ' ');

        if (word.len > 0 && word.len <= name.len && memcmp(word.data, name.data, word.len) == 0)
            return true;
    }
    return false;
}

static gufo_status add_record(walk *w, gufo_error *error)
{
    legacy_part *part = w->part;
    size_t names = part->names.len;
    legacy_record *list, record;
    gufo_status status = read_record(w, &record, error);
    gufo_str name;

    if (status != GUFO_OK)
        return status;
    name = (gufo_str){(const char *)part->names.data + names, record.name.len};
    if (!fits_form(w->form, name))
        return fail_with(error, GUFO_E_TYPE, record.header, "tensor %s is not one of a %s model",
                         QUOTED(name), w->form->family->name);
    list = mem_grow(w->file->allocator, part->records, part->record_count, &part->record_room,
                    sizeof *list);
    if (list == NULL)
        return fail_memory(error);
    part->records = list;
    list[part->record_count++] = record;
    return GUFO_OK;
}

static void place_names(legacy_part *part)
{
    const char *at = (const char *)part->names.data;

    for (uint64_t i = 0; i < part->record_count; at += part->records[i++].name.len)
        part->records[i].name.data = at;
}

const legacy_record *legacy_record_find(const legacy_part *part, const char *name)
{
    uint64_t index;

    return name_index_find(&part->by_name, gufo_str_of(name), &index) ? &part->records[index]
                                                                      : NULL;
}

/* ---- all of it ------------------------------------------------------------------------------ */

void legacy_part_clear(const legacy_file *file, legacy_part *part)
{
    mem_free(file->allocator, part->vocabulary.tokens);
    mem_free(file->allocator, part->vocabulary.merges);
    mem_free(file->allocator, part->records);
    buffer_free(&part->texts);
    buffer_free(&part->names);
    name_index_free(&part->by_name, file->allocator);
    *part = (legacy_part){.path = part->path, .source = part->source};
    part->texts.allocator = part->names.allocator = file->allocator;
}

gufo_status legacy_walk(legacy_file *file, legacy_part *part, const legacy_form *form,
                        uint32_t version, uint64_t *reached, gufo_error *error)
{
    walk w = {.file = file,
              .part = part,
              .form = form,
              .version = version,
              .in = {.source = &part->source, .at = version != 0 ? 8 : 4}};
    gufo_status status;

    legacy_part_clear(file, part);
    status = read_header(&w, error);
    if (status == GUFO_OK && (form->flags & FORM_MELS) != 0)
        status = read_mels(&w, error);
    if (status == GUFO_OK && (form->flags & FORM_VOCAB) != 0)
        status = read_vocabulary(&w, error);
    part->head = w.in.at;
    if (status == GUFO_OK && reader_left(&w.in) == 0 && (form->flags & FORM_EMPTY) == 0)
        status = fail_with(error, GUFO_E_TRUNCATED, w.in.at, "the file has no tensors");
    while (status == GUFO_OK && reader_left(&w.in) > 0)
        status = add_record(&w, error);
    place_names(part);
    *reached = w.in.at;
    if (status == GUFO_OK) {
        file->generation = w.generation;
        file->version = version;
        file->form = form;
        file->family = form->family;
        file->ftype = part->fields[FIELD_FTYPE].i % GENERATION_FACTOR;
    }
    return status;
}
