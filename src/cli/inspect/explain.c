/* gufo explain WORD...: describes a key, a tensor, a type, an architecture or a rule.
 *
 *     llama.context_length  metadata key
 *       key             {arch}.context_length
 *       type            uint32
 *       ...
 *       used by         afmoe, apertus ...
 *       example         gufo get FILE llama.context_length
 *
 * A word may have several meanings: it shows each. */
#include "base/buffer.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"
#include "cli/inspect/catalogue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_COLUMNS = 16, LINE_COLUMNS = 96, VALUE_COLUMNS = 10, LONGEST_HINTED = 200 };

/* ---- text ----------------------------------------------------------------------------------- */

static void put_name(const char *name)
{
    printf("  %-*s", NAME_COLUMNS, name);
}

/* The rest of a line that begins with `used` columns. */
static void put_text(const char *text, size_t used)
{
    text_put_wrapped(stdout, gufo_str_of(text), used, used, stdout_columns());
    putchar('\n');
}

/* Names behind a title, on as many lines as they need; nothing without names. */
typedef struct name_list {
    const char *title;
    size_t column; /* 0: no name was printed */
} name_list;

static void list_add(name_list *l, const char *name)
{
    size_t room = LINE_COLUMNS;

    if (stdout_columns() > 0 && stdout_columns() < room)
        room = stdout_columns();
    if (l->column == 0) {
        put_name(l->title);
        l->column = NAME_COLUMNS + 2;
    } else if (l->column + strlen(", ") + strlen(name) + strlen(",") > room) {
        printf(",\n%*s", NAME_COLUMNS + 2, "");
        l->column = NAME_COLUMNS + 2;
    } else
        l->column += (size_t)printf(", ");
    l->column += (size_t)printf("%s", name);
}

static void list_end(const name_list *l)
{
    if (l->column > 0)
        putchar('\n');
}

static void print_users(const catalogue *c, const char *name)
{
    name_list list = {"used by", 0};
    const char *arch;

    for (size_t next = 0; (arch = catalogue_user(c, name, &next)) != NULL;)
        list_add(&list, arch);
    list_end(&list);
}

/* A key without the architecture in front. */
static const char *own_name(const char *name, const char *arch)
{
    size_t len = strlen(arch);

    return strncmp(name, arch, len) == 0 && name[len] == '.' ? name + len + 1 : name;
}

/* Of a list the rows of an architecture that it needs, or may have. */
static void print_own(const catalogue *c, const char *arch, const char *need)
{
    char title[32];
    name_list list = {title, 0};
    catalogue_row row;

    (void)snprintf(title, sizeof title, "%s %s", need, c->one);
    for (size_t i = 0; c->arch_row(arch, i, &row); i++)
        if (strcmp(row.cells[1], need) == 0)
            list_add(&list, own_name(row.cells[0], arch));
    list_end(&list);
}

/* How lines of a kind are shown: under which title, and what is between a name and its value. */
typedef struct line_form {
    const char *kind, *title, *sign; /* no sign: the value alone */
} line_form;

static const line_form *form_of(const catalogue_page_line *of)
{
    static const line_form forms[] = {
        {"@vocab", "tokenizer", NULL},
        {"@refuse", "refused", NULL},
        {"fields", "config", " = "},
        {"config", "config", " = "},
        {"params", "key", " = "},
        {"vocab", "key", " = "},
        {"tensors", "key", " = "},
        {"check", "checked", ": "},
        {"generated", "made tensor", NULL},
        {"pre", "pre-tokenizer", NULL},
        {"writes", "exported as", ": "},
        {"type", "tensor type", ": "},
        {"export", "back to config", " = "},
    };
    static const line_form others = {"", "tensor", ": "};
    const char *name = of->cells[PAGE_NAME], *kind = *name == '@' ? name : of->cells[PAGE_KIND];

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i].kind, kind) == 0)
            return &forms[i];
    return &others;
}

/* "NAME = VALUE -> TARGETS if CONDITION  # NOTE", or what it has of these. */
static bool line_text(const catalogue_page_line *of, const char *sign, buffer *out)
{
    const char *const *cells = of->cells;
    const struct {
        const char *before, *text;
    } parts[] = {
        {"", sign != NULL ? cells[PAGE_NAME] : ""},
        {sign != NULL ? sign : "", cells[PAGE_VALUE]},
        {" -> ", cells[PAGE_TARGETS]},
        {" if ", cells[PAGE_CONDITION]},
        {"  # ", cells[PAGE_NOTE]},
    };

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (*parts[i].text != '\0' &&
            (!buffer_append(out, parts[i].before, strlen(parts[i].before)) ||
             !buffer_append(out, parts[i].text, strlen(parts[i].text))))
            return false;
    return buffer_append(out, "", 1);
}

/* How a checkpoint becomes a model of the architecture, and back; false without memory. */
static bool print_lines(const char *arch)
{
    buffer text = {.allocator = &default_allocator};
    const char *before = "";
    catalogue_page_line row;
    bool done = true;

    for (size_t i = 0; done && catalogue_line(arch, i, &row); i++) {
        const line_form *form = form_of(&row);

        text.len = 0;
        done = line_text(&row, form->sign, &text);
        put_name(strcmp(form->title, before) != 0 ? form->title : "");
        text_put_wrapped(stdout, gufo_str_of(done ? (const char *)text.data : ""), NAME_COLUMNS + 2,
                         NAME_COLUMNS + 4, stdout_columns());
        putchar('\n');
        before = form->title;
    }
    buffer_free(&text);
    return done;
}

/* What becomes the architecture, and what it consists of; false without memory. */
static bool print_architecture(const char *arch)
{
    name_list classes = {"converted from", 0};
    const char *name;

    for (size_t next = 0; (name = catalogue_class(arch, &next)) != NULL;)
        list_add(&classes, name);
    list_end(&classes);
    for (size_t i = 0; i < catalogue_count; i++)
        for (size_t need = 0; catalogues[i].arch_row != NULL && catalogue_needs[need] != NULL;
             need++)
            print_own(&catalogues[i], arch, catalogue_needs[need]);
    return print_lines(arch);
}

/* The next value of an enumerated key: each one (`value` is NULL), or the one that was asked
 * for. */
static bool next_value(const char *key, const char *value, size_t *next, catalogue_value *out)
{
    while (catalogue_value_at(key, (*next)++, out))
        if (value == NULL || strcmp(out->value, value) == 0)
            return true;
    return false;
}

static void print_values(const char *key, const char *value)
{
    catalogue_value row;

    for (size_t next = 0; next_value(key, value, &next, &row);) {
        put_name("value");
        printf("%-*s  ", VALUE_COLUMNS - 2, row.value);
        put_text(row.text, NAME_COLUMNS + 2 + VALUE_COLUMNS);
    }
}

/* False without memory. */
static bool print_match(const catalogue *c, const catalogue_row *row, const char *word,
                        const char *value)
{
    char example[EXAMPLE_SIZE];
    bool done = true;

    text_print("%s  %s\n", word, c->heading);
    for (size_t i = 0; c->columns.names[i] != NULL; i++)
        if (*row->cells[i] != '\0') {
            put_name(c->columns.names[i]);
            put_text(row->cells[i], NAME_COLUMNS + 2);
        }
    print_users(c, row->cells[0]);
    if (c->is_architecture)
        done = print_architecture(row->cells[0]);
    print_values(row->cells[0], value);
    put_name("example");
    catalogue_example(c, row, word, example);
    put_text(example, NAME_COLUMNS + 2);
    return done;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void write_values(json_writer *j, const char *key, const char *value)
{
    catalogue_value row;

    if (!catalogue_value_at(key, 0, &row))
        return;
    json_begin_array(j, "values");
    for (size_t next = 0; next_value(key, value, &next, &row);) {
        json_begin_object(j, NULL);
        if (row.is_number)
            json_write_u64(j, "value", strtoull(row.value, NULL, 10));
        else
            json_write_text(j, "value", row.value);
        json_write_text(j, "meaning", row.text);
        json_end_object(j);
    }
    json_end_array(j);
}

static void write_classes(json_writer *j, const char *arch)
{
    const char *name;

    json_begin_array(j, "converted_from");
    for (size_t next = 0; (name = catalogue_class(arch, &next)) != NULL;)
        json_write_text(j, NULL, name);
    json_end_array(j);
}

#define LINE_FIELD(name, cell)                                                \
    {                                                                         \
        name, NULL, RECORD_TEXT, RECORD_AT(catalogue_page_line, cells[cell]), \
            .none = RECORD_OR_OUT                                             \
    }

static const record_field line_fields[] = {
    LINE_FIELD("kind", PAGE_KIND),       LINE_FIELD("name", PAGE_NAME),
    LINE_FIELD("value", PAGE_VALUE),     LINE_FIELD("condition", PAGE_CONDITION),
    LINE_FIELD("targets", PAGE_TARGETS), LINE_FIELD("note", PAGE_NOTE),
};
static const record_type line_type = RECORD_OF(catalogue_page_line, line_fields, 0);

static bool make_line(const void *arch, uint64_t index, void *out)
{
    return catalogue_line(arch, (size_t)index, out);
}

static void write_match(json_writer *j, const catalogue *c, const catalogue_row *row,
                        const char *word, const char *value)
{
    record_field fields[CATALOGUE_CELLS];
    const record_type type = catalogue_record(&c->columns, false, fields);
    char example[EXAMPLE_SIZE];
    const char *arch;

    json_begin_object(j, NULL);
    json_write_text(j, "kind", c->one);
    record_write_members(j, &type, row);
    if (c->arch_has != NULL) {
        json_begin_array(j, "used_by");
        for (size_t next = 0; (arch = catalogue_user(c, row->cells[0], &next)) != NULL;)
            json_write_text(j, NULL, arch);
        json_end_array(j);
    }
    if (c->is_architecture) {
        write_classes(j, row->cells[0]);
        record_write_list(j, "lines", &line_type,
                          &(record_list){.make = make_line, .context = row->cells[0]});
    }
    write_values(j, row->cells[0], value);
    catalogue_example(c, row, word, example);
    json_write_text(j, "example", example);
    json_end_object(j);
}

/* ---- the command ---------------------------------------------------------------------------- */

static int report_unknown(const char *word)
{
    catalogue_hint hint;

    if (strlen(word) <= LONGEST_HINTED && catalogue_nearest(word, &hint))
        return report_as(CODE_NO, NULL, "'%s' is not known; did you mean '%.*s%s'?", word,
                         (int)hint.before.len, hint.before.data, hint.name);
    return report_as(CODE_NO, NULL, "'%.*s' is not known", LONGEST_HINTED, word);
}

/* Explains KEY, or KEY=VALUE of an enumerated key with `value` as the second half. */
static int explain_word(bool json, const char *word, const char *value)
{
    catalogue_value known;
    json_writer j = json_writer_start(stdout);
    catalogue_row row;
    size_t matches = 0;

    if (json) {
        json_begin_object(&j, NULL);
        json_write_text(&j, "word", word);
        json_begin_array(&j, "matches");
    }
    for (size_t i = 0; i < catalogue_count; i++) {
        size_t first = 0;

        if (!catalogue_lookup(&catalogues[i], word, &row) ||
            (value != NULL && !next_value(row.cells[0], value, &first, &known)))
            continue;
        matches++;
        if (json)
            write_match(&j, &catalogues[i], &row, word, value);
        else if (!print_match(&catalogues[i], &row, word, value))
            return report_memory(NULL);
    }
    if (json) {
        json_end_array(&j);
        json_end_document(&j);
    }
    if (matches == 0 && value != NULL)
        report_message(NULL, "'%s' is not a known value of %s", value, word);
    else if (matches == 0)
        return report_unknown(word);
    return matches > 0 ? CODE_OK : CODE_NO;
}

static int explain(void *context, const char *word)
{
    bool json = ((const command_input *)context)->shared->json;
    const char *equals = strchr(word, '=');
    char *key = equals != NULL ? strndup(word, (size_t)(equals - word)) : NULL;
    int code;

    if (equals == NULL)
        return explain_word(json, word, NULL);
    code = key != NULL ? explain_word(json, key, equals + 1) : report_memory(NULL);
    free(key);
    return code;
}

const command_line command_explain = {
    .operands = {"KEY[=VALUE]|TENSOR|TYPE|ARCH|TOKENIZER|RULE...", 1, 0, "no word is given"},
    .doc = "Explain a key, a tensor, a type, an architecture, a tokenizer or a rule.\v"
           "Names may be those of a file (llama.context_length, blk.3.attn_q.weight) or those of "
           "'gufo list' ({arch}.context_length), and types also those of the format "
           "(GGML_TYPE_Q4_0, MOSTLY_Q4_K_M, GGUF_TYPE_UINT8).  For a key with a list of possible "
           "values gufo shows all of them, or with KEY=VALUE that one.",
    .examples = {{"gufo explain llama.context_length", "Explains a key."},
                 {"gufo explain general.file_type=15", "Explains a value of a key."},
                 {"gufo explain Q4_K_M blk.0.attn_q.weight G309",
                  "Explains a file type, a tensor and a rule."}},
    .each = explain,
};
