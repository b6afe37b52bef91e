/* Vocabularies of RWKV World, a line for each token: ids, bytes.
 *
 * GGUF has a token as the inside of Python's bytes literal:  b'\xe0\n'  becomes  \xe0\n .
 * Id 0, which the file does not have, is <s>, the end of a text; an empty line "\n\n" (261) ends a
 * turn. */
#include "text/formats/rwkv_world.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "schema/syntax/rwkv_world.h"
#include "text/formats/token_list.h"

enum {
    END_OF_TURN = 261,
    ESCAPED = 4, /* a byte is at most \xNN */
    PADDING_ROOM = 24,
};

typedef struct world {
    gufo_allocator allocator;
    uint32_t count;
    gufo_str *texts;
    int32_t *types;
    char *bytes, *line; /* all escaped texts; one token */
} world;

/* ---- counting ------------------------------------------------------------------------------- */

static gufo_status count_tokens(world *w, gufo_str text, uint32_t size, gufo_error *error)
{
    world_survey survey;
    gufo_status status = rwkv_world_survey(text, &w->allocator, &survey, error);

    if (status != GUFO_OK)
        return status;
    if (survey.status != GUFO_OK)
        return refuse(error, survey.status,
                      "RWKV World vocabulary: line %" PRIu64 ", at byte %zu, %s", survey.lines,
                      survey.at, survey.fault);
    if (size != 0 && survey.largest >= size)
        return refuse(error, GUFO_E_RANGE,
                      "RWKV World vocabulary: a token has id %" PRIu64
                      ", but the model has %s tokens",
                      survey.largest, GROUPED(size));
    if (larger(survey.largest, size) >= GUFO_MAX_COUNT)
        return refuse(error, GUFO_E_LIMIT, "RWKV World vocabulary: %s tokens are too many",
                      GROUPED(larger(survey.largest, size)));
    w->count = (uint32_t)larger(survey.largest + 1, size);
    return GUFO_OK;
}

/* ---- filling -------------------------------------------------------------------------------- */

/* As Python writes it: an apostrophe is escaped only if there are quotes, too. */
static size_t escape(const char *bytes, size_t size, char *out)
{
    static const char from[] = "\\\t\n\r", to[] = "\\tnr";
    bool quoted = size > 0 && memchr(bytes, '"', size) != NULL;
    char *end = out;

    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        const char *letter = byte == 0 ? NULL : strchr(from, byte);

        if (letter != NULL || (byte == '\'' && quoted)) {
            *end++ = '\\';
            *end++ = letter != NULL ? to[letter - from] : '\'';
        } else if (byte >= 0x20 && byte < 0x7f) {
            *end++ = (char)byte;
        } else {
            end += snprintf(end, ESCAPED + 1, "\\x%02x", byte);
        }
    }
    return (size_t)(end - out);
}

static void fill(world *w, gufo_str text)
{
    char *end = w->bytes;
    world_token token;

    for (size_t at = 0; at < text.len;) {
        (void)rwkv_world_read(text, &at, &token, w->line);
        w->texts[token.id] = (gufo_str){end, escape(w->line, token.size, end)};
        w->types[token.id] = TOKEN_NORMAL;
        end += w->texts[token.id].len;
    }
    for (uint32_t id = 0; id < w->count; id++) {
        if (w->texts[id].data != NULL)
            continue;
        w->types[id] = id == 0 ? TOKEN_CONTROL : TOKEN_UNUSED;
        w->texts[id].data = end;
        w->texts[id].len = id == 0 ? (size_t)snprintf(end, PADDING_ROOM, "<s>")
                                   : (size_t)snprintf(end, PADDING_ROOM, "[PAD%" PRIu32 "]", id);
        end += w->texts[id].len;
    }
}

static gufo_status set_keys(const world *w, gufo_document *document, gufo_error *error)
{
    gufo_items tokens = {GUFO_VALUE_STRING, w->count, w->texts},
               types = {GUFO_VALUE_INT32, w->count, w->types};
    gufo_status status = gufo_document_set_text(document, TOKENIZER_KEY("model"), "rwkv", error);

    if (status == GUFO_OK)
        status = gufo_document_set_array(document, TOKENIZER_KEY("tokens"), &tokens, error);
    if (status == GUFO_OK)
        status = gufo_document_set_array(document, TOKENIZER_KEY("token_type"), &types, error);
    if (status == GUFO_OK && w->types[0] == TOKEN_CONTROL)
        status = gufo_document_set_u32(document, TOKENIZER_KEY("bos_token_id"), 0, error);
    if (status == GUFO_OK && w->types[0] == TOKEN_CONTROL)
        status = gufo_document_set_u32(document, TOKENIZER_KEY("eos_token_id"), 0, error);
    if (status == GUFO_OK && w->count > END_OF_TURN &&
        gufo_str_equal(w->texts[END_OF_TURN], gufo_str_of("\\n\\n")))
        status = gufo_document_set_u32(document, TOKENIZER_KEY("eot_token_id"), END_OF_TURN, error);
    return status;
}

gufo_status rwkv_world_document(gufo_str text, uint32_t size, const gufo_allocator *allocator,
                                gufo_document *document, gufo_error *error)
{
    world w = {.allocator = *mem_allocator(allocator)};
    gufo_status status = count_tokens(&w, text, size, error);
    uint64_t room;

    if (status != GUFO_OK)
        return status;
    room = (uint64_t)text.len * ESCAPED + (uint64_t)w.count * PADDING_ROOM;
    w.texts = mem_array(&w.allocator, w.count, sizeof *w.texts);
    w.types = mem_array(&w.allocator, w.count, sizeof *w.types);
    w.bytes = mem_array(&w.allocator, room, 1);
    w.line = mem_array(&w.allocator, text.len, 1);
    if (w.texts == NULL || w.types == NULL || w.bytes == NULL || w.line == NULL) {
        status = fail_memory(error);
    } else {
        fill(&w, text);
        status = set_keys(&w, document, error);
    }
    mem_free(&w.allocator, w.texts);
    mem_free(&w.allocator, w.types);
    mem_free(&w.allocator, w.bytes);
    mem_free(&w.allocator, w.line);
    return status;
}
