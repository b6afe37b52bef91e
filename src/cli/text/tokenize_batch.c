/* gufo tokenize --batch: lines of JSON in, lines of ids out, in the same order.
 *
 *     {"text": "Hello world"}        [1, 15043, 3186]
 *     {"base64": "//4="}             [1, 29871, 258, 257]
 *
 * Other members of a line are ignored. */
#include "cli/text/tokenize.h"

#include "base/memory.h"
#include "cli/core/terminal/stdout.h"
#include "cli/text/blocks.h"
#include "base/base64.h"
#include "text/formats/json_tree.h"

#include <inttypes.h>
#include <jansson.h>

/* The text of a line, a view of `line` or of `bytes`, which the caller frees.  NULL, or what is
 * wrong with the line. */
static const char *text_of(const json_t *line, gufo_str *text, buffer *bytes)
{
    const json_t *plain = json_object_get(line, "text"), *coded = json_object_get(line, "base64");
    const json_t *given = plain != NULL ? plain : coded;
    bool memory = true;

    if (!json_is_object(line) || (plain == NULL) == (coded == NULL))
        return "an object with \"text\" or \"base64\" is expected";
    if (!json_is_string(given))
        return given == plain ? "\"text\" is not a string" : "\"base64\" is not a string";
    *text = (gufo_str){json_string_value(given), json_string_length(given)};
    if (given == plain)
        return NULL;
    if (!base64_read(*text, bytes, &memory))
        return memory ? "\"base64\" is not base64" : "out of memory";
    *text = (gufo_str){(const char *)bytes->data, bytes->len};
    return NULL;
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
    json_t *root;
    gufo_str text = {0};
    buffer bytes = {.allocator = &default_allocator};
    const char *wrong;
    gufo_error reason;
    int code;

    if (json_tree_check(line, JSON_TREE_MEMORY, NULL, &reason) != GUFO_OK)
        return report_as(CODE_FAILED, in->path, "line %" PRIu64 ": %s", in->line, reason.message);
    root = json_loadb(line.data, line.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    wrong = root == NULL ? error.text : text_of(root, &text, &bytes);
    if (wrong != NULL)
        code = report_as(CODE_FAILED, in->path, "line %" PRIu64 ": %s", in->line, wrong);
    else
        code = answer(t, text);
    json_decref(root);
    buffer_free(&bytes);
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
