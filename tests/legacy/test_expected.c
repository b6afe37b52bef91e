/* Files of before GGUF, and what independent programs made of them: every *.expected.json of the
 * shared folder (its README says what is in them).  Damaged files, too. */
#include "../support/json.h"
#include "../support/pace.h"
#include "../support/shared.h"
#include "../import/expected_values.h"

#include "base/bytes.h"
#include "codec/half.h"
#include "gufo/digest.h"
#include "gufo/import.h"

#include <dirent.h>
#include <math.h>
#include <strings.h>

/* ---- one file ------------------------------------------------------------------------------- */

typedef struct subject {
    const char *file; /* its name: the label of every check */
    char path[512];
    json_document expected;
    const json_value *gguf;
    gufo_document *known;
    const gufo_model *exact; /* with all old blocks as F32 */
} subject;

/* What the expected results assume, which the file does not say. */
static const struct assumption {
    const char *name, *key;
    bool real;
} assumptions[] = {
    {"context_length", "context_length", false},
    {"rms_eps", "attention.layer_norm_rms_epsilon", true},
    {"layer_norm_eps", "attention.layer_norm_epsilon", true},
    {"alibi_bias_max", "attention.max_alibi_bias", true},
};

static void set_known(subject *s)
{
    const json_value *assumed = json_at(s->gguf, "assumed_not_in_file");
    const json_value *metadata = json_at(s->gguf, "metadata");
    const json_value *architecture =
        json_find(json_find(metadata, "general.architecture"), "value");
    gufo_error error = no_error();

    s->known = gufo_document_new(NULL, &error);
    check(s->known != NULL, "%s: %s", s->file, error.message);
    for (size_t i = 0; i < COUNT_OF(assumptions); i++) {
        const json_value *value = json_find(assumed, assumptions[i].name);
        char key[128];

        if (value == NULL || architecture == NULL)
            continue;
        (void)snprintf(key, sizeof key, "%.*s.%s", TEXT(architecture->text), assumptions[i].key);
        check_ok(assumptions[i].real
                     ? gufo_document_set_f32(s->known, key, (float)json_number(value), &error)
                     : gufo_document_set_u32(s->known, key, (uint32_t)json_number(value), &error),
                 &error, "%s", s->file);
    }
}

static gufo_import *open_subject(const subject *s, gufo_legacy_keep keep)
{
    gufo_legacy_options options = {.flags = GUFO_LEGACY_MEASURE, .keep = keep, .known = s->known};
    gufo_error error = no_error();
    gufo_import *import = gufo_import_legacy(s->path, &options, &error);

    check(import != NULL, "%s: %s (byte %" PRIu64 ")", s->file, error.message, error.offset);
    return import;
}

/* ---- facts ---------------------------------------------------------------------------------- */

/* "gpt-2" is "gpt2". */
static bool same_family(const char *got, gufo_str expected)
{
    size_t i = 0;

    for (; *got != 0; got++)
        if (*got != '-' && (i == expected.len || *got != expected.data[i++]))
            return false;
    return i == expected.len;
}

static bool has_blocks(const subject *s)
{
    for (const json_value *t = json_at(s->expected.root, "source_tensors")->inside; t != NULL;
         t = t->next)
        if (json_at(t, "type")->text.data[0] == 'Q')
            return true;
    return false;
}

static void check_facts(const subject *s, const gufo_import *import)
{
    gufo_import_facts facts = gufo_import_describe(import);
    const json_value *container = json_at(s->expected.root, "container");
    const json_value *version = json_at(container, "version"),
                     *files = json_find(s->expected.root, "files");
    const json_value *vocabulary = json_find(s->expected.root, "vocab");
    gufo_str magic = json_at(container, "magic_ascii_be")->text;

    check(same_family(facts.family, json_at(s->expected.root, "family")->text), "%s: family %s",
          s->file, facts.family);
    check(strncasecmp(facts.container, magic.data, magic.len) == 0, "%s: container %s", s->file,
          facts.container);
    check_u64(facts.version, version->kind == JSON_NULL ? 0 : (uint64_t)json_number(version), "%s",
              s->file);
    check_u64(facts.parts, files == NULL ? 1 : json_count(files), "%s", s->file);
    if (has_blocks(s)) /* other files have no need of one */
        check_u64(facts.generation,
                  (uint64_t)json_number(json_at(s->expected.root, "quantization_generation")), "%s",
                  s->file);
    /* Whisper's file names some of its tokens. */
    if (vocabulary != NULL && strcmp(facts.family, "whisper") != 0)
        check_u64(facts.vocabulary, (uint64_t)json_number(json_at(vocabulary, "count")), "%s",
                  s->file);
    for (uint32_t i = 0; i < facts.parts; i++)
        check(gufo_import_part_at(import, i) != NULL, "%s: part %u", s->file, (unsigned)i);
    check(gufo_import_part_at(import, facts.parts) == NULL, "%s: one part more", s->file);
}

/* ---- metadata ------------------------------------------------------------------------------- */

/* The file type says what was written: another one if blocks were decoded.  Those of retired blocks
 * (null) become the one of the tensors: F32, F16, or Q4_1 where some are in F16. */
static void check_file_type(const subject *s, const gufo_entry *entry, const json_value *expected,
                            gufo_legacy_keep keep)
{
    uint64_t type = entry->value.as.u;

    if (keep == GUFO_LEGACY_NEAREST && expected->kind == JSON_NUMBER)
        check_u64(type, (uint64_t)json_number(expected), "%s", s->file);
    else if (keep == GUFO_LEGACY_NEAREST)
        check(type == 0 || type == 1 || type == 3, "%s: file type %" PRIu64, s->file, type);
    else if (has_blocks(s))
        check(type == 0 || type == 1, "%s: file type %" PRIu64 " without blocks", s->file, type);
}

static void check_metadata(const subject *s, const gufo_model *model, gufo_legacy_keep keep)
{
    for (const json_value *v = json_at(s->gguf, "metadata")->inside; v != NULL; v = v->next) {
        gufo_entry entry;

        check(gufo_model_find_str(model, v->name, &entry), "%s: %.*s is missing", s->file,
              TEXT(v->name));
        check_type(s->file, &entry, json_at(v, "type")->text);
        if (gufo_str_equal(v->name, gufo_str_of("general.file_type")))
            check_file_type(s, &entry, json_at(v, "value"), keep);
        else
            check_value(s->file, &entry, json_at(v, "value"));
    }
}

/* Merges that the file has, or those that follow from its tokens: their count; and a hash, or the
 * first few as pairs of hexadecimal texts. */
static void check_merges(const subject *s, const gufo_model *model)
{
    const json_value *found = json_find(s->expected.root, "reconstructable_merges");
    const json_value *stored = json_find(s->expected.root, "bpe_merges"), *pair;
    gufo_entry entry;
    gufo_value value;
    char hex[256];
    uint64_t index = 0;
    gufo_error error = no_error();

    if (found == NULL && stored == NULL)
        return;
    check(gufo_model_find(model, "tokenizer.ggml.merges", &entry), "%s has merges", s->file);
    if (found != NULL) {
        check_array(s->file, &entry, found);
        return;
    }
    check_u64(entry.value.as.array.count, (uint64_t)json_number(json_at(stored, "count")), "%s",
              s->file);
    for (pair = json_at(stored, "first")->inside; pair != NULL; pair = pair->next, index++) {
        (void)snprintf(hex, sizeof hex, "%.*s20%.*s", TEXT(pair->inside->text),
                       TEXT(pair->inside->next->text));
        check_ok(gufo_array_at(&entry.value.as.array, index, &value, &error), &error, "%s",
                 s->file);
        check_hex(value.as.str, gufo_str_of(hex), s->file, &entry);
    }
}

/* ---- tensors -------------------------------------------------------------------------------- */

static void check_shape(const char *file, const gufo_tensor *got, const json_value *expected)
{
    uint32_t n = 0;

    for (const json_value *v = json_at(expected, "ne")->inside; v != NULL; v = v->next, n++)
        check_u64(got->dims[n], (uint64_t)json_number(v), "%s: %.*s, dimension %u", file,
                  TEXT(got->name), (unsigned)n);
    check_u64(got->n_dims, n, "%s: %.*s", file, TEXT(got->name));
}

/* What the tensor should have become: the first option, or with another `keep` the one of that
 * type.  NULL: an option that is not listed. */
static const json_value *expected_option(const json_value *expected, gufo_legacy_keep keep,
                                         bool blocks)
{
    const char *wanted = keep == GUFO_LEGACY_F16 ? "F16" : "F32";
    const json_value *option = json_at(expected, "options")->inside;

    while (option != NULL && keep != GUFO_LEGACY_NEAREST && blocks &&
           !json_is(json_at(option, "type"), wanted))
        option = option->next;
    return option;
}

static uint64_t rows_of(const gufo_tensor *tensor)
{
    return tensor->elements / tensor->dims[0];
}

static void check_data(const char *file, const gufo_model *model, const gufo_tensor *tensor,
                       const json_value *option)
{
    size_t size = (size_t)tensor->size;
    uint8_t *bytes = malloc(size + 1);
    gufo_error error = no_error();

    check_u64(size, (uint64_t)json_number(json_at(option, "nbytes")), "%s: %.*s", file,
              TEXT(tensor->name));
    check_ok(gufo_tensor_read_raw(model, tensor, 0, bytes, size, &error), &error, "%s: %.*s", file,
             TEXT(tensor->name));
    check_hash(bytes, size, json_at(option, "sha256"), file, tensor->name);
    free(bytes);
}

static float *all_numbers(const char *file, const gufo_model *model, const gufo_tensor *tensor)
{
    float *numbers = malloc((size_t)tensor->elements * sizeof *numbers + 1);
    gufo_error error = no_error();

    check(numbers != NULL, "memory");
    check_ok(gufo_tensor_decode(model, tensor, 0, rows_of(tensor), numbers, NULL, &error), &error,
             "%s: %.*s", file, TEXT(tensor->name));
    return numbers;
}

/* What was measured is what the numbers differ by. */
static void check_loss(const subject *s, const gufo_model *model, const gufo_tensor *tensor,
                       const gufo_import_tensor *got)
{
    gufo_tensor exact;
    double worst = 0;

    check(gufo_model_tensor_find_str(s->exact, tensor->name, &exact), "%s: %.*s", s->file,
          TEXT(tensor->name));
    float *a = all_numbers(s->file, model, tensor), *b = all_numbers(s->file, s->exact, &exact);
    for (uint64_t i = 0; i < tensor->elements; i++)
        worst = fmax(worst, fabs((double)a[i] - (double)b[i]));
    check(got->measured && got->exact == (worst == 0) &&
              fabs(got->max_abs_err - worst) <= 1e-6 * worst,
          "%s: %.*s as %s: measured %d, exact %d, error %g; it is %g", s->file, TEXT(tensor->name),
          got->to->name, got->measured, got->exact, got->max_abs_err, worst);
    free(a);
    free(b);
}

static void check_option(const subject *s, const gufo_model *model, const gufo_tensor *tensor,
                         const gufo_import_tensor *got, const json_value *option)
{
    const json_value *error = json_find(option, "max_abs_err");
    double expected = error == NULL ? 0 : json_number(error);

    check_view(gufo_str_of(got->to->name), json_at(option, "type")->text, "%s: the type of %.*s",
               s->file, TEXT(got->name));
    check_data(s->file, model, tensor, option);
    check(got->exact == (json_at(option, "exact")->kind == JSON_TRUE), "%s: %.*s: exact is %d",
          s->file, TEXT(got->name), got->exact);
    check(fabs(got->max_abs_err - expected) <= 1e-6 * expected, "%s: %.*s: error %g, expected %g",
          s->file, TEXT(got->name), got->max_abs_err, expected);
}

/* Old blocks whose numbers only a wider type holds. */
static bool was_in_blocks(const subject *s, gufo_str source)
{
    for (const json_value *t = json_at(s->expected.root, "source_tensors")->inside; t != NULL;
         t = t->next)
        if (gufo_str_equal(json_at(t, "name")->text, source))
            return json_at(t, "type")->text.data[0] == 'Q';
    return false;
}

static const json_value *find_expected(const subject *s, gufo_str name)
{
    for (const json_value *t = json_at(s->gguf, "tensors")->inside; t != NULL; t = t->next)
        if (gufo_str_equal(json_at(t, "name")->text, name))
            return t;
    return NULL;
}

static void check_tensor(const subject *s, const gufo_model *model, const gufo_import_tensor *got,
                         gufo_legacy_keep keep)
{
    const json_value *expected = find_expected(s, got->name);
    gufo_tensor tensor;

    check(expected != NULL, "%s: %.*s is not expected", s->file, TEXT(got->name));
    check(gufo_model_tensor_find_str(model, got->name, &tensor), "%s: %.*s", s->file,
          TEXT(got->name));
    check_u64(tensor.type, got->to->id, "%s: %.*s", s->file, TEXT(got->name));
    check_view(got->source, json_at(expected, "source")->text, "%s: the source of %.*s", s->file,
               TEXT(got->name));
    check_shape(s->file, &tensor, expected);
    bool blocks = was_in_blocks(s, got->source);
    const json_value *option = expected_option(expected, keep, blocks);
    if (option != NULL)
        check_option(s, model, &tensor, got, option);
    check(option != NULL || strcmp(got->to->name, keep == GUFO_LEGACY_F32 ? "F32" : "F16") == 0,
          "%s: %.*s became %s", s->file, TEXT(got->name), got->to->name);
    check_loss(s, model, &tensor, got);
}

/* Filters of Whisper are not a tensor in its file, but are one in ours. */
static bool is_extra(gufo_str name)
{
    return gufo_str_equal(name, gufo_str_of("mel_filters"));
}

static void check_tensors(const subject *s, const gufo_import *import, gufo_legacy_keep keep)
{
    const gufo_model *model = gufo_import_model(import);
    gufo_import_tensor got;
    uint64_t index = 0, extra = 0;

    for (; gufo_import_tensor_at(import, index, &got); index++) {
        extra += is_extra(got.name);
        if (!is_extra(got.name))
            check_tensor(s, model, &got, keep);
    }
    check_u64(index, gufo_model_tensor_count(model), "%s: tensors", s->file);
    check_u64(index - extra, json_count(json_at(s->gguf, "tensors")), "%s: tensors", s->file);
}

static void check_mel_filters(const subject *s, const gufo_model *model)
{
    const json_value *expected = json_find(s->expected.root, "mel_filters");
    gufo_tensor tensor;
    size_t len;

    if (expected == NULL)
        return;
    check(gufo_model_tensor_find(model, "mel_filters", &tensor), "%s", s->file);
    check_u64(tensor.type, GUFO_TYPE_F32, "%s", s->file);
    check_u64(tensor.dims[0], (uint64_t)json_number(json_at(expected, "n_fft")), "%s", s->file);
    check_u64(tensor.dims[1], (uint64_t)json_number(json_at(expected, "n_mel")), "%s", s->file);
    uint8_t *bytes = read_file(s->path, &len), *filters = malloc((size_t)tensor.size);
    gufo_error error = no_error();
    check_ok(gufo_tensor_read_raw(model, &tensor, 0, filters, (size_t)tensor.size, &error), &error,
             "%s", s->file);
    check(memcmp(filters, bytes + (size_t)json_number(json_at(expected, "offset")),
                 (size_t)tensor.size) == 0,
          "%s: mel_filters", s->file);
    free(filters);
    free(bytes);
}

/* ---- numbers in files beside it ------------------------------------------------------------- */

/* Some tensors as their first rows, or all, in floats. */
static void check_numbers(const subject *s, const char *place)
{
    for (const json_value *v = json_at(s->expected.root, "f32")->inside; v != NULL; v = v->next) {
        gufo_str file = json_at(v, "file")->text, name = json_at(v, "tensor")->text;
        const json_value *rows = json_find(v, "rows");
        uint64_t first = rows == NULL ? 0 : (uint64_t)json_number(rows->inside);
        char text[256];
        gufo_tensor tensor;
        gufo_error error = no_error();
        size_t len;

        (void)snprintf(text, sizeof text, "%.*s", TEXT(file));
        check(gufo_model_tensor_find_str(s->exact, name, &tensor), "%s: %s", s->file, text);
        uint64_t count =
            rows == NULL ? rows_of(&tensor) : (uint64_t)json_number(rows->inside->next) - first;
        uint8_t *expected = read_file(path_join(place, text).text, &len);
        check(expected != NULL, "%s", text);
        check_u64(len, count * tensor.dims[0] * sizeof(float), "%s", text);
        float *numbers = malloc(len);
        check_ok(gufo_tensor_decode(s->exact, &tensor, first, count, numbers, NULL, &error), &error,
                 "%s", text);
        copy_numbers(numbers, numbers, len / sizeof *numbers, sizeof *numbers, HOST_IS_BIG_ENDIAN);
        check(memcmp(numbers, expected, len) == 0, "%s", text);
        free(numbers);
        free(expected);
    }
}

/* ---- assumed values -------------------------------------------------------------------------- */

/* The file names every setting that is assumed, and nothing else. */
static void check_assumed(const subject *s, const gufo_import *import)
{
    gufo_import_setting setting;
    gufo_array_iter iter;
    gufo_value name;
    gufo_entry list;
    uint64_t named = 0, count = 0;

    for (uint64_t i = 0; gufo_import_setting_at(import, i, &setting); i++)
        count += setting.origin == GUFO_SETTING_ASSUMED;
    if (gufo_model_find(gufo_import_model(import), "gufo.assumed", &list)) {
        named = list.value.as.array.count;
        iter = gufo_array_start(&list.value.as.array);
    }
    check_u64(named, count, "%s: assumed", s->file);
    for (uint64_t i = 0; count > 0 && gufo_import_setting_at(import, i, &setting); i++)
        if (setting.origin == GUFO_SETTING_ASSUMED) {
            check(gufo_array_next(&iter, &name), "%s: assumed", s->file);
            check_view(name.as.str, setting.key, "%s: assumed", s->file);
        }
}

/* ---- all files of a folder ------------------------------------------------------------------ */

static void check_file_as(const subject *s, gufo_legacy_keep keep)
{
    gufo_import *import = open_subject(s, keep);

    check_metadata(s, gufo_import_model(import), keep);
    check_assumed(s, import);
    check_tensors(s, import, keep);
    check_mel_filters(s, gufo_import_model(import));
    check_merges(s, gufo_import_model(import));
    gufo_import_free(import);
}

static void check_result(const char *place, const char *name, size_t stem)
{
    subject s = {.expected = json_load(path_join(place, name).text)};
    char file[256];

    (void)snprintf(file, sizeof file, "%.*s.bin", (int)stem, name);
    (void)snprintf(s.path, sizeof s.path, "%s", path_join(place, file).text);
    s.file = file;
    s.gguf = json_at(s.expected.root, "gguf");
    set_known(&s);
    gufo_import *exact = open_subject(&s, GUFO_LEGACY_F32);
    s.exact = gufo_import_model(exact);
    check_facts(&s, exact);
    check_numbers(&s, place);
    int last = (int)all_or_few(GUFO_LEGACY_F32, GUFO_LEGACY_NEAREST);
    for (int keep = GUFO_LEGACY_NEAREST; keep <= last; keep++)
        check_file_as(&s, (gufo_legacy_keep)keep);
    gufo_import_free(exact);
    gufo_document_free(s.known);
    json_unload(&s.expected);
}

static void check_folder(const char *shared_name)
{
    path_text place = need_shared(shared_name);
    static const char end[] = ".expected.json";
    DIR *directory = opendir(place.text);
    size_t files = 0;

    check(directory != NULL, "%s", place.text);
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        size_t len = strlen(entry->d_name);

        if (len < sizeof end || strcmp(entry->d_name + len - (sizeof end - 1), end) != 0 ||
            strstr(entry->d_name, "silero") != NULL) /* which is no language model */
            continue;
        check_result(place.text, entry->d_name, len - (sizeof end - 1));
        files++;
    }
    (void)closedir(directory);
    check(files > 0, "%s has expected results", place.text);
}

static void test_llama_in_every_container(void **state)
{
    (void)state;
    check_folder("data/convert/legacy/llama");
}

static void test_other_families(void **state)
{
    (void)state;
    check_folder("data/convert/legacy/families");
}

static void test_rwkv_blocks(void **state)
{
    (void)state;
    check_folder("data/convert/legacy/rwkv-synthetic");
}

static void test_real_files(void **state)
{
    (void)state;
    check_folder("data/convert/legacy/real");
}

/* Keys that no expected result lists, of real models. */
static void test_rwkv_keys(void **state)
{
    static const struct row {
        const char *file;
        uint64_t width, version;
    } rows[] = {{"data/convert/legacy/real/tiny-rwkv-4v0-660K-FP16.bin", 256, 4},
                {"data/convert/legacy/real/tiny-rwkv-5v1-730K-Q5_0.bin", 256, 5}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        path_text path = need_shared(rows[i].file);
        gufo_error error = no_error();
        gufo_import *import = gufo_import_legacy(path.text, NULL, &error);
        const gufo_model *model;
        uint64_t width = 0, version = 0;

        check(import != NULL, "%s: %s", rows[i].file, error.message);
        model = gufo_import_model(import);
        (void)gufo_model_get_u64(model, "rwkv.feed_forward_length", &width, NULL);
        (void)gufo_model_get_u64(model, "rwkv.architecture_version", &version, NULL);
        check_u64(width, rows[i].width, "%s: width", rows[i].file);
        check_u64(version, rows[i].version, "%s: version", rows[i].file);
        gufo_import_free(import);
    }
}

/* ---- damaged files -------------------------------------------------------------------------- */

#define STATUS(code) (1u << GUFO_E_##code)
/* What is wrong with the bytes at a place. */
#define WRONG                                                                               \
    (STATUS(MALFORMED) | STATUS(TRUNCATED) | STATUS(RANGE) | STATUS(LIMIT) | STATUS(TYPE) | \
     STATUS(VERSION))

/* Those that need another status than most; the rest is WRONG, and has a place. */
static const struct bad_status {
    const char *name; /* or how it begins */
    unsigned statuses;
    bool nowhere; /* nothing is wrong at any byte */
} bad_statuses[] = {
    {"empty", STATUS(TRUNCATED) | STATUS(NOT_GGUF) | STATUS(TYPE), true},
    {"three-bytes", STATUS(TRUNCATED) | STATUS(NOT_GGUF) | STATUS(TYPE), true},
    {"truncated-", STATUS(TRUNCATED), false},
    {"magic-only", STATUS(TRUNCATED), false},
    {"wrong-magic", STATUS(NOT_GGUF) | STATUS(TYPE) | STATUS(MALFORMED), true},
    {"byteswapped-magic", STATUS(NOT_GGUF) | STATUS(TYPE) | STATUS(MALFORMED), true},
    {"already-gguf", STATUS(ARGUMENT), true},
    {"lora-ggla", WRONG, false},
    {"session-ggsn", STATUS(TYPE), true},
    {"ggjt-v", STATUS(VERSION) | STATUS(TYPE) | STATUS(MALFORMED), true},
    {"ggmf-v", STATUS(VERSION) | STATUS(TYPE) | STATUS(MALFORMED), true},
    {"rwkv-v", STATUS(VERSION) | STATUS(TYPE) | STATUS(MALFORMED), true},
    {"missing-tensors", WRONG, true},
    {"part-missing", WRONG | STATUS(IO) | STATUS(SHARDS) | STATUS(NOT_FOUND), true},
    {"part-mismatch", WRONG | STATUS(SHARDS), true},
};

static struct bad_status bad_status_of(gufo_str name)
{
    for (size_t i = 0; i < COUNT_OF(bad_statuses); i++)
        if (strncmp(bad_statuses[i].name, name.data, strlen(bad_statuses[i].name)) == 0)
            return bad_statuses[i];
    return (struct bad_status){.statuses = WRONG};
}

static void check_refused(const char *path, gufo_str name)
{
    struct bad_status expected = bad_status_of(name);
    gufo_error error = no_error();

    check(gufo_import_legacy(path, NULL, &error) == NULL, "%s", path);
    check((expected.statuses >> error.code & 1) != 0, "%.*s: %s (%d)", TEXT(name), error.message,
          (int)error.code);
    check_error_shape(&error, error.code, path);
    check(expected.nowhere || error.offset != GUFO_NO_OFFSET, "%.*s: %s has no place", TEXT(name),
          error.message);
}

/* "must_succeed"; "fail_or_warn". */
static void check_taken(const char *path, gufo_str name, bool may_fail)
{
    gufo_error error = no_error();
    gufo_import *import = gufo_import_legacy(path, NULL, &error);

    if (may_fail && import == NULL) {
        check_refused(path, name);
        return;
    }
    check(import != NULL, "%.*s: %s", TEXT(name), error.message);
    check(!may_fail || gufo_import_warning_at(import, 0) != NULL, "%.*s: no warning", TEXT(name));
    gufo_import_free(import);
}

static void test_damaged_files(void **state)
{
    path_text place = need_shared("data/convert/legacy/bad");
    json_document expected = json_load(path_join(place.text, "expected.json").text);

    (void)state;
    for (const json_value *v = expected.root->inside; v != NULL; v = v->next) {
        gufo_str name = json_at(v, "file")->text;
        char text[256];

        (void)snprintf(text, sizeof text, "%.*s", TEXT(name));
        path_text path = path_join(place.text, text);
        if (json_is(json_at(v, "expect"), "must_fail"))
            check_refused(path.text, gufo_str_of(text));
        else
            check_taken(path.text, gufo_str_of(text),
                        json_is(json_at(v, "expect"), "fail_or_warn"));
    }
    json_unload(&expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_llama_in_every_container),
        cmocka_unit_test(test_other_families),
        cmocka_unit_test(test_rwkv_blocks),
        cmocka_unit_test(test_real_files),
        cmocka_unit_test(test_rwkv_keys),
        cmocka_unit_test(test_damaged_files),
    };

    if (!gufo_digest_available(GUFO_DIGEST_SHA256))
        print_message("this build has no SHA-256: hashes are not compared\n");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
