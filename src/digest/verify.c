/* Comparing a model with a manifest.
 *
 * Names in a manifest are FILE:TENSOR, where both may have colons; where one ends is decided by the
 * tensors that the model has.  The lines about this FILE are then put in the order of names, in
 * which the lines of each tensor are found while its hashes come in. */
#include "digest/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/source.h"
#include "base/memory.h"
#include "base/sort.h"
#include "codec/run.h"
#include "digest/algorithm.h"

enum { MOST_COLONS = 100 }; /* in the name of a file: each means that many lines to look at */

typedef struct verifier {
    const gufo_model *model;
    const gufo_manifest_check *check;
    const gufo_manifest_line *lines;
    uint64_t count; /* of all lines */
    gufo_str file;
    uint32_t *order; /* lines about tensors, by name and algorithm */
    uint64_t order_count;
    bool *seen;                                         /* for each line */
    const gufo_manifest_line *whole[GUFO_DIGEST_COUNT]; /* about all data */
    gufo_manifest_summary *summary;
    const gufo_allocator *allocator;
} verifier;

/* ---- which lines ---------------------------------------------------------------------------- */

/* Whether a name is FILE, or FILE: and a tensor. */
static bool is_about(gufo_str name, gufo_str file)
{
    return name.len >= file.len && memcmp(name.data, file.data, file.len) == 0 &&
           (name.len == file.len || name.data[file.len] == ':');
}

static gufo_str tensor_of(gufo_str name, gufo_str file)
{
    return (gufo_str){name.data + file.len + 1, name.len - file.len - 1};
}

static uint64_t lines_about(const verifier *v, gufo_str file)
{
    uint64_t count = 0;

    for (uint64_t i = 0; i < v->count; i++)
        count += is_about(v->lines[i].name, file);
    return count;
}

/* How many lines make sense if this is the FILE. */
static uint64_t sense_of(const verifier *v, gufo_str file)
{
    uint64_t sense = 0;

    for (uint64_t i = 0; i < v->count; i++) {
        gufo_str name = v->lines[i].name;

        sense += name.len == file.len ||
                 gufo_model_tensor_find_str(v->model, tensor_of(name, file), NULL);
    }
    return sense;
}

static bool all_are_about(const verifier *v, gufo_str file)
{
    uint64_t i = 0;

    while (i < v->count && is_about(v->lines[i].name, file))
        i++;
    return i == v->count;
}

/* The FILE of a manifest about one: a beginning that all names have, up to a colon or to the end of
 * the shortest name.  Where several are possible, the one that makes most sense; false if none
 * exists. */
static bool find_common(verifier *v)
{
    gufo_str shortest = v->lines[0].name;
    uint64_t best = 0;
    unsigned tries = 0;
    bool found = false;

    for (uint64_t i = 1; i < v->count; i++)
        if (v->lines[i].name.len < shortest.len)
            shortest = v->lines[i].name;
    for (size_t len = 1; len <= shortest.len && tries < MOST_COLONS; len++) {
        gufo_str file = {shortest.data, len};
        uint64_t sense;

        if (len < shortest.len && shortest.data[len] != ':')
            continue;
        tries++;
        if (!all_are_about(v, file))
            continue;
        sense = sense_of(v, file);
        if (!found || sense > best) {
            v->file = file;
            best = sense;
        }
        found = true;
    }
    return found;
}

static gufo_str last_component(gufo_str path)
{
    for (size_t i = path.len; i > 0; i--)
        if (path.data[i - 1] == '/')
            return (gufo_str){path.data + i, path.len - i};
    return path;
}

/* The beginning of `name` that is a path with this last component. */
static bool find_component(gufo_str name, gufo_str component, gufo_str *file)
{
    for (size_t i = 0; i + component.len <= name.len; i++) {
        gufo_str rest = {name.data + i, name.len - i};

        if ((i == 0 || name.data[i - 1] == '/') && is_about(rest, component)) {
            *file = (gufo_str){name.data, i + component.len};
            return true;
        }
    }
    return false;
}

static gufo_status find_by_component(verifier *v, gufo_error *error)
{
    gufo_str component = last_component(gufo_str_of(v->check->path)), file;
    bool found = false;

    for (uint64_t i = 0; i < v->count; i++) {
        if (!find_component(v->lines[i].name, component, &file))
            continue;
        if (found && !gufo_str_equal(file, v->file))
            return refuse(error, GUFO_E_NOT_FOUND,
                          "line %" PRIu64 " and earlier ones are about several files named %s",
                          v->lines[i].number, QUOTED(component));
        v->file = file;
        found = true;
    }
    if (found)
        return GUFO_OK;
    return refuse(error, GUFO_E_NOT_FOUND,
                  "the manifest is about several files, and none is named %s", QUOTED(component));
}

static gufo_status find_file(verifier *v, gufo_error *error)
{
    gufo_str path = gufo_str_of(v->check->path);

    if (path.len > 0 && lines_about(v, path) > 0) {
        v->file = path;
        return GUFO_OK;
    }
    return find_common(v) ? GUFO_OK : find_by_component(v, error);
}

/* ---- order ---------------------------------------------------------------------------------- */

static int compare_names(gufo_str a, gufo_str b)
{
    size_t shorter = a.len < b.len ? a.len : b.len;
    int order = shorter > 0 ? memcmp(a.data, b.data, shorter) : 0;

    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

static bool line_before(const void *owner, uint32_t a, uint32_t b)
{
    const gufo_manifest_line *lines = owner;
    int order = compare_names(lines[a].name, lines[b].name);

    if (order != 0)
        return order < 0;
    if (lines[a].algorithm != lines[b].algorithm)
        return lines[a].algorithm < lines[b].algorithm;
    return a < b;
}

static gufo_status fail_contradiction(const gufo_manifest_line *a, const gufo_manifest_line *b,
                                      gufo_error *error)
{
    return refuse(error, GUFO_E_MALFORMED,
                  "lines %" PRIu64 " and %" PRIu64 " give different hashes for the same name",
                  a->number, b->number);
}

static gufo_status take_whole(verifier *v, const gufo_manifest_line *line, gufo_error *error)
{
    const gufo_manifest_line *other = v->whole[line->algorithm];

    if (other != NULL && memcmp(other->digest, line->digest, GUFO_DIGEST_SIZE) != 0)
        return fail_contradiction(other, line, error);
    v->whole[line->algorithm] = line;
    v->summary->has_whole = true;
    return GUFO_OK;
}

static gufo_status take_lines(verifier *v, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < v->count && status == GUFO_OK; i++) {
        const gufo_manifest_line *line = &v->lines[i];

        if (!is_about(line->name, v->file))
            continue;
        v->summary->lines++;
        v->summary->algorithms |= UINT32_C(1) << line->algorithm;
        if (line->name.len == v->file.len)
            status = take_whole(v, line, error);
        else if (gufo_digest_kind_of(line->algorithm)->file_only)
            status = refuse(error, GUFO_E_MALFORMED, "line %" PRIu64 ": a single tensor has no %s",
                            line->number, gufo_digest_kind_of(line->algorithm)->name);
        else
            v->order[v->order_count++] = (uint32_t)i;
    }
    return status;
}

static gufo_status sort_lines(verifier *v, gufo_error *error)
{
    sort_indices(v->order, v->order_count, line_before, v->lines);
    for (uint64_t i = 1; i < v->order_count; i++) {
        const gufo_manifest_line *a = &v->lines[v->order[i - 1]], *b = &v->lines[v->order[i]];

        if (a->algorithm == b->algorithm && gufo_str_equal(a->name, b->name) &&
            memcmp(a->digest, b->digest, GUFO_DIGEST_SIZE) != 0)
            return fail_contradiction(a, b, error);
    }
    return GUFO_OK;
}

static gufo_status prepare(verifier *v, gufo_error *error)
{
    gufo_status status;

    if (v->count > UINT32_MAX)
        return refuse(error, GUFO_E_LIMIT, "the manifest has %s lines, more than %s",
                      GROUPED(v->count), GROUPED(UINT32_MAX));
    v->order = mem_alloc(v->allocator, (size_t)v->count * sizeof *v->order);
    v->seen = mem_zero(v->allocator, (size_t)v->count * sizeof *v->seen);
    if (v->order == NULL || v->seen == NULL)
        return fail_memory(error);
    status = find_file(v, error);
    if (status == GUFO_OK)
        status = take_lines(v, error);
    if (status == GUFO_OK)
        status = sort_lines(v, error);
    v->summary->file = v->file;
    return status;
}

static bool line_is_before(const void *owner, size_t place, const void *tensor)
{
    const verifier *v = owner;
    gufo_str name = v->lines[v->order[place]].name;

    return compare_names(tensor_of(name, v->file), *(const gufo_str *)tensor) < 0;
}

/* The place in the order of the first line about this tensor, or of what comes after it. */
static uint64_t find_lines(const verifier *v, gufo_str tensor)
{
    return first_row_from(v, (size_t)v->order_count, line_is_before, &tensor);
}

/* ---- results -------------------------------------------------------------------------------- */

static void report(const verifier *v, const gufo_manifest_result *result)
{
    if (!result->whole)
        v->summary->tensors[result->verdict]++;
    if (v->check->result != NULL)
        v->check->result(v->check->context, result);
}

static bool digest_differs(const gufo_manifest_line *line, const gufo_digests *digests)
{
    return memcmp(line->digest, digests->bytes[line->algorithm], GUFO_DIGEST_SIZE) != 0;
}

/* Marks the lines about a tensor as seen; `digests`, if not NULL, are compared.  False if none
 * exist. */
static bool meet(verifier *v, gufo_str tensor, const gufo_digests *digests, uint32_t *differing)
{
    bool found = false;

    for (uint64_t i = find_lines(v, tensor); i < v->order_count; i++) {
        const gufo_manifest_line *line = &v->lines[v->order[i]];

        if (!gufo_str_equal(tensor_of(line->name, v->file), tensor))
            break;
        found = v->seen[v->order[i]] = true;
        if (digests != NULL && digest_differs(line, digests))
            *differing |= UINT32_C(1) << line->algorithm;
    }
    return found;
}

static bool on_tensor(void *context, uint64_t index, const gufo_tensor *tensor,
                      const gufo_digests *digests)
{
    verifier *v = context;
    gufo_manifest_result result = {.tensor = tensor->name};

    (void)index;
    if (!meet(v, tensor->name, digests, &result.differing))
        result.verdict = GUFO_MANIFEST_NEW;
    else if (result.differing != 0)
        result.verdict = GUFO_MANIFEST_DIFFERS;
    report(v, &result);
    return true;
}

static void report_missing(verifier *v)
{
    for (uint64_t i = 0; i < v->count; i++) {
        gufo_manifest_result result = {.verdict = GUFO_MANIFEST_MISSING};

        if (v->seen[i] || !is_about(v->lines[i].name, v->file) ||
            v->lines[i].name.len == v->file.len)
            continue;
        result.tensor = tensor_of(v->lines[i].name, v->file);
        (void)meet(v, result.tensor, NULL, NULL);
        report(v, &result);
    }
}

static void report_whole(verifier *v, const gufo_digests *all)
{
    gufo_manifest_result result = {.whole = true};

    for (unsigned i = 0; i < GUFO_DIGEST_COUNT; i++)
        if (v->whole[i] != NULL && digest_differs(v->whole[i], all))
            result.differing |= UINT32_C(1) << i;
    v->summary->whole_differs = result.differing;
    result.verdict = result.differing != 0 ? GUFO_MANIFEST_DIFFERS : GUFO_MANIFEST_SAME;
    if (v->summary->has_whole)
        report(v, &result);
}

static gufo_status run(verifier *v, const gufo_run *run, gufo_error *error)
{
    /* A manifest without tensors says nothing about single ones. */
    gufo_digest_options options = {.algorithms = v->summary->algorithms,
                                   .tensor = v->order_count > 0 ? on_tensor : NULL,
                                   .context = v};
    gufo_digests all;
    gufo_status status = gufo_model_digest(v->model, &options, run, &all, error);

    if (status != GUFO_OK)
        return status;
    report_missing(v);
    report_whole(v, &all);
    return GUFO_OK;
}

static gufo_status check_arguments(const gufo_model *model, const gufo_manifest_check *check,
                                   gufo_error *error)
{
    if (check == NULL || check->manifest == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "gufo_manifest_check.manifest is missing");
    if (model == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "the model is missing");
    return reserved_check(check->reserved, "gufo_manifest_check", error);
}

gufo_status gufo_model_verify(const gufo_model *model, const gufo_manifest_check *check,
                              const gufo_run *how, gufo_manifest_summary *summary,
                              gufo_error *error)
{
    verifier v = {.model = model,
                  .check = check,
                  .summary = summary,
                  .allocator = run_allocator(run_of(how))};
    gufo_status status = check_arguments(model, check, error);

    *summary = (gufo_manifest_summary){0};
    if (status != GUFO_OK)
        return status;
    v.lines = check->manifest->data.lines;
    v.count = check->manifest->data.count;
    if (v.count == 0)
        return refuse(error, GUFO_E_NOT_FOUND, "the manifest has no line about tensor data");
    status = prepare(&v, error);
    if (status == GUFO_OK)
        status = run(&v, how, error);
    mem_free(v.allocator, v.order);
    mem_free(v.allocator, v.seen);
    return status;
}

bool gufo_manifest_agrees(const gufo_manifest_summary *s)
{
    return s->tensors[GUFO_MANIFEST_DIFFERS] == 0 && s->tensors[GUFO_MANIFEST_MISSING] == 0 &&
           s->tensors[GUFO_MANIFEST_NEW] == 0 && s->whole_differs == 0;
}

/* Compares all bytes of a file with hashes that sha256sum and its relatives have written. */

/* ---- which lines ---------------------------------------------------------------------------- */

/* How well a line is about a file. */
typedef enum fit {
    FIT_NOT,
    FIT_ONLY, /* the manifest is about one file, whatever its name */
    FIT_COMPONENT,
    FIT_PATH,
} fit;

static fit fit_of(gufo_str name, gufo_str path, bool alone)
{
    if (gufo_str_equal(name, path))
        return FIT_PATH;
    if (gufo_str_equal(last_component(name), last_component(path)))
        return FIT_COMPONENT;
    return alone ? FIT_ONLY : FIT_NOT;
}

/* Whether all lines have one name, and the file may have another one now: a shard may not, because
 * the name could be that of another shard. */
static bool is_alone(const manifest_lines *lines, const char *path)
{
    uint32_t number, count;

    for (uint64_t i = 1; i < lines->count; i++)
        if (!gufo_str_equal(lines->lines[i].name, lines->lines[0].name))
            return false;
    return gufo_str_equal(lines->lines[0].name, gufo_str_of("-")) ||
           !gufo_shard_path_parse(path, NULL, &number, &count) || count == 1;
}

/* The lines of the best fit, one for each algorithm. */
static gufo_status find_file_lines(const manifest_lines *lines, const char *path,
                                   const gufo_manifest_line *found[GUFO_DIGEST_COUNT],
                                   uint32_t *algorithms, gufo_error *error)
{
    const gufo_manifest_line *first = NULL;
    bool alone = is_alone(lines, path);
    fit best = FIT_NOT;

    for (uint64_t i = 0; i < lines->count; i++) {
        fit own = fit_of(lines->lines[i].name, gufo_str_of(path), alone);

        best = own > best ? own : best;
    }
    for (uint64_t i = 0; i < lines->count && best != FIT_NOT; i++) {
        const gufo_manifest_line *line = &lines->lines[i];
        const gufo_manifest_line **place = &found[line->algorithm];

        if (fit_of(line->name, gufo_str_of(path), alone) != best)
            continue;
        if (first != NULL && !gufo_str_equal(first->name, line->name))
            return refuse(error, GUFO_E_NOT_FOUND,
                          "lines %" PRIu64 " and %" PRIu64 " are about several files named %s",
                          first->number, line->number, QUOTED(last_component(gufo_str_of(path))));
        if (*place != NULL && memcmp((*place)->digest, line->digest, GUFO_DIGEST_SIZE) != 0)
            return refuse(error, GUFO_E_MALFORMED,
                          "lines %" PRIu64 " and %" PRIu64
                          " give different hashes for the same name",
                          (*place)->number, line->number);
        first = *place = line;
        *algorithms |= UINT32_C(1) << line->algorithm;
    }
    return GUFO_OK;
}

/* ---- files -----------------------------------------------------------------------------------*/

gufo_status gufo_manifest_verify_file(const gufo_manifest *manifest, const char *path,
                                      const gufo_run *how, gufo_manifest_result *out,
                                      gufo_error *error)
{
    const gufo_manifest_line *found[GUFO_DIGEST_COUNT] = {NULL};
    uint32_t algorithms = 0;
    gufo_digests digests;
    gufo_status status;

    *out = (gufo_manifest_result){.whole = true, .verdict = GUFO_MANIFEST_NEW};
    if (manifest == NULL || path == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "the manifest or the path is missing");
    if (manifest->files.count == 0)
        return GUFO_OK;
    status = find_file_lines(&manifest->files, path, found, &algorithms, error);
    if (status == GUFO_OK && algorithms != 0)
        status = gufo_digest_files(&path, 1, algorithms, how, &digests, error);
    if (status != GUFO_OK || algorithms == 0)
        return status;
    for (unsigned i = 0; i < GUFO_DIGEST_COUNT; i++)
        if (found[i] != NULL && memcmp(found[i]->digest, digests.bytes[i], GUFO_DIGEST_SIZE) != 0)
            out->differing |= UINT32_C(1) << i;
    out->algorithms = algorithms;
    out->verdict = out->differing != 0 ? GUFO_MANIFEST_DIFFERS : GUFO_MANIFEST_SAME;
    return GUFO_OK;
}
