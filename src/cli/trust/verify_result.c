/* How tensors compare with a manifest: lines for people, and JSON. */
#include "cli/trust/verify.h"

#include "cli/core/human.h"
#include "cli/core/line.h"
#include "cli/core/text.h"

static const char *const result_names[] = {[GUFO_MANIFEST_SAME] = "same",
                                           [GUFO_MANIFEST_DIFFERS] = "differs",
                                           [GUFO_MANIFEST_MISSING] = "missing",
                                           [GUFO_MANIFEST_NEW] = "new"};

static void put_algorithms(FILE *out, uint32_t algorithms)
{
    const char *between = "  (";

    for (unsigned i = 0; i < GUFO_DIGEST_COUNT; i++) {
        if ((algorithms >> i & 1) == 0)
            continue;
        fprintf(out, "%s%s", between, gufo_digest_kind_of((gufo_digest_algorithm)i)->name);
        between = ", ";
    }
    fputs(algorithms != 0 ? ")" : "", out);
}

static void write_algorithms(json_writer *j, uint32_t algorithms)
{
    json_begin_array(j, "algorithms");
    for (unsigned i = 0; i < GUFO_DIGEST_COUNT; i++)
        if ((algorithms >> i & 1) != 0)
            json_write_text(j, NULL, gufo_digest_kind_of((gufo_digest_algorithm)i)->name);
    json_end_array(j);
}

/* The algorithms that differ; for a file that agrees, all that were compared. */
static uint32_t shown_algorithms(const gufo_manifest_result *result, const char *file)
{
    return result->differing != 0 || file == NULL ? result->differing : result->algorithms;
}

void verify_put_result(const gufo_manifest_result *result, const char *file,
                       const char *compared_with)
{
    static const char *const of_files[] = {[GUFO_MANIFEST_SAME] = "all bytes match the",
                                           [GUFO_MANIFEST_DIFFERS] = "differs from the",
                                           [GUFO_MANIFEST_NEW] = "not in the"};
    line l;

    line_begin(&l);
    if (file != NULL) {
        text_put(l.out, gufo_str_of(file), TEXT_PLAIN);
        fprintf(l.out, ": %s %s", of_files[result->verdict], compared_with);
    } else {
        fprintf(l.out, "%-7s  ", result_names[result->verdict]);
        text_put(l.out, result->whole ? gufo_str_of("all data together") : result->tensor,
                 TEXT_PLAIN);
    }
    put_algorithms(l.out, shown_algorithms(result, file));
    line_end(&l);
}

void verify_write_result(json_writer *j, const gufo_manifest_result *result, const char *file)
{
    uint32_t algorithms = shown_algorithms(result, file);

    json_begin_object(j, NULL);
    if (file != NULL)
        json_write_text(j, "file", file);
    else if (result->whole)
        json_write_null(j, "tensor");
    else
        json_write_str(j, "tensor", result->tensor);
    json_write_text(j, "verdict", result_names[result->verdict]);
    if (file != NULL || algorithms != 0)
        write_algorithms(j, algorithms);
    json_end_object(j);
}

void verify_put_summary(const char *path, const gufo_manifest_summary *s)
{
    static const char *const counted[] = {[GUFO_MANIFEST_DIFFERS] = "differ",
                                          [GUFO_MANIFEST_MISSING] = "missing",
                                          [GUFO_MANIFEST_NEW] = "new"};
    line l;

    line_begin(&l);
    text_put(l.out, gufo_str_of(path), TEXT_PLAIN);
    fprintf(l.out, ": %s as in the manifest",
            human_counted(s->tensors[GUFO_MANIFEST_SAME], "tensor", "tensors").text);
    for (unsigned i = GUFO_MANIFEST_SAME + 1; i < sizeof counted / sizeof *counted; i++)
        if (s->tensors[i] > 0)
            fprintf(l.out, ", %s %s", human_grouped(s->tensors[i]).text, counted[i]);
    if (s->has_whole)
        fprintf(l.out, "; all data together %s", s->whole_differs != 0 ? "differs" : "is the same");
    put_algorithms(l.out, s->algorithms);
    line_end(&l);
}

void verify_write_summary(json_writer *j, const gufo_manifest_summary *s)
{
    json_write_str(j, "file", s->file);
    write_algorithms(j, s->algorithms);
    json_begin_object(j, "tensors");
    for (unsigned i = 0; i < sizeof result_names / sizeof *result_names; i++)
        json_write_u64(j, result_names[i], s->tensors[i]);
    json_end_object(j);
    json_write_text(j, "all_data",
                    !s->has_whole           ? NULL
                    : s->whole_differs != 0 ? "differs"
                                            : "same");
    json_write_bool(j, "agrees", gufo_manifest_agrees(s));
}
