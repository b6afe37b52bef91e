/* How two vocabularies differ: in facts, in tokens, in merges. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "text/formats/source.h"
#include "text/formats/tokenizer_file.h"
#include "text/vocabulary/vocabulary.h"

typedef struct comparing {
    const gufo_vocab *a, *b;
    const gufo_vocab_compare_options *options;
    gufo_vocab_comparison found;
    bool no_memory; /* for the list of tokens */
} comparing;

/* ---- settings ------------------------------------------------------------------------------- */

static void add_setting(comparing *c, const char *name, const char *a, const char *b)
{
    const gufo_vocab_setting setting = {.name = name, .a = a, .b = b};

    if (strcmp(a, b) == 0)
        return;
    c->found.settings++;
    if (c->options->setting != NULL)
        c->options->setting(c->options->context, &setting);
}

enum { ID_TEXT = 16 };

static const char *id_text(uint32_t id, char out[ID_TEXT])
{
    if (id == GUFO_NO_TOKEN)
        return "none";
    (void)snprintf(out, ID_TEXT, "%" PRIu32, id);
    return out;
}

static const char *or_none(const char *text)
{
    return text != NULL ? text : "none";
}

static void compare_settings(comparing *c)
{
    static const char *const words[] = {"no", "yes"};
    const gufo_vocab_facts a = gufo_vocab_describe(c->a), b = gufo_vocab_describe(c->b);
    char ids[2][ID_TEXT];

    add_setting(c, "model", a.model, b.model);
    add_setting(c, "pre-tokenizer", or_none(a.pre), or_none(b.pre));
    for (unsigned i = 0; i < GUFO_SPECIAL_COUNT; i++)
        add_setting(c, gufo_special_name((gufo_special)i), id_text(a.special[i], ids[0]),
                    id_text(b.special[i], ids[1]));
    add_setting(c, "adds BOS", words[a.add_bos], words[b.add_bos]);
    add_setting(c, "adds EOS", words[a.add_eos], words[b.add_eos]);
    add_setting(c, "space prefix", words[a.space_prefix], words[b.space_prefix]);
    add_setting(c, "clean spaces", words[a.clean_spaces], words[b.clean_spaces]);
}

/* ---- tokens --------------------------------------------------------------------------------- */

void gufo_token_differences_free(gufo_token_differences *list)
{
    mem_free(mem_allocator(list->allocator), list->items);
    *list = (gufo_token_differences){.allocator = list->allocator};
}

static void add_change(comparing *c, gufo_token_change change, uint32_t a, uint32_t b)
{
    gufo_token_differences *list = c->options->tokens;
    gufo_token_difference *items;
    uint64_t room;

    c->found.tokens[change]++;
    if (list == NULL || c->no_memory)
        return;
    room = list->room;
    items =
        mem_grow(mem_allocator(list->allocator), list->items, list->count, &room, sizeof *items);
    c->no_memory = items == NULL;
    if (items == NULL)
        return;
    list->items = items;
    list->room = (size_t)room;
    items[list->count++] = (gufo_token_difference){.change = change, .a = a, .b = b};
}

/* The token of `other` with the text of token `id`: the one with the same id, or the one that is
 * found. */
static uint32_t twin_of(const gufo_vocab *v, uint32_t id, const gufo_vocab *other)
{
    gufo_str text = vocab_text(v, id);

    if (id < other->size && gufo_str_equal(text, vocab_text(other, id)))
        return id;
    return gufo_vocab_find(other, text);
}

static void compare_token(comparing *c, uint32_t id)
{
    const uint32_t twin = twin_of(c->a, id, c->b);

    if (twin == GUFO_NO_TOKEN) {
        add_change(c, GUFO_TOKEN_CHANGE_REMOVED, id, twin);
        return;
    }
    if (twin != id)
        add_change(c, GUFO_TOKEN_CHANGE_MOVED, id, twin);
    if (vocab_type(c->a, id) != vocab_type(c->b, twin))
        add_change(c, GUFO_TOKEN_CHANGE_TYPE, id, twin);
    if (vocab_score(c->a, id) != vocab_score(c->b, twin))
        add_change(c, GUFO_TOKEN_CHANGE_SCORE, id, twin);
}

static void compare_tokens(comparing *c)
{
    for (uint32_t id = 0; id < c->a->size; id++)
        compare_token(c, id);
    for (uint32_t id = 0; id < c->b->size; id++)
        if (twin_of(c->b, id, c->a) == GUFO_NO_TOKEN)
            add_change(c, GUFO_TOKEN_CHANGE_ADDED, GUFO_NO_TOKEN, id);
}

/* ---- merges --------------------------------------------------------------------------------- */

/* Those of a tokenizer.json, or of tokenizer.ggml.merges. */
typedef struct merge_walk {
    tokenizer_file *file; /* NULL: `iter` */
    uint32_t at;
    gufo_array_iter iter;
} merge_walk;

static gufo_status start_file(merge_walk *w, const gufo_vocab *v, const gufo_vocab_source *source,
                              uint64_t *count, gufo_error *error)
{
    gufo_status status;
    gufo_error reason;
    gufo_str json;

    status = source_json(source, &json, error);
    if (status != GUFO_OK)
        return status;
    w->file = tokenizer_file_read(json, &v->allocator, &reason);
    if (w->file == NULL)
        return fail_as(error, &reason);
    *count = w->file->merge_count;
    return GUFO_OK;
}

static gufo_status start_merges(merge_walk *w, const gufo_vocab *v, const gufo_vocab_source *source,
                                uint64_t *count, gufo_error *error)
{
    gufo_array array = {.type = GUFO_VALUE_STRING, .encoding = {3, GUFO_LITTLE_ENDIAN}};
    gufo_status status = source_check(source, v, error);
    gufo_entry entry;

    if (status == GUFO_OK && v->pipeline != NULL)
        return start_file(w, v, source, count, error);
    if (status == GUFO_OK && vocab_entry(source->model, "merges", &entry))
        status = gufo_value_array(&entry.value, GUFO_VALUE_STRING, &array, error);
    *count = array.count;
    w->iter = gufo_array_start(&array);
    return status;
}

/* The parts of the next merge; false at the end. */
static bool next_merge(merge_walk *w, gufo_str parts[2])
{
    const char *space;
    gufo_value value;
    gufo_str text;

    if (w->file != NULL) {
        if (w->at == w->file->merge_count)
            return false;
        parts[0] = w->file->merges[w->at].left;
        parts[1] = w->file->merges[w->at++].right;
        return true;
    }
    if (!gufo_array_next(&w->iter, &value))
        return false;
    text = value.as.str;
    space = text.len > 0 ? memchr(text.data, ' ', text.len) : NULL;
    parts[0] = space == NULL ? text : (gufo_str){text.data, (size_t)(space - text.data)};
    parts[1] = space == NULL ? (gufo_str){"", 0} : str_from(text, parts[0].len + 1);
    return true;
}

static void walk_merges(comparing *c, merge_walk *a, merge_walk *b)
{
    gufo_str left[2], right[2];
    uint64_t rank = 0;
    bool first, second;

    do {
        first = next_merge(a, left);
        second = next_merge(b, right);
        rank++;
    } while (first && second && gufo_str_equal(left[0], right[0]) &&
             gufo_str_equal(left[1], right[1]));
    c->found.merges_differ = first || second;
    c->found.first_merge = rank - 1;
}

static gufo_status compare_merges(comparing *c, gufo_error *error)
{
    const gufo_vocab_compare_options *o = c->options;
    merge_walk a = {.file = NULL}, b = {.file = NULL};
    gufo_status status;

    if (o->source_a == NULL || o->source_b == NULL)
        return GUFO_OK;
    status = start_merges(&a, c->a, o->source_a, &c->found.merges_a, error);
    if (status == GUFO_OK) {
        status = start_merges(&b, c->b, o->source_b, &c->found.merges_b, error);
        if (status != GUFO_OK)
            fail_in(error, GUFO_FILE_SECOND_INPUT, 0, NULL);
    }
    if (status == GUFO_OK)
        walk_merges(c, &a, &b);
    tokenizer_file_free(a.file);
    tokenizer_file_free(b.file);
    if (status != GUFO_OK || (!a.iter.changed && !b.iter.changed))
        return status;
    status = refuse(error, GUFO_E_CHANGED, "the file was changed in the meantime");
    if (!a.iter.changed)
        fail_in(error, GUFO_FILE_SECOND_INPUT, 0, NULL);
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------ */

gufo_status gufo_vocab_compare(const gufo_vocab *a, const gufo_vocab *b,
                               const gufo_vocab_compare_options *options,
                               gufo_vocab_comparison *result, gufo_error *error)
{
    const gufo_vocab_compare_options none = {.setting = NULL};
    comparing c = {.a = a, .b = b, .options = options != NULL ? options : &none};
    gufo_status status = reserved_check(c.options->reserved, "gufo_vocab_compare_options", error);

    if (status == GUFO_OK)
        status = compare_merges(&c, error);
    if (status != GUFO_OK)
        return status;
    compare_settings(&c);
    compare_tokens(&c);
    if (c.no_memory)
        return fail_memory(error);
    c.found.same = c.found.settings == 0 && !c.found.merges_differ;
    for (int i = 0; i < GUFO_TOKEN_CHANGE_COUNT; i++)
        c.found.same = c.found.same && c.found.tokens[i] == 0;
    if (result != NULL)
        *result = c.found;
    return GUFO_OK;
}
