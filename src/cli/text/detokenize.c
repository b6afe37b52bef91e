/* gufo detokenize FILE [ID...]: the text of ids, with the vocabulary of a model.
 *
 * Ids come in blocks, and text is written as soon as it is certain. */
#include "cli/text/detokenize.h"

#include "cli/commands.h"
#include "cli/core/files/path.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"
#include "cli/text/blocks.h"
#include "cli/text/detokenize_ids.h"
#include "cli/text/vocab_open.h"

#include <unistd.h>

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

/* ---- text ----------------------------------------------------------------------------------- */

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
    text = (gufo_str){d->text.data, d->text.len};
    if (d->options->base.shared->json) {
        json_writer j = json_begin_document(d->path);

        json_write_str(&j, "text", text);
        json_end_document(&j);
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
    detokenization d = {.options = o, .path = o->base.shared->args[0]};
    int code = check_arguments(o);

    if (code == CODE_OK)
        code = open_vocabulary(&d);
    if (code == CODE_OK)
        code = check_ids(&d);
    if (code == CODE_OK)
        code = o->batch ? detokenize_batch(&d) : o->pieces ? print_pieces(&d) : print_text(&d);
    gufo_text_free(&d.text);
    gufo_detokenizer_free(d.detokenizer);
    gufo_vocab_close(d.vocab);
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
