/* The normalizer and the pre-tokenizer of a tokenizer.json with pieces: their steps set flags.  A row for
 * each type of step says which models know it. */
#include "text/formats/json_reading.h"

#include <string.h>

#include "base/error.h"
#include "text/formats/base64.h"

typedef struct step_row {
    const char *type;
    unsigned kinds; /* models in which GGUF can say it */
    gufo_status (*take)(json_reading *r, const json_t *step);
} step_row;

/* ---- normalizer ----------------------------------------------------------------------------- */

static gufo_status take_nfc(json_reading *r, const json_t *step)
{
    (void)step;
    json_note(r, "readers of GGUF files do not apply the normalizer NFC");
    return GUFO_OK;
}

static gufo_status take_prepend(json_reading *r, const json_t *step)
{
    if (!str_is(json_word(r, step, "prepend"), WORD_START))
        return json_unsayable(r, "GGUF cannot express what the normalizer Prepend adds");
    r->space_prefix = true;
    return r->status;
}

/* " " becomes U+2581; more than one space becomes one; none are at the ends. */
static gufo_status take_replace(json_reading *r, const json_t *step)
{
    const json_t *pattern = json_member(step, "pattern");
    gufo_str text = json_word(r, pattern, "String"), regex = json_word(r, pattern, "Regex"),
             content = json_word(r, step, "content");

    if (r->status != GUFO_OK)
        return r->status;
    if (str_is(text, " ") && str_is(content, WORD_START))
        r->spaces_escaped = true;
    else if (r->kind == UNIGRAM &&
             ((str_is(regex, " {2,}") && (str_is(content, WORD_START) || str_is(content, " "))) ||
              (str_is(regex, "^ +| +$") && content.len == 0)))
        r->extra_spaces_removed = true;
    else
        return json_unsayable(r, "GGUF cannot express that the normalizer replaces %s",
                              QUOTED(text.len > 0 ? text : regex));
    return GUFO_OK;
}

static gufo_status take_strip(json_reading *r, const json_t *step)
{
    (void)step;
    r->extra_spaces_removed = true;
    return GUFO_OK;
}

static gufo_status take_charsmap(json_reading *r, const json_t *step)
{
    r->charsmap = json_member(step, "precompiled_charsmap");
    return r->charsmap == NULL || json_is_string(r->charsmap)
               ? GUFO_OK
               : json_wrong(r, "\"precompiled_charsmap\" is not a string");
}

static const step_row normalizers[] = {
    {"NFC", PIECES | UNIGRAM, take_nfc},         {"Prepend", PIECES, take_prepend},
    {"Replace", PIECES | UNIGRAM, take_replace}, {"Strip", UNIGRAM, take_strip},
    {"Precompiled", UNIGRAM, take_charsmap},
};

/* ---- pre-tokenizer -------------------------------------------------------------------------- */

static gufo_status take_metaspace(json_reading *r, const json_t *step)
{
    gufo_str replacement = json_word(r, step, "replacement"),
             scheme = json_word(r, step, "prepend_scheme");

    if (replacement.len > 0 && !str_is(replacement, WORD_START))
        return json_unsayable(r, "GGUF cannot express what Metaspace makes of spaces");
    r->spaces_escaped = true;
    r->space_prefix |=
        scheme.len > 0 ? !str_is(scheme, "never") : json_flag(r, step, "add_prefix_space", true);
    if (r->kind == PIECES && json_flag(r, step, "split", true))
        json_note(r, "readers of GGUF files do not cut texts before each space, as Metaspace does: "
                     "ids differ where a token has a space inside");
    if (r->kind == PIECES && str_is(scheme, "first"))
        json_note(r, "readers of GGUF files put a space after special tokens, too, where Metaspace "
                     "puts one before the text alone");
    return r->status;
}

static gufo_status take_white_space(json_reading *r, const json_t *step)
{
    (void)step;
    r->extra_spaces_removed = true;
    return GUFO_OK;
}

/* After spaces were escaped, cutting at spaces does nothing. */
static gufo_status take_split(json_reading *r, const json_t *step)
{
    gufo_str text = json_word(r, json_member(step, "pattern"), "String");

    if (r->spaces_escaped && str_is(text, " "))
        return r->status;
    return json_unsayable(r, "GGUF cannot express that the pre-tokenizer is Split");
}

static const step_row pre_tokenizers[] = {
    {"Metaspace", PIECES | UNIGRAM, take_metaspace},
    {"Split", PIECES, take_split},
    {"WhitespaceSplit", UNIGRAM, take_white_space},
};

/* ---- both ----------------------------------------------------------------------------------- */

typedef struct step_table {
    const char *what;
    const step_row *rows;
    size_t count;
} step_table;

static gufo_status take_row(json_reading *r, const json_t *step, gufo_str type, void *context)
{
    const step_table *table = context;

    for (size_t i = 0; i < table->count; i++)
        if (str_is(type, table->rows[i].type) && (table->rows[i].kinds & r->kind) != 0)
            return table->rows[i].take(r, step);
    return json_unsayable(r, "GGUF cannot express that the %s is %s", table->what, QUOTED(type));
}

static gufo_status set_charsmap(json_reading *r)
{
    buffer bytes = {.allocator = &r->allocator};
    gufo_items items = {.type = GUFO_VALUE_UINT8};
    gufo_status status;
    bool memory;

    if (!base64_read(json_text(r->charsmap), &bytes, &memory)) {
        status = memory ? json_wrong(r, "\"precompiled_charsmap\" is not base64")
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

static gufo_status set_flags(json_reading *r)
{
    const struct {
        const char *key;
        unsigned kinds;
        bool value;
    } flags[] = {
        {TOKENIZER_KEY("add_space_prefix"), PIECES | UNIGRAM, r->space_prefix},
        {TOKENIZER_KEY("remove_extra_whitespaces"), UNIGRAM, r->extra_spaces_removed},
    };
    gufo_status status = GUFO_OK;

    for (size_t i = 0; status == GUFO_OK && i < sizeof flags / sizeof *flags; i++)
        if ((flags[i].kinds & r->kind) != 0)
            status = gufo_document_set_bool(r->document, flags[i].key, flags[i].value, r->error);
    if (status == GUFO_OK && r->charsmap != NULL && json_string_length(r->charsmap) > 0)
        status = set_charsmap(r);
    return status;
}

gufo_status json_read_normalizer(json_reading *r)
{
    step_table normalizer = {"normalizer", normalizers, sizeof normalizers / sizeof *normalizers},
               pre = {"pre-tokenizer", pre_tokenizers,
                      sizeof pre_tokenizers / sizeof *pre_tokenizers};
    gufo_status status = json_each_step(r, "normalizer", "normalizers", take_row, &normalizer);

    if (status == GUFO_OK)
        status = json_each_step(r, "pre_tokenizer", "pretokenizers", take_row, &pre);
    if (status == GUFO_OK && !r->spaces_escaped)
        status =
            json_unsayable(r, "GGUF cannot express that spaces stay as they are in a vocabulary "
                              "of pieces");
    return status == GUFO_OK ? set_flags(r) : status;
}
