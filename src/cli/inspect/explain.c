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
#include "cli/core/values/array.h"
#include "cli/core/values/str.h"
#include "cli/commands.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"
#include "cli/inspect/catalogue.h"
#include "gufo/estimate.h"
#include "gufo/schema.h"
#include "gufo/print.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values of keys -------------------------------------------------------------------------- */

/* A value of an enumerated key, and its meaning. */
typedef struct catalogue_value {
    char value[64], text[256];
    bool is_number;
} catalogue_value;

/* The values of a key: a row each, or the rows of a list. */
static const struct {
    const char *key, *list, *value, *text;
} enumerated[] = {
#define LISTED(key, list) {key, list, NULL, NULL},
#define VALUE(key, value, text) {key, NULL, value, text},
#include "cli/inspect/enumerations.def"
#undef LISTED
#undef VALUE
};

/* Row `index` of a list as a value: those of types are ids, all others names. */
static bool listed_value(const catalogue *c, size_t index, catalogue_value *out)
{
    bool by_id = strcmp(c->columns.names[1], "id") == 0;
    catalogue_row row;

    if (!c->row(index, &row))
        return false;
    snprintf(out->value, sizeof out->value, "%s", row.cells[by_id ? 1 : 0]);
    snprintf(out->text, sizeof out->text, "%s", by_id ? row.cells[0] : row.cells[1]);
    return true;
}

/* Row `index` of the table of layouts, with the architecture that the specification describes it
 * for. */
static bool layout_value(size_t index, catalogue_value *out)
{
    const gufo_data_layout *layout = gufo_data_layout_at(index);

    if (layout == NULL)
        return false;
    snprintf(out->value, sizeof out->value, "%s", layout->name);
    snprintf(out->text, sizeof out->text, "%s%s%s%s", layout->summary,
             *layout->arch != '\0' ? " (" : "", layout->arch, *layout->arch != '\0' ? ")" : "");
    return true;
}

static bool find_value(const char *key, size_t index, catalogue_value *out)
{
    if (strcmp(key, "{arch}.tensor_data_layout") == 0)
        return layout_value(index, out);
    for (size_t i = 0; i < sizeof enumerated / sizeof *enumerated; i++) {
        if (strcmp(enumerated[i].key, key) != 0)
            continue;
        if (enumerated[i].list != NULL)
            return listed_value(catalogue_find(enumerated[i].list), index, out);
        if (index-- > 0)
            continue;
        snprintf(out->value, sizeof out->value, "%s", enumerated[i].value);
        snprintf(out->text, sizeof out->text, "%s", enumerated[i].text);
        return true;
    }
    return false;
}

/* Value `index` of a key as `gufo list keys` calls it; false past the end, and for other keys.  Values of a
 * key are all numbers or all names. */
static bool catalogue_value_at(const char *key, size_t index, catalogue_value *out)
{
    if (!find_value(key, index, out))
        return false;
    out->is_number = isdigit((unsigned char)out->value[0]);
    return true;
}

enum { ARCH_PLACE_LEN = sizeof CATALOGUE_ARCH_PLACE - 1 };

/* ---- did you mean ... ----------------------------------------------------------------------- */

/* A guess at the meaning of a word that names nothing: its first part `before`, then `name`. */
typedef struct catalogue_hint {
    gufo_str before;
    const char *name;
} catalogue_hint;

/* The names of all rows. */
typedef struct row_names {
    gufo_str *items;
    size_t count;
} row_names;

static void collect_names(row_names *names)
{
    catalogue_row row;
    gufo_str *added;

    for (size_t i = 0; i < catalogue_count; i++)
        for (size_t k = 0; catalogues[i].row(k, &row); k++)
            if ((added = array_add(&names->items, &names->count, sizeof *added)) != NULL)
                *added = gufo_str_of(row.cells[0]);
}

static gufo_str name_at(const void *names, size_t index)
{
    return ((const row_names *)names)->items[index];
}

/* The part of a key behind the architecture. */
static gufo_str key_tail_at(const void *none, size_t index)
{
    const char *key = gufo_key_at(index)->key;

    (void)none;
    return gufo_str_of(
        strncmp(key, CATALOGUE_ARCH_PLACE, ARCH_PLACE_LEN) == 0 ? key + ARCH_PLACE_LEN : "");
}

/* A word rather means a key of any architecture than of one, and rather a short name than a long
 * one. */
static bool is_likelier(gufo_str name, gufo_str other)
{
    bool general = name.data[0] == '{';

    if (other.data == NULL || general != (other.data[0] == '{'))
        return other.data == NULL || general;
    return name.len < other.len;
}

/* Finds the name that ends in a word: "head_count". */
static const char *find_by_end(const char *word, const row_names *names)
{
    gufo_str likeliest = {NULL, 0};
    size_t len = strlen(word);

    for (size_t i = 0; i < names->count && len > 0; i++) {
        gufo_str name = names->items[i];

        if (name.len > len && name.data[name.len - len - 1] == '.' && ends_with(name, word) &&
            is_likelier(name, likeliest))
            likeliest = name;
    }
    return likeliest.data;
}

/* Finds a key of an architecture, with or without the name of that in front:
 * "llama.contxt_length". */
static bool find_by_tail(const char *word, catalogue_hint *out)
{
    const char *dot = strchr(word, '.');
    size_t index, count = catalogue_rows(catalogue_find("keys"));

    if (gufo_text_nearest(gufo_str_of(word), key_tail_at, NULL, count, &index)) {
        out->name = gufo_key_at(index)->key;
        return true;
    }
    if (dot == NULL || !gufo_text_nearest(gufo_str_of(dot + 1), key_tail_at, NULL, count, &index))
        return false;
    out->before.len = (size_t)(dot + 1 - word);
    out->name = key_tail_at(NULL, index).data;
    return true;
}

static gufo_str tensor_name_at(const void *none, size_t index)
{
    (void)none;
    return gufo_str_of(gufo_tensor_info_at(index)->name);
}

/* Finds a tensor of a file, with the number of a block and a suffix: "blk.3.atn_q.weight". */
static const char *find_tensor(const char *word)
{
    static const char digits[] = "0123456789";
    static const char *const suffixes[] = {".weight", ".bias"};
    size_t count = catalogue_rows(catalogue_find("tensors"));
    size_t number = strcspn(word, digits), after = number + strspn(word + number, digits), index;
    char text[256];
    int len = snprintf(text, sizeof text, "%.*s%s%s", (int)number, word,
                       after > number ? "{bid}" : "", word + after);
    gufo_str name = {text, (size_t)len};

    if (len < 0 || name.len >= sizeof text)
        return NULL;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (ends_with(name, suffixes[i]))
            name.len -= strlen(suffixes[i]);
    return gufo_text_nearest(name, tensor_name_at, NULL, count, &index)
               ? gufo_tensor_info_at(index)->name
               : NULL;
}

/* False if nothing is near. */
static bool catalogue_nearest(const char *word, catalogue_hint *out)
{
    row_names names = {0};
    size_t index;

    collect_names(&names);
    *out = (catalogue_hint){{word, 0}, find_by_end(word, &names)};
    if (out->name == NULL &&
        gufo_text_nearest(gufo_str_of(word), name_at, &names, names.count, &index))
        out->name = names.items[index].data;
    free(names.items);
    if (out->name == NULL)
        out->name = find_tensor(word);
    return out->name != NULL || find_by_tail(word, out);
}

/* ---- examples ------------------------------------------------------------------------------- */

enum { EXAMPLE_SIZE = 512 };

/* Whether a shell takes a word as it is. */
static bool is_plain(const char *word)
{
    return strlen(word) <= 128 && word[0] != '-' &&
           is_made_of(gufo_str_of(word), LETTERS DIGITS "._-");
}

static void append(char out[EXAMPLE_SIZE], const char *text, size_t len)
{
    size_t used = strlen(out);

    snprintf(out + used, EXAMPLE_SIZE - used, "%.*s", (int)len, text);
}

/* Appends a name that a file could have, with the braces filled in. */
static void append_filled(char out[EXAMPLE_SIZE], const char *name, const char *arch)
{
    const char *brace;

    for (; (brace = strchr(name, '{')) != NULL; name = brace + strcspn(brace, "}") + 1) {
        const char *value = strncmp(brace, CATALOGUE_ARCH_PLACE, ARCH_PLACE_LEN) == 0 ? arch : "0";

        append(out, name, (size_t)(brace - name));
        append(out, value, strlen(value));
    }
    append(out, name, strlen(name));
}

/* Makes a command as an example for a row.  It contains the word if a shell takes that as it is,
 * else the name of the row. */
static void catalogue_example(const catalogue *c, const catalogue_row *row, const char *word,
                              char out[EXAMPLE_SIZE])
{
    const char *example = row->example != NULL ? row->example : c->example;
    const char *place = strstr(example, "WORD");
    size_t first = 0, before = place != NULL ? (size_t)(place - example) : strlen(example);
    const char *arch = catalogue_user(c, row->cells[0], &first);
    bool own = c->own != GUFO_SPELLING_PLAIN && strcmp(word, row->cells[0]) != 0;

    out[0] = '\0';
    append(out, example, before);
    if (place == NULL)
        return;
    append_filled(out, is_plain(word) && !own ? word : row->cells[0],
                  arch != NULL ? arch : "llama");
    append(out, place + strlen("WORD"), strlen(place + strlen("WORD")));
}

enum {
    NAME_COLUMNS = 16,
    LINE_COLUMNS = 96,
    VALUE_COLUMNS = 10,
    NARROW_COLUMNS = 60,
    LONGEST_HINTED = 200
};

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

/* Where names and expressions begin, which break at few places: on narrow terminals below their title. */
static size_t value_column(void)
{
    const size_t columns = stdout_columns();

    return columns > 0 && columns < NARROW_COLUMNS ? 4 : NAME_COLUMNS + 2;
}

/* A title, or none, and what stands before a value that begins at value_column. */
static void put_title(const char *title)
{
    if (value_column() == NAME_COLUMNS + 2)
        put_name(title);
    else if (*title == '\0')
        printf("%*s", (int)value_column(), "");
    else
        printf("  %s\n%*s", title, (int)value_column(), "");
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
        put_title(l->title);
        l->column = value_column();
    } else if (l->column + strlen(", ") + strlen(name) + strlen(",") > room) {
        l->column = value_column();
        printf(",\n%*s", (int)l->column, "");
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
static void put_parts(FILE *out, const catalogue_page_line *of, const char *sign)
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
        if (*parts[i].text != '\0')
            fprintf(out, "%s%s", parts[i].before, parts[i].text);
}

/* False without memory. */
static bool print_line(const catalogue_page_line *of, const line_form *form)
{
    text_stream stream;
    char *text;

    if (!text_stream_open(&stream))
        return false;
    put_parts(stream.out, of, form->sign);
    text = text_stream_close(&stream);
    text_put_wrapped(stdout, (gufo_str){text, stream.len}, value_column(), value_column() + 2,
                     stdout_columns());
    putchar('\n');
    free(text);
    return text != NULL || stream.len == 0;
}

/* How a checkpoint becomes a model of the architecture, and back; false without memory. */
static bool print_lines(const char *arch)
{
    const char *before = "";
    catalogue_page_line row;
    bool done = true;

    for (size_t i = 0; done && catalogue_line(arch, i, &row); i++) {
        const line_form *form = form_of(&row);

        put_title(strcmp(form->title, before) != 0 ? form->title : "");
        done = print_line(&row, form);
        before = form->title;
    }
    return done;
}

/* A sentence about memory; *title is that of the first one, and then empty. */
static bool put_sentence(void *title, const char *sentence)
{
    put_name(*(const char **)title);
    put_text(sentence, NAME_COLUMNS + 2);
    *(const char **)title = "";
    return true;
}

/* What becomes the architecture, and what it consists of; false without memory. */
static bool print_architecture(const char *arch)
{
    name_list classes = {"converted from", 0};
    const char *name, *title = "memory";

    for (size_t next = 0; (name = catalogue_class(arch, &next)) != NULL;)
        list_add(&classes, name);
    list_end(&classes);
    for (size_t i = 0; i < catalogue_count; i++)
        for (size_t need = 0; catalogues[i].arch_row != NULL && catalogue_needs[need] != NULL;
             need++)
            print_own(&catalogues[i], arch, catalogue_needs[need]);
    (void)gufo_estimate_explain(arch, put_sentence, &title);
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
