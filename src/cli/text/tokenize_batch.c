/* gufo tokenize --batch: lines of JSON in, lines of ids out, in the same order.
 *
 *     {"text": "Hello world"}        [1, 15043, 3186]
 *     {"base64": "//4="}             [1, 29871, 258, 257]
 *
 * Other members of a line are ignored. */
#include "cli/text/tokenize.h"

#include "cli/core/stdout.h"
#include "cli/text/blocks.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- base64 --------------------------------------------------------------------------------- */

static int digit_value(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c != '\0' ? strchr(digits, c) : NULL;

    return at != NULL ? (int)(at - digits) : -1;
}

/* Decodes RFC 4648, section 4, over the text itself.  False for anything else. */
static bool decode_base64(char *text, size_t len, size_t *decoded)
{
    size_t padding = len > 0 && text[len - 1] == '=' ? 1u + (len > 1 && text[len - 2] == '=') : 0;
    uint32_t bits = 0;

    *decoded = 0;
    if (len % 4 != 0)
        return false;
    for (size_t i = 0; i < len - padding; i++) {
        int value = digit_value(text[i]);

        if (value < 0)
            return false;
        bits = bits << 6 | (uint32_t)value;
        if (i % 4 > 0)
            text[(*decoded)++] = (char)(uint8_t)(bits >> (6 - 2 * (i % 4)));
    }
    return true;
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* The text of a line, a view of `line` or of `bytes`, which the caller frees.  NULL, or what is
 * wrong with the line. */
static const char *text_of(const json_t *line, gufo_str *text, char **bytes)
{
    const json_t *plain = json_object_get(line, "text"), *coded = json_object_get(line, "base64");

    if (!json_is_object(line) || (plain == NULL) == (coded == NULL))
        return "an object with \"text\" or \"base64\" is expected";
    if (!json_is_string(plain != NULL ? plain : coded))
        return plain != NULL ? "\"text\" is not a string" : "\"base64\" is not a string";
    if (plain != NULL) {
        *text = (gufo_str){json_string_value(plain), json_string_length(plain)};
        return NULL;
    }
    text->len = json_string_length(coded);
    *bytes = malloc(text->len + 1);
    if (*bytes == NULL)
        return "out of memory";
    memcpy(*bytes, json_string_value(coded), text->len);
    text->data = *bytes;
    return decode_base64(*bytes, text->len, &text->len) ? NULL : "\"base64\" is not base64";
}

static int answer(tokenization *t, gufo_str text)
{
    gufo_error error;

    t->ids.count = 0;
    if (gufo_tokenizer_feed(t->tokenizer, text, &t->ids, &error) != GUFO_OK ||
        gufo_tokenizer_end(t->tokenizer, &t->ids, &error) != GUFO_OK)
        return report_error(t->path, &error);
    token_write_array(t->ids.ids, t->ids.count);
    return CODE_OK;
}

static int answer_line(tokenization *t, const blocks *in, gufo_str line)
{
    json_error_t error;
    json_t *root = json_loadb(line.data, line.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    gufo_str text = {0};
    char *bytes = NULL;
    const char *wrong = root == NULL ? error.text : text_of(root, &text, &bytes);
    int code;

    if (wrong != NULL)
        code = report_as(CODE_FAILED, in->path, "line %" PRIu64 ": %s", in->line, wrong);
    else
        code = answer(t, text);
    json_decref(root);
    free(bytes);
    return code;
}

int tokenize_batch(tokenization *t)
{
    gufo_str line = {0};
    blocks in;
    int code = blocks_open(&in, t->options->file);

    if (code == CODE_OK)
        code = blocks_next_line(&in, &line);
    while (code == CODE_OK && line.data != NULL && !stdout_broken()) {
        code = answer_line(t, &in, line);
        if (code == CODE_OK)
            code = blocks_next_line(&in, &line);
    }
    blocks_close(&in);
    return code;
}
