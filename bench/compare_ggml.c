/* Whether gufo and ggml read the same from a file: `compare_ggml [--sweep] [--load] FILE...`.
 *
 * Both open each FILE, from memory.  Where both accept it, everything that ggml's API tells is
 * compared: version, alignment, data offset, keys, value types, values, tensor names, types, dims,
 * offsets and sizes.  A line is printed for every difference, and at the end how many files were
 * accepted by whom, with the rules by which gufo refused what ggml took.
 *
 *     --sweep  also the damaged forms of each file: every byte replaced by each of nine values, and
 *              the file cut off at every byte
 *     --load   ggml reads tensor data too, not only metadata
 *
 * Exit status 1 if there is a difference, a file that gufo refuses without naming a rule, one that
 * ggml refuses and gufo finds nothing wrong with, or one of which gufo wrongly says that ggml
 * refuses it (rule compat-ggml).
 *
 * ggml runs in a child process with little memory and time, since it may crash; that is counted. */
#define _GNU_SOURCE /* strnlen, MAP_ANONYMOUS */
#include <ggml.h>
#include <gguf.h>
#include <gufo.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- differences ---------------------------------------------------------------------------- */

enum { MAX_TOLD = 100, MAX_RULES = 128 };

/* What is being compared, for messages; and how many differences there were.  Lies in memory that
 * the child shares. */
typedef struct comparison {
    char label[512];
    uint64_t differences;
} comparison;

static comparison *now;

__attribute__((format(printf, 1, 2))) static void differs(const char *format, ...)
{
    va_list args;

    if (now->differences++ >= MAX_TOLD)
        return;
    printf("%s: ", now->label);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

static void same_number(const char *what, uint64_t gufo, uint64_t ggml)
{
    if (gufo != ggml)
        differs("%s: gufo %" PRIu64 ", ggml %" PRIu64, what, gufo, ggml);
}

/* ggml hands out C strings, which end at the first NUL; so far they must agree. */
static void same_text(const char *what, gufo_str gufo, const char *ggml)
{
    size_t len = strnlen(gufo.data, gufo.len);

    if (strlen(ggml) != len || memcmp(gufo.data, ggml, len) != 0)
        differs("%s: gufo \"%.*s\", ggml \"%s\"", what, (int)len, gufo.data, ggml);
}

/* ---- values --------------------------------------------------------------------------------- */

static uint64_t float_bits(double f)
{
    uint64_t bits;

    memcpy(&bits, &f, sizeof bits);
    return bits;
}

/* A number that ggml holds at `at`, as gufo widens it. */
static uint64_t ggml_number(gufo_value_type type, const void *at)
{
    union {
        uint8_t u8;
        int8_t i8;
        uint16_t u16;
        int16_t i16;
        uint32_t u32;
        int32_t i32;
        float f32;
        uint64_t u64;
        double f64;
    } v = {0};

    memcpy(&v, at, gufo_value_type_size(type));
    switch (type) {
    case GUFO_VALUE_INT8:
        return (uint64_t)v.i8;
    case GUFO_VALUE_UINT16:
        return v.u16;
    case GUFO_VALUE_INT16:
        return (uint64_t)v.i16;
    case GUFO_VALUE_UINT32:
        return v.u32;
    case GUFO_VALUE_INT32:
        return (uint64_t)v.i32;
    case GUFO_VALUE_FLOAT32:
        return float_bits(v.f32);
    case GUFO_VALUE_UINT64:
    case GUFO_VALUE_INT64:
        return v.u64;
    case GUFO_VALUE_FLOAT64:
        return float_bits(v.f64);
    default:
        return v.u8;
    }
}

static uint64_t gufo_number(const gufo_value *value)
{
    return value->type == GUFO_VALUE_BOOL ? value->as.b
           : value->type == GUFO_VALUE_FLOAT32 || value->type == GUFO_VALUE_FLOAT64
               ? float_bits(value->as.f)
               : value->as.u;
}

static void compare_array(const char *key, const gufo_array *array, const struct gguf_context *ggml,
                          int64_t id)
{
    gufo_array_iter iter = gufo_array_start(array);
    size_t size = gufo_value_type_size(array->type);
    gufo_value value;

    same_number(key, array->type, (uint64_t)gguf_get_arr_type(ggml, id));
    same_number(key, array->count, gguf_get_arr_n(ggml, id));
    if ((uint64_t)gguf_get_arr_type(ggml, id) != array->type ||
        gguf_get_arr_n(ggml, id) != array->count)
        return;
    for (size_t i = 0; gufo_array_next(&iter, &value); i++) {
        if (array->type == GUFO_VALUE_STRING)
            same_text(key, value.as.str, gguf_get_arr_str(ggml, id, i));
        else
            same_number(
                key, gufo_number(&value),
                ggml_number(array->type, (const char *)gguf_get_arr_data(ggml, id) + i * size));
    }
}

static void compare_entry(const gufo_entry *entry, const struct gguf_context *ggml, int64_t id)
{
    const char *key = gguf_get_key(ggml, id);

    same_text("key", entry->key, key);
    same_number(key, entry->value.type, (uint64_t)gguf_get_kv_type(ggml, id));
    if ((uint64_t)gguf_get_kv_type(ggml, id) != entry->value.type)
        return;
    same_number(key, (uint64_t)id, (uint64_t)gguf_find_key(ggml, key));
    if (entry->value.type == GUFO_VALUE_ARRAY)
        compare_array(key, &entry->value.as.array, ggml, id);
    else if (entry->value.type == GUFO_VALUE_STRING)
        same_text(key, entry->value.as.str, gguf_get_val_str(ggml, id));
    else
        same_number(key, gufo_number(&entry->value),
                    ggml_number(entry->value.type, gguf_get_val_data(ggml, id)));
}

/* ---- files ---------------------------------------------------------------------------------- */

static void compare_tensor(const gufo_model *gufo, const gufo_tensor *tensor,
                           const struct gguf_context *ggml, int64_t id)
{
    const char *name = gguf_get_tensor_name(ggml, id);
    const int64_t *dims = gguf_get_tensor_ne(ggml, id);

    same_text("tensor", tensor->name, name);
    same_number(name, (uint64_t)id, (uint64_t)gguf_find_tensor(ggml, name));
    same_number(name, tensor->type, (uint64_t)gguf_get_tensor_type(ggml, id));
    for (int i = 0; i < GUFO_MAX_DIMS; i++)
        same_number(name, tensor->dims[i], (uint64_t)dims[i]);
    same_number(name, tensor->offset - gufo_model_facts(gufo).data_offset,
                gguf_get_tensor_offset(ggml, id));
    same_number(name, tensor->size, gguf_get_tensor_size(ggml, id));
}

static void compare_files(const gufo_model *gufo, const struct gguf_context *ggml)
{
    uint64_t entries = gufo_model_entry_count(gufo), tensors = gufo_model_tensor_count(gufo);
    gufo_entry entry;
    gufo_tensor tensor;

    same_number("version", gufo_model_facts(gufo).version, gguf_get_version(ggml));
    same_number("alignment", gufo_model_facts(gufo).alignment, gguf_get_alignment(ggml));
    same_number("data offset",
                tensors > 0 ? gufo_model_facts(gufo).data_offset : gufo_model_facts(gufo).infos_end,
                gguf_get_data_offset(ggml));
    same_number("entries", entries, (uint64_t)gguf_get_n_kv(ggml));
    same_number("tensors", tensors, (uint64_t)gguf_get_n_tensors(ggml));
    if (entries != (uint64_t)gguf_get_n_kv(ggml) || tensors != (uint64_t)gguf_get_n_tensors(ggml))
        return;
    for (uint64_t i = 0; gufo_model_entry_at(gufo, i, &entry); i++)
        compare_entry(&entry, ggml, (int64_t)i);
    for (uint64_t i = 0; gufo_model_tensor_at(gufo, i, &tensor); i++)
        compare_tensor(gufo, &tensor, ggml, (int64_t)i);
}

/* ---- one file, both readers ----------------------------------------------------------------- */

typedef enum verdict { GGML_ACCEPTS, GGML_REFUSES, GGML_CRASHES } verdict;

static bool load_data;

static void ignore_log(enum ggml_log_level level, const char *text, void *context)
{
    (void)level, (void)text, (void)context;
}

enum { STATUS_ACCEPTS = 10, STATUS_REFUSES = 11, CHILD_SECONDS = 10 };

/* The child: opens with ggml and compares with what gufo made of it, if anything. */
_Noreturn static void run_ggml(const uint8_t *data, size_t size, const gufo_model *gufo)
{
    struct ggml_context *tensors = NULL;
    struct gguf_init_params params = {.no_alloc = !load_data, .ctx = load_data ? &tensors : NULL};
    struct gguf_context *ggml;

    setrlimit(RLIMIT_AS, &(struct rlimit){(rlim_t)4 << 30, (rlim_t)4 << 30});
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    alarm(CHILD_SECONDS);
    if (!freopen("/dev/null", "w", stderr))
        _exit(1);
    ggml_log_set(ignore_log, NULL);
    ggml = gguf_init_from_buffer(data, size, params);
    if (ggml && gufo)
        compare_files(gufo, ggml);
    fflush(stdout);
    _exit(ggml ? STATUS_ACCEPTS : STATUS_REFUSES);
}

static verdict ask_ggml(const uint8_t *data, size_t size, const gufo_model *gufo)
{
    pid_t child;
    int status;

    fflush(stdout);
    child = fork();
    if (child == 0)
        run_ggml(data, size, gufo);
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("compare_ggml");
        exit(2);
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == STATUS_ACCEPTS   ? GGML_ACCEPTS
           : WIFEXITED(status) && WEXITSTATUS(status) == STATUS_REFUSES ? GGML_REFUSES
                                                                        : GGML_CRASHES;
}

/* ---- the tally ------------------------------------------------------------------------------ */

typedef struct tally {
    uint64_t both, only_gufo, only_ggml, neither;
    uint64_t crashes_gufo_accepts, crashes_gufo_refuses;
    uint64_t without_rule, differing, wrong_outlook;
    uint64_t by_rule[MAX_RULES];
} tally;

static tally counts;

static size_t rule_number(const gufo_rule *rule)
{
    size_t i = 0;

    while (i < MAX_RULES - 1 && gufo_rule_at(i) != rule)
        i++;
    return i;
}

/* What gufo finds in a file that it accepts, as far as it bears on ggml. */
typedef struct outlook {
    bool refused;   /* a finding says that ggml refuses the file */
    bool explained; /* a finding is a reason for ggml to refuse it */
} outlook;

/* Rules that ggml takes for granted; compat-ggml is said of whatever no other rule is about. */
static const char *const reasons[] = {
    "compat-ggml", "alignment-unusual", "data-gap", "data-order", "type-removed", "type-unknown",
};

static void look_out(void *context, const gufo_finding *finding)
{
    outlook *o = context;

    o->refused |= strcmp(finding->rule->name, reasons[0]) == 0;
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        o->explained |= strcmp(finding->rule->name, reasons[i]) == 0;
}

/* What gufo says of ggml must be true.  Missing padding matters to ggml only when it loads data. */
static void check_outlook(const gufo_model *file, verdict ggml)
{
    outlook o = {0};
    const char *wrong;

    if (gufo_model_check(file, look_out, &o, NULL) != GUFO_OK)
        return;
    wrong = ggml == GGML_REFUSES && !o.explained ? "ggml refuses it, gufo does not say so"
            : ggml == GGML_ACCEPTS && o.refused && load_data ? "gufo says that ggml refuses it"
                                                             : NULL;
    if (wrong) {
        counts.wrong_outlook++;
        printf("%s: %s\n", now->label, wrong);
    }
}

static void count_refused(verdict ggml, const gufo_error *error)
{
    if (ggml == GGML_REFUSES)
        counts.neither++;
    else if (ggml == GGML_CRASHES)
        counts.crashes_gufo_refuses++;
    else {
        counts.only_ggml++;
        if (error->rule)
            counts.by_rule[rule_number(error->rule)]++;
    }
    if (!error->rule) {
        counts.without_rule++;
        printf("%s: gufo refuses it without a rule: %s\n", now->label, error->message);
    }
}

static void compare(const uint8_t *data, size_t size)
{
    /* ggml does not know of sets. */
    const gufo_open_options options = {.flags = GUFO_OPEN_INCOMPLETE};
    gufo_error error = {0};
    gufo_model *file = gufo_model_open_memory(data, size, &options, &error);
    verdict ggml;

    now->differences = 0;
    ggml = ask_ggml(data, size, file);
    counts.differing += now->differences > 0;
    if (!file) {
        count_refused(ggml, &error);
        return;
    }
    counts.both += ggml == GGML_ACCEPTS;
    counts.only_gufo += ggml == GGML_REFUSES;
    counts.crashes_gufo_accepts += ggml == GGML_CRASHES;
    check_outlook(file, ggml);
    gufo_model_free(file);
}

static void report(void)
{
    printf("accepted by both         %8" PRIu64 ", of which %" PRIu64 " with differences\n"
           "accepted by gufo only    %8" PRIu64 "\n"
           "accepted by ggml only    %8" PRIu64 "\n",
           counts.both, counts.differing, counts.only_gufo, counts.only_ggml);
    for (size_t i = 0; i < MAX_RULES; i++)
        if (counts.by_rule[i] > 0)
            printf("    %-22s %7" PRIu64 "\n", gufo_rule_at(i)->name, counts.by_rule[i]);
    printf("accepted by neither      %8" PRIu64 "\n"
           "ggml crashes             %8" PRIu64 ", of which gufo refuses %" PRIu64 "\n",
           counts.neither, counts.crashes_gufo_accepts + counts.crashes_gufo_refuses,
           counts.crashes_gufo_refuses);
}

/* ---- files and their damaged forms ---------------------------------------------------------- */

/* In a block of exactly its size; NULL (with a message) if it cannot be read. */
static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *in = fopen(path, "rb");
    struct stat info;
    uint8_t *data = NULL;

    if (in && fstat(fileno(in), &info) == 0) {
        *size = (size_t)info.st_size;
        data = malloc(*size ? *size : 1);
        if (data && fread(data, 1, *size, in) != *size) {
            free(data);
            data = NULL;
        }
    }
    if (!data)
        perror(path);
    if (in)
        fclose(in);
    return data;
}

/* The same as in fuzz/replay.c: ends of ranges, small counts, the neighbours. */
static void sweep(const char *path, uint8_t *data, size_t size)
{
    for (size_t at = 0; at < size; at++) {
        const uint8_t byte = data[at];
        const uint8_t values[] = {
            0x00, 0x01, 0x02, 0x20, 0x7f, 0x80, 0xff, (uint8_t)(byte + 1), (uint8_t)(byte - 1)};

        for (size_t i = 0; i < sizeof values; i++) {
            data[at] = values[i];
            snprintf(now->label, sizeof now->label, "%s, byte %zu replaced by 0x%02x", path, at,
                     (unsigned)values[i]);
            compare(data, size);
        }
        data[at] = byte;
    }
    for (size_t len = 0; len < size; len++) {
        snprintf(now->label, sizeof now->label, "%s, cut to %zu bytes", path, len);
        compare(data, len);
    }
}

int main(int argc, char **argv)
{
    bool sweeps = false;
    int i = 1;

    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        sweeps |= strcmp(argv[i], "--sweep") == 0;
        load_data |= strcmp(argv[i], "--load") == 0;
    }
    now = mmap(NULL, sizeof *now, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (i == argc || now == MAP_FAILED) {
        fprintf(stderr, "usage: compare_ggml [--sweep] [--load] FILE...\n");
        return 2;
    }
    setenv("GGML_NO_BACKTRACE", "1", 1);
    for (; i < argc; i++) {
        size_t size;
        uint8_t *data = read_file(argv[i], &size);

        if (!data)
            return 2;
        snprintf(now->label, sizeof now->label, "%s", argv[i]);
        compare(data, size);
        if (sweeps)
            sweep(argv[i], data, size);
        free(data);
    }
    report();
    return counts.differing > 0 || counts.without_rule > 0 || counts.wrong_outlook > 0;
}
