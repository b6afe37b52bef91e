/* Fuzz target: whatever opens is edited, split, merged, swapped, stripped, extracted and quantized,
 * and an interrupted run goes on with a damaged journal.  Each result is read again and compared;
 * nothing else is left in the folder, and no descriptor open.
 *
 * What is done, and in which way, follows from a hash of the content: every file is a seed, each of
 * its damaged forms is worked on in another way, and a failure can be repeated.  For a resumed run
 * the content is a list of damages: pairs of place and value. */
#include "place.h"
#include "walk.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ---------------------------------------------------------------------------------- */

/* A whole file: to be freed. */
static uint8_t *take(const char *name, size_t *size)
{
    int fd = open(place_file(name).text, O_RDONLY);
    struct stat info;
    uint8_t *bytes;

    must(fd >= 0 && fstat(fd, &info) == 0, "what was written is there");
    *size = (size_t)info.st_size;
    bytes = malloc(*size + 1);
    must(bytes != NULL && read(fd, bytes, *size) == (ssize_t)*size, "and can be read");
    (void)close(fd);
    return bytes;
}

/* The lowest descriptor that is free: as high as before if none was forgotten. */
static int free_descriptor(void)
{
    int fd = open("/dev/null", O_RDONLY);

    (void)close(fd);
    return fd;
}

/* ---- comparing ------------------------------------------------------------------------------ */

static gufo_model *open_result(const char *name)
{
    gufo_error error;
    gufo_model *model = gufo_model_open(place_file(name).text, NULL, &error);

    if (model == NULL)
        fprintf(stderr, "%s: %s\n", error.file, error.message);
    must(model != NULL, "what was written opens");
    return model;
}

/* The same model, whatever its files are like. */
static void must_equal(const gufo_model *a, const gufo_model *b, const char *promise)
{
    gufo_comparison result;
    gufo_error error;

    must(gufo_compare(a, b, NULL, NULL, &result, &error) == GUFO_OK, "models can be compared");
    must(result.same, promise);
}

static void same_bytes(const char *a, const char *b, const char *promise)
{
    size_t size_a, size_b;
    uint8_t *bytes_a = take(a, &size_a), *bytes_b = take(b, &size_b);

    must(size_a == size_b && memcmp(bytes_a, bytes_b, size_a) == 0, promise);
    free(bytes_a);
    free(bytes_b);
}

/* ---- what is done --------------------------------------------------------------------------- */

typedef struct scene {
    const gufo_model *model; /* "in.gguf", which stays as it is unless it is edited */
    const uint8_t *data;
    size_t size;
    unsigned way;
} scene;

/* Runs a job to `name`; false if it may be refused and was. */
static bool run_to(gufo_job *job, const char *name, unsigned threads)
{
    path_text path = place_file(name);
    const gufo_job_options options = {.path = path.text, .flags = GUFO_JOB_REPLACE};
    const gufo_run run = {.threads = threads};
    gufo_error error;

    if (job == NULL)
        return false;
    if (gufo_job_run(job, &options, &run, &error) != GUFO_OK) {
        fprintf(stderr, "%s: %s\n", error.file, error.message);
        broken("what was planned can be written");
    }
    gufo_job_free(job);
    return true;
}

/* An edit in one of the ways, and the same changes to a document. */
static void change(gufo_document *document, const scene *s)
{
    const char text[2] = {(char)('a' + s->way % 26), '\0'};

    (void)gufo_document_set_text(document, "general.name", text, NULL);
    if (s->way & 1)
        (void)gufo_document_set_u32(document, "fuzz.number", s->way, NULL);
    if (s->way & 2)
        gufo_document_remove_prefix(document, "tokenizer.", NULL);
    if (s->way & 4)
        (void)gufo_document_rename(document, "general.name", "general.other", NULL);
}

static void compare_entries(const gufo_document *expected, const gufo_model *result)
{
    gufo_document_entry want;
    gufo_entry got;

    for (uint64_t i = 0; gufo_document_entry_at(expected, i, &want); i++)
        must(gufo_model_find_str(result, want.key, &got) && same_value(&want.value, &got.value),
             "an edit sets what was asked for");
    must(gufo_model_entry_count(result) - gufo_model_find(result, GUFO_PADDING_KEY, NULL) ==
             gufo_document_entry_count(expected),
         "and nothing else");
}

static void compare_data(const gufo_model *a, const gufo_model *b)
{
    gufo_tensor in_a, in_b;

    must(gufo_model_tensor_count(a) == gufo_model_tensor_count(b), "an edit keeps the tensors");
    for (uint64_t i = 0; gufo_model_tensor_at(a, i, &in_a); i++) {
        const void *bytes_a = gufo_tensor_raw(a, &in_a), *bytes_b;

        must(gufo_model_tensor_find_str(b, in_a.name, &in_b) && in_a.size == in_b.size,
             "with names");
        bytes_b = gufo_tensor_raw(b, &in_b);
        must(in_a.size == 0 || memcmp(bytes_a, bytes_b, (size_t)in_a.size) == 0, "and data");
    }
}

static int edit(const scene *s)
{
    static const gufo_edit_in_place places[] = {
        GUFO_EDIT_IN_PLACE_IF_SAFE, GUFO_EDIT_IN_PLACE_ALWAYS, GUFO_EDIT_IN_PLACE_NEVER};
    const gufo_edit_target target = {.in_place = places[s->way / 8 % 3], .reserve = s->way};
    gufo_document *expected = gufo_document_from(s->model, NULL, NULL);
    gufo_model *result;
    gufo_error error;
    gufo_edit *e;
    bool recover = false;

    place_put("edited.gguf", s->data, s->size);
    e = gufo_edit_open(place_file("edited.gguf").text, NULL, &error);
    must((e != NULL) == (expected != NULL), "what can be described can be edited");
    if (e == NULL)
        return 2;
    change(gufo_edit_document(e), s);
    change(expected, s);
    if (gufo_edit_apply(e, &target, NULL, NULL, &recover, &error) == GUFO_OK) {
        gufo_edit_free(e);
        result = open_result("edited.gguf");
        compare_entries(expected, result);
        compare_data(s->model, result);
        gufo_model_free(result);
    } else {
        must(!recover, "an edit that fails leaves the file as it was");
        gufo_edit_free(e);
        same_bytes("in.gguf", "edited.gguf", "a refused edit changes nothing");
    }
    gufo_document_free(expected);
    return 2;
}

/* The number of shards, 0 if there is none. */
static size_t split_into(const scene *s, path_text *first)
{
    const gufo_split_options options = {.max_tensors = 1 + s->way % 5,
                                        .metadata_alone = (s->way & 64) != 0};
    gufo_job *job = gufo_job_split(s->model, &options, NULL);
    size_t count = job != NULL ? gufo_job_output_count(job) : 0;

    (void)snprintf(first->text, sizeof first->text, "p-00001-of-%05zu.gguf", count);
    return run_to(job, "p", 1 + s->way % 3) ? count : 0;
}

static int split_and_merge(const scene *s)
{
    path_text first;
    size_t count = split_into(s, &first);
    gufo_model *set, *whole;

    if (count == 0)
        return 1;
    set = open_result(first.text);
    must_equal(s->model, set, "a split model is the same model");
    if (run_to(gufo_job_merge(set, NULL, NULL), "whole.gguf", 2)) {
        whole = open_result("whole.gguf");
        must_equal(s->model, whole, "and so is the merged one");
        gufo_model_free(whole);
        count++;
    }
    gufo_model_free(set);
    return 1 + (int)count;
}

static int swap(const scene *s)
{
    const gufo_endian_options options = {
        .order = gufo_model_facts(s->model).byte_order == GUFO_BIG_ENDIAN ? GUFO_LITTLE_ENDIAN
                                                                          : GUFO_BIG_ENDIAN};
    gufo_model *swapped;

    if (!run_to(gufo_job_endian(s->model, &options, NULL), "swapped.gguf", 2))
        return 1;
    swapped = open_result("swapped.gguf");
    must_equal(s->model, swapped, "the other byte order has the same numbers");
    gufo_model_free(swapped);
    return 2;
}

static int strip(const scene *s)
{
    const gufo_strip_options options = {.vocabulary_only = (s->way & 1) != 0};
    gufo_model *stripped;

    if (!run_to(gufo_job_strip(s->model, &options, NULL), "stripped.gguf", 1))
        return 1;
    stripped = open_result("stripped.gguf");
    must(gufo_model_tensor_count(stripped) == 0, "a stripped model has no tensors");
    gufo_model_free(stripped);
    return 2;
}

static int extract(const scene *s)
{
    static const gufo_extract_format formats[] = {GUFO_EXTRACT_RAW, GUFO_EXTRACT_NUMPY,
                                                  GUFO_EXTRACT_SAFETENSORS};
    static const uint32_t types[] = {UINT32_MAX, GUFO_TYPE_F32, GUFO_TYPE_F16};
    const gufo_extract_options options = {.format = formats[s->way % 3],
                                          .type = gufo_element_type_by_id(types[s->way / 3 % 3])};
    uint64_t index = s->way / 9;
    gufo_tensor tensor;
    uint8_t *bytes;
    size_t size;

    if (!gufo_model_tensor_at(s->model, index, &tensor) ||
        !run_to(gufo_job_extract(s->model, &index, 1, &options, NULL), "tensor", 2))
        return 1;
    bytes = take("tensor", &size);
    if (options.format == GUFO_EXTRACT_RAW && options.type == NULL)
        must(size == tensor.size &&
                 (size == 0 || memcmp(bytes, gufo_tensor_raw(s->model, &tensor), size) == 0),
             "raw bytes are those of the tensor");
    free(bytes);
    return 2;
}

static gufo_quantizer *plan_quantizing(const gufo_model *model, unsigned way)
{
    static const char *const names[] = {"Q8_0", "Q4_K_M", "Q4_0", "F16", "COPY"};
    gufo_quantize_options options = {.flags = GUFO_QUANTIZE_KEEP_NONFINITE,
                                     .recipe = {.allow_requantize = true}};

    must(gufo_quantize_target_by_name(names[way % 5], (way & 32) != 0, &options.recipe.target),
         "these are targets");
    return gufo_quantizer_new(model, &options, NULL);
}

/* To `name`, on so many threads; false if it is refused. */
static bool quantize_to(const scene *s, const char *name, unsigned threads)
{
    path_text path = place_file(name);
    const gufo_job_options options = {.path = path.text, .flags = GUFO_JOB_RESUMABLE};
    const gufo_run run = {.threads = threads};
    gufo_quantizer *q = plan_quantizing(s->model, s->way);
    bool done = q != NULL;

    if (done)
        must(gufo_job_run(gufo_quantizer_job(q), &options, &run, NULL) == GUFO_OK,
             "what was planned can be written");
    gufo_quantizer_free(q);
    return done;
}

static int quantize(const scene *s)
{
    gufo_model *result;

    if (!quantize_to(s, "one.gguf", 1))
        return 1;
    must(quantize_to(s, "two.gguf", 3), "what was planned once can be planned again");
    same_bytes("one.gguf", "two.gguf", "threads do not matter");
    result = open_result("one.gguf");
    must(gufo_model_tensor_count(result) == gufo_model_tensor_count(s->model),
         "quantizing keeps the tensors");
    gufo_model_free(result);
    return 3;
}

/* ---- a run that is resumed ------------------------------------------------------------------ */

static bool stop_after(void *context, uint64_t done, uint64_t total)
{
    int *left = context;

    (void)done, (void)total;
    return (*left)-- > 0;
}

static gufo_status run_part(const gufo_model *model, uint32_t flags, int units)
{
    path_text path = place_file("out.gguf");
    const gufo_job_options options = {.path = path.text, .flags = flags};
    const gufo_run run = {.threads = 1, .progress = stop_after, .progress_context = &units};
    gufo_quantizer *q = plan_quantizing(model, 0);
    gufo_status status;

    must(q != NULL, "the model of this target can be quantized");
    status = gufo_job_run(gufo_quantizer_job(q), &options, &run, NULL);
    gufo_quantizer_free(q);
    return status;
}

static void damage(const uint8_t *data, size_t size)
{
    size_t length;
    uint8_t *journal = take("out.gguf.part.journal", &length);

    for (size_t i = 0; i + 1 < size; i += 2)
        journal[data[i] % length] ^= data[i + 1];
    if (size % 2 == 1)
        length -= data[size - 1] % length;
    place_put("out.gguf.part.journal", journal, length);
    free(journal);
}

/* A model of a few tensors, made once. */
static void make_model(void)
{
    const uint64_t dims[] = {32, 4};
    float values[32 * 4];
    gufo_document *document = gufo_document_new(NULL, NULL);
    path_text path = place_file("in.gguf");
    const gufo_job_options options = {.path = path.text, .flags = GUFO_JOB_REPLACE};
    gufo_job *job;

    for (size_t i = 0; i < 32 * 4; i++)
        values[i] = (float)(i % 29) / 64 - 0.2f;
    (void)gufo_document_set_text(document, "general.architecture", "fuzz", NULL);
    for (char name[] = "a.weight"; name[0] <= 'd'; name[0]++)
        (void)gufo_document_add_tensor(document, name, gufo_element_type_by_id(GUFO_TYPE_F32), 2,
                                       dims, NULL);
    job = gufo_job_of_documents(&document, 1, NULL, NULL);
    must(job != NULL && gufo_job_open(job, &options, NULL) == GUFO_OK, "a model can be written");
    for (uint64_t i = 0; i < 4; i++)
        must(gufo_job_write(job, 0, i, 0, values, sizeof values, NULL) == GUFO_OK, "with data");
    must(gufo_job_finish(job, NULL, NULL) == GUFO_OK, "to its end");
    gufo_job_free(job);
    gufo_document_free(document);
}

static void resume(const uint8_t *data, size_t size, unsigned way)
{
    gufo_model *model;
    gufo_status status;

    make_model();
    model = open_result("in.gguf");
    must(run_part(model, GUFO_JOB_RESUMABLE, 100) == GUFO_OK &&
             rename(place_file("out.gguf").text, place_file("whole.gguf").text) == 0,
         "a run that is not stopped succeeds");
    must(run_part(model, GUFO_JOB_RESUMABLE, (int)(way % 4)) == GUFO_E_STOPPED,
         "a run can be stopped");
    damage(data, size);
    status = run_part(model, GUFO_JOB_RESUME, 100);
    if (status == GUFO_OK)
        same_bytes("out.gguf", "whole.gguf", "a resumed run makes the same file");
    else
        must(status == GUFO_E_ARGUMENT || status == GUFO_E_EXISTS,
             "a journal that is not ours is refused, and what lies without one is kept");
    gufo_model_free(model);
    (void)place_clear(NULL);
}

/* ---- the target ----------------------------------------------------------------------------- */

/* How many files must be in the folder afterwards. */
typedef int operation(const scene *s);

static void work(const uint8_t *data, size_t size, unsigned what, unsigned way)
{
    static operation *const operations[] = {edit, split_and_merge, swap, strip, extract, quantize};
    scene s = {.data = data, .size = size, .way = way};
    gufo_model *model;
    int files;

    place_put("in.gguf", data, size);
    model = gufo_model_open(place_file("in.gguf").text, NULL, NULL);
    s.model = model;
    if (model != NULL) {
        files = operations[what % (sizeof operations / sizeof *operations)](&s);
        must(place_clear(NULL) == files, "nothing else is left");
    }
    gufo_model_free(model);
    (void)place_clear(NULL);
}

enum { RESUMES = 0xf4 }; /* of `what`: from here on a run is resumed */

static uint64_t hash_of(const uint8_t *data, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* What does not open from memory does not open from a file either, and most damaged forms do not:
 * that is seen before there are files. */
static bool may_open(const uint8_t *data, size_t size)
{
    static const gufo_open_options any = {.flags = GUFO_OPEN_INCOMPLETE};
    static const uint8_t nothing[1];
    gufo_model *model = gufo_model_open_memory(size > 0 ? data : nothing, size, &any, NULL);

    gufo_model_free(model);
    return model != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t hash = hash_of(data, size);
    unsigned what = (unsigned)(hash >> 40 & 0xff), way = (unsigned)(hash >> 48 & 0xff);
    int descriptor;

    if (what < RESUMES && !may_open(data, size))
        return 0;
    (void)place_folder();
    descriptor = free_descriptor();
    if (what >= RESUMES)
        resume(data, size, way);
    else
        work(data, size, what, way);
    must(free_descriptor() == descriptor, "no descriptor stays open");
    must(place_clear(NULL) == 0, "no file stays behind");
    return 0;
}
