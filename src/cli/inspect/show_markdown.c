/* gufo show --markdown: a model card, the page of a model where models are published.
 *
 *     ---
 *     license: mit
 *     base_model:
 *     - nest/egg
 *     ---
 *     # Name
 *
 *     | | |
 *     |---|---|
 *     | Architecture | llama |
 *
 * Texts of the file stay text: none becomes markup of Markdown, HTML or YAML. */
#include "cli/inspect/show.h"

#include "cli/core/values/str.h"
#include "cli/core/options/names.h"
#include "cli/core/records/quoting.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/value.h"
#include "gufo/schema.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define VALUE_COLUMNS 80
#define MOST_ADDRESS 2048

/* ---- front matter --------------------------------------------------------------------------- */

/* Whether YAML reads it as the same text without quotes.  (Some readers take "no" for false.) */
static bool is_plain(gufo_str text)
{
    gufo_str word;

    for (const char *words = "true false yes no on off null y n none";
         (word = next_word(&words)).len > 0;)
        if (word.len == text.len && strncasecmp(word.data, text.data, word.len) == 0)
            return false;
    return is_made_of(text, LETTERS DIGITS "-._/") && span_of(text, 0, LETTERS) > 0;
}

/* A string of JSON is one of YAML, too. */
static void put_scalar(gufo_str text)
{
    json_writer j = json_writer_start(stdout);

    if (is_plain(text))
        fwrite(text.data, 1, text.len, stdout);
    else
        json_write_str(&j, NULL, text);
    putchar('\n');
}

static bool is_text(gufo_str text)
{
    return text.len > 0 && gufo_utf8_valid_prefix(text) == text.len;
}

static void put_member(const gufo_summary *o, const char *name, const char *key)
{
    gufo_str text;

    if (gufo_model_get_str(o->model, key, &text, NULL) != GUFO_OK || !is_text(text))
        return;
    printf("%s: ", name);
    put_scalar(text);
}

static void put_item(const char *name, bool *begun, gufo_str text)
{
    if (!is_text(text))
        return;
    if (!*begun)
        printf("%s:\n", name);
    *begun = true;
    fputs("- ", stdout);
    put_scalar(text);
}

static void put_list(const gufo_summary *o, const char *name, const char *key, const char *first)
{
    gufo_str always = gufo_str_of(first);
    gufo_array array;
    gufo_value item;
    bool begun = false;

    put_item(name, &begun, always);
    if (gufo_model_get_array(o->model, key, GUFO_VALUE_STRING, &array, NULL) != GUFO_OK)
        return;
    gufo_array_iter iter = gufo_array_start(&array);

    while (!stdout_broken() && gufo_array_next(&iter, &item))
        if (!gufo_str_equal(item.as.str, always))
            put_item(name, &begun, item.as.str);
}

/* "OWNER/NAME" of a repository; empty for an address elsewhere. */
static gufo_str repository_of(gufo_str url)
{
    static const char site[] = "https://huggingface.co/";

    return begins_with(url, site) ? rest_of(url, sizeof site - 1) : (gufo_str){0};
}

/* The source of the file, or else its base models. */
static void put_base_models(const gufo_summary *o)
{
    gufo_parent parent;
    bool begun = false;
    char room[MOST_ADDRESS];
    gufo_str url;

    if (gufo_model_key_text(o->model, "general.source.repo_url", room, sizeof room, &url))
        put_item("base_model", &begun, repository_of(url));
    if (begun)
        return;
    for (uint64_t i = 0; gufo_model_parent_at(o->model, i, &parent); i++)
        put_item("base_model", &begun, repository_of(parent.url));
}

static void put_front_matter(const gufo_summary *o)
{
    puts("---");
    put_member(o, "license", "general.license");
    put_member(o, "license_name", "general.license.name");
    put_member(o, "license_link", "general.license.link");
    put_list(o, "language", "general.languages", "");
    put_list(o, "datasets", "general.datasets", "");
    put_base_models(o);
    put_member(o, "quantized_by", "general.quantized_by");
    put_list(o, "tags", "general.tags", "gguf");
    puts("---");
}

static void put_fact(const char *label, char *text)
{
    printf("| %s | ", label);
    markdown_put_lines(gufo_str_of(text));
    puts(" |");
}

/* ---- parts ---------------------------------------------------------------------------------- */

static void write_summary(const gufo_summary *o, const char *path)
{
    gufo_str name = gufo_str_of(path_name(path)), description;

    put_front_matter(o);
    (void)gufo_model_get_str(o->model, "general.name", &name, NULL);
    fputs("\n# ", stdout);
    markdown_put(name);
    putchar('\n');
    if (gufo_model_get_str(o->model, "general.description", &description, NULL) == GUFO_OK) {
        putchar('\n');
        markdown_put_paragraph(description);
        putchar('\n');
    }
    puts("\n| | |\n|---|---|");
    facts_put(o, put_fact);
}

static bool write_metadata(const input *in, const show_options *options)
{
    value_style style = {options->limit_given ? options->array_limit : 8, VALUE_COLUMNS,
                         VALUE_COLUMNS, VALUE_COLUMNS};
    gufo_entry entry;
    text_stream cell;
    char *text;
    bool sound = true;

    if (options->full)
        style = (value_style){VALUE_ALL, SIZE_MAX / 2, SIZE_MAX / 2, SIZE_MAX / 2};
    puts("\n## Metadata\n\n| key | type | value |\n|---|---|---|");
    for (uint64_t i = 0; !stdout_broken() && gufo_model_entry_at(in->model, i, &entry); i++) {
        if (!glob_matches(options->metadata_glob, entry.key) || !text_stream_open(&cell))
            continue;
        fputs("| ", stdout);
        markdown_put(entry.key);
        printf(" | %s | ", value_type_name(&entry.value).text);
        sound = value_put_line(cell.out, &entry.value, &style) && sound;
        text = text_stream_close(&cell);
        if (text != NULL)
            markdown_put_lines((gufo_str){text, cell.len});
        free(text);
        puts(" |");
    }
    return sound;
}

static void write_tensors(const input *in, const show_options *options)
{
    fold folded, *f = &folded;
    fold_row row;

    if (!fold_tensors(f, in->model, options->tensor_glob))
        return;
    puts("\n## Tensors\n");
    record_markdown_heads(&fold_markdown);
    for (size_t i = 0; !stdout_broken() && fold_make(&f, i, &row); i++)
        record_markdown_row(&fold_markdown, &row);
    fold_free(f);
}

bool show_write_markdown(const input *in, const show_options *options)
{
    bool sound = true;

    if (show_wants(options, options->only_summary)) {
        gufo_summary o;

        gufo_model_summarize(in->model, &o);
        write_summary(&o, in->path);
    }
    if (options->only_metadata)
        sound = write_metadata(in, options);
    if (options->only_tensors)
        write_tensors(in, options);
    return sound;
}
