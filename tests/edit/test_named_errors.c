/* Every failure about a model names its file; a wrong argument is not blamed on one. */
#include "copies.h"

#include <fcntl.h>

enum { SHARDS = 3 };

/* in.gguf and its shards. */
typedef struct workshop {
    folder f;
    path_text in, prefix;
    gufo_model *model, *set;
} workshop;

static workshop begin(void)
{
    workshop w = {.f = folder_new()};
    const gufo_split_options options = {.max_tensors = 2};

    w.in = folder_path(&w.f, "in.gguf");
    w.prefix = folder_path(&w.f, "s");
    write_small_model(w.in.text);
    (void)copy_well(w.in.text, w.prefix.text, plan_split, (void *)&options, "split");
    w.model = open_path(w.in.text);
    w.set = gufo_model_open(shard_of(w.prefix.text, 1, SHARDS).text, NULL, NULL);
    check(w.set != NULL, "the set");
    return w;
}

static void end(workshop *w)
{
    gufo_model_free(w->set);
    gufo_model_free(w->model);
    folder_remove(&w->f);
}

typedef void call_fn(const workshop *w, gufo_error *error);

static void drop(gufo_job *job)
{
    check(job == NULL, "it is refused");
    gufo_job_free(job);
}

static void split_one_shard(const workshop *w, gufo_error *error)
{
    const gufo_open_options alone = {.flags = GUFO_OPEN_INCOMPLETE};
    const gufo_split_options options = {.max_tensors = 1};
    gufo_model *shard = gufo_model_open(shard_of(w->prefix.text, 2, SHARDS).text, &alone, error);

    drop(gufo_job_split(shard, &options, error));
    gufo_model_free(shard);
}

static void merge_a_file(const workshop *w, gufo_error *error)
{
    drop(gufo_job_merge(w->model, NULL, error));
}

static void swap_nothing(const workshop *w, gufo_error *error)
{
    drop(gufo_job_endian(w->model, NULL, error));
}

static void extract_nothing(const workshop *w, gufo_error *error)
{
    const uint64_t index = 1000;

    drop(gufo_job_extract(w->model, &index, 1, NULL, error));
}

static void copy_nothing(const workshop *w, gufo_error *error)
{
    gufo_document *document = gufo_document_new(NULL, error);

    check_status(gufo_document_copy_tensor(document, w->model, 1000, error), GUFO_E_RANGE, error,
                 "copy");
    gufo_document_free(document);
}

/* What comes after the first shard is found there. */
static void copy_twice(const workshop *w, gufo_error *error)
{
    gufo_document *document = gufo_document_from(w->set, NULL, error);
    uint64_t last = gufo_model_tensor_count(w->set) - 1;

    check(gufo_document_copy_tensor(document, w->set, last, error) != GUFO_OK, "twice");
    gufo_document_free(document);
}

static void prune_nothing(const workshop *w, gufo_error *error)
{
    const uint64_t layer = 99;
    const gufo_quantize_options options = {.pruned_layers = &layer, .pruned_count = 1};

    check(gufo_quantizer_new(w->model, &options, error) == NULL, "it is refused");
}

static void requantize(const workshop *w, gufo_error *error)
{
    gufo_quantize_options options = {.recipe.no_fallback = true};

    check(gufo_quantize_target_by_name("Q4_K", true, &options.recipe.target), "target");
    check(gufo_quantizer_new(w->model, &options, error) == NULL, "it is refused");
}

/* ---- wrong arguments ---- */

static void split_without_limit(const workshop *w, gufo_error *error)
{
    drop(gufo_job_split(w->model, NULL, error));
}

static void swap_to_no_order(const workshop *w, gufo_error *error)
{
    const gufo_endian_options options = {.order = (gufo_byte_order)2};

    drop(gufo_job_endian(w->model, &options, error));
}

static void extract_as_nothing(const workshop *w, gufo_error *error)
{
    const gufo_extract_options options = {.format = (gufo_extract_format)9};
    const uint64_t index = 0;

    drop(gufo_job_extract(w->model, &index, 1, &options, error));
}

static void override_badly(const workshop *w, gufo_error *error)
{
    const gufo_quantize_override bad = {.key = "Not A Key",
                                        .value = {.type = GUFO_VALUE_UINT32, .as.u = 1}};
    const gufo_quantize_options options = {.overrides = &bad, .override_count = 1};

    check(gufo_quantizer_new(w->model, &options, error) == NULL, "it is refused");
}

static void quantize_with_later_target(const workshop *w, gufo_error *error)
{
    const gufo_quantize_options options = {.recipe.target.reserved = {1}};

    check(gufo_quantizer_new(w->model, &options, error) == NULL, "it is refused");
}

static void test_names(void **state)
{
    static const struct {
        const char *what;
        call_fn *call;
        size_t shard; /* that is named; 0: in.gguf */
    } rows[] = {
        {"split one shard", split_one_shard, 2}, {"merge a file", merge_a_file, 0},
        {"swap nothing", swap_nothing, 0},       {"extract nothing", extract_nothing, 0},
        {"copy nothing", copy_nothing, 0},       {"copy twice", copy_twice, SHARDS},
        {"prune nothing", prune_nothing, 0},     {"rows that fill no block", requantize, 0},
    };
    workshop w = begin();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        path_text named = rows[i].shard > 0 ? shard_of(w.prefix.text, rows[i].shard, SHARDS) : w.in;
        gufo_error error = no_error();

        rows[i].call(&w, &error);
        check(strcmp(error.file, named.text) == 0 && error.role == GUFO_FILE_INPUT,
              "%s: \"%s\": %s", rows[i].what, error.file, error.message);
    }
    end(&w);
}

static void test_arguments(void **state)
{
    static const struct {
        const char *what;
        call_fn *call;
    } rows[] = {
        {"split without limit", split_without_limit},   {"swap to no order", swap_to_no_order},
        {"extract as nothing", extract_as_nothing},     {"override badly", override_badly},
        {"a later target", quantize_with_later_target},
    };
    workshop w = begin();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_error error = no_error();

        rows[i].call(&w, &error);
        check(error.code == GUFO_E_ARGUMENT && error.file[0] == '\0' &&
                  error.role == GUFO_FILE_NONE,
              "%s: \"%s\": %s", rows[i].what, error.file, error.message);
    }
    end(&w);
}

/* The shard that does not belong to the others, not the first one. */
static void test_foreign_shard(void **state)
{
    workshop w = begin();
    path_text second = shard_of(w.prefix.text, 2, SHARDS);
    gufo_error error = no_error();
    gufo_model *set;
    uint8_t *bytes, *id;
    size_t len;

    (void)state;
    bytes = read_file(second.text, &len);
    id = memmem(bytes, len, GUFO_SPLIT_ID_KEY, strlen(GUFO_SPLIT_ID_KEY));
    check(id != NULL, "it has an id");
    id[strlen(GUFO_SPLIT_ID_KEY) + 4] ^= 1; /* behind the type */
    write_file(second.text, bytes, len);
    free(bytes);
    set = gufo_model_open(shard_of(w.prefix.text, 1, SHARDS).text, NULL, &error);
    check(set != NULL, "%s", error.message);
    check(gufo_job_merge(set, NULL, &error) == NULL, "it is refused");
    check(error.code == GUFO_E_SHARDS && strcmp(error.file, second.text) == 0 &&
              error.file_index == 1,
          "\"%s\": %s", error.file, error.message);
    gufo_model_free(set);
    end(&w);
}

/* Metadata of a pipe is kept, its data is not. */
static void test_pipe(void **state)
{
    const gufo_open_options options = {.name = "the pipe"};
    workshop w = begin();
    gufo_error error = no_error();
    gufo_document *document;
    gufo_model *model;
    uint8_t *bytes;
    size_t len;
    int ends[2];

    (void)state;
    bytes = read_file(w.in.text, &len);
    check(pipe(ends) == 0 && len < 65536 && write(ends[1], bytes, len) == (ssize_t)len, "pipe");
    close(ends[1]);
    free(bytes);
    model = gufo_model_open_fd(ends[0], &options, &error);
    check(model != NULL, "%s", error.message);
    check(gufo_quantizer_new(model, NULL, &error) == NULL, "quantize");
    check(strcmp(error.file, "the pipe") == 0, "\"%s\": %s", error.file, error.message);
    document = gufo_document_from(model, NULL, &error);
    error = no_error();
    check(gufo_job_of_documents(&document, 1, NULL, &error) == NULL, "copy");
    check(strcmp(error.file, "the pipe") == 0, "\"%s\": %s", error.file, error.message);
    gufo_document_free(document);
    gufo_model_free(model);
    close(ends[0]);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_foreign_shard),
        cmocka_unit_test(test_pipe),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
