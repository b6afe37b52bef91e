/* gufo parts OUT: the parts of a job, and its files. */
#include "cli/parts/parts.h"

#include "cli/commands.h"
#include "cli/core/files/path.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/array.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct parts_options {
    command_input base;
    bool missing, advise;
    advise_options machines;
} parts_options;

static const command_option parts_table[] = {
    {"missing", NULL,
     "Print only the parts that are not complete, a line for each, as --part takes them: 17/64",
     OPTION_FLAG(parts_options, missing)},
    {"advise", NULL, "Print how long all parts take with how many machines",
     OPTION_FLAG(parts_options, advise)},
    {"link", "SIZE", "With --advise: bytes that a machine reads or writes in a second (1.25G)",
     OPTION_SIZE(parts_options, machines.link, 1, "1.25G")},
    {"server", "SIZE",
     "With --advise: bytes that the file server reads and writes in a second (1.25G)",
     OPTION_SIZE(parts_options, machines.server, 1, "1.25G")},
    {"cores", "N", "With --advise: cores of a machine (those of this one)",
     OPTION_NUMBER(parts_options, machines.cores, 1, OPTIONS_MOST_THREADS)},
    {0},
};

/* ---- files ---------------------------------------------------------------------------------- */

typedef struct output_row {
    char *path; /* owned */
    gufo_plan_output output;
} output_row;

static const char *const complete_words[] = {"no", "yes"};

static const record_field output_fields[] = {
    {"path", "File", RECORD_TEXT, RECORD_AT(output_row, path), .width = -4},
    {"size", NULL, RECORD_COUNT, RECORD_AT(output_row, output.size)},
    {NULL, "Size", RECORD_BYTES, RECORD_AT(output_row, output.size), .width = 9},
    {NULL, "Complete", RECORD_CHOICE, RECORD_AT(output_row, output.complete), .width = -8,
     .words = complete_words},
    {"complete", NULL, RECORD_FLAG, RECORD_AT(output_row, output.complete)},
};
static const record_type output_type = RECORD_OF(output_row, output_fields, 0);

/* Where a file is now: the plan has paths of the machine that has made it. */
static char *find_file(const char *out, const char *name)
{
    char folder[PATH_MAX];

    if (path_is_folder(out))
        return path_format("%s/%s.part", out, path_name(name));
    return path_folder(out, folder) ? path_format("%s/%s.part", folder, path_name(name)) : NULL;
}

static void free_outputs(record_list *list, output_row *rows)
{
    for (uint64_t i = 0; i < list->count; i++)
        free(rows[i].path);
    free(rows);
}

/* The files; NULL after a report. */
static output_row *list_outputs(record_list *list, const char *out, const gufo_plan *plan)
{
    output_row *rows = NULL, *row;
    gufo_plan_output output;
    size_t count = 0;

    while (gufo_plan_output_at(plan, count, &output)) {
        row = array_add(&rows, &count, sizeof *row);
        if (row != NULL)
            *row = (output_row){.path = find_file(out, output.name), .output = output};
        *list = (record_list){.items = rows, .count = count};
        if (row == NULL || row->path == NULL) {
            free_outputs(list, rows);
            return NULL;
        }
    }
    return rows;
}

/* ---- lists ---------------------------------------------------------------------------------- */

static void print_numbers(const part_list *list)
{
    for (uint64_t i = 0; i < list->count; i++)
        printf("%" PRIu64 "/%" PRIu64 "\n", list->numbers[i], gufo_plan_part_count(list->plan));
}

static void write_json(const char *out, const part_list *list, const record_list *files)
{
    const plan_sums sums = plan_sum(list->plan);
    json_writer j = json_begin_document(out);

    plan_write_sums(&j, &sums);
    part_list_write(&j, "parts", list, false);
    record_write_list(&j, "outputs", &output_type, files);
    json_end_document(&j);
}

static void print_all(const part_list *list, const record_list *files)
{
    const plan_sums sums = plan_sum(list->plan);
    table t = record_table(&output_type, 0);
    line l;

    line_begin(&l);
    plan_put_sums(l.out, &sums);
    line_end(&l);
    part_list_print(list, false);
    putchar('\n');
    record_print(&t, &output_type, files);
}

static int show(const parts_options *o, const char *out, const gufo_plan *plan)
{
    record_list files = {.count = 0};
    output_row *rows = list_outputs(&files, out, plan);
    part_list list;
    int code = rows != NULL ? CODE_OK : CODE_FAILED;

    if (code == CODE_OK)
        code = part_list_find(&list, plan, o->missing ? PART_MISSING : PART_ALL_STATES, NULL);
    if (code != CODE_OK)
        return free_outputs(&files, rows), code;
    if (o->base.shared->json)
        write_json(out, &list, &files);
    else if (o->missing)
        print_numbers(&list);
    else
        print_all(&list, &files);
    part_list_free(&list);
    free_outputs(&files, rows);
    return CODE_OK;
}

static int parts(void *options, const char *out)
{
    const parts_options *o = options;
    gufo_plan *plan;
    int code = plan_open(out, &plan);

    if (code == CODE_OK && plan == NULL)
        report_note(out, "it is complete, and has no parts any more");
    else if (code == CODE_OK && o->advise)
        code = plan_advise(out, plan, &o->machines, o->base.shared->json);
    else if (code == CODE_OK)
        code = show(o, out, plan);
    gufo_plan_free(plan);
    return code;
}

const command_line command_parts = {
    .operands = {"OUT...", 1, 0, "OUT is needed"},
    .doc = "List the parts of a job that workers make with --part, and its files.\v"
           "A part is waiting, running, silent (its worker has written nothing for 120 seconds), "
           "failed or complete.  "
           "A file that is complete has its last bytes: it can be uploaded while others are made, "
           "but has its "
           "name only after 'gufo commit'.",
    .examples = {{"gufo parts model-q4_k_m.gguf", "Shows all parts."},
                 {"gufo parts --missing model.gguf | xargs -I{} gufo quantize in.gguf model.gguf "
                  "Q4_K_M --part {}",
                  "Makes the parts that are missing."}},
    COMMAND_OPTIONS(parts_table, parts_options),
    .each = parts,
};
