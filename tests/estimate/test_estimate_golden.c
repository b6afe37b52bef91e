/* Memory of models against what llama.cpp reports for them: shapes, weights, cache and state equal in
 * every row; buffers for computing within their margins. */
#include "../support/shared.h"
#include "header_model.h"

#include <math.h>

#define FOLDER "data/sizes/estimate/"

/* Columns of the golden tables. */
enum {
    C_FILE = 0,
    C_SET,
    C_CTX_ASKED,
    C_BATCH_ASKED,
    C_UBATCH_ASKED,
    C_SEQ,
    C_UNIFIED,
    C_FLASH,
    C_K,
    C_V,
    C_SWA_FULL,
    C_OUTPUTS,
    C_RS_SEQ,
    C_EMBEDDINGS,
    C_NGL,
    C_SPLIT,
    C_NO_OFFLOAD,
    C_STATUS,
    C_CTX,
    C_CTX_SEQ,
    C_BATCH,
    C_UBATCH,
    C_DEVICE,
    C_MODEL,
    C_CONTEXT,
    C_COMPUTE
};

static char *read_table(const char *name)
{
    size_t len;
    path_text path = need_shared(name);
    char *text = (char *)read_file(path.text, &len), *ended = realloc(text, len + 1);

    check(ended != NULL, "%s", name);
    ended[len] = '\0';
    return ended;
}

/* ---- models --------------------------------------------------------------------------------- */

typedef struct golden_model {
    char name[64];
    header_model header;
    gufo_estimator *estimator;
} golden_model;

static void open_model(golden_model *m, gufo_str name)
{
    char path[160];
    char *entries, *tensors;
    gufo_error error;

    snprintf(m->name, sizeof m->name, "%.*s", (int)name.len, name.data);
    snprintf(path, sizeof path, FOLDER "%s.kv.tsv", m->name);
    entries = read_table(path);
    snprintf(path, sizeof path, FOLDER "%s.tensors.tsv", m->name);
    tensors = read_table(path);
    m->header = header_model_open(next_line(entries), next_line(tensors));
    m->estimator = gufo_estimator_new(m->header.model, NULL, &error);
    check(m->estimator != NULL, "%s: %s", m->name, error.message);
    free(entries);
    free(tensors);
}

static void close_model(golden_model *m)
{
    if (m->estimator == NULL)
        return;
    gufo_estimator_free(m->estimator);
    header_model_close(&m->header);
    m->estimator = NULL;
}

static void use_model(golden_model *m, const char *line)
{
    if (m->estimator != NULL && column_is(line, C_FILE, m->name))
        return;
    close_model(m);
    open_model(m, column_text(line, C_FILE));
}

/* ---- options -------------------------------------------------------------------------------- */

static const gufo_element_type *type_of(const char *line, size_t column)
{
    gufo_str text = column_text(line, column);
    char name[16] = {0};

    for (size_t i = 0; i < text.len && i + 1 < sizeof name; i++)
        name[i] = (char)(text.data[i] >= 'a' && text.data[i] <= 'z' ? text.data[i] - 'a' + 'A'
                                                                    : text.data[i]);
    return gufo_element_type_by_name(name);
}

/* Experts on the host. */
static int place_experts(void *context, gufo_str name)
{
    (void)context;
    return memmem(name.data, name.len, "exps", 4) != NULL ? GUFO_ESTIMATE_HOST
                                                          : GUFO_ESTIMATE_BY_RULE;
}

static gufo_estimate_options options_of(const char *line, double split[2], uint32_t devices)
{
    gufo_estimate_options o = {
        .n_ctx = column_number(line, C_CTX_ASKED),
        .n_batch = column_number(line, C_BATCH_ASKED),
        .n_ubatch = column_number(line, C_UBATCH_ASKED),
        .n_seq = column_number(line, C_SEQ),
        .n_outputs = column_number(line, C_OUTPUTS),
        .n_rs_seq = column_number(line, C_RS_SEQ),
        .type_k = type_of(line, C_K),
        .type_v = type_of(line, C_V),
        .flash_attention =
            column_is(line, C_FLASH, "off") ? GUFO_FLASH_ATTENTION_OFF : GUFO_FLASH_ATTENTION_ON,
        .kv_unified = column_number(line, C_UNIFIED) != 0,
        .swa_full = column_number(line, C_SWA_FULL) != 0,
        .embeddings = column_number(line, C_EMBEDDINGS) != 0,
        .no_kv_offload = column_number(line, C_NO_OFFLOAD) != 0,
        .n_devices = devices,
        .has_gpu_layers = true,
        .n_gpu_layers = column_number(line, C_NGL),
    };

    if (!column_is(line, C_SPLIT, "-")) {
        char *end;

        split[0] = strtod(column_of(line, C_SPLIT), &end);
        split[1] = strtod(end + 1, NULL);
        o.n_devices = 2;
        o.tensor_split = split;
    }
    if (column_is(line, C_SET, "e1"))
        o.place = place_experts;
    return o;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static double difference(uint64_t got, uint64_t expected)
{
    return 100.0 * ((double)got - (double)expected) / (double)expected;
}

static void check_exact(const gufo_estimate *e, const gufo_estimate_device *d, const char *line,
                        const char *label)
{
    check_u64(e->n_ctx, column_number(line, C_CTX), "%s", label);
    check_u64(e->n_ctx_seq, column_number(line, C_CTX_SEQ), "%s", label);
    check_u64(e->n_batch, column_number(line, C_BATCH), "%s", label);
    check_u64(e->n_ubatch, column_number(line, C_UBATCH), "%s", label);
    check_u64(d->model_bytes, column_number(line, C_MODEL), "%s", label);
    check_u64(d->context_bytes, column_number(line, C_CONTEXT), "%s", label);
}

/* Within the margin that the estimate itself states. */
static void check_compute(const gufo_estimate_device *d, const char *line, const char *label)
{
    uint64_t expected = column_number(line, C_COMPUTE), got = d->compute_bytes;
    uint64_t apart = got > expected ? got - expected : expected - got;

    if (getenv("GUFO_ESTIMATE_TABLE") != NULL)
        printf("%s\t%" PRIu64 "\t%" PRIu64 "\t%.2f\n", label, expected, got,
               difference(got, expected));
    else
        check(apart <= d->compute_margin, "%s: %" PRIu64 " for %" PRIu64 ", %.2f %%", label, got,
              expected, difference(got, expected));
}

/* On the host alone: plain transformers within 10 %, others but those that are marked rough within 17 %;
 * the sum of everything within 3 %. */
static void check_host(const gufo_estimate_device *d, const char *line, const char *label)
{
    static const char *const plain[] = {"llama",   "mixtral", "qwen2-",
                                        "gemma3-", "gpt-oss", "openelm"};
    uint64_t expected = column_number(line, C_COMPUTE);
    uint64_t sum = column_number(line, C_MODEL) + column_number(line, C_CONTEXT) + expected;
    double compute = fabs(difference(d->compute_bytes, expected));
    double total = fabs(difference(d->model_bytes + d->context_bytes + d->compute_bytes, sum));
    double limit = d->compute_quality == GUFO_ESTIMATE_ROUGH ? 40 : 17;

    for (size_t i = 0; i < COUNT_OF(plain); i++)
        if (strncmp(line, plain[i], strlen(plain[i])) == 0)
            limit = 10;
    check(compute <= limit, "%s: %.2f %% apart", label, compute);
    check(total <= 3, "%s: %.2f %% of everything apart", label, total);
}

static const gufo_estimate_device *device_of(const gufo_estimate *e, const char *line)
{
    if (column_is(line, C_DEVICE, "CPU"))
        return &e->devices[0];
    return &e->devices[1 + column_number(column_of(line, C_DEVICE) + 3, 0)];
}

static void check_row(const golden_model *m, const char *line, uint32_t devices)
{
    double split[2];
    char label[96];
    gufo_estimate_options options = options_of(line, split, devices);
    gufo_str set = column_text(line, C_SET), device = column_text(line, C_DEVICE);
    gufo_estimate e;
    gufo_error error;
    gufo_status status = gufo_estimator_run(m->estimator, &options, &e, &error);

    snprintf(label, sizeof label, "%s\t%.*s\t%.*s", m->name, (int)set.len, set.data,
             (int)device.len, device.data);
    if (!column_is(line, C_STATUS, "ok")) {
        check_status(status, GUFO_E_ARGUMENT, &error, "%s", label);
        return;
    }
    check_ok(status, &error, "%s", label);
    check_exact(&e, device_of(&e, line), line, label);
    check_compute(device_of(&e, line), line, label);
    if (e.device_count == 1)
        check_host(&e.devices[0], line, label);
}

static void check_table(const char *name, uint32_t devices, size_t least)
{
    char *text = read_table(name);
    golden_model model = {.estimator = NULL};
    size_t count = 0;

    for (const char *line = next_line(text); *line != '\0'; line = next_line(line), count++) {
        use_model(&model, line);
        check_row(&model, line, devices);
    }
    close_model(&model);
    check(count >= least, "%zu rows", count);
    free(text);
}

static void test_host(void **state)
{
    (void)state;
    check_table(FOLDER "golden_cpu.tsv", 0, 200);
}

static void test_devices(void **state)
{
    (void)state;
    check_table(FOLDER "golden_offload.tsv", 1, 300);
}

/* ---- memory over the context ---------------------------------------------------------------- */

/* The cache of a curve is the one that llama.cpp reports, in a curve of all contexts that a table has. */
static size_t check_curve(const golden_model *m, const char *line)
{
    double split[2];
    gufo_estimate_options options = options_of(line, split, 0);
    uint64_t contexts[GUFO_ESTIMATE_CONTEXTS];
    gufo_estimate_point points[GUFO_ESTIMATE_CONTEXTS] = {{.n_ctx = 0}};
    size_t count = gufo_estimate_contexts(column_number(line, C_CTX), contexts);
    gufo_error error;

    for (size_t i = 0; i < count; i++)
        points[i].n_ctx = contexts[i];
    check_ok(gufo_estimator_curve(m->estimator, &options, 0, points, count, &error), &error, "%s",
             m->name);
    check_u64(points[count - 1].context_bytes, column_number(line, C_CONTEXT), "%s", m->name);
    check_u64(points[count - 1].model_bytes, column_number(line, C_MODEL), "%s", m->name);
    for (size_t i = 1; i < count; i++)
        check(points[i].context_bytes >= points[i - 1].context_bytes &&
                  points[i].total_bytes >= points[i - 1].total_bytes,
              "%s: a larger context takes less", m->name);
    return count;
}

static void test_curves(void **state)
{
    static const char *const names[] = {
        "llama-8b", "qwen2-7b", "gemma3-4b", "mixtral-8x7b", "deepseek-v2-lite-mha", "gpt-oss-20b"};
    char *text = read_table(FOLDER "golden_cpu.tsv");
    golden_model model = {.estimator = NULL};
    size_t checked[COUNT_OF(names)] = {0};

    (void)state;
    for (const char *line = next_line(text); *line != '\0'; line = next_line(line))
        for (size_t i = 0; i < COUNT_OF(names); i++) {
            if (!column_is(line, C_STATUS, "ok") || !column_is(line, C_FILE, names[i]))
                continue;
            use_model(&model, line);
            checked[i] += check_curve(&model, line);
        }
    for (size_t i = 0; i < COUNT_OF(names); i++)
        check(checked[i] >= 20, "%s: %zu points", names[i], checked[i]);
    close_model(&model);
    free(text);
}

static void test_file_sizes(void **state)
{
    char *text = read_table(FOLDER "file_sizes.tsv");

    (void)state;
    for (const char *line = next_line(text); *line != '\0'; line = next_line(line)) {
        golden_model m = {.estimator = NULL};
        gufo_facts facts;
        gufo_tensor last;

        open_model(&m, column_text(line, 0));
        facts = gufo_model_facts(m.header.model);
        check(gufo_model_tensor_at(m.header.model, gufo_model_tensor_count(m.header.model) - 1,
                                   &last),
              "%s", m.name);
        check_u64(gufo_model_entry_count(m.header.model), column_number(line, 1), "%s", m.name);
        check_u64(gufo_model_tensor_count(m.header.model), column_number(line, 2), "%s", m.name);
        check_u64(facts.infos_end, column_number(line, 3), "%s", m.name);
        check_u64(facts.data_offset, column_number(line, 4), "%s", m.name);
        check_u64((last.offset + last.size + 31) / 32 * 32, column_number(line, 6), "%s", m.name);
        close_model(&m);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file_sizes),
        cmocka_unit_test(test_host),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_curves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
