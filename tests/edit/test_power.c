/* A loss of power at any moment of an edit or of its recovery, with anything that was not synced
 * lost, kept or torn, leaves the old or the new file, or one that recovery makes so. */
#include "../support/edit.h"
#include "../support/recording.h"

#include <errno.h>

/* One edit, whose disk is rebuilt again and again. */
typedef struct scene {
    folder work, rebuilt, again;
    uint8_t *old_bytes, *new_bytes;
    size_t old_len, new_len;
    gufo_edit_way way;
    unsigned states;
} scene;

static const char name[] = "model.gguf";

static gufo_status edit_in(const scene *s, bool *recover, gufo_error *error)
{
    path_text path = folder_path(&s->work, name);
    gufo_edit_target target = {.in_place = s->way == GUFO_EDIT_REWRITE
                                               ? GUFO_EDIT_IN_PLACE_NEVER
                                               : GUFO_EDIT_IN_PLACE_IF_SAFE};
    gufo_edit_plan plan;
    gufo_status status = edit_name(path.text, s->way == GUFO_EDIT_INSERT ? NAME_GROWS : NAME_FITS,
                                   &target, &plan, recover, error);

    if (status == GUFO_OK)
        check_u64(plan.way, s->way, "the way taken");
    return status;
}

static void restore(const scene *s)
{
    path_text path = folder_path(&s->work, name);

    (void)remove(journal_of(path.text).text);
    write_file(path.text, s->old_bytes, s->old_len);
}

static scene scene_new(gufo_edit_way way)
{
    scene s = {.work = folder_new(), .rebuilt = folder_new(), .again = folder_new(), .way = way};
    path_text path = folder_path(&s.work, name);
    gufo_error error = no_error();
    bool recover;

    disk_simulate(true);
    write_small_model(path.text, (encoding){3, false});
    s.old_bytes = read_file(path.text, &s.old_len);
    check_ok(edit_in(&s, &recover, &error), &error, "edit");
    s.new_bytes = read_file(path.text, &s.new_len);
    restore(&s);
    return s;
}

static void scene_end(scene *s)
{
    disk_simulate(false);
    folder_remove(&s->work);
    folder_remove(&s->rebuilt);
    folder_remove(&s->again);
    free(s->old_bytes);
    free(s->new_bytes);
}

/* ---- what is right -------------------------------------------------------------------------- */

static bool is_old_or_new(const scene *s, const char *path)
{
    size_t len;
    uint8_t *bytes = read_file(path, &len);
    bool good = bytes != NULL && ((len == s->old_len && memcmp(bytes, s->old_bytes, len) == 0) ||
                                  (len == s->new_len && memcmp(bytes, s->new_bytes, len) == 0));

    free(bytes);
    return good;
}

/* As it is, the file is one of the two or none at all; if none, a journal is there. */
static void check_readable(const scene *s, const char *path, const char *label)
{
    gufo_error error = no_error();
    gufo_model *file;

    if (is_old_or_new(s, path))
        return;
    check(gufo_edit_pending(path), "%s: half an edit, and nothing is pending", label);
    file = gufo_model_open(path, NULL, &error);
    check(file == NULL, "%s: half an edit can be opened", label);
    check_u64(error.code, GUFO_E_NOT_GGUF, "%s", label);
}

static void recover_and_check(const scene *s, const char *path, const char *label)
{
    gufo_error error = no_error();

    check_ok(gufo_edit_recover(path, NULL, NULL, &error), &error, "%s", label);
    check(is_old_or_new(s, path), "%s: recovered, but neither old nor new", label);
    check(!file_exists(journal_of(path).text), "%s: the journal is left", label);
}

/* ---- power is lost ------------------------------------------------------------------------------
 */

static void see_again(void *context, const char *label)
{
    scene *s = context;
    path_text path = folder_path(&s->again, name);

    s->states++;
    check_readable(s, path.text, label);
    recover_and_check(s, path.text, label);
}

/* Recovers, and loses power again at every call of that. */
static void see(void *context, const char *label)
{
    scene *s = context;
    path_text path = folder_path(&s->rebuilt, name);
    recording *r;

    s->states++;
    check_readable(s, path.text, label);
    r = recording_start(s->rebuilt.path);
    recover_and_check(s, path.text, label);
    recording_stop(r);
    for (size_t calls = 0; calls < recording_calls(r); calls++)
        recording_each_loss(r, calls, RECORDING_ENDS, s->again.path, see_again, s);
    recording_free(r);
}

static void lose_power(gufo_edit_way way, unsigned states)
{
    scene s = scene_new(way);
    gufo_error error = no_error();
    recording *r = recording_start(s.work.path);
    bool recover;

    check_ok(edit_in(&s, &recover, &error), &error, "edit");
    recording_stop(r);
    for (size_t calls = 0; calls <= recording_calls(r); calls++)
        recording_each_loss(r, calls, RECORDING_ALL, s.rebuilt.path, see, &s);
    check(s.states > states, "only %u states", s.states);
    recording_free(r);
    scene_end(&s);
}

static void test_overwrite(void **state)
{
    (void)state;
    lose_power(GUFO_EDIT_OVERWRITE, 100);
}

static void test_insert(void **state)
{
    (void)state;
    lose_power(GUFO_EDIT_INSERT, 100);
}

static void test_rewrite(void **state)
{
    (void)state;
    lose_power(GUFO_EDIT_REWRITE, 50);
}

/* ---- killed, recovered, and then power is lost
 * -------------------------------------------------- */

/* After a kill the disk is still behind what was written: recovery must not trust what it reads. */
static void kill_and_lose(gufo_edit_way way)
{
    scene s = scene_new(way);
    path_text path = folder_path(&s.work, name);
    gufo_error error = no_error();
    gufo_status status = GUFO_E_IO;
    bool recover;

    for (unsigned at = 0; status != GUFO_OK; at++) {
        recording *r = recording_start(s.work.path);

        /* All that follows fails, and so nothing more happens: as after a kill. */
        disk_fail_from(at, EIO);
        status = edit_in(&s, &recover, &error);
        disk_fail_never();
        recover_and_check(&s, path.text, "after the kill");
        recording_stop(r);
        for (size_t calls = 0; calls <= recording_calls(r); calls++)
            recording_each_loss(r, calls, RECORDING_ENDS, s.again.path, see_again, &s);
        recording_free(r);
        restore(&s);
    }
    check(s.states > 100, "only %u states", s.states);
    scene_end(&s);
}

static void test_killed_overwrite(void **state)
{
    (void)state;
    kill_and_lose(GUFO_EDIT_OVERWRITE);
}

static void test_killed_insert(void **state)
{
    (void)state;
    kill_and_lose(GUFO_EDIT_INSERT);
}

/* ---- the proof can fail
 * ------------------------------------------------------------------------- */

static void count_bad(void *context, const char *label)
{
    scene *s = context;

    (void)label;
    s->states += !is_old_or_new(s, folder_path(&s->rebuilt, name).text);
}

/* The states in between are states that neither file is in: else nothing would be proved. */
static void test_states_are_bad(void **state)
{
    scene s = scene_new(GUFO_EDIT_INSERT);
    gufo_error error = no_error();
    recording *r = recording_start(s.work.path);
    bool recover;

    (void)state;
    check_ok(edit_in(&s, &recover, &error), &error, "edit");
    recording_stop(r);
    for (size_t calls = 0; calls <= recording_calls(r); calls++)
        recording_each_loss(r, calls, RECORDING_ALL, s.rebuilt.path, count_bad, &s);
    check(s.states > 50, "only %u states are neither old nor new", s.states);
    recording_free(r);
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overwrite),     cmocka_unit_test(test_insert),
        cmocka_unit_test(test_rewrite),       cmocka_unit_test(test_killed_overwrite),
        cmocka_unit_test(test_killed_insert), cmocka_unit_test(test_states_are_bad),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
