/* A pipeline is made of the parts of a file, each of which reads its own. */
#include "text/pipeline/pipeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "text/vocabulary/vocabulary.h"

/* ---- added tokens --------------------------------------------------------------------------- */

/* Copies what the file lists.  Texts are looked up by a trie: files list thousands. */
static gufo_status copy_added(pipeline *p, const tokenizer_file *f, uint32_t **starts,
                              gufo_error *error)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < f->added_count; i++)
        bytes += f->added[i].content.len;
    if (bytes > UINT32_MAX)
        return refuse(error, GUFO_E_LIMIT, "tokenizer.json: added tokens of %s bytes",
                      GROUPED(bytes));
    p->added = mem_array(&p->allocator, f->added_count, sizeof *p->added);
    p->added_bytes = mem_array(&p->allocator, bytes + 1, 1);
    *starts = mem_array(&p->allocator, (uint64_t)f->added_count + 1, sizeof **starts);
    if (p->added == NULL || p->added_bytes == NULL || *starts == NULL)
        return fail_memory(error);
    for (uint32_t i = 0, at = 0; i < f->added_count; i++) {
        const file_added *said = &f->added[i];
        gufo_str content = {p->added_bytes + at, said->content.len};

        memcpy(p->added_bytes + at, said->content.data, content.len);
        at += (uint32_t)said->content.len;
        (*starts)[i + 1] = at;
        p->added[i] = (added_token){.content = content,
                                    .id = GUFO_NO_TOKEN,
                                    .special = said->special,
                                    .normalized = said->normalized,
                                    .single_word = said->single_word,
                                    .lstrip = said->lstrip,
                                    .rstrip = said->rstrip};
    }
    p->added_count = f->added_count;
    return GUFO_OK;
}

/* A token has the id that the vocabulary gives to its text, or the next one behind all others; the id
 * that its element says is not used.  Of equal texts the last one says how it is found. */
static void number_added(pipeline *p, const tokenizer_file *f, const trie *contents)
{
    uint32_t next = f->vocab_count;

    for (uint32_t i = 0; i < p->added_count; i++) {
        uint32_t last = TRIE_NO_ID;
        const file_entry *known;
        added_token *token;

        if (trie_longest(contents, p->added[i].content, &last) == 0)
            continue;
        token = &p->added[last];
        if (token->id != GUFO_NO_TOKEN)
            continue;
        known = tokenizer_file_find(f, token->content);
        token->id = known != NULL ? known->id : next;
        next = token->id >= next ? token->id + 1 : next;
    }
}

static gufo_status read_added(pipeline *p, const tokenizer_file *f, gufo_error *error)
{
    uint32_t *starts = NULL;
    trie *contents = NULL;
    gufo_status status = copy_added(p, f, &starts, error);

    if (status == GUFO_OK && f->added_count > 0) {
        const trie_texts texts = {p->added_bytes, starts};

        contents = trie_new(&p->allocator, &texts, NULL, f->added_count, error);
        status = contents != NULL ? GUFO_OK : trie_status(error);
    }
    if (status == GUFO_OK && contents != NULL)
        number_added(p, f, contents);
    trie_free(contents);
    mem_free(&p->allocator, starts);
    return status;
}

static gufo_status note_renamed(pipeline *p, uint32_t id, uint32_t number, gufo_error *error)
{
    renamed_token *renamed =
        mem_grow(&p->allocator, p->renamed, p->renamed_count, &p->renamed_room, sizeof *renamed);

    if (renamed == NULL)
        return fail_memory(error);
    p->renamed = renamed;
    p->renamed[p->renamed_count++] = (renamed_token){id, number};
    return GUFO_OK;
}

/* Tokens for normalized text are looked for as the normalizer writes them. */
static gufo_status add_normalized(pipeline *p, const added_token *token, expression_scratch *s,
                                  gufo_error *error)
{
    const work_text whole = {.data = (char *)token->content.data, .len = token->content.len};
    work_text text = {.allocator = &p->allocator}, spare = text;
    gufo_status status = work_text_keep(&text, &whole, 0, whole.len) ? GUFO_OK : fail_memory(error);

    if (status == GUFO_OK)
        status = normalizer_run(p->normalizer, s, &text, &spare, error);
    if (status == GUFO_OK)
        status = added_set_add(&p->normalized, token, work_text_str(&text), error);
    if (status == GUFO_OK && text.len > 0 && !gufo_str_equal(work_text_str(&text), token->content))
        status = note_renamed(p, token->id, p->normalized.count - 1, error);
    work_text_free(&text);
    work_text_free(&spare);
    return status;
}

static int by_id(const void *a, const void *b)
{
    const renamed_token *left = a, *right = b;

    return (left->id > right->id) - (left->id < right->id);
}

static gufo_status make_sets(pipeline *p, gufo_error *error)
{
    expression_scratch *s = expression_scratch_new(&p->allocator, error);
    gufo_status status = s != NULL ? GUFO_OK : GUFO_E_MEMORY;

    for (uint32_t i = 0; status == GUFO_OK && i < p->added_count; i++) {
        const added_token *token = &p->added[i];

        if (token->id != GUFO_NO_TOKEN)
            status = token->normalized ? add_normalized(p, token, s, error)
                                       : added_set_add(&p->raw, token, token->content, error);
    }
    if (status == GUFO_OK)
        status = added_set_finish(&p->raw, error);
    if (status == GUFO_OK)
        status = added_set_finish(&p->normalized, error);
    if (p->renamed_count > 0)
        qsort(p->renamed, (size_t)p->renamed_count, sizeof *p->renamed, by_id);
    expression_scratch_free(s);
    return status;
}

gufo_str pipeline_token_text(const pipeline *p, const gufo_vocab *v, uint32_t id)
{
    const renamed_token wanted = {.id = id}, *found = NULL;

    if (p->renamed_count > 0)
        found = bsearch(&wanted, p->renamed, (size_t)p->renamed_count, sizeof wanted, by_id);
    return found != NULL ? added_set_text(&p->normalized, found->number) : vocab_text(v, id);
}

/* ---- what is put around texts --------------------------------------------------------------- */

/* The id of a text: of an added token, or of the vocabulary. */
static uint32_t id_of(const pipeline *p, const tokenizer_file *f, gufo_str text)
{
    const file_entry *known = tokenizer_file_find(f, text);

    if (known != NULL)
        return known->id;
    for (uint32_t i = 0; i < p->added_count; i++)
        if (p->added[i].id != GUFO_NO_TOKEN && gufo_str_equal(p->added[i].content, text))
            return p->added[i].id;
    return GUFO_NO_TOKEN;
}

/* A step of a template: the text, or a special token, whose id goes to `specials`. */
static int add_step(json_t *steps, json_t *specials, const char *name, uint32_t id)
{
    json_t *step = id == GUFO_NO_TOKEN
                       ? json_pack("{s:{s:s,s:i}}", "Sequence", "id", name, "type_id", 0)
                       : json_pack("{s:{s:s,s:i}}", "SpecialToken", "id", name, "type_id", 0);

    if (id != GUFO_NO_TOKEN && json_object_set_new(specials, name,
                                                   json_pack("{s:s,s:[I],s:[s]}", "id", name, "ids",
                                                             (json_int_t)id, "tokens", name)) != 0)
        return -1;
    return json_array_append_new(steps, step);
}

/* The post-processor that a tokenizer_config.json asks for; NULL without memory. */
static json_t *make_frame(const pipeline *p, const tokenizer_file *f)
{
    uint32_t bos = id_of(p, f, f->roles[GUFO_SPECIAL_BOS]),
             eos = id_of(p, f, f->roles[GUFO_SPECIAL_EOS]);
    json_t *steps = json_array(), *specials = json_object(), *frame;
    int failed = 0;

    if (f->adds_bos && bos != GUFO_NO_TOKEN)
        failed |= add_step(steps, specials, "bos", bos);
    failed |= add_step(steps, specials, "A", GUFO_NO_TOKEN);
    if (f->adds_eos && eos != GUFO_NO_TOKEN)
        failed |= add_step(steps, specials, "eos", eos);
    frame = json_pack("{s:s,s:o,s:[],s:o}", "type", "TemplateProcessing", "single", steps, "pair",
                      "special_tokens", specials);
    if (failed == 0)
        return frame;
    json_decref(frame);
    return NULL;
}

static gufo_status read_frame(pipeline *p, const tokenizer_file *f, gufo_error *error)
{
    json_t *made = f->frame_is_said ? make_frame(p, f) : NULL;
    const json_t *part = made != NULL ? made : tokenizer_file_part(f, "post_processor");
    gufo_error reason = {.code = GUFO_E_MEMORY};

    if (made != NULL || !f->frame_is_said)
        p->post_processor = post_processor_new(part, &f->places, &p->allocator, &reason);
    json_decref(made);
    return p->post_processor != NULL ? GUFO_OK : fail_as(error, &reason);
}

/* ---- parts ---------------------------------------------------------------------------------- */

static gufo_status read_parts(pipeline *p, const tokenizer_file *f, unsigned threads,
                              gufo_error *error)
{
    const gufo_allocator *a = &p->allocator;
    gufo_error reason = {.code = GUFO_E_MEMORY, .offset = GUFO_NO_OFFSET};

    p->model = token_model_new(f, threads, a, &reason);
    if (p->model == NULL && reason.offset == GUFO_NO_OFFSET)
        (void)json_place_of(&f->places, tokenizer_file_part(f, "model"), &reason.offset);
    if (p->model != NULL)
        p->normalizer =
            normalizer_new(tokenizer_file_part(f, "normalizer"), &f->places, a, &reason);
    if (p->normalizer != NULL)
        p->pre_tokenizer =
            pre_tokenizer_new(tokenizer_file_part(f, "pre_tokenizer"), &f->places, a, &reason);
    if (p->pre_tokenizer != NULL)
        p->decoder = decoder_new(tokenizer_file_part(f, "decoder"), &f->places, a, &reason);
    return p->decoder != NULL ? GUFO_OK : fail_as(error, &reason);
}

pipeline *pipeline_new(const tokenizer_file *f, unsigned threads, const gufo_allocator *allocator,
                       gufo_error *error)
{
    pipeline *p = mem_object(allocator, sizeof *p, error);
    gufo_status status;

    if (p == NULL)
        return NULL;
    p->raw.allocator = p->normalized.allocator = p->allocator;
    p->raw.bytes.allocator = p->normalized.bytes.allocator = &p->allocator;
    status = read_parts(p, f, threads, error);
    if (status == GUFO_OK)
        status = read_added(p, f, error);
    if (status == GUFO_OK)
        status = make_sets(p, error);
    if (status == GUFO_OK)
        status = read_frame(p, f, error);
    if (status == GUFO_OK)
        return p;
    pipeline_free(p);
    return NULL;
}

void pipeline_free(pipeline *p)
{
    gufo_allocator allocator;

    if (p == NULL)
        return;
    allocator = p->allocator;
    added_set_free(&p->raw);
    added_set_free(&p->normalized);
    normalizer_free(p->normalizer);
    pre_tokenizer_free(p->pre_tokenizer);
    token_model_free(p->model);
    post_processor_free(p->post_processor);
    decoder_free(p->decoder);
    mem_free(&allocator, p->renamed);
    mem_free(&allocator, p->added);
    mem_free(&allocator, p->added_bytes);
    mem_free(&allocator, p);
}
