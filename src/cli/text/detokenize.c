/* gufo detokenize FILE [ID...]: the text of ids, with the vocabulary of a model.
 *
 * Ids come in blocks, and text is written as soon as it is certain. */
#include "cli/commands.h"
#include "cli/core/files/remote.h"
#include "cli/core/files/path.h"
#include "cli/core/records/record.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/number.h"
#include "cli/core/values/str.h"
#include "cli/text/blocks.h"
#include "cli/text/tokenize_write.h"
#include "cli/text/vocab_open.h"
#include "gufo/value.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct detokenize_options {
    command_input base;
    const char *file;   /* of the ids; NULL: standard input */
    unsigned tokenizer; /* a gufo_tokenizer_kind */
    uint32_t flags;     /* of gufo_detokenize_flags */
    bool pieces, batch;
} detokenize_options;

typedef struct detokenization {
    const detokenize_options *options;
    const char *path; /* of the model */
    gufo_vocab *vocab;
    uint32_t size; /* of the vocabulary */
    gufo_detokenizer *detokenizer;
    gufo_text text; /* JSON: all of it; else what is not written yet */
    token_writer writer;
} detokenization;

/* ---- command line --------------------------------------------------------------------------- */

static const command_option detokenize_table[] = {
    {"file", "F", "Read the ids from the file F (default: standard input)",
     OPTION_TEXT(detokenize_options, file), .letter = 'f', .common = true},
    {"skip-special", NULL, "Leave out control and unknown tokens",
     OPTION_BITS(detokenize_options, flags, GUFO_DETOKENIZE_SKIP_SPECIAL), .common = true},
    {"remove-special", NULL, "Leave out the BOS and the EOS that 'gufo tokenize' adds",
     OPTION_BITS(detokenize_options, flags, GUFO_DETOKENIZE_REMOVE_SPECIAL), .common = true},
    OPTION_TOKENIZER(detokenize_options),
    {"pieces", NULL, "Print the text of each token on its own line",
     OPTION_FLAG(detokenize_options, pieces), .common = true},
    {"batch", NULL,
     "Read lines of JSON, each an array of ids, and answer each with {\"text\": ...}, or "
     "{\"base64\": ...} where bytes are not UTF-8",
     OPTION_FLAG(detokenize_options, batch)},
    {0},
};

static int check_arguments(const detokenize_options *o)
{
    const shared_options *shared = o->base.shared;
    bool ids = shared->arg_count > 1;

    if (ids && o->file != NULL)
        return report_usage("ID and -f exclude each other");
    if (o->batch && (ids || o->pieces))
        return report_usage("--batch reads lists and prints texts: it excludes ID and --pieces");
    if (o->pieces && o->flags != 0)
        return report_usage("--pieces shows every token: it excludes --skip-special and "
                            "--remove-special");
    if (!ids && path_is_standard(shared->args[0]) && (o->file == NULL || path_is_standard(o->file)))
        return report_usage("standard input cannot be FILE and the ids");
    return CODE_OK;
}

/* ---- ids: numbers between white space, commas and brackets ---------------------------------- */

enum { ID_READER_BATCH = 4096, ID_READER_WORD = 24 };

/* Takes ids in their order; returns the exit code. */
typedef int id_taker(void *context, const uint32_t *ids, size_t count);

typedef struct id_reader {
    uint32_t size; /* of the vocabulary */
    id_taker *take;
    void *context;
    /* For reports: the file, with lines and columns; or for an argument, NULL and its number, and
     * CODE_USAGE. */
    const char *path;
    int argument;
    uint64_t line, column;
    char word[ID_READER_WORD]; /* that has begun; a longer one is cut */
    size_t word_len;
    uint32_t ids[ID_READER_BATCH];
    size_t count;
} id_reader;

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

/* Whether the word is a number, as a whole. */
static bool read_number(id_reader *r, uint64_t *number)
{
    const char *text = r->word;

    if (r->word_len == ID_READER_WORD)
        return false;
    r->word[r->word_len] = '\0';
    return gufo_number_read(&text, number) && text == r->word + r->word_len;
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
    if (read_number(r, &id) && id < r->size) {
        r->ids[r->count++] = (uint32_t)id;
        r->word_len = 0;
        return CODE_OK;
    }
    code = flush(r);
    if (code != CODE_OK)
        return code;
    if (is_made_of(word, DIGITS))
        return refuse_word(r, "no token %.*s: the vocabulary has %s tokens", (int)word.len,
                           word.data, human_grouped(r->size).text);
    return refuse_word(r, "'%.*s' is not the id of a token", (int)word.len, word.data);
}

/* Reads the next part of a text, cut anywhere, and passes on the ids that have ended.  Returns the
 * exit code. */
static int id_reader_feed(id_reader *r, gufo_str part)
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

/* The text, or an argument, ends here. */
static int id_reader_end(id_reader *r)
{
    int code = end_word(r);

    return code == CODE_OK ? flush(r) : code;
}

/* ---- text ----------------------------------------------------------------------------------- */

static const record_field text_fields[] = {
    {"text", NULL, RECORD_STR, .bytes = sizeof(gufo_str)},
};
static const record_type text_type = RECORD_OF(gufo_str, text_fields, 0);

static gufo_str text_of(const gufo_text *text)
{
    return (gufo_str){text->len > 0 ? text->data : "", text->len};
}

static void write_text(gufo_text *text)
{
    text_put_result((gufo_str){text->data, text->len}, TEXT_LINES);
    text->len = 0;
}

static int take_ids(void *context, const uint32_t *ids, size_t count)
{
    detokenization *d = context;
    gufo_error error;

    if (d->options->pieces)
        return token_writer_put(&d->writer, ids, NULL, count);
    if (gufo_detokenizer_feed(d->detokenizer, ids, count, &d->text, &error) != GUFO_OK)
        return report_error(d->path, &error);
    if (!d->options->base.shared->json)
        write_text(&d->text);
    return CODE_OK;
}

static int read_file(detokenization *d, id_reader *r)
{
    gufo_str block = {0};
    blocks in;
    int code = blocks_open(&in, d->options->file);

    r->path = in.path;
    if (code == CODE_OK)
        code = blocks_next(&in, &block);
    while (code == CODE_OK && block.len > 0 && !stdout_broken()) {
        code = id_reader_feed(r, block);
        if (code == CODE_OK)
            code = blocks_next(&in, &block);
    }
    if (code == CODE_OK)
        code = id_reader_end(r);
    blocks_close(&in);
    return code;
}

static int read_arguments(const shared_options *shared, id_reader *r)
{
    int code = CODE_OK;

    for (int i = 1; i < shared->arg_count && code == CODE_OK; i++) {
        r->argument = i;
        code = id_reader_feed(r, gufo_str_of(shared->args[i]));
        if (code == CODE_OK)
            code = id_reader_end(r);
    }
    return code;
}

static int ignore_ids(void *context, const uint32_t *ids, size_t count)
{
    (void)context;
    (void)ids;
    (void)count;
    return CODE_OK;
}

/* Arguments are all right, or nothing is printed. */
static int check_ids(const detokenization *d)
{
    id_reader r = {.size = d->size, .take = ignore_ids};

    return read_arguments(d->options->base.shared, &r);
}

static int read_ids(detokenization *d)
{
    const shared_options *shared = d->options->base.shared;
    id_reader r = {.size = d->size, .take = take_ids, .context = d};

    return shared->arg_count > 1 ? read_arguments(shared, &r) : read_file(d, &r);
}

/* ---- --batch -------------------------------------------------------------------------------- */

/* Lists of ids in, texts out, a line of JSON each, in the same order:
 *
 *     [15043, 3186]       {"text":"Hello world"}
 *     [258, 257]          {"base64":"//4="} */

/* The ids of a line, which the caller frees.  NULL after a report. */
static uint32_t *read_list(const detokenization *d, const blocks *in, const gufo_array *list)
{
    uint32_t *ids = malloc(((size_t)list->count + 1) * sizeof *ids);

    if (ids == NULL) {
        report_memory(in->path);
        return NULL;
    }
    (void)gufo_array_read(list, 0, list->count, ids, NULL);
    for (size_t i = 0; i < list->count; i++)
        if (ids[i] >= d->size) {
            report_message(in->path,
                           "line %" PRIu64 ": element %zu of the list is not one of the ids 0 to "
                           "%" PRIu32 " of the vocabulary",
                           in->line, i + 1, d->size - 1);
            free(ids);
            return NULL;
        }
    return ids;
}

static int answer(detokenization *d, const uint32_t *ids, size_t count)
{
    json_writer j = json_writer_start(stdout);
    gufo_error error;
    gufo_str text;

    d->text.len = 0;
    if (gufo_detokenize(d->vocab, ids, count, d->options->flags, &d->text, &error) != GUFO_OK)
        return report_error(d->path, &error);
    text = text_of(&d->text);
    if (gufo_utf8_valid_prefix(text) == text.len)
        record_write(&j, NULL, &text_type, &text);
    else
        json_write_str(&j, NULL, text);
    json_writer_line(&j);
    return CODE_OK;
}

static int answer_line(detokenization *d, const blocks *in, gufo_str line)
{
    gufo_text bytes = {0};
    gufo_value list = {0};
    uint32_t *ids = NULL;
    gufo_error error;
    int code = CODE_FAILED;

    if (gufo_value_read_json(GUFO_VALUE_UINT32, line.data, &list, &bytes, NULL, &error) != GUFO_OK)
        report_message(in->path, "line %" PRIu64 ": %s", in->line, error.message);
    else if (list.type != GUFO_VALUE_ARRAY || list.as.array.type != GUFO_VALUE_UINT32)
        report_message(in->path, "line %" PRIu64 ": an array of ids is expected", in->line);
    else
        ids = read_list(d, in, &list.as.array);
    if (ids != NULL)
        code = answer(d, ids, (size_t)list.as.array.count);
    free(ids);
    gufo_text_free(&bytes);
    return code;
}

static int answer_lines(detokenization *d)
{
    gufo_str line = {0};
    blocks in;
    int code = blocks_open(&in, d->options->file);

    if (code == CODE_OK)
        code = blocks_next_line(&in, &line);
    while (code == CODE_OK && line.data != NULL && !stdout_broken()) {
        code = answer_line(d, &in, line);
        if (code == CODE_OK)
            code = blocks_next_line(&in, &line);
    }
    blocks_close(&in);
    return code;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static int print_pieces(detokenization *d)
{
    bool json = d->options->base.shared->json;

    d->writer = token_writer_start(d->vocab, json ? TOKENS_JSON : TOKENS_PIECES, d->path);
    return token_writer_end(&d->writer, read_ids(d));
}

static int print_text(detokenization *d)
{
    int code = read_ids(d);
    gufo_error error;
    gufo_str text;

    if (code == CODE_OK && gufo_detokenizer_end(d->detokenizer, &d->text, &error) != GUFO_OK)
        code = report_error(d->path, &error);
    if (code != CODE_OK)
        return code;
    text = text_of(&d->text);
    if (d->options->base.shared->json) {
        record_write_document(d->path, &text_type, &text);
    } else {
        write_text(&d->text);
        if (isatty(STDOUT_FILENO))
            putc('\n', stdout);
    }
    return CODE_OK;
}

static int open_vocabulary(detokenization *d)
{
    const gufo_run run = {.threads = (unsigned)d->options->base.shared->threads};
    const gufo_vocab_options options = {.tokenizer = d->options->tokenizer, .run = &run};
    int code = vocab_open(d->path, &options, &d->vocab);
    gufo_error error;

    if (code != CODE_OK)
        return code;
    d->size = gufo_vocab_describe(d->vocab).size;
    d->detokenizer = gufo_detokenizer_new(d->vocab, d->options->flags, &error);
    return d->detokenizer != NULL ? CODE_OK : report_error(d->path, &error);
}

static int detokenize(void *context)
{
    const detokenize_options *o = context;
    detokenization d = {.options = o, .path = remote_shown(o->base.shared->args[0])};
    int code = check_arguments(o);

    if (code == CODE_OK)
        code = open_vocabulary(&d);
    if (code == CODE_OK)
        code = check_ids(&d);
    if (code == CODE_OK)
        code = o->batch ? answer_lines(&d) : o->pieces ? print_pieces(&d) : print_text(&d);
    gufo_text_free(&d.text);
    gufo_detokenizer_free(d.detokenizer);
    gufo_vocab_free(d.vocab);
    return code;
}

const command_line command_detokenize = {
    .operands = {"FILE [ID...]", 1, 0, "FILE is needed"},
    .doc = "Print the text of token ids, or of the ids on standard input, with the vocabulary of "
           "FILE.\v"
           "Ids are numbers between white space or commas, with or without brackets, as 'gufo "
           "tokenize --ids' prints them.  gufo prints the text unchanged, without a newline; on a "
           "terminal it escapes control characters.  With --batch the first wrong line ends the "
           "command; gufo skips empty lines.  Exit status 3 means that FILE has no vocabulary, or "
           "one that gufo does not support, or that an id is wrong.",
    .examples = {{"gufo detokenize model.gguf 15043 3186", "Prints the text of two tokens."},
                 {"gufo detokenize --remove-special -f ids.txt model.gguf",
                  "Prints the text of ids in a file, without BOS and EOS."},
                 {"gufo detokenize --batch model.gguf <ids.jsonl", "Prints a text for each line."}},
    COMMAND_OPTIONS(detokenize_table, detokenize_options),
    .run = detokenize,
};
