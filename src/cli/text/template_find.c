/* The template of a FILE: of a model, by its name, or the FILE itself. */
#include "cli/text/template.h"

#include "base/text.h"
#include "cli/core/files/foreign_file.h"
#include "cli/core/files/path.h"
#include "cli/core/terminal/text.h"

#include "gufo/text.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST_TEMPLATE = 16 << 20 };

static const char base_key[] = "tokenizer.chat_template.";

/* The names of all templates of a model, with commas between them; the caller frees them. */
static char *list_names(const gufo_model *model)
{
    text_stream names;
    gufo_entry entry;
    bool first = true;

    if (!text_stream_open(&names))
        return NULL;
    for (uint64_t i = 0; gufo_metadata_at(model, i, &entry); i++) {
        if (!str_begins(entry.key, base_key) || entry.key.len == strlen(base_key))
            continue;
        fputs(first ? "" : ", ", names.out);
        text_put(names.out, str_from(entry.key, strlen(base_key)), TEXT_PLAIN);
        first = false;
    }
    return text_stream_close(&names);
}

static int report_missing(templating *t)
{
    char *names = list_names(t->model);
    const char *asked = t->options->name;

    if (names == NULL)
        report_message(t->path, "the model has no chat template%s",
                       asked != NULL ? " with a name" : "");
    else if (asked == NULL)
        report_message(t->path, "the model has no chat template without a name: --name takes %s",
                       names);
    else
        report_message(t->path, "no chat template is called '%s': --name takes %s", asked, names);
    free(names);
    return CODE_FAILED;
}

static int find_in_model(templating *t)
{
    gufo_error error;

    t->model = input_open_model(t->path, 0);
    if (t->model == NULL)
        return CODE_FAILED;
    switch (gufo_chat_template(t->model, t->options->name, &t->source, &error)) {
    case GUFO_OK:
        return CODE_OK;
    case GUFO_E_NOT_FOUND:
        return report_missing(t);
    default:
        return report_error(t->path, &error);
    }
}

/* Anything that does not begin as a model does is a template. */
int template_find(templating *t)
{
    int code;

    if (!path_is_standard(t->path) && (input_is_gguf(t->path) || foreign_file_find(t->path, NULL)))
        return find_in_model(t);
    if (t->options->name != NULL)
        return report_usage("--name is for a model, and FILE is not one");
    if (t->options->ids)
        return report_usage("--ids needs the vocabulary of a model, and FILE is not one");
    code = small_file_read(t->path, LARGEST_TEMPLATE, "a template has at most 16 MiB", &t->file);
    t->source = t->file;
    return code;
}

void template_close(templating *t)
{
    gufo_close(t->model);
    if (t->file.data != NULL)
        small_file_free(&t->file);
}
