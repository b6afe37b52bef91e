/* Lists of parts. */
#include "cli/core/jobs/part_list.h"

#include "cli/core/files/path.h"
#include "cli/core/terminal/report.h"
#include "cli/core/values/array.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- files ---------------------------------------------------------------------------------- */

/* Takes the path over; a NULL has been reported. */
static int add_file(part_list *list, char *path)
{
    char **place =
        path != NULL ? array_add((void *)&list->files, &list->file_count, sizeof path) : NULL;

    if (place == NULL) {
        free(path);
        return CODE_FAILED;
    }
    *place = path;
    return CODE_OK;
}

/* The plan has paths of the machine that has made it: their names hold here, too. */
static int find_files(part_list *list, const char *out)
{
    size_t len = path_is_folder(out) ? strlen(out) : (size_t)(path_name(out) - out);
    gufo_plan_output output;
    int code = CODE_OK;

    while (len > 1 && out[len - 1] == '/')
        len--;
    for (size_t i = 0; code == CODE_OK && gufo_plan_output_at(list->plan, i, &output); i++)
        code = add_file(list, path_format("%.*s%s%s.part", (int)len, out,
                                          len > 0 && out[len - 1] != '/' ? "/" : "",
                                          path_name(output.name)));
    return code;
}

int part_list_name(part_list *list, const gufo_plan *here)
{
    gufo_plan_output output;
    int code = CODE_OK;

    for (size_t i = 0; code == CODE_OK && gufo_plan_output_at(here, i, &output); i++)
        code = add_file(list, path_with(output.name, ""));
    return code;
}

/* ---- which parts ---------------------------------------------------------------------------- */

int part_list_find(part_list *list, const gufo_plan *plan, const char *out, unsigned states,
                   const gufo_part *share)
{
    const uint64_t count = gufo_plan_part_count(plan);
    gufo_part_info info;

    *list = (part_list){.plan = plan, .numbers = calloc((size_t)count + 1, sizeof *list->numbers)};
    if (list->numbers == NULL)
        return report_memory(NULL);
    for (uint64_t i = 0; gufo_plan_part_at(plan, i, &info); i++)
        if ((states & PART_BIT(info.state)) != 0 &&
            (share == NULL || gufo_part_has(share, i, count)))
            list->numbers[list->count++] = i;
    return out != NULL ? find_files(list, out) : CODE_OK;
}

void part_list_free(part_list *list)
{
    for (size_t i = 0; i < list->file_count; i++)
        free(list->files[i]);
    free((void *)list->files);
    free(list->numbers);
}

/* ---- records -------------------------------------------------------------------------------- */

static const char *const states[] = {
    [GUFO_PART_WAITING] = "waiting",   [GUFO_PART_RUNNING] = "running",
    [GUFO_PART_SILENT] = "silent",     [GUFO_PART_FAILED] = "failed",
    [GUFO_PART_COMPLETE] = "complete", NULL};

typedef struct range_row {
    const char *file;
    gufo_part_range range;
} range_row;

static const record_field range_fields[] = {
    {"path", NULL, RECORD_TEXT, RECORD_AT(range_row, file)},
    {"from", NULL, RECORD_PLAIN, RECORD_AT(range_row, range.from)},
    {"to", NULL, RECORD_PLAIN, RECORD_AT(range_row, range.to)},
};
static const record_type range_type = RECORD_OF(range_row, range_fields, 0);

typedef struct part_row {
    const part_list *list;
    uint64_t part;
    char name[24], done[8];
    bool begun;
    gufo_part_info info;
    uint64_t silent;
    record_list ranges;
} part_row;

#define IF_BEGUN RECORD_IF(part_row, begun), .none = RECORD_OR_NULL

static const record_field part_fields[] = {
    {NULL, "Part", RECORD_CHARS, RECORD_AT(part_row, name), .width = -4},
    {"part", NULL, RECORD_PLAIN, RECORD_AT(part_row, part)},
    {"state", "State", RECORD_CHOICE, RECORD_AT(part_row, info.state), .width = -8,
     .words = states},
    {"first_unit", NULL, RECORD_PLAIN, RECORD_AT(part_row, info.first_unit)},
    {"units", "Units", RECORD_COUNT, RECORD_AT(part_row, info.unit_count), .width = 7, .drop = 4},
    {"units_done", NULL, RECORD_COUNT, RECORD_AT(part_row, info.units_done)},
    {NULL, "Done", RECORD_CHARS, RECORD_AT(part_row, done), .width = 5},
    {"bytes", NULL, RECORD_COUNT, RECORD_AT(part_row, info.bytes)},
    {"bytes_done", NULL, RECORD_COUNT, RECORD_AT(part_row, info.bytes_done)},
    {"size", "Size", RECORD_BYTES, RECORD_AT(part_row, info.size), .width = 9, .drop = 3},
    {"silent", "Silent s", RECORD_COUNT, RECORD_AT(part_row, silent), IF_BEGUN, .width = 8,
     .drop = 2},
    {"worker", "Worker", RECORD_TEXT, RECORD_AT(part_row, info.worker), .width = -10, .drop = 1},
    {"reason", "Reason", RECORD_TEXT, RECORD_AT(part_row, info.reason), .width = -6,
     .none = RECORD_OR_OUT},
    {"ranges", NULL, RECORD_LIST, RECORD_AT(part_row, ranges), .of = &range_type},
};
static const record_type part_type = RECORD_OF(part_row, part_fields, 0);

/* Nothing of it is done. */
static const record_field planned_fields[] = {
    {NULL, "Part", RECORD_CHARS, RECORD_AT(part_row, name), .width = -4},
    {"part", NULL, RECORD_PLAIN, RECORD_AT(part_row, part)},
    {"first_unit", "First unit", RECORD_PLAIN, RECORD_AT(part_row, info.first_unit), .width = 10,
     .drop = 2},
    {"units", "Units", RECORD_COUNT, RECORD_AT(part_row, info.unit_count), .width = 7, .drop = 1},
    {"bytes", "Reads", RECORD_BYTES, RECORD_AT(part_row, info.bytes), .width = 9},
    {"size", "Writes", RECORD_BYTES, RECORD_AT(part_row, info.size), .width = 9},
    {"ranges", NULL, RECORD_LIST, RECORD_AT(part_row, ranges), .of = &range_type},
};
static const record_type planned_type = RECORD_OF(part_row, planned_fields, 0);

static bool make_range(const void *context, uint64_t index, void *record)
{
    const part_row *part = context;
    range_row *row = record;
    bool found = gufo_plan_range_at(part->list->plan, part->part, (size_t)index, &row->range);

    if (found && row->range.output < part->list->file_count)
        row->file = part->list->files[row->range.output];
    return found;
}

static bool make_part(const void *context, uint64_t index, void *record)
{
    const part_list *list = context;
    part_row *row = record;

    if (index >= list->count)
        return false;
    row->list = list;
    row->part = list->numbers[index];
    if (!gufo_plan_part_at(list->plan, row->part, &row->info))
        return false;
    row->begun = row->info.worker != NULL;
    row->silent = row->info.silent > 0 ? (uint64_t)row->info.silent : 0;
    (void)snprintf(row->name, sizeof row->name, "%" PRIu64, row->part);
    (void)snprintf(row->done, sizeof row->done, "%u %%",
                   row->info.unit_count > 0
                       ? (unsigned)(100 * row->info.units_done / row->info.unit_count)
                       : 100U * (row->info.state == GUFO_PART_COMPLETE));
    row->ranges = (record_list){.make = make_range, .context = row};
    return true;
}

void part_list_print(const part_list *list, bool planned)
{
    const record_type *type = planned ? &planned_type : &part_type;
    const record_list records = {.make = make_part, .context = list};
    table t = record_table(type, 0);

    record_print(&t, type, &records);
}

void part_list_write(json_writer *j, const char *key, const part_list *list, bool planned)
{
    record_write_list(j, key, planned ? &planned_type : &part_type,
                      &(record_list){.make = make_part, .context = list});
}
