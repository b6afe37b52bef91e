/* The normalizer and the pre-tokenizer of a tokenizer.json with pieces: their steps set flags.  A row for
 * each type of step says which models know it. */
#include "import/tokenizers/space_rules.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "text/formats/base64.h"
#include "text/pipeline/step_reading.h"

typedef struct space_rules {
    tokenizer_reading *r;
    model_kind kind;
    const struct step_row *rows; /* of the part that is read */
    size_t row_count;
    bool space_prefix, spaces_escaped, extra_spaces_removed;
    gufo_str charsmap;
} space_rules;

typedef struct step_row {
    const char *type;
    unsigned kinds; /* models in which GGUF can say it */
    gufo_status (*take)(step_reading *r, space_rules *s);
} step_row;

/* Warns of what GGUF cannot express, or refuses it. */
static gufo_status cannot_express(space_rules *s, const char *what, gufo_str name)
{
    char sentence[GUFO_MESSAGE_SIZE];

    (void)snprintf(sentence, sizeof sentence, "GGUF cannot express %s%s", what,
                   name.len > 0 ? QUOTED(name) : "");
    return s->kind == PIECES
               ? import_warn(s->r->import, s->r->error, "tokenizer.json: %s", sentence)
               : reading_fail(s->r, GUFO_E_TYPE, "tokenizer.json", "%s", sentence);
}

static const gufo_str no_name = {"", 0};

/* ---- normalizer ----------------------------------------------------------------------------- */

/* Readers do not apply it: what that changes is measured (compare_ids.h). */
static gufo_status take_nfc(step_reading *r, space_rules *s)
{
    (void)s;
    return r->status;
}

static gufo_status take_prepend(step_reading *r, space_rules *s)
{
    if (!str_is(step_text(r, "prepend"), WORD_START))
        return r->status != GUFO_OK
                   ? r->status
                   : cannot_express(s, "what the normalizer Prepend adds", no_name);
    s->space_prefix = true;
    return r->status;
}

/* " " becomes U+2581; more than one space becomes one; none are at the ends. */
static gufo_status take_replace(step_reading *r, space_rules *s)
{
    const json_t *pattern = step_object(r, "pattern");
    gufo_str text = json_str(json_member(pattern, "String")),
             regex = json_str(json_member(pattern, "Regex")), content = step_text(r, "content");

    if (r->status != GUFO_OK)
        return r->status;
    if (str_is(text, " ") && str_is(content, WORD_START))
        s->spaces_escaped = true;
    else if (s->kind == UNIGRAM &&
             ((str_is(regex, " {2,}") && (str_is(content, WORD_START) || str_is(content, " "))) ||
              (str_is(regex, "^ +| +$") && content.len == 0)))
        s->extra_spaces_removed = true;
    else
        return cannot_express(s, "that the normalizer replaces ", text.len > 0 ? text : regex);
    return GUFO_OK;
}

static gufo_status take_white_space(step_reading *r, space_rules *s)
{
    s->extra_spaces_removed = true;
    return r->status;
}

static gufo_status take_charsmap(step_reading *r, space_rules *s)
{
    s->charsmap = step_text_or(r, "precompiled_charsmap", "");
    return r->status;
}

static const step_row normalizers[] = {
    {"NFC", PIECES | UNIGRAM, take_nfc},         {"Prepend", PIECES, take_prepend},
    {"Replace", PIECES | UNIGRAM, take_replace}, {"Strip", UNIGRAM, take_white_space},
    {"Precompiled", UNIGRAM, take_charsmap},
};

/* ---- pre-tokenizer -------------------------------------------------------------------------- */

static gufo_status take_metaspace(step_reading *r, space_rules *s)
{
    gufo_str replacement = step_text_or(r, "replacement", ""),
             scheme = step_text_or(r, "prepend_scheme", "");
    bool prefix = step_flag_or(r, "add_prefix_space", true);

    if (r->status == GUFO_OK && replacement.len > 0 && !str_is(replacement, WORD_START))
        return cannot_express(s, "what Metaspace makes of spaces", no_name);
    s->spaces_escaped = true;
    s->space_prefix |= scheme.len > 0 ? !str_is(scheme, "never") : prefix;
    return r->status;
}

/* After spaces were escaped, cutting at spaces does nothing. */
static gufo_status take_split(step_reading *r, space_rules *s)
{
    gufo_str text = json_str(json_member(step_object(r, "pattern"), "String"));

    return r->status != GUFO_OK || (s->spaces_escaped && str_is(text, " "))
               ? r->status
               : cannot_express(s, "that the pre-tokenizer is Split", no_name);
}

static const step_row pre_tokenizers[] = {
    {"Metaspace", PIECES | UNIGRAM, take_metaspace},
    {"Split", PIECES, take_split},
    {"WhitespaceSplit", UNIGRAM, take_white_space},
};

/* ---- both ----------------------------------------------------------------------------------- */

static gufo_status take_row(step_reading *r, void *context)
{
    space_rules *s = context;

    for (size_t i = 0; i < s->row_count; i++)
        if (step_is(r, s->rows[i].type) && (s->rows[i].kinds & (unsigned)s->kind) != 0)
            return s->rows[i].take(r, s);
    return cannot_express(
        s, s->rows == normalizers ? "that the normalizer is " : "that the pre-tokenizer is ",
        r->type);
}

static gufo_status set_charsmap(const space_rules *s)
{
    tokenizer_reading *r = s->r;
    buffer bytes = {.allocator = r->allocator};
    gufo_items items = {.type = GUFO_VALUE_UINT8};
    gufo_status status;
    bool memory;

    if (!base64_read(s->charsmap, &bytes, &memory)) {
        status = memory ? reading_fail(r, GUFO_E_MALFORMED, "tokenizer.json",
                                       "\"precompiled_charsmap\" is not base64")
                        : fail_memory(r->error);
    } else {
        items.count = bytes.len;
        items.items = bytes.data;
        status = gufo_document_set_array(r->document, TOKENIZER_KEY("precompiled_charsmap"), &items,
                                         r->error);
    }
    buffer_free(&bytes);
    return status;
}

static gufo_status set_flags(const space_rules *s)
{
    tokenizer_reading *r = s->r;
    gufo_status status = gufo_document_set_bool(r->document, TOKENIZER_KEY("add_space_prefix"),
                                                s->space_prefix, r->error);

    if (status == GUFO_OK && s->kind == UNIGRAM)
        status = gufo_document_set_bool(r->document, TOKENIZER_KEY("remove_extra_whitespaces"),
                                        s->extra_spaces_removed, r->error);
    return status == GUFO_OK && s->charsmap.len > 0 ? set_charsmap(s) : status;
}

gufo_status space_rules_write(tokenizer_reading *r, model_kind kind)
{
    space_rules s = {.r = r,
                     .kind = kind,
                     .rows = normalizers,
                     .row_count = sizeof normalizers / sizeof *normalizers};
    gufo_status status = reading_each_step(r, NORMALIZER, take_row, &s);

    s.rows = pre_tokenizers;
    s.row_count = sizeof pre_tokenizers / sizeof *pre_tokenizers;
    if (status == GUFO_OK)
        status = reading_each_step(r, PRE_TOKENIZER, take_row, &s);
    if (status == GUFO_OK && !s.spaces_escaped)
        status =
            cannot_express(&s, "that spaces stay as they are in a vocabulary of pieces", no_name);
    return status == GUFO_OK ? set_flags(&s) : status;
}
