/* Reading ids: words between separators, each of which must be a number. */
#include "cli/text/detokenize_ids.h"

#include "base/text.h"
#include "cli/core/values/number.h"
#include "cli/core/terminal/report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static bool is_separator(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || c == ',' || c == '[' || c == ']';
}

__attribute__((format(printf, 2, 3))) static int refuse_word(const id_reader *r, const char *format,
                                                             ...)
{
    char what[160];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (r->path == NULL)
        return report_usage("ID %d: %s", r->argument, what);
    return report_as(CODE_FAILED, r->path, "line %" PRIu64 ", column %" PRIu64 ": %s", r->line + 1,
                     r->column - r->word_len + 1, what);
}

/* Passes on the ids that were read. */
static int flush(id_reader *r)
{
    int code = r->count > 0 ? r->take(r->context, r->ids, r->count) : CODE_OK;

    r->count = 0;
    return code;
}

/* Passes on what came before a word that is wrong, too. */
static int end_word(id_reader *r)
{
    gufo_str word = {r->word, r->word_len};
    uint64_t id = 0;
    int code = CODE_OK;

    if (word.len == 0)
        return CODE_OK;
    if (r->count == ID_READER_BATCH)
        code = flush(r);
    if (code != CODE_OK)
        return code;
    if (str_digits(word, 0) == word.len && word.len < ID_READER_WORD && str_number(word, &id) &&
        id < r->size) {
        r->ids[r->count++] = (uint32_t)id;
        r->word_len = 0;
        return CODE_OK;
    }
    code = flush(r);
    if (code != CODE_OK)
        return code;
    if (str_digits(word, 0) == word.len)
        return refuse_word(r, "no token %.*s: the vocabulary has %s tokens", (int)word.len,
                           word.data, human_grouped(r->size).text);
    return refuse_word(r, "'%.*s' is not the id of a token", (int)word.len, word.data);
}

int id_reader_feed(id_reader *r, gufo_str part)
{
    int code = CODE_OK;

    for (size_t i = 0; i < part.len && code == CODE_OK; i++) {
        char c = part.data[i];

        if (is_separator(c))
            code = end_word(r);
        else if (r->word_len < ID_READER_WORD)
            r->word[r->word_len++] = c;
        if (code == CODE_OK)
            r->column++;
        if (c == '\n' && code == CODE_OK) {
            r->line++;
            r->column = 0;
        }
    }
    return code == CODE_OK ? flush(r) : code;
}

int id_reader_end(id_reader *r)
{
    int code = end_word(r);

    return code == CODE_OK ? flush(r) : code;
}
