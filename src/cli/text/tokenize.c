/* gufo tokenize FILE [TEXT]: the ids of a text, with the vocabulary of a model.
 *
 * The text comes in blocks, and ids are written as soon as they are certain: memory does not grow
 * with the text. */
#include "cli/commands.h"
#include "cli/core/files/remote.h"
#include "cli/core/files/path.h"
#include "cli/core/terminal/stdout.h"
#include "cli/text/blocks.h"
#include "cli/text/tokenize_write.h"
#include "cli/text/vocab_open.h"
#include "gufo/value.h"

#include <inttypes.h>

typedef struct tokenize_options {
    command_input base;
    const char *file; /* of the text; NULL: standard input */
    const char *pre;
    unsigned tokenizer; /* a gufo_tokenizer_kind */
    bool no_bos, no_special, llama, original;
    bool ids, pieces, count, explain, batch;
} tokenize_options;

typedef struct tokenization {
    const tokenize_options *options;
    const char *path; /* of the model */
    token_form form;
    gufo_vocab *vocab;
    gufo_run run;
    gufo_tokenizer *tokenizer;
    bool adds_special; /* BOS, EOS and SEP, as the vocabulary's flags say */
    gufo_ids ids;
    token_writer writer;
} tokenization;

/* ---- command line --------------------------------------------------------------------------- */

static const command_option tokenize_table[] = {
    {"file", "F", "Read the text from the file F (default: standard input)",
     OPTION_TEXT(tokenize_options, file), .letter = 'f', .common = true},
    {"no-bos", NULL, "Do not add BOS, EOS or SEP", OPTION_FLAG(tokenize_options, no_bos),
     .common = true},
    {"no-special", NULL, "Treat the texts of control tokens as plain text",
     OPTION_FLAG(tokenize_options, no_special)},
    {"llama-tokenize", NULL,
     "Add EOS and SEP only where BOS is added, as the program llama-tokenize does",
     OPTION_FLAG(tokenize_options, llama)},
    {"original", NULL,
     "Give the ids of the tokenizer that the model was trained with, where they are known to "
     "differ",
     OPTION_FLAG(tokenize_options, original)},
    OPTION_TOKENIZER(tokenize_options),
    {"pre", "NAME", "Take this pre-tokenizer instead of tokenizer.ggml.pre",
     OPTION_TEXT(tokenize_options, pre)},
    {"ids", NULL, "Print the ids alone, as one list", OPTION_FLAG(tokenize_options, ids),
     .common = true},
    {"pieces", NULL, "Print the pieces alone, one on each line",
     OPTION_FLAG(tokenize_options, pieces), .common = true},
    {"count", NULL, "Print the number of tokens alone", OPTION_FLAG(tokenize_options, count),
     .common = true},
    {"explain", NULL, "Show the pieces that the text is cut into, and the merges in each",
     OPTION_FLAG(tokenize_options, explain), .common = true},
    {"batch", NULL,
     "Read lines of JSON, {\"text\": ...} or {\"base64\": ...}, and answer each with its ids",
     OPTION_FLAG(tokenize_options, batch)},
    {0},
};

static token_form form_of(const tokenize_options *o)
{
    bool json = o->base.shared->json;

    return o->ids       ? TOKENS_IDS
           : o->pieces  ? TOKENS_PIECES
           : o->count   ? TOKENS_COUNT
           : o->explain ? (json ? TOKENS_STEPS : TOKENS_EXPLAIN)
           : json       ? TOKENS_JSON
                        : TOKENS_TABLE;
}

static int check_arguments(const tokenize_options *o)
{
    const shared_options *shared = o->base.shared;
    int forms = o->ids + o->pieces + o->count + (o->explain || shared->json);
    bool text = shared->arg_count > 1;
    char first;

    if (text && o->file != NULL)
        return report_usage("TEXT and -f exclude each other");
    if (forms > 1)
        return report_usage("--ids, --pieces, --count, --explain and --json exclude each other");
    if (o->batch && (text || o->pieces || o->count || o->explain))
        return report_usage("--batch reads texts and prints ids: it excludes TEXT, --pieces, "
                            "--count and --explain");
    if (o->no_bos && o->llama)
        return report_usage("--no-bos and --llama-tokenize exclude each other");
    if (!text && path_is_standard(shared->args[0]) &&
        (o->file == NULL || path_is_standard(o->file)))
        return report_usage("standard input cannot be FILE and the text");
    if (text && path_begin(shared->args[1], &first, 1) == 1)
        report_warning(shared->args[1],
                       "the name of the file is tokenized as text; -f %s reads the file",
                       shared->args[1]);
    if (text && path_is_standard(shared->args[1]))
        report_warning(NULL, "'-' is tokenized as text; without TEXT gufo reads standard input");
    return CODE_OK;
}

/* ---- one text ------------------------------------------------------------------------------- */

static int write_ids(tokenization *t)
{
    int code = token_writer_put(&t->writer, t->ids.ids, t->ids.spans, t->ids.count);

    t->ids.count = 0;
    return code;
}

static int feed(tokenization *t, gufo_str text)
{
    gufo_error error;

    if (gufo_tokenizer_feed(t->tokenizer, text, &t->ids, &error) != GUFO_OK)
        return report_error(t->path, &error);
    return write_ids(t);
}

/* The beginning of the text: a prompt that a template made has BOS there already. */
static int feed_first(tokenization *t, gufo_str text)
{
    const gufo_vocab_facts facts = gufo_vocab_describe(t->vocab);
    gufo_token bos;

    if (t->adds_special && !t->options->no_special && facts.add_bos &&
        gufo_vocab_token(t->vocab, facts.special[GUFO_SPECIAL_BOS], &bos) && bos.text.len > 0 &&
        bos.text.len <= text.len && gufo_str_equal((gufo_str){text.data, bos.text.len}, bos.text))
        report_warning(t->path, "the text begins with BOS, and BOS is added: --no-bos adds none");
    return feed(t, text);
}

static int feed_file(tokenization *t)
{
    gufo_str block = {0};
    blocks in;
    int code = blocks_open(&in, t->options->file);

    if (code == CODE_OK)
        code = blocks_next(&in, &block);
    if (code == CODE_OK)
        code = feed_first(t, block);
    while (code == CODE_OK && block.len > 0 && !stdout_broken()) {
        code = blocks_next(&in, &block);
        if (code == CODE_OK)
            code = feed(t, block);
    }
    blocks_close(&in);
    return code;
}

static int tokenize_text(tokenization *t)
{
    const shared_options *shared = t->options->base.shared;
    gufo_error error;
    int code;

    t->writer = token_writer_start(t->vocab, t->form, t->path);
    code = shared->arg_count > 1 ? feed_first(t, gufo_str_of(shared->args[1])) : feed_file(t);
    if (code == CODE_OK && gufo_tokenizer_end(t->tokenizer, &t->ids, &error) != GUFO_OK)
        code = report_error(t->path, &error);
    if (code == CODE_OK)
        code = write_ids(t);
    return token_writer_end(&t->writer, code);
}

/* ---- --batch -------------------------------------------------------------------------------- */

/* Lines of JSON in, lines of ids out, in the same order:
 *
 *     {"text": "Hello world"}        [1, 15043, 3186]
 *     {"base64": "//4="}             [1, 29871, 258, 257]
 *
 * Other members of a line are ignored. */

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
    gufo_text bytes = {0};
    gufo_value text = {0};
    gufo_error error;
    int code = CODE_FAILED;

    if (gufo_value_read_json(GUFO_VALUE_STRING, line.data, &text, &bytes, NULL, &error) != GUFO_OK)
        report_message(in->path, "line %" PRIu64 ": %s", in->line, error.message);
    else if (text.type != GUFO_VALUE_STRING)
        report_message(in->path,
                       "line %" PRIu64 ": an object with \"text\" or \"base64\" is expected",
                       in->line);
    else
        code = answer(t, text.as.str);
    gufo_text_free(&bytes);
    return code;
}

static int answer_lines(tokenization *t)
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

/* ---- the whole ------------------------------------------------------------------------------ */

static int open_vocabulary(tokenization *t)
{
    const tokenize_options *o = t->options;
    gufo_vocab_options options = {.flags = o->original ? GUFO_VOCAB_ORIGINAL : 0,
                                  .tokenizer = o->tokenizer,
                                  .pre = o->pre,
                                  .run = &t->run};

    int code = vocab_open(t->path, &options, &t->vocab);

    if (code == CODE_OK)
        t->adds_special = !o->no_bos && (!o->llama || gufo_vocab_describe(t->vocab).add_bos);
    return code;
}

static int make_tokenizer(tokenization *t)
{
    const tokenize_options *o = t->options;
    bool spans = t->form == TOKENS_JSON;
    gufo_tokenize_options options = {.flags = (t->adds_special ? GUFO_TOKENIZE_ADD_SPECIAL : 0) |
                                              (o->no_special ? 0 : GUFO_TOKENIZE_PARSE_SPECIAL) |
                                              (spans ? GUFO_TOKENIZE_SPANS : 0),
                                     .run = &t->run};
    gufo_error error;

    if (o->explain) {
        options.watch = token_writer_step;
        options.watch_context = &t->writer;
    }
    t->tokenizer = gufo_tokenizer_new(t->vocab, &options, &error);
    return t->tokenizer != NULL ? CODE_OK : report_error(t->path, &error);
}

static int tokenize(void *context)
{
    const tokenize_options *o = context;
    tokenization t = {.options = o,
                      .path = remote_shown(o->base.shared->args[0]),
                      .form = form_of(o),
                      .run = {.threads = (unsigned)o->base.shared->threads}};
    int code = check_arguments(o);

    if (code == CODE_OK)
        code = open_vocabulary(&t);
    if (code == CODE_OK)
        code = make_tokenizer(&t);
    if (code == CODE_OK)
        code = o->batch ? answer_lines(&t) : tokenize_text(&t);
    gufo_ids_free(&t.ids);
    gufo_tokenizer_free(t.tokenizer);
    gufo_vocab_free(t.vocab);
    return code;
}

const command_line command_tokenize = {
    .operands = {"FILE [TEXT]", 1, 2, "FILE is needed, and at most one TEXT: quote it"},
    .doc =
        "Print the ids and pieces of TEXT, or of standard input, with the vocabulary of FILE.\v"
        "gufo adds BOS, EOS and SEP as the flags of the vocabulary say, and turns the texts of "
        "its special tokens into these tokens.  A text of any length needs little memory, except "
        "by the rules of a tokenizer.json; bytes that are not UTF-8 have ids, too.  With --batch "
        "the first wrong line ends the command; gufo skips empty lines.  Exit status 3 means that "
        "FILE has no vocabulary, or one that gufo does not support.",
    .examples = {{"gufo tokenize model.gguf 'Hello world'", "Shows ids and pieces."},
                 {"gufo tokenize --count -f book.txt model.gguf", "Counts the tokens of a file."},
                 {"gufo tokenize --ids --no-bos model.gguf <book.txt | gufo detokenize model.gguf",
                  "Restores the text."}},
    COMMAND_OPTIONS(tokenize_table, tokenize_options),
    .run = tokenize,
};
