/* A loss of power at any moment of every planner that writes files: what lies at the outputs is the
 * old set, the new one or none, and the same command makes the new one. */
#include "workshop.h"

#include "../support/aside.h"
#include "../support/recording.h"

enum { MOST_OUTPUTS = SHARDS };

/* Writes the outputs in a folder that holds the inputs. */
typedef struct planner {
    const char *label;
    size_t copy; /* of `copies`; COUNT_OF(copies): quantize */
    uint32_t flags;
} planner;

typedef struct scene {
    const planner *planner;
    workshop work;
    folder rebuilt;
    size_t outputs;
    path_text names[MOST_OUTPUTS]; /* without the folder */
    uint8_t *olds[MOST_OUTPUTS], *news[MOST_OUTPUTS];
    size_t lens[MOST_OUTPUTS]; /* of both */
    unsigned states, none;
} scene;

/* ---- the planners --------------------------------------------------------------------------- */

static gufo_status copy_in(const folder *f, const scene *s, gufo_error *error)
{
    const gufo_run run = {.threads = 1};
    size_t number = s->planner->copy;
    path_text set = shard_of(folder_path(f, "set").text, 1, SHARDS);
    gufo_model *input =
        gufo_open(copies[number].from_set ? set.text : folder_path(f, "in.gguf").text, NULL, error);
    gufo_job *c = input != NULL ? copies[number].plan(input, NULL, error) : NULL;
    gufo_status status = c != NULL ? GUFO_OK : error->code;

    if (c != NULL)
        status = run_job(c, folder_path(f, copies[number].out).text, true, &run, error);
    gufo_job_free(c);
    gufo_close(input);
    return status;
}

static gufo_status quantize_in(const folder *f, const scene *s, gufo_error *error)
{
    gufo_quantize_options options = quantize_to("Q8_0");
    /* Not the one that was rebuilt: a journal knows its input by the time of its last change. */
    path_text set = shard_of(folder_path(&s->work.f, "set").text, 1, SHARDS);
    const quantize_how how = {.flags = GUFO_JOB_REPLACE | s->planner->flags, .run = {.threads = 1}};

    options.flags = GUFO_QUANTIZE_KEEP_SPLIT;
    options.recipe.allow_requantize = true;
    return quantize_file(set.text, folder_path(f, set_name).text, &options, &how, error);
}

static gufo_status run(const folder *f, const scene *s, gufo_error *error)
{
    return s->planner->copy < COUNT_OF(copies) ? copy_in(f, s, error) : quantize_in(f, s, error);
}

/* ---- a scene -------------------------------------------------------------------------------- */

static void find_outputs(scene *s)
{
    const char *out = s->planner->copy < COUNT_OF(copies) ? copies[s->planner->copy].out : set_name;
    bool is_set = strcmp(out, "out") == 0 || strcmp(out, set_name) == 0;

    s->outputs = is_set ? SHARDS : 1;
    for (size_t i = 0; i < s->outputs; i++)
        if (is_set)
            s->names[i] = shard_of("out", i + 1, SHARDS);
        else
            snprintf(s->names[i].text, sizeof s->names[i].text, "%s", out);
}

/* The old outputs are the new ones with another last byte: tensor data. */
static scene scene_new(const planner *p)
{
    scene s = {.planner = p, .work = workshop_new(), .rebuilt = folder_new()};
    gufo_error error = no_error();

    disk_simulate(true);
    find_outputs(&s);
    check_ok(run(&s.work.f, &s, &error), &error, "%s", p->label);
    for (size_t i = 0; i < s.outputs; i++) {
        path_text path = folder_path(&s.work.f, s.names[i].text);

        s.news[i] = read_file(path.text, &s.lens[i]);
        check(s.news[i] != NULL, "%s: %s", p->label, path.text);
        s.olds[i] = malloc(s.lens[i]);
        memcpy(s.olds[i], s.news[i], s.lens[i]);
        s.olds[i][s.lens[i] - 1] ^= 0x01;
        write_file(path.text, s.olds[i], s.lens[i]);
    }
    return s;
}

static void scene_end(scene *s)
{
    disk_simulate(false);
    workshop_end(&s->work);
    folder_remove(&s->rebuilt);
    for (size_t i = 0; i < s->outputs; i++) {
        free(s->olds[i]);
        free(s->news[i]);
    }
}

/* ---- power is lost -------------------------------------------------------------------------- */

static bool all_are(const scene *s, uint8_t *const bytes[])
{
    bool same = true;

    for (size_t i = 0; i < s->outputs && same; i++) {
        size_t len;
        uint8_t *found = read_file(folder_path(&s->rebuilt, s->names[i].text).text, &len);

        same = found != NULL && len == s->lens[i] && memcmp(found, bytes[i], len) == 0;
        free(found);
    }
    return same;
}

/* As readers see it: a set opens by its first shard, and only with all others. */
static bool opens(const scene *s)
{
    bool there = true;

    for (size_t i = 0; i < s->outputs; i++)
        there = there && file_exists(folder_path(&s->rebuilt, s->names[i].text).text);
    return there;
}

static void see(void *context, const char *label)
{
    scene *s = context;
    const char *what = s->planner->label;
    gufo_error error = no_error();

    s->states++;
    s->none += !opens(s);
    check(!opens(s) || all_are(s, s->olds) || all_are(s, s->news), "%s, %s: a mixture", what,
          label);
    check_ok(run(&s->rebuilt, s, &error), &error, "%s, %s: again", what, label);
    check(all_are(s, s->news), "%s, %s: finished", what, label);
    for (size_t i = 0; i < s->outputs; i++)
        check(!file_exists(aside_of(folder_path(&s->rebuilt, s->names[i].text).text).text),
              "%s, %s: something is aside", what, label);
}

static void lose_power(const planner *p)
{
    scene s = scene_new(p);
    gufo_error error = no_error();
    recording *r = recording_start(s.work.f.path);

    check_ok(run(&s.work.f, &s, &error), &error, "%s", p->label);
    recording_stop(r);
    for (size_t calls = 0; calls <= recording_calls(r); calls++)
        recording_each_loss(r, calls, RECORDING_ENDS, s.rebuilt.path, see, &s);
    check(s.states > 20, "%s: only %u states", p->label, s.states);
    check(s.outputs == 1 ? s.none == 0 : s.none > 10, "%s: %u states without a set", p->label,
          s.none);
    recording_free(r);
    scene_end(&s);
}

static void test_copies(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(copies); i++) {
        const planner p = {copies[i].label, i, 0};

        if (copies[i].out != NULL)
            lose_power(&p);
    }
}

static void test_quantize(void **state)
{
    static const planner planners[] = {
        {"quantize --keep-split", COUNT_OF(copies), 0},
        {"quantize --keep-split --resume", COUNT_OF(copies), GUFO_JOB_RESUME},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(planners); i++)
        lose_power(&planners[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_quantize),
    };

    return cmocka_run_group_tests(tests, copies_setup, NULL);
}
