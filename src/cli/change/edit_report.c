/* The report of an edit: the differences, and the way they are written. */
#include "cli/change/edit.h"

#include "cli/core/terminal/line.h"
#include "cli/core/values/json.h"
#include "cli/core/values/number.h"
#include "cli/core/values/value.h"

#include <inttypes.h>
#include <string.h>
#include <stdio.h>

/* Elements of an array that JSON shows. */
#define ARRAY_LIMIT 64

static const value_style line_style = {
    .limit = 8, .columns = 60, .array_columns = 60, .string_columns = 20};

static const struct {
    const char *sign, *name; /* in text and in JSON */
} kinds[] = {
    [GUFO_CHANGE_REMOVED] = {"- ", "removed"},
    [GUFO_CHANGE_RENAMED] = {"> ", "renamed"},
    [GUFO_CHANGE_CHANGED] = {"~ ", "changed"},
    [GUFO_CHANGE_ADDED] = {"+ ", "added"},
    [GUFO_CHANGE_TENSOR_RENAMED] = {"> tensor ", "tensor-renamed"},
};

static bool is_renamed(const gufo_change *change)
{
    return change->kind == GUFO_CHANGE_RENAMED || change->kind == GUFO_CHANGE_TENSOR_RENAMED;
}

/* ---- text ----------------------------------------------------------------------------------- */

static void put_value(FILE *out, const gufo_value *value)
{
    if (value->type != GUFO_VALUE_ARRAY)
        fprintf(out, "%s ", gufo_value_type_name(value->type));
    else
        fprintf(out, "array of %s ", gufo_value_type_name(value->as.array.type));
    (void)value_put_line(out, value, &line_style);
}

/*     + new.key: uint32 1
 *     - old.key: string "text"
 *     ~ key: uint32 1 -> uint32 2
 *     > old.name -> new.name */
static void report_as_text(void *context, const gufo_change *change)
{
    FILE *out = ((json_writer *)context)->out;

    fputs(kinds[change->kind].sign, out);
    text_put(out, change->old_name, TEXT_PLAIN);
    if (is_renamed(change)) {
        fputs(" -> ", out);
        text_put(out, change->new_name, TEXT_PLAIN);
    } else
        fputs(": ", out);
    if (change->old_value != NULL)
        put_value(out, change->old_value);
    if (change->old_value != NULL && change->new_value != NULL)
        fputs(" -> ", out);
    if (change->new_value != NULL)
        put_value(out, change->new_value);
    putc('\n', out);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void write_entry(json_writer *j, const char *member, gufo_str name, const gufo_value *value)
{
    if (value != NULL)
        value_write_entry(j, member, &(gufo_entry){.key = name, .value = *value}, ARRAY_LIMIT);
    else
        json_write_null(j, member);
}

static void report_as_json(void *context, const gufo_change *change)
{
    json_writer *j = context;

    json_begin_object(j, NULL);
    json_write_text(j, "change", kinds[change->kind].name);
    if (is_renamed(change)) {
        json_write_str(j, "from", change->old_name);
        json_write_str(j, "to", change->new_name);
    } else {
        write_entry(j, "old", change->old_name, change->old_value);
        write_entry(j, "new", change->new_name, change->new_value);
    }
    json_end_object(j);
}

/* ---- the differences ------------------------------------------------------------------------ */

int edit_report_changes(text_stream *report, gufo_edit *edit, const edit_options *options)
{
    bool json = options->base.shared->json;
    gufo_status status;
    gufo_error error = {0};
    json_writer j;

    if (!text_stream_open(report))
        return report_memory(NULL);
    j = json_writer_start(report->out);
    status = gufo_document_changes(gufo_edit_document(edit), json ? report_as_json : report_as_text,
                                   &j, &error);
    if (fclose(report->out) != 0 && status == GUFO_OK)
        return report_memory(NULL);
    return status == GUFO_OK ? CODE_OK : report_error(options->path, &error);
}

/* ---- the way -------------------------------------------------------------------------------- */

static void print_way(const gufo_edit_plan *plan)
{
    if (plan->way == GUFO_EDIT_NOTHING)
        line_put("nothing: the file already has these values");
    else if (plan->way == GUFO_EDIT_OVERWRITE)
        line_put("overwrite: the metadata is written over the old one; tensor data stays at byte "
                 "%" PRIu64,
                 plan->data_offset);
    else if (plan->way == GUFO_EDIT_INSERT)
        line_put("insert: %s bytes are inserted in front, and the metadata is written; "
                 "tensor data is at byte %" PRIu64,
                 human_grouped(plan->data_offset - plan->old_data_offset).text, plan->data_offset);
    else
        line_put("rewrite: a new file of %s bytes, tensor data from byte %" PRIu64 "%s",
                 human_grouped(plan->file_size).text, plan->data_offset,
                 plan->relaid ? ", laid out for the new alignment" : "");
    if (plan->way == GUFO_EDIT_NOTHING || plan->way == GUFO_EDIT_OVERWRITE)
        return;
    line_put("  no overwrite: %s", plan->not_overwritten);
    if (plan->way == GUFO_EDIT_REWRITE)
        line_put("  no insert: %s", plan->not_inserted);
}

static void write_reason(json_writer *j, const char *member, const char *reason)
{
    json_write_text(j, member, reason[0] != '\0' ? reason : NULL);
}

/* The array of changes has been written down already. */
static void print_json(const text_stream *report, const gufo_edit_plan *plan,
                       const edit_options *options)
{
    json_writer j = json_begin_document(options->path);

    json_write_text(&j, "output", options->target.output);
    json_write_bool(&j, "dry_run", options->dry_run);
    json_write_text(&j, "way", gufo_edit_way_name(plan->way));
    json_write_u64(&j, "old_data_offset", plan->old_data_offset);
    json_write_u64(&j, "data_offset", plan->data_offset);
    json_write_u64(&j, "size", plan->file_size);
    json_write_u64(&j, "padding", plan->padding);
    write_reason(&j, "no_overwrite", plan->not_overwritten);
    write_reason(&j, "no_insert", plan->not_inserted);
    json_begin_array(&j, "changes");
    fwrite(report->text, 1, report->len, stdout);
    json_end_array(&j);
    json_end_document(&j);
}

static void print_changes(const text_stream *report)
{
    const char *end = report->text + report->len, *next;

    for (const char *at = report->text; at < end; at = next + 1) {
        next = memchr(at, '\n', (size_t)(end - at));
        if (next == NULL)
            next = end;
        line_put("%.*s", (int)(next - at), at);
    }
}

void edit_report_print(const text_stream *report, const gufo_edit_plan *plan,
                       const edit_options *options)
{
    const shared_options *shared = options->base.shared;

    if (plan->warning[0] != '\0')
        report_warning(options->path, "edited in place although %s", plan->warning);
    if (shared->json) {
        print_json(report, plan, options);
        return;
    }
    if (!options->dry_run && !shared->verbose)
        return;
    print_changes(report);
    print_way(plan);
}
