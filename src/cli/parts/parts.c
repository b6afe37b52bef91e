/* gufo parts OUT: the parts of a job, and its files. */
#include "cli/parts/parts.h"

#include "cli/commands.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/text.h"

#include <inttypes.h>

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
    {"cores", "N", "With --advise: cores of a machine (those that gufo may use here)",
     OPTION_NUMBER(parts_options, machines.cores, 1, OPTIONS_MOST_THREADS)},
    {0},
};

/* ---- files ---------------------------------------------------------------------------------- */

typedef struct output_row {
    const char *path;
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

static bool make_output(const void *context, uint64_t index, void *record)
{
    const part_list *list = context;
    output_row *row = record;

    if (index >= list->file_count)
        return false;
    row->path = list->files[index];
    return gufo_plan_output_at(list->plan, (size_t)index, &row->output);
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
    part_list list;
    const record_list files = {.make = make_output, .context = &list};
    int code = part_list_find(&list, plan, out, o->missing ? PART_MISSING : PART_ALL_STATES, NULL);

    if (code == CODE_OK && o->base.shared->json)
        write_json(out, &list, &files);
    else if (code == CODE_OK && o->missing)
        print_numbers(&list);
    else if (code == CODE_OK)
        print_all(&list, &files);
    part_list_free(&list);
    return code;
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
