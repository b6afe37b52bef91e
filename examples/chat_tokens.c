/* Renders the chat template of a model for one message, and prints the tokens that the model would
 * read.
 *
 *     chat_tokens FILE.gguf MESSAGE */
#include <gufo.h>
#include <gufo/template.h>
#include <gufo/text.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int report(const char *what, const gufo_error *error)
{
    fprintf(stderr, "%s: %s\n", what, error->message);
    return 1;
}

/* The variables of the template: one message, as JSON. */
static gufo_status set_values(gufo_template_values *values, const char *message, gufo_error *error)
{
    char json[4096];
    size_t used = (size_t)snprintf(json, sizeof json, "[{\"role\": \"user\", \"content\": \"");

    for (; *message != '\0' && used + 12 < sizeof json; message++) {
        unsigned char c = (unsigned char)*message;
        const char *format = c < 0x20 || c == '"' || c == '\\' ? "\\u%04x" : "%c";

        used += (size_t)snprintf(json + used, sizeof json - used, format, c);
    }
    (void)snprintf(json + used, sizeof json - used, "\"}]");
    if (gufo_template_values_set(values, "messages", gufo_str_of(json), error) != GUFO_OK)
        return error->code;
    return gufo_template_values_set(values, "add_generation_prompt", gufo_str_of("true"), error);
}

static gufo_status render(const gufo_model *model, const char *message, gufo_text *out,
                          gufo_error *error)
{
    gufo_str source;
    gufo_template *parsed = NULL;
    gufo_template_values *values = gufo_template_values_new(NULL, error);
    gufo_status status =
        values == NULL ? error->code : gufo_chat_template(model, NULL, &source, error);

    if (status == GUFO_OK) {
        parsed = gufo_template_parse(source, NULL, NULL, error);
        status = parsed == NULL ? error->code : set_values(values, message, error);
    }
    if (status == GUFO_OK)
        status = gufo_template_render(parsed, values, NULL, out, NULL, error);
    gufo_template_free(parsed);
    gufo_template_values_free(values);
    return status;
}

/* The template writes special tokens itself: they are parsed, and none is added. */
static gufo_status print_tokens(const gufo_vocab *vocab, gufo_str text, gufo_error *error)
{
    const gufo_tokenize_options options = {.flags = GUFO_TOKENIZE_PARSE_SPECIAL};
    gufo_ids ids = {0};
    gufo_status status = gufo_tokenize(vocab, text, &options, &ids, error);

    for (size_t i = 0; status == GUFO_OK && i < ids.count; i++) {
        gufo_text piece = {0};

        status = gufo_token_piece(vocab, ids.ids[i], &piece, error);
        printf("%8" PRIu32 "  %.*s\n", ids.ids[i], (int)piece.len, piece.data);
        gufo_text_free(&piece);
    }
    gufo_ids_free(&ids);
    return status;
}

int main(int argc, char **argv)
{
    gufo_error error = {0};
    gufo_model *model;
    gufo_vocab *vocab;
    gufo_text text = {0};
    int code = 0;

    if (argc != 3) {
        fprintf(stderr, "usage: chat_tokens FILE.gguf MESSAGE\n");
        return 2;
    }
    model = gufo_model_open(argv[1], NULL, &error);
    if (model == NULL)
        return report(argv[1], &error);
    vocab = gufo_vocab_open(model, NULL, &error);
    if (vocab == NULL || render(model, argv[2], &text, &error) != GUFO_OK ||
        print_tokens(vocab, (gufo_str){text.data, text.len}, &error) != GUFO_OK)
        code = report(argv[1], &error);
    gufo_text_free(&text);
    gufo_vocab_free(vocab);
    gufo_model_free(model);
    return code;
}
