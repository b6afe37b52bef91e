/* The merges of a byte-level vocabulary: those of tokenizer.json, or the lines of merges.txt, put
 * into the same form. */
#include "import/tokenizers/merges.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "text/formats/json_reading.h"

/* A line of two words as "A B"; false: it has another number of them. */
static bool words_of(gufo_str line, gufo_str *left, gufo_str *right)
{
    const char *space = memchr(line.data, ' ', line.len);

    if (space == NULL)
        return false;
    *left = (gufo_str){line.data, (size_t)(space - line.data)};
    *right = str_from(line, left->len + 1);
    return left->len > 0 && right->len > 0 && memchr(right->data, ' ', right->len) == NULL;
}

static bool append_line(json_t *list, gufo_str line)
{
    gufo_str left, right;

    while (line.len > 0 && (line.data[line.len - 1] == '\r' || line.data[line.len - 1] == ' '))
        line.len--;
    return line.len == 0 || !words_of(line, &left, &right) ||
           json_array_append_new(list, json_stringn(line.data, line.len)) == 0;
}

static gufo_status read_lines(tokenizer_reading *r, gufo_str text, json_t *list)
{
    for (size_t at = 0; at < text.len;) {
        const size_t begin = at;
        gufo_str line = str_line(text, &at);

        if (!(begin == 0 && str_begins(line, "#")) && !append_line(list, line))
            return reading_fail(r, GUFO_E_MALFORMED, "merges.txt",
                                "the line at byte %zu is not UTF-8", begin);
    }
    return GUFO_OK;
}

/* merges.txt as a list. */
static gufo_status read_file(tokenizer_reading *r, json_t **list)
{
    buffer bytes = {.allocator = r->allocator};
    bool found;
    gufo_status status = reading_file(r, "merges.txt", &bytes, &found);

    *list = json_array();
    if (*list == NULL)
        status = fail_memory(r->error);
    if (status == GUFO_OK && found)
        status = read_lines(r, (gufo_str){(const char *)bytes.data, bytes.len}, *list);
    buffer_free(&bytes);
    return status;
}

static gufo_status set_merges(json_reading *reading)
{
    gufo_status status = json_check_merges(reading);

    return status == GUFO_OK ? json_read_merges(reading) : status;
}

/* By the specification it may have none. */
static gufo_status warn_of_atoms(tokenizer_reading *r)
{
    return import_warn(r->import, r->error,
                       "the vocabulary has no merges: its tokens are atomic, and some readers "
                       "refuse it");
}

gufo_status merges_write(tokenizer_reading *r, const json_t *vocab)
{
    json_t *said = json_object_get(r->model, "merges"), *own = NULL, *model = json_pack("{}");
    json_reading reading = {.allocator = *r->allocator,
                            .document = r->document,
                            .kind = BYTE_LEVEL,
                            .vocab = vocab,
                            .model = model,
                            .error = r->error};
    gufo_status status = GUFO_OK;

    if (json_array_size(said) == 0)
        status = read_file(r, &own);
    if (status == GUFO_OK &&
        (model == NULL || json_object_set(model, "merges", own != NULL ? own : said) != 0))
        status = fail_memory(r->error);
    if (status == GUFO_OK)
        status = json_array_size(json_object_get(model, "merges")) > 0 ? set_merges(&reading)
                                                                       : warn_of_atoms(r);
    json_decref(model);
    json_decref(own);
    return status;
}
