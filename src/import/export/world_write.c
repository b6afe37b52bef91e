/* The tokens of RWKV World are bytes, which a GGUF file has as Python writes them inside quotes: a line
 * is that with the quotes around it.  Python takes the double ones for bytes with a single quote. */
#include "import/export/world_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

/* The bytes that the inside of a literal means; false: it is not one. */
static bool count_bytes(gufo_str inside, size_t *count, char *quote)
{
    *count = 0;
    *quote = '\'';
    for (size_t at = 0; at < inside.len; (*count)++) {
        char c = inside.data[at++];

        if ((unsigned char)c < ' ' || (unsigned char)c > '~')
            return false;
        if (c == '\'')
            *quote = '"';
        if (c != '\\')
            continue;
        if (at == inside.len)
            return false;
        c = inside.data[at++];
        if (c == 'x')
            at += 2;
        else if (strchr("\\'\"tnr", c) == NULL)
            return false;
        if (at > inside.len)
            return false;
    }
    return true;
}

static gufo_status write_line(uint32_t id, gufo_str inside, buffer *out, gufo_error *error)
{
    char front[32], behind[32], quote;
    size_t bytes;
    int before, after;

    if (!count_bytes(inside, &bytes, &quote) || bytes == 0)
        return refuse(error, GUFO_E_TYPE, "token %" PRIu32 ", %s, is not the inside of a literal",
                      id, QUOTED(inside));
    before = snprintf(front, sizeof front, "%" PRIu32 " b%c", id, quote);
    after = snprintf(behind, sizeof behind, "%c %zu\n", quote, bytes);
    return buffer_append(out, front, (size_t)before) &&
                   buffer_append(out, inside.data, inside.len) &&
                   buffer_append(out, behind, (size_t)after)
               ? GUFO_OK
               : fail_memory(error);
}

gufo_status world_write(const model_tokens *tokens, buffer *out, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint32_t id = 0; id < tokens->count && status == GUFO_OK; id++)
        if (tokens->types[id] == TOKEN_IS_NORMAL)
            status = write_line(id, tokens->texts[id], out, error);
    return status;
}
