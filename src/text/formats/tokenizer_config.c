/* What transformers does to a tokenizer.json when it loads a folder:
 *
 *     added_tokens_decoder         its tokens are added in the order of their ids; what they say replaces
 *                                  what the file says of the same text
 *     bos_token, eos_token ...     become special tokens, if they are not added yet
 *     extra_special_tokens         likewise
 *     add_bos_token, add_eos_token if one is there, both decide what is put around texts, in place of the
 *                                  file's post-processor */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "text/formats/json_tree.h"
#include "text/formats/tokenizer_file.h"

/* The roles that transformers knows by a name. */
static const struct {
    const char *member;
    gufo_special role;
} roles[] = {
    {"bos_token", GUFO_SPECIAL_BOS},     {"eos_token", GUFO_SPECIAL_EOS},
    {"unk_token", GUFO_SPECIAL_UNKNOWN}, {"sep_token", GUFO_SPECIAL_SEPARATOR},
    {"pad_token", GUFO_SPECIAL_PADDING}, {"cls_token", GUFO_SPECIAL_BOS},
    {"mask_token", GUFO_SPECIAL_MASK},
};

enum { ROLES = sizeof roles / sizeof *roles };

/* ---- texts ---------------------------------------------------------------------------------- */

/* The text of a token, alone or in an object. */
static gufo_str text_of(const json_t *token)
{
    const json_t *text = json_is_object(token) ? json_object_get(token, "content") : token;

    return json_is_string(text) ? (gufo_str){json_string_value(text), json_string_length(text)}
                                : (gufo_str){"", 0};
}

/* ---- added tokens --------------------------------------------------------------------------- */

static bool flag(const json_t *token, const char *name, bool otherwise)
{
    const json_t *value = json_object_get(token, name);

    return json_is_boolean(value) ? json_is_true(value) : otherwise;
}

/* A token that is only named is a special one. */
static void add_token(tokenizer_file *f, const json_t *token)
{
    bool is_named = !json_is_object(token), special = flag(token, "special", is_named);
    const file_added added = {.content = text_of(token),
                              .special = special,
                              .normalized = flag(token, "normalized", !special),
                              .single_word = flag(token, "single_word", false),
                              .lstrip = flag(token, "lstrip", false),
                              .rstrip = flag(token, "rstrip", false),
                              .complete = true};

    f->added[f->added_count++] = added;
}

typedef struct decoded {
    uint64_t id;
    size_t place; /* in the file, which may have an id twice: as 5 and as 05 */
    const json_t *token;
} decoded;

static bool is_before(const void *a, const void *b)
{
    const decoded *left = a, *right = b;

    return left->id != right->id ? left->id < right->id : left->place < right->place;
}

static gufo_status add_decoded(tokenizer_file *f, const json_t *decoder, gufo_error *error)
{
    size_t count = json_object_size(decoder), at = 0;
    decoded *list = mem_array(&f->allocator, count, sizeof *list);
    gufo_status status = list != NULL ? GUFO_OK : fail_memory(error);
    const char *name;
    json_t *token;

    if (status == GUFO_OK)
        json_object_foreach((json_t *)decoder, name, token)
        {
            list[at] = (decoded){strtoull(name, NULL, 10), at, token};
            at++;
        }
    if (count > 0 && status == GUFO_OK)
        sort_items(list, count, sizeof *list, is_before);
    for (size_t i = 0; status == GUFO_OK && i < count; i++)
        if (text_of(list[i].token).len > 0)
            add_token(f, list[i].token);
    mem_free(&f->allocator, list);
    return status;
}

/* Adds a token that `known` does not have. */
static gufo_status add_named(tokenizer_file *f, json_t *known, const json_t *token,
                             gufo_error *error)
{
    gufo_str text = text_of(token);

    if (text.len == 0 || json_object_getn(known, text.data, text.len) != NULL)
        return GUFO_OK;
    if (json_object_setn_new_nocheck(known, text.data, text.len, json_null()) != 0)
        return fail_memory(error);
    add_token(f, token);
    return GUFO_OK;
}

static gufo_status add_listed(tokenizer_file *f, json_t *known, const json_t *list,
                              gufo_error *error)
{
    gufo_status status = GUFO_OK;
    const char *name;
    json_t *token;
    size_t i;

    if (json_is_array(list))
        json_array_foreach(list, i, token) if (status == GUFO_OK) status =
            add_named(f, known, token, error);
    if (json_is_object(list))
        json_object_foreach((json_t *)list, name, token) if (status == GUFO_OK) status =
            add_named(f, known, token, error);
    return status;
}

/* A set of the texts that are added tokens; NULL without memory. */
static json_t *known_texts(const tokenizer_file *f)
{
    json_t *known = json_object();

    for (uint32_t i = 0; known != NULL && i < f->added_count; i++) {
        gufo_str text = f->added[i].content;

        if (json_object_setn_new_nocheck(known, text.data, text.len, json_null()) != 0) {
            json_decref(known);
            return NULL;
        }
    }
    return known;
}

/* Room for all tokens that a configuration can add. */
static gufo_status reserve(tokenizer_file *f, const json_t *const lists[3], gufo_error *error)
{
    uint64_t count = (uint64_t)f->added_count + ROLES;
    file_added *grown;

    for (size_t i = 0; i < 3; i++)
        count += json_is_array(lists[i]) ? json_array_size(lists[i]) : json_object_size(lists[i]);
    if (count > UINT32_MAX / sizeof *grown)
        return refuse(error, GUFO_E_LIMIT, "tokenizer_config.json has too many added tokens");
    grown = mem_resize(&f->allocator, f->added, (size_t)count * sizeof *grown);
    if (grown == NULL)
        return fail_memory(error);
    f->added = grown;
    return GUFO_OK;
}

static gufo_status add_all(tokenizer_file *f, const json_t *config, gufo_error *error)
{
    const json_t *const lists[3] = {json_object_get(config, "added_tokens_decoder"),
                                    json_object_get(config, "additional_special_tokens"),
                                    json_object_get(config, "extra_special_tokens")};
    gufo_status status = reserve(f, lists, error);
    json_t *known = NULL;

    if (status == GUFO_OK && json_is_object(lists[0]))
        status = add_decoded(f, lists[0], error);
    if (status == GUFO_OK)
        known = known_texts(f);
    if (status == GUFO_OK && known == NULL)
        status = fail_memory(error);
    for (size_t i = 0; status == GUFO_OK && i < ROLES; i++)
        status = add_named(f, known, json_object_get(config, roles[i].member), error);
    for (size_t i = 1; status == GUFO_OK && i < 3; i++)
        status = add_listed(f, known, lists[i], error);
    json_decref(known);
    return status;
}

/* ---- roles ---------------------------------------------------------------------------------- */

static void set_roles(tokenizer_file *f, const json_t *config)
{
    for (size_t i = 0; i < ROLES; i++) {
        gufo_str text = text_of(json_object_get(config, roles[i].member));

        if (text.len > 0 && f->roles[roles[i].role].len == 0)
            f->roles[roles[i].role] = text;
    }
}

/* A token that is to be added and has no text is not. */
static void set_frame(tokenizer_file *f, const json_t *config)
{
    const json_t *bos = json_object_get(config, "add_bos_token"),
                 *eos = json_object_get(config, "add_eos_token");

    f->frame_is_said = bos != NULL || eos != NULL;
    f->adds_bos = json_is_true(bos) && text_of(json_object_get(config, "bos_token")).len > 0;
    f->adds_eos = json_is_true(eos) && text_of(json_object_get(config, "eos_token")).len > 0;
}

/* Reads the file as a tree.  An integer that 64 bits do not hold, which means "no limit", becomes a real number. */
static gufo_status read_root(const tokenizer_file *f, gufo_str config, json_t **root,
                             gufo_error *error)
{
    uint64_t memory = JSON_TREE_MEMORY;
    gufo_error reason = {.code = GUFO_OK};
    pull p = {.text = config.data,
              .len = config.len,
              .decoded = mem_alloc(&f->allocator, config.len + 1),
              .error = &reason};

    *root = NULL;
    if (p.decoded == NULL)
        return fail_memory(error);
    if (json_pull(&p, &memory, NULL, root) && pull_end(&p) && !json_is_object(*root))
        (void)pull_fail(&p, GUFO_E_MALFORMED, 0, "it is not an object");
    mem_free(&f->allocator, p.decoded);
    return p.status == GUFO_OK || p.status == GUFO_E_MEMORY
               ? p.status == GUFO_OK ? GUFO_OK : fail_memory(error)
               : fail_with(error, p.status, reason.offset, "tokenizer_config.json: %s",
                           reason.message);
}

gufo_status tokenizer_config_apply(tokenizer_file *f, gufo_str config, gufo_error *error)
{
    gufo_status status = read_root(f, config, &f->config, error);

    if (status == GUFO_OK)
        status = add_all(f, f->config, error);
    if (status != GUFO_OK)
        return status;
    set_roles(f, f->config);
    set_frame(f, f->config);
    return GUFO_OK;
}
