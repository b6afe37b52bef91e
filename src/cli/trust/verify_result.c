/* What gufo verify finds out: which files a manifest names, whether it is what was signed, and how tensors
 * compare, as lines for people and JSON. */
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/report.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/array.h"
#include "cli/core/values/number.h"
#include "cli/trust/verify.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Whether a manifest is what was signed. */

static const char *const verdict_names[] = {[GUFO_SIGNATURE_GOOD] = "good",
                                            [GUFO_SIGNATURE_OTHER_KEY] = "other key",
                                            [GUFO_SIGNATURE_BAD] = "bad",
                                            [GUFO_SIGNATURE_BAD_COMMENT] = "bad comment"};

static int report_verdict(const char *path, const char *signature_path, const gufo_public_key *key,
                          const gufo_signature_result *result)
{
    char own[17], other[17];

    gufo_signature_key_id_text(key->id, own);
    gufo_signature_key_id_text(result->key_id, other);
    switch (result->verdict) {
    case GUFO_SIGNATURE_GOOD:
        return CODE_OK;
    case GUFO_SIGNATURE_OTHER_KEY:
        return report_as(CODE_NO, signature_path,
                         "this signature was made with key %s, not with %s", other, own);
    case GUFO_SIGNATURE_BAD_COMMENT:
        return report_as(CODE_NO, signature_path, "the trusted comment is not what was signed");
    default:
        return report_as(CODE_NO, path, "this is not what was signed in %s", signature_path);
    }
}

static int check_parts(const char *path, gufo_str message, const verify_options *options,
                       const char *signature_path, signed_text *s)
{
    gufo_str key_text;
    gufo_public_key key;
    gufo_error error;

    if (small_file_read(options->key, HASH_MOST_KEY, HASH_TOO_LONG, &key_text) != CODE_OK)
        return CODE_FAILED;
    gufo_status status = gufo_public_key_parse(key_text, &key, &error);

    small_file_free(&key_text);
    if (status != GUFO_OK)
        return report_error(options->key, &error);
    if ((options->signature != NULL ? small_file_read : small_file_read_beside)(
            signature_path, HASH_MOST_KEY, HASH_TOO_LONG, &s->text) != CODE_OK)
        return CODE_FAILED;
    if (gufo_signature_check(&key, message, s->text, &s->result, &error) != GUFO_OK)
        return report_error(signature_path, &error);
    s->checked = true;
    return report_verdict(path, signature_path, &key, &s->result);
}

int verify_signature(const char *path, gufo_str message, const verify_options *options,
                     signed_text *s)
{
    bool is_given = options->signature != NULL;
    char *signature_path;
    int code = hash_check_signatures();

    if (code != CODE_OK)
        return code;
    if (!is_given && path_is_standard(path))
        return report_usage("a manifest from standard input needs --signature");
    signature_path = path_with(is_given ? options->signature : path, is_given ? "" : ".minisig");
    code = signature_path != NULL ? check_parts(path, message, options, signature_path, s)
                                  : CODE_FAILED;
    free(signature_path);
    return code;
}

void verify_put_signature(const char *path, const signed_text *s)
{
    gufo_str comment = s->result.trusted_comment;
    char id[17];

    gufo_signature_key_id_text(s->result.key_id, id);
    text_print("%s: good signature of key %s: %.*s\n", path, id, (int)comment.len, comment.data);
}

void verify_write_signature(json_writer *j, const signed_text *s)
{
    char id[17];

    gufo_signature_key_id_text(s->result.key_id, id);
    json_begin_object(j, "signature");
    json_write_text(j, "verdict", verdict_names[s->result.verdict]);
    json_write_text(j, "key", id);
    if (s->result.verdict == GUFO_SIGNATURE_GOOD)
        json_write_str(j, "trusted_comment", s->result.trusted_comment);
    json_end_object(j);
}

/* The files that a manifest names, each once, in the order of its lines.
 *
 * A line about tensor data names FILE or FILE:TENSOR, and both may have colons: FILE is the longest
 * part that exists.  Lines about one file mostly follow each other. */

enum { LONGEST_PATH = 4096 };

static bool is_there(gufo_str name)
{
    char path[LONGEST_PATH];
    struct stat info;

    if (name.len == 0 || name.len >= sizeof path || memchr(name.data, '\0', name.len) != NULL)
        return false;
    memcpy(path, name.data, name.len);
    path[name.len] = '\0';
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Whether a line is about a tensor of that file. */
static bool is_tensor_of(gufo_str name, gufo_str file)
{
    return name.len > file.len && name.data[file.len] == ':' &&
           memcmp(name.data, file.data, file.len) == 0;
}

/* What is before the first colon if no part is there. */
static gufo_str file_of(gufo_str name)
{
    const char *colon = memchr(name.data, ':', name.len);
    gufo_str first = {name.data, colon != NULL ? (size_t)(colon - name.data) : name.len};

    for (gufo_str file = name; file.len > first.len; file.len--)
        if ((file.len == name.len || name.data[file.len] == ':') && is_there(file))
            return file;
    return first;
}

static bool add(verify_names *names, gufo_str name, bool has_data)
{
    verify_name *added = array_add(&names->list, &names->count, sizeof *added);

    if (added != NULL)
        *added = (verify_name){name, has_data, names->count};
    return added != NULL;
}

static bool collect(const gufo_manifest *manifest, verify_names *names)
{
    gufo_manifest_line entry;
    gufo_str last = {NULL, 0};

    for (uint64_t i = 0; gufo_manifest_file_at(manifest, i, &entry); i++)
        if (!add(names, entry.name, false))
            return false;
    for (uint64_t i = 0; gufo_manifest_at(manifest, i, &entry); i++) {
        if (last.data != NULL &&
            (gufo_str_equal(entry.name, last) || is_tensor_of(entry.name, last)))
            continue;
        last = file_of(entry.name);
        if (!add(names, last, true))
            return false;
    }
    return true;
}

static int compare_names(const void *a, const void *b)
{
    const verify_name *x = a, *y = b;
    size_t len = x->name.len < y->name.len ? x->name.len : y->name.len;
    int order = len > 0 ? memcmp(x->name.data, y->name.data, len) : 0;

    if (order == 0)
        order = (x->name.len > y->name.len) - (x->name.len < y->name.len);
    if (order == 0)
        order = x->has_data - y->has_data;
    return order != 0 ? order : (x->order > y->order) - (x->order < y->order);
}

static int compare_lines(const void *a, const void *b)
{
    const verify_name *x = a, *y = b;

    return (x->order > y->order) - (x->order < y->order);
}

int verify_names_of(const gufo_manifest *manifest, verify_names *names)
{
    size_t kept = 0;

    *names = (verify_names){0};
    if (!collect(manifest, names))
        return CODE_FAILED;
    if (names->count == 0)
        return CODE_OK;
    qsort(names->list, names->count, sizeof *names->list, compare_names);
    for (size_t i = 0; i < names->count; i++)
        if (kept == 0 || names->list[i].has_data != names->list[kept - 1].has_data ||
            !gufo_str_equal(names->list[i].name, names->list[kept - 1].name))
            names->list[kept++] = names->list[i];
    names->count = kept;
    qsort(names->list, names->count, sizeof *names->list, compare_lines);
    return CODE_OK;
}

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
