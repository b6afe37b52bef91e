/* A plan as text, made of a job.
 *
 *     plan      1
 *     version   0.4.0                         the identity: kind, name, value
 *     option    keep-nonfinite     off
 *     key       general.name       "Llama"
 *     tensor    blk.0.attn_q.weight Q4_K with importance
 *     rows      blk.0.attn_q.weight 4c1f...
 *     argument  quantize                      the command
 *     folder    /work                         where it was given
 *     note      checkpoint         llama-7b
 *     output    out.gguf           3825065984
 *     align     1048576                       the cut
 *     part      0 0 97 20971520               border, first unit, end, bytes that are read
 *     range     0 0 13631488                  of that part: output, from, to
 *     end       93a1...                       hash of what is above
 *
 * Fields are divided by tabs; bytes below a blank, tabs and backslashes are written as \xHH. */
#include "produce/parts/plan.h"

#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/files/folder.h"
#include "base/hash.h"
#include "base/memory.h"
#include "format/document/document.h"
#include "gufo/value.h"

enum { NUMBER_TEXT = 24 };

/* Tensors have lines of their own up to this many; more of them share a line. */
enum { MOST_ROWS_LINES = 16384 };

typedef struct plan_writer {
    gufo_text *out;
    bool failed; /* without memory */
} plan_writer;

/* ---- lines ---------------------------------------------------------------------------------- */

static void put(plan_writer *w, const char *bytes, size_t len)
{
    w->failed = w->failed || !text_add(w->out, bytes, len);
}

static bool is_plain(char c)
{
    uint8_t byte = (uint8_t)c;

    return byte >= ' ' && byte != '\\' && byte != 0x7F;
}

static void put_field(plan_writer *w, gufo_str field)
{
    put(w, "\t", 1);
    for (size_t at = 0, len; at < field.len; at += len) {
        char code[] = "\\x00";

        for (len = 0; at + len < field.len && is_plain(field.data[at + len]);)
            len++;
        put(w, field.data + at, len);
        if (len > 0)
            continue;
        (void)hex_put(code + 2, (uint8_t)field.data[at], false);
        put(w, code, sizeof code - 1);
        len = 1;
    }
}

/* One that has only bytes that are written as they are. */
static void put_plain(plan_writer *w, const char *text, size_t len)
{
    put(w, "\t", 1);
    put(w, text, len);
}

/* The kind of a line. */
static void put_kind(plan_writer *w, const char *kind)
{
    put(w, kind, strlen(kind));
}

static void put_text(plan_writer *w, const char *text)
{
    put_field(w, gufo_str_of(text));
}

static void put_number(plan_writer *w, uint64_t number)
{
    char text[NUMBER_TEXT];

    put_plain(w, text, gufo_number_u64(text, number));
}

static void put_hash(plan_writer *w, uint64_t hash)
{
    char text[NUMBER_TEXT];

    for (unsigned i = 0; i < 8; i++)
        (void)hex_put(text + 2 * i, (uint8_t)(hash >> (56 - 8 * i)), false);
    put_plain(w, text, 16);
}

static void end_line(plan_writer *w)
{
    put(w, "\n", 1);
}

static void put_pair(plan_writer *w, const char *kind, const char *text)
{
    put_kind(w, kind);
    put_text(w, text);
    end_line(w);
}

static void put_count(plan_writer *w, const char *kind, uint64_t number)
{
    put_kind(w, kind);
    put_number(w, number);
    end_line(w);
}

/* ---- the identity --------------------------------------------------------------------------- */

static void put_item(plan_writer *w, const char *kind, gufo_str name, gufo_str value)
{
    put_kind(w, kind);
    put_field(w, name);
    put_field(w, value);
    end_line(w);
}

static void put_hash_item(plan_writer *w, const char *kind, gufo_str name, uint64_t hash)
{
    put_kind(w, kind);
    put_field(w, name);
    put_hash(w, hash);
    end_line(w);
}

static void put_size_item(plan_writer *w, const char *kind, gufo_str name, uint64_t size)
{
    put_kind(w, kind);
    put_field(w, name);
    put_number(w, size);
    end_line(w);
}

/* The name of a file without its folders, which differ between machines. */
static gufo_str base_name(const char *path)
{
    return path != NULL ? gufo_str_of(path + folder_len(path)) : gufo_str_of("");
}

static gufo_status put_inputs(plan_writer *w, const gufo_job *job, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < job->input_count && status == GUFO_OK; i++) {
        const job_input *input = &job->inputs[i];
        gufo_str name = base_name(input->name);
        uint64_t head, samples;

        if (input->source == NULL)
            continue;
        status = identity_of_input(input, &head, &samples, error);
        put_size_item(w, "input-size", name, input->source->size);
        put_hash_item(w, "input-header", name, head);
        put_hash_item(w, "input-numbers", name, samples);
    }
    return status;
}

/* Short values as they are, and a hash of long ones. */
static gufo_status put_key(plan_writer *w, const gufo_document_entry *entry, gufo_error *error)
{
    enum { SHORT = 80 };
    const gufo_value *v = &entry->value;
    gufo_text text = {0};
    gufo_status status = GUFO_OK;
    uint64_t hash = v->type;

    if (v->type == GUFO_VALUE_ARRAY || (v->type == GUFO_VALUE_STRING && v->as.str.len > SHORT)) {
        gufo_str bytes = v->type == GUFO_VALUE_ARRAY
                             ? (gufo_str){(const char *)v->as.array.data, (size_t)v->as.array.size}
                             : v->as.str;

        if (v->type == GUFO_VALUE_ARRAY)
            hash_chain(&hash, &v->as.array.count, sizeof v->as.array.count);
        hash ^= xxh64_of(bytes);
        put_hash_item(w, "key", entry->key, hash);
        return GUFO_OK;
    }
    status = gufo_value_write_json(v, &text, error);
    if (status == GUFO_OK)
        put_item(w, "key", entry->key, (gufo_str){text.data, text.len});
    gufo_text_free(&text);
    return status;
}

static gufo_status put_keys(plan_writer *w, const job_target *t, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    gufo_document_entry entry;

    for (uint64_t i = 0;
         t->document != NULL && status == GUFO_OK && gufo_document_entry_at(t->document, i, &entry);
         i++)
        status = put_key(w, &entry, error);
    return status;
}

static gufo_status put_target(plan_writer *w, const job_target *t, uint64_t number,
                              gufo_error *error)
{
    char name[NUMBER_TEXT];
    gufo_str name_of = {name, gufo_number_u64(name, number + 1)};
    const void *bytes;
    size_t size;
    gufo_status status = job_header(t, &bytes, &size, error);

    put_size_item(w, "output-size", name_of, t->size);
    if (status == GUFO_OK)
        put_hash_item(w, "header", name_of, xxh64_of((gufo_str){bytes, size}));
    return status;
}

static void put_types(plan_writer *w, const piece *p)
{
    put_kind(w, "tensor");
    put_field(w, p->name);
    put(w, "\t", 1);
    for (uint32_t i = 0; i < p->n_made; i++) {
        const char *type = p->made[i].type != NULL ? p->made[i].type->name : "bytes";
        const char *with = p->made[i].weighs || p->made[i].weighted ? " with importance" : "";

        put(w, ",", i > 0);
        put(w, type, strlen(type));
        put(w, with, strlen(with));
    }
    end_line(w);
}

static gufo_status put_pieces(plan_writer *w, const gufo_job *job, gufo_error *error)
{
    uint64_t each = job->piece_count / MOST_ROWS_LINES + 1;
    gufo_status status = GUFO_OK;
    plain_piece room;

    for (uint64_t i = 0; i < job->piece_count && status == GUFO_OK;) {
        const piece *first = job_piece_at(job, i, &room);
        gufo_str name = first->name;
        uint64_t hash = 0, end = smaller(i + each, job->piece_count);

        if (each == 1)
            put_types(w, first);
        for (; i < end && status == GUFO_OK; i++)
            status = identity_chain_piece(&hash, job_piece_at(job, i, &room), error);
        put_hash_item(w, "rows", name, hash);
    }
    return status;
}

/* A worker with another plan is refused for the first item that differs, so those that say most come first. */
static gufo_status put_identity(plan_writer *w, const gufo_job *job, gufo_error *error)
{
    static const char *const efforts[] = {"reference", "high"};
    const gufo_str none = {"", 0};
    gufo_status status;

    put_item(w, "version", none, gufo_str_of(gufo_version()));
    put_item(w, "machine", none, gufo_str_of(HOST_IS_BIG_ENDIAN ? "big-endian" : "little-endian"));
    put_item(w, "effort", none, gufo_str_of(efforts[job->effort != 0]));
    for (uint32_t i = 0; i < job->choice_count; i++)
        put_item(w, "option", gufo_str_of(job->choices[i].name),
                 gufo_str_of(job->choices[i].value));
    status = put_inputs(w, job, error);
    for (uint64_t i = 0; i < job->target_count && status == GUFO_OK; i++)
        status = put_keys(w, &job->targets[i], error);
    if (status == GUFO_OK)
        status = put_pieces(w, job, error);
    for (uint64_t i = 0; i < job->target_count && status == GUFO_OK; i++)
        status = put_target(w, &job->targets[i], i, error);
    put_hash_item(w, "options", none, identity_of_options(job));
    return status;
}

/* ---- what is beside it ---------------------------------------------------------------------- */

static void put_command(plan_writer *w, const gufo_plan_options *options)
{
    char folder[PATH_MAX];

    for (size_t i = 0; i < options->command_count; i++)
        put_pair(w, "argument", options->command[i]);
    if (getcwd(folder, sizeof folder) != NULL)
        put_pair(w, "folder", folder);
    for (size_t i = 0; i < options->note_count; i++)
        put_item(w, "note", gufo_str_of(options->notes[i].name),
                 gufo_str_of(options->notes[i].text));
}

static gufo_status put_outputs(plan_writer *w, const gufo_job *job, const gufo_job_options *outputs,
                               gufo_error *error)
{
    for (uint64_t i = 0; i < job->target_count; i++) {
        uint64_t set = i / job_set_size(job);
        const char *path = set == 0 ? outputs->path : outputs->more_paths[set - 1];
        size_t size = gufo_job_output_path(job, path, (size_t)i, NULL, 0) + 1;
        char *name = mem_alloc(&job->allocator, size);

        if (name == NULL)
            return fail_memory(error);
        (void)gufo_job_output_path(job, path, (size_t)i, name, size);
        put_size_item(w, "output", gufo_str_of(name), job->targets[i].size);
        mem_free(&job->allocator, name);
    }
    return GUFO_OK;
}

/* ---- the cut -------------------------------------------------------------------------------- */

static void put_part(plan_writer *w, const job_cut *cut, const job_part *part)
{
    put_kind(w, "part");
    put_number(w, cut->borders[part->number]);
    put_number(w, part->first_unit);
    put_number(w, part->end_unit);
    put_number(w, part->total);
    end_line(w);
    for (uint32_t i = part->first_target; i < part->end_target; i++) {
        const byte_range *bytes = &part->bytes[i - part->first_target];

        if (bytes->from >= bytes->to)
            continue;
        put_kind(w, "range");
        put_number(w, i);
        put_number(w, bytes->from);
        put_number(w, bytes->to);
        end_line(w);
    }
}

static gufo_status put_cut(plan_writer *w, const gufo_job *job, uint64_t workers, uint64_t align,
                           gufo_error *error)
{
    job_cut cut = {0};
    job_part part;
    gufo_status status = cut_job(job, workers, align, &cut, error);

    if (status != GUFO_OK)
        return status;
    put_count(w, "results", job->hooks.result_size);
    put_count(w, "units", job->unit_count);
    put_count(w, "align", cut.align);
    put_count(w, "cost", cut.cost);
    for (uint64_t i = 0; i < cut.count && status == GUFO_OK; i++) {
        status = part_find(job, &cut, i, &part, error);
        if (status != GUFO_OK)
            break;
        put_part(w, &cut, &part);
        part_free(&job->allocator, &part);
    }
    cut_free(&job->allocator, &cut);
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------ */

gufo_status plan_options_check(const gufo_plan_options *options, gufo_error *error)
{
    if (options->command == NULL && options->command_count > 0)
        return refuse(error, GUFO_E_ARGUMENT, "gufo_plan_options.command is missing");
    if (options->notes == NULL && options->note_count > 0)
        return refuse(error, GUFO_E_ARGUMENT, "gufo_plan_options.notes is missing");
    for (size_t i = 0; i < options->command_count; i++)
        if (options->command[i] == NULL)
            return refuse(error, GUFO_E_ARGUMENT,
                          "an argument of gufo_plan_options.command is missing");
    for (size_t i = 0; i < options->note_count; i++) {
        const uint64_t *zeros = options->notes[i].reserved;

        if (reserved_check((const uint64_t[4]){zeros[0], zeros[1]}, "gufo_plan_note", error) !=
            GUFO_OK)
            return GUFO_E_ARGUMENT;
        if (options->notes[i].name == NULL || options->notes[i].text == NULL)
            return refuse(error, GUFO_E_ARGUMENT,
                          "a note of gufo_plan_options has no name or no text");
    }
    return reserved_check(
        (const uint64_t[4]){options->reserved[0], options->reserved[1], options->reserved[2]},
        "gufo_plan_options", error);
}

gufo_status plan_write_job(gufo_job *job, const gufo_job_options *outputs, uint64_t workers,
                           const gufo_plan_options *options, gufo_text *out, gufo_error *error)
{
    plan_writer w = {.out = out};
    size_t begin = out->len;
    gufo_status status;

    put_pair(&w, "plan", "1");
    status = put_identity(&w, job, error);
    if (status == GUFO_OK && outputs != NULL) {
        put_command(&w, options);
        status = put_outputs(&w, job, outputs, error);
        if (status == GUFO_OK)
            status = put_cut(&w, job, workers,
                             options->align != 0 ? options->align : CUT_USUAL_ALIGN, error);
    }
    if (status == GUFO_OK && !w.failed) {
        uint64_t hash = xxh64_of((gufo_str){out->data + begin, out->len - begin});

        put_kind(&w, "end");
        put_hash(&w, hash);
        end_line(&w);
    }
    return status == GUFO_OK && w.failed ? fail_memory(error) : status;
}
