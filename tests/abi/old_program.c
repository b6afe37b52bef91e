/* A program that was compiled against the headers in tests/abi/include, as they were when this
 * soname was first released, and that runs with the library of today.
 *
 * Every struct that the library fills has a guard after it: a library with a larger struct would
 * write into what is the program's own.
 *
 *     | struct, as the old header has it | 0x5a 0x5a 0x5a ... |
 *
 * `old_program MODEL`, where MODEL is fuzz/seeds/imatrix.gguf.  With SHORT the guards begin that
 * many bytes early, as if the header of then had had shorter structs: that must be noticed. */
#include <gufo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SHORT
#define SHORT 0
#endif
#define GUARD 64
#define GUARD_BYTE 0x5a

#define FILLED(type, name)                         \
    union {                                        \
        type it;                                   \
        unsigned char bytes[sizeof(type) + GUARD]; \
    } name;                                        \
    memset(&(name), GUARD_BYTE, sizeof(name))
#define CHECK_GUARD(name) check_guard(#name, (name).bytes, sizeof(name))
#define MUST(condition) must(condition, #condition, __LINE__)

static void check_guard(const char *name, const unsigned char *bytes, size_t size)
{
    for (size_t i = size - GUARD - SHORT; i < size; i++) {
        if (bytes[i] != GUARD_BYTE) {
            fprintf(stderr, "the library wrote past the end of its struct: %s\n", name);
            exit(3);
        }
    }
}

static void must(bool condition, const char *text, int line)
{
    if (!condition) {
        fprintf(stderr, "line %d: not true: %s\n", line, text);
        exit(1);
    }
}

static bool equal(gufo_str text, const char *expected)
{
    return gufo_str_equal(text, (gufo_str){expected, strlen(expected)});
}

/* ---- a file that is good
 * ------------------------------------------------------------------------ */

static void read_array(const gufo_array *array)
{
    FILLED(gufo_value, element);
    FILLED(gufo_error, error);
    gufo_array_iter iter = gufo_array_start(array);
    uint64_t n = 0;

    for (; gufo_array_next(&iter, &element.it); n++) {
        CHECK_GUARD(element);
        MUST(equal(element.it.as.str, n == 0 ? "a.txt" : "b.txt"));
    }
    MUST(n == 2 && array->count == 2 && !iter.changed);
    MUST(gufo_array_at(array, 2, &element.it, &error.it) == GUFO_E_RANGE);
    CHECK_GUARD(error);
}

static uint32_t read_facts(const gufo_model *model)
{
    gufo_facts facts = gufo_model_facts(model);

    MUST(facts.alignment == 32 && facts.byte_order == GUFO_LITTLE_ENDIAN && !facts.is_made);
    MUST(gufo_model_shard_count(model) == 1 && gufo_model_shard(model, 0) == model);
    return facts.version;
}

static void read_metadata(const gufo_model *file)
{
    FILLED(gufo_entry, entry);
    FILLED(gufo_array, array);
    FILLED(gufo_error, error);
    uint64_t number = 0;
    gufo_str text;

    MUST(gufo_model_entry_count(file) == 4);
    MUST(gufo_model_entry_at(file, 2, &entry.it));
    CHECK_GUARD(entry);
    MUST(equal(entry.it.key, "imatrix.chunk_count") && entry.it.value.type == GUFO_VALUE_UINT32);
    MUST(gufo_value_u64(&entry.it.value, &number, NULL) == GUFO_OK && number == 4);
    MUST(gufo_model_get_u64(file, "imatrix.chunk_size", &number, NULL) == GUFO_OK && number == 512);
    MUST(gufo_model_get_str(file, "general.type", &text, NULL) == GUFO_OK &&
         equal(text, "imatrix"));
    MUST(gufo_model_get_array(file, "imatrix.datasets", GUFO_VALUE_STRING, &array.it, NULL) ==
         GUFO_OK);
    CHECK_GUARD(array);
    read_array(&array.it);
    MUST(gufo_model_get_u64(file, "no.such.key", &number, &error.it) == GUFO_E_NOT_FOUND);
    CHECK_GUARD(error);
    MUST(error.it.code == GUFO_E_NOT_FOUND && error.it.message[0] != '\0');
}

static void read_tensors(const gufo_model *file)
{
    FILLED(gufo_tensor, tensor);
    const gufo_element_type *type;
    float stored[6], values[6];

    MUST(gufo_model_tensor_count(file) == 4);
    MUST(gufo_model_tensor_at(file, 2, &tensor.it));
    CHECK_GUARD(tensor);
    MUST(equal(tensor.it.name, "exps.weight.in_sum2") && tensor.it.type == GUFO_TYPE_F32);
    MUST(tensor.it.n_dims == 2 && tensor.it.dims[0] == 2 && tensor.it.dims[1] == 3);
    MUST(tensor.it.size == sizeof stored && tensor.it.elements == 6);
    MUST(gufo_tensor_read_raw(file, &tensor.it, 0, stored, sizeof stored, NULL) == GUFO_OK);
    type = gufo_element_type_by_id(tensor.it.type);
    MUST(type != NULL && strcmp(type->name, "F32") == 0 && type->block_bytes == 4);
    MUST(gufo_decode(type, stored, 3, 2, values, NULL, NULL) == GUFO_OK);
    MUST(memcmp(stored, values, sizeof values) == 0);
    MUST(gufo_model_tensor_find(file, "q.weight.counts", &tensor.it) && tensor.it.elements == 1);
    CHECK_GUARD(tensor);
}

/* ---- a file that is bad
 * ------------------------------------------------------------------------- */

static void count_finding(void *context, const gufo_finding *finding)
{
    unsigned *count = context;

    ++*count;
    MUST(finding->rule != NULL && finding->rule->id[0] == 'G');
    MUST(strlen(finding->message) > 0);
    MUST(gufo_rule_by_id(finding->rule->id) == finding->rule);
}

static void read_half(const char *path)
{
    static unsigned char data[200];
    gufo_open_options options = {0};
    FILLED(gufo_error, error);
    FILE *stream = fopen(path, "rb");
    unsigned count = 0;

    MUST(stream != NULL && fread(data, 1, sizeof data, stream) == sizeof data);
    fclose(stream);
    MUST(gufo_model_open_memory(data, sizeof data, &options, &error.it) == NULL);
    CHECK_GUARD(error);
    MUST(error.it.code == GUFO_E_TRUNCATED && error.it.offset <= sizeof data);
    options.flags = GUFO_OPEN_LENIENT;
    options.on_finding = count_finding;
    options.finding_context = &count;
    gufo_model_free(gufo_model_open_memory(data, sizeof data, &options, NULL));
    MUST(count > 0);
}

/* ---- tables: their rows must be as far apart as the program thinks
 * -------------------------------- */

static void read_tables(void)
{
    size_t count = 0;
    const gufo_arch_key *keys = gufo_arch_keys("llama", &count);
    const gufo_key_info *info;

    MUST(keys != NULL && count > 3);
    for (size_t i = 0; i < count; i++)
        MUST(strcmp(keys[i].arch, "llama") == 0 && strlen(keys[i].key) > 0);
    info = gufo_key_find("general.name", NULL);
    MUST(info != NULL && strcmp(info->key, "general.name") == 0);
    for (size_t i = 0; gufo_rule_at(i) != NULL; i++)
        MUST(gufo_rule_by_id(gufo_rule_at(i)->name) == gufo_rule_at(i));
}

/* ---- what is computed
 * --------------------------------------------------------------------------- */

static void compare_with_itself(const gufo_model *model)
{
    FILLED(gufo_comparison, result);
    FILLED(gufo_stats, stats);
    FILLED(gufo_name, name);
    FILLED(gufo_tensor_match, match);
    gufo_compare_options options = {.flags = GUFO_COMPARE_VALUES};
    gufo_run run = {.threads = 1};
    gufo_tensor tensor;

    MUST(gufo_compare(model, model, &options, &run, &result.it, NULL) == GUFO_OK);
    CHECK_GUARD(result);
    MUST(result.it.same && result.it.tensors[GUFO_DIFFERENCE_NONE] == 4);
    MUST(gufo_model_tensor_at(model, 2, &tensor));
    MUST(gufo_tensor_scan(model, &tensor, 0, &run, &stats.it, NULL) == GUFO_OK);
    CHECK_GUARD(stats);
    MUST(stats.it.elements == 6);
    MUST(gufo_name_match((gufo_str){"Mixtral-8x7B-v0.1-F16.gguf", 26}, &name.it));
    CHECK_GUARD(name);
    MUST(equal(name.it.size_label, "8x7B"));
    MUST(gufo_tensor_info_find("blk.1.attn_q.weight", &match.it));
    CHECK_GUARD(match);
    MUST(match.it.has_block && match.it.block == 1);
}

/* Fields of a later version are refused, not ignored. */
static void refuse_reserved(const char *path)
{
    gufo_open_options options = {.reserved = {1}};
    FILLED(gufo_error, error);

    MUST(gufo_model_open(path, &options, &error.it) == NULL && error.it.code == GUFO_E_ARGUMENT);
    CHECK_GUARD(error);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "";
    gufo_model *file = gufo_model_open(path, NULL, NULL);

    MUST(file != NULL && read_facts(file) == 3);
    read_metadata(file);
    read_tensors(file);
    compare_with_itself(file);
    gufo_model_free(file);
    read_half(path);
    refuse_reserved(path);
    read_tables();
    printf("compiled for %d.%d.%d, runs with %s\n", GUFO_VERSION_MAJOR, GUFO_VERSION_MINOR,
           GUFO_VERSION_PATCH, gufo_version());
    return 0;
}
