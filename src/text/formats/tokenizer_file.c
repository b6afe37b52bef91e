/* What a tokenizer.json says, before anybody draws conclusions from it.
 *
 * The text is read once, from front to back, and stays: the tables are views of it, and of strings with escapes,
 * which are decoded.  Of all but the long tables there is a tree.
 *
 * Members may come in any order and, as Hugging Face reads them, more than once: the last one counts.
 * Whether the parts are those of the model's type is for the caller. */
#include "text/formats/tokenizer_file.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "text/formats/json_tree.h"

/* ==== filling, whatever file it comes from: tables, and the look-up of texts ================= */

/* ---- tables --------------------------------------------------------------------------------- */

bool file_grow(file_reading *r, void **table, uint32_t count, uint64_t *room, size_t size)
{
    void *larger = mem_grow(&r->f->allocator, *table, count, room, size);

    if (larger == NULL)
        return pull_fail_memory(&r->p);
    *table = larger;
    return true;
}

/* Gives back what is left behind the end of a table. */
static bool trim(const tokenizer_file *f, void **table, uint32_t count, size_t size)
{
    void *smaller;

    if (*table == NULL || count == 0)
        return true;
    smaller = mem_resize(&f->allocator, *table, count * size);
    if (smaller == NULL)
        return false;
    *table = smaller;
    return true;
}

static bool trim_tables(tokenizer_file *f)
{
    void *vocab = f->vocab, *scores = f->scores, *merges = f->merges, *added = f->added;
    bool good = trim(f, &vocab, f->vocab_count, sizeof *f->vocab) &&
                trim(f, &scores, f->vocab_count, sizeof *f->scores) &&
                trim(f, &merges, f->merge_count, sizeof *f->merges) &&
                trim(f, &added, f->added_count, sizeof *f->added);

    f->vocab = vocab;
    f->scores = scores;
    f->merges = merges;
    f->added = added;
    return good;
}

bool file_split(gufo_str line, file_merge *merge)
{
    const char *space = line.len > 0 ? memchr(line.data, ' ', line.len) : NULL;
    gufo_str left, right;

    if (space == NULL)
        return false;
    left = (gufo_str){line.data, (size_t)(space - line.data)};
    right = str_from(line, left.len + 1);
    *merge = (file_merge){left, right};
    return right.len == 0 || memchr(right.data, ' ', right.len) == NULL;
}

/* ---- looking up ----------------------------------------------------------------------------- */

/* Makes a table of the texts with which the rows of another one begin. */
static bool index_texts(tokenizer_file *f, text_table *texts, const void *rows, size_t row_size,
                        uint32_t count)
{
    uint64_t bytes = 0;

    text_table_free(texts, &f->allocator);
    for (uint32_t i = 0; i < count; i++)
        bytes += ((const gufo_str *)((const char *)rows + i * row_size))->len;
    if (!text_table_reserve(texts, count, bytes, &f->allocator))
        return false;
    for (uint32_t i = 0; i < count; i++)
        text_table_add(texts, *(const gufo_str *)((const char *)rows + i * row_size));
    return text_table_index(texts, &f->allocator, NULL) == GUFO_OK;
}

/* In an object a text has one place, the first, and one id, the last, whose row is emptied when both are joined. */
static void drop_repeats(tokenizer_file *f)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < f->vocab_count; i++) {
        file_entry *last = &f->vocab[text_table_find(&f->texts, text_at(&f->texts, i))];
        const file_entry entry = {f->vocab[i].text, last->id};

        if (last->text.data == NULL)
            continue;
        last->text.data = NULL;
        f->vocab[kept++] = entry;
    }
    f->vocab_count = kept;
}

/* A list may have a text twice, and has it in its place. */
static bool index_vocab(tokenizer_file *f)
{
    if (!index_texts(f, &f->texts, f->vocab, sizeof *f->vocab, f->vocab_count))
        return false;
    if (!f->texts.repeats || f->vocab_is_list)
        return true;
    drop_repeats(f);
    return index_texts(f, &f->texts, f->vocab, sizeof *f->vocab, f->vocab_count);
}

static bool index_added(tokenizer_file *f)
{
    return index_texts(f, &f->added_texts, f->added, sizeof *f->added, f->added_count);
}

const file_entry *tokenizer_file_find(const tokenizer_file *f, gufo_str text)
{
    uint32_t row = text_table_find(&f->texts, text);

    return row == UINT32_MAX ? NULL : &f->vocab[row];
}

const file_added *tokenizer_file_find_added(const tokenizer_file *f, gufo_str text)
{
    uint32_t row = text_table_find(&f->added_texts, text);

    return row == UINT32_MAX ? NULL : &f->added[row];
}

/* ---- a file --------------------------------------------------------------------------------- */

bool file_begin(file_reading *r, gufo_str text, const gufo_allocator *allocator, gufo_error *error)
{
    *r = (file_reading){.tree_memory = JSON_TREE_MEMORY, .p = {.error = error}};
    if (text.len >= UINT32_MAX) {
        r->p.status =
            refuse(error, GUFO_E_LIMIT, "the text has %s bytes, but at most 4 GiB are read",
                   GROUPED(text.len));
        return false;
    }
    r->f = mem_object(allocator, sizeof *r->f, NULL);
    if (r->f == NULL)
        return pull_fail_memory(&r->p);
    r->f->places.allocator = r->f->source.allocator = &r->f->allocator;
    r->f->decoded = mem_alloc(&r->f->allocator, text.len + 1); /* mostly, little of it is touched */
    r->p.text = text.data;
    r->p.len = text.len;
    r->p.decoded = r->f->decoded;
    return r->f->decoded != NULL || pull_fail_memory(&r->p);
}

tokenizer_file *file_finish(file_reading *r, bool good)
{
    tokenizer_file *f = r->f;

    if (good && ((trim_tables(f) && index_vocab(f) && index_added(f)) || pull_fail_memory(&r->p)))
        return f;
    tokenizer_file_free(f);
    return NULL;
}

void tokenizer_file_keep(tokenizer_file *f, buffer *text)
{
    f->source = *text;
    f->source.allocator = &f->allocator;
    *text = (buffer){.allocator = text->allocator};
}

void tokenizer_file_free(tokenizer_file *f)
{
    gufo_allocator allocator;

    if (f == NULL)
        return;
    allocator = f->allocator;
    json_decref(f->root);
    json_decref(f->config);
    mem_free(&allocator, f->places.list);
    text_table_free(&f->added_texts, &allocator);
    text_table_free(&f->texts, &allocator);
    mem_free(&allocator, f->added);
    mem_free(&allocator, f->merges);
    mem_free(&allocator, f->scores);
    mem_free(&allocator, f->vocab);
    mem_free(&allocator, f->decoded);
    buffer_free(&f->source);
    mem_free(&allocator, f);
}

/* ==== reading a tokenizer.json =============================================================== */

static bool take_id(pull *p, uint32_t *out)
{
    const size_t begin = p->at;
    uint64_t id;

    if (!pull_u64(p, &id))
        return false;
    *out = (uint32_t)id;
    return id <= UINT32_MAX || pull_fail(p, GUFO_E_RANGE, begin, "an id does not fit in 32 bits");
}

/* Takes a null, if one comes next. */
static bool is_null(pull *p)
{
    return pull_peek(p) == 'n' && pull_null(p);
}

/* ---- vocabulary ----------------------------------------------------------------------------- */

static bool take_entry(file_reading *r, file_entry *e)
{
    gufo_str text;

    if (!pull_name(&r->p, &text) || !take_id(&r->p, &e->id))
        return false;
    e->text = text;
    return true;
}

/* A score as the library reads it: sums that are nearly equal show the last bit. */
static bool take_score(pull *p, double *out)
{
    const size_t begin = p->at;
    gufo_str number;

    if (!pull_real(p, out))
        return false;
    p->at = begin;
    return pull_number(p, &number) && real_read_twice_rounded(number, out);
}

static bool take_scored(file_reading *r, file_entry *e)
{
    tokenizer_file *f = r->f;
    pull *p = &r->p;
    void *scores = f->scores;
    gufo_str text;
    bool good = file_grow(r, &scores, f->vocab_count, &r->score_room, sizeof *f->scores);

    f->scores = scores;
    if (pull_peek(p) != '[')
        return pull_fail(p, GUFO_E_MALFORMED, p->at,
                         "token %" PRIu32 " is not a pair of text and score", f->vocab_count);
    if (!good || !pull_mark(p, '[') || !pull_string(p, &text) || !pull_mark(p, ',') ||
        !take_score(p, &f->scores[f->vocab_count]) || !pull_mark(p, ']'))
        return false;
    *e = (file_entry){text, f->vocab_count};
    return true;
}

static void forget_vocab(file_reading *r)
{
    tokenizer_file *f = r->f;

    mem_free(&f->allocator, f->scores);
    f->scores = NULL;
    r->score_room = 0;
    f->has_vocab = f->vocab_is_list = false;
    f->vocab_count = 0;
}

bool file_take_vocab(file_reading *r)
{
    tokenizer_file *f = r->f;
    void *table = f->vocab;
    bool good = true;

    forget_vocab(r);
    f->has_vocab = !is_null(&r->p);
    f->vocab_is_list = pull_peek(&r->p) == '[';
    if (!f->has_vocab || !pull_mark(&r->p, f->vocab_is_list ? '[' : '{'))
        return r->p.status == GUFO_OK;
    for (bool first = true; good && pull_next(&r->p, f->vocab_is_list ? ']' : '}', &first);) {
        good = file_grow(r, &table, f->vocab_count, &r->vocab_room, sizeof *f->vocab);
        f->vocab = table;
        good = good && (f->vocab_is_list ? take_scored : take_entry)(r, &f->vocab[f->vocab_count]);
        f->vocab_count += good;
    }
    return good && r->p.status == GUFO_OK;
}

/* ---- merges --------------------------------------------------------------------------------- */

/* "left right"; *is_merge: no line that says the version. */
static bool split_line(file_reading *r, file_merge *merge, bool *is_merge)
{
    size_t begin = r->p.at;
    gufo_str line;

    if (!pull_string(&r->p, &line))
        return false;
    *is_merge = !str_begins(line, "#version");
    return !*is_merge || file_split(line, merge) ||
           pull_fail(&r->p, GUFO_E_MALFORMED, begin, "the merge %s is not two parts", QUOTED(line));
}

static bool take_pair(file_reading *r, file_merge *merge, bool *is_merge)
{
    gufo_str left, right;

    *is_merge = true;
    if (!pull_mark(&r->p, '[') || !pull_string(&r->p, &left) || !pull_mark(&r->p, ',') ||
        !pull_string(&r->p, &right) || !pull_mark(&r->p, ']'))
        return false;
    *merge = (file_merge){left, right};
    return true;
}

/* All lines or all pairs. */
static bool take_merges(file_reading *r)
{
    tokenizer_file *f = r->f;
    void *table = f->merges;
    bool good = true, is_merge, pairs = false;

    f->has_merges = !is_null(&r->p);
    f->merge_count = 0;
    if (!f->has_merges || !pull_mark(&r->p, '['))
        return r->p.status == GUFO_OK;
    for (bool first = true, begin = true; good && pull_next(&r->p, ']', &first); begin = false) {
        pairs = begin ? pull_peek(&r->p) == '[' : pairs;
        good = file_grow(r, &table, f->merge_count, &r->merge_room, sizeof *f->merges);
        f->merges = table;
        good = good && (pairs ? take_pair : split_line)(r, &f->merges[f->merge_count], &is_merge);
        f->merge_count += good && is_merge;
    }
    return good && r->p.status == GUFO_OK;
}

/* ---- added tokens --------------------------------------------------------------------------- */

enum { HAS_ID = 1, HAS_CONTENT = 2, FIRST_FLAG = 4, HAS_ALL = 127 };

static const struct {
    const char *name;
    size_t at;
} flags[] = {
    {"special", offsetof(file_added, special)},
    {"normalized", offsetof(file_added, normalized)},
    {"single_word", offsetof(file_added, single_word)},
    {"lstrip", offsetof(file_added, lstrip)},
    {"rstrip", offsetof(file_added, rstrip)},
};

/* The bit of a member; 0: it is none of a token. */
static unsigned member_of(gufo_str name)
{
    if (gufo_str_equal(name, gufo_str_of("id")))
        return HAS_ID;
    if (gufo_str_equal(name, gufo_str_of("content")))
        return HAS_CONTENT;
    for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++)
        if (gufo_str_equal(name, gufo_str_of(flags[i].name)))
            return (unsigned)FIRST_FLAG << i;
    return 0;
}

static bool take_member(file_reading *r, file_added *token, unsigned member)
{
    unsigned row = 0;
    gufo_str text;

    if (member == 0)
        return pull_skip(&r->p, NULL);
    if (member == HAS_ID)
        return take_id(&r->p, &token->id);
    if (member == HAS_CONTENT) {
        if (!pull_string(&r->p, &text))
            return false;
        token->content = text;
        return true;
    }
    while ((unsigned)FIRST_FLAG << row != member)
        row++;
    return pull_bool(&r->p, (bool *)((char *)token + flags[row].at));
}

static bool take_token(file_reading *r, file_added *token)
{
    pull *p = &r->p;
    unsigned seen = 0, member;
    gufo_str name;
    size_t begin;

    if (!pull_mark(p, '{'))
        return false;
    begin = p->at - 1;
    *token = (file_added){.complete = false};
    for (bool first = true; pull_next(p, '}', &first);) {
        size_t at = p->at;

        if (!pull_name(p, &name))
            return false;
        member = member_of(name);
        if ((seen & member) != 0)
            return pull_fail(p, GUFO_E_MALFORMED, at, "an added token has two members %s",
                             QUOTED(name));
        if (is_null(p))
            continue;
        if (!take_member(r, token, member))
            return false;
        seen |= member;
    }
    token->complete = seen == HAS_ALL;
    if ((seen & HAS_ID) == 0 || (seen & HAS_CONTENT) == 0)
        return pull_fail(p, GUFO_E_MALFORMED, begin, "an added token has no %s",
                         (seen & HAS_ID) == 0 ? "id" : "text");
    return p->status == GUFO_OK;
}

static bool take_added(file_reading *r)
{
    tokenizer_file *f = r->f;
    void *table = f->added;
    bool good = true;

    f->added_count = 0;
    if (is_null(&r->p) || !pull_mark(&r->p, '['))
        return r->p.status == GUFO_OK;
    for (bool first = true; good && pull_next(&r->p, ']', &first);) {
        good = file_grow(r, &table, f->added_count, &r->added_room, sizeof *f->added);
        f->added = table;
        good = good && take_token(r, &f->added[f->added_count]);
        f->added_count += good;
    }
    return good && r->p.status == GUFO_OK;
}

/* ---- the file ------------------------------------------------------------------------------- */

typedef struct long_part {
    const char *name;
    bool (*take)(file_reading *r);
} long_part;

/* Takes an object: `parts`, up to a row without a name, by their functions, all others into `tree`. */
static bool take_members(file_reading *r, const long_part *parts, json_t *tree)
{
    gufo_str name;
    json_t *value;

    if (tree == NULL)
        return pull_fail_memory(&r->p);
    if (!pull_mark(&r->p, '{'))
        return false;
    for (bool first = true; pull_next(&r->p, '}', &first);) {
        const long_part *part = parts;

        if (!pull_name(&r->p, &name))
            return false;
        while (part->name != NULL && !gufo_str_equal(name, gufo_str_of(part->name)))
            part++;
        if (part->name != NULL ? !part->take(r)
                               : !json_pull(&r->p, &r->tree_memory, &r->f->places, &value) ||
                                     !json_pull_set(&r->p, tree, name, value))
            return false;
    }
    return r->p.status == GUFO_OK;
}

static bool take_model(file_reading *r)
{
    static const long_part parts[] = {
        {"vocab", file_take_vocab}, {"merges", take_merges}, {NULL, NULL}};
    const gufo_str name = gufo_str_of("model");
    tokenizer_file *f = r->f;
    json_t *tree;

    forget_vocab(r);
    f->has_merges = false;
    f->merge_count = 0;
    if (is_null(&r->p))
        return json_pull_set(&r->p, f->root, name, json_null());
    tree = json_object();
    if ((tree == NULL || json_place_next(&r->p, &f->places, tree)) && take_members(r, parts, tree))
        return json_pull_set(&r->p, f->root, name, tree);
    json_decref(tree);
    return false;
}

static bool take_file(file_reading *r)
{
    static const long_part parts[] = {
        {"model", take_model}, {"added_tokens", take_added}, {NULL, NULL}};
    tokenizer_file *f = r->f;

    f->root = json_object();
    return take_members(r, parts, f->root) && pull_end(&r->p);
}

/* ---- parts ---------------------------------------------------------------------------------- */

const json_t *tokenizer_file_part(const tokenizer_file *f, const char *name)
{
    return json_member(f->root, name);
}

const json_t *tokenizer_file_flag(const tokenizer_file *f, const char *member_of_model)
{
    return json_member(json_object_get(f->root, "model"), member_of_model);
}

/* ---- all of it ------------------------------------------------------------------------------ */

tokenizer_file *tokenizer_file_read(gufo_str text, const gufo_allocator *allocator,
                                    gufo_error *error)
{
    file_reading r;

    return file_finish(&r, file_begin(&r, text, allocator, error) && take_file(&r));
}

/* ---- for checks ----------------------------------------------------------------------------- */

gufo_status gufo_tokenizer_json_tokens(gufo_str json, const gufo_parse_options *options,
                                       gufo_tokenizer_token_fn *token, void *context,
                                       gufo_error *error)
{
    const gufo_allocator *allocator = mem_allocator(options != NULL ? options->allocator : NULL);
    gufo_error reason = {.code = GUFO_OK};
    gufo_status status = parse_options_check(options, error);
    tokenizer_file *f = status == GUFO_OK ? tokenizer_file_read(json, allocator, &reason) : NULL;
    bool wanted = true;

    if (status != GUFO_OK)
        return status;
    if (f == NULL)
        return fail_as(error, &reason);
    if (!f->has_vocab)
        status = refuse(error, GUFO_E_NOT_FOUND, "the tokenizer.json has no vocabulary");
    for (uint32_t i = 0; status == GUFO_OK && wanted && i < f->vocab_count; i++)
        wanted = token(context, f->vocab[i].id, f->vocab[i].text);
    for (uint32_t i = 0; status == GUFO_OK && wanted && i < f->added_count; i++)
        wanted = token(context, f->added[i].id, f->added[i].content);
    tokenizer_file_free(f);
    return status;
}
