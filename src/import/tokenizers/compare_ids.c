/* The ids of the original, beside those of engines.
 *
 * A GGUF file names a recipe that is nearest to a tokenizer.json; what it drops (a normalizer, white space
 * that a token takes, an expression) shows in few texts, and nobody would notice. */
#include "import/tokenizers/compare_ids.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "gufo/vocab.h"
#include "text/formats/source.h"
#include "text/vocabulary/escapes.h"

/* Texts that pre-tokenizers cut differently, and some that normalizers change. */
static const char *const texts[] = {
#define ROW(kind, text) text,
#include "registry/pretokenizer_probes.inc"
#undef ROW
    /* Forms of characters, ligatures and digits, Hangul and Kana, characters that stand for others. */
    "e\xcc\x81 \xc3\xa9 n\xcc\x83 q\xcc\xa3\xcc\x87 q\xcc\x87\xcc\xa3",
    "\xef\xac\x81n \xe2\x85\xa7 \xe2\x91\xa0 x\xc2\xb2 \xef\xbc\xa1\xef\xbc\xa2",
    "\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab \xef\xbd\xb6\xef\xbe\x9e",
    "\xe2\x84\xab \xe2\x84\xa6 \xcd\xbe \xe1\xbf\xaf",
    /* Letters of both cases; white space; what does not show. */
    "STRASSE Stra\xc3\x9f \xc4\xb0stanbul \xce\xa3\xce\xaf\xcf\x83\xcf\x85\xcf\x86\xce\xbf\xcf\x82",
    " x  y\xc2\xa0z\xe2\x80\x83w\xe3\x80\x80v ",
    "x\xe2\x80\x8by\xe2\x80\x8dz\xef\xbb\xbfw\xc2\xadv",
};

enum { TEXTS = sizeof texts / sizeof *texts };

typedef struct comparing {
    tokenizer_reading *r;
    gufo_vocab *original, *engine;
    gufo_ids left, right;
    gufo_text text;
    uint32_t differ;
    size_t first; /* that differs */
} comparing;

/* ---- both tokenizers ------------------------------------------------------------------------ */

static gufo_vocab *open_engine(const tokenizer_reading *r)
{
    const gufo_vocab_options how = {.tokenizer = GUFO_TOKENIZER_GGML, .allocator = r->allocator};
    gufo_model *model = source_over_document(r->document, r->allocator, NULL);
    gufo_vocab *vocab = model != NULL ? gufo_vocab_open(model, &how, NULL) : NULL;

    gufo_close(model);
    return vocab;
}

static gufo_str bytes_of(const buffer *b)
{
    return b->len > 0 ? (gufo_str){(const char *)b->data, b->len} : (gufo_str){"", 0};
}

static gufo_vocab *open_original(tokenizer_reading *r)
{
    const gufo_vocab_options how = {.allocator = r->allocator};
    buffer json = {.allocator = r->allocator}, config = {.allocator = r->allocator};
    gufo_vocab *vocab = NULL;
    bool found;

    if (reading_file(r, "tokenizer.json", &json, &found) == GUFO_OK && found &&
        reading_file(r, "tokenizer_config.json", &config, &found) == GUFO_OK)
        vocab = gufo_vocab_open_json(bytes_of(&json), bytes_of(&config), &how, NULL);
    buffer_free(&json);
    buffer_free(&config);
    return vocab;
}

/* ---- texts ---------------------------------------------------------------------------------- */

static gufo_status encode(const gufo_vocab *vocab, gufo_str text, gufo_ids *ids)
{
    const gufo_tokenize_options options = {.flags = GUFO_TOKENIZE_PARSE_SPECIAL};

    ids->count = 0;
    return gufo_tokenize(vocab, text, &options, ids, NULL);
}

static bool same(const gufo_ids *a, const gufo_ids *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->ids, b->ids, a->count * sizeof *a->ids) == 0);
}

/* A text that the original cannot encode has no ids to compare. */
static gufo_status compare_text(comparing *c, size_t index)
{
    gufo_str text;

    c->text.len = 0;
    if (!add_unescaped(gufo_str_of(texts[index]), &c->text))
        return fail_memory(c->r->error);
    text = (gufo_str){c->text.data, c->text.len};
    if (encode(c->original, text, &c->left) != GUFO_OK ||
        encode(c->engine, text, &c->right) != GUFO_OK || same(&c->left, &c->right))
        return GUFO_OK;
    if (c->differ++ == 0)
        c->first = index;
    return GUFO_OK;
}

typedef struct step_names {
    char text[200];
    size_t len;
} step_names;

static gufo_status add_name(step_reading *r, void *context)
{
    step_names *names = context;
    size_t room = sizeof names->text - names->len;

    if (names->len < sizeof names->text)
        names->len += (size_t)snprintf(names->text + names->len, room, "%s%.*s",
                                       names->len > 0 ? ", " : "; its normalizer: ",
                                       r->type.len < 32 ? (int)r->type.len : 32, r->type.data);
    return GUFO_OK;
}

/* "; its normalizer: NFC, Lowercase" */
static step_names name_normalizer(tokenizer_reading *r)
{
    step_names names = {.len = 0};

    (void)reading_each_step(r, NORMALIZER, add_name, &names);
    return names;
}

static gufo_status report(const comparing *c)
{
    step_names normalizer;

    if (c->differ == 0)
        return GUFO_OK;
    normalizer = name_normalizer(c->r);
    return import_warn(c->r->import, c->r->error,
                       "tokenizer.json gives other ids than readers of the GGUF file for %" PRIu32
                       " of %d texts, such as \"%.200s\"%s",
                       c->differ, TEXTS, texts[c->first], normalizer.text);
}

gufo_status compare_ids(tokenizer_reading *r)
{
    comparing c = {.r = r, .original = open_original(r), .engine = open_engine(r)};
    gufo_status status = GUFO_OK;

    c.left.allocator = c.right.allocator = c.text.allocator = r->allocator;
    for (size_t i = 0; c.original != NULL && c.engine != NULL && status == GUFO_OK && i < TEXTS;
         i++)
        status = compare_text(&c, i);
    if (status == GUFO_OK)
        status = report(&c);
    gufo_ids_free(&c.left);
    gufo_ids_free(&c.right);
    gufo_text_free(&c.text);
    gufo_vocab_close(c.original);
    gufo_vocab_close(c.engine);
    return status;
}
