/* The content of a vocabulary's lists: what each token is, and whether merges are made of tokens.
 *
 * A fault in a vocabulary is often the same for thousands of tokens.  Each rule gives one finding:
 * the first place, and how many there are. */
#include "schema/check/vocabulary.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

/* Tokens by text.
 *
 * A vocabulary has hundreds of thousands of tokens, and its merges ask three times as often.  Most
 * of the time would go by waiting for memory: neither table nor texts fit into the nearest cache.
 * So most questions are answered by the slot alone, and questions come in groups, whose slots are
 * fetched together:
 *
 *     slot   start: the first 8 bytes of the text, zeros behind a shorter one
 *            tag: 24 bits of the hash, and the length (255: that or more)
 *            number: id + 1
 *
 * A text of up to 8 bytes is equal if start and tag are; a longer one is compared. */

/* A text with what is compared first. */
typedef struct asked_text {
    gufo_str text;
    uint64_t hash, start;
    uint32_t tag;
} asked_text;

/* The slot where the search begins.  Not the remainder of a power of two: the table would be twice
 * as large as it must be, and pages as well have to be looked up. */
static inline uint64_t home_of(const token_list *list, uint64_t hash)
{
    return (hash >> 32) * list->slot_count >> 32;
}

/* Begins to fetch the slot, too.  Of a short text the eight bytes of `start` are hashed: all are of
 * one length then. */
static inline asked_text ask(const token_list *list, gufo_str text)
{
    uint64_t start = load_start(text.data, text.len);
    bool is_short = text.len <= sizeof start;
    gufo_str hashed = {is_short ? (const char *)&start : text.data,
                       is_short ? sizeof start : text.len};
    uint64_t hash = hash_text(list->key, hashed);
    uint32_t len = (uint32_t)smaller(text.len, UINT8_MAX);

    __builtin_prefetch(&list->slots[home_of(list, hash)]);
    return (asked_text){text, hash, start, (uint32_t)hash << 8 | len};
}

static inline bool is_in(const token_list *list, const token_slot *slot, const asked_text *asked)
{
    return slot->tag == asked->tag && slot->start == asked->start &&
           (asked->text.len <= sizeof slot->start ||
            gufo_str_equal(list->texts[slot->number - 1], asked->text));
}

/* The slot of a text, or the empty one where it belongs. */
static inline token_slot *slot_of(const token_list *list, const asked_text *asked)
{
    uint64_t at = home_of(list, asked->hash);

    while (list->slots[at].number != 0 && !is_in(list, &list->slots[at], asked))
        at = at + 1 < list->slot_count ? at + 1 : 0;
    return &list->slots[at];
}

static void add_group(token_list *list, uint64_t first, size_t count)
{
    asked_text asked[TOKENS_AT_ONCE];

    for (size_t i = 0; i < count; i++)
        asked[i] = ask(list, list->texts[first + i]);
    for (size_t i = 0; i < count; i++) {
        token_slot *slot = slot_of(list, &asked[i]);

        if (slot->number == 0) {
            *slot = (token_slot){asked[i].start, asked[i].tag, (uint32_t)(first + i + 1)};
        } else if (list->repeated++ == 0) {
            list->again = first + i;
            list->before = slot->number - 1;
        }
    }
}

static gufo_status allocate(token_list *list, uint64_t count, gufo_error *error)
{
    uint64_t slots = count + count / 3 + 1;

    list->slot_count = slots;
    if (slots > SIZE_MAX / sizeof *list->slots)
        return fail_memory(error);
    list->texts = mem_alloc(list->allocator, ((size_t)count + 1) * sizeof *list->texts);
    list->slots = mem_zero(list->allocator, (size_t)slots * sizeof *list->slots);
    return list->texts != NULL && list->slots != NULL ? GUFO_OK : fail_memory(error);
}

static void tokens_free(token_list *list)
{
    mem_free(list->allocator, list->texts);
    mem_free(list->allocator, list->slots);
    *list = (token_list){0};
}

/* Reads an array of strings.  GUFO_E_MEMORY; GUFO_E_RANGE for more tokens than an id can number.
 * Freed with tokens_free, which a list of zeros may be given to as well. */
static gufo_status tokens_load(token_list *list, const gufo_array *array,
                               const gufo_allocator *allocator, gufo_error *error)
{
    gufo_array_iter iter = gufo_array_start(array);
    gufo_status status;
    gufo_value text;

    *list = (token_list){.key = hash_key_new(), .allocator = allocator};
    if (array->count >= UINT32_MAX)
        return refuse(error, GUFO_E_RANGE, "too many tokens");
    status = allocate(list, array->count, error);
    if (status != GUFO_OK) {
        tokens_free(list);
        return status;
    }
    while (list->count < array->count && gufo_array_next(&iter, &text)) {
        list->texts[list->count++] = text.as.str;
        list->longest = larger(list->longest, text.as.str.len);
    }
    for (uint64_t i = 0; i < list->count; i += TOKENS_AT_ONCE)
        add_group(list, i, (size_t)smaller(list->count - i, TOKENS_AT_ONCE));
    return GUFO_OK;
}

static void tokens_find(const token_list *list, const gufo_str texts[], size_t count,
                        uint32_t ids[])
{
    asked_text asked[TOKENS_AT_ONCE];

    for (size_t i = 0; i < count; i++)
        asked[i] = ask(list, texts[i]);
    for (size_t i = 0; i < count; i++) /* an empty slot gives TOKEN_NONE */
        ids[i] = slot_of(list, &asked[i])->number - 1;
}

/* The offset of an element of a list in the file. */
static gufo_finding place_of_text(const gufo_entry *entry, gufo_str text)
{
    gufo_finding finding = at_entry(entry);

    finding.offset =
        entry->value_offset + (uint64_t)(text.data - (const char *)entry->value.as.array.data);
    return finding;
}

/* ---- tokens --------------------------------------------------------------------------------- */

static void check_repeated(check_context *c, const gufo_entry *entry, const token_list *tokens)
{
    gufo_str text;

    if (tokens->repeated == 0)
        return;
    text = tokens->texts[tokens->again];
    schema_report(c, RULE_TOKEN_REPEATED, place_of_text(entry, text),
                  "token %" PRIu64 " is %s, as token %" PRIu64 " is%s", tokens->again, QUOTED(text),
                  tokens->before, schema_and_more(c, tokens->repeated));
}

static void check_empty(check_context *c, const gufo_entry *entry, const token_list *tokens)
{
    uint64_t empty = 0, first = 0;

    for (uint64_t i = 0; i < tokens->count; i++)
        if (tokens->texts[i].len == 0 && empty++ == 0)
            first = i;
    if (empty > 0)
        schema_report(c, RULE_TOKEN_EMPTY, place_of_text(entry, tokens->texts[first]),
                      "token %" PRIu64 " has no text%s", first, schema_and_more(c, empty));
}

/* ---- token types ---------------------------------------------------------------------------- */

/* Some programs write 0 for a type that is not known. */
enum {
    TYPE_UNDEFINED,
    TYPE_FIRST,
    TYPE_UNKNOWN,
    TYPE_CONTROL,
    TYPE_USER_DEFINED,
    TYPE_BYTE = 6,
    TYPE_LAST = TYPE_BYTE
};

/* The byte that "<0x1F>" means, or -1. */
static int byte_of(gufo_str text)
{
    static const char digits[] = "0123456789ABCDEF";
    const char *high, *low;

    if (text.len != 6 || !str_begins(text, "<0x") || text.data[5] != '>')
        return -1;
    high = memchr(digits, text.data[3], strlen(digits));
    low = memchr(digits, text.data[4], strlen(digits));
    return high != NULL && low != NULL ? (int)(16 * (high - digits) + (low - digits)) : -1;
}

/* Whether text that no token covers is made of bytes. */
static bool falls_back_to_bytes(const gufo_tokenizer_info *model)
{
    return model != NULL && str_is_word(gufo_str_of(model->id), "llama gemma4");
}

static void check_bytes(check_context *c, const vocabulary *v, const bool have[256])
{
    unsigned missing = 0, first = 0;

    for (unsigned i = 0; i < 256; i++)
        if (!have[i] && missing++ == 0)
            first = i;
    if (missing > 0)
        schema_report(c, RULE_BYTE_TOKENS, at_entry(&v->lists[LIST_TOKEN_TYPE]),
                      "no token of type %d is called \"<0x%02X>\"%s, although tokenizer "
                      "model \"%s\" falls back to bytes",
                      TYPE_BYTE, first, schema_and_more(c, missing), v->model->id);
}

static void check_types(check_context *c, const vocabulary *v, const token_list *tokens)
{
    const gufo_entry *entry = &v->lists[LIST_TOKEN_TYPE];
    gufo_array_iter iter = gufo_array_start(&entry->value.as.array);
    uint64_t unknown = 0, first = 0;
    int64_t type, first_type = 0;
    int64_t least = c->level == GUFO_LEVEL_SPEC ? TYPE_FIRST : TYPE_UNDEFINED;
    bool have[256] = {false};
    gufo_value element;

    for (uint64_t i = 0; gufo_array_next(&iter, &element); i++) {
        if (gufo_value_i64(&element, &type, NULL) != GUFO_OK)
            type = INT64_MAX;
        if ((type < least || type > TYPE_LAST) && unknown++ == 0) {
            first = i;
            first_type = type;
        }
        if (type == TYPE_BYTE && i < tokens->count && byte_of(tokens->texts[i]) >= 0)
            have[byte_of(tokens->texts[i])] = true;
    }
    if (unknown > 0)
        schema_report(c, RULE_TOKEN_TYPE, at_entry(entry),
                      "token %" PRIu64 " has type %" PRId64
                      ", which is not known%s; types are %" PRId64 " to %d",
                      first, first_type, schema_and_more(c, unknown), least, TYPE_LAST);
    if (falls_back_to_bytes(v->model) && tokens->count > 0)
        check_bytes(c, v, have);
}

/* ---- added tokens --------------------------------------------------------------------------- */

/* Readers find user-defined and control tokens in a text, and know nothing of the list of added
 * ones. */
static bool is_found_in_texts(const vocabulary *v, uint32_t id)
{
    const gufo_array *types = &v->lists[LIST_TOKEN_TYPE].value.as.array;
    gufo_value element;
    int64_t type;

    if (!v->usable[LIST_TOKEN_TYPE] || gufo_array_at(types, id, &element, NULL) != GUFO_OK ||
        gufo_value_i64(&element, &type, NULL) != GUFO_OK)
        return false;
    return type == TYPE_UNKNOWN || type == TYPE_CONTROL || type == TYPE_USER_DEFINED;
}

/* Merges make runs of spaces: readers would print U+2581 for one that is user-defined. */
static bool is_run_of_spaces(const vocabulary *v, gufo_str text)
{
    return falls_back_to_bytes(v->model) && str_search(text, gufo_str_of("\xe2\x96\x81")) != NULL;
}

typedef struct added_survey {
    uint64_t missing, mistyped;
    gufo_str first_missing, first_mistyped;
    uint32_t id; /* of the first that has an unfit type */
} added_survey;

static void survey_added(added_survey *s, const vocabulary *v, const token_list *tokens,
                         gufo_str text)
{
    uint32_t id;

    tokens_find(tokens, &text, 1, &id);
    if (id == TOKEN_NONE) {
        if (s->missing++ == 0)
            s->first_missing = text;
    } else if (!is_found_in_texts(v, id) && !is_run_of_spaces(v, text) && s->mistyped++ == 0) {
        s->first_mistyped = text;
        s->id = id;
    }
}

static void check_added_tokens(check_context *c, const vocabulary *v, const token_list *tokens)
{
    const gufo_entry *entry = &v->lists[LIST_ADDED_TOKENS];
    gufo_array_iter iter = gufo_array_start(&entry->value.as.array);
    added_survey s = {.missing = 0};
    gufo_value text;

    while (gufo_array_next(&iter, &text))
        survey_added(&s, v, tokens, text.as.str);
    if (s.missing > 0)
        schema_report(c, RULE_TOKENS_ADDED, place_of_text(entry, s.first_missing),
                      "added token %s is not in tokenizer.ggml.tokens%s", QUOTED(s.first_missing),
                      schema_and_more(c, s.missing));
    if (s.mistyped > 0)
        schema_report(c, RULE_TOKENS_ADDED, place_of_text(entry, s.first_mistyped),
                      "added token %s is token %" PRIu32
                      ", but its type is neither %d (user-defined) nor %d (control)%s",
                      QUOTED(s.first_mistyped), s.id, TYPE_USER_DEFINED, TYPE_CONTROL,
                      schema_and_more(c, s.mistyped));
}

/* ---- merges --------------------------------------------------------------------------------- */

enum { JOIN_SIZE = 256 }; /* longer ones are looked up one by one */

typedef struct merge {
    gufo_str text, left, right;
} merge;

typedef struct merge_survey {
    const token_list *tokens;
    merge waiting[TOKENS_AT_ONCE]; /* that are to be looked up */
    size_t count;                  /* of them */
    uint32_t guess;                /* the id that the next merge will make, most likely */
    uint64_t malformed, unknown;
    gufo_str first_malformed, first_unknown;
} merge_survey;

/* What the parts of a merge are together. */
static void join(char *out, const merge *m)
{
    memcpy(out, m->left.data, m->left.len);
    memcpy(out + m->left.len, m->right.data, m->right.len);
}

/* Merges make tokens in the order of their ids, in nearly every vocabulary: the next one is tried
 * before a look-up. */
static bool makes_token(const token_list *tokens, const merge *m, uint32_t id)
{
    gufo_str token;

    if (id >= tokens->count)
        return false;
    token = tokens->texts[id];
    return token.len == m->left.len + m->right.len &&
           memcmp(token.data, m->left.data, m->left.len) == 0 &&
           memcmp(token.data + m->left.len, m->right.data, m->right.len) == 0;
}

/* Whether what a merge makes is a token. */
static gufo_status check_joined(merge_survey *s, const merge *m, bool *found, gufo_error *error)
{
    const token_list *tokens = s->tokens;
    char room[JOIN_SIZE], *text = room;
    size_t len = m->left.len + m->right.len;
    uint32_t id = s->guess;

    *found = makes_token(tokens, m, id);
    if (!*found && len <= tokens->longest) {
        if (len > sizeof room)
            text = mem_alloc(tokens->allocator, len);
        if (text == NULL)
            return fail_memory(error);
        join(text, m);
        tokens_find(tokens, &(gufo_str){text, len}, 1, &id);
        if (text != room)
            mem_free(tokens->allocator, text);
        *found = id != TOKEN_NONE;
    }
    if (*found)
        s->guess = id + 1;
    return GUFO_OK;
}

static gufo_status look_up_waiting(merge_survey *s, gufo_error *error)
{
    gufo_str lefts[TOKENS_AT_ONCE], rights[TOKENS_AT_ONCE];
    uint32_t left[TOKENS_AT_ONCE], right[TOKENS_AT_ONCE];

    for (size_t i = 0; i < s->count; i++) {
        lefts[i] = s->waiting[i].left;
        rights[i] = s->waiting[i].right;
    }
    tokens_find(s->tokens, lefts, s->count, left);
    tokens_find(s->tokens, rights, s->count, right);
    for (size_t i = 0; i < s->count; i++) {
        bool found;
        gufo_status status = check_joined(s, &s->waiting[i], &found, error);

        if (status != GUFO_OK)
            return status;
        if ((left[i] == TOKEN_NONE || right[i] == TOKEN_NONE || !found) && s->unknown++ == 0)
            s->first_unknown = s->waiting[i].text;
    }
    s->count = 0;
    return GUFO_OK;
}

/* "LEFT RIGHT": the blank is the first one behind the first character, which may be one. */
static gufo_status survey_merge(merge_survey *s, gufo_str text, gufo_error *error)
{
    const char *blank = text.len > 1 ? memchr(text.data + 1, ' ', text.len - 1) : NULL;
    size_t left = blank != NULL ? (size_t)(blank - text.data) : 0;

    if (blank == NULL || left + 1 == text.len) {
        if (s->malformed++ == 0)
            s->first_malformed = text;
        return GUFO_OK;
    }
    s->waiting[s->count++] =
        (merge){.text = text, .left = {text.data, left}, .right = {blank + 1, text.len - left - 1}};
    return s->count == TOKENS_AT_ONCE ? look_up_waiting(s, error) : GUFO_OK;
}

static void report_merges(check_context *c, const gufo_entry *entry, const merge_survey *s)
{
    if (s->malformed > 0)
        schema_report(c, RULE_MERGE_PARTS, place_of_text(entry, s->first_malformed),
                      "merge %s is not two parts with a blank between them%s",
                      QUOTED(s->first_malformed), schema_and_more(c, s->malformed));
    if (s->unknown > 0)
        schema_report(c, RULE_MERGE_TOKENS, place_of_text(entry, s->first_unknown),
                      "a part of merge %s, or what the parts make together, is not a token%s",
                      QUOTED(s->first_unknown), schema_and_more(c, s->unknown));
}

static void check_merges(check_context *c, const gufo_entry *entry, const token_list *tokens)
{
    merge_survey s = {.tokens = tokens};
    gufo_array_iter iter = gufo_array_start(&entry->value.as.array);
    gufo_value element;

    while (c->status == GUFO_OK && gufo_array_next(&iter, &element))
        c->status = survey_merge(&s, element.as.str, c->error);
    if (c->status == GUFO_OK)
        c->status = look_up_waiting(&s, c->error);
    if (c->status == GUFO_OK)
        report_merges(c, entry, &s);
}

/* ---- all of it ------------------------------------------------------------------------------ */

void schema_check_tokens(check_context *c, const vocabulary *v)
{
    const gufo_entry *entry = &v->lists[LIST_TOKENS];
    token_list tokens = {0};

    if (v->usable[LIST_TOKENS])
        c->status = tokens_load(&tokens, &entry->value.as.array, c->allocator, c->error);
    if (c->status == GUFO_E_RANGE)
        c->status = GUFO_OK; /* another check reports its length */
    if (c->status != GUFO_OK)
        return;
    check_repeated(c, entry, &tokens);
    check_empty(c, entry, &tokens);
    if (v->usable[LIST_TOKEN_TYPE])
        check_types(c, v, &tokens);
    if (v->usable[LIST_ADDED_TOKENS] && tokens.slots != NULL)
        check_added_tokens(c, v, &tokens);
    if (v->usable[LIST_MERGES] && tokens.count > 0)
        check_merges(c, &v->lists[LIST_MERGES], &tokens);
    if (c->status == GUFO_OK && tokens.texts != NULL)
        schema_check_original(c, v, &tokens);
    tokens_free(&tokens);
}
