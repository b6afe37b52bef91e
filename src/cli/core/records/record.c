/* The four printers of records.  One function reads fields; each printer says how kinds look. */
#include "cli/core/records/record.h"

#include "cli/core/records/quoting.h"
#include "cli/core/records/tensor_text.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/values/number.h"
#include "cli/core/values/value.h"

#include "gufo/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const record_field text_fields[] = {{NULL, NULL, RECORD_TEXT, .bytes = sizeof(char *)}};
const record_type record_texts = RECORD_BARE(const char *, text_fields);
static const record_field number_fields[] = {{NULL, NULL, RECORD_PLAIN, .bytes = sizeof(uint64_t)}};
const record_type record_numbers = RECORD_BARE(uint64_t, number_fields);
static const record_field id_fields[] = {{NULL, NULL, RECORD_PLAIN, .bytes = sizeof(uint32_t)}};
const record_type record_ids = RECORD_BARE(uint32_t, id_fields);

/* ---- fields --------------------------------------------------------------------------------- */

/* What a field holds: of its kind one member. */
typedef struct value {
    bool is_none, is_out; /* JSON has null, or no member */
    bool is_zero, is_single;
    uint64_t number;
    double real;
    gufo_str text;
    const void *place;
} value;

static uint64_t read_unsigned(const void *at, size_t bytes)
{
    uint64_t v64;
    uint32_t v32;
    uint8_t v8;

    if (bytes == sizeof v64)
        return memcpy(&v64, at, sizeof v64), v64;
    if (bytes == sizeof v32)
        return memcpy(&v32, at, sizeof v32), v32;
    return memcpy(&v8, at, sizeof v8), v8;
}

static void read_text(value *v, const char *text)
{
    v->is_none = text == NULL;
    v->is_zero = text != NULL && *text == '\0';
    v->text = text != NULL ? gufo_str_of(text) : (gufo_str){NULL, 0};
}

static void read_real(value *v, double real, bool is_single)
{
    v->real = real;
    v->is_single = is_single;
    v->is_zero = isnan(real);
}

/* Whether a value is none by itself is a matter of its kind. */
static value read_kind(const record_field *f, const void *at)
{
    value v = {.place = at};

    switch (f->kind) {
    case RECORD_TEXT:
    case RECORD_WORD:
    case RECORD_DIGITS:
        read_text(&v, *(const char *const *)at);
        break;
    case RECORD_CHOICE:
        read_text(&v, f->words[read_unsigned(at, f->bytes)]);
        break;
    case RECORD_CHARS:
        read_text(&v, *(const char *)at != '\0' ? at : NULL);
        break;
    case RECORD_STR:
        v.text = *(const gufo_str *)at;
        v.is_none = v.text.data == NULL;
        break;
    case RECORD_REAL:
        read_real(&v, *(const double *)at, false);
        break;
    case RECORD_SINGLE:
        read_real(&v, (double)*(const float *)at, true);
        break;
    case RECORD_NUMBER: {
        const record_number *n = at;

        read_real(&v, n->value, n->is_single);
        break;
    }
    case RECORD_OFFSET:
        v.number = *(const uint64_t *)at;
        v.is_none = v.number == GUFO_NO_OFFSET;
        break;
    case RECORD_DATE:
        v.is_none = *(const time_t *)at == 0;
        break;
    case RECORD_POINTER:
        v.place = *(const void *const *)at;
        v.is_none = v.place == NULL;
        break;
    case RECORD_SHAPE:
    case RECORD_RECORD:
    case RECORD_LIST:
    case RECORD_MAP:
    case RECORD_VALUE:
    case RECORD_SCALAR:
        break;
    case RECORD_FIXED:
        v.number = f->at;
        break;
    default:
        v.number = read_unsigned(at, f->bytes);
        v.is_zero = v.number == 0;
    }
    return v;
}

static value read_field(const record_field *f, const void *record)
{
    const char *base = record;
    value v;

    if (record == NULL)
        return (value){.is_none = true, .is_out = f->none == RECORD_OR_OUT};
    v = read_kind(f, f->kind == RECORD_FIXED ? NULL : base + f->at);

    if (f->flag > 0 ? !*(const bool *)(base + f->flag - 1)
                    : f->none != RECORD_ALWAYS && (v.is_none || v.is_zero)) {
        v.is_none = true;
        v.is_out = f->none == RECORD_OR_OUT;
    }
    if (v.is_none)
        v.place = NULL;
    return v;
}

static bool is_record(const record_field *f)
{
    return f->kind == RECORD_RECORD || f->kind == RECORD_POINTER;
}

/* Whether a printer shows it, for which it has that name. */
static bool is_shown(const record_type *type, const record_field *f, const char *name)
{
    return (name != NULL || is_record(f)) && (f->part == 0 || (type->parts & f->part) != 0);
}

/* A field that is a column, and its record. */
typedef struct column {
    const record_field *field;
    const void *record;
} column;

typedef enum printer { IN_TABLES, IN_CSV } printer;

/* The columns of a type; those of records inside it are among them. */
static size_t find_columns(const record_type *type, const void *record, printer in, column *out)
{
    size_t count = 0;

    for (const record_field *f = type->fields; f < type->fields + type->count; f++) {
        if (!is_shown(type, f, in == IN_CSV ? f->column : f->title))
            continue;
        if (is_record(f))
            count += find_columns(f->of, read_field(f, record).place, in, out + count);
        else
            out[count++] = (column){f, record};
    }
    return count;
}

/* ---- lists ---------------------------------------------------------------------------------- */

/* Record `index` of a list: in the list, or made in `room`; NULL past the last. */
static const void *item_of(const record_list *list, const record_type *type, uint64_t index,
                           void *room)
{
    if (list->make == NULL)
        return index < list->count ? (const char *)list->items + index * type->size : NULL;
    memset(room, 0, type->size);
    return list->make(list->context, index, room) ? room : NULL;
}

typedef union room {
    max_align_t aligned;
    char bytes[RECORD_ROOM];
} room;

/* ---- JSON ----------------------------------------------------------------------------------- */

static void write_date(json_writer *j, const char *name, time_t date)
{
    struct tm parts;
    char text[40];
    bool is_known = gmtime_r(&date, &parts) != NULL &&
                    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts) > 0;

    json_write_text(j, name, is_known ? text : NULL);
}

static void write_shape(json_writer *j, const char *name, const gufo_tensor *tensor)
{
    json_begin_array(j, name);
    for (uint32_t i = 0; i < tensor->n_dims; i++)
        json_write_u64(j, NULL, tensor->dims[i]);
    json_end_array(j);
}

static void write_map(json_writer *j, const record_field *f, const record_list *list)
{
    room made;
    const void *item;

    json_begin_object(j, f->name);
    for (uint64_t i = 0; (item = item_of(list, f->of, i, &made)) != NULL; i++) {
        json_begin_named_object(j, read_field(f->of->fields, item).text);
        record_write_members(j, f->of, item);
        json_end_object(j);
    }
    json_end_object(j);
}

static void write_value(json_writer *j, const record_field *f, const value *v)
{
    const record_value *metadata = v->place;

    switch (f->kind) {
    case RECORD_TEXT:
    case RECORD_WORD:
    case RECORD_CHOICE:
    case RECORD_CHARS:
    case RECORD_STR:
        json_write_str(j, f->name, v->text);
        break;
    case RECORD_DIGITS:
        json_write_f64(j, f->name, strtod(v->text.data, NULL));
        break;
    case RECORD_FLAG:
        json_write_bool(j, f->name, v->number != 0);
        break;
    case RECORD_SIGNED:
        json_write_i64(j, f->name, (int64_t)v->number);
        break;
    case RECORD_REAL:
    case RECORD_SINGLE:
    case RECORD_NUMBER:
        if (v->is_single)
            json_write_f32(j, f->name, (float)v->real);
        else
            json_write_f64(j, f->name, v->real);
        break;
    case RECORD_TYPE:
        json_write_text(j, f->name, tensor_type_text((uint32_t)v->number).text);
        break;
    case RECORD_SHAPE:
        write_shape(j, f->name, v->place);
        break;
    case RECORD_DATE:
        write_date(j, f->name, *(const time_t *)v->place);
        break;
    case RECORD_RECORD:
    case RECORD_POINTER:
        record_write(j, f->name, f->of, v->place);
        break;
    case RECORD_LIST:
        record_write_list(j, f->name, f->of, v->place);
        break;
    case RECORD_MAP:
        write_map(j, f, v->place);
        break;
    case RECORD_VALUE:
        value_write_members(j, &metadata->value, metadata->limit);
        break;
    case RECORD_SCALAR:
        value_write_plain(j, f->name, v->place, VALUE_ALL);
        break;
    default:
        json_write_u64(j, f->name, v->number);
    }
}

void record_write_members(json_writer *j, const record_type *type, const void *record)
{
    for (const record_field *f = type->fields; f < type->fields + type->count; f++) {
        if (!is_shown(type, f, type->bare ? "" : f->name))
            continue;
        value v = read_field(f, record);

        if (f->name == NULL && !type->bare && !v.is_out)
            record_write_members(j, f->of, v.place);
        else if (!v.is_none)
            write_value(j, f, &v);
        else if (!v.is_out)
            json_write_null(j, f->name);
    }
}

void record_write(json_writer *j, const char *key, const record_type *type, const void *record)
{
    json_begin_object(j, key);
    record_write_members(j, type, record);
    json_end_object(j);
}

void record_write_document(const char *path, const record_type *type, const void *record)
{
    json_writer j = json_writer_start(stdout);

    json_begin_object(&j, NULL);
    if (path != NULL)
        json_write_text(&j, "path", path);
    record_write_members(&j, type, record);
    json_end_document(&j);
}

void record_write_list(json_writer *j, const char *key, const record_type *type,
                       const record_list *list)
{
    room made;
    const void *item;

    json_begin_array(j, key);
    for (uint64_t i = 0; !stdout_broken() && (item = item_of(list, type, i, &made)) != NULL; i++)
        (type->bare ? record_write_members(j, type, item) : record_write(j, NULL, type, item));
    json_end_array(j);
}

/* ---- tables --------------------------------------------------------------------------------- */

size_t record_columns(const record_type *type, table_column *out)
{
    column columns[TABLE_CELLS];
    size_t count = find_columns(type, NULL, IN_TABLES, columns);

    for (size_t i = 0; i < count; i++) {
        const record_field *f = columns[i].field;

        out[i] = (table_column){f->title, f->width, f->drop};
    }
    return count;
}

table record_table(const record_type *type, size_t indent)
{
    table_column columns[TABLE_CELLS];
    size_t count = record_columns(type, columns);
    table t = table_of(columns, count);

    t.indent = indent;
    return t;
}

static void add_date(table_row *row, time_t date, const char *instead)
{
    struct tm parts;
    char text[32];
    bool is_known =
        localtime_r(&date, &parts) != NULL && strftime(text, sizeof text, "%Y-%m-%d", &parts) > 0;

    row_text(row, "%s", is_known ? text : instead);
}

/* Columns but the first are ASCII: "?" replaces other characters of a file. */
static void add_word(table_row *row, gufo_str text)
{
    char word[32];
    size_t len = 0;

    for (; len < text.len && len + 1 < sizeof word; len++)
        word[len] = (char)(text.data[len] > ' ' && text.data[len] <= '~' ? text.data[len] : '?');
    word[len] = '\0';
    row_text(row, "%s", word);
}

static void add_cell(table_row *row, const record_field *f, const value *v)
{
    switch (f->kind) {
    case RECORD_TEXT:
    case RECORD_CHOICE:
    case RECORD_CHARS:
    case RECORD_STR:
    case RECORD_DIGITS:
        row_str(row, v->text);
        break;
    case RECORD_WORD:
        add_word(row, v->text);
        break;
    case RECORD_FLAG:
        row_text(row, "%s", v->number != 0 ? "yes" : "no");
        break;
    case RECORD_COUNT:
        row_text(row, "%s", human_grouped(v->number).text);
        break;
    case RECORD_QUANTITY:
        row_text(row, "%s", human_count(v->number).text);
        break;
    case RECORD_BYTES:
        row_text(row, "%s", human_file_size(v->number).text);
        break;
    case RECORD_SIGNED:
        row_text(row, "%" PRId64, (int64_t)v->number);
        break;
    case RECORD_TYPE:
        row_text(row, "%s", tensor_type_text((uint32_t)v->number).text);
        break;
    case RECORD_SHAPE:
        row_text(row, "%s", tensor_shape_text(v->place, " x ").text);
        break;
    case RECORD_DATE:
        add_date(row, *(const time_t *)v->place, f->instead);
        break;
    case RECORD_REAL:
    case RECORD_SINGLE:
    case RECORD_NUMBER:
        row_text(row, f->format != NULL ? f->format : "%.3g", v->real);
        break;
    case RECORD_LIST:
    case RECORD_MAP:
    case RECORD_VALUE:
    case RECORD_SCALAR:
        row_text(row, "%s", "");
        break;
    default:
        row_text(row, "%" PRIu64, v->number);
    }
}

void record_cells(const record_type *type, const void *record, table_row *row)
{
    column columns[TABLE_CELLS];
    size_t count = find_columns(type, record, IN_TABLES, columns);

    for (const column *c = columns; c < columns + count; c++) {
        value v = read_field(c->field, c->record);

        if (v.is_out && c->field->instead == NULL)
            continue;
        if (v.is_none)
            row_str(row, gufo_str_of(c->field->instead != NULL ? c->field->instead : "-"));
        else
            add_cell(row, c->field, &v);
    }
}

typedef struct printed {
    const record_type *type;
    const record_list *list;
    room made;
} printed;

static bool make_row(const void *context, uint64_t index, table_row *row)
{
    printed *p = *(printed *const *)context;
    const void *item = item_of(p->list, p->type, index, &p->made);

    if (item != NULL)
        record_cells(p->type, item, row);
    return item != NULL;
}

uint64_t record_fit(table *t, const record_type *type, const record_list *list)
{
    printed p = {.type = type, .list = list}, *context = &p;

    return table_fit_all(t, make_row, &context);
}

void record_put_all(const table *t, const record_type *type, const record_list *list)
{
    printed p = {.type = type, .list = list}, *context = &p;

    table_put_all(t, make_row, &context);
}

void record_print(table *t, const record_type *type, const record_list *list)
{
    (void)record_fit(t, type, list);
    if (!t->headless)
        table_heads(t);
    record_put_all(t, type, list);
}

/* ---- CSV ------------------------------------------------------------------------------------ */

void record_csv_heads(FILE *out, const record_type *type, const char *about, bool first)
{
    column columns[TABLE_CELLS];
    size_t count = find_columns(type, NULL, IN_CSV, columns);

    for (size_t i = 0; i < count; i++) {
        if (i > 0 || !first)
            putc(',', out);
        if (about != NULL)
            csv_put_column(out, columns[i].field->column, about);
        else
            fputs(columns[i].field->column, out);
    }
}

static void put_cell(FILE *out, const record_field *f, const value *v)
{
    char text[GUFO_NUMBER_SIZE] = "";

    switch (f->kind) {
    case RECORD_TEXT:
    case RECORD_CHARS:
    case RECORD_STR:
        csv_put(out, v->text);
        break;
    case RECORD_WORD:
    case RECORD_CHOICE:
    case RECORD_DIGITS:
        fwrite(v->text.data, 1, v->text.len, out);
        break;
    case RECORD_SIGNED:
        fprintf(out, "%" PRId64, (int64_t)v->number);
        break;
    case RECORD_TYPE:
        fputs(tensor_type_text((uint32_t)v->number).text, out);
        break;
    case RECORD_SHAPE:
        fputs(tensor_shape_text(v->place, "x").text, out);
        break;
    case RECORD_REAL:
    case RECORD_SINGLE:
    case RECORD_NUMBER:
        if (v->is_single)
            (void)gufo_number_f32(text, (float)v->real);
        else
            (void)gufo_number_f64(text, v->real);
        fputs(text, out);
        break;
    case RECORD_DATE:
    case RECORD_LIST:
    case RECORD_MAP:
    case RECORD_VALUE:
    case RECORD_SCALAR:
        break;
    default:
        fprintf(out, "%" PRIu64, v->number);
    }
}

void record_csv_cells(FILE *out, const record_type *type, const void *record, bool first)
{
    column columns[TABLE_CELLS];
    size_t count = find_columns(type, record, IN_CSV, columns);

    for (size_t i = 0; i < count; i++) {
        value v = read_field(columns[i].field, columns[i].record);

        if (i > 0 || !first)
            putc(',', out);
        if (!v.is_none)
            put_cell(out, columns[i].field, &v);
    }
}

/* ---- Markdown ------------------------------------------------------------------------------- */

void record_markdown_heads(const record_type *type)
{
    table_column columns[TABLE_CELLS];
    size_t count = record_columns(type, columns);

    for (size_t i = 0; i < count; i++)
        printf("| %s ", columns[i].head);
    fputs("|\n", stdout);
    for (size_t i = 0; i < count; i++)
        fputs(columns[i].width < 0 ? "|---" : "|--:", stdout);
    fputs("|\n", stdout);
}

/* Texts of files may hold markup; what the other kinds write has none. */
static bool is_text(const record_field *f)
{
    return f->kind == RECORD_TEXT || f->kind == RECORD_CHARS || f->kind == RECORD_STR;
}

void record_markdown_row(const record_type *type, const void *record)
{
    column columns[TABLE_CELLS];
    size_t count = find_columns(type, record, IN_TABLES, columns);
    table_row row = {0};

    record_cells(type, record, &row);
    for (size_t i = 0; i < count; i++) {
        fputs("| ", stdout);
        if (is_text(columns[i].field))
            markdown_put(row.cells[i]);
        else
            fwrite(row.cells[i].data, 1, row.cells[i].len, stdout);
        putchar(' ');
    }
    fputs("|\n", stdout);
}
