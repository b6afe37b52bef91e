/* Every operation of this floor with an allocator that fails at each request in turn: it says so,
 * leaks nothing, and leaves the folder as it was. */
#include "../support/allocator.h"
#include "../support/edits.h"
#include "workshop.h"

#include "format/model/model.h"
#include "gufo/compare.h"

#include <fcntl.h>

/* What an operation gives back; `allocator` is the one that fails, `error` may be NULL. */
typedef gufo_status operate_fn(const workshop *b, const gufo_allocator *allocator,
                               gufo_error *error);

/* The code of a failure that returned NULL. */
static gufo_status failure_of(const gufo_error *error)
{
    return error != NULL ? error->code : GUFO_E_MEMORY;
}

/* ---- the loop ------------------------------------------------------------------------------- */

typedef enum failing { FAIL_ONCE, FAIL_FROM, FAIL_SILENTLY, FAILINGS } failing;

/* One run in which request `n` fails; true if there were so many. */
static bool fail_request(const workshop *b, operate_fn *operate, size_t n, failing how,
                         const uint64_t states[2], const char *name)
{
    counter c;
    gufo_allocator allocator;
    gufo_error error = no_error();
    gufo_status status;
    char label[96];

    snprintf(label, sizeof label, "%s: request %zu, way %d", name, n, (int)how);
    counter_init(&c);
    allocator = counter_allocator(&c);
    c.fail_at = n;
    c.fail_on = how == FAIL_FROM;
    status = operate(b, &allocator, how == FAIL_SILENTLY ? NULL : &error);
    check_u64(c.in_use, 0, "%s: leak", label);
    if (status == GUFO_OK)
        check_u64(c.denied, 0, "%s: unnoticed", label);
    else if (how != FAIL_SILENTLY)
        check_error_shape(&error, GUFO_E_MEMORY, label);
    check_u64(folder_state(b), states[status == GUFO_OK], "%s: the files", label);
    restore(b);
    return c.calls >= n;
}

/* At least `requests` of them are expected: else the operation stopped early. */
static void fail_each_request(const workshop *b, operate_fn *operate, size_t requests,
                              const char *name)
{
    gufo_error error = no_error();
    uint64_t states[2] = {folder_state(b), 0}; /* after failure, after success */
    size_t n = 1;

    check_ok(operate(b, NULL, &error), &error, "%s", name);
    states[1] = folder_state(b);
    restore(b);
    check_u64(folder_state(b), states[0], "%s: restored", name);
    for (bool more = true; more; n++) {
        more = false;
        for (failing how = 0; how < FAILINGS; how++)
            more = fail_request(b, operate, n, how, states, name) || more;
    }
    check(n > requests, "%s: only %zu requests", name, n);
}

/* ---- edits ---------------------------------------------------------------------------------- */

static bool is_any(void *context, gufo_str key)
{
    (void)context, (void)key;
    return true;
}

static bool is_nested(void *context, gufo_str key)
{
    (void)context;
    return gufo_str_equal(key, gufo_str_of("nested"));
}

static void count_change(void *context, const gufo_change *change)
{
    ++((size_t *)context)[change->kind];
}

/* Takes four keys of the other file, of which one goes again. */
static gufo_status copy_other(const workshop *b, gufo_edit *edit, gufo_error *error)
{
    size_t changes[GUFO_CHANGE_TENSOR_RENAMED + 1] = {0};
    uint64_t taken, removed;
    gufo_status status = edit_copy(edit, b->other_file, is_any, NULL, &taken, error);

    if (status == GUFO_OK) {
        edit_remove(edit, is_nested, NULL, &removed);
        check_u64(taken, 4, "copied");
        check_u64(removed, 1, "removed");
        status = edit_changes(edit, count_change, changes, error);
    }
    if (status == GUFO_OK) {
        check_u64(changes[GUFO_CHANGE_RENAMED], 1, "general.name");
        check_u64(changes[GUFO_CHANGE_CHANGED], 1, "general.architecture");
        check_u64(changes[GUFO_CHANGE_ADDED], 4, "array, general.name, texts, number");
    }
    return status;
}

/* One change of each kind. */
static gufo_status change_all(const workshop *b, gufo_edit *edit, gufo_error *error)
{
    static const gufo_str texts[] = {{"x", 1}, {"yy", 2}};
    const gufo_items strings = {GUFO_VALUE_STRING, 2, texts};
    const gufo_value number = {.type = GUFO_VALUE_FLOAT64, .as.f = 0.5};
    const gufo_value text = {.type = GUFO_VALUE_STRING, .as.str = {"text", 4}};
    gufo_status status = edit_set_array(edit, "array", &strings, error);

    if (status == GUFO_OK)
        status = edit_set(edit, "general.architecture", &text, error);
    if (status == GUFO_OK)
        status = edit_rename(edit, "general.name", "name", error);
    if (status == GUFO_OK)
        status = edit_rename(edit, "name", "name.again", error);
    if (status == GUFO_OK)
        status = copy_other(b, edit, error);
    if (status == GUFO_OK)
        status = edit_set(edit, "number", &number, error);
    if (status == GUFO_OK)
        status = edit_set(edit, "name.again", &text, error);
    if (status == GUFO_OK)
        status = edit_rename_tensor(edit, "a.weight", "x.weight", error);
    return status == GUFO_OK ? edit_rename_tensor(edit, "x.weight", "y.weight", error) : status;
}

static gufo_status change_name(gufo_edit *edit, size_t length, gufo_error *error)
{
    char text[8000];
    const gufo_value value = {.type = GUFO_VALUE_STRING, .as.str = {text, length}};

    memset(text, 'n', length);
    return edit_set(edit, "general.name", &value, error);
}

static gufo_edit *open_edit(const workshop *b, const gufo_allocator *allocator, uint32_t flags,
                            gufo_error *error)
{
    const gufo_edit_options options = {.flags = flags, .allocator = allocator};

    return gufo_edit_open(b->in.text, &options, error);
}

/* Plans, applies and closes an edit whose changes gave `status`. */
static gufo_status finish_edit(gufo_edit *edit, gufo_status status, const gufo_edit_target *target,
                               gufo_edit_way way, gufo_error *error)
{
    gufo_edit_plan plan;
    bool recover = false;

    if (status == GUFO_OK)
        status = gufo_edit_plan_for(edit, target, &plan, error);
    if (status == GUFO_OK)
        status = gufo_edit_apply(edit, target, NULL, &plan, &recover, error);
    gufo_edit_free(edit);
    check(!recover, "lack of memory leaves nothing to recover");
    if (status == GUFO_OK)
        check_u64(plan.way, way, "way");
    return status;
}

static void ignore_finding(void *context, const gufo_finding *finding)
{
    (void)context;
    (void)finding;
}

static gufo_status edit_all(const workshop *b, const gufo_allocator *allocator, gufo_error *error)
{
    gufo_edit *edit = open_edit(b, allocator, GUFO_EDIT_READ_ONLY, error);
    const gufo_edit_target target = {.output = b->out.text};

    gufo_status status;

    if (edit == NULL)
        return failure_of(error);
    status = change_all(b, edit, error);
    if (status == GUFO_OK)
        status = gufo_edit_check(edit, NULL, ignore_finding, NULL, error);
    return finish_edit(edit, status, &target, GUFO_EDIT_REWRITE, error);
}

static gufo_status edit_name(const workshop *b, size_t length, gufo_edit_in_place in_place,
                             gufo_edit_way way, const gufo_allocator *allocator, gufo_error *error)
{
    const gufo_edit_target target = {.in_place = in_place};
    gufo_edit *edit = open_edit(b, allocator, 0, error);

    if (edit == NULL)
        return failure_of(error);
    return finish_edit(edit, change_name(edit, length, error), &target, way, error);
}

static gufo_status overwrite(const workshop *b, const gufo_allocator *allocator, gufo_error *error)
{
    return edit_name(b, 4, GUFO_EDIT_IN_PLACE_IF_SAFE, GUFO_EDIT_OVERWRITE, allocator, error);
}

static gufo_status insert(const workshop *b, const gufo_allocator *allocator, gufo_error *error)
{
    return edit_name(b, 5000, GUFO_EDIT_IN_PLACE_ALWAYS, GUFO_EDIT_INSERT, allocator, error);
}

static gufo_status rewrite(const workshop *b, const gufo_allocator *allocator, gufo_error *error)
{
    return edit_name(b, 5000, GUFO_EDIT_IN_PLACE_NEVER, GUFO_EDIT_REWRITE, allocator, error);
}

/* A new file with another place for every tensor, and one that only has room for later edits. */
static gufo_status edit_alignment(const workshop *b, const gufo_allocator *allocator,
                                  gufo_error *error)
{
    const gufo_value value = {.type = GUFO_VALUE_UINT32, .as.u = 256};
    const gufo_edit_target target = {.reserve = 1000};
    gufo_edit *edit = open_edit(b, allocator, 0, error);

    if (edit == NULL)
        return failure_of(error);
    return finish_edit(edit, edit_set(edit, GUFO_ALIGNMENT_KEY, &value, error), &target,
                       GUFO_EDIT_REWRITE, error);
}

/* To a descriptor, which is a file here; what a failure leaves of it is the caller's. */
static gufo_status stream_edit(const workshop *b, uint64_t alignment,
                               const gufo_allocator *allocator, gufo_error *error)
{
    const gufo_value value = {.type = GUFO_VALUE_UINT32, .as.u = alignment};
    gufo_edit *edit = open_edit(b, allocator, GUFO_EDIT_READ_ONLY, error);
    int fd = open(b->out.text, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    gufo_status status = edit != NULL ? GUFO_OK : failure_of(error);

    if (status == GUFO_OK)
        status = edit_set(edit, GUFO_ALIGNMENT_KEY, &value, error);
    if (status == GUFO_OK)
        status = gufo_edit_stream(edit, fd, NULL, NULL, error);
    gufo_edit_free(edit);
    (void)close(fd);
    if (status != GUFO_OK)
        (void)unlink(b->out.text);
    return status;
}

static gufo_status stream_same(const workshop *b, const gufo_allocator *allocator,
                               gufo_error *error)
{
    return stream_edit(b, 64, allocator, error);
}

static gufo_status stream_anew(const workshop *b, const gufo_allocator *allocator,
                               gufo_error *error)
{
    return stream_edit(b, 32, allocator, error);
}

/* ---- copies --------------------------------------------------------------------------------- */

/* Plans and writes: to `out` in the folder, or to a descriptor where that is NULL. */
static gufo_status copy(const workshop *b, bool from_set, plan_fn *plan, const char *out,
                        const gufo_allocator *allocator, gufo_error *error)
{
    const gufo_run run = {.threads = 2};
    gufo_model *set = gufo_model_open(from_set ? b->first.text : b->in.text, NULL, NULL);
    gufo_job *c = plan(set, allocator, error);
    gufo_status status = c != NULL ? GUFO_OK : failure_of(error);

    if (status == GUFO_OK && out == NULL) {
        int fd = open(b->out.text, O_WRONLY | O_CREAT | O_TRUNC, 0600);

        status = gufo_job_stream(c, fd, &run, error);
        (void)close(fd);
        if (status != GUFO_OK)
            (void)unlink(b->out.text);
    } else if (status == GUFO_OK)
        status = run_job(c, folder_path(&b->f, out).text, false, &run, error);
    gufo_job_free(c);
    gufo_model_free(set);
    return status;
}

static size_t copy_number; /* of the row that operate_copy does */

static gufo_status operate_copy(const workshop *b, const gufo_allocator *allocator,
                                gufo_error *error)
{
    return copy(b, copies[copy_number].from_set, copies[copy_number].plan, copies[copy_number].out,
                allocator, error);
}

/* ---- comparing ------------------------------------------------------------------------------ */

static gufo_status compare(const workshop *b, const gufo_allocator *allocator, gufo_error *error)
{
    const gufo_compare_options options = {.flags = GUFO_COMPARE_VALUES};
    const gufo_run run = {.threads = 2, .allocator = allocator};
    gufo_model *first = gufo_model_open(b->first.text, NULL, NULL);
    gufo_model *other = gufo_model_open(b->other.text, NULL, NULL);
    gufo_comparison result;
    gufo_status status = gufo_compare(first, other, &options, &run, &result, error);

    if (status == GUFO_OK) {
        check_u64(result.tensors[GUFO_DIFFERENCE_CHANGED], 2, "changed");
        check_u64(result.tensors[GUFO_DIFFERENCE_NONE], 1, "same");
        check_u64(result.tensors[GUFO_DIFFERENCE_REMOVED], 3, "removed");
        check_u64(result.tensors[GUFO_DIFFERENCE_ADDED], 1, "added");
    }
    gufo_model_free(first);
    gufo_model_free(other);
    return status;
}

static gufo_status compare_candidates(const workshop *b, const gufo_allocator *allocator,
                                      gufo_error *error)
{
    const gufo_candidates_options options = {.flags = GUFO_COMPARE_VALUES};
    const gufo_run run = {.threads = 2, .allocator = allocator};
    gufo_model *first = gufo_model_open(b->first.text, NULL, NULL);
    gufo_model *other = gufo_model_open(b->other.text, NULL, NULL);
    const gufo_model *const candidates[] = {other, first, other};
    gufo_candidate result[3];
    gufo_status status =
        gufo_compare_candidates(first, candidates, 3, &options, &run, result, error);

    if (status == GUFO_OK) {
        check_u64(result[0].tensors[GUFO_DIFFERENCE_CHANGED], 2, "changed");
        check_u64(result[1].same, true, "itself");
        check_u64(result[2].tensors[GUFO_DIFFERENCE_ADDED], 1, "added");
    }
    gufo_model_free(first);
    gufo_model_free(other);
    return status;
}

/* ---- growing -------------------------------------------------------------------------------- */

/* Buffers grow at powers of two: texts of every length let each part of a header be the one that
 * has no room.  The planning of `length` is done once, and again with each request failing. */
typedef gufo_status grow_fn(const workshop *b, size_t length, const gufo_allocator *allocator,
                            gufo_error *error);

static void fail_growing(const workshop *b, grow_fn *grow, size_t length)
{
    bool more = true;

    for (size_t n = 1; more; n++) {
        counter c;
        gufo_allocator allocator;
        gufo_error error = no_error();
        gufo_status status;

        counter_init(&c);
        allocator = counter_allocator(&c);
        c.fail_at = n;
        status = grow(b, length, &allocator, &error);
        check_u64(c.in_use, 0, "length %zu, request %zu: leak", length, n);
        more = c.calls >= n;
        if (c.denied > 0)
            check_status(status, GUFO_E_MEMORY, &error, "length %zu, request %zu", length, n);
        else
            check_ok(status, &error, "length %zu, request %zu", length, n);
    }
}

static const char long_text[] =
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn";

static gufo_status grow_edit(const workshop *b, size_t length, const gufo_allocator *allocator,
                             gufo_error *error)
{
    const gufo_value text = {.type = GUFO_VALUE_STRING, .as.str = {long_text, length}};
    const gufo_value number = {.type = GUFO_VALUE_UINT64, .as.u = 1};
    const gufo_edit_target target = {.output = b->out.text, .reserve = 64};
    gufo_edit *edit = open_edit(b, allocator, GUFO_EDIT_READ_ONLY, error);
    gufo_edit_plan plan;
    gufo_status status = edit != NULL ? GUFO_OK : failure_of(error);

    if (status == GUFO_OK)
        status = edit_set(edit, "general.name", &text, error);
    for (const char *key = "abc"; status == GUFO_OK && *key != '\0'; key++)
        status = edit_set(edit, key, &number, error);
    if (status == GUFO_OK)
        status = edit_rename_tensor(edit, "token_embd.weight",
                                    long_text + (sizeof long_text - 2 - length), error);
    if (status == GUFO_OK)
        status = gufo_edit_plan_for(edit, &target, &plan, error);
    if (status == GUFO_OK) {
        check_u64(plan.way, GUFO_EDIT_REWRITE, "way");
        check(plan.padding >= 64, "%" PRIu64 " bytes of padding", plan.padding);
    }
    gufo_edit_free(edit);
    return status;
}

static void test_growing_edit(void **state)
{
    workshop b = workshop_new();

    (void)state;
    for (size_t length = 1; length < GUFO_MAX_NAME; length++)
        fail_growing(&b, grow_edit, length);
    workshop_end(&b);
}

static gufo_model *grown; /* what grow_copy plans copies of */

static gufo_status grow_copy(const workshop *b, size_t length, const gufo_allocator *allocator,
                             gufo_error *error)
{
    static plan_fn *const plans[] = {as_safetensors, by_tensors, as_big};

    (void)b, (void)length;
    for (size_t i = 0; i < COUNT_OF(plans); i++) {
        gufo_job *c = plans[i](grown, allocator, error);

        if (c == NULL)
            return failure_of(error);
        gufo_job_free(c);
    }
    return GUFO_OK;
}

static void test_growing_copy(void **state)
{
    workshop b = workshop_new();
    test_tensor tensors[COUNT_OF(copied_tensors)];
    test_model model = {
        .encoding = {3, false}, .tensors = tensors, .tensor_count = COUNT_OF(tensors)};

    (void)state;
    memcpy(tensors, copied_tensors, sizeof tensors);
    for (size_t length = 1; length < GUFO_MAX_NAME; length++) {
        gufo_error error = no_error();

        tensors[1].name = long_text + (sizeof long_text - 1 - length);
        write_model(b.out.text, &model);
        grown = gufo_model_open(b.out.text, NULL, &error);
        check(grown != NULL, "%s", error.message);
        fail_growing(&b, grow_copy, length);
        gufo_model_free(grown);
    }
    workshop_end(&b);
}

/* ---- all of them ---------------------------------------------------------------------------- */

static void test_edits(void **state)
{
    static const struct {
        const char *label;
        operate_fn *operate;
        size_t requests;
    } rows[] = {
        {"all changes", edit_all, 40},
        {"overwrite", overwrite, 10},
        {"insert", insert, 10},
        {"rewrite", rewrite, 10},
        {"another alignment", edit_alignment, 15},
        {"stream", stream_same, 10},
        {"stream with another alignment", stream_anew, 15},
    };
    workshop b = workshop_new();

    (void)state;
    disk_simulate(true);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        fail_each_request(&b, rows[i].operate, rows[i].requests, rows[i].label);
    disk_simulate(false);
    workshop_end(&b);
}

static void test_copies(void **state)
{
    workshop b = workshop_new();

    (void)state;
    for (copy_number = 0; copy_number < COUNT_OF(copies); copy_number++)
        fail_each_request(&b, operate_copy, 10, copies[copy_number].label);
    workshop_end(&b);
}

static void test_compare(void **state)
{
    workshop b = workshop_new();

    (void)state;
    fail_each_request(&b, compare, 6, "compare");
    fail_each_request(&b, compare_candidates, 6, "candidates");
    workshop_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edits),        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_compare),      cmocka_unit_test(test_growing_edit),
        cmocka_unit_test(test_growing_copy),
    };

    return cmocka_run_group_tests(tests, copies_setup, NULL);
}
