/* What is shown of a vocabulary, as one record that owns its texts. */
#include <stddef.h>

#include "base/error.h"
#include "base/memory.h"
#include "text/vocabulary/vocabulary.h"

enum { USUAL = 10 }; /* tokens of each list */

_Static_assert((int)GUFO_TOKEN_TYPE_COUNT <= GUFO_TOKEN_KIND_ROOM, "each type has a place");

typedef struct census {
    gufo_allocator allocator;
    gufo_vocab_census record;
    gufo_census_token *tokens; /* of all lists, one after the other */
    uint64_t count;
} census;

static census *census_of(gufo_vocab_census *record)
{
    return (census *)(void *)((char *)record - offsetof(census, record));
}

static gufo_status copy_text(const census *c, gufo_str text, gufo_str *out, gufo_error *error)
{
    const char *copy = mem_text(&c->allocator, text);

    if (copy == NULL)
        return fail_memory(error);
    *out = (gufo_str){copy, text.len};
    return GUFO_OK;
}

/* ---- tokens --------------------------------------------------------------------------------- */

/* What a token gives, or, if that is nothing, its text. */
static gufo_status add_token(census *c, const gufo_vocab *v, uint32_t id, const char *role,
                             gufo_error *error)
{
    gufo_text piece = {.allocator = &c->allocator};
    gufo_status status = gufo_token_piece(v, id, &piece, error);
    gufo_census_token *token = &c->tokens[c->count];

    *token = (gufo_census_token){.id = id, .role = gufo_str_of(role)};
    if (status == GUFO_OK)
        status = copy_text(c, piece.len > 0 ? (gufo_str){piece.data, piece.len} : vocab_text(v, id),
                           &token->text, error);
    c->count += status == GUFO_OK;
    gufo_text_free(&piece);
    return status;
}

static gufo_status add_special(census *c, const gufo_vocab *v, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    c->record.special = &c->tokens[c->count];
    for (unsigned i = 0; status == GUFO_OK && i < GUFO_SPECIAL_COUNT; i++) {
        if (v->special[i] == GUFO_NO_TOKEN)
            continue;
        status = add_token(c, v, v->special[i], gufo_special_name((gufo_special)i), error);
        c->record.special_count++;
    }
    return status;
}

static gufo_status add_longest(census *c, const gufo_vocab *v, uint32_t most, gufo_error *error)
{
    gufo_ids ids = {.allocator = &c->allocator};
    gufo_status status = gufo_vocab_longest(v, most, &ids, error);

    c->record.longest = &c->tokens[c->count];
    for (size_t i = 0; status == GUFO_OK && i < ids.count; i++)
        status = add_token(c, v, ids.ids[i], "", error);
    c->record.longest_count = ids.count;
    gufo_ids_free(&ids);
    return status;
}

/* `count` of them from id `first` on. */
static gufo_status add_range(census *c, const gufo_vocab *v, uint32_t first, uint32_t count,
                             gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint32_t i = 0; status == GUFO_OK && i < count; i++)
        status = add_token(c, v, first + i, "", error);
    return status;
}

static gufo_status add_ends(census *c, const gufo_vocab *v, uint32_t most, gufo_error *error)
{
    uint32_t count = v->size < most ? v->size : most;
    gufo_status status;

    c->record.first = &c->tokens[c->count];
    c->record.first_count = c->record.last_count = count;
    status = add_range(c, v, 0, count, error);
    c->record.last = &c->tokens[c->count];
    return status == GUFO_OK ? add_range(c, v, v->size - count, count, error) : status;
}

/* ---- all ------------------------------------------------------------------------------------ */

static gufo_status add_numbers(census *c, const gufo_vocab *v, gufo_error *error)
{
    uint64_t kinds[GUFO_TOKEN_TYPE_COUNT];
    const gufo_vocab_facts facts = gufo_vocab_describe(v);
    gufo_status status = copy_text(c, gufo_str_of(facts.model), &c->record.model, error);

    if (status == GUFO_OK)
        status = copy_text(c, gufo_str_of(facts.pre), &c->record.pre, error);
    c->record.tokens = v->size;
    gufo_vocab_count_types(v, kinds);
    for (int32_t i = 0; i < GUFO_TOKEN_TYPE_COUNT; i++)
        c->record.kinds[i] =
            (gufo_census_kind){.name = gufo_token_type_name(i), .tokens = kinds[i]};
    c->record.kind_count = GUFO_TOKEN_TYPE_COUNT;
    return status == GUFO_OK ? gufo_vocab_count_lengths(v, c->record.lengths, error) : status;
}

static gufo_status fill(census *c, const gufo_vocab *v, uint32_t most, gufo_error *error)
{
    uint64_t room = GUFO_SPECIAL_COUNT + 3 * (uint64_t)(most < v->size ? most : v->size);
    gufo_status status;

    c->tokens = mem_array(&c->allocator, room, sizeof *c->tokens);
    status = c->tokens != NULL ? add_numbers(c, v, error) : fail_memory(error);
    if (status == GUFO_OK)
        status = add_special(c, v, error);
    if (status == GUFO_OK)
        status = add_longest(c, v, most, error);
    return status == GUFO_OK ? add_ends(c, v, most, error) : status;
}

gufo_vocab_census *gufo_vocab_census_new(const gufo_vocab *vocab,
                                         const gufo_vocab_census_options *options,
                                         gufo_error *error)
{
    const gufo_vocab_census_options none = {0}, *o = options != NULL ? options : &none;
    census *c;

    if (reserved_check(o->reserved, "gufo_vocab_census_options", error) != GUFO_OK)
        return NULL;
    c = mem_object(o->allocator != NULL ? o->allocator : &vocab->allocator, sizeof *c, error);
    if (c == NULL)
        return NULL;
    if (fill(c, vocab, o->most > 0 ? o->most : USUAL, error) == GUFO_OK)
        return &c->record;
    gufo_vocab_census_free(&c->record);
    return NULL;
}

void gufo_vocab_census_free(gufo_vocab_census *record)
{
    census *c = record != NULL ? census_of(record) : NULL;
    gufo_allocator allocator;

    if (c == NULL)
        return;
    allocator = c->allocator;
    for (uint64_t i = 0; i < c->count; i++)
        mem_free(&allocator, (char *)c->tokens[i].text.data);
    mem_free(&allocator, c->tokens);
    mem_free(&allocator, (char *)record->model.data);
    mem_free(&allocator, (char *)record->pre.data);
    mem_free(&allocator, c);
}
