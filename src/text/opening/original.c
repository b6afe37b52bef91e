/* The tokens of a tokenizer.json by their ids, and the pipeline that finds them. */
#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "text/formats/tokenizer_file.h"
#include "text/opening/opening.h"
#include "text/pipeline/pipeline_parts.h"

enum { LARGEST_GAP = 1 << 16 }; /* ids beyond the number of tokens */

/* ---- texts ---------------------------------------------------------------------------------- */

/* The texts of the file by id; an id without one has the length 0. */
static gufo_status count_ids(const gufo_vocab *v, const tokenizer_file *f, uint64_t *count,
                             gufo_error *error)
{
    const pipeline *p = v->pipeline;
    uint64_t known = (uint64_t)f->vocab_count + p->added_count;

    *count = 0;
    for (uint32_t i = 0; i < f->vocab_count; i++)
        *count = larger(*count, (uint64_t)f->vocab[i].id + 1);
    for (uint32_t i = 0; i < p->added_count; i++)
        if (p->added[i].id != GUFO_NO_TOKEN)
            *count = larger(*count, (uint64_t)p->added[i].id + 1);
    if (*count > known + LARGEST_GAP || *count >= TRIE_MOST_TEXTS)
        return refuse(error, GUFO_E_LIMIT,
                      "tokenizer.json: a token has id %" PRIu64 ", but it has only %s tokens",
                      *count - 1, GROUPED(known));
    return GUFO_OK;
}

static void place_texts(gufo_vocab *v, const tokenizer_file *f, gufo_str *texts)
{
    const pipeline *p = v->pipeline;

    for (uint32_t i = 0; i < f->vocab_count; i++)
        texts[f->vocab[i].id] = f->vocab[i].text;
    for (uint32_t i = 0; i < p->added_count; i++)
        if (p->added[i].id != GUFO_NO_TOKEN)
            texts[p->added[i].id] = p->added[i].content;
}

static gufo_status copy_texts(gufo_vocab *v, const gufo_str *texts, gufo_error *error)
{
    uint64_t bytes = 0;

    for (uint32_t id = 0; id < v->size; id++)
        bytes += texts[id].len;
    if (bytes > UINT32_MAX / 2)
        return refuse(error, GUFO_E_LIMIT,
                      "tokenizer.json: the tokens have %s bytes, which are too many",
                      GROUPED(bytes));
    if (!text_table_reserve(&v->texts, v->size, bytes, &v->allocator))
        return fail_memory(error);
    for (uint32_t id = 0; id < v->size; id++)
        text_table_add(&v->texts, texts[id]);
    return text_table_index(&v->texts, &v->allocator, error);
}

static gufo_status set_texts(gufo_vocab *v, const tokenizer_file *f, gufo_error *error)
{
    uint64_t count;
    gufo_status status = count_ids(v, f, &count, error);
    gufo_str *texts;

    if (status != GUFO_OK)
        return status;
    v->size = (uint32_t)count;
    texts = mem_array(&v->allocator, count + 1, sizeof *texts);
    if (texts == NULL)
        return fail_memory(error);
    place_texts(v, f, texts);
    status = copy_texts(v, texts, error);
    mem_free(&v->allocator, texts);
    return status;
}

/* ---- types and roles ------------------------------------------------------------------------ */

static void set_type(gufo_vocab *v, uint32_t id, uint8_t type, uint16_t attributes)
{
    v->types[id] = type;
    v->attributes[id] = attributes;
}

static uint32_t find_unknown(const gufo_vocab *v, const tokenizer_file *f)
{
    const json_t *text = tokenizer_file_flag(f, "unk_token"),
                 *id = tokenizer_file_flag(f, "unk_id");

    if (json_is_string(text))
        return vocab_find(v, json_string_value(text), json_string_length(text));
    if (json_is_integer(id) && json_integer_value(id) >= 0 && json_integer_value(id) < v->size)
        return (uint32_t)json_integer_value(id);
    return GUFO_NO_TOKEN;
}

static gufo_status set_types(gufo_vocab *v, const tokenizer_file *f, gufo_error *error)
{
    const pipeline *p = v->pipeline;
    uint32_t unknown = find_unknown(v, f);

    v->types = mem_array(&v->allocator, (uint64_t)v->size + 1, sizeof *v->types);
    v->attributes = mem_array(&v->allocator, (uint64_t)v->size + 1, sizeof *v->attributes);
    if (v->types == NULL || v->attributes == NULL)
        return fail_memory(error);
    for (uint32_t id = 0; id < v->size; id++)
        if (vocab_text(v, id).len == 0)
            set_type(v, id, TOKEN_UNUSED, GUFO_TOKEN_UNUSED);
        else
            set_type(v, id, TOKEN_NORMAL, GUFO_TOKEN_NORMAL);
    if (unknown != GUFO_NO_TOKEN)
        set_type(v, unknown, TOKEN_UNKNOWN, GUFO_TOKEN_UNKNOWN);
    for (uint32_t i = 0; i < p->added_count; i++)
        if (p->added[i].id != GUFO_NO_TOKEN)
            set_type(v, p->added[i].id, p->added[i].special ? TOKEN_CONTROL : TOKEN_USER_DEFINED,
                     p->added[i].special ? GUFO_TOKEN_CONTROL : GUFO_TOKEN_USER_DEFINED);
    v->special[GUFO_SPECIAL_UNKNOWN] = unknown;
    return GUFO_OK;
}

static void set_roles(gufo_vocab *v, const tokenizer_file *f)
{
    const pipeline *p = v->pipeline;
    uint32_t first = post_processor_first(p->post_processor),
             last = post_processor_last(p->post_processor);

    for (unsigned role = 0; role < GUFO_SPECIAL_COUNT; role++) {
        gufo_str text = f->roles[role];

        if (role != GUFO_SPECIAL_UNKNOWN || text.len > 0)
            v->special[role] = text.len > 0 ? vocab_find(v, text.data, text.len) : GUFO_NO_TOKEN;
    }
    if (v->special[GUFO_SPECIAL_BOS] == GUFO_NO_TOKEN)
        v->special[GUFO_SPECIAL_BOS] = first;
    if (v->special[GUFO_SPECIAL_EOS] == GUFO_NO_TOKEN)
        v->special[GUFO_SPECIAL_EOS] = last;
    v->add_bos = first != GUFO_NO_TOKEN;
    v->add_eos = last != GUFO_NO_TOKEN;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static gufo_status set_scores(gufo_vocab *v, const tokenizer_file *f, gufo_error *error)
{
    if (f->scores == NULL)
        return GUFO_OK;
    v->scores = mem_array(&v->allocator, (uint64_t)v->size + 1, sizeof *v->scores);
    if (v->scores == NULL)
        return fail_memory(error);
    for (uint32_t i = 0; i < f->vocab_count; i++)
        v->scores[f->vocab[i].id] = (float)f->scores[i];
    return GUFO_OK;
}

static gufo_status fill(gufo_vocab *v, const tokenizer_file *f, unsigned threads, gufo_error *error)
{
    gufo_status status;

    v->pipeline = pipeline_new(f, threads, &v->allocator, error);
    if (v->pipeline == NULL)
        return error != NULL ? error->code : GUFO_E_MALFORMED;
    status = set_texts(v, f, error);
    if (status == GUFO_OK)
        status = set_types(v, f, error);
    if (status == GUFO_OK)
        status = set_scores(v, f, error);
    if (status == GUFO_OK)
        set_roles(v, f);
    return status;
}

gufo_status original_fill(gufo_vocab *v, gufo_str json, gufo_str config, unsigned threads,
                          gufo_error *error)
{
    tokenizer_file *f = tokenizer_file_read(json, &v->allocator, error);
    gufo_error first = {.code = GUFO_E_MEMORY};
    gufo_status status = f != NULL ? GUFO_OK : GUFO_E_MALFORMED;

    if (f == NULL)
        return error != NULL ? error->code : GUFO_E_MALFORMED;
    if (config.len > 0)
        status = tokenizer_config_apply(f, config, &first);
    if (status == GUFO_OK)
        status = fill(v, f, threads, &first);
    tokenizer_file_free(f);
    v->model = "huggingface";
    return status == GUFO_OK ? GUFO_OK : fail_as(error, &first);
}
